/* verdict -- is what a server answered a new version?  Pure.
 *
 * Knows validators, sizes and digests; fetching, hashing and storing are elsewhere.
 */
#pragma once
#include "base/hash.h"
#include "base/time.h"

enum fetch_verdict {
    FETCH_VERIFIED, /* the server says: not modified */
    FETCH_SAME,     /* no new version */
    FETCH_NEW,      /* a new version */
    FETCH_COMPARE,  /* compute the digest of the body and ask again */
    FETCH_VERDICT_COUNT
};

/* What is known of a version, stored or just arrived. */
struct fetch_identity {
    const char *etag;            /* the server's bytes; NULL: none */
    const char *last_modified;   /* likewise */
    msec last_modified_at;       /* MSEC_NEVER: none or nonsense */
    const char *body_digest;     /* the server's Repr-Digest or Content-MD5; NULL: none */
    const struct sha256 *digest; /* of the decoded body; NULL: not computed yet */
    size_t body_bytes;
};

/* `stored` is NULL while there is no version.  With `audit` validators are not believed
 * and only bodies count; *ret_lied (may be NULL) says that a validator stayed the same
 * while the body did not. */
enum fetch_verdict fetch_verdict(const struct fetch_identity *stored,
        const struct fetch_identity *arrived, bool not_modified, bool audit, bool *ret_lied);

/* Every 16th fetch of a page asks without conditions, to see whether its server lies. */
enum { FETCH_AUDIT_EVERY = 16 };

struct fetch_audit {
    unsigned fetches; /* since the last audit */
};

/* Call once for each fetch: true when this one is an audit. */
bool fetch_audit_next(struct fetch_audit *a);

/* Whether a host's validators are believed; one for each host. */
struct fetch_trust {
    msec distrusted_until;
};

#define FETCH_DISTRUST (30 * MSEC_PER_DAY)

void fetch_trust_lied(struct fetch_trust *t, msec now);
bool fetch_trust_is_given(const struct fetch_trust *t, msec now);
