"""Everything into one file and back: private database, server, private database."""
from history import *

pg = shared(Postgres)

TABLES = "page page_state body version sentinel sentinel_state change notification event request"


def contents(v):
    """Every row there is: {table: (how many, a hash over all)}."""
    rows = v.sql(" UNION ALL ".join(
        f"SELECT '{t}', count(*)::text, md5(string_agg(t::text, '|' ORDER BY t::text)) FROM vigil_kb.{t} t"
        for t in TABLES.split()))
    return {line.split("|")[0]: line for line in rows.splitlines()}


def differing(one, other):
    return [t for t in one if one[t] != other[t]]


@test("a private database moves to a server and back with all it knows, and goes on there")
def _():
    with Counters() as site, Vigil(args=["--set", "store.sweep_every=200ms"]) as v:
        site.page("/plain", step=0.4)
        site.page("/slow", step=0.7, kind="slow")
        v.add(site.sentinels())
        v.start()
        wait_until(lambda: v.sql("SELECT (SELECT count(*) FROM vigil.versions) > 4 AND EXISTS (SELECT "
                                 "FROM vigil_kb.body WHERE base_sha256 IS NOT NULL)") == "t")
        early = os.path.join(v.home, "early.vigil")
        contains(v.run("dump", early).stderr, "everything in")  # while it runs
        file = os.path.join(v.home, "all.vigil")
        v.stop()
        v.run("dump", file)
        assert not os.path.exists(file + ".part")
        before = contents(v)

        with Vigil(db=pg().database()) as server:
            contains(server.run("restore", file).stderr, "restored into PostgreSQL at")
            equal(differing(contents(server), before), [])
            equal(server.sql("SELECT count(*) FROM pg_class WHERE relnamespace = 'vigil'::regnamespace AND "
                             "relkind = 'v' AND pg_get_userbyid(relowner) <> 'vigil_engine'"), "0")
            equal(len(before), 10)
            # Not empty now: left alone.
            contains(server.run("restore", file, code=1).stderr, "holds sentinels or their history already")
            equal(differing(contents(server), before), [])
            server.start()
            contains(server.run("restore", file, code=2).stderr, "in use by the engine")
            settled = int(before["version"].split("|")[1])
            wait_until(lambda: int(server.sql("SELECT count(*) FROM vigil.versions")) > settled + 2)
            site.freeze()
            settle(server, site)
            print(f"# {audit(server, site)}")
            server.stop()
            server.run("dump", file)
            before = contents(server)
            with Vigil() as back:
                back.run("list")  # an empty one that is there already is as good as none
                back.run("restore", file)
                equal(differing(contents(back), before), [])
                back.start()
                audit(back, site)
                equal(back.sql("SELECT pg_has_role('vigil_user', 'vigil_user', 'MEMBER')"), "t")


@test("what is no dump, or a dump of a newer schema, changes nothing; dumping nothing is refused")
def _():
    with Vigil() as v:
        contains(v.run("dump", "x.vigil", code=1).stderr, "there is no database")
        wrong = os.path.join(v.home, "wrong")
        with open(wrong, "w") as f:
            f.write("CREATE TABLE x ();")
        contains(v.run("restore", wrong, code=1).stderr, "is no dump of Vigil's")
        contains(v.run("restore", wrong + "er", code=1).stderr, "cannot read")
        assert not os.path.exists(v.data)
        db, future = pg().database(), os.path.join(v.home, "future")
        with Vigil(db=db) as newer:
            newer.run("list")
            newer.sql("INSERT INTO vigil_kb.migration VALUES (999, 'future', 'x', 'epoch')")
        subprocess.run(["pg_dump", "-Fc", "-n", "vigil", "-n", "vigil_kb", "-f", future, "-d", db], check=True)
        contains(v.run("restore", future, code=2).stderr, "the database has schema 999")
        v.run("list")
        equal(v.sql("SELECT max(number) < 999 FROM vigil_kb.migration"), "t")


main()
