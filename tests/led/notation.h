/* notation -- a detection on one line, for tests of operators.
 *
 *     DETECTS("['SEQ', 'A', 'B']", "recent", "A@1 B@3", "1-3:(A1 B1)");
 *
 * The expression is that of a trace with single quotes.  The history holds NAME@TIME, and
 * also down:UNTIL@T, stall:UNTIL@T, jump:BY@T, rearm:INTERVAL@T, delete@T, and until@T.  A
 * detection is START-END:(parts), or END:(parts) for an instant, then {late=..} {missed=..}.
 * Every run is repeated with the detector saved and restored at each point.
 */
#pragma once
#include "base/buf.h"

#define DETECTS(expr, context, history, expected)                                              \
    notation_check(__FILE__, __LINE__, expr, context, history, expected)

void notation_check(const char *file, int line, const char *expr, const char *context,
        const char *history, const char *expected);

/* What comes out; "ERR ..." if the expression is refused. */
void notation_run(
        const char *expr, const char *context, const char *history, long cut, struct buf *out);
