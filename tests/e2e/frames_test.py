"""Pages made of frames: one page, with real servers."""
from harness import *

pg = shared(Postgres)


def frameset(*sources):
    return "<html><frameset cols='*,*'>" + "".join(f"<frame src='{s}'>" for s in sources) + \
        "</frameset></html>"


def versions(v):
    return v.sql("SELECT string_agg(version::text, ' ' ORDER BY version) FROM vigil.versions")


def told(v, name):
    return v.sql("SELECT string_agg(old_version || '-' || new_version, ' ' ORDER BY id) "
                 f"FROM vigil.changes WHERE sentinel = '{name}'")


@test("a change in a frame on another server is a change of the page; it is stored, explained, "
      "drawn, replayed and read again after a restart")
def _():
    with Site() as site, Site() as other, Vigil(db=pg().database()) as v:
        site.put("/set", frameset("menu.html", f"{other.url}/news"))
        site.put("/menu.html", "<a href='one'>One</a>")
        other.put("/news", "<p>quiet</p>")
        text = (f"CREATE SENTINEL a USING {site.url}/set MONITOR any change FETCH EVERY 1 second;\n"
                f"CREATE SENTINEL l USING {site.url}/set MONITOR links FETCH EVERY 1 second;\n"
                f"CREATE SENTINEL r USING {site.url}/set MONITOR regexp '<p>(\\w+)</p>' on source "
                "FETCH EVERY 1 second;\n")
        v.add(text)
        v.start()
        wait_until(lambda: versions(v) == "1")
        other.put("/news", "<p>storm</p>")
        wait_until(lambda: told(v, "a") == "1-2" and told(v, "r") == "1-2")
        detail = v.sql("SELECT detail FROM vigil.changes WHERE sentinel = 'r'")
        contains(detail, "quiet")
        contains(detail, "storm")
        v.kill()
        site.put("/menu.html", "<a href='one'>One</a><a href='two'>Two</a>")
        v.start()
        wait_until(lambda: told(v, "l") == "2-3")
        contains(v.sql("SELECT detail FROM vigil.changes WHERE sentinel = 'l'"), f"{site.url}/two")
        contains(v.sql("SELECT content_type FROM vigil_kb.version WHERE version = 3"),
                 "multipart/related")

        x = v.rows("explain", "a")[0]
        equal(x["frames"], [f"{site.url}/menu.html", f"{other.url}/news"])
        equal(round(x["fetches_a_day_alone"]), 3 * 86400)
        contains(v.run("explain", "a").stdout, f"frames    {site.url}/menu.html\n")
        contains(v.run("graph").stdout, f"frame {other.url}/news")
        v.stop()
        # From the bodies: every digest is gone, as after an upgrade.
        v.sql("UPDATE vigil_kb.version SET digest_zstd = NULL")
        rows = v.rows("replay", "-", input=text, code=3)
        equal([(r["sentinel"], r["old_version"], r["new_version"]) for r in rows],
              [("a", 1, 2), ("r", 1, 2), ("a", 2, 3), ("l", 2, 3)])


@test("a frame that fails makes the page fail with the frame's name, and it recovers unchanged; "
      "one that is not there is empty")
def _():
    with Site() as site, Vigil(db=pg().database()) as v:
        site.put("/set", frameset("/a", "/b", "/gone"))
        site.put("/a", "<p>a</p>")
        site.put("/b", "<p>b</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/set MONITOR any change FETCH EVERY 1 second;")
        v.start()
        wait_until(lambda: versions(v) == "1")
        site.put("/b", lambda h: h.answer(500, "<p>broken</p>"))
        wait_until(lambda: v.sql("SELECT error FROM vigil.status") ==
                   f"frame {site.url}/b: the server answered 500 Internal Server Error")
        site.put("/b", "<p>b</p>")
        wait_until(lambda: v.sql("SELECT error FROM vigil.status") == "")
        equal(versions(v), "1")
        site.put("/gone", "<p>here</p>")
        wait_until(lambda: told(v, "s") == "1-2")
        equal(v.sql("SELECT string_agg(kind, ' ' ORDER BY id) FROM vigil.events "
                    "WHERE kind IN ('error', 'recovered')"), "error recovered")


@test("frames are guarded like pages: robots.txt is asked, private addresses are not, and what "
      "logs in stays with its site")
def _():
    with Site() as site, Site() as other, Vigil(db=pg().database()) as v:
        port = site.url.rsplit(":", 1)[1]
        inner = f"http://127.9.9.9:{port}/inner"
        site.put("/set", frameset("/own", f"{other.url}/open", f"{other.url}/shut", inner,
                                  "file:///etc/passwd", "javascript:1"))
        site.put("/own", "<p>own</p>")
        site.put("/inner", "<p>inner</p>")
        other.put("/robots.txt",
                  lambda h: h.answer(200, "User-agent: *\nDisallow: /shut\n",
                                     [("Content-Type", "text/plain")]))
        other.put("/open", "<p>open</p>")
        other.put("/shut", "<p>shut</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/set MONITOR any change FETCH EVERY 1 second "
              "WITH (header 'Authorization: Basic abc', header 'Accept-Language: fr');",
              settings=["--allow", "127.0.0.1/32", *TRY[2:]])
        v.start(settings=["--allow", "127.0.0.1/32", *TRY[2:]])
        wait_until(lambda: versions(v) == "1")
        equal(v.rows("explain", "s")[0]["frames"], [f"{site.url}/own", f"{other.url}/open"])
        equal(other.count("/shut"), 0)
        equal(site.count("/inner"), 0)
        sent = {p: h for _, p, h in site.requests + other.requests}
        equal(sent["/own"].get("Authorization"), "Basic abc")
        equal(sent["/open"].get("Authorization"), None)
        equal(sent["/open"].get("Accept-Language"), "fr")
        v.stop()


@test("once, a frameset and its frames are looked at, and a change is told")
def _():
    with Site() as site, Vigil(db=pg().database()) as v:
        site.put("/set", frameset("/a"))
        site.put("/a", "<p>one</p>")
        text = f"CREATE SENTINEL s USING {site.url}/set MONITOR any change;"
        v.run("once", "-", input=text)
        site.put("/a", "<p>two</p>")
        contains(v.run("once", "-", input=text, code=3).stdout, "two")


main()
