"""What one sees of an engine that runs: run and demo in the foreground, changes --follow beside it."""
from harness import *

pg = shared(Postgres)
site = shared(Site)


def define(name, path="/p", rest="FETCH EVERY 1 second", monitor="any change"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {rest};\n"


@test("run FILE installs what is missing, once; given again, it goes on with its history")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        path = f"{v.home}/pages.vigil"
        site().put("/run", "<p>1</p>")
        with open(path, "w") as f:
            f.write(define("one", "/run"))
        v.start(path)
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        contains(v.output(), "one: installed")
        site().put("/run", "<p>2</p>")
        wait_until(lambda: "+ 2" in v.output())
        v.stop()
        contains(v.output(), "stopping")
        with open(path, "a") as f:
            f.write(define("two", "/run"))
        v.start(path)
        contains(v.output(), "one: is there already")
        contains(v.output(), "two: installed")
        equal([(r["name"], r["changes"]) for r in v.rows("list")], [("one", 1), ("two", 0)])
        v.stop()
        # A wrong file: nothing is installed, and nothing runs.
        with open(path, "a") as f:
            f.write("CREATE SENTINEL three USING nonsense MONITOR lnks")
        wrong = v.run("run", path, code=1)
        contains(wrong.stderr, f"{path}:3:")
        contains(wrong.stderr, "error: E054")
        equal(len(v.rows("list")), 2)


@test("run tells how to look, how to add, where the data is; what it tells works as it stands")
def _():
    with Vigil() as v:
        v.data = f"{v.home}/it's mine"
        v.where = ["--data", v.data]
        v.start()
        out = wait_until(lambda: "Ctrl-C" in v.output() and v.output())
        contains(out, v.data)
        command = next(line for line in out.splitlines() if "look in psql" in line)
        command = command[command.index("/"):]
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=v.env)
        equal(done.returncode, 0)
        contains(done.stdout, "last_change_at")
        command = next(line for line in out.splitlines() if "add a page" in line)
        command = command[command.index("echo"):]
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=v.env)
        equal(done.returncode, 0)
        contains(done.stdout, "mine: installed")


@test("changes --follow goes on when the engine is stopped and started again, and misses nothing")
def _():
    with Vigil() as v:
        site().put("/fo", "<p>0</p>")
        v.start()
        v.add(define("fo", "/fo"))
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        follower = v.popen("changes", "--follow", "--json")
        try:
            time.sleep(1)
            site().put("/fo", "<p>1</p>")
            equal(json.loads(follower.stdout.readline())["new_version"], 2)
            v.stop()
            site().put("/fo", "<p>2</p>")
            time.sleep(1)
            v.start()
            equal(json.loads(follower.stdout.readline())["new_version"], 3)
            v.kill()
            site().put("/fo", "<p>3</p>")
            v.start()
            equal(json.loads(follower.stdout.readline())["new_version"], 4)
            follower.send_signal(signal.SIGTERM)
            equal(follower.communicate(timeout=10 * SLOW)[0], "")
        finally:
            if follower.poll() is None:
                follower.kill()
                follower.communicate()


@test("--follow that waits for an engine does not keep one out")
def _():
    with Vigil() as v:
        v.run("list")
        followers = [v.popen("changes", "--follow", "--json") for _ in range(2)]
        try:
            time.sleep(2)
            v.start()  # refused once would be an end
            site().put("/kept", "<p>0</p>")
            v.add(define("kept", "/kept"))
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
            time.sleep(1.5)
            site().put("/kept", "<p>1</p>")
            for f in followers:
                equal(json.loads(f.stdout.readline())["sentinel"], "kept")
        finally:
            for f in followers:
                f.kill()
                f.communicate()


@test("an engine that does not answer is said not to answer, not to be stopped")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        v.start()
        os.kill(v.engine.pid, signal.SIGSTOP)
        try:
            done = v.run("status", code=None)
            assert "not running" not in done.stdout, done.stdout
            contains((done.stdout + done.stderr).lower(), "answer")
            done = v.run("status", "--json", code=None)
            assert '"stopped"' not in done.stdout, done.stdout
        finally:
            os.kill(v.engine.pid, signal.SIGCONT)


@test("an engine whose reader has gone away watches on")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        site().put("/mute", "<p>1</p>")
        v.add(define("mute", "/mute"))
        engine = v.popen("run")
        engine.stdout.readline()
        engine.stdout.close()
        engine.stderr.close()
        try:
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
            for n in (2, 3):
                site().put("/mute", f"<p>{n}</p>")
                wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == str(n - 1))
        finally:
            engine.terminate()
            equal(engine.wait(20 * SLOW), 0)


@test("demo: changes within seconds, the calm page never, and a second start goes on")
def _():
    class Demo(Vigil):
        port = free_port()

        def demo(self):
            self.out = open(f"{self.home}/out", "ab")
            self.engine = subprocess.Popen(
                [VIGIL, "demo", *self.where, "--set", f"demo.port={self.port}"], stdout=self.out,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=self.env)

    with Demo() as v:
        v.demo()
        wait_until(lambda: "Ctrl-C" in v.output(), 30, "it is ready")
        wait_until(lambda: v.output().count("#") >= 6, 20, "changes scroll by")
        wait_until(lambda: int(v.sql("SELECT count(*) FROM vigil.versions WHERE url LIKE "
                                     "'%calm%'")) >= 2, 20, "the calm page has new versions")
        names = {r["name"] for r in v.rows("list")}
        assert len(names) >= 5 and "calm" in names, names
        before = len(v.rows("changes", "--limit", "10000"))
        for part in ("demo", v.data, "psql", "add a page"):
            contains(v.output(), part)
        begun = time.monotonic()
        code = v.kill(signal.SIGINT)
        equal(code, 0)
        assert time.monotonic() - begun < 6 * SLOW
        v.demo()
        wait_until(lambda: v.output().count("Ctrl-C") == 2, 10, "it is ready again")
        wait_until(lambda: len(v.rows("changes", "--limit", "10000")) > before + 3, 20)
        calm = v.rows("show", "calm")[0]
        equal((calm["changes"], calm["error"]), (0, None))
        assert calm["evaluations"] >= 1
        equal([r["error"] for r in v.rows("list") if r["error"]], [])


@test("Ctrl-C on a terminal, which everybody in the foreground gets, stops everything cleanly")
def _():
    with Vigil() as v:
        v.out = open(f"{v.home}/out", "ab")
        v.engine = subprocess.Popen(
            [VIGIL, "demo", *v.where, "--set", f"demo.port={free_port()}"], stdout=v.out,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=v.env, start_new_session=True)
        wait_until(lambda: v.output().count("#") >= 2, 30, "changes scroll by")
        server = v.postmaster()
        os.killpg(v.engine.pid, signal.SIGINT)
        equal(v.engine.wait(10 * SLOW), 0)
        v.out.close()
        v.engine = None
        said = [line for line in v.output().splitlines() if not line.startswith("    ")]  # by Vigil
        assert not any("away" in line or "error" in line.lower() for line in said), v.output()
        assert not os.path.exists(f"/proc/{server}"), "its server still runs"
        assert not os.path.exists(f"{v.data}/pg/postmaster.pid")


@test("on a terminal changes are coloured, elsewhere and with NO_COLOR they are not")
def _():
    import pty
    with Vigil(db=pg().database()) as v:
        v.run("list")
        v.start()
        site().put("/colour", "<p>old</p>")
        v.add(define("colour", "/colour"))
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        site().put("/colour", "<p>new</p>")
        wait_until(lambda: v.rows("changes"))

        def on_terminal(**env):
            master, slave = pty.openpty()
            clean = {k: w for k, w in v.env.items() if k != "NO_COLOR"}
            subprocess.run([VIGIL, "changes", *v.where], stdout=slave, env={**clean, **env},
                           stdin=subprocess.DEVNULL, check=True)
            os.close(slave)
            text = os.read(master, 65536).decode()
            os.close(master)
            return text
        text = on_terminal(TERM="xterm")
        contains(text, "\x1b[32m+ new\x1b[0m")
        contains(text, "\x1b[31m- old\x1b[0m")
        for text in (on_terminal(TERM="xterm", NO_COLOR="1"), on_terminal(TERM="dumb"),
                     v.run("changes").stdout):
            contains(text, "+ new")
            assert "\x1b" not in text, repr(text)


@test("demo on a port that is taken says so and what to do")
def _():
    with Vigil() as v, socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = s.getsockname()[1]
        done = v.run("demo", "--set", f"demo.port={port}", code=2, timeout=30)
        contains(done.stderr, str(port))
        contains(done.stderr, "demo.port")


main()
