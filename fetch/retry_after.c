/* Retry-After: how long a server asks us to stay away.
 *
 * It comes as seconds or as a date.  A server in trouble deserves to be obeyed and a
 * broken one must not silence a page for ever, so it holds that
 *  (1) the wait is never longer than a day, whatever is written, and
 *  (2) what is past or not understood is no wait at all: our own back-off stands then.
 */
#include "fetch/date.h"
#include "base/str.h"

static bool is_digits(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

msec fetch_retry_after(const char *text, msec now)
{
    const msec longest = FETCH_RETRY_AFTER_MAX;
    struct str s = str_trim(str_of(text));
    if (is_digits(s)) {
        int64_t seconds;
        if (!str_to_int(s, &seconds) || seconds > longest / MSEC_PER_SECOND)
            return longest; /* (1), also for numbers that fit nowhere */
        return seconds * MSEC_PER_SECOND;
    }

    char date[48];
    msec at;
    if (s.len >= sizeof(date))
        return 0;
    memcpy(date, s.ptr, s.len);
    date[s.len] = 0;
    if (!fetch_date_parse(date, &at) || at <= now)
        return 0; /* (2) */
    return at - now < longest ? at - now : longest;
}
