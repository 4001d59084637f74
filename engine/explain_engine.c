/* What a running engine knows of a sentinel's part of the graph, for `vigil explain`. */
#include "engine/engine_int.h"
#include "engine/explain.h"

static const char *stream_text(struct arena *life, const struct stream *s)
{
    char span[TIME_TEXT_SIZE];
    return arena_printf(life, "%s%s", s->period ? "every " : "on change, now every ",
            time_span(s->interval, span));
}

/* `name` may come from anywhere; nobody by that name, or nobody in the graph, has no nodes. */
void engine_explain_json(struct engine *e, const char *name, struct buf *out)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "explain");
    const struct sentinel *s = directory_find(&e->directory, name);
    const struct life *l = s ? s->life : NULL;
    struct explained_graph graph = {.nnodes = 0};
    struct json j;
    if (l) {
        static const struct seen nothing;
        struct explain_spot *spots = arena_array_of(scratch, l->nplaces, struct explain_spot);
        for (unsigned i = 0; i < l->nplaces; i++) {
            const struct stream *at = l->places[i].stream;
            spots[i] = (struct explain_spot){
                    .page_id = at ? at->id : 0, /* which no stream has */
                    .position = at ? at->position : 0,
                    .seen = at ? &at->seen : &nothing,
                    .url = l->places[i].page->url,
                    .stream = at ? stream_text(scratch, at) : "",
            };
        }
        explain_graph(scratch, &e->directory, e->cdg, s, spots, &graph);
    }
    graph.since = e->started_at;
    json_init(&j, out);
    json_object_begin(&j);
    json_key(&j, "definition");
    json_text(&j, s ? s->definition : NULL);
    explained_graph_put(&j, &graph);
    json_object_end(&j);
    buf_putc(out, '\n');
}
