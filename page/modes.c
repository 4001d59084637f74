/* The insertion modes around the body: the head, and which rules hold for a token.
 *
 * The branches follow the order of the HTML standard; "again" is its "reprocess the token".
 * A mode that hands a token on always leaves itself first, so the handing on ends.
 */
#include "page/tree.h"

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
        t->frameset_ok = false;
        body_make(t, tag);
    } else if (tag->tag == TAG_FRAMESET) {
        frameset_begin(t, tag);
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

/* The body begins although the page did not say so. */
static void body_begin(struct tree *t)
{
    if (t->mode == MODE_BEFORE_HEAD)
        head_make(t, NULL);
    if (t->mode == MODE_HEAD)
        tree_pop(t);
    body_make(t, NULL);
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
    body_begin(t);
    mode_end(t, tag);
}

/* ---- all together ------------------------------------------------------------------------ */

void mode_start(struct tree *t, struct tree_tag *tag)
{
    if (t->is_over || foreign_start(t, tag))
        return;
    switch (t->mode) {
    case MODE_BEFORE_HEAD:
        start_before_head(t, tag);
        return;
    case MODE_HEAD:
        start_head(t, tag);
        return;
    case MODE_AFTER_HEAD:
        start_after_head(t, tag);
        return;
    case MODE_BODY:
    case MODE_TEXT:
    case MODE_COUNT:
        body_start(t, tag);
        return;
    case MODE_TABLE:
    case MODE_CAPTION:
    case MODE_COLGROUP:
    case MODE_TBODY:
    case MODE_ROW:
    case MODE_CELL:
        tables_start(t, t->mode, tag);
        return;
    case MODE_FRAMESET:
    case MODE_AFTER_FRAMESET:
        frameset_start(t, tag);
        return;
    }
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
    if (foreign_end(t, tag))
        return;
    switch (t->mode) {
    case MODE_BEFORE_HEAD:
    case MODE_HEAD:
    case MODE_AFTER_HEAD:
        end_before_body(t, tag);
        return;
    case MODE_BODY:
    case MODE_TEXT:
    case MODE_COUNT:
        body_end(t, tag);
        return;
    case MODE_TABLE:
    case MODE_CAPTION:
    case MODE_COLGROUP:
    case MODE_TBODY:
    case MODE_ROW:
    case MODE_CELL:
        tables_end(t, t->mode, tag);
        return;
    case MODE_FRAMESET:
    case MODE_AFTER_FRAMESET:
        frameset_end(t, tag);
        return;
    }
}

void mode_text(struct tree *t, struct str text, bool blank)
{
    if (t->is_over)
        return;
    if (t->mode == MODE_TEXT) {
        tree_insert_text(t, text);
        return;
    }
    if (foreign_text(t, text, blank))
        return;
    switch (t->mode) {
    case MODE_BEFORE_HEAD:
    case MODE_HEAD:
    case MODE_AFTER_HEAD:
        if (!blank) { /* blanks are shown by nobody */
            body_begin(t);
            body_text(t, text, blank);
        }
        return;
    case MODE_TABLE:
    case MODE_COLGROUP:
    case MODE_TBODY:
    case MODE_ROW:
        tables_text(t, text, blank);
        return;
    case MODE_BODY:
    case MODE_TEXT:
    case MODE_CAPTION:
    case MODE_CELL:
    case MODE_COUNT:
        body_text(t, text, blank);
        return;
    case MODE_FRAMESET:
    case MODE_AFTER_FRAMESET: /* shown by nobody */
        return;
    }
}
