"""vigil explain: what a sentinel is made of, what it waits for, what it shares and costs."""
from harness import *

pg = shared(Postgres)
site = shared(Site)


def fresh():
    v = Vigil(db=pg().database())
    v.run("list")
    return v


def page(path):
    return f"{site().url}{path}"


def explained(v, name):
    return v.rows("explain", name)[0]


@test("a file is explained before it is installed, and nothing is made by asking")
def _():
    text = (f"CREATE SENTINEL s1 USING {page('/e')} MONITOR links AND NOT images "
            "FETCH every 6 hours FROM 2030-12-01T00:00Z FOR 1 day;\n"
            f"CREATE SENTINEL s2 USING {page('/e')} MONITOR links FETCH every 6 hours "
            "FROM end(s1) + 1 day FOR 2 hours;\n")
    with Vigil() as v:
        out = v.run("explain", "-", input=text).stdout
        contains(out, "waits     starts 1 day after end(s1), which ends 2030-12-02T00:00:00Z; "
                      "ends 2 hours after it starts")
        contains(out, "Start(s2) = PLUS(End(s1), 1 day): due 2030-12-03T00:00:00Z")
        contains(out, "End(s2) = PLUS(Start(s2), 2 hours): due 2030-12-03T02:00:00Z")
        contains(out, "; heard by s2")
        contains(out, "costs     4 fetches a day alone")
        assert not os.path.exists(os.path.join(v.data, "pg")), "no database was made"


@test("who shares the stream, and who the comparisons")
def _():
    site().put("/s", "<p>1</p>")
    with fresh() as v:
        v.start()
        v.add(f"CREATE SENTINEL a USING {page('/s')} MONITOR links OR tags;\n"
              f"CREATE SENTINEL b USING {page('/s')} MONITOR links;\n"
              f"CREATE SENTINEL c USING {page('/s')} MONITOR images OR links;\n"
              f"CREATE SENTINEL other USING {page('/t')} MONITOR links;\n"
              f"CREATE SENTINEL fixed USING {page('/s')} MONITOR links FETCH every 2 hours;\n")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") != "0")
        x = explained(v, "b")
        equal(sorted(x["stream_shared_with"]["names"]), ["a", "c"])
        equal([n["question"] for n in x["nodes"]], ["links"])
        equal(sorted(x["nodes"][0]["shared_with"]["names"]), ["a", "c"])
        equal(round(x["fetches_a_day_alone"] / x["fetches_a_day_shared"]), 3)
        contains(x["stream"], "on change")
        x = explained(v, "a")
        equal({n["question"]: n["shared_with"]["count"] for n in x["nodes"]},
              {"links": 2, "tags": 0, "links OR tags": 0})
        x = explained(v, "fixed")
        equal(x["stream_shared_with"]["count"], 0)
        equal(x["fetches_a_day_alone"], 12)


@test("the next fetch and why then; a failure says so")
def _():
    with fresh() as v:
        v.start()
        site().put("/f", "<p>1</p>")
        v.add(f"CREATE SENTINEL f USING {page('/f')} MONITOR links FETCH every 2 hours")
        wait_until(lambda: explained(v, "f")["next_fetch_at"])
        equal(explained(v, "f")["next_fetch_why"], "the next point of its period")
        v.add(f"CREATE SENTINEL broken USING {page('/nothing-here')} MONITOR links")
        wait_until(lambda: "failure" in explained(v, "broken")["next_fetch_why"])
        contains(explained(v, "broken")["next_fetch_why"], "404")
        v.run("disable", "f")
        equal(explained(v, "f")["next_fetch_at"], None)
        contains(explained(v, "f")["waits_for"], "disabled")
        v.run("stop", "f")
        contains(explained(v, "f")["waits_for"], "ended 20")


@test("what it found the last time, and how often")
def _():
    with fresh() as v:
        v.start()
        site().put("/g", "<p>1</p>")
        v.add(f"CREATE SENTINEL g USING {page('/g')} MONITOR any change FETCH every 2 seconds")
        wait_until(lambda: explained(v, "g")["next_fetch_at"])
        equal(explained(v, "g")["last_result"], None)
        site().put("/g", "<p>2</p>")
        wait_until(lambda: explained(v, "g")["last_result"] == "changed")
        equal(explained(v, "g")["changes"], 1)
        contains(v.run("explain", "g").stdout, "last      changed; changed 1 of 1 times it looked, the last time 20")


@test("a name nobody has and a file that is wrong")
def _():
    with fresh() as v:
        v.add(f"CREATE SENTINEL news USING {page('/n')} MONITOR links FROM now + 1 day")
        contains(v.run("explain", "newz", code=1).stderr, 'did you mean "news"?')
        contains(v.run("explain", "-", input="CREATE SENTINEL x USING a.org MONITOR colours",
                       code=1).stderr, "E054")
        v.run("explain", "./there-is-no-such.vigil", code=1)


main()
