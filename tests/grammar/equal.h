/* Are two trees the same, positions apart? */
#pragma once
#include "grammar/grammar.h"

bool same_statement(const struct grammar_statement *a, const struct grammar_statement *b);
bool same_definition(const struct grammar_definition *a, const struct grammar_definition *b);
bool same_change(const struct grammar_change *a, const struct grammar_change *b);
