"""What a changed page costs the whole of Vigil, fetch excluded, in times of a bare SAX parse.

    changed.py [PAGES]        default 3000

Three rounds of `vigil once` over the same pages with one `any change` sentinel each: all answered whole and
unchanged, which is fetching; all answered whole with one word changed; the same again.  The difference is what a
change costs from body to committed report: reading in the sandbox, comparing, storing.  The parse is libxml2's SAX
walk over the same pages (bench_page), in the same run.
"""
import re
import sys

from frame import *
from peers import Once

PAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 3000


class Split(Once):
    """CPU by whose it is: the engine with its threads, page readers, PostgreSQL."""

    def look(self, server):
        before = cpu_of(tree(server))
        w = self.round()
        return w, cpu_of(tree(server)) - before


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


def main():
    r = Result("changed", "A changed page, end to end")
    with Living(PAGES) as site, Postgres() as pg, Split(db=pg.database()) as v:
        v.prepare(site, PAGES)
        # Pages without a validator only: always answered whole.
        pages = range(2, PAGES + 1, 3)
        with open(v.file, "w") as f:
            f.writelines(f"CREATE SENTINEL p{n} USING {site.page(n)} MONITOR any change;\n" for n in pages)
        v.round()
        rounds = {"same": [], "changed": []}
        for _ in range(2):
            for what in rounds:
                if what == "changed":
                    site.turn("words", pages)
                w, database = v.look(pg.server.pid)
                assert len(w.changed) == (len(pages) if what == "changed" else 0), len(w.changed)
                rounds[what].append((w.cpu, database))
        sax, digest = sax_seconds(site)
    best = {what: [min(c) / len(pages) for c in zip(*figures)] for what, figures in rounds.items()}
    vigil = best["changed"][0] - best["same"][0]
    database = best["changed"][1] - best["same"][1]
    r.say(f"{len(pages):,} pages, one `any change` sentinel each, one word of each page changes. CPU for each page beyond what "
          "the same round costs when the whole, unchanged page is answered, so the fetch is not in it. Vigil is the engine with "
          "its threads and the page readers in their sandbox; PostgreSQL is counted apart.")
    r.table(["for each changed page", "CPU", "times a SAX parse"],
            [[what, f"{s * 1e6:.0f} µs", f"{s / sax:.2f}"] for what, s in
             (("a bare libxml2 SAX parse", sax), ("page to digest, in process", digest), ("Vigil, body to report", vigil),
              ("PostgreSQL, to keep version, body and report", database),
              ("fetch of a whole unchanged page, for comparison", best["same"][0]))])
    r.bar("changed page, end to end without fetch and database: times a bare SAX parse", 1.6, vigil / sax,
          "By profile, the sandboxed reader's parse and pipes are two fifths of it, packing body and digest with zstd a third; the rest "
          "is opening digests, comparing and the loop.")
    r.bar("changed page, end to end without fetch, PostgreSQL's work included: times a bare SAX parse", 1.6, (vigil + database) / sax,
          "Storing a version is a transaction with the packed body and digest in it.")
    r.fact("vigil_us", vigil * 1e6)
    r.fact("database_us", database * 1e6)
    r.fact("sax", vigil / sax)
    r.save()


main()
