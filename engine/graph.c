/* The live graphs as a drawing: events and rules above, pages and sentinels below.
 *
 * In Graphviz's language, since laying out a graph is its job.  Names and URLs come from
 * strangers: every label is escaped here, once.
 */
#include "engine/engine_int.h"
#include "engine/question.h"

/* What the engine calls an event of the detector. */
struct label {
    struct map_node node;
    const struct led_event *event;
    char *name;     /* NULL: none of its own */
    char *listener; /* the node below that hears of it; NULL: none */
    char *effect;   /* what that does then */
};

struct drawing {
    struct engine *engine;
    struct arena *arena;
    struct map labels;
    struct buf *out;
    struct buf edges; /* between the two halves, drawn last so that no node changes sides */
};

static void put_label(struct buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            buf_putc(out, '\\');
        if (*s == '\n')
            buf_puts(out, "\\n");
        else if ((unsigned char)*s >= 0x20)
            buf_putc(out, *s);
    }
}

static struct label *label_event(struct drawing *d, const struct led_event *event)
{
    struct label *l = arena_new_of(d->arena, struct label);
    l->event = event;
    map_insert(&d->labels, &l->node, map_hash(&event, sizeof event));
    return l;
}

static void name_event(struct drawing *d, const struct led_event *event, char *name)
{
    if (event)
        label_event(d, event)->name = name;
}

static void hear_event(
        struct drawing *d, const struct led_event *event, char *listener, const char *effect)
{
    struct label *l = label_event(d, event);
    l->listener = listener;
    l->effect = arena_strdup(d->arena, effect);
}

static void collect_labels(struct drawing *d)
{
    struct engine *e = d->engine;
    struct arena *a = d->arena;
    map_each (n, &e->directory.by_id) {
        struct sentinel *s = container_of(n, struct sentinel, by_id);
        struct life *l = s->life;
        char *below = arena_printf(a, "s%lld", (long long)s->id);
        name_event(d, l->start, arena_printf(a, "Start(%s)", s->name));
        name_event(d, l->end, arena_printf(a, "End(%s)", s->name));
        if (l->start_rule)
            hear_event(d, led_rule_event(l->start_rule), below, "starts");
        if (l->end_rule)
            hear_event(d, led_rule_event(l->end_rule), below, "ends");
    }
    map_each (n, &e->pages_by_id) {
        struct webpage *p = container_of(n, struct webpage, by_id);
        list_each (pos, &p->streams) {
            struct stream *s = list_entry(pos, struct stream, of_page);
            name_event(d, s->opener, arena_strdup(a, "DS"));
            name_event(d, s->closer, arena_strdup(a, "DE"));
            hear_event(d, s->ticks, arena_printf(a, "t%lld", (long long)s->id), "fetch");
        }
    }
}

/* An event may have a name, and several who listen: equal expressions are one event. */
static void draw_node(void *ctx, const struct led_node_view *v)
{
    struct drawing *d = ctx;
    struct buf *out = d->out;
    unsigned long long id = v->id;
    char at[TIME_TEXT_SIZE];
    const char *name = v->operator_name;
    struct map_node *first = map_first(&d->labels, map_hash(&v->event, sizeof v->event));
    for (struct map_node *n = first; n; n = map_next(n)) {
        struct label *l = container_of(n, struct label, node);
        if (l->event != v->event)
            continue;
        name = l->name ? l->name : name;
        if (l->listener)
            buf_printf(&d->edges, "    e%llu -> %s [style=dashed label=\"%s\"];\n", id,
                    l->listener, l->effect);
    }
    buf_printf(out, "    e%llu [shape=ellipse label=\"", id);
    put_label(out, name);
    if (v->operand_count)
        buf_printf(out, "\\n%s", led_context_name(v->context));
    buf_printf(out, "\\noccurred %llu time%s", (unsigned long long)v->occurrences,
            v->occurrences == 1 ? "" : "s");
    if (v->pending_timers)
        buf_printf(out, "\\n%zu timer%s, next %s", v->pending_timers,
                v->pending_timers == 1 ? "" : "s",
                time_iso(engine_wall_of(d->engine, v->next), at));
    buf_puts(out, "\"];\n");
    for (size_t i = 0; i < v->operand_count; i++)
        buf_printf(out, "    e%llu -> e%llu;\n", (unsigned long long)v->operands[i], id);
}

static void draw_sentinel(struct buf *out, const struct sentinel *s)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "label");
    buf_printf(out, "    s%lld [shape=box style=rounded label=\"", (long long)s->id);
    put_label(out, s->name);
    buf_printf(out, "\\n%s\\n", sentinel_state(s));
    put_label(out, sentinel_words(s, scratch).monitor);
    buf_puts(out, "\"];\n");
}

/* What a stream sees, group by group. */
struct groups {
    struct drawing *drawing;
    struct stream *stream;
    uint64_t drawn; /* the newest one */
    struct cdg_compare compare;
    bool is_labelled;
};

static void draw_group(const struct cdg_group_view *v, void *arg)
{
    struct groups *g = arg;
    g->drawn = v->number;
    g->compare = v->compare;
    g->is_labelled = false;
}

/* A node is asked in several groups, and found to be something in each. */
static void put_node_name(struct buf *out, const struct groups *g, uint64_t id)
{
    buf_printf(out, "n%lld_%llu_%llu", (long long)g->stream->id, (unsigned long long)g->drawn,
            (unsigned long long)id);
}

static void draw_operand(const struct groups *g, uint64_t from, uint64_t to)
{
    struct buf *out = g->drawing->out;
    buf_puts(out, "    ");
    if (from)
        put_node_name(out, g, from);
    else
        buf_printf(out, "g%lld_%llu", (long long)g->stream->id, (unsigned long long)g->drawn);
    buf_puts(out, " -> ");
    put_node_name(out, g, to);
    buf_puts(out, ";\n");
}

static void put_question(struct buf *out, const struct cdg_node_view *v)
{
    static const char *const operators[] = {
            [CDG_AND] = "AND", [CDG_OR] = "OR", [CDG_NOT] = "NOT"};
    char shown[200];
    BUF(text, 1 << 20);
    if (v->op == CDG_LEAF)
        question_print_leaf(&text, v->leaf);
    else
        buf_puts(&text, operators[v->op]);
    str_copy(shown, sizeof shown, buf_text(&text));
    put_label(out, shown);
    buf_puts(out, strlen(shown) < text.len ? "…" : "");
}

/* A question or a composite, with what it was found to be the last time. */
static void draw_question(const struct cdg_node_view *v, void *arg)
{
    static const char *const words[] = {
            [CDG_C] = "changed", [CDG_N] = "unchanged", [CDG_U] = "not computed"};
    const struct groups *g = arg;
    struct buf *out = g->drawing->out;
    buf_puts(out, "    ");
    put_node_name(out, g, v->id);
    buf_printf(out, " [shape=%s label=\"", v->op == CDG_LEAF ? "note" : "diamond");
    put_question(out, v);
    if (v->last) {
        buf_printf(out, "\\n%s, v%lld→v%lld", words[v->last->result],
                (long long)v->last->old_version, (long long)v->last->new_version);
        if (*v->last->reason) {
            buf_puts(out, "\\n");
            put_label(out, v->last->reason);
        }
    }
    buf_puts(out, "\"];\n");
    if (v->op == CDG_LEAF)
        draw_operand(g, 0, v->id);
    if (v->left)
        draw_operand(g, v->left, v->id);
    if (v->right)
        draw_operand(g, v->right, v->id);
}

/* How long a group waits its members know. */
static void label_group(struct groups *g, const struct cdg_member_view *v)
{
    static const char *const words[] = {
            [CDG_PAIRWISE] = "pairwise", [CDG_MOVING] = "moving", [CDG_EVERY] = "every"};
    struct buf *out = g->drawing->out;
    long long stream = g->stream->id;
    unsigned long long number = g->drawn;
    g->is_labelled = true;
    buf_printf(out, "    g%lld_%llu [shape=component label=\"%s", stream, number,
            words[g->compare.kind]);
    if (g->compare.kind != CDG_PAIRWISE)
        buf_printf(out, ":%u", g->compare.n);
    buf_printf(out, "\\n%lld version%s to come\"];\n", (long long)v->waiting,
            v->waiting == 1 ? "" : "s");
    buf_printf(out, "    t%lld -> g%lld_%llu;\n", stream, stream, number);
}

static void draw_member(const struct cdg_member_view *v, void *arg)
{
    struct groups *g = arg;
    struct buf *out = g->drawing->out;
    if (!g->is_labelled)
        label_group(g, v);
    buf_puts(out, "    ");
    put_node_name(out, g, v->root);
    buf_printf(out, " -> s%lld;\n", (long long)v->sentinel_id);
}

static void draw_pages(struct drawing *d)
{
    struct engine *e = d->engine;
    struct buf *out = d->out;
    map_each (n, &e->directory.by_id)
        draw_sentinel(out, container_of(n, struct sentinel, by_id));
    map_each (n, &e->pages_by_id) {
        struct webpage *p = container_of(n, struct webpage, by_id);
        buf_printf(out, "    p%lld [shape=folder label=\"", (long long)p->id);
        put_label(out, p->url);
        const char *const *frames;
        size_t nframes = webframes_urls(p, &frames);
        for (size_t i = 0; i < nframes; i++) {
            buf_puts(out, "\\nframe ");
            put_label(out, frames[i]);
        }
        buf_printf(out, "\\n%lld version%s, %lld fetches\"];\n", (long long)p->latest,
                p->latest == 1 ? "" : "s", (long long)p->fetches);
        list_each (pos, &p->streams) {
            struct stream *s = list_entry(pos, struct stream, of_page);
            char span[TIME_TEXT_SIZE];
            buf_printf(out, "    t%lld [shape=cds label=\"%s%s\\n%lld seen\"];\n",
                    (long long)s->id, s->period ? "every " : "on change, now ",
                    time_span(s->interval, span), (long long)s->looked);
            buf_printf(out, "    t%lld -> p%lld;\n", (long long)s->id, (long long)p->id);
            static const struct cdg_viewer viewer = {draw_group, draw_question, draw_member};
            struct groups groups = {.drawing = d, .stream = s};
            cdg_view_page(e->cdg, s->id, s->position, &viewer, &groups);
        }
    }
}

void engine_graph_dot(struct engine *e, struct buf *out)
{
    SCRATCH struct arena *arena = arena_new(NULL, "graph");
    struct drawing d = {.engine = e, .arena = arena, .out = out};
    map_init(&d.labels);
    buf_init(&d.edges, 64 << 20);
    collect_labels(&d);
    buf_puts(out, "digraph vigil {\n    rankdir=LR;\n    node [fontname=\"sans-serif\" "
                  "fontsize=10];\n"
                  "    edge [fontname=\"sans-serif\" fontsize=9];\n"
                  "    subgraph cluster_events {\n    label=\"events\";\n    color=gray;\n");
    led_each_node(e->led, draw_node, &d);
    buf_puts(out, "    }\n    subgraph cluster_pages {\n    label=\"pages and sentinels\";\n"
                  "    color=gray;\n");
    draw_pages(&d);
    buf_printf(out, "    }\n%s}\n", buf_text(&d.edges));
    buf_done(&d.edges);
    map_done(&d.labels);
}
