/* The addresses of a page: absolute, sorted, each once. */
#include "page/page_int.h"
#include <endian.h>
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

/* ---- sorting: by eight bytes at a time, behind those that all have in common; what is the
 * same there is sorted by the eight behind.  Where two are the same, the first stays the first.
 */

/* Addresses that go on being the same are compared byte by byte from here on. */
enum { EIGHTS = 16 };
/* So few are sorted one by one. */
enum { FEW = 12 };

static int compare_texts(const void *a, const void *b, void *arg)
{
    const struct address *x = a, *y = b;
    const char *text = arg;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(text + x->at, text + y->at, n);

    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void sort_few(struct address *all, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct address one = all[i];
        size_t to = i;
        for (; to > 0 && all[to - 1].key > one.key; to--)
            all[to] = all[to - 1];
        all[to] = one;
    }
}

/* `spare` has room for half of them. */
static void sort_by_key(struct address *all, size_t n, struct address *spare)
{
    size_t half = n / 2, i = 0, j = half, to = 0;

    if (n <= FEW) {
        sort_few(all, n);
        return;
    }
    sort_by_key(all, half, spare);
    sort_by_key(all + half, n - half, spare);
    if (all[half - 1].key <= all[half].key)
        return;
    memcpy(spare, all, half * sizeof *all);
    while (i < half && j < n)
        all[to++] = all[j].key < spare[i].key ? all[j++] : spare[i++];
    memcpy(all + to, spare + i, (half - i) * sizeof *all);
}

/* Eight bytes from `from` on, so that numbers are in the order of the strings; behind each
 * string is a zero, and no string has one inside. */
static uint64_t key_at(struct str s, size_t from)
{
    uint64_t key = 0;

    if (s.len >= from + sizeof key) {
        memcpy(&key, s.ptr + from, sizeof key);
        return be64toh(key);
    }
    for (size_t i = from; i < from + sizeof key; i++)
        key = key << 8 | (i < s.len ? (unsigned char)s.ptr[i] : 0);
    return key;
}

/* Of strings that are the same up to `from`.  Returns up to where they are by these keys. */
static size_t keys_fill(const char *text, struct address *all, size_t n, size_t from)
{
    size_t common = all[0].len - from;

    for (size_t i = 1; i < n; i++) {
        const char *x = text + all[0].at + from, *y = text + all[i].at + from;
        size_t same = 0;
        common = common < all[i].len - from ? common : all[i].len - from;
        if (memcmp(x, y, common) == 0)
            continue;
        while (x[same] == y[same])
            same++;
        common = same;
    }
    from += common;
    for (size_t i = 0; i < n; i++)
        all[i].key = key_at((struct str){text + all[i].at, all[i].len}, from);
    return from + sizeof all[0].key;
}

static void sort_from(char *text, struct address *all, size_t n, size_t from, unsigned round,
        struct address *spare)
{
    if (round == EIGHTS) {
        qsort_r(all, n, sizeof *all, compare_texts, text);
        return;
    }
    from = keys_fill(text, all, n, from);
    sort_by_key(all, n, spare);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end].key == all[i].key;)
            end++;
        if (end - i > 1 && (all[i].key & 0xFF) != 0) /* else they ended there */
            sort_from(text, all + i, end - i, from, round + 1, spare);
    }
}

/* Same strings were always sorted together, so they have the same key. */
static bool is_same(const struct addresses *a, const struct address *x, const struct address *y)
{
    return x->key == y->key && x->len == y->len &&
           memcmp(a->text.data + x->at, a->text.data + y->at, x->len) == 0;
}

static bool addresses_sort(struct addresses *a, size_t max)
{
    struct address *all = (struct address *)(void *)a->all.data;
    size_t n = a->all.len / sizeof *all;
    BUF(spare, max);

    if (n == 0)
        return true;
    if (!buf_reserve(&spare, n / 2 * sizeof *all + 1))
        return false;
    sort_from(a->text.data, all, n, 0, 0, (struct address *)(void *)spare.data);
    for (size_t i = 0; i < n; i++)
        if (a->count == 0 || !is_same(a, &all[a->count - 1], &all[i]))
            all[a->count++] = all[i];
    return true;
}

/* ---- what they are ------------------------------------------------------------------------
 */

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
    return addresses_sort(ret, b->max);
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
