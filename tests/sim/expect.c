/* What a scenario expects.
 *
 *     expect s1 active                         expect s1 ended never-started
 *     expect s1.error ~ "503"                  expect s1.starts_at == 10h
 *     expect fetches /news == 48               expect fetches /news since 2h at 3h 4h
 *     expect versions /news == 2               expect pairs s1 1-2 2-3
 *     expect changes s1 == 1                   expect notified s1 1 times
 *     expect events s1 create@0 start@10h end(to-reached)@30h
 *     expect timeline s1:start@10h s1:end@30h s2:start@30h
 *     expect late s1 start == 5h               expect sql "SELECT 1" == 1
 *     expect refused E041                      and of those who are told: expect_told.c
 */
#include "tests/sim/sim.h"
#include "base/str.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1 << 20 };

/* ---- asking the database ------------------------------------------------------------------
 */

static PGresult *query(struct play *p, const char *text, const char *param)
{
    const char *why = NULL;
    PGresult *r = database_query(&p->world->db, text, param ? 1 : 0, &param, &why);
    if (!r)
        play_fail(p, "%s", why);
    return r;
}

static const char *cell(struct play *p, const char *text, const char *param)
{
    PGresult *r = query(p, text, param);
    const char *value = "(no row)";
    if (r && PQntuples(r))
        value = PQgetisnull(r, 0, 0) ? "null" : arena_strdup(p->life, PQgetvalue(r, 0, 0));
    PQclear(r);
    return value;
}

/* ---- comparing ------------------------------------------------------------------------------
 */

static bool holds(long long got, const char *op, long long expected, bool *known)
{
    *known = true;
    if (strcmp(op, "==") == 0)
        return got == expected;
    if (strcmp(op, "!=") == 0)
        return got != expected;
    if (strcmp(op, "<") == 0)
        return got < expected;
    if (strcmp(op, "<=") == 0)
        return got <= expected;
    if (strcmp(op, ">") == 0)
        return got > expected;
    if (strcmp(op, ">=") == 0)
        return got >= expected;
    return *known = false;
}

void expect_number(struct play *p, const char *what, const char *who, long long got,
        const char *op, const char *expected)
{
    char *end = NULL;
    bool known = op && expected;
    long long number = known ? strtoll(expected, &end, 10) : 0;
    bool ok = known && !*end && holds(got, op, number, &known);
    if (!known || (end && *end))
        play_fail(p, "write %s %s == 3", what, who);
    else if (!ok)
        play_fail(p, "expected %s %s %s %s, got %lld", what, who, op, expected, got);
}

static void expect_text(
        struct play *p, const char *what, const char *got, const char *op, const char *expected)
{
    bool ok = false;
    if (!op || !expected)
        play_fail(p, "%s: write == VALUE or ~ PART", what);
    else if (strcmp(op, "==") == 0 || strcmp(op, "!=") == 0)
        ok = (strcmp(got, expected) == 0) == (*op == '=');
    else if (strcmp(op, "~") == 0)
        ok = strstr(got, expected) != NULL;
    else
        play_fail(p, "%s: unknown operator %s", what, op);
    if (!ok && !p->failed)
        play_fail(p, "expected %s %s %s, got %s", what, op, expected, got);
}

/* ---- states and columns ---------------------------------------------------------------------
 */

static void expect_state(struct play *p, char *const *w)
{
    const char *got =
            cell(p, "SELECT state FROM vigil.status WHERE lower(name) = lower($1)", w[0]);
    const char *wanted = strcmp(w[1], "gone") == 0 ? "(no row)" : w[1];
    if (strcmp(got, wanted) != 0) {
        play_fail(p, "expected %s %s, got %s", w[0], w[1], got);
        return;
    }
    if (!w[2])
        return;
    got = cell(
            p, "SELECT end_reason FROM vigil_kb.sentinel WHERE lower(name) = lower($1)", w[0]);
    if (strcmp(got, w[2]) != 0)
        play_fail(p, "expected %s %s %s, got reason %s", w[0], w[1], w[2], got);
}

/* A column of vigil.status; instants may be given as spans since the beginning. */
static void expect_column(struct play *p, char *const *w)
{
    char *dot = strchr(w[0], '.');
    char *name = arena_strndup(p->life, w[0], (size_t)(dot - w[0]));
    for (const char *c = dot + 1; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') {
            play_fail(p, "\"%s\" is no column", dot + 1);
            return;
        }
    bool instant = strlen(dot) > 3 && strcmp(dot + strlen(dot) - 3, "_at") == 0;
    const char *got = cell(p,
            arena_printf(p->life, "SELECT %s FROM vigil.status WHERE lower(name) = lower($1)",
                    arena_printf(p->life, instant ? "vigil_kb.ms(\"%s\")" : "\"%s\"", dot + 1)),
            name);
    msec at;
    if (!instant || strcmp(got, "null") == 0 || !w[1] || !w[2] || !wall_parse(p, w[2], &at)) {
        expect_text(p, w[0], got, w[1], w[2]);
        return;
    }
    bool known;
    msec ms = strtoll(got, NULL, 10);
    if (!holds(ms, w[1], at, &known))
        play_fail(p, "expected %s %s %s, got %s", w[0], w[1], w[2],
                span_text(p->life, ms - p->world->began));
}

/* ---- fetches
 * ----------------------------------------------------------------------------------- */

struct instant {
    bool is_wall;
    msec at;
};

static bool instant_parse(const char *text, struct instant *ret)
{
    ret->is_wall = !span_parse(text, &ret->at);
    return !ret->is_wall || time_parse_iso(text, &ret->at);
}

bool is_instant(const char *text, msec elapsed, msec wall)
{
    struct instant i;
    return instant_parse(text, &i) && (i.is_wall ? wall : elapsed) == i.at;
}

static msec instant_of(const struct sim_fetch *f, const struct instant *like)
{
    return like->is_wall ? f->wall : f->elapsed;
}

static void expect_fetches_at(
        struct play *p, const char *path, const struct instant *since, char *const *times)
{
    BUF(got, LIST_MAX);
    bool ok = true;
    list_each (pos, &p->world->fetches) {
        struct sim_fetch *f = list_entry(pos, struct sim_fetch, link);
        if (strcmp(f->path, path) != 0 || instant_of(f, since) < since->at)
            continue;
        ok = ok && *times && is_instant(*times, f->elapsed, f->wall);
        times += *times != NULL;
        buf_printf(&got, " %s", span_text(p->life, f->elapsed));
    }
    if (!ok || *times)
        play_fail(p, "expected other fetches of %s, got%s", path,
                got.len ? buf_text(&got) : " none");
}

static void expect_fetches(struct play *p, char *const *w)
{
    struct instant since = {.at = 0};
    const char *path = *w++;
    long long n = 0;
    if (!path)
        return play_fail(p, "write expect fetches /path == 3");
    if (*w && strcmp(*w, "since") == 0 && w[1]) {
        if (!instant_parse(w[1], &since))
            return play_fail(p, "\"%s\" is no time", w[1]);
        w += 2;
    }
    if (p->world->disturbance == DISTURB_LOSE)
        return; /* what was fetched and lost is fetched again */
    if (*w && strcmp(*w, "at") == 0)
        return expect_fetches_at(p, path, &since, w + 1);
    if (*w && strcmp(*w, "none") == 0)
        return expect_fetches_at(p, path, &since, w + 1);
    list_each (pos, &p->world->fetches) {
        struct sim_fetch *f = list_entry(pos, struct sim_fetch, link);
        n += strcmp(f->path, path) == 0 && instant_of(f, &since) >= since.at;
    }
    expect_number(p, "fetches", path, n, w[0], w[0] ? w[1] : NULL);
}

/* ---- counts
 * -------------------------------------------------------------------------------------- */

static void expect_count(struct play *p, const char *what, const char *sql, char *const *w)
{
    const char *who = w[0];
    if (!who)
        return play_fail(p, "write expect %s NAME == 3", what);
    if (*who == '/')
        who = arena_printf(p->life, "%s%s", SIM_HOST, who);
    long long got = strtoll(cell(p, sql, who), NULL, 10);
    if (w[1] && w[2] && strcmp(w[2], "times") == 0)
        expect_number(p, what, w[0], got, "==", w[1]);
    else
        expect_number(p, what, w[0], got, w[1], w[1] ? w[2] : NULL);
}

static void expect_list(struct play *p, const char *what, const char *got, char *const *words)
{
    BUF(wanted, LIST_MAX);
    for (; *words; words++)
        if (strcmp(*words, "none") != 0)
            buf_printf(&wanted, " %s", *words);
    if (strcmp(buf_text(&wanted), got) != 0)
        play_fail(p, "expected %s%s, got%s", what, wanted.len ? buf_text(&wanted) : " none",
                *got ? got : " none");
}

static void expect_pairs(struct play *p, char *const *w)
{
    BUF(got, LIST_MAX);
    if (!w[0])
        return play_fail(p, "write expect pairs NAME 1-2 2-3");
    PGresult *r = query(p,
            "SELECT old_version || '-' || new_version FROM vigil.changes "
            "WHERE lower(sentinel) = lower($1) ORDER BY id",
            w[0]);
    for (int i = 0; r && i < PQntuples(r); i++)
        buf_printf(&got, " %s", PQgetvalue(r, i, 0));
    PQclear(r);
    expect_list(p, arena_printf(p->life, "pairs %s", w[0]), buf_text(&got), w + 1);
}

/* ---- events
 * -------------------------------------------------------------------------------------- */

/* Does "s1:end(reason)@30h" describe the row?  The name is only there in a timeline. */
static bool event_matches(struct play *p, const char *text, const PGresult *r, int row)
{
    char *copy = arena_strdup(p->life, text);
    char *at = strrchr(copy, '@'), *kind = copy;
    msec wall;
    if (!at || !wall_parse(p, at + 1, &wall))
        return false;
    *at = 0;
    char *detail = strchr(copy, '('), *colon = strchr(copy, ':');
    if (detail) {
        *detail++ = 0;
        detail[strcspn(detail, ")")] = 0;
    }
    if (colon && (!detail || colon < detail)) {
        *colon = 0;
        kind = colon + 1;
        if (strcasecmp(copy, PQgetvalue(r, row, 0)) != 0)
            return false;
    }
    return strcmp(kind, PQgetvalue(r, row, 1)) == 0 &&
           (!detail || strstr(PQgetvalue(r, row, 2), detail)) &&
           wall == strtoll(PQgetvalue(r, row, 3), NULL, 10);
}

static void expect_rows(
        struct play *p, const char *what, PGresult *r, bool named, char *const *w)
{
    BUF(got, LIST_MAX);
    bool ok = r != NULL;
    for (int i = 0; r && i < PQntuples(r); i++) {
        ok = ok && *w && event_matches(p, *w, r, i);
        w += *w != NULL;
        const char *detail = PQgetvalue(r, i, 2);
        msec at = strtoll(PQgetvalue(r, i, 3), NULL, 10) - p->world->began;
        buf_printf(&got, " %s%s%s%s%s%s@%s", named ? PQgetvalue(r, i, 0) : "", named ? ":" : "",
                PQgetvalue(r, i, 1), *detail ? "(" : "", detail, *detail ? ")" : "",
                span_text(p->life, at));
    }
    PQclear(r);
    if (*w && strcmp(*w, "none") == 0)
        w++;
    if (!ok || *w)
        play_fail(p, "expected other %s, got%s", what, got.len ? buf_text(&got) : " none");
}

static void expect_events(struct play *p, char *const *w)
{
    if (!w[0])
        return play_fail(p, "write expect events NAME create@0 start@10h");
    PGresult *r = query(p,
            "SELECT sentinel, kind, coalesce(detail, ''), vigil_kb.ms(at) FROM vigil.events "
            "WHERE lower(sentinel) = lower($1) ORDER BY id",
            w[0]);
    expect_rows(p, arena_printf(p->life, "events of %s", w[0]), r, /* named= */ false, w + 1);
}

static void expect_timeline(struct play *p, char *const *w)
{
    PGresult *r = query(p,
            "SELECT sentinel, kind, coalesce(detail, ''), vigil_kb.ms(at) FROM vigil.events "
            "WHERE kind IN ('start', 'end') ORDER BY id",
            NULL);
    expect_rows(p, "starts and ends", r, /* named= */ true, w);
}

static void expect_late(struct play *p, char *const *w)
{
    msec span;
    if (!w[0] || !w[1] || !w[2] || !w[3] || !span_parse(w[3], &span))
        return play_fail(p, "write expect late NAME KIND == 5h");
    const char *got = cell(p,
            arena_printf(p->life,
                    "SELECT vigil_kb.ms(actual_at) - vigil_kb.ms(at) FROM vigil.events WHERE "
                    "lower(sentinel) = lower($1) AND kind = '%s' ORDER BY id DESC LIMIT 1",
                    w[1]),
            w[0]);
    bool known;
    if (!holds(strtoll(got, NULL, 10), w[2], span, &known) || !isdigit((unsigned char)*got))
        play_fail(p, "expected %s of %s to be late %s %s, got %s ms", w[1], w[0], w[2], w[3],
                got);
}

/* ---- the rest
 * ------------------------------------------------------------------------------------ */

static void expect_sql(struct play *p, char *const *w)
{
    if (!w[0])
        return play_fail(p, "write expect sql \"SELECT ...\" == VALUE");
    expect_text(p, w[0], cell(p, w[0], NULL), w[1], w[1] ? w[2] : NULL);
}

static void expect_refused(struct play *p, char *const *w)
{
    if (p->exit_code == 0)
        play_fail(p, "expected it to be refused, but it was done: %s", p->answer);
    else if (w[0] && !strstr(p->answer, w[0]))
        play_fail(p, "expected it to be refused with %s, got: %s", w[0], p->answer);
    p->refusal_is_due = false;
}

static void expect_answer(struct play *p, char *const *w)
{
    expect_text(p, "answer", p->answer ? p->answer : "", w[0], w[0] ? w[1] : NULL);
}

static void expect_versions(struct play *p, char *const *w)
{
    expect_count(p, "versions", "SELECT count(*) FROM vigil.versions WHERE url = $1", w);
}

static void expect_changes(struct play *p, char *const *w)
{
    expect_count(p, "changes",
            "SELECT count(*) FROM vigil.changes WHERE lower(sentinel) = lower($1)", w);
}

static void expect_notified(struct play *p, char *const *w)
{
    expect_count(p, "notified",
            "SELECT count(*) FROM vigil.notifications WHERE lower(sentinel) = lower($1)", w);
}

static const struct {
    const char *word;
    void (*expect)(struct play *p, char *const *words);
} kinds[] = {
        {"fetches", expect_fetches},
        {"versions", expect_versions},
        {"changes", expect_changes},
        {"notified", expect_notified},
        {"told", expect_told},
        {"tried", expect_tried},
        {"doubled", expect_doubled},
        {"pairs", expect_pairs},
        {"events", expect_events},
        {"timeline", expect_timeline},
        {"late", expect_late},
        {"sql", expect_sql},
        {"refused", expect_refused},
        {"answer", expect_answer},
};

void expect(struct play *p, const struct words *words)
{
    static const char *const states[] = {
            "waiting", "active", "disabled", "waiting-disabled", "ended", "gone"};
    char *const *w = words->word;
    if (!w[0])
        return play_fail(p, "expect what?");
    for (size_t i = 0; i < countof(kinds); i++)
        if (strcmp(w[0], kinds[i].word) == 0)
            return kinds[i].expect(p, w + 1);
    if (strchr(w[0], '.'))
        return expect_column(p, w);
    for (size_t i = 0; w[1] && i < countof(states); i++)
        if (strcmp(w[1], states[i]) == 0)
            return expect_state(p, w);
    play_fail(p, "\"%s %s\" is nothing one could expect", w[0], w[1] ? w[1] : "");
}
