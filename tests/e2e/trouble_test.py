"""The database is there and cannot do what it is asked: the engine stays, says why it waits, and
goes on within seconds when it can; its history is that of a run nobody disturbed."""
import re

from history import *
import database_server

# The long form goes through all of them.
ALL = os.environ.get("VIGIL_TEST_TROUBLES") == "all"


class Trouble:
    """begin() makes it, end() takes it away; `words` are in the status meanwhile.  Some pass by
    themselves, and an engine that does not even pause is no complaint then."""

    def __init__(self, name, words, begin, end, must_pause=True, short=False):
        self.name, self.words, self.begin, self.end = name, words, begin, end
        self.must_pause, self.short = must_pause, short


def psql(server, text, check=True):
    return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", server.admin, "-c", text],
                          capture_output=True, text=True, check=check).stdout.strip()


class Session:
    """A psql that keeps its transaction open."""

    def __init__(self, server):
        self.server, self.psql = server, None

    def begin(self, text):
        self.psql = subprocess.Popen(["psql", "-XAtq", "-d", self.server.admin], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.psql.stdin.write(f"BEGIN; {text}; SELECT 'ready';\n")
        self.psql.stdin.flush()
        while "ready" not in (line := self.psql.stdout.readline()):
            assert line, "it ended"

    def end(self):
        self.psql.communicate("ROLLBACK;\n", timeout=30)


def terminate(server):
    psql(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'vigil'"
                 " AND application_name LIKE 'vigil%'")


def system(server, setting, value):
    psql(server, f"ALTER SYSTEM SET {setting} = {value}")
    psql(server, "SELECT pg_reload_conf()")


def reset(server, setting):
    psql(server, f"ALTER SYSTEM RESET {setting}")
    psql(server, "SELECT pg_reload_conf()")


def locked(server, table, how="ACCESS EXCLUSIVE", **more):
    s = Session(server)
    return Trouble(f"{table} locked", "lock timeout|not answered|does not answer",
                   lambda: s.begin(f"LOCK vigil_kb.{table} IN {how} MODE"), s.end, **more)


def row_locked(server, table, **more):
    s = Session(server)
    return Trouble(f"rows of {table} locked", "lock timeout|not answered|does not answer",
                   lambda: s.begin(f"SELECT FROM vigil_kb.{table} FOR UPDATE"), s.end, **more)


def hba(server, first):
    path = os.path.join(server.data, "pg_hba.conf")
    with open(path) as f:
        rest = [line for line in f.read().splitlines() if not line.endswith("# the test's")]
    with open(path, "w") as f:
        f.write("\n".join(([first + " # the test's"] if first else []) + rest) + "\n")
    psql(server, "SELECT pg_reload_conf()")


class Crowd:
    """Takes every connection there is, and ends those of the engine."""

    def __init__(self, server):
        self.server, self.sockets = server, []

    def begin(self):
        user = b"user\0vigil\0database\0postgres\0\0"
        packet = (196608).to_bytes(4, "big") + user
        packet = (len(packet) + 4).to_bytes(4, "big") + packet
        self.keeper = Session(self.server)
        self.keeper.begin("SELECT 1")  # the way back
        for _ in range(120):
            s = socket.create_connection(("127.0.0.1", self.server.port))
            s.sendall(packet)
            self.sockets.append(s)
        time.sleep(0.5)
        self.keeper.psql.stdin.write("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
                                     " application_name LIKE 'vigil%';\n")
        self.keeper.psql.stdin.flush()
        for _ in range(30):  # what became free
            s = socket.create_connection(("127.0.0.1", self.server.port))
            s.sendall(packet)
            self.sockets.append(s)

    def end(self):
        for s in self.sockets:
            s.close()
        self.keeper.end()


def slow_trigger(server):
    def begin():
        psql(server, "CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS"
                     " 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END'; CREATE TRIGGER slow BEFORE INSERT"
                     " ON vigil_kb.version FOR EACH ROW EXECUTE FUNCTION public.slow()")

    def end():
        psql(server, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%vigil_kb.version%'"
                     " AND pid <> pg_backend_pid()", check=False)
        psql(server, "DROP TRIGGER slow ON vigil_kb.version; DROP FUNCTION public.slow()")
    return Trouble("statements that take too long", "timeout|not answered|cancel", begin, end)


def refusing(server, code, words):
    def begin():
        psql(server, f"CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE SQLSTATE"
                     f" ''{code}'' USING MESSAGE = ''{words}''; END'; CREATE TRIGGER refuse BEFORE INSERT ON"
                     " vigil_kb.version FOR EACH ROW EXECUTE FUNCTION public.refuse()")
    return Trouble(words, words, begin, lambda: psql(
        server, "DROP TRIGGER refuse ON vigil_kb.version; DROP FUNCTION public.refuse()"), short=code == "40001")


def troubles(server):
    crowd = Crowd(server)
    every = Session(server)
    yield Trouble("read-only", "read-only", lambda: system(server, "default_transaction_read_only", "on"),
                  lambda: reset(server, "default_transaction_read_only"), short=True)
    for table in ("version", "body", "change", "sentinel_state", "page_state", "notification"):
        yield locked(server, table, short=table == "version")
    for table in ("engine", "page_state", "sentinel_state"):
        yield row_locked(server, table)
    yield Trouble("everything locked", "timeout|not answer", lambda: every.begin(
        "LOCK vigil_kb.version, vigil_kb.body, vigil_kb.change, vigil_kb.engine, vigil_kb.lane,"
        " vigil_kb.sentinel, vigil_kb.page IN ACCESS EXCLUSIVE MODE"), every.end)
    yield Trouble("logins refused by pg_hba.conf", "pg_hba|reject", lambda: (
        hba(server, "host all vigil 0.0.0.0/0 reject"), terminate(server)), lambda: hba(server, ""), short=True)
    yield Trouble("a login that may not log in", "not permitted to log in", lambda: (
        psql(server, "ALTER ROLE vigil NOLOGIN"), terminate(server)),
        lambda: psql(server, "ALTER ROLE vigil LOGIN"))
    yield Trouble("too many connections", "too many|remaining connection slots", crowd.begin, crowd.end, short=True)
    yield Trouble("a standby that does not confirm", "not answer",
                  lambda: system(server, "synchronous_standby_names", "'nobody'"),
                  lambda: reset(server, "synchronous_standby_names"))
    yield slow_trigger(server)
    for code, words in (("40001", "could not serialize access"), ("53100", "could not extend file: No space left"),
                        ("53200", "out of memory"), ("58030", "could not read block: input/output error")):
        yield refusing(server, code, words)
    for text in ("VACUUM FULL vigil_kb.version", "REINDEX TABLE vigil_kb.version", "ANALYZE"):
        yield Trouble(text, "", lambda text=text: psql(server, text), lambda: None, must_pause=False)


@test("whatever keeps the database from doing its work, the engine stays, the status says it, and it goes on"
      " within five seconds; nothing is lost or doubled")
def _():
    with Counters() as site, Vigil() as v, database_server.Server(v.home) as server:
        site.page("/plain", step=0.3)
        site.page("/etag", step=1.3, kind="etag")
        server.admin = server.url.replace("vigil@", "admin@")
        subprocess.run(["psql", "-XAtq", "-d", server.url, "-c", "CREATE ROLE admin SUPERUSER LOGIN; ALTER"
                        " ROLE admin SET default_transaction_read_only = off"], check=True)
        v.args = ["--db", server.url]
        v.add(site.sentinels())
        v.start()
        engine = v.engine.pid
        job = lambda: int(psql(server, "SELECT job FROM vigil_kb.engine"))
        wait_until(lambda: job() > 2)
        met, slowest = 0, 0
        for t in troubles(server):
            if not (ALL or t.short):
                continue
            t.begin()
            try:
                if t.must_pause:
                    status = wait_until(lambda: [s for s in [v.status()] if not s["database"]["available"]
                                                 and re.search(t.words, s["database"]["error"])], 30,
                                        f"the status tells of {t.name}")[0]
                    equal((t.name, status["engine"]["state"]), (t.name, "paused"))
            except AssertionError as e:
                raise AssertionError(f"{t.name}: {e}: {v.status()['database']}")
            finally:
                t.end()
            begun = time.monotonic()
            before = job()
            wait_until(lambda: job() > before, 30, f"it goes on after {t.name}")
            took = time.monotonic() - begun
            slowest = max(slowest, took)
            assert took < 5 * SLOW, f"{t.name}: it went on after {took:.1f} s"
            wait_until(lambda: v.status()["engine"]["state"] == "running")
            assert v.engine.poll() is None and v.engine.pid == engine
            met += 1
        site.freeze()
        settle(v, site, 60)
        print(f"# {met} troubles, it went on after at most {slowest:.1f} s: {audit(v, site)}")
        v.stop()


main()
