"""The quick form: fails when a ratio is 30 % worse than the recorded one.

    quick.py quick PROGRAM      prints TAP
    quick.py record PROGRAM     writes tests/bench/recorded

A neighbour can make a run look slow and none can make it look fast, so the best time of each side counts, over all
tries; what looks worse than recorded is tried again a few times before it is believed.  What is recorded is the middle
of three.
"""
import os
import subprocess
import sys

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
WORSE = 1.3
TRIES = 8
SECONDS = 1  # of CPU, for each ratio and try


def measure(program, best, names=(), seconds=SECONDS):
    """Betters {name: (ours, bare)}."""
    out = subprocess.run([program, str(seconds), *names], check=True, capture_output=True, text=True).stdout
    for name, ours, bare in map(str.split, out.splitlines()):
        old = best.get(name, (float("inf"), float("inf")))
        best[name] = min(old[0], float(ours)), min(old[1], float(bare))
    return best


def ratios(best):
    return {name: ours / bare for name, (ours, bare) in best.items()}


def recorded():
    with open(RECORDED) as f:
        return {line.split()[0]: float(line.split()[1]) for line in f if line.strip() and line[0] != "#"}


def record(program):
    runs = [ratios(measure(program, {}, seconds=3)) for _ in range(3)]
    with open(RECORDED, "w") as f:
        f.write("# Ratios to a bare loop (tests/bench/quick.c); `scripts/bench record` writes them.\n")
        for name in runs[0]:
            middle = sorted(run[name] for run in runs)[len(runs) // 2]
            f.write(f"{name} {middle:.4f}\n")
            print(f"{name} {middle:.4f}  ({min(run[name] for run in runs):.4f} to {max(run[name] for run in runs):.4f})")


def quick(program):
    limits = recorded()
    best = measure(program, {})
    for _ in range(TRIES - 1):
        worse = [name for name, ratio in ratios(best).items() if name in limits and ratio > limits[name] * WORSE]
        if not worse:
            break
        print(f"# again: {' '.join(worse)}", flush=True)
        measure(program, best, worse)
    print(f"1..{len(best)}")
    failed = 0
    for number, (name, ratio) in enumerate(ratios(best).items(), 1):
        good = name in limits and ratio <= limits[name] * WORSE
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name} is not 30 % worse than recorded: "
              f"{ratio:.3f} now, {limits.get(name, float('nan')):.3f} then")
    missing = limits.keys() - best.keys()
    assert not missing, f"recorded and not measured: {missing}"
    return failed


if __name__ == "__main__":
    sys.exit(quick(sys.argv[2]) if sys.argv[1] == "quick" else record(sys.argv[2]))
