/* What a definition amounts to: inheritance and defaults filled in.
 *
 *  (1) USING one sentinel copies its configuration, for every clause that is not given, and
 *      links its lifespan (lifespan.c).  A later change of the source changes nothing here.
 *  (2) An effective definition needs no knowledge of the language's sugar.
 */
#include "grammar/check_int.h"

/* ---- inheriting --------------------------------------------------------------------- */

static void inherit_configuration(
        struct grammar_definition *eff, const struct grammar_definition *source)
{
    eff->pages = source->pages;
    eff->n_pages = source->n_pages;
    if (!grammar_is_given(eff, GRAMMAR_MONITOR))
        eff->monitor = source->monitor;
    if (!grammar_is_given(eff, GRAMMAR_FETCH))
        eff->fetch_every = source->fetch_every;
    if (!grammar_is_given(eff, GRAMMAR_NOTIFY))
        eff->notify = source->notify;
    if (!grammar_is_given(eff, GRAMMAR_COMPARE))
        eff->compare = source->compare;
    if (!grammar_is_given(eff, GRAMMAR_CHANGEHISTORY))
        eff->changehistory = source->changehistory;
    if (!grammar_is_given(eff, GRAMMAR_PRESENTATION))
        eff->presentation = source->presentation;
    if (!grammar_is_given(eff, GRAMMAR_WITHIN))
        eff->within = source->within;
    if (!grammar_is_given(eff, GRAMMAR_PRIORITY))
        eff->priority = source->priority;
    if (!grammar_is_given(eff, GRAMMAR_TOPIC))
        eff->topic = source->topic;
    if (!grammar_is_given(eff, GRAMMAR_WITH))
        eff->request = source->request;
}

/* One sentinel alone: everything is inherited from it. */
static bool inherit_all(
        struct check *ck, struct grammar_definition *eff, struct entry **ret_source)
{
    const struct grammar_page *page = &eff->pages[0];
    struct entry *e = entry_need(ck, page->sentinel, page->pos);
    if (!e)
        return false;
    const struct grammar_definition *source = entry_definition(ck, e);
    if (!source) {
        check_error(ck, GRAMMAR_E040, page->pos,
                "the definition of sentinel \"%s\" is not available", e->name);
        return false;
    }
    const char *alias = page->alias;
    struct grammar_pos pos = page->pos;
    inherit_configuration(eff, source);
    if (alias && !grammar_is_given(eff, GRAMMAR_MONITOR)) {
        /* The expression is inherited with the names it knows its pages by. */
    } else if (alias && eff->n_pages == 1) {
        eff->pages = arena_memdup(ck->life, eff->pages, sizeof *eff->pages);
        eff->pages[0].alias = alias;
        eff->pages[0].pos = pos;
    } else if (alias) {
        check_error(ck, GRAMMAR_E046, pos,
                "sentinel \"%s\" watches several pages, they have aliases", e->name);
        return false;
    }
    *ret_source = e;
    return true;
}

/* One of several: only its page is meant. */
static bool take_page(struct check *ck, struct grammar_page *page)
{
    struct entry *e = entry_need(ck, page->sentinel, page->pos);
    const struct grammar_definition *source = e ? entry_definition(ck, e) : NULL;
    if (!source)
        return false;
    if (source->n_pages != 1) {
        check_error(ck, GRAMMAR_E046, page->pos,
                "sentinel \"%s\" watches several pages; name the one that is meant", e->name);
        return false;
    }
    page->url = source->pages[0].url;
    page->sentinel = NULL;
    return true;
}

static bool resolve_pages(
        struct check *ck, struct grammar_definition *eff, struct entry **ret_source)
{
    bool ok = true;
    if (eff->n_pages == 1 && eff->pages[0].sentinel)
        return inherit_all(ck, eff, ret_source);
    if (eff->n_pages == 1)
        return true;
    eff->pages = arena_memdup(ck->life, eff->pages, eff->n_pages * sizeof *eff->pages);
    for (unsigned i = 0; i < eff->n_pages; i++)
        if (eff->pages[i].sentinel)
            ok &= take_page(ck, &eff->pages[i]);
    return ok;
}

/* ---- defaults ----------------------------------------------------------------------- */

static bool shows_both_sides(const struct grammar_change *c)
{
    if (c->op == GRAMMAR_LEAF)
        return c->leaf->type == GRAMMAR_PHRASE || c->leaf->type == GRAMMAR_REGEXP ||
               c->leaf->type == GRAMMAR_ANY_CHANGE;
    for (unsigned i = 0; i < c->n_kids; i++)
        if (shows_both_sides(c->kids[i]))
            return true;
    return false;
}

const char *request_default_method(const struct grammar_request *r)
{
    return r->body ? "POST" : "GET";
}

static void fill_defaults(struct check *ck, struct grammar_definition *eff)
{
    if (eff->notify.n_methods == 0)
        *GROW(ck->life, eff->notify.methods, eff->notify.n_methods) =
                (struct grammar_method){.kind = GRAMMAR_DASHBOARD};
    if (eff->compare.n <= 2)
        eff->compare = (struct grammar_compare){GRAMMAR_PAIRWISE, 2};
    if (eff->changehistory == 0)
        eff->changehistory = 10;
    if (eff->presentation == GRAMMAR_PRESENT_BY_TYPE)
        eff->presentation =
                shows_both_sides(eff->monitor) ? GRAMMAR_DUAL_FRAME : GRAMMAR_ONLY_CHANGE;
    if (eff->within == 0)
        eff->within = 24 * MSEC_PER_HOUR;
    if (eff->priority == 0)
        eff->priority = 1;
    if (!eff->request.method)
        eff->request.method = request_default_method(&eff->request);
    eff->given = (1u << GRAMMAR_CLAUSE_COUNT) - 1; /* (2) */
    if (!eff->topic)
        eff->given &= ~(1u << GRAMMAR_TOPIC);
}

/* ---- what needs the world ----------------------------------------------------------- */

static void check_selector(struct check *ck, const struct grammar_leaf *leaf)
{
    struct fault f = {0};
    if (leaf->region != GRAMMAR_WHOLE_PAGE && ck->world->check_selector &&
            ck->world->check_selector(leaf->region, leaf->region_path, &f) != OK)
        check_error(ck, GRAMMAR_E063, leaf->region_pos, "%s", f.message);
}

static void check_patterns(struct check *ck, const struct grammar_change *c)
{
    const char *message;
    for (unsigned i = 0; i < c->n_kids; i++)
        check_patterns(ck, c->kids[i]);
    if (c->op != GRAMMAR_LEAF)
        return;
    check_selector(ck, c->leaf);
    if (c->leaf->type == GRAMMAR_REGEXP && !regex_check(ck->life, c->leaf->pattern, &message))
        check_error(ck, GRAMMAR_E053, c->leaf->pattern_pos, "regular expression: %s", message);
}

static void check_interval(struct check *ck, const struct grammar_definition *d)
{
    if (!grammar_is_given(d, GRAMMAR_FETCH) || d->fetch_every == 0 ||
            d->fetch_every >= ck->world->min_interval)
        return;
    struct grammar_diagnostic *e = check_error(ck, GRAMMAR_E024, d->clause_pos[GRAMMAR_FETCH],
            "shorter than the minimum of %jd s (fetch.min_interval)",
            (intmax_t)(ck->world->min_interval / MSEC_PER_SECOND));
    report_hint(ck->script, e, "FETCH on change learns a good interval by itself.");
}

static void check_cycle(
        struct check *ck, struct entry *self, const struct grammar_definition *eff)
{
    const char *names[2], *through;
    struct grammar_pos pos = ck->st->name_pos;
    size_t n = 0;
    if (eff->from.of) {
        names[n++] = eff->from.of;
        pos = eff->from.pos;
    }
    if (eff->to.of) {
        pos = n ? pos : eff->to.pos;
        names[n++] = eff->to.of;
    }
    if (n > 0 && entry_closes_cycle(ck, &ck->sentinels, self->name, names, n, &through))
        check_error(ck, GRAMMAR_E048, pos, "dependency cycle through \"%s\"", through);
}

/* ---- statements --------------------------------------------------------------------- */

/* What could not be read is taken for something that cannot be wrong, so that the rest is
 * checked all the same. */
static void mend(struct grammar_definition *eff)
{
    if (eff->broken >> GRAMMAR_FROM & 1)
        eff->from = (struct grammar_time){.kind = GRAMMAR_TIME_NOW};
    if (eff->broken >> GRAMMAR_TO & 1)
        eff->to = (struct grammar_time){.kind = GRAMMAR_TIME_NEVER, .at = MSEC_NEVER};
    if (eff->broken >> GRAMMAR_MONITOR & 1)
        eff->monitor = NULL;
    if (eff->broken >> GRAMMAR_FETCH & 1)
        eff->fetch_every = 0;
}

void check_create(struct check *ck, struct grammar_statement *st)
{
    struct grammar_definition *eff = arena_memdup(ck->life, st->definition, sizeof *eff);
    struct entry *self = entry_get(ck, st->name), *source = NULL;
    bool replaces = self->exists;
    mend(eff);
    if (self->exists && !st->or_replace && !self->broken)
        report_hint(ck->script,
                check_error(ck, GRAMMAR_E044, st->name_pos, "sentinel \"%s\" exists already",
                        st->name),
                "Use another name, or CREATE OR REPLACE SENTINEL.");
    check_interval(ck, eff);
    if (eff->monitor)
        check_patterns(ck, eff->monitor);
    bool has_pages = eff->n_pages > 0 && !(eff->broken >> GRAMMAR_USING & 1);
    bool resolved = has_pages && resolve_pages(ck, eff, &source);
    if (resolved)
        (void)pages_check(ck, eff); /* told */
    if ((resolved || !has_pages) && lifespan_resolve(ck, self, source, eff) && replaces)
        check_cycle(ck, self, eff);
    if (st->has_errors)
        return;
    fill_defaults(ck, eff);
    entry_reset(self);
    self->name = st->name;
    self->definition = st->effective = eff;
    lifespan_note(ck, self, eff);
}

static void override(struct grammar_definition *eff, const struct grammar_definition *d)
{
    struct grammar_definition base = *eff;
    *eff = *d;
    inherit_configuration(eff, &base);
    if (!grammar_is_given(d, GRAMMAR_FROM))
        eff->from = base.from;
    if (!grammar_is_given(d, GRAMMAR_TO))
        eff->to = base.to;
}

void check_alter(struct check *ck, struct grammar_statement *st)
{
    struct entry *self = entry_need(ck, st->name, st->name_pos);
    if (!self)
        return;
    if (self->phase == GRAMMAR_ENDED) {
        check_error(
                ck, GRAMMAR_E041, st->name_pos, "sentinel \"%s\" has already ended", st->name);
        return;
    }
    const struct grammar_definition *base = entry_definition(ck, self);
    check_interval(ck, st->definition);
    if (st->definition->monitor)
        check_patterns(ck, st->definition->monitor);
    if (!base)
        return;
    struct grammar_definition *eff = arena_memdup(ck->life, base, sizeof *eff);
    override(eff, st->definition);
    (void)pages_check(ck, eff); /* told */
    if (lifespan_alter(ck, self, st->definition, eff))
        check_cycle(ck, self, eff);
    if (st->has_errors)
        return;
    fill_defaults(ck, eff);
    self->definition = st->effective = eff;
    self->in_script = true;
    lifespan_note(ck, self, eff);
}
