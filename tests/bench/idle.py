"""What 100,000 sentinels over 10,000 pages cost when nothing changes.

    idle.py [SENTINELS [PAGES [SECONDS]]]

Each page is looked at every ten minutes, the pages spread over them; a third answers with the whole
page, the others with 304.  The engine runs as for anybody, on a private PostgreSQL.
"""
import sys

from frame import *

SENTINELS, PAGES, SECONDS = (list(map(int, sys.argv[1:])) + [100000, 10000, 100][len(sys.argv) - 1:])
PERIOD = 600
MONITORS = ("any change", "links", "images", "all words", "content", "table", "list", "keywords {cancelled}",
            "links AND NOT images", "phrase containing 'The harbour office'")


# Ten sentinels for each that was installed, as a running engine would have left them, and each page as
# if it had been added at its own moment of the ten minutes.
SPREAD = """
UPDATE vigil_kb.sentinel SET entered_at = now() - (page_id % {period}) * interval '1 second',
    started_at = now() - (page_id % {period}) * interval '1 second';
CREATE TEMP TABLE kinds AS SELECT * FROM unnest(ARRAY[{monitors}]) WITH ORDINALITY AS k (monitor, number);
CREATE TEMP TABLE more AS SELECT s.*, k.monitor AS other, k.number, (SELECT max(id) FROM vigil_kb.sentinel) +
    row_number() OVER () AS new_id FROM vigil_kb.sentinel s, kinds k WHERE k.number > 1;
UPDATE more SET definition = replace(replace(definition, 'any change', other), 'SENTINEL ' || name || ' ',
    'SENTINEL ' || name || '_' || number || ' '), monitor = other, name = name || '_' || number, id = new_id;
ALTER TABLE more DROP COLUMN other, DROP COLUMN number, DROP COLUMN new_id;
INSERT INTO vigil_kb.sentinel OVERRIDING SYSTEM VALUE SELECT * FROM more;
INSERT INTO vigil_kb.sentinel_state (sentinel_id, last_version) SELECT id, 1 FROM more;
ANALYZE;
"""


def definitions(site):
    for page in range(1, PAGES + 1):
        yield f"CREATE SENTINEL s{page} USING {site.page(page)} MONITOR any change FETCH EVERY {PERIOD} seconds;\n"


def measure(v, site, seconds):
    parts = {"engine": [v.engine.pid], "page readers": [], "database": []}
    for pid in tree(v.engine.pid)[1:]:
        with open(f"/proc/{pid}/comm") as f:
            parts["database" if "postgres" in f.read() else "page readers"].append(pid)
    def look():
        return {name: cpu_of(pids) for name, pids in parts.items()}, site.sync(), time.monotonic()
    (cpu, requests, at), _ = look(), time.sleep(seconds)
    after, requests_after, until = look()
    took = until - at
    share = {name: (after[name] - cpu[name]) / took * 100 for name in parts}
    return share, {k: n / took for k, n in served(requests, requests_after).items()}, memory_of(tree(v.engine.pid))


def main():
    r = Result("idle", "Nothing changes")
    with Living(PAGES) as site, Vigil() as v:
        path = f"{v.home}/all.vigil"
        with open(path, "w") as f:
            f.writelines(definitions(site))
        note("installing, a first version of every page …")
        first = Watched([VIGIL, "once", *v.where, *EAGER, path], env=v.env, stderr=subprocess.DEVNULL)
        assert first.code == 0, first.code
        kinds = MONITORS[:SENTINELS // PAGES]
        quoted = ", ".join("'" + m.replace("'", "''") + "'" for m in kinds)
        v.sql(SPREAD.format(period=PERIOD, monitors=quoted))
        v.start(settings=EAGER)
        active = v.status()["sentinels"]["active"]
        assert active == len(kinds) * PAGES, f"{active} sentinels are active"
        wait_until(lambda: v.status()["pages"]["busy"] == 0, 120)
        time.sleep(10)
        share, rate, memory = measure(v, site, SECONDS)
        changes = v.sql("SELECT count(*) FROM vigil.changes")
        assert changes == "0", f"{changes} changes, and nothing changed"
    r.say(f"{SENTINELS:,} sentinels of {len(MONITORS)} kinds over {PAGES:,} pages of 30 to 60 KB, each page looked at every "
          f"ten minutes, nothing changes, for {SECONDS} s: {rate['requests']:.1f} requests a second, of which "
          f"{rate['whole']:.1f} are answered with the whole page.")
    r.table(["", "% of one core"], [[name, f"{share[name]:.2f}"] for name in share]
            + [["together", f"{sum(share.values()):.2f}"]])
    r.say(f"Memory of all these processes together: {memory / 1e6:.0f} MB.")
    r.fact("sentinels", SENTINELS)
    r.fact("pages", PAGES)
    r.fact("percent", sum(share.values()))
    r.fact("memory", memory)
    r.bar(f"idle: {SENTINELS:,} sentinels, {PAGES:,} pages every 10 minutes, nothing changes: % of one core", 5, sum(share.values()))
    r.save()


main()
