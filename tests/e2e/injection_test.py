"""Hostile text on a page, through the real engine, into everything people and programs read.

tests/notify/injection_test.c has each sink's bytes; here it is the way there, and what is not
notify's: the views, the commands, the log, a program's input.
"""
import html
import re
import unicodedata
import xml.etree.ElementTree as ET

from harness import *
from receivers import Hook, Mails

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../notify"))
import injection

pg = shared(Postgres)
# A page cannot say what is no text.
PAYLOADS = [p for p in injection.PAYLOADS if "\udc80" not in p]


def seen(payload):
    """What the page says: white space in runs is one space, controls are left out, letters are
    composed."""
    text = re.sub("[ \t\n\r\f]+", " ", payload)
    text = "".join(c for c in text if ord(c) >= 0x20)
    return unicodedata.normalize("NFC", text).strip(" ")


def page(texts):
    return "<ul>" + "".join(f"<li>{i}: {html.escape(t)} :{i}</li>" for i, t in enumerate(texts)) + "</ul>"


def is_harmless(text):
    return not any(ord(c) in injection.ODD and c != "\n" for c in text)


@test("a page full of hostile text: views, bulletin, webhook, program, mail, feed, commands and log")
def _():
    with Site() as site, Hook() as hook, Mails() as mails, Vigil(db=pg().database()) as v:
        program = os.path.join(v.home, "tell")
        with open(program, "w") as f:
            f.write(f"#!/bin/sh\ncat > {v.home}/told\n")
        os.chmod(program, 0o755)
        feeds = os.path.join(v.home, "feeds")
        v.args = []
        for pair in ["allow=127.0.0.0/8", f"program={program}", f"smtp={mails.url}", f"feeds={feeds}",
                     "from=v@example.org"]:
            v.args += ["--set", f"notify.{pair}"]
        site.put("/p", "<ul></ul>")
        topic = "'; DROP TABLE vigil_kb.change; -- <b> {title} %s".replace("'", "''")
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR any change FETCH EVERY 1 second"
              f" TOPIC '{topic}' NOTIFY BY webhook {hook.url}/, ann@example.org,"
              " personalized web-bulletin PRESENTATION only change")
        v.start("--set", "log.level=debug")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        site.put("/p", page(PAYLOADS))
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.notifications WHERE state = 'sent'") == "4",
                   60, "all four are told")

        texts = [f"{i}: {seen(p)} :{i}" for i, p in enumerate(PAYLOADS)]
        texts = [re.sub(" +", " ", t) for t in texts]
        change = v.rows("changes")[0]
        inserted = [t if isinstance(t, str) else t["text"] for t in change["detail"]["leaves"][0]["inserted"]]
        equal(inserted, texts)
        for view in "vigil.changes", "vigil.bulletin":  # as a program reads it from SQL
            rows = v.sql(f"SELECT detail FROM {view}")
            leaf = json.loads(rows)["leaves"][0]
            equal([t if isinstance(t, str) else t["text"] for t in leaf["inserted"]], texts)
        equal(v.sql("SELECT topic FROM vigil.bulletin"), topic.replace("''", "'"))
        equal(v.sql("SELECT count(*) FROM vigil.changes"), "1")

        told = json.loads(hook.accepted[0][2])
        equal(told["items"][0]["detail"][0]["inserted"], texts)
        with open(os.path.join(v.home, "told")) as f:
            given = json.load(f)
        equal(given["items"][0]["detail"], told["items"][0]["detail"])

        text, report = [p.get_content() for p in mails.messages()[0].iter_parts()]
        shown = [injection.plain(t) for t in texts]
        equal([l[4:] for l in text.splitlines() if re.match(r"  \+ \d+: ", l)], shown)
        for t in texts:
            contains(report, injection.as_html(t))
        assert set(re.findall(r"<([a-z!]+)", report)) <= {"!", "html", "head", "meta", "title", "body", "div",
                                                       "table", "tr", "td", "ins", "del", "a", "br", "span"}
        for name in os.listdir(feeds):
            entry = ET.parse(os.path.join(feeds, name)).getroot().find("{*}entry")
            for t in texts:
                contains(entry.find("{*}content").text, injection.as_html(t))

        diff = v.run("diff", "s", "--as", "only").stdout
        equal([l[4:] for l in diff.splitlines() if re.match(r"  \+ \d+: ", l)], shown)
        for words in (["diff", "s"], ["diff", "s", "--as", "merged"], ["changes"], ["notifications"],
                      ["status"], ["list"], ["show", "s"]):
            out = v.run(*words, code=None)
            assert is_harmless(out.stdout + out.stderr), words
        v.stop()
        assert is_harmless(v.output()), v.output()


@test("what a server says in its headers is harmless in status, log and commands")
def _():
    def nasty(handler):
        handler.wfile.write(b"HTTP/1.1 503 \x1b[31mred\x07 <script>\r\nLocation: http://x/\x1b]0;t\x07\r\n"
                            b"Content-Length: 0\r\nRetry-After: \x1b[2J\r\n\r\n")
        handler.close_connection = True

    def away(handler):
        handler.wfile.write(b"HTTP/1.1 302 x\r\nLocation: ftp://evil\xc2\x9b31m/\xe2\x80\xae\r\n"
                            b"Content-Length: 0\r\n\r\n")
        handler.close_connection = True

    def answer(handler, entry):
        handler.wfile.write(b"HTTP/1.1 503 \x1b[31m\xe2\x80\xae\r\nContent-Length: 0\r\n\r\n")

    with Site() as site, Hook([answer] * 3) as hook, Vigil(
            db=pg().database(), args=["--set", "notify.allow=127.0.0.0/8", "--set", "log.level=debug",
                                      "--set", "notify.failing_after=1"]) as v:
        for name, how in ("a", nasty), ("b", away):
            site.put(f"/{name}", "<p>fine</p>")
            v.add(f"CREATE SENTINEL {name} USING {site.url}/{name} MONITOR any change FETCH EVERY 1 second"
                  f" NOTIFY BY webhook {hook.url}/")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "2")
        site.put("/a", nasty)
        site.put("/b", away)
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.status WHERE error IS NOT NULL") == "2")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.notifications WHERE error IS NOT NULL") == "2")
        for words in ["status"], ["list"], ["show", "a"], ["show", "b"], ["notifications"], ["changes"]:
            out = v.run(*words, code=None)
            assert is_harmless(out.stdout + out.stderr), (words, out)
        v.stop()
        assert is_harmless(v.output()), v.output()


main()
