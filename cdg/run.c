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

/* Why the pair cannot be compared at all; NULL: it can. */
static const char *missing(const struct pair_run *r, const struct cdg_leaf *leaf)
{
    if (!r->old && !r->old_number)
        return "the version to compare with is not kept any more";
    if (!r->old)
        return arena_printf(
                r->life, "version %lld is not kept any more", (long long)r->old_number);
    if (leaf->raw) /* the bytes decide */
        return NULL;
    const struct cdg_version *both[] = {r->new_, r->old};
    for (size_t i = 0; i < countof(both); i++) {
        if (!both[i]->digest)
            return both[i]->no_digest ? both[i]->no_digest : "the page could not be parsed";
        if (both[i]->digest->type == PAGE_DATA &&
                (!kind_of(leaf->kind)->of_data || leaf->changed_over))
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
    struct question inside = {q->leaf, q->prepared, old, new_, &own, q->life, q->key, q->state};
    ask(&inside, kind, a);
}

static struct answer *leaf_answer(struct pair_run *r, uint32_t i)
{
    const struct cdg_node *n = r->nodes[i].node;
    const struct cdg_kind *kind = kind_of(n->leaf.kind);

    if (r->answers[i]) /* (2) */
        return r->answers[i];
    SCRATCH struct arena *scratch = arena_new(NULL, "question");
    struct answer *a = arena_new_of(r->life, struct answer);
    const char *why = missing(r, &n->leaf);
    struct question q = {&n->leaf, n->prepared, r->old, r->new_, &r->cache, scratch,
            hash128_of(n->key, strlen(n->key)).lo, r->state};
    a->result = CDG_N;
    if (why)
        answer_unknown(a, why);
    else if (n->region)
        ask_region(&q, n->region, kind, a);
    else
        ask(&q, kind, a);
    answer_keep(a, r->life);
    r->answers[i] = a;
    return a;
}

static enum cdg_result node_result(struct pair_run *r, uint32_t i, const char **why);

static enum cdg_result find_result(struct pair_run *r, uint32_t i, const char **why)
{
    const struct plan_node *n = &r->nodes[i];
    struct answer *a;

    switch (n->node->op) {
    case CDG_LEAF:
        a = leaf_answer(r, i);
        if (a->result == CDG_U && !*why)
            *why = a->reason;
        r->notice = a->notice ? a->notice : r->notice;
        return a->result;
    case CDG_AND:
        return and_table[node_result(r, n->left, why)][node_result(r, n->right, why)];
    case CDG_OR:
        return or_table[node_result(r, n->left, why)][node_result(r, n->right, why)];
    case CDG_NOT:
        return not_table[node_result(r, n->left, why)];
    case CDG_OP_COUNT:
        break;
    }
    CHECK(!"an operator");
    return CDG_U;
}

static enum cdg_result node_result(struct pair_run *r, uint32_t i, const char **why)
{
    enum cdg_result result = find_result(r, i, why);

    r->last[i] = (struct node_last){true, result, r->old_number, r->new_->number};
    return result;
}

const struct cdg_finding *run_finding(struct pair_run *r, uint32_t root)
{
    const char *why = NULL;

    if (r->findings[root]) /* (3) */
        return r->findings[root];
    struct cdg_finding *f = arena_new_of(r->life, struct cdg_finding);
    f->result = node_result(r, root, &why);
    f->old_version = r->old_number;
    f->new_version = r->new_->number;
    f->summary = f->result == CDG_U && why ? why : "";
    f->notice = r->notice;
    r->notice = NULL;
    if (f->result == CDG_C)
        report_finding(r, root, f);
    r->findings[root] = f;
    return f;
}

static struct pair_run *pairs_new(const struct cdg_plan *p,
        const struct cdg_version *new_version, cdg_old_fn old, void *arg, struct arena *shared,
        struct arena *life)
{
    struct pair_run *runs = arena_array_of(life, p->nolds, struct pair_run);

    for (size_t i = 0; i < p->nolds; i++)
        runs[i] = (struct pair_run){.nodes = p->nodes,
                .old = p->olds[i] ? old(p->olds[i], arg) : NULL,
                .new_ = new_version,
                .old_number = p->olds[i],
                .last = p->last,
                .answers = arena_array_of(life, p->nnodes, struct answer *),
                .findings = arena_array_of(life, p->nnodes, struct cdg_finding *),
                .life = life,
                .cache = {.life = shared}};
    return runs;
}

/* ---- states
 * ----------------------------------------------------------------------------------- */

/* What the leaves below a node want remembered, one behind the other. */
static void collect_states(const struct pair_run *r, uint32_t i, bool *seen, struct buf *out)
{
    const struct plan_node *n = &r->nodes[i];

    if (!n->node->keeps || seen[i])
        return;
    seen[i] = true;
    if (n->node->op != CDG_LEAF) {
        collect_states(r, n->left, seen, out);
        if (n->node->right)
            collect_states(r, n->right, seen, out);
    } else if (r->answers[i] && r->answers[i]->state.ptr) {
        buf_append(out, r->answers[i]->state.ptr, r->answers[i]->state.len);
    }
}

/* Answers of leaves that keep a state belong to the sentinel whose state it is, so its run
 * has answers and findings of its own, and the others' for the rest. */
static struct cdg_verdict run_keeping(const struct cdg_plan *p, struct pair_run *shared,
        const struct plan_member *m, struct str state)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "states");
    struct pair_run own = *shared;
    BUF(states, STATE_BYTES);

    own.state = state;
    own.answers = arena_memdup(scratch, shared->answers, p->nnodes * sizeof *own.answers);
    own.findings = arena_array_of(scratch, p->nnodes, struct cdg_finding *);
    struct cdg_verdict v = {.sentinel_id = m->sentinel_id,
            .part = m->part,
            .finding = run_finding(&own, m->node)};
    collect_states(&own, m->node, arena_array_of(scratch, p->nnodes, bool), &states);
    for (size_t i = 0; i < p->nnodes; i++) /* the rest is everybody's */
        if (!p->nodes[i].node->keeps)
            shared->answers[i] = own.answers[i];
    shared->cache = own.cache;
    if (states.len && !states.overflowed)
        v.state =
                (struct str){arena_strndup(shared->life, states.data, states.len), states.len};
    return v;
}

size_t cdg_plan_run_states(const struct cdg_plan *p, const struct cdg_version *new_version,
        cdg_old_fn old, cdg_state_fn state, void *arg, struct arena *life,
        const struct cdg_verdict **ret_verdicts)
{
    SCRATCH struct arena *shared = arena_new(NULL, "pairs"); /* what the questions share */
    struct cdg_verdict *verdicts = arena_array_of(life, p->nmembers, struct cdg_verdict);
    struct pair_run *runs = pairs_new(p, new_version, old, arg, shared, life);
    const struct plan_member *before = NULL; /* who kept a state, and which */
    struct str state_before = {NULL, 0};

    for (size_t i = 0; i < p->nmembers; i++) {
        const struct plan_member *m = &p->members[i];
        verdicts[i].sentinel_id = m->sentinel_id;
        verdicts[i].part = m->part;
        if (!p->nodes[m->node].node->keeps) {
            verdicts[i].finding = run_finding(&runs[m->pair], m->node);
            continue;
        }
        struct str now = state ? state(m->sentinel_id, m->part, arg) : (struct str){NULL, 0};
        if (before && before->node == m->node && before->pair == m->pair &&
                str_equal(now, state_before)) { /* asked the same, remembered the same */
            struct cdg_verdict *same = &verdicts[before - p->members];
            verdicts[i].finding = same->finding;
            verdicts[i].state = same->state;
            continue;
        }
        verdicts[i] = run_keeping(p, &runs[m->pair], m, now);
        before = m;
        state_before = now;
    }
    *ret_verdicts = verdicts;
    return p->nmembers;
}

size_t cdg_plan_run(const struct cdg_plan *p, const struct cdg_version *new_version,
        cdg_old_fn old, void *arg, struct arena *life, const struct cdg_verdict **ret_verdicts)
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
