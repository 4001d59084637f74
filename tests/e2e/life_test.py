"""Lifespans: when sentinels start and end, what hangs on them, and what people do to them meanwhile.

All run on one server; an engine is started for each test, unless the test is about commands
that find none.
"""
from harness import *

pg = shared(Postgres)
site = shared(Site)


def fresh():
    v = Vigil(db=pg().database())
    v.run("list")
    return v


def define(name, rest, path="/p", monitor="any change"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {rest};\n"


def state(v, name):
    return v.sql(f"SELECT state FROM vigil.status WHERE lower(name) = lower('{name}')")


def reason(v, name):
    return v.sql(f"SELECT detail FROM vigil.events WHERE sentinel = '{name}' AND kind = 'end'")


def ms(v, expression, name):
    return int(v.sql(f"SELECT round(extract(epoch FROM {expression}) * 1000) FROM vigil.status "
                     f"WHERE name = '{name}'"))


def close(actual, expected):
    """Two clocks are involved, each cut to whole milliseconds."""
    assert abs(actual - expected) <= 3, f"{actual} ms is not {expected} ms"


def until(v, name, wanted, patience=12):
    wait_until(lambda: state(v, name) == wanted, patience, f"{name} is {wanted}")


@test("FROM in the future waits, FOR runs out, and the instants are the ones that were written")
def _():
    site().put("/p", "<p>1</p>")
    with fresh() as v:
        v.start()
        out = v.add(define("late", "FETCH EVERY 1 second FROM now + 2 seconds FOR 2 seconds")).stdout
        contains(out, "late: installed, starts ")
        equal(state(v, "late"), "waiting")
        equal(site().count("/p"), 0)
        until(v, "late", "active")
        until(v, "late", "ended")
        equal(reason(v, "late"), "to-reached")
        close(ms(v, "started_at - installed_at", "late"), 2000)
        close(ms(v, "ended_at - started_at", "late"), 2000)
        close(ms(v, "ends_at - starts_at", "late"), 2000)
        assert site().count("/p") >= 2  # the baseline, and the tick at start + 1 s
        equal(v.sql("SELECT string_agg(kind, ' ' ORDER BY id) FROM vigil.events"),
              "create start end")


@test("the tick at the very end of a lifespan still fetches the page")
def _():
    with fresh() as v:
        v.start()
        site().put("/end", "<p>1</p>")
        v.add(define("short", "FETCH EVERY 2 seconds FOR 2 seconds", "/end"))
        until(v, "short", "ended")
        wait_until(lambda: site().count("/end") == 2, 3)


@test("a chain: FROM end(x) + d starts that long after the end, FROM end(y) at the very instant")
def _():
    with fresh() as v:
        v.start()
        v.add(define("x", "FETCH EVERY 1 minute FOR 1 second") +
              define("y", "FETCH EVERY 1 minute FROM end(x) + 2 seconds FOR 1 second") +
              define("z", "FETCH EVERY 1 minute FROM end(y)") +
              define("with_x", "FETCH EVERY 1 minute FROM start(x) TO end(y)"))
        equal(state(v, "with_x"), "active")
        equal(state(v, "y"), "waiting")
        until(v, "z", "active")
        at = lambda what, name: ms(v, what, name)
        close(at("started_at", "with_x"), at("started_at", "x"))
        close(at("started_at", "y") - at("ended_at", "x"), 2000)
        close(at("started_at", "z"), at("ended_at", "y"))
        close(at("ended_at", "with_x"), at("ended_at", "y"))
        equal(reason(v, "with_x"), "to-reached")


@test("a chain that was due while no engine ran comes out as if it had run")
def _():
    with fresh() as v:
        v.add(define("x", "FETCH EVERY 1 minute FOR 1 second") +
              define("y", "FETCH EVERY 1 minute FROM end(x) + 1 second FOR 1 second") +
              define("z", "FETCH EVERY 1 minute FROM end(y)"))
        time.sleep(3.2)
        v.start()
        until(v, "z", "active")
        equal((state(v, "x"), state(v, "y")), ("ended", "ended"))
        close(ms(v, "started_at - installed_at", "x"), 0000)
        close(ms(v, "started_at - installed_at", "y"), 2000)
        close(ms(v, "started_at - installed_at", "z"), 3000)


@test("STOP ends a sentinel now, and those that wait for its end start from there")
def _():
    with fresh() as v:
        v.start()
        v.add(define("x", "FETCH EVERY 1 minute") +
              define("y", "FETCH EVERY 1 minute FROM end(x) + 1 second") +
              define("same", "FETCH EVERY 1 minute FROM end(x)"))
        time.sleep(1.5)  # longer than the second y waits, with nothing due in between
        equal(v.run("stop", "X").stdout, "x: stopped\n")
        until(v, "same", "active")
        until(v, "y", "active")
        equal((state(v, "x"), reason(v, "x")), ("ended", "stopped"))
        late = ms(v, "started_at", "y") - ms(v, "ended_at", "x")
        assert 990 <= late <= 1500, late
        contains(v.run("stop", "x", code=1).stderr, 'sentinel "x" has ended')
        contains(v.run("enable", "x", code=1).stderr, 'sentinel "x" has ended')


@test("stopping what has not started ends it, and those that wait for its start")
def _():
    with fresh() as v:
        for running in (False, True):
            k = "r" if running else "s"
            if running:
                v.start()
            v.add(define(f"{k}x", "FROM now + 1 hour") +
                  define(f"{k}y", f"FROM start({k}x)") +
                  define(f"{k}z", f"FROM start({k}y) + 1 minute"))
            # It will not start any more, so nothing is said of when.
            equal(v.run("stop", f"{k}x").stdout, f"{k}x: stopped\n")
        for k in "rs":
            until(v, f"{k}z", "ended")
            equal(state(v, f"{k}x"), "ended")
            equal(state(v, f"{k}y"), "ended")
            equal(reason(v, f"{k}x"), "stopped")
            contains(reason(v, f"{k}y"), "dependency")
            contains(reason(v, f"{k}z"), "dependency")


@test("a TO that is reached before the FROM ends it as never started; those after its end go on")
def _():
    with fresh() as v:
        v.start()
        v.add(define("x", "FROM now + 1 hour") +
              define("y", "FROM start(x) TO now + 1 second") +
              define("hangs", "FROM start(y)") +
              define("after", "FETCH EVERY 1 minute FROM end(y)"))
        until(v, "y", "ended")
        equal(reason(v, "y"), "never-started")
        until(v, "hangs", "ended")
        contains(reason(v, "hangs"), "dependency")
        until(v, "after", "active")
        equal(v.sql("SELECT started_at IS NULL FROM vigil.status WHERE name = 'y'"), "t")


@test("a disabled sentinel starts and ends on time, but fetches nothing")
def _():
    site().put("/quiet", "<p>1</p>")
    with fresh() as v:
        v.start()
        v.add(define("x", "FETCH EVERY 1 second FROM now + 4 seconds FOR 2 seconds", "/quiet") +
              define("y", "FETCH EVERY 1 minute FROM end(x)"))
        v.run("disable", "x")
        equal(state(v, "x"), "waiting-disabled")
        until(v, "x", "disabled")
        until(v, "y", "active")
        equal(state(v, "x"), "ended")
        close(ms(v, "ended_at - started_at", "x"), 2000)
        equal(site().count("/quiet"), 0)


@test("while disabled nothing is fetched; once enabled, what happened meanwhile is not reported")
def _():
    site().put("/d", "<p>one</p>")
    with fresh() as v:
        v.start()
        v.add(define("off", "FETCH EVERY 1 second", "/d"))
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        equal(v.run("disable", "OFF").stdout, "off: disabled\n")
        time.sleep(0.3)
        asked = site().count("/d")
        time.sleep(2)
        equal(site().count("/d"), asked)
        equal(v.sql("SELECT next_fetch_at IS NULL FROM vigil.status"), "t")
        # Somebody else sees it change meanwhile, so the current version is a newer one.
        site().put("/d", "<p>two</p>")
        v.add(define("other", "FETCH EVERY 1 second", "/d"))
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "2")
        equal(v.run("enable", "off").stdout, "off: enabled\n")
        time.sleep(1.5)
        equal(v.sql("SELECT count(*) FROM vigil.changes WHERE sentinel = 'off'"), "0")
        site().put("/d", "<p>three</p>")
        wait_until(lambda: v.sql("SELECT old_version || '-' || new_version FROM vigil.changes "
                                 "WHERE sentinel = 'off'") == "2-3")


@test("the same with commands given while no engine runs")
def _():
    site().put("/e", "<p>one</p>")
    with fresh() as v:
        v.add(define("off", "FETCH EVERY 2 seconds", "/e") +
              define("other", "FETCH EVERY 1 second", "/e"))
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        v.stop()
        equal(v.run("disable", "off").stdout, "off: disabled\n")
        equal(state(v, "off"), "disabled")
        v.start()
        site().put("/e", "<p>two</p>")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == "1")
        v.stop()
        equal(v.run("enable", "off").stdout, "off: enabled\n")
        equal(state(v, "off"), "active")
        site().put("/e", "<p>three</p>")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == "3")
        equal(v.sql("SELECT old_version || '-' || new_version FROM vigil.changes "
                    "WHERE sentinel = 'off'"), "2-3")


@test("what others refer to is not dropped, waiting or running; with --cascade it is")
def _():
    with fresh() as v:
        v.add(define("idle", "FROM now + 1 hour") + define("hangs", "FROM start(idle)") +
              define("further", "FROM start(hangs)"))
        error = v.run("drop", "idle", code=1).stderr
        contains(error, '1 sentinel depends on "idle": hangs')
        contains(error, "--cascade")
        equal(v.sql("SELECT count(*) FROM vigil.status"), "3")
        v.start()
        v.add(define("x", "FETCH EVERY 1 minute") +
              define("until_x", "FETCH EVERY 1 minute TO end(x)") +
              define("after_x", "FROM end(x)"))
        error = v.run("drop", "x", code=1).stderr
        contains(error, '2 sentinels depend on "x"')
        assert "until_x" in error or "after_x" in error, error
        equal(state(v, "x"), "active")
        v.run("drop", "--cascade", "x")
        equal(state(v, "x"), "")
        until(v, "after_x", "ended")
        contains(reason(v, "after_x"), "dependency")
        # x was running, so it was stopped first: its end has come.
        until(v, "until_x", "ended")
        v.run("drop", "idle", "--cascade")
        until(v, "hangs", "ended")
        until(v, "further", "ended")
        # Those that have ended refer to nobody any more.
        v.run("drop", "hangs")
        v.run("drop", "further", "after_x", "until_x")
        equal(v.sql("SELECT count(*) FROM vigil.status"), "0")


@test("cascade with no engine running ends those that wait, also those that wait for those")
def _():
    with fresh() as v:
        v.add(define("idle", "FROM now + 1 hour") + define("hangs", "FROM start(idle)") +
              define("further", "FROM start(hangs)"))
        equal(v.run("drop", "idle", "--cascade").stdout.splitlines()[-1], "idle: dropped")
        equal(state(v, "hangs"), "ended")
        v.start()
        until(v, "further", "ended")


@test("replacing a sentinel keeps those that hang on it hanging on it")
def _():
    with fresh() as v:
        v.start()
        v.add(define("x", "FROM now + 1 hour") +
              define("y", "FETCH EVERY 1 minute FROM start(x)") +
              define("z", "FETCH EVERY 1 minute FROM end(x)"))
        again = define("X", "FETCH EVERY 1 minute FROM now + 1 second FOR 1 second")
        contains(v.add(again, code=1).stderr, "exists already")
        contains(v.add(again.replace("CREATE", "CREATE OR REPLACE")).stdout, "X: replaced")
        equal(v.sql("SELECT count(*) FROM vigil.status"), "3")
        until(v, "y", "active")
        until(v, "z", "active")
        close(ms(v, "started_at", "y"), ms(v, "started_at", "X"))
        close(ms(v, "started_at", "z"), ms(v, "ended_at", "X"))


@test("a chain that waits for its time keeps it through a stop and a kill")
def _():
    with fresh() as v:
        v.start()
        v.add(define("x", "FETCH EVERY 1 hour FOR 1 second") +
              define("y", "FETCH EVERY 1 hour FROM end(x) + 2 seconds FOR 1 second") +
              define("z", "FETCH EVERY 1 hour FROM start(y) + 1 second"))
        until(v, "x", "ended")
        v.stop()
        v.start()
        v.kill()
        v.start()
        until(v, "z", "active")
        close(ms(v, "started_at - installed_at", "x"), 0)
        close(ms(v, "started_at - installed_at", "y"), 3000)
        close(ms(v, "started_at - installed_at", "z"), 4000)
        equal(v.sql("SELECT count(*) FROM vigil.events WHERE kind IN ('start', 'end')"), "5")


@test("a negative offset is before its point, and follows it when that is moved")
def _():
    with fresh() as v:
        v.start()
        v.add(define("w", "FETCH EVERY 1 hour FROM now + 1 hour"))
        v.add(define("before", "FETCH EVERY 1 hour FROM start(w) - 1 second TO end(w) - 1 day"))
        close(ms(v, "starts_at", "w") - ms(v, "starts_at", "before"), 1000)
        v.add(define("w", "FETCH EVERY 1 hour FROM now + 3 seconds FOR 2 days")
              .replace("CREATE", "CREATE OR REPLACE"))
        until(v, "w", "active")
        equal(state(v, "before"), "active")
        close(ms(v, "started_at", "w") - ms(v, "started_at", "before"), 1000)
        close(ms(v, "ends_at", "w") - ms(v, "ends_at", "before"), 86400 * 1000)


@test("one script may replace and drop, stop and create, and says what came of it")
def _():
    with fresh() as v:
        v.start()
        v.add(define("a", "FETCH EVERY 1 minute") + define("b", "FETCH EVERY 1 minute"))
        v.add(define("a", "FETCH EVERY 1 minute").replace("CREATE", "CREATE OR REPLACE") +
              "DROP SENTINEL a;")
        equal(state(v, "a"), "")
        v.add("DROP SENTINEL b;" + define("b", "FETCH EVERY 2 minutes"))
        equal(v.sql("SELECT s.fetch FROM vigil.status s WHERE name = 'b'"), "every 2 minutes")
        v.add("DISABLE SENTINEL b; ENABLE SENTINEL b; DISABLE SENTINEL b;")
        equal(state(v, "b"), "disabled")
        v.add("STOP SENTINEL b;")
        equal(state(v, "b"), "ended")
        v.add(define("c", "FETCH EVERY 1 minute") + "DISABLE SENTINEL c;")
        until(v, "c", "disabled")  # it starts, disabled, a moment after the answer
        v.add(define("d", "FETCH EVERY 1 minute") + "STOP SENTINEL d;" )
        equal(state(v, "d"), "ended")
        v.stop()
        v.start()
        equal([state(v, n) for n in "abcd"], ["", "ended", "disabled", "ended"])


@test("a sentinel that was stopped stays stopped, whatever the rest of the script says")
def _():
    with fresh() as v:
        v.start()
        v.add(define("a", "FETCH EVERY 1 minute"))
        v.add("STOP SENTINEL a; ENABLE SENTINEL a;", code=None)
        assert state(v, "a") in ("ended", "active")
        is_running = v.status()["sentinels"]["active"] == 1
        equal(state(v, "a"), "active" if is_running else "ended")
        v.run("drop", "a", "a", code=None)


@test("status says what a sentinel waits for, and who waits for it")
def _():
    with fresh() as v:
        v.start()
        v.add(define("x", "FETCH EVERY 1 minute FROM now + 1 day FOR 1 day") +
              define("y", "FROM end(x) + 1 day TO end(x) + 2 days") +
              define("z", "FROM start(y)") +
              define("w", "FROM start(x) - 1 hour TO end(x)"))
        def asked(column, name):
            return v.sql(f"SELECT {column} FROM vigil.status WHERE name = '{name}'")
        equal(asked("dependants", "x"), "{y,w}")
        equal(asked("dependants", "y"), "{z}")
        equal(asked("dependants", "w"), "{}")
        ends = asked("ends_at", "x")
        equal(asked("waiting_for", "y"), f"end(x) + 1 day; x ends {ends}")
        equal(asked("waiting_for", "z"), "start(y); y does not know yet when")
        assert asked("waiting_for", "x").startswith("20")
        equal(v.rows("show", "x")[0]["dependants"], ["y", "w"])
        v.add("ALTER SENTINEL x FROM now")
        until(v, "x", "active")
        equal(asked("waiting_for", "x"), "")
        equal(asked("dependants", "x"), "{y,w}")


main()
