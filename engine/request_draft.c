/* Drafts, steps and answers: the ledger of a request while it is planned. */
#include "engine/request_int.h"
#include "engine/telling.h"

/* ---- drafts and steps ---------------------------------------------------------------- */

struct draft *draft_find(struct planning *p, const char *name)
{
    struct map_node *n = map_first(&p->drafts_by_name, name_hash(name)); /* the newest first */
    for (; n; n = map_next(n)) {
        struct draft *d = container_of(n, struct draft, by_name);
        if (grammar_name_equal(d->s->name, name))
            return d;
    }
    return NULL;
}

struct sentinel *subject_find(struct planning *p, const char *name)
{
    struct draft *d = draft_find(p, name);
    if (d)
        return d->dropped ? NULL : d->s;
    return directory_find(p->c->directory, name);
}

struct draft *draft_add(struct planning *p, struct sentinel *s, bool made)
{
    struct draft *d = arena_new_of(p->life, struct draft);
    d->s = s;
    d->made = made;
    map_insert(&p->drafts_by_name, &d->by_name, name_hash(s->name));
    return d;
}

static void add_further(struct planning *p, struct store_step *step, const struct further *f)
{
    const char **urls = arena_array_of(p->life, f->count, const char *);
    for (unsigned i = 0; i < f->count; i++)
        urls[i] = f->all[i].url;
    step->more_urls = urls;
    step->nmore = f->count;
    step->ret_more_ids = arena_array_of(p->life, f->count, int64_t);
}

size_t step_add(struct planning *p, enum store_step_kind kind, struct request_subject subject)
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
    struct sentinel_words words = {0};
    if (subject.made)
        words = sentinel_words(s, p->life);
    plan->subjects[plan->nsteps] = subject;
    plan->steps[plan->nsteps] = (struct store_step){
            .kind = kind,
            .sentinel_id = subject.known ? subject.known->id : 0,
            .name = s->name,
            .owner = s->owner,
            .definition = s->definition,
            .state = sentinel_state(s),
            .url = s->url,
            .request = words.request,
            .monitor = words.monitor,
            .fetch = words.fetch,
            .compare = words.compare,
            .from_point = words.from,
            .from_of = s->from.of,
            .to_point = words.to,
            .to_of = s->to.of,
            .installed_at = s->installed_at,
            .starts_at = s->starts_at,
            .ends_at = s->ends_at,
            .started_at = s->started_at,
            .ended_at = s->ended_at,
            .entered_at = s->entered_at,
            .base_version = s->sight.base_version,
            .event_at = p->c->now,
            .event_actual_at = p->c->now,
    };
    if (subject.made) {
        SCRATCH struct arena *scratch = arena_new(NULL, "telling");
        const struct grammar_definition *d = sentinel_parse(s, scratch);
        if (d)
            telling_fill(p->life, p->c->settings, d, &plan->steps[plan->nsteps]);
    }
    if (s->further)
        add_further(p, &plan->steps[plan->nsteps], s->further);
    return plan->nsteps++;
}

void step_remove(struct planning *p, size_t step)
{
    p->plan->subjects[step].taken_back = true;
}

void steps_close_up(struct planning *p)
{
    struct request_plan *plan = p->plan;
    size_t n = 0;
    for (size_t i = 0; i < plan->nsteps; i++) {
        if (plan->subjects[i].taken_back) {
            sentinel_free(plan->subjects[i].made);
            continue;
        }
        plan->steps[n] = plan->steps[i];
        plan->subjects[n++] = plan->subjects[i];
    }
    plan->nsteps = n;
}

/* ---- answers ------------------------------------------------------------------------- */

/* Nobody reads more lines than this; data is another matter. */
enum { TOLD_ONE_BY_ONE = 1000 };

void answer_rest(struct planning *p)
{
    if (!p->json && p->answered > TOLD_ONE_BY_ONE)
        buf_printf(&p->done, "... and %zu more\n", p->answered - TOLD_ONE_BY_ONE);
}

void answer_done(struct planning *p, const struct sentinel *s, const char *what)
{
    char at[TIME_TEXT_SIZE];
    if (++p->answered > TOLD_ONE_BY_ONE && !p->json)
        return;
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

void answer_diagnostic(struct planning *p, const struct grammar_diagnostic *d)
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

void wrong_at(struct planning *p, struct grammar_script *script, enum grammar_code code,
        struct grammar_pos pos, const struct fault *f)
{
    answer_diagnostic(p, grammar_complain(script, code, pos, f));
}

void wrong_name(struct planning *p, const struct fault *f)
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

/* ---- the same definition -------------------------------------------------------------- */

enum { DEFINITION_MAX = 1 << 20 };

static void print_without_life(struct buf *out, const char *name, struct grammar_definition d)
{
    d.from = d.to = (struct grammar_time){.kind = GRAMMAR_TIME_NEVER, .at = MSEC_NEVER};
    grammar_print_effective(out, name, &d);
}

bool is_as_defined(const struct sentinel *s, const struct grammar_definition *d)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "same");
    const struct grammar_definition *has = sentinel_parse(s, scratch);
    BUF(a, DEFINITION_MAX);
    BUF(b, DEFINITION_MAX);
    if (!has || s->phase == PHASE_ENDED)
        return false;
    print_without_life(&a, s->name, *has);
    print_without_life(&b, s->name, *d);
    return strcmp(buf_text(&a), buf_text(&b)) == 0;
}
