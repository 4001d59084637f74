"""The command: every word of it, what it prints, how it ends, and what it makes of nonsense."""
import re
from harness import *

COMMANDS = ("run demo add check fmt list show changes diff enable disable stop drop status "
            "settings types psql").split()

STATUS = ("name owner state url monitor fetch compare installed_at starts_at ends_at started_at "
          "ended_at last_fetch_at last_version last_change_at last_notified_at next_fetch_at "
          "evaluations changes notifications last_result error").split()
CHANGES = ("id sentinel at url old_version new_version inserted deleted updated moved summary "
           "detail").split()

pg = shared(Postgres)
site = shared(Site)


def nowhere():
    """Commands that need no database must not make one."""
    class Nowhere(Vigil):
        def __exit__(self, *exc):
            made = os.path.exists(self.data)
            super().__exit__(*exc)
            assert exc[0] or not made, "a database was made"
    return Nowhere()


class Running(Vigil):
    """An engine with three sentinels: one that saw a change, one that saw none, one that waits."""

    def __enter__(self):
        super().__enter__()
        site().put("/news", "<p>quiet</p>")
        self.run("list")
        self.start()
        self.add(f"CREATE SENTINEL News USING {site().url}/news MONITOR any change "
                 f"FETCH EVERY 1 second;"
                 f"CREATE SENTINEL refs USING {site().url}/news MONITOR links FETCH EVERY 1 second;"
                 f"CREATE SENTINEL later USING {site().url}/news MONITOR links FROM now + 1 day"
                 " TOPIC 'what''s \\ new';")
        wait_until(lambda: self.sql("SELECT count(*) FROM vigil.versions") == "1")
        site().put("/news", "<p>loud</p>")
        wait_until(lambda: self.sql("SELECT count(*) FROM vigil.changes") == "1")
        return self


running = shared(lambda: Running(db=pg().database()))


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


# ---- words ------------------------------------------------------------------------------------


@test("help names every command, and help COMMAND its options; both end with 0")
def _():
    with nowhere() as v:
        for words in (["help"], ["--help"], ["-h"]):
            done = subprocess.run([VIGIL, *words], capture_output=True, text=True)
            equal(done.returncode, 0)
            for command in COMMANDS:
                contains(done.stdout, f"vigil {command} ")
        for command in COMMANDS:
            done = subprocess.run([VIGIL, "help", command], capture_output=True, text=True)
            equal(done.returncode, 0)
            contains(done.stdout, f"vigil {command}")
            contains(done.stdout, "--data")
            equal(subprocess.run([VIGIL, command, "--help"], capture_output=True,
                                 text=True).stdout, done.stdout)
        contains(subprocess.run([VIGIL, "--version"], capture_output=True, text=True).stdout,
                 "vigil ")


@test("the columns of help stand below each other")
def _():
    out = subprocess.run([VIGIL, "help"], capture_output=True, text=True).stdout
    rows = [line for line in out.splitlines() if line.startswith("    vigil ")]
    starts = {len(re.match(r"    vigil \S+ +(\S*…?\S*(?: \[\w+\])?) +", row).group(0))
              for row in rows if "…" in row or "NAME" in row}
    equal(len(starts), 1)


@test("an unknown command, option or setting is named, the nearest is proposed, the exit is 1")
def _():
    with nowhere() as v:
        def wrong(*words, says, settings=()):
            done = v.run(*words, code=1, settings=settings)
            equal(done.stdout, "")
            contains(done.stderr, says)
        done = subprocess.run([VIGIL], capture_output=True, text=True)
        equal((done.returncode, done.stdout), (1, ""))
        contains(done.stderr, "vigil add")
        wrong("lsit", says='there is no command "lsit"; did you mean list?')
        wrong("frobnicate", says='there is no command "frobnicate"')
        wrong("list", "--jsno", says='unknown option "--jsno"; did you mean --json?')
        wrong("list", "--frobnicate", says='unknown option "--frobnicate"')
        wrong("list", "-x", says='unknown option "-x"')
        wrong("list", "--cascade", says='unknown option "--cascade"')
        wrong("list", "--json=yes", says="--json takes no value")
        wrong("list", "extra", says='"extra" is too much')
        wrong("diff", "a", "1", "2", says='"2" is too much')
        wrong("show", says="expected NAME")
        wrong("add", says="expected FILE")
        wrong("drop", says="expected NAME")
        wrong("list", "--state", says="--state needs a value")
        wrong("list", "--state", "sleeping", says='there is no state "sleeping"')
        wrong("changes", "--since", says="--since needs a value")
        wrong("changes", "--since", "teatime", says="--since teatime: not a time")
        wrong("changes", "--limit", "many", says="--limit many: not a number")
        wrong("changes", "--limit", "-1", says="--limit -1: not a number")
        wrong("changes", "--wait", "long", says="--wait long: not a span")
        wrong("diff", "a", "first", says='"first" is no change')
        wrong("list", "--set", says="--set needs a value")
        wrong("list", "--set", "fetch.min_interval", says="no = in it")
        wrong("list", "--set", "fetch.min_intervall=1s", says="Did you mean fetch.min_interval?")
        wrong("list", "--set", "x=1", says='there is no setting "x"')
        wrong("list", "--set", "fetch.min_interval=soon", says='"soon" is not understood')
        wrong("list", "--set", "fetch.min_interval=500ms", says="between 1 second and 1 day")
        wrong("list", "--set", "fetch.connections=0", says="between 1 and 4096")
        wrong("list", "--set", "fetch.max_body=a lot", says="not understood")
        wrong("list", "--set", "log.level=loud", says="error, warning, info or debug")
        wrong("list", "--set", "time.zone=Mars/Phobos", says="Mars/Phobos")
        wrong("list", "--data", "", says="--data")
        wrong("list", "--db", "", says="--db")
        wrong("list", "--allow", "localhost", says="localhost")
        wrong("list", "--allow", "10.0.0.0/33", says="10.0.0.0/33")
        wrong("check", "--now", "teatime", "-", says="--now teatime: not a time")


# ---- files ------------------------------------------------------------------------------------


@test("what is not a readable text file is refused by name, with 1, by add, check, fmt and run")
def _():
    with nowhere() as v:
        home = v.home
        with open(f"{home}/binary", "wb") as f:
            f.write(b"CREATE SENTINEL \0 a")
        with open(f"{home}/latin", "wb") as f:
            f.write("-- Gr\u00fc\u00dfe\n".encode("latin-1") + b"CREATE SENTINEL a;")
        with open(f"{home}/large", "wb") as f:
            f.truncate(600 << 20)
        os.mkfifo(f"{home}/pipe")
        for command in ("add", "check", "fmt", "run"):
            def wrong(path, says):
                done = v.run(command, path, code=1)
                contains(done.stderr, says)
                contains(done.stderr, path)
                equal(done.stdout, "")
            wrong(f"{home}/missing", "No such file or directory")
            wrong(home, "is a directory")
            wrong(f"{home}/large", "larger than 512 MiB")
            wrong("/dev/zero", "larger than 512 MiB")
            wrong(f"{home}/binary", "")
            if command in ("check", "fmt"):
                wrong(f"{home}/latin", "0xfc is not UTF-8")
            if os.geteuid() != 0:
                os.chmod(f"{home}/latin", 0)
                wrong(f"{home}/latin", "Permission denied")
                os.chmod(f"{home}/latin", 0o600)


@test("an unreadable file is refused for an ordinary user, too")
def _():
    if os.geteuid() != 0:
        return "only root can become somebody else"
    with nowhere() as v:
        path = f"{v.home}/secret"
        with open(path, "w") as f:
            f.write("CREATE SENTINEL a USING http://x.org MONITOR links")
        os.chmod(path, 0o600)
        done = subprocess.run(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                               VIGIL, "check", path], capture_output=True, text=True, env=v.env)
        equal(done.returncode, 1)
        contains(done.stderr, "Permission denied")


@test("a hundred megabytes of good definitions in several files are no reason to fall over")
def _():
    with nowhere() as v:
        with open(f"{v.home}/a", "w") as f:
            f.write("-- " + "x" * (40 << 20) + "\nCREATE SENTINEL a USING http://x.org MONITOR links;")
        with open(f"{v.home}/b", "w") as f:
            f.write("CREATE SENTINEL b USING http://x.org MONITOR links;" + " \n" * (30 << 20))
        contains(v.run("check", f"{v.home}/a", f"{v.home}/b").stdout, "b: 1 statement, all right")


@test("check and fmt read standard input; an empty file is no mistake")
def _():
    with nowhere() as v:
        good = "create sentinel A using http://X.org monitor links"
        contains(v.run("check", "-", input=good).stdout, "1 statement, all right")
        for empty in ("", "\n", "-- nothing\n", "% nothing", " "):
            contains(v.run("check", "-", input=empty).stdout, "0 statements")
            v.run("fmt", "-", input=empty)
        once = v.run("fmt", "-", input=good).stdout
        contains(once, "CREATE SENTINEL A")
        equal(v.run("fmt", "-", input=once).stdout, once)


@test("check --now judges as if it were then")
def _():
    with nowhere() as v:
        text = "CREATE SENTINEL a USING http://x.org MONITOR links FROM 2026-01-01 TO 2026-02-01"
        contains(v.run("check", "-", input=text, code=1).stderr, "E033")
        v.run("check", "--now", "2025-12-31T00:00:00Z", "-", input=text)


# ---- settings ---------------------------------------------------------------------------------


def setting(v, name, *words, **kw):
    rows = {r["name"]: r for r in v.rows("settings", *words, **kw)}
    return rows[name]["value"], rows[name]["origin"]


@test("--set beats the environment, the environment beats --config, wherever they stand")
def _():
    with nowhere() as v:
        path = f"{v.home}/vigil.ini"
        with open(path, "w") as f:
            f.write("# mine\n[fetch]\nmin_interval = 2 min\nconnections=7\n\n; more\n[log]\n"
                    "level = debug\n")
        ask = lambda *words: setting(v, "fetch.min_interval", *words, settings=())
        equal(ask(), ("60s", "default"))
        equal(ask("--config", path), ("2 min", f"{path}:3"))
        v.env["VIGIL_FETCH_MIN_INTERVAL"] = "3 min"
        equal(ask(), ("3 min", "VIGIL_FETCH_MIN_INTERVAL"))
        equal(ask("--config", path), ("3 min", "VIGIL_FETCH_MIN_INTERVAL"))
        equal(ask("--set", "fetch.min_interval=4 min", "--config", path), ("4 min", "--set"))
        equal(ask("--set=fetch.min_interval=5 min"), ("5 min", "--set"))
        equal(setting(v, "fetch.connections", "--config", path, settings=())[0], "7")
        equal(setting(v, "log.level", "--config", path, settings=())[0], "debug")
        text = v.run("settings", "--config", path, settings=()).stdout
        contains(text, "fetch.min_interval = 3 min")
        contains(text, "default 60s")
        for row in v.rows("settings", settings=()):
            equal(sorted(row), sorted(["name", "value", "unit", "default", "origin", "why"]))


@test("a wrong setting in the environment or a file is told with its place, and nothing is done")
def _():
    with nowhere() as v:
        v.env["VIGIL_FETCH_CONNECTIONS"] = "none"
        contains(v.run("settings", code=1).stderr, "VIGIL_FETCH_CONNECTIONS")
        del v.env["VIGIL_FETCH_CONNECTIONS"]

        def wrong(text, place, says):
            with open(f"{v.home}/c.ini", "w") as f:
                f.write(text)
            error = v.run("settings", "--config", f"{v.home}/c.ini", code=1).stderr
            contains(error, f"{v.home}/c.ini:{place}")
            contains(error, says)
        wrong("[fetch]\nmin_intervall = 1s\n", 2, "Did you mean fetch.min_interval?")
        wrong("[fetch\n", 1, "[name]")
        wrong("[fetch]\n\nmin_interval\n", 3, "name = value")
        wrong("[fetch]\nmin_interval = 0s\n", 2, "out of range")
        contains(v.run("settings", "--config", f"{v.home}/none.ini", code=1).stderr, "none.ini")
        contains(v.run("settings", "--config", v.home, code=1).stderr, v.home)


@test("check refuses what cannot be computed, as add would")
def _():
    with nowhere() as v:
        for monitor, says in (("keywords {'...'}", "has no letter or digit"),
                              ("any change raw changed > 50%", "cannot be asked"),
                              ("regexp 'a' on source in css 'p'", "has no regions")):
            text = f"CREATE SENTINEL s USING https://x.org MONITOR {monitor};"
            refused = v.run("check", "-", input=text, code=1).stderr
            contains(refused, "(stdin):1:39: error: E090: ")
            contains(refused, says)


@test("types lists what can be monitored")
def _():
    with nowhere() as v:
        names = [r["type"] for r in v.rows("types")]
        assert "any change" in names and "links" in names, names
        contains(v.run("types").stdout, "links")


@test("a file is explained by the settings of the running engine")
def _():
    v = running()
    text = f"CREATE SENTINEL soon USING {site().url}/news MONITOR links FETCH EVERY 1 second;"
    contains(v.run("explain", "-", input=text, settings=[]).stdout, "soon")


# ---- with an engine ---------------------------------------------------------------------------


@test("list, show, changes and diff answer with an engine, as text and as JSON of the views' keys")
def _():
    v = running()
    rows = v.rows("list")
    equal([r["name"] for r in rows], ["later", "News", "refs"])
    for row in rows:
        equal([k for k in STATUS if k not in row], [])
    row = v.rows("show", "NEWS")[0]
    equal([k for k in STATUS if k not in row], [])
    equal((row["name"], row["state"], row["url"], row["changes"], row["last_version"],
           row["last_result"], row["error"]),
          ("News", "active", f"{site().url}/news", 1, 2, "changed", None))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", row["last_change_at"]), row
    equal(row["monitor"], "any change")
    equal(row["fetch"], "every 1 second")
    equal(row["compare"], "pairwise")
    equal((v.rows("show", "refs")[0]["last_result"], v.rows("show", "refs")[0]["changes"]),
          ("unchanged", 0))
    equal([r["name"] for r in v.rows("list", "--state", "waiting")], ["later"])
    equal(v.rows("list", "--state", "ended"), [])
    me = row["owner"]
    equal(len(v.rows("list", "--user", me)), 3)
    equal(v.rows("list", "--user", "nobody-here"), [])
    equal([r["name"] for r in v.rows("list", "--topic", "what's \\ new")], ["later"])
    equal(v.rows("list", "--topic", "what's"), [])
    text = v.run("list").stdout
    for word in ("name", "state", "News", "refs", "later", "waiting", "active", "any change"):
        contains(text, word)
    text = v.run("show", "news").stdout
    for word in ("News", "active", "every 1 second", "create", "start"):
        contains(text, word)

    change = v.rows("changes")[0]
    equal([k for k in CHANGES if k not in change], [])
    equal((change["sentinel"], change["old_version"], change["new_version"], change["inserted"],
           change["deleted"]), ("News", 1, 2, 1, 1))
    leaf = change["detail"]["leaves"][0]
    equal((leaf["inserted"], leaf["deleted"]), (["loud"], ["quiet"]))
    equal(v.rows("changes", "news"), [change])
    equal(v.rows("diff", "NEWS"), [change])
    equal(v.rows("diff", "news", change["id"]), [change])
    for words in (["changes"], ["diff", "news", "--as", "only"]):
        text = v.run(*words).stdout
        for word in ("News", "+ loud", "- quiet", "v1→v2"):
            contains(text, word)


@test("changes --since and --limit choose; unknown names and numbers are wrong, no change is not")
def _():
    v = running()
    equal(len(v.rows("changes", "--since", "1 hour")), 1)
    equal(len(v.rows("changes", "--since", "99999999999 days")), 1)
    equal(len(v.rows("changes", "--since", "2026-01-01")), 1)
    equal(len(v.rows("changes", "--since", "2026-01-01T00:00:00Z")), 1)
    time.sleep(1.1)
    equal(v.rows("changes", "--since", "1s"), [])
    equal(v.rows("changes", "--limit", "0"), [])
    equal(v.rows("changes", "refs"), [])
    equal(len(v.rows("changes", "--limit=1")), 1)
    done = v.run("diff", "refs")
    equal(done.stdout, "")
    contains(done.stderr, "no change yet")
    contains(v.run("show", "newz", code=1).stderr, 'did you mean "News"?')
    contains(v.run("changes", "nobody", code=1).stderr, 'no sentinel "nobody"')
    contains(v.run("diff", "nobody", code=1).stderr, 'no sentinel "nobody"')
    contains(v.run("diff", "news", "999999", code=1).stderr, "no change 999999")
    contains(v.run("diff", "news", "99999999999999999999", code=1).stderr, "no change")
    for nonsense in ("", "a b", "news\nrefs"):
        v.run("disable", nonsense, code=1)
        v.run("show", nonsense, code=1)
    for verb in ("enable", "disable", "stop", "drop"):
        contains(v.run(verb, "newz", code=1).stderr, 'Did you mean "News"?')
        wrong = v.rows(verb, "newz", code=1)
        equal((len(wrong), wrong[0]["severity"]), (1, "error"))


@test("one wrong name among several, and none of them is touched")
def _():
    v = running()
    for verb in ("disable", "stop", "drop"):
        v.run(verb, "refs", "nobody", code=1)
        equal(v.rows("show", "refs")[0]["state"], "active")


@test("status tells of engine, database, sentinels, pages and fetches; with --json in one object")
def _():
    v = running()
    one = lines(v.run("status", "--json").stdout)
    equal(len(one), 1)
    status = one[0]
    equal(status["engine"]["state"], "running")
    equal(status["engine"]["pid"], v.engine.pid)
    equal(status["database"]["available"], True)
    equal((status["sentinels"]["active"], status["sentinels"]["waiting"]), (2, 1))
    equal(status["pages"]["watched"], 1)
    assert status["fetch"]["requests"] >= 2
    text = v.run("status").stdout
    for word in ("running", str(v.engine.pid), "database", "sentinels", "fetch"):
        contains(text, word)


@test("psql is a psql on the right database, and passes its exit code on")
def _():
    v = running()
    out = v.run("psql", "-c", "SELECT name, state, url, evaluations, changes, last_change_at "
                              "FROM vigil.status", settings=()).stdout
    contains(out, "News")
    contains(out, "(3 rows)")
    equal(v.run("psql", "-XAtc", "SELECT 1", settings=()).stdout, "1\n")
    equal(v.run("psql", "-c", "SELECT nonsense", code=1, settings=()).stdout, "")
    equal(v.run("psql", "-XAt", input="SELECT 6 * 7;", settings=()).stdout, "42\n")


@test("a running engine's settings decide, not the command's")
def _():
    v = running()
    equal(setting(v, "fetch.min_interval", "--set", "fetch.min_interval=9s"), ("1s", "--set"))
    every = f"CREATE SENTINEL quick USING {site().url}/q MONITOR links FETCH EVERY 5 seconds"
    v.add(every, settings=("--set", "fetch.min_interval=1h"))
    v.run("drop", "quick")
    with Vigil(db=pg().database()) as strict:
        strict.run("list")
        strict.start(settings=())
        contains(strict.add(every, code=1, settings=TRY).stderr, "E024")
        contains(strict.run("check", "-", input=every, code=1, settings=TRY).stderr,
                 "fetch.min_interval")
        equal(strict.sql("SELECT count(*) FROM vigil.status"), "0")
        strict.stop()
        contains(strict.add(every, code=1, settings=()).stderr, "E024")
        strict.add(every, settings=TRY)


@test("changes --wait ends with 3 when there was a change, with 0 when there was none")
def _():
    v = running()
    begun = time.monotonic()
    done = v.run("changes", "refs", "--wait", "1s")
    equal(done.stdout, "")
    assert 0.9 <= time.monotonic() - begun < 5 * SLOW
    site().put("/waited", "<p>1</p>")
    v.add(f"CREATE SENTINEL waited USING {site().url}/waited MONITOR any change "
          f"FETCH EVERY 1 second")
    wait_until(lambda: v.sql("SELECT last_version FROM vigil.status WHERE name = 'waited'") == "1")
    waiting = v.popen("changes", "--wait", "20s", "--json")
    time.sleep(0.5)
    site().put("/waited", "<p>2</p>")
    out, error = waiting.communicate(timeout=30 * SLOW)
    equal(waiting.returncode, 3)
    equal([r["sentinel"] for r in lines(out)], ["waited"])
    v.run("drop", "waited")


@test("changes --follow shows each change once as it comes, and ends quietly on Ctrl-C")
def _():
    v = running()
    site().put("/f", "<p>0</p>")
    v.add(f"CREATE SENTINEL f USING {site().url}/f MONITOR any change FETCH EVERY 1 second")
    wait_until(lambda: v.sql("SELECT last_version FROM vigil.status WHERE name = 'f'") == "1")
    follower = v.popen("changes", "f", "--follow", "--json")
    time.sleep(0.5)
    for n in (1, 2):
        site().put("/f", f"<p>{n}</p>")
        row = json.loads(follower.stdout.readline())
        equal((row["sentinel"], row["new_version"]), ("f", n + 1))
    follower.send_signal(signal.SIGINT)
    out, error = follower.communicate(timeout=10 * SLOW)
    equal((out, error), ("", ""))
    v.run("drop", "f")


@test("with --json, what add, enable, disable, stop and drop did is one object a line")
def _():
    v = running()
    name = f"USING {site().url}/j MONITOR links FETCH EVERY 1 minute;"
    added = lines(v.run("add", "--json", "-", input=f"CREATE SENTINEL j1 {name} "
                                                    f"CREATE SENTINEL j2 {name}").stdout)
    equal(added, [{"sentinel": "j1", "action": "installed"}, {"sentinel": "j2", "action": "installed"}])
    equal(v.rows("disable", "J1", "j2"), [{"sentinel": "j1", "action": "disabled"},
                                          {"sentinel": "j2", "action": "disabled"}])
    equal(v.rows("enable", "j1"), [{"sentinel": "j1", "action": "enabled"}])
    equal(v.rows("stop", "j1"), [{"sentinel": "j1", "action": "stopped"}])
    equal(v.rows("drop", "j1", "j2"), [{"sentinel": "j1", "action": "dropped"},
                                       {"sentinel": "j2", "action": "dropped"}])
    wrong = lines(v.run("add", "--json", "-", input="CREATE SENTINEL x USING y MONITOR z",
                        code=1).stdout)
    for row in wrong:
        equal([k for k in ("code", "severity", "file", "line", "column", "message") if k not in row],
              [])


@test("the same sentinel named twice in one command is done once")
def _():
    v = running()
    one = f"CREATE SENTINEL twice USING {site().url}/j MONITOR links FETCH EVERY 1 minute"
    v.add(one)
    v.run("disable", "twice", "TWICE")
    equal(v.rows("show", "twice")[0]["state"], "disabled")
    v.run("stop", "twice", "twice", code=None)
    equal(v.sql("SELECT count(*) FROM vigil.events WHERE sentinel = 'twice' AND kind = 'end'"), "1")
    v.run("drop", "twice", "twice", code=None)
    equal(v.run("show", "twice", code=1).stdout, "")
    equal(v.status()["engine"]["pid"], v.engine.pid)


@test("output into a closed pipe does not hang, and a full disk is not success")
def _():
    v = running()
    done = subprocess.run(["bash", "-c", f"{VIGIL} settings | head -1"], capture_output=True,
                          text=True, env=v.env)
    equal(done.stdout.count("\n"), 1)
    with open("/dev/full", "w") as full:
        done = subprocess.run([VIGIL, "list", *v.where], stdout=full, stderr=subprocess.PIPE,
                              text=True, env=v.env)
    equal(done.returncode, 2)


# ---- without an engine ------------------------------------------------------------------------


@test("every command works without an engine, too")
def _():
    with Vigil(db=pg().database()) as v:
        equal(v.run("list").stdout, "")
        contains(v.run("list").stderr, "no sentinels yet")
        equal(v.rows("list"), [])
        equal(v.run("changes").stdout, "")
        out = v.add(f"CREATE SENTINEL a USING {site().url}/x MONITOR links;"
                    f"CREATE SENTINEL b USING {site().url}/x MONITOR any change AND NOT links "
                    f"FROM now + 1 day").stdout
        contains(out, "a: installed")
        contains(out, "b: installed, starts ")
        status = v.status()
        equal(status["engine"]["state"], "stopped")
        contains(v.run("status").stdout, "not running")
        equal([r["name"] for r in v.rows("list")], ["a", "b"])
        equal([k for k in STATUS if k not in v.rows("show", "a")[0]], [])
        contains(v.run("show", "B").stdout, "waiting")
        equal(v.rows("changes", "a"), [])
        contains(v.run("diff", "a").stderr, "no change yet")
        equal(v.run("disable", "b").stdout.splitlines()[0].split(",")[0], "b: disabled")
        equal(v.rows("show", "b")[0]["state"], "waiting-disabled")
        v.run("enable", "b")
        equal(v.rows("show", "b")[0]["state"], "waiting")
        v.run("stop", "b")
        equal(v.rows("show", "b")[0]["state"], "ended")
        v.run("drop", "a", "b")
        equal(v.rows("list"), [])
        equal(v.sql("SELECT count(*) FROM vigil.status"), "0")
        contains(v.run("drop", "a", code=1).stderr, 'no sentinel "a"')
        contains(v.run("show", "a", code=1).stderr, 'no sentinel "a"')


@test("changes --wait without an engine waits as long as it was told, no longer")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        done = v.run("changes", "--wait", "1s", timeout=15)
        equal(done.returncode, 0)


@test("a database that is not there ends every command with 2 and says which")
def _():
    with Vigil(db="postgresql://nobody@127.0.0.1:1/none") as v:
        for words in (["list"], ["status"], ["changes"], ["show", "a"], ["run"], ["drop", "a"],
                      ["psql", "-c", "SELECT 1"]):
            done = v.run(*words, code=2)
            contains(done.stderr, "127.0.0.1")
        contains(v.add("CREATE SENTINEL a USING http://x.org MONITOR links", code=2).stderr,
                 "127.0.0.1")
    with Vigil(db="postgresql://[") as v:
        contains(v.run("list", code=None).stderr, "--db is wrong")


@test("the graph shows events, pages and sentinels, as dot and as svg; without an engine there is none")
def _():
    v = running()
    dot = v.run("graph").stdout
    contains(dot, "digraph vigil {")
    names = [r["name"] for r in v.rows("list")]
    for name in names:
        contains(dot, f'label="{name}\\n')
    contains(dot, '[style=dashed label="fetch"]')
    equal(v.run("graph", "--as", "dot").stdout.splitlines()[0], "digraph vigil {")
    svg = v.run("graph", "--as=svg").stdout
    contains(svg, "<svg")
    contains(svg, names[0])
    contains(v.run("graph", "--as", "png", code=1).stderr, "dot or svg")
    with nowhere() as n:
        contains(n.run("graph", code=2).stderr, "vigil run")


def maintenance(v, query):
    """As an operator would, beside the database of Vigil in its private server."""
    with open(os.path.join(v.data, "lock")) as f:
        socket_dir = f.read().split("\n")[1]
    subprocess.run(["psql", "-XAtq", "-h", socket_dir, "-U", "vigil", "-d", "postgres", "-c", query],
                   check=True, stdout=subprocess.DEVNULL)


@test("a command given while the engine is just making its database waits for it")
def _():
    with Vigil() as v:
        v.start()
        maintenance(v, "ALTER DATABASE vigil ALLOW_CONNECTIONS false")
        maintenance(v, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'vigil'")
        maintenance(v, "ALTER DATABASE vigil RENAME TO not_yet")
        maintenance(v, "ALTER DATABASE not_yet ALLOW_CONNECTIONS true")
        later = threading.Timer(1, maintenance, (v, "ALTER DATABASE not_yet RENAME TO vigil"))
        later.start()
        begun = time.monotonic()
        contains(v.run("list").stderr, "no sentinels yet")
        assert time.monotonic() - begun >= 0.9, "it did not wait"
        later.join()
    with Vigil() as v:  # and the whole of it, from nothing
        v.start(wait=False)
        wait_until(lambda: os.path.exists(os.path.join(v.data, "lock")))
        while not v.is_up():
            contains(v.run("list").stderr, "no sentinels yet")
        v.stop()


def hold_engine_lock(user, database, how):
    """A session that has the engine's lock, as every login can."""
    session = subprocess.Popen(["psql", "-XAtq", "-h", pg().home, "-U", user, "-d", database],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    session.stdin.write(f"SELECT {how}(1447642953, 2); SELECT 'held';\n")
    session.stdin.flush()
    while session.stdout.readline().strip() != "held":
        pass
    return session


@test("a login that is no engine cannot keep the engine out by holding its lock")
def _():
    server = pg()
    db = server.database()
    name = db.rsplit("/", 1)[1]
    server.psql("postgres", "CREATE ROLE mallory LOGIN; CREATE ROLE plain_engine LOGIN")
    for how in ("pg_advisory_lock", "pg_advisory_lock_shared"):
        with Vigil(db=db) as v:
            holder = hold_engine_lock("mallory", name, how)
            equal(v.run("list").returncode, 0)  # nor does it look like an engine
            v.start()  # ours may end the session of another
            v.stop()
            holder.kill()
            holder.wait()
    db = server.database()
    name = db.rsplit("/", 1)[1]
    server.psql("postgres", f"GRANT CREATE ON DATABASE {name} TO plain_engine")
    with Vigil(db=db.replace("//vigil@", "//plain_engine@")) as v:
        holder = hold_engine_lock("mallory", name, "pg_advisory_lock")
        v.start(wait=False)
        equal(v.engine.wait(30 * SLOW), 2)
        v.engine = None
        contains(v.output(), 'the login "mallory", which is no engine, holds the engine\'s lock')
        contains(v.output(), "pg_terminate_backend")
        holder.kill()
        holder.wait()

main()
