/* Joints: one condition over several pages, put together from what each page finds.
 *
 * Pages change at different times, so there is no pair of versions that could answer for all
 * of them.  The condition becomes a disjunction of conjuncts; a conjunct has a *part* for each
 * of its pages, which that page's own pairs answer, and collects the changes its parts find.
 * It must hold that
 *  (1) a conjunct on one page is told at once, by the three-valued rule of that page's pair;
 *  (2) a conjunct over several pages is told when each side holds a change, none of them
 *      older than the newest by more than the window, with all that was collected; then it
 *      begins anew, so that each change is told at most once;
 *  (3) a conjunct that also asks for no change elsewhere is told a window after it was
 *      complete, and only if there was none from a window before to a window after: absence
 *      is only known when its time is over.  What its sides find meanwhile is told with it;
 *  (4) "could not look" where no change is asked for is no absence.
 */
#include "cdg/cdg_int.h"
#include <stdlib.h>

enum { CONJUNCTS_MAX = 16, SIDE_MAX = 100 };

/* ---- the form: disjunctive, a part for each page of a conjunct ------------------------ */

struct literal {
    const struct cdg_expr *leaf;
    bool negated;
};

struct conjunct {
    struct literal *all;
    size_t count;
};

struct conjuncts {
    struct conjunct all[CONJUNCTS_MAX];
    size_t count;
    bool too_many;
};

static struct conjunct both(struct arena *life, struct conjunct a, struct conjunct b)
{
    struct conjunct c = {arena_array_of(life, a.count + b.count, struct literal), 0};

    for (size_t i = 0; i < a.count; i++)
        c.all[c.count++] = a.all[i];
    for (size_t i = 0; i < b.count; i++)
        c.all[c.count++] = b.all[i];
    return c;
}

static void conjuncts_add(struct conjuncts *to, struct conjunct c)
{
    if (to->count == CONJUNCTS_MAX)
        to->too_many = true;
    else
        to->all[to->count++] = c;
}

static void normalise(
        struct arena *life, const struct cdg_expr *e, bool negated, struct conjuncts *ret)
{
    struct conjuncts left = {.count = 0}, right = {.count = 0};

    *ret = (struct conjuncts){.count = 0};
    if (e->op == CDG_LEAF) {
        struct literal *l = arena_new_of(life, struct literal);
        *l = (struct literal){e, negated};
        conjuncts_add(ret, (struct conjunct){l, 1});
        return;
    }
    if (e->op == CDG_NOT) {
        normalise(life, e->left, !negated, ret);
        return;
    }
    normalise(life, e->left, negated, &left);
    normalise(life, e->right, negated, &right);
    ret->too_many = left.too_many || right.too_many;
    if ((e->op == CDG_OR) != negated) {
        for (size_t i = 0; i < left.count; i++)
            conjuncts_add(ret, left.all[i]);
        for (size_t i = 0; i < right.count; i++)
            conjuncts_add(ret, right.all[i]);
        return;
    }
    for (size_t i = 0; i < left.count; i++)
        for (size_t k = 0; k < right.count; k++)
            conjuncts_add(ret, both(life, left.all[i], right.all[k]));
}

static const struct cdg_expr *chain(struct arena *life, enum cdg_op op,
        const struct cdg_expr *left, const struct cdg_expr *right)
{
    if (!left)
        return right;
    struct cdg_expr *e = arena_new_of(life, struct cdg_expr);
    *e = (struct cdg_expr){.op = op, .left = left, .right = right};
    return e;
}

/* What a conjunct asks of one page: the changes and absences of one pair together, or, when
 * it asks for absences only, the changes there must not be. */
static const struct cdg_expr *part_expr(
        struct arena *life, const struct conjunct *c, unsigned place, bool forbids)
{
    const struct cdg_expr *e = NULL;

    for (size_t i = 0; i < c->count; i++) {
        const struct literal *l = &c->all[i];
        if (l->leaf->place != place)
            continue;
        if (forbids) {
            e = chain(life, CDG_OR, e, l->leaf);
            continue;
        }
        struct cdg_expr *term = arena_memdup(life, l->leaf, sizeof *term);
        if (l->negated)
            *term = (struct cdg_expr){.op = CDG_NOT, .left = l->leaf};
        e = chain(life, CDG_AND, e, term);
    }
    return e;
}

struct form {
    struct cdg_joint_part *parts;
    size_t nparts, cap;
    struct arena *life;
};

static void add_part(struct form *f, struct cdg_joint_part p)
{
    if (f->nparts == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 8;
        struct cdg_joint_part *bigger = arena_array_of(f->life, f->cap, struct cdg_joint_part);
        if (f->nparts)
            memcpy(bigger, f->parts, f->nparts * sizeof p);
        f->parts = bigger;
    }
    f->parts[f->nparts++] = p;
}

static void add_parts(struct form *f, const struct conjunct *c, unsigned number)
{
    unsigned pages = 0;
    bool one_page = true;

    for (size_t i = 1; i < c->count; i++)
        one_page &= c->all[i].leaf->place == c->all[0].leaf->place;
    for (size_t i = 0; i < c->count; i++) {
        unsigned place = c->all[i].leaf->place;
        bool seen = false, asks = one_page;
        for (size_t k = 0; k < c->count; k++) {
            seen |= k < i && c->all[k].leaf->place == place;
            asks |= c->all[k].leaf->place == place && !c->all[k].negated;
        }
        if (seen)
            continue;
        pages++;
        add_part(f, (struct cdg_joint_part){
                            number, place, !asks, part_expr(f->life, c, place, !asks)});
    }
    CHECK(pages);
}

enum err cdg_joint_form(struct arena *life, const struct cdg_expr *expr, struct fault *f,
        const struct cdg_joint_part **ret_parts, size_t *ret_count)
{
    struct conjuncts all;
    struct form form = {.life = life};

    normalise(life, expr, false, &all);
    if (all.too_many)
        return fault_set(f, ERR_LIMIT,
                "more than %d conjuncts in a condition over several pages", CONJUNCTS_MAX);
    for (size_t i = 0; i < all.count; i++)
        add_parts(&form, &all.all[i], (unsigned)i);
    for (size_t i = 0; i < all.count; i++) {
        bool asks = false;
        for (size_t k = 0; k < form.nparts; k++)
            asks |= form.parts[k].conjunct == i && !form.parts[k].forbids;
        if (!asks)
            return fault_set(f, ERR_RANGE, "a NOT over several pages needs a positive partner");
    }
    *ret_parts = form.parts;
    *ret_count = form.nparts;
    return OK;
}

/* ---- collecting ---------------------------------------------------------------------- */

struct side {
    unsigned conjunct;
    bool forbids;
    struct list found; /* struct cdg_constituent, oldest first; forbids: the newest only */
    size_t count;
};

struct cdg_joint {
    msec within;
    size_t nsides;
    unsigned nconjuncts;
    struct side sides[];
};

struct cdg_joint *cdg_joint_new(const struct cdg_joint_part *parts, size_t count, msec within)
{
    struct cdg_joint *j = calloc(1, sizeof *j + count * sizeof j->sides[0]);

    CHECK(j);
    j->within = within;
    j->nsides = count;
    for (size_t i = 0; i < count; i++) {
        j->sides[i].conjunct = parts[i].conjunct;
        j->sides[i].forbids = parts[i].forbids;
        list_init(&j->sides[i].found);
        if (parts[i].conjunct >= j->nconjuncts)
            j->nconjuncts = parts[i].conjunct + 1;
    }
    return j;
}

void cdg_constituents_free(struct list *all)
{
    list_each (l, all) {
        list_remove(l);
        free(list_entry(l, struct cdg_constituent, link));
    }
}

void cdg_joint_free(struct cdg_joint *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->nsides; i++)
        cdg_constituents_free(&j->sides[i].found);
    free(j);
}

struct cdg_constituent *cdg_constituent_copy(const struct cdg_constituent *c)
{
    size_t summary = strlen(c->summary ? c->summary : "") + 1;
    size_t detail = c->detail ? strlen(c->detail) + 1 : 0;
    struct cdg_constituent *copy = malloc(sizeof *copy + summary + detail);

    CHECK(copy);
    *copy = *c;
    list_init(&copy->link);
    char *text = (char *)(copy + 1);
    copy->summary = memcpy(text, c->summary ? c->summary : "", summary);
    copy->detail = detail ? memcpy(text + summary, c->detail, detail) : NULL;
    return copy;
}

static void drop_first(struct side *s)
{
    struct list *first = list_first(&s->found);

    list_remove(first);
    free(list_entry(first, struct cdg_constituent, link));
    s->count--;
}

static void side_add(struct side *s, const struct cdg_constituent *c)
{
    while (s->count >= (s->forbids ? 1 : SIDE_MAX)) /* who needs more has long been told */
        drop_first(s);
    list_append(&s->found, &cdg_constituent_copy(c)->link);
    s->count++;
}

static msec oldest_of(const struct side *s)
{
    return list_entry(list_first(&s->found), struct cdg_constituent, link)->at;
}

static bool asks_absence(const struct cdg_joint *j, unsigned conjunct)
{
    for (size_t i = 0; i < j->nsides; i++)
        if (j->sides[i].conjunct == conjunct && j->sides[i].forbids)
            return true;
    return false;
}

/* When each side came to hold a change; MSEC_NEVER: not all do. */
static msec completed_at(const struct cdg_joint *j, unsigned conjunct)
{
    msec at = 0;

    for (size_t i = 0; i < j->nsides; i++) {
        const struct side *s = &j->sides[i];
        if (s->conjunct != conjunct || s->forbids)
            continue;
        if (!s->count)
            return MSEC_NEVER;
        if (oldest_of(s) > at)
            at = oldest_of(s);
    }
    return at;
}

/* The last change there must not be; 0: none is known. */
static msec forbidden_at(const struct cdg_joint *j, unsigned conjunct)
{
    msec at = 0;

    for (size_t i = 0; i < j->nsides; i++) {
        const struct side *s = &j->sides[i];
        if (s->conjunct == conjunct && s->forbids && s->count && oldest_of(s) > at)
            at = oldest_of(s);
    }
    return at;
}

static void forget(struct cdg_joint *j, unsigned conjunct, msec before)
{
    for (size_t i = 0; i < j->nsides; i++) {
        struct side *s = &j->sides[i];
        while (s->conjunct == conjunct && !s->forbids && s->count && oldest_of(s) < before)
            drop_first(s);
    }
}

/* All its sides hold, in the order of time. */
static void hand_over(struct cdg_joint *j, unsigned conjunct, struct list *told)
{
    for (;;) {
        struct side *next = NULL;
        for (size_t i = 0; i < j->nsides; i++) {
            struct side *s = &j->sides[i];
            if (s->conjunct == conjunct && !s->forbids && s->count &&
                    (!next || oldest_of(s) < oldest_of(next)))
                next = s;
        }
        if (!next)
            return;
        struct list *first = list_first(&next->found);
        list_remove(first);
        next->count--;
        list_append(told, first);
    }
}

void cdg_joint_restore(struct cdg_joint *j, const struct cdg_constituent *c)
{
    if (c->part < j->nsides)
        side_add(&j->sides[c->part], c);
}

bool cdg_joint_forbids(const struct cdg_joint *j, unsigned part)
{
    return j->sides[part].forbids;
}

struct cdg_joint_outcome cdg_joint_take(
        struct cdg_joint *j, const struct cdg_constituent *c, struct list *told)
{
    struct side *side = &j->sides[c->part];
    unsigned conjunct = side->conjunct;
    struct cdg_joint_outcome out = {.conjunct = conjunct, .forget_before = 0, .keeps = true};

    side_add(side, c);
    if (side->forbids) { /* whatever waits for its time to be over waits in vain: (3) */
        forget(j, conjunct, MSEC_NEVER);
        out.forget_before = MSEC_NEVER;
        return out;
    }
    if (!asks_absence(j, conjunct)) {
        out.forget_before = c->at - j->within;
        forget(j, conjunct, out.forget_before); /* (2) */
        if (completed_at(j, conjunct) == MSEC_NEVER)
            return out;
        hand_over(j, conjunct, told); /* (1), (2) */
        return (struct cdg_joint_outcome){conjunct, MSEC_NEVER, /* keeps= */ false};
    }
    if (completed_at(j, conjunct) == MSEC_NEVER) {
        out.forget_before = c->at - j->within;
        forget(j, conjunct, out.forget_before);
        return out;
    }
    msec forbidden = forbidden_at(j, conjunct);
    if (forbidden && forbidden >= completed_at(j, conjunct) - j->within) {
        forget(j, conjunct, MSEC_NEVER); /* (3): there was one just before */
        return (struct cdg_joint_outcome){conjunct, MSEC_NEVER, /* keeps= */ false};
    }
    return out;
}

static msec deadline_of(const struct cdg_joint *j, unsigned conjunct)
{
    msec at = asks_absence(j, conjunct) ? completed_at(j, conjunct) : MSEC_NEVER;

    return at == MSEC_NEVER ? MSEC_NEVER : at + j->within;
}

msec cdg_joint_deadline(const struct cdg_joint *j)
{
    msec first = MSEC_NEVER;

    for (unsigned i = 0; i < j->nconjuncts; i++)
        if (deadline_of(j, i) < first)
            first = deadline_of(j, i);
    return first;
}

bool cdg_joint_due(
        struct cdg_joint *j, msec now, struct list *told, unsigned *ret_conjunct, msec *ret_at)
{
    for (unsigned i = 0; i < j->nconjuncts; i++) {
        msec at = deadline_of(j, i);
        if (at > now)
            continue;
        hand_over(j, i, told); /* (3): nobody objected, or it would have been forgotten */
        *ret_conjunct = i;
        *ret_at = at;
        return true;
    }
    return false;
}

void cdg_joint_undo(struct cdg_joint *j, unsigned part, int64_t new_version)
{
    struct side *s = &j->sides[part];

    list_each (l, &s->found) {
        struct cdg_constituent *c = list_entry(l, struct cdg_constituent, link);
        if (c->new_version != new_version)
            continue;
        list_remove(l);
        free(c);
        s->count--;
    }
}
