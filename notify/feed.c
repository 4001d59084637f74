/* A user's bulletin as an Atom feed (RFC 4287).
 *
 * Everything in it comes from the rows, so writing it again without news gives the same
 * bytes.  The report of each entry is HTML inside XML: escaped twice, once for each reader.
 */
#include "notify/notify_int.h"

static void put_entry(const struct notify *n, const struct notify_item *it, struct buf *out)
{
    BUF(text, 64 << 10);
    BUF(html, 8 << 20);
    char at[TIME_TEXT_SIZE];
    buf_printf(out, "<entry>\n<id>urn:uuid:%s:notification:%lld</id>\n<title>", n->o.instance,
            (long long)it->id);
    escape_text(out, ESCAPE_HTML, it->sentinel);
    buf_puts(out, ": ");
    report_sentence(it, &text);
    escape_text(out, ESCAPE_HTML, buf_text(&text));
    buf_printf(out, "</title>\n<updated>%s</updated>\n", time_iso(it->at, at));
    buf_clear(&text);
    report_link(n, it, &text);
    buf_puts(out, "<link href=\"");
    escape_text(out, ESCAPE_HTML, text.len ? buf_text(&text) : it->url);
    buf_puts(out, "\"/>\n");
    if (it->topic) {
        buf_puts(out, "<category term=\"");
        escape_text(out, ESCAPE_HTML, it->topic);
        buf_puts(out, "\"/>\n");
    }
    buf_puts(out, "<summary>");
    escape_text(out, ESCAPE_HTML, it->summary);
    buf_puts(out, "</summary>\n<content type=\"html\">");
    notify_show(&html, it, (struct notify_style){NOTIFY_HTML, 0});
    escape_text(out, ESCAPE_HTML, buf_text(&html));
    buf_puts(out, "</content>\n</entry>\n");
}

void notify_feed(const struct notify *n, const char *user, const char *topic,
        const struct notify_item *items, size_t nitems, struct buf *out)
{
    char at[TIME_TEXT_SIZE];
    msec updated = 0;
    for (size_t i = 0; i < nitems; i++)
        if (items[i].at > updated)
            updated = items[i].at;
    buf_puts(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                  "<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>Vigil: ");
    escape_text(out, ESCAPE_HTML, user);
    if (topic) {
        buf_puts(out, ", ");
        escape_text(out, ESCAPE_HTML, topic);
    }
    buf_printf(out, "</title>\n<id>urn:uuid:%s:bulletin:", n->o.instance);
    escape_text(out, ESCAPE_HTML, user);
    if (topic) {
        buf_putc(out, ':');
        escape_text(out, ESCAPE_HTML, topic);
    }
    buf_printf(out, "</id>\n<updated>%s</updated>\n<author><name>", time_iso(updated, at));
    escape_text(out, ESCAPE_HTML, user);
    buf_puts(out, "</name></author>\n");
    for (size_t i = 0; i < nitems; i++)
        put_entry(n, &items[i], out);
    buf_puts(out, "</feed>\n");
}
