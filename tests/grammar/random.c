#include "tests/grammar/random.h"

/* Words that a careless printer would let be read as something else. */
static const char *const awkward[] = {"new", "contains", "strict", "in", "changed", "all",
        "any", "counted", "when", "try", "and", "or", "not", "now", "never", "from", "to",
        "every", "best", "raw", "box", "except", "text", "source", "fetch", "p1d", "a-b", "x_y",
        "links"};

static const char *const pieces[] = {"a", "Zebra", "naïve", "'", "\"", " ", "  ", "--", "%",
        "5%", ";", ",", "(", ")", "{", "}", "\\", "“", "”", "\n", "\t", "日本", "<b>",
        "${SECRET k}", ":", "when", "WHEN", "/*", "*", "=", "x.y"};

static uint64_t next(struct random *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state;
}

uint32_t random_below(struct random *r, uint32_t n)
{
    return (uint32_t)(next(r) >> 33) % n;
}

static bool maybe(struct random *r)
{
    return random_below(r, 2);
}

static const char *plain_name(struct random *r)
{
    static const char letters[] = "abcXYZ_";
    char name[12];
    unsigned n = 1 + random_below(r, 8);
    for (unsigned i = 0; i < n; i++)
        name[i] = i > 0 && random_below(r, 4) == 0 ? (char)('0' + random_below(r, 10))
                                                   : letters[random_below(r, 7)];
    return arena_printf(r->life, "n%.*s", (int)n, name);
}

/* Also words of the language that are allowed as names. */
static const char *name(struct random *r)
{
    static const char *const words[] = {
            "links", "email", "by", "every", "image-2", "monitoring"};
    return random_below(r, 8) ? plain_name(r) : words[random_below(r, 6)];
}

static const char *text(struct random *r, bool one_line)
{
    const char *s = maybe(r) ? "t" : "é";
    for (unsigned n = random_below(r, 6); n > 0; n--) {
        const char *piece = pieces[random_below(r, sizeof pieces / sizeof *pieces)];
        if (!one_line || !strchr("\n\t", *piece))
            s = arena_printf(r->life, "%s%s", s, piece);
    }
    return arena_printf(r->life, "%sz", s); /* no white space at the ends */
}

static const char *url(struct random *r)
{
    static const char *const urls[] = {"http://x.org",
            "https://y.example.org:8080/p?q=1&r=%20#f", "http://x.org/a--b",
            "http://x.org/(list),1;2", "https://[2001:db8::1]/x", "http://x.org/it's",
            "https://user@x.org/ü"};
    return urls[random_below(r, 7)];
}

static msec duration(struct random *r)
{
    static const msec units[] = {
            MSEC_PER_SECOND, MSEC_PER_MINUTE, MSEC_PER_HOUR, MSEC_PER_DAY, 7 * MSEC_PER_DAY};
    msec d = (1 + random_below(r, 70)) * units[random_below(r, 5)];
    return maybe(r) ? d : d + (1 + random_below(r, 70)) * units[random_below(r, 5)];
}

static void *array(struct random *r, unsigned n, size_t each)
{
    return n ? arena_zalloc(r->life, n * each) : NULL;
}

/* ---- change expressions ---- */

static void words(struct random *r, struct grammar_leaf *l, unsigned n)
{
    l->n_words = n;
    l->words = array(r, n, sizeof *l->words);
    for (unsigned i = 0; i < n; i++) {
        const char *w = maybe(r) ? text(r, false) : awkward[random_below(r, 29)];
        l->words[i].text =
                l->type == GRAMMAR_PHRASE
                        ? arena_printf(r->life, "%s two three 4 five", text(r, false))
                        : w;
    }
}

static void arguments(struct random *r, struct grammar_leaf *l)
{
    switch (l->type) {
    case GRAMMAR_ANY_CHANGE:
        l->raw = maybe(r);
        break;
    case GRAMMAR_ALL_WORDS:
        l->counted = maybe(r);
        words(r, l, random_below(r, 3));
        break;
    case GRAMMAR_KEYWORDS:
        l->counted = maybe(r);
        l->all = maybe(r);
        words(r, l, 1 + random_below(r, 3));
        break;
    case GRAMMAR_PHRASE:
        l->box = maybe(r) ? 10 : 3 + random_below(r, 28);
        l->occurrence = maybe(r) ? 1 : 1 + random_below(r, 9);
        if (maybe(r))
            l->containing = text(r, false);
        else
            words(r, l, 1 + random_below(r, 2));
        break;
    case GRAMMAR_TABLE:
    case GRAMMAR_LIST:
        if (maybe(r))
            l->containing = text(r, false);
        else
            l->number = 1 + random_below(r, 3);
        break;
    case GRAMMAR_REGEXP:
        l->pattern = text(r, false);
        l->on_text = maybe(r);
        break;
    case GRAMMAR_ELEMENT:
        l->status = random_below(r, GRAMMAR_STATUS_COUNT);
        l->element = maybe(r) ? plain_name(r) : awkward[random_below(r, 29)];
        if (random_below(r, 4) == 0)
            l->element = "dc:title";
        if (maybe(r)) {
            l->strict = maybe(r);
            l->containing = text(r, false);
        }
        break;
    default:
        break;
    }
}

static struct grammar_change *leaf(struct random *r, const struct grammar_definition *d)
{
    struct grammar_change *c = arena_new_of(r->life, struct grammar_change);
    struct grammar_leaf *l = c->leaf = arena_new_of(r->life, struct grammar_leaf);
    l->type = random_below(r, GRAMMAR_TYPE_COUNT);
    if (d->n_pages > 1)
        l->alias = d->pages[random_below(r, d->n_pages)].alias;
    arguments(r, l);
    if (random_below(r, 4) == 0) {
        l->region = maybe(r) ? GRAMMAR_XPATH : GRAMMAR_CSS;
        l->region_path = text(r, false);
    }
    if (random_below(r, 4) == 0) {
        static const unsigned ppm[] = {0, 500000, 1000000, 333300, 125, 10, 999999};
        l->threshold = maybe(r) ? GRAMMAR_MORE_THAN : GRAMMAR_AT_LEAST;
        l->threshold_ppm = ppm[random_below(r, 7)];
    }
    return c;
}

static struct grammar_change *change(
        struct random *r, const struct grammar_definition *d, unsigned depth, int not_op)
{
    static const enum grammar_op ops[] = {GRAMMAR_AND, GRAMMAR_OR, GRAMMAR_NOT};
    if (depth == 0 || random_below(r, 3) == 0)
        return leaf(r, d);
    struct grammar_change *c = arena_new_of(r->life, struct grammar_change);
    do {
        c->op = ops[random_below(r, 3)];
    } while ((int)c->op == not_op && c->op != GRAMMAR_NOT);
    c->n_kids = c->op == GRAMMAR_NOT ? 1 : 2 + random_below(r, 3);
    c->kids = array(r, c->n_kids, sizeof *c->kids);
    for (unsigned i = 0; i < c->n_kids; i++)
        c->kids[i] = change(r, d, depth - 1, (int)c->op);
    return c;
}

/* ---- clauses ---- */

static struct grammar_time some_time(struct random *r)
{
    static const char *const zones[] = {NULL, "UTC", "PST", "CEST", "+01:00", "-05:30",
            "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"};
    struct grammar_time t = {.kind = GRAMMAR_TIME_NOW};
    switch (random_below(r, 3)) {
    case 0:
        t.offset = maybe(r) ? duration(r) : 0;
        return t;
    case 1:
        t.kind = maybe(r) ? GRAMMAR_TIME_START : GRAMMAR_TIME_END;
        t.of = plain_name(r);
        t.offset = maybe(r) ? 0 : maybe(r) ? duration(r) : -duration(r);
        return t;
    default:
        t.kind = GRAMMAR_TIME_DATE;
        t.date = (struct grammar_date){.year = (int)(1970 + random_below(r, 200)),
                .month = (int)(1 + random_below(r, 12)),
                .day = (int)(1 + random_below(r, 28)),
                .has_clock = maybe(r)};
        t.date.zone = zones[random_below(r, 9)];
        if (t.date.has_clock) {
            t.date.hour = (int)random_below(r, 24);
            t.date.minute = (int)random_below(r, 60);
            t.date.second = maybe(r) ? 0 : (int)random_below(r, 60);
            t.date.ms = maybe(r) ? 0 : (int)random_below(r, 1000);
        } else if (t.date.zone && strchr("+-", *t.date.zone)) {
            t.date.zone = NULL; /* an offset needs a clock */
        }
        return t;
    }
}

static void notify(struct random *r, struct grammar_notify *n)
{
    static const char *const mails[] = {"a@b.org", "%odd@x.org", "o'neil@x.org", "-x@y.de",
            "first.last+tag@sub.example.org"};
    n->n_methods = 1 + random_below(r, 3);
    n->methods = array(r, n->n_methods, sizeof *n->methods);
    for (unsigned i = 0; i < n->n_methods; i++) {
        struct grammar_method *m = &n->methods[i];
        m->kind = random_below(r, GRAMMAR_METHOD_COUNT);
        m->target = m->kind == GRAMMAR_EMAIL     ? mails[random_below(r, 5)]
                    : m->kind == GRAMMAR_WEBHOOK ? url(r)
                    : m->kind == GRAMMAR_FAX || m->kind == GRAMMAR_PHONE ? "+49 (30) 123-456"
                                                                         : NULL;
    }
    if (maybe(r))
        n->every = duration(r);
    else
        n->best_effort = maybe(r);
}

static void request(struct random *r, struct grammar_request *q)
{
    static const char *const methods[] = {"GET", "POST", "PUT"};
    static const char *const values[] = {
            "", "text/html", "Bearer ${SECRET token}", "it's: fine"};
    q->method = maybe(r) ? methods[random_below(r, 3)] : NULL;
    q->body = maybe(r) ? text(r, false) : NULL;
    q->user_agent = maybe(r) ? "vigil (test)" : NULL;
    q->n_headers = random_below(r, 3);
    q->headers = array(r, q->n_headers, sizeof *q->headers);
    for (unsigned i = 0; i < q->n_headers; i++)
        q->headers[i] = (struct grammar_header){"X-A", values[random_below(r, 4)], {0}};
    q->timeout = maybe(r) ? (1 + random_below(r, 60)) * MSEC_PER_SECOND : 0;
    q->follow = maybe(r) ? (int)random_below(r, 21) : -1;
    q->cookies = maybe(r);
    q->render = maybe(r);
    if (!q->method && !q->body && !q->user_agent && !q->n_headers && !q->timeout)
        q->follow = 3; /* WITH () says nothing */
}

static void pages(struct random *r, struct grammar_definition *d)
{
    d->n_pages = random_below(r, 4) ? 1 : 2 + random_below(r, 2);
    d->pages = array(r, d->n_pages, sizeof *d->pages);
    for (unsigned i = 0; i < d->n_pages; i++) {
        if (maybe(r))
            d->pages[i].url = url(r);
        else
            d->pages[i].sentinel = plain_name(r);
        if (d->n_pages > 1 || maybe(r))
            d->pages[i].alias = arena_printf(r->life, "p%u", i);
    }
}

static struct grammar_definition *definition(struct random *r, bool is_alter)
{
    struct grammar_definition *d = arena_new_of(r->life, struct grammar_definition);
    uint32_t all = (1u << GRAMMAR_CLAUSE_COUNT) - 1;
    d->given = (uint32_t)next(r) & all;
    d->given = is_alter ? (d->given & ~(1u << GRAMMAR_USING)) | 1u << GRAMMAR_PRIORITY
                        : d->given | 1u << GRAMMAR_USING | 1u << GRAMMAR_MONITOR;
    d->compare.n = 2;
    d->request.follow = -1;
    if (!is_alter)
        pages(r, d);
    if (grammar_is_given(d, GRAMMAR_MONITOR))
        d->monitor = change(r, d, 4, -1);
    if (grammar_is_given(d, GRAMMAR_FETCH))
        d->fetch_every = maybe(r) ? duration(r) : 0;
    if (grammar_is_given(d, GRAMMAR_FROM))
        d->from = some_time(r);
    if (grammar_is_given(d, GRAMMAR_TO)) {
        d->to = some_time(r);
        if (maybe(r))
            d->to = (struct grammar_time){.kind = GRAMMAR_TIME_FOR, .offset = duration(r)};
        else if (random_below(r, 4) == 0)
            d->to = (struct grammar_time){.kind = GRAMMAR_TIME_NEVER};
    }
    if (grammar_is_given(d, GRAMMAR_NOTIFY))
        notify(r, &d->notify);
    if (grammar_is_given(d, GRAMMAR_COMPARE) && maybe(r))
        d->compare = (struct grammar_compare){
                maybe(r) ? GRAMMAR_MOVING : GRAMMAR_EVERY, 2 + random_below(r, 9)};
    if (grammar_is_given(d, GRAMMAR_CHANGEHISTORY))
        d->changehistory = 1 + random_below(r, 1000);
    if (grammar_is_given(d, GRAMMAR_PRESENTATION))
        d->presentation = 1 + random_below(r, 3);
    if (grammar_is_given(d, GRAMMAR_WITHIN))
        d->within = duration(r);
    if (grammar_is_given(d, GRAMMAR_PRIORITY))
        d->priority = 1 + random_below(r, 100);
    if (grammar_is_given(d, GRAMMAR_TOPIC))
        d->topic = text(r, true);
    if (grammar_is_given(d, GRAMMAR_WITH))
        request(r, &d->request);
    return d;
}

/* ---- subscriptions ---- */

static void cond(struct random *r, const struct grammar_monitoring *m, struct grammar_cond *c)
{
    c->kind = random_below(r, GRAMMAR_COND_COUNT);
    c->variable = -1;
    switch (c->kind) {
    case GRAMMAR_DOCID_IS:
    case GRAMMAR_DTDID_IS:
        c->number = random_below(r, 1000);
        break;
    case GRAMMAR_LAST_ACCESSED:
    case GRAMMAR_LAST_UPDATE:
        c->cmp = random_below(r, 5);
        do {
            c->when = some_time(r);
        } while (c->when.kind != GRAMMAR_TIME_DATE);
        break;
    case GRAMMAR_SELF_STATUS:
        c->status = 1 + random_below(r, GRAMMAR_STATUS_COUNT - 1);
        break;
    case GRAMMAR_ELEMENT_IS:
        c->status = random_below(r, GRAMMAR_STATUS_COUNT);
        c->element = m->n_binds && maybe(r) ? m->binds[0].variable : plain_name(r);
        c->variable = m->n_binds && c->element == m->binds[0].variable ? 0 : -1;
        if (maybe(r)) {
            c->strict = maybe(r);
            c->text = text(r, false);
        }
        break;
    case GRAMMAR_URL_IS:
        c->text = url(r);
        break;
    default:
        c->text = text(r, false);
        break;
    }
}

static struct grammar_monitoring monitoring(struct random *r)
{
    struct grammar_monitoring m = {.n_binds = random_below(r, 3)};
    m.binds = array(r, m.n_binds, sizeof *m.binds);
    for (unsigned i = 0; i < m.n_binds; i++)
        m.binds[i] =
                (struct grammar_bind){maybe(r), name(r), arena_printf(r->life, "V%u", i), {0}};
    if (m.n_binds && maybe(r)) {
        m.variable = m.binds[0].variable;
        m.name = m.binds[0].element;
    } else {
        m.name = m.element = name(r);
        m.n_attributes = random_below(r, 3);
        m.attributes = array(r, m.n_attributes, sizeof *m.attributes);
        for (unsigned i = 0; i < m.n_attributes; i++)
            m.attributes[i] =
                    maybe(r) ? (struct grammar_attribute){name(r), text(r, false), true}
                             : (struct grammar_attribute){name(r), "URL", false};
    }
    m.n_conds = 1 + random_below(r, 3);
    m.conds = array(r, m.n_conds, sizeof *m.conds);
    for (unsigned i = 0; i < m.n_conds; i++)
        cond(r, &m, &m.conds[i]);
    m.conds[0] = (struct grammar_cond){
            .kind = GRAMMAR_URL_EXTENDS, .text = text(r, false), .variable = -1};
    return m;
}

static enum grammar_freq freq(struct random *r)
{
    return 1 + random_below(r, GRAMMAR_FREQ_COUNT - 1);
}

static struct grammar_report *report(struct random *r)
{
    static const char *const queries[] = {
            NULL, "select * from notifications", "select 'when' x"};
    struct grammar_report *p = arena_new_of(r->life, struct grammar_report);
    p->query = queries[random_below(r, 3)];
    p->n_events = 1 + random_below(r, 3);
    p->events = array(r, p->n_events, sizeof *p->events);
    for (unsigned i = 0; i < p->n_events; i++) {
        struct grammar_revent *e = &p->events[i];
        e->kind = random_below(r, GRAMMAR_REPORT_NOTIFIED + 1);
        if (e->kind == GRAMMAR_REPORT_FREQ)
            e->freq = freq(r);
        if (e->kind == GRAMMAR_REPORT_WEEKDAY)
            e->weekday = (int)(1 + random_below(r, 7));
        if (e->kind == GRAMMAR_REPORT_MONTHDAY) {
            e->month = (int)(1 + random_below(r, 12));
            e->day = (int)(1 + random_below(r, 29));
        }
        if (e->kind == GRAMMAR_REPORT_COUNT) {
            e->name = maybe(r) ? plain_name(r) : NULL;
            e->at_least = maybe(r);
            e->count = random_below(r, 1000);
        }
        if (e->kind == GRAMMAR_REPORT_NOTIFIED)
            e->name = plain_name(r);
    }
    p->atmost_count = maybe(r) ? 1 + random_below(r, 500) : 0;
    p->atmost_freq = maybe(r) ? freq(r) : GRAMMAR_NO_FREQ;
    p->archive = maybe(r) ? freq(r) : GRAMMAR_NO_FREQ;
    return p;
}

static struct grammar_subscription *subscription(struct random *r)
{
    static const char *const queries[] = {"select c/url from pages c",
            "select b/title from city/library l, l/book b where l/town contains \"when\"",
            "select x[@id = 5% 3] from y", "q"};
    struct grammar_subscription *s = arena_new_of(r->life, struct grammar_subscription);
    s->n_monitoring = random_below(r, 3);
    s->monitoring = array(r, s->n_monitoring, sizeof *s->monitoring);
    for (unsigned i = 0; i < s->n_monitoring; i++)
        s->monitoring[i] = monitoring(r);
    s->n_continuous = random_below(r, 3);
    s->continuous = array(r, s->n_continuous, sizeof *s->continuous);
    for (unsigned i = 0; i < s->n_continuous; i++) {
        struct grammar_continuous *c = &s->continuous[i];
        *c = (struct grammar_continuous){
                .name = plain_name(r), .delta = maybe(r), .query = queries[random_below(r, 4)]};
        if (maybe(r))
            c->freq = freq(r);
        else
            c->when_subscription = plain_name(r), c->when_query = plain_name(r);
    }
    s->n_refresh = random_below(r, 2);
    s->refresh = array(r, s->n_refresh, sizeof *s->refresh);
    for (unsigned i = 0; i < s->n_refresh; i++)
        s->refresh[i] = (struct grammar_refresh){url(r), freq(r), {0}};
    s->n_virtuals = random_below(r, 2);
    s->virtuals = array(r, s->n_virtuals, sizeof *s->virtuals);
    for (unsigned i = 0; i < s->n_virtuals; i++)
        s->virtuals[i] = (struct grammar_virtual){plain_name(r), plain_name(r), {0}};
    if (maybe(r) || s->n_monitoring + s->n_continuous + s->n_refresh + s->n_virtuals == 0)
        s->report = report(r);
    return s;
}

struct grammar_statement *random_statement(struct random *r)
{
    struct grammar_statement *st = arena_new_of(r->life, struct grammar_statement);
    st->verb = maybe(r) ? GRAMMAR_CREATE : random_below(r, GRAMMAR_VERB_COUNT);
    st->name = name(r);
    if (st->verb == GRAMMAR_CREATE || st->verb == GRAMMAR_ALTER)
        st->definition = definition(r, st->verb == GRAMMAR_ALTER);
    st->or_replace = st->verb == GRAMMAR_CREATE && maybe(r);
    st->cascade = st->verb == GRAMMAR_DROP && maybe(r);
    if (st->verb == GRAMMAR_SUBSCRIPTION)
        st->subscription = subscription(r);
    return st;
}
