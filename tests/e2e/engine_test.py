"""What is a change, end to end: real pages, fetched, compared, stored and shown.

Pages are put in tables: what was there before, what is there after, and what must be found.
All pages of a table are watched at once, so a table costs a few seconds, however long it is.
"""
from harness import *

pg = shared(Postgres)
site = shared(Site)


class Running(Vigil):
    def __enter__(self):
        super().__enter__()
        self.run("list")
        self.start("--set", "fetch.host_connections=16")
        return self


running = shared(lambda: Running(db=pg().database()))


def versions(v, path):
    return int(v.sql(f"SELECT count(*) FROM vigil.versions WHERE url = '{site().url}{path}'"))


def evaluations(v, names):
    quoted = ",".join(f"'{n}'" for n in names)
    return int(v.sql(f"SELECT coalesce(sum(evaluations), 0) FROM vigil.status "
                     f"WHERE name IN ({quoted})"))


def page(body, *headers):
    """An answer with headers of its own, for Site.put."""
    return lambda handler: handler.answer(200, body, headers)


def compare(rows):
    """rows: (name, monitor, before, after).  Returns {name: change or None}."""
    v = running()
    for name, _, before, _ in rows:
        site().put(f"/d/{name}", before)
    v.add("".join(f"CREATE SENTINEL {name} USING {site().url}/d/{name} MONITOR {monitor} "
                  f"FETCH EVERY 1 second;\n" for name, monitor, _, _ in rows))
    names = [r[0] for r in rows]
    quoted = ",".join(f"'{n}'" for n in names)
    wait_until(lambda: v.sql(f"SELECT count(*) FROM vigil.status WHERE name IN ({quoted}) AND "
                             f"last_version = 1") == str(len(rows)), 30, "all have a first version")
    for name, _, _, after in rows:
        site().put(f"/d/{name}", after)
    wait_until(lambda: evaluations(v, names) == len(rows), 30, "all were compared")
    found = {r["sentinel"]: r for r in v.rows("changes", "--limit", "1000")}
    result = {n: found.get(n) for n in names}
    for n in names:
        row = v.rows("show", n)[0]
        equal((n, row["last_result"], row["changes"], row["error"]),
              (n, "changed" if result[n] else "unchanged", 1 if result[n] else 0, None))
    v.run("drop", *names)
    return result


def leaf(change, kind, n=0):
    return change["detail"]["leaves"][n][kind]


# ---- any change, links -------------------------------------------------------------------------


@test("any change: what a reader could see counts, what nobody sees does not; raw counts bytes")
def _():
    rows = [("AC1", "any change", "<p>Price 10</p>", "<p>Price 12</p>", True),
            ("AC2", "any change", "<p>Price   10</p>\n", "<p>Price 10</p>", False),
            ("AC3", "any change", "<p class=a id=b>x</p>", "<p id=b class=a>x</p>", False),
            ("AC4", "any change", "<p>x</p><!--1-->", "<p>x</p><!--2-->", False),
            ("AC5", "any change", "<p>x</p><script>t=1</script>", "<p>x</p><script>t=2</script>",
             False),
            ("AC5raw", "any change raw", "<p>x</p><script>t=1</script>",
             "<p>x</p><script>t=2</script>", True),
            ("AC2raw", "anychange raw", "<p>Price   10</p>\n", "<p>Price 10</p>", True),
            ("AC6", "any change", "<p>x y</p>", "<p>x <b>y</b></p>", True),
            ("AC7", "any change", "<p>caf&eacute;</p>", "<p>café</p>", False),
            ("style", "any change", "<style>p{a:b}</style><p>x", "<style>p{a:c}</style><p>x",
             False),
            ("noscript", "any change", "<p>x</p><noscript>a</noscript>",
             "<p>x</p><noscript>b</noscript>", False),
            ("nbsp", "any change", "<p>a&nbsp;b</p>", "<p>a b</p>", False),
            ("nfc", "any change", "<p>cafe\u0301</p>", "<p>caf\u00e9</p>", False),
            ("attr", "any change", "<p title=a>x</p>", "<p title=b>x</p>", True),
            ("deep", "any change", "<div>" * 250 + "one" + "</div>" * 250,
             "<div>" * 250 + "two" + "</div>" * 250, True),
            ("same", "NOT any change", "<p>x</p><!--1-->", "<p>x</p><!--2-->", True)]
    found = compare([r[:4] for r in rows])
    for name, _, _, _, wanted in rows:
        equal((name, found[name] is not None), (name, wanted))
    equal((leaf(found["deep"], "inserted"), leaf(found["deep"], "deleted")), (["two"], ["one"]))
    # An attribute alone is reported as an update, with its place.
    equal((found["attr"]["updated"], found["attr"]["inserted"], found["attr"]["deleted"]), (1, 0, 0))


@test("links: the set of addresses counts, not their order, number or text")
def _():
    u = site().url
    host = u.replace("http://", "HTTP://")
    rows = [("LK1", "<a href=/a>", "<a href=/a><a href=b>", [f"{u}/d/b"], []),
            ("LK2", "<a href=/a>A</a>", f'<a href="{host}/a">other</a>', None, None),
            ("LK3", "<a href=/a><a href=/c>", "<a href=/c><a href=/c>", [], [f"{u}/a"]),
            ("LK4", "<a href=/a><a href=/b>", "<a href=/b><a href=/a>", None, None),
            ("LK5", "<a href=mailto:a@b.org><a href='javascript:x()'>", "<p>none", None, None),
            ("LK6", "<form action=/s>", "<form action=/t><option value=http://y.org>",
             [f"{u}/t", "http://y.org/"], [f"{u}/s"]),
            ("LK7", "<a href=/a#x>", "<a href=/a#y>", [f"{u}/a#y"], [f"{u}/a#x"]),
            ("base", "<base href=http://z.org/q/><a href=a>", "<base href=http://z.org/r/><a href=a>",
             ["http://z.org/r/a"], ["http://z.org/q/a"]),
            ("dots", "<a href=/x/../y/./z>", "<a href=/y/z>", None, None),
            ("text", "<p>one</p><a href=/a>1</a>", "<p>two</p><a href=/a>2</a>", None, None)]
    found = compare([(n, "links", b, a) for n, b, a, _, _ in rows])
    for name, _, _, plus, minus in rows:
        if plus is None:
            equal((name, found[name]), (name, None))
            continue
        change = found[name]
        assert change, name
        equal((name, sorted(leaf(change, "inserted")), sorted(leaf(change, "deleted"))),
              (name, sorted(plus), sorted(minus)))
        equal((change["inserted"], change["deleted"], change["updated"], change["moved"]),
              (len(plus), len(minus), 0, 0))


@test("AND, OR and NOT: one notification a version, with the lists of all that changed")
def _():
    text_only = ("<p>1</p><a href=/a>", "<p>2</p><a href=/a>")
    link_too = ("<p>1</p><a href=/a>", "<p>1</p><a href=/b>")
    rows = [("and1", "any change AND links", *text_only, False, 0),
            ("and2", "any change AND links", *link_too, True, 2),
            ("or1", "links OR any change", *text_only, True, 1),
            ("or2", "links OR any change", *link_too, True, 2),
            ("not1", "any change AND NOT links", *text_only, True, 1),
            ("not2", "any change AND NOT links", *link_too, False, 0),
            ("not3", "NOT links", *text_only, True, 0),
            ("not4", "NOT links", *link_too, False, 0),
            ("prec", "any change OR links AND NOT any change", *text_only, True, 1),
            ("paren", "(any change OR links) AND NOT any change", *text_only, False, 0),
            ("nn", "NOT NOT links", *link_too, True, 1)]
    found = compare([r[:4] for r in rows])
    for name, _, _, _, wanted, leaves in rows:
        change = found[name]
        equal((name, change is not None), (name, wanted))
        if name == "nn":
            continue
        if change:
            listed = [l for l in change["detail"]["leaves"]
                      if l.get("result") == "C" and any(l[k] for k in
                                                        ("inserted", "deleted", "updated", "moved"))]
            equal((name, len(listed)), (name, leaves))
    v = running()
    equal(v.sql("SELECT count(*) - count(DISTINCT (sentinel, new_version)) FROM vigil.changes"), "0")


# ---- charsets ----------------------------------------------------------------------------------


@test("pages of other charsets are read as a browser would, and one bad byte spoils only itself")
def _():
    cases = {
        "utf8": ("Grüße", "utf-8", "text/html; charset=utf-8", ""),
        "latin": ("Grüße", "latin-1", "text/html; charset=iso-8859-1", ""),
        "cyr": ("Привет", "windows-1251", "text/html; charset=windows-1251", ""),
        "koi": ("Привет", "koi8-r", "text/html", "<meta charset=koi8-r>"),
        "sjis": ("東京都", "shift_jis", "text/html; charset=Shift_JIS", ""),
        "euc": ("한국어", "euc-kr", "text/html",
                "<meta http-equiv=Content-Type content='text/html; charset=euc-kr'>"),
        "gb": ("中文", "gb18030", "text/html; charset=gb2312", ""),
        "u16": ("Grüße東", "utf-16", "text/html", ""),
        "none": ("Grüße", "windows-1252", "text/html", ""),
        "quote": ("“x” €", "windows-1252", "text/html; charset=iso-8859-1", ""),
        "lie": ("Grüße", "utf-8", "text/html; charset=utf-8", "<meta charset=latin1>"),
    }
    body = lambda text, meta: f"<html><head>{meta}</head><body><p>{text}</p></body></html>"
    rows = []
    for name, (text, codec, content_type, meta) in cases.items():
        make = lambda t: page(body(t, meta).encode(codec), ("Content-Type", content_type))
        rows.append((name, "any change", make("alt"), make(text)))
    bad = page("<p>Grüße</p>\n".encode() + b"<p>\xff</p>" + "<p>größer</p>".encode(),
               ("Content-Type", "text/html; charset=utf-8"))
    rows.append(("bad", "any change", page("<p>x</p>"), bad))
    found = compare(rows)
    for name, (text, *_) in cases.items():
        assert found[name], name
        equal((name, leaf(found[name], "inserted"), leaf(found[name], "deleted")),
              (name, [text], ["alt"]))
    everything = json.dumps(leaf(found["bad"], "inserted") + leaf(found["bad"], "updated"),
                            ensure_ascii=False)
    contains(everything, "Grüße")
    contains(everything, "größer")


@test("what a page says cannot command the terminal: not in changes, diff, show, nor the engine")
def _():
    v = running()
    evil = "<p>\x1b]0;owned\x07\x1b[31m red \u009b2J &#155;5m \u202egnp.exe\u202c \x08\x08\x7f</p>"
    site().put("/evil", "<p>good</p>")
    v.add(f"CREATE SENTINEL evil USING {site().url}/evil MONITOR any change FETCH EVERY 1 second;"
          f"CREATE SENTINEL evil_links USING {site().url}/evil MONITOR links FETCH EVERY 1 second")
    wait_until(lambda: versions(v, "/evil") == 1)
    site().put("/evil", evil + "<a href='/\x1b[31m\u009b'>")
    wait_until(lambda: len(v.rows("changes", "evil_links")) == 1)
    wait_until(lambda: "evil_links" in v.output())
    for text in (v.run("changes", "evil").stdout, v.run("diff", "evil").stdout,
                 v.run("changes", "--json").stdout, v.run("show", "evil").stdout,
                 v.run("list").stdout, v.run("diff", "evil_links").stdout, v.output()):
        for c in text:
            code = ord(c)
            assert c == "\n" or 32 <= code < 127 or code >= 160, f"{c!r} in {text!r}"
            # Text that runs backwards deceives people; in JSON it is data.
            assert text[0] == "{" or not 0x202A <= code <= 0x202E, f"{c!r} in {text!r}"
    v.run("drop", "evil", "evil_links")


@test("what a server says in an error cannot command the terminal either")
def _():
    v = running()

    def bad(handler):
        handler.wfile.write(b"HTTP/1.1 500 \x1b[31mred\x07\r\nContent-Length: 0\r\n\r\n")

    def away(handler):
        handler.wfile.write(b"HTTP/1.1 302 Found\r\nLocation: gopher://\x1b[31m/\r\n"
                            b"Content-Length: 0\r\n\r\n")

    def coded(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: \x1b[31mx\r\n"
                            b"Content-Type: text/html\r\nContent-Length: 1\r\n\r\nx")
    names = []
    for name, answer in (("e1", bad), ("e2", away), ("e3", coded)):
        site().put(f"/{name}", answer)
        v.add(f"CREATE SENTINEL {name} USING {site().url}/{name} MONITOR links FETCH EVERY 1 second")
        names.append(name)
    wait_until(lambda: v.sql("SELECT count(*) FROM vigil.status WHERE name IN ('e1','e2','e3') AND "
                             "(error IS NOT NULL OR last_version IS NOT NULL)") == "3")
    for text in (v.output(), v.run("list").stdout, v.run("show", "e1").stdout,
                 v.run("show", "e2").stdout, v.run("show", "e3").stdout):
        assert "\x1b" not in text and "\x07" not in text, repr(text)
    v.run("drop", *names)


# ---- streams -----------------------------------------------------------------------------------


@test("different intervals on one page: each sees only the versions of its own fetches")
def _():
    v = running()
    counter = {"n": 0}

    def body():
        return f"<p>{counter['n']}</p>"
    site().put("/s", lambda h: h.answer(200, body()))
    v.add(f"CREATE SENTINEL fast USING {site().url}/s MONITOR any change FETCH EVERY 1 second;"
          f"CREATE SENTINEL slow USING {site().url}/s MONITOR any change FETCH EVERY 3 seconds;")
    wait_until(lambda: versions(v, "/s") == 1)
    for n in range(1, 7):
        counter["n"] = n
        wait_until(lambda: versions(v, "/s") == n + 1, 10)
    wait_until(lambda: len(v.rows("changes", "slow")) >= 2, 10)
    fast = [(c["old_version"], c["new_version"]) for c in v.rows("changes", "fast")]
    slow = [(c["old_version"], c["new_version"]) for c in v.rows("changes", "slow")]
    fast, slow = sorted(fast), sorted(slow)
    equal(fast[:6], [(i, i + 1) for i in range(1, 7)])
    equal(slow[0][0], 1)
    equal([a for a, _ in slow[1:]], [b for _, b in slow[:-1]])
    assert any(b - a > 1 for a, b in slow), slow
    v.run("drop", "fast", "slow")


@test("a change that came and went between two fetches was never there")
def _():
    v = running()
    site().put("/back", "<p>A</p>")
    v.add(f"CREATE SENTINEL quick USING {site().url}/back MONITOR any change FETCH EVERY 1 second;"
          f"CREATE SENTINEL calm USING {site().url}/back MONITOR any change FETCH EVERY 4 seconds")
    wait_until(lambda: versions(v, "/back") == 1)
    site().put("/back", "<p>B</p>")
    wait_until(lambda: versions(v, "/back") == 2)
    site().put("/back", "<p>A</p>")
    wait_until(lambda: versions(v, "/back") == 3)
    equal(v.sql(f"SELECT count(DISTINCT digest) FROM vigil.versions WHERE url = "
                f"'{site().url}/back'"), "2")
    wait_until(lambda: v.rows("show", "calm")[0]["evaluations"] >= 1, 10)
    # Versions 1 and 3 are the same page: a pair was looked at (or skipped), nothing is reported.
    seen = [(c["old_version"], c["new_version"]) for c in v.rows("changes", "calm")]
    assert (1, 3) not in seen, seen
    equal(sorted((c["old_version"], c["new_version"]) for c in v.rows("changes", "quick")),
          [(1, 2), (2, 3)])
    v.run("drop", "quick", "calm")


@test("on-change sentinels see every version that anybody's fetch brings")
def _():
    v = running()
    site().put("/oc", "<p>1</p><a href=/a>")
    v.add(f"CREATE SENTINEL learned USING {site().url}/oc MONITOR any change;"
          f"CREATE SENTINEL learned2 USING {site().url}/oc MONITOR links FETCH ON CHANGE;"
          f"CREATE SENTINEL driver USING {site().url}/oc MONITOR links FETCH EVERY 1 second")
    wait_until(lambda: versions(v, "/oc") == 1)
    equal(v.rows("show", "learned")[0]["fetch"], "on change")
    for n in (2, 3):
        site().put("/oc", f"<p>{n}</p><a href=/a>")
        wait_until(lambda: versions(v, "/oc") == n)
    wait_until(lambda: len(v.rows("changes", "learned")) == 2)
    equal(v.rows("changes", "learned2"), [])
    equal(v.rows("show", "learned2")[0]["evaluations"], 2)
    v.run("drop", "learned", "learned2", "driver")


@test("an on-change sentinel alone fetches once, then after an hour; it survives a restart")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        v.start()
        site().put("/alone", "<p>1</p>")
        v.add(f"CREATE SENTINEL alone USING {site().url}/alone MONITOR any change")
        wait_until(lambda: versions(v, "/alone") == 1)
        ahead = "SELECT round(extract(epoch FROM next_fetch_at - last_fetch_at)) FROM vigil.status"
        equal(v.sql(ahead), "3600")
        asked = site().count("/alone")
        v.stop()
        v.start()
        time.sleep(1)
        equal(site().count("/alone"), asked)
        equal(v.sql(ahead), "3600")


# ---- fetching ----------------------------------------------------------------------------------


@test("validators are used: what is not modified is not sent again, and makes no version")
def _():
    v = running()
    sent = {"whole": 0, "not": 0}

    def etag(handler):
        if handler.headers.get("If-None-Match") == '"one"':
            sent["not"] += 1
            handler.send_response(304)
            handler.send_header("ETag", '"one"')
            handler.end_headers()
        else:
            sent["whole"] += 1
            handler.answer(200, "<p>1</p>", [("ETag", '"one"')])
    site().put("/etag", etag)
    v.add(f"CREATE SENTINEL etag USING {site().url}/etag MONITOR any change FETCH EVERY 1 second")
    wait_until(lambda: sent["not"] >= 2)
    equal((sent["whole"], versions(v, "/etag")), (1, 1))
    equal(v.sql(f"SELECT etag FROM vigil.versions WHERE url = '{site().url}/etag'"), '"one"')
    v.run("drop", "etag")


@test("pages that fail say why, are no version, and recover")
def _():
    v = running()
    port = free_port()

    def status(code):
        return lambda h: h.answer(code, "<p>sorry</p>")

    def nothing(handler):
        handler.close_connection = True

    def half(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                            b"Content-Length: 100\r\n\r\n<p>half")
        handler.close_connection = True
    site().put("/f500", status(500))
    site().put("/f404", status(404))
    site().put("/fnothing", nothing)
    site().put("/fhalf", half)
    site().put("/floop", lambda h: h.answer(302, "", [("Location", "/floop")]))
    url = {"f500": f"{site().url}/f500", "f404": f"{site().url}/f404",
           "fnothing": f"{site().url}/fnothing", "fhalf": f"{site().url}/fhalf",
           "floop": f"{site().url}/floop",
           "frefused": f"http://127.0.0.1:{port}/", "funknown": "http://no-such-host.invalid/"}
    v.add("".join(f"CREATE SENTINEL {n} USING {u} MONITOR any change FETCH EVERY 1 second;"
                  for n, u in url.items()))
    names = ",".join(f"'{n}'" for n in url)
    wait_until(lambda: v.sql(f"SELECT count(*) FROM vigil.status WHERE name IN ({names}) AND "
                             f"error IS NOT NULL") == str(len(url)), 30)
    error = {r["name"]: r["error"] for r in v.rows("list") if r["name"] in url}
    contains(error["f500"], "500")
    contains(error["f404"], "404")
    contains(error["floop"].lower(), "redirect")
    contains(error["frefused"].lower(), "refused")
    contains(error["funknown"].lower(), "resolve")
    assert all(error.values()), error
    equal(v.sql(f"SELECT count(*) FROM vigil.status WHERE name IN ({names}) AND "
                f"last_version IS NOT NULL"), "0")
    assert v.status()["pages"]["failing"] >= len(url)
    equal(v.sql("SELECT count(*) FROM vigil.events WHERE kind = 'error' AND sentinel = 'f500'"), "1")
    contains(v.run("list").stdout, error["frefused"][:20])
    site().put("/f500", "<p>well</p>")
    wait_until(lambda: v.rows("show", "f500")[0]["last_version"] == 1, 60)
    equal(v.rows("show", "f500")[0]["error"], None)
    equal(v.sql("SELECT string_agg(kind, ' ' ORDER BY id) FROM vigil.events "
                "WHERE sentinel = 'f500'"), "create start error recovered")
    v.run("drop", *url)


@test("addresses that are not public are refused unless allowed, with the reason, and make no version")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        v.start(settings=("--set", "fetch.min_interval=1s"))
        asked = site().count("/x")
        port = site().port
        v.add("".join(f"CREATE SENTINEL {n} USING http://{h}:{port}/x MONITOR links "
                      f"FETCH EVERY 1 second;"
                      for n, h in (("a", "127.0.0.1"), ("b", "localhost"), ("c", "[::1]"),
                                   ("d", "10.1.2.3"), ("e", "169.254.169.254"),
                                   ("f", "[::ffff:127.0.0.1]"), ("g", "0.0.0.0"),
                                   ("h", "2130706433"))))
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.status WHERE error IS NOT NULL") == "8")
        for row in v.rows("list"):
            contains(row["error"], "not a public address")
            equal(row["last_version"], None)
        contains(v.rows("show", "a")[0]["error"], "127.0.0.1")
        equal(site().count("/x"), asked)
    # A public-looking redirect does not lead inside either.
    with Vigil(db=pg().database()) as v:
        v.run("list")
        v.start(settings=("--set", "fetch.min_interval=1s", "--allow", "127.0.0.1"))
        site().put("/in", lambda h: h.answer(302, "", [("Location", f"http://127.0.0.2:{port}/x")]))
        asked = site().count("/x")
        v.add(f"CREATE SENTINEL a USING {site().url}/in MONITOR links FETCH EVERY 1 second")
        wait_until(lambda: v.rows("show", "a")[0]["error"])
        contains(v.rows("show", "a")[0]["error"], "not a public address")
        equal(site().count("/x"), asked)


@test("a redirected page is one page, and its links are resolved where it was found")
def _():
    v = running()
    site().put("/from", lambda h: h.answer(301, "", [("Location", "/there/page")]))
    site().put("/there/page", "<a href=a>")
    v.add(f"CREATE SENTINEL moved USING {site().url}/from MONITOR links FETCH EVERY 1 second")
    wait_until(lambda: versions(v, "/from") == 1)
    site().put("/there/page", "<a href=b>")
    wait_until(lambda: len(v.rows("changes", "moved")) == 1)
    equal(leaf(v.rows("changes", "moved")[0], "inserted"), [f"{site().url}/there/b"])
    v.run("drop", "moved")


@test("a page larger than allowed is an error, never half a page")
def _():
    v = running()
    site().put("/big", "<p>" + "x" * (9 << 20) + "</p>")
    v.add(f"CREATE SENTINEL big USING {site().url}/big MONITOR any change FETCH EVERY 1 second")
    wait_until(lambda: v.rows("show", "big")[0]["error"], 20)
    contains(v.rows("show", "big")[0]["error"], "8")
    equal(versions(v, "/big"), 0)
    v.run("drop", "big")


@test("an empty page, a text and a JSON page are versions like others")
def _():
    found = compare([
        ("empty", "any change", "", "<p>x</p>"),
        ("emptied", "any change", "<p>x</p>", ""),
        ("plain", "any change", page("one\ntwo\n", ("Content-Type", "text/plain")),
         page("one\nthree\n", ("Content-Type", "text/plain"))),
        ("json", "any change", page('{"a":1}', ("Content-Type", "application/json")),
         page('{"a":2}', ("Content-Type", "application/json"))),
        ("xml", "any change", page("<r><i>1</i></r>", ("Content-Type", "application/xml")),
         page("<r><i>2</i></r>", ("Content-Type", "application/xml")))])
    for name, change in found.items():
        assert change, name


@test("addresses that mean the same page share it, a fragment is not part of it")
def _():
    v = running()
    site().put("/same?q=1", "<p>1</p>")
    host = f"127.0.0.1:{site().port}"
    v.add(f"CREATE SENTINEL n1 USING http://{host}/same?q=1 MONITOR links FETCH EVERY 1 hour;"
          f"CREATE SENTINEL n2 USING HTTP://{host}/x/../same?q=1#part MONITOR links "
          f"FETCH EVERY 1 hour;")
    wait_until(lambda: v.rows("show", "n2")[0]["last_version"])
    equal(v.rows("show", "n1")[0]["url"], v.rows("show", "n2")[0]["url"])
    equal(site().count("/same?q=1"), 1)
    v.run("drop", "n1", "n2")


main()
