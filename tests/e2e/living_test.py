"""The living site, which knows what it changed: nothing is missed and nothing told falsely.

The same rounds as in scripts/bench, over fewer pages: every kind of change, noise, failing servers, SIGKILL
half-way.
"""
from harness import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import quality  # noqa: E402

quality.note = lambda text: print("# " + text)


@test("of a living site every change is told once to whoever asked for its kind, and nothing else is")
def _():
    found = quality.judge_vigil(80)
    told = sum(row[1] for row in found)
    assert told > 100, f"only {told} things happened"
    equal([row for row in found if row[2] or row[3]], [])


main()
