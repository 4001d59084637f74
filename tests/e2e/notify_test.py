"""Telling people: webhooks, mail and the rest, with real receivers."""
import hashlib
import hmac
import re

from harness import *
from receivers import Hook, Mails

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


main()
