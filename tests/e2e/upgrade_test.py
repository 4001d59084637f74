"""Digests that an older Vigil stored: they are made again from the stored body, and no change is lost."""
from harness import *

pg = shared(Postgres)
site = shared(Site)


def frame(data):
    """Bytes as zstd would store them uncompressed."""
    header = (1 | len(data) << 3).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + header + data


OLD = frame(b"VIGILPD\0" + (2).to_bytes(4, "little") + bytes(200))
GARBAGE = frame(b"nothing that ever was a digest")


def upgraded(name, stored):
    site().put(f"/{name}", "<p>one two <a href='/1'>x</a></p>")
    text = f"CREATE SENTINEL {name} USING {site().url}/{name} MONITOR links OR all words;\n"
    with Vigil(db=pg().database()) as v:
        v.run("once", "-", input=text)
        v.sql(f"UPDATE vigil_kb.version SET digest_zstd = {stored}")
        site().put(f"/{name}", "<p>one three <a href='/2'>x</a></p>")
        said = v.run("once", "-", input=text, code=3).stdout
        contains(said, f"{site().url}/2")
        equal(v.sql("SELECT inserted, deleted FROM vigil.changes"), "2|2")
        equal(v.sql("SELECT last_result FROM vigil.status"), "changed")


@test("a digest of an older version is made again from the body")
def _():
    upgraded("old", f"'\\x{OLD.hex()}'")


@test("a digest that is gone is made again from the body")
def _():
    upgraded("gone", "NULL")


@test("a digest that is none is made again from the body")
def _():
    upgraded("none", f"'\\x{GARBAGE.hex()}'")


main()
