/* Cookie jars: what a site set, for whoever asked for cookies, and for nobody else.
 *
 * A jar is libcurl's own cookie engine behind a share of its own, so domain, path, expiry and
 * the list of public suffixes are judged by the code that browsers' rules were written into.
 * It holds TLS sessions as well: a session could tell a server who comes back.
 */
#include "fetch/fetch_int.h"

struct fetch_jar {
    uint32_t tag; /* FETCH_JAR_TAG */
    CURLSH *share;
};

static void jar_release(void *arg)
{
    CHECK(curl_share_cleanup(TAGGED(struct fetch_jar, arg, FETCH_JAR_TAG)->share) ==
            CURLSHE_OK);
}

struct fetch_jar *fetch_jar_new(struct arena *life)
{
    struct fetch_jar *jar = arena_new_of(life, struct fetch_jar);
    jar->tag = FETCH_JAR_TAG;
    jar->share = curl_share_init();
    CHECK(jar->share);
    curl_share_setopt(jar->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    curl_share_setopt(jar->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    arena_defer(life, jar_release, jar);
    return jar;
}

CURLSH *fetch_jar_share(struct fetch_jar *jar)
{
    return TAGGED(struct fetch_jar, jar, FETCH_JAR_TAG)->share;
}
