/* A change as HTML: for mail clients, so every style stands where it is used, nothing is
 * loaded from anywhere, and tables do what style sheets are not trusted with.
 *
 *  (1) Foreign text is written by escape(), and by nothing else.
 *  (2) An address becomes a link only when it is http or https.
 *  (3) What colour says, <ins> and <del> say too.
 */
#include "notify/show_int.h"

#define FONT "font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;"
#define CELL "padding:4px 8px;vertical-align:top;word-break:break-word;overflow-wrap:anywhere;"
#define SIGN                                                                                   \
    "padding:4px 0 4px 8px;vertical-align:top;width:14px;color:#57606a;"                       \
    "font-family:ui-monospace,Menlo,Consolas,monospace;"

static const struct {
    const char *sign, *row, *word;
} marks[] = {
        [NOTIFY_SAME] = {"&nbsp;", "", ""},
        [NOTIFY_INSERTED] = {"+", "background:#e6ffec;",
                "background:#abf2bc;text-decoration:none;"},
        [NOTIFY_DELETED] = {"&minus;", "background:#ffebe9;",
                "background:#ffc1ba;text-decoration:none;"},
        [NOTIFY_UPDATED] = {"~", "background:#fff8c5;", ""},
        [NOTIFY_MOVED] = {"&raquo;", "background:#ddf4ff;", ""},
        [NOTIFY_FOUND] = {"=", "background:#ddf4ff;", ""},
};

/* What a part is made of: lines, and between them tables. */
enum block { NOTHING, LINES, TABLE };

struct page {
    struct buf *out;
    struct arena *life;
    enum notify_look look;
    enum block in;
};

static bool is_address(const char *text)
{
    return str_starts_nocase(str_of(text), STR("http://")) ||
           str_starts_nocase(str_of(text), STR("https://")); /* (2) */
}

static void put_address(struct page *p, const char *text, const char *label)
{
    if (label)
        buf_printf(p->out,
                "<span style=\"font-size:11px;color:#57606a;border:1px solid #d0d7de;"
                "border-radius:3px;padding:0 4px;margin-right:6px\">%s</span>",
                label);
    if (!is_address(text)) {
        escape_text(p->out, ESCAPE_HTML, text); /* (1) */
        return;
    }
    buf_puts(p->out, "<a style=\"color:#0969da\" href=\"");
    escape_text(p->out, ESCAPE_HTML, text);
    buf_puts(p->out, "\">");
    escape(p->out, ESCAPE_HTML, str_of(text), 300);
    buf_puts(p->out, "</a>");
}

static void put_text(struct page *p, const struct notify_line *l, const char *text)
{
    if (l->shape == NOTIFY_LINK)
        put_address(p, text, "link");
    else if (l->shape == NOTIFY_IMAGE)
        put_address(p, text, "image");
    else
        escape_text(p->out, ESCAPE_HTML, text);
}

static void put_changed(struct page *p, enum notify_mark as, struct str text)
{
    const char *tag = as == NOTIFY_INSERTED ? "ins" : "del"; /* (3) */
    buf_printf(p->out, "<%s style=\"%s\">", tag, marks[as].word);
    escape(p->out, ESCAPE_HTML, text, 0);
    buf_printf(p->out, "</%s>", tag);
}

/* The mark ends with the word, not with the space behind it. */
static void put_runs(struct page *p, const struct words *w, enum notify_mark as)
{
    for (size_t i = 0; i < w->n; i++) {
        struct str text = w->runs[i].text, word = str_trim(text);
        if (!w->runs[i].changed) {
            escape(p->out, ESCAPE_HTML, text, 0);
            continue;
        }
        put_changed(p, as, word);
        buf_puts(p->out, word.len < text.len ? " " : "");
    }
}

/* One version's side of a line; `w` NULL: no words are marked. */
static void put_side(
        struct page *p, const struct notify_line *l, enum notify_mark as, const struct words *w)
{
    if (w && l->shape == NOTIFY_TEXT)
        put_runs(p, w, as);
    else
        put_text(p, l, as == NOTIFY_DELETED ? l->old : l->now);
}

/* ---- blocks ---- */

static void turn_to(struct page *p, enum block to)
{
    static const char *const ends[] = {
            [NOTHING] = "", [LINES] = "</table>\r\n", [TABLE] = "</table></div>\r\n"};
    if (p->in == to)
        return;
    buf_puts(p->out, ends[p->in]);
    p->in = to;
    if (to == LINES)
        buf_printf(p->out,
                "<table role=\"presentation\" width=\"100%%\" cellspacing=\"0\" "
                "style=\"border-collapse:collapse;%s\">\r\n",
                p->look == NOTIFY_SIDE ? "table-layout:fixed;" : "");
    if (to == TABLE) /* too wide for a small screen: it is moved, not squeezed */
        buf_puts(p->out, "<div style=\"overflow-x:auto;padding:6px 8px\">"
                         "<table cellspacing=\"0\" style=\"border-collapse:collapse\">\r\n");
}

/* ---- rows of tables ---- */

/* Both versions of a cell. */
static void put_cell(
        struct page *p, const struct notify_line *l, struct str old, struct str now)
{
    enum { SHORT = 10 }; /* such a cell is not broken */
    bool changed = l->mark == NOTIFY_UPDATED && !str_equal(old, now);
    buf_printf(p->out, "<td style=\"border:1px solid #d0d7de;padding:3px 6px;%s%s%s\">",
            changed ? marks[NOTIFY_UPDATED].row : "",
            l->shape == NOTIFY_HEAD ? "font-weight:600;" : "",
            old.len <= SHORT && now.len <= SHORT && !changed ? "white-space:nowrap;" : "");
    if (!changed) {
        escape(p->out, ESCAPE_HTML, l->mark == NOTIFY_DELETED ? old : now, 0);
    } else {
        if (old.len)
            put_changed(p, NOTIFY_DELETED, old);
        if (old.len && now.len)
            buf_putc(p->out, ' ');
        if (now.len)
            put_changed(p, NOTIFY_INSERTED, now);
    }
    buf_puts(p->out, "</td>");
}

static void put_table_row(struct page *p, const struct notify_line *l)
{
    struct str old = str_of(l->old), now = str_of(l->now);
    buf_printf(p->out, "<tr style=\"%s\"><td style=\"" SIGN "padding:3px 6px 3px 0\">%s</td>",
            l->mark == NOTIFY_UPDATED ? "" : marks[l->mark].row, marks[l->mark].sign);
    for (;;) {
        struct str was = {"", 0}, is = {"", 0};
        bool has_old = show_cell(&old, &was), has_now = show_cell(&now, &is);
        if (!has_old && !has_now)
            break;
        put_cell(p, l, was, is);
    }
    buf_puts(p->out, "</tr>\r\n");
}

/* ---- only what changed, and merged ---- */

static void put_row(
        struct page *p, const struct notify_line *l, enum notify_mark as, const struct words *w)
{
    const char *tag = as == NOTIFY_INSERTED ? "ins" : as == NOTIFY_DELETED ? "del" : NULL;
    buf_printf(p->out, "<tr style=\"%s\"><td style=\"" SIGN "\">%s</td><td style=\"" CELL "\">",
            marks[as].row, marks[as].sign);
    if (tag && !w)
        buf_printf(p->out, "<%s style=\"text-decoration:none\">", tag);
    put_side(p, l, as, w);
    if (tag && !w)
        buf_printf(p->out, "</%s>", tag);
    buf_puts(p->out, "</td></tr>\r\n");
}

/* What differs is not to be seen in the text. */
static void put_hidden_update(struct page *p, const struct notify_line *l)
{
    buf_printf(p->out, "<tr style=\"%s\"><td style=\"" SIGN "\">~</td><td style=\"" CELL "\">",
            marks[NOTIFY_UPDATED].row);
    put_text(p, l, l->now);
    buf_puts(p->out,
            "<div style=\"font-size:12px;color:#57606a\">" SHOW_HIDDEN "</div></td></tr>\r\n");
}

static void put_both(struct page *p, const struct notify_line *l)
{
    struct words old, now;
    if (show_is_hidden(l)) {
        put_hidden_update(p, l);
        return;
    }
    words_compare(p->life, str_of(l->old), str_of(l->now), &old, &now);
    put_row(p, l, NOTIFY_DELETED, &old);
    put_row(p, l, NOTIFY_INSERTED, &now);
}

static void put_merged(struct page *p, const struct notify_line *l)
{
    struct words old, now;
    if (l->shape != NOTIFY_TEXT || show_is_hidden(l)) {
        put_both(p, l);
        return;
    }
    words_compare(p->life, str_of(l->old), str_of(l->now), &old, &now);
    buf_printf(p->out, "<tr style=\"%s\"><td style=\"" SIGN "\">~</td><td style=\"" CELL "\">",
            marks[NOTIFY_UPDATED].row);
    for (size_t i = 0, k = 0; i < old.n || k < now.n;) {
        struct words one = {.n = 1};
        if (i < old.n && old.runs[i].changed) {
            one.runs = &old.runs[i++];
            put_runs(p, &one, NOTIFY_DELETED);
            buf_putc(p->out, ' ');
        } else if (k < now.n && now.runs[k].changed) {
            one.runs = &now.runs[k++];
            put_runs(p, &one, NOTIFY_INSERTED);
        } else {
            if (k < now.n)
                escape(p->out, ESCAPE_HTML, now.runs[k].text, 0);
            i++;
            k++;
        }
    }
    buf_puts(p->out, "</td></tr>\r\n");
}

static void put_place(struct page *p, const char *path, int columns)
{
    buf_printf(p->out,
            "<tr><td colspan=\"%d\" style=\"padding:8px 8px "
            "2px;font-size:12px;color:#57606a\">",
            columns);
    escape_text(p->out, ESCAPE_HTML, path);
    buf_puts(p->out, "</td></tr>\r\n");
}

/* ---- side by side ---- */

static void put_sides(struct page *p, const struct notify_line *l)
{
    struct words old, now;
    bool updated = l->mark == NOTIFY_UPDATED && !show_is_hidden(l);
    bool both = show_is_hidden(l) || show_is_in_both(l);
    if (updated)
        words_compare(p->life, str_of(l->old), str_of(l->now), &old, &now);
    buf_printf(p->out, "<tr><td width=\"50%%\" style=\"" CELL "width:50%%;%s\">",
            updated || l->mark == NOTIFY_DELETED ? marks[NOTIFY_DELETED].row
            : both                               ? marks[l->mark].row
                                                 : "background:#f6f8fa;");
    if (both)
        put_side(p, l, NOTIFY_INSERTED, NULL);
    else if (l->old)
        put_side(p, l, NOTIFY_DELETED, updated ? &old : NULL);
    buf_printf(p->out, "</td><td width=\"50%%\" style=\"" CELL "width:50%%;%s\">",
            updated || l->mark == NOTIFY_INSERTED ? marks[NOTIFY_INSERTED].row
            : both                                ? marks[l->mark].row
                                                  : "background:#f6f8fa;");
    if (both || l->now)
        put_side(p, l, NOTIFY_INSERTED, updated ? &now : NULL);
    buf_puts(p->out, "</td></tr>\r\n");
}

/* ---- all looks ---- */

static void put_same(struct page *p, size_t hidden)
{
    if (!hidden)
        return;
    if (p->in == NOTHING)
        turn_to(p, LINES);
    buf_printf(p->out,
            "<tr><td colspan=\"%d\" style=\"padding:2px 8px;font-size:12px;"
            "color:#57606a;background:#f6f8fa\">&#8943; %zu the same</td></tr>\r\n",
            p->in == TABLE ? SHOW_COLUMNS : 2, hidden);
}

static void put_line(struct page *p, const struct notify_line *l)
{
    if (show_is_row(l))
        put_table_row(p, l);
    else if (p->look == NOTIFY_SIDE)
        put_sides(p, l);
    else if (l->mark == NOTIFY_UPDATED && p->look == NOTIFY_MERGED)
        put_merged(p, l);
    else if (l->mark == NOTIFY_UPDATED)
        put_both(p, l);
    else
        put_row(p, l, l->mark, NULL);
}

static void put_lines(struct page *p, const struct notify_part *part)
{
    size_t hidden = 0;
    const char *path = NULL;
    for (size_t i = 0; i < part->nlines; i++) {
        const struct notify_line *l = &part->lines[i];
        bool shown = p->look == NOTIFY_ONLY ? l->mark != NOTIFY_SAME || show_is_row(l)
                                            : show_is_near(part, i);
        if (!shown) {
            hidden += p->look != NOTIFY_ONLY;
            continue;
        }
        put_same(p, hidden);
        hidden = 0;
        turn_to(p, show_is_row(l) ? TABLE : LINES);
        if (l->path && (!path || strcmp(path, l->path) != 0))
            put_place(p, l->path, 2);
        path = l->path;
        put_line(p, l);
    }
    put_same(p, hidden);
    turn_to(p, NOTHING);
}

void show_html(struct buf *out, const struct notify_item *item)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "show");
    struct page p = {.out = out, .life = scratch, .look = item->look};
    for (size_t i = 0; i < item->nparts; i++) {
        const struct notify_part *part = &item->parts[i];
        buf_puts(out,
                "<div style=\"" FONT "font-size:13px;font-weight:600;margin:12px 0 4px\">");
        escape_text(out, ESCAPE_HTML, part->type);
        if (part->remark) {
            buf_puts(out, " <span style=\"font-weight:400;color:#57606a\">");
            escape_text(out, ESCAPE_HTML, part->remark);
            buf_puts(out, "</span>");
        }
        buf_puts(out, "</div>\r\n");
        if (part->nlines) {
            buf_puts(out, "<div style=\"border:1px solid #d0d7de;" FONT
                          "font-size:14px;line-height:1.45\">\r\n");
            put_lines(&p, part);
            buf_puts(out, "</div>\r\n");
        }
        if (part->left_out)
            buf_printf(out,
                    "<div style=\"" FONT "font-size:12px;color:#57606a\">and %zu more that are"
                    " only counted</div>\r\n",
                    part->left_out);
    }
}
