/* Is it new?  The table of validators; the first row that applies decides.
 *
 *     304 to a conditional request             verified
 *     ETag equal (strong or weak)              same
 *     ETag differs                             compare the bodies
 *     Last-Modified equal, no ETag             same
 *     Last-Modified newer, other size          new
 *     Last-Modified newer, same size           compare the bodies
 *     Last-Modified went backwards             compare the bodies
 *     neither                                  compare the bodies
 *     while comparing: Repr-Digest equal       same, nothing need be hashed
 *
 * It must hold that
 *  (1) validators are compared byte for byte: to us they are the server's own words;
 *  (2) nothing is called new whose bytes are known to be the same; and
 *  (3) under audit, or while a host is distrusted, only the bodies decide.
 */
#include "fetch/verdict.h"
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0; /* (1) */
}

static enum fetch_verdict by_body(
        const struct fetch_identity *stored, const struct fetch_identity *arrived)
{
    if (stored->digest && arrived->digest)
        return sha256_equal(stored->digest, arrived->digest) ? FETCH_SAME : FETCH_NEW;
    return FETCH_COMPARE;
}

static enum fetch_verdict by_validators(
        const struct fetch_identity *stored, const struct fetch_identity *arrived)
{
    bool compare = true;
    if (arrived->etag) {
        if (same_text(stored->etag, arrived->etag))
            return FETCH_SAME;
    } else if (arrived->last_modified) {
        if (same_text(stored->last_modified, arrived->last_modified))
            return FETCH_SAME;
        bool newer = stored->last_modified_at != MSEC_NEVER &&
                     arrived->last_modified_at != MSEC_NEVER &&
                     arrived->last_modified_at > stored->last_modified_at;
        compare = !newer || stored->body_bytes == arrived->body_bytes;
    }
    if (!compare)
        return FETCH_NEW; /* another size: the bytes cannot be the same, (2) */
    if (!arrived->digest && same_text(stored->body_digest, arrived->body_digest))
        return FETCH_SAME;
    return by_body(stored, arrived);
}

static bool claims_same(
        const struct fetch_identity *stored, const struct fetch_identity *arrived)
{
    if (stored->etag || arrived->etag)
        return same_text(stored->etag, arrived->etag);
    return same_text(stored->last_modified, arrived->last_modified);
}

enum fetch_verdict fetch_verdict(const struct fetch_identity *stored,
        const struct fetch_identity *arrived, bool not_modified, bool audit, bool *ret_lied)
{
    if (ret_lied)
        *ret_lied = false;
    if (not_modified)
        return FETCH_VERIFIED;
    if (!stored)
        return FETCH_NEW;
    if (!audit)
        return by_validators(stored, arrived);

    enum fetch_verdict v = by_body(stored, arrived); /* (3) */
    if (ret_lied)
        *ret_lied = v == FETCH_NEW && claims_same(stored, arrived);
    return v;
}

bool fetch_audit_next(struct fetch_audit *a)
{
    if (++a->fetches < FETCH_AUDIT_EVERY)
        return false;
    a->fetches = 0;
    return true;
}

void fetch_trust_lied(struct fetch_trust *t, msec now)
{
    t->distrusted_until = now + FETCH_DISTRUST;
}

bool fetch_trust_is_given(const struct fetch_trust *t, msec now)
{
    return now >= t->distrusted_until;
}
