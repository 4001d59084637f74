/* The agenda: which rules run, and when.
 *
 * A signal is a raise by the program or a timer that is due; one inside an action of another
 * is nested in it.
 *
 *  (1) Detection is over before the first rule runs.
 *  (2) Immediate rules of one raise run by priority, then in the order of detection, then of
 *      creation.  A raise inside an action is handled to completion before the action goes on.
 *  (3) Deferred rules run at the end of the outermost raise, by priority, then first come
 *      first served, those queued meanwhile included.
 *  (4) Detached rules run after that, each as an outermost raise of its own; dependent ones
 *      are dropped if the raise that triggered them failed.
 *  (5) Depth counts the raises in a chain of causes, also through deferred and detached
 *      rules, so a rule that raises its own event ends whatever its coupling.
 *  (6) Settled rules run when every timer due at their instant has had its effect: see
 *      timer.c.  What the program raises is an instant of its own.
 */
#include "led/led_int.h"

static void job_free(struct led *led, struct led_job *j)
{
    list_remove(&j->link);
    led_unref(led, j->o);
    led_rule_unref(led, j->rule);
    led_release(led, j, sizeof *j);
}

/* Behind all of the same or a higher priority. */
static void job_queue(struct list *queue, struct led_job *j)
{
    struct list *at = queue->prev;
    while (at != queue && led_rule_spec(list_entry(at, struct led_job, link)->rule)->priority <
                                  led_rule_spec(j->rule)->priority)
        at = at->prev;
    list_prepend(at, &j->link);
}

static struct led_job *job_first(struct list *queue)
{
    struct list *first = list_first(queue);
    return first ? list_entry(first, struct led_job, link) : NULL;
}

/* Parts are sorted by end: the first one is the oldest. */
static bool is_new_enough(const struct led_rule *r, const struct led_occurrence *o)
{
    return led_rule_spec(r)->mode == LED_PREVIOUS || led_part(o, 0)->end >= r->since;
}

/* Leaves are the same in every context. */
static bool is_meant(
        const struct led_rule *r, const struct led_event *e, enum led_context context)
{
    return r->is_enabled && (led_is_leaf(e) || led_rule_spec(r)->context == context);
}

void led_trigger(struct led *led, const struct led_event *e, enum led_context context,
        struct led_occurrence *o)
{
    for (struct led_rule *r = led_rule_first(e); r; r = led_rule_next(r)) {
        if (!is_meant(r, e, context) || !is_new_enough(r, o))
            continue;
        struct led_job *j = led_alloc_of(led, struct led_job);
        j->rule = r;
        r->refs++;
        j->o = led_ref(o);
        j->depth = led->depth;
        job_queue(&led->triggered, j); /* (2) */
    }
}

static void job_run(struct led *led, struct led_job *j)
{
    const struct led_rule_spec *spec = led_rule_spec(j->rule);
    void *arg = j->rule->arg;
    unsigned depth = led->depth;
    led->depth = j->depth; /* (5) */
    if (led_rule_is_enabled(j->rule) && (!spec->condition || spec->condition(arg, j->o)) &&
            led_rule_is_enabled(j->rule))
        spec->action(arg, j->o);
    led->depth = depth;
    job_free(led, j);
}

/* Sends what was triggered where it belongs; the immediate ones to `immediate`. */
static void sort_out(struct led *led, struct list *immediate)
{
    list_each (l, &led->triggered) {
        struct led_job *j = list_entry(l, struct led_job, link);
        list_remove(&j->link);
        switch (led_rule_spec(j->rule)->coupling) {
        case LED_IMMEDIATE:
            list_append(immediate, &j->link);
            break;
        case LED_DEFERRED:
            job_queue(&led->deferred, j);
            break;
        case LED_DETACHED:
        case LED_DETACHED_DEPENDENT:
            list_append(&led->detached, &j->link);
            break;
        case LED_SETTLED:
            job_queue(&led->settled, j);
            break;
        case LED_COUPLING_COUNT:
            CHECK(!"a coupling");
        }
    }
}

static void run_deferred(struct led *led) /* (3) */
{
    for (struct led_job *j; (j = job_first(&led->deferred));) {
        list_remove(&j->link);
        job_run(led, j);
    }
}

/* Moves what became detached since to `jobs`; a raise that failed takes its dependants along.
 */
static void detach(struct led *led, struct list *jobs)
{
    list_each (l, &led->detached) {
        struct led_job *j = list_entry(l, struct led_job, link);
        list_remove(&j->link);
        if (led->failed && led_rule_spec(j->rule)->coupling == LED_DETACHED_DEPENDENT)
            job_free(led, j);
        else
            list_append(jobs, &j->link);
    }
    led->failed = false;
}

static void run_detached(struct led *led) /* (4) */
{
    struct list jobs = LIST_INIT(jobs);
    detach(led, &jobs);
    for (struct led_job *j; (j = job_first(&jobs));) {
        list_remove(&j->link);
        job_run(led, j);
        run_deferred(led);
        detach(led, &jobs);
    }
}

static void run_settled(struct led *led) /* (6) */
{
    for (struct led_job *j; (j = job_first(&led->settled));) {
        list_remove(&j->link);
        job_run(led, j);
        run_deferred(led);
        run_detached(led);
    }
}

bool led_signal_begin(struct led *led)
{
    bool is_outermost = !led->is_running;
    led->is_running = true;
    return is_outermost;
}

void led_signal_end(struct led *led, bool is_outermost)
{
    led_detect_run(led); /* (1) */
    struct list immediate = LIST_INIT(immediate);
    sort_out(led, &immediate);
    for (struct led_job *j; (j = job_first(&immediate));) {
        list_remove(&j->link);
        job_run(led, j);
    }
    if (is_outermost) {
        run_deferred(led);
        run_detached(led);
        if (!led->is_passing)
            run_settled(led);
        led->is_running = false;
        led->cascade = 0;
    }
}

void led_settle(struct led *led)
{
    bool is_outermost = led_signal_begin(led);
    CHECK(is_outermost);
    run_settled(led);
    led->is_running = false;
    led->cascade = 0;
}

void led_fail(struct led *led)
{
    led->failed = true;
}
