#!/usr/bin/env python3
"""Turns numbered SQL files into the C table `migrations`: embed_sql.py OUT.c FILE.sql..."""
import os
import re
import sys


def c_string(text):
    for line in text.splitlines(keepends=True):
        quoted = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        yield f'        "{quoted}"\n'


out, files = sys.argv[1], sorted(sys.argv[2:], key=os.path.basename)
numbers = [int(re.match(r"(\d{4})_", os.path.basename(f)).group(1)) for f in files]
if numbers[0] != 1 or len(set(numbers)) < len(numbers):
    sys.exit("migrations must be numbered from 0001 on, and no number be used twice")

with open(out, "w", encoding="utf-8") as c:
    c.write('/* Made from store/sql by the build. */\n#include "store/store_int.h"\n\n')
    c.write("const struct migration migrations[] = {\n")
    for number, path in zip(numbers, files):
        with open(path, encoding="utf-8") as sql:
            name = os.path.basename(path)
            c.write(f'    {{{number}, "{name}",\n{"".join(c_string(sql.read()))}    }},\n')
    c.write("};\n\nconst size_t migration_count = countof(migrations);\n")
