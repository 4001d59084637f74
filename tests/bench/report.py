"""Makes docs/benchmarks.md of what the parts of scripts/bench have saved in docs/bench."""
import platform

from frame import *

ORDER = ("quality", "peers", "idle", "changed", "demo", "papers", "mapping", "growth", "page", "worker", "cdg", "led",
         "grammar", "fetch", "idlepages", "store", "notify", "restart")
HOW = """## How to read it, and how to run it again

Everything here was written by `scripts/bench`; nothing by hand.

    scripts/bench              # everything, about an hour on two quiet cores
    scripts/bench NAME…        # single parts; the others keep their last figures
    scripts/bench quick        # under a minute: the ratios that scripts/test holds against tests/bench/recorded

Parts: {parts}.

Read ratios rather than seconds: both sides of one were measured in the same run. CPU is user and system time, of all
processes and their children. Below each section stand the commit that was measured (with a + when the code was not quite
it), the machine's load average at the end, and how much of its cores others used meanwhile: where that is more than
a tenth of a core, seconds of wall time say little. The pages are those of the living site (`web/living.h`), made while running.

"""


def command(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def machine():
    with open("/proc/cpuinfo") as f:
        cpu = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), platform.machine())
    with open("/proc/meminfo") as f:
        memory = int(f.readline().split()[1]) / 2**20
    with open("/etc/os-release") as f:
        system = next(line.split("=")[1].strip().strip('"') for line in f if line.startswith("PRETTY_NAME"))
    versions = {name: command("dpkg-query", "-W", "-f", "${Version}", name) for name in
                ("gcc", "libcurl4", "libxml2", "libpcre2-8-0", "libev4", "postgresql", "urlwatch")}
    rows = [("processor", f"{cpu}, {os.cpu_count()} cores"), ("memory", f"{memory:.0f} GiB"),
            ("system", f"{system}, Linux {platform.release()}"),
            ("versions", ", ".join(f"{n} {v}" for n, v in versions.items() if v))]
    return markdown_table([["", "this machine"], *rows])


def markdown_table(rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n\n"


def reached(bar):
    return bar["got"] >= bar["want"] if bar.get("least") else bar["got"] <= bar["want"]


def figure(bar):
    """Measured, with as many digits as it takes to see whether it was reached."""
    short = f"{bar['got']:.3g}" if abs(bar["got"]) < 1000 else f"{bar['got']:,.0f}"
    return short if reached(bar) or short != f"{bar['want']:.3g}" else f"{bar['got']:.5g}"


def aim(bar):
    return ("at least " if bar.get("least") else "at most ") + f"{bar['want']:,g}"


def bars(results):
    rows = [(name, bar) for name, result in results.items() for bar in result["bars"]]
    text = "## What was aimed at\n\n"
    text += markdown_table([["part", "", "aimed at", "measured", ""]] + [
        [name, plain(name, bar), aim(bar), figure(bar), "reached" if reached(bar) else "**not reached**"] for name, bar in rows])
    missing = [(name, bar) for name, bar in rows if not reached(bar)]
    if not missing:
        return text + f"All {len(rows)} are reached.\n\n"
    text += f"### Not reached: {len(missing)} of {len(rows)}\n\n"
    for name, bar in missing:
        text += f"- *{name}*, {plain(name, bar)}: {figure(bar)}, where {aim(bar)} was aimed at. {bar['why']}".rstrip() + "\n"
    return text + "\n"


def plain(name, bar):
    return bar["what"].removeprefix(f"{name}: ")


def verdict(results):
    """The first paragraph: what somebody who decides wants to know, as far as it was measured."""
    facts = {name: result.get("facts", {}) for name, result in results.items()}
    points = []
    f = facts.get("quality")
    if f:
        points.append(f"**Nothing missed, nothing invented.** Of {f['vigil']['to_tell']:,} changes on {f['vigil']['pages']:,} living pages, "
                      f"through noise, failing servers and being killed, Vigil missed {f['vigil']['missed']:,} and reported "
                      f"{f['vigil']['false']:,} falsely; urlwatch, with {f['urlwatch']['to_tell']:,} to tell on "
                      f"{f['urlwatch']['pages']:,} pages, {f['urlwatch']['missed']:,} and {f['urlwatch']['false']:,}.")
    f = facts.get("peers")
    if f and "vigil" in f:
        each = {name: f[name]["cpu"] / f["pages"] * 1e3 for name in ("vigil", "urlwatch", "libcurl")}
        points.append(f"**A check costs {each['vigil']:.2f} ms of CPU a page** ({f['pages']:,} pages, 1 % changed, database and start-up "
                      f"included): a {each['urlwatch'] / each['vigil']:.0f}th of urlwatch's {each['urlwatch']:.0f} ms, and "
                      f"{each['vigil'] / each['libcurl']:.1f} times what a bare libcurl loop takes that only downloads, compares nothing and keeps "
                      f"nothing ({each['libcurl']:.2f} ms). The cycle takes {f['vigil']['wall']:.1f} s, urlwatch's {f['urlwatch']['wall']:.0f} s.")
    f = facts.get("idle")
    if f:
        points.append(f"**Waiting is nearly free.** {f['sentinels']:,} sentinels over {f['pages']:,} pages, each looked at every ten minutes, "
                      f"take {f['percent']:.1f} % of one core and {f['memory'] / 1e6:.0f} MB with their PostgreSQL while nothing changes.")
    f = facts.get("changed")
    if f:
        points.append(f"**A changed page costs {f['vigil_us'] / 1e3:.1f} ms of CPU**, from its body to the report: read in a sandbox, compared, "
                      f"packed ({f['sax']:.1f} times one bare SAX parse of it), and {f['database_us'] / 1e3:.1f} ms in PostgreSQL.")
    f = facts.get("demo")
    if f:
        points.append(f"**The first change is on the screen {f['seconds']:.1f} s after `vigil demo`**, the making of a PostgreSQL included.")
    rows = [bar for result in results.values() for bar in result["bars"]]
    missing = sum(not reached(bar) for bar in rows)
    points.append(f"**{len(rows) - missing} of {len(rows)} figures that were aimed at are reached**"
                  + (f"; the {missing} that are not are named below the table, with the reason where it is known." if missing else "."))
    return "# Measured\n\n" + "".join(f"- {point}\n" for point in points) + "\n"


def section(name, result):
    text = f"## {result['title']}\n\n"
    for part in result["parts"]:
        if "say" in part:
            text += part["say"] + "\n\n"
        elif "table" in part:
            text += markdown_table(part["table"])
        elif "plot" in part:
            text += f"![{part['title']}](bench/{part['plot']})\n\n"
        elif "text" in part:
            text += "```\n" + part["text"].rstrip() + "\n```\n\n"
    text += f"<sub>`scripts/bench {name}`, {result['when']}, at {result['commit']}, {result['seconds']:,} s"
    if result.get("load") is not None:
        text += f", load average {result['load']}"
    if result.get("others") is not None:
        text += f", others used {result['others']} of {os.cpu_count()} cores"
    return text + "</sub>\n\n"


def main():
    results = {name: result for name in ORDER if (result := saved(name))}
    text = verdict(results) + bars(results) + HOW.format(parts=" ".join(ORDER)) + machine()
    text += "".join(section(name, result) for name, result in results.items())
    with open(os.environ.get("VIGIL_BENCH_REPORT", os.path.join(TOP, "docs", "benchmarks.md")), "w") as f:
        f.write(text.rstrip() + "\n")


main()
