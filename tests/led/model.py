#!/usr/bin/env python3
"""A second opinion on every context: a model of the semantics, compared with led-trace.

usage: model.py LED-TRACE SEED COUNT

The model evaluates an expression as a tree from the top, one raise or timer at a time, with
the tables of the semantics written down as they stand and no thought of speed, sharing or
memory.  COUNT random traces (nested operators, timers, gaps, wall clock jumps, every context)
are worked out by it and run by led-trace; both must give the same detections in the same order.
Traces in which two different timers of one class are due at one instant are left out: which
was registered first depends on how nodes are shared.  Prints TAP.
"""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

CONTEXTS = ["unrestricted", "recent", "chronicle", "continuous", "cumulative"]
TICK, DELAY, WALL, CATCH_UP = range(4)


class Ambiguous(Exception):
    pass


class Occurrence:
    """Parts are (end, arrival, label) of the primitive occurrences underneath."""

    def __init__(self, start, end, parts, late=0, missed=0):
        self.start, self.end, self.parts = start, end, parts
        self.late, self.missed = late, missed


def combine(occurrences, detector):
    parts = sorted({p for o in occurrences for p in o.parts})
    start = min(o.start for o in occurrences)
    end = max(o.end for o in occurrences)
    return Occurrence(start, end, parts, detector.late, detector.missed)


class Node:
    def __init__(self, run, expr, parent=None, role=None):
        self.run, self.parent, self.role, self.context = run, parent, role, run.context
        self.open = []  # windows of ANY, timers of PLUS, P and P*
        if isinstance(expr, str):
            self.op, self.name, self.kids = "name", expr, []
            return
        self.op, args = expr[0], list(expr[1:])
        if self.op == "ABS":
            self.kids = []
            run.add_timer(self, WALL, args[0])
            return
        if self.op == "PLUS" or self.op in ("P", "P*"):
            self.span = args.pop(1)
        if self.op == "ANY":
            self.needed = args.pop(0)
        if self.op == "NOT":
            args = [args[1], args[0], args[2]]  # from, forbidden, to
        self.kids = [Node(run, a, self, i) for i, a in enumerate(args)]
        self.kept = [[] for _ in args]

    def feed(self, raised):
        """What this expression detects when a primitive is raised; last role first."""
        if self.op == "name":
            return [raised] if raised.name == self.name else []
        found = []
        for role in reversed(range(len(self.kids))):
            for o in self.kids[role].feed(raised):
                found += self.notify(role, o)
        return found

    def signal(self, occurrences):
        """A timer made these: they go up the tree."""
        if self.parent is None:
            self.run.detected += occurrences
        elif occurrences:
            found = [d for o in occurrences for d in self.parent.notify(self.role, o)]
            self.parent.signal(found)

    def notify(self, role, o):
        handler = {"OR": lambda r, x: [x], "AND": self.on_and, "SEQ": self.on_seq,
                   "NOT": self.on_not, "ANY": self.on_any, "A": self.on_a, "A*": self.on_astar,
                   "PLUS": self.on_plus, "P": self.on_p, "P*": self.on_p}[self.op]
        return handler(role, o)

    # ---- pairing ----

    def initiate(self, kept, o):
        if self.context == "recent":
            kept.clear()
        kept.append(o)
        return []

    def pair(self, kept, o, fits, context):
        if context == "recent":
            return [combine([kept[-1], o], o)] if kept and fits(kept[-1]) else []
        usable = [x for x in kept if fits(x)]
        if context == "chronicle":
            usable = usable[:1]
        if context != "unrestricted":
            for x in usable:
                kept.remove(x)
        if context == "cumulative":
            return [combine(usable + [o], o)] if usable else []
        return [combine([x, o], o) for x in usable]

    def on_and(self, role, o):
        own, other = self.kept[role], self.kept[1 - role]
        if self.context == "cumulative":
            own.append(o)
            if not other:
                return []
            found = [combine(own + other, o)]
            own.clear(), other.clear()
            return found
        found = self.pair(other, o, lambda x: True, self.context)
        if not found or self.context in ("unrestricted", "recent"):
            self.initiate(own, o)
        return found

    def on_seq(self, role, o):
        first = self.kept[0]
        if role == 1:
            return self.pair(first, o, lambda x: x.end < o.start, self.context)
        return self.initiate(first, o)

    def on_not(self, role, o):
        first, forbidden, _ = self.kept
        if role == 0:
            return self.initiate(first, o)
        if role == 1:
            forbidden.append(o)
            return []

        def fits(x):
            return x.end < o.start and not any(
                n is not x and x.end <= n.start and n.end <= o.start for n in forbidden)
        return self.pair(first, o, fits, self.context)

    # ---- ANY ----

    def on_any(self, role, o):
        if self.needed == 1:
            return [o]
        if self.context == "continuous":
            return self.any_windows(role, o)
        mine = (next(self.run.counter), o)
        if self.context in ("unrestricted", "recent"):
            if self.context == "recent":
                self.kept[role].clear()
            others = sorted((n, x, r) for r, kept in enumerate(self.kept) if r != role
                            for n, x in kept)
            self.kept[role].append(mine)
            wanted = self.needed - 1
            if self.context == "recent":
                choices = [others[len(others) - wanted:]] if len(others) >= wanted else []
            else:
                choices = [c for c in itertools.combinations(others, wanted)
                           if len({r for _, _, r in c}) == wanted]
            return [combine([x for _, x, _ in c] + [o], o) for c in choices]
        self.kept[role].append(mine)
        if sum(1 for kept in self.kept if kept) < self.needed:
            return []
        if self.context == "chronicle":
            return [combine([kept.pop(0)[1] for kept in self.kept if kept], o)]
        found = [combine([x for kept in self.kept for _, x in kept], o)]
        for kept in self.kept:
            kept.clear()
        return found

    def any_windows(self, role, o):
        lacking = [w for w in self.open if role not in w]
        complete = [w for w in lacking if len(w) == self.needed - 1]
        if complete:
            self.open = [w for w in self.open if not any(w is c for c in complete)]
            return [combine(list(w.values()) + [o], o) for w in complete]
        for w in lacking:
            w[role] = o
        if not lacking:
            self.open.append({role: o})
        return []

    # ---- windows ----

    def take_closed(self, to):
        closed = [x for x in self.kept[0] if x.end < to.start]
        if self.context == "chronicle":
            closed = closed[:1]
        for x in closed:
            self.kept[0].remove(x)
        return closed

    def on_a(self, role, o):
        if role == 0:
            return self.initiate(self.kept[0], o)
        if role == 2:
            self.take_closed(o)
            return []
        context = self.context if self.context in ("recent", "cumulative") else "unrestricted"
        return self.pair(self.kept[0], o, lambda x: x.end < o.start, context)

    def on_astar(self, role, o):
        if role == 0:
            return self.initiate(self.kept[0], o)
        if role == 1:
            self.kept[1].append(o)
            return []
        closed = self.take_closed(o)
        groups = [closed] if self.context == "cumulative" and closed else [[x] for x in closed]
        found = []
        for group in groups:
            inside = [y for y in self.kept[1]
                      if y.start > min(x.end for x in group) and y.end <= o.start]
            if inside:
                found.append(combine(group + inside + [o], o))
        return found

    # ---- timers ----

    def on_plus(self, role, o):
        return self.start(o, DELAY, o.end + self.span)

    def start(self, o, kind, at):
        if self.context == "recent":
            self.stop_all()
        if self.context == "cumulative" and self.open:
            self.open[0].of.append(o)
        else:
            self.open.append(self.run.add_timer(self, kind, at, o))
        return []

    def stop(self, timer):
        self.open.remove(timer)
        self.run.timers.remove(timer)

    def stop_all(self):
        for timer in list(self.open):
            self.stop(timer)

    def on_p(self, role, o):
        if role == 0:
            return self.start(o, TICK, o.end + self.span)
        found = []
        for timer in list(self.open):
            closed = [x for x in timer.of if x.end < o.start]
            if not closed:
                continue
            ticks = [t for t in timer.ticks if t.end <= o.start]
            if self.op == "P*" and ticks:
                found.append(combine(closed + ticks + [o], o))
            self.stop(timer)
            left = [x for x in timer.of if x.end >= o.start]
            if left:
                passed = (self.run.now - left[0].end) // self.span
                self.start(left[0], TICK, left[0].end + (passed + 1) * self.span)
                self.open[0].of = left
            if self.context == "chronicle":
                break
        return found


class Timer:
    def __init__(self, node, kind, at, number, of):
        self.node, self.kind, self.at, self.number = node, kind, at, number
        self.of = [of] if of else []
        self.ticks, self.missed, self.next = [], 0, None


class Run:
    def __init__(self, trace):
        self.context, self.detected, self.timers = trace["context"], [], []
        self.counter, self.numbers = itertools.count(), {}
        self.now, self.offset = 0, 0
        self.root = Node(self, trace["expr"])
        down_until = -1
        for t, what in trace["history"]:
            op = what["op"] if isinstance(what, dict) else None
            if t < down_until and op != "wall_jump":
                continue
            self.advance(t)
            if op is None:
                self.detected += self.root.feed(self.primitive(what))
            elif op == "wall_jump":
                self.offset += what["by"]
                self.reach(self.now, in_gap=False)
            elif what["until"] > self.now:
                down_until = what["until"] if op == "down" else down_until
                self.reach(what["until"], in_gap=True)
        self.advance(trace["until"])

    def primitive(self, name):
        self.numbers[name] = self.numbers.get(name, 0) + 1
        o = self.instant(self.now, f"{name}{self.numbers[name]}")
        o.name = name
        return o

    def instant(self, at, label):
        return Occurrence(at, at, [(at, next(self.counter), label)])

    def add_timer(self, node, kind, at, of=None):
        timer = Timer(node, kind, at, next(self.counter), of)
        self.timers.append(timer)
        return timer

    def advance(self, t):
        if t >= self.now:
            self.reach(t, in_gap=False)

    def reach(self, until, in_gap):
        floor = self.now
        while True:
            due = sorted((max(t.at - self.offset, floor) if t.kind == WALL else t.at, t.kind,
                          t.at if t.kind == WALL else 0, t.number, t) for t in self.timers)
            if not due or due[0][0] > until:
                break
            if len(due) > 1 and due[0][:3] == due[1][:3] and due[0][4].node is not due[1][4].node:
                raise Ambiguous
            self.now = due[0][0]
            self.expire(due[0][4], until, in_gap)
        self.now = until

    def expire(self, timer, until, in_gap):
        node, now = timer.node, self.now
        if timer.kind == WALL:
            self.timers.remove(timer)
            o = self.instant(now, f"abs{timer.at}")
            if in_gap or now + self.offset != timer.at:
                o.late = until + self.offset - timer.at
            node.signal([o])
        elif timer.kind == DELAY:
            node.stop(timer)
            o = combine(timer.of, timer.of[0])
            node.signal([Occurrence(now, now, o.parts, until - now if in_gap else 0)])
        elif node.op == "P*":
            timer.ticks.append(self.instant(now, f"@{now}"))
            timer.at += node.span
        elif in_gap and timer.kind == TICK:
            timer.missed = 1 + (until - now) // node.span
            timer.next = now + timer.missed * node.span
            timer.kind, timer.at = CATCH_UP, until
        else:
            timer.at = timer.next if timer.kind == CATCH_UP else timer.at + node.span
            timer.kind = TICK
            o = combine(timer.of + [self.instant(now, f"@{now}")], timer.of[0])
            missed, timer.missed = timer.missed, 0
            node.signal([Occurrence(now, now, o.parts, 0, missed)])

    def result(self):
        out = []
        for o in self.detected:
            d = {"t": o.end, "start": o.start, "parts": [p[2] for p in o.parts]}
            d["late"], d["missed"] = o.late, o.missed  # also if 0: then none is expected
            out.append(d)
        return out


# ---- random traces ----

def random_expr(rng, depth, seen):
    """No sub-expression twice: the tree does not share them, the detector does."""
    while True:
        def kid():
            return random_expr(rng, depth - 1, seen)
        if depth == 0 or rng.random() < 0.35:
            if rng.random() > 0.06:
                return rng.choice("ABCD")
            expr = ["ABS", rng.randint(1, 60)]
        else:
            op = rng.choice(["OR", "AND", "SEQ", "NOT", "ANY", "A", "A*", "P", "P*", "PLUS"])
            if op in ("OR", "AND", "SEQ"):
                expr = [op, kid(), kid()]
            elif op in ("NOT", "A", "A*"):
                expr = [op, kid(), kid(), kid()]
            elif op == "ANY":
                expr = [op, rng.randint(1, 3), kid(), kid(), kid()]
            elif op == "PLUS":
                expr = [op, kid(), rng.randint(1, 12)]
            else:
                expr = [op, kid(), rng.randint(2, 11), kid()]
            operands = [json.dumps(e) for e in expr[1:] if not isinstance(e, int)]
            if op in ("AND", "ANY") and len(set(operands)) < len(operands):
                continue
        if json.dumps(expr) not in seen:
            seen.add(json.dumps(expr))
            return expr


def random_trace(rng, number):
    history, t = [], rng.choice([0, 0, 3])
    for _ in range(rng.randint(3, 16)):
        t += rng.randint(0, 4)
        p = rng.random()
        if p < 0.05:
            what = {"op": rng.choice(["down", "stall"]), "until": t + rng.randint(0, 30)}
        elif p < 0.08:
            what = {"op": "wall_jump", "by": rng.randint(-30, 60)}
        else:
            what = rng.choice("ABCD")
        history.append([t, what])
    return {"id": f"random {number}", "expr": random_expr(rng, rng.randint(1, 3), set()),
            "context": rng.choice(CONTEXTS), "history": history,
            "until": t + rng.randint(0, 30)}


def main():
    led_trace, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng, traces = random.Random(seed), []
    while len(traces) < count:
        trace = random_trace(rng, len(traces))
        try:
            found = Run(trace).result()
        except Ambiguous:
            continue
        if len(found) < 400:
            traces.append({**trace, "expect": {"detected": found}})
    lively = sum(1 for t in traces if t["expect"]["detected"])
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
        json.dump({"traces": traces}, f)
    done = subprocess.run([led_trace, f.name, "--check"], capture_output=True, text=True)
    os.unlink(f.name)
    print(f"# seed {seed}, {count} traces, {lively} detect something")
    for line in (done.stdout + done.stderr).splitlines():
        print("#", line)
    for t in traces:
        if done.returncode and (done.stdout + done.stderr).find(f'"{t["id"]}"') >= 0:
            print("#", json.dumps(t))
    ok = done.returncode == 0 and lively > count / 4
    print(f"{'ok' if ok else 'not ok'} 1 - the detector and the model agree in every context")
    print("1..1")


if __name__ == "__main__":
    main()
