#!/usr/bin/env python3
"""A second opinion on rules: a model of how they run, compared with led-trace.

usage: rule_model.py LED-TRACE SEED COUNT

COUNT random sets of rules on primitive events (priorities, every coupling, conditions, actions
that raise, fail, delete, disable, enable and create) are worked out here in the words of the
semantics and run by led-trace; both must give the same log.  An action raises only events
later in the alphabet, so everything ends.  Prints TAP.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

EVENTS = "ABCDEF"
COUPLINGS = ["immediate", "deferred", "detached", "detached dependent", "settled"]


class Rule:
    def __init__(self, spec):
        self.name, self.event = spec["name"], spec["event"]
        self.priority = spec.get("priority", 1)
        self.coupling = spec.get("coupling", "immediate")
        self.condition = spec.get("condition", True)
        self.enabled = spec.get("enabled", True)
        self.do = spec.get("do", [])
        self.deleted = False


class Model:
    def __init__(self, trace):
        self.rules = [Rule(r) for r in trace["rules"]]
        self.counts, self.log, self.failed = {}, [], False
        self.deferred, self.detached, self.settled = [], [], []
        for self.now, what in trace["history"]:
            if isinstance(what, str):
                self.outermost(what)
            else:
                self.operate(what["op"], what.get("rule"))

    def outermost(self, event):
        self.raise_event(event)
        self.finish()
        while self.settled:
            self.run(*self.settled.pop(0))
            self.finish()

    def finish(self):
        """What is deferred, then what is detached, each as an outermost raise of its own."""
        jobs = self.end_of_raise()
        while jobs:
            self.run(*jobs.pop(0))
            jobs += self.end_of_raise()

    def end_of_raise(self):
        while self.deferred:
            self.run(*self.deferred.pop(0))
        jobs = [j for j in self.detached
                if not (self.failed and j[0].coupling == "detached dependent")]
        self.detached, self.failed = [], False
        return jobs

    @staticmethod
    def by_priority(queue, job):
        queue.append(job)
        queue.sort(key=lambda j: -j[0].priority)  # stable: first come first served

    def raise_event(self, event):
        self.counts[event] = self.counts.get(event, 0) + 1
        what = f"{event}{self.counts[event]}@{self.now}"
        immediate = []
        triggered = [r for r in self.rules if r.event == event and r.enabled and not r.deleted]
        for r in sorted(triggered, key=lambda rule: -rule.priority):
            if r.coupling == "immediate":
                immediate.append((r, what))
            elif r.coupling == "deferred":
                self.by_priority(self.deferred, (r, what))
            elif r.coupling == "settled":
                self.by_priority(self.settled, (r, what))
            else:
                self.detached.append((r, what))
        for job in immediate:
            self.run(*job)

    def run(self, rule, what):
        if rule.deleted or not rule.enabled or not rule.condition:
            return
        self.log.append(f"{rule.name}:{what}")
        for step in rule.do:
            self.operate(step[0], step[1] if len(step) > 1 else None)

    def find(self, name):
        return next((r for r in reversed(self.rules) if r.name == name and not r.deleted), None)

    def operate(self, op, arg):
        if op == "raise":
            self.raise_event(arg)
        elif op == "log":
            self.log.append(arg)
        elif op == "fail":
            self.failed = True
        elif op == "create_rule":
            self.rules.append(Rule(arg))
        else:
            rule = self.find(arg)
            if rule and op == "delete_rule":
                rule.deleted = True
            elif rule:
                rule.enabled = op == "enable_rule"


def random_step(rng, event, depth):
    later = [e for e in EVENTS if e > event]
    kind = rng.random()
    if kind < 0.5 and later:
        return ["raise", rng.choice(later)]
    if kind < 0.6:
        return ["fail"]
    if kind < 0.65 and depth == 0:
        return ["create_rule", random_rule(rng, "n%d" % rng.randint(0, 3), 1)]
    if kind < 0.85:
        op = rng.choice(["delete_rule", "disable_rule", "enable_rule"])
        return [op, "r%d" % rng.randint(0, 9)]
    return ["log", "note%d" % rng.randint(0, 9)]


def random_rule(rng, name, depth=0):
    rule = {"name": name, "event": rng.choice(EVENTS)}
    if rng.random() < 0.6:
        rule["priority"] = rng.randint(-2, 4)
    if rng.random() < 0.6:
        rule["coupling"] = rng.choice(COUPLINGS)
    if rng.random() < 0.1:
        rule["condition"] = False
    if rng.random() < 0.1:
        rule["enabled"] = False
    if rng.random() < 0.7:
        rule["do"] = [random_step(rng, rule["event"], depth) for _ in range(rng.randint(1, 3))]
    return rule


def random_trace(rng, index):
    rules = [random_rule(rng, "r%d" % i) for i in range(rng.randint(2, 10))]
    history, now = [], 0
    for _ in range(rng.randint(1, 5)):
        now += rng.randint(0, 2)
        if rng.random() < 0.85:
            history.append([now, rng.choice(EVENTS[:3])])
        else:
            op = rng.choice(["delete_rule", "disable_rule", "enable_rule"])
            history.append([now, {"op": op, "rule": "r%d" % rng.randint(0, 9)}])
    trace = {"id": "random %d" % index, "rules": rules, "history": history}
    trace["expect"] = {"log": Model(trace).log}
    return trace


def main():
    tool, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    traces = [random_trace(rng, i) for i in range(count)]
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
        json.dump({"traces": traces}, f)
    try:
        run = subprocess.run([tool, f.name, "--check"], capture_output=True, text=True, check=False)
    finally:
        os.unlink(f.name)
    for line in (run.stdout + run.stderr).splitlines():
        print("#", line)
    print("# longest log:", max(len(t["expect"]["log"]) for t in traces))
    print("ok 1" if run.returncode == 0 else "not ok 1",
          "- the detector and the model run the same rules in the same order")
    print("1..1")


main()
