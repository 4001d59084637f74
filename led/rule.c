/* Rules: what is to be done when an event occurs.
 *
 *  (1) An enabled rule keeps its event's node alive, a disabled one does not: disabling drops
 *      the state that nobody else needs, and enabling starts empty.
 *  (2) A deleted rule never runs again, also if it was queued already; its memory stays
 *      until the last job that names it has gone.
 *  (3) A program has few functions and a million rules: functions, priority, context,
 *      coupling and mode are a manner, which equal rules share.
 */
#include "led/led_int.h"

/* ---- manners: (3) ---- */

static bool is_same(const struct led_rule_spec *a, const struct led_rule_spec *b)
{
    return a->condition == b->condition && a->action == b->action &&
           a->priority == b->priority && a->context == b->context &&
           a->coupling == b->coupling && a->mode == b->mode;
}

static uint64_t hash_of(const struct led_rule_spec *spec)
{
    uint64_t key[] = {(uintptr_t)spec->condition, (uintptr_t)spec->action,
            (uint64_t)spec->priority, spec->context, spec->coupling, spec->mode};
    return map_hash(key, sizeof key);
}

static struct led_manner *manner_take(struct led *led, const struct led_rule_spec *spec)
{
    uint64_t hash = hash_of(spec);
    struct map_node *n = map_first(&led->manners, hash);
    while (n && !is_same(&container_of(n, struct led_manner, by_hash)->spec, spec))
        n = map_next(n);
    struct led_manner *m = n ? container_of(n, struct led_manner, by_hash) : NULL;
    if (!m) {
        m = led_alloc_of(led, struct led_manner);
        m->spec = *spec;
        m->spec.arg = NULL;
        m->spec.key = 0;
        map_insert(&led->manners, &m->by_hash, hash);
    }
    m->rules++;
    return m;
}

static void manner_drop(struct led *led, struct led_manner *m)
{
    if (--m->rules)
        return;
    map_remove(&led->manners, &m->by_hash);
    led_release(led, m, sizeof *m);
}

/* ---- rules ---- */

struct led_rule *led_rule_first(const struct led_event *e)
{
    return led_linked(e, e->rules);
}

struct led_rule *led_rule_next(const struct led_rule *r)
{
    return r->next == led_rule_event(r)->rules ? NULL : led_linked(r, r->next);
}

static void ring_append(struct led_event *e, struct led_rule *r)
{
    struct led_rule *first = led_rule_first(e), *last = r;
    if (first)
        last = led_linked(first, first->prev);
    else
        first = r;
    r->prev = led_link_to(last);
    r->next = led_link_to(first);
    last->next = first->prev = led_link_to(r);
    e->rules = led_link_to(first);
}

static void ring_remove(struct led_event *e, struct led_rule *r)
{
    struct led_rule *next = led_linked(r, r->next), *prev = led_linked(r, r->prev);
    next->prev = r->prev;
    prev->next = r->next;
    if (e->rules == led_link_to(r))
        e->rules = next == r ? 0 : r->next;
}

struct led_rule *led_rule_add(
        struct led *led, struct led_event *e, const struct led_rule_spec *spec)
{
    struct led_rule *r = led_alloc_of(led, struct led_rule);
    r->event = led_link_to(e);
    r->manner = led_link_to(manner_take(led, spec));
    r->arg = spec->arg;
    r->key = spec->key;
    r->refs = 1;
    e->users++;
    ring_append(e, r);
    led->stats.rules++;
    return r;
}

void led_rule_set_spec(struct led *led, struct led_rule *r, const struct led_rule_spec *spec)
{
    struct led_manner *old = led_linked(r, r->manner);
    r->manner = led_link_to(manner_take(led, spec));
    r->arg = spec->arg;
    manner_drop(led, old);
}

enum err led_rule_new(struct led *led, struct led_event *e, const struct led_rule_spec *spec,
        struct fault *f, struct led_rule **ret_rule)
{
    CHECK(spec->action && spec->context < LED_CONTEXT_COUNT);
    CHECK(spec->coupling < LED_COUPLING_COUNT && spec->mode < LED_MODE_COUNT);
    if (e->is_deleted)
        return fault_set(f, ERR_NAME, "event of the rule is deleted");
    struct led_rule *r = led_rule_add(led, e, spec);
    led_rule_enable(led, r);
    *ret_rule = r;
    return OK;
}

void led_rule_enable(struct led *led, struct led_rule *r)
{
    if (r->is_enabled || r->is_deleted)
        return;
    r->since = led->now;
    r->is_enabled = true;
    led_need(led, led_rule_event(r), led_rule_spec(r)->context);
}

void led_rule_disable(struct led *led, struct led_rule *r)
{
    if (!r->is_enabled)
        return;
    r->is_enabled = false;
    led_unneed(led, led_rule_event(r), led_rule_spec(r)->context); /* (1) */
}

bool led_rule_is_enabled(const struct led_rule *r)
{
    return r->is_enabled;
}

struct led_event *led_rule_event(const struct led_rule *r)
{
    return led_linked(r, r->event);
}

void led_rule_unref(struct led *led, struct led_rule *r)
{
    if (--r->refs)
        return;
    manner_drop(led, led_linked(r, r->manner));
    led_release(led, r, sizeof *r);
}

void led_rule_delete(struct led *led, struct led_rule *r)
{
    if (!r)
        return;
    CHECK(!r->is_deleted);
    led_rule_disable(led, r);
    r->is_deleted = true; /* (2) */
    struct led_event *e = led_rule_event(r);
    ring_remove(e, r);
    r->event = 0;
    led_event_unuse(led, e);
    led->stats.rules--;
    led_rule_unref(led, r);
}

void led_on_rule_gone(struct led *led, led_gone_fn *gone, void *ctx)
{
    led->gone = gone;
    led->gone_ctx = ctx;
}
