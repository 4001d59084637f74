/* images: the set of addresses a page takes images from.  What an unchanged address
 * answers is not looked at, and neither are alternative texts and sizes. */
#include "cdg/detect_int.h"

static void compare(const struct question *q, struct answer *a)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;

    if (!hash128_equal(old->hash[PAGE_IMAGES], new_->hash[PAGE_IMAGES]))
        answer_add_sets(a, q, old->images, new_->images, page_image);
}

static struct str_list parts(const struct question *q, const struct cdg_version *v)
{
    struct str_list list = {
            arena_array_of(q->life, v->digest->images + 1, struct str), v->digest->images};

    for (uint32_t i = 0; i < v->digest->images; i++)
        list.all[i] = page_image(v->digest, i);
    return list;
}

const struct cdg_kind cdg_kind_images = {.compare = compare, .parts = parts};
