/* Elements: the table of the semantics, then what might break the matching. */
#include "tests/cdg/cdg_help.h"

#define PRODUCT(name, price) "<product><name>" name "</name><price>" price "</price></product>"
#define C0 "<cat>" PRODUCT("tv", "5") PRODUCT("cam", "7") "</cat>"
#define C1 "<cat>" PRODUCT("tv", "6") PRODUCT("cam", "7") PRODUCT("fax", "9") "</cat>"
#define SWAPPED "<cat>" PRODUCT("cam", "7") PRODUCT("tv", "5") "</cat>"

static char *elements(struct arena *life, const char *type, const char *before,
        const char *after, enum cdg_status status, const char *name, const char *contains,
        bool strict)
{
    struct cdg_leaf l = leaf_of("element");
    l.status = status;
    l.text = name;
    l.contains = contains;
    l.strict = strict;
    const struct cdg_finding *f = compare_leaf(life, l, before, after, type);
    if (f->result != CDG_C)
        return arena_strdup(life, f->result == CDG_N ? "none" : "U");
    json_t *root = json_loads(f->detail, 0, NULL), *item;
    json_t *leaf = json_array_get(json_object_get(root, "leaves"), 0);
    static const char *const keys[] = {"inserted", "deleted", "updated", "found"};
    BUF(out, 1 << 16);
    for (size_t k = 0; k < countof(keys); k++) {
        size_t i;
        json_array_foreach(json_object_get(leaf, keys[k]), i, item) buf_printf(&out, "%s%s",
                out.len ? "; " : "",
                json_string_value(json_is_object(item) ? json_object_get(item, "new") : item));
    }
    json_decref(root);
    return arena_strdup(life, buf_text(&out));
}

#define EXPECT_XML(before, after, status, name, contains, strict, expected)                    \
    do {                                                                                       \
        SCRATCH struct arena *el_life = arena_new(NULL, "t");                                  \
        EXPECT_TEXT(elements(el_life, "application/xml", (before), (after), (status), (name),  \
                            (contains), (strict)),                                             \
                (expected));                                                                   \
    } while (0)

TEST(XM1, "XM1: the new product")
{
    EXPECT_XML(C0, C1, CDG_NEW, "product", NULL, false, "fax 9");
}

TEST(XM2, "XM2: the updated product")
{
    EXPECT_XML(C0, C1, CDG_UPDATED, "product", NULL, false, "tv 6");
}

TEST(XM3, "XM3: the unchanged product")
{
    EXPECT_XML(C0, C1, CDG_UNCHANGED, "product", NULL, false, "cam 7");
}

TEST(XM4, "XM4: the deleted product")
{
    EXPECT_XML(C1, C0, CDG_DELETED, "product", NULL, false, "fax 9");
}

TEST(XM5, "XM5: the new product contains the word")
{
    EXPECT_XML(C0, C1, CDG_NEW, "product", "fax", false, "fax 9");
}

TEST(XM6, "XM6: the updated product does not contain it")
{
    EXPECT_XML(C0, C1, CDG_UPDATED, "product", "cam", false, "none");
}

TEST(XM7, "XM7: the word stands in the name, not in the product itself")
{
    EXPECT_XML(C0, C1, CDG_NEW, "product", "fax", true, "none");
}

TEST(XM8, "XM8: the new name contains it itself")
{
    EXPECT_XML(C0, C1, CDG_NEW, "name", "fax", true, "fax");
}

TEST(XM9, "XM9: swapped products are neither new nor updated nor deleted")
{
    EXPECT_XML(C0, SWAPPED, CDG_NEW, "product", NULL, false, "none");
    EXPECT_XML(C0, SWAPPED, CDG_UPDATED, "product", NULL, false, "none");
    EXPECT_XML(C0, SWAPPED, CDG_DELETED, "product", NULL, false, "none");
}

TEST(XM10, "XM10: an id is what an element is known by")
{
    static const char a[] = "<r><p id='1'>a</p><p id='2'>b</p></r>";
    static const char b[] = "<r><p id='2'>a</p><p id='3'>b</p></r>";
    EXPECT_XML(a, b, CDG_NEW, "p", NULL, false, "b");
    EXPECT_XML(a, b, CDG_DELETED, "p", NULL, false, "a");
    EXPECT_XML(a, b, CDG_UPDATED, "p", NULL, false, "a");
}

/* Many others lie between them, so that whatever remembers the ids has to grow. */
TEST(one_id_often,
        "an id given to several elements stands for the first, the second, … of them")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(before, 1 << 16);
    BUF(after, 1 << 16);
    buf_puts(&before, "<r>");
    buf_puts(&after, "<r>");
    for (int i = 0; i < 300; i++) {
        bool often = i % 10 == 0;
        int id = often ? 1000 : i;
        buf_printf(&before, "<p id='%d'>text %d</p>", id, i);
        buf_printf(&after, "<p id='%d'>text %d%s</p>", id, i, i == 150 ? " anew" : "");
    }
    buf_puts(&before, "</r>");
    buf_puts(&after, "</r>");
    EXPECT_XML(buf_text(&before), buf_text(&after), CDG_UPDATED, "p", NULL, false,
            "text 150 anew");
    EXPECT_XML(buf_text(&before), buf_text(&after), CDG_NEW, "p", NULL, false, "none");
}

TEST(XM11, "XM11: what contains an updated element is updated")
{
    EXPECT_XML(C0, C1, CDG_UPDATED, "cat", NULL, false, "tv 6 cam 7 fax 9");
}

TEST(XM12, "XM12: without a change word an element only has to be there")
{
    EXPECT_XML(C0, C1, CDG_EXISTS, "price", "7", true, "7");
    EXPECT_XML(C1, C1, CDG_EXISTS, "price", "7", true, "7");
    EXPECT_XML(C0, C1, CDG_EXISTS, "price", "8", true, "none");
}

TEST(case_of_names, "names keep their case in XML and not in HTML")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_XML(C0, C1, CDG_NEW, "Product", NULL, false, "none");
    EXPECT_TEXT(elements(life, "text/html", "<ul><li>a</ul>", "<ul><li>a<li>b</ul>", CDG_NEW,
                        "LI", NULL, false),
            "b");
}

TEST(inside_new, "elements inside a new one are new, those inside an old one are not")
{
    EXPECT_XML("<r><a/></r>", "<r><a/><b><c>x</c></b></r>", CDG_NEW, "c", NULL, false, "x");
    EXPECT_XML("<r><b><c>x</c></b></r>", "<r><d><b><c>x</c></b></d></r>", CDG_NEW, "c", NULL,
            false, "none");
    EXPECT_XML("<r><b><c>x</c></b></r>", "<r><d><b><c>x</c></b></d></r>", CDG_NEW, "d", NULL,
            false, "x");
}

TEST(twins, "identical elements are matched one for one")
{
    EXPECT_XML("<r><p>x</p><p>x</p></r>", "<r><p>x</p><p>x</p><p>x</p></r>", CDG_NEW, "p", NULL,
            false, "x");
    EXPECT_XML("<r><p>x</p><p>x</p><p>x</p></r>", "<r><p>x</p></r>", CDG_DELETED, "p", NULL,
            false, "x; x");
    EXPECT_XML("<r><p>x</p><p>x</p></r>", "<r><p>x</p><p>x</p></r>", CDG_UPDATED, "p", NULL,
            false, "none");
}

TEST(renamed, "an element of another name is another element")
{
    EXPECT_XML("<r><a>x</a></r>", "<r><b>x</b></r>", CDG_NEW, "b", NULL, false, "x");
    EXPECT_XML("<r><a>x</a></r>", "<r><b>x</b></r>", CDG_DELETED, "a", NULL, false, "x");
    EXPECT_XML("<a>x</a>", "<b>x</b>", CDG_NEW, "b", NULL, false, "x");
}

TEST(attribute_update, "an attribute that changed makes an element updated")
{
    EXPECT_XML("<r><a k='1'>x</a></r>", "<r><a k='2'>x</a></r>", CDG_UPDATED, "a", NULL, false,
            "x");
    EXPECT_XML("<r><a k='1'>x</a></r>", "<r><a k='1'>x</a></r>", CDG_UPDATED, "a", NULL, false,
            "none");
}

TEST(keyword_rules, "contains follows the rules of keywords")
{
    EXPECT_XML(C0, C1, CDG_NEW, "product", "FAX 9", false, "fax 9");
    EXPECT_XML(C0, C1, CDG_NEW, "product", "fa", false, "none");
    EXPECT_XML(C0, C1, CDG_NEW, "product", "fa*", false, "fax 9");
}

TEST(broken, "XML that is not well-formed cannot be looked at")
{
    EXPECT_XML(C0, "<cat><product>", CDG_NEW, "product", NULL, false, "U");
}

TEST(refused, "an element without a name is refused")
{
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = leaf_of("element")};
    struct fault f;
    EXPECT_INT(cdg_check(&e, (struct cdg_compare){CDG_PAIRWISE, 0}, &f), ERR_RANGE);
    e.leaf.text = "a";
    EXPECT_INT(cdg_check(&e, (struct cdg_compare){CDG_PAIRWISE, 0}, &f), OK);
    e.leaf.changed_over = true;
    EXPECT_INT(cdg_check(&e, (struct cdg_compare){CDG_PAIRWISE, 0}, &f), ERR_UNSUPPORTED);
}

TEST(large,
        "twenty thousand identical and twenty thousand different elements are matched in time")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(a, 1 << 24);
    BUF(b, 1 << 24);
    buf_puts(&a, "<r>");
    buf_puts(&b, "<r><p>new</p>");
    for (int i = 0; i < 20000; i++) {
        buf_printf(&a, "<p>x</p><q%d>y</q%d>", i, i);
        buf_printf(&b, "<p>x</p><z%d>y</z%d>", i, i);
    }
    buf_puts(&a, "</r>");
    buf_puts(&b, "</r>");
    EXPECT_TEXT(elements(life, "application/xml", buf_text(&a), buf_text(&b), CDG_NEW, "p",
                        NULL, false),
            "new");
}

TEST_MAIN()
