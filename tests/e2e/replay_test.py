"""vigil replay: the same versions, once more, for whatever definitions."""
from harness import *

pg = shared(Postgres)
site = shared(Site)
HOURS = "UPDATE vigil_kb.version SET fetched_at = '2026-01-01T00:00:00Z'::timestamptz + "


def publish(path, n):
    site().put(path, f"<p>text {n}</p>" + "".join(f"<a href='/{i}'>x</a>" for i in range(n)))


def pairs(rows, name):
    return [(r["old_version"], r["new_version"]) for r in rows if r["sentinel"] == name]


def definition(name, rest, path="/r", monitor="any change"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {rest};\n"


@test("replay tells what was told, what other definitions would have told, and changes nothing")
def _():
    with Vigil(db=pg().database()) as v:
        watched = definition("w", "FETCH EVERY 1 second COMPARE every:3")
        publish("/r", 1)
        publish("/s", 1)
        v.add(watched + definition("o", "FETCH EVERY 1 second", "/s"))
        v.start()
        for n in range(1, 7):
            publish("/r", n)
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions WHERE url LIKE '%/r'")
                       == str(n))
        publish("/s", 2)
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions WHERE url LIKE '%/s'") == "2")
        rows = v.rows("replay", "-", input=watched, code=3)  # beside a running engine
        equal(pairs(rows, "w"), [(1, 3), (3, 5)])
        stored = json.loads(v.sql("SELECT json_agg(detail ORDER BY id) FROM vigil.changes "
                                  "WHERE sentinel = 'w'"))
        equal([r["detail"] for r in rows], stored)
        v.stop()

        # A version an hour from midnight; one digest is gone, as if it had been swept.
        v.sql(HOURS + "interval '1 hour' * (version - 1); "
              "UPDATE vigil_kb.version SET digest_zstd = NULL WHERE version = 2")
        before = v.sql("SELECT (SELECT count(*) FROM vigil_kb.change), "
                       "(SELECT count(*) FROM vigil_kb.event), (SELECT count(*) FROM vigil_kb.sentinel)")
        text = (definition("pairs", "") + definition("moving", "COMPARE moving:4") +
                definition("slow", "FETCH EVERY 2 hours") + definition("quiet", "", monitor="images") +
                f"CREATE SENTINEL two USING {site().url}/r AS r, {site().url}/s AS s "
                "MONITOR r.links AND s.links WITHIN 90 minutes;\n")
        done = v.run("replay", "-", "--json", input=text, code=3)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        equal(pairs(rows, "pairs"), [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)])
        equal(pairs(rows, "moving"), [(1, 4), (2, 5), (3, 6)])
        # Its ticks are at 0, 2 and 4 o'clock, and at 6, when version 6 of 5 o'clock still stands.
        equal(pairs(rows, "slow"), [(1, 3), (3, 5), (5, 6)])
        equal([r["at"] for r in rows if r["sentinel"] == "slow"][-1], "2026-01-01T06:00:00Z")
        # Version 2 of both pages is of 1 o'clock; what came later on /r alone expired.
        two = [[(l["url"][-1], l["new_version"]) for l in r["detail"]["leaves"]]
               for r in rows if r["sentinel"] == "two"]
        equal([sorted(t) for t in two], [[("r", 2), ("s", 2)]])
        contains(done.stderr, "quiet: 0 changes in 6 versions")

        equal(pairs(v.rows("replay", "-", "--since", "2026-01-01T02:30:00Z", input=text, code=3),
                    "pairs"), [(3, 4), (4, 5), (5, 6)])
        text = v.run("replay", "-", input=definition("pairs", ""), code=3).stdout
        contains(text, "v5→v6\n")
        equal(v.run("replay", "-", input=definition("q", "", monitor="images")).stdout, "")
        equal(v.sql("SELECT (SELECT count(*) FROM vigil_kb.change), (SELECT count(*) "
                    "FROM vigil_kb.event), (SELECT count(*) FROM vigil_kb.sentinel)"), before)

        done = v.run("replay", "-", input=definition("n", "", "/never"))
        contains(done.stderr, f"n: no version of {site().url}/never is stored")
        contains(v.run("replay", "-", input="CREATE SENTINEL x", code=1).stderr, "error")
        contains(v.run("replay", "-", "--since", "soon", input=text, code=1).stderr, "not a time")
        contains(v.run("replay", "-", input="DISABLE SENTINEL w;", code=1).stderr, "nothing to replay")


main()
