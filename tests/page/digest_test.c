/* The block: what it promises, and that nothing damaged is opened. */
#include "tests/page/page_help.h"
#include <stdlib.h>

static const char page[] = "<html><body class=x><p>one <b>two</b></p><ul><li>a<li>b</ul>"
                           "<a href=/l>l</a><img src=i.png></body></html>";

TEST(deterministic, "the same page gives the same block")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(made_done) struct made a = make(life, page, sizeof page - 1, "text/html");
    CLEANUP(made_done) struct made b = make(life, page, sizeof page - 1, "text/html");
    REQUIRE(a.d && b.d && a.block.len == b.block.len);
    EXPECT(memcmp(a.block.data, b.block.data, a.block.len) == 0);
}

/* Which hashes differ, as letters. */
static char *differs(struct arena *life, const char *before, const char *after)
{
    CLEANUP(made_done) struct made a = make(life, before, strlen(before), "text/html");
    CLEANUP(made_done) struct made b = make(life, after, strlen(after), "text/html");
    static const char *const names[] = {"structure", "tags", "attributes", "content"};
    BUF(out, 1000);
    for (int i = 0; a.d && b.d && i <= PAGE_CONTENT; i++)
        if (!hash128_equal(a.d->hash[i], b.d->hash[i]))
            buf_printf(&out, "%s%s", out.len ? " " : "", names[i]);
    bool whole = a.d && b.d && !hash128_equal(a.d->whole, b.d->whole);
    EXPECT(whole == (out.len > 0));
    return arena_strdup(life, out.len ? buf_text(&out) : "nothing");
}

TEST(arrays, "PD1 to PD7: each array has a hash of its own")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_TEXT(differs(life, "<div><p>a</p></div>", "<div><p>b</p></div>"), "content");
    EXPECT_TEXT(differs(life, "<div><p>a</p></div>", "<div><h1>a</h1></div>"), "tags");
    EXPECT_TEXT(differs(life, "<div><p>a</p></div>", "<div><p>a</p><p>c</p></div>"),
            "structure tags attributes content");
    EXPECT_TEXT(differs(life, "<p class=x>a</p>", "<p class=y>a</p>"), "attributes");
    EXPECT_TEXT(differs(life, "<div><p>a</p></div>", "<div><p><b>a</b></p></div>"),
            "structure tags attributes");
    EXPECT_TEXT(differs(life, "<p>a</p>", "<p> a </p>"), "nothing");
    EXPECT_TEXT(differs(life, "<ul><li>a</li><li>b</li></ul>", "<ul><li>b</li><li>a</li></ul>"),
            "content");
}

TEST(subtle, "hashes keep apart what is nearly the same")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_TEXT(differs(life, "<p>ab</p><p>c</p>", "<p>a</p><p>bc</p>"), "content");
    EXPECT_TEXT(differs(life, "<p a=b></p><p></p>", "<p></p><p a=b></p>"), "attributes");
    EXPECT_TEXT(differs(life, "<p a=b c=d></p>", "<p a=d c=b></p>"), "attributes");
    EXPECT_TEXT(differs(life, "<p a></p><p b></p>", "<p b></p><p a></p>"), "attributes");
    EXPECT_TEXT(differs(life, "<i></i><b></b><i></i>", "<i></i><b></b><b></b>"), "tags");
    EXPECT_TEXT(differs(life, "<div><p></p></div><p></p>", "<div><p></p><p></p></div>"),
            "structure");
}

TEST(truncated, "no shortened block is opened")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(made_done) struct made m = make(life, page, sizeof page - 1, "text/html");
    struct page_digest *d;
    REQUIRE(m.d);
    for (size_t n = 0; n < m.block.len; n++)
        EXPECT(page_digest_open(life, m.block.data, n, NULL, &d) != OK);
    EXPECT(page_digest_open(life, m.block.data, m.block.len, NULL, &d) == OK);
}

/* Reads everything there is, so that a sanitizer sees what points outside. */
static size_t read_all(const struct page_digest *d, struct arena *life)
{
    size_t sum = 0;
    struct page_block *blocks;
    for (uint32_t i = 0; i < d->nodes; i++) {
        sum += page_tag_name(d, d->tags[i]).len + d->children[i];
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++)
            sum += strlen(page_attr_name(d, a).ptr) + strlen(page_attr_value(d, a).ptr);
    }
    for (uint32_t i = 0; i < d->links; i++)
        sum += strlen(page_link(d, i).ptr);
    for (uint32_t i = 0; i < d->images; i++)
        sum += strlen(page_image(d, i).ptr);
    sum += page_blocks(d, life, &blocks);
    for (uint32_t i = 0; i < d->nodes && i < 20; i++)
        for (uint32_t up = i; up < d->nodes; up = d->parent[up])
            sum += d->end[up];
    return sum;
}

TEST(damaged, "a block with any one byte changed is refused, or safe to read")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(made_done) struct made m = make(life, page, sizeof page - 1, "text/html");
    REQUIRE(m.d);
    static const unsigned char values[] = {0, 1, 0x7F, 0x80, 0xFF};
    size_t refused = 0;
    for (size_t i = 0; i < m.block.len; i++)
        for (size_t v = 0; v < countof(values); v++) {
            SCRATCH struct arena *own = arena_new(NULL, "t");
            char *copy = arena_memdup(own, m.block.data, m.block.len);
            struct page_digest *d;
            copy[i] = (char)values[v];
            if (page_digest_open(own, copy, m.block.len, NULL, &d) == OK)
                read_all(d, own);
            else
                refused++;
        }
    EXPECT(refused > 100);
}

TEST(version, "a block of another version is named as such")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(made_done) struct made m = make(life, page, sizeof page - 1, "text/html");
    struct page_digest *d;
    struct fault f;
    REQUIRE(m.d);
    m.block.data[8] = 99;
    EXPECT_INT(page_digest_open(life, m.block.data, m.block.len, &f, &d), ERR_UNSUPPORTED);
    m.block.data[0] = 'X';
    EXPECT_INT(page_digest_open(life, m.block.data, m.block.len, &f, &d), ERR_SYNTAX);
}

static char *words(struct arena *life, const char *text)
{
    BUF(out, 1000);
    struct str word;
    size_t at = 0;
    while (page_word_next(str_of(text), &at, &word))
        buf_printf(&out, "%s%.*s", out.len ? "|" : "", (int)word.len, word.ptr);
    return arena_strdup(life, buf_text(&out));
}

TEST(words, "words are runs without white space, without the punctuation around them")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_TEXT(words(life, "Price: 10, (on 2000-7-6,) ok."), "Price|10|on|2000-7-6|ok");
    EXPECT_TEXT(words(life, "50% $5 7$ 9\xE2\x82\xAC. \xE2\x82\xAC"
                            "3 -- ... _x_"),
            "50%|5|7$|9\xE2\x82\xAC|3|_x_");
    EXPECT_TEXT(words(life, "\xC2\xABna\xC3\xAFve\xC2\xBB o'clock e-mail a\xE3\x80\x80"
                            "b"),
            "na\xC3\xAFve|o'clock|e-mail|a|b");
    EXPECT_TEXT(words(life, "a\xFFz \xC3"), "a\xFFz"); /* a user's text may be broken */
    EXPECT_TEXT(words(life, ""), "");
    EXPECT_TEXT(words(life, " - "), "");
}

TEST(blocks, "a block's text is joined over its inline elements")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(made_done) struct made m = make(life, page, sizeof page - 1, "text/html");
    struct page_block *b;
    REQUIRE(m.d && page_blocks(m.d, life, &b) == 4);
    EXPECT_TEXT(b[0].text.ptr, "one two");
    EXPECT_TEXT(b[1].text.ptr, "a");
    EXPECT_TEXT(b[3].text.ptr, "l");
}

/* Paths that begin alike, go on so for longer than is compared by eights, and begin one
 * another. */
static struct str some_path(struct arena *life, uint32_t *seed)
{
    static const char *const pieces[] = {
            "a", "abcdefgh", "b", "%C3%A9", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "z/"};
    BUF(out, 1 << 16);
    buf_puts(&out, "/");
    unsigned n = (*seed = *seed * 1664525 + 1013904223) >> 29;
    for (unsigned i = n == 0 ? *seed >> 23 : 0; i > 0; i--)
        buf_puts(&out, "aaaaaaaaa");
    for (unsigned i = 0; i < 1 + n * n; i++) {
        *seed = *seed * 1664525 + 1013904223;
        unsigned which = *seed >> 24;
        buf_puts(&out, pieces[which < 150 ? 4 : which % countof(pieces)]);
    }
    return (struct str){arena_strndup(life, out.data, out.len), out.len};
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

TEST(sorted, "addresses are sorted, each once, whatever they have in common")
{
    enum { LINKS = 600, ROUNDS = 20 };
    uint32_t seed = 7;
    for (unsigned round = 0; round < ROUNDS; round++) {
        SCRATCH struct arena *life = arena_new(NULL, "t");
        BUF(source, 1 << 24);
        const char *all[LINKS];
        size_t n = round * round * 2 + 1 < LINKS ? round * round * 2 + 1 : LINKS, unique = 0;
        for (size_t i = 0; i < n; i++) {
            const char *path = i % 3 == 2 ? all[i / 2] + strlen("http://x.org")
                                          : some_path(life, &seed).ptr;
            all[i] = arena_printf(life, "http://x.org%s", path);
            buf_printf(&source, "<a href=\"%s%s\">x</a>", i % 2 ? "" : "http://x.org", path);
        }
        CLEANUP(made_done)
        struct made m = make(life, source.data, source.len, "text/html;charset=utf-8");
        REQUIRE(m.d);
        qsort(all, n, sizeof *all, compare_strings);
        for (size_t i = 0; i < n; i++)
            if (unique == 0 || strcmp(all[unique - 1], all[i]) != 0)
                all[unique++] = all[i];
        REQUIRE(m.d->links == unique);
        for (uint32_t i = 0; i < unique; i++)
            EXPECT_TEXT(page_link(m.d, i).ptr, all[i]);
    }
}

TEST_MAIN()
