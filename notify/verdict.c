/* What a receiver's answer means.
 *
 *  (1) What is not an answer in full is no answer: it is tried again, under the same key.
 *  (2) A client error is for good, except those that say "not now": 408, 409, 425, 429.
 *  (3) Everything else may pass: server errors, redirects, timeouts.
 *  (4) A server that gave no answer at all would give none to the next message either.
 */
#include "notify/notify_int.h"

static struct notify_result outcome(enum notify_outcome o, const struct notify_answer *a)
{
    return (struct notify_result){
            .outcome = o,
            .reason = o == NOTIFY_ACCEPTED ? NULL
                      : a->reason          ? a->reason
                                           : "no reason given",
            .retry_after = o == NOTIFY_LATER ? a->retry_after : 0,
    };
}

/* (4) */
static struct notify_result from_afar(enum notify_outcome o, const struct notify_answer *a)
{
    struct notify_result r = outcome(o, a);
    r.is_away = o == NOTIFY_LATER && !a->status;
    return r;
}

struct notify_result verdict_of_post(const struct notify_answer *a)
{
    if (a->accepted)
        return outcome(NOTIFY_ACCEPTED, a);
    bool not_now = a->status == 408 || a->status == 409 || a->status == 425 || a->status == 429;
    bool never = a->status >= 400 && a->status < 500 && !not_now; /* (2) */
    return from_afar(never ? NOTIFY_NEVER : NOTIFY_LATER, a);
}

struct notify_result verdict_of_mail(const struct notify_answer *a)
{
    return from_afar(a->accepted    ? NOTIFY_ACCEPTED
                     : a->permanent ? NOTIFY_NEVER
                                    : NOTIFY_LATER,
            a);
}

struct notify_result verdict_of_program(const struct notify_answer *a)
{
    return outcome(a->accepted ? NOTIFY_ACCEPTED : NOTIFY_LATER, a);
}
