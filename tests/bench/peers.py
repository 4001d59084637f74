"""A check cycle of Vigil, of urlwatch, and of a bare libcurl loop, in one run over the same site.

    peers.py [PAGES…]        default 1000 10000

A cycle is one look at every page, as cron would start it.  Vigil: `vigil once` with one `any
change` sentinel a page.  urlwatch: one job a page (tests/bench/urlwatch.py).  The bare loop only
downloads, with validators, and keeps nothing.  The site's own CPU is not counted.
"""
import sys

from frame import *
from urlwatch import Urlwatch

CONNECTIONS = 32
SHARES = (0, 1, 10)


class Bare:
    def __init__(self, site, pages):
        self.process = subprocess.Popen(
            [program("bench", "bare_curl"), f"{site.url}/living/", ".html", str(pages), str(CONNECTIONS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def round(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.wall, self.cpu = map(float, self.process.stdout.readline().split())
        self.peak = memory_of([self.process.pid])
        self.changed = None
        return self


class Once(Vigil):
    """`vigil once`, as from cron."""

    def prepare(self, site, pages):
        self.file = f"{self.home}/pages.vigil"
        with open(self.file, "w") as f:
            f.writelines(f"CREATE SENTINEL p{n} USING {site.page(n)} MONITOR any change;\n"
                         for n in range(1, pages + 1))

    def round(self, kill_after=None):
        w = Watched([VIGIL, "once", *self.where, *EAGER, "--json", self.file], kill_after=kill_after,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env)
        w.changed = {int(json.loads(line)["sentinel"][1:]) for line in w.out.splitlines()}
        return w


def cycle(who, site, expected):
    before = site.sync()
    w = who.round()
    answers = served(before, site.sync())
    assert w.changed is None or w.changed == expected, \
        f"{type(who).__name__}: {len(w.changed)} told, {len(expected)} changed"
    return {"wall": w.wall, "cpu": w.cpu, "peak": w.peak, **{k: answers[k] for k in ("requests", "bytes")}}


def changes(site, pages, share):
    """Every kind of change, on this part of the pages; the same for everybody."""
    if not share:
        return set()
    chosen = range(1, pages + 1, 100 // share)
    for i, kind in enumerate(k for k in KINDS if k != "noise"):
        site.turn(kind, chosen[i::len(KINDS) - 1])
    return set(chosen)


def compare(pages, peers):
    """{(peer, share): figures}"""
    found = {}
    for name, make in peers.items():
        with Living(pages) as site, make(site) as who:
            note(f"  {pages} pages, {name} …")
            who.round()  # everybody knows the pages before it counts
            for share in SHARES:
                found[name, share] = cycle(who, site, changes(site, pages, share))
    return found


def once(pages):
    def make(site):
        v = Once()
        v.prepare(site, pages)
        return v
    return make


def main():
    r = Result("peers", "A check cycle, side by side")
    version = subprocess.run(["urlwatch", "--version"], capture_output=True, text=True).stdout.strip()
    r.say(f"One look at every page, for Vigil (`vigil once`, which starts and stops its PostgreSQL), {version} "
          f"(Debian's package, one job a page) and a bare libcurl loop that only downloads. {CONNECTIONS} connections for "
          "Vigil and the loop, urlwatch has ten threads; all send validators. CPU is user and system time with all "
          "children, PostgreSQL included; the site's own is not counted.")
    for pages in map(int, sys.argv[1:] or ["1000", "10000"]):
        peers = {"Vigil": once(pages), "urlwatch": lambda site: Urlwatch(site, range(1, pages + 1)),
                 "bare libcurl": lambda site: Bare(site, pages)}
        found = compare(pages, peers)
        rows = []
        for share in SHARES:
            for name in peers:
                f = found[name, share]
                rows.append([f"{pages:,}", f"{share} %", name, f"{f['wall']:.2f} s", f"{f['cpu']:.2f} s",
                             f"{f['cpu'] / pages * 1e3:.2f} ms", f"{f['peak'] / 1e6:.0f} MB", f"{f['requests']:,}",
                             f"{f['bytes'] / 1e6:.1f} MB", f"{f['cpu'] / found['urlwatch', share]['cpu']:.3f}",
                             f"{f['cpu'] / found['bare libcurl', share]['cpu']:.1f}"])
        r.table(["pages", "changed", "", "wall", "CPU", "CPU a page", "memory", "requests", "bytes", "CPU: of urlwatch",
                 "CPU: times libcurl"], rows)
    r.save()


if __name__ == "__main__":
    main()
