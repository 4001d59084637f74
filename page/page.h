/* page -- one parse of what a server sent into the page digest; the only home of libxml2.
 *
 * A page digest is one flat, position-independent block: the tree in preorder (child
 * counts, tag numbers, attributes, texts, text-to-node map), the links, and a hash for
 * each array (SEMANTICS D.1, D.11).  It is stored beside the body, so a comparison parses
 * one page, the new one.  All comparing is done on digests.
 *
 * Pure: bytes in, digest out, no clock, no file, no network.  Any thread.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/hash.h"
#include "base/str.h"

struct page_source {
    const char *bytes;
    size_t len;
    const char *content_type; /* the header's value; NULL: unknown */
    const char *url;          /* base for links: final URL after redirects */
};

/* Parses into `out` (cleared first; its maximum bounds the digest).  A page that the
 * parser would have truncated is a fault, never a digest. */
MUST_USE enum err page_digest_make(const struct page_source *src, struct buf *out,
        struct fault *f);

/* A checked view of a digest block; borrowed from the block's bytes. */
struct page_digest;

/* Verifies every bound, so that what follows may trust offsets.  Allocates in `life`. */
MUST_USE enum err page_digest_open(struct arena *life, const void *block, size_t len,
        struct fault *f, struct page_digest **ret_digest);
