/* Foreign content: SVG and MathML in a page, where HTML's rules do not hold. */
#include "page/tree.h"

/* "An HTML integration point": inside it, HTML is HTML again. */
static bool holds_html(const struct tree_node *n)
{
    if (n->space == SPACE_SVG)
        return n->tag == TAG_FOREIGNOBJECT || n->tag == TAG_DESC || n->tag == TAG_TITLE;
    return n->space == SPACE_MATH && n->holds_html;
}

static bool holds_text(const struct tree_node *n)
{
    return n->space == SPACE_MATH &&
           (n->tag == TAG_MI || n->tag == TAG_MO || n->tag == TAG_MN || n->tag == TAG_MS ||
                   n->tag == TAG_MTEXT);
}

bool tree_is_foreign(const struct tree *t)
{
    const struct tree_node *n = tree_at(t, tree_current(t));

    return n->space != SPACE_HTML && !holds_html(n);
}

bool foreign_takes(const struct tree *t, const struct tree_tag *tag)
{
    const struct tree_node *n = tree_at(t, tree_current(t));

    if (!tree_is_foreign(t))
        return false;
    if (holds_text(n))
        return tag->tag == TAG_MGLYPH || tag->tag == TAG_MALIGNMARK;
    return !(n->space == SPACE_MATH && n->tag == TAG_ANNOTATION_XML && tag->tag == TAG_SVG);
}

static bool font_ends_foreign(const struct tree_tag *tag)
{
    for (size_t i = 0; i < tag->nattrs && tag->tag == TAG_FONT; i++)
        if (str_equal(tag->attrs[i].name, STR("color")) ||
                str_equal(tag->attrs[i].name, STR("face")) ||
                str_equal(tag->attrs[i].name, STR("size")))
            return true;
    return false;
}

static bool encoding_is_html(const struct tree_tag *tag)
{
    for (size_t i = 0; i < tag->nattrs && tag->tag == TAG_ANNOTATION_XML; i++)
        if (str_equal(tag->attrs[i].name, STR("encoding")))
            return str_equal_nocase(tag->attrs[i].value, STR("text/html")) ||
                   str_equal_nocase(tag->attrs[i].value, STR("application/xhtml+xml"));
    return false;
}

static void leave_foreign(struct tree *t)
{
    const struct tree_node *n = tree_at(t, tree_current(t));

    while (n->space != SPACE_HTML && !holds_html(n) && !holds_text(n)) {
        tree_pop(t);
        n = tree_at(t, tree_current(t));
    }
}

bool foreign_start(struct tree *t, struct tree_tag *tag)
{
    if (!foreign_takes(t, tag))
        return false;
    if (tag_infos[tag->tag].flags & T_OUTSIDE || font_ends_foreign(tag)) {
        leave_foreign(t);
        return false;
    }
    uint32_t node = tree_insert(t, tag, tree_at(t, tree_current(t))->space);
    if (t->is_over)
        return true;
    tree_at(t, node)->holds_html = encoding_is_html(tag);
    if (tag->self_closing)
        tree_pop(t);
    return true;
}

bool foreign_end(struct tree *t, struct tree_tag *tag)
{
    if (tree_at(t, tree_current(t))->space == SPACE_HTML)
        return false;
    if (tag->tag == TAG_BR || tag->tag == TAG_P) {
        leave_foreign(t);
        return false;
    }
    for (size_t i = tree_depth(t); i-- > 1; tree_steps(t, 1)) {
        const struct tree_node *n = tree_at(t, tree_open_at(t, i));
        if (n->space == SPACE_HTML)
            return false;
        if (n->name == tag->name) {
            tree_pop_until_node(t, tree_open_at(t, i));
            return true;
        }
    }
    return true;
}

bool foreign_text(struct tree *t, struct str text, bool blank)
{
    if (!tree_is_foreign(t) || holds_text(tree_at(t, tree_current(t))))
        return false;
    t->frameset_ok &= blank;
    tree_insert_text(t, text);
    return true;
}
