"""How pages are asked for: WITH (..), secrets, cookies, robots.txt, hosts that lie."""
from harness import *

pg = shared(Postgres)
site = shared(Site)
CANARY = "s3cr3t-canary-4711"


def define(name, path, rest="", monitor="any change", fetch="FETCH EVERY 1 second"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {fetch} {rest};\n"


def seen(path):
    with site().lock:
        return [h for _, p, h in site().requests if p == path]


def first(path):
    wait_until(lambda: seen(path), what=f"{path} is asked for")
    return seen(path)[0]


def secrets(v, text, mode=0o600):
    path = os.path.join(v.home, "secrets")
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    return ["--set", f"fetch.secrets={path}"]


def files_with(directory, needle):
    found = []
    for base, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(base, name)
            with contextlib.suppress(OSError):
                with open(path, "rb") as f:
                    if needle.encode() in f.read():
                        found.append(path)
    return found


@test("method, body, headers, user agent, timeout and redirects are as the definition says")
def _():
    with Vigil(db=pg().database()) as v:
        bodies = {}

        def posted(handler):
            bodies[handler.path] = handler.rfile.read(int(handler.headers["Content-Length"]))
            handler.answer(200, "<p>posted</p>")
        site().put("/post", posted)
        site().put("/plain", "<p>x</p>")
        site().put("/slow", lambda h: (time.sleep(3), h.answer(200, "late")))
        site().put("/moved", lambda h: h.answer(302, "", [("Location", "/plain")]))
        v.run("list")
        v.start()
        v.add(define("post", "/post", "WITH (method = 'POST', body = '{\"q\": 1}', "
                     "header 'content-type: application/json', header 'X-One: 1')") +
              define("agent", "/plain", "WITH (user_agent = 'me/1', header 'Accept: text/plain')") +
              define("slow", "/slow", "WITH (timeout = 1 second)", fetch="FETCH EVERY 1 hour") +
              define("moved", "/moved", "WITH (follow = 0)", fetch="FETCH EVERY 1 hour"))
        head = first("/post")
        equal(head["Content-Type"], "application/json")
        equal(head["X-One"], "1")
        contains(head["User-Agent"], "Vigil/")
        wait_until(lambda: bodies)
        equal(bodies["/post"], b'{"q": 1}')
        head = first("/plain")
        equal((head["User-Agent"], head["Accept"]), ("me/1", "text/plain"))
        wait_until(lambda: v.rows("show", "slow")[0]["error"])
        contains(v.rows("show", "slow")[0]["error"], "timed out after 1 s")
        wait_until(lambda: v.rows("show", "moved")[0]["error"])
        contains(v.rows("show", "moved")[0]["error"], "redirects are not followed")
        contains(v.run("show", "post").stdout, "application/json")
        # A restart asks the same again.
        before = len(seen("/post"))
        v.stop()
        v.start()
        wait_until(lambda: len(seen("/post")) > before)
        equal(seen("/post")[-1]["X-One"], "1")


@test("who asks the same shares a page, who asks differently has another one")
def _():
    with Vigil(db=pg().database()) as v:
        site().put("/lang", lambda h: h.answer(200, h.headers.get("Accept-Language", "none")))
        v.run("list")
        v.start()
        v.add(define("plain", "/lang", fetch="FETCH EVERY 1 hour") +
              define("de", "/lang", "WITH (header 'Accept-Language: de', header 'X-B: 2')",
                     fetch="FETCH EVERY 1 hour") +
              define("de2", "/lang", "WITH (header 'x-b: 2', header 'accept-LANGUAGE: de')",
                     monitor="links", fetch="FETCH EVERY 1 hour") +
              define("fr", "/lang", "WITH (header 'Accept-Language: fr')",
                     fetch="FETCH EVERY 1 hour"))
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "3")
        equal(len(seen("/lang")), 3)
        equal(v.status()["pages"]["watched"], 3)
        equal(json.loads(v.sql("SELECT json_agg(request ORDER BY request) FROM vigil.versions")),
              ["", "header Accept-Language: de\nheader X-B: 2\n", "header Accept-Language: fr\n"])
        # An ALTER that asks differently moves to another page.
        v.add("ALTER SENTINEL fr WITH (header 'Accept-Language: it')")
        wait_until(lambda: any(h.get("Accept-Language") == "it" for h in seen("/lang")))


@test("secrets are filled in when a request is sent, and are found nowhere else")
def _():
    with Vigil() as v:
        site().put("/in", "<p>welcome</p>")
        site().put("/away", lambda h: h.answer(
            302, "", [("Location", f"http://localhost:{site().port}/other")]))
        site().put("/other", "<p>other</p>")
        setting = secrets(v, f"# mine\ntoken = {CANARY}\n")
        v.args += setting
        definition = define("in", "/in", "WITH (header 'Authorization: Bearer ${SECRET token}')") + \
            define("away", "/away", "WITH (header 'X-Key: ${SECRET token}', header 'X-Free: yes')")
        v.start("--set", "log.level=debug")
        v.add(definition)
        equal(first("/in")["Authorization"], f"Bearer {CANARY}")
        equal(first("/away")["X-Key"], CANARY)
        # Another site gets nothing that was for this one.
        head = first("/other")
        assert "X-Key" not in head, head
        equal(head["X-Free"], "yes")
        # A password that changes is read again; one that is gone is an error in words.
        secrets(v, "token = second-value\n")
        wait_until(lambda: seen("/in")[-1]["Authorization"] == "Bearer second-value")
        secrets(v, "nothing = here\n")
        wait_until(lambda: v.rows("show", "in")[0]["error"])
        contains(v.rows("show", "in")[0]["error"], 'the secret "token" is not in')
        secrets(v, f"token = {CANARY}\n", 0o644)
        wait_until(lambda: "only its owner" in (v.rows("show", "in")[0]["error"] or ""), 40)
        secrets(v, f"token = {CANARY}\n")
        wait_until(lambda: not v.rows("show", "in")[0]["error"], 90)
        for words in (("show", "in"), ("list",), ("status",), ("settings",), ("graph",)):
            assert CANARY not in v.run(*words).stdout, words
        contains(v.run("show", "in").stdout, "${SECRET token}")
        assert CANARY not in v.run("psql", "-c", "SELECT * FROM vigil_kb.sentinel, vigil_kb.page",
                                   settings=()).stdout
        v.stop()
        assert CANARY not in v.output() and "second-value" not in v.output()
        equal(files_with(v.home, CANARY), [os.path.join(v.home, "secrets")])
        # What cannot be known is said when it is added.
        v.args = []
        done = v.add(define("new", "/in", "WITH (header 'A: ${SECRET token}')"), code=1)
        contains(done.stderr, "there is no file of secrets")
        contains(done.stderr, "fetch.secrets")


@test("cookies are kept for whoever asked, and for nobody else")
def _():
    with Vigil(db=pg().database()) as v:
        counter = {"n": 0}

        def visit(handler):
            counter["n"] += 1
            handler.answer(200, "<p>x</p>", [("Set-Cookie", f"visit={counter['n']}; Path=/")])
        site().put("/jar", visit)
        v.run("list")
        v.start()
        v.add(define("keeps", "/jar", "WITH (cookies = on)") + define("without", "/jar"))
        wait_until(lambda: len([h for h in seen("/jar") if "Cookie" in h]) >= 2)
        wait_until(lambda: len([h for h in seen("/jar") if "Cookie" not in h]) >= 3)
        v.run("drop", "keeps")
        v.add(define("again", "/jar", "WITH (cookies = on)"))
        before = len(seen("/jar"))
        wait_until(lambda: any("Cookie" in h for h in seen("/jar")[before + 1:]))
        equal(v.status()["pages"]["watched"], 2)


@test("robots.txt is obeyed where the operator says so; what it forbids is not asked for, and the "
      "status says why")
def _():
    rules = "User-agent: *\nDisallow: /private\n\nUser-agent: vigil\nDisallow: /hidden\n"
    site().put("/robots.txt", lambda h: h.answer(200, rules, [("Content-Type", "text/plain")]))
    for path in ("/hidden/x", "/private/x", "/open"):
        site().put(path, "<p>x</p>")
    with Vigil(db=pg().database(), args=["--set", "fetch.robots=all",
                                         "--set", "fetch.contact=https://me.example/"]) as v:
        v.run("list")
        v.start()
        v.add(define("hidden", "/hidden/x") + define("private", "/private/x") +
              define("open", "/open"))
        wait_until(lambda: v.rows("show", "hidden")[0]["error"])
        contains(v.rows("show", "hidden")[0]["error"], "forbids it: Disallow: /hidden")
        wait_until(lambda: seen("/open") and seen("/private/x"))
        equal(seen("/hidden/x"), [])
        equal(len(seen("/robots.txt")), 1)
        contains(seen("/robots.txt")[0]["User-Agent"], "(+https://me.example/)")
        assert v.status()["fetch"]["refused_by_robots"] >= 1
        contains(v.run("status").stdout, "robots")
    with Vigil(db=pg().database()) as v:  # by default a page that was named is fetched
        v.run("list")
        v.start()
        v.add(define("hidden", "/hidden/x"))
        wait_until(lambda: seen("/hidden/x"))
        equal(len(seen("/robots.txt")), 1)
    v = Vigil(args=["--set", "fetch.robots=sometimes"])
    with v:
        contains(v.run("list", code=1).stderr, "Give discovered, all or off.")
    site().put("/robots.txt", None)


@test("a host whose validators lie is found out by the audit and not believed, also after a restart")
def _():
    with Vigil(db=pg().database()) as v:
        number = {"n": 0}

        def liar(handler):
            if "If-None-Match" in handler.headers:
                handler.answer(304, "")
                return
            number["n"] += 1
            handler.answer(200, f"<p>{number['n']}</p>", [("ETag", '"same"')])
        site().put("/liar", liar)
        v.run("list")
        v.start()
        v.add(define("liar", "/liar"))
        wait_until(lambda: v.rows("show", "liar")[0]["last_version"] == 1)
        # Fifteen fetches by as many restarts of the count: the sixteenth asks without conditions.
        v.stop()
        v.sql("UPDATE vigil_kb.page_state SET fetches = 14")
        v.start()
        wait_until(lambda: v.rows("show", "liar")[0]["last_version"] == 2)
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil_kb.host "
                                 "WHERE distrusted_until > now() + interval '29 days'") == "1")
        v.stop()
        with site().lock:
            site().requests.clear()
        v.start()
        wait_until(lambda: len(seen("/liar")) >= 2)
        assert not any("If-None-Match" in h for h in seen("/liar")), seen("/liar")


@test("the newest validators are sent back, also those of a body that held no change")
def _():
    with Vigil(db=pg().database()) as v:
        number = {"n": 0}

        def restless(handler):
            number["n"] += 1
            handler.answer(200, "<p>same</p>", [("ETag", f'"{number["n"]}"')])
        site().put("/restless", restless)
        v.run("list")
        v.start()
        v.add(define("restless", "/restless"))
        wait_until(lambda: len(seen("/restless")) >= 4)
        sent = [h.get("If-None-Match") for h in seen("/restless")][:4]
        equal(sent, [None, '"1"', '"2"', '"3"'])
        equal(v.sql("SELECT count(*) FROM vigil.versions"), "1")


@test("a page that only a browser can build is built by one, when one is configured")
def _():
    chromium = shutil.which("chromium")
    script = "<script>document.body.innerHTML = '<p>' + 6 * 7 + '</p><a href=/x>x</a>'</script>"
    site().put("/app", f"<html><body>empty{script}</body></html>")
    rendered = "WITH (render = on)"
    with Vigil(db=pg().database()) as v:
        v.run("list")
        done = v.add(define("app", "/app", rendered), code=1)
        contains(done.stderr, "no renderer is configured")
        contains(done.stderr, "fetch.renderer")
        if not chromium:
            return "there is no chromium"
        flags = " --no-sandbox" if os.geteuid() == 0 else ""
        v.args = ["--set", f"fetch.renderer={chromium}{flags}"]
        v.start()
        contains(v.add(define("app2", "/app", "WITH (render = on, header 'A: b')"), code=1).stderr,
                 "is given a URL and nothing else")
        v.add(define("app", "/app", rendered, monitor="links", fetch="FETCH EVERY 2 seconds"))
        wait_until(lambda: v.rows("show", "app")[0]["last_version"] == 1, 60)
        site().put("/app", f"<html><body>empty{script.replace('/x', '/y')}</body></html>")
        wait_until(lambda: v.rows("changes", "app"), 60)
        contains(json.dumps(v.rows("changes", "app")), "/y")
        equal(v.rows("show", "app")[0]["error"], None)


main()
