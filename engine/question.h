/* question -- a definition's MONITOR clause as the change-detection graph wants it. */
#pragma once
#include "cdg/cdg.h"
#include "grammar/grammar.h"

/* The expression in the graph's terms.  Everything lives in `life` or in the grammar's tree,
 * which must stay as long.  Fault: the graph does not know this change type. */
MUST_USE enum err question_of(struct arena *life, const struct grammar_change *c,
        struct fault *f, const struct cdg_expr **ret_expr);

/* The same with the page each leaf is about.  Pages of one address are one; question_pages
 * gives them, each once, in the order of USING. */
MUST_USE enum err question_of_pages(struct arena *life, const struct grammar_definition *d,
        struct fault *f, const struct cdg_expr **ret_expr);
MUST_USE enum err question_pages(struct arena *life, const struct grammar_definition *d,
        struct fault *f, const char *const **ret_urls, unsigned *ret_count,
        unsigned *ret_wrong);

/* For the grammar, which knows no page: can this selector be read? */
MUST_USE enum err question_check_selector(
        enum grammar_region language, const char *text, struct fault *f);

struct cdg_compare question_compare(struct grammar_compare c);

/* A leaf of the graph as the language writes it. */
void question_print_leaf(struct buf *out, const struct cdg_leaf *leaf);
