"""For those who live in psql: views, functions, and the channel."""
import re

from harness import *

pg = shared(Postgres)
site = shared(Site)

VIEWS = {
    "status": "name owner state url monitor fetch compare installed_at starts_at ends_at started_at "
              "ended_at last_fetch_at last_version last_change_at last_notified_at next_fetch_at "
              "evaluations changes notifications last_result error",
    "changes": "id sentinel at url old_version new_version inserted deleted updated moved summary "
               "detail",
    "versions": "url version fetched_at last_modified etag size digest request",
    "notifications": "id sentinel at method target state attempts next_try_at sent_at error",
    "events": "id at sentinel kind detail",
    "requests": "id verb text state exit_code answer",
}


class Running(Vigil):
    def __enter__(self):
        super().__enter__()
        self.run("list")
        self.start()
        return self


running = shared(lambda: Running(db=pg().database()))


def define(name, path="/q", rest="FETCH EVERY 1 second", monitor="any change"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {rest}"


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def ask(v, call):
    """Calls a function, waits for the answer: (exit code, words, seconds it took)."""
    begun = time.monotonic()
    number = v.sql(f"SELECT vigil.{call}")
    done = wait_until(lambda: v.sql(f"SELECT exit_code || ':' || answer FROM vigil.requests "
                                    f"WHERE id = {number} AND state = 'done'"), 10)
    code, words = done.split(":", 1)
    return int(code), words, time.monotonic() - begun


def documented():
    """[(title, query)] of docs/sql.md."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/sql.md")
    with open(path) as f:
        text = f.read()
    return re.findall(r"^### \d+\. (.*?)\n+```sql\n(.*?)```", text, re.S | re.M)


@test("the ten questions of the documentation are answered as it says")
def _():
    with Site() as web, Vigil(db=pg().database()) as v:
        web.put("/flap", "<p>a</p>")
        web.put("/links", "<a href=/one>1</a>")
        web.put("/still", "<p>still</p>")
        page = "FETCH EVERY 1 second"
        v.run("list")
        v.start()
        v.add(f"""CREATE SENTINEL flap USING {web.url}/flap MONITOR any change {page};
                  CREATE SENTINEL calm USING {web.url}/flap MONITOR images {page};
                  CREATE SENTINEL refs USING {web.url}/links MONITOR links {page};
                  CREATE SENTINEL lost USING {web.url}/nothing MONITOR links {page};
                  CREATE SENTINEL first USING {web.url}/still MONITOR links {page} FROM now FOR 3 seconds;
                  CREATE SENTINEL second USING {web.url}/still MONITOR links {page} FROM end(first) FOR 1 second""")
        for n, text in enumerate(("<p>a</p>", "<p>b</p>", "<p>a</p>"), 1):
            web.put("/flap", text)
            wait_until(lambda: v.sql("SELECT coalesce(max(version), 0) FROM vigil.versions WHERE url LIKE '%/flap'")
                       == str(n))
        web.put("/links", "<a href=/one>1</a><a href=/two>2</a>")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes WHERE sentinel = 'refs'") == "1")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.events WHERE kind = 'end'") == "2")
        wait_until(lambda: v.sql("SELECT error IS NOT NULL FROM vigil.status WHERE name = 'lost'") == "t")
        answers = {}
        for title, query in documented():
            done = v.run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", query, settings=(), code=None)
            equal((title, done.returncode, done.stderr), (title, 0, ""))
            answers[title] = [line.split("|") for line in done.stdout.splitlines()]
        equal(len(answers), 10)
        found = list(answers.values())
        equal(sorted(row[1] for row in found[0]), ["flap", "flap", "refs"])
        equal([row[1:] for row in found[1]], [["3", "2", "1"]])
        equal([row[0] for row in found[2]], ["calm"])
        equal([(row[0], row[1]) for row in found[3]], [(web.url.split("/")[2], "4")])
        equal({row[0]: row[1] for row in found[4]},
              {f"{web.url}/flap": "3", f"{web.url}/links": "2", f"{web.url}/nothing": "0",
               f"{web.url}/still": "1"})
        chain = [(row[1], row[2]) for row in found[5] if row[1] in ("first", "second")]
        equal(chain, [("first", "start"), ("first", "end"), ("second", "start"), ("second", "end")])
        equal([row[0] for row in found[6]], ["lost"])
        equal([row[1:] for row in found[7]], [["refs", f"{web.url}/two"]])
        equal(sum(int(row[1]) for row in found[8]), 3)
        equal([row[:4] for row in found[9]], [["dashboard", "", "sent", "3"]])


@test("every view, column and function of the schema has a comment")
def _():
    v = running()
    equal(v.sql("SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = "
                "'vigil'::regnamespace AND relkind IN ('v', 'r', 'm') AND "
                "obj_description(oid, 'pg_class') IS NULL"), "")
    equal(v.sql("SELECT string_agg(c.relname || '.' || a.attname, ' ') FROM pg_class c JOIN "
                "pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped WHERE "
                "c.relnamespace = 'vigil'::regnamespace AND c.relkind IN ('v', 'r', 'm') AND "
                "col_description(c.oid, a.attnum) IS NULL"), "")
    equal(v.sql("SELECT string_agg(proname, ' ') FROM pg_proc WHERE pronamespace = "
                "'vigil'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL"), "")


def as_user(v, name, query):
    """What a login of somebody's own is answered: (worked, words)."""
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", pg().home, "-U", name, "-d",
                           v.where[1].rsplit("/", 1)[1], "-c", query], capture_output=True, text=True)
    return done.returncode == 0, (done.stdout or done.stderr).strip()


def asked_by(v, name, call):
    """A login asks the engine and reads its own answer: (exit code, words)."""
    number = as_user(v, name, f"SELECT vigil.{call}")[1]
    done = wait_until(lambda: as_user(v, name, "SELECT exit_code || ':' || answer FROM vigil.requests "
                                      f"WHERE id = {number} AND state = 'done'")[1], 10)
    return int(done.split(":", 1)[0]), done.split(":", 1)[1]


# Remembers whatever it is asked about, and is asked early because it costs nothing.
PEEK = """CREATE TEMP TABLE shown (name text, seen text);
CREATE FUNCTION pg_temp.peek(text, text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
'BEGIN INSERT INTO pg_temp.shown VALUES ($1, $2); RETURN true; END';"""


@test("users see and change what is theirs, readers see all and change nothing, nobody gets behind")
def _():
    with Site() as web, Vigil(db=pg().database()) as v:
        v.run("list")
        v.start()
        v.sql("CREATE ROLE ann LOGIN; CREATE ROLE ben LOGIN; CREATE ROLE rae LOGIN; CREATE ROLE nob LOGIN;"
              "GRANT vigil_user TO ann, ben; GRANT vigil_reader TO rae")
        try:
            for who in ("ann", "ben"):
                web.put(f"/{who}", "<p>1</p>")
                text = f"CREATE SENTINEL of_{who} USING {web.url}/{who} MONITOR any change FETCH EVERY 1 second"
                equal(asked_by(v, who, f"create_sentinel('{text}')"), (0, f"of_{who}: installed"))
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "2")
            for who in ("ann", "ben"):
                web.put(f"/{who}", "<p>2</p>")
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == "2")
            own = {"status": "1", "changes": "1", "versions": "2", "notifications": "1", "events": "2",
                   "pages": "1", "requests": "1"}
            every = {"status": "2", "changes": "2", "versions": "4", "notifications": "2", "events": "4",
                     "pages": "2", "requests": "2"}
            for view in own:
                count = f"SELECT count(*) FROM vigil.{view}"
                for who in ("ann", "ben"):
                    equal((view, who, as_user(v, who, count)), (view, who, (True, own[view])))
                equal((view, as_user(v, "rae", count)), (view, (True, every[view])))
                assert not as_user(v, "nob", count)[0]
            for who in ("ann", "ben"):
                equal(as_user(v, who, "SELECT DISTINCT sentinel FROM vigil.changes")[1], f"of_{who}")
                equal(as_user(v, who, "SELECT DISTINCT url FROM vigil.versions")[1], f"{web.url}/{who}")
            # A function that leaks what it is shown does not see more, whatever it is shown.
            for view in own:
                columns = v.sql("SELECT string_agg(quote_ident(attname), ' ') FROM pg_attribute WHERE attnum > 0 "
                                f"AND attrelid = 'vigil.{view}'::regclass").split()
                leaked = as_user(v, "ann", PEEK + ";".join(
                    f"SELECT count(*) FROM vigil.{view} WHERE pg_temp.peek('{c}', {c}::text)" for c in columns)
                    + ";SELECT name || ': ' || string_agg(seen, ', ') FROM pg_temp.shown GROUP BY name "
                    f"HAVING count(*) > {own[view]}")[1].splitlines()[len(columns):]
                equal((view, leaked), (view, []))
            for table in ("sentinel", "body", "request", "change", "page"):
                for who in ("ann", "rae", "nob"):
                    worked, words = as_user(v, who, f"SELECT * FROM vigil_kb.{table}")
                    assert not worked and "permission denied" in words, (who, table, words)
            for who in ("rae", "nob"):
                worked, words = as_user(v, who, "SELECT vigil.stop('of_ann')")
                assert not worked and "permission denied" in words, (who, words)
            # Others' sentinels: not by name, not by definition, not by cascade.
            for call in ("disable('of_ben')", "stop('of_ben')", "drop_sentinel('of_ben')",
                         "create_sentinel('DROP SENTINEL of_ben')",
                         f"create_sentinel('CREATE OR REPLACE SENTINEL of_ben USING {web.url}/x MONITOR links')"):
                code, words = asked_by(v, "ann", call)
                equal((call, code), (call, 1))
                contains(words, 'sentinel "of_ben" belongs to "ben"')
            # Nor by inheriting it, which would show what it says; alone or as one page of several.
            for call in ("CREATE SENTINEL peek USING of_ben MONITOR links",
                         f"CREATE SENTINEL peek USING of_ben AS a, {web.url}/x AS b MONITOR a.links OR b.links"):
                code, words = asked_by(v, "ann", f"create_sentinel('{call}')")
                equal((call, code), (call, 1))
                contains(words, '(sql):1:28: error: E040: sentinel "of_ben" belongs to "ben"')
                equal(words.count("error:"), 1)
            code, words = asked_by(v, "ann", f"create_sentinel('CREATE SENTINEL n USING {web.url}/x MONITOR links FROM "
                                             "end(of_be)')")
            equal((code, "of_ben" in words), (1, False))
            equal(v.sql("SELECT state, owner, url FROM vigil.status WHERE name = 'of_ben'"),
                  f"active|ben|{web.url}/ben")
            equal(asked_by(v, "ann", "disable('of_ann')"), (0, "of_ann: disabled"))
            # The owner of the database manages all.
            equal(ask(v, "drop_sentinel('of_ben')")[:2], (0, "of_ben: dropped"))
            equal(as_user(v, "ben", "SELECT count(*) FROM vigil.status"), (True, "0"))
            # Views, whichever migration brought them, belong to whom row security holds.
            equal(v.sql("SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = "
                        "'vigil'::regnamespace AND relkind = 'v' AND pg_get_userbyid(relowner) <> 'vigil_engine'"), "")
        finally:
            v.sql("DROP ROLE ann; DROP ROLE ben; DROP ROLE rae; DROP ROLE nob")


@test("of a user's own changes the channel tells the number only, and those who may read the rest")
def _():
    with Site() as web, Vigil(db=pg().database()) as v:
        v.run("list")
        v.start()
        v.sql("CREATE ROLE ann LOGIN; CREATE ROLE nob LOGIN; GRANT vigil_user TO ann")
        try:
            web.put("/p", "<p>1</p>")
            text = "CREATE SENTINEL {} USING " + web.url + "/p MONITOR any change FETCH EVERY 1 second"
            equal(asked_by(v, "ann", f"create_sentinel('{text.format('private')}')")[0], 0)
            v.add(text.format("public"))
            wait_until(lambda: v.sql("SELECT min(last_version) FROM vigil.status") == "1")
            listener = subprocess.Popen(["psql", "-XAtq", "-h", pg().home, "-U", "nob", "-d",
                                         v.where[1].rsplit("/", 1)[1]], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            listener.stdin.write("LISTEN vigil_changes;\nSELECT 'ready';\n")
            listener.stdin.flush()
            equal(listener.stdout.readline(), "ready\n")
            web.put("/p", "<p>2</p>")
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == "2")
            out, _ = listener.communicate("SELECT 1;\n", timeout=20 * SLOW)
            heard = [json.loads(line.split('with payload "', 1)[1].rsplit('" received from', 1)[0])
                     for line in out.splitlines() if "vigil_changes" in line]
            ids = dict(line.split("|") for line in v.sql("SELECT sentinel, id FROM vigil.changes").splitlines())
            by_id = {h["id"]: h for h in heard}
            equal(by_id[int(ids["private"])], {"id": int(ids["private"])})
            equal(by_id[int(ids["public"])]["sentinel"], "public")
            equal(as_user(v, "ann", f"SELECT summary <> '' FROM vigil.changes WHERE id = {ids['private']}"), (True, "t"))
        finally:
            v.sql("DROP ROLE ann; DROP ROLE nob")


@test("where Vigil may not create roles it says so and works, and they can be made later")
def _():
    with Postgres() as other, Site() as web:
        other.psql("postgres", "CREATE ROLE plain LOGIN")
        other.psql("postgres", "CREATE DATABASE p OWNER plain")
        with Vigil(db=f"postgresql://plain@{other.home.replace('/', '%2F')}/p") as v:
            words = v.run("list").stderr
            contains(words, "plain may not create roles")
            contains(words, "docs/sql.md")
            web.put("/p", "<p>1</p>")
            v.add(f"CREATE SENTINEL s USING {web.url}/p MONITOR links FETCH EVERY 1 second")
            v.start()
            wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
            other.psql("postgres", "CREATE ROLE vigil_engine; CREATE ROLE vigil_user; CREATE ROLE vigil_reader;"
                                   "GRANT vigil_engine TO plain WITH ADMIN OPTION; CREATE ROLE rae LOGIN;"
                                   "GRANT vigil_reader TO rae")
            equal(v.sql("SELECT vigil_kb.set_up_roles()"), "")
            seen = subprocess.run(["psql", "-XAtq", "-h", other.home, "-U", "rae", "-d", "p", "-c",
                                   "SELECT name FROM vigil.status"], capture_output=True, text=True)
            equal((seen.stdout, seen.stderr), ("s\n", ""))


@test("the views have the columns people rely on, with a comment each")
def _():
    v = running()
    for view, columns in VIEWS.items():
        have = v.sql(f"SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE "
                     f"attrelid = 'vigil.{view}'::regclass AND attnum > 0").split()
        equal((view, [c for c in columns.split() if c not in have]), (view, []))
        equal((view, v.sql(f"SELECT count(*) FROM pg_attribute WHERE attrelid = "
                           f"'vigil.{view}'::regclass AND attnum > 0 AND "
                           f"col_description(attrelid, attnum) IS NULL")), (view, "0"))
    equal(v.sql("SELECT typ.typname FROM pg_attribute a JOIN pg_type typ ON typ.oid = a.atttypid "
                "WHERE attrelid = 'vigil.changes'::regclass AND attname = 'detail'"), "jsonb")


@test("create_sentinel, disable, enable, stop and drop_sentinel are taken up within a second")
def _():
    v = running()
    site().put("/q", "<p>1</p>")
    code, words, took = ask(v, f"create_sentinel({quote(define('By_SQL'))})")
    equal((code, words), (0, "By_SQL: installed"))
    all_took = [took]
    equal(v.sql("SELECT state, owner = session_user FROM vigil.status WHERE name = 'By_SQL'"),
          "active|t")
    for call, answer, state in (("disable('by_sql')", "By_SQL: disabled", "disabled"),
                                ("enable('BY_SQL')", "By_SQL: enabled", "active"),
                                ("stop('by_sql')", "By_SQL: stopped", "ended"),
                                ("drop_sentinel('by_sql')", "By_SQL: dropped", "")):
        code, words, took = ask(v, call)
        equal((call, code, words), (call, 0, answer))
        all_took.append(took)
        equal(v.sql("SELECT state FROM vigil.status WHERE name = 'By_SQL'"), state)
    assert sorted(all_took)[2] < 1 * SLOW, all_took  # one alone may meet a busy machine


@test("wrong requests by SQL are answered with the same diagnostics, and change nothing")
def _():
    v = running()
    wrong = "CREATE SENTINEL ok USING http://x.org MONITOR links;\nCREATE SENTINEL a USING http://x.org MONITOR lnks"
    code, words, _ = ask(v, f"create_sentinel({quote(wrong)})")
    equal(code, 1)
    contains(words, ':2:46: error: E054: unknown change type "lnks"')
    contains(words, "Did you mean LINKS?")
    contains(words, "^")
    command = v.add(wrong, code=1).stderr.strip()
    equal(words.split(": error:", 1)[1].strip(), command.split(": error:", 1)[1].strip())
    for call in ("enable('nobody')", "disable('')", "drop_sentinel('no such name')",
                 "stop('x'' OR true --')"):
        code, words, _ = ask(v, call) if call != "disable('')" else (1, "", 0)
        equal((call, code), (call, 1))
    equal(v.sql("SELECT count(*) FROM vigil.status"), "0")
    equal(v.sql("SELECT vigil.enable(NULL) IS NULL"), "t")


@test("requests made while no engine runs are taken up when one starts, in their order")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        v.sql(f"SELECT vigil.create_sentinel({quote(define('a', rest='FROM now + 1 day'))})")
        v.sql(f"SELECT vigil.create_sentinel({quote(define('b', rest='FROM now + 1 day'))})")
        v.sql("SELECT vigil.disable('a'), vigil.drop_sentinel('b')")
        equal(v.sql("SELECT count(*) FROM vigil.requests WHERE state = 'waiting'"), "4")
        equal(v.sql("SELECT count(*) FROM vigil.status"), "0")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.requests WHERE state = 'done'") == "4")
        equal(v.sql("SELECT name, state FROM vigil.status"), "a|waiting-disabled")
        equal(v.sql("SELECT string_agg(exit_code::text, ' ') FROM vigil.requests"), "0 0 0 0")


@test("a transaction that is rolled back asks for nothing")
def _():
    v = running()
    v.sql(f"BEGIN; SELECT vigil.create_sentinel({quote(define('ghost'))}); ROLLBACK")
    ask(v, f"create_sentinel({quote(define('real', rest='FROM now + 1 day'))})")
    equal(v.sql("SELECT string_agg(name, ' ') FROM vigil.status"), "real")
    ask(v, "drop_sentinel('real')")


@test("LISTEN vigil_changes hears one JSON object a change, of the change's own columns")
def _():
    v = running()
    site().put("/l", "<p>one</p>")
    v.add(define("heard", "/l"))
    wait_until(lambda: v.sql("SELECT last_version FROM vigil.status WHERE name = 'heard'") == "1")
    psql = subprocess.Popen([VIGIL, "psql", *v.where, "-XAtq"], stdin=subprocess.PIPE, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=v.env)
    psql.stdin.write("LISTEN vigil_changes;\nSELECT 'ready';\n")
    psql.stdin.flush()
    equal(psql.stdout.readline(), "ready\n")
    site().put("/l", "<p>tw\u00f6 'quoted' \"double\" \\ back</p>")
    wait_until(lambda: v.rows("changes", "heard"))
    out, _ = psql.communicate("SELECT pg_sleep(0.1);\n", timeout=20 * SLOW)
    payloads = [line.split('with payload "', 1)[1].rsplit('" received from', 1)[0]
                for line in out.splitlines() if "vigil_changes" in line]
    equal(len(payloads), 1)
    heard, row = json.loads(payloads[0]), v.rows("changes", "heard")[0]
    del row["detail"]
    heard["at"] = heard["at"].replace(".000Z", "Z")  # the channel always has milliseconds
    equal({k: heard[k] for k in row}, row)
    v.run("drop", "heard")


@test("a change with a very long address and text still fits the channel")
def _():
    v = running()
    path = "/long?" + "q" * 6000
    site().put(path, "<p>one</p>")
    v.add(define("long", path))
    wait_until(lambda: v.sql("SELECT last_version FROM vigil.status WHERE name = 'long'") == "1")
    site().put(path, "<p>" + "\u00e4 " * 20000 + "</p>")
    wait_until(lambda: v.rows("changes", "long"))
    equal(v.rows("show", "long")[0]["error"], None)
    v.run("drop", "long")


@test("versions, notifications and events tell the same story as changes")
def _():
    v = running()
    body = "<p>gr\u00fc\u00df</p>"
    site().put("/story", lambda h: h.answer(200, body, [
        ("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")]))
    v.add(define("story", "/story"))
    url = f"{site().url}/story"
    wait_until(lambda: v.sql(f"SELECT count(*) FROM vigil.versions WHERE url = '{url}'") == "1")
    site().put("/story", "<p>2</p>")
    wait_until(lambda: v.rows("changes", "story"))
    import hashlib
    rows = v.sql(f"SELECT version, size, digest, last_modified FROM vigil.versions "
                 f"WHERE url = '{url}' ORDER BY version").splitlines()
    equal(rows[0], f"1|{len(body.encode())}|{hashlib.sha256(body.encode()).hexdigest()}|"
                   f"Mon, 02 Nov 2026 10:00:00 GMT")
    equal(rows[1].split("|")[:2], ["2", "8"])
    equal(v.sql("SELECT method, target, state, attempts, sent_at IS NOT NULL, error IS NULL "
                "FROM vigil.notifications WHERE sentinel = 'story'"), "dashboard||sent|1|t|t")
    equal(v.sql("SELECT notifications, last_notified_at IS NOT NULL, last_change_at = (SELECT at "
                "FROM vigil.changes WHERE sentinel = 'story') FROM vigil.status WHERE "
                "name = 'story'"), "1|t|t")
    equal(v.sql("SELECT string_agg(kind, ' ' ORDER BY id) FROM vigil.events WHERE "
                "sentinel = 'story'"), "create start")
    v.run("drop", "story")
    # What happened to it outlives it.
    equal(v.sql("SELECT string_agg(kind, ' ' ORDER BY id) FROM vigil.events WHERE "
                "sentinel = 'story'"), "create start drop")
    equal(v.sql("SELECT count(*) FROM vigil.changes WHERE sentinel = 'story'"), "0")
    equal(v.sql(f"SELECT count(*) FROM vigil.versions WHERE url = '{url}'"), "0")


@test("many callers at once are all answered")
def _():
    v = running()
    jobs = []
    for i in range(20):
        jobs.append(subprocess.Popen([VIGIL, "add", *v.where, "-"], stdin=subprocess.PIPE, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=v.env))
    for i, job in enumerate(jobs):
        job.stdin.write(define(f"m{i % 10}", rest="FROM now + 1 day"))
        job.stdin.close()
        job.stdin = None
    codes = sorted(job.wait(30 * SLOW) for job in jobs)
    for job in jobs:
        job.communicate()
    # Ten names, each given twice: one of the two is told that it exists already.
    equal(codes, [0] * 10 + [1] * 10)
    equal(v.sql("SELECT count(*) FROM vigil.status"), "10")
    v.run("drop", *[f"m{i}" for i in range(10)])


@test("somebody else's role may be given the views and functions, and nothing behind them")
def _():
    v = running()
    v.sql("DO $$ BEGIN CREATE ROLE reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    v.sql("GRANT USAGE ON SCHEMA vigil TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA vigil TO "
          "reader; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA vigil TO reader")
    equal(v.sql("SET ROLE reader; SELECT count(*) FROM vigil.status"), "0")
    number = v.sql("SET ROLE reader; SELECT vigil.enable('nobody')")
    assert int(number) > 0
    refused = v.run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c",
                    "SET ROLE reader; SELECT count(*) FROM vigil_kb.sentinel", settings=(), code=None)
    assert refused.returncode != 0 and "permission denied" in refused.stderr, refused
    v.sql("DROP OWNED BY reader; DROP ROLE reader")


main()
