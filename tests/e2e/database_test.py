"""The database goes away under a running engine: it pauses, says so, goes on, and its history
is that of a run nobody disturbed."""
import re

from history import *
from database_server import Server

STOPS = int(os.environ.get("VIGIL_TEST_STOPS", "12"))
# A new connection has about twenty steps, a commit as many again and more.
STEPS = [int(n) for n in os.environ.get("VIGIL_TEST_STEPS_CUT", "1 2 3 5 8 13 21 29 37").split()]


def small_web(site, slow=True):
    site.page("/plain", step=0.3)
    site.page("/etag", step=1.3, kind="etag")
    site.page("/flip", step=0.7, kind="flip")
    if slow:
        site.page("/slow", step=0.4, kind="slow")


def resident(v):
    with open(f"/proc/{v.engine.pid}/status") as f:
        return int(re.search(r"VmRSS:\s*(\d+) kB", f.read()).group(1)) / 1024


def bounded(grown):
    """Sanitizers keep what was freed; their figures mean nothing here."""
    assert grown < 64 or SLOW > 1, f"it grew by {grown} MiB"


def stored(v):
    return int(v.sql("SELECT count(*) FROM vigil.versions"))


def last_job(server):
    """The number of the newest commit."""
    return int(subprocess.run(["psql", "-XAtq", "-d", server.url, "-c", "SELECT job FROM vigil_kb.engine"],
                              capture_output=True, text=True, check=True).stdout)


def watched_until_back(v, seconds=60):
    """Asks for the status until the database is there again; what was said meanwhile.

    A pause that is over before anybody could ask is no complaint."""
    said, asked = [], time.monotonic()
    while True:
        begun = time.monotonic()
        status = v.status()
        assert time.monotonic() - begun < 2 * SLOW, "the status came late"
        if not status["database"]["available"]:
            said.append(status)
            equal(status["engine"]["state"], "paused")
            assert status["database"]["error"], "away, but nothing says why"
        elif said or begun - asked > 0.5:
            return said
        assert begun - asked < seconds * SLOW, f"never back: {status}\n{v.output()[-2000:]}"


def backends(v):
    """The server's side of the connection the engine writes through: it holds a lock."""
    return [int(p) for p in v.sql("SELECT pid FROM pg_locks WHERE locktype = 'advisory'"
                                  " AND mode = 'ExclusiveLock' AND granted").split()]


def end_writer(v, dice):
    for pid in backends(v):
        v.sql(f"SELECT pg_terminate_backend({pid})")


def kill_backend(v, dice):
    """One backend dies badly: the server ends all the others and recovers by itself."""
    for pid in backends(v):
        with contextlib.suppress(ProcessLookupError):  # it was about to end anyway
            os.kill(pid, signal.SIGKILL)
            return


def kill_server(v, dice):
    os.kill(v.postmaster(), signal.SIGKILL)


def stop_server_at_once(v, dice):
    os.kill(v.postmaster(), signal.SIGQUIT)


def stop_server(v, dice):
    os.kill(v.postmaster(), signal.SIGINT)


@test(f"its private server killed, stopped or cut off {STOPS} times at random moments: it is"
      " started again, and nothing is lost or doubled")
def _():
    dice = seeded()
    ways = [kill_server, stop_server_at_once, end_writer, kill_backend, stop_server]
    with Counters() as site, Vigil(made=True) as v:
        small_web(site)
        v.add(site.sentinels())
        v.start()
        engine = v.engine.pid
        wait_until(lambda: stored(v) >= 4)
        before, snapshots, said, longest = resident(v), [], 0, 0
        for number in range(STOPS):
            time.sleep(dice.uniform(0, 1.2))
            begun = time.monotonic()
            ways[number % len(ways)](v, dice)
            said += bool(watched_until_back(v))
            longest = max(longest, time.monotonic() - begun)
            if number % 8 == 7:
                snapshots.append(snapshot(v))
        equal(v.status()["engine"]["pid"], engine)
        site.freeze()
        settle(v, site)
        figures = audit(v, site)
        for earlier in snapshots:
            equal(missing(v, earlier), [])
        grown = resident(v) - before
        print(f"# {STOPS} outages, {said} seen in the status, longest {longest:.1f} s, grew by"
              f" {grown:.1f} MiB: {figures}")
        assert said >= STOPS / 3, said
        bounded(grown)
        assert v.engine.poll() is None
        v.stop()
        equal(processes_of(v), [])


@contextlib.contextmanager
def external(slow=True):
    """A site, a database server of its own, and a Vigil that uses it."""
    with Counters() as site, Vigil() as v, Server(v.home) as server:
        small_web(site, slow)
        v.args = ["--db", server.url]
        yield site, v, server
        v.stop()


@test("a database that is stopped for some seconds: fetching pauses, the status says why, memory"
      " does not grow, and it goes on by itself")
def _():
    with external() as (site, v, server):
        v.add(site.sentinels())
        v.start()
        wait_until(lambda: stored(v) >= 4)
        before = resident(v)
        for how, down in (("fast", 4), ("immediate", 6)):
            server.stop(how)
            begun = time.monotonic()
            said = wait_until(lambda: [s for s in [v.status()]
                                       if not s["database"]["available"]], 5)[0]
            equal(said["engine"]["state"], "paused")
            assert said["database"]["error"] and said["database"]["away_since"], said
            contains(v.run("status").stdout, "paused")
            contains(v.output(), "the database is away, fetching pauses")
            time.sleep(1)
            asked = len(site.requests)
            done = v.run("list", code=2)
            contains(done.stderr, str(server.port))
            v.add("CREATE SENTINEL late USING http://127.0.0.1/ MONITOR links;", code=2)
            while time.monotonic() - begun < down:
                assert v.is_up()
                time.sleep(0.2)
            equal(len(site.requests), asked)  # it pauses
            server.start()
            up = time.monotonic()
            first = last_job(server)
            wait_until(lambda: last_job(server) > first, 35, "it goes on")
            took = time.monotonic() - up
            print(f"# {how} stop for {down} s: first commit {took:.1f} s after the server was back")
            assert took < 2 * SLOW, took
            wait_until(lambda: v.status()["database"]["available"])
            contains(v.output(), "the database is back")
        grown = resident(v) - before
        site.freeze()
        settle(v, site)
        print(f"# grew by {grown:.1f} MiB: {audit(v, site)}")
        bounded(grown)


@test("an engine that finds no database says which one it tried and ends with 2")
def _():
    with Vigil(args=["--db", f"postgresql://vigil@127.0.0.1:{free_port()}/postgres"]) as v:
        done = v.run("run", code=2)
        contains(done.stderr, "127.0.0.1")


class Proxy:
    """Between engine and server; cuts connections, also such that what the engine sent still
    reaches the server, but the answer is lost."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.pairs, self.cuts = [], 0
        self.left, self.deaf = None, False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                with self.lock:
                    self.pairs.append((client, server))
                for a, b, down in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self.copy, args=(a, b, down), daemon=True).start()

    def cut_after(self, bytes, deaf):
        """Cuts everybody off once the server has sent this many bytes more.  Deaf: those
        bytes are not handed on, so the engine cannot know what became of its request."""
        with self.lock:
            self.left, self.deaf = bytes, deaf

    def copy(self, source, to, down):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                cut = False
                with self.lock:
                    if down and self.left is not None:
                        if len(data) >= self.left:
                            data = b"" if self.deaf else data[:self.left]
                            self.left, cut = None, True
                        else:
                            self.left -= len(data)
                to.sendall(data)
                if cut:
                    self.cut()
        for s in (source, to):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def cut(self):
        with self.lock:
            pairs, self.pairs, self.cuts = self.pairs, [], self.cuts + 1
        for pair in pairs:
            for s in pair:
                with contextlib.suppress(OSError):
                    s.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
        self.cut()


@test("its connection cut 50 times, after any byte of the server's answers, also those to a"
      " COMMIT that did happen: nothing is lost or doubled")
def _():
    dice = seeded()
    with external(slow=False) as (site, v, server):
        proxy = Proxy(server.port)
        v.add(site.sentinels())
        direct, v.args = v.args, ["--db", server.url.replace(str(server.port), str(proxy.port))]
        v.start()
        v.args = direct
        engine = v.engine.pid
        begun = time.monotonic()
        while proxy.cuts < 50 and time.monotonic() - begun < 90 * SLOW:
            before = proxy.cuts
            # Connecting brings about 1,200 bytes, a commit some hundreds: some are cut while
            # they connect or just after, most in the middle of their work.
            if dice.random() < 0.7:
                time.sleep(dice.uniform(0, 1.5))
                further = 1 + dice.expovariate(1 / 800)
            else:
                further = dice.uniform(1, 2500)
            proxy.cut_after(int(further), dice.random() < 0.5)
            until = time.monotonic() + 5
            while proxy.cuts == before and time.monotonic() < until:
                time.sleep(0.01)
        cuts = proxy.cuts
        with proxy.lock:
            proxy.left = None
        site.freeze()
        settle(v, site, 60)
        assert v.engine.poll() is None and v.engine.pid == engine
        print(f"# {cuts} cuts: {audit(v, site)}")
        assert cuts >= 30, cuts
        v.stop()
        proxy.close()


class Steps:
    """Between engine and server; knows where a message of the protocol begins and ends, and cuts
    the engine's connections at one of those the writer sends."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.pairs, self.left, self.deaf, self.cut_at = [], None, False, []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                pair = {"client": client, "server": server, "deaf": False}
                with self.lock:
                    self.pairs.append(pair)
                threading.Thread(target=self.up, args=(pair,), daemon=True).start()
                threading.Thread(target=self.down, args=(pair,), daemon=True).start()

    def messages(self, pair):
        """What the client sends: (is it the engine's own, kind, bytes)."""
        data, kind, ours = b"", None, False
        while more := pair["client"].recv(65536):
            data += more
            while len(data) >= (at := 0 if kind is None else 1) + 4:
                size = at + int.from_bytes(data[at:at + 4], "big")
                if len(data) < size:
                    break
                message, data = data[:size], data[size:]
                if kind is None and int.from_bytes(message[4:8], "big") == 196608:
                    ours = b"vigil engine" in message
                    kind = "startup"
                    yield ours, kind, message
                elif kind is None:
                    yield False, "may it be TLS", message
                else:
                    yield ours, chr(message[0]), message

    def up(self, pair):
        with contextlib.suppress(OSError):
            for ours, kind, message in self.messages(pair):
                with self.lock:
                    counts = ours and self.left is not None
                    self.left = self.left - 1 if counts else self.left
                    here = counts and self.left == 0
                    if here:
                        self.left = None
                        pair["deaf"] = self.deaf
                        self.cut_at.append(kind)
                if here and not pair["deaf"]:
                    break  # it never arrives
                pair["server"].sendall(message)
                if here:  # it arrives, and nobody hears what became of it
                    time.sleep(0.05)
                    break
        self.end(pair)

    def down(self, pair):
        with contextlib.suppress(OSError):
            while data := pair["server"].recv(65536):
                if not pair["deaf"]:
                    pair["client"].sendall(data)
        if not pair["deaf"]:
            self.end(pair)

    def end(self, pair):
        for s in (pair["client"], pair["server"]):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def cut_after(self, messages, deaf):
        with self.lock:
            self.left, self.deaf = messages, deaf

    def is_cut(self):
        with self.lock:
            return self.left is None

    def close(self):
        self.listener.close()
        for pair in self.pairs:
            self.end(pair)


@test("its connection cut at each step of the protocol, from the first word of a new one to the end"
      " of a commit, before it arrives and after: nothing is lost or doubled")
def _():
    with external(slow=False) as (site, v, server):
        proxy = Steps(server.port)
        v.add(site.sentinels())
        direct, v.args = v.args, ["--db", server.url.replace(str(server.port), str(proxy.port))]
        v.start()
        v.args = direct
        engine = v.engine.pid
        wait_until(lambda: stored(v) >= 3)
        for step in STEPS:
            for deaf in (False, True):
                proxy.cut_after(step, deaf)
                wait_until(proxy.is_cut, 20, f"it comes to step {step}")
        assert v.engine.poll() is None and v.engine.pid == engine
        site.freeze()
        settle(v, site, 60)
        kinds = {k: proxy.cut_at.count(k) for k in dict.fromkeys(proxy.cut_at)}
        print(f"# {len(proxy.cut_at)} cuts at steps up to {max(STEPS)}: {kinds}: {audit(v, site)}")
        equal(len(proxy.cut_at), 2 * len(STEPS))
        v.stop()
        proxy.close()


@test("a database that hangs without a word does not hang the engine: the status answers, pages"
      " that are under way wait, and all goes on afterwards")
def _():
    with Counters() as site, Vigil(made=True) as v:
        small_web(site)
        v.add(site.sentinels())
        v.start()
        wait_until(lambda: stored(v) >= 4)
        slowest = 0
        for span in (3, 8):
            stuck = backends(v)
            assert stuck
            for pid in stuck:
                os.kill(pid, signal.SIGSTOP)
            try:
                until = time.monotonic() + span
                while time.monotonic() < until:
                    begun = time.monotonic()
                    status = v.status()
                    slowest = max(slowest, time.monotonic() - begun)
                    time.sleep(0.1)
                if span > 6:
                    equal(status["engine"]["state"], "paused")
                    contains(status["database"]["error"], "has not answered for")
            finally:
                for pid in stuck:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGCONT)
            before = stored(v)
            wait_until(lambda: stored(v) > before)
            equal(v.status()["engine"]["state"], "running")
        assert slowest < 2 * SLOW, slowest
        site.freeze()
        settle(v, site)
        print(f"# slowest status {slowest:.2f} s: {audit(v, site)}")


@test("told to stop while the database is away, it ends in a few seconds; what was not committed"
      " is found again")
def _():
    with external() as (site, v, server):
        v.add(site.sentinels())
        v.start()
        wait_until(lambda: stored(v) >= 4)
        for how in ("immediate", "fast"):
            time.sleep(0.7)
            server.stop(how)
            time.sleep(1.2)
            begun = time.monotonic()
            v.kill(signal.SIGTERM)
            took = time.monotonic() - begun
            print(f"# ended after {took:.1f} s")
            assert took < 15 * SLOW, took
            server.start()
            v.start()
            before = stored(v)
            wait_until(lambda: stored(v) > before)
        site.freeze()
        settle(v, site)
        print(f"# {audit(v, site)}")


@test("what waits for the database is bounded in memory: a hundred large pages due at once, and"
      " nobody takes them")
def _():
    if SLOW > 1:
        return "sanitizers keep what was freed"
    filler = "".join(f"<p>paragraph {i} of a long page</p>\n" for i in range(30000))
    with Site() as site, Vigil(made=True) as v:
        text = ""
        for i in range(100):
            site.put(f"/{i}", f"<h1>{i}</h1>" + filler)
            text += f"CREATE SENTINEL s{i} USING {site.url}/{i} MONITOR links FETCH EVERY 1 hour;"
        v.add(text)
        v.start(wait=False)
        wait_until(lambda: len(site.requests) > 0, 30)
        stuck = backends(v)
        for pid in stuck:
            os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(8)
        finally:
            for pid in stuck:
                os.kill(pid, signal.SIGCONT)
        wait_until(lambda: stored(v) == 100, 60)
        with open(f"/proc/{v.engine.pid}/status") as f:
            peak = int(re.search(r"VmHWM:\s*(\d+) kB", f.read()).group(1)) / 1024
        print(f"# 100 pages of {len(filler) / (1 << 20):.1f} MiB: at most {peak:.0f} MiB")
        assert peak < 256, peak


main()
