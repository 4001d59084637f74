/* Rows and changes as people see them. */
#include "engine/cli.h"
#include "base/json.h"
#include "base/str.h"
#include "engine/telling.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

/* Text from a page, made harmless for a terminal and short enough for a line: what is not is
 * shown as a sign. */
static void put_text(FILE *to, const char *s, size_t most)
{
    size_t len = strlen(s), i = 0, shown = 0;
    size_t plain = 0; /* bytes before i that are shown as they are, and at once */
    for (; i < len && shown < most; shown++) {
        bool is_ascii = s[i] >= ' ' && s[i] <= '~';
        size_t n = is_ascii ? 1 : utf8_length(s + i, len - i);
        uint32_t c = 0;
        if (n && !is_ascii)
            utf8_decode(s + i, len - i, &c);
        if (is_ascii || (n && utf8_is_harmless(c))) {
            plain += n;
        } else {
            fwrite(s + i - plain, 1, plain, to);
            fputs(c == '\n' || c == '\t' || c == '\r' ? " " : "\xEF\xBF\xBD", to);
            plain = 0;
        }
        i += n ? n : 1;
    }
    fwrite(s + i - plain, 1, plain, to);
    if (shown && shown == most && i < len)
        fputs("…", to);
}

/* ---- tables -------------------------------------------------------------------------- */

enum { CELL_MAX = 60 };

/* Times lose what nobody reads at a glance: "2026-11-16 12:00:05.123+00" to the second. */
static const char *cell(const struct store_rows *rows, int row, int column, char text[64])
{
    const char *s = store_rows_text(rows, row, column);
    if (!s)
        return "";
    msec at;
    if (store_rows_type(rows, column) == STORE_NAMES) /* {a,b} as a,b */
        return snprintf(text, 64, "%.*s", (int)strlen(s) - 2, s + 1) < 64 ? text : s;
    if (store_rows_type(rows, column) == STORE_TIME && time_parse_iso(s, &at)) {
        time_iso(at - at % 1000, text);
        text[10] = ' ';
        text[19] = 0;
        return text;
    }
    return s;
}

static int column_of(const struct store_rows *rows, const char *name)
{
    for (int i = 0; i < store_rows_columns(rows); i++)
        if (strcmp(store_rows_name(rows, i), name) == 0)
            return i;
    return -1;
}

static void put_padded(FILE *to, const char *s, size_t width, bool last)
{
    size_t w = utf8_count(s) < CELL_MAX ? utf8_count(s) : CELL_MAX;
    put_text(to, s, last ? 200 : CELL_MAX);
    if (!last)
        fprintf(to, "%*s", (int)(width - w + 2), "");
}

void cli_print_table(const struct store_rows *rows, const char *const *columns, FILE *to)
{
    int index[64], n = 0;
    size_t width[64];
    char text[64];
    for (int i = 0; columns ? columns[i] != NULL : i < store_rows_columns(rows); i++) {
        int column = columns ? column_of(rows, columns[i]) : i;
        if (column >= 0 && n < 64)
            index[n++] = column;
    }
    for (int i = 0; i < n; i++) {
        width[i] = utf8_count(store_rows_name(rows, index[i]));
        for (int r = 0; r < store_rows_count(rows); r++) {
            size_t w = utf8_count(cell(rows, r, index[i], text));
            if (w > width[i])
                width[i] = w < CELL_MAX ? w : CELL_MAX;
        }
    }
    for (int i = 0; i < n; i++)
        put_padded(to, store_rows_name(rows, index[i]), width[i], i == n - 1);
    fputc('\n', to);
    for (int r = 0; r < store_rows_count(rows); r++) {
        for (int i = 0; i < n; i++)
            put_padded(to, cell(rows, r, index[i], text), width[i], i == n - 1);
        fputc('\n', to);
    }
}

/* PostgreSQL writes a list of names as {a,b}; a name needs no quotes, except "null". */
static void json_names(struct json *j, const char *s)
{
    char name[256];
    json_array_begin(j);
    for (s += *s == '{'; *s && *s != '}'; s += *s == ',') {
        size_t n = 0;
        for (; *s && *s != ',' && *s != '}'; s++)
            if (*s != '"' && n + 1 < sizeof name)
                name[n++] = *s;
        name[n] = 0;
        json_text(j, name);
    }
    json_array_end(j);
}

static void json_cell(struct json *j, const struct store_rows *rows, int row, int column)
{
    const char *s = store_rows_text(rows, row, column);
    char text[TIME_TEXT_SIZE];
    msec at;
    if (!s) {
        json_none(j);
        return;
    }
    switch (store_rows_type(rows, column)) {
    case STORE_INT:
    case STORE_JSON:
        json_raw(j, s);
        return;
    case STORE_BOOL:
        json_bool(j, s[0] == 't');
        return;
    case STORE_TIME:
        json_text(j, time_parse_iso(s, &at) ? time_iso(at, text) : s);
        return;
    case STORE_TEXT:
        json_text(j, s);
        return;
    case STORE_NAMES:
        json_names(j, s);
        return;
    }
}

void cli_print_json(const struct store_rows *rows, FILE *to)
{
    for (int r = 0; r < store_rows_count(rows); r++) {
        BUF(line, 256 << 20);
        struct json j;
        json_init(&j, &line);
        json_object_begin(&j);
        for (int c = 0; c < store_rows_columns(rows); c++) {
            json_key(&j, store_rows_name(rows, c));
            json_cell(&j, rows, r, c);
        }
        json_object_end(&j);
        fprintf(to, "%s\n", buf_text(&line));
    }
}

void cli_print_record(const struct store_rows *rows, int row, FILE *to)
{
    for (int c = 0; c < store_rows_columns(rows); c++) {
        char text[64];
        const char *s = cell(rows, row, c, text);
        if (!*s)
            continue;
        fprintf(to, "%-17s ", store_rows_name(rows, c));
        put_text(to, s, 4000);
        fputc('\n', to);
    }
}

/* ---- changes ------------------------------------------------------------------------- */

struct pen {
    FILE *to;
    bool colour;
    size_t most; /* characters of a line */
    int lines;   /* left to show */
    int hidden;
    bool places; /* with where it stands */
    bool inside; /* this line's texts are shown from somewhere in them on */
};

/* Where what a line tells stands; "" where that is not known. */
struct line_place {
    const char *old, *now;
};

/* Behind the line, and less to be seen than it. */
static void put_place(struct pen *p, struct line_place place)
{
    bool same = strcmp(place.old, place.now) == 0;
    if (!*place.old && !*place.now)
        return;
    fputs(p->colour ? "  \033[2mat " : "  at ", p->to);
    if (*place.old && !same)
        put_text(p->to, place.old, p->most);
    if (*place.old && *place.now && !same)
        fputs(" → ", p->to);
    put_text(p->to, place.now, p->most);
    fputs(p->colour ? "\033[0m" : "", p->to);
}

static void put_line(struct pen *p, const char *colour, const char *sign, const char *a,
        const char *b, struct line_place place)
{
    if (p->lines == 0) {
        p->hidden++;
        return;
    }
    p->lines--;
    fprintf(p->to, "    %s%s %s", p->colour ? colour : "", sign, p->inside ? "…" : "");
    put_text(p->to, a, p->most);
    if (b) {
        fputs(p->inside ? " → …" : " → ", p->to);
        put_text(p->to, b, p->most);
    }
    fputs(p->colour ? "\033[0m" : "", p->to);
    put_place(p, place);
    fputc('\n', p->to);
}

static const char *text_of(const json_t *v)
{
    if (json_is_string(v))
        return json_string_value(v);
    const char *s = json_string_value(json_object_get(v, "text"));
    return s ? s : "";
}

static const char *string_of(const json_t *v)
{
    const char *s = json_string_value(v);
    return s ? s : "";
}

/* Of the i-th entry of one of the leaf's lists. */
static struct line_place place_of(
        const struct pen *p, const json_t *leaf, const char *list, size_t i)
{
    json_t *places = json_object_get(json_object_get(leaf, "places"), list);
    json_t *place = p->places ? json_array_get(places, i) : NULL;
    if (json_is_array(place))
        return (struct line_place){
                string_of(json_array_get(place, 0)), string_of(json_array_get(place, 1))};
    return (struct line_place){"", string_of(place)};
}

/* How much of what two texts begin with is passed over: where they differ is to be seen. */
static size_t passed_over(const char *old, const char *now, size_t most)
{
    enum { BEFORE = 30 }; /* that many bytes say where one is */
    size_t same = 0, shown = 0;
    for (; old[same] && old[same] == now[same]; same++)
        shown += (old[same] & 0xC0) != 0x80;
    if ((!old[same] && !now[same]) || same <= BEFORE || shown + BEFORE <= most ||
            (utf8_count(old) <= most && utf8_count(now) <= most))
        return 0;
    size_t from = same - BEFORE;
    while (from < same && (old[from - 1] != ' ' || old[from] == ' '))
        from++;
    from = from < same ? from : same - BEFORE; /* one long word */
    while ((old[from] & 0xC0) == 0x80)
        from--;
    return from;
}

static void put_updated(struct pen *p, const json_t *leaf, const json_t *v, size_t i)
{
    const char *old = string_of(json_object_get(v, "old"));
    const char *now = string_of(json_object_get(v, "new"));
    const char *path = json_string_value(json_object_get(v, "path"));
    if (strcmp(old, now) == 0 && path) {
        put_line(p, "\033[33m", "~", path, NULL, (struct line_place){"", ""});
    } else {
        size_t over = passed_over(old, now, p->most);
        p->inside = over > 0;
        put_line(p, "\033[33m", "~", old + over, now + over, place_of(p, leaf, "updated", i));
        p->inside = false;
    }
}

static void put_leaf(struct pen *p, const json_t *leaf)
{
    static const struct {
        const char *name, *colour, *sign;
    } lists[] = {{"inserted", "\033[32m", "+"}, {"deleted", "\033[31m", "-"},
            {"updated", "\033[33m", "~"}, {"moved", "\033[36m", "»"},
            {"found", "\033[36m", "="}};
    size_t i;
    json_t *v;
    for (size_t k = 0; k < countof(lists); k++)
        json_array_foreach(json_object_get(leaf, lists[k].name), i, v)
        {
            if (lists[k].sign[0] == '~')
                put_updated(p, leaf, v, i);
            else
                put_line(p, lists[k].colour, lists[k].sign, text_of(v), NULL,
                        place_of(p, leaf, lists[k].name, i));
        }
}

void cli_print_lists(const char *detail, FILE *to)
{
    struct pen p = {
            .to = to, .colour = cli_colour(to), .most = 2000, .lines = -1, .places = true};
    json_t *all = json_loads(detail, 0, NULL);
    size_t i;
    json_t *leaf;
    json_array_foreach(json_object_get(all, "leaves"), i, leaf) put_leaf(&p, leaf);
    json_decref(all);
}

/* "2 inserted, 1 deleted"; what they are follows on the lines below. */
static void put_counts(struct pen *p, const struct shown_change *c)
{
    const struct {
        int64_t n;
        const char *word, *colour;
    } counts[] = {{c->inserted, "inserted", "\033[32m"}, {c->deleted, "deleted", "\033[31m"},
            {c->updated, "updated", "\033[33m"}, {c->moved, "moved", "\033[36m"}};
    const char *comma = "";
    for (size_t i = 0; i < countof(counts); i++) {
        if (!counts[i].n)
            continue;
        fprintf(p->to, "%s%s%lld %s%s", comma, p->colour ? counts[i].colour : "",
                (long long)counts[i].n, counts[i].word, p->colour ? "\033[0m" : "");
        comma = ", ";
    }
    if (!*comma) /* a NOT, or a difference no list can show */
        put_text(p->to, c->summary, 160);
}

static void put_heading(struct pen *p, const struct shown_change *c, const char *when)
{
    time_t seconds = (time_t)(c->at / 1000);
    struct tm tm;
    char clock[32] = "";
    if (localtime_r(&seconds, &tm))
        strftime(clock, sizeof clock, c->id ? when : "%Y-%m-%d %H:%M:%S", &tm);
    const char *bold = p->colour ? "\033[1m" : "", *dim = p->colour ? "\033[2m" : "",
               *off = p->colour ? "\033[0m" : "";
    fprintf(p->to, "%s%s%s  %s%s%s  ", dim, clock, off, bold, c->sentinel, off);
    put_counts(p, c);
    fprintf(p->to, "  %s", dim);
    put_text(p->to, c->url, 120);
    fprintf(p->to, " v%lld→v%lld", (long long)c->old_version, (long long)c->new_version);
    if (c->id)
        fprintf(p->to, " #%lld", (long long)c->id);
    fprintf(p->to, "%s\n", off);
}

/* A glance: a dozen lines at most; `vigil diff` shows all. */
void cli_print_change(const struct shown_change *c, FILE *to)
{
    struct pen p = {.to = to, .colour = cli_colour(to), .most = 100, .lines = 12};
    const char *dim = p.colour ? "\033[2m" : "", *off = p.colour ? "\033[0m" : "";
    put_heading(&p, c, "%H:%M:%S");
    json_t *detail = c->detail ? json_loads(c->detail, 0, NULL) : NULL;
    size_t i;
    json_t *leaf;
    json_array_foreach(json_object_get(detail, "leaves"), i, leaf) put_leaf(&p, leaf);
    if (p.hidden && !c->id)
        fprintf(to, "    %s… and %d more; --json shows all%s\n", dim, p.hidden, off);
    else if (p.hidden)
        fprintf(to, "    %s… and %d more; `vigil diff %s %lld` shows all%s\n", dim, p.hidden,
                c->sentinel, (long long)c->id, off);
    json_decref(detail);
    fflush(to);
}

static int64_t int_of(const char *s)
{
    int64_t n = 0;
    return s && str_to_int(str_of(s), &n) ? n : 0;
}

static void read_row(const struct store_rows *rows, int row, struct shown_change *c)
{
    msec at = 0;
    const char *when = store_rows_get(rows, row, "at");
    if (when)
        (void)time_parse_iso(when, &at);
    *c = (struct shown_change){
            .sentinel = store_rows_get(rows, row, "sentinel"),
            .url = store_rows_get(rows, row, "url"),
            .summary = store_rows_get(rows, row, "summary"),
            .detail = store_rows_get(rows, row, "detail"),
            .id = int_of(store_rows_get(rows, row, "id")),
            .old_version = int_of(store_rows_get(rows, row, "old_version")),
            .new_version = int_of(store_rows_get(rows, row, "new_version")),
            .inserted = int_of(store_rows_get(rows, row, "inserted")),
            .deleted = int_of(store_rows_get(rows, row, "deleted")),
            .updated = int_of(store_rows_get(rows, row, "updated")),
            .moved = int_of(store_rows_get(rows, row, "moved")),
            .at = at,
    };
}

void cli_print_change_row(const struct store_rows *rows, int row, FILE *to)
{
    struct shown_change c;
    read_row(rows, row, &c);
    cli_print_change(&c, to);
}

/* ---- one change in full -------------------------------------------------------------- */

void cli_change_item(struct arena *life, const struct store_rows *rows, int row,
        struct notify_item *ret_item)
{
    struct shown_change c;
    read_row(rows, row, &c);
    *ret_item = (struct notify_item){
            .id = c.id,
            .change = c.id,
            .kind = NOTIFY_CHANGE,
            .sentinel = c.sentinel,
            .owner = "",
            .url = c.url,
            .summary = c.summary,
            .at = c.at,
            .old_version = c.old_version,
            .new_version = c.new_version,
            .inserted = c.inserted,
            .deleted = c.deleted,
            .updated = c.updated,
            .moved = c.moved,
            .ratio = -1,
            .last_evaluated = MSEC_NEVER,
            .last_notified = MSEC_NEVER,
            .last_seen = MSEC_NEVER,
            .installed = MSEC_NEVER,
            .ends = MSEC_NEVER,
    };
    detail_parts(life, c.detail, ret_item);
}

static unsigned terminal_width(FILE *to)
{
    struct winsize size;
    return ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 100;
}

void cli_print_item(struct cli *c, struct notify_item *item, bool html, FILE *to)
{
    BUF(out, 256 << 20);
    if (html) {
        struct notify *n;
        struct fault f = {0};
        struct notify_message m = {
                .key = "", .owner = cli_owner(), .items = item, .nitems = 1, .now = item->at};
        if (telling_notify(c->life, &c->settings, "", NULL, &f, &n) == OK)
            notify_html(n, &m, &out);
        else
            cli_fail(&f);
    } else {
        struct shown_change heading = {.sentinel = item->sentinel,
                .url = item->url,
                .summary = item->summary,
                .id = item->id,
                .old_version = item->old_version,
                .new_version = item->new_version,
                .inserted = item->inserted,
                .deleted = item->deleted,
                .updated = item->updated,
                .moved = item->moved,
                .at = item->at};
        struct pen p = {.to = to, .colour = cli_colour(to)};
        put_heading(&p, &heading, "%Y-%m-%d %H:%M:%S");
        notify_show(&out, item,
                (struct notify_style){p.colour ? NOTIFY_COLOUR : NOTIFY_PLAIN,
                        terminal_width(to), .places = true});
    }
    fwrite(buf_text(&out), 1, out.len, to);
}
