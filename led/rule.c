/* Rules: what is to be done when an event occurs.
 *
 *  (1) An enabled rule keeps its event's node alive, a disabled one does not: disabling drops
 *      the state that nobody else needs, and enabling starts empty.
 *  (2) A deleted rule never runs again, also if it was queued already; its memory stays
 *      until the last job that names it has gone.
 */
#include "led/led_int.h"

enum err led_rule_new(struct led *led, struct led_event *e, const struct led_rule_spec *spec,
        struct fault *f, struct led_rule **ret_rule)
{
    CHECK(spec->action && spec->context < LED_CONTEXT_COUNT);
    CHECK(spec->coupling < LED_COUPLING_COUNT && spec->mode < LED_MODE_COUNT);
    if (e->is_deleted)
        return fault_set(f, ERR_NAME, "event of the rule is deleted");

    struct led_rule *r = led_alloc_of(led, struct led_rule);
    r->event = e;
    r->spec = *spec;
    r->id = ++led->last_rule_id;
    r->refs = 1;
    e->users++;
    list_append(&e->rules, &r->link);
    led->stats.rules++;
    led_rule_enable(led, r);
    *ret_rule = r;
    return OK;
}

void led_rule_enable(struct led *led, struct led_rule *r)
{
    if (r->node || r->is_deleted)
        return;
    r->since = led->now;
    r->node = led_node_use(led, r->event, r->spec.context);
}

void led_rule_disable(struct led *led, struct led_rule *r)
{
    if (!r->node)
        return;
    struct led_node *n = r->node;
    r->node = NULL;
    led_node_unuse(led, n); /* (1) */
}

bool led_rule_is_enabled(const struct led_rule *r)
{
    return r->node != NULL;
}

struct led_event *led_rule_event(const struct led_rule *r)
{
    return r->event;
}

void led_rule_unref(struct led *led, struct led_rule *r)
{
    if (--r->refs == 0)
        led_release(led, r, sizeof *r);
}

void led_rule_delete(struct led *led, struct led_rule *r)
{
    if (!r)
        return;
    CHECK(!r->is_deleted);
    led_rule_disable(led, r);
    r->is_deleted = true; /* (2) */
    list_remove(&r->link);
    led_event_unuse(led, r->event);
    r->event = NULL;
    led->stats.rules--;
    led_rule_unref(led, r);
}

void led_on_rule_gone(struct led *led, led_gone_fn *gone, void *ctx)
{
    led->gone = gone;
    led->gone_ctx = ctx;
}
