/* Nodes: questions and composites, each stored once.
 *
 * A leaf is known by the canonical form of its kind and arguments, a composite by its
 * operator and its operands.  So it must hold that
 *  (1) equal expressions are one node, whoever asks and of whatever page, and
 *  (2) a node goes when the last that counted it has gone, and every plan that was taken
 *      before is back.
 */
#include "cdg/cdg_int.h"

void node_table_init(struct node_table *t)
{
    *t = (struct node_table){.oldest_plan = PLAN_NONE};
    map_init(&t->by_key);
    list_init(&t->spare);
    list_init(&t->leaving);
}

void node_table_done(struct node_table *t)
{
    map_each (n, &t->by_key) {
        struct cdg_node *node = container_of(n, struct cdg_node, by_key);
        arena_free(node->life);
    }
    map_done(&t->by_key);
}

/* ---- leaves -------------------------------------------------------------------------------
 */

static const char *canonical(const struct cdg_leaf *l, struct arena *life)
{
    BUF(key, 1 << 24);

    buf_printf(&key, "%d %d%d%d%d%d %u %u %u %d %d%d %.17g %d", l->kind, l->raw, l->counted,
            l->all, l->on_text, l->strict, l->number, l->box, l->occurrence, l->status,
            l->changed_over, l->at_least, l->percent, l->region);
    const char *texts[] = {l->text, l->contains, l->selector};
    for (size_t i = 0; i < countof(texts); i++)
        if (texts[i])
            buf_printf(&key, " %zu:%s", strlen(texts[i]), texts[i]);
        else
            buf_puts(&key, " -");
    for (size_t i = 0; i < l->nwords; i++)
        buf_printf(&key, " %zu:%s", strlen(l->words[i]), l->words[i]);
    return arena_strdup(life, buf_text(&key));
}

static const char *copy(struct arena *life, const char *s)
{
    return s ? arena_strdup(life, s) : NULL;
}

static void leaf_copy(struct cdg_leaf *to, const struct cdg_leaf *from, struct arena *life)
{
    *to = *from;
    to->text = copy(life, from->text);
    to->contains = copy(life, from->contains);
    to->selector = copy(life, from->selector);
    const char **words = arena_array_of(life, from->nwords + 1, const char *);
    for (size_t i = 0; i < from->nwords; i++)
        words[i] = arena_strdup(life, from->words[i]);
    to->words = words;
}

static struct cdg_node *node_new(struct node_table *t, struct arena *life)
{
    struct list *spare = list_first(&t->spare);
    struct cdg_node *n;

    if (spare) {
        list_remove(spare);
        n = list_entry(spare, struct cdg_node, unused);
        memset(n, 0, sizeof *n);
    } else {
        n = arena_new_of(life, struct cdg_node);
    }
    n->refs = 1;
    n->id = ++t->made;
    return n;
}

static struct cdg_node *counted(struct cdg_node *n)
{
    if (n->refs++ == 0) /* it was about to go */
        list_remove(&n->unused);
    return n;
}

static struct cdg_node *leaf_ref(
        struct node_table *t, struct arena *life, const struct cdg_leaf *leaf)
{
    struct arena *own = arena_new(NULL, "question");
    const char *key = canonical(leaf, own);
    uint64_t hash = map_hash_text(key);

    for (struct map_node *m = map_first(&t->by_key, hash); m; m = map_next(m)) {
        struct cdg_node *n = container_of(m, struct cdg_node, by_key);
        if (n->op == CDG_LEAF && strcmp(n->key, key) == 0) { /* (1) */
            arena_free(own);
            return counted(n);
        }
    }
    struct cdg_node *n = node_new(t, life);
    const struct cdg_kind *kind = kind_of(leaf->kind);
    n->op = CDG_LEAF;
    n->life = own;
    n->key = key;
    leaf_copy(&n->leaf, leaf, own);
    CHECK(leaf_region(&n->leaf, own, NULL, &n->region) == OK); /* it was checked */
    n->keeps = kind->keeps && kind->keeps(&n->leaf);
    n->is_keyed = kind->is_keyed && !n->region;
    n->prepared = kind->prepare ? kind->prepare(&n->leaf, own) : NULL;
    map_insert(&t->by_key, &n->by_key, hash);
    t->leaves++;
    return n;
}

/* ---- composites
 * ------------------------------------------------------------------------------ */

static uint64_t composite_hash(enum cdg_op op, struct cdg_node *left, struct cdg_node *right)
{
    uint64_t key[3] = {(uint64_t)op, (uintptr_t)left, (uintptr_t)right};
    return map_hash(key, sizeof key);
}

/* Takes over the operands' counts. */
static struct cdg_node *composite_ref(struct node_table *t, struct arena *life, enum cdg_op op,
        struct cdg_node *left, struct cdg_node *right)
{
    uint64_t hash = composite_hash(op, left, right);

    for (struct map_node *m = map_first(&t->by_key, hash); m; m = map_next(m)) {
        struct cdg_node *n = container_of(m, struct cdg_node, by_key);
        if (n->op != op || n->left != left || n->right != right)
            continue;
        counted(n);
        node_unref(t, left);
        if (right)
            node_unref(t, right);
        return n;
    }
    struct cdg_node *n = node_new(t, life);
    n->op = op;
    n->left = left;
    n->right = right;
    n->keeps = left->keeps || (right && right->keeps);
    map_insert(&t->by_key, &n->by_key, hash);
    t->composites++;
    return n;
}

struct cdg_node *node_ref_expr(
        struct node_table *t, struct arena *life, const struct cdg_expr *e)
{
    if (e->op == CDG_LEAF)
        return leaf_ref(t, life, &e->leaf);
    struct cdg_node *left = node_ref_expr(t, life, e->left);
    struct cdg_node *right = e->op == CDG_NOT ? NULL : node_ref_expr(t, life, e->right);
    return composite_ref(t, life, e->op, left, right);
}

static void release(struct node_table *t, struct cdg_node *n)
{
    struct cdg_node *left = n->left, *right = n->right;

    map_remove(&t->by_key, &n->by_key);
    if (n->op == CDG_LEAF)
        t->leaves--;
    else
        t->composites--;
    arena_free(n->life);
    list_append(&t->spare, &n->unused);
    if (left)
        node_unref(t, left);
    if (right)
        node_unref(t, right);
}

void node_unref(struct node_table *t, struct cdg_node *n)
{
    CHECK(n->refs > 0);
    if (--n->refs) /* (2) */
        return;
    if (t->oldest_plan == PLAN_NONE) {
        release(t, n);
        return;
    }
    n->left_at = t->newest_plan;
    list_append(&t->leaving, &n->unused);
}

void node_table_settle(struct node_table *t, uint64_t oldest)
{
    struct list *l;

    t->oldest_plan = oldest;
    while ((l = list_first(&t->leaving))) {
        struct cdg_node *n = list_entry(l, struct cdg_node, unused);
        if (n->left_at >= oldest)
            return;
        list_remove(l);
        release(t, n);
    }
}
