"""vigil compare: every change type between two files, the way a user tries an expression.

A case is a name, an expression, the page before and after, the result (C, N or U) and what the
lists hold: a list of exactly these texts, or a tuple of words that its one entry has among
others.  A list that is not named is empty; `...` in place of all lists: not looked at.
"""
from concurrent.futures import ThreadPoolExecutor

from compare_cases import GROUPS
from harness import *

BASE = "http://x.org/d/p.html"
DIR = tempfile.mkdtemp(prefix="vc-", dir="/tmp")
ENV = {k: w for k, w in os.environ.items() if not k.startswith("VIGIL_")} | {"NO_COLOR": "1"}
LISTS = ("inserted", "deleted", "updated", "moved")
EXITS = {"C": 3, "N": 0, "U": 1}


def vigil(*words, input=None):
    return subprocess.run([VIGIL, *map(str, words)], input=input, capture_output=True,
                          env=ENV, timeout=60 * SLOW, cwd=DIR)


def write(name, text):
    path = os.path.join(DIR, name)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def compare(monitor, before, after, ending="html", name="t", base=BASE):
    """The JSON object and the exit code."""
    old, new = write(f"{name}-old.{ending}", before), write(f"{name}-new.{ending}", after)
    done = vigil("compare", old, new, "--monitor", monitor, "--base", base, "--json")
    assert done.stdout, done.stderr.decode()
    return json.loads(done.stdout), done


def p(text):
    return f"<p>{text}</p>"


def table(*rows):
    return "<table>" + "".join("<tr>" + "".join(f"<td>{c}</td>" for c in r.split()) + "</tr>"
                               for r in rows) + "</table>"


def items(*texts):
    return "<ul>" + "".join(f"<li>{t}</li>" for t in texts) + "</ul>"


def links(*refs):
    return "".join(f"<a href={r}>x</a>" for r in refs)


def phrase(before="b1 b2 b3 b4", object="the movie is Panic Room", after="e1 e2 e3 e4"):
    return p(f"{before} {object} {after}")


C0 = "<cat><product><name>tv</name><price>5</price></product>" \
     "<product><name>cam</name><price>7</price></product></cat>"
C1 = "<cat><product><name>tv</name><price>6</price></product>" \
     "<product><name>cam</name><price>7</price></product>" \
     "<product><name>fax</name><price>9</price></product></cat>"
SWAPPED = "<cat><product><name>cam</name><price>7</price></product>" \
          "<product><name>tv</name><price>5</price></product></cat>"
IDS0 = "<d><p id='1'>a</p><p id='2'>b</p></d>"
IDS1 = "<d><p id='2'>a</p><p id='3'>b</p></d>"
PH = "phrase 'the movie is Panic Room' box 4"
HEAT = [["the movie is Panic Room", "the movie is Heat"]]
JAVA = "regexp '<b>(Java.*?)</b>'"
D1 = "<div><p>a</p></div>"

CASES = [
    # D.2 any change
    ("AC1", "any change", p("Price 10"), p("Price 12"), "C", {"updated": [["Price 10", "Price 12"]]}),
    ("AC2", "any change", "<p>Price   10</p>\n", p("Price 10"), "N", {}),
    ("AC3", "any change", "<p class=a id=b>x</p>", "<p id=b class=a>x</p>", "N", {}),
    ("AC4", "any change", p("x") + "<!--1-->", p("x") + "<!--2-->", "N", {}),
    ("AC5", "any change", p("x") + "<script>t=1</script>", p("x") + "<script>t=2</script>", "N", {}),
    ("AC5 raw", "any change raw", p("x") + "<script>t=1</script>", p("x") + "<script>t=2</script>",
     "C", ...),
    ("AC6", "any change", p("x y"), p("x <b>y</b>"), "C", ...),
    ("AC7", "any change", p("caf&eacute;"), p("café"), "N", {}),
    ("AC block", "any change", p("a") + p("b c d e"), p("a") + p("b c d f") + p("new here"), "C",
     {"updated": [["b c d e", "b c d f"]], "inserted": ["new here"]}),
    ("AC gone", "any change", p("a") + p("b"), p("a"), "C", {"deleted": ["b"]}),
    ("AC moved", "any change", p("one") + p("two") + p("three"), p("three") + p("one") + p("two"),
     "C", {"moved": ["three"]}),
    ("AC attribute", "any change", "<p class=x>a</p>", "<p class=y>a</p>", "C", ...),
    ("AC same raw", "any change raw", p("x"), p("x"), "N", {}),
    # D.3 links
    ("LK1", "links", links("/a"), links("/a", "b"), "C", {"inserted": ["http://x.org/d/b"]}),
    ("LK2", "links", "<a href=/a>A</a>", '<a href="HTTP://X.ORG:80/a">other</a>', "N", {}),
    ("LK3", "links", links("/a", "/c"), links("/c", "/c"), "C", {"deleted": ["http://x.org/a"]}),
    ("LK4", "links", links("/a", "/b"), links("/b", "/a"), "N", {}),
    ("LK5", "links", links("mailto:a@b", "javascript:x()"), p("none"), "N", {}),
    ("LK6", "links", "<form action=/s></form>",
     "<form action=/t><select><option value=http://y.org>y</select></form>", "C",
     {"inserted": ["http://x.org/t", "http://y.org/"], "deleted": ["http://x.org/s"]}),
    ("LK7", "links", links("/a#x"), links("/a#y"), "C",
     {"inserted": ["http://x.org/a#y"], "deleted": ["http://x.org/a#x"]}),
    ("LK base", "links", "<base href=http://z.org/q/>" + links("a"), links("http://z.org/q/a"), "N", {}),
    ("LK dots", "links", links("../e/./f"), links("/e/f"), "N", {}),
    ("LK text", "links", "<a href=/a>one</a>", "<a href=/a>two</a>", "N", {}),
    ("LK scheme", "links", links("http://y.org/"), links("https://y.org/"), "C",
     {"inserted": ["https://y.org/"], "deleted": ["http://y.org/"]}),
    # D.4 images
    ("IM1", "images", "<img src=a.png>", "<img src=a.png><img src=b.png>", "C",
     {"inserted": ["http://x.org/d/b.png"]}),
    ("IM2", "images", "<img src=a.png alt=x>", "<img src=a.png alt=y width=9>", "N", {}),
    ("IM3", "images", "<img src=a.png?v=1>", "<img src=a.png?v=2>", "C",
     {"inserted": ["http://x.org/d/a.png?v=2"], "deleted": ["http://x.org/d/a.png?v=1"]}),
    ("IM4", "images", "<img src=data:image/gif;base64,AA data-src=/l.png>", "<img src=/l.png>", "N", {}),
    ("IM5", "images", "<input type=image src=/go.gif>", "<input type=submit src=/go.gif>", "C",
     {"deleted": ["http://x.org/go.gif"]}),
    ("IM6", "images", "<img src=a.png><img src=a.png>", "<img src=a.png>", "N", {}),
    ("IM data", "images", "<img src=data:image/gif;base64,AA>", p("none"), "N", {}),
    ("IM srcset", "images", "<img src=a.png srcset='b.png 2x'>", "<img src=a.png srcset='c.png 2x'>",
     "N", {}),
    # D.5 all words
    ("AW1", "all words", p("the red car"), p("the blue car"), "C",
     {"inserted": ["blue"], "deleted": ["red"]}),
    ("AW2", "all words", p("a b c"), p("c b a"), "N", {}),
    ("AW3", "all words except {The}", p("a b"), p("the a b THE"), "N", {}),
    ("AW4", "all words", p("Price: 10,"), p("Price 10"), "N", {}),
    ("AW5", "all words", p("on 2000-7-6, ok"), p("on 2000-7-7, ok"), "C",
     {"inserted": ["2000-7-7"], "deleted": ["2000-7-6"]}),
    ("AW6", "all words", p("x x x"), p("x"), "N", {}),
    ("AW6 counted", "all words counted", p("x x x"), p("x"), "C", {"deleted": ("x", "3", "1")}),
    ("AW7", "all words", p("Apple"), p("apple"), "C", {"inserted": ["apple"], "deleted": ["Apple"]}),
    ("AW8", "all words", p("a") + p("b"), p("a") + "b", "N", {}),
    ("AW inline", "all words", p("wo<b>rd</b>"), p("word"), "N", {}),
    ("AW split", "all words", "<div>wo</div><div>rd</div>", "<div>word</div>", "C",
     {"inserted": ["word"], "deleted": ["wo", "rd"]}),
    ("AW percent", "all words", p("5%"), p("5"), "C", {"inserted": ["5"], "deleted": ["5%"]}),
    # D.6 keywords
    ("KW1", "keywords {room, exam}", p("exam"), p("exam room"), "C", {"inserted": ["room"]}),
    ("KW2", "keyword room", p("Room 5"), p("ROOM 6"), "N", {}),
    ("KW3", "keyword art", p("art"), p("start"), "C", {"deleted": ["art"]}),
    ("KW4", "keyword '*art'", p("nothing"), p("start"), "C", {"inserted": ["*art"]}),
    ("KW5", "keywords all {a, b, c}", p("a b"), p("a c"), "N", {}),
    ("KW6", "keywords all {a, b, c}", p("a b"), p("a b c"), "C", {"inserted": ["a", "b", "c"]}),
    ("KW6 back", "keywords all {a, b, c}", p("a b c"), p("a b"), "C", {"deleted": ["a", "b", "c"]}),
    ("KW7", "keywords {'call for papers'}", p("call for papers"), p("call, for paper"), "C",
     {"deleted": ["call for papers"]}),
    ("KW8", "keyword x", p("x x"), p("x"), "N", {}),
    ("KW8 counted", "keywords counted {x}", p("x x"), p("x"), "C", {"deleted": ("x", "2", "1")}),
    ("KW middle", "keyword '*art*'", p("nothing"), p("starts"), "C", {"inserted": ["*art*"]}),
    ("KW end", "keyword 'art*'", p("start"), p("artist"), "C", {"inserted": ["art*"]}),
    ("KW both", "keywords {a, b}", p("a"), p("b"), "C", {"inserted": ["b"], "deleted": ["a"]}),
    # D.7 phrase
    ("PH0", PH, phrase(), phrase(), "N", {}),
    ("PH1", PH, phrase(), phrase(object="the movie is Heat"), "C", {"updated": HEAT}),
    ("PH1d", PH, phrase(), phrase(object=""), "C", {"deleted": ["the movie is Panic Room"]}),
    ("PH2", PH, phrase(), phrase("X b2 b3 b4"), "N", {}),
    ("PH3", PH, phrase(), phrase(after="e1 e2 e3 X"), "N", {}),
    ("PH4", PH, phrase(), phrase("X b2 b3 b4", after="e1 e2 e3 X"), "N", {}),
    ("PH5", PH, phrase(), phrase("X b2 b3 b4", "the movie is Heat"), "C", {"updated": HEAT}),
    ("PH6", PH, phrase(), phrase(object="the movie is Heat", after="e1 e2 e3 X"), "C",
     {"updated": HEAT}),
    ("PH7", PH, phrase(), phrase("X b2 b3 b4", "the movie is Heat", "e1 e2 e3 X"), "C",
     {"updated": HEAT}),
    ("PH8", PH, phrase(), phrase("b1 b2 b3 X", "the movie is Heat"), "U", {}),
    ("PH8h", PH, phrase(), phrase("X Y b3 b4", "the movie is Heat"), "U", {}),
    ("PH9", PH, phrase(), phrase(object="the movie is Heat", after="X e2 e3 e4"), "U", {}),
    ("PH10", PH, phrase(), phrase("b1 b2 b3 X", "the movie is Heat", "X e2 e3 e4"), "U", {}),
    ("PH gone", PH, phrase(), p("another page altogether"), "C", ...),
    ("PH containing", "phrase containing 'movie is'", p("one") + p("the movie is Panic Room"),
     p("one") + p("the movie is Heat"), "C", {"updated": HEAT}),
    ("PH elsewhere", "phrase containing 'movie is'", p("one") + p("the movie is Panic Room"),
     p("two") + p("the movie is Panic Room"), "N", {}),
    # D.8 table
    ("TB1", "table", table("IBM 80", "HP 20"), table("IBM 81", "HP 20"), "C",
     {"updated": ("80", "81")}),
    ("TB2", "table", table("IBM 80"), table("IBM 80", "HP 20"), "C", {"inserted": ("HP", "20")}),
    ("TB3", "table", table("IBM 80", "HP 20"), table("HP 20"), "C", {"deleted": ("IBM", "80")}),
    ("TB4", "table", table("IBM 80", "HP 20"), table("HP 20", "IBM 80"), "C", {"moved": 1}),
    ("TB5", "table", "<table><tr><td>IBM<td>80</table>",
     "<table border=1><tbody><tr><th>IBM<th>80</tbody></table>", "N", {}),
    ("TB6", "table containing 'IBM'", table("IBM 80"), table("SUN 5"), "U", {}),
    ("TB none left", "table containing 'IBM'", table("IBM 80"), p("no table"), "C", ...),
    ("TB appeared", "table", p("none"), table("IBM 80"), "C", ...),
    ("TB neither", "table", p("none"), p("still none"), "U", {}),
    ("TB second", "table 2", table("a") + table("b"), table("x") + table("b"), "N", {}),
    ("TB second changed", "table 2", table("a") + table("b"), table("a") + table("c"), "C", ...),
    ("TB text moved on", "table containing 'IBM'", table("IBM 80"), table("new") + table("IBM 80"),
     "N", {}),
    # D.9 list
    ("LI1", "list", items("alpha", "beta"), items("alpha", "beta", "gamma"), "C",
     {"inserted": ["gamma"]}),
    ("LI2", "list", items("alpha", "beta"), items("beta"), "C", {"deleted": ["alpha"]}),
    ("LI3", "list", items("a b c d", "k"), items("a b c x", "k"), "C",
     {"updated": [["a b c d", "a b c x"]]}),
    ("LI4", "list", items("one", "two", "three"), items("three", "one", "two"), "C",
     {"moved": ["three"]}),
    ("LI5", "list", items("x", "y"), p("no list"), "C", ...),
    ("LI6", "list", items("x", "y"), "<ul><li> x <li><b>y</b></ul>", "N", {}),
    ("LI7", "list containing 'CS4400'", items("home") + items("CS4400 x"),
     items("home", "news") + items("CS4400 x"), "N", {}),
    ("LI nested", "list", "<ul><li>a<ul><li>b</ul><li>c</ul>", "<ul><li>a<ul><li>z</ul><li>c</ul>",
     "C", ...),
    ("LI ordered", "list", "<ol><li>a</ol>", "<ol><li>a<li>b</ol>", "C", {"inserted": ["b"]}),
    ("LI terms", "list", "<dl><dt>a<dd>b</dl>", "<dl><dt>a<dd>b<dt>c</dl>", "C", {"inserted": ["c"]}),
    ("LI neither", "list", p("none"), p("nothing"), "U", {}),
    # D.10 regular expression
    ("RX1", JAVA, "<b>Java 1</b>", "<b>Java 2</b>", "C", {"updated": [["Java 1", "Java 2"]]}),
    ("RX2", JAVA, "<b>Java 1</b>", "<i>Java 1</i>", "C", {"deleted": ["Java 1"]}),
    ("RX3", JAVA, p("-"), "<b>Java 1</b>", "C", {"inserted": ["Java 1"]}),
    ("RX4", JAVA, p("x") + "<b>Java 1</b>", p("y") + "<b>Java 1</b>", "N", {}),
    ("RX5", r"regexp '\$\d+'", p("$5 $6"), p("$6 $5"), "C", ...),
    ("RX6", r"regexp 'Total: \d+' on text", "<p>Total:\n <b>5</b></p>", "<p>Total: <i>5</i></p>",
     "N", {}),
    ("RX comment", "regexp '<!--(.*?)-->'", p("x") + "<!--1-->", p("x") + "<!--2-->", "C",
     {"deleted": ["1"], "inserted": ["2"]}),
    ("RX text only", "regexp 'secret' on text", "<p title=secret>a</p>", p("a b"), "N", {}),
    ("RX neither", JAVA, p("a"), p("b"), "N", {}),
    ("RX charset", "regexp 'prix (.*?)<'", b"<meta charset=iso-8859-1><p>prix 5\x80<",
     b"<meta charset=iso-8859-1><p>prix 6\x80<", "C", {"deleted": ["5€"], "inserted": ["6€"]}),
    # D.11 structure, tags, attributes, content
    *[(f"{name} {kind}", kind, old, new, "C" if kind in differs.split() else "N",
       ... if kind in differs.split() else {})
      for name, old, new, differs in [
          ("PD1", D1, "<div><p>b</p></div>", "content"),
          ("PD2", D1, "<div><h1>a</h1></div>", "tags"),
          ("PD3", D1, "<div><p>a</p><p>c</p></div>", "structure tags attributes content"),
          ("PD4", "<p class=x>a</p>", "<p class=y>a</p>", "attributes"),
          ("PD5", D1, "<div><p><b>a</b></p></div>", "structure tags attributes"),
          ("PD6", "<p>a</p>", "<p> a </p>", ""),
          ("PD7", items("a", "b"), items("b", "a"), "content")]
      for kind in ("structure", "tags", "attributes", "content")],
    # D.12 elements
    ("XM1", "element new product", C0, C1, "C", {"inserted": ("fax", "9")}, "xml"),
    ("XM2", "element updated product", C0, C1, "C", {"updated": ("tv", "6")}, "xml"),
    ("XM3", "element unchanged product", C0, C1, "C", {"found": ("cam", "7")}, "xml"),
    ("XM4", "element deleted product", C1, C0, "C", {"deleted": ("fax", "9")}, "xml"),
    ("XM5", "element new product contains 'fax'", C0, C1, "C", {"inserted": ("fax", "9")}, "xml"),
    ("XM6", "element updated product contains 'cam'", C0, C1, "N", {}, "xml"),
    ("XM7", "element new product strict contains 'fax'", C0, C1, "N", {}, "xml"),
    ("XM8", "element new name strict contains 'fax'", C0, C1, "C", {"inserted": ("fax",)}, "xml"),
    *[(f"XM9 {how}", f"element {how} product", C0, SWAPPED, "N", {}, "xml")
      for how in ("new", "updated", "deleted")],
    ("XM10 new", "element new p", IDS0, IDS1, "C", {"inserted": ("b",)}, "xml"),
    ("XM10 deleted", "element deleted p", IDS0, IDS1, "C", {"deleted": ("a",)}, "xml"),
    ("XM10 updated", "element updated p", IDS0, IDS1, "C", {"updated": ("a",)}, "xml"),
    ("XM11", "element updated cat", C0, C1, "C", {"updated": 1}, "xml"),
    ("XM12", "element price strict contains '7'", C1, C1 + "<!-- new -->", "C",
     {"found": ("7",)}, "xml"),
    ("XM case", "element new Product", C0, C1, "N", {}, "xml"),
    ("XM html", "element new LI", items("a"), items("a", "b"), "C", {"inserted": ("b",)}),
    ("XM broken", "element new product", C0, C1.replace("</cat>", ""), "U", {}, "xml"),
    # D.1 regions and ratios
    ("region same", "all words in css '#m'", "<p>1</p><div id=m>x</div>", "<p>2</p><div id=m>x</div>",
     "N", {}),
    ("region xpath", "all words in xpath '//div'", "<p>1</p><div>x</div>", "<p>1</p><div>y</div>", "C",
     {"inserted": ["y"], "deleted": ["x"]}),
    ("region gone", "all words in css '#m'", "<div id=m>x y</div>", p("x y"), "C",
     {"deleted": ["x", "y"]}),
    ("region came", "links in css '#m'", links("/a"), "<div id=m>" + links("/a") + "</div>", "C",
     {"inserted": ["http://x.org/a"]}),
    ("region in neither", "links in css '#m'", links("/a"), links("/b"), "U", {}),
    ("region apart", "all words in css 'i'", p("<i>wo</i><i>rd</i>"), p("<i>wo</i> <i>rd</i>"), "N", {}),
    ("RA1", "content changed > 0%", p("a b c d"), p("a b c d"), "N", {}),
    ("RA2", "content changed > 50%", p("a b c d"), p("a b x y"), "N", {}),
    ("RA2 at least", "content changed >= 50%", p("a b c d"), p("a b x y"), "C", ...),
    ("RA3", "content changed > 99%", p("a b c d"), p("w x y z"), "C", ...),
    ("RA4", "content changed > 33%", p("a b c d"), p("a b c d e f g h"), "C", ...),
    ("RA4 more", "content changed > 34%", p("a b c d"), p("a b c d e f g h"), "N", {}),
    # other sorts of pages
    ("text", "any change", "one\ntwo\n", "one\ntwo and more\n", "C", ..., "txt"),
    ("text same", "any change", "one\ntwo\n", "one\r\ntwo\r\n", "N", {}, "txt"),
    ("text tags", "links", "<a href=/a>", "<a href=/b>", "N", {}, "txt"),
    ("json order of members", "any change", '{"a": 1, "b": [1, 2]}', '{ "a":1,\n "b":[1,2] }', "N", {},
     "json"),
    ("json value", "any change", '{"a": 1, "b": 2}', '{"a": 1, "b": 3}', "C", ..., "json"),
    ("data", "any change", b"\x7fELF\x00\x01", b"\x7fELF\x00\x02", "C", ..., "bin"),
    ("data same", "any change", b"\x7fELF\x00\x01", b"\x7fELF\x00\x01", "N", {}, "bin"),
    ("empty", "any change", "", "", "N", {}),
    ("from empty", "any change", "", p("x"), "C", {"inserted": ["x"]}),
]


def matches(expected, actual):
    if isinstance(expected, list):
        return sorted(map(str, actual)) == sorted(map(str, expected))
    if isinstance(expected, int):
        return len(actual) == expected
    return len(actual) == 1 and all(w in str(actual[0]) for w in expected)


def wrong(number, case):
    """None when the case comes out as it says, else how it did."""
    name, monitor, before, after, result, expected, *ending = case
    told, done = compare(monitor, before, after, *(ending or ["html"]), name=f"c{number}")
    if told.get("result") != result or done.returncode != EXITS[result]:
        return f"{name}: exit {done.returncode}, {told}"
    if set(told) - {"found"} != {"result", "reason", "leaves", *LISTS}:
        return f"{name}: keys {sorted(told)}"
    if result == "U" and not told["reason"]:
        return f"{name}: no reason"
    if expected is ...:
        return None
    for what in {*LISTS, "found"}:
        if not matches(expected.get(what, []), told.get(what, [])):
            return f"{name}: {what} is {told.get(what)}, expected {expected.get(what, [])}"
    return None


def check(prefixes):
    check_all([(i, c) for i, c in enumerate(CASES) if c[0].split()[0][:2] in prefixes.split()])


def check_all(chosen):
    if SLOW > 1:  # under a sanitizer a sample does
        chosen = chosen[::4]
    assert chosen
    with ThreadPoolExecutor(2) as threads:
        found = [w for w in threads.map(lambda c: wrong(*c), chosen) if w]
    assert not found, "\n".join(found)


for sentence, prefixes in [
        ("any change, links and images", "AC LK IM"),
        ("all words and keywords", "AW KW"),
        ("phrases keep track of their passage", "PH"),
        ("tables and lists", "TB LI"),
        ("regular expressions", "RX"),
        ("structure, tags, attributes and content", "PD"),
        ("elements", "XM"),
        ("regions, ratios and other sorts of pages", "re RA te js da em fr")]:
    test(f"compare: {sentence}")(lambda prefixes=prefixes: check(prefixes))
for sentence, cases in GROUPS.items():
    test(sentence)(lambda cases=cases: check_all(list(enumerate(cases, 1000))))


# ---- composites: three values

LINKS_C = (links("/a"), links("/b"))
LOST = "table containing 'IBM'"          # U on these pages
OLD = links("/a") + table("IBM 80")
NEW = links("/b") + table("SUN 5")       # links C, images N, the table U


@test("AND, OR and NOT in three values, with the reason where it could not be looked")
def _():
    value = {"links": "C", "images": "N", LOST: "U"}
    both = {("C", "C"): "C", ("C", "N"): "N", ("C", "U"): "U", ("N", "N"): "N", ("N", "U"): "N",
            ("U", "U"): "U"}
    either = {("C", "C"): "C", ("C", "N"): "C", ("C", "U"): "C", ("N", "N"): "N", ("N", "U"): "U",
              ("U", "U"): "U"}
    order = "CNU"
    for a in value:
        told, done = compare(f"NOT {a}", OLD, NEW)
        equal(told["result"], {"C": "N", "N": "C", "U": "U"}[value[a]])
        equal([told[what] for what in LISTS], [[]] * 4)  # a NOT lists nothing
        for b in list(value)[::1 if SLOW == 1 else 3]:
            pair = tuple(sorted((value[a], value[b]), key=order.index))
            for word, rule in (("AND", both), ("OR", either)):
                told, done = compare(f"{a} {word} {b}", OLD, NEW)
                equal((f"{a} {word} {b}", told["result"]), (f"{a} {word} {b}", rule[pair]))
                equal(done.returncode, EXITS[rule[pair]])
                equal([leaf["result"] for leaf in told["leaves"]], [value[a], value[b]])
                if told["result"] == "U":
                    contains(told["reason"], "lost")


@test("the lists on top are those of the leaves that changed, each once; a NOT adds none")
def _():
    old = links("/a") + "<img src=/i.png>" + p("one two three")
    new = links("/b") + "<img src=/j.png>" + p("one two four")
    told, _ = compare("links AND images", old, new)
    equal(told["inserted"], ["http://x.org/b", "http://x.org/j.png"])
    equal(told["deleted"], ["http://x.org/a", "http://x.org/i.png"])
    equal([leaf["monitor"] for leaf in told["leaves"]], ["links", "images"])
    equal(told["leaves"][1]["inserted"], ["http://x.org/j.png"])
    told, _ = compare("links OR links in css 'body' OR links", "<body>" + old, "<body>" + new)
    equal(told["inserted"], ["http://x.org/b"])
    told, _ = compare("links OR NOT images", old, new)
    equal((told["result"], told["inserted"]), ("C", ["http://x.org/b"]))
    equal(told["leaves"][1]["inserted"], ["http://x.org/j.png"])
    told, _ = compare("links AND NOT images", old, links("/b") + "<img src=/i.png>")
    equal((told["result"], told["inserted"]), ("C", ["http://x.org/b"]))
    told, _ = compare("all words AND (keywords {four} OR table)", old, new)
    equal((told["result"], told["inserted"]), ("C", ["four"]))


@test("what came twice is listed twice; what is counted and not listed is said")
def _():
    told, _ = compare("list", items("a"), items("a", "b", "b"))
    equal((told["inserted"], told["leaves"][0]["inserted"]), (["b", "b"], ["b", "b"]))
    told, _ = compare("list OR list 1 OR content", items("a"), items("a", "b", "b"))
    equal(told["inserted"], ["b", "b"])
    told, _ = compare("links", "", links(*range(700)))
    equal((told["reason"], len(told["inserted"])), ("200 more are counted and not listed", 500))
    equal(told["leaves"][0]["reason"], told["reason"])
    told, _ = compare("NOT links", "", links(*range(700)))
    equal((told["result"], told["reason"], told["inserted"]), ("N", None, []))


# ---- the command itself

@test("of a long text that changed near its end people see the place that changed")
def _():
    long = "wörd " * 600
    old = write("l-old.html", p(long + "closed on Monday " + long))
    new = write("l-new.html", p(long + "closed on Sunday " + long))
    done = vigil("compare", old, new, "--monitor", "content", "--base", BASE)
    line = done.stdout.decode().splitlines()[1]
    equal(line[:50], "    ~ …wörd wörd wörd closed on Monday wörd wörd w")
    equal(" → …wörd wörd wörd closed on Sunday wörd" in line, True)


@test("what people see: the result, each leaf of several, what came and went")
def _():
    old = write("h-old.html", links("/a") + p("one two three"))
    new = write("h-new.html", links("/b") + p("one two four"))
    done = vigil("compare", old, new, "--monitor", "links", "--base", BASE)
    equal(done.stdout.decode(), "changed: links\n    + http://x.org/b  at /a\n"
          "    - http://x.org/a  at /a\n")
    done = vigil("compare", old, new, "--monitor", "links and not images", "--base", BASE)
    equal(done.stdout.decode(), "changed: links AND NOT images\n  links: changed\n"
          "    + http://x.org/b  at /a\n    - http://x.org/a  at /a\n"
          "  images, below NOT: no change\n")
    done = vigil("compare", old, new, "--monitor", "not links", "--base", BASE)
    equal(done.stdout.decode(), "no change: NOT links\n  links, below NOT: changed\n")
    done = vigil("compare", old, new, "--monitor", "links", "--base", BASE, "--json")
    equal(json.loads(done.stdout)["leaves"][0]["places"], {"inserted": ["/a"], "deleted": ["/a"]})
    done = vigil("compare", old, new, "--monitor", "images")
    equal((done.stdout.decode(), done.returncode), ("no change: images\n", 0))
    done = vigil("compare", old, new, "--monitor", "table")
    equal(done.returncode, 1)
    contains(done.stdout.decode(), "could not be compared: table")
    done = vigil("compare", old, new)  # any change, unless said otherwise
    contains(done.stdout.decode(), "~ one two three → one two four")
    evil = write("h-evil.html", p("\033[2Jboo\u202e"))
    done = vigil("compare", old, evil)
    assert b"\033" not in done.stdout, done.stdout


@test("a wrong expression is pointed at as in a definition, and nothing is compared")
def _():
    a = write("w.html", "")
    for monitor, place, word, caret in [
            ("lincs", "1:1", "E054", 0), ("links AND", "1:10", "E054", 9),
            ("regexp '('", "1:8", "E053", 7), ("links in xpath '//['", "1:16", "E063", 15),
            ("links FETCH EVERY 5 minutes", "1:7", "E013", 6), ("links images", "1:7", "", 6),
            ("links; DROP SENTINEL x", "1:6", "E013", 5), ("a.links", "1:1", "E047", 0),
            ("phrase 'too short'", "1:8", "E058", 7)]:
        done = vigil("compare", a, a, "--monitor", monitor)
        text = done.stderr.decode()
        equal((monitor, done.returncode, done.stdout), (monitor, 1, b""))
        contains(text, f"--monitor:{place}: error: {word}")
        lines = text.splitlines()
        equal(lines[1], "    " + monitor)
        equal(lines[2], "    " + " " * caret + "^")
    done = vigil("compare", a, a, "--monitor", "lincs", "--json")
    equal(json.loads(done.stdout)["code"], "E054")


@test("files that cannot be had are named, with what to do")
def _():
    a = write("f.html", p("x"))
    for words, said in [
            ((a, "nowhere.html"), 'cannot read "nowhere.html": No such file'),
            ((a, DIR), "is a directory"), ((a, "-", "--base", "foo"), "--base foo"),
            ((a, "-", "--base", "mailto:x@y.z"), "--base mailto"),
            (("-", "-"), "not both"), ((a,), "expected OLD NEW"), ((a, a, a), "too much")]:
        done = vigil("compare", *words, input=b"")
        equal((words, done.returncode), (words, 1))
        contains(done.stderr.decode(), said)


@test("standard input is a page, and its sort is seen from its bytes")
def _():
    a = write("s.html", links("/a"))
    done = vigil("compare", a, "-", "--monitor", "links", "--base", BASE, "--json",
                 input=b"<!DOCTYPE html>" + links("/a", "/b").encode())
    equal(json.loads(done.stdout)["inserted"], ["http://x.org/b"])
    j = write("s.json", '{"a": 1}')
    equal(vigil("compare", j, "-", input=b' {"a":1} \n').returncode, 0)
    x = write("s.xml", C0)
    done = vigil("compare", x, "-", "--monitor", "element new product", "--json",
                 input=b"<?xml version='1.0'?>" + C1.encode())
    equal(json.loads(done.stdout)["result"], "C")
    plain = vigil("compare", a, "-", "--monitor", "links", "--json", input=links("/a", "c").encode())
    equal(json.loads(plain.stdout)["inserted"], [f"file://{DIR}/c"])  # seen from the file


@test("a page that cannot be read whole is U with the reason, never a change")
def _():
    deep = write("deep.html", "<div>" * 20000)
    many = write("many.html", "<p " + " ".join(f"a{i}=1" for i in range(2000)) + ">")
    good = write("good.html", p("x"))
    for bad, said in [(deep, "10000"), (many, "1000")]:
        done = vigil("compare", good, bad, "--json")
        told = json.loads(done.stdout)
        equal((told["result"], done.returncode, told["inserted"]), ("U", 1, []))
        contains(told["reason"], said)
        equal(json.loads(vigil("compare", good, bad, "--monitor", "NOT links", "--json").stdout)
              ["result"], "U")
    equal(json.loads(vigil("compare", good, deep, "--monitor", "any change raw", "--json").stdout)
          ["result"], "C")


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(DIR, ignore_errors=True)
