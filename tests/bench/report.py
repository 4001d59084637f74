"""Makes docs/benchmarks.md of what the parts of scripts/bench have saved in docs/bench."""
import platform

from frame import *

ORDER = ("quality", "peers", "idle", "changed", "demo", "papers", "mapping", "growth", "page", "worker", "cdg", "led",
         "grammar", "fetch", "idlepages", "store", "notify", "restart")
HEAD = """# Measured

Everything here was written by `scripts/bench`; nothing by hand. Run it again with

    scripts/bench              # everything, about half an hour on two quiet cores
    scripts/bench NAME…        # single parts; the others keep their last figures
    scripts/bench quick        # under a minute: the ratios that scripts/test holds against tests/bench/recorded

Parts: {parts}.

Read ratios rather than seconds: both sides of one were measured in the same run. CPU is user and system time, of all
processes and their children; where the load average below a section is above 2, others used the machine too, and seconds of
wall time say little. The pages are those of the living site (`web/living.h`), made while running.

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


def bars(results):
    rows = [(name, bar) for name, result in results.items() for bar in result["bars"]]
    text = "## What was aimed at\n\n"
    text += markdown_table([["", "aimed at", "measured", ""]] + [
        [bar["what"], ("at least " if bar.get("least") else "at most ") + f"{bar['want']:g}", f"{bar['got']:.3g}",
         "reached" if reached(bar) else "**not reached**"] for _, bar in rows])
    missing = [bar for _, bar in rows if not reached(bar)]
    if missing:
        text += f"Not reached: {len(missing)} of {len(rows)}."
        text += "".join(f" {bar['what']}: {bar['why']}" for bar in missing if bar["why"]) + "\n\n"
    else:
        text += f"All {len(rows)} are reached.\n\n"
    return text


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
    load = result.get("load")
    return text + (f"<sub>`scripts/bench {name}`, {result['when']}, at {result['commit']}, {result['seconds']} s"
                   + (f", load average {load}" if load is not None else "") + "</sub>\n\n")


def main():
    results = {}
    for name in ORDER:
        path = os.path.join(RESULTS, f"{name}.json")
        if os.path.exists(path):
            with open(path) as f:
                results[name] = json.load(f)
    text = HEAD.format(parts=" ".join(ORDER)) + machine() + bars(results)
    text += "".join(section(name, result) for name, result in results.items())
    with open(os.path.join(TOP, "docs", "benchmarks.md"), "w") as f:
        f.write(text.rstrip() + "\n")


main()
