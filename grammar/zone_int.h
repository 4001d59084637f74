/* What zone.c and tzrule.c share. */
#pragma once
#include "grammar/grammar_int.h"

/* When a change happens within a year: Mm.w.d, Jn (no leap day) or n (with it). */
struct tzday {
    enum { TZ_MONTH, TZ_JULIAN, TZ_ORDINAL } kind;
    int month, week, weekday; /* week 5 is the last; Sunday is 0 */
    int day;
    msec time; /* of day, by the wall clock; may lie outside the day */
};

struct tzrule {
    msec standard, summer; /* offsets from UTC */
    bool has_summer;
    struct tzday begin, end; /* of summer */
};

struct transition {
    msec at, offset;
};

struct zone {
    msec before; /* the offset until the first transition */
    struct transition *transitions;
    size_t n_transitions;
    bool has_rule;
    struct tzrule rule;
};

bool tzrule_parse(struct str text, struct tzrule *ret);
msec tzrule_offset(const struct tzrule *rule, msec at);
