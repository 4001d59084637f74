/* trace -- an expression or a set of rules, a history, and what comes out.
 *
 * A trace is a JSON object; docs/led.md describes its fields.  It runs on a detector of its
 * own under a clock of its own, so running one twice gives the same result.
 */
#pragma once
#include "base/buf.h"
#include "base/fault.h"
#include <jansson.h>

struct trace_options {
    long cut;      /* save, throw away and restore at this point; -1 at every, 0 nowhere */
    long step_max; /* deadlines or results before we give up; 0: one million */
};

struct trace_result {
    json_t *output; /* {"id", "detected"} or {"id", "log"}; {"id", "error"} when refused */
    long points;    /* at which it could have been cut, numbered from 1 */
};

/* ERR_SYNTAX when the trace itself is malformed, ERR_LIMIT when it does not end. */
MUST_USE enum err trace_run(const json_t *trace, const struct trace_options *opt,
        struct fault *f, struct trace_result *ret);

/* Whether the output is what `expect` of the trace says; without one it is. */
bool trace_matches(const json_t *trace, const json_t *output);

/* The traces of a file: {"traces": [...]}, one trace, or an array.  A new reference. */
MUST_USE enum err trace_load(const char *path, struct fault *f, json_t **ret_array);
MUST_USE enum err trace_parse(
        const char *text, size_t len, struct fault *f, json_t **ret_array);
