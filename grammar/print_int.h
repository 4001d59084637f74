/* What the printing files share.  Appending to a buf may overflow it; whoever asked for the
 * text looks at out->overflowed, nobody here does. */
#pragma once
#include "grammar/grammar_int.h"

void print(struct buf *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
void print_quoted(struct buf *out, const char *s);
void print_url(struct buf *out, const char *url);
/* One clause, its keyword included. */
void print_clause(struct buf *out, const struct grammar_definition *d, enum grammar_clause c);
/* CREATE SENTINEL name, ENABLE SENTINEL name, SUBSCRIPTION name .. */
void print_head(struct buf *out, const struct grammar_statement *st);

/* The parts of a subscription in canonical order, numbered from 0. */
unsigned subscription_parts(const struct grammar_subscription *s);
struct grammar_pos subscription_part_pos(const struct grammar_subscription *s, unsigned part);
void print_part(struct buf *out, const struct grammar_subscription *s, unsigned part);
