"""The quick form: fails when a ratio is 30 % worse than the recorded one.

    quick.py quick PROGRAM      prints TAP
    quick.py record PROGRAM     writes tests/bench/recorded

A busy machine can make one run look slow, so what looks worse is measured again, twice, and counts
only if it never looked well; what is recorded is the middle of three.
"""
import os
import subprocess
import sys

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
WORSE = 1.3
TRIES = 3


def measure(program, names=()):
    out = subprocess.run([program, *names], check=True, capture_output=True, text=True).stdout
    return {name: float(ratio) for name, ratio in map(str.split, out.splitlines())}


def recorded():
    with open(RECORDED) as f:
        return {line.split()[0]: float(line.split()[1]) for line in f if line.strip() and line[0] != "#"}


def record(program):
    runs = [measure(program) for _ in range(3)]
    with open(RECORDED, "w") as f:
        f.write("# Ratios to a bare loop (tests/bench/quick.c); `scripts/bench record` writes them.\n")
        for name in runs[0]:
            middle = sorted(run[name] for run in runs)[len(runs) // 2]
            f.write(f"{name} {middle:.4f}\n")
            print(f"{name} {middle:.4f}  ({min(run[name] for run in runs):.4f} to {max(run[name] for run in runs):.4f})")


def quick(program):
    limits = recorded()
    best = measure(program)
    for _ in range(TRIES - 1):
        worse = [n for n in best if best[n] > limits.get(n, 0) * WORSE and n in limits]
        if not worse:
            break
        for name, ratio in measure(program, worse).items():
            best[name] = min(best[name], ratio)
    print(f"1..{len(best)}")
    failed = 0
    for number, (name, ratio) in enumerate(best.items(), 1):
        good = name in limits and ratio <= limits[name] * WORSE
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name} is not 30 % worse than recorded: "
              f"{ratio:.3f} now, {limits.get(name, float('nan')):.3f} then")
    missing = limits.keys() - best.keys()
    assert not missing, f"recorded and not measured: {missing}"
    return failed


if __name__ == "__main__":
    sys.exit(quick(sys.argv[2]) if sys.argv[1] == "quick" else record(sys.argv[2]))
