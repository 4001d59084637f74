/* Who may begin: transfers wait with their host, hosts take turns.
 *
 *  (1) At most max_host_connections transfers of one host run, max_connections in all;
 *      starting ten thousand at once only fills queues.
 *  (2) A host with many waiting does not keep another one from its turn.
 *  (3) `done` is never called from inside fetch_start: what is doomed waits for the loop.
 *  (4) With a gap set, a host's next transfer waits until the gap is over, and a host that
 *      asked to be left alone is remembered even while nobody wants anything of it.
 *  (5) Whether a host is on a network of one's own, with a gap of its own, is decided by the
 *      address it is reached at; until that is known it counts as a stranger's.
 *
 * Host objects are recycled: there are as many as hosts with something to do or to keep.
 */
#include "fetch/fetch_int.h"
#include "fetch/render.h"

static struct fetch_host *host_find(struct fetch *fe, struct str name, uint64_t hash)
{
    for (struct map_node *n = map_first(&fe->hosts, hash); n; n = map_next(n)) {
        struct fetch_host *h = container_of(n, struct fetch_host, node);
        if (str_equal(str_of(h->name), name))
            return h;
    }
    return NULL;
}

static struct fetch_host *host_new(struct fetch *fe)
{
    struct list *free = list_first(&fe->free_hosts);
    if (!free)
        return arena_new_of(fe->life, struct fetch_host);
    list_remove(free);
    return list_entry(free, struct fetch_host, ready);
}

/* Most hosts are names, whose address is known only when they are connected to. */
static bool is_private_literal(struct str name)
{
    struct fetch_address a;
    return fetch_host_is_literal(name, &a) && !fetch_address_is_public(&a);
}

struct fetch_host *fetch_host_get(struct fetch *fe, const char *url)
{
    struct str name = fetch_url_host(url);
    uint64_t hash = map_hash(name.ptr, name.len);
    struct fetch_host *h = host_find(fe, name, hash);
    if (h)
        return h;
    h = host_new(fe);
    h->running = 0;
    h->is_private = is_private_literal(name);
    h->polite = (struct fetch_polite){0};
    heap_node_init(&h->later);
    list_init(&h->queue);
    list_init(&h->ready);
    CHECK(name.len < sizeof(h->name));
    memcpy(h->name, name.ptr, name.len);
    h->name[name.len] = 0;
    map_insert(&fe->hosts, &h->node, hash);
    return h;
}

static msec gap_of(const struct fetch *fe, const struct fetch_host *h)
{
    return h->is_private ? fe->o.private_gap : fe->o.host_gap;
}

static void arm_later(struct fetch *fe)
{
    struct heap_node *first = heap_min(&fe->later);
    if (first)
        loop_timer_set(fe->loop, &fe->later_timer, first->at - clock_mono(fe->o.clock));
    else
        loop_timer_stop(fe->loop, &fe->later_timer);
}

static void host_free(struct fetch *fe, struct fetch_host *h)
{
    heap_remove(&fe->later, &h->later);
    map_remove(&fe->hosts, &h->node);
    list_append(&fe->free_hosts, &h->ready);
}

/* Puts the host where it belongs: in turn, out of turn until a moment, or away. */
static void host_settle(struct fetch *fe, struct fetch_host *h)
{
    bool is_idle = h->running == 0 && list_is_empty(&h->queue);
    bool may_begin =
            !list_is_empty(&h->queue) && h->running < fe->o.max_host_connections; /* (1) */
    if (gap_of(fe, h) > 0) {
        msec now = clock_mono(fe->o.clock);
        msec at = is_idle ? fetch_polite_forget_at(&h->polite) : h->polite.next_at;
        if (at > now && (is_idle || may_begin)) { /* (4) */
            list_remove(&h->ready);
            heap_set(&fe->later, &h->later, at, /* order= */ 0);
            arm_later(fe);
            return;
        }
    }
    heap_remove(&fe->later, &h->later);
    if (!may_begin)
        list_remove(&h->ready);
    else if (list_is_empty(&h->ready))
        list_append(&fe->ready, &h->ready);
    if (is_idle)
        host_free(fe, h);
}

static void later_expired(struct loop_timer *timer)
{
    struct fetch *fe = container_of(timer, struct fetch, later_timer);
    struct heap_node *first;
    while ((first = heap_min(&fe->later)) && first->at <= clock_mono(fe->o.clock)) {
        heap_remove(&fe->later, first);
        host_settle(fe, container_of(first, struct fetch_host, later));
    }
    arm_later(fe);
    fetch_pump(fe);
}

void fetch_queue_open(struct fetch *fe)
{
    list_init(&fe->ready);
    list_init(&fe->free_hosts);
    heap_init(&fe->later);
    map_init(&fe->hosts);
    loop_timer_init(&fe->later_timer, later_expired);
}

void fetch_queue_close(struct fetch *fe)
{
    loop_timer_stop(fe->loop, &fe->later_timer);
    heap_done(&fe->later);
    map_done(&fe->hosts);
}

void fetch_queue_answered(struct fetch_transfer *t, int status, msec retry_after)
{
    if (t->host && gap_of(t->fetch, t->host) > 0)
        fetch_polite_answered(
                &t->host->polite, clock_mono(t->fetch->o.clock), status, retry_after);
}

/* Called by libcurl from inside itself: nothing begins before the loop. */
void fetch_queue_reached(struct fetch_transfer *t, const struct fetch_address *a)
{
    bool is_private = !fetch_address_is_public(a);
    if (!t->host || t->fetch->o.proxy || t->host->is_private == is_private)
        return;
    t->host->is_private = is_private; /* (5) */
    host_settle(t->fetch, t->host);
    fetch_pump_soon(t->fetch);
}

msec fetch_queue_stopped_for(const struct fetch_transfer *t)
{
    if (gap_of(t->fetch, t->host) == 0)
        return 0;
    return fetch_polite_stopped_for(&t->host->polite, clock_mono(t->fetch->o.clock));
}

void fetch_queue_put(struct fetch_transfer *t, bool first)
{
    struct fetch *fe = t->fetch;
    t->host = fetch_host_get(fe, t->url);
    t->phase = FETCH_QUEUED;
    if (first)
        list_prepend(&t->host->queue, &t->link);
    else
        list_append(&t->host->queue, &t->link);
    fe->stats.waiting++;
    host_settle(fe, t->host);
    fetch_pump_soon(fe);
}

void fetch_queue_leave(struct fetch_transfer *t)
{
    struct fetch *fe = t->fetch;
    struct fetch_host *h = t->host;
    list_remove(&t->link);
    t->host = NULL;
    if (!h)
        return;
    if (t->phase == FETCH_QUEUED)
        fe->stats.waiting--;
    else {
        h->running--;
        fe->stats.running--;
    }
    host_settle(fe, h);
    fetch_pump_soon(fe);
}

struct fetch_transfer *fetch_queue_next(struct fetch *fe)
{
    struct list *turn = list_first(&fe->ready);
    if (!turn || fe->stats.running >= fe->o.max_connections)
        return NULL;
    struct fetch_host *h = list_entry(turn, struct fetch_host, ready);
    struct fetch_transfer *t = list_entry(list_first(&h->queue), struct fetch_transfer, link);
    list_remove(&h->ready); /* (2): settling puts it at the end of the line again */
    list_remove(&t->link);
    list_append(&fe->running, &t->link);
    t->phase = FETCH_CONNECTING;
    if (fetch_queue_stopped_for(t) == 0) /* else it will not ask anything */
        fetch_polite_began(&h->polite, clock_mono(fe->o.clock), gap_of(fe, h));
    h->running++;
    fe->stats.waiting--;
    fe->stats.running++;
    host_settle(fe, h);
    return t;
}

void fetch_pump_soon(struct fetch *fe)
{
    if (!fe->pumps_anyway && !loop_timer_is_set(&fe->pump_timer))
        loop_timer_set(fe->loop, &fe->pump_timer, 0);
}

static void report_doomed(struct fetch *fe)
{
    struct list doomed = LIST_INIT(doomed); /* those doomed meanwhile wait for the next round */
    struct list *l;
    while ((l = list_first(&fe->doomed))) {
        list_remove(l);
        list_append(&doomed, l);
    }
    while ((l = list_first(&doomed)))
        fetch_transfer_report_doomed(list_entry(l, struct fetch_transfer, link));
}

void fetch_pump(struct fetch *fe)
{
    struct fetch_transfer *t;
    loop_timer_stop(fe->loop, &fe->pump_timer);
    report_doomed(fe); /* (3) */
    while ((t = fetch_queue_next(fe)))
        fetch_transfer_begin(t);
    fetch_render_pump(fe);
}
