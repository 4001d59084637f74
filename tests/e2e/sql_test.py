"""For those who live in psql: views, functions, and the channel."""
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
    assert took < 1 * SLOW, took
    equal(v.sql("SELECT state, owner = session_user FROM vigil.status WHERE name = 'By_SQL'"),
          "active|t")
    for call, answer, state in (("disable('by_sql')", "By_SQL: disabled", "disabled"),
                                ("enable('BY_SQL')", "By_SQL: enabled", "active"),
                                ("stop('by_sql')", "By_SQL: stopped", "ended"),
                                ("drop_sentinel('by_sql')", "By_SQL: dropped", "")):
        code, words, took = ask(v, call)
        equal((call, code, words), (call, 0, answer))
        assert took < 1 * SLOW, took
        equal(v.sql("SELECT state FROM vigil.status WHERE name = 'By_SQL'"), state)


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
