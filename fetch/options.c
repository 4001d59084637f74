/* The settings of a fetch, with the defaults for what was left 0.
 *
 * Everything is copied, so that the caller's texts may go.
 */
#include "fetch/fetch_int.h"
#include "fetch/render.h"

static void defaults(struct fetch_options *o)
{
    if (!o->user_agent)
        o->user_agent = "Vigil/0.1 (page monitor)";
    if (!o->clock)
        o->clock = &clock_system;
    if (!o->max_body_bytes)
        o->max_body_bytes = 8 << 20;
    if (!o->max_header_bytes)
        o->max_header_bytes = 64 << 10;
    if (!o->connect_timeout)
        o->connect_timeout = 10 * MSEC_PER_SECOND;
    if (!o->first_byte_timeout)
        o->first_byte_timeout = 20 * MSEC_PER_SECOND;
    if (!o->slow_timeout)
        o->slow_timeout = 20 * MSEC_PER_SECOND;
    if (!o->total_timeout)
        o->total_timeout = 60 * MSEC_PER_SECOND;

    if (!o->max_connections)
        o->max_connections = 1000; /* most of them wait for slow servers */
    if (!o->max_host_connections)
        o->max_host_connections = 2;
}

static enum err copy_allow(struct fetch *fe, const struct fetch_options *o, struct fault *f)
{
    struct fetch_cidr *allow = arena_array_of(fe->life, o->nallow, struct fetch_cidr);
    for (size_t i = 0; i < o->nallow; i++) {
        enum err e = fetch_cidr_parse(o->allow[i], f, &allow[i]);
        if (e != OK)
            return e;
    }
    fe->policy = (struct fetch_policy){allow, o->nallow};
    return OK;
}

static enum err check_proxy(const char *proxy, struct fault *f)
{
    if (!proxy || !*proxy)
        return OK;
    if (strchr(proxy, '@'))
        return fault_set(f, ERR_SYNTAX, "a proxy that wants a password cannot be used");
    if (strncmp(proxy, "http://", 7) == 0 || strncmp(proxy, "https://", 8) == 0 ||
            strncmp(proxy, "socks5h://", 10) == 0)
        return OK;
    enum err e = fault_set(f, ERR_SYNTAX, "\"%.100s\" is not a proxy", proxy);
    fault_hint(f, "Write http://host:port, https://host:port or socks5h://host:port.");
    return e;
}

enum err fetch_options_fill(struct fetch *fe, const struct fetch_options *o, struct fault *f)
{
    enum err e = copy_allow(fe, o, f);
    if (e != OK || (e = check_proxy(o->proxy, f)) != OK ||
            (e = fetch_render_check(o->renderer, f)) != OK)
        return e;
    fe->o = *o;
    defaults(&fe->o);
    fe->agent_line = arena_printf(fe->life, "User-Agent: %s", fe->o.user_agent);
    fe->o.user_agent = fe->agent_line + strlen("User-Agent: ");
    if (fe->o.ca_file)
        fe->o.ca_file = arena_strdup(fe->life, fe->o.ca_file);
    fe->o.renderer =
            fe->o.renderer && *fe->o.renderer ? arena_strdup(fe->life, fe->o.renderer) : NULL;
    fe->o.proxy = fe->o.proxy && *fe->o.proxy ? arena_strdup(fe->life, fe->o.proxy) : NULL;
    for (size_t i = 0; i < o->nresolve; i++) {
        struct curl_slist *longer = curl_slist_append(fe->resolve, o->resolve[i]);
        CHECK(longer);
        fe->resolve = longer;
    }
    fe->o.allow = NULL; /* the policy and the list stand for them from here on */
    fe->o.resolve = NULL;
    return OK;
}
