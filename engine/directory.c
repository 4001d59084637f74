#include "engine/directory.h"
#include "engine/webrequest.h"
#include "base/str.h"
#include <stdlib.h>

uint64_t name_hash(const char *name)
{
    char folded[256];
    size_t n = 0;
    for (; name[n] && n < sizeof folded; n++)
        folded[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] + 32) : name[n];
    return map_hash(folded, n);
}

void directory_init(struct directory *d, struct arena *life)
{
    *d = (struct directory){.arena = life};
    map_init(&d->by_name);
    map_init(&d->by_id);
    map_init(&d->relations);
}

void directory_done(struct directory *d)
{
    map_each (n, &d->by_id)
        directory_remove(d, container_of(n, struct sentinel, by_id));
    map_done(&d->by_name);
    map_done(&d->by_id);
    map_done(&d->relations);
}

struct sentinel *directory_find(const struct directory *d, const char *name)
{
    struct map_node *n = map_first(&d->by_name, name_hash(name));
    for (; n; n = map_next(n)) {
        struct sentinel *s = container_of(n, struct sentinel, by_name);
        if (grammar_name_equal(s->name, name))
            return s;
    }
    return NULL;
}

struct sentinel *directory_get(const struct directory *d, int64_t id)
{
    struct map_node *n = map_first(&d->by_id, map_hash_id((uint64_t)id));
    for (; n; n = map_next(n)) {
        struct sentinel *s = container_of(n, struct sentinel, by_id);
        if (s->id == id)
            return s;
    }
    return NULL;
}

struct sentinel *sentinel_new(struct directory *d, const char *name)
{
    struct sentinel *s = calloc(1, sizeof *s);
    CHECK(s);
    s->arena = arena_new(d->arena, "sentinel");
    s->name = arena_strdup(s->arena, name);
    s->owner = s->definition = s->url = arena_strdup(s->arena, "");
    s->enabled = true;
    s->installed_at = s->starts_at = s->ends_at = s->started_at = s->ended_at = s->entered_at =
            MSEC_NEVER;
    return s;
}

static void further_free(struct further *f)
{
    for (unsigned i = 0; f && i < f->count; i++) {
        free(f->all[i].url);
        sight_begin(&f->all[i].sight, 0);
    }
    if (f)
        cdg_constituents_free(&f->kept);
    free(f);
}

void sentinel_watch_more(struct sentinel *s, const char *const *urls, unsigned count)
{
    further_free(s->further);
    s->further = NULL;
    if (count == 0)
        return;
    struct further *f = calloc(1, sizeof *f + count * sizeof f->all[0]);
    CHECK(f);
    f->count = count;
    list_init(&f->kept);
    for (unsigned i = 0; i < count; i++) {
        f->all[i].url = strdup(urls[i]);
        CHECK(f->all[i].url);
    }
    s->further = f;
}

void sentinel_free(struct sentinel *s)
{
    if (!s)
        return;
    arena_free(s->arena);
    free(s->texts);
    sight_begin(&s->sight, 0);
    further_free(s->further);
    free(s);
}

/* One block for all its texts: an arena for each of a million costs more than they do. */
static void pack(struct sentinel *s)
{
    char **texts[] = {&s->name, &s->owner, &s->definition, &s->url, &s->from.of, &s->to.of};
    size_t size = 0;
    for (size_t i = 0; i < countof(texts); i++)
        size += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    char *to = s->texts = malloc(size);
    CHECK(to);
    for (size_t i = 0; i < countof(texts); i++) {
        if (!*texts[i])
            continue;
        size_t bytes = strlen(*texts[i]) + 1;
        *texts[i] = memcpy(to, *texts[i], bytes);
        to += bytes;
    }
    arena_free(s->arena);
    s->arena = NULL;
}

static void relation_insert(
        struct directory *d, struct relation *r, struct sentinel *who, const char *of)
{
    r->who = who;
    r->of = of;
    if (of)
        map_insert(&d->relations, &r->node, name_hash(of));
}

static void relation_remove(struct directory *d, struct relation *r)
{
    if (r->of)
        map_remove(&d->relations, &r->node);
    r->of = NULL;
}

struct sentinel *directory_next_dependant(
        const struct directory *d, const char *name, struct relation **at)
{
    struct map_node *n =
            *at ? map_next(&(*at)->node) : map_first(&d->relations, name_hash(name));
    for (; n; n = map_next(n)) {
        struct relation *r = container_of(n, struct relation, node);
        bool again = r == &r->who->on_to && r->who->on_from.of &&
                     grammar_name_equal(r->who->on_from.of, name);
        if (again || !grammar_name_equal(r->of, name))
            continue;
        *at = r;
        return r->who;
    }
    return NULL;
}

void directory_insert(struct directory *d, struct sentinel *s)
{
    pack(s);
    relation_insert(d, &s->on_from, s, s->from.of);
    relation_insert(d, &s->on_to, s, s->to.of);
    map_insert(&d->by_name, &s->by_name, name_hash(s->name));
    map_insert(&d->by_id, &s->by_id, map_hash_id((uint64_t)s->id));
    d->count++;
}

void directory_remove(struct directory *d, struct sentinel *s)
{
    relation_remove(d, &s->on_from);
    relation_remove(d, &s->on_to);
    map_remove(&d->by_name, &s->by_name);
    map_remove(&d->by_id, &s->by_id);
    d->count--;
    sentinel_free(s);
}

static struct point point_of(struct arena *a, const struct grammar_time *t)
{
    struct point p = {.kind = t->kind, .offset = t->offset};
    if (t->of)
        p.of = arena_strdup(a, t->of);
    /* A negative offset was turned into the instant it means when it was checked. */
    if ((t->kind == GRAMMAR_TIME_START || t->kind == GRAMMAR_TIME_END) && t->offset < 0) {
        p.kind = GRAMMAR_TIME_AT;
        p.before_start = t->kind == GRAMMAR_TIME_START;
    }
    return p;
}

static char *printed(struct arena *a, const struct buf *b)
{
    return arena_strndup(a, buf_text(b), b->len);
}

enum { DEFINITION_MAX = 1 << 20 };

struct sentinel_words sentinel_words(const struct sentinel *s, struct arena *life)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "words");
    const struct grammar_definition *d = sentinel_parse(s, scratch);
    struct sentinel_words w;
    BUF(text, DEFINITION_MAX);
    CHECK(d); /* it was parsed when it was loaded or installed */
    grammar_print_change(&text, d->monitor);
    w.monitor = printed(life, &text);
    buf_clear(&text);
    grammar_print_fetch(&text, d->fetch_every);
    w.fetch = printed(life, &text);
    buf_clear(&text);
    grammar_print_compare(&text, d->compare);
    w.compare = printed(life, &text);
    w.request = webrequest_text(life, &d->request, s->name);
    buf_clear(&text);
    grammar_print_time(&text, &d->from);
    w.from = printed(life, &text);
    buf_clear(&text);
    grammar_print_time(&text, &d->to);
    w.to = printed(life, &text);
    return w;
}

/* Times, and what they hang on. */
static void set_times(struct sentinel *s, const struct grammar_definition *d)
{
    s->fetch_every = d->fetch_every;
    s->from = point_of(s->arena, &d->from);
    s->to = point_of(s->arena, &d->to);
    if (s->from.kind == GRAMMAR_TIME_AT)
        s->starts_at = d->from.at;
    if (s->to.kind == GRAMMAR_TIME_AT)
        s->ends_at = d->to.at;
    else if (s->to.kind == GRAMMAR_TIME_FOR && s->starts_at != MSEC_NEVER)
        s->ends_at = s->starts_at + d->to.offset;
}

void sentinel_define(struct sentinel *s, const struct grammar_definition *d)
{
    BUF(text, DEFINITION_MAX);
    grammar_print_effective(&text, s->name, d);
    s->definition = printed(s->arena, &text);
    set_times(s, d);
}

static bool same_further(const struct sentinel *a, const struct sentinel *b)
{
    unsigned x = a->further ? a->further->count : 0, y = b->further ? b->further->count : 0;
    for (unsigned i = 0; x == y && i < x; i++)
        if (strcmp(a->further->all[i].url, b->further->all[i].url) != 0)
            return false;
    return x == y;
}

void sentinel_go_on(struct sentinel *s, const struct sentinel *from)
{
    s->phase = from->phase;
    s->started_at = from->started_at;
    s->ended_at = from->ended_at;
    s->entered_at = from->entered_at;
    sight_copy(&s->sight, &from->sight);
    for (unsigned i = 0; same_further(s, from) && s->further && i < s->further->count; i++)
        sight_copy(&s->further->all[i].sight, &from->further->all[i].sight);
    if (s->phase != PHASE_RUNNING)
        return;
    s->starts_at = from->starts_at;
    if (s->to.kind == GRAMMAR_TIME_FOR)
        s->ends_at = s->started_at + s->to.offset;
}

bool sentinel_asks_the_same(const struct sentinel *a, const struct sentinel *b)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "same");
    struct sentinel_words x = sentinel_words(a, scratch), y = sentinel_words(b, scratch);
    return strcmp(a->url, b->url) == 0 && strcmp(x.request, y.request) == 0 &&
           strcmp(x.monitor, y.monitor) == 0 && strcmp(x.fetch, y.fetch) == 0 &&
           strcmp(x.compare, y.compare) == 0 && same_further(a, b) &&
           (!a->further ||
                   sentinel_parse(a, scratch)->within == sentinel_parse(b, scratch)->within);
}

const char *sentinel_state(const struct sentinel *s)
{
    switch (s->phase) {
    case PHASE_WAITING:
        return s->enabled ? "waiting" : "waiting-disabled";
    case PHASE_RUNNING:
        return s->enabled ? "active" : "disabled";
    case PHASE_ENDED:
        return "ended";
    }
    CHECK(false);
}

bool sentinel_is_active(const struct sentinel *s)
{
    return s->phase == PHASE_RUNNING && s->enabled;
}

const struct grammar_definition *sentinel_parse(const struct sentinel *s, struct arena *life)
{
    const struct grammar_definition *d;
    return grammar_load(life, s->definition, NULL, &d) == OK ? d : NULL;
}

bool sentinel_depends_on(const struct sentinel *s, const char *other)
{
    return (s->from.of && grammar_name_equal(s->from.of, other)) ||
           (s->to.of && grammar_name_equal(s->to.of, other));
}

/* ---- loading ------------------------------------------------------------------------- */

static void set_state(struct sentinel *s, const char *state)
{
    s->enabled = strcmp(state, "disabled") != 0 && strcmp(state, "waiting-disabled") != 0;
    s->phase = strcmp(state, "ended") == 0         ? PHASE_ENDED
               : strncmp(state, "waiting", 7) == 0 ? PHASE_WAITING
                                                   : PHASE_RUNNING;
}

struct loading {
    struct directory *directory;
    struct fault *fault;
    enum err err;
};

static void load_one(const struct store_sentinel *row, void *arg)
{
    struct loading *l = arg;
    if (l->err != OK)
        return;
    struct sentinel *s = sentinel_new(l->directory, row->name);
    s->id = row->id;
    s->owner = arena_strdup(s->arena, row->owner ? row->owner : "");
    s->definition = arena_strdup(s->arena, row->definition);

    SCRATCH struct arena *scratch = arena_new(NULL, "load");
    const struct grammar_definition *d = sentinel_parse(s, scratch);
    if (!d) {
        l->err = fault_set(l->fault, ERR_STORE,
                "the stored definition of sentinel \"%s\" does not parse", row->name);
        fault_hint(
                l->fault, "It was stored by another version of Vigil; drop and add it again.");
        sentinel_free(s);
        return;
    }
    set_times(s, d);
    s->url = arena_strdup(s->arena, row->url);
    /* The instants are the store's: a definition read again would count from today. */
    s->from.kind = s->from.of ? s->from.kind : GRAMMAR_TIME_AT;
    if (!s->to.of && s->to.kind != GRAMMAR_TIME_NEVER && s->to.kind != GRAMMAR_TIME_FOR)
        s->to.kind = GRAMMAR_TIME_AT;
    set_state(s, row->state);
    s->installed_at = row->installed_at;
    s->starts_at = row->starts_at;
    s->ends_at = row->ends_at;
    s->started_at = row->started_at;
    s->ended_at = row->ended_at;
    s->entered_at = row->entered_at;
    s->page_id = row->page_id;
    struct sight stored = {
            .base_version = row->base_version,
            .last_version = row->last_version,
            .seen = {.all = (int64_t *)row->seen, .count = row->nseen},
            .answers = (char *)row->answers,
    };
    sight_copy(&s->sight, &stored);
    s->lacks_points = !row->has_points;
    directory_insert(l->directory, s);
}

static void load_place(const struct store_place *row, void *arg)
{
    struct loading *l = arg;
    struct sentinel *s = directory_get(l->directory, row->sentinel_id);
    unsigned known = s && s->further ? s->further->count : 0;
    if (!s || row->place != known + 1)
        return; /* they come in order */
    struct further *f = realloc(s->further, sizeof *f + row->place * sizeof f->all[0]);
    CHECK(f);
    list_init(&f->kept);
    f->count = row->place;
    f->all[known] = (struct further_page){.url = strdup(row->url), .page_id = row->page_id};
    CHECK(f->all[known].url);
    int64_t first = 0;
    for (size_t i = row->nseen; i > 0; i--)
        first = row->seen[i - 1] ? row->seen[i - 1] : first;
    struct sight stored = {
            .base_version = first,
            .last_version = row->nseen ? row->seen[row->nseen - 1] : 0,
            .seen = {.all = (int64_t *)row->seen, .count = row->nseen},
            .answers = (char *)row->answers,
    };
    sight_copy(&f->all[known].sight, &stored);
    s->further = f;
}

static void load_constituent(const struct store_constituent *row, void *arg)
{
    struct loading *l = arg;
    struct sentinel *s = directory_get(l->directory, row->sentinel_id);
    if (!s || !s->further)
        return;
    struct cdg_constituent c = {
            .part = row->part,
            .at = row->at,
            .old_version = row->old_version,
            .new_version = row->new_version,
            .inserted = row->inserted,
            .deleted = row->deleted,
            .updated = row->updated,
            .moved = row->moved,
            .summary = row->summary,
            .detail = row->detail,
    };
    list_append(&s->further->kept, &cdg_constituent_copy(&c)->link);
}

enum err directory_load(struct directory *d, struct store *store, struct fault *f)
{
    struct loading l = {.directory = d, .fault = f};
    enum err e = store_load_sentinels(store, f, load_one, &l);
    if (e == OK && l.err == OK)
        e = store_load_places(store, f, load_place, &l);
    if (e == OK && l.err == OK)
        e = store_load_constituents(store, f, load_constituent, &l);
    return e != OK ? e : l.err;
}
