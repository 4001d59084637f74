/* Arrays of the digest, tables and lists: the tables of the semantics, and what might break. */
#include "tests/cdg/cdg_help.h"

/* Which of the four differ. */
static char *arrays(struct arena *life, const char *before, const char *after)
{
    static const char *const kinds[] = {"structure", "tags", "attributes", "content"};
    BUF(out, 100);
    for (size_t i = 0; i < countof(kinds); i++) {
        const struct cdg_finding *f =
                compare_leaf(life, leaf_of(kinds[i]), before, after, "text/html");
        if (f->result == CDG_C)
            buf_printf(&out, "%s%s", out.len ? " " : "", kinds[i]);
        else
            EXPECT_INT(f->result, CDG_N);
    }
    return arena_strdup(life, out.len ? buf_text(&out) : "nothing");
}

#define EXPECT_ARRAYS(before, after, expected)                                                 \
    do {                                                                                       \
        SCRATCH struct arena *arr_life = arena_new(NULL, "t");                                 \
        EXPECT_TEXT(arrays(arr_life, (before), (after)), (expected));                          \
    } while (0)

TEST(PD1, "PD1: another text differs in content")
{
    EXPECT_ARRAYS("<div><p>a</p></div>", "<div><p>b</p></div>", "content");
}

TEST(PD2, "PD2: another tag differs in tags")
{
    EXPECT_ARRAYS("<div><p>a</p></div>", "<div><h1>a</h1></div>", "tags");
}

TEST(PD3, "PD3: another paragraph differs in everything")
{
    EXPECT_ARRAYS("<div><p>a</p></div>", "<div><p>a</p><p>c</p></div>",
            "structure tags attributes content");
}

TEST(PD4, "PD4: another class differs in attributes")
{
    EXPECT_ARRAYS("<p class=x>a</p>", "<p class=y>a</p>", "attributes");
}

TEST(PD5, "PD5: another level differs in all but content")
{
    EXPECT_ARRAYS(
            "<div><p>a</p></div>", "<div><p><b>a</b></p></div>", "structure tags attributes");
}

TEST(PD6, "PD6: white space around differs in nothing")
{
    EXPECT_ARRAYS("<p>a</p>", "<p> a </p>", "nothing");
}

TEST(PD7, "PD7: texts that changed places differ in content")
{
    EXPECT_ARRAYS("<ul><li>a</li><li>b</li></ul>", "<ul><li>b</li><li>a</li></ul>", "content");
}

TEST(array_lists, "what differs in an array is listed")
{
    EXPECT_KIND("content", "<p>a</p><p>b</p>", "<p>a</p><p>c</p>", "+c −b");
    EXPECT_KIND(
            "content", "<ul><li>a</li><li>b</li></ul>", "<ul><li>b</li><li>a</li></ul>", "»a");
    EXPECT_KIND("tags", "<p>a</p>", "<p>a</p><hr>", "+<hr>");
    EXPECT_KIND("tags", "<p>a</p>", "<p></p>", "~<p> with 1 children→<p> with 0 children");
    EXPECT_KIND("attributes", "<p a=1>x</p>", "<p a=2>x</p>", "~a=\"1\"→a=\"2\"");
    EXPECT_KIND("attributes", "<p a=1>x</p>", "<hr><p a=2>x</p>", "~a=\"1\"→a=\"2\"");
    EXPECT_KIND("attributes", "<p a=1>x</p>", "<hr><p a=1>x</p>", "C");
    EXPECT_KIND("structure", "<ul><li>a</ul>", "<ul><li>a<li>b</ul>",
            "+<li> ~1 children→2 children");
    EXPECT_KIND("structure", "<div><p>a</p></div><p>b</p>", "<div><p>a</p><p>b</p></div>",
            "~1 children→2 children");
}

/* ---- tables ------------------------------------------------------------------------------ */

#define ROW(a, b) "<tr><td>" a "<td>" b
#define TABLE(rows) "<table>" rows "</table>"
#define EXPECT_TABLE(before, after, expected) EXPECT_KIND("table", before, after, expected)

static struct cdg_leaf containing(const char *kind, const char *text)
{
    struct cdg_leaf l = leaf_of(kind);
    l.text = text;
    return l;
}

static struct cdg_leaf numbered(const char *kind, unsigned number)
{
    struct cdg_leaf l = leaf_of(kind);
    l.number = number;
    return l;
}

TEST(TB1, "TB1: a cell that changed is told by its row and column")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_TABLE(TABLE(ROW("IBM", "80") ROW("HP", "20")),
            TABLE(ROW("IBM", "81") ROW("HP", "20")), "~80→81");
    const struct cdg_finding *f =
            compare_leaf(life, leaf_of("table"), TABLE(ROW("IBM", "80") ROW("HP", "20")),
                    TABLE(ROW("IBM", "80") ROW("HP", "21")), "text/html");
    EXPECT(strstr(f->detail, "\"path\":\"row 2, column 2\"") != NULL);
}

TEST(TB2, "TB2: a new row")
{
    EXPECT_TABLE(TABLE(ROW("IBM", "80")), TABLE(ROW("IBM", "80") ROW("HP", "20")), "+HP 20");
}

TEST(TB3, "TB3: a row that went")
{
    EXPECT_TABLE(TABLE(ROW("IBM", "80") ROW("HP", "20")), TABLE(ROW("HP", "20")), "−IBM 80");
}

TEST(TB4, "TB4: a row that moved")
{
    EXPECT_TABLE(TABLE(ROW("IBM", "80") ROW("HP", "20")),
            TABLE(ROW("HP", "20") ROW("IBM", "80")), "»IBM 80");
}

TEST(TB5, "TB5: how cells and rows are marked up does not count")
{
    EXPECT_TABLE(TABLE("<tr><td>IBM<td>80"),
            "<table border=1><tbody><tr><th>IBM</th><th> 80</th></tr></tbody></table>", "N");
}

TEST(TB6, "TB6: a table chosen by its text is lost while there are others")
{
    EXPECT_LEAF(containing("table", "IBM"), TABLE(ROW("IBM", "80")), TABLE(ROW("SUN", "5")),
            "U: table lost");
    EXPECT_LEAF(containing("table", "IBM"), TABLE(ROW("IBM", "80")), "<p>IBM</p>",
            "−table disappeared");
}

TEST(table_chosen, "tables are chosen by number or by text, the innermost one")
{
    static const char page[] = TABLE(ROW("a", "1")) TABLE(ROW("IBM", "80"));
    EXPECT_LEAF(numbered("table", 2), page, TABLE(ROW("b", "1")) TABLE(ROW("IBM", "80")), "N");
    EXPECT_LEAF(
            numbered("table", 1), page, TABLE(ROW("a", "2")) TABLE(ROW("IBM", "80")), "~1→2");
    EXPECT_LEAF(numbered("table", 3), page, page, "U: there is no such table");
    EXPECT_LEAF(numbered("table", 2), page, TABLE(ROW("a", "1")), "−table disappeared");
    EXPECT_LEAF(numbered("table", 3), page, TABLE("") TABLE("") TABLE(""), "+table appeared");
    EXPECT_LEAF(containing("table", "IBM"),
            TABLE("<tr><td>x" TABLE(ROW("IBM", "80")) "<tr><td>y"),
            TABLE("<tr><td>changed" TABLE(ROW("IBM", "80")) "<tr><td>z"), "N");
}

TEST(table_nested, "a table inside a cell belongs to the cell's text")
{
    EXPECT_TABLE(TABLE("<tr><td>a" TABLE(ROW("x", "1")) "<td>b"),
            TABLE("<tr><td>a" TABLE(ROW("x", "2")) "<td>b"), "~a x 1→a x 2");
}

TEST(table_cells, "where one cell ends and the next begins counts")
{
    EXPECT_TABLE(TABLE(ROW("a b", "c")), TABLE(ROW("a", "b c")), "+a b c −a b c");
    EXPECT_TABLE(TABLE(ROW("a", "1")), TABLE("<tr><td>a<td>1<td>new"), "~→new");
    EXPECT_TABLE(TABLE(ROW("a", "1")), TABLE(ROW("a", "1") "<tr></tr>"), "N");
    EXPECT_TABLE(TABLE(ROW("a", "1")), TABLE(ROW("b", "2")), "+b 2 −a 1");
}

/* ---- lists ------------------------------------------------------------------------------- */

#define EXPECT_LIST(before, after, expected) EXPECT_KIND("list", before, after, expected)

TEST(LI1, "LI1: an item came")
{
    EXPECT_LIST("<ul><li>alpha<li>beta</ul>", "<ul><li>alpha<li>beta<li>gamma</ul>", "+gamma");
}

TEST(LI2, "LI2: an item went")
{
    EXPECT_LIST("<ul><li>alpha<li>beta</ul>", "<ul><li>beta</ul>", "−alpha");
}

TEST(LI3, "LI3: an item that keeps half of its words is updated")
{
    EXPECT_LIST("<ul><li>a b c d<li>k</ul>", "<ul><li>a b c x<li>k</ul>", "~a b c d→a b c x");
}

TEST(LI4, "LI4: an item that stands elsewhere has moved")
{
    EXPECT_LIST(
            "<ol><li>one<li>two<li>three</ol>", "<ol><li>three<li>one<li>two</ol>", "»three");
}

TEST(LI5, "LI5: a list that is gone has disappeared")
{
    EXPECT_LIST("<ul><li>x<li>y</ul>", "<p>x y</p>", "−list disappeared");
}

TEST(LI6, "LI6: markup and white space in an item do not count")
{
    EXPECT_LIST("<ul><li>x<li>y</ul>", "<ul><li> x <li><b>y</b></ul>", "N");
}

TEST(LI7, "LI7: the list that was chosen counts, not the navigation")
{
    EXPECT_LEAF(containing("list", "CS4400"), "<ul><li>home</ul><ul><li>CS4400</ul>",
            "<ul><li>home<li>more</ul><ul><li>CS4400</ul>", "N");
}

TEST(list_kinds,
        "definition lists have terms and definitions, nested lists belong to their item")
{
    EXPECT_LIST("<dl><dt>a<dd>b</dl>", "<dl><dt>a<dd>c</dl>", "+c −b");
    EXPECT_LIST("<ul><li>a<ul><li>x</ul><li>b</ul>", "<ul><li>a<ul><li>x<li>y</ul><li>b</ul>",
            "~a x→a x y");
    EXPECT_LIST("<ul><li>a</ul>", "<ol><li>a</ol>", "N");
    EXPECT_LIST("<p>x", "<ul><li>a</ul>", "+list appeared");
    EXPECT_LIST("<p>x", "<p>y", "U: there is no such list");
    EXPECT_LEAF(containing("list", "b"), "<ul><li>b</ul>", "<ul><li>c</ul>", "U: list lost");
    EXPECT_LEAF(numbered("list", 2), "<ul><li>a<ul><li>x</ul></ul>",
            "<ul><li>q<ul><li>x</ul></ul>", "N");
    EXPECT_LIST("<ul><li>a<li>a<li>a</ul>", "<ul><li>a<li>a</ul>", "−a");
}

TEST(object_ratio, "CHANGED > n% counts the words of the object alone")
{
    struct cdg_leaf l = leaf_of("table");
    l.changed_over = true;
    l.percent = 50;
    EXPECT_LEAF(l, "<p>a b c</p>" TABLE(ROW("IBM", "80")),
            "<p>x y z</p>" TABLE(ROW("IBM", "81")), "N");
    l.percent = 49;
    EXPECT_LEAF(l, "<p>a b c</p>" TABLE(ROW("IBM", "80")),
            "<p>a b c</p>" TABLE(ROW("IBM", "81")), "~80→81");
}

/* ---- phrases ----------------------------------------------------------------------------- */

#define EXPECT_PHRASE(text, before, after, expected)                                           \
    EXPECT_LEAF(containing("phrase", text), before, after, expected)

TEST(phrase, "a passage is the smallest block that contains its text")
{
    EXPECT_PHRASE("movie is", "<div><p>the movie is Panic Room</p><p>x</p></div>",
            "<div><p>the movie is Heat</p><p>y</p></div>",
            "~the movie is Panic Room→the movie is Heat");
    EXPECT_PHRASE("movie", "<p>the <b>movie</b> is Heat</p><p>a</p>",
            "<p>the <b>movie</b> is Heat</p><p>b</p>", "N");
    EXPECT_PHRASE(
            "movie", "<p>the movie is Heat.</p>", "<p>The</p><p>the movie, is Heat</p>", "N");
    EXPECT_PHRASE("movie", "<p>x</p>", "<p>the movie</p>", "+the movie");
    EXPECT_PHRASE("movie", "<p>x</p>", "<p>y</p>", "U: there is no such phrase");
    EXPECT_PHRASE(
            "movie", "the movie here", "the movie there", "~the movie here→the movie there");
}

TEST(phrase_lost,
        "a passage without its text is lost while words of it are left, else it is gone")
{
    EXPECT_PHRASE("movie", "<p>the movie of this week is Heat</p>", "<p>of this week is</p>",
            "U: phrase lost");
    EXPECT_PHRASE("movie", "<p>the movie of this week is Heat</p>", "<p>of the week</p>",
            "−the movie of this week is Heat");
    EXPECT_PHRASE("movie", "<p>the movie</p>", "", "−the movie");
}

TEST_MAIN()
