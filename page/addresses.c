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

static int compare_spans(const void *a, const void *b, void *arg)
{
    const struct span *x = a, *y = b;
    const char *text = arg;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(text + x->at, text + y->at, n);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void addresses_sort(struct addresses *a)
{
    struct span *all = (struct span *)(void *)a->all.data;
    size_t n = a->all.len / sizeof *all;

    if (n)
        qsort_r(all, n, sizeof *all, compare_spans, a->text.data);
    for (size_t i = 0; i < n; i++)
        if (a->count == 0 || compare_spans(&all[a->count - 1], &all[i], a->text.data) != 0)
            all[a->count++] = all[i];
}

static bool address_add(struct addresses *a, struct str base, struct str written)
{
    size_t at = a->text.len;
    bool ok = page_url_resolve(base, written, &a->text);
    struct span s = {(uint32_t)at, (uint32_t)(a->text.len - at)};

    if (a->text.overflowed)
        return false;
    if (!ok || !scheme_is_link((struct str){a->text.data + at, s.len})) {
        a->text.len = at;
        return true;
    }
    return buf_append(&a->all, &s, sizeof s) && buf_putc(&a->text, 0);
}

bool addresses_resolve(
        struct build *b, const struct buf *numbers, struct str base, struct addresses *ret)
{
    const uint32_t *all = (const uint32_t *)(const void *)numbers->data;
    BUF(seen, b->max);

    buf_init(&ret->text, b->max < UINT32_MAX ? b->max : UINT32_MAX);
    buf_init(&ret->all, b->max);
    if (!buf_reserve(&seen, b->attr_strings.count))
        return false;
    memset(seen.data, 0, b->attr_strings.count);
    for (size_t i = 0; i < numbers->len / sizeof *all; i++) {
        if (seen.data[all[i]]) /* as menus are on every page, and twice on many */
            continue;
        seen.data[all[i]] = 1;
        if (!address_add(ret, base, intern_text(&b->attr_strings, all[i])))
            return false;
    }
    addresses_sort(ret);
    return true;
}

struct hash128 addresses_hash(const struct addresses *a)
{
    struct hash128 all = {0, a->count};

    for (size_t i = 0; i < a->count; i++) {
        struct span s = address_spans(a)[i];
        struct hash128 two[2] = {all, hash128_of(a->text.data + s.at, s.len)};
        all = hash128_of(two, sizeof two);
    }
    return all;
}
