/* Running a plan: each question once for each pair, then AND, OR and NOT in three values.
 *
 * "Could not look" (U) must satisfy neither a condition nor its NOT.  So it must hold that
 *  (1) the tables below are those of Kleene's strong logic,
 *  (2) a leaf is compared once for a pair, whoever shares it, and
 *  (3) every member gets exactly one verdict, and members who asked the same of the same
 *      pair get the same finding.
 */
#include "cdg/cdg_int.h"

static const enum cdg_result and_table[3][3] = {
        [CDG_C] = {[CDG_C] = CDG_C, [CDG_N] = CDG_N, [CDG_U] = CDG_U}, /* (1) */
        [CDG_N] = {[CDG_C] = CDG_N, [CDG_N] = CDG_N, [CDG_U] = CDG_N},
        [CDG_U] = {[CDG_C] = CDG_U, [CDG_N] = CDG_N, [CDG_U] = CDG_U},
};

static const enum cdg_result or_table[3][3] = {
        [CDG_C] = {[CDG_C] = CDG_C, [CDG_N] = CDG_C, [CDG_U] = CDG_C},
        [CDG_N] = {[CDG_C] = CDG_C, [CDG_N] = CDG_N, [CDG_U] = CDG_U},
        [CDG_U] = {[CDG_C] = CDG_C, [CDG_N] = CDG_U, [CDG_U] = CDG_U},
};

static const enum cdg_result not_table[3] = {[CDG_C] = CDG_N, [CDG_N] = CDG_C, [CDG_U] = CDG_U};

/* Why the question (NULL: keywords) cannot be asked of the pair; NULL: it can. */
static const char *missing(
        const struct pair_run *r, const struct cdg_leaf *leaf, struct arena *life)
{
    if (!r->old && !r->old_number)
        return "the version to compare with is not kept any more";
    if (!r->old)
        return arena_printf(
                life, "version %lld is not kept any more", (long long)r->old_number);
    if (leaf && leaf->raw) /* the bytes decide */
        return NULL;
    const struct cdg_version *both[] = {r->new_, r->old};
    for (size_t i = 0; i < countof(both); i++) {
        if (!both[i]->digest)
            return both[i]->no_digest ? both[i]->no_digest : "the page could not be parsed";
        if (both[i]->digest->type == PAGE_DATA &&
                (!leaf || !kind_of(leaf->kind)->of_data || leaf->changed_over))
            return "the page is neither markup nor text: only any change can be asked of it";
    }
    return NULL;
}

/* CHANGED > n%: whether the change is too small to be told. */
static bool is_small(const struct question *q, const struct cdg_kind *kind)
{
    double ratio = list_ratio(kind->parts(q, q->old), kind->parts(q, q->new_));
    double least = q->leaf->percent / 100,
           slack = 1e-9; /* 0.5 is 0.5 however it was computed */

    return q->leaf->at_least ? ratio < least - slack : ratio <= least + slack;
}

static void ask(const struct question *q, const struct cdg_kind *kind, struct answer *a)
{
    kind->compare(q, a);
    if (a->result == CDG_C && q->leaf->changed_over && is_small(q, kind))
        *a = (struct answer){.result = CDG_N, .state = a->state, .notice = a->notice};
}

/* Asks about the region only: each side is the digest of what was selected there, and of
 * nothing when nothing was. */
static void ask_region(const struct question *q, const struct page_selector *region,
        const struct cdg_kind *kind, struct answer *a)
{
    struct cdg_version *old = arena_memdup(q->life, q->old, sizeof *old);
    struct cdg_version *new_ = arena_memdup(q->life, q->new_, sizeof *new_);
    struct page_digest *from, *to;
    struct fault f = {.code = OK};
    bool in_old, in_new;

    if (page_region(q->old->digest, region, q->life, &f, &from, &in_old) != OK ||
            page_region(q->new_->digest, region, q->life, &f, &to, &in_new) != OK) {
        answer_unknown(a, arena_strdup(q->life, f.message));
        return;
    }
    if (!in_old && !in_new) {
        answer_unknown(a, "the region is in neither version");
        return;
    }
    old->digest = from;
    new_->digest = to;
    struct pair_cache own = {.life = q->life};
    struct question inside = *q;
    inside.old = old;
    inside.new_ = new_;
    inside.cache = &own;
    ask(&inside, kind, a);
    answer_leave_region(&inside, a);
}

static struct answer *leaf_answer(const struct asking *by, const struct cdg_node *n)
{
    const struct cdg_kind *kind = kind_of(n->leaf.kind);
    struct answer *a = arena_new_of(by->life, struct answer);
    const char *why = missing(by->pair, &n->leaf, by->life);

    a->result = CDG_N;
    struct question q = {
            .leaf = &n->leaf,
            .prepared = n->prepared,
            .old = by->pair->old,
            .new_ = by->pair->new_,
            .cache = &by->pair->cache,
            .life = by->scratch,
            .key = hash128_of(n->key, strlen(n->key)).lo,
            .state = by->state,
            .hits = n->is_keyed && !why ? keyword_hits_of(by->hits, n) : NULL,
    };
    if (why)
        answer_unknown(a, why);
    else if (n->region)
        ask_region(&q, n->region, kind, a);
    else if (!n->is_keyed || q.hits)
        ask(&q, kind, a);
    answer_fill_places(&q, a);
    answer_keep(a, by->life);
    arena_reset(by->scratch);
    return a;
}

/* ---- what is known ----------------------------------------------------------------------- */

struct asked_table *asked_table_new(struct arena *life)
{
    struct asked_table *t = arena_new_of(life, struct asked_table);

    t->life = life;
    t->mask = 15;
    t->slots = arena_array_of(life, t->mask + 1, struct asked *);
    return t;
}

static struct asked **asked_slot(
        const struct asked_table *t, const struct cdg_node *node, uint32_t pair)
{
    size_t i = node_hash(node, pair) & t->mask;

    while (t->slots[i] && (t->slots[i]->node != node || t->slots[i]->pair != pair))
        i = (i + 1) & t->mask;
    return &t->slots[i];
}

struct asked *asked_get(struct asked_table *t, struct cdg_node *node, uint32_t pair)
{
    struct asked **slot = asked_slot(t, node, pair);

    if (*slot)
        return *slot;
    struct asked *a = *slot = arena_new_of(t->life, struct asked);
    a->node = node;
    a->pair = pair;
    if (2 * ++t->count <= t->mask)
        return a;
    struct asked_table bigger = {.life = t->life, .mask = 2 * t->mask + 1, .count = t->count};
    bigger.slots = arena_array_of(t->life, bigger.mask + 1, struct asked *);
    for (size_t i = 0; i <= t->mask; i++)
        if (t->slots[i])
            *asked_slot(&bigger, t->slots[i]->node, t->slots[i]->pair) = t->slots[i];
    *t = bigger;
    return a;
}

/* ---- asking ------------------------------------------------------------------------------ */

static void find_leaf(const struct asking *by, struct asked *a)
{
    a->answer = leaf_answer(by, a->node);
    a->result = a->answer->result;
    a->why = a->result == CDG_U ? a->answer->reason : NULL;
    a->notice = a->answer->notice;
}

static void find_composite(const struct asking *by, struct asked *a)
{
    const struct asked *left = asking_of(by, a->node->left);
    const struct asked *right = a->node->right ? asking_of(by, a->node->right) : left;

    a->result = a->node->op == CDG_AND  ? and_table[left->result][right->result]
                : a->node->op == CDG_OR ? or_table[left->result][right->result]
                                        : not_table[left->result];
    a->why = left->why ? left->why : right->why;
    a->notice = right->notice ? right->notice : left->notice;
}

const struct asked *asking_of(const struct asking *by, struct cdg_node *node)
{
    struct asked *a = asked_get(node->keeps ? by->own : by->shared, node, by->pair->number);

    if (a->is_known) /* (2) */
        return a;
    if (node->op == CDG_LEAF)
        find_leaf(by, a);
    else
        find_composite(by, a);
    a->is_known = true;
    return a;
}

static struct cdg_finding *finding_new(const struct pair_run *pair, enum cdg_result result,
        const char *why, struct arena *life)
{
    struct cdg_finding *f = arena_new_of(life, struct cdg_finding);

    f->result = result;
    f->old_version = pair->old_number;
    f->new_version = pair->new_->number;
    f->summary = result == CDG_U && why ? why : "";
    return f;
}

static const struct cdg_finding *asking_finding(const struct asking *by, struct cdg_node *root)
{
    const struct asked *found = asking_of(by, root);
    struct asked *a = asked_get(root->keeps ? by->own : by->shared, root, by->pair->number);

    if (a->finding) /* (3) */
        return a->finding;
    struct cdg_finding *f = finding_new(by->pair, found->result, found->why, by->life);
    f->notice = found->notice;
    if (f->result == CDG_C)
        report_finding(by, root, f);
    a->finding = f;
    return f;
}

/* ---- states ------------------------------------------------------------------------------ */

/* What the leaves below a node want remembered, one behind the other, each once. */
static void collect_states(const struct asking *by, struct cdg_node *n, struct buf *out)
{
    if (!n->keeps)
        return;
    if (n->op != CDG_LEAF) {
        collect_states(by, n->left, out);
        if (n->right)
            collect_states(by, n->right, out);
        return;
    }
    struct asked *a = asked_get(by->own, n, by->pair->number);
    if (a->is_collected || !a->is_known || !a->answer->state.ptr)
        return;
    a->is_collected = true;
    buf_append(out, a->answer->state.ptr, a->answer->state.len);
}

/* Answers of leaves that keep a state belong to the sentinel whose state it is. */
static void run_keeping(struct asking by, struct cdg_node *root, struct cdg_verdict *v)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "states");
    BUF(states, STATE_BYTES);

    by.own = asked_table_new(scratch);
    v->finding = asking_finding(&by, root);
    collect_states(&by, root, &states);
    if (states.len && !states.overflowed)
        v->state = (struct str){arena_strndup(by.life, states.data, states.len), states.len};
    for (size_t i = 0; i <= by.own->mask; i++) { /* for people */
        const struct asked *a = by.own->slots[i];
        if (!a)
            continue;
        struct asked *last = asked_get(by.shared, a->node, by.pair->number);
        last->differs |= last->is_known && last->result != a->result;
        last->result = a->result;
        last->why = a->why;
        last->is_known = true;
    }
}

/* ---- running ----------------------------------------------------------------------------- */

struct run {
    struct cdg_plan *plan;
    struct pair_run *pairs;
    struct cdg_verdict *verdicts;
    size_t count;
    cdg_state_fn state;
    void *arg;
    struct arena *shared, *life;
    uint64_t reports;

    /* who kept a state before: who asks the same and remembers the same is told the same */
    const struct cdg_node *before;
    const struct pair_run *before_pair;
    struct str before_state;
    size_t before_verdict;
};

static struct pair_run *pairs_new(
        struct run *r, const struct cdg_version *new_version, cdg_old_fn old)
{
    struct cdg_plan *p = r->plan;
    struct pair_run *pairs = arena_array_of(r->life, p->nolds, struct pair_run);

    for (size_t i = 0; i < p->nolds; i++) {
        struct pair_run *pair = &pairs[i];
        *pair = (struct pair_run){.number = (uint32_t)i,
                .old = p->olds[i] ? old(p->olds[i], r->arg) : NULL,
                .new_ = new_version,
                .old_number = p->olds[i],
                .cache = {.life = r->shared}};
        const char *why = missing(pair, NULL, r->life);
        pair->quiet = finding_new(pair, why ? CDG_U : CDG_N, why, r->life);
    }
    return pairs;
}

static const struct keyword_hits *look_for_keywords(struct run *r, const struct plan_group *g)
{
    struct pair_run *pair = &r->pairs[g->pair];
    struct question q = {
            .old = pair->old, .new_ = pair->new_, .cache = &pair->cache, .life = r->shared};

    return pair->quiet->result == CDG_U
                   ? NULL
                   : keyword_index_look(g->roster->keywords, &q, r->shared);
}

static void answer_keeping(struct run *r, const struct asking *by, const struct roster_entry *e,
        struct cdg_verdict *v)
{
    struct asking own = *by;
    const struct str nothing = {NULL, 0};

    own.state = r->state ? r->state(e->sentinel_id, e->part, r->arg) : nothing;
    if (r->before == e->root && r->before_pair == by->pair &&
            str_equal(own.state, r->before_state)) {
        v->finding = r->verdicts[r->before_verdict].finding;
        v->state = r->verdicts[r->before_verdict].state;
        return;
    }
    run_keeping(own, e->root, v);
    r->before = e->root;
    r->before_pair = by->pair;
    r->before_state = own.state;
    r->before_verdict = (size_t)(v - r->verdicts);
}

static void run_group(struct run *r, const struct plan_group *g)
{
    struct asking by = {.pair = &r->pairs[g->pair],
            .shared = r->plan->asked,
            .hits = g->roster->keywords ? look_for_keywords(r, g) : NULL,
            .life = r->life,
            .scratch = r->plan->memory.scratch,
            .reports = &r->reports};

    for (uint32_t i = 0; i < g->roster->count; i++) {
        const struct roster_entry *e = &g->roster->all[i];
        if (e->base > g->old)
            continue;
        struct cdg_verdict *v = &r->verdicts[r->count++];
        *v = (struct cdg_verdict){.sentinel_id = e->sentinel_id, .part = e->part};
        if (e->is_keyed && (!by.hits || !keyword_hits_of(by.hits, e->root)))
            v->finding = by.pair->quiet;
        else if (e->keeps)
            answer_keeping(r, &by, e, v);
        else
            v->finding = asking_finding(&by, e->root);
    }
}

size_t cdg_plan_run_states(struct cdg_plan *p, const struct cdg_version *new_version,
        cdg_old_fn old, cdg_state_fn state, void *arg, struct arena *life,
        const struct cdg_verdict **ret_verdicts)
{
    struct run r = {
            .plan = p, .state = state, .arg = arg, .shared = p->memory.shared, .life = life};
    size_t most = 0;

    for (size_t i = 0; i < p->ngroups; i++)
        most += p->groups[i].roster->count;
    p->asked = asked_table_new(p->life);
    p->compared = new_version->number;
    r.verdicts = arena_alloc(life, arena_array_bytes(most, sizeof *r.verdicts));
    r.pairs = pairs_new(&r, new_version, old);
    for (size_t i = 0; i < p->ngroups; i++)
        run_group(&r, &p->groups[i]);
    p->record = record_new(p, r.pairs);
    arena_reset(p->memory.shared);
    *ret_verdicts = r.verdicts;
    return r.count;
}

size_t cdg_plan_run(struct cdg_plan *p, const struct cdg_version *new_version, cdg_old_fn old,
        void *arg, struct arena *life, const struct cdg_verdict **ret_verdicts)
{
    return cdg_plan_run_states(p, new_version, old, NULL, arg, life, ret_verdicts);
}

static const struct cdg_version *given(int64_t number, void *arg)
{
    (void)number;
    return arg;
}

enum err cdg_compare_once(const struct cdg_expr *expr, const struct cdg_version *old,
        const struct cdg_version *new_version, struct arena *life, struct fault *f,
        const struct cdg_finding **ret_finding)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "compare");
    struct cdg *g = cdg_new(scratch);
    struct cdg_subscription s = {
            .page_id = 1, .sentinel_id = 1, .expr = expr, .base_version = 1};
    const struct cdg_verdict *v;
    struct cdg_version last = *new_version;

    enum err e = cdg_join(g, &s, f);
    if (e)
        return e;
    struct cdg_plan *p = cdg_plan_take(g, 1, 2);
    union {
        const struct cdg_version *borrowed;
        void *arg;
    } first = {.borrowed = old};
    CHECK(cdg_plan_run(p, &last, given, first.arg, life, &v) == 1);
    struct cdg_finding *finding = arena_memdup(life, v[0].finding, sizeof *finding);
    finding->old_version = old->number;
    *ret_finding = finding;
    cdg_plan_give_back(g, p);
    return OK;
}
