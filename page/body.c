/* "In body", where nearly all of a page is read; and the way into SVG and MathML.
 *
 * The branches follow the order of the HTML standard.
 */
#include "page/tree.h"

/* ---- start tags -------------------------------------------------------------------------- */

static void start_heading(struct tree *t, struct tree_tag *tag)
{
    const struct tree_node *n;

    tree_close_p(t);
    n = tree_at(t, tree_current(t));
    if (n->space == SPACE_HTML && n->tag >= TAG_H1 && n->tag <= TAG_H6)
        tree_pop(t);
    tree_insert(t, tag, SPACE_HTML);
}

/* An li ends the li before it, a dd or dt the dd or dt, unless something special lies
 * between. */
static void start_item(struct tree *t, struct tree_tag *tag)
{
    for (size_t i = tree_depth(t); i-- > 0;) {
        const struct tree_node *n = tree_at(t, tree_open_at(t, i));
        bool same = tag->tag == TAG_LI ? node_is(n, TAG_LI)
                                       : node_is(n, TAG_DD) || node_is(n, TAG_DT);
        tree_steps(t, 1);
        if (same) {
            enum tag_id closed = n->tag;
            tree_imply_ends(t, closed);
            tree_pop_until(t, closed);
            break;
        }
        if (node_is_special(n) && !node_is(n, TAG_ADDRESS) && !node_is(n, TAG_DIV) &&
                !node_is(n, TAG_P))
            break;
    }
    tree_close_p(t);
    tree_insert(t, tag, SPACE_HTML);
}

static void start_form(struct tree *t, struct tree_tag *tag)
{
    if (t->form != NO_NODE)
        return;
    tree_close_p(t);
    t->form = tree_insert(t, tag, SPACE_HTML);
}

static void start_button(struct tree *t, struct tree_tag *tag)
{
    if (tree_has_in_scope(t, TAG_BUTTON, SCOPE_PLAIN)) {
        tree_imply_ends(t, TAG_OTHER);
        tree_pop_until(t, TAG_BUTTON);
    }
    tree_reopen(t);
    tree_insert(t, tag, SPACE_HTML);
}

static void start_formatting(struct tree *t, struct tree_tag *tag)
{
    uint32_t before = tag->tag == TAG_A ? tree_active_find(t, TAG_A) : NO_NODE;

    if (before != NO_NODE) {
        tree_adopt(t, TAG_A);
        tree_active_remove(t, before);
        tree_remove_open(t, before);
    }
    tree_reopen(t);
    if (tag->tag == TAG_NOBR && tree_has_in_scope(t, TAG_NOBR, SCOPE_PLAIN)) {
        tree_adopt(t, TAG_NOBR);
        tree_reopen(t);
    }
    uint32_t node = tree_insert(t, tag, SPACE_HTML);
    if (!t->is_over)
        tree_active_push(t, node);
}

static void start_option(struct tree *t, struct tree_tag *tag)
{
    if (tree_has_in_scope(t, TAG_SELECT, SCOPE_PLAIN))
        tree_imply_ends(t, tag->tag == TAG_OPTION ? TAG_OPTGROUP : TAG_OTHER);
    else if (tree_current_is(t, TAG_OPTION))
        tree_pop(t);
    tree_reopen(t);
    tree_insert(t, tag, SPACE_HTML);
}

static void start_select(struct tree *t, struct tree_tag *tag)
{
    if (tree_has_in_scope(t, TAG_SELECT, SCOPE_PLAIN)) {
        tree_pop_until(t, TAG_SELECT); /* a second one ends the first, and is nothing */
        return;
    }
    tree_reopen(t);
    tree_insert(t, tag, SPACE_HTML);
}

static void start_foreign(struct tree *t, struct tree_tag *tag)
{
    tree_reopen(t);
    tree_insert(t, tag, tag->tag == TAG_SVG ? SPACE_SVG : SPACE_MATH);
    if (tag->self_closing && !t->is_over)
        tree_pop(t);
}

static void start_void(struct tree *t, struct tree_tag *tag)
{
    switch (tag->tag) {
    case TAG_HR:
        tree_close_p(t);
        if (tree_has_in_scope(t, TAG_SELECT, SCOPE_PLAIN))
            tree_imply_ends(t, TAG_OTHER);
        break;
    case TAG_INPUT:
        if (tree_has_in_scope(t, TAG_SELECT, SCOPE_PLAIN))
            tree_pop_until(t, TAG_SELECT);
        tree_reopen(t);
        break;
    case TAG_FRAME:
        return;
    case TAG_AREA:
    case TAG_BR:
    case TAG_EMBED:
    case TAG_IMG:
    case TAG_KEYGEN:
    case TAG_WBR:
        tree_reopen(t);
        break;
    default: /* base, link, meta; param, source, track */
        break;
    }
    tree_insert_void(t, tag);
}

/* An element whose content is text. */
static void start_text(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_XMP) {
        tree_close_p(t);
        tree_reopen(t);
    }
    tree_insert(t, tag, SPACE_HTML);
    t->back = t->mode;
    t->mode = MODE_TEXT;
}

static void start_plain(struct tree *t, struct tree_tag *tag)
{
    switch (tag->tag) {
    case TAG_APPLET:
    case TAG_MARQUEE:
    case TAG_OBJECT:
        tree_reopen(t);
        tree_insert(t, tag, SPACE_HTML);
        tree_active_mark(t);
        return;
    case TAG_TABLE:
        if (!t->quirks)
            tree_close_p(t);
        tree_insert(t, tag, SPACE_HTML);
        t->mode = MODE_TABLE;
        return;
    case TAG_RB:
    case TAG_RTC:
    case TAG_RP:
    case TAG_RT:
        if (tree_has_in_scope(t, TAG_RUBY, SCOPE_PLAIN))
            tree_imply_ends(t, tag->tag == TAG_RP || tag->tag == TAG_RT ? TAG_RTC : TAG_OTHER);
        tree_insert(t, tag, SPACE_HTML);
        return;
    default:
        tree_reopen(t);
        tree_insert(t, tag, SPACE_HTML);
        return;
    }
}

/* What the page says of an element that is there already. */
static void start_again(struct tree *t, struct tree_tag *tag, uint32_t node)
{
    if (node == NO_NODE)
        return;
    tree_at(t, node)->name = tag->name;
    tree_merge_attributes(t, node, tag);
}

void body_start(struct tree *t, struct tree_tag *tag)
{
    const struct tag_info *info = &tag_infos[tag->tag];

    if (info->flags & T_SHOWN && !tag_is_hidden_input(tag))
        t->frameset_ok = false;
    switch (tag->tag) {
    case TAG_HTML:
        start_again(t, tag, t->html);
        return;
    case TAG_BODY:
        start_again(t, tag, t->body);
        return;
    case TAG_HEAD:
        return;
    case TAG_FRAMESET:
        frameset_begin(t, tag);
        return;
    case TAG_H1:
    case TAG_H2:
    case TAG_H3:
    case TAG_H4:
    case TAG_H5:
    case TAG_H6:
        start_heading(t, tag);
        return;
    case TAG_FORM:
        start_form(t, tag);
        return;
    case TAG_LI:
    case TAG_DD:
    case TAG_DT:
        start_item(t, tag);
        return;
    case TAG_BUTTON:
        start_button(t, tag);
        return;
    case TAG_SELECT:
        start_select(t, tag);
        return;
    case TAG_OPTION:
    case TAG_OPTGROUP:
        start_option(t, tag);
        return;
    case TAG_SVG:
    case TAG_MATH:
        start_foreign(t, tag);
        return;
    default:
        break;
    }
    if (info->flags & T_TABLE)
        return;
    if (info->flags & T_VOID) {
        start_void(t, tag);
    } else if (info->flags & T_FORMAT) {
        start_formatting(t, tag);
    } else if (info->content == CONTENT_RAW || info->content == CONTENT_REFERENCES) {
        start_text(t, tag);
    } else if (info->flags & T_BLOCK) {
        tree_close_p(t);
        tree_insert(t, tag, SPACE_HTML);
    } else {
        start_plain(t, tag);
    }
}

/* ---- end tags ---------------------------------------------------------------------------- */

static bool has_name(const struct tree_node *n, const struct tree_tag *tag)
{
    return n->name == tag->name && n->space == SPACE_HTML;
}

/* "Any other end tag". */
static void end_other(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag != TAG_OTHER && t->open[tag->tag] == 0)
        return;
    for (size_t i = tree_depth(t); i-- > 0;) {
        uint32_t node = tree_open_at(t, i);
        const struct tree_node *n = tree_at(t, node);
        tree_steps(t, 4);
        if (has_name(n, tag)) {
            tree_imply_ends(t, tag->tag ? tag->tag : TAG_COUNT);
            tree_pop_until_node(t, node);
            return;
        }
        if (node_is_special(n))
            return;
    }
}

static void end_form(struct tree *t)
{
    uint32_t form = t->form;

    t->form = NO_NODE;
    if (form == NO_NODE || !tree_has_node_in_scope(t, form))
        return;
    tree_imply_ends(t, TAG_OTHER);
    tree_remove_open(t, form);
}

static void end_p(struct tree *t)
{
    if (!tree_has_in_scope(t, TAG_P, SCOPE_BUTTON))
        tree_insert_implied(t, TAG_P, /* written= */ true);
    tree_close_p(t);
}

static void end_in_scope(struct tree *t, enum tag_id tag, enum tree_scope scope)
{
    if (!tree_has_in_scope(t, tag, scope))
        return;
    tree_imply_ends(t, tag == TAG_LI || tag == TAG_DD || tag == TAG_DT ? tag : TAG_OTHER);
    tree_pop_until(t, tag);
}

static void end_heading(struct tree *t)
{
    bool last = false;

    if (!tree_has_heading_in_scope(t))
        return;
    tree_imply_ends(t, TAG_OTHER);
    while (!last) {
        const struct tree_node *n = tree_at(t, tree_current(t));
        last = n->space == SPACE_HTML && n->tag >= TAG_H1 && n->tag <= TAG_H6;
        tree_pop(t);
    }
}

void body_end(struct tree *t, struct tree_tag *tag)
{
    uint16_t flags = tag_infos[tag->tag].flags;

    switch (tag->tag) {
    case TAG_HTML:
    case TAG_BODY: /* what follows them still belongs into the body */
        return;
    case TAG_FORM:
        end_form(t);
        return;
    case TAG_P:
        end_p(t);
        return;
    case TAG_LI:
        end_in_scope(t, tag->tag, SCOPE_LIST);
        return;
    case TAG_DD:
    case TAG_DT:
        end_in_scope(t, tag->tag, SCOPE_PLAIN);
        return;
    case TAG_H1:
    case TAG_H2:
    case TAG_H3:
    case TAG_H4:
    case TAG_H5:
    case TAG_H6:
        end_heading(t);
        return;
    case TAG_BR: {
        struct tree_tag br = {.name = tag->name, .tag = TAG_BR, .text = tag->text};
        body_start(t, &br);
        return;
    }
    case TAG_APPLET:
    case TAG_MARQUEE:
    case TAG_OBJECT:
        if (tree_has_in_scope(t, tag->tag, SCOPE_PLAIN)) {
            end_in_scope(t, tag->tag, SCOPE_PLAIN);
            tree_active_clear(t);
        }
        return;
    default:
        break;
    }
    if (flags & (T_BLOCK | T_CLOSED))
        end_in_scope(t, tag->tag, SCOPE_PLAIN);
    else if (!(flags & T_FORMAT) || !tree_adopt(t, tag->tag))
        end_other(t, tag);
}

void body_text(struct tree *t, struct str text, bool blank)
{
    t->frameset_ok &= blank;
    tree_reopen(t);
    if (!t->is_over)
        tree_insert_text(t, text);
}
