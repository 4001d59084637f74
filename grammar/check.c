/* Meaning: does each statement fit what exists, and what the statements before it made?
 *
 * Statements are taken in order.  One with errors is entered by its name only, so that those
 * who refer to it are not blamed for it.
 */
#include "grammar/check_int.h"

struct grammar_diagnostic *check_error(
        struct check *ck, enum grammar_code code, struct grammar_pos pos, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *message = arena_vprintf(ck->life, fmt, ap);
    va_end(ap);
    ck->st->has_errors = true;
    return report(ck->script, code, pos, "%s", message);
}

/* "a, b, c and 4 more" */
static const char *listed(struct arena *life, const char **names, size_t n)
{
    enum { MAX_LISTED = 5 };
    const char *text = names[0];
    for (size_t i = 1; i < n && i < MAX_LISTED; i++)
        text = arena_printf(life, "%s, %s", text, names[i]);
    if (n > MAX_LISTED)
        text = arena_printf(life, "%s and %zu more", text, n - MAX_LISTED);
    return text;
}

/* Those waiting for what goes are ended, and with them those waiting for their start. */
static void cut_dependants(struct check *ck, struct entry *e)
{
    struct entry **stack = NULL;
    unsigned depth = 0;
    *GROW(ck->life, stack, depth) = e;
    while (depth > 0) {
        struct entry *top = stack[--depth];
        const char **names;
        size_t n = entry_dependants(ck, top, &names);
        top->was_cut = true;
        for (size_t i = 0; i < n; i++) {
            struct entry *who = entry_get(ck, names[i]);
            if (who->phase != GRAMMAR_WAITING)
                continue;
            who->phase = GRAMMAR_ENDED;
            *GROW(ck->life, stack, depth) = who;
        }
    }
}

static void check_drop(struct check *ck, struct grammar_statement *st, struct entry *e)
{
    const char **names;
    size_t n = entry_dependants(ck, e, &names);
    if (n > 0 && !st->cascade) {
        struct grammar_diagnostic *d =
                check_error(ck, GRAMMAR_E049, st->name_pos, "%zu sentinel%s on \"%s\": %s", n,
                        n == 1 ? " depends" : "s depend", st->name, listed(ck->life, names, n));
        report_hint(ck->script, d, "Drop them first, or write CASCADE to end those that wait.");
        return;
    }
    if (n > 0)
        cut_dependants(ck, e);
    entry_reset(e);
    e->exists = false;
}

static void check_manage(struct check *ck, struct grammar_statement *st)
{
    struct entry *e = entry_need(ck, st->name, st->name_pos);
    if (!e)
        return;
    if (st->verb == GRAMMAR_DROP) {
        check_drop(ck, st, e);
        return;
    }
    if (st->verb != GRAMMAR_SHOW && e->phase == GRAMMAR_ENDED) {
        check_error(
                ck, GRAMMAR_E041, st->name_pos, "sentinel \"%s\" has already ended", st->name);
        return;
    }
    if (st->verb == GRAMMAR_STOP)
        e->phase = GRAMMAR_ENDED;
}

static void enter_broken(struct check *ck, const struct grammar_statement *st)
{
    if (st->verb != GRAMMAR_CREATE && st->verb != GRAMMAR_SUBSCRIPTION)
        return;
    struct entry *e = st->verb == GRAMMAR_CREATE ? entry_get(ck, st->name)
                                                 : entry_get_subscription(ck, st->name);
    if (e->exists && !st->or_replace)
        return; /* what is there stays */
    e->exists = e->broken = true;
}

/* A CREATE with errors is checked as far as it could be read; of other statements a part
 * means nothing. */
static void check_statement(struct check *ck, struct grammar_statement *st)
{
    ck->st = st;
    if (st->has_errors && st->verb != GRAMMAR_CREATE) {
        enter_broken(ck, st);
        return;
    }
    switch (st->verb) {
    case GRAMMAR_CREATE:
        check_create(ck, st);
        break;
    case GRAMMAR_ALTER:
        check_alter(ck, st);
        break;
    case GRAMMAR_SUBSCRIPTION:
        check_subscription(ck, st);
        break;
    case GRAMMAR_ENABLE:
    case GRAMMAR_DISABLE:
    case GRAMMAR_STOP:
    case GRAMMAR_SHOW:
    case GRAMMAR_DROP:
        check_manage(ck, st);
        break;
    case GRAMMAR_VERB_COUNT:
        break;
    }
    if (st->has_errors)
        enter_broken(ck, st);
}

static enum err err_of(enum grammar_code code)
{
    return code >= GRAMMAR_E040 && code <= GRAMMAR_E049   ? ERR_NAME
           : code >= GRAMMAR_E020 && code <= GRAMMAR_E035 ? ERR_RANGE
                                                          : ERR_SYNTAX;
}

enum err grammar_check(struct grammar_script *script, const struct grammar_world *world)
{
    struct check ck = {.script = script, .world = world, .life = script->life};
    map_init(&ck.sentinels);
    map_init(&ck.subscriptions);
    for (struct grammar_statement *st = script->statements; st; st = st->next)
        check_statement(&ck, st);
    map_done(&ck.sentinels);
    map_done(&ck.subscriptions);
    report_sort(script);
    if (script->n_errors == 0)
        return OK;
    for (const struct grammar_diagnostic *d = script->diagnostics; d; d = d->next)
        if (d->severity == GRAMMAR_ERROR)
            return err_of(d->code);
    return ERR_SYNTAX;
}

enum err grammar_parse_instant(
        const char *text, const struct grammar_world *world, struct fault *f, msec *ret_at)
{
    SCRATCH struct arena *life = arena_new(NULL, "instant");
    const char *statement =
            arena_printf(life, "CREATE SENTINEL x USING http://x.org FROM %s", text);
    struct grammar_script *s;
    struct check ck = {.world = world, .life = life};
    struct grammar_definition *d = NULL;
    enum { SKIPPED = sizeof "CREATE SENTINEL x USING http://x.org FROM " - 1 };
    enum err parsed = grammar_parse(life, "time", statement, strlen(statement), &s);
    ck.script = s;
    if (s->statements && !s->statements->next) {
        ck.st = s->statements;
        d = s->statements->definition;
    }
    bool only_monitor =
            parsed != OK && s->n_errors == 1 && s->diagnostics->code == GRAMMAR_E014;
    if (d && only_monitor && d->given == (1u << GRAMMAR_USING | 1u << GRAMMAR_FROM)) {
        if (d->from.kind == GRAMMAR_TIME_NOW) {
            *ret_at = world->now + d->from.offset;
            return OK;
        }
        if (d->from.kind == GRAMMAR_TIME_DATE &&
                date_instant(&ck, &d->from.date, false, d->from.pos, ret_at))
            return OK;
    }
    for (const struct grammar_diagnostic *e = s->diagnostics; e; e = e->next) {
        if (e->code == GRAMMAR_E014)
            continue;
        enum err err =
                fault_set(f, ERR_SYNTAX, "%s: %s", grammar_code_name(e->code), e->message);
        if (f)
            f->line = 1, f->column = (int)e->pos.column - SKIPPED;
        if (e->hint)
            fault_hint(f, "%s", e->hint);
        return err;
    }
    return fault_set(f, ERR_SYNTAX, "expected a time, found \"%s\"", text);
}
