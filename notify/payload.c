/* A message as JSON: for webhooks, programs and channels.
 *
 * The names are those of the views: sentinel, at, url, old_version ...; `detail` holds the
 * lists.  Fields are added, never renamed.
 */
#include "base/json.h"
#include "notify/notify_int.h"

/* ---- fields that are told as they are ---- */

struct field {
    const char *name;
    enum { TEXT, INT, AT } form;
    size_t at; /* in struct notify_item */
};

#define FIELD(form, name)                                                                      \
    {                                                                                          \
#name, form, offsetof(struct notify_item, name)                                        \
    }

static const struct field about[] = {FIELD(TEXT, sentinel), FIELD(TEXT, owner),
        FIELD(TEXT, topic), FIELD(INT, priority), FIELD(AT, at), FIELD(TEXT, url),
        FIELD(TEXT, monitor), FIELD(TEXT, summary)};
static const struct field of_change[] = {FIELD(INT, change), FIELD(INT, old_version),
        FIELD(INT, new_version), FIELD(INT, inserted), FIELD(INT, deleted), FIELD(INT, updated),
        FIELD(INT, moved)};
static const struct field record[] = {FIELD(TEXT, last_modified), FIELD(AT, last_evaluated),
        FIELD(AT, last_notified), FIELD(AT, last_seen), FIELD(AT, installed), FIELD(AT, ends),
        FIELD(INT, evaluations), FIELD(INT, notifications)};

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

static void put_fields(
        struct json *j, const struct notify_item *it, const struct field *fields, size_t n)
{
    char text[TIME_TEXT_SIZE];
    for (size_t i = 0; i < n; i++) {
        const void *value = (const char *)it + fields[i].at;
        msec at;
        switch (fields[i].form) {
        case TEXT:
            put_text(j, fields[i].name, *(const char *const *)value);
            break;
        case INT:
            put_int(j, fields[i].name, *(const int64_t *)value);
            break;
        case AT:
            at = *(const msec *)value;
            put_text(j, fields[i].name, at == MSEC_NEVER ? NULL : time_iso(at, text));
            break;
        }
    }
}

/* ---- lists ---- */

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

/* As they stand in a leaf's detail: parallel to its lists, those that have none left out. */
static void put_places(struct json *j, const struct notify_part *part, enum notify_mark mark)
{
    bool both = mark == NOTIFY_UPDATED || mark == NOTIFY_MOVED, any = false;
    for (size_t i = 0; i < part->nlines; i++) {
        const struct notify_line *l = &part->lines[i];
        if (l->mark != mark)
            continue;
        if (!any) {
            json_key(j, notify_mark_name(mark));
            json_array_begin(j);
            any = true;
        }
        if (both)
            json_array_begin(j);
        if (both || mark == NOTIFY_DELETED)
            json_text(j, l->old_place);
        if (mark != NOTIFY_DELETED)
            json_text(j, l->place);
        if (both)
            json_array_end(j);
    }
    if (any)
        json_array_end(j);
}

/* What was found by an older engine has none. */
static bool has_places(const struct notify_part *part)
{
    for (size_t i = 0; i < part->nlines; i++)
        if (part->lines[i].place || part->lines[i].old_place)
            return true;
    return false;
}

static bool has_found(const struct notify_part *part)
{
    return part->nlines && part->lines[0].mark == NOTIFY_FOUND;
}

static void put_part(struct json *j, const struct notify_part *part)
{
    json_object_begin(j);
    put_text(j, "type", part->type);
    if (part->remark)
        put_text(j, "remark", part->remark);
    for (int mark = NOTIFY_INSERTED; mark < NOTIFY_MARK_COUNT; mark++) {
        if (mark == NOTIFY_FOUND && !has_found(part))
            continue; /* only elements are */
        json_key(j, notify_mark_name((enum notify_mark)mark));
        put_lines(j, part, (enum notify_mark)mark);
    }
    if (has_places(part)) {
        json_key(j, "places");
        json_object_begin(j);
        for (int mark = NOTIFY_INSERTED; mark < NOTIFY_MARK_COUNT; mark++)
            put_places(j, part, (enum notify_mark)mark);
        json_object_end(j);
    }
    if (part->left_out)
        put_int(j, "left_out", (int64_t)part->left_out);
    json_object_end(j);
}

/* ---- the whole ---- */

static void put_item(struct json *j, const struct notify *n, const struct notify_item *it)
{
    BUF(text, 64 << 10);
    json_object_begin(j);
    put_int(j, "id", it->id);
    put_text(j, "kind", notify_kind_name(it->kind));
    put_fields(j, it, about, countof(about));
    if (it->change) {
        put_fields(j, it, of_change, countof(of_change));
        json_key(j, "detail");
        json_array_begin(j);
        for (size_t i = 0; i < it->nparts; i++)
            put_part(j, &it->parts[i]);
        json_array_end(j);
        report_link(n, it, &text);
        put_text(j, "link", text.len ? buf_text(&text) : NULL);
    }
    put_fields(j, it, record, countof(record));
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
