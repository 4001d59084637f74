/* Which sentinels exist, as far as the statements so far have got, and who depends on whom.
 *
 * The world is asked once for each name; what this file's statements do is written over it.
 *  (1) "sentinel -> sentinels named in its From and To" stays free of cycles.
 */
#include "grammar/check_int.h"
#include "base/str.h"

static uint64_t hash_name(const char *name)
{
    char lower[NAME_MAX_BYTES + 1];
    size_t n = 0;
    for (; name[n] && n < NAME_MAX_BYTES; n++)
        lower[n] = (char)(name[n] | (name[n] >= 'A' && name[n] <= 'Z' ? 0x20 : 0));
    return map_hash(lower, n);
}

static struct entry *find_or_make(
        struct check *ck, struct map *in, const char *name, bool *ret_new)
{
    uint64_t hash = hash_name(name);
    for (struct map_node *n = map_first(in, hash); n; n = map_next(n)) {
        struct entry *e = container_of(n, struct entry, node);
        if (grammar_name_equal(e->name, name)) {
            *ret_new = false;
            return e;
        }
    }
    struct entry *e = arena_new_of(ck->life, struct entry);
    e->name = name;
    map_insert(in, &e->node, hash);
    *ret_new = true;
    return e;
}

static void take_known(struct entry *e, const struct grammar_known *k)
{
    e->exists = true;
    e->name = k->name ? k->name : e->name;
    e->phase = k->phase;
    e->start_is_absolute = k->start_is_absolute || k->phase == GRAMMAR_RUNNING;
    e->end_is_absolute = k->end_is_absolute;
    e->starts_at = k->starts_at;
    e->ends_at = k->ends_at;
    e->depends = k->depends;
    e->n_depends = k->n_depends;
    e->stored_dependants = k->dependants;
    e->n_stored_dependants = k->n_dependants;
    e->stored = k->definition;
}

struct entry *entry_get(struct check *ck, const char *name)
{
    bool is_new;
    struct entry *e = find_or_make(ck, &ck->sentinels, name, &is_new);
    struct grammar_known known = {0};
    if (is_new && ck->world->find_sentinel &&
            ck->world->find_sentinel(ck->world->arg, ck->life, name, &known))
        take_known(e, &known);
    return e;
}

struct entry *entry_get_subscription(struct check *ck, const char *name)
{
    bool is_new;
    struct entry *e = find_or_make(ck, &ck->subscriptions, name, &is_new);
    struct grammar_known known = {0};
    if (is_new && ck->world->find_subscription &&
            ck->world->find_subscription(ck->world->arg, ck->life, name, &known))
        take_known(e, &known);
    return e;
}

/* ---- near names --------------------------------------------------------------------- */

struct near {
    struct str wanted;
    unsigned distance;
    const char *name;
};

static void consider(void *ctx, const char *name)
{
    struct near *near = ctx;
    unsigned d = str_distance(near->wanted, str_of(name), near->distance);
    if (d > 0 && d < near->distance) {
        near->distance = d;
        near->name = name;
    }
}

static void suggest_name(struct check *ck, struct grammar_diagnostic *d, const char *name)
{
    enum { MAX_SUGGESTIONS = 20 }; /* each looks at every name there is */
    struct near near = {str_of(name), strlen(name) < 4 ? 2 : 3, NULL};
    if (++ck->suggestions > MAX_SUGGESTIONS)
        return;
    map_each (n, &ck->sentinels) {
        struct entry *e = container_of(n, struct entry, node);
        if (e->exists)
            consider(&near, e->name);
    }
    if (ck->world->each_name)
        ck->world->each_name(ck->world->arg, consider, &near);
    if (near.name)
        report_hint(ck->script, d, "Did you mean \"%s\"?", near.name);
}

struct entry *entry_need(struct check *ck, const char *name, struct grammar_pos pos)
{
    struct entry *e = entry_get(ck, name);
    if (e->exists) {
        if (!e->broken)
            return e;
        ck->st->has_errors = true; /* it rests on something that was told already */
        return NULL;
    }
    suggest_name(ck, check_error(ck, GRAMMAR_E040, pos, "unknown sentinel \"%s\"", name), name);
    return NULL;
}

const struct grammar_definition *entry_definition(struct check *ck, struct entry *e)
{
    if (e->definition || !e->stored)
        return e->definition;
    const struct grammar_definition *d;
    if (grammar_load(ck->life, e->stored, NULL, &d) == OK)
        e->definition = d;
    e->stored = NULL; /* what does not parse now never will */
    return e->definition;
}

void entry_reset(struct entry *e)
{
    e->exists = true;
    e->in_script = true;
    e->broken = false;
    e->phase = GRAMMAR_WAITING;
    e->start_is_absolute = e->end_is_absolute = false;
    e->depends = NULL;
    e->n_depends = 0;
    e->stored = NULL;
    e->definition = NULL;
}

/* ---- dependencies ------------------------------------------------------------------- */

void entry_depends_on(struct check *ck, struct entry *e, const char *const *names, size_t n)
{
    e->depends = names;
    e->n_depends = n;
    for (size_t i = 0; i < n; i++) {
        struct entry *on = entry_get(ck, names[i]);
        struct dependant *d = arena_new_of(ck->life, struct dependant);
        d->who = e;
        d->next = on->dependants;
        on->dependants = d;
    }
}

static bool depends_on(const struct entry *e, const char *name)
{
    for (size_t i = 0; e->exists && i < e->n_depends; i++)
        if (grammar_name_equal(e->depends[i], name))
            return true;
    return false;
}

/* Depth first with a stack of our own: a chain may be as long as there are sentinels. */
bool entry_closes_cycle(struct check *ck, struct map *in, const char *name,
        const char *const *names, size_t n, const char **ret_through)
{
    bool sentinels = in == &ck->sentinels;
    struct entry **stack = NULL;
    unsigned depth = 0;
    ck->visit++;
    for (size_t i = 0; i < n; i++) {
        if (grammar_name_equal(names[i], name)) {
            *ret_through = name;
            return true;
        }
        *GROW(ck->life, stack, depth) =
                sentinels ? entry_get(ck, names[i]) : entry_get_subscription(ck, names[i]);
    }
    while (depth > 0) {
        struct entry *e = stack[--depth];
        if (e->visited == ck->visit || !e->exists)
            continue;
        e->visited = ck->visit;
        for (size_t i = 0; i < e->n_depends; i++) {
            if (grammar_name_equal(e->depends[i], name)) {
                *ret_through = e->name;
                return true; /* (1) */
            }
            *GROW(ck->life, stack, depth) = sentinels
                                                    ? entry_get(ck, e->depends[i])
                                                    : entry_get_subscription(ck, e->depends[i]);
        }
    }
    return false;
}

size_t entry_dependants(struct check *ck, struct entry *e, const char ***ret_names)
{
    const char **names = NULL;
    unsigned n = 0;
    ck->visit++;
    for (size_t i = 0; !e->was_cut && i < e->n_stored_dependants; i++) {
        struct entry *who = entry_get(ck, e->stored_dependants[i]);
        if (who->exists && who->phase != GRAMMAR_ENDED &&
                (!who->in_script || depends_on(who, e->name))) {
            *GROW(ck->life, names, n) = who->name;
            who->visited = ck->visit;
        }
    }
    for (struct dependant *d = e->dependants; d; d = d->next) {
        if (d->who == e || d->who->visited == ck->visit || d->who->phase == GRAMMAR_ENDED ||
                !depends_on(d->who, e->name))
            continue;
        *GROW(ck->life, names, n) = d->who->name;
        d->who->visited = ck->visit;
    }
    *ret_names = names;
    return n;
}
