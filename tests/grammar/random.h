/* Random statements that the language can say, the same ones for the same seed. */
#pragma once
#include "grammar/grammar.h"

struct random {
    uint64_t state;
    struct arena *life;
};

uint32_t random_below(struct random *r, uint32_t n);
struct grammar_statement *random_statement(struct random *r);
