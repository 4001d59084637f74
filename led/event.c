/* Events: expressions, each of which exists once.
 *
 *  (1) Two makers asking for the same operator over the same operands with the same
 *      parameter get the same event.  An event that stops being what its key says (a P with
 *      a learned interval, an absolute time that has passed) leaves the keys.
 *  (2) An event goes when no caller holds it, no rule and no event uses it, and no
 *      occurrence points at it.
 *  (3) Operands are older than the operators above them, so ids order an expression.
 */
#include "led/led_int.h"
#include <string.h>

static struct led_event *of_id(struct map_node *n)
{
    return container_of(n, struct led_event, by_id);
}

static struct led_event *of_key(struct map_node *n)
{
    return container_of(n, struct led_event, by_key);
}

uint64_t led_event_id(const struct led_event *e)
{
    return e->by_id.hash;
}

struct led_event *led_event_by_id(const struct led *led, uint64_t id)
{
    struct map_node *n = map_first(&led->events_by_id, id);
    return n && !of_id(n)->is_deleted ? of_id(n) : NULL;
}

const char *led_event_name(const struct led_event *e)
{
    return e->op->param == LED_PARAM_NAME ? e->name : NULL;
}

uint64_t led_event_count(const struct led_event *e)
{
    return e->count;
}

bool led_event_is_absolute(const struct led_event *e, msec *ret_wall)
{
    if (e->op->param != LED_PARAM_WALL)
        return false;
    if (ret_wall)
        *ret_wall = e->wall;
    return true;
}

/* ---- one for each expression: (1) ---- */

static size_t op_index(const struct led_op *op)
{
    size_t i = 0;
    while (led_ops[i] != op)
        i++;
    return i;
}

static uint64_t key_hash(const struct led_wish *w)
{
    uint64_t key[2 + LED_ANY_MAX] = {op_index(w->op), (uint64_t)w->param};
    for (unsigned i = 0; i < w->arity; i++)
        key[2 + i] = led_event_id(w->operands[i]);
    return map_hash(key, (2 + w->arity) * sizeof key[0]);
}

static int64_t param_of(const struct led_event *e)
{
    return e->op->param == LED_PARAM_NONE ? 0 : e->span;
}

static bool is_wished(const struct led_event *e, const struct led_wish *w)
{
    if (e->op != w->op || e->arity != w->arity || param_of(e) != w->param)
        return false;
    for (unsigned i = 0; i < w->arity; i++)
        if (e->operands[i] != w->operands[i])
            return false;
    return true;
}

static size_t bytes_of(unsigned operands)
{
    return sizeof(struct led_event) + operands * sizeof(struct led_event *);
}

struct led_event *led_event_new(
        struct led *led, const struct led_wish *w, const char *name, uint64_t id)
{
    struct led_event *e = led_alloc(led, bytes_of(w->arity));
    e->op = w->op;
    e->arity = e->arity_made = (uint8_t)w->arity;
    list_init(&e->rules);
    if (w->op->param != LED_PARAM_NAME) {
        e->span = w->param;
    } else if (name) {
        e->name = led_alloc(led, strlen(name) + 1);
        memcpy(e->name, name, strlen(name) + 1);
    }
    for (unsigned i = 0; i < w->arity; i++) {
        struct led_event *operand = w->operands[i];
        e->operands[i] = operand;
        operand->users++;
        if (operand->height >= e->height)
            e->height = operand->height + 1;
    }
    map_insert(&led->events_by_id, &e->by_id, id);
    led->stats.events++;
    return e;
}

void led_event_key(struct led *led, struct led_event *e)
{
    struct led_wish w = {e->op, param_of(e), e->arity, e->operands};
    uint64_t hash = led_event_name(e) ? map_hash_text(e->name) : key_hash(&w);
    map_insert(&led->events_by_key, &e->by_key, hash);
    e->is_keyed = true;
}

void led_event_unkey(struct led *led, struct led_event *e)
{
    if (e->is_keyed)
        map_remove(&led->events_by_key, &e->by_key);
    e->is_keyed = false;
}

static enum err operands_check(const struct led_wish *w, struct fault *f)
{
    for (unsigned i = 0; i < w->arity; i++) {
        if (w->operands[i]->is_deleted)
            return fault_set(f, ERR_NAME, "operand %u of %s is deleted", i + 1, w->op->name);
        if (w->operands[i]->height >= LED_HEIGHT_MAX)
            return fault_set(f, ERR_LIMIT, "expression is nested deeper than %d operators",
                    LED_HEIGHT_MAX);
    }
    return OK;
}

enum err led_event_make(struct led *led, const struct led_wish *w, struct fault *f,
        struct led_event **ret_event)
{
    enum err err = operands_check(w, f);
    if (err)
        return err;

    struct map_node *n = map_first(&led->events_by_key, key_hash(w));
    while (n && !is_wished(of_key(n), w))
        n = map_next(n);
    struct led_event *e = n ? of_key(n) : led_event_new(led, w, NULL, ++led->last_event_id);
    if (!n)
        led_event_key(led, e);
    e->holds++;
    *ret_event = e;
    return OK;
}

/* ---- primitive events ---- */

struct led_event *led_event_find(const struct led *led, const char *name)
{
    struct map_node *n = map_first(&led->events_by_key, map_hash_text(name));
    for (; n; n = map_next(n)) {
        const char *has = led_event_name(of_key(n));
        if (has && strcmp(has, name) == 0)
            return of_key(n);
    }
    return NULL;
}

struct led_event *led_primitive(struct led *led, const char *name)
{
    struct led_event *e = name ? led_event_find(led, name) : NULL;
    if (!e) {
        struct led_wish w = {.op = &led_op_primitive};
        e = led_event_new(led, &w, name, ++led->last_event_id);
        if (name)
            led_event_key(led, e);
    }
    e->holds++;
    return e;
}

/* ---- going: (2) ---- */

void led_event_reap(struct led *led, struct led_event *e)
{
    if (e->holds || e->users || e->occurrences)
        return;
    led_event_unkey(led, e);
    map_remove(&led->events_by_id, &e->by_id);
    for (unsigned i = 0; i < e->arity; i++)
        led_event_unuse(led, e->operands[i]);
    if (led_event_name(e))
        led_release(led, e->name, strlen(e->name) + 1);
    led_release(led, e, bytes_of(e->arity_made));
    led->stats.events--;
}

void led_event_unuse(struct led *led, struct led_event *e)
{
    CHECK(e->users > 0);
    e->users--;
    led_event_reap(led, e);
}

void led_event_hold(struct led_event *e)
{
    e->holds++;
}

void led_event_drop(struct led *led, struct led_event *e)
{
    if (!e)
        return;
    CHECK(e->holds > 0);
    e->holds--;
    led_event_reap(led, e);
}

/* ---- deleting ---- */

static bool uses(const struct led_event *e, const struct led_event *operand)
{
    for (unsigned i = 0; i < e->arity; i++)
        if (e->operands[i] == operand)
            return true;
    return false;
}

static enum err refuse_used(struct led *led, struct led_event *e, struct fault *f)
{
    BUF(text, 120);
    BUF(user, 200);
    led_event_text(e, &text);
    map_each (n, &led->events_by_id)
        if (user.len == 0 && uses(of_id(n), e))
            led_event_text(of_id(n), &user);
    if (user.len == 0)
        buf_puts(&user, "a rule");
    return fault_set(f, ERR_BUSY, "event %s is used by %s", buf_text(&text), buf_text(&user));
}

static void delete_now(struct led *led, struct led_event *e);

/* Deleting one may take others with it, so those found are held until all are done. */
static void delete_users(struct led *led, struct led_event *e)
{
    uint32_t rules = 0;
    list_each (l, &e->rules)
        rules++;
    if (e->users == rules)
        return; /* no need to look through all events */
    SCRATCH struct arena *scratch = arena_new(NULL, "led delete");
    struct led_event **found = arena_array_of(scratch, e->users, struct led_event *);
    size_t count = 0;
    map_each (n, &led->events_by_id) {
        if (uses(of_id(n), e)) {
            found[count++] = of_id(n);
            of_id(n)->holds++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!found[i]->is_deleted)
            delete_now(led, found[i]);
        led_event_drop(led, found[i]);
    }
}

static void delete_now(struct led *led, struct led_event *e)
{
    e->holds++;
    delete_users(led, e);
    list_each (l, &e->rules) {
        struct led_rule *r = list_entry(l, struct led_rule, link);
        if (led->gone)
            led->gone(led->gone_ctx, r, r->spec.arg);
        led_rule_delete(led, r);
    }
    e->is_deleted = true;
    led_event_unkey(led, e);
    unsigned arity = e->arity;
    e->arity = 0;
    for (unsigned i = 0; i < arity; i++)
        led_event_unuse(led, e->operands[i]);
    led_event_drop(led, e);
}

enum err led_event_delete(struct led *led, struct led_event *e, bool cascade, struct fault *f)
{
    if (e->is_deleted)
        return fault_set(f, ERR_NAME, "event is already deleted");
    if (e->users && !cascade)
        return refuse_used(led, e, f);
    delete_now(led, e);
    return OK;
}

enum err led_span_check(const char *what, msec span, struct fault *f)
{
    if (span > 0 && span <= LED_SPAN_MAX)
        return OK;
    enum err err =
            fault_set(f, ERR_RANGE, "%s of %lld ms is out of range", what, (long long)span);
    fault_hint(f, "Give a span of at least one millisecond and at most 200 years.");
    return err;
}
