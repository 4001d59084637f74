/* The insertion modes of tables: what belongs into one, and what stands before it instead.
 *
 * The branches follow the order of the HTML standard.  A mode that hands a token on always
 * leaves itself first, so the handing on ends.
 */
#include "page/tree.h"

static void clear_to(struct tree *t, enum tag_id a, enum tag_id b, enum tag_id c)
{
    while (tree_depth(t) > 1 && !tree_current_is(t, a) && !tree_current_is(t, b) &&
            !tree_current_is(t, c))
        tree_pop(t);
}

static void clear_to_table(struct tree *t)
{
    clear_to(t, TAG_TABLE, TAG_TABLE, TAG_TABLE);
}

static void clear_to_tbody(struct tree *t)
{
    clear_to(t, TAG_TBODY, TAG_TFOOT, TAG_THEAD);
}

static enum tree_mode mode_inside(const struct tree_node *n)
{
    if (n->space != SPACE_HTML)
        return MODE_COUNT;
    switch (n->tag) {
    case TAG_TD:
    case TAG_TH:
        return MODE_CELL;
    case TAG_TR:
        return MODE_ROW;
    case TAG_TBODY:
    case TAG_THEAD:
    case TAG_TFOOT:
        return MODE_TBODY;
    case TAG_CAPTION:
        return MODE_CAPTION;
    case TAG_COLGROUP:
        return MODE_COLGROUP;
    case TAG_TABLE:
        return MODE_TABLE;
    case TAG_BODY:
    case TAG_HTML:
        return MODE_BODY;
    default:
        return MODE_COUNT;
    }
}

/* "Reset the insertion mode appropriately". */
static void mode_reset(struct tree *t)
{
    t->mode = MODE_BODY;
    for (size_t i = tree_depth(t); i-- > 0; tree_steps(t, 1)) {
        enum tree_mode mode = mode_inside(tree_at(t, tree_open_at(t, i)));
        if (mode == MODE_COUNT)
            continue;
        t->mode = mode;
        return;
    }
}

static bool table_end(struct tree *t)
{
    if (!tree_has_in_scope(t, TAG_TABLE, SCOPE_TABLE))
        return false;
    tree_pop_until(t, TAG_TABLE);
    mode_reset(t);
    return true;
}

bool tag_is_hidden_input(const struct tree_tag *tag)
{
    for (size_t i = 0; i < tag->nattrs && tag->tag == TAG_INPUT; i++)
        if (str_equal(tag->attrs[i].name, STR("type")))
            return str_equal_nocase(tag->attrs[i].value, STR("hidden"));
    return false;
}

static void foster_start(struct tree *t, struct tree_tag *tag)
{
    t->foster = true;
    body_start(t, tag);
    t->foster = false;
}

static void start_table(struct tree *t, struct tree_tag *tag)
{
    switch (tag->tag) {
    case TAG_CAPTION:
        clear_to_table(t);
        tree_active_mark(t);
        tree_insert(t, tag, SPACE_HTML);
        t->mode = MODE_CAPTION;
        return;
    case TAG_COLGROUP:
        clear_to_table(t);
        tree_insert(t, tag, SPACE_HTML);
        t->mode = MODE_COLGROUP;
        return;
    case TAG_COL:
        clear_to_table(t);
        tree_insert_implied(t, TAG_COLGROUP, /* written= */ false);
        t->mode = MODE_COLGROUP;
        mode_start(t, tag);
        return;
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        clear_to_table(t);
        tree_insert(t, tag, SPACE_HTML);
        t->mode = MODE_TBODY;
        return;
    case TAG_TD:
    case TAG_TH:
    case TAG_TR:
        clear_to_table(t);
        tree_insert_implied(t, TAG_TBODY, /* written= */ false);
        t->mode = MODE_TBODY;
        mode_start(t, tag);
        return;
    case TAG_TABLE:
        if (table_end(t))
            mode_start(t, tag);
        return;
    case TAG_FORM:
        if (t->form != NO_NODE)
            return;
        t->form = tree_insert(t, tag, SPACE_HTML);
        if (!t->is_over)
            tree_pop(t);
        return;
    default:
        if (tag_is_hidden_input(tag))
            tree_insert_void(t, tag);
        else
            foster_start(t, tag);
        return;
    }
}

static bool caption_end(struct tree *t)
{
    if (!tree_has_in_scope(t, TAG_CAPTION, SCOPE_TABLE))
        return false;
    tree_imply_ends(t, TAG_OTHER);
    tree_pop_until(t, TAG_CAPTION);
    tree_active_clear(t);
    t->mode = MODE_TABLE;
    return true;
}

static bool is_part(const struct tree_tag *tag)
{
    return tag_infos[tag->tag].flags & T_TABLE;
}

static void start_caption(struct tree *t, struct tree_tag *tag)
{
    if (!is_part(tag))
        body_start(t, tag);
    else if (caption_end(t))
        mode_start(t, tag);
}

static bool colgroup_end(struct tree *t)
{
    if (!tree_current_is(t, TAG_COLGROUP))
        return false;
    tree_pop(t);
    t->mode = MODE_TABLE;
    return true;
}

static void start_colgroup(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_COL)
        tree_insert_void(t, tag);
    else if (colgroup_end(t))
        mode_start(t, tag);
}

static bool tbody_end(struct tree *t)
{
    if (!tree_has_in_scope(t, TAG_TBODY, SCOPE_TABLE) &&
            !tree_has_in_scope(t, TAG_THEAD, SCOPE_TABLE) &&
            !tree_has_in_scope(t, TAG_TFOOT, SCOPE_TABLE))
        return false;
    clear_to_tbody(t);
    tree_pop(t);
    t->mode = MODE_TABLE;
    return true;
}

static void start_tbody(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_TR) {
        clear_to_tbody(t);
        tree_insert(t, tag, SPACE_HTML);
        t->mode = MODE_ROW;
    } else if (tag->tag == TAG_TD || tag->tag == TAG_TH) { /* a row it is all the same */
        clear_to_tbody(t);
        tree_insert_implied(t, TAG_TR, /* written= */ true);
        t->mode = MODE_ROW;
        mode_start(t, tag);
    } else if (!is_part(tag)) {
        start_table(t, tag);
    } else if (tbody_end(t)) {
        mode_start(t, tag);
    }
}

static bool row_end(struct tree *t)
{
    if (!tree_has_in_scope(t, TAG_TR, SCOPE_TABLE))
        return false;
    clear_to(t, TAG_TR, TAG_TR, TAG_TR);
    tree_pop(t);
    t->mode = MODE_TBODY;
    return true;
}

static void start_row(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_TD || tag->tag == TAG_TH) {
        clear_to(t, TAG_TR, TAG_TR, TAG_TR);
        tree_insert(t, tag, SPACE_HTML);
        t->mode = MODE_CELL;
        tree_active_mark(t);
    } else if (!is_part(tag)) {
        start_table(t, tag);
    } else if (row_end(t)) {
        mode_start(t, tag);
    }
}

static bool cell_end(struct tree *t)
{
    enum tag_id cell = tree_has_in_scope(t, TAG_TD, SCOPE_TABLE) ? TAG_TD : TAG_TH;

    if (!tree_has_in_scope(t, cell, SCOPE_TABLE))
        return false;
    tree_imply_ends(t, TAG_OTHER);
    clear_to(t, TAG_TD, TAG_TH, TAG_TH);
    tree_pop(t);
    tree_active_clear(t);
    t->mode = MODE_ROW;
    return true;
}

static void start_cell(struct tree *t, struct tree_tag *tag)
{
    if (!is_part(tag))
        body_start(t, tag);
    else if (cell_end(t))
        mode_start(t, tag);
}

/* ---- end tags ---------------------------------------------------------------------------- */

static void end_table(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_TABLE) {
        table_end(t);
    } else if (!is_part(tag) && tag->tag != TAG_BODY && tag->tag != TAG_HTML) {
        t->foster = true;
        body_end(t, tag);
        t->foster = false;
    }
}

static void end_caption(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_CAPTION)
        caption_end(t);
    else if (tag->tag == TAG_TABLE && caption_end(t))
        mode_end(t, tag);
    else if (!is_part(tag) && tag->tag != TAG_TABLE)
        body_end(t, tag);
}

static void end_colgroup(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag != TAG_COL && colgroup_end(t) && tag->tag != TAG_COLGROUP)
        mode_end(t, tag);
}

static void end_tbody(struct tree *t, struct tree_tag *tag)
{
    switch (tag->tag) {
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        if (tree_has_in_scope(t, tag->tag, SCOPE_TABLE))
            tbody_end(t);
        return;
    case TAG_TABLE:
        if (tbody_end(t))
            mode_end(t, tag);
        return;
    default:
        end_table(t, tag);
        return;
    }
}

static void end_row(struct tree *t, struct tree_tag *tag)
{
    switch (tag->tag) {
    case TAG_TR:
        row_end(t);
        return;
    case TAG_TABLE:
        if (row_end(t))
            mode_end(t, tag);
        return;
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
        if (tree_has_in_scope(t, tag->tag, SCOPE_TABLE) && row_end(t))
            mode_end(t, tag);
        return;
    default:
        end_table(t, tag);
        return;
    }
}

static void end_cell(struct tree *t, struct tree_tag *tag)
{
    switch (tag->tag) {
    case TAG_TD:
    case TAG_TH:
        if (tree_has_in_scope(t, tag->tag, SCOPE_TABLE))
            cell_end(t);
        return;
    case TAG_TABLE:
    case TAG_TBODY:
    case TAG_TFOOT:
    case TAG_THEAD:
    case TAG_TR:
        if (tree_has_in_scope(t, tag->tag, SCOPE_TABLE) && cell_end(t))
            mode_end(t, tag);
        return;
    default:
        if (!is_part(tag))
            body_end(t, tag);
        return;
    }
}

static void loose_text(struct tree *t, struct str text, bool blank)
{
    const struct tree_node *n = tree_at(t, tree_current(t));
    bool loose = node_is(n, TAG_TABLE) || node_is(n, TAG_TBODY) || node_is(n, TAG_TFOOT) ||
                 node_is(n, TAG_THEAD) || node_is(n, TAG_TR);

    if (blank && loose) {
        tree_insert_text(t, text);
        return;
    }
    t->foster = true;
    body_text(t, text, blank);
    t->foster = false;
}

void tables_text(struct tree *t, struct str text, bool blank)
{
    if (t->mode == MODE_COLGROUP) {
        if (blank)
            return;
        colgroup_end(t);
    }
    loose_text(t, text, blank);
}

void tables_start(struct tree *t, enum tree_mode mode, struct tree_tag *tag)
{
    static void (*const starts[MODE_COUNT])(struct tree *, struct tree_tag *) = {
            [MODE_TABLE] = start_table,
            [MODE_CAPTION] = start_caption,
            [MODE_COLGROUP] = start_colgroup,
            [MODE_TBODY] = start_tbody,
            [MODE_ROW] = start_row,
            [MODE_CELL] = start_cell,
    };
    starts[mode](t, tag);
}

void tables_end(struct tree *t, enum tree_mode mode, struct tree_tag *tag)
{
    static void (*const ends[MODE_COUNT])(struct tree *, struct tree_tag *) = {
            [MODE_TABLE] = end_table,
            [MODE_CAPTION] = end_caption,
            [MODE_COLGROUP] = end_colgroup,
            [MODE_TBODY] = end_tbody,
            [MODE_ROW] = end_row,
            [MODE_CELL] = end_cell,
    };
    ends[mode](t, tag);
}
