"""Definitions: right ones are installed whole, wrong ones are shown with their place and leave nothing.

Each wrong definition is tried on an engine and without one; the answers must be the same.
"""
from harness import *

pg = shared(Postgres)
site = shared(Site)


class Running(Vigil):
    def __enter__(self):
        super().__enter__()
        self.run("list")
        self.start()
        return self


running = shared(lambda: Running(db=pg().database()))
stopped = shared(lambda: Vigil(db=pg().database()))


def nothing_installed(v):
    equal(v.sql("SELECT count(*) FROM vigil.status"), "0")


def refused(text, *expected, code=1):
    """Both ways refuse, in the same words; nothing is stored."""
    answers = []
    for v in (running(), stopped()):
        done = v.add(text, code=code)
        equal(done.stdout, "")
        for part in expected:
            contains(done.stderr, part)
        nothing_installed(v)
        answers.append(done.stderr)
    equal(answers[0], answers[1])
    return answers[0]


def accepted(v, text):
    v.add(text)
    names = [r["name"] for r in v.rows("list")]
    v.run("drop", "--cascade", *names)
    return names


@test("an error is file:line:col: error: code: words, then the line, then a caret below the place")
def _():
    error = refused("CREATE SENTINEL good USING http://x.org MONITOR links;\n\n"
                    "CREATE SENTINEL bad\n  USING http://x.org\n\tMONITOR colours;\n",
                    '(stdin):5:10: error: E054: unknown change type "colours"')
    lines = error.splitlines()
    at = next(i for i, line in enumerate(lines) if "MONITOR colours" in line)
    equal(lines[at].expandtabs(8).index("colours"), lines[at + 1].expandtabs(8).index("^"))
    with Vigil(db=pg().database()) as v:
        with open(f"{v.home}/mine.vigil", "w") as f:
            f.write("-- mine\nCREATE SENTINEL a USING http://x.org MONITOR lnks")
        contains(v.run("add", f"{v.home}/mine.vigil", code=1).stderr,
                 f"{v.home}/mine.vigil:2:46: error: E054")


@test("the caret stands below the place also behind letters of several bytes")
def _():
    error = refused("CREATE SENTINEL a USING 'http://x.org/größe' MONITOR colours", "E054")
    line, caret = [l for l in error.splitlines() if "colours" in l and "größe" in l
                   or l.strip() == "^"][:2]
    equal(line.index("colours"), caret.index("^"))


@test("the examples of wrong definitions are refused with their codes")
def _():
    running().add("CREATE SENTINEL s1 USING https://x.org MONITOR links FROM now + 1 day;"
                  "CREATE SENTINEL base9 USING https://x.org MONITOR links FROM now + 1 day;"
                  "CREATE SENTINEL rel USING https://x.org MONITOR links FROM end(base9)")
    try:
        for text, code in (
                ("CREATE SENTINEL b1 MONITOR links", "E010"),
                ("CREATE SENTINEL b2 USING https://x.org", "E014"),
                ("CREATE SENTINEL b3 USING https://x.org MONITOR links MONITOR images", "E012"),
                ("CREATE SENTINEL b4 USING https://x.org MONITOR colours", "E054"),
                ("CREATE SENTINEL b5 USING nosuch MONITOR links", "E040"),
                ("CREATE OR REPLACE SENTINEL base9 USING https://x.org MONITOR links "
                 "FROM end(rel)", "E048"),
                ("CREATE SENTINEL b8 USING https://x.org MONITOR links FROM 12/31/46 TO 12/01/46",
                 "E035"),
                ("CREATE SENTINEL b9 USING https://x.org MONITOR links FROM 13/02/2047", "E031"),
                ("CREATE SENTINEL b10 USING https://x.org MONITOR links FROM 06/02/03 TO 07/02/03",
                 "E033"),
                ("CREATE SENTINEL b11 USING https://x.org MONITOR links COMPARE every:1", "E056"),
                ("CREATE SENTINEL b12 USING https://x.org MONITOR links FETCH EVERY 1 month",
                 "E023"),
                ("CREATE SENTINEL b14 USING https://x.org MONITOR regexp 'Rev ([0-9.]+'", "E053"),
                ("CREATE SENTINEL b15 USING https://x.org MONITOR links AND", "E054"),
                ("CREATE SENTINEL S1 USING https://x.org MONITOR links", "E044"),
                ("CREATE SENTINEL b17 USING https://a.org, https://b.org MONITOR links", "E046"),
                ("CREATE SENTINEL b21 USING https://x.org MONITOR keywords {'x}", "E002"),
                ("CREATE SENTINEL b22 USING https://x.org MONITOR links NOTIFY BY pigeon post",
                 "E060"),
                ("CREATE SENTINEL b23 USING https://x.org MONITOR links FROM end(rel) - 1 day",
                 "E043"),
                ("CREATE SENTINEL self USING https://x.org MONITOR links", "E011"),
                ("CREATE SENTINEL me USING https://x.org MONITOR links FROM end(me)", "E048"),
                ("CREATE SENTINEL " + "n" * 64 + " USING https://x.org MONITOR links", "E017"),
                ("CREATE SENTINEL u USING https:// MONITOR links", "E045"),
                ("CREATE SENTINEL z USING https://x.org MONITOR z.links", "E047"),
                ("CREATE SENTINEL d USING https://x.org MONITOR links FETCH EVERY 0 hours", "E021"),
                ("CREATE SENTINEL d USING https://x.org MONITOR links FOR 1 hour TO never", "E012"),
                ("DROP SENTINEL nobody", "E040"),
                ("DROP SENTINEL base9", "E049"),
                ("ENABLE SENTINEL nobody", "E040"),
                ("hello", "E010")):
            done = running().add(text, code=1)
            contains(done.stderr, f"error: {code}: ")
            equal(done.stdout, "")
            equal(running().sql("SELECT count(*) FROM vigil.status"), "3")
        running().add("STOP SENTINEL s1; ")
        contains(running().add("CREATE SENTINEL b6 USING https://x.org MONITOR links FROM end(s1)",
                               code=1).stderr, "E041")
        site().put("/act", "x")
        running().add(f"CREATE SENTINEL act USING {site().url}/act MONITOR links FETCH EVERY 1 hour")
        contains(running().add("CREATE SENTINEL b24 USING https://x.org MONITOR links "
                               "FROM start(act)", code=1).stderr, "E042")
    finally:
        running().run("drop", "--cascade", *[r["name"] for r in running().rows("list")])


@test("all mistakes of a file are told at once, and one wrong file of several keeps all out")
def _():
    error = refused("CREATE SENTINEL a USING http://x.org MONITOR lnks;"
                    "CREATE SENTINEL b USING http://x.org MONITOR links FETCH EVERY 1 month;"
                    "CREATE SENTINEL c USING http://x.org MONITOR links FROM 13/02/2047;")
    for code in ("E054", "E023", "E031"):
        contains(error, code)
    # One statement, two mistakes that do not depend on each other.
    refused("CREATE SENTINEL a USING http://x.org MONITOR links FETCH EVERY 1 month FROM 13/02/2047",
            "E023", "E031")
    for v in (running(), stopped()):
        for name, text in (("good", "CREATE SENTINEL g USING http://x.org MONITOR links"),
                           ("bad", "CREATE SENTINEL b USING http://x.org MONITOR lnks"),
                           ("fine", "CREATE SENTINEL f USING http://x.org MONITOR links")):
            with open(f"{v.home}/{name}", "w") as f:
                f.write(text)
        files = [f"{v.home}/{n}" for n in ("good", "bad", "fine")]
        error = v.run("add", *files, code=1)
        contains(error.stderr, f"{v.home}/bad:1:46: error: E054")
        assert f"{v.home}/good:" not in error.stderr and f"{v.home}/fine:" not in error.stderr
        nothing_installed(v)
        v.run("add", files[0], f"{v.home}/none", code=1)
        nothing_installed(v)
        v.run("add", files[0], files[2])
        equal([r["name"] for r in v.rows("list")], ["f", "g"])
        v.run("drop", "f", "g")


@test("a later file may refer to a sentinel of an earlier one, and not take its name")
def _():
    for v in (running(), stopped()):
        with open(f"{v.home}/1", "w") as f:
            f.write("CREATE SENTINEL one USING http://x.org MONITOR links FROM now + 1 day")
        with open(f"{v.home}/2", "w") as f:
            f.write("CREATE SENTINEL two USING http://x.org MONITOR links FROM end(ONE) + 1 hour")
        with open(f"{v.home}/3", "w") as f:
            f.write("CREATE SENTINEL One USING http://x.org MONITOR links")
        contains(v.run("add", f"{v.home}/1", f"{v.home}/3", code=1).stderr, "E044")
        nothing_installed(v)
        v.run("add", f"{v.home}/1", f"{v.home}/2")
        contains(v.run("add", f"{v.home}/3", code=1).stderr, "E044")
        v.run("drop", "two")
        v.run("drop", "one")
        nothing_installed(v)


@test("what this Vigil cannot run yet is refused with exactly these words, and nothing is stored")
def _():
    for text, what in (
            ("SUBSCRIPTION S monitoring select <P/> where URL = 'http://x.org/a' report when daily",
             "SUBSCRIPTION")):
        later = "CREATE SENTINEL later USING http://a.org MONITOR links;\n"
        refused(later + text, f"(stdin):2:", f"E090: this Vigil cannot run {what} yet")
        with Vigil() as v:  # the definition is right
            v.run("check", "-", input=later + text)


@test("whoever cannot be told with these settings is refused, with the setting that is missing")
def _():
    for method, setting in (("email a@b.org", "no mail can be sent: the setting notify.smtp"),
                            ("fax '123456'", "no fax can be sent: the setting notify.fax_gateway"),
                            ("phone '123456'",
                             "no phone can be reached: the setting notify.phone_gateway")):
        refused(f"CREATE SENTINEL a USING http://a.org MONITOR links\nNOTIFY BY {method}",
                "(stdin):2:", f"E090: {setting} is empty")


@test("a change type is either installed, or refused because it cannot be run yet; never half")
def _():
    for words in ("any change", "any change raw", "links", "images", "all words", "keywords {a}",
                  "phrase 'one two three four five'", "phrase containing 'x'", "table 1", "list 1",
                  "regexp 'x'", "structure", "tags", "attributes", "content", "element item"):
        text = f"CREATE SENTINEL t USING http://x.org MONITOR {words} FROM now + 1 day"
        running().run("check", "-", input=text)
        done = running().add(text, code=None)
        if done.returncode == 0:
            running().run("drop", "t")
        else:
            equal((words, done.returncode), (words, 1))
            contains(done.stderr, "E090: ")
        nothing_installed(running())


@test("names are the same in upper and lower case, and are kept as they were written")
def _():
    for v in (running(), stopped()):
        v.add("CREATE SENTINEL CamelCase USING http://x.org MONITOR links FROM now + 1 day")
        equal(v.rows("list")[0]["name"], "CamelCase")
        equal(v.rows("show", "camelcase")[0]["name"], "CamelCase")
        v.run("disable", "CAMELCASE")
        v.run("enable", "cAMELcASE")
        equal(v.rows("changes", "camelCASE"), [])
        contains(v.add("create sentinel camelcase using http://x.org monitor links",
                       code=1).stderr, "E044")
        v.add("create or replace sentinel camelcase using http://y.org monitor images "
              "from now + 2 days")
        row = v.rows("list")
        equal([(r["name"], r["url"], r["monitor"]) for r in row],
              [("camelcase", "http://y.org/", "images")])
        v.run("drop", "CamelCase")
        nothing_installed(v)


@test("CREATE OR REPLACE of one that runs: the new page is fetched, the old one no more")
def _():
    v = running()
    site().put("/old", "<p>1</p>")
    site().put("/new", "<p>1</p>")
    v.add(f"CREATE OR REPLACE SENTINEL s USING {site().url}/old MONITOR any change "
          f"FETCH EVERY 1 second")
    wait_until(lambda: site().count("/old") >= 2)
    v.add(f"CREATE OR REPLACE SENTINEL S USING {site().url}/new MONITOR any change "
          f"FETCH EVERY 1 second")
    time.sleep(0.2)
    asked = site().count("/old")
    wait_until(lambda: site().count("/new") >= 3)
    equal(site().count("/old"), asked)
    site().put("/new", "<p>2</p>")
    wait_until(lambda: len(v.rows("changes", "s")) == 1)
    equal(v.rows("changes", "s")[0]["url"], f"{site().url}/new")
    v.run("drop", "s")


@test("USING another sentinel copies its page and question")
def _():
    with Vigil(db=pg().database()) as v:
        v.add("CREATE SENTINEL a USING http://x.org/p MONITOR links FETCH EVERY 1 hour "
              "FROM now + 1 day;"
              "CREATE SENTINEL b USING a FETCH EVERY 2 hours;"
              "CREATE SENTINEL c USING b MONITOR any change")
        rows = {r["name"]: r for r in v.rows("list")}
        equal([(rows[n]["url"], rows[n]["monitor"], rows[n]["fetch"]) for n in "abc"],
              [("http://x.org/p", "links", "every 1 hour"),
               ("http://x.org/p", "links", "every 2 hours"),
               ("http://x.org/p", "any change", "every 2 hours")])
        # Copied is what they ask, linked is how long they live.
        contains(v.run("drop", "a", code=1).stderr, '1 sentinel depends on "a": b')
        v.run("drop", "--cascade", "a")
        equal(v.rows("show", "b")[0]["state"], "ended")


@test("the older form of WebCQ is installed, too")
def _():
    for v in (running(), stopped()):
        v.add("CREATE Sentinel c2 AS Sentinel Type any change Sentinel Target www.example.org "
              "Trigger Condition 2 hours Notification Condition 2 hours "
              "Start Condition March 3, 2047 Stop Condition 7-1-2047-0-0-EST")
        v.add("CREATE Sentinel c3 AS Sentinel Type all links Sentinel Target 'http://example.org' "
              "Trigger Condition 2 hours Start Condition March 3, 2047 "
              "Stop Condition 7-1-2047-0-0-EST")
        rows = v.rows("list")
        equal([r["url"] for r in rows], ["http://www.example.org/", "http://example.org/"])
        for row in rows:
            equal((row["starts_at"], row["ends_at"]),
                  ("2047-03-03T00:00:00Z", "2047-07-01T05:00:00Z"))
            v.run("drop", row["name"])


@test("dates without a zone are in the engine's zone; a day as FROM begins it, as TO ends it")
def _():
    with Vigil(db=pg().database()) as v:
        zone = ("--set", "time.zone=America/New_York")
        text = "CREATE SENTINEL a USING http://x.org MONITOR links FROM 2047-01-01 TO 2047-01-31"
        v.add(text, settings=zone)
        row = v.rows("show", "a")[0]
        equal((row["starts_at"], row["ends_at"]),
              ("2047-01-01T05:00:00Z", "2047-02-01T05:00:00Z"))


@test("SHOW, and a script without an end, are told apart from definitions")
def _():
    refused("CREATE SENTINEL a USING http://x.org MONITOR links FROM now + 1 day; SHOW SENTINEL a;",
            "vigil show a")
    refused("CREATE SENTINEL a USING http://x.org MONITOR links FROM now + 1 day; CREATE SENTINEL")
    refused("CREATE SENTINEL a USING http://x.org MONITOR links CREATE SENTINEL b USING "
            "http://x.org MONITOR links")


@test("bytes that are no UTF-8 are refused by add as by check, with an engine and without")
def _():
    text = b"-- gr\xfc\xdfe\nCREATE SENTINEL a USING http://x.org MONITOR links"
    for v in (running(), stopped()):
        for command in ("check", "add"):
            done = subprocess.run([VIGIL, command, *v.where, "-"], input=text, env=v.env,
                                  capture_output=True)
            equal((command, done.returncode), (command, 1))
            done.stderr.decode()  # what is printed is UTF-8
            contains(done.stderr.decode(), "(stdin):1:6")
        nothing_installed(v)


@test("a mistake in a line with control characters is shown without sending them to the terminal")
def _():
    error = refused("CREATE SENTINEL a USING 'http://x.org/\x1b[31m' MONITOR colours \x1b[2J")
    assert "\x1b" not in error, repr(error)


@test("a thousand sentinels in one file are installed in seconds, and dropped")
def _():
    text = "".join(f"CREATE SENTINEL s{i} USING http://h{i % 50}.example.org/p{i % 200} MONITOR "
                   f"links FETCH EVERY 1 hour FROM now + 1 day;\n" for i in range(1000))
    for v in (running(), stopped()):
        begun = time.monotonic()
        equal(len(v.add(text).stdout.splitlines()), 1000)
        took = time.monotonic() - begun
        assert took < 10 * SLOW, took
        equal(len(v.rows("list")), 1000)
        contains(v.add(text, code=1).stderr, 'E044: sentinel "s999" exists already')
        v.run("drop", *[f"s{i}" for i in range(1000)])
        nothing_installed(v)


@test("a selector that cannot be read is found by check already, at its place")
def _():
    for text, column, what in (
            ("CREATE SENTINEL a USING http://a.org MONITOR links IN XPATH '//p['", 61, "//p["),
            ("CREATE SENTINEL a USING http://a.org MONITOR links IN CSS 'p >> q'", 59, "p >> q"),
            ("CREATE SENTINEL a USING http://a.org MONITOR links IN XPATH 'document(\"/x\")'", 61,
             "document")):
        with Vigil() as v:
            said = v.run("check", "-", input=text, code=1).stderr
            contains(said, f"(stdin):1:{column}: error: E063: ")
            contains(said, what)


main()
