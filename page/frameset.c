/* Framesets: how they are read, and which pages they are made of.
 *
 * A frameset stands where a body would, and a page has one or the other.  What is written in
 * it besides frames is shown by nobody and is no part of the page.
 */
#include "page/tree.h"

/* ---- the standard's "in frameset" and "after frameset" ----------------------------------- */

void frameset_begin(struct tree *t, struct tree_tag *tag)
{
    if (t->mode != MODE_AFTER_HEAD) {
        if (!t->frameset_ok || tree_depth(t) < 2 || tree_open_at(t, 1) != t->body)
            return;
        tree_pop_until_node(t, t->body);
        tree_detach(t, t->body);
        t->body = NO_NODE;
    }
    tree_insert(t, tag, SPACE_HTML);
    t->mode = MODE_FRAMESET;
}

void frameset_start(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_HTML || tag->tag == TAG_NOFRAMES)
        body_start(t, tag);
    else if (t->mode == MODE_FRAMESET && tag->tag == TAG_FRAMESET)
        tree_insert(t, tag, SPACE_HTML);
    else if (t->mode == MODE_FRAMESET && tag->tag == TAG_FRAME)
        tree_insert_void(t, tag);
}

void frameset_end(struct tree *t, struct tree_tag *tag)
{
    if (t->mode != MODE_FRAMESET || tag->tag != TAG_FRAMESET)
        return;
    tree_pop(t);
    if (!tree_current_is(t, TAG_FRAMESET))
        t->mode = MODE_AFTER_FRAMESET;
}

/* ---- the pages of its frames ------------------------------------------------------------- */

/* The number of a name in the page's table; 0, which is #text, when it does not occur. */
static uint32_t tag_number(const struct page_digest *d, const char *name)
{
    for (uint32_t i = 1; i < d->tag_names; i++)
        if (str_equal_nocase(page_tag_name(d, i), str_of(name)))
            return i;
    return 0;
}

/* The absolute address of a frame's page; false: it shows none. */
static bool frame_url(const struct page_digest *d, uint32_t node, struct buf *out)
{
    buf_clear(out);
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        if (str_equal_nocase(page_attr_name(d, a), STR("src")))
            return page_url_resolve(page_base(d), page_attr_value(d, a), out) &&
                   str_starts_nocase(str_of(buf_text(out)), STR("http"));
    return false;
}

size_t page_frames(const struct page_digest *d, struct arena *life, struct page_frame **ret)
{
    uint32_t frame = tag_number(d, "frame"), frameset = tag_number(d, "frameset");
    size_t n = 0, room = 0;
    BUF(url, 1 << 16);

    *ret = NULL;
    if (!frame || !frameset || (d->type == PAGE_XML && d->tags[0] != tag_number(d, "html")))
        return 0;
    for (uint32_t i = 1; i < d->nodes; i++)
        room += d->tags[i] == frame;
    *ret = arena_array_of(life, room, struct page_frame);
    for (uint32_t i = 1; i < d->nodes; i++)
        if (d->tags[i] == frame && d->parent[i] != UINT32_MAX &&
                d->tags[d->parent[i]] == frameset && frame_url(d, i, &url))
            (*ret)[n++] = (struct page_frame){i, arena_strdup(life, buf_text(&url))};
    return n;
}
