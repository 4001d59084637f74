"""The list of crash points is the truth, and no commit and no send is without."""
import os
import re
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sources = {}
for folder in ("base", "store", "engine", "fetch", "notify", "web"):
    for name in sorted(os.listdir(os.path.join(root, folder))):
        if name.endswith(".c"):
            with open(os.path.join(root, folder, name)) as f:
                sources[f"{folder}/{name}"] = f.read()
with open(os.path.join(root, "base/crash_points.def")) as f:
    listed = re.findall(r"^POINT\((\w+), (\w+), \"[^\"]+\"\)", f.read(), re.M)
passed = [name for text in sources.values() for name in re.findall(r'CRASH_POINT\("(\w+)"\)', text)]
failed = 0


def check(sentence, wrong):
    global failed
    check.n += 1
    for line in wrong:
        print(f"# {line}")
    print(f"{'not ok' if wrong else 'ok'} {check.n} - {sentence}")
    failed |= bool(wrong)


check.n = 0
print("1..4")
names = [name for name, _ in listed]
check("every crash point is listed once and passed somewhere",
      sorted(set(names) ^ set(passed)) + sorted({n for n in names if names.count(n) > 1}))
check("there are at least 40", [] if len(names) >= 40 else [f"{len(names)}"])


def around(text, at):
    """The lines before and after, without those that only go on with a statement."""
    before = text[:at].rsplit("\n", 3)[-3:]
    after = text[at:].split("\n", 3)[1:3]
    return "CRASH_POINT" in "".join(before), "CRASH_POINT" in "".join(after)


bare = []
for path, text in sources.items():
    for m in re.finditer(r"SQL_COMMIT\b", text):
        if around(text, m.start()) != (True, True):
            bare.append(f"{path}:{text[:m.start()].count(chr(10)) + 1}: a commit without a point"
                        " before and after")
check("every commit has one before and after it", bare)
pairs = [n for n in names if n.startswith("before_") and f"after_{n[7:]}" not in names
         and n not in ("before_request_told",)]
check("whatever has a point before has one after", pairs)
sys.exit(failed)
