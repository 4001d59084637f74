/* fault -- how a function says what went wrong.
 *
 * A function that can fail returns `enum err` and fills the caller's `struct fault`
 * (which may be NULL when only the code matters).  It reports or it logs, never both.
 * The code is an interface: stored in status tables, never renumbered.  The message is
 * for people: short, factual, lower case, names in quotes; the hint is a whole sentence
 * that says what to do.
 */
#pragma once
#include "base/check.h"

enum err {
    OK = 0,
    ERR_SYNTAX = 1,      /* the text does not parse */
    ERR_NAME = 2,        /* no such thing, or it exists already */
    ERR_RANGE = 3,       /* a value outside what is allowed */
    ERR_LIMIT = 4,       /* a cap was hit: size, time, count */
    ERR_NET = 5,         /* the other side did not answer as it should */
    ERR_STORE = 6,       /* PostgreSQL said no, or is away */
    ERR_IO = 7,          /* files, directories, processes */
    ERR_BUSY = 8,        /* somebody else holds it */
    ERR_UNSUPPORTED = 9, /* understood, but this build cannot run it */
    ERR_COUNT
};

struct fault {
    enum err code;
    int line, column;  /* in the sentinel text; 0 when there is none */
    char message[400]; /* short, factual, lower case, no full stop */
    char hint[400];    /* a whole sentence: what to do about it; may be empty */
};

/* Fills `f` (unless NULL) and returns `code`, so that `return fault_set(...)` is one line. */
enum err fault_set(struct fault *f, enum err code, const char *fmt, ...) PRINTF_LIKE(3, 4);
void fault_hint(struct fault *f, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Puts words in front of the message: "while opening the store: " + what was said. */
void fault_prefix(struct fault *f, const char *fmt, ...) PRINTF_LIKE(2, 3);

const char *err_name(enum err code);
