"""WebVigiL's figures 6.1 and 6.2: building and rebuilding the mapping from URLs to versions, three ways."""
import sys

from frame import *

SETS = [(f"{letter}{n // 1000}K" if n < 10**6 else f"{letter}1M", n, depths)
        for n in map(int, sys.argv[1:] or (10000, 30000, 50000, 70000, 1000000))
        for letter, depths in (("L", (1, 3)), ("M", (4, 6))) if n < 10**6 or letter == "M"]
WAYS = ("hash", "directory", "ours")


def measure(pg, url, urls, depths):
    home = tempfile.mkdtemp(prefix="mp-", dir="/tmp")
    try:
        out = subprocess.run([program("bench", "bench_mapping"), str(urls), *map(str, depths), home, url],
                             check=True, capture_output=True, text=True).stdout
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return {(way, what): float(seconds) for way, what, seconds in map(str.split, out.splitlines())}


def main():
    r = Result("mapping", "WebVigiL's figures 6.1 and 6.2: from a URL to its versions")
    found = {}
    with Postgres() as pg:
        url = pg.database()
        with Vigil(db=url) as v:
            v.run("list")  # makes the schema
        for name, urls, depths in SETS:
            note(f"  {name} …")
            found[name] = measure(pg, url, urls, depths)
    r.say("Hash mapping: a table from path to a short name, kept in a file, a directory of that name. Directory mapping: "
          "the path as directories. Ours: a row in PostgreSQL found by the SHA-256 of its URL, and a table in memory. L: one to "
          "three folders, M: four to six. As in the thesis the file's name does not count. Seconds of wall time; "
          "seek is 10,000 pages, ours with a query to the database for each, which the engine does not need for an unchanged "
          "page.")
    r.table(["", *(f"{way}: build" for way in WAYS), *(f"{way}: rebuild + seek" for way in WAYS)],
            [[name, *(f"{f[way, 'build']:.2f}" for way in WAYS),
              *(f"{f[way, 'rebuild'] + f[way, 'seek']:.3f}" for way in WAYS)] for name, f in found.items()])
    medium = [(urls, found[name]) for name, urls, depths in SETS if name.startswith("M")]
    if len(medium) > 1:
        both = "set logscale xy; set yrange [*:*]; set key left top"  # seventy thousand and a million in one picture
        r.plot("fig61", "Figure 6.1: building the mapping (M)", "URLs", "s",
               {way: [(n, f[way, "build"]) for n, f in medium] for way in WAYS}, both)
        r.plot("fig62", "Figure 6.2: rebuilding it, and 10,000 seeks (M)", "URLs", "s",
               {way: [(n, f[way, "rebuild"] + f[way, "seek"]) for n, f in medium] for way in WAYS}, both)
    if "M1M" in found:
        f = found["M1M"]
        build, again = ({way: f[way, "build"] for way in WAYS}, {way: f[way, "rebuild"] + f[way, "seek"] for way in WAYS})
        r.say(f"A million URLs in M (125,000 folders, one repetition): built in {build['ours']:.1f} s by ours, {build['hash']:.1f} s by hash, "
              f"{build['directory']:.1f} s by directories; found again after a restart, with 10,000 seeks, in {again['ours']:.2f}, {again['hash']:.2f} "
              f"and {again['directory']:.2f} s. Directories need no rebuilding, which is what they are good for; what they cost is one "
              "inode a folder, made one by one.")
    r.save()


main()
