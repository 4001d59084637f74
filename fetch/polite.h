/* polite -- what we owe a host: gaps between requests, and silence when it asks.  Pure.
 *
 * One struct for each host, time as an argument (monotonic).  Also the jitter that keeps
 * pages with equal intervals from all coming due at once.
 */
#pragma once
#include "base/time.h"

struct fetch_polite {
    msec next_at;       /* no request before */
    msec stopped_until; /* the host asked to be left alone */
    unsigned strikes;   /* so often in a row */
};

/* A request begins now; the next one may begin `gap` later. */
void fetch_polite_began(struct fetch_polite *p, msec now, msec gap);

/* The host answered.  429 and 503 stop it for as long as it asked (`retry_after`, 0: it did
 * not say), any other status forgives what was before. */
void fetch_polite_answered(struct fetch_polite *p, msec now, int status, msec retry_after);

/* How long the host is still to be left alone; 0: it is not. */
msec fetch_polite_stopped_for(const struct fetch_polite *p, msec now);

/* When nothing of this is worth remembering any more. */
msec fetch_polite_forget_at(const struct fetch_polite *p);

/* Up to `percent` of the interval more or less, always the same for the same key. */
msec fetch_jitter(const char *key, msec interval, unsigned percent);
