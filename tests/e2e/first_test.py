"""The first things anybody tries: add, run, change, look, stop, start again."""
from harness import *


@test("a page that changes is reported, with what was inserted and deleted")
def _():
    with Site() as site, Vigil() as v:
        site.put("/news.html", "<p>quiet</p><a href=/a>a</a>")
        v.add(f"""CREATE SENTINEL news USING {site.url}/news.html
                  MONITOR any change FETCH EVERY 1 second FROM now FOR 1 hour;
                  CREATE SENTINEL refs USING {site.url}/news.html
                  MONITOR links FETCH EVERY 1 second;""")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        site.put("/news.html", "<p>loud</p><a href=/a>a</a><a href=/b>b</a>")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes") == "2")
        links = [c for c in v.rows("changes", "refs")]
        equal(len(links), 1)
        equal((links[0]["inserted"], links[0]["deleted"]), (1, 0))
        equal(links[0]["detail"]["leaves"][0]["inserted"], [f"{site.url}/b"])
        contains(v.run("changes").stdout, "loud")
        contains(v.run("diff", "refs").stdout, f"+ {site.url}/b")
        equal(v.rows("show", "news")[0]["state"], "active")


@test("two sentinels that look at one page at the same moments cost one request")
def _():
    with Site() as site, Vigil() as v:
        site.put("/p", "<p>x</p>")
        v.add(f"CREATE SENTINEL a USING {site.url}/p MONITOR links FETCH EVERY 1 second;"
              f"CREATE SENTINEL b USING {site.url}/p MONITOR any change FETCH EVERY 1 second;")
        v.start()
        wait_until(lambda: site.count("/p") >= 4)
        times = [t for t, p, _ in site.requests if p == "/p"]
        gaps = [b - a for a, b in zip(times[1:], times[2:])]
        assert all(g > 0.5 for g in gaps), gaps


@test("after a stop and a start the history goes on where it was")
def _():
    with Site() as site, Vigil() as v:
        site.put("/p", "<p>1</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR any change FETCH EVERY 1 second")
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
        v.stop()
        site.put("/p", "<p>2</p>")
        v.start()
        wait_until(lambda: v.sql("SELECT old_version || '-' || new_version FROM vigil.changes")
                   == "1-2")
        v.stop()
        equal(v.rows("list")[0]["changes"], 1)


main()
