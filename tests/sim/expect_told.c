/* What a scenario expects of those who are told.
 *
 *     expect told /hook s1:2@1h s1:3+s2:ended@2d      expect told /hook none
 *     expect tried /hook at 1h 2h                     expect tried /hook >= 3
 *     expect doubled /hook == 0
 *
 * A message that came again under its key is the same message, told when it first came.
 */
#include "tests/sim/sim.h"
#include <string.h>

enum { LIST_MAX = 1 << 20 };

static bool is_first(const struct world *w, const struct sim_parcel *of)
{
    list_each (pos, &w->parcels) {
        const struct sim_parcel *p = list_entry(pos, struct sim_parcel, link);
        if (p == of)
            return true;
        if (p->is_accepted && strcmp(p->key, of->key) == 0 && strcmp(p->to, of->to) == 0)
            return false;
    }
    return true;
}

static bool is_told(const struct world *w, const struct sim_parcel *p, const char *to)
{
    return strcmp(p->to, to) == 0 && p->is_accepted && is_first(w, p);
}

/* "s1:2+s2:ended@1h" */
static bool describes(struct play *p, const char *text, const struct sim_parcel *of)
{
    const char *at = strrchr(text, '@');
    if (!at)
        return false;
    char *items = arena_strndup(p->life, text, (size_t)(at - text));
    return strcmp(items, of->items) == 0 && is_instant(at + 1, of->elapsed, of->wall);
}

void expect_told(struct play *p, char *const *w)
{
    BUF(got, LIST_MAX);
    bool ok = true;
    const char *to = w[0];
    if (!to)
        return play_fail(p, "write expect told /path s1:2@1h");
    w += w[1] && strcmp(w[1], "none") == 0 ? 2 : 1;
    list_each (pos, &p->world->parcels) {
        const struct sim_parcel *m = list_entry(pos, struct sim_parcel, link);
        if (!is_told(p->world, m, to))
            continue;
        ok = ok && *w && describes(p, *w, m);
        w += *w != NULL;
        buf_printf(&got, " %s@%s", m->items, span_text(p->life, m->elapsed));
    }
    if (!ok || *w)
        play_fail(p, "expected other messages to %s, got%s", to,
                got.len ? buf_text(&got) : " none");
}

static void expect_tries_at(struct play *p, const char *to, char *const *times)
{
    BUF(got, LIST_MAX);
    bool ok = true;
    list_each (pos, &p->world->parcels) {
        const struct sim_parcel *m = list_entry(pos, struct sim_parcel, link);
        if (strcmp(m->to, to) != 0)
            continue;
        ok = ok && *times && is_instant(*times, m->elapsed, m->wall);
        times += *times != NULL;
        buf_printf(&got, " %s", span_text(p->life, m->elapsed));
    }
    if (!ok || *times)
        play_fail(
                p, "expected other tries at %s, got%s", to, got.len ? buf_text(&got) : " none");
}

void expect_tried(struct play *p, char *const *w)
{
    long long n = 0;
    if (!w[0])
        return play_fail(p, "write expect tried /path == 3");
    if (p->world->disturbance != DISTURB_NOT)
        return; /* what was under way is tried again */
    if (w[1] && strcmp(w[1], "at") == 0)
        return expect_tries_at(p, w[0], w + 2);
    list_each (pos, &p->world->parcels)
        n += strcmp(list_entry(pos, struct sim_parcel, link)->to, w[0]) == 0;
    expect_number(p, "tries at", w[0], n, w[1], w[1] ? w[2] : NULL);
}

void expect_doubled(struct play *p, char *const *w)
{
    long long n = 0;
    if (!w[0])
        return play_fail(p, "write expect doubled /path == 0");
    if (p->world->disturbance != DISTURB_NOT)
        return; /* nobody knows whether what was under way arrived */
    list_each (pos, &p->world->parcels) {
        const struct sim_parcel *m = list_entry(pos, struct sim_parcel, link);
        n += strcmp(m->to, w[0]) == 0 && m->is_accepted && !is_first(p->world, m);
    }
    expect_number(p, "doubled at", w[0], n, w[1], w[1] ? w[2] : NULL);
}
