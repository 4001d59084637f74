/* The living pages: their truth is what tests and measurements judge others by, so it is
 * looked at here with libxml2's tree and nothing of ours. */
#include "tests/test.h"
#include "base/arena.h"
#include "web/living.h"
#include <libxml/HTMLparser.h>
#include <stdio.h>

/* What a reader, or a program that follows links, has of a page. */
struct look {
    struct buf text, links, images, table, list;
    size_t nodes, bytes;
};

static void look_done(struct look *l)
{
    buf_done(&l->text);
    buf_done(&l->links);
    buf_done(&l->images);
    buf_done(&l->table);
    buf_done(&l->list);
}

static bool is(const xmlNode *n, const char *name)
{
    return n->type == XML_ELEMENT_NODE && strcmp((const char *)n->name, name) == 0;
}

/* Runs of white space are one space. */
static void put_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        bool space = strchr(" \n", *text);
        if (!space || (out->len && out->data[out->len - 1] != ' '))
            buf_putc(out, space ? ' ' : *text);
    }
}

static void put_attribute(struct buf *out, xmlNode *n, const char *name)
{
    xmlChar *value = xmlGetProp(n, (const xmlChar *)name);
    if (value)
        buf_printf(out, "%s\n", (const char *)value);
    xmlFree(value);
}

static void put_content(struct buf *out, xmlNode *n)
{
    xmlChar *text = xmlNodeGetContent(n);
    if (!out->len)
        put_text(out, (const char *)text);
    xmlFree(text);
}

static void look_at(struct look *l, xmlNode *n)
{
    for (; n; n = n->next) {
        if (n->type == XML_COMMENT_NODE || is(n, "script"))
            continue;
        if (n->type == XML_TEXT_NODE) {
            put_text(&l->text, (const char *)n->content);
            l->nodes += !xmlIsBlankNode(n);
        }
        l->nodes += n->type == XML_ELEMENT_NODE;
        if (is(n, "a"))
            put_attribute(&l->links, n, "href");
        if (is(n, "img"))
            put_attribute(&l->images, n, "src");
        if (is(n, "table"))
            put_content(&l->table, n);
        if (is(n, "ul"))
            put_content(&l->list, n);
        look_at(l, n->children);
    }
}

static void look(const struct web_living *page, struct look *ret)
{
    BUF(body, WEB_LIVING_BYTES_MAX);
    enum { MAX = 1 << 20 };
    *ret = (struct look){.text.max = MAX,
            .links.max = MAX,
            .images.max = MAX,
            .table.max = MAX,
            .list.max = MAX};
    web_living_write(page, &body);
    EXPECT(!body.overflowed);
    ret->bytes = body.len;
    htmlDocPtr doc = htmlReadMemory(body.data, (int)body.len, NULL, "utf-8",
            HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    look_at(ret, xmlDocGetRootElement(doc));
    xmlFreeDoc(doc);
}

TEST(shape, "living pages have the size and the nodes of WebCQ's, each its own")
{
    size_t bytes = 0, nodes = 0;
    enum { PAGES = 200 };
    for (uint32_t i = 1; i <= PAGES; i++) {
        CLEANUP(look_done) struct look l;
        look(&(struct web_living){.number = i}, &l);
        if (l.bytes < 30000 || l.bytes > 60000 || l.nodes < 1200 || l.nodes > 2200)
            test_fail(__FILE__, __LINE__, "page %u: %zu bytes, %zu nodes", i, l.bytes, l.nodes);
        bytes += l.bytes;
        nodes += l.nodes;
    }
    EXPECT(bytes / PAGES > 42000 && bytes / PAGES < 50000);
    EXPECT(nodes / PAGES > 1550 && nodes / PAGES < 1800);
}

TEST(turns, "a turn changes what its kind says and nothing else")
{
    for (uint32_t number = 1; number <= 24; number++)
        for (unsigned kind = 0; kind < WEB_TURNS; kind++) {
            struct web_living before = {.number = number}, after;
            before.turns[kind] = number % 7;
            after = before;
            after.turns[kind]++;
            CLEANUP(look_done) struct look a, b;
            look(&before, &a);
            look(&after, &b);
            bool text = strcmp(buf_text(&a.text), buf_text(&b.text)) != 0;
            EXPECT(text == (kind >= WEB_WORDS && kind < WEB_NOISE));
            EXPECT((strcmp(buf_text(&a.links), buf_text(&b.links)) != 0) ==
                    (kind == WEB_LINKS));
            EXPECT((strcmp(buf_text(&a.images), buf_text(&b.images)) != 0) ==
                    (kind == WEB_IMAGES));
            EXPECT((strcmp(buf_text(&a.table), buf_text(&b.table)) != 0) ==
                    (kind == WEB_TABLE));
            EXPECT((strcmp(buf_text(&a.list), buf_text(&b.list)) != 0) == (kind == WEB_LIST));
            bool word = strstr(buf_text(&a.text), WEB_KEYWORD_TEXT),
                 word_after = strstr(buf_text(&b.text), WEB_KEYWORD_TEXT);
            EXPECT((word != word_after) == (kind == WEB_KEYWORD));
            EXPECT(strstr(buf_text(&a.text), WEB_PHRASE_TEXT));
            EXPECT(a.nodes == b.nodes);
            EXPECT(web_living_differs(&before, &after, kind) == (kind != WEB_NOISE));
            EXPECT(web_living_signature(&before) != web_living_signature(&after));
        }
}

TEST(repeat, "no turn brings back an earlier state, but for the keyword and the noise")
{
    for (unsigned kind = 0; kind < WEB_KEYWORD; kind++) {
        struct web_living first = {.number = 3}, later = first;
        CLEANUP(look_done) struct look a;
        look(&first, &a);
        for (later.turns[kind] = 1; later.turns[kind] < 60; later.turns[kind]++) {
            CLEANUP(look_done) struct look b;
            look(&later, &b);
            EXPECT(strcmp(buf_text(&a.text), buf_text(&b.text)) != 0 ||
                    strcmp(buf_text(&a.links), buf_text(&b.links)) != 0 ||
                    strcmp(buf_text(&a.images), buf_text(&b.images)) != 0);
            EXPECT(web_living_differs(&first, &later, kind));
        }
    }
    struct web_living there = {.number = 3}, again = there;
    again.turns[WEB_KEYWORD] = 2;
    EXPECT(!web_living_differs(&there, &again, WEB_KEYWORD));
}

TEST_MAIN()
