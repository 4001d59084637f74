/* Addresses: what may stand after USING, WEBHOOK and EMAIL.
 *
 * Only the shape is looked at.  Where a name leads, and whether we may go there, is decided
 * when it is fetched, on the address it turned out to be.
 */
#include "grammar/grammar_int.h"
#include "base/str.h"
#include <ctype.h>

enum { URL_MAX_BYTES = 8000, MAIL_MAX_BYTES = 254 };

static bool is_host_char(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* host[:port] or [v6][:port], up to the path, query or fragment. */
static bool authority_is_valid(struct str a)
{
    const char *at = memrchr(a.ptr, '@', a.len);
    if (at)
        a = (struct str){at + 1, a.len - (size_t)(at + 1 - a.ptr)};

    size_t n = 0;
    if (a.len > 0 && a.ptr[0] == '[') {
        for (n = 1; n < a.len && (isxdigit((unsigned char)a.ptr[n]) || strchr(":.", a.ptr[n]));)
            n++;
        if (n < 3 || n >= a.len || a.ptr[n] != ']')
            return false;
        n++;
    } else {
        while (n < a.len && is_host_char(a.ptr[n]))
            n++;
        if (n == 0 || a.ptr[0] == '.' || a.ptr[0] == '-')
            return false;
    }
    if (n == a.len)
        return true;
    int64_t port;
    return a.ptr[n] == ':' && n + 1 < a.len && isdigit((unsigned char)a.ptr[n + 1]) &&
           str_to_int((struct str){a.ptr + n + 1, a.len - n - 1}, &port) && port >= 1 &&
           port <= 65535;
}

static bool has_only_url_bytes(const char *url)
{
    for (; *url; url++)
        if ((unsigned char)*url <= 0x20 || *url == 0x7f || *url == '\\')
            return false;
    return true;
}

/* "x.org" is "http://x.org"; a single word is not, it is likely a mistyped name. */
bool url_complete(struct arena *life, const char *url, const char **ret_url)
{
    size_t len = strlen(url);
    if (len == 0 || len > URL_MAX_BYTES || !has_only_url_bytes(url))
        return false;

    struct str s = {url, len};
    size_t scheme = str_starts_nocase(s, STR("http://"))    ? 7
                    : str_starts_nocase(s, STR("https://")) ? 8
                                                            : 0;
    struct str authority = {url + scheme, strcspn(url + scheme, "/?#")};
    if (scheme == 0 && !memchr(authority.ptr, '.', authority.len))
        return false;
    if (!authority_is_valid(authority))
        return false;
    *ret_url = scheme > 0 ? url : arena_printf(life, "http://%s", url);
    return true;
}

bool mail_is_valid(const char *mail)
{
    const char *at = strchr(mail, '@');
    size_t len = strlen(mail);
    if (!at || at == mail || at - mail > 64 || len > MAIL_MAX_BYTES)
        return false;
    for (const char *p = mail; p < at; p++)
        if (!isalnum((unsigned char)*p) && !strchr(".!#$%&'*+/=?^_`{|}~-", *p) &&
                (unsigned char)*p < 0x80)
            return false;

    const char *domain = at + 1;
    if (!isalnum((unsigned char)*domain) && (unsigned char)*domain < 0x80)
        return false;
    for (const char *p = domain; *p; p++)
        if (!is_host_char(*p) || *p == '_' || (*p == '.' && (p[1] == '.' || !p[1])))
            return false;
    return true;
}

bool name_is_plain(const char *s)
{
    size_t n = strlen(s);
    if (n == 0 || n > NAME_MAX_BYTES || !(isalpha((unsigned char)*s) || *s == '_'))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!(isalnum((unsigned char)s[i]) || s[i] == '_' || (s[i] == '-' && s[i + 1] != '-')))
            return false;
    return !(word_flags(word_find((struct str){s, n})) & RESERVED);
}

bool grammar_name_equal(const char *a, const char *b)
{
    return str_equal_nocase(str_of(a), str_of(b));
}
