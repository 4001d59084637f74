/* A message as JSON: for webhooks, programs and channels.
 *
 * The names are those of the views: sentinel, at, url, old_version ...; `detail` holds the
 * lists.  Fields are added, never renamed.
 */
#include "base/json.h"
#include "notify/notify_int.h"

static void put_at(struct json *j, const char *key, msec at)
{
    char text[TIME_TEXT_SIZE];
    json_key(j, key);
    json_text(j, at == MSEC_NEVER ? NULL : time_iso(at, text));
}

static void put_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_text(j, text);
}

static void put_int(struct json *j, const char *key, int64_t n)
{
    json_key(j, key);
    json_int(j, n);
}

static void put_lines(struct json *j, const struct notify_part *part, enum notify_mark mark)
{
    json_array_begin(j);
    for (size_t i = 0; i < part->nlines; i++) {
        const struct notify_line *l = &part->lines[i];
        if (l->mark != mark)
            continue;
        if (mark != NOTIFY_UPDATED) {
            json_text(j, mark == NOTIFY_DELETED ? l->old : l->now);
            continue;
        }
        json_object_begin(j);
        put_text(j, "old", l->old);
        put_text(j, "new", l->now);
        if (l->path)
            put_text(j, "path", l->path);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_part(struct json *j, const struct notify_part *part)
{
    static const struct {
        const char *name;
        enum notify_mark mark;
    } lists[] = {{"inserted", NOTIFY_INSERTED}, {"deleted", NOTIFY_DELETED},
            {"updated", NOTIFY_UPDATED}, {"moved", NOTIFY_MOVED}};
    json_object_begin(j);
    put_text(j, "type", part->type);
    if (part->remark)
        put_text(j, "remark", part->remark);
    for (size_t i = 0; i < countof(lists); i++) {
        json_key(j, lists[i].name);
        put_lines(j, part, lists[i].mark);
    }
    if (part->left_out)
        put_int(j, "left_out", (int64_t)part->left_out);
    json_object_end(j);
}

static void put_item(struct json *j, const struct notify *n, const struct notify_item *it)
{
    BUF(text, 64 << 10);
    json_object_begin(j);
    put_int(j, "id", it->id);
    put_text(j, "kind", notify_kind_name(it->kind));
    put_text(j, "sentinel", it->sentinel);
    put_text(j, "owner", it->owner);
    put_text(j, "topic", it->topic);
    put_int(j, "priority", it->priority);
    put_at(j, "at", it->at);
    put_text(j, "url", it->url);
    put_text(j, "monitor", it->monitor);
    put_text(j, "summary", it->summary);
    if (it->change) {
        put_int(j, "change", it->change);
        put_int(j, "old_version", it->old_version);
        put_int(j, "new_version", it->new_version);
        put_int(j, "inserted", it->inserted);
        put_int(j, "deleted", it->deleted);
        put_int(j, "updated", it->updated);
        put_int(j, "moved", it->moved);
        json_key(j, "detail");
        json_array_begin(j);
        for (size_t i = 0; i < it->nparts; i++)
            put_part(j, &it->parts[i]);
        json_array_end(j);
        report_link(n, it, &text);
        put_text(j, "link", text.len ? buf_text(&text) : NULL);
    }
    put_text(j, "last_modified", it->last_modified);
    put_at(j, "last_evaluated", it->last_evaluated);
    put_at(j, "last_notified", it->last_notified);
    put_at(j, "last_seen", it->last_seen);
    put_at(j, "installed", it->installed);
    put_at(j, "ends", it->ends);
    put_int(j, "evaluations", it->evaluations);
    put_int(j, "notifications", it->notifications);
    json_object_end(j);
}

void notify_json(const struct notify *n, const struct notify_message *m, struct buf *out)
{
    BUF(title, 64 << 10);
    struct json j;
    report_title(m, &title);
    json_init(&j, out);
    json_object_begin(&j);
    put_text(&j, "id", m->key);
    put_text(&j, "title", buf_text(&title));
    put_text(&j, "owner", m->owner);
    json_key(&j, "items");
    json_array_begin(&j);
    for (size_t i = 0; i < m->nitems; i++)
        put_item(&j, n, &m->items[i]);
    json_array_end(&j);
    put_int(&j, "left_out", (int64_t)m->left_out);
    json_object_end(&j);
}
