/* tree -- the tree of an HTML page while it is made, as the HTML standard makes it.
 *
 * tree.c has the standard's tools: the stack of open elements, scopes, foster parents;
 * formatting.c the list of active formatting elements and the adoption agency.  modes.c has
 * its insertion modes, body.c, tables.c, frameset.c and foreign.c what happens inside the body,
 * tables, framesets and SVG, and html.c reads a page through all of it into the builder.
 *
 * Where the standard invents an html, head, body, tbody or colgroup element that the page
 * did not write, the node is there for the rules but `written` is false, and it is left out
 * of what the builder is told: what a page leaves out may be left out in the next version.
 */
#pragma once
#include "page/page_int.h"

enum tag_flags {
    T_VOID = 1,
    T_SPECIAL = 2,
    T_FORMAT = 4,
    T_BLOCK = 8,
    T_CLOSED = 16,
    T_INLINE = 32,
    T_HEAD = 64,
    T_IMPLIED = 128,
    T_SCOPE = 256,
    T_TABLE = 512,
    T_OUTSIDE = 1024,
    T_SHOWN = 2048,
};

enum tag_id {
    TAG_OTHER, /* a name the standard does not know, and texts */
#define TAG(ident, name, flags, content) TAG_##ident,
#include "page/tags.def"
#undef TAG
    TAG_COUNT
};

struct tag_info {
    const char *name;
    uint16_t flags;
    uint8_t content; /* enum token_content */
};

extern const struct tag_info tag_infos[TAG_COUNT];
enum tag_id tag_find(struct str name);

enum tree_space { SPACE_HTML, SPACE_SVG, SPACE_MATH };

struct tree_node {
    uint32_t parent, first, last, next, previous; /* NO_NODE: none */
    uint32_t name;                                /* of the builder's tag names; 0: a text */
    uint32_t from, count; /* element: its attributes; text: bytes of source or `texts` */
    uint8_t tag;          /* enum tag_id */
    uint8_t space;        /* enum tree_space */
    bool written;         /* false: the page left it out */
    bool in_stack, in_active;
    bool in_texts;   /* text: of `texts`, not of the source */
    bool holds_html; /* MathML's annotation-xml that says so */
};

enum tree_mode {
    MODE_BEFORE_HEAD,
    MODE_HEAD,
    MODE_AFTER_HEAD,
    MODE_BODY,
    MODE_TEXT, /* in an element whose content is no markup */
    MODE_TABLE,
    MODE_CAPTION,
    MODE_COLGROUP,
    MODE_TBODY,
    MODE_ROW,
    MODE_CELL,
    MODE_FRAMESET,
    MODE_AFTER_FRAMESET,
    MODE_COUNT
};

struct tree {
    struct build *b;
    struct str source;
    struct buf nodes;  /* struct tree_node; 0 is html */
    struct buf texts;  /* texts that are not as they stand in the source */
    struct buf stack;  /* uint32_t nodes, outermost first */
    struct buf active; /* uint32_t formatting elements; NO_NODE: a marker */
    struct buf tag_of; /* uint8_t by number of the builder's tag names */
    uint32_t html, head, body, form;
    enum tree_mode mode, back; /* back: where MODE_TEXT returns to */
    bool foster;               /* what does not belong into a table goes before it */
    bool quirks;               /* the doctype is missing or one of the last century */
    bool frameset_ok;          /* nothing is shown yet that a frameset could not replace */
    bool is_over;              /* a limit was hit */
    uint64_t work;             /* steps of searches, which have a limit */
    uint32_t open[TAG_COUNT];  /* how many of them are in the stack */
};

/* A start or end tag on its way into the tree. */
struct tree_tag {
    uint32_t name; /* of the builder's tag names */
    enum tag_id tag;
    struct str text; /* the name itself */
    struct pair *attrs;
    size_t nattrs;
    bool self_closing;
    bool inserted; /* out: it became an element */
};

void tree_init(struct tree *t, struct build *b, struct str source);
void tree_done(struct tree *t);

static inline struct tree_node *tree_at(const struct tree *t, uint32_t node)
{
    return (struct tree_node *)(void *)t->nodes.data + node;
}

static inline size_t tree_depth(const struct tree *t)
{
    return t->stack.len / sizeof(uint32_t);
}

static inline uint32_t tree_open_at(const struct tree *t, size_t i)
{
    return ((const uint32_t *)(const void *)t->stack.data)[i];
}

static inline uint32_t tree_current(const struct tree *t)
{
    return tree_open_at(t, tree_depth(t) - 1);
}

static inline bool node_is(const struct tree_node *n, enum tag_id tag)
{
    return n->tag == tag && n->space == SPACE_HTML;
}

static inline bool tree_current_is(const struct tree *t, enum tag_id tag)
{
    return node_is(tree_at(t, tree_current(t)), tag);
}

static inline uint16_t flags_of(const struct tree_node *n)
{
    return n->space == SPACE_HTML ? tag_infos[n->tag].flags : 0;
}

/* ---- lists of numbers: the stack of open elements, the active formatting elements -------- */

static inline uint32_t *tree_numbers(const struct buf *b)
{
    return (uint32_t *)(void *)b->data;
}

static inline bool number_push(struct buf *b, uint32_t n)
{
    return buf_push(b, &n, sizeof n);
}

static inline void number_remove(struct buf *b, size_t i)
{
    memmove(tree_numbers(b) + i, tree_numbers(b) + i + 1, b->len - (i + 1) * sizeof(uint32_t));
    b->len -= sizeof(uint32_t);
}

static inline bool number_put(struct buf *b, size_t i, uint32_t n)
{
    if (!number_push(b, n))
        return false;
    memmove(tree_numbers(b) + i + 1, tree_numbers(b) + i, b->len - (i + 1) * sizeof(uint32_t));
    tree_numbers(b)[i] = n;
    return true;
}

/* ---- tree.c: what the standard's sentences are made of ----------------------------------- */

/* Counts steps of a search; false once there were too many. */
bool tree_steps(struct tree *t, uint64_t n);

uint32_t tree_insert(struct tree *t, struct tree_tag *tag, enum tree_space space);
void tree_insert_void(struct tree *t, struct tree_tag *tag);
/* An element the page did not write; `written` says whether it is one for the digest. */
void tree_insert_implied(struct tree *t, enum tag_id tag, bool written);
void tree_insert_text(struct tree *t, struct str text);
/* Adds the attributes that the element does not have yet. */
void tree_merge_attributes(struct tree *t, uint32_t node, struct tree_tag *tag);

/* A node that is nowhere yet; 0 and `is_over` when there are too many. */
uint32_t tree_node_new(struct tree *t, struct tree_node n);
void tree_detach(struct tree *t, uint32_t node); /* from its parent */
/* Under `parent`, in front of `before`; NO_NODE: as its last. */
void tree_attach(struct tree *t, uint32_t node, uint32_t parent, uint32_t before);
/* "The appropriate place for inserting a node". */
void tree_put(struct tree *t, uint32_t node, uint32_t target);

void tree_push(struct tree *t, uint32_t node);
void tree_pop(struct tree *t);
void tree_pop_until(struct tree *t, enum tag_id tag); /* and that one too */
void tree_pop_until_node(struct tree *t, uint32_t node);
void tree_remove_open(struct tree *t, uint32_t node);

enum tree_scope { SCOPE_PLAIN, SCOPE_LIST, SCOPE_BUTTON, SCOPE_TABLE };
bool tree_has_in_scope(struct tree *t, enum tag_id tag, enum tree_scope scope);
bool tree_has_node_in_scope(struct tree *t, uint32_t node);
bool tree_has_heading_in_scope(struct tree *t);

/* "Special", which an end tag of another name does not reach beyond. */
bool node_is_special(const struct tree_node *n);

void tree_imply_ends(struct tree *t, enum tag_id except); /* TAG_OTHER: no exception */
void tree_close_p(struct tree *t);                        /* if there is one to close */

/* ---- formatting.c ------------------------------------------------------------------------ */

void tree_active_push(struct tree *t, uint32_t node);
void tree_active_mark(struct tree *t);
void tree_active_clear(struct tree *t); /* up to the last marker */
/* The last active element of the kind since the last marker; NO_NODE: none. */
uint32_t tree_active_find(struct tree *t, enum tag_id tag);
void tree_active_remove(struct tree *t, uint32_t node);
void tree_reopen(struct tree *t); /* "reconstruct the active formatting elements" */
/* The adoption agency; false: the end tag is one like any other. */
bool tree_adopt(struct tree *t, enum tag_id tag);

/* ---- modes.c, body.c, tables.c, frameset.c, foreign.c ------------------------------------ */

void mode_start(struct tree *t, struct tree_tag *tag);
void mode_end(struct tree *t, struct tree_tag *tag);
void mode_text(struct tree *t, struct str text, bool blank);
void body_start(struct tree *t, struct tree_tag *tag);
void body_end(struct tree *t, struct tree_tag *tag);
void body_text(struct tree *t, struct str text, bool blank);
/* `mode` is one of tables. */
void tables_start(struct tree *t, enum tree_mode mode, struct tree_tag *tag);
void tables_end(struct tree *t, enum tree_mode mode, struct tree_tag *tag);
void tables_text(struct tree *t, struct str text, bool blank);
/* A frameset in place of the body, where the standard allows it. */
void frameset_begin(struct tree *t, struct tree_tag *tag);
void frameset_start(struct tree *t, struct tree_tag *tag);
void frameset_end(struct tree *t, struct tree_tag *tag);
/* Whether the rules of SVG and MathML hold for a start tag that comes now. */
bool foreign_takes(const struct tree *t, const struct tree_tag *tag);
/* False: it is none of SVG's or MathML's, or ends them, and HTML's rules hold for it. */
bool foreign_start(struct tree *t, struct tree_tag *tag);
bool foreign_end(struct tree *t, struct tree_tag *tag);
bool foreign_text(struct tree *t, struct str text, bool blank);
bool tag_is_hidden_input(const struct tree_tag *tag);
/* Whether the innermost element is one of SVG or MathML and says what its content means. */
bool tree_is_foreign(const struct tree *t);
