"""ALTER SENTINEL: single clauses change, the sentinel itself goes on."""
from harness import *

pg = shared(Postgres)
site = shared(Site)


def fresh():
    v = Vigil(db=pg().database())
    v.run("list")
    return v


def define(name, rest, path="/p", monitor="any change"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {rest};\n"


def one(v, column, name):
    return v.sql(f"SELECT {column} FROM vigil.status WHERE name = '{name}'")


def versions(v, path):
    return int(v.sql(f"SELECT count(*) FROM vigil.versions WHERE url = '{site().url}{path}'"))


@test("another question is asked from now on, of the version that is current")
def _():
    site().put("/q", "<p>one <a href='/1'>1</a></p>")
    with fresh() as v:
        v.start()
        v.add(define("s", "FETCH EVERY 1 second", "/q", "links"))
        wait_until(lambda: versions(v, "/q") == 1)
        contains(v.add("ALTER SENTINEL s MONITOR keywords {sale}").stdout, "s: altered")
        site().put("/q", "<p>one <a href='/2'>2</a></p>")  # a link: nobody asks any more
        wait_until(lambda: versions(v, "/q") == 2)
        site().put("/q", "<p>sale <a href='/2'>2</a></p>")
        wait_until(lambda: one(v, "changes", "s") == "1")
        contains(v.sql("SELECT detail::text FROM vigil.changes"), "sale")
        equal(v.sql("SELECT string_agg(kind, ' ' ORDER BY id) FROM vigil.events"),
              "create start alter")


@test("a priority or a presentation changes nothing about what is looked at, nor when")
def _():
    site().put("/k", "<p>1</p>")
    with fresh() as v:
        v.start()
        v.add(define("s", "FETCH EVERY 1 hour", "/k"))
        wait_until(lambda: versions(v, "/k") == 1)
        before = v.sql("SELECT next_fetch_at, started_at, last_version FROM vigil.status")
        v.add("ALTER SENTINEL s PRIORITY 7 PRESENTATION merged TOPIC 'x'")
        equal(v.sql("SELECT next_fetch_at, started_at, last_version FROM vigil.status"), before)
        contains(v.run("show", "s").stdout, "PRIORITY 7")
        equal(site().count("/k"), 1)
        v.stop()
        v.start()
        contains(v.run("show", "s").stdout, "PRIORITY 7")
        equal(v.sql("SELECT next_fetch_at, started_at, last_version FROM vigil.status"), before)


@test("FETCH: the new interval counts from the alteration")
def _():
    site().put("/f", "<p>1</p>")
    with fresh() as v:
        v.start()
        v.add(define("s", "FETCH EVERY 1 hour", "/f"))
        wait_until(lambda: versions(v, "/f") == 1)
        v.add("ALTER SENTINEL s FETCH EVERY 1 second")
        site().put("/f", "<p>2</p>")
        wait_until(lambda: one(v, "changes", "s") == "1")


@test("while it waits its start moves, and those that wait for it move with it")
def _():
    site().put("/w", "<p>1</p>")
    with fresh() as v:
        v.start()
        v.add(define("s", "FROM now + 1 day FOR 1 day", "/w") +
              define("after", "FROM start(s) + 1 second", "/w") +
              define("before", "FROM start(s) - 1 hour", "/w"))
        equal(one(v, "state", "s"), "waiting")
        contains(v.add("ALTER SENTINEL s FROM now + 2 days").stdout, "s: altered, starts ")
        # those behind it are moved a moment after the answer
        wait_until(lambda: v.sql("SELECT extract(epoch FROM a.starts_at - b.starts_at) FROM vigil.status a,"
                                 " vigil.status b WHERE a.name = 's' AND b.name = 'before'") == "3600.000000")
        equal(v.sql("SELECT extract(epoch FROM ends_at - starts_at) FROM vigil.status"
                    " WHERE name = 's'"), "86400.000000")
        v.add("ALTER SENTINEL s FROM now FOR 1 hour")
        wait_until(lambda: one(v, "state", "after") == "active")
        equal(one(v, "state", "s"), "active")
        equal(one(v, "state", "before"), "active")  # its hour before is over: at once


@test("while it runs its end moves; its start cannot")
def _():
    site().put("/e", "<p>1</p>")
    with fresh() as v:
        v.start()
        v.add(define("s", "FETCH EVERY 1 hour FOR 1 day", "/e") +
              define("t", "FROM end(s)", "/e"))
        wait_until(lambda: one(v, "state", "s") == "active")
        said = v.add("ALTER SENTINEL s FROM now + 1 day", code=1)
        contains(said.stderr, "E042")
        said = v.add("ALTER SENTINEL s TO 01/01/2020", code=1)
        contains(said.stderr, "E034")
        v.add("ALTER SENTINEL s FOR 2 days")
        equal(one(v, "extract(epoch FROM ends_at - started_at)", "s"), "172800.000000")
        v.stop()
        v.start()
        equal(one(v, "extract(epoch FROM ends_at - started_at)", "s"), "172800.000000")
        v.add("ALTER SENTINEL s TO now + 1 second")
        wait_until(lambda: one(v, "state", "t") == "active")
        equal(one(v, "state", "s"), "ended")


@test("what cannot be altered is refused, and nothing is changed")
def _():
    with fresh() as v:
        v.start()
        v.add(define("s", "FROM now + 1 day", "/n") + define("t", "FROM end(s)", "/n") +
              define("over", "", "/n"))
        v.run("stop", "over")
        before = v.sql("SELECT name, definition FROM vigil_kb.sentinel ORDER BY name")
        for text, code in (("ALTER SENTINEL nobody PRIORITY 2", "E040"),
                           ("ALTER SENTINEL over PRIORITY 2", "E041"),
                           ("ALTER SENTINEL s FROM end(t)", "E048"),
                           ("ALTER SENTINEL s MONITOR regexp '('", "E053"),
                           ("ALTER SENTINEL s PRIORITY 2; ALTER SENTINEL s MONITOR colours", "E054"),
                           ("ALTER SENTINEL s FETCH EVERY 1 month", "E023")):
            contains(v.add(text, code=1).stderr, code)
        equal(v.sql("SELECT name, definition FROM vigil_kb.sentinel ORDER BY name"), before)


@test("several statements about one sentinel in one file: the last word counts")
def _():
    site().put("/m", "<p>1</p>")
    with fresh() as v:
        v.start()
        v.add(define("s", "FROM now + 1 day", "/m") + "ALTER SENTINEL s PRIORITY 4;\n"
              "ALTER SENTINEL s FROM now;\n")
        wait_until(lambda: one(v, "state", "s") == "active")
        contains(v.run("show", "s").stdout, "PRIORITY 4")
        v.add("ALTER SENTINEL s PRIORITY 5; DISABLE SENTINEL s; ALTER SENTINEL s TOPIC 'q'")
        equal(one(v, "state", "s"), "disabled")
        contains(v.run("show", "s").stdout, "PRIORITY 5")
        v.add("ENABLE SENTINEL s; ALTER SENTINEL s PRIORITY 6")
        equal(one(v, "state", "s"), "active")
        v.add("ALTER SENTINEL s PRIORITY 8; STOP SENTINEL s")
        equal(one(v, "state", "s"), "ended")


@test("with no engine running it is written down, and done at the next start")
def _():
    site().put("/o", "<p>one <a href='/1'>1</a></p>")
    with fresh() as v:
        v.start()
        v.add(define("s", "FETCH EVERY 1 second", "/o", "links"))
        wait_until(lambda: versions(v, "/o") == 1)
        v.stop()
        contains(v.add("ALTER SENTINEL s MONITOR all words FETCH EVERY 2 seconds").stdout, "altered")
        v.start()
        site().put("/o", "<p>two <a href='/1'>1</a></p>")
        wait_until(lambda: one(v, "changes", "s") == "1")


main()
