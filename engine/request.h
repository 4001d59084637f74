/* request -- from what somebody asked to a plan for the store.
 *
 * A request is definitions to install, or names to enable, disable, stop or drop.  It is
 * judged as a whole: either every statement is fine and the plan has all the steps, or the
 * plan has none and its answer says everything that is wrong.  The same code serves a
 * running engine (which then carries the plan out) and a command that found none running.
 */
#pragma once
#include "engine/directory.h"
#include "engine/settings.h"

/* One step's subject in memory. */
struct request_subject {
    struct sentinel *made;  /* CREATE, REPLACE: not yet listed; adopted or freed later */
    struct sentinel *known; /* others, and what REPLACE replaces */
    bool alters;            /* REPLACE: `made` is `known` with other clauses, and goes on */
    bool enable;            /* STATE: the flag it gets */
    bool stop;              /* STATE: it ends now */
    bool note_end;          /* STATE: only its end is known now, in the step's ends_at */
    bool taken_back;        /* while planning: as if the step had never been */
};

struct request_plan {
    struct store_step *steps;
    struct request_subject *subjects; /* one for each step */
    size_t nsteps;
    int exit_code; /* 0: carry it out; 1: nothing is to be done, the answer says why */
    char *answer;
    const char **named; /* "once": whom the text creates, or would if it were not there */
    size_t nnamed;
};

struct request_context {
    struct directory *directory;
    const struct settings *settings;
    msec now;
    const char *owner;
    bool only_own; /* and may not touch what is somebody else's */
};

/* `verb`: "add", "ensure" (leaves alone what exists), "once" (leaves alone what exists with
 * the same definition, and replaces the rest) and "check" (plans nothing) take files
 * as request_add_file frames them, or bare definitions; "enable", "disable", "stop" and
 * "drop" take names, one a line, and "drop" may begin with a line CASCADE.  A text that
 * request_begin began with `json` is answered in JSON. */
struct request_plan *request_plan_make(struct arena *life, const struct request_context *c,
        const char *verb, const char *text);

/* Gives sentinels that were made but never adopted back. */
void request_plan_abandon(struct request_plan *p);

/* Frames files for an "add": a comment line names each, so that errors name the right one. */
void request_add_file(struct buf *text, const char *name, const char *bytes, size_t len);
void request_begin(struct buf *text, bool json);
