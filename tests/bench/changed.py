"""What a changed page costs the whole of Vigil, fetch excluded, in times of a bare SAX parse.

    changed.py [PAGES]        default 3000

Rounds over the same pages with one `any change` sentinel each: all answered whole and unchanged, which is
fetching; all answered whole with one word changed; the same again.  The difference is what a change costs from body
to committed report: reading in the sandbox, comparing, storing.  Once by an engine that runs and looks every PERIOD
seconds, and once by `vigil once`, which knows nothing and reads the version before from the database.  The parse is
libxml2's SAX walk over the same pages (bench_page), in the same run.
"""
import re
import sys

from frame import *
from peers import Once

PAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 3000


PERIOD = 8


class Starting(Once):
    """CPU of a round of `vigil once`, and of PostgreSQL meanwhile."""

    def look(self, pg):
        before = cpu_of(tree(pg.server.pid))
        w = self.round()
        return w.cpu, cpu_of(tree(pg.server.pid)) - before


class Running(Vigil):
    """The same of an engine that runs, from half-way between two ticks to half-way between the next."""

    def watch(self, site, file, pages):
        self.start(settings=[*EAGER, "--set", "cdg.cache=256MiB"])
        self.run("add", file)
        before = site.sync()["requests"]
        wait_until(lambda: self.sql("SELECT count(*) FROM vigil.versions") == str(len(pages)), 60)
        wait_until(lambda: site.sync()["requests"] >= before + 2 * len(pages), 60)  # the tick after is over
        self.at = time.monotonic() + PERIOD / 2

    def look(self, pg):
        def used():
            time.sleep(max(0, self.at - time.monotonic()))
            self.at += PERIOD
            return cpu_of(tree(self.engine.pid)), cpu_of(tree(pg.server.pid))
        before, after = used(), used()
        self.at -= PERIOD
        return after[0] - before[0], after[1] - before[1]


def sax_seconds(site):
    """One SAX walk of each of 60 pages, the best round of each."""
    import urllib.request
    home = tempfile.mkdtemp(prefix="sx-", dir="/tmp")
    try:
        files = []
        for n in range(1, 61):
            files.append(f"{home}/{n}.html")
            with urllib.request.urlopen(site.page(n)) as page, open(files[-1], "wb") as f:
                f.write(page.read())
        out = subprocess.run([program("page", "bench_page"), *files], capture_output=True, text=True, check=True).stdout
    finally:
        shutil.rmtree(home, ignore_errors=True)
    rows = re.findall(r"nodes\s+(\d+) us\s+(\d+) us", out)
    return sum(float(sax) for sax, _ in rows) / len(rows) / 1e6, sum(float(d) for _, d in rows) / len(rows) / 1e6


def rounds_of(v, site, pg, pages):
    """CPU of Vigil and of PostgreSQL for each page: what a fetch costs, and a change beyond it."""
    rounds = {"same": [], "changed": []}
    for _ in range(3):
        for what in rounds:
            before = int(v.sql("SELECT count(*) FROM vigil.changes"))
            if what == "changed":
                site.turn("words", pages)
            rounds[what].append(v.look(pg))
            found = int(v.sql("SELECT count(*) FROM vigil.changes")) - before
            assert found == (len(pages) if what == "changed" else 0), f"{found} changes of {len(pages)} pages"
    best = {what: [min(c) / len(pages) for c in zip(*figures)] for what, figures in rounds.items()}
    return best["same"][0], best["changed"][0] - best["same"][0], best["changed"][1] - best["same"][1]


def main():
    r = Result("changed", "A changed page, end to end")
    pages = range(2, PAGES + 1, 3)  # those without a validator: always answered whole
    figures = {}
    with Living(PAGES) as site, Postgres() as pg:
        for kind, monitor in ((Running, f"any change FETCH EVERY {PERIOD} seconds"), (Starting, "any change")):
            with kind(db=pg.database()) as v:
                v.file = f"{v.home}/pages.vigil"
                with open(v.file, "w") as f:
                    f.writelines(f"CREATE SENTINEL p{n} USING {site.page(n)} MONITOR {monitor};\n" for n in pages)
                if kind is Running:
                    v.watch(site, v.file, pages)
                else:
                    v.round()
                figures[kind] = rounds_of(v, site, pg, pages)
        sax, digest = sax_seconds(site)
    r.say(f"{len(pages):,} pages, one `any change` sentinel each, one word of each page changes. CPU for each page beyond what "
          "the same round costs when the whole, unchanged page is answered, so the fetch is not in it. Vigil is the engine with "
          "its threads and the page readers in their sandbox; PostgreSQL is counted apart. An engine that runs has the last "
          "versions in memory; `vigil once` has just started and reads each from the database.")
    fetch, vigil, database = figures[Running]
    once_vigil, once_database = figures[Starting][1:]
    r.table(["for each changed page", "CPU", "times a SAX parse"],
            [[what, f"{s * 1e6:.0f} µs", f"{s / sax:.2f}"] for what, s in
             (("a bare libxml2 SAX parse", sax), ("page to digest, in process", digest),
              ("an engine that runs: Vigil, body to report", vigil),
              ("an engine that runs: PostgreSQL, to keep version, body and report", database),
              ("`vigil once`: Vigil", once_vigil), ("`vigil once`: PostgreSQL", once_database),
              ("fetch of a whole unchanged page, for comparison", fetch))])
    r.bar("changed page, end to end without fetch and database: times a bare SAX parse", 1.6, vigil / sax,
          "By profile, the sandboxed reader's parse is two fifths of it.")
    r.bar("changed page, end to end without fetch, PostgreSQL's work included: times a bare SAX parse", 1.6, (vigil + database) / sax,
          "Storing a version is a transaction with the version, its change and the sentinel's counters in it.")
    r.bar("the same by `vigil once`, which reads the versions before from the database: times a bare SAX parse", 1.6,
          (once_vigil + once_database) / sax, "What it takes more than an engine that runs is reading and unpacking the versions before.")
    r.fact("vigil_us", vigil * 1e6)
    r.fact("database_us", database * 1e6)
    r.fact("sax", vigil / sax)
    r.save()


main()
