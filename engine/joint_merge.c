/* One change made of what several pages found: each leaf says which page and versions it is of.
 */
#include "engine/joint.h"
#include <jansson.h>
#include <stdlib.h>

enum { SUMMARY_BYTES = 300 };

struct merged {
    const struct list *told;
    const struct cdg_joint_part *parts;
    const char *const *urls; /* by place */
    json_t *leaves;
    struct buf summary;
};

static void merge_leaves(struct merged *m, const struct cdg_constituent *c)
{
    const char *url = m->urls[m->parts[c->part].place];
    json_t *root = c->detail ? json_loads(c->detail, 0, NULL) : NULL, *leaf;
    char at[TIME_TEXT_SIZE];
    size_t i;
    json_array_foreach(json_object_get(root, "leaves"), i, leaf)
    {
        json_object_set_new(leaf, "url", json_string(url));
        json_object_set_new(leaf, "old_version", json_integer(c->old_version));
        json_object_set_new(leaf, "new_version", json_integer(c->new_version));
        json_object_set_new(leaf, "at", json_string(time_iso(c->at, at)));
        json_array_append(m->leaves, leaf);
    }
    json_decref(root);
}

/* Two conjuncts may ask the same of one page. */
static bool told_before(const struct merged *m, const struct cdg_constituent *c)
{
    for (struct list *l = m->told->next; l != &c->link; l = l->next) {
        const struct cdg_constituent *o = list_entry(l, struct cdg_constituent, link);
        if (o->new_version == c->new_version &&
                m->parts[o->part].place == m->parts[c->part].place &&
                strcmp(o->detail ? o->detail : "", c->detail ? c->detail : "") == 0)
            return true;
    }
    return false;
}

static const char *cut(struct arena *a, const struct buf *line)
{
    size_t len = line->len < SUMMARY_BYTES ? line->len : SUMMARY_BYTES;
    while (len < line->len && len > 0 && (line->data[len] & 0xC0) == 0x80)
        len--;
    return arena_printf(a, "%.*s%s", (int)len, buf_text(line), len < line->len ? "…" : "");
}

static const char *detail_of(struct arena *a, struct merged *m)
{
    json_t *root = json_pack("{s:O}", "leaves", m->leaves);
    char *text = json_dumps(root, JSON_COMPACT);
    CHECK(text);
    const char *kept = arena_strdup(a, text);
    free(text);
    json_decref(root);
    json_decref(m->leaves);
    return kept;
}

const struct cdg_constituent *joint_merge(struct arena *a, const struct list *told,
        const struct cdg_joint_part *parts, const char *const *urls, struct store_change *ret)
{
    struct merged m = {told, parts, urls, .leaves = json_array()};
    const struct cdg_constituent *newest = NULL;
    struct store_change change = {.sentinel_id = 0};
    buf_init(&m.summary, 1 << 20);
    list_each (pos, (struct list *)told) {
        const struct cdg_constituent *c = list_entry(pos, struct cdg_constituent, link);
        if (told_before(&m, c))
            continue;
        merge_leaves(&m, c);
        buf_printf(&m.summary, "%s%s: %s", m.summary.len ? "; " : "",
                urls[parts[c->part].place], c->summary);
        change.inserted += c->inserted;
        change.deleted += c->deleted;
        change.updated += c->updated;
        change.moved += c->moved;
        if (!newest || c->at >= newest->at)
            newest = c;
    }
    CHECK(newest);
    change.old_version = newest->old_version;
    change.summary = cut(a, &m.summary);
    change.detail = detail_of(a, &m);
    buf_done(&m.summary);
    *ret = change;
    return newest;
}
