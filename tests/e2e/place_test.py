"""Where Vigil lives: data directories and databases, and engines that meet in one."""
from harness import *

pg = shared(Postgres)
site = shared(Site)


def define(name, path="/p", rest="FETCH EVERY 1 second", monitor="any change"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {rest};\n"


def as_nobody(*command, **kw):
    return subprocess.run(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                           *command], capture_output=True, text=True, timeout=60 * SLOW, **kw)


@test("two engines on one data directory: the second says who holds it, and the first goes on")
def _():
    with Vigil() as v:
        v.start()
        second = v.run("run", code=2)
        contains(second.stderr, str(v.engine.pid))
        contains(second.stderr, v.data)
        equal(v.status()["engine"]["pid"], v.engine.pid)
        # Everything of the first can be used meanwhile, also by a path written differently.
        again = subprocess.run([VIGIL, "status", "--json", "--data", v.home + "/./d"],
                               capture_output=True, text=True, env=v.env)
        contains(again.stdout, f'"pid":{v.engine.pid}')
        v.add(define("s"))
        v.stop()
        # Nothing is left: the server has gone with its engine.
        assert not os.path.exists(f"{v.data}/pg/postmaster.pid")
        equal([r["name"] for r in v.rows("list")], ["s"])
        begun = time.monotonic()
        v.start()
        assert time.monotonic() - begun < 3 * SLOW, "a second start takes long"
        equal(oct(os.stat(v.data).st_mode & 0o777), "0o700")


@test("two engines on one database: the second says who holds it")
def _():
    url = pg().database()
    with Vigil(db=url) as first, Vigil(db=url) as second:
        first.run("list")
        first.start()
        done = second.run("run", code=2)
        contains(done.stderr, str(first.engine.pid))
        # A command beside the engine finds it by the database alone.
        second.add(define("s", rest="FROM now + 1 day"))
        equal(first.rows("list")[0]["name"], "s")
        first.stop()
        second.start()
        equal(second.status()["sentinels"]["waiting"], 1)


@test("many commands at once on an empty database wait for each other")
def _():
    url = pg().database()
    with Vigil(db=url) as v:
        crowd = [v.popen("list") for _ in range(8)]
        errors = [c.communicate(timeout=60 * SLOW)[1] for c in crowd]
        equal([(c.returncode, e) for c, e in zip(crowd, errors) if c.returncode], [])


@test("many commands at once on one data directory wait for each other")
def _():
    with Vigil() as v:
        begun = time.monotonic()
        crowd = [v.popen("list", "--json") for _ in range(4)]
        errors = [c.communicate(timeout=90 * SLOW)[1] for c in crowd]
        failed = [(c.returncode, e) for c, e in zip(crowd, errors) if c.returncode]
        # Their patience is ten seconds, which is short on a machine that is busy.
        if time.monotonic() - begun > 10:
            failed = [(code, e) for code, e in failed if 'is in use by the command "list"' not in e]
            v.run("list")
        equal(failed, [])


@test("a data directory one may not use is refused with the path and the reason")
def _():
    if os.geteuid() != 0:
        return "only root can become somebody else"
    with Vigil() as v:
        os.mkdir(v.data, 0o700)
        for words in (["list"], ["run"], ["status"], ["add", "/dev/null"]):
            done = as_nobody(VIGIL, *words, "--data", v.data, env=v.env)
            equal((words, done.returncode), (words, 2))
            contains(done.stderr, v.data)
            contains(done.stderr, "ermission denied")
        done = as_nobody(VIGIL, "list", "--data", f"{v.data}/below", env=v.env)
        equal(done.returncode, 2)
        contains(done.stderr, "ermission denied")
        equal(os.listdir(v.data), [])
        # A file where the directory should be.
        with open(f"{v.home}/file", "w") as f:
            f.write("x")
        done = subprocess.run([VIGIL, "list", "--data", f"{v.home}/file"], capture_output=True,
                              text=True, env=v.env)
        equal(done.returncode, 2)
        contains(done.stderr, f"{v.home}/file")
        # A directory with other things in it is not taken over.
        os.mkdir(f"{v.home}/full")
        with open(f"{v.home}/full/thesis.txt", "w") as f:
            f.write("x")
        done = subprocess.run([VIGIL, "list", "--data", f"{v.home}/full"], capture_output=True,
                              text=True, env=v.env)
        equal(open(f"{v.home}/full/thesis.txt").read(), "x")


@test("an ordinary user has a Vigil of his own, in a directory of his own")
def _():
    if os.geteuid() != 0:
        return "the other tests run as one"
    with Vigil() as v:
        home = f"{v.home}/nobody"
        os.mkdir(home)
        shutil.chown(home, "nobody", "nogroup")
        env = {k: w for k, w in v.env.items() if k != "XDG_DATA_HOME"} | {"HOME": home}
        done = as_nobody(VIGIL, "list", env=env, cwd=home)
        equal((done.returncode, done.stdout), (0, ""))
        assert os.path.isdir(f"{home}/.local/share/vigil/pg"), os.listdir(home)


@test("--db: the same schema, commands and history on a server of one's own")
def _():
    with Vigil(db=pg().database()) as v:
        site().put("/db", "<p>1</p>")
        v.add(define("d", "/db"))
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        site().put("/db", "<p>2</p>")
        wait_until(lambda: v.rows("changes", "d"))
        contains(v.run("status").stdout, pg().home)
        # Named by the environment, and as a conninfo, it is the same database.
        name = v.where[1].rsplit("/", 1)[1]
        env = dict(v.env, VIGIL_DB=v.where[1])
        done = subprocess.run([VIGIL, "list", "--json"], capture_output=True, text=True, env=env)
        equal(json.loads(done.stdout)["name"], "d")
        done = subprocess.run([VIGIL, "status", "--json", "--db",
                               f"host={pg().home} user=vigil dbname={name}"],
                              capture_output=True, text=True, env=v.env)
        contains(done.stdout, f'"pid":{v.engine.pid}')
        assert not os.path.exists(v.data), "a private database was made beside"


@test("a database used by a newer Vigil is left alone")
def _():
    url = pg().database()
    with Vigil(db=url) as v:
        v.run("list")
        v.sql("INSERT INTO vigil_kb.migration (number, name, checksum, applied_at) "
              "VALUES (999, '0999_future.sql', 'x', now())")
        for words in (["list"], ["run"], ["status"]):
            done = v.run(*words, code=2)
            contains(done.stderr, "999")
            contains(done.stderr, "newer")


main()
