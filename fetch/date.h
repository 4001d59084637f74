/* date -- the dates and waits that HTTP headers carry.  Pure. */
#pragma once
#include "base/time.h"

/* The three forms of RFC 9110 5.6.7; false on anything else. */
bool fetch_date_parse(const char *text, msec *ret_wall);

#define FETCH_RETRY_AFTER_MAX MSEC_PER_DAY

/* Retry-After as a span from `now`, at most a day; 0 when it is past or nonsense. */
msec fetch_retry_after(const char *text, msec now);
