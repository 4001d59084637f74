/* Subscriptions: names, references to other subscriptions, dates.
 *
 *  (1) A virtual reference to something that does not exist (yet) sleeps until it does; that is
 *      worth a warning, not an error.
 *  (2) Chains of virtual references do not close.
 */
#include "grammar/check_int.h"

static bool has_query(const struct grammar_subscription *s, const char *name)
{
    for (unsigned i = 0; i < s->n_monitoring; i++)
        if (grammar_name_equal(s->monitoring[i].name, name))
            return true;
    for (unsigned i = 0; i < s->n_continuous; i++)
        if (grammar_name_equal(s->continuous[i].name, name))
            return true;
    for (unsigned i = 0; i < s->n_virtuals; i++)
        if (grammar_name_equal(s->virtuals[i].query, name))
            return true;
    return false;
}

static void need_query(struct check *ck, const struct grammar_subscription *s, const char *name,
        struct grammar_pos pos)
{
    if (!has_query(s, name))
        check_error(ck, GRAMMAR_E040, pos, "unknown query \"%s\"", name);
}

/* Another subscription's query: what is there and does not have it is worth a word (1). */
static void check_reference(
        struct check *ck, const char *subscription, const char *query, struct grammar_pos pos)
{
    struct entry *e = entry_get_subscription(ck, subscription);
    if (e->exists && (!e->subscription || has_query(e->subscription, query)))
        return;
    struct grammar_diagnostic *d = report(ck->script, GRAMMAR_W002, pos, "unknown %s \"%s.%s\"",
            e->exists ? "query" : "subscription", subscription, query);
    report_hint(ck->script, d, "The reference sleeps until it exists.");
}

static void check_virtuals(struct check *ck, struct grammar_statement *st, struct entry *self)
{
    const struct grammar_subscription *s = st->subscription;
    const char **names = NULL, *through;
    unsigned n = 0;
    for (unsigned i = 0; i < s->n_virtuals; i++) {
        const struct grammar_virtual *v = &s->virtuals[i];
        *GROW(ck->life, names, n) = v->subscription;
        if (entry_closes_cycle(ck, &ck->subscriptions, st->name, &v->subscription, 1, &through))
            check_error(ck, GRAMMAR_E048, v->pos, "dependency cycle through \"%s\"",
                    through); /* (2) */
        else
            check_reference(ck, v->subscription, v->query, v->pos);
    }
    self->depends = names;
    self->n_depends = n;
}

static void check_continuous(struct check *ck, struct grammar_statement *st)
{
    const struct grammar_subscription *s = st->subscription;
    for (unsigned i = 0; i < s->n_continuous; i++) {
        const struct grammar_continuous *c = &s->continuous[i];
        for (unsigned k = 0; k < i; k++)
            if (grammar_name_equal(s->continuous[k].name, c->name))
                check_error(ck, GRAMMAR_E044, c->pos, "query \"%s\" exists already", c->name);
        if (!c->when_query)
            continue;
        if (grammar_name_equal(c->when_subscription, st->name))
            need_query(ck, s, c->when_query, c->pos);
        else
            check_reference(ck, c->when_subscription, c->when_query, c->pos);
    }
}

static void check_dates(struct check *ck, struct grammar_monitoring *m)
{
    for (unsigned i = 0; i < m->n_conds; i++) {
        struct grammar_cond *c = &m->conds[i];
        msec at;
        if ((c->kind == GRAMMAR_LAST_ACCESSED || c->kind == GRAMMAR_LAST_UPDATE) &&
                date_instant(ck, &c->when.date, false, c->when.pos, &at))
            c->when.at = at;
    }
}

void check_subscription(struct check *ck, struct grammar_statement *st)
{
    struct grammar_subscription *s = st->subscription;
    struct entry *self = entry_get_subscription(ck, st->name);
    if (self->exists && !self->broken)
        check_error(
                ck, GRAMMAR_E044, st->name_pos, "subscription \"%s\" exists already", st->name);
    for (unsigned i = 0; i < s->n_monitoring; i++)
        check_dates(ck, &s->monitoring[i]);
    check_continuous(ck, st);
    check_virtuals(ck, st, self);
    for (unsigned i = 0; s->report && i < s->report->n_events; i++)
        if (s->report->events[i].name)
            need_query(ck, s, s->report->events[i].name, s->report->events[i].pos);
    if (st->has_errors)
        return;
    self->exists = self->in_script = true;
    self->broken = false;
    self->name = st->name;
    self->subscription = s;
}
