/* The insertion modes around the body: the head, tables, and foreign content.
 *
 * The branches follow the order of the HTML standard; "again" is its "reprocess the token".
 * A mode that hands a token on always leaves itself first, so the handing on ends.
 */
#include "page/tree.h"

static void start_in(struct tree *t, enum tree_mode mode, struct tree_tag *tag);
static void end_in(struct tree *t, enum tree_mode mode, struct tree_tag *tag);

/* ---- the head ---------------------------------------------------------------------------- */

static void head_make(struct tree *t, struct tree_tag *tag)
{
    if (tag)
        tree_insert(t, tag, SPACE_HTML);
    else
        tree_insert_implied(t, TAG_HEAD, /* written= */ false);
    t->head = tree_current(t);
    t->mode = MODE_HEAD;
}

static void body_make(struct tree *t, struct tree_tag *tag)
{
    if (tag)
        tree_insert(t, tag, SPACE_HTML);
    else
        tree_insert_implied(t, TAG_BODY, /* written= */ false);
    t->body = tree_current(t);
    t->mode = MODE_BODY;
}

static void start_before_head(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_HTML) {
        body_start(t, tag);
    } else if (tag->tag == TAG_HEAD) {
        head_make(t, tag);
    } else {
        head_make(t, NULL);
        mode_start(t, tag);
    }
}

static void start_head(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_HTML || tag_infos[tag->tag].flags & T_HEAD) {
        body_start(t, tag);
    } else if (tag->tag != TAG_HEAD) {
        tree_pop(t);
        t->mode = MODE_AFTER_HEAD;
        mode_start(t, tag);
    }
}

static void start_after_head(struct tree *t, struct tree_tag *tag)
{
    if (tag->tag == TAG_HTML) {
        body_start(t, tag);
    } else if (tag->tag == TAG_BODY) {
        body_make(t, tag);
    } else if (tag_infos[tag->tag].flags & T_HEAD) { /* still goes into the head */
        uint32_t here = t->head;
        buf_append(&t->stack, &here, sizeof here);
        t->open[TAG_HEAD]++;
        tree_at(t, here)->in_stack = true;
        body_start(t, tag);
        tree_remove_open(t, here);
    } else if (tag->tag != TAG_HEAD) {
        body_make(t, NULL);
        mode_start(t, tag);
    }
}

/* An end tag in front of the body; true: it makes the body begin. */
static bool begins_body(const struct tree_tag *tag)
{
    return tag->tag == TAG_BODY || tag->tag == TAG_HTML || tag->tag == TAG_BR;
}

static void end_before_body(struct tree *t, struct tree_tag *tag)
{
    if (t->mode == MODE_HEAD && tag->tag == TAG_HEAD) {
        tree_pop(t);
        t->mode = MODE_AFTER_HEAD;
        return;
    }
    if (tag->tag == TAG_HEAD && t->mode == MODE_BEFORE_HEAD) {
        head_make(t, NULL);
        mode_end(t, tag);
        return;
    }
    if (!begins_body(tag))
        return;
    if (t->mode == MODE_BEFORE_HEAD)
        head_make(t, NULL);
    if (t->mode == MODE_HEAD)
        tree_pop(t);
    body_make(t, NULL);
    mode_end(t, tag);
}

/* ---- tables ------------------------------------------------------------------------------ */

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

static bool is_hidden_input(const struct tree_tag *tag)
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
        if (is_hidden_input(tag))
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

/* ---- end tags in tables ------------------------------------------------------------------ */

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

/* ---- foreign content --------------------------------------------------------------------- */

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

static bool start_is_foreign(const struct tree *t, const struct tree_tag *tag)
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

static void start_foreign(struct tree *t, struct tree_tag *tag)
{
    if (tag_infos[tag->tag].flags & T_OUTSIDE || font_ends_foreign(tag)) {
        leave_foreign(t);
        start_in(t, t->mode, tag);
        return;
    }
    enum tree_space space = tree_at(t, tree_current(t))->space;
    uint32_t node = tree_insert(t, tag, space);
    if (t->is_over)
        return;
    tree_at(t, node)->holds_html = encoding_is_html(tag);
    if (tag->self_closing)
        tree_pop(t);
}

/* True: the end tag closed a foreign element, or is nothing. */
static bool end_foreign(struct tree *t, struct tree_tag *tag)
{
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

/* ---- all together ------------------------------------------------------------------------ */

static void start_in(struct tree *t, enum tree_mode mode, struct tree_tag *tag)
{
    static void (*const starts[MODE_COUNT])(struct tree *, struct tree_tag *) = {
            [MODE_BEFORE_HEAD] = start_before_head,
            [MODE_HEAD] = start_head,
            [MODE_AFTER_HEAD] = start_after_head,
            [MODE_BODY] = body_start,
            [MODE_TEXT] = body_start,
            [MODE_TABLE] = start_table,
            [MODE_CAPTION] = start_caption,
            [MODE_COLGROUP] = start_colgroup,
            [MODE_TBODY] = start_tbody,
            [MODE_ROW] = start_row,
            [MODE_CELL] = start_cell,
    };
    starts[mode](t, tag);
}

static void end_in(struct tree *t, enum tree_mode mode, struct tree_tag *tag)
{
    static void (*const ends[MODE_COUNT])(struct tree *, struct tree_tag *) = {
            [MODE_BEFORE_HEAD] = end_before_body,
            [MODE_HEAD] = end_before_body,
            [MODE_AFTER_HEAD] = end_before_body,
            [MODE_BODY] = body_end,
            [MODE_TEXT] = body_end,
            [MODE_TABLE] = end_table,
            [MODE_CAPTION] = end_caption,
            [MODE_COLGROUP] = end_colgroup,
            [MODE_TBODY] = end_tbody,
            [MODE_ROW] = end_row,
            [MODE_CELL] = end_cell,
    };
    ends[mode](t, tag);
}

void mode_start(struct tree *t, struct tree_tag *tag)
{
    if (t->is_over)
        return;
    if (t->mode != MODE_TEXT && start_is_foreign(t, tag))
        start_foreign(t, tag);
    else
        start_in(t, t->mode, tag);
}

void mode_end(struct tree *t, struct tree_tag *tag)
{
    if (t->is_over)
        return;
    if (t->mode == MODE_TEXT) { /* nothing else than its own end tag comes */
        tree_pop(t);
        t->mode = t->back;
        return;
    }
    if (tree_at(t, tree_current(t))->space != SPACE_HTML && end_foreign(t, tag))
        return;
    end_in(t, t->mode, tag);
}

static void table_text(struct tree *t, struct str text, bool blank)
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

void mode_text(struct tree *t, struct str text, bool blank)
{
    if (t->is_over)
        return;
    if (t->mode != MODE_TEXT && tree_at(t, tree_current(t))->space != SPACE_HTML &&
            tree_is_foreign(t) && !holds_text(tree_at(t, tree_current(t)))) {
        tree_insert_text(t, text);
        return;
    }
    switch (t->mode) {
    case MODE_BEFORE_HEAD:
    case MODE_HEAD:
    case MODE_AFTER_HEAD:
        if (blank) /* shown by nobody */
            return;
        if (t->mode == MODE_BEFORE_HEAD)
            head_make(t, NULL);
        if (t->mode == MODE_HEAD)
            tree_pop(t);
        body_make(t, NULL);
        body_text(t, text, blank);
        return;
    case MODE_TEXT:
        tree_insert_text(t, text);
        return;
    case MODE_COLGROUP:
        if (blank)
            return;
        colgroup_end(t);
        table_text(t, text, blank);
        return;
    case MODE_TABLE:
    case MODE_TBODY:
    case MODE_ROW:
        table_text(t, text, blank);
        return;
    case MODE_BODY:
    case MODE_CAPTION:
    case MODE_CELL:
    case MODE_COUNT:
        body_text(t, text, blank);
        return;
    }
}
