/* The one spelling of a URL.
 *
 * Pages are told apart by their URL, so two spellings of one page must come out equal, and
 * what is fetched must be what was read: the same parser, libcurl's, does both.  It must
 * hold that
 *  (1) the spelling of a spelling is itself,
 *  (2) only http and https come out, without user, password, fragment or control
 *      characters, and
 *  (3) a host that is an IPv4 address in disguise (0x7f.1, 2130706433) comes out as the
 *      plain address.
 */
#include "fetch/fetch_int.h"
#include "base/str.h"
#include <curl/curl.h>
#include <locale.h>

enum { URL_BYTES_MAX = 8000, HOST_BYTES_MAX = 253 };

static void url_release(CURLU **u)
{
    curl_url_cleanup(*u);
}

static void text_release(char **text)
{
    curl_free(*text);
}

#define CURL_URL CLEANUP(url_release) CURLU
#define CURL_TEXT CLEANUP(text_release) char

static enum err not_a_url(const char *url, const char *why, struct fault *f)
{
    enum err e = fault_set(
            f, ERR_SYNTAX, "\"%.200s\" is not a URL that can be fetched: %s", url, why);
    fault_hint(f, "Write it in full, like https://example.org/page.");
    return e;
}

/* What libcurl's parser would let pass or read in a way that browsers do not. */
static enum err check_characters(const char *url, struct fault *f)
{
    if (strlen(url) > URL_BYTES_MAX) {
        enum err e = fault_set(f, ERR_LIMIT, "the URL is longer than %d bytes", URL_BYTES_MAX);
        fault_hint(f, "Leave out the parts of its query that the page does not need.");
        return e;
    }
    for (const char *p = url; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return not_a_url("…", "it holds a control character", f);
    if (strchr(url, '\\')) {
        enum err e = fault_set(f, ERR_SYNTAX, "\"%.200s\" holds a backslash", url);
        fault_hint(f, "Write / between the parts of a path, or %%5C for a real backslash.");
        return e;
    }
    if (!utf8_is_valid(url, strlen(url)))
        return not_a_url("…", "it is not UTF-8", f);
    return OK;
}

static enum err parse(CURLU *u, const char *url, struct fault *f)
{
    CURLUcode c = curl_url_set(u, CURLUPART_URL, url,
            CURLU_URLENCODE | CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME);
    if (c == CURLUE_USER_NOT_ALLOWED) {
        enum err e = fault_set(f, ERR_SYNTAX, "the URL holds a user name or password");
        fault_hint(
                f, "Leave out what stands before the @: it would end up in logs and reports.");
        return e;
    }
    if (c == CURLUE_BAD_SCHEME)
        return not_a_url(url, "it does not begin with http:// or https://", f);
    if (c != CURLUE_OK)
        return not_a_url(url, curl_url_strerror(c), f);

    CURL_TEXT *scheme = NULL;
    if (curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
            (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)) {
        enum err e = fault_set(f, ERR_SYNTAX, "\"%.200s\" is neither http nor https", url);
        fault_hint(f, "Only pages on http:// and https:// are fetched.");
        return e;
    }
    return OK;
}

static bool is_ascii(const char *text)
{
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p >= 0x80)
            return false;
    return true;
}

/* A name in another script in its xn-- form. */
static CURLUcode get_punycode(CURLU *u, char **ret_host)
{
    /* libidn2 reads the host in the character set of the locale, which need not be ours. */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    CURLUcode c = curl_url_get(u, CURLUPART_HOST, ret_host, CURLU_PUNYCODE);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    return c;
}

/* The host as DNS knows it. */
static enum err set_host(CURLU *u, const char *url, struct fault *f)
{
    CURL_TEXT *zone = NULL, *host = NULL, *ascii = NULL;
    if (curl_url_get(u, CURLUPART_ZONEID, &zone, 0) == CURLUE_OK)
        return not_a_url(url, "it names a network interface", f);
    if (curl_url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
            (!is_ascii(host) && get_punycode(u, &ascii) != CURLUE_OK))
        return not_a_url(url, "its host is not a name", f);
    char *name = ascii ? ascii : host;
    for (char *p = name; *p; p++) {
        if ((unsigned char)*p <= 0x20 || strchr("%@/\\?#<>\"'`{}|^,;!$&()*+=~", *p))
            return not_a_url(url, "its host is not a name", f);
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p + ('a' - 'A'));
    }
    if (strlen(name) > HOST_BYTES_MAX)
        return not_a_url(url, "its host is too long", f);
    if (curl_url_set(u, CURLUPART_HOST, name, 0) != CURLUE_OK)
        return not_a_url(url, "its host is not a name", f);
    return OK;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* %3a and %3A are one spelling. */
static void raise_percents(char *text)
{
    for (char *p = text; *p; p++)
        if (p[0] == '%' && is_hex(p[1]) && is_hex(p[2]))
            for (int i = 1; i <= 2; i++)
                if (p[i] >= 'a' && p[i] <= 'f')
                    p[i] = (char)(p[i] - ('a' - 'A'));
}

static enum err spell(struct arena *life, const char *url, struct fault *f, char **ret_url)
{
    enum err e = check_characters(url, f);
    if (e != OK)
        return e;
    CURL_URL *u = curl_url();
    CHECK(u);
    if ((e = parse(u, url, f)) != OK || (e = set_host(u, url, f)) != OK)
        return e;
    CURL_TEXT *port = NULL;
    if (curl_url_get(u, CURLUPART_PORT, &port, 0) == CURLUE_OK && strcmp(port, "0") == 0)
        return not_a_url(url, "there is no port 0", f);

    CURL_TEXT *whole = NULL;
    (void)curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0); /* unsetting cannot fail */
    if (curl_url_get(u, CURLUPART_URL, &whole, CURLU_NO_DEFAULT_PORT) != CURLUE_OK)
        return not_a_url(url, "it cannot be put together again", f);
    raise_percents(whole);
    *ret_url = arena_strdup(life, whole);
    return OK;
}

enum err fetch_url_normalise(
        struct arena *life, const char *url, struct fault *f, char **ret_url)
{
    const char *before = url;
    for (int round = 0; round < 4; round++) {
        char *after = NULL;
        enum err e = spell(life, before, f, &after);
        if (e != OK)
            return e;
        if (strcmp(before, after) == 0) {
            *ret_url = after;
            return OK; /* (1) */
        }
        before = after; /* perhaps a disguise came off and shows another one */
    }
    return not_a_url(url, "it means something else each time it is read", f);
}

struct str fetch_url_host(const char *url)
{
    const char *from = strstr(url, "://") + 3;
    size_t len = *from == '[' ? strcspn(from, "]") + 1 : strcspn(from, ":/?");
    return (struct str){from, len};
}

size_t fetch_url_origin_bytes(const char *url)
{
    const char *authority = strstr(url, "://") + 3;
    return (size_t)(authority - url) + strcspn(authority, "/?#");
}

bool fetch_url_is_same_site(const char *a, const char *b)
{
    size_t len = fetch_url_origin_bytes(a);
    return len == fetch_url_origin_bytes(b) && memcmp(a, b, len) == 0;
}

enum err fetch_url_resolve(struct arena *life, const char *base, const char *reference,
        struct fault *f, char **ret_url)
{
    enum err e = check_characters(reference, f);
    if (e != OK)
        return e;
    CURL_URL *u = curl_url();
    CURL_TEXT *whole = NULL;
    CHECK(u);
    if (curl_url_set(u, CURLUPART_URL, base, 0) != CURLUE_OK ||
            curl_url_set(u, CURLUPART_URL, reference,
                    CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
            curl_url_get(u, CURLUPART_URL, &whole, 0) != CURLUE_OK)
        return not_a_url(reference, "it leads nowhere", f);
    return fetch_url_normalise(life, whole, f, ret_url);
}
