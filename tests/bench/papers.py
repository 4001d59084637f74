"""The experiments of WebCQ and the page digest's claims: runs bench_papers and draws its figures."""
from frame import *

WEBCQ = {1: 80, 5: 351, 10: 708, 100: 3698}  # sentinels a second, from its section 7.3


def read():
    """{series: [(x, y)…]}"""
    out = subprocess.run([program("bench", "bench_papers")], check=True, capture_output=True, text=True).stdout
    series = {}
    for line in out.splitlines():
        name, x, y = line.split()
        series.setdefault(name, []).append((float(x), float(y)))
    return series


def scaled(points, factor):
    return [(x, y * factor) for x, y in points]


def main():
    r = Result("papers", "WebCQ's figures 9 to 16 and the page digest's claims")
    s = read()
    ms, us = 1e3, 1e6
    r.say("The same experiments with our parts, on pages like those of the paper (30 to 60 KB, about 1,700 nodes). Its "
          "machine was a SunFire 280 with two processors of 733 MHz and Java 1.3, so what can be compared is shapes and "
          "ratios. CPU time of one core; bodies come from the page cache of the file system.")
    r.say("**Figure 9**: detecting a change, by type and size of the page. The new body is parsed, the old one's digest is at "
          "hand. The signature (XXH3-128 here, MD5 there) is what an unchanged page costs.")
    r.plot("fig9", "Figure 9: detecting a change, by size of the page", "KB", "ms",
           {"any change": scaled(s["fig9-any-change"], ms), "links": scaled(s["fig9-links"], ms),
            "table": scaled(s["fig9-table"], ms), "signature": scaled(s["fig9-signature"], ms)})
    any_, links, table, signature = (s[f"fig9-{k}"][1] for k in ("any-change", "links", "table", "signature"))
    r.table([f"{any_[0]:.0f} KB", "time", "times the signature"],
            [[k, f"{y * us:.1f} µs", f"{y / signature[1]:.0f}"] for k, (_, y) in
             (("any change", any_), ("links", links), ("table", table), ("signature", signature))])
    r.say("**Figures 10 and 11**: what it costs to put sentinels into groups. In WebCQ it falls with the size of the "
          "group; here a sentinel alone costs hardly more than one of a hundred, since a group is one entry of a hash "
          "table and the page is not loaded for it.")
    sizes = (1, 5, 10, 100)
    r.plot("fig10", "Figure 10: grouping, by number of sentinels", "sentinels", "ms",
           {f"groups of {n}": scaled(s[f"fig10-{n}"], ms) for n in sizes})
    r.plot("fig11", "Figure 11: grouping, for each sentinel", "sentinels", "µs",
           {**{f"groups of {n}": scaled(s[f"fig11-{n}"], us) for n in sizes},
            "loading a page": scaled(s["fig11-load"], us), "its signature": scaled(s["fig11-signature"], us)})
    r.say("**Figure 12**: each sentinel by itself, as WebCQ's first version did it: both bodies loaded and parsed for each. "
          "There, loading was most of it; here parsing is.")
    r.plot("fig12", "Figure 12: without grouping", "sentinels", "s",
           {"everything": s["fig12-total"], "of that, loading": s["fig12-load"]})
    r.plot("fig13", "Figure 13: groups of ten, by Zipf's law and evenly", "sentinels", "s",
           {"no grouping": s["fig14-1"], "evenly": s["fig14-10"], "Zipf": s["fig13-zipf"]})
    r.plot("fig14", "Figure 14: grouped, evenly", "sentinels", "s", {f"groups of {n}": s[f"fig14-{n}"] for n in sizes})
    r.plot("fig15", "Figure 15: sentinels a second", "sentinels", "sentinels a second",
           {f"groups of {n}": s[f"fig15-{n}"] for n in sizes}, "set logscale y; set yrange [100:*]")
    rates = {n: s[f"fig15-{n}"][-1][1] for n in sizes}
    r.table(["5,000 sentinels in groups of", *map(str, sizes)],
            [["WebCQ, sentinels a second", *(f"{WEBCQ[n]:,}" for n in sizes)],
             ["Vigil, sentinels a second", *(f"{rates[n]:,.0f}" for n in sizes)],
             ["WebCQ, times no grouping", *(f"{WEBCQ[n] / WEBCQ[1]:.1f}" for n in sizes)],
             ["Vigil, times no grouping", *(f"{rates[n] / rates[1]:.1f}" for n in sizes)]])
    alone, grouped = s["fig12-total"][-1][1], s["fig14-10"][-1][1]
    r.say(f"**Figure 16**: 5,000 sentinels as the first WebCQ did them (figure 12) take {alone:.2f} s, in groups of ten "
          f"{grouped:.3f} s: {alone / grouped:.0f} times. WebCQ reports one to two orders of magnitude.")
    r.plot("fig16", "Figure 16: grouped against each by itself", "sentinels", "s",
           {"each by itself, both pages parsed": s["fig12-total"], "groups of ten": s["fig14-10"]})
    zipf = s["fig13-zipf"][-1][1] / s["fig14-1"][-1][1]
    d = {k: s[k][0][1] for k in s if k.startswith(("digest-", "tree-"))}
    r.say("**The page digest**: a `links` sentinel by digest and by libxml2's tree. The tree's walk only adds up the "
          "addresses, the digest's comparison makes the whole report.")
    r.table(["", "digest", "tree", "digest / tree"],
            [[what, f"{d['digest-' + k] * us:.0f} µs", f"{d['tree-' + k] * us:.0f} µs", f"{d['digest-' + k] / d['tree-' + k]:.2f}"]
             for what, k in (("old and new body to answer", "whole"), ("getting the stored version ready", "stored"),
                             ("comparing, both at hand", "compare"))])
    r.bar("page digest: cost of a links sentinel, of that by a DOM tree", 0.5, d["digest-whole"] / d["tree-whole"])
    r.bar("page digest: cost under Zipf grouping, of that without (the paper saves 50 to 70 %)", 0.5, zipf)
    r.bar("WebCQ: speed without grouping of that in groups of ten (paper: 0.11)", 0.11, rates[1] / rates[10])
    r.save()


main()
