/* What was asked, copied for the transfer's life.
 *
 *  (1) Nothing that could smuggle a header line is sent: a validator with control characters
 *      in it is left out.
 *  (2) Only a GET can be answered with "not modified", so only a GET carries conditions; not
 *      one that is rendered, since an unchanged page may build something new.
 *  (3) Whoever asks for more patience means all of it: the first byte may take as long.
 */
#include "fetch/fetch_int.h"

static char *clean_copy(struct arena *life, const char *text)
{
    if (!text || !*text)
        return NULL;
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return NULL; /* (1) */
    return arena_strdup(life, text);
}

static const char *copy(struct arena *life, const char *text)
{
    return text ? arena_strdup(life, text) : NULL;
}

static const struct fetch_header *copy_headers(
        struct arena *life, const struct fetch_header *from, size_t n)
{
    struct fetch_header *headers = arena_array_of(life, n, struct fetch_header);
    for (size_t i = 0; i < n; i++)
        headers[i] = (struct fetch_header){copy(life, from[i].line), from[i].is_private};
    return headers;
}

/* (3) */
static struct fetch_limits limits_of(const struct fetch_options *o, msec timeout)
{
    if (!timeout)
        return (struct fetch_limits){
                o->connect_timeout, o->first_byte_timeout, o->slow_timeout, o->total_timeout};
    return (struct fetch_limits){
            .connect = timeout < o->connect_timeout ? timeout : o->connect_timeout,
            .first_byte = timeout,
            .slow = timeout > o->slow_timeout ? timeout : o->slow_timeout,
            .total = timeout};
}

void fetch_ask_copy(struct fetch_transfer *t, const struct fetch_request *r)
{
    const struct fetch_options *o = &t->fetch->o;
    bool is_get = !r->method || strcmp(r->method, "GET") == 0;
    t->ask = *r;
    t->ask.method = is_get && !r->body ? NULL : copy(t->life, r->method ? r->method : "POST");
    t->ask.body = copy(t->life, r->body);
    t->ask.user_agent = copy(t->life, r->user_agent);
    t->ask.headers = r->nheaders ? copy_headers(t->life, r->headers, r->nheaders) : NULL;
    if (!t->ask.method && !r->render) {
        t->etag = clean_copy(t->life, r->etag); /* (2) */
        t->last_modified = clean_copy(t->life, r->last_modified);
    }
    t->limits = limits_of(o, r->timeout);
    t->body_bytes_max = o->max_body_bytes;
    t->asks_robots = o->robots == FETCH_ROBOTS_ALL ||
                     (o->robots == FETCH_ROBOTS_DISCOVERED && r->is_discovered);
}
