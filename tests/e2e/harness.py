"""What the end-to-end tests share: a real engine, real web servers, TAP.

A test file looks like this:

    from harness import *

    @test("a page that changes is reported once")
    def _():
        with Site() as site, Vigil() as v:
            site.put("/a.html", "<p>one</p>")
            v.add(f"CREATE SENTINEL a USING {site.url}/a.html MONITOR any change FETCH EVERY 1 second")
            v.start()
            ...
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == "1")

    main()

Everything runs on loopback in a short-named directory, in memory where there is room, that
goes away afterwards; no server is left running.  VIGIL names the binary; meson sets it.
"""
import contextlib
import fcntl
import glob
import http.server
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

VIGIL = os.environ.get("VIGIL") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../build/engine/vigil")
# Sanitizers make everything slower; patience is scaled, never the expectations.
SLOW = float(os.environ.get("VIGIL_TEST_SLOWNESS", "1"))
TRY = ["--allow", "127.0.0.0/8", "--set", "fetch.min_interval=1s", "--set", "fetch.jitter=0"]

_tests = []


def test(sentence):
    """Registers a test; an AssertionError or any other exception fails it."""
    def register(function):
        _tests.append((sentence, function))
        return function
    return register


def main():
    only = sys.argv[1:]
    # A shell that starts us in the background has us ignore SIGINT, and the engines with us.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen = [(s, f) for s, f in _tests if not only or any(o in s for o in only)]
    failed = 0
    print(f"1..{len(chosen)}", flush=True)
    for number, (sentence, function) in enumerate(chosen, 1):
        begun = time.monotonic()
        try:
            skipped = function()
            note = f" # SKIP {skipped}" if isinstance(skipped, str) else ""
            print(f"ok {number} - {sentence}{note}", flush=True)
        except BaseException as e:  # a test that hangs is interrupted; that is a failure too
            failed += 1
            import traceback
            for line in traceback.format_exc().splitlines():
                print("# " + line)
            print(f"not ok {number} - {sentence}", flush=True)
            if isinstance(e, KeyboardInterrupt):
                break
        print(f"# {time.monotonic() - begun:.1f} s", flush=True)
    while _ends:
        _ends.pop()()
    sys.exit(1 if failed else 0)


_ends = []


def shared(make):
    """Turns a maker of something with `with` into a function that makes it once for the whole
    file, at the first call; it is closed after the last test."""
    made = []

    def get():
        if not made:
            thing = make()
            made.append(thing.__enter__())
            _ends.append(lambda: thing.__exit__(None, None, None))
        return made[0]
    return get


def wait_until(condition, seconds=20, what="it happened"):
    """Polls until the condition is true; what it returned last is in the error.

    What is dear to look at is looked at less often, so that the waiting costs others little.
    Twenty seconds and more are no expectation but patience, of which a busy machine gets more.
    """
    seconds *= max(SLOW, 3) if seconds >= 20 else SLOW
    deadline = time.monotonic() + seconds
    last = None
    while time.monotonic() < deadline:
        begun = time.monotonic()
        last = condition()
        if last:
            return last
        time.sleep(min(max(0.02, 2 * (time.monotonic() - begun)), 0.3))
    raise AssertionError(f"waited {seconds:.0f} s until {what}; last seen: {last!r}")


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def contains(text, part):
    assert part in text, f"no {part!r} in:\n{text}"


def roomy_place():
    """Databases made, copied and removed are mostly waiting for a disk; memory will do.

    VIGIL_TEST_PLACE is for those who want to know what a disk does.
    """
    if "VIGIL_TEST_PLACE" in os.environ:
        return os.environ["VIGIL_TEST_PLACE"]
    with contextlib.suppress(OSError):
        shm = os.statvfs("/dev/shm")
        if (os.access("/dev/shm", os.W_OK) and not shm.f_flag & os.ST_NOEXEC
                and shm.f_bavail * shm.f_frsize > 2 << 30):
            return "/dev/shm"
    return "/tmp"


def pattern(name, make):
    """A directory that make(path) makes once for each build of Vigil, for copies of it."""
    build = os.environ.get("VIGIL_BENCH_BUILD") or os.path.join(os.path.dirname(VIGIL), "..")
    place = os.path.join(build, "e2e-patterns")
    os.makedirs(place, exist_ok=True)
    age = os.stat(VIGIL)
    path = os.path.join(place, f"{name}-{age.st_mtime_ns}-{age.st_size}-{os.geteuid()}")
    with open(os.path.join(place, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            for old in glob.glob(os.path.join(place, f"{name}-*")):
                shutil.rmtree(old)
            made = tempfile.mkdtemp(prefix="vg-", dir=roomy_place())
            os.chmod(made, 0o755)
            try:
                make(os.path.join(made, "d"))
                copy(os.path.join(made, "d"), path + ".new")
                os.rename(path + ".new", path)
            finally:
                shutil.rmtree(made)
    return path


def copy(source, target):
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)


class Session:
    """A psql that stays: a new one for each look costs a tenth of a second of work."""
    END = b"that was all\n"

    def __init__(self, command, env):
        self.psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, env=env)

    def ask(self, query, seconds):
        """The answer, or None when there is none and the session is of no use any more."""
        deadline = time.monotonic() + seconds
        out = self.psql.stdout.fileno()
        answer = b""
        with contextlib.suppress(BrokenPipeError):
            self.psql.stdin.write(f"{query}\n;\n\\echo {self.END.decode()}".encode())
            self.psql.stdin.flush()
            while select.select([out], [], [], max(0, deadline - time.monotonic()))[0]:
                more = os.read(out, 1 << 16)
                if not more:
                    return None
                answer += more
                if answer == self.END or answer.endswith(b"\n" + self.END):
                    return answer[:-len(self.END)].decode().strip()
        return None

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.psql.stdin.close()
        try:
            self.psql.wait(5 * SLOW)
        except subprocess.TimeoutExpired:
            self.psql.kill()
            self.psql.wait()
        self.psql.stdout.close()


class Vigil:
    """One data directory and the commands on it.

    made: with an empty database in it from the start, for tests that are not about making one.
    """

    def __init__(self, data=None, args=(), env=None, db=None, made=False):
        self.home = tempfile.mkdtemp(prefix="vg-", dir=roomy_place())
        os.chmod(self.home, 0o755)
        self.data = data or os.path.join(self.home, "d")
        self.where = ["--db", db] if db else ["--data", self.data]
        self.args = list(args)
        self.env = {k: w for k, w in os.environ.items() if not k.startswith("VIGIL_")}
        self.env["NO_COLOR"] = "1"
        self.env.update(env or {})
        self.engine = None
        self.answers = False  # the engine, to commands
        self.session, self.session_lock = None, threading.Lock()
        if made:
            copy(pattern("data", lambda path: subprocess.run(
                [VIGIL, "list", "--data", path], check=True, capture_output=True)),
                 self.data)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            self.stop(check=exc[0] is None)
        finally:
            shutil.rmtree(self.home, ignore_errors=True)

    # -- commands

    def run(self, *words, input=None, code=0, timeout=60, settings=TRY):
        """Runs a command; returns it with stdout and stderr.  code=None: any exit code."""
        words = list(map(str, words))
        command = [VIGIL, words[0], *self.where, *settings, *self.args, *words[1:]]
        done = subprocess.run(command, input=input, capture_output=True, text=True,
                              env=self.env, timeout=timeout * SLOW)
        if code is not None and done.returncode != code:
            raise AssertionError(f"{' '.join(words)}: exit {done.returncode}, expected {code}\n"
                                 f"stdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def add(self, definitions, code=0, **kw):
        return self.run("add", "-", input=definitions, code=code, **kw)

    def rows(self, *words, **kw):
        # Not splitlines: it knows more ends of lines than JSON does.
        return [json.loads(line) for line in self.run(*words, "--json", **kw).stdout.split("\n") if line]

    def popen(self, *words, settings=TRY, **kw):
        """Starts a command that goes on; its output is lines of text."""
        return subprocess.Popen([VIGIL, words[0], *self.where, *settings, *self.args, *words[1:]],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.env, **kw)

    def sql(self, query):
        looks = query.startswith("SELECT") and ";" not in query
        if looks and self.answers and self.engine and self.engine.poll() is None:
            with self.session_lock:
                if not self.session:
                    self.session = Session([VIGIL, "psql", *self.where, *self.args, "-XAtq", "-v",
                                            "ON_ERROR_STOP=1"], self.env)
                answer = self.session.ask(query, 60 * SLOW)
                if answer is not None:
                    return answer
                self.end_session()
        # Also when that session was cut off: this one says why, or finds the database back.
        return self.run("psql", "-XAtq", "-c", query, settings=()).stdout.strip()

    def end_session(self):
        if self.session:
            self.session.close()
        self.session = None

    # -- the engine

    def start(self, *words, settings=TRY, wait=True):
        assert not self.engine
        self.out = open(os.path.join(self.home, "out"), "ab")
        self.engine = subprocess.Popen(
            [VIGIL, "run", *self.where, *settings, *self.args, *words],
            stdout=self.out, stderr=subprocess.STDOUT, env=self.env, stdin=subprocess.DEVNULL)
        if wait:
            wait_until(lambda: self.is_up() or self.engine.poll() is not None, 60,
                       "the engine answers")
            assert self.engine.poll() is None, "the engine ended:\n" + self.output()
            self.answers = True

    def is_up(self):
        done = self.run("status", "--json", code=None, settings=())
        return done.returncode == 0 and '"pid"' in done.stdout

    def status(self):
        return json.loads(self.run("status", "--json", settings=()).stdout)

    def output(self):
        with open(os.path.join(self.home, "out"), errors="replace") as f:
            return f.read()

    def kill(self, how=signal.SIGKILL):
        self.answers = False
        with self.session_lock:
            self.end_session()
        self.engine.send_signal(how)
        try:
            self.engine.wait(30 * SLOW)
        except subprocess.TimeoutExpired:  # nothing is left running, whatever it hangs on
            self.engine.kill()
            self.engine.wait()
        self.out.close()
        code, self.engine = self.engine.returncode, None
        return code

    def stop(self, check=True):
        if not self.engine:
            return
        code = self.kill(signal.SIGTERM)
        if check:
            assert code == 0, f"the engine ended with {code}:\n" + self.output()

    def postmaster(self):
        with open(os.path.join(self.data, "pg", "postmaster.pid")) as f:
            return int(f.readline())


class Postgres:
    """A PostgreSQL of the test's own, as an operator would have one; unix socket only.

    Databases are made on demand, so many tests can share one server: Vigil(db=pg.database()).
    """

    def __init__(self):
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"),
                          key=lambda p: int(p.split("/")[-2]))[-1]
        self.home = tempfile.mkdtemp(prefix="vp-", dir=roomy_place())
        os.chmod(self.home, 0o755)
        self.prefix = []
        self.databases = 0
        if os.geteuid() == 0:
            shutil.chown(self.home, "postgres", "postgres")
            self.prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]

    def __enter__(self):
        copy(pattern("server", self.initdb), f"{self.home}/pg")
        self.server = subprocess.Popen(
            [*self.prefix, f"{self.bin}/postgres", "-D", f"{self.home}/pg", "-k", self.home,
             "-c", "listen_addresses=", "-c", "fsync=off"], cwd=self.home,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_until(lambda: self.psql("postgres", "SELECT 1", check=False) == "1", 30,
                   "PostgreSQL answers")
        return self

    def __exit__(self, *exc):
        self.server.send_signal(signal.SIGINT)
        try:
            self.server.wait(20 * SLOW)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def initdb(self, path):
        os.mkdir(path, 0o700)
        if self.prefix:
            shutil.chown(path, "postgres", "postgres")
        subprocess.run([*self.prefix, f"{self.bin}/initdb", "-D", path, "-A", "trust", "-U", "vigil",
                        "-E", "UTF8", "--locale=C", "--no-sync"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def psql(self, database, query, check=True):
        done = subprocess.run(["psql", "-XAtq", "-h", self.home, "-U", "vigil", "-d", database,
                               "-c", query], capture_output=True, text=True)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def database(self):
        self.databases += 1
        name = f"v{self.databases}"
        self.psql("postgres", f"CREATE DATABASE {name}")
        return f"postgresql://vigil@{self.home.replace('/', '%2F')}/{name}"


class Site:
    """A web server whose pages are whatever the test says; keeps a log of requests.

    A page is text (200, text/html), or a function of the request handler that answers itself.
    """

    def __init__(self, port=0, tls=None):
        self.pages, self.requests, self.connections = {}, [], []
        self.lock = threading.Lock()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with site.lock:
                    site.requests.append((time.time(), self.path, dict(self.headers)))
                    page = site.pages.get(self.path)
                if callable(page):
                    page(self)
                elif page is None:
                    self.answer(404, "<p>no such page</p>")
                else:
                    self.answer(200, page)

            do_POST = do_PUT = do_GET

            def answer(self, status, body, headers=()):
                body = body.encode() if isinstance(body, str) else body
                self.send_response(status)
                names = {n.lower() for n, _ in headers}
                if "content-type" not in names:
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *args):  # a client that was killed is no news
                pass

            def process_request(self, request, client):
                with site.lock:
                    site.connections.append(request)
                super().process_request(request, client)

            def shutdown_request(self, request):
                with site.lock:
                    if request in site.connections:
                        site.connections.remove(request)
                super().shutdown_request(request)

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()
        with self.lock:  # a server that is gone keeps nobody on the line
            for connection in self.connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def put(self, path, page):
        with self.lock:
            self.pages[path] = page

    def count(self, path):
        with self.lock:
            return sum(1 for _, p, _ in self.requests if p == path)


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
