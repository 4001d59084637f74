"""A check cycle of Vigil, of urlwatch, and of a bare libcurl loop, in one run over the same site.

    peers.py [PAGES…] [vigil|urlwatch|libcurl…]        default 1000 10000, all three

A cycle is one look at every page, as cron would start it, with no, 1 % and 10 % of the pages changed.  Vigil: `vigil
once` with one `any change` sentinel a page.  urlwatch: one job a page (tests/bench/urlwatch.py).  The bare loop only
downloads, with validators, and keeps nothing.  The site's own CPU is not counted.

Figures are kept for each number of pages and each peer, so whatever is not asked for stays as it was measured last.
"""
import sys

from frame import *
from urlwatch import LIST, Urlwatch

CONNECTIONS = 32
SHARES = (0, 1, 10)
NAMES = {"vigil": "Vigil", "urlwatch": "urlwatch", "libcurl": "bare libcurl"}


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


def changes(site, pages, share):
    """Every kind of change, on this part of the pages; the same for everybody."""
    if not share:
        return set()
    chosen = range(1, pages + 1, 100 // share)
    for i, kind in enumerate(k for k in KINDS if k != "noise"):
        site.turn(kind, chosen[i::len(KINDS) - 1])
    return set(chosen)


def cycle(who, site, pages, share):
    expected = changes(site, pages, share)
    before = site.sync()
    w = who.round()
    answers = served(before, site.sync())
    assert w.changed is None or w.changed == expected, \
        f"{type(who).__name__}: {len(w.changed)} told, {len(expected)} changed"
    return {"wall": w.wall, "cpu": w.cpu, "peak": w.peak, **{k: answers[k] for k in ("requests", "bytes")}}


def open_peer(name, site, pages):
    if name == "urlwatch":
        return Urlwatch(site, range(1, pages + 1))
    if name == "libcurl":
        return Bare(site, pages)
    v = Once()
    v.prepare(site, pages)
    return v


def measure(name, pages):
    """{share: figures}, as strings, since they come back from JSON."""
    slow = name == "urlwatch"
    with Living(pages) as site, open_peer(name, site, pages) as who:
        note(f"  {pages:,} pages, {NAMES[name]} …")
        who.round()  # everybody knows the pages before it counts
        return {str(share): min((cycle(who, site, pages, share) for _ in range(1 if slow else 3)),
                                key=lambda figures: figures["cpu"]) for share in SHARES}


def table(r, pages, found):
    rows = []
    for share in map(str, SHARES):
        for name in (n for n in NAMES if share in found.get(n, {})):
            f = found[name][share]

            def ratio(to, form):
                other = found.get(to, {}).get(share)
                return form.format(f["cpu"] / other["cpu"]) if other else "–"
            rows.append([f"{pages:,}", f"{share} %", NAMES[name], f"{f['wall']:.2f} s", f"{f['cpu']:.2f} s",
                         f"{f['cpu'] / pages * 1e3:.2f} ms", f"{f['peak'] / 1e6:.0f} MB", f"{f['requests']:,}",
                         f"{f['bytes'] / 1e6:.1f} MB", ratio("urlwatch", "{:.4f}"), ratio("libcurl", "{:.1f}")])
    r.table(["pages", "changed", "", "wall", "CPU", "CPU a page", "memory", "requests", "bytes", "CPU: of urlwatch",
             "CPU: times libcurl"], rows)


def per_page(r, figures):
    """What a cycle costs at all, and what each page adds: the line through the smallest and the largest number of pages."""
    sizes = sorted(int(pages) for pages in figures if "0" in figures[pages].get("vigil", {}))
    if len(sizes) < 2:
        return
    few, many = sizes[0], sizes[-1]
    cpu = {n: figures[str(n)]["vigil"]["0"]["cpu"] for n in (few, many)}
    each = (cpu[many] - cpu[few]) / (many - few)
    r.say(f"Of Vigil's CPU in a cycle without changes, {max(0, cpu[few] - each * few):.2f} s are there whatever the number of pages: "
          "a PostgreSQL and the page readers started and stopped. Each page adds "
          f"{each * 1e3:.2f} ms: by profile (`perf record -e cpu-clock` on 3,000 pages), about a third of that is libcurl and the "
          "kernel's TCP, a third PostgreSQL reading definitions and pages and noting the look, the rest reading the file of definitions, "
          "comparing it with what is installed, putting the sentinels into the graph, and the SHA-256 of whole answers.")
    r.fact("page_ms", each * 1e3)


def main():
    names = [word for word in sys.argv[1:] if word in NAMES] or list(NAMES)
    sizes = [word for word in sys.argv[1:] if word not in NAMES] or ["1000", "10000"]
    r = Result("peers", "A check cycle, side by side")
    figures = saved("peers").get("figures", {}) if sys.argv[1:] else {}  # the whole is of one run
    for pages in sizes:
        for name in names:
            at = figures.setdefault(pages, {})
            at[name] = {**measure(name, int(pages)), "commit": commit()}
    version = subprocess.run(["urlwatch", "--version"], capture_output=True, text=True).stdout.strip()
    r.say(f"One look at every page, for Vigil (`vigil once`, which starts and stops its PostgreSQL), {version} "
          f"(Debian's package, one job a page) and a bare libcurl loop that only downloads. {CONNECTIONS} connections for "
          "Vigil and the loop, urlwatch has ten threads; all send validators, and a third of the pages has none; where "
          "a page has a date, urlwatch sends its own clock instead of it and gets the whole page. CPU is user and "
          "system time with all children, PostgreSQL included; the site's own is not counted. Vigil and the loop look three "
          f"times, and the cycle with the least CPU counts; urlwatch looks once. Its pages are in lists of {LIST:,}, one after "
          "the other, since for each page it reads what it remembers of all; and its filter is the cheapest found that tells the "
          "same changes: with an XPath that selects the text nodes, as one would write it first, it takes ten times as long.")
    for pages in sorted(figures, key=int):
        table(r, int(pages), figures[pages])
    commits = {at["commit"] for found in figures.values() for at in found.values()}
    if len(commits) > 1:
        r.say("Not all of this is of one run: " + "; ".join(
            f"{int(pages):,} pages, {NAMES[name]}: at {at['commit']}" for pages, found in sorted(figures.items(), key=lambda f: int(f[0]))
            for name, at in found.items()) + ".")
    per_page(r, figures)
    compared = [pages for pages in figures if all("1" in figures[pages].get(name, {}) for name in NAMES)]
    if compared:
        largest = max(compared, key=int)
        r.fact("pages", int(largest))
        for name in NAMES:
            r.fact(name, figures[largest][name]["1"])
    r.save(figures=figures)


if __name__ == "__main__":
    main()
