"""When pages are fetched: phases, sharing, downtime, politeness, and what happens to a fetch whose
sentinel goes away under it."""
import gzip
from harness import *

pg = shared(Postgres)
site = shared(Site)


class Running(Vigil):
    def __enter__(self):
        super().__enter__()
        self.run("list")
        self.start()
        return self


running = shared(lambda: Running(db=pg().database()))


def define(name, path, rest="FETCH EVERY 1 second", monitor="any change"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {rest};\n"


def times(path):
    with site().lock:
        return [t for t, p, _ in site().requests if p == path]


@test("ticks come at start + T, start + 2T, …, whatever the server's answers take")
def _():
    v = running()
    site().put("/grid", lambda h: (time.sleep(0.3), h.answer(200, "<p>x</p>")))
    v.add(define("grid", "/grid"))
    wait_until(lambda: site().count("/grid") >= 5)
    start = float(v.sql("SELECT extract(epoch FROM started_at) FROM vigil.status "
                        "WHERE name = 'grid'"))
    seen = times("/grid")
    assert 0 <= seen[0] - start < 0.5 * SLOW, seen[0] - start  # the baseline
    for k, t in enumerate(seen[1:5], 1):
        assert -0.02 < t - start - k < 0.5 * SLOW, [t - start for t in seen]
    v.run("drop", "grid")


@test("the phase is kept through a stop, and what was missed is made up by one fetch")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        v.start()
        site().put("/phase", "<p>x</p>")
        v.add(define("phase", "/phase", "FETCH EVERY 2 seconds"))
        wait_until(lambda: site().count("/phase") >= 2)
        start = float(v.sql("SELECT extract(epoch FROM started_at) FROM vigil.status"))
        v.stop()
        before = site().count("/phase")
        time.sleep(4.5)
        again = time.time()
        v.start()
        wait_until(lambda: site().count("/phase") >= before + 3)
        seen = times("/phase")[before:]
        assert seen[0] - again < 1.5 * SLOW, "missed ticks are made up at once"
        for t in seen[1:3]:
            late = (t - start) % 2
            assert late < 0.5 * SLOW or late > 1.98, [s - start for s in seen]
        assert seen[1] - seen[0] > 0.01 and seen[2] - seen[1] > 1.5, seen


@test("what a sentinel has seen is remembered for itself: a restart skips nothing for the slow one")
def _():
    with Running(db=pg().database()) as v:
        site().put("/two", "<p>1</p>")
        v.add(define("fast", "/two") + define("slow", "/two", "FETCH EVERY 4 seconds"))
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        site().put("/two", "<p>2</p>")
        wait_until(lambda: v.rows("changes", "fast"))
        equal(v.rows("changes", "slow"), [])
        v.stop()
        v.start()
        # The page is as the store knows it; to the slow one it is new all the same.
        wait_until(lambda: v.rows("changes", "slow"))
        equal([(c["old_version"], c["new_version"]) for c in v.rows("changes", "slow")], [(1, 2)])
        equal(len(v.rows("changes", "fast")), 1)


@test("a newcomer needs no fetch when a version was verified less than its interval ago")
def _():
    v = running()
    site().put("/new", "<p>x</p>")
    v.add(define("first", "/new", "FETCH EVERY 1 hour"))
    wait_until(lambda: v.rows("show", "first")[0]["last_version"] == 1)
    v.add(define("second", "/new", "FETCH EVERY 1 hour", "links") +
          define("third", "/new", "FETCH EVERY 3 seconds", "links"))
    time.sleep(1)
    equal(site().count("/new"), 1)
    # Its base is that version: the next one is compared with it.
    site().put("/new", "<a href=/x>x</a>")
    wait_until(lambda: v.rows("changes", "third"))
    change = v.rows("changes", "third")[0]
    equal((change["old_version"], change["new_version"]), (1, 2))
    equal(v.rows("changes", "second"), [])
    v.run("drop", "first", "second", "third")


@test("a tick while the page is still being fetched takes that fetch's result")
def _():
    v = running()
    busy = {"now": 0, "most": 0}

    def slow(handler):
        busy["now"] += 1
        busy["most"] = max(busy["most"], busy["now"])
        time.sleep(1.7)
        busy["now"] -= 1
        handler.answer(200, "<p>x</p>")
    site().put("/slow", slow)
    before = v.status()["fetch"]["saved_by_sharing"]
    v.add(define("slow1", "/slow") + define("slow2", "/slow", "FETCH EVERY 2 seconds"))
    wait_until(lambda: site().count("/slow") >= 3)
    equal(busy["most"], 1)
    assert v.status()["fetch"]["saved_by_sharing"] > before
    equal(v.rows("show", "slow1")[0]["error"], None)
    v.run("drop", "slow1", "slow2")


@test("ten sentinels of one page and interval are one request a tick, and nine saved")
def _():
    v = running()
    site().put("/ten", "<p>x</p>")
    before = v.status()["fetch"]
    names = [f"ten{i}" for i in range(10)]
    v.add("".join(define(name, "/ten", "FETCH EVERY 2 seconds") for name in names))
    wait_until(lambda: site().count("/ten") >= 4)
    after = v.status()["fetch"]
    made = after["requests"] - before["requests"]
    saved = after["saved_by_sharing"] - before["saved_by_sharing"]
    assert made <= site().count("/ten") + 1, (before, after)
    assert saved >= 9 * (made - 2), (before, after)  # the first is asked for before all are in
    v.run("drop", *names)


@test("Retry-After is obeyed, and a failing server is asked no oftener than its ticks")
def _():
    v = running()

    def later(handler):
        handler.answer(503, "", [("Retry-After", "4")])
    site().put("/later", later)
    site().put("/broken", lambda h: h.answer(500, "no"))
    v.add(define("later", "/later") + define("broken", "/broken"))
    wait_until(lambda: site().count("/later") >= 1)
    time.sleep(2.5)
    equal(site().count("/later"), 1)
    assert site().count("/broken") <= 5, times("/broken")
    site().put("/later", "<p>well</p>")
    wait_until(lambda: v.rows("show", "later")[0]["last_version"] == 1)
    gap = times("/later")[1] - times("/later")[0]
    assert gap >= 3.9, gap
    v.run("drop", "later", "broken")


@test("compressed pages and pages in pieces are read whole; their size is the decoded one")
def _():
    v = running()
    text = "<p>" + "compress me " * 1000 + "</p>"

    def zipped(handler):
        body = gzip.compress(text.encode())
        handler.answer(200, body, [("Content-Encoding", "gzip")])

    def pieces(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in ("<p>on", "e</p><p>tw", "o</p>"):
            handler.wfile.write(f"{len(part):x}\r\n{part}\r\n".encode())
        handler.wfile.write(b"0\r\n\r\n")
    site().put("/zip", zipped)
    site().put("/pieces", pieces)
    v.add(define("zip", "/zip") + define("pieces", "/pieces"))
    size = lambda path: v.sql(f"SELECT size FROM vigil.versions WHERE url = '{site().url}{path}'")
    wait_until(lambda: size("/zip") == str(len(text)))
    wait_until(lambda: size("/pieces") == "20")
    v.run("drop", "zip", "pieces")


@test("Vigil says who it is, and asks for addresses as they are written in requests")
def _():
    v = running()
    v.add(f"CREATE SENTINEL odd USING '{site().url}/größe?q=ä&x=1' MONITOR links "
          f"FETCH EVERY 1 hour")
    wait_until(lambda: v.rows("show", "odd")[0]["last_fetch_at"])
    path, headers = [(p, h) for _, p, h in site().requests if p.startswith("/gr%")][0]
    equal(path, "/gr%C3%B6%C3%9Fe?q=%C3%A4&x=1")
    contains(headers["User-Agent"], "Vigil/")
    v.run("drop", "odd")


@test("drop, replace, disable and stop while the page is on its way: no change, no crash")
def _():
    with Running(db=pg().database()) as v:
        number = {"n": 0}

        def slow(handler):
            number["n"] += 1
            time.sleep(0.4)
            handler.answer(200, f"<p>{number['n']}</p>")
        for i in range(6):
            site().put(f"/way{i}", slow)
        v.add("".join(define(f"w{i}", f"/way{i}") for i in range(6)))
        wait_until(lambda: all(v.rows("show", f"w{i}")[0]["changes"] >= 1 for i in range(6)))
        wait_until(lambda: site().count("/way0") >= 4)
        v.run("drop", "w0")
        v.run("disable", "w1")
        v.run("stop", "w2")
        v.add(define("w3", "/way4").replace("CREATE", "CREATE OR REPLACE"))
        v.add("DROP SENTINEL w5;" + define("w5", "/way5"))
        frozen = {n: v.rows("show", n)[0]["changes"] for n in ("w1", "w2")}
        time.sleep(1.5)
        equal({n: v.rows("show", n)[0]["changes"] for n in ("w1", "w2")}, frozen)
        wait_until(lambda: v.rows("show", "w3")[0]["changes"] >= 1)
        wait_until(lambda: v.rows("show", "w5")[0]["changes"] >= 1)
        equal(v.status()["engine"]["pid"], v.engine.pid)
        v.run("drop", "w1", "w2", "w3", "w4", "w5")
        wait_until(lambda: v.status()["pages"]["watched"] == 0)
        equal(v.sql("SELECT count(*) FROM vigil.versions"), "0")


@test("people who change their minds all the time leave a history without gaps")
def _():
    v = running()
    number = {"n": 0}

    def body(handler):
        number["n"] += 1
        handler.answer(200, f"<p>{number['n']}</p>")
    site().put("/mind", body)
    v.add(define("steady", "/mind"))
    for i in range(8):
        v.add(define("fickle", "/mind", "FETCH EVERY 1 second FOR 1 second"))
        v.run("disable", "fickle", code=None)
        v.run("enable", "fickle", code=None)
        if i == 7:
            wait_until(lambda: v.rows("show", "steady")[0]["changes"] >= 2)
        v.run("stop", "steady" if i == 7 else "fickle", code=None)
        v.run("drop", "fickle")
    pairs = v.sql("SELECT old_version, new_version FROM vigil.changes WHERE sentinel = 'steady' "
                  "ORDER BY id").splitlines()
    pairs = [tuple(map(int, p.split("|"))) for p in pairs]
    assert pairs, "the page changes with every fetch"
    equal([a for a, _ in pairs[1:]], [b for _, b in pairs[:-1]])
    equal(v.sql("SELECT max(version) - min(version) + 1 - count(*) FROM vigil.versions"), "0")
    equal(v.status()["engine"]["pid"], v.engine.pid)
    v.run("drop", "steady")


main()
