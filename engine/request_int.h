/* Inside of planning a request: what request.c (scripts, names, the whole), request_steps.c
 * (what a statement does) and request_draft.c (drafts, steps, answers) share. */
#pragma once
#include "base/json.h"
#include "engine/question.h"
#include "engine/request.h"

struct draft {
    struct map_node by_name;
    struct sentinel *s; /* made, or known */
    bool made, dropped;
    bool stated;         /* a known one whose state this request changes */
    bool enabled, ended; /* stated: as it is by now */
    size_t step;         /* made: its CREATE or REPLACE step; stated: its STATE step */
};

enum how {
    INSTALL,
    ENSURE,     /* leave alone what exists: a file given to `vigil run` may be given again */
    ONCE,       /* leave alone what is as defined, whatever its lifespan; replace the rest */
    CHECK_ONLY, /* say what is wrong and plan nothing */
};

struct planning {
    enum how how;
    struct arena *life;
    const struct request_context *c;
    struct request_plan *plan;
    struct map drafts_by_name;
    struct buf diagnostics, done; /* what is wrong; what will have been done */
    bool json, wrong;
    size_t cap, answered; /* steps there is room for; things said to be done */
};

/* ---- request_draft.c ----------------------------------------------------------------- */

struct draft *draft_find(struct planning *p, const char *name);
struct draft *draft_add(struct planning *p, struct sentinel *s, bool made);
/* The sentinel of this name as the plan stands so far; NULL: there is none. */
struct sentinel *subject_find(struct planning *p, const char *name);

size_t step_add(struct planning *p, enum store_step_kind kind, struct request_subject subject);
/* Takes a CREATE or REPLACE back; its sentinel stays until the planning is over, for the
 * drafts name it, and its place until the steps are closed up, for they know theirs. */
void step_remove(struct planning *p, size_t step);
void steps_close_up(struct planning *p); /* the planning is over */

void answer_done(struct planning *p, const struct sentinel *s, const char *what);
void answer_rest(struct planning *p); /* how many were done and not told one by one */
void answer_diagnostic(struct planning *p, const struct grammar_diagnostic *d);
/* A fault that has a place in a definition; one about a name given on its own. */
void wrong_at(struct planning *p, struct grammar_script *script, enum grammar_code code,
        struct grammar_pos pos, const struct fault *f);
void wrong_name(struct planning *p, const struct fault *f);

/* Is it as `d` defines it, but for FROM and TO, and still alive? */
bool is_as_defined(const struct sentinel *s, const struct grammar_definition *d);

/* ---- request_steps.c ----------------------------------------------------------------- */

/* Says what is wrong with what a statement monitors, as plan_statement would. */
void check_statement(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st);
void plan_statement(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st);
void plan_state(struct planning *p, struct sentinel *s, bool enable, bool stop);
void plan_drop(struct planning *p, struct sentinel *s, bool cascade);
/* Whether `other` still has something to expect from `s`. */
bool waits_for(const struct sentinel *other, const struct sentinel *s);
