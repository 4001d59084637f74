"""Conditions over several pages: what is told, when, and that a crash loses and doubles nothing."""
from harness import *

pg = shared(Postgres)
site = shared(Site)
KILL = SLOW == 1  # sanitizers are slow to start, and kill -9 tells them nothing


def fresh():
    v = Vigil(db=pg().database())
    v.run("list")
    return v


def define(name, monitor, within="1 hour", pages="ab"):
    using = ", ".join(f"{site().url}/{p}.html AS {p}" for p in pages)
    return (f"CREATE SENTINEL {name} USING {using} MONITOR {monitor} FETCH EVERY 1 second "
            f"WITHIN {within};\n")


def publish(page, *links):
    site().put(f"/{page}.html", "".join(f"<a href='/{l}'>{l}</a>" for l in links))


def versions(v, page):
    return int(v.sql(f"SELECT count(*) FROM vigil.versions WHERE url = '{site().url}/{page}.html'"))


def settle(v, page, number):
    wait_until(lambda: versions(v, page) == number, what=f"version {number} of {page}")


def again(v):
    if KILL:
        v.kill()
        v.start()


def told(v, name):
    """Each change as what its leaves list, with the page's name."""
    rows = v.sql("SELECT detail FROM vigil.changes WHERE sentinel = '%s' ORDER BY id" % name)
    return [[f"{l['url'][-6]}{l['old_version']}-{l['new_version']}" +
             "".join("+" + i[-1] for i in l["inserted"]) + "".join("-" + i[-1] for i in l["deleted"])
             for l in json.loads(row)["leaves"]] for row in rows.splitlines()]


@test("AND collects until every page has changed, through crashes, and tells all of it once")
def _():
    with fresh() as v:
        for page in "ab":
            publish(page, "x")
        v.add(define("both", "a.links AND b.links") + define("either", "a.links OR b.links"))
        v.start()
        settle(v, "a", 1)
        settle(v, "b", 1)
        publish("a", "x", "1")
        settle(v, "a", 2)
        again(v)
        publish("a", "x", "1", "2")
        settle(v, "a", 3)
        equal(told(v, "both"), [])
        equal(v.sql("SELECT count(*) FROM vigil_kb.constituent"), "2")
        again(v)
        publish("b")
        settle(v, "b", 2)
        equal(told(v, "both"), [["a1-2+1", "a2-3+2", "b1-2-x"]])
        equal(v.sql("SELECT url, old_version, new_version, inserted, deleted FROM vigil.changes "
                    "WHERE sentinel = 'both'"), f"{site().url}/b.html|1|2|2|1")
        equal(told(v, "either"), [["a1-2+1"], ["a2-3+2"], ["b1-2-x"]])
        equal(v.sql("SELECT count(*) FROM vigil_kb.constituent"), "0")
        again(v)
        publish("b", "y")  # what was told is not told again
        settle(v, "b", 3)
        again(v)
        publish("a", "z")
        settle(v, "a", 4)
        equal(told(v, "both")[1:], [["b2-3+y", "a3-4+z-1-2-x"]])
        equal(v.sql("SELECT changes, notifications, last_result FROM vigil.status "
                    "WHERE name = 'both'"), "2|2|changed")
        dot = v.run("graph").stdout
        contains(dot, 'label="links\\nchanged, v3→v4"')
        contains(dot, 'label="pairwise\\n1 version to come"')
        equal(v.status()["compare"]["questions"], 1)


@test("a AND NOT b is told when the window is over, unless b changed in it")
def _():
    with fresh() as v:
        for page in "ab":
            publish(page, "x")
        v.add(define("quiet", "a.links AND NOT b.links", within="4 seconds"))
        v.start()
        settle(v, "a", 1)
        settle(v, "b", 1)
        publish("a", "1")
        settle(v, "a", 2)
        publish("b", "1")
        settle(v, "b", 2)
        equal(v.sql("SELECT string_agg(forbids::text, ' ') FROM vigil_kb.constituent"), "true")
        v.sql("UPDATE vigil_kb.constituent SET at = at - interval '1 hour'")
        v.stop()  # b's change was long ago, as far as a new engine knows
        v.start()
        publish("a", "2")
        settle(v, "a", 3)
        again(v)
        equal(told(v, "quiet"), [])
        wait_until(lambda: told(v, "quiet") == [["a2-3+2-1"]], what="absence is told")
        at, due = v.sql("SELECT round(extract(epoch FROM c.at) * 1000), "
                        "round(extract(epoch FROM x.fetched_at) * 1000) FROM vigil.changes c "
                        "JOIN vigil.versions x ON x.url = c.url AND x.version = 3").split("|")
        equal(float(at) - float(due), 4000)
        equal(v.sql("SELECT state FROM vigil.notifications"), "sent")


@test("a further page that is many versions ahead does not hide the first one's changes after a restart")
def _():
    with fresh() as v:
        for page in "ab":
            publish(page, "x")
        v.add(define("s", "a.links OR b.links") +
              define("m", "a.links OR b.links")[:-2] + " COMPARE moving:3;\n")
        v.start()
        settle(v, "a", 1)
        settle(v, "b", 1)
        for i in range(2, 6):
            publish("b", str(i))
            settle(v, "b", i)
        seen = ("SELECT t.last_version FROM vigil_kb.sentinel_state t "
                "JOIN vigil_kb.sentinel s ON s.id = t.sentinel_id ORDER BY s.id")
        equal(v.sql(seen), "1\n1")
        equal(v.sql("SELECT last_version FROM vigil.status"), "1\n1")
        v.stop()
        v.start()
        for i in (2, 3):
            publish("a", str(i))
            settle(v, "a", i)
        wait_until(lambda: v.sql(seen) == "3\n3", what="both have seen the first page's versions")
        equal(told(v, "s")[4:], [["a1-2+2-x"], ["a2-3+3-2"]])
        equal(told(v, "m")[3:], [["a1-3+3-x"]])


@test("pages named twice are one, three values hold on each page, and ALTER starts anew")
def _():
    with fresh() as v:
        for page in "ab":
            publish(page, "x")
        url = site().url
        v.add(f"CREATE SENTINEL s USING {url}/a.html AS a, {url}/b.html AS b, {url}/a.html AS c "
              "MONITOR a.links AND NOT c.images AND b.links FETCH EVERY 1 second;")
        equal(v.sql("SELECT count(*) FROM vigil_kb.page"), "2")
        v.start()
        settle(v, "a", 1)
        settle(v, "b", 1)
        publish("a", "1")
        settle(v, "a", 2)
        v.add("ALTER SENTINEL s WITHIN 2 hours;")  # another window: what was collected is gone
        publish("b", "1")
        settle(v, "b", 2)
        equal(told(v, "s"), [])
        publish("a", "2")
        settle(v, "a", 3)
        equal(told(v, "s"), [["b1-2+1-x", "a2-3+2-1"]])
        v.run("drop", "s")
        equal(v.sql("SELECT count(*) FROM vigil_kb.page"), "0")


@test("a page left by a sentinel that was redefined is forgotten, and taken up by another goes on "
      "with its versions")
def _():
    one = " MONITOR links FETCH EVERY 1 second;"
    a, b = f"{site().url}/a.html", f"{site().url}/b.html"
    with fresh() as v:
        def in_memory(number):
            wait_until(lambda: v.status()["pages"]["in_memory"] == number,
                       what=f"{number} pages are in memory")

        def changed(name, page, number):
            settle(v, page, number)
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes WHERE sentinel = "
                                     f"'{name}' AND new_version = {number}") == "1")

        for page in "ab":
            publish(page, "1")
        v.add(f"CREATE SENTINEL s USING {a} {one}")
        v.start()
        settle(v, "a", 1)
        publish("a", "2")
        changed("s", "a", 2)
        v.add(f"CREATE OR REPLACE SENTINEL s USING {b} {one}")
        settle(v, "b", 1)
        in_memory(1)
        publish("a", "3")
        v.add(f"CREATE SENTINEL t USING {a} {one}")
        settle(v, "a", 3)
        publish("a", "4")
        changed("t", "a", 4)
        in_memory(2)

        # and by an engine that knows it only from the store, among several
        v.add(f"CREATE OR REPLACE SENTINEL t USING {b} {one}")
        in_memory(1)
        v.stop()
        v.start()
        in_memory(1)
        publish("a", "5")
        v.add(define("both", "a.links OR b.links"))
        settle(v, "a", 5)
        publish("a", "6")
        changed("both", "a", 6)

        # left and taken up in one breath
        v.add(f"CREATE OR REPLACE SENTINEL both USING {b} {one}\nCREATE SENTINEL u USING {a} {one}")
        settle(v, "a", 6)
        publish("a", "7")
        changed("u", "a", 7)
        in_memory(2)
        equal(v.sql("SELECT count(*) FROM vigil_kb.page"), "2")
        v.run("drop", "u", "both", "t", "s")
        in_memory(0)
        equal(v.sql("SELECT count(*) FROM vigil_kb.page"), "0")


@test("a page that fails is told in the events of whoever watches it among others")
def _():
    with fresh() as v:
        publish("a", "x")
        site().put("/b.html", lambda handler: handler.answer(500, "no"))
        v.add(define("s", "a.links AND b.links"))
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.events WHERE sentinel = 's' "
                                 "AND kind = 'error'") == "1", what="the error is told")


main()
