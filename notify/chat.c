/* Chat services: which one a URL belongs to, and its body filled in.
 *
 *  (1) Nothing a page says is a link, a mention or a format: what a service would take for one
 *      is marked as text.
 *  (2) There is no template language: a fixed set of {names}, replaced in one pass, each as the
 *      inside of a JSON string.  What was put in is never looked at again.
 */
#include "base/json.h"
#include "notify/notify_int.h"

/* Discord takes 2000 in all, the others more; Slack's and Teams' forms hold titles like this.
 */
enum { TITLE_CHARACTERS = 150, TEXT_CHARACTERS = 1800 };

static const struct chat chats_known[] = {
#define CHAT(...) {__VA_ARGS__},
#include "notify/chat.def"
#undef CHAT
};

static struct str host_of(const char *url)
{
    const char *from = strstr(url, "://");
    from = from ? from + 3 : url;
    return (struct str){from, strcspn(from, "/:?")};
}

static bool is_host(struct str host, struct str wanted)
{
    if (host.len < wanted.len)
        return false;
    struct str end = {host.ptr + host.len - wanted.len, wanted.len};
    return str_equal_nocase(end, wanted) &&
           (host.len == wanted.len || host.ptr[host.len - wanted.len - 1] == '.');
}

const struct chat *chat_named(const char *name)
{
    for (size_t i = 0; i < countof(chats_known); i++)
        if (strcmp(chats_known[i].name, name) == 0)
            return &chats_known[i];
    return NULL;
}

/* "ntfy.example.org=ntfy, chat.example.org=matrix" */
static const struct chat *chosen(const char *chats, struct str host)
{
    while (chats && *chats) {
        size_t len = strcspn(chats, ",");
        const char *is = memchr(chats, '=', len);
        if (is) {
            struct str wanted = str_trim((struct str){chats, (size_t)(is - chats)});
            struct str name = str_trim((struct str){is + 1, (size_t)(chats + len - is - 1)});
            for (size_t i = 0; i < countof(chats_known); i++)
                if (str_equal(name, str_of(chats_known[i].name)) && is_host(host, wanted))
                    return &chats_known[i];
        }
        chats += len + (chats[len] == ',');
    }
    return NULL;
}

const struct chat *chat_find(const char *chats, const char *url)
{
    struct str host = host_of(url);
    const struct chat *c = chosen(chats, host);
    for (size_t i = 0; !c && i < countof(chats_known); i++) {
        const struct chat *k = &chats_known[i];
        bool by_host = k->host && is_host(host, str_of(k->host));
        bool by_path = k->path && strstr(url, k->path);
        if (k->host ? by_host && (!k->path || by_path) : by_path)
            c = k;
    }
    return c;
}

/* A value of the URL's query, for services that want it in the body. */
static struct str query_value(const char *url, const char *name)
{
    const char *q = strchr(url, '?');
    size_t len = strlen(name);
    while (q && *q) {
        q++;
        if (strncmp(q, name, len) == 0 && q[len] == '=')
            return (struct str){q + len + 1, strcspn(q + len + 1, "&#")};
        q = strchr(q, '&');
    }
    return (struct str){"", 0};
}

/* The path's last step: ntfy's topic. */
static struct str last_step(const char *url)
{
    struct str host = host_of(url);
    const char *path = host.ptr + host.len;
    size_t len = strcspn(path, "?#");
    while (len && path[len - 1] == '/')
        len--;
    size_t from = len;
    while (from && path[from - 1] != '/')
        from--;
    return (struct str){path + from, len - from};
}

static void put_inside(struct buf *out, struct str s)
{
    BUF(text, 1 << 20);
    struct json j;
    json_init(&j, &text);
    json_str(&j, s);
    buf_append(out, buf_text(&text) + 1, text.len - 2);
}

/* Where in a text a character stands. */
struct spot {
    bool begins; /* nothing but spaces stands before it in its line */
    bool in_url; /* a reader wants to follow it, so it is not taken apart */
};

static struct spot spot_of(struct spot before, const char *at, struct str all)
{
    struct str rest = {at, (size_t)(all.ptr + all.len - at)};
    bool apart = *at == ' ' || *at == '\n';
    return (struct spot){
            .begins = at == all.ptr || at[-1] == '\n' || (before.begins && at[-1] == ' '),
            .in_url = !apart && (before.in_url || str_starts_nocase(rest, STR("http://")) ||
                                        str_starts_nocase(rest, STR("https://"))),
    };
}

/* What stands before a character so that the service shows it, and nothing else: (1). */
static const char *guard_of(enum chat_marks marks, char c, struct spot spot)
{
    bool odd = strchr("\\`*|<>[]", c) || (!spot.in_url && strchr("_~#()", c)) ||
               (spot.begins && strchr("-+", c));
    return marks == CHAT_MARKDOWN && c && odd ? "\\" : "";
}

static const char *entity_of(enum chat_marks marks, char c)
{
    if (marks != CHAT_ENTITIES)
        return NULL;
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
}

/* Lines stay lines; each is cleaned for itself.  At most so many characters come out. */
static void put_shown(struct buf *out, enum chat_marks marks, struct str text, size_t most)
{
    BUF(clean, 1 << 20);
    for (const char *line = text.ptr, *end = text.ptr + text.len; line < end;) {
        size_t len = strcspn(line, "\n");
        escape(&clean, ESCAPE_PLAIN, (struct str){line, len}, 0);
        line += len + 1;
        if (line < end)
            buf_putc(&clean, '\n');
    }
    size_t used = 0;
    struct spot spot = {0};
    for (size_t i = 0, n; i < clean.len; i += n) {
        spot = spot_of(spot, clean.data + i, (struct str){clean.data, clean.len});
        const char *guard = guard_of(marks, clean.data[i], spot);
        const char *entity = entity_of(marks, clean.data[i]);
        n = utf8_length(clean.data + i, clean.len - i);
        used += entity ? strlen(entity) : 1 + strlen(guard);
        if (used >= most) {
            buf_puts(out, "…");
            return;
        }
        buf_puts(out, entity ? entity : guard);
        if (!entity)
            buf_append(out, clean.data + i, n);
    }
}

static void put_field(const struct chat *c, struct str name, const struct notify *n,
        const struct notify_message *m, struct buf *out)
{
    BUF(text, 1 << 20);
    BUF(shown, 1 << 20);
    if (str_equal(name, STR("title"))) {
        report_title(m, &text);
        put_shown(&shown, c->marks, (struct str){buf_text(&text), text.len}, TITLE_CHARACTERS);
    } else if (str_equal(name, STR("text"))) {
        report_brief(n, m, &text);
        put_shown(&shown, c->marks, (struct str){buf_text(&text), text.len}, TEXT_CHARACTERS);
    } else if (str_equal(name, STR("link"))) {
        report_link(n, &m->items[0], &shown);
    } else {
        struct str value = str_equal(name, STR("chat_id")) ? query_value(m->target, "chat_id")
                                                           : last_step(m->target);
        buf_append(&shown, value.ptr, value.len);
    }
    put_inside(out, (struct str){buf_text(&shown), shown.len});
}

/* A name in braces; anything else in braces is the body's own. */
static bool is_field(struct str s)
{
    static const char *const names[] = {"title", "text", "link", "chat_id", "topic"};
    for (size_t i = 0; i < countof(names); i++)
        if (str_equal(s, str_of(names[i])))
            return true;
    return false;
}

void chat_body(const struct chat *c, const struct notify *n, const struct notify_message *m,
        struct buf *out)
{
    for (const char *p = c->body; *p;) {
        size_t len = *p == '{' ? strcspn(p, "}") : 0;
        struct str name = {p + 1, len ? len - 1 : 0};
        if (len && p[len] == '}' && is_field(name)) {
            put_field(c, name, n, m, out);
            p += len + 1;
        } else {
            buf_putc(out, *p++);
        }
    }
}

const char *chat_url(const struct chat *c, struct arena *life, const struct notify_message *m)
{
    const char *url = m->target;
    struct str host = host_of(url);
    const char *path = host.ptr + host.len + strcspn(host.ptr + host.len, "/?");
    size_t end = strcspn(url, "?");
    switch (c->where) {
    case CHAT_HERE:
        break;
    case CHAT_ROOT:
        return arena_printf(life, "%.*s/", (int)(path - url), url);
    case CHAT_KEYED:
        while (end && url[end - 1] == '/')
            end--;
        return arena_printf(life, "%.*s/%s%s", (int)end, url, m->key, url + strcspn(url, "?"));
    }
    return url;
}
