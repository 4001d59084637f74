/* Is it new?  The body decides.
 *
 * Validators save transfers: a 304 to a condition we sent means verified.  But a body that
 * came is compared by its own digest whatever ETag, Last-Modified, Content-MD5 or Repr-Digest
 * say of it: where they are honest the answer is the same, and where they are not, a change
 * would be missed.  It must hold that
 *  (1) validators are compared byte for byte: to us they are the server's own words;
 *  (2) an ETag, where there is one, speaks instead of Last-Modified, whose seconds are coarse;
 *  (3) a validator that stayed while the body changed is a lie, and the whole host is not
 *      believed for thirty days: its pages are then always asked for in full.
 */
#include "fetch/verdict.h"
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0; /* (1) */
}

bool fetch_is_new(const struct fetch_identity *stored, const struct fetch_identity *arrived)
{
    return !stored || !sha256_equal(stored->body, arrived->body);
}

bool fetch_is_lie(const struct fetch_identity *stored, const struct fetch_identity *arrived)
{
    if (same_text(stored->body_digest, arrived->body_digest))
        return true;
    if (stored->etag || arrived->etag)
        return same_text(stored->etag, arrived->etag); /* (2) */
    return same_text(stored->last_modified, arrived->last_modified);
}

bool fetch_is_audit(int64_t fetches_before)
{
    return fetches_before % FETCH_AUDIT_EVERY == FETCH_AUDIT_EVERY - 1;
}

void fetch_trust_lied(struct fetch_trust *t, msec now)
{
    t->distrusted_until = now + FETCH_DISTRUST; /* (3) */
}

bool fetch_trust_is_given(const struct fetch_trust *t, msec now)
{
    return now >= t->distrusted_until;
}
