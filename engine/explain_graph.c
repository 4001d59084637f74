/* A sentinel's part of the graph as a list: the groups it stands in, and each node of its
 * condition with whom it is shared and what it was last found to be.
 *
 * Made from a running engine's graph, or from one that was made of definitions; the engine's
 * goes to the command that asks as JSON, under the names the command prints it with.
 */
#include "engine/explain.h"
#include "engine/question.h"
#include "fetch/fetch.h"
#include <jansson.h>

enum { QUESTION_BYTES = 300, LIST_MAX = 64 << 20 };

/* ---- from the graph ------------------------------------------------------------------- */

struct numbered {
    struct map_node by_id;
    uint64_t id;
    unsigned number;
};

struct walk {
    struct arena *life, *scratch;
    const struct directory *directory;
    const struct sentinel *sentinel;
    const struct grammar_definition *definition;
    const struct explain_spot *spot;
    const char *alias;
    struct buf groups, nodes;
    struct map numbers; /* struct numbered, of the nodes at this spot */
};

static struct explained_node *node_at(struct walk *w, unsigned number)
{
    return (struct explained_node *)(void *)w->nodes.data + (number - 1);
}

static unsigned number_of(const struct walk *w, uint64_t id)
{
    for (struct map_node *n = map_first(&w->numbers, map_hash_id(id)); n; n = map_next(n))
        if (container_of(n, struct numbered, by_id)->id == id)
            return container_of(n, struct numbered, by_id)->number;
    return 0;
}

static void walk_group(const struct cdg_group_view *v, void *arg)
{
    static const char *const words[] = {
            [CDG_PAIRWISE] = "pairwise", [CDG_MOVING] = "moving", [CDG_EVERY] = "every"};
    struct walk *w = arg;
    struct explained_group group = {
            .url = arena_strdup(w->life, w->spot->url),
            .stream = arena_strdup(w->life, w->spot->stream),
            .compare = v->compare.kind == CDG_PAIRWISE
                               ? words[CDG_PAIRWISE]
                               : arena_printf(w->life, "%s:%u", words[v->compare.kind],
                                         v->compare.n),
            .sentinels = (int64_t)v->members,
    };
    CHECK(buf_append(&w->groups, &group, sizeof group));
}

/* OR stands in brackets below AND, and both do below NOT, as the language prints them. */
static void put_operand(struct walk *w, struct buf *out, enum cdg_op above, unsigned number)
{
    const struct explained_node *n = node_at(w, number);
    bool brackets = above == CDG_NOT ? n->op == CDG_AND || n->op == CDG_OR
                                     : above == CDG_AND && n->op == CDG_OR;
    buf_printf(out, brackets ? "(%s)" : "%s", n->question);
}

static const char *question_text(
        struct walk *w, const struct cdg_node_view *v, const unsigned of[2])
{
    BUF(text, LIST_MAX);
    if (v->op == CDG_LEAF)
        question_print_leaf(&text, v->leaf);
    else if (v->op == CDG_NOT)
        buf_puts(&text, "NOT ");
    if (of[0])
        put_operand(w, &text, v->op, of[0]);
    if (of[1]) {
        buf_puts(&text, v->op == CDG_AND ? " AND " : " OR ");
        put_operand(w, &text, v->op, of[1]);
    }
    size_t len = text.len;
    if (len > QUESTION_BYTES)
        for (len = QUESTION_BYTES; len > 0 && (text.data[len] & 0xC0) == 0x80; len--)
            ;
    return arena_printf(
            w->life, "%.*s%s", (int)len, buf_text(&text), len < text.len ? "…" : "");
}

/* What USING calls the page; NULL: it watches no other. */
static const char *alias_of(struct walk *w)
{
    const struct grammar_definition *d = w->definition;
    for (unsigned i = 0; w->sentinel->further && d && i < d->n_pages; i++) {
        char *url;
        if (fetch_url_normalise(w->scratch, d->pages[i].url, NULL, &url) == OK &&
                strcmp(url, w->spot->url) == 0 && d->pages[i].alias)
            return arena_strdup(w->life, d->pages[i].alias);
    }
    return NULL;
}

static void take_last(struct walk *w, struct explained_node *n, const struct cdg_last *last)
{
    static const char *const words[] = {
            [CDG_C] = "changed", [CDG_N] = "unchanged", [CDG_U] = "not computed"};
    n->result = words[last->result];
    n->reason = *last->reason ? arena_strdup(w->life, last->reason) : NULL;
    n->differs = last->differs;
    n->old_version = last->old_version;
    n->new_version = last->new_version;
    n->at = last->at;
}

static void walk_node(const struct cdg_node_view *v, void *arg)
{
    struct walk *w = arg;
    struct numbered *numbered = arena_new_of(w->scratch, struct numbered);
    numbered->id = v->id;
    numbered->number = (unsigned)(w->nodes.len / sizeof(struct explained_node)) + 1;
    struct explained_node n = {
            .number = numbered->number,
            .of = {number_of(w, v->left), v->right ? number_of(w, v->right) : 0},
            .group = (unsigned)(w->groups.len / sizeof(struct explained_group)),
            .op = v->op,
            .alias = w->alias,
    };
    n.question = question_text(w, v, n.of);
    if (v->last)
        take_last(w, &n, v->last);
    for (size_t i = 0; i < v->shared->total; i++) {
        const struct sentinel *other =
                i < CDG_SHARERS_SHOWN ? directory_get(w->directory, v->shared->ids[i]) : NULL;
        if (other)
            explained_name(w->life, &n.shared_with, arena_strdup(w->life, other->name));
    }
    n.shared_with.total = v->shared->total;
    map_insert(&w->numbers, &numbered->by_id, map_hash_id(v->id));
    CHECK(buf_append(&w->nodes, &n, sizeof n));
}

static void walk_member(const struct cdg_member_view *v, void *arg)
{
    struct walk *w = arg;
    struct explained_group *group =
            (struct explained_group *)(void *)(w->groups.data + w->groups.len) - 1;
    int64_t back = w->spot->position - v->base;
    group->waiting = v->waiting;
    group->base_version = back >= 0 ? seen_at(w->spot->seen, (size_t)back) : 0;
    if (!w->sentinel->further)
        node_at(w, number_of(w, v->root))->is_whole = true;
}

void explain_graph(struct arena *life, const struct directory *d, const struct cdg *g,
        const struct sentinel *s, const struct explain_spot *spots, struct explained_graph *ret)
{
    static const struct cdg_viewer viewer = {walk_group, walk_node, walk_member};
    SCRATCH struct arena *scratch = arena_new(NULL, "explain");
    struct walk w = {.life = life, .scratch = scratch, .directory = d, .sentinel = s};
    unsigned n = 1 + (s->further ? s->further->count : 0);
    w.definition = sentinel_parse(s, scratch);
    buf_init(&w.groups, LIST_MAX);
    buf_init(&w.nodes, LIST_MAX);
    for (unsigned i = 0; i < n; i++) {
        w.spot = &spots[i];
        w.alias = alias_of(&w);
        map_init(&w.numbers);
        cdg_view_sentinel(g, w.spot->page_id, s->id, w.spot->position, &viewer, &w);
        map_done(&w.numbers);
    }
    *ret = (struct explained_graph){
            .groups = arena_memdup(life, buf_text(&w.groups), w.groups.len),
            .ngroups = w.groups.len / sizeof(struct explained_group),
            .nodes = arena_memdup(life, buf_text(&w.nodes), w.nodes.len),
            .nnodes = w.nodes.len / sizeof(struct explained_node),
            .since = MSEC_NEVER,
    };
    buf_done(&w.groups);
    buf_done(&w.nodes);
}

/* ---- as JSON -------------------------------------------------------------------------- */

static void key_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_text(j, text);
}

static void key_int(struct json *j, const char *key, int64_t n)
{
    json_key(j, key);
    json_int(j, n);
}

static void key_time(struct json *j, const char *key, msec at)
{
    char text[TIME_TEXT_SIZE];
    key_text(j, key, at == MSEC_NEVER ? NULL : time_iso(at, text));
}

void explained_names_put(struct json *j, const char *key, const struct explained_names *n)
{
    json_key(j, key);
    json_object_begin(j);
    key_int(j, "count", (int64_t)n->total);
    json_key(j, "names");
    json_array_begin(j);
    for (size_t i = 0; i < n->shown; i++)
        json_text(j, n->names[i]);
    json_array_end(j);
    json_object_end(j);
}

static void put_group(struct json *j, const struct explained_group *g)
{
    json_object_begin(j);
    key_text(j, "url", g->url);
    key_text(j, "stream", g->stream);
    key_text(j, "compare", g->compare);
    json_key(j, "base_version");
    if (g->base_version)
        json_int(j, g->base_version);
    else
        json_none(j);
    key_int(j, "versions_to_come", g->waiting);
    key_int(j, "sentinels", g->sentinels);
    json_object_end(j);
}

static void put_last(struct json *j, const struct explained_node *n)
{
    json_key(j, "last");
    if (!n->result) {
        json_none(j);
        return;
    }
    json_object_begin(j);
    key_text(j, "result", n->result);
    key_text(j, "reason", n->reason);
    json_key(j, "differs");
    json_bool(j, n->differs);
    key_int(j, "old_version", n->old_version);
    key_int(j, "new_version", n->new_version);
    key_time(j, "at", n->at);
    json_object_end(j);
}

static void put_node(struct json *j, const struct explained_node *n)
{
    json_object_begin(j);
    key_int(j, "number", n->number);
    key_text(j, "question", n->question);
    json_key(j, "of");
    json_array_begin(j);
    for (size_t i = 0; i < countof(n->of); i++)
        if (n->of[i])
            json_int(j, n->of[i]);
    json_array_end(j);
    key_text(j, "alias", n->alias);
    json_key(j, "is_whole");
    json_bool(j, n->is_whole);
    json_key(j, "group");
    if (n->group)
        json_int(j, n->group);
    else
        json_none(j);
    explained_names_put(j, "shared_with", &n->shared_with);
    put_last(j, n);
    json_object_end(j);
}

void explained_graph_put(struct json *j, const struct explained_graph *x)
{
    json_key(j, "groups");
    json_array_begin(j);
    for (size_t i = 0; i < x->ngroups; i++)
        put_group(j, &x->groups[i]);
    json_array_end(j);
    json_key(j, "nodes");
    json_array_begin(j);
    for (size_t i = 0; i < x->nnodes; i++)
        put_node(j, &x->nodes[i]);
    json_array_end(j);
    key_time(j, "results_since", x->since);
}

/* ---- and back ------------------------------------------------------------------------- */

static const char *get_text(struct arena *life, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));
    return text ? arena_strdup(life, text) : NULL;
}

static int64_t get_int(const json_t *from, const char *key)
{
    return json_integer_value(json_object_get(from, key));
}

static msec get_time(const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));
    msec at;
    return text && time_parse_iso(text, &at) ? at : MSEC_NEVER;
}

static struct explained_group read_group(struct arena *life, const json_t *from)
{
    return (struct explained_group){
            .url = get_text(life, from, "url"),
            .stream = get_text(life, from, "stream"),
            .compare = get_text(life, from, "compare"),
            .base_version = get_int(from, "base_version"),
            .waiting = get_int(from, "versions_to_come"),
            .sentinels = get_int(from, "sentinels"),
    };
}

static struct explained_node read_node(struct arena *life, const json_t *from)
{
    const json_t *last = json_object_get(from, "last"), *of = json_object_get(from, "of");
    const json_t *shared = json_object_get(from, "shared_with"), *name;
    struct explained_node n = {
            .number = (unsigned)get_int(from, "number"),
            .of = {(unsigned)json_integer_value(json_array_get(of, 0)),
                    (unsigned)json_integer_value(json_array_get(of, 1))},
            .group = (unsigned)get_int(from, "group"),
            .question = get_text(life, from, "question"),
            .alias = get_text(life, from, "alias"),
            .is_whole = json_is_true(json_object_get(from, "is_whole")),
            .result = get_text(life, last, "result"),
            .reason = get_text(life, last, "reason"),
            .differs = json_is_true(json_object_get(last, "differs")),
            .old_version = get_int(last, "old_version"),
            .new_version = get_int(last, "new_version"),
            .at = get_time(last, "at"),
    };
    size_t i;
    json_array_foreach(json_object_get(shared, "names"), i, name)
    {
        explained_name(life, &n.shared_with, arena_strdup(life, json_string_value(name)));
    }
    n.shared_with.total = (size_t)get_int(shared, "count");
    return n;
}

void explained_graph_read(struct arena *life, const char *answer, const char *definition,
        struct explained_graph *ret)
{
    json_t *all = json_loads(answer, 0, NULL), *one;
    const char *text = json_string_value(json_object_get(all, "definition"));
    const json_t *groups = json_object_get(all, "groups"),
                 *nodes = json_object_get(all, "nodes");
    size_t i;
    if (text && strcmp(text, definition) == 0) {
        ret->since = get_time(all, "results_since");
        if (json_array_size(nodes)) {
            ret->ngroups = ret->nnodes = 0;
            ret->groups =
                    arena_array_of(life, json_array_size(groups) + 1, struct explained_group);
            ret->nodes = arena_array_of(life, json_array_size(nodes), struct explained_node);
        }
        json_array_foreach(groups, i, one)
        {
            ret->groups[ret->ngroups++] = read_group(life, one);
        }
        json_array_foreach(nodes, i, one)
        {
            ret->nodes[ret->nnodes++] = read_node(life, one);
        }
    }
    json_decref(all);
}
