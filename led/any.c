/* ANY(m, E1 ... En): occurrences of m different operands, in any order.
 *
 *  (1) ANY(1, ...) is OR and ANY(2, E1, E2) is AND, in every context.
 *  (2) recent: the arrival with the m-1 newest of the others; all stay.
 *  (3) chronicle: a queue for each operand; as soon as m are not empty their heads go.
 *  (4) continuous: windows hold at most one of each operand.  An arrival closes every window
 *      that lacked only it, and is used up; else it joins every window that lacks it; else it
 *      opens one.
 *  (5) cumulative: everything collected, as soon as it is of m operands.
 *  (6) unrestricted: every choice, ordered by the arrivals of what was chosen.
 */
#include "led/led_int.h"

struct window {
    struct window *next;
    struct led_bag members; /* a cell's note: its role */
};

struct any_state {
    struct led_bag kept; /* all but continuous; a cell's note: its role */
    struct window *windows, *last;
    uint32_t window_count;
};

static uint32_t roles_in(const struct led_bag *b)
{
    uint32_t roles = 0;
    for (const struct led_cell *c = b->first; c; c = c->next)
        roles |= (uint32_t)1 << c->note;
    return roles;
}

static void cut_role(struct led *led, struct led_bag *b, unsigned role)
{
    for (struct led_cell *c = b->first, *before = NULL; c; before = c, c = c->next) {
        if (c->note == role) {
            led_bag_cut(led, b, before);
            return;
        }
    }
}

/* The bag holds all operands together, each up to the limit. */
static void keep(struct led *led, struct led_bag *kept, struct led_occurrence *o, unsigned role)
{
    uint32_t same = 0;
    if (kept->count >= LED_KEEP_MAX)
        for (const struct led_cell *c = kept->first; c; c = c->next)
            same += c->note == role;
    if (same >= LED_KEEP_MAX) {
        cut_role(led, kept, role);
        led->stats.dropped++;
    }
    led_bag_put(led, kept, o, role);
}

/* ---- (6) ---- */

struct choice {
    struct led *led;
    struct led_node *self;
    struct led_occurrence *o;
    struct led_occurrence *chosen[LED_ANY_MAX];
};

/* Cells stand in order of arrival, so choosing them in that order gives the order wanted. */
static void choose(struct choice *ch, const struct led_cell *from, unsigned have, unsigned need,
        uint32_t roles)
{
    if (have == need) {
        for (unsigned i = 0; i < have; i++)
            led_mix(ch->led, ch->chosen[i]);
        led_mix(ch->led, ch->o);
        led_detect(ch->led, ch->self, ch->o);
        return;
    }
    for (const struct led_cell *c = from; c; c = c->next) {
        if (roles & (uint32_t)1 << c->note)
            continue;
        ch->chosen[have] = c->o;
        choose(ch, c->next, have + 1, need, roles | (uint32_t)1 << c->note);
    }
}

static void any_unrestricted(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct any_state *st = led_state(self);
    struct choice ch = {.led = led, .self = self, .o = o};
    choose(&ch, st->kept.first, 0, (unsigned)led_event_of(self)->needed - 1,
            (uint32_t)1 << role);
    keep(led, &st->kept, o, role);
}

/* ---- (2) ---- */

static void any_recent(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct led_bag *kept = &((struct any_state *)led_state(self))->kept;
    cut_role(led, kept, role);
    uint32_t others = kept->count, need = (uint32_t)led_event_of(self)->needed - 1;
    if (others >= need) {
        uint32_t skip = others - need;
        for (struct led_cell *c = kept->first; c; c = c->next)
            if (skip == 0)
                led_mix(led, c->o);
            else
                skip--;
        led_mix(led, o);
        led_detect(led, self, o);
    }
    led_bag_add(led, kept, o, role);
}

/* ---- (3) and (5) ---- */

static void any_collected(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct led_bag *kept = &((struct any_state *)led_state(self))->kept;
    keep(led, kept, o, role);
    uint32_t roles = roles_in(kept);
    if ((unsigned)__builtin_popcount(roles) < led_event_of(self)->needed)
        return;
    for (struct led_cell *c = kept->first, *before = NULL, *next; c; c = next) {
        next = c->next;
        uint32_t bit = (uint32_t)1 << c->note;
        if (self->context == LED_CHRONICLE && !(roles & bit)) {
            before = c; /* its queue has given its head */
            continue;
        }
        if (self->context == LED_CHRONICLE)
            roles &= ~bit;
        led_mix(led, c->o);
        led_bag_cut(led, kept, before);
    }
    led_detect(led, self, o);
}

/* ---- (4) ---- */

static struct window *window_new(struct led *led, struct any_state *st)
{
    struct window *w = led_alloc_of(led, struct window);
    if (st->last)
        st->last->next = w;
    else
        st->windows = w;
    st->last = w;
    st->window_count++;
    return w;
}

static void window_cut(struct led *led, struct any_state *st, struct window *before)
{
    struct window *w = before ? before->next : st->windows;
    if (before)
        before->next = w->next;
    else
        st->windows = w->next;
    if (st->last == w)
        st->last = before;
    st->window_count--;
    led_bag_clear(led, &w->members);
    led_release(led, w, sizeof *w);
}

static void window_open(
        struct led *led, struct any_state *st, struct led_occurrence *o, unsigned role)
{
    if (st->window_count == LED_KEEP_MAX) {
        window_cut(led, st, NULL);
        led->stats.dropped++;
    }
    led_bag_add(led, &window_new(led, st)->members, o, role);
}

static void window_detect(
        struct led *led, struct led_node *self, struct window *w, struct led_occurrence *o)
{
    for (struct led_cell *c = w->members.first; c; c = c->next)
        led_mix(led, c->o);
    led_mix(led, o);
    led_detect(led, self, o);
}

static bool close_complete(
        struct led *led, struct led_node *self, uint32_t bit, struct led_occurrence *o)
{
    struct any_state *st = led_state(self);
    bool any = false;
    for (struct window *w = st->windows, *before = NULL, *next; w; w = next) {
        next = w->next;
        if ((roles_in(&w->members) & bit) ||
                w->members.count + 1 < led_event_of(self)->needed) {
            before = w;
            continue;
        }
        any = true;
        window_detect(led, self, w, o);
        window_cut(led, st, before);
    }
    return any;
}

static void any_continuous(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct any_state *st = led_state(self);
    uint32_t bit = (uint32_t)1 << role;
    if (close_complete(led, self, bit, o))
        return;
    bool joined = false;
    for (struct window *w = st->windows; w; w = w->next) {
        if (roles_in(&w->members) & bit)
            continue;
        led_bag_add(led, &w->members, o, role);
        joined = true;
    }
    if (!joined)
        window_open(led, st, o, role);
}

/* ---- the operator ---- */

static void any_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    if (led_event_of(self)->needed == 1) { /* (1) */
        led_emit(led, self, led_ref(o));
        return;
    }
    switch (self->context) {
    case LED_UNRESTRICTED:
        any_unrestricted(led, self, role, o);
        break;
    case LED_RECENT:
        any_recent(led, self, role, o);
        break;
    case LED_CHRONICLE:
    case LED_CUMULATIVE:
        any_collected(led, self, role, o);
        break;
    case LED_CONTINUOUS:
        any_continuous(led, self, role, o);
        break;
    case LED_CONTEXT_COUNT:
        break;
    }
}

static void any_close(struct led *led, struct led_node *self)
{
    struct any_state *st = led_state(self);
    led_bag_clear(led, &st->kept);
    while (st->windows)
        window_cut(led, st, NULL);
}

static void sync_members(struct led_stream *s, struct led_node *self, struct led_bag *b)
{
    led_sync_bag(s, b);
    for (const struct led_cell *c = b->first; c; c = c->next)
        if (c->note < 0 || c->note >= led_event_of(self)->arity)
            led_sync_fail(s);
}

static void any_sync(struct led_stream *s, struct led_node *self)
{
    struct any_state *st = led_state(self);
    sync_members(s, self, &st->kept);
    struct window *w = st->windows;
    while (led_sync_more(s, w != NULL)) {
        if (!s->is_saving)
            w = window_new(s->led, st);
        sync_members(s, self, &w->members);
        w = w->next;
    }
}

const struct led_op led_op_any = {
        .name = "ANY",
        .param = LED_PARAM_NEEDED,
        .operands = LED_ANY_MAX,
        .state_bytes = sizeof(struct any_state),
        .notify = any_notify,
        .close = any_close,
        .sync = any_sync,
};

enum err led_any(struct led *led, unsigned needed, unsigned count,
        struct led_event *const events[], struct fault *f, struct led_event **ret_event)
{
    if (count < 1 || count > LED_ANY_MAX || needed < 1 || needed > count)
        return fault_set(f, ERR_RANGE, "ANY(%u of %u) is out of range", needed, count);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < i; j++)
            if (events[i] == events[j])
                return fault_set(f, ERR_RANGE, "operands must differ");
    struct led_wish w = {&led_op_any, needed, count, events};
    return led_event_make(led, &w, f, ret_event);
}
