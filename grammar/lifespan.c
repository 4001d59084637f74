/* FROM and TO: when a sentinel lives.
 *
 *  (1) A FROM of up to a minute ago is now: somebody typed that long.  Today's date without a
 *      clock is now as well.
 *  (2) A day without a clock means its beginning after FROM and its end after TO.
 *  (3) A negative offset needs an instant that is known, and ahead.
 *  (4) Nothing hangs on what is over: not on an ended sentinel, and on the start of a running
 *      one only as far as that instant is still ahead.
 */
#include "grammar/check_int.h"

#define TYPING_TIME MSEC_PER_MINUTE
#define DEFAULT_LIFE (365 * MSEC_PER_DAY)

/* ---- dates -------------------------------------------------------------------------- */

static struct zone_cache *zone_get(struct check *ck, const char *name)
{
    for (struct zone_cache *z = ck->zones; z; z = z->next)
        if (strcmp(z->name, name) == 0)
            return z;
    struct zone_cache *z = arena_new_of(ck->life, struct zone_cache);
    z->name = name;
    z->exists = zone_find(ck->life, ck->world->zoneinfo, name, &z->zone);
    z->next = ck->zones;
    ck->zones = z;
    return z;
}

static bool date_zone(struct check *ck, const struct grammar_date *d, struct grammar_pos pos,
        const struct zone **ret_zone)
{
    const char *name = d->zone ? d->zone : ck->world->zone ? ck->world->zone : "UTC";
    struct zone_cache *z = zone_get(ck, name);
    *ret_zone = z->zone;
    if (z->exists)
        return true;
    struct grammar_diagnostic *e = check_error(ck, GRAMMAR_E032,
            d->zone_pos.line ? d->zone_pos : pos, "unknown time zone \"%s\"", name);
    report_nearest(ck->script, e,
            word_nearest(str_of(name), zone_abbreviations, n_zone_abbreviations));
    report_hint(
            ck->script, e, "Write UTC, an offset like +01:00, or a zone like Europe/Berlin.");
    return false;
}

bool date_instant(struct check *ck, const struct grammar_date *d, bool end_of_day,
        struct grammar_pos pos, msec *ret_at)
{
    const struct zone *zone;
    if (!date_zone(ck, d, pos, &zone))
        return false;
    msec local = civil_days(d->year, d->month, d->day) * MSEC_PER_DAY;
    if (d->has_clock)
        local += d->hour * MSEC_PER_HOUR + d->minute * MSEC_PER_MINUTE +
                 d->second * MSEC_PER_SECOND + d->ms;
    else if (end_of_day)
        local += MSEC_PER_DAY; /* (2) */
    *ret_at = zone_instant(zone, local);
    return true;
}

static bool is_today(struct check *ck, const struct grammar_date *d)
{
    const struct zone *zone;
    if (d->has_clock || !date_zone(ck, d, (struct grammar_pos){0}, &zone))
        return false;
    int64_t day = civil_days(d->year, d->month, d->day);
    msec local = zone_local(zone, ck->world->now) - day * MSEC_PER_DAY;
    return local >= 0 && local < MSEC_PER_DAY;
}

/* ---- one point ---------------------------------------------------------------------- */

/* The absolute instant of a relative time, if it has one now. */
static bool relative_instant(struct check *ck, const struct grammar_time *t, msec *ret_at)
{
    struct entry *e = entry_get(ck, t->of);
    bool is_start = t->kind == GRAMMAR_TIME_START;
    if (!e->exists || e->broken || !(is_start ? e->start_is_absolute : e->end_is_absolute))
        return false;
    *ret_at = (is_start ? e->starts_at : e->ends_at) + t->offset;
    return true;
}

static bool resolve_relative(struct check *ck, struct entry *self, struct grammar_time *t)
{
    if (grammar_name_equal(t->of, self->name)) {
        check_error(ck, GRAMMAR_E048, t->pos,
                "dependency cycle through \"%s\": it names itself", t->of);
        return false;
    }
    struct entry *e = entry_need(ck, t->of, t->pos);
    if (!e)
        return false;
    if (e->phase == GRAMMAR_ENDED) { /* (4) */
        check_error(ck, GRAMMAR_E041, t->pos, "sentinel \"%s\" has already ended", t->of);
        return false;
    }
    msec at;
    bool known = relative_instant(ck, t, &at);
    bool ahead = known && at > ck->world->now;
    if (t->kind == GRAMMAR_TIME_START && e->phase == GRAMMAR_RUNNING) { /* (4) */
        if (!ahead) {
            check_error(ck, GRAMMAR_E042, t->pos, "sentinel \"%s\" has already started", t->of);
            return false;
        }
        t->kind = GRAMMAR_TIME_AT;
        t->at = at;
        t->of = NULL;
        t->offset = 0;
        return true;
    }
    if (t->offset >= 0)
        return true;
    if (!ahead) { /* (3) */
        const char *point = t->kind == GRAMMAR_TIME_START ? "start" : "end";
        struct grammar_diagnostic *d = check_error(ck, GRAMMAR_E043, t->pos,
                "a negative offset needs an absolute %s of \"%s\"", point, t->of);
        if (known)
            report_hint(ck->script, d, "This instant is over.");
        return false;
    }
    t->at = at;
    return true;
}

/* In place: NOW and DATE become AT.  Whether that is in the past is not asked. */
static bool resolve_point(
        struct check *ck, struct entry *self, struct grammar_time *t, bool is_to)
{
    msec at;
    switch (t->kind) {
    case GRAMMAR_TIME_NOW:
        t->at = ck->world->now + t->offset;
        t->is_now = t->offset == 0;
        t->offset = 0;
        break;
    case GRAMMAR_TIME_DATE:
        if (!date_instant(ck, &t->date, is_to, t->pos, &at))
            return false;
        t->at = at;
        if (!is_to && is_today(ck, &t->date)) { /* (1) */
            t->at = ck->world->now;
            t->is_now = true;
        }
        break;
    case GRAMMAR_TIME_START:
    case GRAMMAR_TIME_END:
        return resolve_relative(ck, self, t);
    case GRAMMAR_TIME_MISSING:
    case GRAMMAR_TIME_AT:
    case GRAMMAR_TIME_FOR:
    case GRAMMAR_TIME_NEVER:
        return true;
    }
    t->kind = GRAMMAR_TIME_AT;
    return true;
}

static bool resolve_from(struct check *ck, struct entry *self, struct grammar_time *t)
{
    if (!resolve_point(ck, self, t, /* is_to= */ false))
        return false;
    if (t->kind != GRAMMAR_TIME_AT || t->at > ck->world->now || t->is_now)
        return true;
    if (ck->world->now - t->at > TYPING_TIME) {
        char text[TIME_TEXT_SIZE];
        check_error(ck, GRAMMAR_E033, t->pos, "FROM is in the past: %s", time_iso(t->at, text));
        return false;
    }
    t->at = ck->world->now; /* (1) */
    t->is_now = true;
    return true;
}

static bool check_order(struct check *ck, const struct grammar_time *from,
        const struct grammar_time *to, bool to_is_new)
{
    char text[TIME_TEXT_SIZE];
    if (to->kind != GRAMMAR_TIME_AT)
        return true;
    if (to_is_new && to->at <= ck->world->now) {
        check_error(ck, GRAMMAR_E034, to->pos, "TO is in the past: %s", time_iso(to->at, text));
        return false;
    }
    if (from->kind == GRAMMAR_TIME_AT && to->at <= from->at) {
        check_error(ck, GRAMMAR_E035, to_is_new ? to->pos : from->pos,
                "TO is not after FROM: %s", time_iso(to->at, text));
        return false;
    }
    return true;
}

/* ---- both --------------------------------------------------------------------------- */

/* What inheriting means for the points that are not given: the life of the source. */
static bool inherit(struct check *ck, struct entry *self, struct entry *source,
        struct grammar_definition *eff)
{
    bool from = eff->from.kind != GRAMMAR_TIME_MISSING,
         to = eff->to.kind != GRAMMAR_TIME_MISSING;
    struct grammar_pos pos = eff->clause_pos[GRAMMAR_USING];
    if (source->phase == GRAMMAR_ENDED && !(from && to)) {
        struct grammar_diagnostic *d = check_error(
                ck, GRAMMAR_E041, pos, "sentinel \"%s\" has already ended", source->name);
        report_hint(ck->script, d, "Give both FROM and TO to use its definition again.");
        return false;
    }
    if (source == self && !(from && to)) {
        check_error(ck, GRAMMAR_E048, pos, "dependency cycle through \"%s\": it names itself",
                self->name);
        return false;
    }
    if (!from && source->phase == GRAMMAR_RUNNING)
        eff->from = (struct grammar_time){.kind = GRAMMAR_TIME_NOW, .pos = pos};
    else if (!from)
        eff->from = (struct grammar_time){
                .kind = GRAMMAR_TIME_START, .of = source->name, .at = MSEC_NEVER, .pos = pos};
    if (!to)
        eff->to = (struct grammar_time){
                .kind = GRAMMAR_TIME_END, .of = source->name, .at = MSEC_NEVER, .pos = pos};
    return true;
}

/* Nobody said how long it is to live: a year, which is an instant as soon as the start is
 * one.  A FOR that was written stays one, so that it goes along when the start is altered. */
static void give_default_life(const struct grammar_time *from, struct grammar_time *to)
{
    if (from->kind == GRAMMAR_TIME_AT)
        *to = (struct grammar_time){.kind = GRAMMAR_TIME_AT, .at = from->at + DEFAULT_LIFE};
    else
        *to = (struct grammar_time){
                .kind = GRAMMAR_TIME_FOR, .offset = DEFAULT_LIFE, .at = MSEC_NEVER};
}

bool lifespan_resolve(struct check *ck, struct entry *self, struct entry *source,
        struct grammar_definition *eff)
{
    if (source && !inherit(ck, self, source, eff))
        return false;
    if (eff->from.kind == GRAMMAR_TIME_MISSING)
        eff->from.kind = GRAMMAR_TIME_NOW;
    bool from_ok = resolve_from(ck, self, &eff->from);
    if (eff->to.kind == GRAMMAR_TIME_MISSING)
        give_default_life(&eff->from, &eff->to);
    bool to_ok = resolve_point(ck, self, &eff->to, /* is_to= */ true);
    if (!from_ok || !to_ok)
        return false;
    return check_order(ck, &eff->from, &eff->to, /* to_is_new= */ true);
}

/* A stored negative offset is known again as soon as the other's instant is. */
static void refresh_point(struct check *ck, struct grammar_time *t)
{
    msec at;
    if ((t->kind == GRAMMAR_TIME_START || t->kind == GRAMMAR_TIME_END) && t->offset < 0 &&
            relative_instant(ck, t, &at))
        t->at = at;
}

bool lifespan_alter(struct check *ck, struct entry *self,
        const struct grammar_definition *given, struct grammar_definition *eff)
{
    bool from = grammar_is_given(given, GRAMMAR_FROM), to = grammar_is_given(given, GRAMMAR_TO);
    if (from && self->phase == GRAMMAR_RUNNING) {
        check_error(ck, GRAMMAR_E042, given->clause_pos[GRAMMAR_FROM],
                "sentinel \"%s\" has already started", self->name);
        return false;
    }
    refresh_point(ck, &eff->from);
    refresh_point(ck, &eff->to);
    bool by_default = eff->to.kind == GRAMMAR_TIME_AT && self->start_is_absolute &&
                      eff->to.at == self->starts_at + DEFAULT_LIFE;
    if (from && !resolve_from(ck, self, &eff->from))
        return false;
    if (from && !to && by_default)
        give_default_life(&eff->from, &eff->to);
    if (to && !resolve_point(ck, self, &eff->to, /* is_to= */ true))
        return false;
    if (!from && !to)
        return true;
    return check_order(ck, &eff->from, &eff->to, /* to_is_new= */ to);
}

void lifespan_note(struct check *ck, struct entry *self, const struct grammar_definition *eff)
{
    const struct grammar_time *points[2] = {&eff->from, &eff->to};
    const char **names = arena_alloc(ck->life, 2 * sizeof *names);
    size_t n = 0;
    bool absolute[2] = {false, false};
    msec at[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const struct grammar_time *t = points[i];
        if (t->kind == GRAMMAR_TIME_AT) {
            absolute[i] = true;
            at[i] = t->at;
        } else if (t->kind == GRAMMAR_TIME_FOR) {
            absolute[i] = absolute[0];
            at[i] = at[0] + t->offset;
        } else if (t->kind == GRAMMAR_TIME_START || t->kind == GRAMMAR_TIME_END) {
            absolute[i] = relative_instant(ck, t, &at[i]);
            names[n++] = t->of;
        }
    }
    if (self->phase != GRAMMAR_RUNNING) {
        self->start_is_absolute = absolute[0];
        self->starts_at = at[0];
    }
    self->end_is_absolute = absolute[1];
    self->ends_at = at[1];
    entry_depends_on(ck, self, names, n);
}
