/* oracle -- what an expression means in the unrestricted context, by the formulas alone.
 *
 * It is told the whole history and writes down every combination that satisfies the formula;
 * it keeps no state, knows no nodes, and shares no code with the detector.
 */
#pragma once
#include "base/time.h"

enum oracle_op { O_NAME, O_OR, O_AND, O_SEQ, O_NOT, O_ANY, O_A, O_ASTAR, O_OP_COUNT };

struct expr {
    enum oracle_op op;
    int name; /* O_NAME: which primitive */
    int m;    /* O_ANY */
    int count;
    struct expr *kid[4]; /* O_NOT: from, forbidden, to */
};

struct raise {
    msec at;
    int name;
};

/* A detection; parts are the raises it was built from, one bit each. */
struct found {
    msec start, end;
    uint64_t parts;
    int64_t ticks;   /* sum of the tick times among its parts */
    int arrival;     /* the raise that detected it */
    uint64_t origin; /* which expression it is an occurrence of; OR passes its operand's on */
};

enum { FOUND_MAX = 3000 };
struct findings {
    int count;
    bool overflowed; /* too many, or the formula alone does not decide the order */
    struct found list[FOUND_MAX];
};

void oracle_run(
        const struct expr *e, const struct raise *history, int raises, struct findings *ret);
