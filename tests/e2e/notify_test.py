"""Telling people: webhooks, mail and the rest, with real receivers."""
import hashlib
import hmac
import re

from harness import *
from receivers import Authority, Hook, Mails

LOCAL = ["--set", "notify.allow=127.0.0.0/8"]
pg = shared(Postgres)


def settings(**names):
    words = list(LOCAL)
    for name, value in names.items():
        words += ["--set", f"notify.{name}={value}"]
    return words


def watch(v, site, clauses, name="s", page="/p", monitor="any change"):
    v.add(f"CREATE SENTINEL {name} USING {site.url}{page} MONITOR {monitor}"
          f" FETCH EVERY 1 second {clauses}")


def change(v, site, body, count, page="/p"):
    """Puts a new page there and waits until so many changes were found in all."""
    site.put(page, body)
    wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == str(count))


def first_version(v, count=1):
    wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == str(count))


@test("a webhook is posted once, signed, with its key and what changed")
def _():
    with Site() as site, Hook() as hook, Vigil(db=pg().database(), args=settings(secret="s3cret")) as v:
        site.put("/p", "<p>the price is one</p>")
        watch(v, site, f"NOTIFY BY webhook {hook.url}/in?x=1 TOPIC 'news' PRIORITY 3")
        v.start()
        first_version(v)
        change(v, site, "<p>the price is two</p>", 1)
        wait_until(lambda: hook.accepted)
        wait_until(lambda: v.sql("SELECT state FROM vigil.notifications") == "sent")
        path, headers, body = hook.accepted[0]
        equal(path, "/in?x=1")
        equal(headers["X-Vigil-Signature"],
              "sha256=" + hmac.new(b"s3cret", body, hashlib.sha256).hexdigest())
        told = json.loads(body)
        equal(told["id"], headers["Idempotency-Key"])
        equal(headers["Content-Type"], "application/json; charset=utf-8")
        item = told["items"][0]
        equal((item["sentinel"], item["kind"], item["url"], item["topic"], item["priority"]),
              ("s", "change", f"{site.url}/p", "news", 3))
        equal(item["detail"][0]["updated"][0]["old"], "the price is one")
        equal(item["detail"][0]["updated"][0]["new"], "the price is two")
        row = v.rows("notifications")[0]
        equal((row["method"], row["target"], row["attempts"], row["error"]),
              ("webhook", f"{hook.url}/in?x=1", 1, None))
        contains(v.run("diff", "s").stdout, "the price is one")
        assert re.search(r"the price is one +\| the price is two\n", v.run("diff", "s").stdout)
        contains(v.run("diff", "s", "--as", "merged").stdout, "the price is [-one-] {+two+}")
        contains(v.run("diff", "s", "--as", "only").stdout, "  - the price is one\n  + the price")
        page = v.run("diff", "s", "--as", "html").stdout
        assert re.search(r"the price is <ins style=\"[^\"]*\">two</ins>", page), page
        contains(v.run("diff", "s", "--as", "pie", code=1).stderr, "side, merged, only, html")
        v.stop()
        v.start()  # what was accepted is not sent again
        change(v, site, "<p>three</p>", 2)
        wait_until(lambda: len(hook.accepted) == 2)
        equal(len(set(hook.keys())), 2)


@test("a mail arrives with a text part, an HTML part and a Message-ID of its own")
def _():
    with Site() as site, Mails() as mails, Vigil(db=pg().database(), args=settings(
            smtp=mails.url, **{"from": "Vigil <vigil@example.org>"},
            unsubscribe="mailto:off@example.org")) as v:
        site.put("/p", "<p>Straße &lt;b&gt; one</p>")
        watch(v, site, "NOTIFY BY ann@example.org TOPIC 'Zölle'")
        v.start()
        first_version(v)
        change(v, site, "<p>Straße &lt;script&gt; two</p>", 1)
        wait_until(lambda: mails.mails)
        wait_until(lambda: v.sql("SELECT state FROM vigil.notifications") == "sent")
        mail = mails.messages()[0]
        equal(mails.mails[0].rcpt_tos, ["ann@example.org"])
        equal(mails.mails[0].mail_from, "vigil@example.org")
        equal(mail["To"], "ann@example.org")
        equal(mail["From"], "Vigil <vigil@example.org>")
        contains(mail["Subject"], "[Zölle] s: ")
        contains(mail["List-Unsubscribe"], "<mailto:off@example.org>")
        assert re.fullmatch(r"<[0-9a-f-]{36}\.\d+@example.org>", mail["Message-ID"]), mail["Message-ID"]
        parts = [p.get_content_type() for p in mail.iter_parts()]
        equal(parts, ["text/plain", "text/html"])
        text, html = [p.get_content() for p in mail.iter_parts()]
        contains(text, "Straße <script> two")
        assert "<script>" not in html
        contains(html, "&lt;script&gt;")
        raw = mails.mails[0].original_content
        assert all(len(line) <= 78 for line in raw.split(b"\r\n")), "long lines"
        raw.decode("ascii")


@test("fax, phone, program, channel, chat, bulletin and feed: each gets it in its own form")
def _():
    with Site() as site, Hook() as hook, Mails() as mails, Vigil(db=pg().database()) as v:
        told = os.path.join(v.home, "told")
        program = os.path.join(v.home, "tell")
        with open(program, "w") as f:
            f.write(f"#!/bin/sh\necho \"$1,$2\" >> {told}.args\ncat >> {told}\necho >> {told}\n")
        os.chmod(program, 0o755)
        feeds = os.path.join(v.home, "feeds")
        v.args = settings(smtp=mails.url, **{"from": "vigil@example.org"},
                          fax_gateway="{number}@fax.example.org",
                          phone_gateway="sms+{number}@example.org",
                          program=f"{program} one $(two)", channel="told", feeds=feeds,
                          chats="127.0.0.1=slack")
        site.put("/p", "<p>one</p>")
        watch(v, site, f"NOTIFY BY fax '+49 (30) 123', phone '030-456', webhook {hook.url}/chat,"
                       " personalized web-bulletin TOPIC 'A/b c'")
        v.start()
        listener = v.popen("psql", "-XAtq", "-c", "LISTEN told", "-c", "SELECT pg_sleep(4)",
                           "-c", "SELECT 1", settings=())
        first_version(v)
        change(v, site, "<p>two <b>\"bold\"</b></p>", 1)
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.notifications WHERE state <> 'sent'")
                   == "0", what="all are sent")
        equal(sorted(m.rcpt_tos[0] for m in mails.mails),
              ["+4930123@fax.example.org", "sms+030456@example.org"])
        chat = json.loads(hook.accepted[0][2])
        contains(chat["text"], "*[A/b c] s: ")
        with open(told) as f:
            lines = f.read().splitlines()
        equal(len(lines), 1)
        equal(json.loads(lines[0])["items"][0]["sentinel"], "s")
        with open(told + ".args") as f:
            equal(f.read(), "one,$(two)\n")  # no shell looked at it
        owner = v.sql('SELECT "user" FROM vigil.bulletin')
        names = sorted(os.listdir(feeds))
        equal(names, [f"{owner}.%41%2Fb%20c.atom", f"{owner}.atom"])
        import xml.etree.ElementTree as ET
        atom = "{http://www.w3.org/2005/Atom}"
        for name in names:
            feed = ET.parse(os.path.join(feeds, name)).getroot()
            entries = feed.findall(atom + "entry")
            equal(len(entries), 1)
            contains(entries[0].find(atom + "content").text, "two &quot;bold&quot;")
        equal(v.sql("SELECT topic, change FROM vigil.bulletin"), "A/b c|1")
        out = listener.communicate(timeout=30)[0]
        contains(out, 'Asynchronous notification "told" with payload "{')


@test("only the change: rows of the table that is watched, below its headings, cells in their columns")
def _():
    def page(price, other, note=""):
        return (f"<table><tr><th>Drink<th>Price<th>Note</tr><tr><td>Tea<td>{price}<td>{note}</tr>"
                f"<tr><td>Milk<td><td>cold</tr></table><p>between {other}</p>"
                f"<table><tr><th>City<th>Rain</tr><tr><td>Bergen<td>{other}</tr></table>")
    with Site() as site, Vigil(db=pg().database(), args=LOCAL) as v:
        site.put("/p", page(2, 10))
        watch(v, site, "", name="first", monitor="table")
        watch(v, site, "", name="second", monitor="table containing 'Bergen'")
        watch(v, site, "PRESENTATION only change", name="whole")
        v.start()
        first_version(v)
        change(v, site, page(3, 11, "hot"), 3)
        lines = v.run("diff", "first").stdout.split("\n")
        equal(lines[1:-1], ["    Drink | Price       | Note", "  ~ Tea   | [-2-] {+3+} | {+hot+}"])
        lines = v.run("diff", "second").stdout.split("\n")
        equal(lines[1:-1], ["    City   | Rain", "  ~ Bergen | [-10-] {+11+}"])
        lines = v.run("diff", "whole").stdout.split("\n")
        equal(lines[1:-1], ["    Drink | Price       | Note", "  ~ Tea   | [-2-] {+3+} | {+hot+}",
                            "  - between 10", "  + between 11", "    City   | Rain",
                            "  ~ Bergen | [-10-] {+11+}"])
        html = v.run("diff", "whole", "--as", "merged,html").stdout
        equal(html.count("<div style=\"overflow-x:auto"), 2)
        contains(html, ">3</ins></td>")


@test("later, in order, under the same key: 503, 429 with Retry-After in both forms, then accepted")
def _():
    def date(handler, entry):
        handler.reply(429, {"Retry-After": time.strftime(
            "%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 2))})
    with Site() as site, Hook([(503, {"Retry-After": "1"}), date]) as hook, \
            Vigil(db=pg().database(), args=settings()) as v:
        site.put("/p", "<p>0</p>")
        watch(v, site, f"NOTIFY BY webhook {hook.url}/")
        v.start()
        first_version(v)
        for n in (1, 2, 3):
            change(v, site, f"<p>{n}</p>", n)
        wait_until(lambda: len(hook.accepted) == 3)
        wait_until(lambda: v.sql("SELECT string_agg(state || attempts, ',' ORDER BY id)"
                                 " FROM vigil.notifications") == "sent3,sent1,sent1")
        keys = hook.keys()
        equal(keys[0], keys[1])
        equal(keys[1], keys[2])
        equal([b["items"][0]["new_version"] for b in hook.bodies()], [2, 3, 4])


@test("410 is the end of it, the next one goes on, and a dead one can be sent again")
def _():
    with Site() as site, Hook([(410, {})]) as hook, Vigil(db=pg().database(), args=settings()) as v:
        site.put("/p", "<p>0</p>")
        watch(v, site, f"NOTIFY BY webhook {hook.url}/")
        v.start()
        first_version(v)
        change(v, site, "<p>1</p>", 1)
        wait_until(lambda: v.sql("SELECT state FROM vigil.notifications") == "dead")
        contains(v.run("notifications", "--dead").stdout, "410 Gone")
        change(v, site, "<p>2</p>", 2)
        wait_until(lambda: len(hook.accepted) == 1)
        contains(v.run("notifications", "--resend", "1").stdout, "will be sent again")
        wait_until(lambda: len(hook.accepted) == 2)
        equal(hook.keys()[0], hook.keys()[2])
        contains(v.run("notifications", "--resend", "77", code=1).stderr, "there is no notification 77")
        contains(v.run("notifications", "--resend", "x", code=1).stderr, "is no notification")


@test("a receiver that is not public gets nothing, and a redirect is not followed")
def _():
    with Site() as site, Hook([(307, {"Location": "http://127.0.0.1:1/"})] * 2) as hook, \
            Vigil(db=pg().database()) as v:
        site.put("/p", "<p>0</p>")
        watch(v, site, f"NOTIFY BY webhook {hook.url}/")
        v.start()
        first_version(v)
        change(v, site, "<p>1</p>", 1)
        wait_until(lambda: "public" in v.sql("SELECT error FROM vigil.notifications"))
        equal(hook.got, [])
        v.stop()
        v.args = settings()
        v.sql("SELECT vigil.resend(1)")
        v.start()
        wait_until(lambda: "redirects" in v.sql("SELECT error FROM vigil.notifications"))
        equal(len(hook.got), 1)
        equal(v.sql("SELECT state FROM vigil.notifications"), "pending")


@test("notices are told once each: the page fails, it is back, the sentinel ended")
def _():
    with Site() as site, Hook() as hook, Vigil(db=pg().database(),
                                               args=settings(failing_after=2, gather="0s")) as v:
        site.put("/p", "<p>0</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR links FETCH EVERY 1 second"
              f" NOTIFY BY webhook {hook.url}/ EVERY 1 hour;"
              f"CREATE SENTINEL t USING {site.url}/p MONITOR links FETCH EVERY 1 second"
              f" NOTIFY BY webhook {hook.url}/ FROM end(s) + 1 hour TO end(s)")
        v.start()
        first_version(v)
        site.put("/p", lambda h: h.answer(500, "no"))
        wait_until(lambda: len(hook.accepted) == 1)
        site.put("/p", "<a href=/a>a</a>")
        wait_until(lambda: len(hook.accepted) == 2)
        change(v, site, "<a href=/b>b</a>", 1 if v.sql("SELECT count(*) FROM vigil.changes") == "0"
               else 2)
        equal(len(hook.accepted), 2)  # a change waits for its period
        v.sql("UPDATE vigil_kb.sentinel SET ends_at = ends_at")
        v.run("stop", "s")  # its owner did that: what was collected goes, and no notice
        wait_until(lambda: len(hook.accepted) == 4)
        kinds = [(b["items"][0]["sentinel"], i["kind"]) for b in hook.bodies() for i in b["items"]]
        equal(kinds[:2], [("s", "failing"), ("s", "recovered")])
        equal(sorted(set(kinds[2:])), [("s", "change"), ("t", "never started")])
        equal(sum(1 for k in kinds if k[1] == "never started"), 1)


authority = shared(lambda: contextlib.nullcontext(Authority()))
MAIL = {"from": "vigil@example.org", "smtp_user": "ann", "smtp_password": "geheim"}


def try_mail(v, mails, *more, code=0, **names):
    done = v.run("test-notify", *settings(smtp=mails.url, **{**MAIL, **names}), *more, "email",
                 "bo@example.org", code=code)
    return done.stderr if code else done.stdout


@test("a mail server that wants TLS and a password gets both, and nothing in clear")
def _():
    for kind in "tls", "smtps":
        with Mails(user="ann", password="geheim", **{kind: authority().context()}) as mails, \
                Vigil() as v:
            contains(try_mail(v, mails, smtp_ca=authority().ca), "accepted")
            equal([(name, password) for _, name, password, _ in mails.logins], [(b"ann", b"geheim")])
            assert kind == "smtps" or mails.logins[0][3], "the password was not said in clear"
            equal(len(mails.mails), 1)


@test("a mail server's certificate that nobody vouches for, for another name, or of yesterday is refused")
def _():
    other = Authority()
    for kind in "tls", "smtps":
        for context, ca, why in [
                (authority().context(), None, "is not trusted: unable to get local issuer"),
                (other.context(), authority().ca, "is not trusted"),
                (authority().context(name="DNS:mail.example.org"), authority().ca,
                 "the certificate of 127.0.0.1 is not for that name"),
                (authority().context(days=-1), authority().ca, "is not trusted: certificate has expired")]:
            with Mails(user="ann", password="geheim", **{kind: context}) as mails, Vigil() as v:
                said = try_mail(v, mails, code=2, **({"smtp_ca": ca} if ca else {}))
                contains(said, why)
                contains(said, "A real message would be tried again.")
                equal((mails.logins, mails.tried), ([], 0))  # nothing was said to a stranger


@test("TLS that is required and not offered, a wrong password, a file that is no certificate")
def _():
    with Mails(user="ann", password="geheim") as mails, Vigil() as v:
        contains(try_mail(v, mails, code=2), "does not offer TLS")
        equal(mails.logins, [])
        contains(try_mail(v, mails, smtp_tls="never"), "accepted")
        contains(try_mail(v, mails, smtp_tls="never", smtp_password="wrong", code=2),
                 "name and password")
        contains(try_mail(v, mails, smtp_tls="sometimes", code=1), "required, offered or never")
    with Mails(user="ann", password="geheim", tls=authority().context()) as mails, Vigil() as v:
        said = try_mail(v, mails, smtp_ca="/nonexistent.pem", code=2)
        contains(said, 'notify.smtp_ca: cannot read the certificates in "/nonexistent.pem"')
        equal(mails.logins, [])


@test("a webhook over TLS is posted only to who can prove the name")
def _():
    for context, why in [(authority().context(), "is not trusted"),
                         (authority().context(name="DNS:hooks.example.org"), "certificate of 127.0.0.1")]:
        with Hook(tls=context) as hook, Vigil() as v:
            contains(v.run("test-notify", *LOCAL, "webhook", f"{hook.url}/", code=2).stderr, why)
            equal(hook.got, [])
    with Hook(tls=authority().context()) as hook, Vigil() as v:
        contains(v.run("test-notify", *settings(ca=authority().ca), "webhook", f"{hook.url}/").stdout, "accepted")


@test("answers of a mail server to this very mail: later, or never")
def _():
    with Mails(["451 not now", "554 never"]) as mails, Vigil() as v:
        words = settings(smtp=mails.url, **{"from": "vigil@example.org"})
        contains(v.run("test-notify", *words, "email", "bo@example.org", code=2).stderr,
                 "451: not now\nA real message would be tried again")
        contains(v.run("test-notify", *words, "email", "bo@example.org", code=2).stderr,
                 "554: never\nA real message would be given up at once")
        contains(v.run("test-notify", *words, "pigeon", "x", code=1).stderr, 'no method "pigeon"')


main()
