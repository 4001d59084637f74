/* Who may begin: transfers wait with their host, hosts take turns.
 *
 *  (1) At most max_host_connections transfers of one host run, max_connections in all;
 *      starting ten thousand at once only fills queues.
 *  (2) A host with many waiting does not keep another one from its turn.
 *  (3) `done` is never called from inside fetch_start: what is doomed waits for the loop.
 *
 * Host objects are recycled: there are as many as hosts with something to do.
 */
#include "fetch/fetch_int.h"

/* The host of a URL that fetch_url_normalise spelled. */
static struct str host_of(const char *url)
{
    const char *from = strstr(url, "://") + 3;
    size_t len = *from == '[' ? strcspn(from, "]") + 1 : strcspn(from, ":/?");
    return (struct str){from, len};
}

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

struct fetch_host *fetch_host_get(struct fetch *fe, const char *url)
{
    struct str name = host_of(url);
    uint64_t hash = map_hash(name.ptr, name.len);
    struct fetch_host *h = host_find(fe, name, hash);
    if (h)
        return h;
    h = host_new(fe);
    h->running = 0;
    list_init(&h->queue);
    list_init(&h->ready);
    CHECK(name.len < sizeof(h->name));
    memcpy(h->name, name.ptr, name.len);
    h->name[name.len] = 0;
    map_insert(&fe->hosts, &h->node, hash);
    return h;
}

/* Puts the host where it belongs: in turn, out of turn, or away. */
static void host_settle(struct fetch *fe, struct fetch_host *h)
{
    bool may_begin =
            !list_is_empty(&h->queue) && h->running < fe->o.max_host_connections; /* (1) */
    if (!may_begin)
        list_remove(&h->ready);
    else if (list_is_empty(&h->ready))
        list_append(&fe->ready, &h->ready);

    if (h->running == 0 && list_is_empty(&h->queue)) {
        map_remove(&fe->hosts, &h->node);
        list_append(&fe->free_hosts, &h->ready);
    }
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
    h->running++;
    fe->stats.waiting--;
    fe->stats.running++;
    host_settle(fe, h);
    return t;
}

void fetch_pump_soon(struct fetch *fe)
{
    if (!loop_timer_is_set(&fe->pump_timer))
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
}
