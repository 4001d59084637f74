/* What is told of a change: counts, one line for people, and the lists as JSON.
 *
 * A notification merges the lists of every leaf that changed, each once; a NOT has nothing
 * to list, and neither has what stands below it.
 */
#include "base/json.h"
#include "cdg/cdg_int.h"

enum { SUMMARY_BYTES = 300, QUOTE_BYTES = 80, DETAIL_BYTES = 64 << 20, DETAIL_FIRST = 16000 };

static const char *const list_names[] = {"inserted", "deleted", "updated", "moved", "found"};

struct report {
    const struct asking *by;
    struct cdg_finding *f;
    uint64_t number;
    struct json json;
    struct buf *summary;
};

static struct str cut_at(struct str s, size_t max)
{
    if (s.len <= max)
        return s;
    while (max > 0 && (s.ptr[max] & 0xC0) == 0x80)
        max--;
    return (struct str){s.ptr, max};
}

static void json_item(struct json *j, struct str s)
{
    if (s.len <= ITEM_BYTES) {
        json_str(j, s);
        return;
    }
    char text[ITEM_BYTES + 8];
    struct str head = cut_at(s, ITEM_BYTES);
    memcpy(text, head.ptr, head.len);
    memcpy(text + head.len, "…", sizeof("…"));
    json_text(j, text);
}

static void json_change(struct json *j, const struct change *c)
{
    if (c->how != CHANGE_UPDATED) {
        json_item(j, c->how == CHANGE_DELETED ? c->old : c->new_);
        return;
    }
    json_object_begin(j);
    json_key(j, "old");
    json_item(j, c->old);
    json_key(j, "new");
    json_item(j, c->new_);
    struct str path = c->path ? str_of(c->path) : c->place[c->place[1].ptr != NULL];
    if (path.ptr && (c->path || c->by_path)) {
        json_key(j, "path");
        json_str(j, path);
    }
    json_object_end(j);
}

/* ---- places: where the items of the lists stand, in the order of the lists --------------- */

static void json_place(struct json *j, struct str place)
{
    if (place.ptr)
        json_str(j, place);
    else
        json_none(j);
}

static void json_change_place(struct json *j, const struct change *c)
{
    if (c->how != CHANGE_UPDATED && c->how != CHANGE_MOVED) {
        json_place(j, c->place[c->how != CHANGE_DELETED]);
        return;
    }
    json_array_begin(j);
    json_place(j, c->place[0]);
    json_place(j, c->place[1]);
    json_array_end(j);
}

static void json_places(struct json *j, const struct answer *a)
{
    json_key(j, "places");
    json_object_begin(j);
    for (int how = 0; how < CHANGE_HOW_COUNT; how++) {
        if (a->counts[how] == 0)
            continue;
        json_key(j, list_names[how]);
        json_array_begin(j);
        for (size_t i = 0; i < a->nchanges; i++)
            if ((int)a->changes[i].how == how)
                json_change_place(j, &a->changes[i]);
        json_array_end(j);
    }
    json_object_end(j);
}

static void json_leaf(struct json *j, const char *type, const struct answer *a)
{
    size_t left_out = 0;

    json_object_begin(j);
    json_key(j, "type");
    json_text(j, type);
    json_key(j, "result");
    json_text(j, "C");
    if (a->reason) {
        json_key(j, "remark");
        json_text(j, a->reason);
    }
    for (int how = 0; how < CHANGE_HOW_COUNT; how++) {
        if (how == CHANGE_FOUND && a->counts[how] == 0)
            continue; /* only elements are found */
        json_key(j, list_names[how]);
        json_array_begin(j);
        for (size_t i = 0; i < a->nchanges; i++)
            if ((int)a->changes[i].how == how)
                json_change(j, &a->changes[i]);
        json_array_end(j);
        left_out += a->counts[how] > CHANGES_LISTED ? a->counts[how] - CHANGES_LISTED : 0;
    }
    if (a->nchanges)
        json_places(j, a);
    if (left_out) {
        json_key(j, "left_out");
        json_int(j, (int64_t)left_out);
    }
    if (a->coarse) {
        json_key(j, "coarse");
        json_bool(j, true);
    }
    json_object_end(j);
}

/* ---- the line ---------------------------------------------------------------------------- */

static void quote(struct buf *out, struct str s)
{
    struct str head = cut_at(s, QUOTE_BYTES);

    buf_putc(out, '"');
    size_t from = out->len;
    if (buf_append(out, head.ptr, head.len))
        for (size_t i = from; i < out->len; i++)
            out->data[i] = (unsigned char)out->data[i] < ' ' ? ' ' : out->data[i];
    buf_puts(out, head.len < s.len ? "…\"" : "\"");
}

static void first_change(struct buf *out, const struct answer *a)
{
    static const char *const signs[] = {"+ ", "− ", "~ ", "» ", "= "};

    if (a->nchanges == 0)
        return;
    const struct change *c = &a->changes[0];
    buf_puts(out, ": ");
    buf_puts(out, signs[c->how]);
    quote(out, c->how == CHANGE_DELETED || c->how == CHANGE_UPDATED ? c->old : c->new_);
    if (c->how == CHANGE_UPDATED) {
        buf_puts(out, " → ");
        quote(out, c->new_);
    }
    if (a->nchanges > 1)
        buf_puts(out, " …");
}

static void put_count(struct buf *out, size_t n)
{
    char digits[24], *at = digits + sizeof digits;

    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    buf_append(out, at, (size_t)(digits + sizeof digits - at));
}

static void summary_leaf(struct buf *out, const char *type, const struct answer *a)
{
    const char *comma = " ";

    if (out->len)
        buf_puts(out, "; ");
    buf_puts(out, type);
    for (int how = 0; how < CHANGE_HOW_COUNT; how++) {
        if (a->counts[how] == 0)
            continue;
        buf_puts(out, comma);
        put_count(out, a->counts[how]);
        buf_putc(out, ' ');
        buf_puts(out, list_names[how]);
        comma = ", ";
    }
    if (a->reason)
        buf_printf(out, " (%s)", a->reason);
    first_change(out, a);
}

static void add_leaf(struct report *r, struct cdg_node *leaf)
{
    struct asked *asked =
            asked_get(leaf->keeps ? r->by->own : r->by->shared, leaf, r->by->pair->number);
    const struct answer *a = asked->answer;
    const char *type = cdg_kind_get(leaf->leaf.kind)->name;

    if (asked->listed == r->number || a->result != CDG_C)
        return;
    asked->listed = r->number;
    r->f->inserted += (unsigned)a->counts[CHANGE_INSERTED];
    r->f->deleted += (unsigned)a->counts[CHANGE_DELETED];
    r->f->updated += (unsigned)a->counts[CHANGE_UPDATED];
    r->f->moved += (unsigned)a->counts[CHANGE_MOVED];
    json_leaf(&r->json, type, a);
    summary_leaf(r->summary, type, a);
}

static void add_leaves(struct report *r, struct cdg_node *n)
{
    switch (n->op) {
    case CDG_LEAF:
        add_leaf(r, n);
        break;
    case CDG_AND:
    case CDG_OR:
        add_leaves(r, n->left);
        add_leaves(r, n->right);
        break;
    case CDG_NOT:
    case CDG_OP_COUNT:
        break;
    }
}

void report_finding(const struct asking *by, struct cdg_node *root, struct cdg_finding *f)
{
    BUF(detail, DETAIL_BYTES);
    BUF(summary, 1 << 20);
    struct report r = {.by = by, .f = f, .number = ++*by->reports, .summary = &summary};

    (void)buf_reserve(&detail, DETAIL_FIRST);
    json_init(&r.json, &detail);
    json_object_begin(&r.json);
    json_key(&r.json, "leaves");
    json_array_begin(&r.json);
    add_leaves(&r, root);
    json_array_end(&r.json);
    json_object_end(&r.json);
    if (summary.len == 0)
        buf_puts(&summary, "what must not change did not");
    struct str line = cut_at((struct str){summary.data, summary.len}, SUMMARY_BYTES);
    f->summary = line.len < summary.len
                         ? arena_printf(by->life, "%.*s…", (int)line.len, line.ptr)
                         : arena_strndup(by->life, line.ptr, line.len);
    f->detail = detail.overflowed ? arena_strdup(by->life, "{\"leaves\":[]}")
                                  : arena_strndup(by->life, buf_text(&detail), detail.len);
}
