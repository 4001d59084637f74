/* Planning a request.
 *
 *  (1) Nothing in the directory is touched: what statements did is kept in drafts, and a
 *      later statement sees the drafts of the earlier ones.
 *  (2) One wrong statement and the plan has no steps.
 *  (3) What the language knows but this build cannot run is refused here, before anything
 *      is stored, with a message that says exactly that.
 */
#include "engine/request_int.h"
#include "base/str.h"
#include <stdlib.h>

enum { ANSWER_MAX = 256 << 20 };
static const char json_mark[] = "-- vigil: json\n";
static const char file_mark[] = "-- vigil: file ";

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

static bool is_foreign(const struct planning *p, const struct sentinel *s)
{
    return p->c->only_own && strcmp(s->owner, p->c->owner) != 0;
}

static void belongs_to(const struct sentinel *s, struct fault *f)
{
    fault_set(f, ERR_NAME, "sentinel \"%s\" belongs to \"%s\"", s->name, s->owner);
    fault_hint(f, "Ask its owner, or somebody with the role vigil_engine.");
}

static void world_each(void *arg, void (*visit)(void *ctx, const char *name), void *ctx)
{
    struct planning *p = arg;
    map_each (n, &p->c->directory->by_id) {
        const struct sentinel *s = container_of(n, struct sentinel, by_id);
        if (!is_foreign(p, s)) /* what they may not see they did not mean */
            visit(ctx, s->name);
    }
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

/* A file that is given again and again says CREATE each time. */
static void let_replace(struct grammar_script *script)
{
    for (struct grammar_statement *st = script->statements; st; st = st->next)
        st->or_replace = st->or_replace || st->verb == GRAMMAR_CREATE;
}

static void note_name(struct planning *p, const char *name)
{
    struct request_plan *plan = p->plan;
    if ((plan->nnamed & (plan->nnamed - 1)) == 0) { /* full at every power of two */
        size_t cap = plan->nnamed ? plan->nnamed * 2 : 1;
        const char **more = arena_array_of(p->life, cap, const char *);
        if (plan->nnamed)
            memcpy(more, plan->named, plan->nnamed * sizeof *more);
        plan->named = more;
    }
    plan->named[plan->nnamed++] = name;
}

static void plan_once(
        struct planning *p, struct grammar_script *script, const struct grammar_statement *st)
{
    struct sentinel *s = subject_find(p, st->name);
    if (st->verb == GRAMMAR_CREATE)
        note_name(p, st->name);
    if (st->verb != GRAMMAR_CREATE || !s || !is_as_defined(s, st->effective))
        plan_statement(p, script, st);
}

/* Whoever inherits a definition reads it. */
static void refuse_foreign_pages(struct planning *p, struct grammar_script *script)
{
    for (struct grammar_statement *st = script->statements; st; st = st->next)
        for (unsigned i = 0; st->definition && i < st->definition->n_pages; i++) {
            const struct grammar_page *page = &st->definition->pages[i];
            const struct sentinel *s = page->sentinel ? subject_find(p, page->sentinel) : NULL;
            struct fault f = {0};
            if (!s || !is_foreign(p, s))
                continue;
            belongs_to(s, &f);
            (void)grammar_complain(
                    script, GRAMMAR_E040, page->pos, &f); /* told with the rest */
        }
}

static void plan_script(struct planning *p, const char *file, const char *text, size_t len)
{
    struct grammar_script *script;
    enum err parsed = grammar_parse(p->life, file, text, len, &script);
    if (p->how == ENSURE && parsed == OK)
        skip_existing(p, script);
    if (p->how == ONCE)
        let_replace(script);
    struct grammar_world world = {
            .now = p->c->now,
            .zone = settings_text(p->c->settings, SETTING_TIME_ZONE),
            .min_interval = settings_number(p->c->settings, SETTING_FETCH_MIN_INTERVAL),
            .arg = p,
            .find_sentinel = world_find,
            .each_name = world_each,
            .check_selector = question_check_selector,
    };
    if (p->c->only_own)
        refuse_foreign_pages(p, script);
    enum err checked = grammar_check(script, &world);
    for (struct grammar_diagnostic *d = script->diagnostics; d; d = d->next)
        answer_diagnostic(p, d);
    if (parsed != OK || checked != OK) {
        p->wrong = true;
        return;
    }
    if (p->how == CHECK_ONLY) {
        for (struct grammar_statement *st = script->statements; st; st = st->next)
            check_statement(p, script, st);
        if (!p->json)
            buf_printf(&p->done, "%s: %zu statement%s, all right\n", file, script->n_statements,
                    script->n_statements == 1 ? "" : "s");
        return;
    }
    for (struct grammar_statement *st = script->statements; st; st = st->next)
        if (p->how == ONCE)
            plan_once(p, script, st);
        else
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

/* ---- whose sentinels ------------------------------------------------------------------ */

/* Learning when something starts or ends is no harm done to it. */
static void refuse_foreign(struct planning *p)
{
    for (size_t i = 0; i < p->plan->nsteps; i++) {
        const struct request_subject *subject = &p->plan->subjects[i];
        const struct sentinel *s = subject->known;
        struct fault f = {0};
        if (!s || subject->note_end || !is_foreign(p, s))
            continue;
        belongs_to(s, &f);
        wrong_name(p, &f);
    }
}

/* ---- the whole ----------------------------------------------------------------------- */

struct request_plan *request_plan_make(
        struct arena *life, const struct request_context *c, const char *verb, const char *text)
{
    struct planning p = {.life = life, .c = c, .plan = arena_new_of(life, struct request_plan)};
    map_init(&p.drafts_by_name);
    buf_init(&p.diagnostics, ANSWER_MAX);
    buf_init(&p.done, ANSWER_MAX);
    if (strncmp(text, json_mark, sizeof json_mark - 1) == 0) {
        p.json = true;
        text += sizeof json_mark - 1;
    }
    p.how = strcmp(verb, "ensure") == 0  ? ENSURE
            : strcmp(verb, "once") == 0  ? ONCE
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
    steps_close_up(&p);
    if (c->only_own)
        refuse_foreign(&p);
    if (p.wrong) {
        request_plan_abandon(p.plan); /* (2) */
        p.plan->nsteps = 0;
        p.plan->exit_code = 1;
    }
    answer_rest(&p);
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
