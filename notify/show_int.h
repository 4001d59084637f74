/* show_int -- what show.c and show_table.c (terminal) and show_html.c share. */
#pragma once
#include "notify/notify_int.h"

void show_terminal(struct buf *out, const struct notify_item *item, struct notify_style style);
void show_html(struct buf *out, const struct notify_item *item);

/* ---- for both ---- */

/* Takes the next cell off a row; false: there is none left. */
bool show_cell(struct str *row, struct str *ret_cell);
bool show_is_row(const struct notify_line *l);
bool show_is_in_both(const struct notify_line *l); /* as it is */
/* Whether a line is a change or close to one. */
bool show_is_near(const struct notify_part *part, size_t line);
/* Whether the text of an updated line is the same: then what differs is not to be seen. */
bool show_is_hidden(const struct notify_line *l);
#define SHOW_HIDDEN "not in its text: in what is around or inside it"

/* ---- terminal: show.c and show_table.c ---- */

enum { SHOW_COLUMNS = 32 }; /* further ones are not aligned */

struct show_table { /* rows that stand together */
    size_t end;     /* the line behind them */
    size_t width[SHOW_COLUMNS];
};

struct pen {
    struct buf *out;
    struct arena *life;
    bool colour;
    size_t width;
    bool places; /* with where it stands */
    struct show_table table;
};

size_t show_columns(uint32_t c); /* of a terminal that a character takes */
void show_went(struct pen *p, struct str text);
void show_came(struct pen *p, struct str text);
/* Measures the rows that begin at this line. */
void show_table_fit(struct pen *p, const struct notify_part *part, size_t line);
void show_table_row(struct pen *p, const struct notify_line *l);
