/* links: the set of addresses a page links to.  Order, repetition and link text do not
 * count; there are no updates and no moves. */
#include "cdg/detect_int.h"

static void compare(const struct question *q, struct answer *a)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;

    if (!hash128_equal(old->hash[PAGE_LINKS], new_->hash[PAGE_LINKS]))
        answer_add_sets(a, q, old->links, new_->links, page_link);
}

static struct str_list parts(const struct question *q, const struct cdg_version *v)
{
    struct str_list list = {
            arena_array_of(q->life, v->digest->links + 1, struct str), v->digest->links};

    for (uint32_t i = 0; i < v->digest->links; i++)
        list.all[i] = page_link(v->digest, i);
    return list;
}

const struct cdg_kind cdg_kind_links = {.compare = compare, .parts = parts};
