"""Everything into one file and back: private database, server, private database."""
from history import *
from receivers import Hook

pg = shared(Postgres)

def contents(v):
    """Every row there is: {table: (how many, a hash over all)}.  Who uses it is not what it knows."""
    tables = v.sql("SELECT relname FROM pg_class WHERE relnamespace = 'vigil_kb'::regnamespace AND relkind = 'r'"
                   " AND relname <> 'engine' ORDER BY 1").split()
    rows = v.sql(" UNION ALL ".join(
        f"SELECT '{t}', count(*)::text, md5(string_agg(t::text, '|' ORDER BY t::text)) FROM vigil_kb.{t} t"
        for t in tables))
    return {line.split("|")[0]: line for line in rows.splitlines()}


def bare(contents):
    """Tables of which nothing was moved, so that nothing was proved."""
    return [t for t, line in contents.items() if line.split("|")[1] == "0"]


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


def every_kind(v, site, hook):
    """Sentinels and receivers of every kind, until there is a row of every kind."""
    page = f"USING {site.url}/plain"
    often = "FETCH EVERY 1 second"
    v.add(f"""CREATE SENTINEL both {page} AS a, {site.url}/still AS b MONITOR a.links AND b.links WITHIN 1 hour {often};
              CREATE SENTINEL told {page} MONITOR any change {often} NOTIFY BY webhook {hook.url}/;
              CREATE SENTINEL owed {page} MONITOR any change {often} NOTIFY BY webhook http://127.0.0.1:{free_port()}/;
              CREATE SENTINEL wait {page} MONITOR any change {often} FROM end(told) + 1 day;
              CREATE SENTINEL lost USING {site.url}/nothing MONITOR links {often}""")
    v.start()
    for call in ("disable('wait')", "enable('nobody')"):
        v.sql(f"SELECT vigil.{call}")
    v.sql("INSERT INTO vigil_kb.host VALUES ('liar.example.org', '2100-01-01')")  # it takes days to become one
    wait_until(lambda: not bare(contents(v)) and v.sql(
        "SELECT string_agg(DISTINCT state, ' ') FROM vigil.notifications") == "pending sent", 60)
    v.stop()


@test("a row of every kind survives the way to a server and back; a dump that is cut off or damaged restores"
      " nothing, and what is there already stays as it is")
def _():
    allow = ["--set", "notify.allow=127.0.0.0/8"]
    with Counters() as site, Hook() as hook, Vigil(args=allow) as v:
        site.page("/plain", step=0.4)
        site.page("/still", step=1e9)
        every_kind(v, site, hook)
        before, file, bad = contents(v), os.path.join(v.home, "all.vigil"), os.path.join(v.home, "bad.vigil")
        v.run("dump", file)
        with open(file, "rb") as f:
            dump = f.read()
        with Vigil(db=pg().database(), args=allow) as server:
            server.run("list")
            empty = contents(server)
            damages = [dump[:n] for n in (0, 4, 100, len(dump) // 4, len(dump) // 2, len(dump) - 20000)]
            for at in (len(dump) // 3, len(dump) // 2, len(dump) - 4000):
                damages.append(dump[:at] + bytes(64) + dump[at + 64:])
            for damaged in damages:
                with open(bad, "wb") as f:
                    f.write(damaged)
                done = server.run("restore", bad, code=None)
                assert done.returncode in (1, 2), (len(damaged), done)
                server.run("list")
                now = contents(server)
                equal([t for t in differing(now, empty) if t not in ("instance", "migration")], [])
            server.run("restore", file)
            equal(differing(contents(server), before), [])
            for wrong in (file, bad):
                assert server.run("restore", wrong, code=None).returncode in (1, 2)
                equal(differing(contents(server), before), [])
            server.run("dump", file)
            with Vigil(args=allow) as back:
                back.run("restore", file)
                equal(differing(contents(back), before), [])


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
