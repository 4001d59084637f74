"""The engine is killed again and again; its history is that of a run nobody disturbed."""
import re

from history import *
from receivers import Hook, Moody

KILLS = int(os.environ.get("VIGIL_TEST_KILLS", "40"))
HITS = [int(n) for n in os.environ.get("VIGIL_TEST_HITS", "1").split()]


def small_web(site):
    site.page("/plain", step=0.3)
    site.page("/etag", step=1.3, kind="etag")
    site.page("/modified", step=2.0, kind="modified")
    site.page("/flip", step=0.7, kind="flip")
    site.page("/slow", step=0.4, kind="slow")


def requests_so_far(site):
    with site.lock:
        return len(site.requests)


def kill_once(v, site, dice):
    """Starts the engine and kills it: at any moment of its start, or up to half a second
    after it began to work."""
    seen = requests_so_far(site)
    v.start(wait=False)
    if dice.random() < 0.3:
        time.sleep(dice.uniform(0, 0.7))
    else:
        wait_until(lambda: requests_so_far(site) > seen or v.engine.poll() is not None, 30,
                   "the engine asks for a page")
        time.sleep(dice.uniform(0, 0.5))
    assert v.engine.poll() is None, "the engine ended by itself:\n" + v.output()[-3000:]
    if dice.random() < 0.15:  # as in a power cut, its database dies with it
        with contextlib.suppress(OSError, ValueError):
            os.kill(v.postmaster(), signal.SIGKILL)
    v.kill()


def audit_deliveries(v, hook, kills):
    """Every change was told to the receiver; what came twice came under its key again, and no
    more often than the engine was killed."""
    pending = "SELECT sentinel, attempts, next_try_at, error FROM vigil.notifications WHERE state = 'pending'"
    deadline = time.monotonic() + 90 * SLOW
    while rows := table(v, pending):
        assert time.monotonic() < deadline, f"{len(rows)} were not delivered: {rows[:5]}\n{v.output()[-2000:]}"
        time.sleep(0.3)
    equal(v.sql("SELECT count(*) FROM vigil.notifications WHERE state <> 'sent'"), "0")
    told = {}
    with hook.lock:
        accepted = [(headers["Idempotency-Key"], json.loads(body)) for _, headers, body in hook.accepted]
    for key, body in accepted:
        for item in body["items"]:
            told.setdefault((item["sentinel"], item["new_version"]), set()).add(key)
    changes = {(c["sentinel"], c["new_version"])
               for c in table(v, "SELECT sentinel, new_version FROM vigil.changes")}
    lost, surplus = changes - set(told), set(told) - changes
    assert not lost and not surplus, f"never told: {sorted(lost)[:10]}; told of nothing: {sorted(surplus)[:10]}"
    doubled = {what: keys for what, keys in told.items() if len(keys) > 1}
    equal(doubled, {})
    repeated = len(accepted) - len({key for key, _ in accepted})
    under_way = 8  # notify.host_connections: what a kill finds between the answer and its commit
    assert repeated <= kills * under_way, f"{repeated} deliveries came again after {kills} kills"
    return {"told": len(accepted), "refused": hook.answers.refused, "came again": repeated}


@test(f"killed {KILLS} times at random moments, with a receiver that refuses one in ten, it loses"
      " nothing and doubles nothing")
def _():
    dice = seeded()
    with Counters() as site, Hook() as hook, Vigil(
            made=True, args=["--set", "notify.allow=127.0.0.0/8"]) as v:
        hook.answers = Moody(dice, one_in=10)
        small_web(site)
        v.add(site.sentinels(f"NOTIFY BY webhook {hook.url}/"))
        snapshots = []
        for kill in range(KILLS):
            kill_once(v, site, dice)
            if kill % 25 == 24:
                snapshots.append(snapshot(v))
        v.start()
        site.freeze()
        settle(v, site)
        figures = audit(v, site)
        for earlier in snapshots:
            equal(missing(v, earlier), [])
        figures |= audit_deliveries(v, hook, KILLS)
        v.stop()
        equal(processes_of(v), [])
        print(f"# {KILLS} kills: {figures}")


def points(who):
    """The crash points a program of this kind passes."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    with open(os.path.join(root, "base/crash_points.def")) as f:
        return [n for n, w in re.findall(r"^POINT\((\w+), (\w+),", f.read(), re.M) if w == who]


# An engine signs once in its life; nobody meets these a second time.
ONCE = ("before_engine_sign", "after_engine_sign")


def busy_with_requests(number, page):
    """One sentinel's whole life, asked for by SQL, so that every place of a plan is passed."""
    name = f"extra{number}"
    ask = [f"create_sentinel('CREATE SENTINEL {name} USING {page}/extra{number} MONITOR links FROM now + 1 day')",
           f"create_sentinel('CREATE OR REPLACE SENTINEL {name} USING {page}/extra MONITOR links FROM now + 1 day')",
           f"disable('{name}')", f"enable('{name}')", f"drop_sentinel('{name}')"]
    return "; ".join(f"SELECT vigil.{a}" for a in ask)


@test(f"killed at every named place, the {HITS} time it comes by, all the same")
def _():
    with Postgres() as server, Counters() as site:
        db = server.database()
        with Vigil(db=db, args=["--set", "store.sweep_every=100ms"]) as v:
            small_web(site)
            site.page("/still", step=1e9)  # fetched, and nothing new, each second
            v.add(site.sentinels())
            name = db.rsplit("/", 1)[1]
            kills, places = 0, points("ENGINE")
            for place in places:
                for hit in HITS if place not in ONCE else HITS[:1]:
                    for again in range(hit):
                        server.psql(name, busy_with_requests(f"{kills}_{again}", site.url))
                    v.env["VIGIL_CRASH_POINT"] = f"{place}:{hit}"
                    v.start(wait=False)
                    try:
                        code = v.engine.wait(60 * SLOW + 10 * hit)
                    except subprocess.TimeoutExpired:
                        raise AssertionError(f"it never came by {place}:{hit}\n" + v.output()[-1000:])
                    equal((place, hit, code), (place, hit, 137))
                    v.engine = None
                    v.out.close()
                    kills += 1
            del v.env["VIGIL_CRASH_POINT"]
            v.start()
            wait_until(lambda: server.psql(name, "SELECT count(*) FROM vigil.requests WHERE state = 'waiting'") == "0", 120)
            equal(server.psql(name, "SELECT string_agg(answer, ' ') FROM vigil.requests WHERE exit_code <> 0"), "")
            site.freeze()
            settle(v, site)
            figures = audit(v, site)
            print(f"# {kills} kills at {len(places)} places: {figures}")


@test("a command killed at its commit has either done all it was asked or nothing")
def _():
    with Site() as site, Vigil(made=True) as v:
        v.run("list")
        many = "".join(f"CREATE SENTINEL s{i} USING {site.url}/{i} MONITOR links;" for i in range(50))
        for place, there in (("before_command_commit", "0"), ("after_command_commit", "50")):
            v.env["VIGIL_CRASH_POINT"] = place
            v.add(many, code=137)
            del v.env["VIGIL_CRASH_POINT"]
            equal(v.sql("SELECT count(*) FROM vigil.status"), there)
            equal(v.sql("SELECT count(*) FROM vigil.events WHERE kind = 'create'"), there)
        contains(v.add(many, code=1).stderr, "s0")
        equal(v.sql("SELECT count(*) FROM vigil.status"), "50")
        equal(processes_of(v), [])


@test("a file of definitions sent to an engine that is killed meanwhile is installed whole, once,"
      " or not at all; what was acknowledged is there")
def _():
    dice = seeded()
    with Site() as site, Vigil(made=True) as v:
        v.run("list")
        answers, adding = {}, True

        def add():
            number = 0
            while adding:
                number += 1
                page = f"USING {site.url}/{number} MONITOR links FETCH EVERY 1 second;"
                done = v.add("".join(f"CREATE SENTINEL n{number}_{i} {page}" for i in range(3)),
                             code=None)
                answers[number] = (done.returncode, done.stderr)
        clients = threading.Thread(target=add)
        clients.start()
        try:
            for _ in range(20):
                v.start(wait=False)
                time.sleep(dice.uniform(0.2, 1.5))
                assert v.engine.poll() is None, v.output()[-3000:]
                v.kill()
        finally:
            adding = False
            clients.join()
        v.start()
        names = v.sql("SELECT name FROM vigil.status").split()
        waiting = "SELECT count(*) FROM vigil.requests WHERE state = 'waiting'"
        wait_until(lambda: v.sql(waiting) == "0")
        codes = [code for code, _ in answers.values()]
        print(f"# {len(codes)} files: {codes.count(0)} acknowledged, {len(codes) - codes.count(0)}"
              f" not; {len(names)} sentinels")
        for number, (code, words) in answers.items():
            there = sum(name.startswith(f"n{number}_") for name in names)
            assert there in (0, 3), f"file {number}: {there} of 3; {code} {words}"
            assert code in (0, 1, 2), (code, words)
            if code == 0:
                equal((number, there), (number, 3))
            if code == 1:
                equal((number, there, words), (number, 0, words))
        equal(v.sql("SELECT count(*) FROM (SELECT sentinel FROM vigil.events WHERE kind = 'create'"
                    " GROUP BY sentinel HAVING count(*) <> 1) x"), "0")
        v.stop()
        equal(processes_of(v), [])


@test("what SQL asked for is done once, though the engine is killed at every place on the way")
def _():
    with Site() as site, Vigil(made=True) as v:
        v.run("list")
        number = 0
        for place in ("after_begin", "before_answer", "after_answer", "after_step_create", "before_commit",
                      "after_commit_plan", "before_done", "after_done", "before_request_told"):
            number += 1
            ask = f"CREATE SENTINEL s{number} USING {site.url}/p MONITOR links"
            request = v.sql(f"SELECT vigil.create_sentinel('{ask}')")
            v.env["VIGIL_CRASH_POINT"] = place
            v.start(wait=False)
            equal((place, v.engine.wait(60 * SLOW)), (place, 137))
            v.engine = None
            v.out.close()
            del v.env["VIGIL_CRASH_POINT"]
            v.start()
            wait_until(lambda: v.sql("SELECT state, exit_code FROM vigil.requests"
                                     f" WHERE id = {request}") == "done|0")
            equal(v.sql(f"SELECT count(*) FROM vigil.events WHERE sentinel = 's{number}'"
                        " AND kind = 'create'"), "1")
            v.sql(f"SELECT vigil.disable('s{number}')")
            wait_until(lambda: v.sql(f"SELECT state FROM vigil.status WHERE name = 's{number}'")
                       == "disabled")
            v.kill()


@test("a chain of sentinels, each waiting for the end of the one before, passes through a storm of"
      " kills with every start and end at the instant it was due, once")
def _():
    dice = seeded()
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        v.run("list")
        begin = int(time.time() + 3)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))
        page = f"USING {site.url}/p MONITOR links FETCH EVERY 1 second"
        text = f"CREATE SENTINEL s0 {page} FROM {when} FOR 1 second;"
        due, end = {("s0", "start"): begin, ("s0", "end"): begin + 1}, begin + 1
        for i in range(1, 12):
            wait = i % 3
            offset = f" + {wait} seconds" if wait else ""
            text += f"CREATE SENTINEL s{i} {page} FROM end(s{i - 1}){offset} FOR 1 second;"
            text += f"CREATE SENTINEL with{i} {page} FROM start(s{i}) TO end(s{i});"
            for name in (f"s{i}", f"with{i}"):
                due[name, "start"], due[name, "end"] = end + wait, end + wait + 1
            end += wait + 1
        v.add(text)
        kills = 0
        while time.time() < end + 1:
            v.start(wait=False)
            time.sleep(dice.uniform(0.2, 1.0))
            assert v.engine.poll() is None, v.output()[-3000:]
            v.kill()
            kills += 1
        v.start()
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.status WHERE state <> 'ended'") == "0")
        rows = table(v, "SELECT sentinel, kind, extract(epoch FROM at)::float AS at, detail"
                        " FROM vigil.events WHERE kind IN ('start', 'end')")
        found = {(r["sentinel"], r["kind"]): r["at"] for r in rows}
        equal(len(rows), len(found))
        wrong = {k: (found.get(k), due[k]) for k in due
                 if abs(found.get(k, 0) - due[k]) > 0.001}
        equal(wrong, {})
        equal({r["detail"] for r in rows if r["kind"] == "end"}, {"to-reached"})
        print(f"# {kills} kills, {len(rows)} starts and ends")


@test("a dead engine's lock that a dying child still holds for a moment is waited for")
def _():
    import fcntl
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR links FETCH EVERY 1 second")
        v.start()
        dead = v.engine.pid
        wait_until(lambda: site.count("/p") >= 1)
        with open(os.path.join(v.data, "lock"), "r+") as lock:
            text = lock.read()
            contains(text, f"engine {dead}")
            v.kill()
            wait_until(lambda: not processes_of(v), 10)
            fcntl.flock(lock, fcntl.LOCK_EX)
            v.start(wait=False)
            time.sleep(1)
            assert v.engine.poll() is None, "it did not wait:\n" + v.output()[-500:]
            fcntl.flock(lock, fcntl.LOCK_UN)
        seen = site.count("/p")
        wait_until(lambda: site.count("/p") > seen)


@test("told to stop at any moment of its start, it leaves nothing running and starts again")
def _():
    dice = seeded()
    with Site() as site, Vigil(made=True) as v:
        site.put("/p", "<p>x</p>")
        v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR links FETCH EVERY 1 second")
        for how in [signal.SIGTERM, signal.SIGINT] * 8:
            v.start(wait=False)
            time.sleep(dice.uniform(0, 0.6))
            assert v.engine.poll() is None, v.output()[-3000:]
            code = v.kill(how)
            assert code in (0, -how, 128 + how), f"{how.name}: ended with {code}\n{v.output()[-3000:]}"
            wait_until(lambda: not processes_of(v), 10, "nothing is left running")
        seen = site.count("/p")
        v.start()
        wait_until(lambda: site.count("/p") >= seen + 2)
        equal(v.sql("SELECT count(*) FROM vigil.versions"), "1")


@test("killed while it makes or upgrades its database, the next start finishes the work")
def _():
    with Site() as site:
        for hit in (1, 2, 3):
            with Vigil(env={"VIGIL_CRASH_POINT": f"before_migration_commit:{hit}"}) as v:
                v.run("list", code=None)
                del v.env["VIGIL_CRASH_POINT"]
                site.put("/p", "<p>1</p>")
                v.add(f"CREATE SENTINEL s USING {site.url}/p MONITOR links FETCH EVERY 1 second")
                v.start()
                wait_until(lambda: v.sql("SELECT count(*) FROM vigil.versions") == "1")
                v.stop()
                equal(processes_of(v), [])


main()
