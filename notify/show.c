/* A change on a terminal or in a text mail: side by side, merged, or only what changed.
 *
 *  (1) Without colour nothing is lost: signs say what colour says (+ - ~ », [-went-]{+came+}).
 *  (2) Foreign text passes the escaping writer, so it cannot draw.
 */
#include "notify/show_int.h"

enum { CONTEXT = 3 };

static const struct {
    const char *sign, *between, *colour;
} marks[] = {
        [NOTIFY_SAME] = {" ", " ", ""},
        [NOTIFY_INSERTED] = {"+", ">", "\033[32m"},
        [NOTIFY_DELETED] = {"-", "<", "\033[31m"},
        [NOTIFY_UPDATED] = {"~", "|", "\033[33m"},
        [NOTIFY_MOVED] = {"»", "»", "\033[36m"},
        [NOTIFY_FOUND] = {"=", "=", "\033[36m"},
};

static void put_colour(struct pen *p, const char *code)
{
    if (p->colour)
        buf_puts(p->out, code);
}

/* Text with its shape: a link or an image says what it is. */
static void put_shaped(struct pen *p, const struct notify_line *l, const char *text)
{
    if (l->shape == NOTIFY_IMAGE)
        buf_puts(p->out, "[image] ");
    if (l->shape == NOTIFY_LINK && p->colour)
        buf_puts(p->out, "\033[4m");
    if (show_is_row(l)) {
        for (struct str row = str_of(text), cell; show_cell(&row, &cell);) {
            escape(p->out, ESCAPE_PLAIN, cell, 0);
            if (row.ptr)
                buf_puts(p->out, " | ");
        }
    } else {
        escape_text(p->out, ESCAPE_PLAIN, text);
    }
    if (l->shape == NOTIFY_LINK && p->colour)
        buf_puts(p->out, "\033[24m");
}

static void put_runs(struct pen *p, const struct words *w, const char *on, const char *off)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->runs[i].changed)
            buf_puts(p->out, on);
        escape(p->out, ESCAPE_PLAIN, w->runs[i].text, 0);
        if (w->runs[i].changed)
            buf_puts(p->out, off);
    }
}

/* ---- only what changed ---- */

/* Where it stands, behind the line and less to be seen; a line that has a path was told. */
static void put_behind(struct pen *p, const struct notify_line *l, enum notify_mark as)
{
    const char *old = as == NOTIFY_MOVED ? l->old_place : NULL;
    const char *place = as == NOTIFY_DELETED ? l->old_place : l->place;
    if (!p->places || l->path || !place)
        return;
    put_colour(p, "\033[2m");
    buf_puts(p->out, "  at ");
    if (old && strcmp(old, place) != 0) {
        escape_text(p->out, ESCAPE_PLAIN, old);
        buf_puts(p->out, " → ");
    }
    escape_text(p->out, ESCAPE_PLAIN, place);
    put_colour(p, "\033[0m");
}

static void put_signed(struct pen *p, const struct notify_line *l, enum notify_mark as,
        const char *text, const struct words *w)
{
    buf_puts(p->out, "  ");
    put_colour(p, marks[as].colour);
    buf_printf(p->out, "%s ", marks[as].sign);
    if (w && p->colour)
        put_runs(p, w, "\033[1;4m", "\033[22;24m");
    else if (show_is_row(l))
        show_table_row(p, l);
    else
        put_shaped(p, l, text);
    put_colour(p, "\033[0m");
    put_behind(p, l, as);
    buf_putc(p->out, '\n');
}

/* An update that is one line: a row, or what is not in the text. */
static bool put_one(struct pen *p, const struct notify_line *l)
{
    if (show_is_row(l)) {
        put_colour(p, marks[NOTIFY_UPDATED].colour);
        buf_puts(p->out, "  ~ ");
        put_colour(p, "\033[0m"); /* cells have colours of their own */
        show_table_row(p, l);
        buf_putc(p->out, '\n');
        return true;
    }
    if (!show_is_hidden(l))
        return false;
    put_signed(p, l, NOTIFY_UPDATED, l->now, NULL);
    put_colour(p, "\033[2m");
    buf_puts(p->out, "    (" SHOW_HIDDEN ")\n");
    put_colour(p, "\033[0m");
    return true;
}

static void put_updated(struct pen *p, const struct notify_line *l)
{
    struct words old, now;
    if (put_one(p, l))
        return;
    words_compare(p->life, str_of(l->old), str_of(l->now), &old, &now);
    bool whole = l->shape != NOTIFY_TEXT;
    put_signed(p, l, NOTIFY_DELETED, l->old, whole ? NULL : &old);
    put_signed(p, l, NOTIFY_INSERTED, l->now, whole ? NULL : &now);
}

static void put_place(struct pen *p, const char *path)
{
    put_colour(p, "\033[2m");
    buf_puts(p->out, "  at ");
    escape_text(p->out, ESCAPE_PLAIN, path);
    put_colour(p, "\033[0m");
    buf_putc(p->out, '\n');
}

static void fit(struct pen *p, const struct notify_part *part, size_t line)
{
    if (show_is_row(&part->lines[line]) && line >= p->table.end)
        show_table_fit(p, part, line);
}

static void show_only(struct pen *p, const struct notify_part *part)
{
    for (size_t i = 0; i < part->nlines; i++) {
        const struct notify_line *l = &part->lines[i];
        const char *before = i ? part->lines[i - 1].path : NULL;
        if (l->mark == NOTIFY_SAME && !show_is_row(l)) /* one that stays names the columns */
            continue;
        fit(p, part, i);
        if (l->path && (!before || strcmp(before, l->path) != 0))
            put_place(p, l->path);
        if (l->mark == NOTIFY_UPDATED)
            put_updated(p, l);
        else
            put_signed(p, l, l->mark, l->mark == NOTIFY_DELETED ? l->old : l->now, NULL);
    }
}

/* ---- merged ---- */

static void put_merged(struct pen *p, const struct notify_line *l)
{
    if (l->mark != NOTIFY_UPDATED) {
        put_signed(p, l, l->mark, l->mark == NOTIFY_DELETED ? l->old : l->now, NULL);
        return;
    }
    if (put_one(p, l))
        return;
    struct words old, now;
    words_compare(p->life, str_of(l->old), str_of(l->now), &old, &now);
    buf_puts(p->out, l->shape == NOTIFY_IMAGE ? "  ~ [image] " : "  ~ ");
    for (size_t i = 0, k = 0; i < old.n || k < now.n;) {
        bool went = i < old.n && old.runs[i].changed;
        if (went) {
            show_went(p, str_trim(old.runs[i++].text));
        } else if (k < now.n && now.runs[k].changed) {
            show_came(p, str_trim(now.runs[k++].text));
        } else {
            if (k < now.n)
                escape(p->out, ESCAPE_PLAIN, now.runs[k].text, 0);
            i++;
            k++;
            continue;
        }
        if (i < old.n || k < now.n)
            buf_putc(p->out, ' ');
    }
    buf_putc(p->out, '\n');
}

/* ---- side by side ---- */

size_t show_columns(uint32_t c)
{
    bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
    bool none = (c >= 0x300 && c <= 0x36F) || c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F);
    return none ? 0 : wide ? 2 : 1;
}

/* As much of `s` as fits, broken between words when there is one; the rest stays in *s. */
static struct str take_line(struct str *s, size_t width, size_t *ret_columns)
{
    size_t at = 0, columns = 0, space = 0, space_columns = 0;
    while (at < s->len) {
        uint32_t c;
        size_t n = utf8_decode(s->ptr + at, s->len - at, &c);
        size_t w = show_columns(c);
        if (columns + w > width)
            break;
        if (c == ' ') {
            space = at;
            space_columns = columns;
        }
        at += n;
        columns += w;
    }
    if (at < s->len && space > 0) {
        at = space;
        columns = space_columns;
    }
    struct str line = {s->ptr, at};
    s->ptr += at;
    s->len -= at;
    while (s->len && *s->ptr == ' ') {
        s->ptr++;
        s->len--;
    }
    *ret_columns = columns;
    return line;
}

static struct str flat(struct pen *p, const struct notify_line *l, const char *text)
{
    if (!text)
        return (struct str){"", 0};
    BUF(b, 1 << 20);
    struct pen plain = {.out = &b, .life = p->life};
    put_shaped(&plain, l, text);
    return str_of(arena_strdup(p->life, buf_text(&b)));
}

static void put_column(struct pen *p, struct str *s, size_t width, const char *colour)
{
    size_t columns;
    struct str line = take_line(s, width, &columns);
    put_colour(p, colour);
    buf_append(p->out, line.ptr, line.len);
    put_colour(p, *colour ? "\033[0m" : "");
    buf_printf(p->out, "%*s", (int)(width - columns), "");
}

static void put_sides(struct pen *p, const struct notify_line *l)
{
    bool both = show_is_in_both(l);
    struct str old = flat(p, l, both ? l->now : l->old), now = flat(p, l, l->now);
    size_t half = (p->width - 3) / 2;
    const char *went = l->mark == NOTIFY_UPDATED || l->mark == NOTIFY_DELETED ? "\033[31m" : "";
    const char *came =
            l->mark == NOTIFY_UPDATED || l->mark == NOTIFY_INSERTED ? "\033[32m" : "";
    do {
        put_column(p, &old, half, went);
        buf_printf(p->out, " %s ", marks[l->mark].between);
        size_t columns;
        struct str line = take_line(&now, half, &columns);
        put_colour(p, came);
        buf_append(p->out, line.ptr, line.len);
        put_colour(p, *came ? "\033[0m" : "");
        while (p->out->len && p->out->data[p->out->len - 1] == ' ')
            p->out->data[--p->out->len] = 0;
        buf_putc(p->out, '\n');
    } while (old.len || now.len);
}

/* ---- all looks ---- */

bool show_cell(struct str *row, struct str *ret_cell)
{
    if (!row->ptr)
        return false;
    const char *tab = memchr(row->ptr, '\t', row->len);
    *ret_cell = (struct str){row->ptr, tab ? (size_t)(tab - row->ptr) : row->len};
    if (tab)
        *row = (struct str){tab + 1, row->len - ret_cell->len - 1};
    else
        row->ptr = NULL;
    return true;
}

bool show_is_row(const struct notify_line *l)
{
    return l->shape == NOTIFY_ROW || l->shape == NOTIFY_HEAD;
}

bool show_is_in_both(const struct notify_line *l)
{
    return l->mark == NOTIFY_SAME || l->mark == NOTIFY_MOVED || l->mark == NOTIFY_FOUND;
}

bool show_is_hidden(const struct notify_line *l)
{
    return l->mark == NOTIFY_UPDATED && strcmp(l->old, l->now) == 0;
}

bool show_is_near(const struct notify_part *part, size_t i)
{
    size_t from = i > CONTEXT ? i - CONTEXT : 0;
    for (size_t k = from; k < part->nlines && k <= i + CONTEXT; k++)
        if (part->lines[k].mark != NOTIFY_SAME)
            return true;
    return false;
}

static void show_text(struct pen *p, const struct notify_part *part, enum notify_look look)
{
    size_t hidden = 0;
    for (size_t i = 0; i <= part->nlines; i++) {
        bool shown = i == part->nlines || show_is_near(part, i);
        if (!shown) {
            hidden++;
            continue;
        }
        if (hidden) {
            put_colour(p, "\033[2m");
            buf_printf(p->out, "  ⋯ %zu the same\n", hidden);
            put_colour(p, "\033[0m");
        }
        hidden = 0;
        if (i == part->nlines)
            break;
        fit(p, part, i);
        if (look == NOTIFY_SIDE)
            put_sides(p, &part->lines[i]);
        else
            put_merged(p, &part->lines[i]);
    }
}

void show_terminal(struct buf *out, const struct notify_item *item, struct notify_style style)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "show");
    struct pen p = {.out = out,
            .life = scratch,
            .colour = style.form == NOTIFY_COLOUR,
            .width = style.width ? style.width : 100,
            .places = style.places};
    for (size_t i = 0; i < item->nparts; i++) {
        const struct notify_part *part = &item->parts[i];
        if (item->nparts > 1 || part->remark) {
            put_colour(&p, "\033[1m");
            escape_text(out, ESCAPE_PLAIN, part->type);
            put_colour(&p, "\033[0m");
            if (part->remark) {
                buf_puts(out, ": ");
                escape_text(out, ESCAPE_PLAIN, part->remark);
            }
            buf_putc(out, '\n');
        }
        p.table.end = 0;
        if (item->look == NOTIFY_ONLY)
            show_only(&p, part);
        else
            show_text(&p, part, item->look);
        if (part->left_out)
            buf_printf(out, "  … and %zu more that are only counted\n", part->left_out);
    }
}

void notify_show(struct buf *out, const struct notify_item *item, struct notify_style style)
{
    if (style.form == NOTIFY_HTML)
        show_html(out, item);
    else
        show_terminal(out, item, style);
}
