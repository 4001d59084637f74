"""Detection quality: what is missed and what is told falsely, against the living site's truth.

    quality.py [PAGES [PAGES_FOR_URLWATCH]]        default 10000 10000

Rounds of every kind of change, of noise, of errors, and of being killed half-way.  The site
knows what it changed; a report is right when the page changed in what the sentinel asks for since
the sentinel's last successful look, missing when it did and nobody said so, false otherwise.
"""
import collections
import random
import sys
import threading

from frame import *
from peers import Once
from urlwatch import Urlwatch

SEEN = [k for k in KINDS if k != "noise"]
# What a sentinel of each type is to tell, by what happened to the page.
WORDS = {"words", "phrase", "table", "list", "keyword"}
TYPES = {
    "any": ("any change", set(SEEN)),
    "links": ("links", {"links"}),
    "images": ("images", {"images"}),
    "words": ("all words", WORDS),
    "content": ("content", WORDS),
    "phrase": ("phrase containing 'The harbour office lets everybody know'", {"phrase"}),
    "table": ("table", {"table"}),
    "list": ("list", {"list"}),
    "keyword": ("keywords {cancelled}", {"keyword"}),
}


class EveryType(Once):
    """A sentinel of every type on each page; reports are (type, page)."""

    def prepare(self, site, pages):
        self.file = f"{self.home}/pages.vigil"
        with open(self.file, "w") as f:
            f.writelines(f"CREATE SENTINEL {name}_{n} USING {site.page(n)} MONITOR {monitor};\n"
                         for n in range(1, pages + 1) for name, (monitor, _) in TYPES.items())

    def told(self):
        """Everything ever recorded, each time it was."""
        rows = self.sql("SELECT sentinel FROM vigil.changes").split()
        return sorted(tuple(name.split("_")) for name in rows)


def rounds(site, pages, look):
    """look(name, kills): one round, before it one for each of the kills, which ends when that part of a round's time is
    over; what it should have told is what the site showed it meanwhile."""
    every = range(1, pages + 1)
    dice = random.Random(20261116)

    def some(share):
        return sorted(dice.sample(range(1, pages + 1), max(1, int(pages * share))))
    look("first sight")
    for kind in SEEN:  # every kind on its own pages, at once
        site.turn(kind, some(0.05))
    site.turn("noise", every)
    look("every kind, each on 5 % of the pages, noise on all")
    site.turn("noise", every)
    look("noise alone, on all")
    for how in FAILURES:
        site.fail(how, some(0.04))
    for kind in SEEN:
        site.turn(kind, some(0.02))
    look("20 % of the pages fail, others change")
    site.fail("well", every)
    for kind in SEEN:
        site.turn(kind, some(0.02))
    look("all well again")
    for kind in SEEN:
        site.turn(kind, some(0.03))
    site.turn("noise", every)
    look("killed half-way, then started again", (0.5,))
    for kind in SEEN:
        site.turn(kind, some(0.03))
    look("killed early, half-way and late, then started again", (0.25, 0.5, 0.75))
    look("an hour later")


def judge_vigil(pages):
    found = []
    with Living(pages) as site, EveryType() as v:
        v.prepare(site, pages)
        before, wall = [], 0

        def once(kill_after=None, kill_alone=False):
            return Watched([VIGIL, "once", *v.where, *EAGER, v.file], env=v.env, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, kill_after=kill_after, kill_alone=kill_alone).wall

        def look(name, kills=()):
            nonlocal before, wall
            for number, kill in enumerate(kills):  # every second time its PostgreSQL lives on
                once(max(1, wall * kill), kill_alone=number % 2 == 1)
            if "hour" in name:  # what failed is left alone for a while; that while is over
                v.sql("UPDATE vigil_kb.page_state SET next_fetch_at = now() - interval '1 minute'")
            wall = once()
            seen = site.seen()
            expected = [(name, str(n)) for n, kinds in seen.items() for name, (_, tells) in TYPES.items()
                        if kinds & tells]
            now = v.told()
            told, before = subtract(now, before), now
            found.append(judge("Vigil", name, expected, told))
        rounds(site, pages, look)
    return found


def subtract(a, b):
    """Of two lists, what the first has more of; a report told twice counts."""
    return list((collections.Counter(a) - collections.Counter(b)).elements())


def judge(who, name, expected, told):
    missed, false = subtract(expected, told), subtract(told, expected)
    note(f"  {who}: {name}: {len(expected)} to tell, {len(missed)} missed, {len(false)} false"
         + "".join(f"; {what}: {some[:8]}" for what, some in (("missed", missed), ("false", false)) if some))
    return name, len(expected), len(missed), len(false)


def judge_urlwatch(pages):
    found = []
    with Living(pages) as site, Urlwatch(site, range(1, pages + 1)) as u:
        wall = 0

        def look(name, kills=()):
            nonlocal wall
            told = [page for kill in kills for page in u.round(kill_after=wall * kill).changed]
            w = u.round()
            wall = w.wall
            told += w.changed
            expected = list(site.seen())
            found.append(judge("urlwatch", name, expected, told))
        rounds(site, pages, look)
    return found


def main():
    pages, pages_peer = (list(map(int, sys.argv[1:])) + [10000, 10000][len(sys.argv) - 1:])
    r = Result("quality", "Detection quality")
    found = {}
    threads = [threading.Thread(target=lambda: found.update(vigil=judge_vigil(pages))),
               threading.Thread(target=lambda: found.update(urlwatch=judge_urlwatch(pages_peer)))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    r.say(f"{pages:,} living pages with nine sentinels each for Vigil ({pages * len(TYPES):,}: any change, links, images, all words, "
          f"content, phrase, table, list, keywords); {pages_peer:,} pages with one job each for urlwatch, which would need a job and a "
          "request for each thing to look at: text, links and images of the body, white space folded. Failures are "
          "500, 503, 404, bodies that end half-way and connections that close; killed is SIGKILL to all its processes, of "
          "Vigil every second time to the engine alone. What urlwatch "
          "misses it had found and not yet told when it was killed, what it reports falsely are bodies that ended half-way, taken for the page, and the whole pages after them.")
    rows = []
    for v, u in zip(found["vigil"], found["urlwatch"]):
        rows.append([v[0], f"{v[1]:,}", v[2], v[3], f"{u[1]:,}", u[2], u[3]])
    total = [sum(row[i] for row in found[who]) for who in ("vigil", "urlwatch") for i in (1, 2, 3)]
    rows.append(["all", f"{total[0]:,}", total[1], total[2], f"{total[3]:,}", total[4], total[5]])
    r.table(["round", "Vigil: to tell", "missed", "false", "urlwatch: to tell", "missed", "false"], rows)
    for who, n, (to_tell, missed, false) in (("vigil", pages, total[:3]), ("urlwatch", pages_peer, total[3:])):
        r.fact(who, {"pages": n, "to_tell": to_tell, "missed": missed, "false": false})
    r.bar("quality: reports missed by Vigil", 0, total[1])
    r.bar("quality: false reports of Vigil", 0, total[2])
    r.save()


if __name__ == "__main__":
    main()
