/* A sentinel at its pages: taking its places in the streams and in the graph, and leaving.
 *
 * Most watch one page.  A condition over several has a place at each of them, and a joint that
 * puts together what they find (joint.c).  Pages that USING names twice are one place.
 */
#include "engine/engine_int.h"
#include "base/log.h"
#include "engine/question.h"
#include <stdlib.h>

void places_take_up(struct life *l)
{
    struct sentinel *s = l->sentinel;
    l->nplaces = 1 + (s->further ? s->further->count : 0);
    l->places = calloc(l->nplaces, sizeof *l->places);
    CHECK(l->places);
    for (unsigned i = 0; i < l->nplaces; i++) {
        struct place *at = &l->places[i];
        at->life = l;
        at->number = i;
        list_init(&at->in_stream);
        at->page = webpage_of(l->engine, s, i);
        at->page->lives++;
    }
}

struct places places_hold(const struct life *l)
{
    struct places held = {calloc(l->nplaces, sizeof *held.all), l->nplaces};
    CHECK(held.all);
    for (unsigned i = 0; i < held.count; i++) {
        held.all[i].page = l->places[i].page;
        held.all[i].page->lives++;
    }
    return held;
}

void places_give_up(struct places old)
{
    for (unsigned i = 0; i < old.count; i++) {
        struct webpage *page = old.all[i].page;
        page->lives--;
        webpage_free_if_unused(page);
    }
    free(old.all);
}

struct sight *place_sight(const struct place *at)
{
    struct sentinel *s = at->life->sentinel;
    return at->number ? &s->further->all[at->number - 1].sight : &s->sight;
}

/* ---- in ------------------------------------------------------------------------------ */

/* Joins with all that the condition asks of this page. */
static enum err ask(struct place *at, const struct cdg_joint_part *parts, size_t n,
        struct cdg_subscription sub, struct fault *f)
{
    for (size_t i = 0; i < n; i++) {
        if (parts[i].place != at->number)
            continue;
        sub.part = (unsigned)i;
        sub.expr = parts[i].expr;
        enum err e = cdg_join(at->life->engine->cdg, &sub, f);
        if (e)
            return e;
    }
    return OK;
}

static void enter_place(struct place *at, const struct cdg_joint_part *parts, size_t n,
        const struct grammar_definition *d, bool resume)
{
    struct sentinel *s = at->life->sentinel;
    struct fault f = {0};
    at->wants_source = at->remembers = false;
    for (size_t i = 0; i < n; i++) {
        if (parts[i].place != at->number)
            continue;
        at->wants_source |= cdg_wants_source(parts[i].expr);
        at->remembers |= cdg_wants_state(parts[i].expr);
    }
    at->looks_back = d->compare.kind != GRAMMAR_PAIRWISE && d->compare.n > 2;
    int64_t first = stream_join(at, resume);
    struct cdg_subscription sub = {
            .page_id = at->stream->id,
            .sentinel_id = s->id,
            .compare = question_compare(d->compare),
            .base_version = first,
    };
    if (ask(at, parts, n, sub, &f) == OK)
        return;
    log_error("sentinel \"%s\" cannot be run: %s", s->name, f.message);
    cdg_leave(at->life->engine->cdg, at->stream->id, s->id);
    stream_leave(at);
}

void places_enter(struct life *l, bool resume, msec since)
{
    struct sentinel *s = l->sentinel;
    SCRATCH struct arena *scratch = arena_new(NULL, "enter");
    const struct grammar_definition *d = sentinel_parse(s, scratch);
    const struct cdg_expr *expr;
    const struct cdg_joint_part *parts;
    size_t n = 1;
    struct fault f = {0};
    CHECK(d);    /* it was parsed when it was loaded or installed */
    if (!resume) /* what was due may have been jumped over by the clock: it is here from now */
        s->entered_at = since - led_wall(l->engine->led) + led_now(l->engine->led) +
                        l->engine->wall_offset;
    l->has_entered = !resume;
    struct cdg_joint_part whole = {.expr = NULL};
    enum err e = question_of_pages(scratch, d, &f, &expr);
    if (!e && l->nplaces > 1)
        e = cdg_joint_form(scratch, expr, &f, &parts, &n);
    if (e) {
        /* Only after an upgrade backwards: what could be run when it was installed. */
        log_error("sentinel \"%s\" cannot be run: %s", s->name, f.message);
        return;
    }
    whole.expr = expr;
    if (l->nplaces == 1)
        parts = &whole;
    else
        joint_begin(l, parts, n, d->within, resume);
    for (unsigned i = 0; i < l->nplaces; i++)
        enter_place(&l->places[i], parts, n, d, resume);
    l->enabled_alone = false;
}

void places_begin_with(struct life *l, struct arena *a, struct store_step *step)
{
    struct store_sight *sights = arena_array_of(a, l->nplaces, struct store_sight);
    for (unsigned i = 1; i < l->nplaces; i++) {
        struct place *at = &l->places[i];
        int64_t *base = arena_new_of(a, int64_t);
        *base = place_sight(at)->base_version;
        sights[step->nsights++] = (struct store_sight){
                .sentinel_id = l->sentinel->id,
                .place = i,
                .since = l->sentinel->entered_at,
                .seen = base,
                .nseen = *base != 0,
        };
    }
    step->sights = sights;
    step->enters = true;
}

/* ---- and out ------------------------------------------------------------------------- */

static void leave_place(struct place *at)
{
    at->lingers = false;
    free(at->answers);
    at->answers = NULL;
    if (!at->stream)
        return;
    cdg_leave(at->life->engine->cdg, at->stream->id, at->life->sentinel->id);
    stream_leave(at);
}

static void end_joint_if_left(struct life *l)
{
    for (unsigned i = 0; i < l->nplaces; i++)
        if (l->places[i].stream)
            return;
    joint_end(l);
}

void places_leave(struct life *l)
{
    for (unsigned i = 0; i < l->nplaces; i++)
        leave_place(&l->places[i]);
    end_joint_if_left(l);
}

/* A tick at the very end still counts: whoever ends at the instant of its tick stays to be
 * told what the fetch brings, though its stream ticks no more. */
static bool linger(struct place *at)
{
    struct stream *s = at->stream;
    if (!s || !s->waiting || !at->page->transfer ||
            s->last_tick != led_now(at->life->engine->led))
        return false;
    at->lingers = true;
    stream_close_if_all_linger(s);
    return true;
}

void places_linger_or_leave(struct life *l)
{
    for (unsigned i = 0; i < l->nplaces; i++)
        if (!linger(&l->places[i]))
            leave_place(&l->places[i]);
    end_joint_if_left(l);
}

void place_release(struct place *at)
{
    if (!at->lingers)
        return;
    leave_place(at);
    end_joint_if_left(at->life);
}
