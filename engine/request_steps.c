/* What each statement does: steps for the store, in an order that can be carried out.
 *
 * Those that can never start because of a step end before it, so that whoever carries the
 * steps out one by one meets nobody who still waits in vain.
 */
#include "engine/request_int.h"
#include "engine/telling.h"
#include "engine/webrequest.h"
#include "fetch/fetch.h"

/* ---- what this build cannot run ------------------------------------------------------ */

static enum err cannot(struct fault *f, const char *what)
{
    enum err e = fault_set(f, ERR_UNSUPPORTED, "this Vigil cannot run %s yet", what);
    fault_hint(
            f, "Nothing was installed.  `vigil check` accepts it, so the definition is right.");
    return e;
}

/* Secrets that are not there would make every fetch fail: better said now. */
static enum err check_request(
        struct planning *p, const struct grammar_definition *d, struct fault *f)
{
    const struct settings *set = p->c->settings;
    struct secrets *secrets = secrets_new(p->life, settings_text(set, SETTING_FETCH_SECRETS));
    struct fetch_request ignored = {.url = d->pages[0].url};
    const struct grammar_request *r = &d->request;
    bool is_plain_get = !r->body && strcmp(r->method ? r->method : "GET", "GET") == 0;
    if (r->render && (!is_plain_get || r->n_headers || r->user_agent || r->cookies)) {
        enum err e = fault_set(
                f, ERR_UNSUPPORTED, "a renderer is given a URL and nothing else of a request");
        fault_hint(f, "With render = on there can be timeout and follow only.");
        return e;
    }
    if (r->render && !*settings_text(set, SETTING_FETCH_RENDERER)) {
        enum err e = fault_set(f, ERR_UNSUPPORTED, "no renderer is configured for render = on");
        fault_hint(f,
                "Name a browser with the setting fetch.renderer, such as /usr/bin/chromium.");
        return e;
    }
    return webrequest_read(
            webrequest_text(p->life, &d->request, ""), secrets, p->life, f, &ignored);
}

/* What must hold over several pages was checked by the grammar. */
static enum err check_question(
        struct planning *p, const struct grammar_definition *d, struct fault *f)
{
    const struct cdg_expr *expr;
    enum err e = question_of(p->life, d->monitor, f, &expr);
    return e ? e : cdg_check(expr, question_compare(d->compare), f);
}

static enum err check_runnable(struct planning *p, const struct grammar_definition *d,
        struct fault *f, enum grammar_clause *ret_clause)
{
    enum err e;
    *ret_clause = GRAMMAR_MONITOR;
    if ((e = check_question(p, d, f)) != OK)
        return e;
    *ret_clause = GRAMMAR_NOTIFY;
    if ((e = telling_check(p->c->settings, &d->notify, f)) != OK)
        return e;
    *ret_clause = GRAMMAR_WITH;
    if ((e = check_request(p, d, f)) != OK)
        return e;
    return OK;
}

static void wrong_clause(struct planning *p, struct grammar_script *script,
        const struct grammar_statement *st, enum grammar_clause clause, const struct fault *f)
{
    struct grammar_pos pos = st->effective->clause_pos[clause];
    wrong_at(p, script, GRAMMAR_E090, pos.line ? pos : st->name_pos, f);
}

/* ---- statements ---------------------------------------------------------------------- */

void check_statement(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st)
{
    struct fault f = {0};
    if (st->effective && check_question(p, st->effective, &f) != OK)
        wrong_clause(p, script, st, GRAMMAR_MONITOR, &f);
}

/* The sentinel that a CREATE or ALTER describes; NULL: it was said what is wrong with it. */
static struct sentinel *described(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st)
{
    struct fault f = {0};
    enum grammar_clause clause;
    if (check_runnable(p, st->effective, &f, &clause) != OK) {
        wrong_clause(p, script, st, clause, &f);
        return NULL;
    }
    const char *const *urls;
    unsigned count, wrong;
    if (question_pages(p->life, st->effective, &f, &urls, &count, &wrong) != OK) {
        struct grammar_pos pos = st->effective->pages[wrong].pos;
        wrong_at(p, script, GRAMMAR_E045, pos.line ? pos : st->name_pos, &f);
        return NULL;
    }
    struct sentinel *s = sentinel_new(p->c->directory, st->name);
    s->url = arena_strdup(s->arena, urls[0]);
    sentinel_watch_more(s, urls + 1, count - 1);
    sentinel_define(s, st->effective);
    return s;
}

/* `s` takes the place of what this very request made: only the last word counts. */
static struct draft *plan_instead(struct planning *p, struct draft *before, struct sentinel *s)
{
    struct request_plan *plan = p->plan;
    size_t at = before->step;
    struct draft *d = draft_add(p, s, true);
    struct request_subject subject = plan->subjects[at];
    subject.made = s;
    const char *event_kind = plan->steps[at].event_kind;
    bool keeps_place = plan->steps[at].keeps_place;
    size_t last = step_add(p, plan->steps[at].kind, subject);
    plan->steps[at] = plan->steps[last];
    plan->steps[at].event_kind = event_kind;
    plan->steps[at].keeps_place = keeps_place;
    plan->subjects[at] = subject;
    plan->nsteps--;
    d->step = at;
    map_remove(&p->drafts_by_name, &before->by_name);
    sentinel_free(before->s);
    return d;
}

static void plan_create(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st)
{
    struct sentinel *s = described(p, script, st);
    if (!s)
        return;
    struct sentinel *known = subject_find(p, st->name);
    s->owner = arena_strdup(s->arena, p->c->owner ? p->c->owner : "");
    s->installed_at = p->c->now;

    struct draft *d, *before = draft_find(p, st->name);
    if (known && before && before->made) {
        d = plan_instead(p, before, s);
        p->plan->subjects[d->step].alters = p->plan->steps[d->step].keeps_place = false;
    } else {
        enum store_step_kind kind = known ? STORE_STEP_REPLACE : STORE_STEP_CREATE;
        d = draft_add(p, s, true);
        d->step = step_add(p, kind, (struct request_subject){.made = s, .known = known});
    }
    p->plan->steps[d->step].change_history = st->effective->changehistory;
    p->plan->steps[d->step].event_kind = known ? "replace" : "create";
    answer_done(p, s, known ? "replaced" : "installed");
}

/* What it is goes on; only what its definition says is new. */
static void take_over(struct sentinel *s, const struct sentinel *from)
{
    s->owner = arena_strdup(s->arena, from->owner);
    s->installed_at = from->installed_at;
    s->enabled = from->enabled;
    sentinel_go_on(s, from);
}

static void plan_alter(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st)
{
    struct sentinel *known = subject_find(p, st->name);
    struct sentinel *s = described(p, script, st);
    if (!s)
        return;
    CHECK(known); /* grammar_check saw it */
    take_over(s, known);
    bool keeps = sentinel_asks_the_same(s, known);
    if (!keeps)
        s->entered_at = MSEC_NEVER; /* it takes its place anew, with what is current then */

    struct draft *d, *before = draft_find(p, st->name);
    if (before && before->made) {
        d = plan_instead(p, before, s);
        p->plan->steps[d->step].keeps_place &= keeps;
    } else {
        if (before && before->stated) {
            s->enabled = before->enabled;
            s->phase = before->ended ? PHASE_ENDED : s->phase;
        }
        d = draft_add(p, s, true);
        d->step = step_add(p, STORE_STEP_REPLACE,
                (struct request_subject){.made = s, .known = known, .alters = true});
        p->plan->steps[d->step].event_kind = "alter";
        p->plan->steps[d->step].keeps_place = keeps;
    }
    p->plan->steps[d->step].change_history = st->effective->changehistory;
    answer_done(p, s, "altered");
}

/* The step that brings a known sentinel from where it is to where the draft says. */
static void state_step(struct planning *p, const struct draft *d)
{
    const struct sentinel *s = d->s;
    struct store_step *step = &p->plan->steps[d->step];
    struct request_subject *subject = &p->plan->subjects[d->step];
    struct sentinel after = *s;
    after.enabled = subject->enable = d->enabled;
    subject->stop = d->ended && s->phase != PHASE_ENDED;
    if (subject->stop) {
        after.phase = PHASE_ENDED;
        step->ended_at = p->c->now;
        step->end_reason = step->event_detail = "stopped";
    }
    /* Enabled, it takes its place anew, with what is current then. */
    step->entered_at = d->enabled && !s->enabled ? MSEC_NEVER : s->entered_at;
    step->state = sentinel_state(&after);
    step->event_kind = subject->stop              ? "end"
                       : d->enabled == s->enabled ? NULL
                       : d->enabled               ? "enable"
                                                  : "disable";
}

static void plan_hopeless(struct planning *p, const struct sentinel *s);

void plan_state(struct planning *p, struct sentinel *s, bool enable, bool stop)
{
    const char *what = stop ? "stopped" : enable ? "enabled" : "disabled";
    struct draft *d = draft_find(p, s->name);
    if (d && d->made) {
        s->enabled = stop ? s->enabled : enable;
        struct store_step *step = &p->plan->steps[d->step];
        if (stop) {
            s->phase = PHASE_ENDED;
            s->ended_at = step->ended_at = p->c->now;
            step->end_reason = "stopped";
        }
        step->state = sentinel_state(s);
        answer_done(p, s, what);
        return;
    }
    if (stop && s->phase == PHASE_WAITING)
        plan_hopeless(p, s);
    if (!d || !d->stated) {
        d = draft_add(p, s, false);
        d->stated = true;
        d->enabled = s->enabled;
        d->ended = s->phase == PHASE_ENDED;
        d->step = step_add(p, STORE_STEP_STATE, (struct request_subject){.known = s});
    }
    bool was_enabled = d->enabled, had_ended = d->ended;
    if (stop)
        d->ended = true;
    else
        d->enabled = enable;
    state_step(p, d);
    bool changes = stop ? !had_ended : was_enabled != enable;
    answer_done(p, s, changes ? what : arena_printf(p->life, "was %s already", what));
}

bool waits_for(const struct sentinel *other, const struct sentinel *s)
{
    if (other == s || other->phase == PHASE_ENDED)
        return false;
    return other->phase == PHASE_WAITING
                   ? sentinel_depends_on(other, s->name)
                   : other->to.of && grammar_name_equal(other->to.of, s->name);
}

static void plan_drop_known(struct planning *p, struct sentinel *s)
{
    size_t i = step_add(p, STORE_STEP_DROP, (struct request_subject){.known = s});
    p->plan->steps[i].event_kind = "drop";
}

/* What runs until `s` ends is told now when that is, for `s` will not be there to ask. */
static void plan_last_words(struct planning *p, struct sentinel *s)
{
    struct relation *at = NULL;
    struct sentinel *other;
    while ((other = directory_next_dependant(p->c->directory, s->name, &at))) {
        if (other->phase != PHASE_RUNNING || !waits_for(other, s) ||
                other->to.kind != GRAMMAR_TIME_END)
            continue;
        size_t i = step_add(p, STORE_STEP_STATE,
                (struct request_subject){.known = other, .note_end = true});
        msec ended = s->ended_at == MSEC_NEVER ? p->c->now : s->ended_at;
        p->plan->steps[i].ends_at = ended + other->to.offset;
    }
}

/* `s` ends without ever having started; so do those that wait for its start, first. */
static void plan_give_up(struct planning *p, struct sentinel *s, const struct sentinel *cause)
{
    struct draft *d = draft_find(p, s->name);
    if (d && (d->ended || d->dropped))
        return;
    plan_hopeless(p, s);
    if (!d || !d->stated) {
        d = draft_add(p, s, false);
        d->stated = true;
        d->enabled = s->enabled;
        d->step = step_add(p, STORE_STEP_STATE, (struct request_subject){.known = s});
    }
    d->ended = true;
    state_step(p, d);
    struct store_step *step = &p->plan->steps[d->step];
    step->end_reason = "dependency";
    step->event_detail = arena_printf(p->life, "dependency: \"%s\"", cause->name);
}

static void plan_hopeless(struct planning *p, const struct sentinel *s)
{
    struct relation *at = NULL;
    struct sentinel *other;
    while ((other = directory_next_dependant(p->c->directory, s->name, &at)))
        if (other->phase == PHASE_WAITING && other->from.kind == GRAMMAR_TIME_START &&
                grammar_name_equal(other->from.of, s->name))
            plan_give_up(p, other, s);
}

void plan_drop(struct planning *p, struct sentinel *s, bool cascade)
{
    if (cascade) {
        plan_last_words(p, s);
        struct relation *at = NULL;
        struct sentinel *other;
        while ((other = directory_next_dependant(p->c->directory, s->name, &at)))
            if (other->phase == PHASE_WAITING && waits_for(other, s))
                plan_give_up(p, other, s);
    }
    struct draft *d = draft_find(p, s->name);
    if (d && d->made && !p->plan->subjects[d->step].known) {
        /* Created by this request: as if it had never been. */
        step_remove(p, d->step);
        d->dropped = true;
    } else if (d && d->made) {
        /* Replaced by this request: what is dropped is what it would have replaced. */
        struct sentinel *known = p->plan->subjects[d->step].known;
        step_remove(p, d->step);
        d->dropped = true;
        plan_drop_known(p, known);
    } else {
        draft_add(p, s, false)->dropped = true;
        plan_drop_known(p, s);
    }
    answer_done(p, s, "dropped");
}

void plan_statement(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st)
{
    struct fault f = {0};
    struct sentinel *s = subject_find(p, st->name);
    switch (st->verb) {
    case GRAMMAR_CREATE:
        plan_create(p, script, st);
        return;
    case GRAMMAR_ENABLE:
    case GRAMMAR_DISABLE:
    case GRAMMAR_STOP:
        CHECK(s); /* grammar_check saw it */
        plan_state(p, s, st->verb == GRAMMAR_ENABLE, st->verb == GRAMMAR_STOP);
        return;
    case GRAMMAR_DROP:
        CHECK(s);
        plan_drop(p, s, st->cascade);
        return;
    case GRAMMAR_ALTER:
        plan_alter(p, script, st);
        return;
    case GRAMMAR_SUBSCRIPTION:
        cannot(&f, "SUBSCRIPTION");
        break;
    case GRAMMAR_SHOW:
        fault_set(&f, ERR_UNSUPPORTED, "SHOW changes nothing that could be installed");
        fault_hint(&f, "Ask with `vigil show %s`.", st->name);
        break;
    case GRAMMAR_VERB_COUNT:
        CHECK(false);
    }
    wrong_at(p, script, GRAMMAR_E090, st->pos, &f);
}
