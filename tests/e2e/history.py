"""Pages whose every version is known, and an audit of what Vigil recorded of them.

A page is a counter that moves with the clock; what was served to whom is logged.  Version
numbers, bodies, chains of changes, their details, counters and notifications in the
database must then be what an undisturbed run would have recorded from the same answers.

    with Counters() as site, Vigil() as v:
        site.page("/a", step=0.3)
        v.add(site.sentinels())
        ... disturb ...
        site.freeze()
        figures = audit(v, site)
"""
import ctypes
import email.utils
import hashlib
import random

from harness import *

_zstd = ctypes.CDLL("libzstd.so.1")
_zstd.ZSTD_createDCtx.restype = ctypes.c_void_p
_zstd.ZSTD_decompressDCtx.restype = ctypes.c_size_t
_zstd.ZSTD_DCtx_refPrefix.restype = ctypes.c_size_t
_reader = ctypes.c_void_p(_zstd.ZSTD_createDCtx())


def unzstd(data, size, base=None):
    """A stored body; one that is a delta needs the body it is a delta of."""
    room = ctypes.create_string_buffer(size + 1)
    if base is not None:
        _zstd.ZSTD_DCtx_refPrefix(_reader, base, ctypes.c_size_t(len(base)))
    got = _zstd.ZSTD_decompressDCtx(_reader, room, ctypes.c_size_t(size + 1), data,
                                    ctypes.c_size_t(len(data)))
    assert got == size, f"a stored body has {got} bytes, its row says {size}"
    return room.raw[:size]


class Counter:
    """One page; its n-th state is a function of n alone."""

    def __init__(self, path, step, kind):
        self.path, self.step, self.kind = path, step, kind
        self.name = path.strip("/")
        self.filler = "".join(f"<p>line {i} of a long page</p>\n" for i in range(4000)) \
            if kind == "slow" else ""

    def unseen(self, n):
        """A comment of which half is new every other time, so that the page is soon kept whole again,
        and what was whole before becomes a delta."""
        if self.kind != "etag":
            return ""
        text = "".join(hashlib.sha256(f"{i}".encode()).hexdigest() for i in range(50)) + \
            "".join(hashlib.sha256(f"{n // 2} {i}".encode()).hexdigest() for i in range(50))
        return f"<!-- {text} -->\n"

    def state(self, n):
        """What of n can be seen: (counter, link, number of items)."""
        n = n % 3 if self.kind == "flip" else n
        return n, n // 3, n % 4

    def body(self, n):
        count, link, items = self.state(n)
        return (f"<html><head><title>{self.name}</title></head><body><h1>{self.name}</h1>\n"
                f"<p>version {count}</p>\n{self.unseen(count)}{self.filler}"
                f"<p><a href='/l/{link}'>more</a> <a href=/home>home</a></p>\n<ul>"
                + "".join(f"<li>item {i}</li>" for i in range(items)) + "</ul></body></html>\n")

    def links(self, n):
        return {f"/l/{self.state(n)[1]}", "/home"}


class Counters(Site):
    def __init__(self):
        super().__init__()
        self.counters, self.served = {}, []
        self.begun = time.time()
        self.frozen_at = None

    def page(self, path, step, kind="plain"):
        self.counters[path] = counter = Counter(path, step, kind)
        self.put(path, lambda handler: self.serve(counter, handler))
        return counter

    def freeze(self):
        """From now on every page stays as it is."""
        self.frozen_at = time.time()

    def number(self, counter):
        return int(((self.frozen_at or time.time()) - self.begun) / counter.step)

    def serve(self, counter, handler):
        # Number and log entry in one breath, so that the log is in the order of the numbers.
        with self.lock:
            n = self.number(counter)
            self.served.append((time.time(), counter.path, n))
        headers = []
        if counter.kind == "etag":
            headers = [("ETag", f'"v{n}"')]
            if handler.headers.get("If-None-Match") == f'"v{n}"':
                handler.send_response(304)
                handler.send_header("ETag", f'"v{n}"')
                handler.end_headers()
                return
        if counter.kind == "modified":
            at = email.utils.formatdate(int(self.begun + n * counter.step), usegmt=True)
            headers = [("Last-Modified", at)]
            if handler.headers.get("If-Modified-Since") == at:
                handler.send_response(304)
                handler.end_headers()
                return
        if counter.kind == "slow":
            time.sleep(0.1)
        handler.answer(200, counter.body(n), headers)

    def sentinels(self, notify=""):
        """Several on every page; those of one period share a stream."""
        text = ""
        for c in self.counters.values():
            page = f"USING {self.url}{c.path} MONITOR"
            text += f"""
                CREATE SENTINEL {c.name}_any1 {page} any change FETCH EVERY 1 second;
                CREATE SENTINEL {c.name}_links1 {page} links FETCH EVERY 1 second;
                CREATE SENTINEL {c.name}_any2 {page} any change FETCH EVERY 2 seconds;
                CREATE SENTINEL {c.name}_links2 {page} links FETCH EVERY 2 seconds;
                CREATE SENTINEL {c.name}_any3 {page} any change FETCH EVERY 3 seconds;
                CREATE SENTINEL {c.name}_any0 {page} any change FETCH ON CHANGE;
                CREATE SENTINEL {c.name}_links0 {page} links FETCH ON CHANGE;"""
        return text.replace(";", f" {notify};") if notify else text


def table(v, query):
    return json.loads(v.sql(f"SELECT coalesce(json_agg(r), '[]') FROM ({query}) r"))


def snapshot(v):
    """What is committed now; none of it may ever be different later."""
    return (table(v, "SELECT url, version, digest FROM vigil.versions"),
            table(v, "SELECT id, sentinel, old_version, new_version, detail FROM vigil.changes"))


def missing(v, earlier):
    """Rows of an earlier snapshot that are gone or different."""
    now = [{json.dumps(r, sort_keys=True) for r in rows} for rows in snapshot(v)]
    return [r for rows, is_there in zip(earlier, now) for r in rows
            if json.dumps(r, sort_keys=True) not in is_there]


def settle(v, site, seconds=30):
    """With the pages frozen, waits until every sentinel has seen its page's last state."""
    def behind():
        want = {c.path: hashlib.sha256(c.body(site.number(c)).encode()).hexdigest()
                for c in site.counters.values()}
        rows = table(v, """SELECT s.name, p.url, encode(g.body_sha256, 'hex') AS digest,
                t.last_version, g.latest_version FROM vigil_kb.sentinel s
                JOIN vigil_kb.sentinel_state t ON t.sentinel_id = s.id
                JOIN vigil_kb.page p ON p.id = s.page_id
                JOIN vigil_kb.page_state g ON g.page_id = p.id""")
        return [r for r in rows if r["digest"] != want[r["url"][len(site.url):]]
                or r["last_version"] != r["latest_version"]]
    deadline = time.monotonic() + seconds * SLOW
    while late := behind():
        assert time.monotonic() < deadline, f"these never saw the last state: {late}\n" + v.output()[-3000:]
        time.sleep(0.3)


class Auditor:
    def __init__(self, v, site):
        self.v, self.site, self.wrong = v, site, []
        self.versions = self.changes_seen = 0

    def check(self, holds, sentence):
        if not holds:
            self.wrong.append(sentence)

    # -- versions

    def page_versions(self, counter):
        """{version: n} of a page, having checked numbers, bodies and their order."""
        rows = table(self.v, f"""SELECT v.version, encode(v.body_sha256, 'hex') AS digest, b.bytes,
                encode(b.zstd, 'hex') AS zstd, encode(b.base_sha256, 'hex') AS base
                FROM vigil_kb.version v
                JOIN vigil_kb.page p ON p.id = v.page_id
                JOIN vigil_kb.body b ON b.sha256 = v.body_sha256
                WHERE p.url = '{self.site.url}{counter.path}' ORDER BY version""")
        self.versions += len(rows)
        numbers = [r["version"] for r in rows]
        self.check(numbers == list(range(1, len(rows) + 1)),
                   f"{counter.path}: versions are {numbers}")
        log = [n for _, path, n in self.site.served if path == counter.path]
        digests = {}
        for n in set(log):
            digests.setdefault(hashlib.sha256(counter.body(n).encode()).hexdigest(), set()).add(n)
        known, place, before = {}, 0, None
        stored = {r["digest"]: r for r in rows}

        def unpack(digest, depth=0):
            row = stored[digest]
            assert depth < 16, f"{counter.path}: a chain of more than 16 deltas"
            base = unpack(row["base"], depth + 1) if row["base"] else None
            return unzstd(bytes.fromhex(row["zstd"]), row["bytes"], base)
        for row in rows:
            where = f"{counter.path} version {row['version']}"
            body = unpack(row["digest"])
            self.check(hashlib.sha256(body).hexdigest() == row["digest"],
                       f"{where}: the stored body is not what its digest says")
            self.check(row["digest"] in digests, f"{where} was never served: {body[:200]!r}")
            self.check(row["digest"] != before, f"{where} equals the one before")
            before = row["digest"]
            while place < len(log) and log[place] not in digests.get(row["digest"], ()):
                place += 1
            self.check(place < len(log), f"{where}: not in the order of serving")
            if place < len(log):
                known[row["version"]] = log[place]
                place += 1
        return known

    # -- one sentinel's changes

    def detail(self, counter, change, old, new):
        """The recorded detail against the real difference of the two bodies."""
        where = f"{change['sentinel']} {change['old_version']}→{change['new_version']}"
        leaf = change["detail"]["leaves"][0]
        got = {k: leaf[k] for k in ("inserted", "deleted", "moved")}
        got["updated"] = [(u["old"], u["new"]) for u in leaf["updated"]]
        (count0, link0, items0), (count1, link1, items1) = counter.state(old), counter.state(new)
        if leaf["type"] == "links":
            expected = {"inserted": [f"{self.site.url}/l/{link1}"],
                        "deleted": [f"{self.site.url}/l/{link0}"], "moved": [], "updated": []}
        else:
            expected = {"inserted": [f"item {i}" for i in range(items0, items1)],
                        "deleted": [f"item {i}" for i in range(items1, items0)], "moved": [],
                        "updated": [(f"version {count0}", f"version {count1}")]}
            if link0 != link1:
                expected["updated"] += [(f'href="/l/{link0}"', f'href="/l/{link1}"')]
        self.check(got == expected, f"{where}: {got} is not {expected}")
        for k in expected:
            self.check(change[k] == len(expected[k]), f"{where}: counts {change[k]} {k}")

    def chain(self, counter, known, name, state, changes, expected):
        """A sentinel's changes are exactly the expected pairs of versions, once each."""
        pairs = [(c["old_version"], c["new_version"]) for c in changes]
        self.changes_seen += len(pairs)
        self.check(len(set(pairs)) == len(pairs), f"{name}: a change is doubled: {pairs}")
        if expected is not None:
            lost, surplus = set(expected) - set(pairs), set(pairs) - set(expected)
            self.check(pairs == expected, f"{name}: lost {lost}, surplus {surplus}")
        self.check(state["changes"] == len(pairs),
                   f"{name}: the counter says {state['changes']} changes, there are {len(pairs)}")
        self.check(state["notifications"] == len(pairs),
                   f"{name}: the counter says {state['notifications']} notifications for "
                   f"{len(pairs)} changes")
        for c in changes:
            self.check(c["new_version"] in known and c["old_version"] in known,
                       f"{name}: a change of versions that do not exist: {c}")
            if c["new_version"] in known and c["old_version"] in known:
                self.detail(counter, c, known[c["old_version"]], known[c["new_version"]])

    def visible_chain(self, counter, known, name, changes, last):
        """Nothing is skipped: what a sentinel saw last is what it compares with next."""
        seen = 1
        for c in changes:
            self.check(counter.state(known.get(c["old_version"], -1))
                       == counter.state(known.get(seen, -1)),
                       f"{name}: compared with version {c['old_version']}, had seen {seen}")
            seen = c["new_version"]
        self.check(counter.state(known.get(last, -1)) == counter.state(known.get(seen, -1)),
                   f"{name}: saw version {last}, its last change is of {seen}")

    def page(self, counter, states, changes):
        known = self.page_versions(counter)
        newest = max(known, default=0)

        def of(kind):
            name = f"{counter.name}_{kind}"
            return name, states[name], [c for c in changes if c["sentinel"] == name]

        for period in ("1", "2", "3", "0"):
            name, any_state, any_changes = of("any" + period)
            self.visible_chain(counter, known, name, any_changes, any_state["last_version"])
            self.check(any_state["last_version"] == newest,
                       f"{name} saw {any_state['last_version']} of {newest}")
            pairs = [(c["old_version"], c["new_version"]) for c in any_changes]
            expected = [(k, k + 1) for k in range(1, newest)] if period == "0" else None
            self.chain(counter, known, name, any_state, any_changes, expected)
            if counter.kind != "flip" or period == "0":
                self.check(all(a[1] == b[0] for a, b in zip(pairs, pairs[1:])),
                           f"{name}: the chain is broken: {pairs}")
                self.check(any_state["evaluations"] == len(pairs),
                           f"{name}: {any_state['evaluations']} evaluations, {len(pairs)} pairs")
            if period == "3":
                continue
            name, state, link_changes = of("links" + period)
            expected = None
            if counter.kind != "flip" or period == "0":
                expected = [(a, b) for a, b in pairs if a in known and b in known
                            and counter.links(known[a]) != counter.links(known[b])]
            self.chain(counter, known, name, state, link_changes, expected)
            self.check(state["evaluations"] == any_state["evaluations"],
                       f"{name}: {state['evaluations']} evaluations, "
                       f"in its stream {any_state['evaluations']}")

    # -- all of it

    def zero(self, query, sentence):
        count = self.v.sql(f"SELECT count(*) FROM {query}")
        self.check(count == "0", f"{count} {sentence}")

    def rows(self):
        self.zero("vigil_kb.change c WHERE 1 <> (SELECT count(*) FROM vigil_kb.notification n"
                  " WHERE n.change_id = c.id)", "changes have not exactly one notification")
        self.zero("vigil_kb.change c WHERE NOT EXISTS (SELECT FROM vigil_kb.version v"
                  " WHERE (v.page_id, v.version) = (c.page_id, c.new_version))",
                  "changes have no version")
        self.zero("vigil_kb.body b WHERE NOT EXISTS (SELECT FROM vigil_kb.version v"
                  " WHERE v.body_sha256 = b.sha256)", "bodies belong to no version")
        self.zero("vigil_kb.page_state g WHERE latest_version <> (SELECT coalesce(max(version), 0)"
                  " FROM vigil_kb.version v WHERE v.page_id = g.page_id)",
                  "pages have a newest version that is not the newest")
        self.zero("vigil_kb.version v JOIN vigil_kb.version w ON w.page_id = v.page_id"
                  " AND w.version = v.version + 1 AND w.fetched_at <= v.fetched_at",
                  "versions were fetched before their predecessors")
        self.zero("(SELECT sentinel FROM vigil.events WHERE kind IN ('create', 'start')"
                  " GROUP BY sentinel, kind HAVING count(*) <> 1) x",
                  "sentinels were created or started more than once")
        self.zero("vigil.status WHERE error IS NOT NULL", "sentinels are in error")

    def audit(self):
        states = {s["name"]: s for s in table(self.v, """SELECT s.name, t.* FROM vigil_kb.sentinel s
                  JOIN vigil_kb.sentinel_state t ON t.sentinel_id = s.id""")}
        changes = table(self.v, "SELECT * FROM vigil.changes ORDER BY id")
        equal(len(states), 7 * len(self.site.counters))
        for counter in self.site.counters.values():
            self.page(counter, states, changes)
        self.rows()
        assert not self.wrong, f"{len(self.wrong)} things are wrong:\n" + "\n".join(self.wrong[:40])
        return {"versions": self.versions, "changes": self.changes_seen,
                "served": len(self.site.served)}


def audit(v, site):
    return Auditor(v, site).audit()


def processes_of(v):
    """Whatever still runs on this data directory; those that died unreaped do not run."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                command = f.read().replace(b"\0", b" ").decode(errors="replace")
            if v.home in command or os.readlink(f"/proc/{pid}/cwd").startswith(v.home):
                found.append(f"{pid} {command}")
        except OSError:  # it ended while we looked
            pass
    return found


def seeded():
    """A random generator whose seed is printed; VIGIL_TEST_SEED repeats a run."""
    seed = int(os.environ.get("VIGIL_TEST_SEED") or time.time_ns() % 1000000)
    print(f"# seed {seed}: VIGIL_TEST_SEED={seed} repeats it", flush=True)
    return random.Random(seed)
