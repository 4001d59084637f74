/* Events: expressions, each of which exists once.
 *
 *  (1) Equal ones are the same: see index.c.  An event that stops being what its key says (a
 *      P with a learned interval, an absolute time that has passed) can no longer be found.
 *  (2) An event goes when no caller holds it, no rule and no event uses it, and no
 *      occurrence points at it.
 */
#include "led/led_int.h"
#include <string.h>

uint64_t led_event_id(const struct led_event *e)
{
    return led_link_to(e);
}

const char *led_event_name(const struct led_event *e)
{
    return e->has_name ? (const char *)(e + 1) : NULL;
}

uint64_t led_event_count(const struct led_event *e)
{
    return led_op(e) == &led_op_primitive ? e->count : e->is_over;
}

bool led_event_is_absolute(const struct led_event *e, msec *ret_wall)
{
    if (led_op(e)->param != LED_PARAM_WALL)
        return false;
    if (ret_wall)
        *ret_wall = e->wall;
    return true;
}

bool led_event_is_instant(const struct led_event *e)
{
    if (led_op(e) != &led_op_or)
        return led_op(e)->instant;
    return led_event_is_instant(led_operand(e, 0)) && led_event_is_instant(led_operand(e, 1));
}

/* ---- making: (1) ---- */

static size_t bytes_of(const struct led_op *op, unsigned arity, const char *name)
{
    if (op->operands)
        return offsetof(struct led_event, operands) + arity * sizeof(led_link);
    return sizeof(struct led_event) + op->state_bytes + (name ? strlen(name) + 1 : 0);
}

struct led_event *led_event_new(struct led *led, const struct led_wish *w, const char *name)
{
    struct led_event *e = led_alloc(led, bytes_of(w->op, w->arity, name));
    e->op = (uint8_t)led_op_index(w->op);
    e->arity = (uint8_t)w->arity;
    e->param = w->param;
    e->has_name = name != NULL;
    if (name)
        memcpy(led_leaf_state(e), name, strlen(name) + 1);
    for (unsigned i = 0; i < w->arity; i++) {
        struct led_event *operand = w->operands[i];
        e->operands[i] = led_link_to(operand);
        operand->users++;
        if (operand->height >= e->height)
            e->height = operand->height + 1;
    }
    return e;
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

    struct led_event *e = led_event_keyed(led, w);
    if (!e) {
        e = led_event_new(led, w, NULL);
        led_index_add(led, e);
        led_event_key(led, e);
    }
    e->holds++;
    *ret_event = e;
    return OK;
}

struct led_event *led_primitive(struct led *led, const char *name)
{
    struct led_event *e = name ? led_event_find(led, name) : NULL;
    if (!e) {
        struct led_wish w = {.op = &led_op_primitive};
        e = led_event_new(led, &w, name);
        led_index_add(led, e);
        if (name)
            led_event_key(led, e);
    }
    e->holds++;
    return e;
}

/* ---- going: (2) ---- */

void led_event_reap(struct led *led, struct led_event *e)
{
    if (e->holds || e->users || (led_is_leaf(e) && e->occurrences))
        return;
    led_event_unkey(led, e);
    led_index_remove(led, e);
    for (unsigned i = 0; i < led_arity(e); i++)
        led_event_unuse(led, led_operand(e, i));
    led_release(led, e, bytes_of(led_op(e), e->arity, led_event_name(e)));
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
    for (unsigned i = 0; i < led_arity(e); i++)
        if (led_operand(e, i) == operand)
            return true;
    return false;
}

/* Where events stand in memory is no order for people, so of several users the one with the
 * shortest text is named, then the first by alphabet. */
static void name_user(const struct led *led, const struct led_event *e, struct buf *user)
{
    struct led_event *other;
    for (size_t at = 0; (other = led_index_next(led, &at));) {
        if (!uses(other, e))
            continue;
        BUF(text, 200);
        led_event_text(other, &text);
        if (user->len == 0 || text.len < user->len ||
                (text.len == user->len && memcmp(text.data, user->data, text.len) < 0)) {
            buf_clear(user);
            buf_puts(user, buf_text(&text));
        }
    }
}

static enum err refuse_used(struct led *led, struct led_event *e, struct fault *f)
{
    BUF(text, 120);
    BUF(user, 200);
    led_event_text(e, &text);
    name_user(led, e, &user);
    if (user.len == 0)
        buf_puts(&user, "a rule");
    return fault_set(f, ERR_BUSY, "event %s is used by %s", buf_text(&text), buf_text(&user));
}

static void delete_now(struct led *led, struct led_event *e);

/* Deleting one may take others with it, so those found are held until all are done. */
static void delete_users(struct led *led, struct led_event *e)
{
    uint32_t rules = 0;
    for (struct led_rule *r = led_rule_first(e); r; r = led_rule_next(r))
        rules++;
    if (e->users == rules)
        return; /* no need to look through all events */
    SCRATCH struct arena *scratch = arena_new(NULL, "led delete");
    struct led_event **found = arena_array_of(scratch, e->users, struct led_event *);
    size_t count = 0;
    struct led_event *other;
    for (size_t at = 0; (other = led_index_next(led, &at));) {
        if (uses(other, e)) {
            found[count++] = other;
            other->holds++;
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
    for (struct led_rule *r; (r = led_rule_first(e));) {
        if (led->gone)
            led->gone(led->gone_ctx, r, r->arg);
        led_rule_delete(led, r);
    }
    led_event_unkey(led, e);
    e->is_deleted = true;
    e->height = 0; /* it is made of nothing now */
    for (unsigned i = 0; i < e->arity; i++)
        led_event_unuse(led, led_operand(e, i));
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
