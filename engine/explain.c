#include "engine/explain.h"
#include "engine/question.h"
#include "fetch/learn.h"

enum { NAMES_SHOWN = CDG_SHARERS_SHOWN, CHAIN_MAX = 20 };

void explained_name(struct arena *life, struct explained_names *to, const char *name)
{
    if (!to->names)
        to->names = arena_array_of(life, NAMES_SHOWN, const char *);
    if (to->shown < NAMES_SHOWN)
        to->names[to->shown++] = name;
    to->total++;
}

static const char *duration(struct arena *life, msec d)
{
    BUF(text, 256);
    grammar_print_duration(&text, d);
    return arena_strdup(life, buf_text(&text));
}

static const char *instant(struct arena *life, msec at)
{
    char text[TIME_TEXT_SIZE];
    return arena_strdup(life, time_iso(at, text));
}

/* ---- lifespan ------------------------------------------------------------------------ */

static bool hangs_on_other(const struct point *p)
{
    return p->kind == GRAMMAR_TIME_START || p->kind == GRAMMAR_TIME_END;
}

/* "starts 1 day after end(s1), which ends 2026-12-02T00:00Z": follows the chain until an
 * instant is known, or nothing is. */
static const char *sentence(struct arena *life, const struct directory *d,
        const struct sentinel *s, bool of_start, unsigned depth)
{
    const struct point *p = of_start ? &s->from : &s->to;
    const char *verb = of_start ? "starts" : "ends";
    msec at = of_start ? s->starts_at : s->ends_at;
    msec was = of_start ? s->started_at : s->ended_at;
    if (was != MSEC_NEVER)
        return arena_printf(life, "%s %s", of_start ? "started" : "ended", instant(life, was));
    if (hangs_on_other(p)) {
        const struct sentinel *other = directory_find(d, p->of);
        bool on_start = p->kind == GRAMMAR_TIME_START;
        const char *which = arena_printf(life, "%s%s%s(%s)", verb,
                p->offset ? arena_printf(life, " %s after ", duration(life, p->offset))
                          : " with ",
                on_start ? "start" : "end", p->of);
        if (!other || depth == CHAIN_MAX)
            return which;
        return arena_printf(
                life, "%s, which %s", which, sentence(life, d, other, on_start, depth + 1));
    }
    if (at != MSEC_NEVER)
        return arena_printf(life, "%s %s", verb, instant(life, at));
    if (!of_start && p->kind == GRAMMAR_TIME_FOR)
        return arena_printf(life, "ends %s after it starts", duration(life, p->offset));
    return arena_printf(life, "never %s", of_start ? "starts" : "ends");
}

static const char *waits_for(
        struct arena *life, const struct directory *d, const struct sentinel *s)
{
    const char *end = sentence(life, d, s, false, 0);
    if (s->phase == PHASE_ENDED)
        return end;
    const char *paused = s->enabled ? "" : "; it is disabled and does not look";
    return arena_printf(life, "%s; %s%s", sentence(life, d, s, true, 0), end, paused);
}

static const char *expression(
        struct arena *life, const struct sentinel *s, const struct point *p, msec at)
{
    if (hangs_on_other(p)) {
        const char *event = arena_printf(
                life, "%s(%s)", p->kind == GRAMMAR_TIME_START ? "Start" : "End", p->of);
        return p->offset ? arena_printf(life, "PLUS(%s, %s)", event, duration(life, p->offset))
                         : event;
    }
    if (p->kind == GRAMMAR_TIME_FOR)
        return arena_printf(life, "PLUS(Start(%s), %s)", s->name, duration(life, p->offset));
    return at == MSEC_NEVER ? "never" : arena_printf(life, "[%s]", instant(life, at));
}

/* Its start or end as things stand, through those it hangs on; MSEC_NEVER: nobody knows. */
static msec expected(
        const struct directory *d, const struct sentinel *s, bool of_start, unsigned depth)
{
    const struct point *p = of_start ? &s->from : &s->to;
    msec was = of_start ? s->started_at : s->ended_at;
    msec base = was != MSEC_NEVER ? was : of_start ? s->starts_at : s->ends_at;
    if (base != MSEC_NEVER || depth == CHAIN_MAX)
        return base;
    const struct sentinel *other = hangs_on_other(p) ? directory_find(d, p->of) : NULL;
    if (other)
        base = expected(d, other, p->kind == GRAMMAR_TIME_START, depth + 1);
    else if (p->kind == GRAMMAR_TIME_FOR)
        base = expected(d, s, true, depth + 1);
    return base == MSEC_NEVER ? base : base + p->offset;
}

static const char *when(struct arena *life, msec was, msec due)
{
    if (was != MSEC_NEVER)
        return arena_printf(life, "occurred %s", instant(life, was));
    return due == MSEC_NEVER ? "not known yet"
                             : arena_printf(life, "due %s", instant(life, due));
}

static void lifespan_events(struct arena *life, const struct directory *d, struct explained *x)
{
    const struct sentinel *s = x->sentinel;
    x->events[0] = (struct explained_event){
            .name = arena_printf(life, "Start(%s)", s->name),
            .expression = expression(life, s, &s->from, s->starts_at),
            .when = when(life, s->started_at, expected(d, s, true, 0)),
    };
    x->events[1] = (struct explained_event){
            .name = arena_printf(life, "End(%s)", s->name),
            .expression = expression(life, s, &s->to, s->ends_at),
            .when = when(life, s->ended_at, expected(d, s, false, 0)),
    };
    struct relation *at = NULL;
    struct sentinel *other;
    while ((other = directory_next_dependant(d, s->name, &at))) {
        const struct point *points[] = {&other->from, &other->to};
        for (size_t i = 0; i < countof(points); i++)
            if (points[i]->of && hangs_on_other(points[i]) &&
                    grammar_name_equal(points[i]->of, s->name))
                explained_name(life, &x->events[points[i]->kind == GRAMMAR_TIME_END].listeners,
                        other->name);
    }
    x->rules[0] = (struct explained_rule){x->events[0].name,
            "enter the change-detection graph, join the fetch rule, fetch a first version"};
    x->rules[1] = (struct explained_rule){
            x->events[1].name, "leave the graph and the fetch rule, settle what is owed"};
}

/* ---- fetching ------------------------------------------------------------------------ */

static msec interval_of(const struct sentinel *s, const struct explain_page *page)
{
    if (s->fetch_every)
        return s->fetch_every;
    return page->learned ? page->learned : fetch_learn_defaults.first;
}

/* When it took, or will take, its place; MSEC_NEVER: not known before it starts. */
static msec entry(const struct sentinel *s)
{
    return s->phase == PHASE_RUNNING && s->entered_at != MSEC_NEVER ? s->entered_at
                                                                    : s->starts_at;
}

/* A sentinel at one of its pages. */
struct standing {
    const struct sentinel *sentinel;
    unsigned place;
};

static const char *url_of(const struct standing *at)
{
    const struct sentinel *s = at->sentinel;
    return at->place ? s->further->all[at->place - 1].url : s->url;
}

static int64_t page_id_of(const struct standing *at)
{
    const struct sentinel *s = at->sentinel;
    return at->place ? s->further->all[at->place - 1].page_id : s->page_id;
}

static unsigned places_of(const struct sentinel *s)
{
    return 1 + (s->further ? s->further->count : 0);
}

/* Pages are known by their numbers once they are installed; before, by what is asked of them.
 */
static bool is_same_page(const struct standing *a, const struct standing *b)
{
    if (page_id_of(a) && page_id_of(b))
        return page_id_of(a) == page_id_of(b);
    SCRATCH struct arena *scratch = arena_new(NULL, "pages");
    return strcmp(url_of(a), url_of(b)) == 0 &&
           strcmp(sentinel_words(a->sentinel, scratch).request,
                   sentinel_words(b->sentinel, scratch).request) == 0;
}

static bool shares_stream(const struct standing *at, const struct standing *other)
{
    const struct sentinel *a = at->sentinel, *b = other->sentinel;
    if (a == b || b->phase == PHASE_ENDED || !b->enabled || a->fetch_every != b->fetch_every ||
            !is_same_page(at, other))
        return false;
    if (a->fetch_every == 0)
        return true;
    msec x = entry(a), y = entry(b);
    return x != MSEC_NEVER && y != MSEC_NEVER && (x - y) % a->fetch_every == 0;
}

static const char *pages_of(struct arena *life, const struct sentinel *s)
{
    const char *all = s->url;
    for (unsigned i = 0; s->further && i < s->further->count; i++)
        all = arena_printf(life, "%s, %s", all, s->further->all[i].url);
    return all;
}

static void fetch_rule(
        struct arena *life, const struct explain_page *page, msec now, struct explained *x)
{
    const struct sentinel *s = x->sentinel;
    const char *every = duration(life, interval_of(s, page));
    bool is_active = sentinel_is_active(s);
    x->next_fetch = is_active                   ? page->next_fetch
                    : s->phase == PHASE_WAITING ? s->starts_at
                                                : MSEC_NEVER;
    x->events[2] = (struct explained_event){
            .name = "Tick",
            .expression = arena_printf(life, "P(DS, %s, DE)", every),
            .when = x->next_fetch == MSEC_NEVER ? "nobody is there to open it"
                                                : when(life, MSEC_NEVER, x->next_fetch),
    };
    x->pages = pages_of(life, s);
    x->rules[2] = (struct explained_rule){"Tick", arena_printf(life, "fetch %s", x->pages)};
    x->stream = s->fetch_every ? arena_printf(life, "every %s, counted from its start", every)
                : page->learned
                        ? arena_printf(life, "on change, every %s as learned so far", every)
                        : arena_printf(life, "on change, every %s to begin with", every);
    x->next_why = !is_active ? s->phase == PHASE_WAITING
                                       ? "it fetches a first version when it starts"
                                       : "it does not look"
                  : page->error && page->next_fetch > now
                          ? arena_printf(life, "it waits after a failure: %s", page->error)
                  : page->next_fetch == MSEC_NEVER ? "no fetch was made yet"
                  : s->fetch_every                 ? "the next point of its period"
                                   : arena_printf(life, "%s after the last fetch", every);
}

/* ---- the graph ----------------------------------------------------------------------- */

/* Positions are only compared with each other; this one leaves room to look back. */
enum { NEWEST_POSITION = CDG_COMPARE_MAX };

static const struct sight *sight_of(const struct standing *at)
{
    const struct sentinel *s = at->sentinel;
    return at->place ? &s->further->all[at->place - 1].sight : &s->sight;
}

/* Joins a graph made for this explanation with what it asks of the page. */
static void ask(struct cdg *g, int64_t page_id, const struct standing *at)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "ask");
    const struct grammar_definition *d = sentinel_parse(at->sentinel, scratch);
    const struct sight *sight = sight_of(at);
    const struct cdg_expr *expr;
    struct cdg_joint_part whole = {.expr = NULL};
    const struct cdg_joint_part *parts = &whole;
    size_t n = 1;
    if (!d || question_of_pages(scratch, d, NULL, &expr) != OK)
        return;
    whole.expr = expr;
    if (at->sentinel->further && cdg_joint_form(scratch, expr, NULL, &parts, &n) != OK)
        return;
    struct cdg_subscription sub = {
            .page_id = page_id,
            .sentinel_id = at->sentinel->id,
            .compare = question_compare(d->compare),
            .base_version = !sight->last_version ? 0
                            : sight->seen.count
                                    ? NEWEST_POSITION - ((int64_t)sight->seen.count - 1)
                                    : NEWEST_POSITION,
    };
    for (size_t i = 0; i < n; i++) {
        if (parts[i].place != at->place)
            continue;
        sub.part = (unsigned)i;
        sub.expr = parts[i].expr;
        if (cdg_join(g, &sub, NULL) != OK)
            return; /* only what this Vigil cannot run */
    }
}

/* The graph as the definitions make it: what an engine would build. */
static void graph_nodes(struct arena *life, const struct directory *d, struct explained *x)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "graph");
    const struct sentinel *s = x->sentinel;
    unsigned n = places_of(s);
    struct cdg *g = cdg_new(scratch);
    struct explain_spot *spots = arena_array_of(scratch, n, struct explain_spot);
    for (unsigned i = 0; i < n; i++) {
        struct standing at = {s, i};
        const struct sight *sight = sight_of(&at);
        struct seen *seen = arena_new_of(scratch, struct seen);
        *seen = sight->seen.count
                        ? sight->seen
                        : (struct seen){.all = (int64_t *)&sight->last_version, .count = 1};
        spots[i] = (struct explain_spot){
                .page_id = (int64_t)i + 1,
                .position = sight->last_version ? NEWEST_POSITION : 0,
                .seen = seen,
                .url = url_of(&at),
                .stream = x->words.fetch,
        };
        ask(g, spots[i].page_id, &at);
    }
    map_each (pos, &d->by_id) {
        struct standing other = {container_of(pos, struct sentinel, by_id), 0};
        for (; other.place < places_of(other.sentinel); other.place++)
            for (unsigned i = 0; i < n; i++) {
                if (!shares_stream(&(struct standing){s, i}, &other))
                    continue;
                if (i == 0)
                    explained_name(life, &x->stream_with, other.sentinel->name);
                ask(g, spots[i].page_id, &other);
            }
    }
    explain_graph(life, d, g, s, spots, &x->graph);
}

struct explained *explain(struct arena *life, const struct directory *d,
        const struct sentinel *s, const struct explain_page *page, msec now)
{
    struct explained *x = arena_new_of(life, struct explained);
    x->sentinel = s;
    x->page = page;
    x->words = sentinel_words(s, life);
    x->waits_for = waits_for(life, d, s);
    lifespan_events(life, d, x);
    fetch_rule(life, page, now, x);
    graph_nodes(life, d, x);
    double each = (double)MSEC_PER_DAY / (double)interval_of(s, page);
    double first = each * (double)(1 + page->nframes);
    double further = each * (s->further ? s->further->count : 0);
    x->fetches_alone = first + further;
    x->fetches_shared = first / (double)(x->stream_with.total + 1) + further;
    return x;
}
