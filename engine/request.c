/* Planning a request.
 *
 *  (1) Nothing in the directory is touched: what statements did is kept in drafts, and a
 *      later statement sees the drafts of the earlier ones.
 *  (2) One wrong statement and the plan has no steps.
 *  (3) What the language knows but this build cannot run is refused here, before anything
 *      is stored, with a message that says exactly that.
 */
#include "engine/request.h"
#include "base/json.h"
#include "engine/question.h"
#include "fetch/fetch.h"
#include <stdio.h>
#include <stdlib.h>

struct draft {
    struct list link;
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
    CHECK_ONLY, /* say what is wrong and plan nothing */
};

struct planning {
    enum how how;
    struct arena *life;
    const struct request_context *c;
    struct request_plan *plan;
    struct list drafts;
    struct map drafts_by_name;
    struct buf diagnostics, done; /* what is wrong; what will have been done */
    bool json, wrong;
    size_t cap;
};

enum { ANSWER_MAX = 16 << 20 };
static const char json_mark[] = "-- vigil: json\n";
static const char file_mark[] = "-- vigil: file ";

/* ---- drafts and steps ---------------------------------------------------------------- */

static struct draft *draft_find(struct planning *p, const char *name)
{
    struct map_node *n = map_first(&p->drafts_by_name, name_hash(name)); /* the newest first */
    for (; n; n = map_next(n)) {
        struct draft *d = container_of(n, struct draft, by_name);
        if (grammar_name_equal(d->s->name, name))
            return d;
    }
    return NULL;
}

/* The sentinel of this name as the plan stands so far; NULL: there is none. */
static struct sentinel *subject_find(struct planning *p, const char *name)
{
    struct draft *d = draft_find(p, name);
    if (d)
        return d->dropped ? NULL : d->s;
    return directory_find(p->c->directory, name);
}

static struct draft *draft_add(struct planning *p, struct sentinel *s, bool made)
{
    struct draft *d = arena_new_of(p->life, struct draft);
    d->s = s;
    d->made = made;
    list_append(&p->drafts, &d->link);
    map_insert(&p->drafts_by_name, &d->by_name, name_hash(s->name));
    return d;
}

static size_t step_add(
        struct planning *p, enum store_step_kind kind, struct request_subject subject)
{
    struct request_plan *plan = p->plan;
    if (plan->nsteps == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 16;
        struct store_step *steps = arena_array_of(p->life, cap, struct store_step);
        struct request_subject *subjects = arena_array_of(p->life, cap, struct request_subject);
        if (plan->nsteps) {
            memcpy(steps, plan->steps, plan->nsteps * sizeof *steps);
            memcpy(subjects, plan->subjects, plan->nsteps * sizeof *subjects);
        }
        plan->steps = steps;
        plan->subjects = subjects;
        p->cap = cap;
    }
    struct sentinel *s = subject.made ? subject.made : subject.known;
    plan->subjects[plan->nsteps] = subject;
    plan->steps[plan->nsteps] = (struct store_step){
            .kind = kind,
            .sentinel_id = subject.known ? subject.known->id : 0,
            .name = s->name,
            .owner = s->owner,
            .definition = s->definition,
            .state = sentinel_state(s),
            .url = s->url,
            .monitor = s->monitor,
            .fetch = s->fetch,
            .compare = s->compare,
            .installed_at = s->installed_at,
            .starts_at = s->starts_at,
            .ends_at = s->ends_at,
            .started_at = s->started_at,
            .ended_at = s->ended_at,
            .entered_at = s->entered_at,
            .base_version = s->base_version,
            .event_at = p->c->now,
            .event_actual_at = p->c->now,
    };
    return plan->nsteps++;
}

static void free_sentinel(void *s)
{
    sentinel_free(s);
}

/* Takes a CREATE or REPLACE back; its sentinel stays until the planning is over, for the
 * drafts name it. */
static void step_remove(struct planning *p, size_t step)
{
    struct request_plan *plan = p->plan;
    arena_defer(p->life, free_sentinel, plan->subjects[step].made);
    size_t behind = plan->nsteps - step - 1;
    memmove(&plan->steps[step], &plan->steps[step + 1], behind * sizeof plan->steps[0]);
    memmove(&plan->subjects[step], &plan->subjects[step + 1],
            behind * sizeof plan->subjects[0]);
    plan->nsteps--;
    list_each (pos, &p->drafts) {
        struct draft *d = list_entry(pos, struct draft, link);
        if ((d->made || d->stated) && d->step > step)
            d->step--;
    }
}

/* ---- answers ------------------------------------------------------------------------- */

static void answer_done(struct planning *p, const struct sentinel *s, const char *what)
{
    char at[TIME_TEXT_SIZE];
    if (p->json) {
        struct json j;
        json_init(&j, &p->done);
        json_object_begin(&j);
        json_key(&j, "sentinel");
        json_text(&j, s->name);
        json_key(&j, "action");
        json_text(&j, what);
        json_object_end(&j);
        buf_putc(&p->done, '\n');
        return;
    }
    buf_printf(&p->done, "%s: %s", s->name, what);
    if (s->phase == PHASE_WAITING && strcmp(what, "dropped") != 0 &&
            strcmp(what, "stopped") != 0) {
        if (s->starts_at != MSEC_NEVER && s->starts_at > p->c->now)
            buf_printf(&p->done, ", starts %s", time_iso(s->starts_at, at));
        else if (s->from.of)
            buf_printf(&p->done, ", waits for \"%s\"", s->from.of);
    }
    buf_putc(&p->done, '\n');
}

static void answer_diagnostic(struct planning *p, const struct grammar_diagnostic *d)
{
    if (d->severity == GRAMMAR_ERROR)
        p->wrong = true;
    if (p->json) {
        struct json j;
        json_init(&j, &p->diagnostics);
        grammar_diagnostic_json(&j, d);
        buf_putc(&p->diagnostics, '\n');
    } else {
        grammar_diagnostic_print(&p->diagnostics, d);
    }
}

/* A fault that has a place in a definition. */
static void wrong_at(struct planning *p, struct grammar_script *script, enum grammar_code code,
        struct grammar_pos pos, const struct fault *f)
{
    answer_diagnostic(p, grammar_complain(script, code, pos, f));
}

/* A fault about a name given on its own, outside any definition. */
static void wrong_name(struct planning *p, const struct fault *f)
{
    p->wrong = true;
    if (p->json) {
        struct json j;
        json_init(&j, &p->diagnostics);
        json_object_begin(&j);
        json_key(&j, "severity");
        json_text(&j, "error");
        json_key(&j, "message");
        json_text(&j, f->message);
        json_key(&j, "hint");
        json_text(&j, *f->hint ? f->hint : NULL);
        json_object_end(&j);
        buf_putc(&p->diagnostics, '\n');
    } else {
        buf_printf(
                &p->diagnostics, "error: %s\n%s%s", f->message, f->hint, *f->hint ? "\n" : "");
    }
}

/* ---- what this build cannot run (3) -------------------------------------------------- */

static enum err cannot(struct fault *f, const char *what)
{
    enum err e = fault_set(f, ERR_UNSUPPORTED, "this Vigil cannot run %s yet", what);
    fault_hint(
            f, "Nothing was installed.  `vigil check` accepts it, so the definition is right.");
    return e;
}

static enum err check_notify(const struct grammar_notify *n, struct fault *f)
{
    for (unsigned i = 0; i < n->n_methods; i++) {
        enum grammar_method_kind kind = n->methods[i].kind;
        if (kind != GRAMMAR_DASHBOARD && kind != GRAMMAR_INTERACTIVE) {
            char what[64];
            snprintf(what, sizeof what, "NOTIFY BY %s", grammar_method_name(kind));
            return cannot(f, what);
        }
    }
    return OK; /* EVERY is about messages; whoever looks at the dashboard looks when they like
                */
}

static enum err check_runnable(struct planning *p, const struct grammar_definition *d,
        struct fault *f, enum grammar_clause *ret_clause)
{
    const struct cdg_expr *expr;
    enum err e;
    *ret_clause = GRAMMAR_USING;
    if (d->n_pages != 1)
        return cannot(f, "a sentinel over several pages");
    *ret_clause = GRAMMAR_MONITOR;
    if ((e = question_of(p->life, d->monitor, f, &expr)) != OK ||
            (e = cdg_check(expr, question_compare(d->compare), f)) != OK)
        return e;
    *ret_clause = GRAMMAR_COMPARE;
    if (d->compare.kind != GRAMMAR_PAIRWISE)
        return cannot(f, "COMPARE moving:n and every:n");
    *ret_clause = GRAMMAR_NOTIFY;
    if ((e = check_notify(&d->notify, f)) != OK)
        return e;
    *ret_clause = GRAMMAR_WITH;
    const struct grammar_request *r = &d->request;
    bool plain_get = !r->body && (!r->method || strcmp(r->method, "GET") == 0);
    if (!plain_get || r->user_agent || r->n_headers || r->timeout || r->follow >= 0)
        return cannot(f, "request options (WITH)");
    return OK;
}

/* ---- statements ---------------------------------------------------------------------- */

static void plan_create(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st)
{
    struct fault f = {0};
    enum grammar_clause clause;
    if (check_runnable(p, st->effective, &f, &clause) != OK) {
        struct grammar_pos pos = st->effective->clause_pos[clause];
        wrong_at(p, script, GRAMMAR_E090, pos.line ? pos : st->name_pos, &f);
        return;
    }
    char *url;
    if (fetch_url_normalise(p->life, st->effective->pages[0].url, &f, &url) != OK) {
        struct grammar_pos pos = st->effective->pages[0].pos;
        wrong_at(p, script, GRAMMAR_E045, pos.line ? pos : st->name_pos, &f);
        return;
    }
    struct sentinel *known = subject_find(p, st->name);
    struct sentinel *s = sentinel_new(p->c->directory, st->name);
    s->owner = arena_strdup(s->arena, p->c->owner ? p->c->owner : "");
    s->url = arena_strdup(s->arena, url);
    s->installed_at = p->c->now;
    sentinel_define(s, st->effective);

    struct draft *before = draft_find(p, st->name);
    struct draft *d = draft_add(p, s, true);
    if (known && before && before->made) {
        /* Replacing what this very request creates: only the last word counts. */
        struct store_step step = p->plan->steps[before->step];
        struct request_subject old = p->plan->subjects[before->step];
        d->step =
                step_add(p, step.kind, (struct request_subject){.made = s, .known = old.known});
        p->plan->steps[before->step] = p->plan->steps[d->step];
        p->plan->subjects[before->step] = p->plan->subjects[d->step];
        p->plan->nsteps--;
        d->step = before->step;
        map_remove(&p->drafts_by_name, &before->by_name);
        list_remove(&before->link);
        sentinel_free(before->s);
    } else {
        enum store_step_kind kind = known ? STORE_STEP_REPLACE : STORE_STEP_CREATE;
        d->step = step_add(p, kind, (struct request_subject){.made = s, .known = known});
    }
    p->plan->steps[d->step].event_kind = known ? "replace" : "create";
    answer_done(p, s, known ? "replaced" : "installed");
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

static void plan_state(struct planning *p, struct sentinel *s, bool enable, bool stop)
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

/* Whether `other` still has something to expect from `s`. */
static bool waits_for(const struct sentinel *other, const struct sentinel *s)
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

static void plan_drop(struct planning *p, struct sentinel *s, bool cascade)
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

static void plan_statement(
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
        cannot(&f, "ALTER SENTINEL");
        break;
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

/* ---- the world a script is checked against ------------------------------------------- */

static const char *const *names_of(
        struct arena *life, const struct point *a, const struct point *b, size_t *ret_n)
{
    const char **names = arena_array_of(life, 2, const char *);
    *ret_n = 0;
    if (a->of)
        names[(*ret_n)++] = a->of;
    if (b->of)
        names[(*ret_n)++] = b->of;
    return names;
}

static const char *const *dependants_of(
        struct planning *p, struct arena *life, const struct sentinel *s, size_t *ret_n)
{
    struct relation *at = NULL;
    struct sentinel *other;
    size_t cap = 0;
    const char **names = NULL;
    *ret_n = 0;
    while ((other = directory_next_dependant(p->c->directory, s->name, &at))) {
        struct draft *d = draft_find(p, other->name);
        if ((d && d->dropped) || !waits_for(other, s))
            continue;
        if (*ret_n == cap) {
            cap = cap ? cap * 2 : 8;
            const char **more = arena_array_of(life, cap, const char *);
            if (*ret_n)
                memcpy(more, names, *ret_n * sizeof *names);
            names = more;
        }
        names[(*ret_n)++] = other->name;
    }
    return names;
}

static bool world_find(
        void *arg, struct arena *life, const char *name, struct grammar_known *ret)
{
    struct planning *p = arg;
    struct sentinel *s = subject_find(p, name);
    if (!s)
        return false;
    *ret = (struct grammar_known){
            .name = s->name,
            .phase = s->phase == PHASE_WAITING   ? GRAMMAR_WAITING
                     : s->phase == PHASE_RUNNING ? GRAMMAR_RUNNING
                                                 : GRAMMAR_ENDED,
            .start_is_absolute = s->from.kind == GRAMMAR_TIME_AT || s->started_at != MSEC_NEVER,
            .end_is_absolute = s->ends_at != MSEC_NEVER,
            .starts_at = s->started_at != MSEC_NEVER ? s->started_at : s->starts_at,
            .ends_at = s->ends_at,
            .definition = s->definition,
    };
    struct draft *d = draft_find(p, name);
    if (d && d->stated && d->ended)
        ret->phase = GRAMMAR_ENDED;
    ret->depends = names_of(life, &s->from, &s->to, &ret->n_depends);
    ret->dependants = dependants_of(p, life, s, &ret->n_dependants);
    return true;
}

static void world_each(void *arg, void (*visit)(void *ctx, const char *name), void *ctx)
{
    struct planning *p = arg;
    map_each (n, &p->c->directory->by_id)
        visit(ctx, container_of(n, struct sentinel, by_id)->name);
}

/* ---- scripts ------------------------------------------------------------------------- */

static void skip_existing(struct planning *p, struct grammar_script *script)
{
    for (struct grammar_statement **link = &script->statements; *link;) {
        struct grammar_statement *st = *link;
        struct sentinel *s = subject_find(p, st->name);
        if (st->verb == GRAMMAR_CREATE && !st->or_replace && s) {
            answer_done(p, s, "is there already");
            *link = st->next;
            script->n_statements--;
        } else {
            link = &st->next;
        }
    }
}

static void plan_script(struct planning *p, const char *file, const char *text, size_t len)
{
    struct grammar_script *script;
    enum err parsed = grammar_parse(p->life, file, text, len, &script);
    if (p->how == ENSURE && parsed == OK)
        skip_existing(p, script);
    struct grammar_world world = {
            .now = p->c->now,
            .zone = settings_text(p->c->settings, SETTING_TIME_ZONE),
            .min_interval = settings_number(p->c->settings, SETTING_FETCH_MIN_INTERVAL),
            .arg = p,
            .find_sentinel = world_find,
            .each_name = world_each,
    };
    enum err checked = grammar_check(script, &world);
    for (struct grammar_diagnostic *d = script->diagnostics; d; d = d->next)
        answer_diagnostic(p, d);
    if (parsed != OK || checked != OK) {
        p->wrong = true;
        return;
    }
    if (p->how == CHECK_ONLY) {
        if (!p->json)
            buf_printf(&p->done, "%s: %zu statement%s, all right\n", file, script->n_statements,
                    script->n_statements == 1 ? "" : "s");
        return;
    }
    for (struct grammar_statement *st = script->statements; st; st = st->next)
        plan_statement(p, script, st);
}

void request_begin(struct buf *text, bool json)
{
    if (json)
        buf_puts(text, json_mark);
}

void request_add_file(struct buf *text, const char *name, const char *bytes, size_t len)
{
    buf_printf(text, "%s%zu %s\n", file_mark, len, name);
    buf_append(text, bytes, len);
    buf_putc(text, '\n');
}

static void plan_files(struct planning *p, const char *text)
{
    size_t mark = sizeof file_mark - 1;
    if (strncmp(text, file_mark, mark) != 0) {
        plan_script(p, "(sql)", text, strlen(text));
        return;
    }
    while (strncmp(text, file_mark, mark) == 0) {
        char *after;
        unsigned long long len = strtoull(text + mark, &after, 10);
        const char *end = strchr(after, '\n');
        if (*after != ' ' || !end || strlen(end + 1) < len)
            break;
        char *file = arena_strndup(p->life, after + 1, (size_t)(end - after - 1));
        plan_script(p, file, end + 1, (size_t)len);
        text = end + 1 + len;
        text += *text == '\n';
    }
    if (*text) {
        struct fault f = {0};
        fault_set(&f, ERR_SYNTAX, "the request is framed wrongly");
        wrong_name(p, &f);
    }
}

/* ---- names --------------------------------------------------------------------------- */

static void no_such(struct planning *p, const char *name)
{
    struct fault f = {0};
    fault_set(&f, ERR_NAME, "there is no sentinel \"%s\"", name);
    unsigned best = 3;
    map_each (n, &p->c->directory->by_id) {
        const char *other = container_of(n, struct sentinel, by_id)->name;
        unsigned d = str_distance(str_of(name), str_of(other), 2);
        if (d < best) {
            best = d;
            fault_hint(&f, "Did you mean \"%s\"?", other);
        }
    }
    if (best == 3)
        fault_hint(&f, "`vigil list` shows the sentinels there are.");
    wrong_name(p, &f);
}

static bool may_drop(struct planning *p, struct sentinel *s)
{
    size_t n;
    const char *const *names = dependants_of(p, p->life, s, &n);
    if (n == 0)
        return true;
    struct fault f = {0};
    fault_set(&f, ERR_NAME, "%zu sentinel%s on \"%s\": %s%s", n,
            n == 1 ? " depends" : "s depend", s->name, names[0], n > 1 ? ", …" : "");
    fault_hint(&f, "Drop with --cascade: those that still wait for it end, too.");
    wrong_name(p, &f);
    return false;
}

/* A name given twice counts once. */
static bool name_was_given(struct str before, const char *name)
{
    while (before.len) {
        size_t n = 0;
        while (n < before.len && before.ptr[n] != '\n')
            n++;
        if (str_equal_nocase((struct str){before.ptr, n}, str_of(name)))
            return true;
        size_t used = n < before.len ? n + 1 : n;
        before.ptr += used;
        before.len -= used;
    }
    return false;
}

static void plan_names(struct planning *p, const char *verb, const char *text)
{
    bool cascade = strncmp(text, "CASCADE\n", 8) == 0;
    if (cascade)
        text += 8;
    const char *all = text;
    while (*text) {
        size_t len = strcspn(text, "\n");
        char *name = arena_strndup(p->life, text, len);
        struct str before = {all, (size_t)(text - all)};
        text += len + (text[len] == '\n');
        if (name_was_given(before, name))
            continue;
        struct sentinel *s = len ? subject_find(p, name) : NULL;
        struct fault f = {0};
        if (!len) {
            fault_set(&f, ERR_NAME, "a name is empty");
            fault_hint(&f, "`vigil list` shows the sentinels there are.");
            wrong_name(p, &f);
        } else if (!s) {
            no_such(p, name);
        } else if (strcmp(verb, "drop") == 0) {
            if (cascade || may_drop(p, s))
                plan_drop(p, s, cascade);
        } else if (s->phase == PHASE_ENDED) {
            fault_set(&f, ERR_NAME, "sentinel \"%s\" has ended", s->name);
            fault_hint(&f, "Install it again with CREATE OR REPLACE.");
            wrong_name(p, &f);
        } else {
            plan_state(p, s, strcmp(verb, "enable") == 0, strcmp(verb, "stop") == 0);
        }
    }
}

/* ---- the whole ----------------------------------------------------------------------- */

struct request_plan *request_plan_make(
        struct arena *life, const struct request_context *c, const char *verb, const char *text)
{
    struct planning p = {.life = life, .c = c, .plan = arena_new_of(life, struct request_plan)};
    list_init(&p.drafts);
    map_init(&p.drafts_by_name);
    buf_init(&p.diagnostics, ANSWER_MAX);
    buf_init(&p.done, ANSWER_MAX);
    if (strncmp(text, json_mark, sizeof json_mark - 1) == 0) {
        p.json = true;
        text += sizeof json_mark - 1;
    }
    p.how = strcmp(verb, "ensure") == 0  ? ENSURE
            : strcmp(verb, "check") == 0 ? CHECK_ONLY
                                         : INSTALL;
    if (p.how != INSTALL || strcmp(verb, "add") == 0) {
        plan_files(&p, text);
    } else if (strcmp(verb, "enable") == 0 || strcmp(verb, "disable") == 0 ||
               strcmp(verb, "stop") == 0 || strcmp(verb, "drop") == 0) {
        plan_names(&p, verb, text);
    } else {
        struct fault f = {0};
        fault_set(&f, ERR_NAME, "there is no request \"%s\"", verb);
        wrong_name(&p, &f);
    }
    if (p.wrong) {
        request_plan_abandon(p.plan); /* (2) */
        p.plan->nsteps = 0;
        p.plan->exit_code = 1;
    }
    p.plan->answer = arena_printf(
            life, "%s%s", buf_text(&p.diagnostics), p.wrong ? "" : buf_text(&p.done));
    map_done(&p.drafts_by_name);
    buf_done(&p.diagnostics);
    buf_done(&p.done);
    return p.plan;
}

void request_plan_abandon(struct request_plan *p)
{
    for (size_t i = 0; i < p->nsteps; i++) {
        sentinel_free(p->subjects[i].made);
        p->subjects[i].made = NULL;
    }
}
