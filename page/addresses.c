/* The addresses of a page: absolute, sorted, each once. */
#include "page/page_int.h"
#include <stdlib.h>

static bool scheme_is_link(struct str url)
{
    static const char *const kept[] = {"http:", "https:", "ftp:", "file:", "gopher:", "news:",
            "nntp:", "telnet:", "wais:"};

    for (size_t i = 0; i < countof(kept); i++)
        if (str_starts_nocase(url, str_of(kept[i])))
            return true;
    return false;
}

void addresses_done(struct addresses *a)
{
    buf_done(&a->text);
    buf_done(&a->all);
}

/* Behind the bytes that all have in common, compared by eight bytes at once, then by the rest.
 */
static int compare_addresses(const void *a, const void *b, void *arg)
{
    const struct address *x = a, *y = b;
    const char *text = arg;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(text + x->at, text + y->at, n);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Eight bytes from `from` on, so that numbers are in the order of the strings; behind each
 * string is a zero, and no string has one inside. */
static uint64_t key_at(struct str s, size_t from)
{
    uint64_t key = 0;

    for (size_t i = from; i < from + 8; i++)
        key = key << 8 | (i < s.len ? (unsigned char)s.ptr[i] : 0);
    return key;
}

static void keys_fill(struct addresses *a, struct address *all, size_t n)
{
    size_t common = n ? all[0].len : 0;

    for (size_t i = 1; i < n; i++) {
        const char *x = a->text.data + all[0].at, *y = a->text.data + all[i].at;
        size_t same = 0;
        common = common < all[i].len ? common : all[i].len;
        if (memcmp(x, y, common) == 0)
            continue;
        while (x[same] == y[same])
            same++;
        common = same;
    }
    for (size_t i = 0; i < n; i++)
        all[i].key = key_at((struct str){a->text.data + all[i].at, all[i].len}, common);
}

static void addresses_sort(struct addresses *a)
{
    struct address *all = (struct address *)(void *)a->all.data;
    size_t n = a->all.len / sizeof *all;

    keys_fill(a, all, n);
    if (n)
        qsort_r(all, n, sizeof *all, compare_addresses, a->text.data);
    for (size_t i = 0; i < n; i++)
        if (a->count == 0 || compare_addresses(&all[a->count - 1], &all[i], a->text.data) != 0)
            all[a->count++] = all[i];
}

static bool address_add(
        struct addresses *a, const struct url_base *base, struct str written, uint32_t number)
{
    size_t at = a->text.len;
    bool from_base, ok = url_base_resolve(base, written, &a->text, &from_base);
    struct address made = {
            .at = (uint32_t)at, .len = (uint32_t)(a->text.len - at), .written = number};

    if (a->text.overflowed)
        return false;
    if (!ok || !(from_base ? base->is_link
                           : scheme_is_link((struct str){a->text.data + at, made.len}))) {
        a->text.len = at;
        return true;
    }
    return buf_push(&a->all, &made, sizeof made) && buf_push_char(&a->text, 0);
}

bool addresses_resolve(struct build *b, const struct buf *numbers, struct url_base *base,
        struct addresses *ret)
{
    const uint32_t *all = (const uint32_t *)(const void *)numbers->data;
    size_t n = numbers->len / sizeof *all;
    BUF(seen, b->max);

    buf_init(&ret->text, b->max < UINT32_MAX ? b->max : UINT32_MAX);
    buf_init(&ret->all, b->max);
    if (n == 0)
        return true;
    if (!buf_reserve(&seen, b->attr_strings.count))
        return false;
    memset(seen.data, 0, b->attr_strings.count);
    base->is_link = scheme_is_link(base->base);
    for (size_t i = 0; i < n; i++) {
        if (seen.data[all[i]]) /* as menus are on every page, and twice on many */
            continue;
        seen.data[all[i]] = 1;
        if (!address_add(ret, base, intern_text(&b->attr_strings, all[i]), all[i]))
            return false;
    }
    addresses_sort(ret);
    return true;
}

struct hash128 addresses_hash(const struct addresses *a)
{
    struct hash128 all = {0, a->count};

    for (size_t i = 0; i < a->count; i++) {
        struct str s = address_text(a, i);
        struct hash128 two[2] = {all, hash128_of(s.ptr, s.len)};
        all = hash128_of(two, sizeof two);
    }
    return all;
}
