"""What the parts of scripts/bench share: the living site, CPU of process trees, results.

A part makes a Result, says what it measured and saves it; report.py makes docs/benchmarks.md of
all that were ever saved, so a part can be run again alone:

    r = Result("peers", "A check cycle")
    r.say("What was done …")
    r.table(["pages", "CPU"], [["1000", "0.5 s"]])
    r.bar("CPU of one cycle, of urlwatch's", want=0.1, got=0.03)
    r.fact("cpu_of_urlwatch", 0.03)
    r.save()
"""
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("VIGIL_BENCH_BUILD", os.path.join(TOP, "build-release"))
RESULTS = os.environ.get("VIGIL_BENCH_RESULTS", os.path.join(TOP, "docs", "bench"))
os.environ.setdefault("VIGIL", os.path.join(BUILD, "engine", "vigil"))
os.environ.setdefault("VIGIL_TEST_PLACE", "/tmp")  # a disk is part of what is measured
sys.path.insert(0, os.path.join(TOP, "tests", "e2e"))
from harness import VIGIL, Postgres, Vigil, wait_until  # noqa: E402, F401

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything started is stopped
TICKS = os.sysconf("SC_CLK_TCK")
# One host with thousands of pages, all our own: politeness would be all that is measured.
EAGER = ["--allow", "127.0.0.0/8", "--set", "fetch.min_interval=1s", "--set", "fetch.jitter=0",
         "--set", "fetch.host_gap=0", "--set", "fetch.private_gap=0", "--set", "fetch.host_connections=32"]


def note(text):
    """For whoever waits."""
    print(text, flush=True)


def program(folder, name):
    return os.path.join(BUILD, "tests", folder, name)


# ---- processes ------------------------------------------------------------------------------

def _cpu(pid):
    """CPU seconds of it and of children it has waited for; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / TICKS


def _children(pid):
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as f:
            yield from map(int, f.read().split())


def tree(pid):
    """The process and all below it."""
    found = [pid]
    for one in found:
        found.extend(_children(one))
    return found


def cpu_of(pids):
    return sum(map(_cpu, pids))


def memory_of(pids):
    """Bytes, what is shared counted once."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as f:
                total += next(int(line.split()[1]) * 1024 for line in f if line.startswith("Pss:"))
        except (OSError, StopIteration):
            pass
    return total


def _waited_cpu():
    """CPU seconds of all children that were waited for, finer than the clock's ticks."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Watched:
    """Runs a command to its end, or kills it with all its children (or alone) after so many seconds; knows its time,
    CPU with all its children, and peak memory."""

    def __init__(self, command, kill_after=None, kill_alone=False, **kw):
        begun = time.monotonic()
        before = _waited_cpu()
        self.process = subprocess.Popen(command, **kw)
        self.peak = 0
        done = threading.Event()
        sampler = threading.Thread(target=self._sample, args=(done,))
        sampler.start()
        try:
            self.out, self.err = self.process.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            for pid in [self.process.pid] if kill_alone else tree(self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.out, self.err = self.process.communicate()
        finally:
            done.set()
            sampler.join()
            if self.process.poll() is None:
                self.process.terminate()
                self.process.wait()
        self.wall = time.monotonic() - begun
        self.cpu = _waited_cpu() - before
        self.code = self.process.returncode

    def _sample(self, done):
        while not done.wait(0.1):
            self.peak = max(self.peak, memory_of(tree(self.process.pid)))


# ---- the living site --------------------------------------------------------------------------

KINDS = ("links", "images", "words", "phrase", "table", "list", "keyword", "noise")
FAILURES = ("500", "503", "404", "cut", "drop")


class Living:
    """The living site; what it is told and what it knows is in tests/servers/living.c."""

    def __init__(self, pages):
        self.pages = pages
        self.home = tempfile.mkdtemp(prefix="lv-", dir="/tmp")
        self.log = os.path.join(self.home, "truth")
        self.read = 0

    def __enter__(self):
        self.process = subprocess.Popen([program("servers", "living"), str(self.pages), self.log],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rsplit(":", 1)[1])
        assert self.url.startswith("http"), "the living site did not start"
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def page(self, number):
        return f"{self.url}/living/{number}.html"

    def turn(self, kind, pages):
        self.process.stdin.writelines(f"turn {kind} {n}\n" for n in pages)
        self.sync()

    def fail(self, how, pages):
        self.process.stdin.writelines(f"fail {how} {n}\n" for n in pages)
        self.sync()

    def sync(self):
        self.process.stdin.write("sync\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def seen(self):
        """{page: kinds} of changes that whole answers showed since this was asked last."""
        found = {}
        self.sync()
        with open(self.log) as f:
            f.seek(self.read)
            for line in f:
                what, kind, page = line.split()
                if what == "seen":
                    found.setdefault(int(page), set()).add(kind)
            self.read = os.path.getsize(self.log)
        return found


def served(before, after):
    return {key: after[key] - before[key] for key in after}


# ---- results ----------------------------------------------------------------------------------

class Result:
    def __init__(self, name, title):
        self.name = name
        self.parts, self.bars, self.facts = [], [], {}
        self.title = title
        self.begun = time.monotonic()
        self.busy = _machine_busy() - _own_cpu()

    def say(self, text):
        """A paragraph of Markdown."""
        self.parts.append({"say": text})
        note(text)

    def table(self, head, rows):
        rows = [[str(cell) for cell in row] for row in rows]
        self.parts.append({"table": [head, *rows]})
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        for row in [head, *rows]:
            note("  ".join(cell.rjust(w) if i else cell.ljust(w)
                           for i, (cell, w) in enumerate(zip(row, widths))))

    def text(self, text):
        """What a program printed."""
        self.parts.append({"text": text})

    def bar(self, what, want, got, why="", least=False):
        """A figure that should be at most (or at least) `want`; `why` is a sentence that says what stands in its way."""
        self.bars.append({"what": what, "want": want, "got": got, "why": why, "least": least})
        note(f"{what}: {got:.3g}, wanted at {'least' if least else 'most'} {want:g}"
             + ("" if (got >= want if least else got <= want) else "  NOT REACHED"))

    def fact(self, name, value):
        """A figure that the first paragraphs of docs/benchmarks.md speak of."""
        self.facts[name] = value

    def line(self, file, title, x, y, points, what, scale=1.0, why="", label="Vigil", beside=None):
        """Plots what should be a straight line, the straight line that fits it best, and others beside it; holds the slope
        of the far half against the near half's."""
        n = len(points)
        mx, my = sum(a for a, _ in points) / n, sum(b for _, b in points) / n
        slope = sum((a - mx) * (b - my) for a, b in points) / sum((a - mx) ** 2 for a, _ in points)
        straight = [(a, (my + slope * (a - mx)) * scale) for a in (points[0][0], points[-1][0])]
        self.plot(file, title, x, y, {label: [(a, b * scale) for a, b in points], "a straight line": straight, **(beside or {})})
        (x0, y0), (x1, y1), (x2, y2) = points[0], points[n // 2], points[-1]
        near, far = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
        self.bar(what, 1.5, far / near if near > 0 else 1, why)

    def plot(self, file, title, x, y, lines, options=""):
        """lines: {label: [(x, y)…]}; drawn by gnuplot."""
        os.makedirs(RESULTS, exist_ok=True)
        path = os.path.join(RESULTS, f"{self.name}-{file}.svg")
        script = [f"set terminal svg size 640,400 font 'sans,12' background '#ffffff' noenhanced",
                  f"set output '{path}'", f"set title \"{title}\"", f"set xlabel \"{x}\"",
                  f"set ylabel \"{y}\"", "set key left top", "set grid", "set yrange [0:*]",
                  "set format x '%.6g'", options]
        plots = []
        for i, (label, points) in enumerate(lines.items()):
            script.append(f"$d{i} << EOD\n" + "\n".join(f"{a} {b}" for a, b in points) + "\nEOD")
            plots.append(f"$d{i} using 1:2 with linespoints pt 7 ps 0.5 lw 2 title \"{label}\"")
        script.append("plot " + ", ".join(plots))
        subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)
        self.parts.append({"plot": os.path.basename(path), "title": title})

    def save(self, **more):
        os.makedirs(RESULTS, exist_ok=True)
        seconds = time.monotonic() - self.begun
        with open(os.path.join(RESULTS, f"{self.name}.json"), "w") as f:
            json.dump({"title": self.title, "parts": self.parts, "bars": self.bars, "facts": self.facts,
                       "when": time.strftime("%Y-%m-%d", time.gmtime()), "commit": commit(),
                       "load": round(os.getloadavg()[0], 1), "seconds": round(seconds),
                       "others": round(max(0, _machine_busy() - _own_cpu() - self.busy) / max(seconds, 1), 2), **more},
                      f, indent=1, ensure_ascii=False)
            f.write("\n")


def saved(name):
    """What a part saved the last time; {} when it never did."""
    try:
        with open(os.path.join(RESULTS, f"{name}.json")) as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


def commit():
    """The commit that is measured, with a + when the code is not quite it."""
    git = ["git", "-C", TOP]
    name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    same = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", ":!docs"], capture_output=True).returncode == 0
    return name + ("" if same else "+")


def _machine_busy():
    """CPU seconds that this machine has been at work."""
    with open("/proc/stat") as f:
        fields = list(map(int, f.readline().split()[1:]))
    return (sum(fields[:8]) - fields[3] - fields[4]) / TICKS


def _own_cpu():
    """CPU seconds of this process and of all it has waited for."""
    return sum(os.times()[:4])
