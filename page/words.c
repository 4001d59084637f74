/* Text as it is read: blocks and words. */
#include "page/page_int.h"
#include <stdlib.h>
#include <utf8proc.h>

/* ---- blocks ------------------------------------------------------------------------------ */

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

/* ---- words ------------------------------------------------------------------------------- */

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

/* Letters, digits and _ of ASCII, which most words are made of. */
static bool is_plain(char c)
{
    static const bool plain[128] = {
            ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['_'] = true, ['a' ... 'z'] = true};
    return c >= 0 && plain[(unsigned char)c];
}

bool page_word_next(struct str text, size_t *at, struct str *ret_word)
{
    size_t i = *at, n, first = SIZE_MAX, end = 0;

    while (i < text.len && text.ptr[i] == ' ')
        i++;
    if (i < text.len && is_plain(text.ptr[i])) {
        first = i;
        while (i < text.len && is_plain(text.ptr[i]))
            i++;
        end = i;
        if (i == text.len || text.ptr[i] == ' ') {
            *at = i;
            *ret_word = (struct str){text.ptr + first, end - first};
            return true;
        }
    }
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

/* Folds what ASCII and the letters of Western Europe need; false: there is more to it. */
static bool fold_simply(char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i], d = i + 1 < len ? (unsigned char)s[i + 1] : 0;
        if (c < 0x80) {
            s[i] = to_lower(s[i]);
            continue;
        }
        if (c != 0xC3 || d < 0x80 || d > 0xBF || d == 0x9F) /* U+00C0 to U+00FF but for ss */
            return false;
        if (d < 0x9F && d != 0x97)
            s[i + 1] = (char)(d + 0x20);
        i++;
    }
    return true;
}

bool page_word_fold(struct str word, struct buf *out)
{
    size_t from = out->len;

    if (!buf_append(out, word.ptr, word.len))
        return false;
    if (fold_simply(out->data + from, word.len))
        return true;
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t n =
            utf8proc_map((const utf8proc_uint8_t *)word.ptr, (utf8proc_ssize_t)word.len,
                    &folded, UTF8PROC_STABLE | UTF8PROC_CASEFOLD | UTF8PROC_COMPOSE);
    if (n < 0)
        return true; /* memory: what was done must do */
    out->len = from;
    bool ok = buf_append(out, folded, (size_t)n);
    free(folded);
    return ok;
}
