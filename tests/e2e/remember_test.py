"""What a question remembers from pair to pair survives whatever happens to the engine."""
from harness import *

pg = shared(Postgres)
site = shared(Site)
BEFORE, AFTER = "one two three four five", "six seven eight nine ten"


def publish(passage, rest):
    site().put("/p", f"<p>{BEFORE} {passage} {AFTER}</p><p>{rest}</p>")


@test("a passage is followed through its new wordings, also by an engine that was killed meanwhile")
def _():
    with Vigil(db=pg().database()) as v:
        publish("the movie is called Panic Room", "a")
        v.run("list")
        v.add(f"CREATE SENTINEL m USING {site().url}/p MONITOR phrase {{\"the movie is called Panic "
              "Room\"} FETCH EVERY 1 second;")
        v.start()

        def version(n):
            wait_until(lambda: v.sql("SELECT last_version FROM vigil_kb.sentinel_state") == str(n))

        version(1)
        publish("the movie is called Heat", "a")
        version(2)
        equal(v.sql("SELECT changes, last_result FROM vigil.status"), "1|changed")
        if SLOW == 1:
            v.kill()
            v.start()
        publish("the movie is called Heat", "b")
        version(3)
        equal(v.sql("SELECT changes, last_result FROM vigil.status"), "1|unchanged")
        publish("the movie is called Alien", "b")
        version(4)
        equal(v.sql("SELECT changes, last_result FROM vigil.status"), "2|changed")
        site().put("/p", "<p>one two three X the movie is called Gravity Y seven eight</p>")
        version(5)
        for n in (6, 7):
            site().put("/p", f"<p>one two three X the movie is called Gravity Y seven eight</p>{n}")
            version(n)
        equal(v.sql("SELECT last_result FROM vigil.status"), "not computed")
        equal(v.sql("SELECT count(*) FROM vigil.events WHERE kind = 'notice'"), "1")
        v.run("disable", "m")
        v.run("enable", "m")
        equal(v.sql("SELECT count(*) FROM vigil_kb.sight g JOIN vigil_kb.sentinel s "
                    "ON g.sentinel_id = s.id AND g.since = s.entered_at"), "0")
        definition = v.sql("SELECT definition FROM vigil.status") + ";"

        def replay():
            return v.run("replay", "-", input=definition, code=3).stderr

        contains(replay(), "m: 2 changes in ")
        # Fetched late and then two at a time, on a busy machine, they are not all ticks of their own.
        if v.sql("SELECT min(gap) > interval '0.9 seconds' FROM (SELECT fetched_at - lag(fetched_at) OVER "
                 "(ORDER BY version) AS gap FROM vigil.versions) g") == "t":
            # The last one is seen at the tick after it was fetched.
            wait_until(lambda: "m: 2 changes in 7 versions; 3 comparisons could not be made" in replay(), 10)


main()
