#!/usr/bin/env python3
"""How long it takes until an engine with many sentinels runs again, and what each costs in memory.

    bench_restart.py [N...]          default 100000; 1000000 is the figure to publish

The rows are written straight into the tables, as a running engine would have left them: active,
ten to a page, a fixed interval with its next tick hours away.  The start is compared with a bare
program that only reads the same rows from the same server.
"""
import contextlib
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import Postgres, Vigil  # noqa: E402

PER_PAGE = 10

FILL = """
INSERT INTO vigil_kb.page (id, url, url_sha256)
SELECT i, 'http://127.0.0.1:9/p' || i, sha256(convert_to('http://127.0.0.1:9/p' || i, 'UTF8'))
  FROM generate_series(1, {pages}) i;
INSERT INTO vigil_kb.page_state (page_id, last_fetch_at, verified_at, next_fetch_at, fetches)
SELECT i, '{now}', '{now}', '{now}'::timestamptz + '6 hours', 1 FROM generate_series(1, {pages}) i;
INSERT INTO vigil_kb.sentinel (id, name, owner, definition, monitor, fetch_rule, compare, state, page_id,
    installed_at, starts_at, ends_at, started_at, entered_at, from_point, to_point)
SELECT i, 's' || i, 'ann', format('CREATE SENTINEL s%s USING http://127.0.0.1:9/p%s MONITOR links AND NOT images '
    'FETCH every 6 hours FROM {iso} FOR 4 weeks NOTIFY BY dashboard COMPARE pairwise CHANGEHISTORY 10 '
    'PRESENTATION only change WITHIN 1 day PRIORITY 1', i, (i - 1) / {per} + 1), 'links AND NOT images',
    'every 6 hours', 'pairwise', 'active', (i - 1) / {per} + 1, '{now}', '{now}',
    '{now}'::timestamptz + '4 weeks', '{now}', '{now}', '{iso}', 'FOR 4 weeks'
  FROM generate_series(1, {n}) i;
INSERT INTO vigil_kb.sentinel_state (sentinel_id) SELECT i FROM generate_series(1, {n}) i;
ANALYZE;
"""


def bare(pg, database):
    """The same rows, read by psql and thrown away."""
    began = time.monotonic()
    subprocess.run(["psql", "-XAtq", "-h", pg.home, "-U", "vigil", "-d", database, "-o", "/dev/null", "-c",
                    "SELECT * FROM vigil_kb.sentinel JOIN vigil_kb.sentinel_state ON sentinel_id = id",
                    "-c", "SELECT * FROM vigil_kb.page JOIN vigil_kb.page_state ON page_id = id"], check=True)
    return time.monotonic() - began


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))


def cpu(pid):
    """Seconds of user and system time of a process, and of what it has waited for."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def tree_cpu(pid):
    """The same of a server and those that work for it."""
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        children = f.read().split()
    total = cpu(pid)
    for child in children:
        with contextlib.suppress(OSError):  # it has just gone: its parent has waited for it
            total += cpu(child)
    return total


def runs(v):
    """Whether the engine answers.  Not `vigil status`: as long as it does not, that counts all rows in the database,
    and of a million, over and over, that is more work for the server than the start which is measured."""
    return "of the running engine" in v.run("settings", code=None, settings=()).stdout


def measure(pg, n):
    url = pg.database()
    database = url.rsplit("/", 1)[1]
    with Vigil(db=url) as v:
        v.run("list")
        v.start(settings=())
        empty = resident(v.engine.pid)
        v.stop()
        now = time.gmtime(time.time() - 60)
        pg.psql(database, FILL.format(n=n, pages=(n + PER_PAGE - 1) // PER_PAGE, per=PER_PAGE,
                                      now=time.strftime("%Y-%m-%d %H:%M:%S+00", now),
                                      iso=time.strftime("%Y-%m-%dT%H:%M:%SZ", now)))
        text = int(pg.psql(database, "SELECT sum(length(name) + length(owner) + length(definition)) "
                                     "FROM vigil_kb.sentinel"))
        read = bare(pg, database)
        began, served = time.monotonic(), tree_cpu(pg.server.pid)
        v.start(settings=(), wait=False)
        while not runs(v):
            assert v.engine.poll() is None, v.output()
            time.sleep(0.05)
        took = time.monotonic() - began
        engine, served = cpu(v.engine.pid), tree_cpu(pg.server.pid) - served
        active = v.status()["sentinels"]["active"]
        assert active == n, f"{active} of {n} are active"
        memory = (resident(v.engine.pid) - empty - text) / n
        began = time.monotonic()
        v.stop()
        stopped = time.monotonic() - began
    print(f"{n:>9} sentinels  running again {took:7.2f} s  CPU {engine:6.2f} s + PostgreSQL's {served:6.2f} s  reading the rows alone {read:6.2f} s"
          f"  ratio {took / read:5.1f}  memory {memory:6.0f} bytes each beyond its text"
          f"  stopping {stopped:5.2f} s", flush=True)


with Postgres() as server:
    for count in map(int, sys.argv[1:] or ["100000"]):
        measure(server, count)
