"""Every change type, from a definition somebody writes to the row in vigil.changes.

Each line is a page before, the page after, and whether that is a change: changed, unchanged, or not
computed.  Types this Vigil does not list under `vigil types` are left out.
"""
from harness import *

pg = shared(Postgres)
site = shared(Site)

XML = "application/xml"
C0 = "<cat><product><name>tv</name><price>5</price></product>" \
     "<product><name>cam</name><price>7</price></product></cat>"
C1 = "<cat><product><name>tv</name><price>6</price></product>" \
     "<product><name>cam</name><price>7</price></product>" \
     "<product><name>fax</name><price>9</price></product></cat>"
SWAPPED = "<cat><product><name>cam</name><price>7</price></product>" \
          "<product><name>tv</name><price>5</price></product></cat>"
IDS0 = "<d><p id='1'>a</p><p id='2'>b</p></d>"
IDS1 = "<d><p id='2'>a</p><p id='3'>b</p></d>"


def table(*rows):
    return "<table>" + "".join("<tr>" + "".join(f"<td>{c}</td>" for c in r.split()) + "</tr>"
                               for r in rows) + "</table>"


def items(*texts):
    return "<ul>" + "".join(f"<li>{t}</li>" for t in texts) + "</ul>"


TB12, TB11 = table("IBM 80", "HP 20"), table("IBM 80")
C, N, U = "changed", "unchanged", "not computed"
CASES = [
    # name, type, monitor, before, after, result, {list: number}
    ("IM1", "images", "images", "<img src=a.png>", "<img src=a.png><img src=b.png>", C, {"inserted": 1}),
    ("IM2", "images", "images", "<img src=a.png alt=x>", "<img src=a.png alt=y width=9>", N, {}),
    ("IM3", "images", "all images", "<img src=a.png?v=1>", "<img src=a.png?v=2>", C,
     {"inserted": 1, "deleted": 1}),
    ("IM4", "images", "images", "<img src=data:x data-src=/l.png>", "<img src=/l.png>", N, {}),
    ("IM5", "images", "images", "<input type=image src=/go.gif>", "<input type=submit src=/go.gif>",
     C, {"deleted": 1}),
    ("IM6", "images", "images", "<img src=a.png><img src=a.png>", "<img src=a.png>", N, {}),
    ("AW1", "all words", "all words", "<p>the red car", "<p>the blue car", C,
     {"inserted": 1, "deleted": 1}),
    ("AW2", "all words", "all words", "<p>a b c", "<p>c b a", N, {}),
    ("AW3", "all words", "all words except {The}", "<p>a b", "<p>the a b THE", N, {}),
    ("AW4", "all words", "all words", "<p>Price: 10,", "<p>Price 10", N, {}),
    ("AW5", "all words", "all words", "<p>on 2000-7-6, ok", "<p>on 2000-7-7, ok", C,
     {"inserted": 1, "deleted": 1}),
    ("AW6", "all words", "all words", "<p>x x x", "<p>x", N, {}),
    ("AW6c", "all words", "all words counted", "<p>x x x", "<p>x", C, {"deleted": 1}),
    ("AW7", "all words", "all words", "<p>Apple", "<p>apple", C, {"inserted": 1, "deleted": 1}),
    ("AW8", "all words", "all words", "<p>a</p><p>b</p>", "<p>a</p>b", N, {}),
    ("KW1", "keywords", "keywords {room, exam}", "<p>exam", "<p>exam room", C, {"inserted": 1}),
    ("KW2", "keywords", "keyword room", "<p>Room 5", "<p>ROOM 6", N, {}),
    ("KW3", "keywords", "keyword art", "<p>art", "<p>start", C, {"deleted": 1}),
    ("KW4", "keywords", "keyword '*art'", "<p>nothing", "<p>start", C, {"inserted": 1}),
    ("KW5", "keywords", "keywords all {a, b, c}", "<p>a b", "<p>a c", N, {}),
    ("KW6", "keywords", "keywords all {a, b, c}", "<p>a b", "<p>a b c", C, {"inserted": 3}),
    ("KW7", "keywords", "keywords {'call for papers'}", "<p>call for papers", "<p>call, for paper", C,
     {"deleted": 1}),
    ("KW8", "keywords", "keyword x", "<p>x x", "<p>x", N, {}),
    ("KW8c", "keywords", "keywords counted {x}", "<p>x x", "<p>x", C, {"deleted": 1}),
    ("PH1", "phrase", "phrase containing 'movie is'", "<p>one</p><p>the movie is Panic Room</p>",
     "<p>one</p><p>the movie is Heat</p>", C, {"updated": 1}),
    ("PH0", "phrase", "phrase containing 'movie is'", "<p>one</p><p>the movie is Panic Room</p>",
     "<p>two</p><p>the movie is Panic Room</p>", N, {}),
    ("TB1", "table", "table 1", TB12, table("IBM 81", "HP 20"), C, {"updated": 1}),
    ("TB2", "table", "table", TB11, TB12, C, {"inserted": 1}),
    ("TB3", "table", "table", TB12, table("HP 20"), C, {"deleted": 1}),
    ("TB4", "table", "table", TB12, table("HP 20", "IBM 80"), C, {"moved": 1}),
    ("TB5", "table", "table", TB11,
     "<table border=1><tbody><tr><th>IBM</th><th>80</th></tr></tbody></table>", N, {}),
    ("TB6", "table", "table containing 'IBM'", TB11, table("SUN 5"), U, {}),
    ("LI1", "list", "list", items("alpha", "beta"), items("alpha", "beta", "gamma"), C,
     {"inserted": 1}),
    ("LI2", "list", "list 1", items("alpha", "beta"), items("beta"), C, {"deleted": 1}),
    ("LI3", "list", "list", items("a b c d", "k"), items("a b c x", "k"), C, {"updated": 1}),
    ("LI4", "list", "list", items("one", "two", "three"), items("three", "one", "two"), C,
     {"moved": 1}),
    ("LI5", "list", "list", items("x", "y"), "<p>no list", C, {"deleted": 1}),
    ("LI6", "list", "list", items("x", "y"), "<ul><li> x <li><b>y</b></ul>", N, {}),
    ("LI7", "list", "list containing 'CS4400'", items("home") + items("CS4400"),
     items("home", "news") + items("CS4400"), N, {}),
    ("RX1", "regexp", "regexp '<b>(Java.*?)</b>'", "<b>Java 1</b>", "<b>Java 2</b>", C,
     {"updated": 1}),
    ("RX2", "regexp", "regexp '<b>(Java.*?)</b>'", "<b>Java 1</b>", "<i>Java 1</i>", C,
     {"deleted": 1}),
    ("RX3", "regexp", "regexp '<b>(Java.*?)</b>'", "<p>-", "<b>Java 1</b>", C, {"inserted": 1}),
    ("RX4", "regexp", "regexp '<b>(Java.*?)</b>'", "<p>x</p><b>Java 1</b>", "<p>y</p><b>Java 1</b>",
     N, {}),
    ("RX5", "regexp", r"regexp '\$\d+' on text", "<p>$5 $6", "<p>$6 $5", C, {}),
    ("RX6", "regexp", r"regexp 'Total: \d+' on text", "<p>Total:\n <b>5</b></p>",
     "<p>Total: <i>5</i></p>", N, {}),
    ("PD1s", "structure", "structure", "<div><p>a</p></div>", "<div><p>b</p></div>", N, {}),
    ("PD1c", "content", "content", "<div><p>a</p></div>", "<div><p>b</p></div>", C, {}),
    ("PD2t", "tags", "tags", "<div><p>a</p></div>", "<div><h1>a</h1></div>", C, {}),
    ("PD2s", "structure", "structure", "<div><p>a</p></div>", "<div><h1>a</h1></div>", N, {}),
    ("PD3", "structure", "structure AND tags AND attributes AND content", "<div><p>a</p></div>",
     "<div><p>a</p><p>c</p></div>", C, {}),
    ("PD4", "attributes", "attributes", "<p class=x>a</p>", "<p class=y>a</p>", C, {}),
    ("PD5c", "content", "content", "<div><p>a</p></div>", "<div><p><b>a</b></p></div>", N, {}),
    ("PD6", "content", "structure OR tags OR attributes OR content", "<p>a</p>", "<p> a </p>", N, {}),
    ("PD7", "content", "content", items("a", "b"), items("b", "a"), C, {}),
    ("XM1", "element", "element new product", C0, C1, C, {"inserted": 1}),
    ("XM2", "element", "element updated product", C0, C1, C, {"updated": 1}),
    ("XM4", "element", "element deleted product", C1, C0, C, {"deleted": 1}),
    ("XM5", "element", "element new product contains 'fax'", C0, C1, C, {"inserted": 1}),
    ("XM6", "element", "element updated product contains 'cam'", C0, C1, N, {}),
    ("XM7", "element", "element new product strict contains 'fax'", C0, C1, N, {}),
    ("XM8", "element", "element new name strict contains 'fax'", C0, C1, C, {"inserted": 1}),
    ("XM9", "element", "element new product OR element updated product OR element deleted product",
     C0, SWAPPED, N, {}),
    ("XM10", "element", "element new p", IDS0, IDS1, C, {"inserted": 1}),
    ("XM11", "element", "element updated cat", C0, C1, C, {"updated": 1}),
    ("region", "all words", "all words in css '#main'", "<p>ad 1</p><div id=main>x</div>",
     "<p>ad 2</p><div id=main>x</div>", N, {}),
    ("region2", "all words", "all words in xpath '//div'", "<p>ad 1</p><div id=main>x</div>",
     "<p>ad 1</p><div id=main>y</div>", C, {"inserted": 1, "deleted": 1}),
    ("ratio1", "all words", "content changed > 50%", "<p>a b c d", "<p>a b x y", N, {}),
    ("ratio2", "all words", "content changed >= 50%", "<p>a b c d", "<p>a b x y", C, {}),
]


@test("what is defined is what is found, for every type there is")
def _():
    with Vigil(db=pg().database()) as v:
        v.run("list")
        have = {r["type"] for r in v.rows("types")}
        cases, left_out = [], []
        for case in CASES:
            name, kind, monitor, before, _, _, _ = case
            text = (f"CREATE SENTINEL {name} USING {site().url}/t/{name} MONITOR {monitor} "
                    f"FETCH EVERY 1 second;")
            refused = v.run("add", "-", input=text, code=None)
            if refused.returncode and kind in have and "E090" not in refused.stderr:
                raise AssertionError(refused.stderr)
            if refused.returncode:
                left_out.append(name)
                continue
            cases.append(case)
            put(name, monitor, before)
        v.start("--set", "fetch.host_connections=16")
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.status WHERE last_version = 1")
                   == str(len(cases)), 30, "all have a first version")
        for name, _, monitor, _, after, _, _ in cases:
            put(name, monitor, after)
        wait_until(lambda: v.sql("SELECT count(*) FROM vigil.status WHERE evaluations = 1")
                   == str(len(cases)), 30, "all were compared")
        status = {r["name"]: r for r in v.rows("list")}
        changes = {r["sentinel"]: r for r in v.rows("changes", "--limit", "1000")}
        wrong = []
        for name, _, monitor, _, _, result, counts in cases:
            found = status[name]["last_result"]
            if found != result:
                wrong.append((name, monitor, found, status[name]["error"]))
            elif result == C:
                have = {k: changes[name][k] for k in ("inserted", "deleted", "updated", "moved")
                        if changes[name][k]}
                if counts and have != counts:
                    wrong.append((name, monitor, have, changes[name]["detail"]))
            elif result == U:
                assert status[name]["error"], name
        print(f"# {len(cases)} definitions, left out: {' '.join(left_out) or 'none'}")
        equal(wrong, [])


def put(name, monitor, body):
    kind = XML if monitor.startswith("element") else "text/html; charset=utf-8"
    site().put(f"/t/{name}", lambda h: h.answer(200, body, [("Content-Type", kind)]))


main()
