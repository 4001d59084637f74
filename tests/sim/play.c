/* Playing a scenario: each statement in turn, then again with disturbances if it asks so.
 *
 * What must not depend on a disturbance is taken from the plain run and compared with each of
 * the others: what happened to whom and when it was due, and which changes were found between
 * which versions.
 */
#include "tests/sim/sim.h"
#include "base/str.h"
#include "engine/engine_int.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 8 << 20 };

void play_fail(struct play *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    p->failed = true;
    buf_printf(p->complaints, "# %s:%d: ", p->scenario->file, p->line);
    buf_vprintf(p->complaints, fmt, ap);
    va_end(ap);
    if (p->disturbed_by)
        buf_printf(p->complaints, " (%s)", p->disturbed_by);
    buf_putc(p->complaints, '\n');
}

bool wall_parse(const struct play *p, const char *text, msec *ret_wall)
{
    msec span;
    if (span_parse(text, &span)) {
        *ret_wall = p->world->began + span;
        return true;
    }
    return time_parse_iso(text, ret_wall);
}

/* ---- texts ------------------------------------------------------------------------------- */

/* ${web} is the site; ${10h} is the instant ten hours after the scenario began. */
static const char *filled_in(struct play *p, const char *text)
{
    BUF(out, TEXT_MAX);
    for (const char *s = text; *s;) {
        const char *end = strchr(s, '}');
        if (s[0] != '$' || s[1] != '{' || !end) {
            buf_putc(&out, *s++);
            continue;
        }
        char *name = arena_strndup(p->life, s + 2, (size_t)(end - s - 2)), iso[TIME_TEXT_SIZE];
        msec at;
        if (strcmp(name, "web") == 0)
            buf_puts(&out, SIM_HOST);
        else if (wall_parse(p, name, &at))
            buf_puts(&out, time_iso(at, iso));
        else
            play_fail(p, "${%s} is neither web nor a time", name);
        s = end + 1;
    }
    return arena_strdup(p->life, buf_text(&out));
}

static char *joined(struct play *p, char *const *words)
{
    BUF(out, TEXT_MAX);
    for (; *words; words++)
        buf_printf(&out, "%s%s", out.len ? " " : "", *words);
    return arena_strdup(p->life, buf_text(&out));
}

static bool span_of(struct play *p, char *const *words, msec *ret)
{
    char *text = joined(p, words);
    if (span_parse(text, ret))
        return true;
    play_fail(p, "\"%s\" is not a span of time; write 2 days 3 hours", text);
    return false;
}

/* ---- statements ----------------------------------------------------------------------------
 */

static void broken_world(struct play *p)
{
    play_fail(p, "%s", p->world->fault.message);
}

static void done(struct play *p, bool ok)
{
    if (!ok)
        broken_world(p);
}

static struct sim_page *page_of(struct play *p, char *const *w)
{
    struct sim_page *page = arena_new_of(p->life, struct sim_page);
    *page = (struct sim_page){.path = *w++, .status = 200, .modified = MSEC_NEVER};
    for (; w[0] && w[1]; w += 2) {
        bool ok = true;
        if (strcmp(w[0], "status") == 0)
            page->status = (int)strtol(w[1], NULL, 10);
        else if (strcmp(w[0], "fails") == 0)
            page->failure = w[1];
        else if (strcmp(w[0], "etag") == 0)
            page->etag = w[1];
        else if (strcmp(w[0], "type") == 0)
            page->type = w[1];
        else if (strcmp(w[0], "modified") == 0)
            ok = wall_parse(p, w[1], &page->modified);
        else if (strcmp(w[0], "retry-after") == 0)
            ok = span_parse(w[1], &page->retry_after);
        else if (strcmp(w[0], "takes") == 0)
            ok = span_parse(w[1], &page->takes);
        else if (strcmp(w[0], "every") == 0)
            ok = span_parse(w[1], &page->every);
        else
            ok = false;
        if (!ok) {
            play_fail(p, "a page has no \"%s %s\"", w[0], w[1]);
            return NULL;
        }
    }
    page->body = w[0] ? w[0] : "";
    return page;
}

static void say_page(struct play *p, char *const *w)
{
    struct sim_page *page = w[1] ? page_of(p, w + 1) : NULL;
    if (page)
        world_put_page(p->world, page);
}

static struct sim_receiver *receiver_of(struct play *p, char *const *w)
{
    struct sim_receiver *r = arena_new_of(p->life, struct sim_receiver);
    *r = (struct sim_receiver){.name = *w++, .status = 200};
    for (; w[0]; w += 2) {
        bool ok = w[1] != NULL;
        if (ok && strcmp(w[0], "status") == 0)
            r->status = (int)strtol(w[1], NULL, 10);
        else if (ok && strcmp(w[0], "fails") == 0)
            r->failure = w[1];
        else if (ok && strcmp(w[0], "unseen") == 0)
            r->unseen = w[1];
        else if (ok && strcmp(w[0], "times") == 0)
            r->times = (int)strtol(w[1], NULL, 10);
        else if (ok && strcmp(w[0], "retry-after") == 0)
            ok = span_parse(w[1], &r->retry_after);
        else if (ok && strcmp(w[0], "takes") == 0)
            ok = span_parse(w[1], &r->takes);
        else
            ok = false;
        if (!ok) {
            play_fail(p, "a receiver has no \"%s %s\"", w[0], w[1] ? w[1] : "");
            return NULL;
        }
    }
    return r;
}

static void say_receiver(struct play *p, char *const *w)
{
    struct sim_receiver *r = w[1] ? receiver_of(p, w + 1) : NULL;
    if (r)
        world_put_receiver(p->world, r);
}

static void say_later(struct play *p, char *const *w)
{
    struct sim_coming *c = arena_new_of(p->life, struct sim_coming);
    bool page = w[1] && w[2] && strcmp(w[2], "page") == 0;
    bool receiver = w[1] && w[2] && strcmp(w[2], "receiver") == 0;
    if (!w[1] || !span_parse(w[1], &c->at) || (!page && !receiver) || !w[3]) {
        play_fail(p, "write later 5h page /path \"text\", or receiver /path status 503");
        return;
    }
    if (page)
        c->page = page_of(p, w + 3);
    else
        c->receiver = receiver_of(p, w + 3);
    if (c->page || c->receiver)
        list_append(&p->world->coming, &c->link);
}

static void say_begin(struct play *p, char *const *w)
{
    if (p->world->engine || !time_parse_iso(joined(p, w + 1), &p->world->began))
        play_fail(p, "begin comes first and names an instant: begin 2026-11-16T12:00:00Z");
    p->world->wall = p->world->began;
}

static void say_set(struct play *p, char *const *w)
{
    struct fault f = {0};
    bool zone = strcmp(w[0], "zone") == 0;
    const char *name = zone ? "time.zone" : w[1], *value = zone ? w[1] : name ? w[2] : NULL;
    if (!name || !value)
        play_fail(p, "write set NAME VALUE, or zone NAME");
    else if (settings_set(&p->world->settings, name, value, "scenario", &f) != OK)
        play_fail(p, "%s", f.message);
}

static void say_advance(struct play *p, char *const *w)
{
    msec span;
    if (span_of(p, w + 1, &span))
        done(p, world_advance(p->world, span));
}

/* A span is the time since the beginning, an instant the wall clock's. */
static void say_at(struct play *p, char *const *w)
{
    msec at;
    char *text = joined(p, w + 1);
    if (span_parse(text, &at))
        at -= p->world->elapsed;
    else if (time_parse_iso(text, &at))
        at -= p->world->wall;
    else
        at = -1;
    if (at < 0)
        play_fail(p, "\"%s\" is not a time that lies ahead", text);
    else
        done(p, world_advance(p->world, at));
}

static void say_sleep(struct play *p, char *const *w)
{
    msec span;
    if (span_of(p, w + 1, &span))
        done(p, world_sleep(p->world, span));
}

static void say_clock(struct play *p, char *const *w)
{
    char *text = joined(p, w + 1);
    msec to;
    if ((*text == '+' || *text == '-') && span_parse(text + 1, &to))
        to = p->world->wall + (*text == '+' ? to : -to);
    else if (!time_parse_iso(text, &to)) {
        play_fail(p, "write clock +2 hours, clock -2 hours or clock INSTANT");
        return;
    }
    done(p, world_set_clock(p->world, to));
}

static void say_engine(struct play *p, char *const *w)
{
    msec span = 0;
    bool down = w[1] && strcmp(w[1], "down") == 0;
    if (!down && (!w[1] || strcmp(w[1], "up") != 0)) {
        play_fail(p, "write engine up, engine down, or engine down 5 hours");
        return;
    }
    if (!down) {
        done(p, world_start(p->world));
        return;
    }
    if (w[2] && !span_of(p, w + 2, &span))
        return;
    done(p, world_stop(p->world, /* kill= */ true) && world_advance(p->world, span) &&
                    (!w[2] || world_start(p->world)));
}

static void say_restart(struct play *p, char *const *w)
{
    done(p, world_stop(p->world, strcmp(w[0], "kill") == 0) && world_start(p->world));
}

static void say_database(struct play *p, char *const *w)
{
    bool up = w[1] && strcmp(w[1], "up") == 0;
    if (!up && (!w[1] || strcmp(w[1], "down") != 0))
        play_fail(p, "write database down or database up");
    else
        done(p, world_database(p->world, up));
}

static void say_known(struct play *p, char *const *w)
{
    str_copy(p->known_bug, KNOWN_BUG_SIZE, w[1] && w[2] ? w[2] : "unnamed");
}

static void say_repeat(struct play *p, char *const *w)
{
    const char *text = joined(p, w + 1);
    p->repeat = strstr(text, "with restart ")        ? DISTURB_RESTART
                : strstr(text, "with kill ")         ? DISTURB_KILL
                : strstr(text, "with lost commits ") ? DISTURB_LOSE
                                                     : DISTURB_NOT;
    p->repeat_at_each = strstr(text, " at each step") != NULL;
    if (p->repeat == DISTURB_NOT || (!p->repeat_at_each && !strstr(text, " at every step")))
        play_fail(p, "write repeat with restart (or kill, or lost commits) at each (or every) "
                     "step");
}

static void ask(struct play *p, const char *verb, const char *text)
{
    p->world->tells = p->world->tells || strcasestr(text, "notify by");
    bool ok = world_ask(p->world, verb, filled_in(p, text), &p->exit_code, &p->answer);
    done(p, ok);
    p->refusal_is_due = ok && p->exit_code != 0;
}

/* "stop s1" asks with SQL's own function, "stop sentinel s1" with a statement. */
static void say_definition(struct play *p, const char *text, const struct words *w)
{
    bool bare = w->n > 1 && strcasecmp(w->word[1], "sentinel") != 0 &&
                strcasecmp(w->word[1], "or") != 0 && strcmp(w->word[0], "create") != 0;
    if (!bare || strcasecmp(w->word[0], "alter") == 0) {
        ask(p, "add", text);
        return;
    }
    BUF(names, TEXT_MAX);
    for (int i = 1; i < w->n; i++)
        buf_printf(&names, "%s\n", w->word[i]);
    ask(p, w->word[0], buf_text(&names));
}

static const struct {
    const char *word;
    void (*say)(struct play *p, char *const *words);
    bool before_start; /* no engine is needed for it */
} sayings[] = {
        {"begin", say_begin, true},
        {"zone", say_set, true},
        {"set", say_set, true},
        {"page", say_page, true},
        {"receiver", say_receiver, true},
        {"later", say_later, true},
        {"known", say_known, true},
        {"repeat", say_repeat, true},
        {"advance", say_advance, false},
        {"at", say_at, false},
        {"sleep", say_sleep, false},
        {"clock", say_clock, false},
        {"engine", say_engine, false},
        {"restart", say_restart, false},
        {"kill", say_restart, false},
        {"database", say_database, false},
};

static bool is_definition(const char *word)
{
    static const char *const verbs[] = {"create", "alter", "enable", "disable", "stop", "drop"};
    for (size_t i = 0; i < countof(verbs); i++)
        if (strcasecmp(word, verbs[i]) == 0)
            return true;
    return false;
}

/* ---- a line -------------------------------------------------------------------------------
 */

/* Where the next word "expect" begins, outside quotes. */
static const char *next_expect(const char *s)
{
    for (const char *from = s; *s; s++) {
        if (*s == '"') {
            const char *end = strchr(s + 1, '"');
            s = end ? end : s + strlen(s) - 1;
        } else if (strncmp(s, "expect ", 7) == 0 &&
                   (s == from || isspace((unsigned char)s[-1]))) {
            return s;
        }
    }
    return NULL;
}

/* The engine starts with the first statement that concerns it; it stays down when it was
 * taken down. */
static bool is_started(struct play *p, bool *started)
{
    if (*started)
        return true;
    *started = true;
    bool ok = world_start(p->world);
    done(p, ok);
    return ok;
}

static void say(struct play *p, const char *text, bool *started)
{
    struct words w;
    words_split(p->life, text, &w);
    if (is_definition(w.word[0])) {
        if (is_started(p, started))
            say_definition(p, text, &w);
        return;
    }
    for (size_t i = 0; i < countof(sayings); i++) {
        if (strcmp(w.word[0], sayings[i].word) != 0)
            continue;
        if (sayings[i].before_start || is_started(p, started))
            sayings[i].say(p, w.word);
        return;
    }
    play_fail(p, "\"%s\" is no statement", w.word[0]);
}

static void play_line(struct play *p, const struct statement *st, bool *started)
{
    p->line = st->line;
    const char *at = next_expect(st->text);
    size_t len = at ? (size_t)(at - st->text) : strlen(st->text);
    char *first = arena_strndup(p->life, st->text, len);
    if (first[strspn(first, " \t")])
        say(p, first, started);
    while (at && !p->world->is_broken && is_started(p, started)) {
        const char *next = next_expect(at + 7);
        struct words w;
        len = next ? (size_t)(next - at) : strlen(at);
        words_split(p->life, filled_in(p, arena_strndup(p->life, at + 7, len - 7)), &w);
        expect(p, &w);
        at = next;
    }
    if (p->refusal_is_due)
        play_fail(p, "refused: %s", p->answer);
    p->refusal_is_due = false;
}

/* ---- runs -----------------------------------------------------------------------------------
 */

/* What happened, as text: the same however often the engine was disturbed. */
static void write_history(struct play *p, struct buf *out)
{
    static const char *const queries[] = {
            "SELECT sentinel || ' ' || kind || ' ' || coalesce(detail, '') || ' ' || "
            "vigil_kb.ms(at) FROM vigil.events ORDER BY at, sentinel, kind, detail",
            "SELECT sentinel || ' ' || old_version || '-' || new_version || ' ' || summary || "
            "' ' "
            "|| vigil_kb.ms(at) FROM vigil.changes ORDER BY sentinel, new_version",
            "SELECT sentinel || ' ' || method || ' ' || target || ' ' || state FROM "
            "vigil.notifications ORDER BY sentinel, id",
            "SELECT name || ' ' || state || ' ' || coalesce(error, '') FROM vigil.status ORDER "
            "BY "
            "name",
    };
    for (size_t i = 0; i < countof(queries); i++) {
        const char *why = NULL;
        PGresult *r = database_query(&p->world->db, queries[i], 0, NULL, &why);
        if (!r) {
            play_fail(p, "%s", why);
            continue;
        }
        for (int row = 0; row < PQntuples(r); row++)
            buf_printf(out, "%s\n", PQgetvalue(r, row, 0));
        PQclear(r);
    }
}

struct outcome {
    unsigned steps;
    struct buf *history;
};

static void run(struct play *p, enum disturbance disturbance, unsigned at, struct outcome *out)
{
    SCRATCH struct arena *life = arena_new(NULL, "run");
    struct world world;
    bool started = false;
    world_init(&world, life);
    world.disturbance = disturbance;
    world.disturb_at = at;
    p->world = &world;
    p->life = life;
    p->line = p->scenario->line;
    p->refusal_is_due = false;
    if (database_make(p->server, life, &world.fault, &world.db) != OK)
        broken_world(p);
    for (size_t i = 0; i < p->scenario->nstatements && !p->failed; i++)
        play_line(p, &p->scenario->statements[i], &started);
    if (out && !p->failed)
        write_history(p, out->history);
    if (out)
        out->steps = world.steps;
    world_done(&world);
    p->world = NULL;
}

static const char *first_difference(const char *a, const char *b, struct arena *life)
{
    const char *la = a, *lb = b;
    while (*a && *a == *b) {
        if (*a == '\n') {
            la = a + 1;
            lb = b + 1;
        }
        a++;
        b++;
    }
    return arena_printf(life, "expected \"%.*s\", got \"%.*s\"", (int)strcspn(la, "\n"), la,
            (int)strcspn(lb, "\n"), lb);
}

static void compare(struct play *p, const struct buf *plain, const struct buf *disturbed)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "compare");
    p->line = p->scenario->line;
    if (!p->failed && strcmp(buf_text(plain), buf_text(disturbed)) != 0)
        play_fail(p, "another history: %s",
                first_difference(buf_text(plain), buf_text(disturbed), scratch));
}

static void repeat(struct play *p, const struct outcome *plain)
{
    static const char *const names[] = {"", "restart", "kill", "lost commits"};
    unsigned last = p->repeat_at_each ? plain->steps : 1;
    for (unsigned k = 1; k <= last && !p->failed; k++) {
        BUF(history, TEXT_MAX);
        char by[80];
        struct outcome now = {.history = &history};
        if (p->repeat_at_each)
            snprintf(by, sizeof by, "%s at step %u of %u", names[p->repeat], k, plain->steps);
        else
            snprintf(by, sizeof by, "%s at every step", names[p->repeat]);
        p->disturbed_by = by;
        run(p, p->repeat, p->repeat_at_each ? k : 0, &now);
        compare(p, plain->history, &history);
    }
    p->disturbed_by = NULL;
}

bool play_scenario(struct server *s, const struct scenario *scenario, bool verbose,
        struct buf *complaints, char known_bug[KNOWN_BUG_SIZE])
{
    BUF(history, TEXT_MAX);
    struct play p = {
            .server = s,
            .scenario = scenario,
            .verbose = verbose,
            .complaints = complaints,
            .known_bug = known_bug,
    };
    known_bug[0] = 0;
    struct outcome plain = {.history = &history};
    run(&p, DISTURB_NOT, 0, &plain);
    if (!p.failed && p.repeat != DISTURB_NOT)
        repeat(&p, &plain);
    return !p.failed;
}
