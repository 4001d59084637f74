"""Runs a program that measures and keeps what it prints: part.py NAME TITLE COMMAND…

Lines that end in "at most 1.6: kept" or "NOT KEPT" are bars of docs/benchmarks.md too.
"""
import re
import sys

from frame import *

BAR = re.compile(r"^(?P<what>.*\S)\s{2,}(?P<got>[\d.]+) (?P<unit>.*?)\s+(?P<way>at most|at least) (?P<want>[\d.]+): (?:NOT )?(?:kept|KEPT)")


def main():
    name, title, *command = sys.argv[1:]
    r = Result(name, title)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TOP)
    lines = []
    for line in process.stdout:
        lines.append(line)
        print(line, end="", flush=True)
    code = process.wait()
    for found in filter(None, map(BAR.match, lines)):
        sign = 1 if found["way"] == "at most" else -1
        r.bars.append({"what": f"{name}: {found['what']}, {found['unit']}".rstrip(", "), "least": sign < 0,
                       "want": float(found["want"]), "got": float(found["got"]), "why": ""})
    r.text("".join(lines))
    if lines:
        r.save()
    # 1 says that a limit was not kept, which the table tells; anything else, that it did not run.
    sys.exit(0 if code in (0, 1) and lines else 1)


main()
