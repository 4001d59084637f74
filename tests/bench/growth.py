"""Cost against the number of pages, of sentinels, the size of a page, and the length of history: each a straight line.

    growth.py [small]
"""
import sys

from frame import *
from peers import Once

SMALL = "small" in sys.argv
SETTINGS = [*EAGER, "--set", "store.sweep_every=1d"]


def line(r, name, title, x, y, points, scale=1.0):
    r.line(name, title, x, y, points, f"growth: {title[:1].lower()}{title[1:]}: slope of the far half, in times of the near half's", scale)


def by_pages(r):
    points = []
    for pages in (250, 500, 1000) if SMALL else (1000, 2500, 5000, 7500, 10000):
        with Living(pages) as site, Once() as v:
            v.prepare(site, pages)
            v.round()
            points.append((pages, min(v.round().cpu for _ in range(2))))
            note(f"  {pages} pages: {points[-1][1]:.2f} s")
    line(r, "pages", "A cycle without changes, by number of pages", "pages", "CPU s", points)


def by_sentinels(r):
    """All on 100 pages that change; each sentinel is told."""
    points = []
    kinds = ("any change", "content", "all words", "links OR content")
    for per_page in (1, 5, 10) if SMALL else (1, 10, 20, 30, 40):
        with Living(100) as site, Once() as v:
            v.prepare(site, 100)
            with open(v.file, "w") as f:
                f.writelines(f"CREATE SENTINEL p{n}_{k} USING {site.page(n)} MONITOR {kinds[k % len(kinds)]};\n"
                             for n in range(1, 101) for k in range(per_page))
            run = [VIGIL, "once", *v.where, *SETTINGS, v.file]
            quiet = {"env": v.env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            Watched(run, **quiet)
            took = []
            for _ in range(3):
                site.turn("words", range(1, 101))
                took.append(Watched(run, **quiet).cpu)
            points.append((per_page * 100, min(took)))
            note(f"  {per_page * 100} sentinels: {points[-1][1]:.2f} s")
    line(r, "sentinels", "100 changed pages, by number of sentinels", "sentinels", "CPU s", points)


def by_size(r):
    """`vigil compare` on two files of growing length, one word changed."""
    points = []
    home = tempfile.mkdtemp(prefix="gr-", dir="/tmp")
    try:
        for kilobytes in (100, 1000, 2000) if SMALL else (100, 1000, 2000, 3000, 4000, 5000):
            row = "<p>the quick brown fox number %d jumps over <a href='/p/%d'>the lazy dog</a></p>\n"
            body = "".join(row % (i, i) for i in range(kilobytes * 1000 // 85))
            for name, text in (("a", body), ("b", body.replace("number 7 ", "number seven "))):
                with open(f"{home}/{name}.html", "w") as f:
                    f.write(f"<!DOCTYPE html><title>t</title><body>{text}</body>")
            best = min(Watched([VIGIL, "compare", f"{home}/a.html", f"{home}/b.html", "--monitor", "any change"],
                               stdout=subprocess.DEVNULL).cpu for _ in range(5))
            points.append((kilobytes, best))
            note(f"  {kilobytes} KB: {best:.3f} s")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    line(r, "size", "Two versions parsed and compared, by size of the page", "KB", "CPU ms", points, 1e3)


def by_history(r):
    """100 pages change again and again: does a round cost more when there is more history?"""
    rounds = 12 if SMALL else 40
    took = []
    with Living(100) as site, Once() as v:
        v.prepare(site, 100)
        v.round()
        for n in range(rounds):
            site.turn("words", range(1, 101))
            w = v.round()
            assert len(w.changed) == 100
            took.append((n + 1, w.cpu))
    step = rounds // 4
    blocks = [(took[i][0], min(c for _, c in took[i:i + step])) for i in range(0, rounds, step)]
    r.plot("history", "100 changed pages, by versions kept of each", "versions", "CPU s", {"Vigil": took})
    r.bar("growth: a round after many versions, in times of one after few", 1.3, blocks[-1][1] / blocks[0][1])


def main():
    r = Result("growth", "Growth")
    r.say("Cost against how much there is, CPU with PostgreSQL and all children. A straight line has the same slope at both "
          "ends: the slope of the far half is at most 1.5 times that of the near half.")
    by_size(r)
    by_history(r)
    by_sentinels(r)
    by_pages(r)
    r.save()


main()
