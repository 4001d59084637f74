"""Runs a program that measures and keeps what it prints: part.py NAME TITLE COMMAND…

What was aimed at is read from what is printed, by the words of a line and not by its columns:

    a live series of P     73.27 bytes      at most 160: kept

is a bar as it stands; of the other programs, READERS know which words say what.  A bar whose words are no longer
printed is an error, so that none gets lost.
"""
import re
import sys

from frame import *

BAR = re.compile(r"^(?P<indent>\s*)(?P<what>.*\S)\s{2,}(?P<got>[\d.]+) (?P<unit>.*?)\s*(?P<way>at most|at least) (?P<want>[\d.]+): (?:NOT )?(?:kept|KEPT)")
NUMBER = r"([\d,]+(?:\.\d+)?)"


def printed_bars(lines):
    """Lines that say themselves what was aimed at; an indented one belongs to the last one above that is less so."""
    above = {}
    for line in lines:
        indent = len(line) - len(line.lstrip())
        above = {depth: text for depth, text in above.items() if depth < indent}
        found = BAR.match(line)
        if found:
            what = ": ".join([*(above[depth] for depth in sorted(above)), found["what"]])
            yield (f"{what}, {found['unit']}".rstrip(", "), found["way"] == "at least", float(found["want"]), float(found["got"]))
        words = re.split(r"\s{2,}[\d.]|:", line.strip())[0]
        if words:
            above[indent] = words


def number(text):
    return float(text.replace(",", ""))


def near(lines, start, *parts):
    """The numbers of the first line that begins so (white space aside): those before each of `parts`."""
    for line in lines:
        if line.strip().startswith(start):
            rest = line.strip()[len(start):]
            found = [re.search(NUMBER + re.escape(part), rest) for part in parts]
            if all(found):
                return [number(f[1]) for f in found]
    raise LookupError(f'no line "{start} … {" … ".join(parts)}"')


def sizes(lines, count):
    """[(bytes, the first `count` figures in us)…] of lines that are about a body of so many bytes."""
    rows = []
    for line in lines:
        found = re.match(rf"\s*{NUMBER} B\b", line)
        figures = re.findall(rf"{NUMBER} us", line)
        if found and len(figures) >= count:
            rows.append((number(found[1]), [number(f) for f in figures[:count]], line))
    assert rows, "no line about a body"
    return rows


def page(r, lines):
    rows = sizes(lines, 2)
    usual = min(rows, key=lambda row: abs(row[0] - 41000))
    kb = f"{usual[0] / 1000:.0f} KB"
    r.bar(f"page: HTML to digest, {kb}: times a bare SAX walk", 1.4, usual[1][1] / usual[1][0])
    r.bar(f"page: the digest's size, {kb}: of the body's", 0.6, number(re.findall(NUMBER, usual[2])[-1]))
    for label, want in (("comparing, nothing relevant changed, all types", 5), ("comparing, 1 % of the nodes changed, all types", 25)):
        line = next(line for line in lines if line.startswith(label))
        ours, sax = (number(n) for n in re.findall(rf"{NUMBER}%", line[len(label):]))
        r.bar(f"page: {label}: % of a bare SAX parse", want, sax)
        r.bar(f"page: {label}: % of our own parse", want, ours)
    text = "".join(lines)
    r.bar("page: 10,000 keywords: times 10 keywords", 2, number(re.search(rf"10,000 keywords are {NUMBER} times", text)[1]))
    large = [(size / 1e6, us[0] / 1e3, us[1] / 1e3) for size, us, _ in rows if size > 2e5]
    if len(large) > 4:
        r.line("size", "HTML to digest, by size of the page", "MB", "CPU ms", [(x, digest) for x, _, digest in large],
               "page: HTML to digest, by size up to 5 MB: slope of the far half, in times of the near half's", label="digest",
               beside={"a bare SAX walk": [(x, sax) for x, sax, _ in large]})


def worker(r, lines):
    second = next(i for i, line in enumerate(lines) if line.startswith("One page at a time"))
    for rows, how in ((lines[:second], "a stream of {} KB pages: CPU of both sides"), (lines[second:], "one {} KB page at a time: wall time")):
        for size, (inside, boxed), _ in sizes(rows, 2):
            if 9e3 < size < 1.1e5:
                r.bar(f"worker: sandboxed, {how.format(f'{size / 1000:.0f}')}, times in-process", 1.2, boxed / inside)


def cdg(r, lines):
    rows = [[number(n) for n in found.groups()] for found in
            (re.search(rf"{NUMBER}, {NUMBER}, {NUMBER}", line) for line in lines
             if re.search(r"\buniform\b", line) and not line.startswith("WebCQ")) if found]
    for k, (size, want) in enumerate(((5, 4.8), (10, 9.5), (100, 80))):
        r.bar(f"cdg: what groups of {size} save, the least of {len(rows)} questions: times", want, min(row[k] for row in rows), least=True)
    r.bar("cdg: memory of a sentinel in the graph, of a million: bytes", 300, near(lines, "1000000 sentinels", " bytes each")[0])


def fetch(r, lines):
    for label in ("47 KB bodies", "304 answers"):
        line = next(line for line in lines if line.strip().startswith(label))
        r.bar(f"fetch: {label}: rate, of a bare loop's", 0.8, number(re.search(rf"\brate {NUMBER}", line)[1]), least=True)
        r.bar(f"fetch: {label}: CPU, times a bare loop's", 1.3, number(re.search(rf"\bCPU {NUMBER}", line)[1]))
    r.bar("fetch: times as fast as urlwatch", 50, near(lines, "urlwatch", " times as fast")[0], least=True)


def idlepages(r, lines):
    r.bar("fetch: an idle page, of 100,000: bytes", 600, near(lines, "#", " bytes a page")[0])


def store(r, lines):
    """The rest it says itself.  That the digest comes unpacked is ours to pay, so the bare read leaves it packed."""
    if any("which leaves them packed" in line for line in lines):
        r.bar("store: reading the previous digest, unpacked: times a bare read of the packed bytes by primary key", 1.3,
              near(lines, "ours against the bare read, which leaves them packed", "")[0])


def restart(r, lines):
    for count, name, want in ((100000, "100,000", 10), (1000000, "1,000,000", 90)):
        line = next((line for line in lines if re.match(rf"\s*{count} sentinels\b", line)), None)
        if line:
            r.bar(f"restart: {name} sentinels running again: s", want, number(re.search(rf"running again +{NUMBER} s", line)[1]))
            r.bar(f"restart: {name} sentinels: bytes each beyond its text", 1024, number(re.search(rf"memory +{NUMBER} bytes", line)[1]))


def notify(r, lines):
    r.bar("notify: webhooks a second", 2000, near(lines, "webhook", " a second")[0], least=True)


READERS = {"page": page, "worker": worker, "cdg": cdg, "fetch": fetch, "idlepages": idlepages, "notify": notify,
           "store": store, "restart": restart}
# Why something is not reached, where that is known; said only when it is not.
WHY = {
    "ours as a part of that": "A bare insert is one row with the bytes in it; a version is packed, compared with what is stored, "
                              "and committed with its changes, its sentinels' counters and what it owes.",
    "previous digest": "Most of the difference is unpacking, which the bare read does not do.",
    "comparing, 1 % of the nodes changed": "All fourteen types at once include those that compare whole trees and all words; "
                                           "and our own parse takes little more than half the time of a bare SAX parse.",
    "page at a time": "A reader that sleeps is woken, and then whoever waits for it: the kernel's time, most of it a virtual "
                      "processor's way out of its halt; of a small page that is a larger part.",
    "sandboxed": "Each page is handed over and its digest copied out of the memory both sides share, and every few pages one side "
                 "wakes the other; of a small page that is a larger part.",
}


def main():
    name, title, *command = sys.argv[1:]
    r = Result(name, title)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TOP)
    lines = []
    for line in process.stdout:
        lines.append(line)
        print(line, end="", flush=True)
    code = process.wait()
    for what, least, want, got in printed_bars(lines):
        r.bar(f"{name}: {what}", want, got, least=least)
    r.text("".join(lines))
    unread = None
    try:
        if name in READERS:
            READERS[name](r, lines)
    except (LookupError, TypeError, StopIteration, AssertionError, ValueError) as e:
        unread = e
    for bar in r.bars:
        bar["why"] = next((why for words, why in WHY.items() if words in bar["what"]), "")
    if lines:
        r.save()
    if unread is not None:
        sys.exit(f"part.py: what {name} prints was not understood: {unread}")
    # 1 says that a limit was not kept, which the table tells; anything else, that it did not run.
    sys.exit(0 if code in (0, 1) and lines else 1)


if __name__ == "__main__":
    main()
