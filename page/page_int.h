/* page_int -- what the files of this folder share.
 *
 * A reader (html.c, xml.c, plain.c) turns a decoded source into the three events of
 * build.h's kind -- open, text, close -- and the builder makes the digest of them.  A reader
 * knows no digest and the builder knows no syntax, so either can be replaced alone.
 */
#pragma once
#include "page/page.h"

/* ---- decoding: decode.c, charset.c, meta.c ----------------------------------------------- */

enum charset_how {
    CHARSET_UTF8,
    CHARSET_1252,
    CHARSET_UTF16LE,
    CHARSET_UTF16BE,
    CHARSET_ICONV
};

struct charset {
    enum charset_how how;
    const char *name; /* for people, and for iconv */
};

/* By label, as the encoding standard of the web understands labels; false: unknown. */
bool charset_find(struct str label, struct charset *ret);

/* The source as UTF-8: where it lies when it is that already, else in `out`. */
MUST_USE enum err decode_text(
        const struct page_source *src, struct buf *out, struct fault *f, struct str *ret_text);

/* What the document says about itself: XML declaration or HTML meta element. */
bool charset_declared_xml(struct str bytes, struct charset *ret);
bool charset_declared_html(struct str bytes, struct charset *ret);

/* The charset parameter of a Content-Type value; empty when there is none. */
struct str content_type_charset(const char *content_type);
bool content_type_is_json(const char *content_type);
enum page_type content_type_page(const char *content_type, struct str bytes);

/* ---- character references: entities.c ---------------------------------------------------- */

/* Reads the reference whose '&' is at s[0]; returns the bytes it takes up, 0 when it is
 * just an ampersand.  Writes at most 8 bytes of UTF-8 to `out`. */
size_t reference_read(struct str s, bool in_attribute, char out[8], size_t *ret_len);

/* ---- Unicode and white space: text.c ----------------------------------------------------- */

/* White space to single spaces (U+00A0 is white space), controls dropped, composed by NFC.
 * Keeps one space at either end where there was some.  Appended to `out`. */
bool text_normalise(struct str s, struct buf *out);

/* The same in pieces: writes at most s.len bytes to `to`, returns their end; there must be
 * room for TEXT_SQUEEZE_ROOM more.  Bytes up to `limit`, at or behind the end of `s`, may be
 * looked at.  `*at_space` says whether a space was just written (or need not be), `*unicode`
 * turns true where composing may be needed. */
enum { TEXT_SQUEEZE_ROOM = 16 };
char *text_squeeze(struct str s, const char *limit, char *to, bool *at_space, bool *unicode);
/* Composes out->data[from..] in place. */
bool text_compose(struct buf *out, size_t from);

/* buf_append for the small and many. */
static inline bool buf_push(struct buf *b, const void *bytes, size_t n)
{
    if (b->len + n >= b->cap)
        return buf_append(b, bytes, n);
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = 0;
    return true;
}

static inline bool buf_push_char(struct buf *b, char c)
{
    return buf_push(b, &c, 1);
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static inline bool is_blank(struct str s)
{
    size_t i = 0;

    while (i < s.len && is_space(s.ptr[i]))
        i++;
    return i == s.len;
}

static inline char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool name_is_one_of(struct str name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name.len && name.ptr[0] == names[i][0] &&
                strncmp(names[i], name.ptr, name.len) == 0 && names[i][name.len] == 0)
            return true;
    return false;
}

/* ---- strings stored once: intern.c ------------------------------------------------------- */

struct span {
    uint32_t at, len;
};

/* A short string that was looked up lately. */
struct intern_memo {
    uint64_t key;
    uint32_t len; /* 0: none */
    uint32_t number;
};

struct intern {
    struct buf slots; /* open addressing */
    struct buf spans; /* struct span, in order of first appearance */
    struct buf pool;  /* NUL-terminated strings */
    uint32_t count, mask;
    uint64_t keys[2]; /* of the hash */
    bool is_full;
    struct intern_memo lately[64];
};

void intern_init(struct intern *in, size_t max);
void intern_done(struct intern *in);
/* The number of the string, counted from 0 in order of first appearance. */
uint32_t intern_get(struct intern *in, struct str s);
/* The same of one that is not remembered, and now is. */
uint32_t intern_get_again(struct intern *in, struct str s, struct intern_memo *m, uint64_t key);

static inline uint64_t word8(const char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

static inline uint64_t word4(const char *p)
{
    uint32_t w;
    memcpy(&w, p, 4);
    return w;
}

/* The same as intern_get, quicker for a few short ones that come again and again, as names do.
 * All of at most 8 bytes is a number: of equal length, they are equal when these are. */
static inline uint32_t intern_get_name(struct intern *in, struct str s)
{
    const char *p = s.ptr;
    size_t len = s.len;
    uint64_t key;

    if (len - 1 < 3) /* 1 to 3 */
        key = (uint64_t)(unsigned char)p[0] | (uint64_t)(unsigned char)p[len / 2] << 8 |
              (uint64_t)(unsigned char)p[len - 1] << 16;
    else if (len - 4 < 4) /* 4 to 7 */
        key = word4(p) | word4(p + len - 4) << 32;
    else if (len == 8)
        key = word8(p);
    else
        return intern_get(in, s);
    struct intern_memo *m = &in->lately[key * UINT64_C(0x9E3779B97F4A7C15) >> 58];
    if (m->key == key && m->len == len)
        return m->number;
    return intern_get_again(in, s, m, key);
}
static inline bool intern_is_full(const struct intern *in)
{
    return in->is_full;
}
/* Borrowed until the next one is added. */
static inline struct str intern_text(const struct intern *in, uint32_t number)
{
    struct span s = ((const struct span *)(const void *)in->spans.data)[number];
    return (struct str){in->pool.data + s.at, s.len};
}

/* ---- the builder: build.c, finish.c ------------------------------------------------------ */

struct pair {
    struct str name, value;
    uint32_t place; /* for sorting */
    bool tidy;      /* the value is known to be as text_normalise would leave it */
};

/* Numbers of attr_strings; `raw` is the value as it was written, for addresses. */
struct build_attr {
    uint32_t name, value, raw;
};

struct build_node {
    uint32_t children;
    uint32_t tag; /* of tag_names; 0: a text; NO_NODE: a text that became empty */
    uint32_t attrs, nattrs;
};

struct build {
    /* constant */
    size_t max;
    bool xml;              /* names keep their case, and script may be a word like any other */
    bool no_inline;        /* names are nobody's tags: every element is a block of its own */
    struct bundle *bundle; /* whose frames are to be filled; NULL: none (bundle.h) */

    /* what becomes the digest's arrays; numbers are given anew in finish.c */
    struct buf nodes; /* struct build_node */
    struct intern tag_names, attr_strings;
    struct buf attrs;                             /* struct build_attr, of nodes or not yet */
    struct buf text_spans, text_block, text_pool; /* a text */
    struct buf links, images; /* uint32_t of attr_strings, as written in the page */
    struct buf base;          /* the first <base href> */
    bool has_base;
    uint32_t removed; /* text nodes that became empty after they were written */

    /* where we are */
    bool drop_scripts;
    bool too_deep, too_many, overflowed;
    struct buf open;     /* struct open_element, outermost first */
    unsigned skip_depth; /* > 0: inside an element that is dropped */
    struct buf scratch;

    /* the text being read: what the pool has behind its last zero */
    size_t text_from;
    bool at_space; /* a space now would not be shown */
    bool unicode;  /* it may have to be composed */

    /* the block being read */
    bool block_has_text;
    uint32_t last_parent; /* of its last text; NO_NODE: none */
};

#define NO_NODE UINT32_MAX

void build_init(struct build *b, size_t max, bool xml);
void build_done(struct build *b);
/* Room for what a source of this size mostly becomes, so that less is moved later. */
void build_expect(struct build *b, size_t source_bytes);
/* Borrows and reorders the attributes.  Of two with one name the first counts. */
void build_open(struct build *b, struct str name, struct pair *attrs, size_t nattrs);
void build_text(struct build *b, struct str text);
/* The same of a text with more bytes behind it, up to `limit`, that may be looked at. */
void build_text_within(struct build *b, struct str text, const char *limit);
void build_close(struct build *b);
void build_end(struct build *b);   /* closes what is open */
void build_break(struct build *b); /* what follows is another block */
size_t build_depth(const struct build *b);

/* The same for a reader that has given the strings their numbers already. */
void build_open_numbers(
        struct build *b, uint32_t tag, bool is_inline, uint32_t attrs, uint32_t nattrs);
/* Sorts the attributes, drops twins, and appends them to b->attrs; returns how many. */
size_t build_attributes(struct build *b, struct pair *attrs, size_t n);
/* Appends the union of two runs of b->attrs, sorted; of twins the first. */
size_t build_attributes_join(
        struct build *b, uint32_t first, uint32_t nfirst, uint32_t second, uint32_t nsecond);

/* ---- url.c ------------------------------------------------------------------------------- */

/* What references are seen from, for many of them: most are put behind one of three stems as
 * they are.  A stem is NULL when there is none. */
struct url_base {
    struct str base;                 /* borrowed */
    struct str origin, folder, page; /* for "/x", "x" and "#x" */
    bool is_link;                    /* addresses.c: what begins with a stem counts as one */
    struct buf text;
};

void url_base_init(struct url_base *u, struct str base, size_t max);
void url_base_done(struct url_base *u);
/* What page_url_resolve gives; `*ret_from_base`: it begins with a stem. */
bool url_base_resolve(
        const struct url_base *u, struct str reference, struct buf *out, bool *ret_from_base);

/* ---- addresses.c ------------------------------------------------------------------------- */

struct address {
    uint64_t key; /* for sorting */
    uint32_t at, len;
    uint32_t written; /* number of b->attr_strings */
};

/* A long base makes each short reference long, so their sum has a limit as well. */
struct addresses {
    struct buf text; /* one behind the other, NUL-terminated */
    struct buf all;  /* struct address */
    size_t count;
};

static inline const struct address *address_at(const struct addresses *a, size_t i)
{
    return (const struct address *)(const void *)a->all.data + i;
}

static inline struct str address_text(const struct addresses *a, size_t i)
{
    return (struct str){a->text.data + address_at(a, i)->at, address_at(a, i)->len};
}

/* What these numbers of b->attr_strings refer to, seen from `base`; false: too much. */
bool addresses_resolve(struct build *b, const struct buf *numbers, struct url_base *base,
        struct addresses *ret);
struct hash128 addresses_hash(const struct addresses *a);
void addresses_done(struct addresses *a);

/* Writes the block. */
MUST_USE enum err build_finish(struct build *b, enum page_type type, bool malformed_xml,
        const struct page_source *src, struct buf *out, struct fault *f);

/* ---- HTML tokens: tokens.c --------------------------------------------------------------- */

/* How the content of an element is read. */
enum token_content {
    CONTENT_MARKUP,
    CONTENT_RAW,        /* text as it stands */
    CONTENT_REFERENCES, /* text with character references */
    CONTENT_SKIPPED,
    CONTENT_REST /* the rest of the page is text */
};

/* Reads HTML by the standard's tokenizer and says what is in it.  Comments, doctypes and
 * processing instructions are gone, references are resolved, names are in lower case;
 * script, style, noscript and template are left out with all they contain, but for those
 * inside SVG and MathML. */
struct token_sink {
    /* Returns how the content is to be read. */
    enum token_content (*start)(struct token_sink *sink, struct str name, struct pair *attrs,
            size_t nattrs, bool self_closing);
    void (*end)(struct token_sink *sink, struct str name);
    /* `text` lies in the page where it stands there as it is. */
    void (*text)(struct token_sink *sink, struct str text, bool blank);
    /* The doctype, if the page begins with one; `is_quirky` as doctype_is_quirky says. */
    void (*doctype)(struct token_sink *sink, bool is_quirky);
    bool (*is_foreign)(struct token_sink *sink); /* inside SVG or MathML */
    const bool *is_over; /* looked at after each tag: true ends the reading */
};

/* doctype.c: whether this, from behind "<!DOCTYPE" to its '>', asks for quirks mode. */
bool doctype_is_quirky(struct str declaration);

MUST_USE enum err tokens_read(struct str text, struct token_sink *sink, struct fault *f);

/* ---- readers ----------------------------------------------------------------------------- */

/* `text` is UTF-8 without bad bytes.  Faults: ERR_LIMIT, or ERR_SYNTAX for an XML page that
 * is not well-formed (the builder is then spoilt). */
MUST_USE enum err html_read(struct str text, struct build *b, struct fault *f);
MUST_USE enum err xml_read(struct str text, struct build *b, struct fault *f);
/* The text with the entities it defines put in, in `out`; as it was when it has none. */
MUST_USE struct str xml_names_put_in(struct str text, struct buf *out);
MUST_USE enum err plain_read(struct str text, struct build *b, struct fault *f);
/* False: it is no JSON, and the builder is spoilt. */
MUST_USE bool json_read(struct str text, struct build *b);
MUST_USE enum err data_read(const struct page_source *src, struct build *b, struct fault *f);

/* decode.c: what the bytes 0x80 to 0x9F mean in windows-1252, and so the numbers 128 to 159 in
 * character references on the web. */
extern const uint16_t page_high_1252[32];

/* pattern_line.c: all but `shortest`. */
bool pattern_is_of_lines(const char *pattern, struct page_pattern_lines *ret);
