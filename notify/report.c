/* What a message says: title, sentence, WebCQ's summary record, and both forms of a report.
 *
 * A report lists what happened by topic, in each the important first, then the newest.
 */
#include "notify/notify_int.h"
#include <stdio.h>

static const char *const sentences[] = {
#define KIND(id, name, sentence) [NOTIFY_##id] = sentence,
#include "notify/kinds.def"
#undef KIND
};

/* ---- pieces ---- */

void report_counts(const struct notify_item *it, struct buf *out)
{
    const int64_t counts[] = {[NOTIFY_INSERTED] = it->inserted,
            [NOTIFY_DELETED] = it->deleted,
            [NOTIFY_UPDATED] = it->updated,
            [NOTIFY_MOVED] = it->moved};
    const char *comma = "";
    for (size_t i = NOTIFY_INSERTED; i < countof(counts); i++) {
        if (!counts[i])
            continue;
        buf_printf(out, "%s%lld %s", comma, (long long)counts[i],
                notify_mark_name((enum notify_mark)i));
        comma = ", ";
    }
    if (it->ratio >= 0)
        buf_printf(out, "%s%.0f %% of the words", comma, it->ratio * 100);
}

void report_sentence(const struct notify_item *it, struct buf *out)
{
    if (it->kind != NOTIFY_CHANGE) {
        buf_puts(out, sentences[it->kind]);
        if (it->summary && *it->summary)
            buf_printf(out, " (%s)", it->summary);
        return;
    }
    size_t before = out->len;
    report_counts(it, out);
    if (out->len == before)
        buf_puts(out, it->summary ? it->summary : "changed");
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* "3 changes", "2 notices", or what is both. */
static void put_number(const struct notify_message *m, struct buf *out)
{
    size_t changes = 0;
    for (size_t i = 0; i < m->nitems; i++)
        changes += m->items[i].kind == NOTIFY_CHANGE;
    buf_printf(out, "%zu %s", m->nitems + m->left_out,
            changes == m->nitems ? "changes"
            : changes == 0       ? "notices"
                                 : "changes and notices");
}

/* The names of whom it is about, each once, as many as a line can hold. */
static void put_names(const struct notify_message *m, struct buf *out)
{
    enum { NAMES_BYTES = 60 };
    size_t before = out->len, left = 0;
    for (size_t i = 0; i < m->nitems; i++) {
        const char *name = m->items[i].sentinel;
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !same_text(m->items[k].sentinel, name);
        if (!is_new)
            continue;
        bool fits = out->len == before || out->len - before + strlen(name) < NAMES_BYTES;
        if (fits && !left)
            buf_printf(out, "%s%s", out->len > before ? ", " : "", name);
        else
            left++;
    }
    if (left)
        buf_printf(out, " and %zu more", left);
}

void report_title(const struct notify_message *m, struct buf *out)
{
    const struct notify_item *it = &m->items[0];
    bool one_topic = it->topic && *it->topic, one_name = true;
    for (size_t i = 1; i < m->nitems; i++) {
        one_topic = one_topic && same_text(m->items[i].topic, it->topic);
        one_name = one_name && same_text(m->items[i].sentinel, it->sentinel);
    }
    if (one_topic)
        buf_printf(out, "[%s] ", it->topic);
    if (m->nitems + m->left_out == 1 || one_name)
        buf_printf(out, "%s: ", it->sentinel);
    if (m->nitems + m->left_out == 1) {
        report_sentence(it, out);
        return;
    }
    put_number(m, out);
    if (!one_name) {
        buf_puts(out, ": ");
        put_names(m, out);
    }
}

/* The operator's pattern with the one field it may have. */
void report_link(const struct notify *n, const struct notify_item *it, struct buf *out)
{
    const char *pattern = n->o.link, *field = pattern ? strstr(pattern, "{change}") : NULL;
    if (!pattern || !*pattern || !it->change)
        return;
    if (!field)
        buf_puts(out, pattern);
    else
        buf_printf(out, "%.*s%lld%s", (int)(field - pattern), pattern, (long long)it->change,
                field + strlen("{change}"));
}

static void put_time(struct buf *value, msec at)
{
    char text[TIME_TEXT_SIZE];
    if (at == MSEC_NEVER)
        return;
    time_iso(at - at % 1000, text);
    text[10] = ' ';
    text[19] = 0;
    buf_printf(value, "%s UTC", text);
}

const char *record_line(const struct notify_item *it, int line, struct buf *value)
{
    buf_clear(value);
    switch (line) {
    case 0:
        buf_puts(value, it->url ? it->url : "");
        return "Page";
    case 1:
        buf_printf(value, "%s", it->monitor ? it->monitor : "");
        return "Watches";
    case 2:
        if (it->change)
            report_counts(it, value);
        return "Changed";
    case 3:
        if (it->change)
            buf_printf(value, "%lld and %lld", (long long)it->old_version,
                    (long long)it->new_version);
        return "Versions";
    case 4:
        put_time(value, it->at);
        return it->change ? "Found" : "Since";
    case 5:
        buf_puts(value, it->last_modified ? it->last_modified : "");
        return "Last modified";
    case 6:
        put_time(value, it->last_evaluated);
        return "Last looked at";
    case 7:
        put_time(value, it->last_notified);
        return "Last notified";
    case 8:
        put_time(value, it->last_seen);
        return "Last seen";
    case 9:
        put_time(value, it->installed);
        return "Installed";
    case 10:
        put_time(value, it->ends);
        return "Ends";
    case 11:
        if (it->evaluations)
            buf_printf(value, "%lld comparison%s, %lld notification%s",
                    (long long)it->evaluations, it->evaluations == 1 ? "" : "s",
                    (long long)it->notifications, it->notifications == 1 ? "" : "s");
        return "So far";
    }
    return NULL;
}

/* What stands above an item that opens a topic; NULL: nothing. */
static const char *topic_above(const struct notify_message *m, size_t i)
{
    const char *topic = m->items[i].topic, *before = i ? m->items[i - 1].topic : NULL;
    if (m->nitems < 2 || same_text(topic, before))
        return NULL;
    return topic && *topic ? topic : "Other";
}

/* ---- text ---- */

static void text_item(const struct notify *n, const struct notify_item *it, struct buf *out)
{
    BUF(value, 64 << 10);
    escape_text(out, ESCAPE_PLAIN, it->sentinel);
    buf_puts(out, ": ");
    report_sentence(it, &value);
    escape_text(out, ESCAPE_PLAIN, buf_text(&value));
    buf_putc(out, '\n');
    escape_text(out, ESCAPE_PLAIN, it->url);
    buf_puts(out, "\n\n");
    if (it->nparts) {
        notify_show(out, it, (struct notify_style){NOTIFY_PLAIN, 78});
        buf_putc(out, '\n');
    } else if (it->change && it->summary) {
        buf_puts(out, "  ");
        escape_text(out, ESCAPE_PLAIN, it->summary);
        buf_puts(out, "\n\n");
    }
    for (int i = 1; i < RECORD_LINES; i++) {
        const char *name = record_line(it, i, &value);
        if (!value.len)
            continue;
        buf_printf(out, "%-15s ", name);
        escape_text(out, ESCAPE_PLAIN, buf_text(&value));
        buf_putc(out, '\n');
    }
    buf_clear(&value);
    report_link(n, it, &value);
    if (value.len)
        buf_printf(out, "%-15s %s\n", "More", buf_text(&value));
    else if (it->change) {
        buf_printf(out, "%-15s vigil diff ", "More");
        escape_text(out, ESCAPE_PLAIN, it->sentinel);
        buf_printf(out, " %lld\n", (long long)it->change);
    }
}

void notify_text(const struct notify *n, const struct notify_message *m, struct buf *out)
{
    for (size_t i = 0; i < m->nitems; i++) {
        if (i)
            buf_puts(out, "\n----------------------------------------\n\n");
        const char *topic = topic_above(m, i);
        if (topic) {
            escape_text(out, ESCAPE_PLAIN, topic);
            buf_puts(out, "\n\n");
        }
        text_item(n, &m->items[i], out);
    }
    if (m->left_out)
        buf_printf(out, "\nand %zu more; `vigil notifications` lists them\n", m->left_out);
}

/* ---- for a chat: no columns, and nothing that only a record needs ---- */

static void brief_item(const struct notify *n, const struct notify_item *it, struct buf *out)
{
    BUF(link, 64 << 10);
    struct notify_item plain = *it;
    plain.look = NOTIFY_ONLY;
    escape_text(out, ESCAPE_PLAIN, it->url);
    buf_putc(out, '\n');
    notify_show(out, &plain, (struct notify_style){NOTIFY_PLAIN, 0});
    report_link(n, it, &link);
    if (link.len)
        buf_printf(out, "%s\n", buf_text(&link));
}

void report_brief(const struct notify *n, const struct notify_message *m, struct buf *out)
{
    BUF(sentence, 64 << 10);
    for (size_t i = 0; i < m->nitems; i++) {
        if (m->nitems > 1) { /* else the title says it */
            buf_clear(&sentence);
            report_sentence(&m->items[i], &sentence);
            buf_puts(out, i ? "\n" : "");
            escape_text(out, ESCAPE_PLAIN, m->items[i].sentinel);
            buf_puts(out, ": ");
            escape_text(out, ESCAPE_PLAIN, buf_text(&sentence));
            buf_putc(out, '\n');
        }
        brief_item(n, &m->items[i], out);
    }
    if (m->left_out)
        buf_printf(out, "and %zu more\n", m->left_out);
}

/* ---- HTML ---- */

#define FONT "font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;"

static void html_record(const struct notify *n, const struct notify_item *it, struct buf *out)
{
    BUF(value, 64 << 10);
    buf_puts(out, "<table role=\"presentation\" cellspacing=\"0\" style=\"" FONT
                  "font-size:12px;line-height:1.5;color:#57606a;margin-top:12px\">\r\n");
    for (int i = 1; i < RECORD_LINES; i++) {
        const char *name = record_line(it, i, &value);
        if (!value.len)
            continue;
        buf_printf(out,
                "<tr><td style=\"padding:0 16px 0 0;vertical-align:top;white-space:nowrap\">%s"
                "</td><td style=\"vertical-align:top;overflow-wrap:anywhere;color:#24292f\">",
                name);
        escape_text(out, ESCAPE_HTML, buf_text(&value));
        buf_puts(out, "</td></tr>\r\n");
    }
    buf_puts(out, "</table>\r\n");
    buf_clear(&value);
    report_link(n, it, &value);
    if (value.len) {
        buf_puts(out, "<p style=\"" FONT "font-size:14px;margin:12px 0 0\"><a style=\"color:"
                      "#0969da\" href=\"");
        escape_text(out, ESCAPE_HTML, buf_text(&value));
        buf_puts(out, "\">Everything about this change</a></p>\r\n");
    }
}

static void html_item(const struct notify *n, const struct notify_item *it, struct buf *out)
{
    BUF(value, 64 << 10);
    buf_puts(out, "<div style=\"background:#ffffff;border:1px solid #d0d7de;border-radius:8px;"
                  "padding:12px;margin:0 0 12px\">\r\n<div style=\"" FONT
                  "font-size:17px;font-weight:600;color:#24292f\">");
    escape_text(out, ESCAPE_HTML, it->sentinel);
    buf_puts(out, "</div>\r\n<div style=\"" FONT "font-size:14px;margin:2px 0\">");
    report_sentence(it, &value);
    escape_text(out, ESCAPE_HTML, buf_text(&value));
    buf_puts(out, "</div>\r\n<div style=\"" FONT
                  "font-size:13px;overflow-wrap:anywhere\"><a style=\"color:#0969da\" href=\"");
    escape_text(out, ESCAPE_HTML, it->url);
    buf_puts(out, "\">");
    escape_text(out, ESCAPE_HTML, it->url);
    buf_puts(out, "</a></div>\r\n");
    if (it->nparts)
        notify_show(out, it, (struct notify_style){NOTIFY_HTML, 0});
    else if (it->change && it->summary) {
        buf_puts(out, "<p style=\"" FONT "font-size:14px\">");
        escape_text(out, ESCAPE_HTML, it->summary);
        buf_puts(out, "</p>\r\n");
    }
    html_record(n, it, out);
    buf_puts(out, "</div>\r\n");
}

void notify_html(const struct notify *n, const struct notify_message *m, struct buf *out)
{
    BUF(title, 64 << 10);
    report_title(m, &title);
    buf_puts(out, "<!DOCTYPE html>\r\n<html lang=\"en\"><head><meta charset=\"utf-8\">\r\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\r\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'\">\r\n<title>");
    escape_text(out, ESCAPE_HTML, buf_text(&title));
    buf_puts(out, "</title></head>\r\n<body style=\"margin:0;padding:8px;background:#f6f8fa;"
                  "color:#24292f\">\r\n<div style=\"max-width:760px;margin:0 auto\">\r\n");
    if (m->nitems > 1) {
        buf_puts(out,
                "<div style=\"" FONT "font-size:20px;font-weight:600;margin:8px 0 12px\">");
        escape_text(out, ESCAPE_HTML, buf_text(&title));
        buf_puts(out, "</div>\r\n");
    }
    for (size_t i = 0; i < m->nitems; i++) {
        const char *topic = topic_above(m, i);
        if (topic) {
            buf_puts(out, "<div style=\"" FONT "font-size:13px;font-weight:600;color:#57606a;"
                          "margin:8px 0\">");
            escape_text(out, ESCAPE_HTML, topic);
            buf_puts(out, "</div>\r\n");
        }
        html_item(n, &m->items[i], out);
    }
    buf_puts(out, "<div style=\"" FONT "font-size:12px;color:#57606a\">");
    if (m->left_out)
        buf_printf(out, "and %zu more; vigil notifications lists them.<br>", m->left_out);
    buf_puts(out, "Vigil watches this for ");
    escape_text(out, ESCAPE_HTML, m->owner);
    buf_puts(out, ".</div>\r\n</div></body></html>\r\n");
}
