/* page_int -- what the files of this folder share.
 *
 * A reader (html.c, xml.c, plain.c) turns a decoded source into the three events of
 * build.h's kind -- open, text, close -- and the builder makes the digest of them.  A reader
 * knows no digest and the builder knows no syntax, so either can be replaced alone.
 */
#pragma once
#include "page/page.h"

/* ---- decoding: decode.c, charset.c, meta.c -------------------------------------------- */

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

/* What the document says about itself: XML declaration or HTML meta element. */
bool charset_declared_xml(struct str bytes, struct charset *ret);
bool charset_declared_html(struct str bytes, struct charset *ret);

/* The charset parameter of a Content-Type value; empty when there is none. */
struct str content_type_charset(const char *content_type);
bool content_type_is_json(const char *content_type);
enum page_type content_type_page(const char *content_type, struct str bytes);

/* ---- character references: entities.c ------------------------------------------------- */

/* Reads the reference whose '&' is at s[0]; returns the bytes it takes up, 0 when it is
 * just an ampersand.  Writes at most 8 bytes of UTF-8 to `out`. */
size_t reference_read(struct str s, bool in_attribute, char out[8], size_t *ret_len);

/* ---- Unicode and white space: text.c -------------------------------------------------- */

/* White space to single spaces (U+00A0 is white space), composed by NFC.  Keeps one space
 * at either end where there was some.  Appended to `out`. */
bool text_normalise(struct str s, struct buf *out);

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
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

/* ---- strings stored once: intern.c ------------------------------------------------------ */

struct span {
    uint32_t at, len;
};

struct intern {
    struct buf slots; /* open addressing */
    struct buf spans; /* struct span, in order of first appearance */
    struct buf pool;  /* NUL-terminated strings */
    uint32_t count, mask;
};

void intern_init(struct intern *in, size_t max);
void intern_done(struct intern *in);
/* The number of the string, counted from 0 in order of first appearance. */
uint32_t intern_get(struct intern *in, struct str s);
bool intern_is_full(const struct intern *in);

/* ---- the builder: build.c, finish.c ----------------------------------------------------- */

struct pair {
    struct str name, value;
};

struct build {
    /* constant */
    size_t max;
    bool xml; /* names keep their case, and script may be a word like any other */

    /* the digest's arrays */
    struct buf children, tags, attr_at; /* uint32_t a node */
    struct intern tag_names, attr_strings;
    struct buf attrs; /* two uint32_t each: name, value */
    struct buf text_node, text_spans, text_block, text_pool; /* a text */
    struct buf links, images, addresses; /* spans into addresses, as written in the page */
    struct buf base;                     /* the first <base href> */
    bool has_base;
    uint32_t removed; /* text nodes that became empty after they were written */

    /* where we are */
    bool drop_scripts;
    bool too_deep, too_many, overflowed;
    struct buf open;     /* struct open_element, outermost first */
    unsigned skip_depth; /* > 0: inside an element that is dropped */
    struct buf raw;      /* text not yet made a node */
    struct buf scratch;
    uint64_t shown_bytes; /* of text received, white space not counted */

    /* the block being read */
    bool block_has_text;
    bool ends_in_space;   /* its last text does, which may have to go */
    uint32_t last_parent; /* of its last text; NO_NODE: none */
};

#define NO_NODE UINT32_MAX

void build_init(struct build *b, size_t max, bool xml);
void build_done(struct build *b);
/* Borrows and reorders the attributes.  Of two with one name the first counts. */
void build_open(struct build *b, struct str name, struct pair *attrs, size_t nattrs);
void build_text(struct build *b, struct str text);
void build_close(struct build *b);
void build_end(struct build *b);   /* closes what is open */
void build_break(struct build *b); /* what follows is another block */
size_t build_depth(const struct build *b);

/* Writes the block. */
MUST_USE enum err build_finish(struct build *b, enum page_type type, bool malformed_xml,
        const struct page_source *src, struct buf *out, struct fault *f);

/* ---- the block: digest.c ----------------------------------------------------------------- */

enum { DIGEST_VERSION = 2 };

struct digest_header {
    char magic[8]; /* DIGEST_MAGIC */
    uint32_t version;
    uint16_t type;
    uint16_t malformed_xml;
    uint64_t total; /* bytes of the block, this header included */
    uint64_t source_bytes;
    struct hash128 source, whole, hash[PAGE_ARRAY_COUNT];
    uint32_t nodes, tag_names, attributes, texts, links, images;
    uint64_t string_bytes;
    /* then, each array right behind the other:
     * uint32_t children[nodes], tags[nodes], attr_at[nodes + 1], text_node[texts];
     * struct page_span tag_names, attributes (name, value), texts, links, images, base;
     * uint8_t text_block[texts]; char strings[string_bytes]; zeroes to a multiple of 8 */
};

#define DIGEST_MAGIC "VIGILPD"

struct page_span {
    uint32_t at, len; /* in strings; a zero byte follows */
};

/* Bytes of the whole block by the header's counts; UINT64_MAX when they cannot be true. */
uint64_t digest_total(const struct digest_header *h);

/* ---- HTML tokens: tokens.c -----------------------------------------------------------------
 */

/* Reads HTML by the standard's tokenizer and says what is in it.  Comments, doctypes and
 * processing instructions are gone, references are resolved, names are in lower case;
 * script, style, noscript and template are left out with all they contain. */
struct token_sink {
    void (*start)(struct token_sink *sink, struct str name, struct pair *attrs, size_t nattrs,
            bool self_closing);
    void (*end)(struct token_sink *sink, struct str name);
    void (*text)(struct token_sink *sink, struct str text);
    /* asked after each tag: true ends the reading */
    bool (*is_over)(struct token_sink *sink);
};

MUST_USE enum err tokens_read(struct str text, struct token_sink *sink, struct fault *f);

/* ---- readers --------------------------------------------------------------------------- */

/* `text` is UTF-8 without bad bytes.  Faults: ERR_LIMIT, or ERR_SYNTAX for an XML page that
 * is not well-formed (the builder is then spoilt). */
MUST_USE enum err html_read(struct str text, struct build *b, struct fault *f);
MUST_USE enum err xml_read(struct str text, struct build *b, struct fault *f);
MUST_USE enum err plain_read(struct str text, struct build *b, struct fault *f);
MUST_USE enum err json_read(struct str text, struct build *b, struct fault *f);
MUST_USE enum err data_read(const struct page_source *src, struct build *b, struct fault *f);

/* decode.c: what the bytes 0x80 to 0x9F mean in windows-1252, and so the numbers 128 to 159 in
 * character references on the web. */
extern const uint16_t page_high_1252[32];
