/* images: the set of addresses a page takes images from.  What an unchanged address
 * answers is not looked at, and neither are alternative texts and sizes. */
#include "cdg/cdg_int.h"

static void compare(const struct question *q, struct answer *a)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;

    if (!hash128_equal(old->hash[PAGE_IMAGES], new_->hash[PAGE_IMAGES]))
        answer_add_sets(a, q, old->images, new_->images, page_image);
}

const struct cdg_kind cdg_kind_images = {.compare = compare};
