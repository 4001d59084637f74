/* living -- numbered pages that change in ways we know exactly.  Pure.
 *
 * A living page has the size and shape of the news pages that WebCQ was measured with: 30 to
 * 60 KB and about 1,700 nodes.  What it says is a function of its number and of how often
 * each kind of change has happened to it, its turns; so whoever counts the turns knows what
 * a monitor should have told, and nothing else can have changed.
 */
#pragma once
#include "base/buf.h"

/* What can happen to a page, and what of it is touched by nothing else. */
enum web_turn {
    WEB_LINKS,   /* the address of one link, not its text */
    WEB_IMAGES,  /* the address of one image, not its alternative text */
    WEB_WORDS,   /* a word of a paragraph */
    WEB_PHRASE,  /* a word of the passage that WEB_PHRASE_TEXT begins */
    WEB_TABLE,   /* a cell of the first table */
    WEB_LIST,    /* an item of the first list */
    WEB_KEYWORD, /* WEB_KEYWORD_TEXT comes or goes */
    WEB_NOISE,   /* nothing a reader sees: comments, scripts, spelling of the source */
    WEB_TURNS
};
#define WEB_PHRASE_TEXT "The harbour office lets everybody know that"
#define WEB_KEYWORD_TEXT "cancelled"

struct web_living {
    uint32_t number;
    uint32_t turns[WEB_TURNS];
};

enum { WEB_LIVING_BYTES_MAX = 80 * 1024 };

const char *web_turn_name(enum web_turn kind); /* "links"; NULL beyond the last */

void web_living_write(const struct web_living *page, struct buf *out);

/* Whether a reader can tell the two states of one page apart by this kind: the keyword that
 * came and went again is as if nothing had been, and noise is never seen. */
bool web_living_differs(
        const struct web_living *a, const struct web_living *b, enum web_turn kind);

/* A number for the state: equal when the bytes are, and practically only then. */
uint64_t web_living_signature(const struct web_living *page);
