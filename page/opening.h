/* opening -- a block while it is read: what digest.c and digest_tree.c share. */
#pragma once
#include "page/block.h"

/* A part while it is read; `bad` once it promised more than it has. */
struct part {
    const unsigned char *at, *end;
    bool bad;
};

struct kind {
    uint32_t tag, children, nattrs, first_name; /* first_name: in kind_names */
};

struct opening {
    struct digest_header h;
    uint32_t counts[COUNT_COUNT];
    struct part parts[PART_COUNT];
    const unsigned char *end; /* of the block */
    struct arena *life;
    struct page_digest *d;
    struct kind *kinds;
    uint32_t *kind_names;
};

static inline uint32_t take_varint(struct part *p)
{
    uint32_t n = 0;

    if (p->at < p->end && *p->at < 0x80)
        return *p->at++;
    for (unsigned shift = 0; shift < 35 && p->at < p->end; shift += 7) {
        unsigned char c = *p->at++;
        if (shift == 28 && c > 15)
            break;
        n |= (uint32_t)(c & 0x7F) << shift;
        if (!(c & 0x80))
            return n;
    }
    p->bad = true;
    return 0;
}

static inline const char *take_bytes(struct part *p, size_t n)
{
    const char *bytes = (const char *)p->at;

    if (p->bad || n > (size_t)(p->end - p->at)) {
        p->bad = true;
        return NULL;
    }
    p->at += n;
    return bytes;
}

static inline size_t part_left(const struct part *p)
{
    return (size_t)(p->end - p->at);
}

static inline bool is_used_up(const struct part *p)
{
    return !p->bad && p->at == p->end;
}

/* digest_tree.c: nodes, values and texts; false: something is wrong. */
bool opening_tree(struct opening *o);
