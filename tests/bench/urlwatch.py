"""Debian's urlwatch on the living site, configured as well as it can be for it.

Its filter takes the text a reader sees, the links and the images, and folds white space: what
Vigil's `any change` looks at, so that neither noise is reported nor a change of an address missed.
The text is taken out of one element by regular expressions, since the XPath filter looks up every
node it found once more: with all text nodes found by it, a page of 1,700 would cost eight times as much.
"""
import os
import re
import shutil
import subprocess
import tempfile

from frame import Watched

JOB = r"""name: p{n}
url: {url}
filter:
  - xpath: //body
  - re.sub: {{pattern: '(?s)<script.*?</script>|<!--.*?-->', repl: ' '}}
  - re.sub: {{pattern: '<[^>]*(?:href|src)="([^"]*)"[^>]*>|<[^>]*>', repl: ' \1 '}}
  - re.sub: {{pattern: '[ \n\t]+', repl: ' '}}
---
"""
CONFIG = """display: {empty-diff: false, error: true, new: false, unchanged: false}
job_defaults: {all: {}, browser: {}, shell: {}, url: {}}
report:
  text: {details: false, footer: false, line_length: 75, minimal: true, separate: false, details_format: default}
  stdout: {color: false, enabled: true}
"""


# For each page it reads what it remembers of all, so it does a little better in lists of so many, one after the
# other, each with a memory of its own.
LIST = 500


class Urlwatch:
    def __init__(self, site, pages):
        self.home = tempfile.mkdtemp(prefix="uw-", dir="/tmp")
        self.lists = 0
        for at in range(0, len(pages), LIST):
            with open(f"{self.home}/jobs{self.lists}.yaml", "w") as f:
                f.writelines(JOB.format(n=n, url=site.page(n)) for n in pages[at:at + LIST])
            self.lists += 1
        with open(f"{self.home}/config.yaml", "w") as f:
            f.write(CONFIG)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.home, ignore_errors=True)

    def round(self, kill_after=None):
        """One check of all pages; .changed is the set of pages it told of.  Killed, it goes no further."""
        whole = None
        for number in range(self.lists):
            left = kill_after - whole.wall if kill_after and whole else kill_after
            if left is not None and left <= 0:
                break
            w = self.look(number, left)
            if not whole:
                whole = w
                continue
            whole.wall += w.wall
            whole.cpu += w.cpu
            whole.peak = max(whole.peak, w.peak)
            whole.changed |= w.changed
            whole.failed |= w.failed
        return whole

    def look(self, number, kill_after):
        w = Watched(["urlwatch", "--urls", f"{self.home}/jobs{number}.yaml", "--config", f"{self.home}/config.yaml",
                     "--hooks", f"{self.home}/hooks.py", "--cache", f"{self.home}/cache{number}.db"],
                    kill_after=kill_after, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    env={**os.environ, "HOME": self.home})
        w.changed = {int(n) for n in re.findall(r"^CHANGED: p(\d+)", w.out, re.M)}
        w.failed = {int(n) for n in re.findall(r"^ERROR: p(\d+)", w.out, re.M)}
        return w
