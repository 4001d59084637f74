/* What the store keeps of a change, as the lines notify shows. */
#include "base/str.h"
#include "engine/telling.h"
#include "store/outbox.h"
#include <jansson.h>

static enum notify_shape shape_of(const char *type)
{
    if (strcmp(type, "links") == 0)
        return NOTIFY_LINK;
    return strcmp(type, "images") == 0 ? NOTIFY_IMAGE : NOTIFY_TEXT;
}

static const char *copy(struct arena *life, const json_t *v, const char *key)
{
    const char *s = json_string_value(key ? json_object_get(v, key) : v);
    return s ? arena_strdup(life, s) : NULL;
}

static json_t *list_of(const json_t *leaf, int mark)
{
    return json_object_get(leaf, notify_mark_name((enum notify_mark)mark));
}

static void add_places(
        struct arena *life, const json_t *place, enum notify_mark mark, struct notify_line *l)
{
    if (json_is_array(place)) {
        l->old_place = copy(life, json_array_get(place, 0), NULL);
        l->place = copy(life, json_array_get(place, 1), NULL);
    } else if (mark == NOTIFY_DELETED) {
        l->old_place = copy(life, place, NULL);
    } else {
        l->place = copy(life, place, NULL);
    }
}

static void add_line(struct arena *life, const json_t *v, enum notify_mark mark,
        enum notify_shape shape, struct notify_line *l)
{
    *l = (struct notify_line){.mark = mark, .shape = shape};
    if (mark == NOTIFY_UPDATED) {
        l->old = copy(life, v, "old");
        l->now = copy(life, v, "new");
        l->path = copy(life, v, "path");
        l->old = l->old ? l->old : "";
        l->now = l->now ? l->now : "";
    } else {
        const char *text = copy(life, v, json_is_string(v) ? NULL : "text");
        text = text ? text : "";
        l->old = mark == NOTIFY_DELETED ? text : NULL;
        l->now = mark == NOTIFY_DELETED ? NULL : text;
    }
}

static void add_part(struct arena *life, const json_t *leaf, struct notify_part *part)
{
    size_t most = 0;
    const char *type = copy(life, leaf, "type");
    part->type = type ? type : "";
    part->remark = copy(life, leaf, "remark");
    part->left_out = (size_t)json_integer_value(json_object_get(leaf, "left_out"));
    for (int mark = NOTIFY_INSERTED; mark < NOTIFY_MARK_COUNT; mark++)
        most += json_array_size(list_of(leaf, mark));
    part->lines = arena_array_of(life, most + 1, struct notify_line);
    for (int mark = NOTIFY_INSERTED; mark < NOTIFY_MARK_COUNT; mark++) {
        size_t k;
        json_t *v;
        json_t *places = list_of(json_object_get(leaf, "places"), mark);
        json_array_foreach(list_of(leaf, mark), k, v)
        {
            struct notify_line *l = &part->lines[part->nlines++];
            add_line(life, v, (enum notify_mark)mark, shape_of(part->type), l);
            add_places(life, json_array_get(places, k), (enum notify_mark)mark, l);
        }
    }
}

void detail_parts(struct arena *life, const char *detail, struct notify_item *item)
{
    json_t *all = detail ? json_loads(detail, 0, NULL) : NULL;
    json_t *leaves = json_object_get(all, "leaves"), *leaf;
    size_t i;
    item->parts = arena_array_of(life, json_array_size(leaves) + 1, struct notify_part);
    item->nparts = 0;
    json_array_foreach(leaves, i, leaf) add_part(life, leaf, &item->parts[item->nparts++]);
    json_decref(all);
}

void detail_item(struct arena *life, const struct store_owed *o, struct notify_item *ret)
{
    *ret = (struct notify_item){
            .id = o->id,
            .change = o->change,
            .kind = notify_kind_find(o->kind),
            .sentinel = o->sentinel,
            .owner = o->owner,
            .url = o->url ? o->url : "",
            .monitor = o->monitor,
            .summary = o->summary ? o->summary : o->words,
            .topic = o->topic,
            .priority = o->priority,
            .at = o->at,
            .old_version = o->old_version,
            .new_version = o->new_version,
            .inserted = o->inserted,
            .deleted = o->deleted,
            .updated = o->updated,
            .moved = o->moved,
            .ratio = -1,
            .look = NOTIFY_ONLY,
            .last_modified = o->last_modified,
            .last_evaluated = o->last_evaluated,
            .last_notified = o->last_notified,
            .last_seen = o->last_seen,
            .installed = o->installed,
            .ends = o->ends,
            .notifications = o->notifications,
            .evaluations = o->evaluations,
    };
    if (ret->kind == NOTIFY_KIND_COUNT)
        ret->kind = NOTIFY_REPORT; /* a newer engine's word */
    (void)notify_look_find(o->presentation, &ret->look);
    detail_parts(life, o->detail, ret);
}
