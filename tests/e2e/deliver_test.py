"""What may go wrong on the way: answers cut anywhere, engines killed anywhere, and secrets."""
import re

from harness import *
from receivers import Hook, Mails

pg = shared(Postgres)
ALLOW = ["--set", "notify.allow=127.0.0.0/8"]


class Raw:
    """A server that says what it is told, byte for byte, to one connection after another."""

    def __init__(self, talk):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.talk = talk

    def __enter__(self):
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.listener.close()

    def serve(self):
        while True:
            try:
                peer = self.listener.accept()[0]
            except OSError:
                return
            with peer, contextlib.suppress(OSError):
                self.talk(peer, peer.makefile("rb"))


def read_request(lines):
    length = 0
    while (line := lines.readline().strip()):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return lines.read(length)


@test("an answer that is cut anywhere before its headers end is no acceptance; after that it is")
def _():
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    ends = reply.index(b"\r\n\r\n") + 4
    cut = [0]

    def talk(peer, lines):
        if read_request(lines):
            peer.sendall(reply[:cut[0]])

    with Raw(talk) as raw, Vigil() as v:
        for cut[0] in range(0, len(reply) + 1):
            done = v.run("test-notify", *ALLOW, "webhook", f"http://127.0.0.1:{raw.port}/", code=None)
            equal(done.returncode, 0 if cut[0] >= ends else 2)
            if cut[0] < ends:
                contains(done.stderr, "would be tried again")


@test("a mail counts as accepted only when the whole 250 behind its last dot was there")
def _():
    reply = b"250 kept\r\n"
    cut = [0]
    count = [0]

    def talk(peer, lines):
        peer.sendall(b"220 raw\r\n")
        while (line := lines.readline().upper()):
            if line.startswith(b"DATA"):
                peer.sendall(b"354 go on\r\n")
                while lines.readline() != b".\r\n":
                    pass
                count[0] += 1
                peer.sendall(reply[:cut[0]])
                if cut[0] < len(reply):
                    return
            elif line.startswith(b"QUIT"):
                peer.sendall(b"221 bye\r\n")
                return
            else:
                peer.sendall(b"250 fine\r\n")

    with Raw(talk) as raw, Vigil() as v:
        words = ["--set", f"notify.smtp=smtp://127.0.0.1:{raw.port}", "--set", "notify.from=v@x.org"]
        for cut[0] in range(0, len(reply) + 1):
            done = v.run("test-notify", *words, "email", "a@x.org", code=None)
            equal(done.returncode, 0 if cut[0] == len(reply) else 2)
        equal(count[0], len(reply) + 1)


@test("a receiver that takes the message and never answers is asked again, under the same key")
def _():
    def hang(handler, entry):
        time.sleep(1.5)
        handler.close_connection = True

    with Site() as site, Hook([hang]) as hook, Vigil(
            db=pg().database(), args=[*ALLOW, "--set", "notify.timeout=500ms"]) as v:
        site.put("/p", "<p>0</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR any change FETCH EVERY 1 second"
              f" NOTIFY BY webhook {hook.url}/")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        site.put("/p", "<p>1</p>")
        wait_until(lambda: "timed out" in v.sql("SELECT error FROM vigil.notifications"))
        v.sql("SELECT vigil.resend(1)")  # instead of waiting for up to a minute
        wait_until(lambda: v.sql("SELECT state FROM vigil.notifications") == "sent")
        equal(len(set(hook.keys())), 1)
        equal(len(hook.keys()), 2)


@test("killed at each named point of a delivery: nothing is lost, and what comes twice has its key twice")
def _():
    points = ["after_claim", "before_send", "after_send", "before_settle", "after_settle",
              "after_commit:4", "before_done:4"]
    if "VIGIL_TEST_KILLS" not in os.environ:  # scripts/soak takes all of them
        points = ["before_send", "after_send", "before_settle"]
    with Site() as site, Hook() as hook, Vigil(db=pg().database(), args=ALLOW) as v:
        site.put("/p", "<p>0</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR any change FETCH EVERY 1 second"
              f" NOTIFY BY webhook {hook.url}/")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        v.stop()
        for n, point in enumerate(points, 1):
            site.put("/p", f"<p>{n}</p>")
            v.env["VIGIL_CRASH_POINT"] = point
            v.start(wait=False)
            wait_until(lambda: v.engine.poll() is not None, what=f"it dies at {point}")
            v.kill()
            del v.env["VIGIL_CRASH_POINT"]
            v.start()
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.notifications"
                                     " WHERE state = 'sent'") == str(n), what=f"all after {point}")
            v.stop()
        told = [b["items"][0]["new_version"] for b in hook.bodies()]
        firsts = sorted(set(told), key=told.index)
        equal(firsts, list(range(2, len(points) + 2)))  # none lost, first seen in order
        repeated = len(hook.keys()) - len(set(hook.keys()))
        assert repeated <= len(points), hook.keys()
        equal(len(set(hook.keys())), len(points))
        equal(v.sql("SELECT count(*) FROM vigil.changes"), str(len(points)))


@test("a password or a key is in no log, no status, no table and no setting that is shown")
def _():
    canary = "CanarY-7f3a"
    with Site() as site, Hook() as hook, Mails(["451 no"] * 3, user="u", password=canary) as mails, \
            Vigil(db=pg().database()) as v:
        with open(os.path.join(v.home, "key"), "w") as f:
            f.write(canary + "-file\n")
        v.args = [*ALLOW, "--set", f"notify.smtp_password={canary}", "--set", "notify.smtp_user=u",
                  "--set", "notify.smtp_tls=never", "--set", f"notify.smtp={mails.url}", "--set",
                  "notify.from=v@x.org", "--set", f"notify.secret=@{v.home}/key", "--set",
                  "log.level=debug"]
        site.put("/p", "<p>0</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR any change FETCH EVERY 1 second"
              f" NOTIFY BY webhook {hook.url}/, a@x.org")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        site.put("/p", "<p>1</p>")
        wait_until(lambda: hook.accepted and mails.tried)
        wait_until(lambda: "451" in v.sql("SELECT string_agg(error, '') FROM vigil.notifications"))
        assert mails.logins, "it did log in"
        contains(hook.accepted[0][1]["X-Vigil-Signature"], "sha256=")
        seen = [v.output(), v.run("status", "--json", settings=()).stdout,
                v.run("settings").stdout, v.run("settings", "--json").stdout,
                v.run("notifications").stdout, v.run("show", "s").stdout,
                hook.accepted[0][2].decode(), str(hook.accepted[0][1])]
        for table in v.sql("SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
                           " WHERE schemaname = 'vigil_kb'").split():
            seen.append(v.sql(f"SELECT string_agg(t::text, '') FROM {table} t"))
        v.kill()
        seen.append(v.output())
        for text in seen:
            assert canary not in text, text
        contains(v.run("settings").stdout, "notify.smtp_password = (hidden)")


main()
