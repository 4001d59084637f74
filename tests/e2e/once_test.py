"""vigil once: a round for cron."""
import json
from harness import *
from receivers import Authority

pg = shared(Postgres)
site = shared(Site)


def fresh():
    return Vigil(db=pg().database())


def define(name, path, rest="", monitor="any change"):
    return f"CREATE SENTINEL {name} USING {site().url}{path} MONITOR {monitor} {rest};\n"


@test("the first round remembers, the next ones print what changed and exit 3")
def _():
    site().put("/a", "<p>one <a href='/1'>x</a></p>")
    site().put("/b", "<p>calm</p>")
    text = define("a", "/a", monitor="links") + define("b", "/b")
    with fresh() as v:
        equal(v.run("once", "-", input=text).stdout, "")
        equal(v.run("once", "-", input=text).stdout, "")
        site().put("/a", "<p>one <a href='/2'>x</a></p>")
        said = v.run("once", "-", input=text, code=3).stdout
        contains(said, "a")
        contains(said, f"+ {site().url}/2")
        equal(v.run("once", "-", input=text).stdout, "")
        equal(site().count("/a"), 4)
        equal(site().count("/b"), 4)
        equal(v.sql("SELECT count(*) FROM vigil.changes"), "1")
        equal(v.sql("SELECT count(*) FROM vigil.events WHERE kind <> 'create' AND kind <> 'start'"),
              "0")


@test("--json prints one object a change")
def _():
    site().put("/j", "<p>one</p>")
    text = define("j", "/j")
    with fresh() as v:
        v.run("once", "-", input=text)
        site().put("/j", "<p>two</p>")
        row = json.loads(v.run("once", "--json", "-", input=text, code=3).stdout)
        equal(row["sentinel"], "j")
        equal((row["old_version"], row["new_version"]), (1, 2))
        assert row["detail"]


@test("a definition that was edited is taken from the file; the page's history goes on")
def _():
    site().put("/e", "<p>one <a href='/1'>x</a></p>")
    with fresh() as v:
        v.run("once", "-", input=define("e", "/e", monitor="links"))
        site().put("/e", "<p>two <a href='/1'>x</a></p>")
        contains(v.run("once", "-", input=define("e", "/e", monitor="all words"), code=3).stdout, "two")
        equal(v.sql("SELECT monitor FROM vigil.status"), "all words")


@test("a round of more pages than the database's queue has room for is done whole, each asked for once")
def _():
    paths = [f"/many{i}" for i in range(60)]
    for path in paths:
        site().put(path, "<p>1</p>" + "<p>filling</p>" * 2000)
    text = "".join(define(path[1:], path) for path in paths)
    narrow = [*TRY, "--set", "store.max_pending=5", "--set", "store.max_pending_bytes=1MiB"]
    with fresh() as v:
        v.run("once", "-", input=text, settings=narrow)
        equal([site().count(path) for path in paths], [1] * len(paths))
        equal(v.sql("SELECT count(*) FROM vigil.versions"), str(len(paths)))


@test("pages that are not in the file are left alone")
def _():
    site().put("/in", "<p>1</p>")
    site().put("/out", "<p>1</p>")
    with fresh() as v:
        v.run("once", "-", input=define("in_it", "/in") + define("out", "/out"))
        v.run("once", "-", input=define("in_it", "/in"))
        equal((site().count("/in"), site().count("/out")), (2, 1))


@test("a page that fails is named with its reason, exit 2; the others are done all the same")
def _():
    site().put("/good", "<p>1</p>")
    text = define("good", "/good") + define("bad", "/there-is-nothing")
    with fresh() as v:
        said = v.run("once", "-", input=text, code=2)
        contains(said.stderr, "/there-is-nothing")
        contains(said.stderr, "404")
        site().put("/good", "<p>2</p>")
        v.run("once", "-", input=text, code=3)


@test("what only starts later, or has ended, is not fetched")
def _():
    site().put("/l", "<p>1</p>")
    with fresh() as v:
        v.run("once", "-", input=define("l", "/l", "FROM now + 1 day"))
        equal(site().count("/l"), 0)


@test("wrong files change nothing; an engine that runs there is in the way, and that is said")
def _():
    with fresh() as v:
        contains(v.run("once", "-", input=define("w", "/w", monitor="colours"), code=1).stderr, "E054")
        equal(v.sql("SELECT count(*) FROM vigil.status"), "0")
        v.start()
        contains(v.run("once", "-", input=define("w", "/w"), code=2).stderr, "engine")


@test("a site with an authority of one's own is read once fetch.ca names it, and not before")
def _():
    authority = Authority()
    with Site(tls=authority.context()) as secure, fresh() as v:
        secure.put("/a", "<p>one</p>")
        text = f"CREATE SENTINEL inside USING {secure.url}/a MONITOR any change;\n"
        with fresh() as stranger:
            stranger.run("once", "-", input=text, code=2)
            contains(stranger.rows("show", "inside")[0]["error"], "is not trusted")
        equal(secure.requests, [])
        trust = "--set", f"fetch.ca={authority.ca}"
        v.run("once", *trust, "-", input=text)
        secure.put("/a", "<p>two</p>")
        contains(v.run("once", *trust, "-", input=text, code=3).stdout, "+ two")
        said = v.run("once", "--set", "fetch.ca=/no/such.pem", "-", input=text, code=None)
        equal(said.returncode != 0, True)
        contains(said.stderr, 'fetch.ca: cannot read the certificates in "/no/such.pem"')


main()
