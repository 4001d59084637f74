/* vigil explain: the events, rules, graph nodes and fetches of a sentinel, before or after it
 * is installed. */
#include "engine/commands.h"
#include "engine/engine_int.h"
#include "engine/explain.h"
#include "page/page.h"
#include "engine/request.h"
#include "base/json.h"
#include "base/str.h"
#include "fetch/learn.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REQUEST_MAX = 768 << 20, ANSWER_MAX = 64 << 20 };

/* ---- as text ------------------------------------------------------------------------- */

static void put_names(struct buf *out, const struct explained_names *n, const char *before)
{
    if (!n->total)
        return;
    buf_puts(out, before);
    for (size_t i = 0; i < n->shown; i++)
        buf_printf(out, "%s%s", i ? ", " : "", n->names[i]);
    if (n->total > n->shown)
        buf_printf(out, " and %zu more", n->total - n->shown);
}

static void put_event(struct buf *out, const struct explained_event *e, bool first)
{
    buf_printf(out, "%-10s%s = %s: %s", first ? "events" : "", e->name, e->expression, e->when);
    put_names(out, &e->listeners, "; heard by ");
    buf_putc(out, '\n');
}

static void put_last(struct buf *out, const struct explain_last *last)
{
    if (!last->result)
        return;
    buf_printf(out, "last      %s", last->result);
    if (last->reason)
        buf_printf(out, " (%s)", last->reason);
    buf_printf(out, "; changed %s of %s times it looked", last->changes, last->evaluations);
    if (last->change_at)
        buf_printf(out, ", the last time %s", last->change_at);
    buf_putc(out, '\n');
}

static void put_groups(struct buf *out, const struct explained_graph *g)
{
    for (size_t i = 0; i < g->ngroups; i++) {
        const struct explained_group *at = &g->groups[i];
        buf_printf(out, "%-10s%s: %s, %s", i ? "" : "groups", at->url, at->stream, at->compare);
        if (at->base_version)
            buf_printf(out, ", base version %lld", (long long)at->base_version);
        buf_printf(out, ", %lld version%s to come; ", (long long)at->waiting,
                at->waiting == 1 ? "" : "s");
        if (at->sentinels == 1)
            buf_puts(out, "nobody else is in it\n");
        else
            buf_printf(out, "%lld sentinels are in it\n", (long long)at->sentinels);
    }
}

static void put_result(struct buf *out, const struct explained_node *n)
{
    char at[TIME_TEXT_SIZE];
    buf_printf(out, ": %s", n->result);
    if (n->reason)
        buf_printf(out, " (%s)", n->reason);
    if (n->differs)
        buf_puts(out, " for one of those who share it, otherwise for another");
    if (n->old_version)
        buf_printf(out, ", version %lld→%lld", (long long)n->old_version,
                (long long)n->new_version);
    buf_printf(out, ", %s", time_iso(n->at, at));
}

/* `was_asked`: it has found something before, perhaps for another engine. */
static void put_nodes(struct buf *out, const struct explained *x, bool was_asked)
{
    const struct explained_graph *g = &x->graph;
    char since[TIME_TEXT_SIZE];
    for (size_t i = 0; i < g->nnodes; i++) {
        const struct explained_node *n = &g->nodes[i];
        buf_printf(out, "%-10s%s%s%s%s", i ? "" : "graph", n->alias ? n->alias : "",
                n->alias ? "." : "", n->question,
                n->is_whole && n->of[0] ? " (the whole condition)" : "");
        if (n->result)
            put_result(out, n);
        else if (g->since != MSEC_NEVER && sentinel_is_active(x->sentinel))
            buf_printf(out, ": not compared %s%s",
                    was_asked ? "since the engine started " : "yet",
                    was_asked ? time_iso(g->since, since) : "");
        put_names(out, &n->shared_with, "; shared with ");
        buf_putc(out, '\n');
    }
    if (x->sentinel->further)
        buf_printf(out, "%-10s%s (the whole condition): put together of these\n",
                g->nnodes ? "" : "graph", x->words.monitor);
    if (was_asked && g->since == MSEC_NEVER)
        buf_printf(out,
                "%-10sno engine answers: what single nodes were found to be is not known\n",
                "");
}

static void put_text(
        struct buf *out, const struct explained *x, const struct explain_last *last)
{
    const struct sentinel *s = x->sentinel;
    char at[TIME_TEXT_SIZE];
    buf_printf(out, "%s\n", s->name);
    buf_printf(out, "state     %s\n", sentinel_state(s));
    buf_printf(out, "defined   %s\n", s->definition);
    buf_printf(out, "waits     %s\n", x->waits_for);
    for (size_t i = 0; i < countof(x->events); i++)
        put_event(out, &x->events[i], i == 0);
    for (size_t i = 0; i < countof(x->rules); i++)
        buf_printf(
                out, "%-10son %s: %s\n", i ? "" : "rules", x->rules[i].on, x->rules[i].action);
    buf_printf(out, "stream    %s: %s", s->url, x->stream);
    put_names(out, &x->stream_with, "; shared with ");
    buf_putc(out, '\n');
    for (size_t i = 0; i < x->page->nframes; i++)
        buf_printf(out, "%-10s%s\n", i ? "" : "frames", x->page->frames[i]);
    if (s->enabled && s->phase != PHASE_ENDED)
        put_groups(out, &x->graph);
    put_nodes(out, x, last->result != NULL);
    put_last(out, last);
    buf_printf(out, "next      %s: %s\n",
            x->next_fetch == MSEC_NEVER ? "no fetch" : time_iso(x->next_fetch, at),
            x->next_why);
    buf_printf(out, "costs     %.6g fetches a day alone", x->fetches_alone);
    if (x->stream_with.total)
        buf_printf(out, "; shared by %zu, %.6g for each", x->stream_with.total + 1,
                x->fetches_shared);
    buf_putc(out, '\n');
}

/* ---- as data ------------------------------------------------------------------------- */

static void key_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_text(j, text);
}

static void put_json_events(struct json *j, const struct explained *x)
{
    json_key(j, "events");
    json_array_begin(j);
    for (size_t i = 0; i < countof(x->events); i++) {
        json_object_begin(j);
        key_text(j, "name", x->events[i].name);
        key_text(j, "expression", x->events[i].expression);
        key_text(j, "when", x->events[i].when);
        explained_names_put(j, "listeners", &x->events[i].listeners);
        json_object_end(j);
    }
    json_array_end(j);
    json_key(j, "rules");
    json_array_begin(j);
    for (size_t i = 0; i < countof(x->rules); i++) {
        json_object_begin(j);
        key_text(j, "on", x->rules[i].on);
        key_text(j, "do", x->rules[i].action);
        json_object_end(j);
    }
    json_array_end(j);
}

static const char *number(double n, char text[32])
{
    snprintf(text, 32, "%.4f", n);
    return text;
}

static void put_json_last(struct json *j, const struct explain_last *last)
{
    key_text(j, "last_result", last->result);
    key_text(j, "last_reason", last->reason);
    key_text(j, "last_change_at", last->change_at);
    json_key(j, "evaluations");
    json_raw(j, last->evaluations ? last->evaluations : "0");
    json_key(j, "changes");
    json_raw(j, last->changes ? last->changes : "0");
}

static void put_json(
        struct buf *out, const struct explained *x, const struct explain_last *last)
{
    struct json j;
    char at[TIME_TEXT_SIZE], text[32];
    json_init(&j, out);
    json_object_begin(&j);
    key_text(&j, "sentinel", x->sentinel->name);
    key_text(&j, "state", sentinel_state(x->sentinel));
    key_text(&j, "definition", x->sentinel->definition);
    key_text(&j, "waits_for", x->waits_for);
    put_json_events(&j, x);
    key_text(&j, "url", x->sentinel->url);
    key_text(&j, "stream", x->stream);
    explained_names_put(&j, "stream_shared_with", &x->stream_with);
    json_key(&j, "frames");
    json_array_begin(&j);
    for (size_t i = 0; i < x->page->nframes; i++)
        json_text(&j, x->page->frames[i]);
    json_array_end(&j);
    explained_graph_put(&j, &x->graph);
    put_json_last(&j, last);
    key_text(&j, "next_fetch_at",
            x->next_fetch == MSEC_NEVER ? NULL : time_iso(x->next_fetch, at));
    key_text(&j, "next_fetch_why", x->next_why);
    json_key(&j, "fetches_a_day_alone");
    json_raw(&j, number(x->fetches_alone, text));
    json_key(&j, "fetches_a_day_shared");
    json_raw(&j, number(x->fetches_shared, text));
    json_object_end(&j);
    buf_putc(out, '\n');
}

/* ---- the command --------------------------------------------------------------------- */

static msec time_of(const struct store_rows *rows, const char *column)
{
    const char *text = store_rows_get(rows, 0, column);
    msec at;
    return text && time_parse_iso(text, &at) ? at : MSEC_NEVER;
}

/* A page made of frames says in its newest version which they are. */
static enum err frames_of(struct cli *c, struct store *store, const struct store_rows *rows,
        struct fault *f, struct explain_page *ret)
{
    struct store_load_job job = {.job.kind = STORE_JOB_LOAD, .want_body = true};
    if (!page_is_bundle(store_rows_get(rows, 0, "content_type")))
        return OK;
    job.page_id = strtoll(store_rows_get(rows, 0, "page_id"), NULL, 10);
    job.version = strtoll(store_rows_get(rows, 0, "version"), NULL, 10);
    buf_init(&job.digest, PAGE_DIGEST_MAX);
    buf_init(&job.body, PAGE_BODY_MAX);
    enum err e = store_run(store, &job.job, f);
    struct page_part *parts;
    size_t n = e ? 0
                 : page_bundle_read((struct str){job.body.data, job.body.len}, c->life, &parts);
    const char **urls = arena_array_of(c->life, n + 1, const char *);
    for (size_t i = 1; i < n; i++)
        urls[ret->nframes++] = parts[i].url;
    ret->frames = urls;
    buf_done(&job.digest);
    buf_done(&job.body);
    return e;
}

static enum err page_of(struct cli *c, struct store *store, const struct sentinel *s,
        struct fault *f, struct explain_page *ret)
{
    *ret = (struct explain_page){.last_fetch = MSEC_NEVER, .next_fetch = MSEC_NEVER};
    if (!store)
        return OK;
    const char *params[] = {s->url};
    struct store_rows *rows;
    enum err e = store_query(store, STORE_Q_PAGE, 1, params, c->life, f, &rows);
    if (e != OK || !store_rows_count(rows))
        return e;
    struct fetch_learned learned;
    const char *json = store_rows_get(rows, 0, "learned");
    ret->known = true;
    ret->last_fetch = time_of(rows, "last_fetch_at");
    ret->next_fetch = time_of(rows, "next_fetch_at");
    ret->error = store_rows_get(rows, 0, "error");
    if (json && fetch_learn_read(json, NULL, &learned) == OK)
        ret->learned = learned.interval;
    return frames_of(c, store, rows, f, ret);
}

static enum err last_of(struct cli *c, struct store *store, const struct sentinel *s,
        struct fault *f, struct explain_last *ret)
{
    const char *params[] = {s->name};
    struct store_rows *rows;
    *ret = (struct explain_last){0};
    if (!store || s->id <= 0) /* not installed */
        return OK;
    enum err e = store_query(store, STORE_Q_SHOW, 1, params, c->life, f, &rows);
    if (e != OK || !store_rows_count(rows))
        return e;
    *ret = (struct explain_last){
            .result = store_rows_get(rows, 0, "last_result"),
            .reason = store_rows_get(rows, 0, "error"),
            .evaluations = store_rows_get(rows, 0, "evaluations"),
            .changes = store_rows_get(rows, 0, "changes"),
            .change_at = store_rows_get(rows, 0, "last_change_at"),
    };
    return OK;
}

/* What only a running engine knows. */
static void ask_engine(struct cli *c, struct explained *x)
{
    const char *path = cli_control(c);
    struct fault f = {0};
    char *answer;
    if (!path || x->sentinel->id <= 0)
        return;
    const char *question = arena_printf(c->life, "explain %s", x->sentinel->name);
    if (control_ask(path, question, c->life, &f, &answer) == OK)
        explained_graph_read(c->life, answer, x->sentinel->definition, &x->graph);
}

struct explaining {
    struct cli *c;
    struct store *store; /* NULL: there is no database */
    struct directory directory;
    msec now;
};

static int explain_one(struct explaining *e, const struct sentinel *s)
{
    struct explain_page page;
    struct explain_last last;
    struct fault f = {0};
    if (page_of(e->c, e->store, s, &f, &page) != OK ||
            last_of(e->c, e->store, s, &f, &last) != OK)
        return cli_fail(&f);
    SCRATCH struct arena *scratch = arena_new(NULL, "explain");
    BUF(out, ANSWER_MAX);
    struct explained *x = explain(scratch, &e->directory, s, &page, e->now);
    ask_engine(e->c, x);
    if (e->c->json)
        put_json(&out, x, &last);
    else
        put_text(&out, x, &last);
    fputs(buf_text(&out), stdout);
    return EXIT_DONE;
}

/* What the plan would make is listed beside what there is, and explained from there. */
static int explain_plan(struct explaining *e, struct request_plan *plan)
{
    int64_t next_id = -1;
    for (size_t i = 0; i < plan->nsteps; i++) {
        struct request_subject *subject = &plan->subjects[i];
        bool goes = plan->steps[i].kind == STORE_STEP_DROP || subject->made;
        if (goes && subject->known)
            directory_remove(&e->directory, subject->known);
        if (!subject->made)
            continue;
        subject->made->id = next_id--;
        directory_insert(&e->directory, subject->made);
    }
    int code = EXIT_DONE;
    bool first = true;
    for (size_t i = 0; i < plan->nsteps && code == EXIT_DONE; i++) {
        struct sentinel *made = plan->subjects[i].made;
        if (!made)
            continue;
        if (!first && !e->c->json)
            putchar('\n');
        first = false;
        code = explain_one(e, made);
        plan->subjects[i].made = NULL; /* the directory has it */
    }
    return code;
}

static int explain_files(struct explaining *e)
{
    BUF(text, REQUEST_MAX);
    if (!cli_gather_files(e->c, &text))
        return EXIT_WRONG;
    cli_take_engine_settings(e->c);
    struct request_context context = {
            .directory = &e->directory,
            .settings = &e->c->settings,
            .now = e->now,
            .owner = cli_owner(),
    };
    struct request_plan *plan = request_plan_make(e->c->life, &context, "add", buf_text(&text));
    if (plan->exit_code != EXIT_DONE) {
        fputs(plan->answer, e->c->json ? stdout : stderr);
        return plan->exit_code;
    }
    return explain_plan(e, plan);
}

static int explain_names(struct explaining *e)
{
    int code = EXIT_DONE;
    for (int i = 0; i < e->c->nargs && code == EXIT_DONE; i++) {
        struct sentinel *s = directory_find(&e->directory, e->c->args[i]);
        if (i && !e->c->json)
            putchar('\n');
        code = s ? explain_one(e, s) : cli_no_sentinel(e->c, e->store, e->c->args[i]);
    }
    return code;
}

/* A name has neither a dot nor a slash; anything else, or what is there, is a file. */
static bool is_file(const char *word)
{
    struct stat st;
    return strcmp(word, "-") == 0 || strpbrk(word, "./") || stat(word, &st) == 0;
}

int cmd_explain(struct cli *c)
{
    struct explaining e = {.c = c, .now = clock_wall(&clock_system)};
    struct fault f = {0};
    int code = EXIT_DONE;
    bool files = is_file(c->args[0]);
    directory_init(&e.directory, c->life);
    if (!files || cli_has_database(c)) {
        e.store = cli_store(c, STORE_COMMAND, &code);
        if (!e.store)
            return code;
        if (directory_load(&e.directory, e.store, &f) != OK)
            code = cli_fail(&f);
    }
    if (code == EXIT_DONE)
        code = files ? explain_files(&e) : explain_names(&e);
    directory_done(&e.directory);
    store_close(e.store);
    return code;
}
