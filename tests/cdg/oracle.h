/* oracle -- what the detectors answer, by short cuts and for all who ask at once, against a
 * naive look at both versions (naive.c), to the last item of every list. */
#pragma once
#include "cdg/cdg.h"

enum { ORACLE_QUESTIONS = 66 };

struct oracle_seen {
    unsigned results[ORACLE_QUESTIONS][3]; /* by enum cdg_result */
};

/* Everybody asks at once, then each alone, then the naive look; NULL: all say the same. */
char *oracle_difference(struct arena *life, struct cdg_version *old, struct cdg_version *new_,
        struct oracle_seen *seen);
const char *oracle_question(size_t number); /* its change type */
