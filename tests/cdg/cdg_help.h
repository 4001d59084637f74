/* What the tests of cdg/ share: versions from HTML, and a finding as a short text. */
#pragma once
#include "cdg/cdg.h"
#include "tests/test.h"
#include <jansson.h>

#define BASE_URL "http://x.org/d/p.html"

/* A version whose digest lives in `life`. */
static inline struct cdg_version *version_of(
        struct arena *life, int64_t number, const char *bytes, const char *type)
{
    struct cdg_version *v = arena_new_of(life, struct cdg_version);
    struct page_source *src = arena_new_of(life, struct page_source);
    BUF(block, PAGE_DIGEST_MAX);
    struct page_digest *d = NULL;
    struct fault f = {.code = OK};

    *src = (struct page_source){bytes, strlen(bytes), type, BASE_URL};
    v->number = number;
    v->body = hash128_of(bytes, strlen(bytes));
    v->source = src;
    if (page_digest_make(src, &block, &f) == OK) {
        void *copy = arena_memdup(life, block.data, block.len);
        if (page_digest_open(life, copy, block.len, &f, &d) != OK)
            test_fail(__FILE__, __LINE__, "the digest does not open: %s", f.message);
    }
    v->digest = d;
    return v;
}

static inline struct cdg_leaf leaf_of(const char *kind)
{
    struct cdg_leaf l = {.kind = cdg_kind_find(kind)};
    if (l.kind < 0)
        test_fail(__FILE__, __LINE__, "there is no kind \"%s\"", kind);
    return l;
}

static inline const struct cdg_finding *compare_leaf(struct arena *life, struct cdg_leaf leaf,
        const char *before, const char *after, const char *type)
{
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = leaf};
    const struct cdg_finding *found = NULL;
    struct fault f = {.code = OK};

    if (cdg_compare_once(&e, version_of(life, 1, before, type),
                version_of(life, 2, after, type), life, &f, &found) != OK)
        test_fail(__FILE__, __LINE__, "refused: %s", f.message);
    return found;
}

static inline void show_list(struct buf *out, json_t *leaf, const char *key, const char *sign)
{
    size_t i;
    json_t *item;

    json_array_foreach(json_object_get(leaf, key), i, item)
    {
        buf_printf(out, "%s%s", out->len ? " " : "", sign);
        if (json_is_string(item)) {
            buf_puts(out, json_string_value(item));
            continue;
        }
        buf_printf(out, "%s→%s", json_string_value(json_object_get(item, "old")),
                json_string_value(json_object_get(item, "new")));
    }
}

/* "N", "U: reason", or "+a −b ~c→d »e"; C without lists is "C". */
static inline char *show(struct arena *life, const struct cdg_finding *f)
{
    BUF(out, 1 << 20);

    if (!f)
        return arena_strdup(life, "(refused)");
    if (f->result == CDG_N)
        return arena_strdup(life, "N");
    if (f->result == CDG_U)
        return arena_printf(life, "U: %s", f->summary);
    json_t *root = json_loads(f->detail, 0, NULL);
    if (!root)
        test_fail(__FILE__, __LINE__, "the detail is no JSON: %s", f->detail);
    size_t i;
    json_t *leaf;
    json_array_foreach(json_object_get(root, "leaves"), i, leaf)
    {
        if (i)
            buf_puts(&out, " |");
        show_list(&out, leaf, "inserted", "+");
        show_list(&out, leaf, "deleted", "−");
        show_list(&out, leaf, "updated", "~");
        show_list(&out, leaf, "moved", "»");
    }
    json_decref(root);
    return arena_strdup(life, out.len ? buf_text(&out) : "C");
}

#define EXPECT_LEAF(leaf, before, after, expected)                                             \
    do {                                                                                       \
        SCRATCH struct arena *leaf_life = arena_new(NULL, "leaf");                             \
        EXPECT_TEXT(show(leaf_life, compare_leaf(leaf_life, (leaf), (before), (after),         \
                                            "text/html; charset=utf-8")),                      \
                (expected));                                                                   \
    } while (0)
#define EXPECT_KIND(kind, before, after, expected)                                             \
    EXPECT_LEAF(leaf_of(kind), before, after, expected)
