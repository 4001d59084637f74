/* Rosters: who is in a group, in one piece that a plan can hold on to.
 *
 * Taking a plan of a page that a hundred thousand watch must not cost a walk over them all,
 * and comparing goes on while members come and go.  So it must hold that
 *  (1) a roster that a plan holds does not change: who comes or goes meanwhile changes a copy,
 *      which is the group's from then on, and
 *  (2) all words its members look for are in its index, also those below AND, OR and NOT.
 */
#include "cdg/cdg_int.h"
#include <stdlib.h>

struct roster *roster_new(void)
{
    struct roster *r = calloc(1, sizeof *r);

    CHECK(r);
    r->refs = 1;
    return r;
}

struct roster *roster_ref(struct roster *r)
{
    r->refs++;
    return r;
}

void roster_unref(struct roster *r)
{
    if (--r->refs)
        return;
    keyword_index_free(r->keywords);
    free(r->all);
    free(r);
}

/* The one to be changed: (1). */
static struct roster *own(struct roster **r)
{
    struct roster *shared = *r;

    if (shared->refs == 1)
        return shared;
    struct roster *copy = roster_new();
    copy->count = copy->cap = shared->count;
    copy->all = malloc((shared->count + 1) * sizeof *copy->all);
    CHECK(copy->all);
    if (shared->count)
        memcpy(copy->all, shared->all, shared->count * sizeof *copy->all);
    copy->keywords = shared->keywords ? keyword_index_copy(shared->keywords) : NULL;
    roster_unref(shared);
    *r = copy;
    return copy;
}

typedef void leaf_fn(struct roster *r, const struct cdg_node *leaf);

static void each_keyed(struct roster *r, const struct cdg_node *n, leaf_fn *fn) /* (2) */
{
    if (n->is_keyed)
        fn(r, n);
    if (n->left)
        each_keyed(r, n->left, fn);
    if (n->right)
        each_keyed(r, n->right, fn);
}

static void look_for(struct roster *r, const struct cdg_node *leaf)
{
    if (!r->keywords)
        r->keywords = keyword_index_new();
    keyword_index_add(r->keywords, leaf);
}

static void look_no_more(struct roster *r, const struct cdg_node *leaf)
{
    keyword_index_remove(r->keywords, leaf);
    if (!keyword_index_is_empty(r->keywords))
        return;
    keyword_index_free(r->keywords);
    r->keywords = NULL;
}

void roster_add(struct roster **to, const struct roster_entry *entry)
{
    struct roster *r = own(to);

    if (r->count == r->cap) {
        r->cap += r->cap / 2 + 1;
        r->all = realloc(r->all, r->cap * sizeof *r->all);
        CHECK(r->all);
    }
    struct roster_entry *e = &r->all[r->count++];
    *e = *entry;
    e->is_keyed = e->root->is_keyed;
    e->keeps = e->root->keeps;
    each_keyed(r, entry->root, look_for);
}

void roster_remove(struct roster **from, uint32_t number)
{
    struct roster *r = own(from);
    struct cdg_node *root = r->all[number].root;

    r->all[number] = r->all[--r->count];
    each_keyed(r, root, look_no_more);
    if (r->count > r->cap / 4)
        return;
    r->cap = r->count + r->count / 2 + 1;
    r->all = realloc(r->all, r->cap * sizeof *r->all);
    CHECK(r->all);
}

size_t roster_bytes(const struct roster *r)
{
    return sizeof *r + r->cap * sizeof *r->all +
           (r->keywords ? keyword_index_bytes(r->keywords) : 0);
}
