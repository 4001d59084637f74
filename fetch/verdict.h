/* verdict -- is what a server sent a new version, and do its validators tell the truth?  Pure.
 *
 * Knows validators and digests; fetching, hashing and storing are elsewhere.
 */
#pragma once
#include "base/hash.h"
#include "base/time.h"

/* What is known of a version, stored or just arrived: the server's own bytes, NULL where it
 * said nothing, and the SHA-256 of the decoded body. */
struct fetch_identity {
    const char *etag, *last_modified;
    const char *body_digest; /* Repr-Digest or Content-MD5 */
    const struct sha256 *body;
};

/* `stored` is NULL while there is no version. */
bool fetch_is_new(const struct fetch_identity *stored, const struct fetch_identity *arrived);

/* Of a new version: does what the server says about it claim that nothing changed? */
bool fetch_is_lie(const struct fetch_identity *stored, const struct fetch_identity *arrived);

/* Every 16th fetch of a page asks without conditions, to see whether its server lies. */
enum { FETCH_AUDIT_EVERY = 16 };

bool fetch_is_audit(int64_t fetches_before);

/* Whether a host's validators are believed; one for each host. */
struct fetch_trust {
    msec distrusted_until;
};

#define FETCH_DISTRUST (30 * MSEC_PER_DAY)

void fetch_trust_lied(struct fetch_trust *t, msec now);
bool fetch_trust_is_given(const struct fetch_trust *t, msec now);
