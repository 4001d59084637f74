/* Rows of tables on a terminal: one line a row, columns below each other, what differs marked
 * in its cell. */
#include "notify/show_int.h"

enum { COLUMN_MOST = 32 }; /* a longer cell pushes what stands behind it */

/* Without our own colours; there are no others, see escape.c. */
static size_t width_of(struct str s)
{
    size_t columns = 0;
    for (size_t i = 0; i < s.len;) {
        uint32_t c;
        if (s.ptr[i] == '\033') {
            i += strcspn(s.ptr + i, "m") + 1;
            continue;
        }
        i += utf8_decode(s.ptr + i, s.len - i, &c);
        columns += show_columns(c);
    }
    return columns;
}

static void put_marked(
        struct pen *p, const char *colour, const char *open, struct str text, const char *close)
{
    if (!text.len)
        return;
    buf_puts(p->out, p->colour ? colour : open);
    escape(p->out, ESCAPE_PLAIN, text, 0);
    buf_puts(p->out, p->colour ? "\033[0m" : close);
}

void show_went(struct pen *p, struct str text)
{
    put_marked(p, "\033[9;31m", "[-", text, "-]");
}

void show_came(struct pen *p, struct str text)
{
    put_marked(p, "\033[1;32m", "{+", text, "+}");
}

/* The next cell of the row as it is shown; false: there is none left. */
static bool put_cell(struct pen *p, bool updated, struct str *old, struct str *now)
{
    struct str was = {"", 0}, is = {"", 0};
    bool has_old = show_cell(old, &was), has_now = show_cell(now, &is);
    if (!has_old && !has_now)
        return false;
    if (!updated || str_equal(was, is)) {
        escape(p->out, ESCAPE_PLAIN, has_now ? is : was, 0);
        return true;
    }
    show_went(p, was);
    if (was.len && is.len)
        buf_putc(p->out, ' ');
    show_came(p, is);
    return true;
}

static void sides_of(const struct notify_line *l, struct str *old, struct str *now)
{
    *old = l->old ? str_of(l->old) : (struct str){NULL, 0};
    *now = l->now ? str_of(l->now) : (struct str){NULL, 0};
}

static size_t cell_width(
        struct pen *p, bool updated, struct str *old, struct str *now, bool *ret)
{
    BUF(text, 1 << 20);
    struct pen aside = {.out = &text, .colour = p->colour};
    *ret = put_cell(&aside, updated, old, now);
    return width_of((struct str){buf_text(&text), text.len});
}

void show_table_fit(struct pen *p, const struct notify_part *part, size_t from)
{
    struct show_table *t = &p->table;
    *t = (struct show_table){.end = from};
    for (; t->end < part->nlines && show_is_row(&part->lines[t->end]); t->end++) {
        const struct notify_line *l = &part->lines[t->end];
        struct str old, now;
        sides_of(l, &old, &now);
        bool more = true;
        for (size_t i = 0; more && i < SHOW_COLUMNS; i++) {
            size_t w = cell_width(p, l->mark == NOTIFY_UPDATED, &old, &now, &more);
            w = w < COLUMN_MOST ? w : COLUMN_MOST;
            t->width[i] = w > t->width[i] ? w : t->width[i];
        }
    }
}

void show_table_row(struct pen *p, const struct notify_line *l)
{
    struct str old, now;
    bool updated = l->mark == NOTIFY_UPDATED;
    sides_of(l, &old, &now);
    for (size_t i = 0; old.ptr || now.ptr; i++) {
        struct str old_after = old, now_after = now;
        bool any;
        size_t width = cell_width(p, updated, &old_after, &now_after, &any);
        size_t room = i < SHOW_COLUMNS ? p->table.width[i] : 0;
        (void)put_cell(p, updated, &old, &now);
        if (!old.ptr && !now.ptr)
            break;
        buf_printf(p->out, "%*s | ", width < room ? (int)(room - width) : 0, "");
    }
}
