/* The detector itself: made, freed, brought back after a restart, looked at. */
#include "led/led_int.h"
#include <stdlib.h>
#include <string.h>

const struct led_op *const led_ops[] = {
#define LED_OP(ident) &led_op_##ident,
#include "led/ops.def"
#undef LED_OP
};
const size_t led_op_count = countof(led_ops);

struct led *led_new(msec mono, msec wall)
{
    struct led *led = calloc(1, sizeof *led);
    CHECK(led);
    led_mem_init(&led->mem);
    led->now = led->real = mono;
    led->offset = wall - mono;
    heap_init(&led->delays);
    heap_init(&led->walls);
    map_init(&led->manners);
    list_init(&led->triggered);
    list_init(&led->deferred);
    list_init(&led->detached);
    list_init(&led->settled);
    return led;
}

void led_free(struct led *led)
{
    if (!led)
        return;
    heap_done(&led->delays);
    heap_done(&led->walls);
    map_done(&led->manners);
    led_index_done(led);
    free(led->queue);
    led_mem_done(&led->mem);
    free(led);
}

/* ---- after a restart without a snapshot ---- */

static enum err resume(struct led *led, struct led_event *e, enum led_context context,
        msec since, msec last_tick, struct fault *f)
{
    struct led_node *n = led_node_find(e, context);
    if (!n)
        return fault_set(f, ERR_NAME, "no enabled rule needs the event in that context");
    if (since > led->now || (last_tick != MSEC_NEVER && last_tick < since))
        return fault_set(f, ERR_RANGE, "what is resumed began after it went on");
    struct led_event *of = led_operand(e, 0);
    struct led_occurrence *from =
            led_is_leaf(of) ? led_occurrence_leaf(led, of, since)
                            : led_occurrence_again(led, NULL, since, ++led->last_arrival, 0);
    led_op(e)->resume(led, n, from, last_tick);
    led_unref(led, from);
    return OK;
}

enum err led_resume_periodic(struct led *led, struct led_event *e, enum led_context context,
        msec opened, msec last_tick, struct fault *f)
{
    if (!led_op(e)->rearm)
        return fault_set(f, ERR_UNSUPPORTED, "only P and P* have a series to resume");
    return resume(led, e, context, opened, last_tick, f);
}

enum err led_resume_plus(struct led *led, struct led_event *e, enum led_context context,
        msec since, struct fault *f)
{
    if (led_op(e) != &led_op_plus)
        return fault_set(f, ERR_UNSUPPORTED, "only PLUS has a delay to resume");
    return resume(led, e, context, since, MSEC_NEVER, f);
}

/* ---- contexts by name ---- */

static const char *const context_names[LED_CONTEXT_COUNT] = {
        "unrestricted", "recent", "chronicle", "continuous", "cumulative"};

const char *led_context_name(enum led_context c)
{
    return c < LED_CONTEXT_COUNT ? context_names[c] : "?";
}

bool led_context_parse(const char *text, enum led_context *ret_context)
{
    for (unsigned i = 0; i < LED_CONTEXT_COUNT; i++) {
        if (strcmp(text, context_names[i]) == 0) {
            *ret_context = (enum led_context)i;
            return true;
        }
    }
    return false;
}
