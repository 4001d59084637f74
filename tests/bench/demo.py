"""From typing `vigil demo` to the first change on the screen, with a built tree and nothing there yet."""
from frame import *
from harness import free_port

ROUNDS = 3


def first_change(v, port):
    begun = time.monotonic()
    engine = v.popen("demo", "--set", f"demo.port={port}", settings=())
    try:
        for line in engine.stdout:
            if "→v" in line and " #" in line:
                return time.monotonic() - begun
        raise AssertionError("the demo ended:\n" + engine.stderr.read())
    finally:
        engine.terminate()
        engine.communicate()


def main():
    r = Result("demo", "From `vigil demo` to the first change")
    rows, new, again = [], [], []
    for n in range(1, ROUNDS + 1):
        with Vigil() as v:
            port = free_port()
            new.append(first_change(v, port))
            again.append(first_change(v, port))
        rows.append([str(n), f"{new[-1]:.2f} s", f"{again[-1]:.2f} s"])
    r.say("Wall time until the first change is printed. The first start makes a PostgreSQL, which is most of it; "
          "a page of the demo's site changes right after the first look at it, the others every 4 to 11 seconds.")
    r.table(["round", "first start", "next start"], rows)
    r.fact("seconds", sorted(new)[ROUNDS // 2])
    r.bar("demo: `vigil demo`: seconds from start to the first change shown, the middle of three", 5, sorted(new)[ROUNDS // 2])
    r.save()


main()
