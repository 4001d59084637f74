"""COMPARE pairwise, moving:n and every:n over a stream's own positions, killed at every step.

A timeline is a row of steps: "S1 every:4" arrives, "p" publishes the page's next version, "-S1"
stops a sentinel, "off S1" and "on S1" disable and enable it.  What each pair was told to is what
the rules give by hand, not what an engine once printed.
"""
from harness import *

pg = shared(Postgres)
site = shared(Site)

TIMELINES = {
    # every:4, and who arrives later counts from what is current then
    "tl0": ("S1 every:4|p|p|S2 every:4|p|p|S3 every:4|p|p|p",
            "(1,4)S1 (2,5)S2 (4,7)S1 (4,7)S3"),
    "tl1": ("S1 every:3 + S2 every:3|p|p|p|p|p", "(1,3)S1 (1,3)S2 (3,5)S1 (3,5)S2"),
    "tl2": ("S1 every:3|p|S2 every:3|p|p|p|p", "(1,3)S1 (1,3)S2 (3,5)S1 (3,5)S2"),
    "tl3": ("S1 every:4|p|p|off S1|p|on S1|p|p|p", "(3,6)S1"),
    "tl4": ("S1 every:2|p|p|S2 pairwise|p|S3 moving:2|p",
            "(1,2)S1 (2,3)S1 (2,3)S2 (3,4)S1 (3,4)S2 (3,4)S3"),
    "tl5": ("S1 every:3 + S2 moving:3 + S3 pairwise|p|p|p|p|p",
            "(1,2)S3 (1,3)S1 (1,3)S2 (2,3)S3 (2,4)S2 (3,4)S3 (3,5)S1 (3,5)S2 (4,5)S3"),
    "tl6": ("S1 moving:3|p|p|S2 moving:3|p|p|p|-S1 + -S2|p|S3 every:3|p|p",
            "(1,3)S1 (2,4)S1 (2,4)S2 (3,5)S1 (3,5)S2 (6,8)S3"),
}


class Run:
    """One timeline on one page.  A ticker fetches it every second; the sentinels look on change,
    so they share one stream, or have a second of their own."""

    def __init__(self, name, fetch):
        self.tag = f"{name}_{'c' if fetch == 'on change' else 'f'}"
        self.fetch, self.path = fetch, f"/{self.tag}"
        self.steps, expected = TIMELINES[name]
        self.steps = [s.split(" + ") for s in self.steps.split("|")]
        self.expected = sorted(expected.split())
        self.version = 0

    def statements(self, step):
        for action in step:
            words = action.split()
            if action == "p":
                continue
            if action[0] == "-":
                yield f"STOP SENTINEL {self.tag}_{action[1:]};"
            elif words[0] in ("off", "on"):
                verb = "DISABLE" if words[0] == "off" else "ENABLE"
                yield f"{verb} SENTINEL {self.tag}_{words[1]};"
            else:
                yield (f"CREATE SENTINEL {self.tag}_{words[0]} USING {site().url}{self.path} "
                       f"MONITOR any change FETCH {self.fetch} COMPARE {words[1]};")

    def publish(self):
        self.version += 1
        site().put(self.path, f"<p>text {self.version}</p>")


def told(v, run):
    rows = v.sql("SELECT sentinel, old_version, new_version FROM vigil.changes "
                 f"WHERE sentinel LIKE '{run.tag}\\_S%' ORDER BY id").splitlines()
    rows = [r.split("|") for r in rows]
    return sorted(f"({old},{new}){name.rsplit('_', 1)[1]}" for name, old, new in rows)


def everybody_saw(v, run):
    """All that are active have been shown the page's newest version."""
    return v.sql("SELECT count(*) FROM vigil_kb.sentinel s JOIN vigil_kb.sentinel_state t "
                 "ON t.sentinel_id = s.id WHERE s.state = 'active' "
                 f"AND s.name LIKE '{run.tag}\\_%' AND t.last_version < {run.version}") == "0"


def play(kill):
    runs = [Run(name, fetch) for name in TIMELINES for fetch in ("on change", "every 1 second")]
    for run in runs:
        site().put(run.path, lambda handler: handler.answer(503, "not yet"))
    with Vigil(db=pg().database()) as v:
        v.run("list")
        v.add("".join(f"CREATE SENTINEL {r.tag}_ticker USING {site().url}{r.path} MONITOR links "
                      "FETCH EVERY 1 second;\n" for r in runs))
        v.start()
        for number in range(max(len(r.steps) for r in runs)):
            live = [r for r in runs if number < len(r.steps)]
            wishes = [s for r in live for s in r.statements(r.steps[number])]
            if wishes:
                v.add("\n".join(wishes))
            for r in live:
                if r.steps[number] == ["p"]:
                    r.publish()
            for r in live:
                wait_until(lambda: everybody_saw(v, r), what=f"version {r.version} of {r.tag} is seen")
            if kill:
                v.kill()
                v.start()
        for r in runs:
            equal((r.tag, told(v, r)), (r.tag, r.expected))


@test("every timeline of pairwise, moving:n and every:n, in one stream and in many, killed at every step")
def _():
    play(kill=SLOW == 1)  # sanitizers are slow to start, and kill -9 tells them nothing


main()
