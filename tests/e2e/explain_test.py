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


def nodes(x):
    """Question: what it was found to be, between which versions, and with whom it is shared."""
    def last(n):
        if not n["last"]:
            return None
        return (n["last"]["result"], n["last"]["old_version"], n["last"]["new_version"])
    return {n["question"]: (last(n), sorted(n["shared_with"]["names"])) for n in x["nodes"]}


@test("each node with its group, who shares it, and what it was last found to be there")
def _():
    url = page("/nodes")
    site().put("/nodes", "<p>1</p>")
    site().put("/nodes2", "<p>1</p>")
    with fresh() as v:
        v.add(f"CREATE SENTINEL one USING {url} MONITOR any change AND NOT images FETCH every 1 second;\n"
              f"CREATE SENTINEL two USING {url} MONITOR any change AND NOT images OR table 3 "
              "FETCH every 1 second;\n"
              f"CREATE SENTINEL word USING {url} MONITOR keywords {{alpha}} FETCH every 1 second;\n"
              f"CREATE SENTINEL far USING {url} MONITOR any change FETCH every 1 second COMPARE every:3;\n"
              f"CREATE SENTINEL away USING {page('/nodes2')} MONITOR any change FETCH every 1 second;\n"
              f"CREATE SENTINEL both USING {url} AS a, {page('/nodes2')} AS b "
              "MONITOR a.images AND NOT b.links FETCH every 1 second;\n")
        x = explained(v, "one")  # without an engine
        equal(nodes(x), {"any change": (None, ["two"]), "images": (None, ["both", "two"]),
                         "NOT images": (None, ["two"]), "any change AND NOT images": (None, ["two"])})
        equal(x["results_since"], None)
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "2")
        equal(nodes(explained(v, "one")), nodes(x))
        contains(v.run("explain", "one").stdout, "images: not compared yet; shared with ")
        for i in (2, 3):
            site().put("/nodes", f"<p>{i}</p>" + "<img src=/i>" * (i == 3))
            wait_until(lambda: v.sql("SELECT max(version) FROM vigil.versions") == f"{i}")
            wait_until(lambda: explained(v, "one")["evaluations"] == i - 1)
        x = explained(v, "two")
        seen = lambda result: (result, 2, 3)
        equal(nodes(x), {"any change": (seen("changed"), ["one"]),
                         "images": (seen("changed"), ["both", "one"]),
                         "NOT images": (seen("unchanged"), ["one"]),
                         "any change AND NOT images": (seen("unchanged"), ["one"]),
                         "table 3": (seen("not computed"), []),
                         "any change AND NOT images OR table 3": (seen("not computed"), [])})
        equal([n["of"] for n in x["nodes"]], [[], [], [2], [1, 3], [], [4, 5]])
        equal([n["is_whole"] for n in x["nodes"]], [False] * 5 + [True])
        group = x["groups"][0]
        equal((group["url"], group["stream"], group["compare"]), (url, "every 1 second", "pairwise"))
        equal((group["base_version"], group["versions_to_come"], group["sentinels"]), (3, 1, 4))
        out = v.run("explain", "two").stdout
        contains(out, f"groups    {url}: every 1 second, pairwise, base version 3, 1 version to come; "
                      "4 sentinels are in it\n")
        contains(out, "table 3: not computed (there is no such table), version 2→3, 20")
        contains(out, "any change AND NOT images OR table 3 (the whole condition): not computed (")

        # the same question in another group, on another page, and over several pages
        x = explained(v, "far")
        equal(nodes(x), {"any change": (("changed", 1, 3), [])})
        equal((x["groups"][0]["base_version"], x["groups"][0]["versions_to_come"]), (3, 2))
        equal(nodes(explained(v, "word")), {"keywords {alpha}": (seen("unchanged"), [])})
        equal(nodes(explained(v, "away")), {"any change": (None, [])})
        x = explained(v, "both")
        equal(nodes(x), {"images": (seen("changed"), ["one", "two"]), "links": (None, [])})
        equal([n["alias"] for n in x["nodes"]], ["a", "b"])
        equal([n["group"] for n in x["nodes"]], [1, 2])
        equal([g["sentinels"] for g in x["groups"]], [4, 2])
        contains(v.run("explain", "both").stdout, "a.images AND NOT b.links (the whole condition)")

        dot = v.run("graph").stdout
        contains(dot, 'label="any change\\nchanged, v2→v3"')
        contains(dot, 'label="any change\\nchanged, v1→v3"')
        contains(dot, 'label="any change"')  # on the page that did not change
        contains(dot, 'label="table 3\\nnot computed, v2→v3\\nthere is no such table"')

        # another engine knows the groups, and what the sentinel found, but no longer each node
        v.stop()
        contains(v.run("explain", "two").stdout, "no engine answers")
        v.start()
        x = explained(v, "two")
        assert not any(n["last"] for n in x["nodes"]), x["nodes"]
        equal(x["groups"], [group])
        equal((x["last_result"], x["last_reason"]), ("not computed", "there is no such table"))
        contains(v.run("explain", "two").stdout,
                 "images: not compared since the engine started " + x["results_since"])
        equal((explained(v, "far")["groups"][0]["base_version"],
               explained(v, "far")["groups"][0]["versions_to_come"]), (3, 2))
        v.run("disable", "two")
        out = v.run("explain", "two").stdout
        assert "not compared" not in out and "groups " not in out, out


@test("what asks for a page in another way is another page")
def _():
    with fresh() as v:
        v.add(f"CREATE SENTINEL a USING {page('/r')} MONITOR links;\n"
              f"CREATE SENTINEL b USING {page('/r')} MONITOR links WITH (HEADER 'X-A: 1');\n")
        x = explained(v, "a")
        equal((x["stream_shared_with"]["count"], nodes(x)), (0, {"links": (None, [])}))
        text = f"CREATE SENTINEL c USING {page('/r')} MONITOR links WITH (HEADER 'X-A: 1');"
        contains(v.run("explain", "-", input=text).stdout, "shared with b\n")


@test("a name nobody has and a file that is wrong")
def _():
    with fresh() as v:
        v.add(f"CREATE SENTINEL news USING {page('/n')} MONITOR links FROM now + 1 day")
        contains(v.run("explain", "newz", code=1).stderr, 'did you mean "news"?')
        contains(v.run("explain", "-", input="CREATE SENTINEL x USING a.org MONITOR colours",
                       code=1).stderr, "E054")
        v.run("explain", "./there-is-no-such.vigil", code=1)


main()
