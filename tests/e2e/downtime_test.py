"""The engine was down while something was due: it happens at the next start, with the time it
was due, in the order it was due, and schedules do not drift."""
import datetime

from history import table, processes_of
from harness import *


def at(seconds_from_now):
    """An absolute time for FROM and TO, in whole seconds of UTC, and the same as a number."""
    when = int(time.time() + seconds_from_now)
    return datetime.datetime.utcfromtimestamp(when).strftime("%Y-%m-%dT%H:%M:%SZ"), when


def transitions(v, name):
    """{kind: (nominal, actual, detail)} of a sentinel."""
    rows = table(v, f"""SELECT kind, extract(epoch FROM at)::float AS due,
            extract(epoch FROM actual_at)::float AS done, detail FROM vigil.events
            WHERE sentinel = '{name}' AND kind IN ('start', 'end') ORDER BY id""")
    kinds = [r["kind"] for r in rows]
    assert len(set(kinds)) == len(kinds), f"{name}: {kinds}"
    return {r["kind"]: (r["due"], r["done"], r["detail"]) for r in rows}


def state(v, name):
    return v.sql(f"SELECT state FROM vigil.status WHERE name = '{name}'")


def times(site, path):
    with site.lock:
        return [t for t, p, _ in site.requests if p == path]


def begun(v):
    since = v.status()["engine"]["since"].replace("Z", "+00:00")
    return datetime.datetime.fromisoformat(since).timestamp()


def near(actual, expected, most=0.01):
    assert abs(actual - expected) <= most, f"{actual} is not {expected} ± {most}"


@test("what was due to start and to end while the engine was down starts and ends at the next"
      " start, with the time it was due and the time it happened")
def _():
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        page = f"USING {site.url}/p MONITOR links FETCH EVERY 1 second"
        v.start()
        begin, begin_s = at(6 * SLOW)
        end, end_s = at(8 * SLOW)
        far, far_s = at(3600)
        v.add(f"""CREATE SENTINEL starts {page} FROM {begin} TO {far};
                  CREATE SENTINEL both {page} FROM {begin} TO {end};
                  CREATE SENTINEL ends {page} TO {end};
                  CREATE SENTINEL later {page} FROM {far};
                  CREATE SENTINEL after {page} FROM end(both) + 1 second;
                  CREATE SENTINEL with_it {page} FROM start(both) TO end(both);
                  CREATE SENTINEL short {page} FROM end(both) + 1 second FOR 1 second;
                  CREATE SENTINEL third {page} FROM end(short);
                  CREATE SENTINEL much_later {page} FROM end(ends) + 1 hour;""")
        equal([state(v, n) for n in ("starts", "both", "ends", "after", "with_it")],
              ["waiting", "waiting", "active", "waiting", "waiting"])
        wait_until(lambda: site.count("/p") >= 1)
        v.stop()
        asked = site.count("/p")
        while time.time() < end_s + 3:
            time.sleep(0.1)
        equal(site.count("/p"), asked)
        back = time.time()
        v.start()
        wait_until(lambda: state(v, "third") == "active")
        expected = {
            "starts": {"start": begin_s},
            "both": {"start": begin_s, "end": end_s},
            "with_it": {"start": begin_s, "end": end_s},
            "after": {"start": end_s + 1},
            "short": {"start": end_s + 1, "end": end_s + 2},
            "third": {"start": end_s + 2},
            "later": {}, "much_later": {},
        }
        for name, wanted in expected.items():
            found = transitions(v, name)
            equal((name, set(found)), (name, set(wanted)))
            for kind, due in wanted.items():
                near(found[kind][0], due)
                assert found[kind][1] >= back - 0.1, f"{name} {kind}: actual {found[kind][1]}"
        near(transitions(v, "ends")["end"][0], end_s)
        equal(transitions(v, "ends")["end"][2], "to-reached")
        # In the order in which they were due; at one instant ends come first.
        order = table(v, """SELECT sentinel, kind FROM vigil.events WHERE kind IN ('start', 'end')
                            AND actual_at > at + interval '200 ms' ORDER BY id""")
        order = [(r["sentinel"], r["kind"]) for r in order]
        for first, then in ((("both", "start"), ("both", "end")), (("both", "end"), ("after", "start")),
                            (("short", "start"), ("short", "end")), (("short", "end"), ("third", "start"))):
            assert order.index(first) < order.index(then), order
        equal({n: state(v, n) for n in [*expected, "ends"]},
              {"starts": "active", "both": "ended", "with_it": "ended", "after": "active",
               "short": "ended", "third": "active", "later": "waiting", "much_later": "waiting",
               "ends": "ended"})
        shown = v.sql("SELECT extract(epoch FROM started_at), extract(epoch FROM ended_at)"
                      " FROM vigil.status WHERE name = 'both'").split("|")
        near(float(shown[0]), begin_s)
        near(float(shown[1]), end_s)
        due = v.sql("SELECT extract(epoch FROM starts_at) FROM vigil.status"
                    " WHERE name = 'much_later'")
        if due:
            near(float(due), end_s + 3600)


@test("a lifespan that began and ended while the engine was down costs no request")
def _():
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        v.run("list")  # the database is made
        begin, _ = at(3 * SLOW)
        end, end_s = at(4 * SLOW)
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR links FETCH EVERY 1 second"
              f" FROM {begin} TO {end}")
        while time.time() < end_s + 0.5:
            time.sleep(0.1)
        v.start()
        wait_until(lambda: state(v, "s") == "ended")
        time.sleep(1.5)
        equal(site.count("/p"), 0)
        equal(set(transitions(v, "s")), {"start", "end"})


@test("a disabled sentinel starts and ends on time, down or not, and asks for nothing")
def _():
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        v.run("list")  # the database is made
        begin, begin_s = at(4 * SLOW)
        end, end_s = at(7 * SLOW)
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR links FETCH EVERY 1 second"
              f" FROM {begin} TO {end};"
              f"CREATE SENTINEL t USING {site.url}/q MONITOR links FETCH EVERY 1 second"
              f" FROM end(s)")
        v.run("disable", "s")
        equal(state(v, "s"), "waiting-disabled")
        while time.time() < begin_s + 0.5:
            time.sleep(0.1)
        v.start()
        wait_until(lambda: state(v, "s") in ("disabled", "ended"))
        wait_until(lambda: state(v, "s") == "ended" and state(v, "t") == "active")
        near(transitions(v, "s")["start"][0], begin_s)
        near(transitions(v, "s")["end"][0], end_s)
        near(transitions(v, "t")["start"][0], end_s)
        equal(site.count("/p"), 0)


@test("after a pause there is one catch-up fetch, and the ticks go on where they would have been")
def _():
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        site.put("/q", "<p>x</p>")
        v.start()
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR links FETCH EVERY 2 seconds;"
              f"CREATE SENTINEL t USING {site.url}/q MONITOR links FETCH EVERY 5 seconds;")
        entered = float(v.sql("SELECT extract(epoch FROM started_at) FROM vigil.status"
                              " WHERE name = 's'"))
        wait_until(lambda: site.count("/p") >= 3)
        for how in (signal.SIGTERM, signal.SIGKILL):
            v.kill(how)
            while not 0.9 < (time.time() - entered) % 2 < 1.1 or time.time() < times(site, "/p")[-1] + 4:
                time.sleep(0.02)
            seen = site.count("/p")
            v.start()
            back = begun(v)
            wait_until(lambda: site.count("/p") >= seen + 4)
            found = times(site, "/p")[seen:]
            catch_up, ticks = found[0], found[1:]
            assert catch_up - back < 1 * SLOW, f"the catch-up fetch came {catch_up - back:.2f} s late"
            phases = [(t - entered) % 2 for t in ticks]
            assert all(min(p, 2 - p) < 0.3 * SLOW for p in phases), phases
            assert all(1.5 < b - a < 2.5 for a, b in zip(ticks, ticks[1:])), ticks
        # The five-second one was due once or twice in each pause; never was it asked in a burst.
        gaps = [b - a for a, b in zip(times(site, "/q"), times(site, "/q")[1:])]
        assert all(g > 0.2 for g in gaps), gaps  # closer, and the fetch before would serve


@test("nothing was due in a short pause: no fetch is made before its time")
def _():
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        v.start()
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR links FETCH EVERY 1 hour;"
              f"CREATE SENTINEL t USING {site.url}/p MONITOR links FETCH ON CHANGE;")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        for _ in range(3):
            v.stop()
            v.start()
            time.sleep(0.5)
        equal(site.count("/p"), 1)
        left = float(v.sql("SELECT extract(epoch FROM min(next_fetch_at) - now()) FROM vigil.status"))
        assert 3500 < left <= 3600, left
        # Two hours later both are due, once, and one request serves them.
        v.stop()
        v.sql("""UPDATE vigil_kb.sentinel SET entered_at = entered_at - interval '2 hours',
                     started_at = started_at - interval '2 hours',
                     starts_at = starts_at - interval '2 hours';
                 UPDATE vigil_kb.page_state SET last_fetch_at = last_fetch_at - interval '2 hours',
                     verified_at = verified_at - interval '2 hours',
                     next_fetch_at = next_fetch_at - interval '2 hours'""")
        v.start()
        wait_until(lambda: site.count("/p") == 2)
        time.sleep(1.5)
        equal(site.count("/p"), 2)


@test("what changed while the engine was down is one change, from the version before to the one"
      " after, and an engine that was down for nothing finds nothing")
def _():
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>number 1</p>")
        v.start()
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR any change FETCH EVERY 1 second")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        v.stop()
        for n in (2, 3, 4):
            site.put("/p", f"<p>number {n}</p>")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == "1")
        equal(v.rows("changes")[0]["detail"]["leaves"][0]["updated"], [
            {"old": "number 1", "new": "number 4"}])
        v.stop()
        v.start()
        seen = site.count("/p")
        wait_until(lambda: site.count("/p") >= seen + 2)
        equal(v.sql("SELECT evaluations, changes FROM vigil.status"), "1|1")
        v.stop()
        equal(processes_of(v), [])


@test("a clock that was set back while the engine was down keeps nobody from starting: pages are"
      " looked at as often as they should be")
def _():
    with Site() as site, Vigil(made=True) as v:
        for path in ("/p", "/q"):
            site.put(path, "<p>number 1</p>")
        v.start()
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR any change FETCH EVERY 2 seconds;"
              f"CREATE SENTINEL t USING {site.url}/q MONITOR any change FETCH EVERY 1 second;")
        wait_until(lambda: site.count("/p") >= 2)
        v.stop()
        # All that was remembered lies an hour ahead, as it does after the clock went back.
        v.sql("""UPDATE vigil_kb.sentinel SET entered_at = entered_at + interval '1 hour',
                     started_at = started_at + interval '1 hour',
                     starts_at = starts_at + interval '1 hour';
                 UPDATE vigil_kb.page_state SET last_fetch_at = last_fetch_at + interval '1 hour',
                     verified_at = verified_at + interval '1 hour',
                     next_fetch_at = next_fetch_at + interval '1 hour'""")
        for path in ("/p", "/q"):
            site.put(path, "<p>number 2</p>")
        seen = site.count("/p")
        v.start()
        wait_until(lambda: site.count("/p") >= seen + 3, 10)
        ticks = times(site, "/p")[seen:]
        assert all(1.5 < b - a < 2.5 * SLOW for a, b in zip(ticks[1:], ticks[2:])), ticks
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == "2")


@test("a sentinel that was due to start before one that runs already entered is started all the same")
def _():
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        site.put("/q", "<p>x</p>")
        v.start()
        v.add(f"CREATE SENTINEL runs USING {site.url}/p MONITOR links FETCH EVERY 1 second")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        v.stop()
        v.add(f"CREATE SENTINEL late USING {site.url}/q MONITOR links FETCH EVERY 1 second")
        # As if whoever installed it had been slow to commit, or his clock were behind.
        v.sql("UPDATE vigil_kb.sentinel SET starts_at = starts_at - interval '30 seconds'"
              " WHERE name = 'late'")
        v.start()
        wait_until(lambda: state(v, "late") == "active" and site.count("/q") >= 2)
        seen = site.count("/p")
        wait_until(lambda: site.count("/p") >= seen + 2)


main()
