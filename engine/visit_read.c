/* A visit at the page readers: the new body becomes a digest, and bodies that somebody asks
 * about themselves become text.
 *
 *  (1) Not a byte a server sent is decoded or parsed in this process.
 *  (2) A page that cost three readers in a row is quarantined: the body that did it is not
 *      read again, another one is.
 */
#include "engine/visit_int.h"
#include <stdlib.h>

enum { KILLS_MOST = 3 };

static void quarantine_reason(struct webpage *p, struct fault *f)
{
    struct fault last = *f;
    fault_set(f, ERR_LIMIT, "quarantined until it changes: it cost %u readers; %s", p->kills,
            last.message);
}

/* Keeps the count of readers this page has cost. */
static void judge(struct visit *v, const struct reading *r)
{
    struct webpage *p = v->page;
    if (!r->killed) {
        if (r->fault.code == OK)
            p->kills = 0;
        return;
    }
    p->kills++;
    if (!p->killer)
        p->killer = malloc(sizeof *p->killer);
    CHECK(p->killer);
    *p->killer = v->source.sha;
    if (p->kills >= KILLS_MOST)
        quarantine_reason(p, &v->unreadable);
}

static void new_was_read(struct reading *r)
{
    struct visit *v = container_of(r, struct visit, reading);
    v->unreadable = r->fault;
    judge(v, r);
    visit_loaded(v);
}

bool visit_is_quarantined(const struct webpage *p)
{
    return p->kills >= KILLS_MOST;
}

void visit_read_new(struct visit *v)
{
    buf_init(&v->text, SOURCE_MAX);
    if (visit_is_quarantined(v->page) &&
            sha256_equal(v->page->killer, &v->source.sha)) { /* (2) */
        fault_set(&v->unreadable, ERR_LIMIT, "%s",
                v->page->error ? v->page->error : "quarantined until it changes");
        return;
    }
    v->loading++;
    v->reading = (struct reading){
            .wish = {.source = {v->source.body, v->source.body_bytes, v->source.content_type,
                             v->source.final_url},
                    .digest = &v->digest,
                    .text = v->want_source ? &v->text : NULL},
            .done = new_was_read,
    };
    readers_submit(v->engine->readers, &v->reading);
}

static void old_was_read(struct reading *r)
{
    struct old *o = container_of(r, struct old, reading);
    if (r->fault.code != OK)
        buf_done(&o->text); /* whoever asks hears that it is not at hand */
    else if (!o->block)
        o->block = buf_take(&o->made, &o->bytes);
    buf_done(&o->made);
    buf_done(&o->load.body);
    visit_loaded(o->visit);
}

void visit_read_old(struct old *o)
{
    struct store_load_job *l = &o->load;
    buf_init(&o->text, SOURCE_MAX);
    buf_init(&o->made, DIGEST_MAX);
    o->visit->loading++;
    o->reading = (struct reading){
            .wish = {.source = {l->body.data, l->body.len, l->content_type, l->final_url},
                    .digest = o->block ? NULL : &o->made,
                    .text = o->visit->want_source ? &o->text : NULL},
            .done = old_was_read,
    };
    readers_submit(o->visit->engine->readers, &o->reading);
}

const struct page_source *visit_text(struct visit *v, const struct buf *text)
{
    if (!text->data)
        return NULL;
    struct page_source *s = arena_new_of(v->arena, struct page_source);
    *s = (struct page_source){
            .bytes = text->data, .len = text->len, .content_type = "text/plain; charset=utf-8"};
    return s;
}
