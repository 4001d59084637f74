/* Streams: what one fetch rule sees of a page.
 *
 * All on-change sentinels of a page share one stream, and so do fixed-interval ones whose
 * period and phase agree.  A stream is P(DS, [T], DE): its first member raises the opener DS,
 * the last one to leave raises the closer DE, and each tick in between asks for the page.
 *
 *  (1) The phase is that of the instant the first member entered; it survives restarts.
 *  (2) A tick at the very end of a lifespan still counts.
 *  (3) A stream counts the versions it has seen itself; what came and went between two of
 *      its fetches does not exist for it.
 *  (4) The version current when a sentinel arrives is its first.  So it shares a stream only
 *      if that one has seen the same version last, and after a restart only if what both
 *      still know of the versions before is the same.
 */
#include "engine/engine_int.h"
#include "base/log.h"
#include <stdlib.h>

static void tick(void *arg, const struct led_occurrence *o)
{
    struct stream *s = arg;
    s->last_tick =
            o->missed ? s->opened + (o->end - s->opened) / s->interval * s->interval : o->end;
    s->page->engine->shared_fetches += s->nmembers - 1; /* one request for all of them */
    webpage_want(s->page, s);
}

static msec interval_of(struct webpage *p, msec period)
{
    if (period)
        return period;
    return webpage_learned_interval(p);
}

static struct stream *stream_new(struct webpage *p, msec period)
{
    struct engine *e = p->engine;
    struct stream *s = calloc(1, sizeof *s);
    CHECK(s);
    s->page = p;
    s->id = ++e->next_stream_id;
    s->period = period;
    s->interval = interval_of(p, period);
    s->last_tick = MSEC_NEVER;
    list_init(&s->members);
    list_append(&p->streams, &s->of_page);

    struct fault f = {0};
    s->opener = led_primitive(e->led, NULL);
    s->closer = led_primitive(e->led, NULL);
    CHECK(led_periodic(e->led, s->opener, s->interval, s->closer, &f, &s->ticks) == OK);
    struct led_rule_spec spec = {
            .action = tick, .arg = s, .context = LED_RECENT, .mode = LED_PREVIOUS};
    CHECK(led_rule_new(e->led, s->ticks, &spec, &f, &s->rule) == OK);
    return s;
}

static void stream_free(struct stream *s)
{
    struct engine *e = s->page->engine;
    led_rule_delete(e->led, s->rule);
    led_event_drop(e->led, s->ticks);
    led_event_drop(e->led, s->opener);
    led_event_drop(e->led, s->closer);
    list_remove(&s->of_page);
    seen_done(&s->seen);
    free(s);
}

int64_t stream_version(const struct stream *s)
{
    return seen_at(&s->seen, 0);
}

void stream_saw(struct stream *s, int64_t version)
{
    s->looking_at = 0;
    if (!version)
        return;
    seen_push(&s->seen, version);
    s->position++;
    s->looked++;
    int64_t oldest = cdg_oldest_needed(s->page->engine->cdg, s->id, s->position);
    seen_keep(
            &s->seen, oldest && oldest < s->position ? (size_t)(s->position - oldest) + 1 : 1);
}

/* The stream this place can share; `before` is what it has seen itself: (4). */
static struct stream *stream_find(
        struct webpage *p, msec period, msec entered, const struct seen *before)
{
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        int64_t newest = s->looking_at ? s->looking_at : stream_version(s);
        if (s->closed || /* only those are in it who wait for its last fetch */
                s->period != period || (period && (entered - s->opened) % period != 0))
            continue;
        if (newest == seen_at(before, 0) && (s->looking_at || seen_agrees(&s->seen, before)))
            return s;
    }
    return NULL;
}

/* The newest point of the grid that lies at or before the page's last fetch: the ticks up to
 * there were served, those behind it were missed. */
static msec last_served(const struct stream *s)
{
    msec fetched = s->page->last_fetch;
    if (fetched == MSEC_NEVER || fetched > led_now(s->page->engine->led))
        return MSEC_NEVER;
    if (s->period == 0) /* the learned interval has changed since, and counts from here */
        return fetched > s->opened ? fetched : MSEC_NEVER;
    if (fetched < s->opened + s->interval)
        return MSEC_NEVER;
    return s->opened + (fetched - s->opened) / s->interval * s->interval;
}

static void stream_open(struct stream *s, msec entered, bool resume)
{
    struct engine *e = s->page->engine;
    struct fault f = {0};
    s->opened = entered;
    if (!resume) {
        msec late = led_now(e->led) - entered;
        if (late < 0 || late >= s->interval)
            s->opened = led_now(e->led);
        CHECK(led_raise_at(e->led, s->opener, s->opened, 0, &f) == OK);
        return;
    }
    /* A clock that was set back, or somebody due before this one entered, can put its opening
     * ahead of where the detector begins: an earlier point of the same grid does as well. */
    msec ahead = s->opened - led_now(e->led);
    if (ahead > 0)
        s->opened -= (ahead + s->interval - 1) / s->interval * s->interval;
    s->last_tick = last_served(s);
    CHECK(led_resume_periodic(e->led, s->ticks, LED_RECENT, s->opened, s->last_tick, &f) == OK);
}

/* The baseline: a newcomer needs a version to compare with, unless one was verified less
 * than an interval ago. */
static bool has_baseline(const struct stream *s)
{
    const struct webpage *p = s->page;
    msec now = engine_wall(p->engine);
    return p->latest && p->verified != MSEC_NEVER && now - p->verified < s->interval;
}

/* The version a stream begins with.  A stored one nobody has looked after says nothing of
 * what the page is now: then it is the one the baseline brings.  Only of an instant when
 * nobody was there the stored one is the nearest we know. */
static int64_t first_version(const struct stream *s, const struct place *at)
{
    const struct webpage *p = s->page;
    if (p->visiting)
        return p->visiting;
    return has_baseline(s) || at->life->enabled_alone ? p->latest : 0;
}

/* Where counting begins.  Positions are only ever compared with each other; after a restart
 * they begin high enough for those who look back the farthest. */
enum { FIRST_POSITION = 1, POSITION_AFTER_RESTART = CDG_COMPARE_MAX };

/* What the place has seen before it joins: after a restart what is stored, else the version
 * that is current, also when it is still on its way through a visit. */
static struct seen seen_before(struct place *at, bool resume, int64_t *room)
{
    const struct sight *sight = place_sight(at);
    if (resume && sight->seen.count && seen_at(&sight->seen, 0) == sight->last_version)
        return sight->seen;
    *room = resume               ? sight->last_version
            : at->page->visiting ? at->page->visiting
                                 : at->page->latest;
    if (*room > at->page->latest &&
            resume) /* an older engine counted further pages' versions */
        *room = at->page->latest;
    return (struct seen){.all = room, .count = *room != 0};
}

int64_t stream_join(struct place *at, bool resume)
{
    struct sentinel *who = at->life->sentinel;
    struct webpage *p = at->page;
    msec entered = who->entered_at - at->life->engine->wall_offset;
    int64_t room;
    struct seen before = seen_before(at, resume, &room);
    struct stream *s = stream_find(p, who->fetch_every, entered, &before);
    if (!s) {
        s = stream_new(p, who->fetch_every);
        stream_open(s, entered, resume);
        if (!resume)
            before.count = (room = first_version(s, at)) != 0;
        if (before.count)
            s->position = resume ? POSITION_AFTER_RESTART : FIRST_POSITION;
    }
    if (!resume)
        sight_begin(place_sight(at), before.count ? room : 0);
    if (!s->looking_at)
        seen_merge(&s->seen, &before);
    list_append(&s->members, &at->in_stream);
    s->nmembers++;
    s->want_source += at->wants_source;
    at->stream = s;
    int64_t first = s->looking_at  ? s->position + 1
                    : before.count ? s->position - ((int64_t)before.count - 1)
                                   : s->position;
    if ((!resume || !p->latest) && !has_baseline(s))
        webpage_want(p, s);
    return first;
}

void stream_leave(struct place *at)
{
    struct stream *s = at->stream;
    struct led *led = at->life->engine->led;
    struct fault f = {0};
    at->stream = NULL;
    s->want_source -= at->wants_source;
    list_remove(&at->in_stream);
    s->nmembers--;
    if (!list_is_empty(&s->members))
        return;
    if (led_raise(led, s->closer, 0, &f) != OK)
        log_error("closing a fetch rule: %s", f.message);
    stream_free(s);
}

void stream_close_if_all_linger(struct stream *s)
{
    struct fault f = {0};
    list_each (m, &s->members)
        if (!list_entry(m, struct place, in_stream)->lingers)
            return;
    s->closed = true;
    if (led_raise(s->page->engine->led, s->closer, 0, &f) != OK)
        log_error("closing a fetch rule: %s", f.message);
}

msec stream_next_tick(const struct stream *s)
{
    msec last = s->last_tick == MSEC_NEVER ? s->opened : s->last_tick;
    return last + s->interval;
}

void stream_set_interval(struct stream *s, msec interval)
{
    struct fault f = {0};
    if (interval == s->interval)
        return;
    s->interval = interval;
    if (led_rearm(s->page->engine->led, s->ticks, interval, &f) != OK)
        log_error("the learned interval of %s was not applied: %s", s->page->url, f.message);
    overdue_expect(s);
}
