/* Text as it is read: blocks, words, and where a node stands. */
#include "page/page_int.h"
#include <stdlib.h>
#include <utf8proc.h>

/* ---- blocks
 * ---------------------------------------------------------------------------------- */

static struct str block_join(
        const struct page_digest *d, uint32_t from, uint32_t to, struct arena *life)
{
    size_t bytes = 0, at = 0;

    if (to == from + 1)
        return page_text(d, from);
    for (uint32_t i = from; i < to; i++)
        bytes += page_text(d, i).len;
    char *joined = arena_alloc(life, bytes + 1);
    for (uint32_t i = from; i < to; i++) {
        struct str s = page_text(d, i);
        memcpy(joined + at, s.ptr, s.len);
        at += s.len;
    }
    joined[at] = 0;
    return (struct str){joined, at};
}

size_t page_blocks(const struct page_digest *d, struct arena *life, struct page_block **ret)
{
    struct page_block *blocks = arena_array_of(life, d->texts + 1, struct page_block);
    size_t n = 0;

    for (uint32_t i = 0, end; i < d->texts; i = end) {
        for (end = i + 1; end < d->texts && !d->text_block[end]; end++)
            ;
        blocks[n++] = (struct page_block){block_join(d, i, end, life), d->text_node[i]};
    }
    *ret = blocks;
    return n;
}

/* ---- words
 * ------------------------------------------------------------------------------------ */

enum char_class { CHAR_WORD, CHAR_SPACE, CHAR_TAIL, CHAR_OTHER };

static enum char_class class_of(uint32_t c)
{
    if (c < 0x80) {
        if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_')
            return CHAR_WORD;
        if (c == ' ' || (c >= '\t' && c <= '\r'))
            return CHAR_SPACE;
        return c == '%' || c == '$' ? CHAR_TAIL : CHAR_OTHER;
    }
    if (c == 0x20AC)
        return CHAR_TAIL;
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
        return CHAR_WORD;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return CHAR_SPACE;
    default:
        return CHAR_OTHER;
    }
}

static enum char_class class_at(struct str s, size_t at, size_t *ret_len)
{
    uint32_t c = (unsigned char)s.ptr[at];

    *ret_len = 1;
    if (c < 0x80)
        return class_of(c);
    if (utf8_length(s.ptr + at, s.len - at) == 0)
        return CHAR_OTHER; /* what a user wrote may be anything */
    *ret_len = utf8_decode(s.ptr + at, s.len - at, &c);
    return class_of(c);
}

bool page_word_next(struct str text, size_t *at, struct str *ret_word)
{
    size_t i = *at, n, first = SIZE_MAX, end = 0;

    for (; i < text.len; i += n) {
        enum char_class c = class_at(text, i, &n);
        if (c == CHAR_SPACE) {
            if (first != SIZE_MAX)
                break;
            continue; /* nothing of a word yet, or a run of punctuation only */
        }
        if (c == CHAR_WORD && first == SIZE_MAX)
            first = i;
        if (first != SIZE_MAX && c != CHAR_OTHER)
            end = i + n;
    }
    *at = i;
    if (first == SIZE_MAX)
        return false;
    *ret_word = (struct str){text.ptr + first, end - first};
    return true;
}

bool page_word_fold(struct str word, struct buf *out)
{
    size_t from = out->len;
    bool ascii = true;

    if (!buf_append(out, word.ptr, word.len))
        return false;
    for (size_t i = from; i < out->len; i++) {
        ascii &= !(out->data[i] & 0x80);
        out->data[i] = to_lower(out->data[i]);
    }
    if (ascii)
        return true;
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t n =
            utf8proc_map((const utf8proc_uint8_t *)word.ptr, (utf8proc_ssize_t)word.len,
                    &folded, UTF8PROC_STABLE | UTF8PROC_CASEFOLD | UTF8PROC_COMPOSE);
    if (n < 0)
        return true; /* memory: what ASCII can do must do */
    out->len = from;
    bool ok = buf_append(out, folded, (size_t)n);
    free(folded);
    return ok;
}

/* ---- paths
 * ------------------------------------------------------------------------------------- */

struct step {
    uint32_t node, left;
};

/* Which of the siblings with its name the node is, and whether there are others. */
static unsigned place_among(const struct page_digest *d, uint32_t first, uint32_t siblings,
        uint32_t node, bool *ret_several)
{
    unsigned place = 0, twins = 0;
    uint32_t at = first;

    for (uint32_t i = 0; i < siblings && at < d->nodes; i++) {
        if (d->tags[at] == d->tags[node]) {
            twins++;
            if (at <= node)
                place++;
        }
        uint64_t promised = 1; /* skip the subtree */
        while (promised && at < d->nodes)
            promised = promised - 1 + d->children[at++];
    }
    *ret_several = twins > 1;
    return place;
}

static void put_step(
        const struct page_digest *d, uint32_t parent, uint32_t node, struct buf *out)
{
    struct str name = page_tag_name(d, d->tags[node]);
    bool several;
    unsigned place = parent == NO_NODE
                             ? place_among(d, 0, d->nodes, node, &several)
                             : place_among(d, parent + 1, d->children[parent], node, &several);

    buf_putc(out, '/');
    if (d->tags[node] == 0)
        name = STR("text()");
    buf_append(out, name.ptr, name.len);
    if (several)
        buf_printf(out, "[%u]", place);
}

static struct step *top_step(const struct buf *stack)
{
    return (struct step *)(void *)stack->data + stack->len / sizeof(struct step) - 1;
}

char *page_path(const struct page_digest *d, uint32_t node, struct arena *life)
{
    BUF(path, PAGE_DEPTH_MAX * 16);
    BUF(stack, (PAGE_DEPTH_MAX + 1) * sizeof(struct step));

    /* the open elements at `node`: walk there, keeping what is not finished */
    for (uint32_t i = 0; i <= node && i < d->nodes; i++) {
        while (stack.len && top_step(&stack)->left == 0)
            stack.len -= sizeof(struct step);
        if (stack.len)
            top_step(&stack)->left--;
        struct step s = {i, d->children[i]};
        if (!buf_append(&stack, &s, sizeof s))
            return arena_strdup(life, "");
    }
    const struct step *steps = (const struct step *)(const void *)stack.data;
    for (size_t i = 0; i < stack.len / sizeof *steps; i++)
        put_step(d, i ? steps[i - 1].node : NO_NODE, steps[i].node, &path);
    return arena_strdup(life, buf_text(&path));
}
