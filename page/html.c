/* HTML: our tokens, through the standard's tree construction, into the builder.
 *
 * tokens.c reads the tags, tree.c, modes.c and body.c find out what they mean, and when all
 * is read the tree is told to the builder in document order.  Nothing here is libxml2's,
 * whose HTML is that of 1999.  It must hold that
 *  (1) no text is lost: whatever is shown is in the tree, or the page is refused, and
 *  (2) the builder is told of html, head, body, tbody and colgroup elements only where the
 *      page wrote them, and of no script, style, noscript or template.
 */
#include "page/bundle.h"
#include "page/tree.h"

struct reader {
    struct token_sink sink;
    struct tree tree;
};

static struct tree *tree_of(struct token_sink *sink)
{
    return &container_of(sink, struct reader, sink)->tree;
}

/* What the standard knows about a name that is met for the first time. */
static bool tag_learn(struct tree *t, uint32_t name)
{
    if (intern_is_full(&t->b->tag_names)) { /* and its number says nothing */
        t->b->overflowed = t->is_over = true;
        return false;
    }
    while (t->tag_of.len <= name && !t->tag_of.overflowed)
        buf_push_char(&t->tag_of,
                (char)tag_find(intern_text(&t->b->tag_names, (uint32_t)t->tag_of.len)));
    if (t->tag_of.overflowed)
        t->b->overflowed = t->is_over = true;
    return !t->tag_of.overflowed;
}

static void tag_name(struct tree *t, struct tree_tag *tag, struct str name)
{
    tag->text = name;
    tag->name = intern_get_name(&t->b->tag_names, name);
    if ((tag->name >= t->tag_of.len || intern_is_full(&t->b->tag_names)) &&
            !tag_learn(t, tag->name))
        tag->tag = TAG_OTHER;
    else
        tag->tag = (unsigned char)t->tag_of.data[tag->name];
}

static bool is_left_out(enum tag_id tag)
{
    return tag_infos[tag].content == CONTENT_SKIPPED || tag == TAG_TEMPLATE;
}

static enum token_content sink_start(struct token_sink *sink, struct str name,
        struct pair *attrs, size_t nattrs, bool self_closing)
{
    struct tree *t = tree_of(sink);
    struct tree_tag tag = {.attrs = attrs, .nattrs = nattrs, .self_closing = self_closing};

    tag_name(t, &tag, name);
    if (tag.tag == TAG_IMAGE && !tree_is_foreign(t)) /* so says the standard */
        tag_name(t, &tag, STR("img"));
    if (is_left_out(tag.tag) && !foreign_takes(t, &tag))
        return CONTENT_SKIPPED;
    mode_start(t, &tag);
    if (!tag.inserted || tree_at(t, tree_current(t))->space != SPACE_HTML)
        return CONTENT_MARKUP;
    return tag_infos[tag.tag].content;
}

static void sink_end(struct token_sink *sink, struct str name)
{
    struct tree *t = tree_of(sink);
    struct tree_tag tag = {.nattrs = 0};

    tag_name(t, &tag, name);
    mode_end(t, &tag);
}

static void sink_text(struct token_sink *sink, struct str text, bool blank)
{
    mode_text(tree_of(sink), text, blank);
}

static void sink_doctype(struct token_sink *sink, bool is_quirky)
{
    tree_of(sink)->quirks = is_quirky;
}

static bool sink_is_foreign(struct token_sink *sink)
{
    struct tree *t = tree_of(sink);

    return tree_at(t, tree_current(t))->space != SPACE_HTML;
}

/* ---- from the tree to the builder -------------------------------------------------------- */

/* Only those of SVG and MathML are in the tree. */
static bool node_is_left_out(const struct tree_node *n)
{
    return n->space != SPACE_HTML && is_left_out(n->tag);
}

static void node_open(struct tree *t, const struct tree_node *n)
{
    if (n->name == 0 && n->tag == TAG_OTHER) {
        struct str all = n->in_texts ? (struct str){t->texts.data, t->texts.len} : t->source;
        build_text_within(t->b, (struct str){all.ptr + n->from, n->count}, all.ptr + all.len);
    } else if (n->written && !node_is_left_out(n)) { /* (2) */
        bool is_inline = n->space == SPACE_HTML
                                 ? (tag_infos[n->tag].flags & T_INLINE) != 0
                                 : page_tag_is_inline(intern_text(&t->b->tag_names, n->name));
        build_open_numbers(t->b, n->name, is_inline, n->from, n->count);
        if (n->tag == TAG_FRAME && t->b->bundle)
            bundle_fill_frame(t->b, n->from, n->count);
    }
}

static void node_close(struct tree *t, const struct tree_node *n)
{
    if (n->written && !node_is_left_out(n))
        build_close(t->b);
}

static void tell(struct tree *t)
{
    uint32_t i = t->html;

    node_open(t, tree_at(t, i));
    while (!t->b->too_deep && !t->b->overflowed) {
        const struct tree_node *n = tree_at(t, i);
        if (n->first != NO_NODE && !node_is_left_out(n)) {
            i = n->first;
            node_open(t, tree_at(t, i));
            continue;
        }
        while (n->next == NO_NODE) {
            node_close(t, n);
            if (n->parent == NO_NODE)
                return;
            n = tree_at(t, n->parent);
        }
        node_close(t, n);
        i = n->next;
        node_open(t, tree_at(t, i));
    }
}

static void reader_done(struct reader *r)
{
    tree_done(&r->tree);
}

enum err html_read(struct str text, struct build *b, struct fault *f)
{
    CLEANUP(reader_done)
    struct reader r = {
            .sink = {sink_start, sink_end, sink_text, sink_doctype, sink_is_foreign, NULL}};

    if (b->overflowed)
        return OK; /* there was not even room to begin */
    build_expect(b, text.len);
    tree_init(&r.tree, b, text);
    r.sink.is_over = &r.tree.is_over;
    enum err e = tokens_read(text, &r.sink, f);
    if (e)
        return e;
    if (b->too_deep || b->overflowed)
        return OK;      /* build_finish refuses, and knows why */
    if (r.tree.is_over) /* (1) */
        return fault_set(f, ERR_LIMIT, "the page's tags are too tangled to be read");
    tell(&r.tree);
    return OK;
}
