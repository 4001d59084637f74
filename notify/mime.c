/* A mail: headers, a plain part first, an HTML part after it.
 *
 *  (1) Message-ID comes from the message's key, so a mail that arrives twice is known.
 *  (2) Nothing a page says reaches a header unencoded; the addresses are the definition's
 *      and the operator's, and hold no line break.
 *  (3) Bodies are quoted-printable: no line is longer than 76 columns, and no dot, From or
 *      trailing space can be changed on the way.
 */
#include "notify/notify_int.h"
#include <stdio.h>
#include <time.h>

enum { PART_BYTES = 8 << 20 };

static void put_quoted(struct buf *out, struct str s)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t column = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '\r')
            continue;
        if (c == '\n') {
            buf_puts(out, "\r\n");
            column = 0;
            continue;
        }
        bool at_end = i + 1 == s.len || s.ptr[i + 1] == '\n' || s.ptr[i + 1] == '\r';
        bool plain = c >= 0x20 && c < 0x7F && c != '=' && !(c == ' ' && at_end) &&
                     !(column == 0 && (c == '.' || c == 'F'));
        if (column + (plain ? 1 : 3) > 75) {
            buf_puts(out, "=\r\n");
            column = 0;
            plain = plain && c != '.' && c != 'F';
        }
        if (plain) {
            buf_putc(out, (char)c);
            column++;
        } else {
            buf_putc(out, '=');
            buf_putc(out, digits[c >> 4]);
            buf_putc(out, digits[c & 15]);
            column += 3;
        }
    }
    if (column)
        buf_puts(out, "\r\n");
}

const char *mail_address(struct arena *life, const char *text)
{
    if (!text || !*text)
        return NULL;
    const char *open = strrchr(text, '<'), *close = open ? strchr(open, '>') : NULL;
    struct str a = open && close ? (struct str){open + 1, (size_t)(close - open - 1)}
                                 : str_trim(str_of(text));
    size_t at = 0;
    for (size_t i = 0; i < a.len; i++) {
        unsigned char c = (unsigned char)a.ptr[i];
        if (c <= 0x20 || c >= 0x7F || strchr("<>(),;:\\\"", c))
            return NULL; /* (2), and never more than one */
        at = c == '@' ? i : at;
    }
    return at > 0 && at + 1 < a.len ? arena_strndup(life, a.ptr, a.len) : NULL;
}

const char *gateway_address(struct arena *life, const char *pattern, const char *number)
{
    const char *field = pattern ? strstr(pattern, "{number}") : NULL;
    char digits[32];
    size_t n = 0;
    if (!field)
        return NULL;
    for (const char *c = number; *c && n + 1 < sizeof digits; c++)
        if ((*c >= '0' && *c <= '9') || (*c == '+' && n == 0))
            digits[n++] = *c;
    digits[n] = 0;
    return arena_printf(life, "%.*s%s%s", (int)(field - pattern), pattern, digits,
            field + strlen("{number}"));
}

const char *mail_recipient(
        const struct notify *n, struct arena *life, const char *method, const char *target)
{
    if (strcmp(method, "fax") == 0)
        return gateway_address(life, n->o.fax_gateway, target);
    if (strcmp(method, "phone") == 0)
        return gateway_address(life, n->o.phone_gateway, target);
    return mail_address(life, target);
}

/* "Vigil <vigil@example.org>": the name may hold anything, the address may not. */
static void put_from(const struct notify *n, struct arena *life, struct buf *out)
{
    const char *text = n->o.from, *open = strrchr(text, '<');
    buf_puts(out, "From: ");
    if (open && open > text) {
        BUF(name, 1024);
        struct str s = str_trim((struct str){text, (size_t)(open - text)});
        if (s.len > 1 && s.ptr[0] == '"' && s.ptr[s.len - 1] == '"')
            s = (struct str){s.ptr + 1, s.len - 2};
        buf_append(&name, s.ptr, s.len);
        bool quote = strpbrk(buf_text(&name), "()<>@,;:\\\".[]") != NULL;
        if (quote && !strpbrk(buf_text(&name), "\\\""))
            buf_printf(out, "\"%s\"", buf_text(&name));
        else
            escape_header(out, buf_text(&name), 6);
        buf_putc(out, ' ');
    }
    buf_printf(out, "<%s>\r\n", mail_address(life, text));
}

static void put_date(struct buf *out, msec at)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(at / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    buf_printf(out, "Date: %s, %02d %s %04d %02d:%02d:%02d +0000\r\n", days[tm.tm_wday],
            tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void put_part(
        struct buf *out, const char *boundary, const char *type, const struct buf *body)
{
    buf_printf(out,
            "--%s\r\nContent-Type: %s; charset=utf-8\r\n"
            "Content-Transfer-Encoding: quoted-printable\r\n\r\n",
            boundary, type);
    put_quoted(out, (struct str){buf_text(body), body->len});
}

void notify_mime(const struct notify *n, const struct notify_message *m, struct buf *out)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "mail");
    BUF(title, 64 << 10);
    BUF(text, PART_BYTES);
    BUF(html, PART_BYTES);
    const char *boundary = arena_printf(scratch, "=_%s", m->key);
    report_title(m, &title);
    notify_text(n, m, &text);
    notify_html(n, m, &html);

    put_from(n, scratch, out);
    const char *to = mail_recipient(n, scratch, m->method, m->target);
    buf_printf(out, "To: %s\r\nSubject: ", to ? to : ""); /* (2) */
    escape_header(out, buf_text(&title), strlen("Subject: "));
    buf_puts(out, "\r\n");
    put_date(out, m->now);
    buf_printf(out, "Message-ID: <%s@%s>\r\n", m->key, n->o.host); /* (1) */
    if (n->o.unsubscribe && *n->o.unsubscribe)
        buf_printf(out, "List-Unsubscribe: <%s>\r\n", n->o.unsubscribe);
    buf_puts(out, "List-ID: Vigil <vigil.");
    buf_puts(out, n->o.host);
    buf_puts(out, ">\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
    buf_printf(
            out, "Content-Type: multipart/alternative;\r\n boundary=\"%s\"\r\n\r\n", boundary);
    put_part(out, boundary, "text/plain", &text);
    put_part(out, boundary, "text/html", &html);
    buf_printf(out, "--%s--\r\n", boundary);
}
