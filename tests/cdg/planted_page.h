/* planted_page -- pages of the size and shape of documentation, written from a model.
 *
 * Every word, address and cell of the model is there once, so that what one change of it
 * means can be said beforehand.  How a page is written differs everywhere with `noise`: white
 * space, comments, scripts, quotes, the order of attributes, capitals in tags, end tags that
 * may be left out, and four ways to write an accent.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "tests/cdg/mutate.h"
#include <stdio.h>

enum { ITEMS = 4, ROWS = 3 };

/* ---- the model --------------------------------------------------------------------------- */

enum plant {
    NOTHING,
    WORD, /* another one in a paragraph */
    LINK, /* goes elsewhere */
    IMAGE,
    IMAGE_NEW,
    ITEM_NEW,
    ITEM_GONE,
    ITEM_MOVED, /* the last to the front */
    CELL,
    ROW_NEW,
    TAG, /* of the heading */
    ATTRIBUTE,
    SECTION_GONE,
    PLANT_COUNT
};

static const char *const plant_names[] = {"nothing", "a word", "a link", "an image",
        "a new image", "a new item", "an item less", "a moved item", "a cell", "a new row",
        "a tag", "an attribute", "a section less"};

struct version {
    enum plant plant;
    unsigned sections, at; /* `at`: the section that is otherwise */
    uint32_t noise;
};

static inline bool is_planted(const struct version *v, unsigned section, enum plant plant)
{
    return v->plant == plant && v->at == section;
}

static inline unsigned pick(struct version *v, unsigned n)
{
    return next_random(&v->noise) % n;
}

static const char *const gaps[] = {"", "\n", " \n\t", "<!-- x -->", "\n<!-- <p>y</p> -->\n"};
static const char *const spaces[] = {" ", "  ", "\n", "&#32; ", "\t", "&nbsp;"};
static const char *const accents[] = {
        "caf\xC3\xA9", "caf&eacute;", "cafe\xCC\x81", "caf&#xE9;"};

#define ONE_OF(v, all) ((all)[pick((v), countof(all))])

static inline void put_gap(struct buf *out, struct version *v)
{
    buf_puts(out, ONE_OF(v, gaps));
}

/* A text, its spaces written in some way. */
static inline void put_text(struct buf *out, struct version *v, const char *text)
{
    for (; *text; text++)
        if (*text == ' ')
            buf_puts(out, ONE_OF(v, spaces));
        else
            buf_putc(out, *text);
}

static inline void put_tag(struct buf *out, struct version *v, const char *name)
{
    bool capitals = pick(v, 3) == 0;

    buf_putc(out, '<');
    for (; *name; name++)
        buf_putc(out, capitals && *name >= 'a' && *name <= 'z' ? *name - 32 : *name);
}

static inline void put_attribute(
        struct buf *out, struct version *v, const char *name, const char *value)
{
    static const char *const forms[] = {" %s=\"%s\"", " %s='%s'", "\n %s = '%s'", " %s=%s"};
    char text[200];

    snprintf(text, sizeof text, ONE_OF(v, forms), name, value);
    buf_puts(out, text);
}

static inline void put_attributes(struct buf *out, struct version *v, const char *a,
        const char *a_value, const char *b, const char *b_value)
{
    bool swap = pick(v, 2);

    put_attribute(out, v, swap ? b : a, swap ? b_value : a_value);
    put_attribute(out, v, swap ? a : b, swap ? a_value : b_value);
    buf_putc(out, '>');
}

static inline void put_end(
        struct buf *out, struct version *v, const char *tag, bool may_be_left_out)
{
    if (!may_be_left_out || pick(v, 2))
        buf_printf(out, "</%s>", tag);
    put_gap(out, v);
}

static inline const char *numbered(
        struct arena *life, const char *fmt, unsigned section, unsigned number)
{
    return arena_printf(life, fmt, section, number);
}

/* ---- as text: what a reader sees --------------------------------------------------------- */

static inline const char *item_text(struct arena *life, unsigned section, unsigned item)
{
    return arena_printf(
            life, "i%u_%ua i%u_%ub i%u_%uc", section, item, section, item, section, item);
}

/* The texts of a paragraph around its link and its bold word, `word` in place of its first. */
static inline const char *text_before(
        struct arena *life, unsigned section, const char *accent, const char *word)
{
    return arena_printf(life, "%s p%u_1 p%u_2 %s%u p%u_4 ", word, section, section, accent,
            section, section);
}

static inline const char *link_text(struct arena *life, unsigned section)
{
    return arena_printf(life, "l%u_5 l%u_6", section, section);
}

static inline const char *text_behind(struct arena *life, unsigned section)
{
    return arena_printf(life, " p%u_9 p%u_10 p%u_11.", section, section, section);
}

static inline const char *first_word(struct arena *life, unsigned section, bool is_new)
{
    return numbered(life, is_new ? "planted%u" : "p%u_0", section, 0);
}

static inline const char *paragraph(struct arena *life, unsigned section, bool is_new)
{
    return arena_printf(life, "%s%s b%u_8%s",
            text_before(life, section, accents[0], first_word(life, section, is_new)),
            link_text(life, section), section, text_behind(life, section));
}

/* ---- as HTML ----------------------------------------------------------------------------- */

static inline void put_paragraph(
        struct buf *out, struct version *v, struct arena *life, unsigned s)
{
    put_tag(out, v, "p");
    buf_putc(out, '>');
    put_text(out, v,
            text_before(
                    life, s, ONE_OF(v, accents), first_word(life, s, is_planted(v, s, WORD))));
    put_tag(out, v, "a");
    put_attributes(out, v, "href",
            numbered(life, is_planted(v, s, LINK) ? "/new%u" : "/l%u", s, 0), "rel", "x");
    put_text(out, v, link_text(life, s));
    buf_puts(out, "</a>");
    put_text(out, v, " ");
    buf_printf(out, "<b>b%u_8</b>", s);
    put_text(out, v, text_behind(life, s));
    put_end(out, v, "p", true);
    put_tag(out, v, "p");
    buf_putc(out, '>');
    put_tag(out, v, "img");
    put_attributes(out, v, "src",
            numbered(life, is_planted(v, s, IMAGE) ? "/n%u.png" : "/i%u.png", s, 0), "alt",
            "x");
    if (is_planted(v, s, IMAGE_NEW))
        buf_printf(out, "<img src=/j%u.png>", s);
    put_end(out, v, "p", true);
}

static inline void put_item(struct buf *out, struct version *v, const char *text)
{
    put_tag(out, v, "li");
    buf_putc(out, '>');
    put_text(out, v, text);
    put_end(out, v, "li", true);
}

static inline void put_list(struct buf *out, struct version *v, struct arena *life, unsigned s)
{
    buf_puts(out, "<ul>");
    put_gap(out, v);
    if (is_planted(v, s, ITEM_MOVED))
        put_item(out, v, item_text(life, s, ITEMS - 1));
    for (unsigned i = 0; i < ITEMS; i++) {
        if (is_planted(v, s, ITEM_NEW) && i == 2)
            put_item(out, v, item_text(life, s, 77));
        if ((is_planted(v, s, ITEM_GONE) && i == 1) ||
                (is_planted(v, s, ITEM_MOVED) && i == ITEMS - 1))
            continue;
        put_item(out, v, item_text(life, s, i));
    }
    put_end(out, v, "ul", false);
}

static inline void put_row(struct buf *out, struct version *v, const char *a, const char *b)
{
    const char *cells[] = {a, b};

    put_tag(out, v, "tr");
    buf_putc(out, '>');
    put_gap(out, v);
    for (size_t i = 0; i < 2; i++) {
        put_tag(out, v, "td");
        buf_printf(out, ">%s", cells[i]);
        put_end(out, v, "td", true);
    }
    put_end(out, v, "tr", true);
}

static inline void put_table(struct buf *out, struct version *v, struct arena *life, unsigned s)
{
    put_tag(out, v, "table");
    buf_putc(out, '>');
    for (unsigned r = 0; r < ROWS; r++) {
        bool other = is_planted(v, s, CELL) && r == 1;
        put_row(out, v, numbered(life, "c%u_%ua", s, r),
                numbered(life, other ? "planted%u_%u" : "c%u_%ub", s, r));
        if (is_planted(v, s, ROW_NEW) && r == 0)
            put_row(out, v, numbered(life, "c%u_%ua", s, 77), numbered(life, "c%u_%ub", s, 77));
    }
    put_end(out, v, "table", false);
}

static inline void put_section(
        struct buf *out, struct version *v, struct arena *life, unsigned s)
{
    const char *heading = is_planted(v, s, TAG) ? "h3" : "h2";

    put_tag(out, v, "div");
    put_attributes(out, v, "class", is_planted(v, s, ATTRIBUTE) ? "other" : "section", "id",
            numbered(life, "s%u", s, 0));
    put_gap(out, v);
    put_tag(out, v, heading);
    put_attributes(out, v, "title", "y", "class", "h");
    put_text(out, v, numbered(life, "Heading%u of it", s, 0));
    put_end(out, v, heading, false);
    put_paragraph(out, v, life, s);
    put_list(out, v, life, s);
    put_table(out, v, life, s);
    put_end(out, v, "div", false);
}

static inline char *page_of(struct arena *life, struct version v)
{
    BUF(out, 1 << 22);

    buf_printf(&out,
            "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>A page</title>"
            "<script nonce=n%u>var x = %u;</script><style>p%u {}</style></head><body>",
            pick(&v, 1000), pick(&v, 1000), pick(&v, 1000));
    for (unsigned s = 0; s < v.sections; s++) {
        put_gap(&out, &v);
        if (!is_planted(&v, s, SECTION_GONE))
            put_section(&out, &v, life, s);
    }
    buf_puts(&out, "</body></html>");
    return arena_strdup(life, buf_text(&out));
}
