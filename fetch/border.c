/* Where somebody else connects for us, a proxy or a renderer, only the name can be judged.
 *
 * The address guard sees each of our own connects after DNS.  A proxy or a browser looks names
 * up itself and follows what it likes, so all that can hold here is that
 *  (1) a host written as an address that is not allowed, or as this very machine, is refused.
 * What a name leads to there is up to whoever runs it, and the manual says so.
 */
#include "fetch/fetch_int.h"

bool fetch_host_is_literal(struct str name, struct fetch_address *ret_address)
{
    char text[FETCH_ADDRESS_TEXT_SIZE];
    if (name.len > 2 && name.ptr[0] == '[')
        name = (struct str){name.ptr + 1, name.len - 2};
    if (name.len >= sizeof(text))
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = 0;
    return fetch_address_parse(text, ret_address);
}

static bool is_this_machine(struct str name)
{
    struct str last = STR("localhost");
    if (name.len && name.ptr[name.len - 1] == '.')
        name.len--;
    if (name.len < last.len)
        return false;
    struct str end = {name.ptr + name.len - last.len, last.len};
    return str_equal(end, last) && (end.ptr == name.ptr || end.ptr[-1] == '.');
}

bool fetch_border_allows(const struct fetch *fe, const char *url, char why[FETCH_WHY_SIZE])
{
    struct str name = fetch_url_host(url);
    struct fetch_address a;
    if (is_this_machine(name))
        CHECK(fetch_address_parse("127.0.0.1", &a));
    else if (!fetch_host_is_literal(name, &a))
        return true;
    if (fetch_address_is_allowed(&fe->policy, &a))
        return true;
    fetch_reason_refused(&a, why); /* (1) */
    return false;
}
