"""Page readers in a running engine: a page that costs its reader is that page's error, nobody
else notices, and no process is left behind."""
from harness import *

pg = shared(Postgres)
SHORT = [*TRY, "--set", "page.deadline=300ms", "--set", "page.workers=2"]


def sentinel(name, url, monitor="any change"):
    return f"CREATE SENTINEL {name} USING {url} MONITOR {monitor} FETCH EVERY 1 second;\n"


def readers(v):
    """The process ids of the engine's readers, zombies among them."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path) as f:
            pid, rest = f.read().split(" (", 1)
            name, fields = rest.rsplit(") ", 1)
            if int(fields.split()[1]) == v and name == "vigil-reader":
                found.append(int(pid))
    return found


def is_alive(pid):
    return os.path.exists(f"/proc/{pid}")


def error_of(v, name):
    return v.sql(f"SELECT error FROM vigil.status WHERE name = '{name}'")


def versions(v, url):
    return int(v.sql(f"SELECT count(*) FROM vigil.versions WHERE url = '{url}'"))


def field(pid, name):
    with open(f"/proc/{pid}/status") as f:
        return next(line.split()[1] for line in f if line.startswith(name + ":"))


@test("readers are confined: no environment, no new rights, a filter on their system calls")
def _():
    with Site() as site, Vigil(db=pg().database(), env={"SECRET": "canary"}) as v:
        site.put("/a", "<p>a")
        v.add(sentinel("a", site.url + "/a"))
        v.start(settings=SHORT)
        wait_until(lambda: versions(v, site.url + "/a") == 1)
        pids = readers(v.engine.pid)
        assert pids
        for pid in pids:
            equal(field(pid, "Seccomp"), "2")
            equal(field(pid, "NoNewPrivs"), "1")
            with contextlib.suppress(PermissionError):  # only root may look
                with open(f"/proc/{pid}/environ") as f:
                    equal(f.read(), "")
                equal(sorted(os.listdir(f"/proc/{pid}/fd")), ["0", "1", "2", "3"])
        read = v.status()["read"]
        assert read["pages"] >= 1 and read["workers"] == len(pids), read
        v.stop()
        assert not any(map(is_alive, pids)), "readers outlive the engine"


@test("a reader that hangs is killed at the deadline: an error of that page, which then recovers")
def _():
    with Site() as site, Vigil(db=pg().database()) as v:
        site.put("/a", "<p>a")
        v.add(sentinel("a", site.url + "/a"))
        v.start(settings=SHORT)
        wait_until(lambda: versions(v, site.url + "/a") == 1)
        stopped = readers(v.engine.pid)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        site.put("/a", "<p>b")
        wait_until(lambda: v.status()["read"]["killed"] >= 1)
        wait_until(lambda: versions(v, site.url + "/a") == 2)
        detail = v.sql("SELECT detail FROM vigil.events WHERE kind = 'error'")
        contains(detail, "the page could not be read: the reader was killed after 300 ms")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.events WHERE kind = 'recovered'") == "1")
        wait_until(lambda: not any(map(is_alive, stopped)), what="killed readers are reaped")
        equal(error_of(v, "a"), "")
        equal(v.sql("SELECT count(*) FROM vigil.changes"), "1")


@test("idle readers may be killed by anybody: they are replaced and nothing is lost")
def _():
    with Site() as site, Vigil(db=pg().database()) as v:
        site.put("/a", "<p>0")
        v.add(sentinel("a", site.url + "/a"))
        v.start(settings=SHORT)
        for n in range(1, 4):
            wait_until(lambda: versions(v, site.url + "/a") == n)
            for pid in readers(v.engine.pid):
                os.kill(pid, signal.SIGKILL)
            site.put("/a", f"<p>{n}")
        wait_until(lambda: versions(v, site.url + "/a") == 4)
        zombies = [p for p in readers(v.engine.pid) if field(p, "State") == "Z"]
        equal(zombies, [])


@test("a page that costs three readers is quarantined until it changes; others go on")
def _():
    # Much more than can be read in the deadline, on any machine.
    heavy = "<p>" + "".join(f"<a href=/{i}?{'x' * 40}>a &amp; b</a>" for i in range(250000))
    with Site() as site, Vigil(db=pg().database()) as v:
        site.put("/heavy", heavy)
        site.put("/light", "<p>0")
        v.add(sentinel("heavy", site.url + "/heavy") + sentinel("light", site.url + "/light"))
        v.start(settings=[*TRY, "--set", "page.deadline=100ms", "--set", "fetch.max_body=64MiB",
                          "--set", "store.max_pending_bytes=1GiB"])
        wait_until(lambda: "quarantined until it changes: it cost 3 readers; "
                           "the page could not be read: the reader was killed after 100 ms"
                           in error_of(v, "heavy"), 60)
        equal(v.status()["read"]["quarantined"], 1)
        fetches = site.count("/heavy")
        killed = v.status()["read"]["killed"]
        site.put("/light", "<p>1")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes WHERE sentinel = 'light'") == "1")
        wait_until(lambda: site.count("/heavy") > fetches + 1, 60, "it is fetched again")
        equal(v.status()["read"]["killed"], killed)  # but not read
        equal(versions(v, site.url + "/heavy"), 0)
        site.put("/heavy", "<p>light now")
        wait_until(lambda: versions(v, site.url + "/heavy") == 1, 60)
        equal(v.status()["read"]["quarantined"], 0)
        wait_until(lambda: error_of(v, "heavy") == "")


@test("an engine that is killed leaves no reader behind, busy or idle")
def _():
    with Site() as site, Vigil(db=pg().database()) as v:
        site.put("/a", "<p>0")
        v.add(sentinel("a", site.url + "/a"))
        v.start(settings=SHORT)
        wait_until(lambda: versions(v, site.url + "/a") == 1)
        pids = readers(v.engine.pid)
        assert pids
        v.kill(signal.SIGKILL)
        wait_until(lambda: not any(map(is_alive, pids)), what="the readers are gone")


@test("patterns and selectors made to take for ever: could not look, and the loop never stalls")
def _():
    bombs = ["regexp '(a+)+[bc]'", "regexp '(?:a|aa)+[bc]' on text",
             "regexp 'a{0,150}a{0,150}a{0,2}[bc]'",
             "all words in xpath '//*[contains(., \"a\")]//*[contains(., \"zz\")]'"]
    page = "<div>" * 5000 + "a" * 300000
    with Site() as site, Vigil(db=pg().database()) as v:
        site.put("/bomb", page)
        site.put("/light", "<p>0")
        v.add("".join(sentinel(f"b{i}", site.url + "/bomb", m) for i, m in enumerate(bombs))
              + sentinel("light", site.url + "/light"))
        v.start()
        wait_until(lambda: versions(v, site.url + "/bomb") == 1)
        site.put("/bomb", page + "b")
        site.put("/light", "<p>1")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.status WHERE name LIKE 'b%' AND "
                                 "last_result = 'not computed'") == str(len(bombs)), 60)
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.changes WHERE sentinel = 'light'") == "1")
        equal(v.sql("SELECT count(*) FROM vigil.changes"), "1")
        equal(v.status()["events"]["stalls"], 0)


@test("the hidden word by hand says who is meant, and reads nothing")
def _():
    done = subprocess.run([VIGIL, "--page-reader"], capture_output=True, text=True, timeout=20,
                          stdin=subprocess.DEVNULL)
    equal(done.returncode, 1)
    contains(done.stderr, "started by vigil itself")


main()
