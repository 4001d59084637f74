/* A stored definition becomes an effective one again.
 *
 * What was stored was right when it was checked, and it spells everything out; so there is
 * nothing to check here, only to find again what the text says by name or by date.
 */
#include "grammar/check_int.h"

/* Stored instants are printed in UTC. */
static void load_instant(struct grammar_time *t)
{
    const struct grammar_date *d = &t->date;
    if (t->kind != GRAMMAR_TIME_DATE)
        return;
    t->kind = GRAMMAR_TIME_AT;
    t->at = civil_days(d->year, d->month, d->day) * MSEC_PER_DAY + d->hour * MSEC_PER_HOUR +
            d->minute * MSEC_PER_MINUTE + d->second * MSEC_PER_SECOND + d->ms;
}

static bool load_pages(const struct grammar_definition *d, const struct grammar_change *c)
{
    for (unsigned i = 0; i < c->n_kids; i++)
        if (!load_pages(d, c->kids[i]))
            return false;
    if (c->op != GRAMMAR_LEAF || !c->leaf->alias)
        return true;
    int page = page_find(d, c->leaf->alias);
    c->leaf->page = page < 0 ? 0 : (unsigned)page;
    return page >= 0;
}

static bool is_complete(const struct grammar_definition *d)
{
    for (unsigned i = 0; i < d->n_pages; i++)
        if (!d->pages[i].url)
            return false;
    return d->n_pages > 0 && d->monitor;
}

enum err grammar_load(struct arena *life, const char *text, struct fault *f,
        const struct grammar_definition **ret_definition)
{
    struct grammar_script *s;
    enum err e = grammar_parse(life, "stored", text, strlen(text), &s);
    struct grammar_definition *d = s->statements ? s->statements->definition : NULL;
    if (e != OK || s->n_statements != 1 || !d || !is_complete(d) || !load_pages(d, d->monitor))
        return fault_set(f, ERR_SYNTAX, "not a stored definition: %s",
                s->diagnostics ? s->diagnostics->message : "it is not complete");
    load_instant(&d->from);
    load_instant(&d->to);
    if (!d->request.method)
        d->request.method = request_default_method(&d->request);
    *ret_definition = d;
    return OK;
}
