/* show_int -- what show.c (terminal) and show_html.c share. */
#pragma once
#include "notify/notify_int.h"

void show_terminal(
        struct buf *out, const struct notify_item *item, bool colour, unsigned width);
void show_html(struct buf *out, const struct notify_item *item);

/* Takes the next cell off a row; false: there is none left. */
bool show_cell(struct str *row, struct str *ret_cell);
/* Whether a line is a change or close to one. */
bool show_is_near(const struct notify_part *part, size_t line);
