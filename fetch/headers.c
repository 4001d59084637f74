/* Reading header lines.
 *
 *  (1) A validator is kept byte for byte or not at all: one too long or with control
 *      characters in it is dropped, and the next request goes without it.
 *  (2) The body's length is never in doubt: two lengths that differ are refused.
 *  (3) One layer of what was asked for, nothing else: the rest cannot be decoded safely.
 *  (4) Lines after the empty line are trailers and change nothing.
 */
#include "fetch/headers.h"
#include <stdio.h>

enum { VALUE_BYTES_MAX = 1024, LOCATION_BYTES_MAX = 8000 };

static bool is_clean(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7f)
            return false;
    return true;
}

static const char *keep(struct arena *life, struct str value, size_t longest)
{
    if (value.len == 0 || value.len > longest || !is_clean(value))
        return NULL; /* (1) */
    return arena_strndup(life, value.ptr, value.len);
}

static bool take_length(struct fetch_headers *h, struct str value, char *why)
{
    int64_t n;
    if (value.len == 0 || value.ptr[0] < '0' || value.ptr[0] > '9' || !str_to_int(value, &n) ||
            (h->has_length && h->length != (uint64_t)n)) {
        snprintf(why, FETCH_WHY_SIZE, "the server does not say clearly how long the body is");
        return false; /* (2) */
    }
    h->has_length = true;
    h->length = (uint64_t)n;
    return true;
}

static void put_printable(char *to, size_t size, struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len && n + 1 < size; i++)
        to[n++] = s.ptr[i] >= 0x20 && s.ptr[i] < 0x7f ? s.ptr[i] : '?';
    to[n] = 0;
}

static bool refuse_encoding(const char *what, struct str value, char *why)
{
    char shown[80];
    put_printable(shown, sizeof(shown), value);
    snprintf(why, FETCH_WHY_SIZE, "the server sent the %s as \"%s\", which was not asked for",
            what, shown);
    return false;
}

static bool take_content_encoding(struct fetch_headers *h, struct str value, char *why)
{
    enum fetch_coding coding;
    if (!fetch_coding_of(value, &coding) || (coding && h->coding))
        return refuse_encoding("body", value, why); /* (3) */
    if (coding)
        h->coding = coding;
    return true;
}

static bool take_transfer_encoding(struct fetch_headers *h, struct str value, char *why)
{
    if (str_equal_nocase(value, STR("identity")))
        return true;
    if (!str_equal_nocase(value, STR("chunked")) || h->is_chunked)
        return refuse_encoding("message", value, why); /* (3) */
    h->is_chunked = true;
    return true;
}

/* One row for each field that matters; what is only kept says where. */
static const struct field {
    struct str name;
    bool (*take)(struct fetch_headers *h, struct str value, char *why);
    size_t kept_at, longest;
} fields[] = {
#define TAKEN(name, take)                                                                      \
    {                                                                                          \
        {(name), sizeof(name) - 1}, (take), 0, 0                                               \
    }
#define KEPT(name, member, longest)                                                            \
    {                                                                                          \
        {(name), sizeof(name) - 1}, NULL, offsetof(struct fetch_headers, member), (longest)    \
    }
        TAKEN("content-length", take_length),
        TAKEN("content-encoding", take_content_encoding),
        TAKEN("transfer-encoding", take_transfer_encoding),
        KEPT("location", location, LOCATION_BYTES_MAX),
        KEPT("etag", etag, VALUE_BYTES_MAX),
        KEPT("last-modified", last_modified, VALUE_BYTES_MAX),
        KEPT("content-type", content_type, VALUE_BYTES_MAX),
        KEPT("retry-after", retry_after, VALUE_BYTES_MAX),
        KEPT("repr-digest", repr_digest, VALUE_BYTES_MAX),
        KEPT("content-md5", content_md5, VALUE_BYTES_MAX),
#undef TAKEN
#undef KEPT
};

static bool take_field(struct fetch_headers *h, struct arena *life, struct str name,
        struct str value, char *why)
{
    for (size_t i = 0; i < countof(fields); i++) {
        const struct field *f = &fields[i];
        if (f->name.len != name.len || !str_equal_nocase(name, f->name))
            continue;
        if (f->take)
            return f->take(h, value, why);
        const char **to = (const char **)(void *)((char *)h + f->kept_at);
        *to = keep(life, value, f->longest);
        return true;
    }
    return true;
}

const char *fetch_headers_body_digest(const struct fetch_headers *h)
{
    return h->repr_digest ? h->repr_digest : h->content_md5;
}

/* "HTTP/1.1 200 OK", "HTTP/2 200"; anything before it was only interim. */
static void take_status_line(struct fetch_headers *h, struct str line)
{
    const char *space = memchr(line.ptr, ' ', line.len);
    int64_t status;
    *h = (struct fetch_headers){.is_framed = line.len > 5 && line.ptr[5] >= '2'};
    if (space && line.ptr + line.len - space >= 4 &&
            str_to_int((struct str){space + 1, 3}, &status) && status >= 100)
        h->status = (int)status;
}

bool fetch_headers_line(
        struct fetch_headers *h, struct arena *life, struct str line, char why[FETCH_WHY_SIZE])
{
    while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    if (h->is_complete)
        return true; /* (4) */
    if (str_starts_nocase(line, STR("HTTP/"))) {
        take_status_line(h, line);
        return true;
    }
    if (line.len == 0) {
        h->is_complete = h->status >= 200;
        return true;
    }
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon || line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return true; /* a folded line: nothing that we read is ever folded */
    struct str name = {line.ptr, (size_t)(colon - line.ptr)};
    struct str value = {colon + 1, line.len - name.len - 1};
    return take_field(h, life, name, str_trim(value), why);
}
