/* The living pages.
 *
 * It must hold that
 *  (1) the same state gives the same bytes, and the same number of nodes whatever the turns;
 *  (2) no turn repeats what an earlier one said, but for the keyword, which is there or not;
 *  (3) a turn touches what its kind says and nothing else, noise nothing that is shown.
 *
 * The filling is the bulk of it, and is written word by word without formatting: a site of
 * ten thousand pages must not be slower than who watches it.
 */
#include "web/living.h"
#include "base/hash.h"
#include <string.h>

enum { SECTIONS_LEAST = 33, SECTIONS_SPAN = 21, LINKS = 5, ROWS = 8, ITEMS = 7 };

static const char *const turn_names[] = {
        "links", "images", "words", "phrase", "table", "list", "keyword", "noise"};

const char *web_turn_name(enum web_turn kind)
{
    return kind < WEB_TURNS ? turn_names[kind] : NULL;
}

bool web_living_differs(
        const struct web_living *a, const struct web_living *b, enum web_turn kind)
{
    uint32_t before = a->turns[kind], after = b->turns[kind];
    return kind == WEB_NOISE     ? false
           : kind == WEB_KEYWORD ? (before ^ after) & 1
                                 : before != after;
}

uint64_t web_living_signature(const struct web_living *page)
{
    return hash128_of(page, sizeof(*page)).lo;
}

/* ---- words ---------------------------------------------------------------------------- */

static const char filling[][12] = {"the", "harbour", "of", "and", "market", "a", "ferry", "in",
        "council", "to", "lantern", "was", "opened", "by", "with", "stone", "for", "bridge",
        "that", "evening", "on", "garden", "at", "morning", "from", "school", "as", "painted",
        "this", "under", "river", "which", "music", "had", "library", "has", "winter", "it",
        "captain", "were", "letters", "between", "baker", "whole", "summer", "quietly",
        "timber", "there", "orchard", "because", "window", "without", "measured", "before",
        "brass", "after", "neighbours", "during", "kettle", "against", "meadow", "seven",
        "observed", "twelve"};

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void put_words(struct buf *out, uint32_t *state, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const char *word = filling[next(state) % countof(filling)];
        if (i)
            buf_putc(out, ' ');
        buf_append(out, word, strlen(word));
    }
}

/* (2): turns of one kind and page never share a word, since each step can be undone; and six
 * syllables are longer than anything in the filling. */
static void put_new_word(struct buf *out, const struct web_living *p, enum web_turn kind)
{
    uint32_t n = p->turns[kind] + p->number * 0x9e3779b1u + (uint32_t)kind * 0x85ebca6bu;
    n = (n ^ (n >> 16)) * 0x7feb352du;
    n = (n ^ (n >> 15)) * 0x846ca68bu;
    n ^= n >> 16;
    for (int i = 0; i < 6; i++, n >>= 6) {
        buf_putc(out, "bdfghjklmnprstvz"[n >> 2 & 15]);
        buf_putc(out, "aeio"[n & 3]);
    }
}

/* ---- the parts that live -------------------------------------------------------------- */

static void put_table(struct buf *out, const struct web_living *p, uint32_t *state)
{
    unsigned turning = p->number % ROWS;
    buf_puts(out, "<table class=\"prices\">\n<tr><th>Goods</th><th>Price</th><th>Seller</th>"
                  "</tr>\n");
    for (unsigned row = 0; row < ROWS; row++) {
        buf_puts(out, "<tr><td>");
        put_words(out, state, 2);
        buf_printf(out, "</td><td>%u.%02u</td><td>", 1 + next(state) % 40, next(state) % 100);
        if (row == turning)
            put_new_word(out, p, WEB_TABLE);
        else
            put_words(out, state, 1);
        buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</table>\n");
}

static void put_list(struct buf *out, const struct web_living *p, uint32_t *state)
{
    unsigned turning = p->number % ITEMS;
    buf_puts(out, "<ul class=\"errands\">\n");
    for (unsigned item = 0; item < ITEMS; item++) {
        buf_puts(out, "<li>");
        put_words(out, state, 5);
        if (item == turning) {
            buf_putc(out, ' ');
            put_new_word(out, p, WEB_LIST);
        }
        buf_puts(out, "</li>\n");
    }
    buf_puts(out, "</ul>\n");
}

/* Attributes in another order, white space and character references are noise: (3). */
static void put_notice(struct buf *out, const struct web_living *p, uint32_t *state)
{
    bool odd = p->turns[WEB_NOISE] % 2;
    buf_puts(out, "<p class=\"notice\">" WEB_PHRASE_TEXT " ");
    put_new_word(out, p, WEB_PHRASE);
    buf_puts(out, " will be open on Sunday between nine and four.</p>\n");
    buf_puts(out, odd ? "<p id=\"ferry\" class=\"news\">The\n  ferry at noon is "
                      : "<p class=\"news\" id=\"ferry\">The ferry at noon is ");
    buf_puts(out, p->turns[WEB_KEYWORD] % 2 ? WEB_KEYWORD_TEXT : "running");
    buf_puts(out, odd ? "; the caf&eacute; stays open.</p>\n"
                      : "; the caf\xc3\xa9 stays open.</p>\n");
    buf_puts(out, "<p>");
    put_words(out, state, 20);
    buf_putc(out, ' ');
    put_new_word(out, p, WEB_WORDS);
    buf_putc(out, ' ');
    put_words(out, state, 20);
    buf_puts(out, ".</p>\n<p><a class=\"more\" href=\"/living/");
    put_new_word(out, p, WEB_LINKS);
    buf_puts(out, ".html\">More about it</a></p>\n<p><img alt=\"Picture of the day\" "
                  "src=\"/pictures/");
    put_new_word(out, p, WEB_IMAGES);
    buf_puts(out, ".jpg\"></p>\n");
}

/* ---- the filling ---------------------------------------------------------------------- */

/* About 38 nodes and 1 KB. */
static void put_section(struct buf *out, uint32_t *state, unsigned section)
{
    buf_printf(out, "<div class=\"section\" id=\"s%u\">\n<h2>", section);
    put_words(out, state, 4);
    buf_puts(out, "</h2>\n<p>");
    put_words(out, state, 22);
    buf_puts(out, " <b>");
    put_words(out, state, 2);
    buf_puts(out, "</b> ");
    put_words(out, state, 16);
    buf_puts(out, ".</p>\n<ul>\n");
    for (unsigned link = 0; link < LINKS; link++) {
        buf_printf(out, "<li><a href=\"/archive/%u/%u-%u.html\">", section, link,
                next(state) % 1000);
        put_words(out, state, 5);
        buf_puts(out, "</a></li>\n");
    }
    buf_printf(out, "</ul>\n<p><img src=\"/pictures/%u.png\" alt=\"", next(state) % 500);
    put_words(out, state, 2);
    buf_puts(out, "\"> ");
    put_words(out, state, 10);
    buf_puts(out, ".</p>\n<table>\n");
    for (unsigned row = 0; row < 2; row++)
        buf_printf(out, "<tr><td>%u</td><td>%u</td></tr>\n", next(state) % 100,
                next(state) % 1000);
    buf_puts(out, "</table>\n</div>\n");
}

void web_living_write(const struct web_living *p, struct buf *out)
{
    uint32_t state = p->number * 2654435761u + 1;
    uint32_t noise = p->turns[WEB_NOISE];
    unsigned sections = SECTIONS_LEAST + next(&state) % (SECTIONS_SPAN + 1);
    buf_reserve(out, 64 << 10);
    buf_printf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<title>Littlehaven, page %u</title>\n<script nonce=\"%08x\">window.made = %u;"
            "</script>\n</head>\n<body>\n<!-- made as number %u -->\n<h1>Page %u of "
            "Littlehaven</h1>\n",
            p->number, noise * 2654435761u, noise, noise, p->number);
    put_notice(out, p, &state);
    put_table(out, p, &state);
    put_list(out, p, &state);
    for (unsigned i = 0; i < sections; i++)
        put_section(out, &state, i);
    buf_puts(out, "</body>\n</html>\n");
}
