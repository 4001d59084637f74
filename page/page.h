/* page -- one parse of what a server sent into the page digest; the only home of libxml2.
 *
 * A page digest is one flat, position-independent block: the tree in preorder (child
 * counts, tag numbers, attributes, texts, text-to-node map), the links and images, and a
 * hash for each array.  It is packed, about half the size of the page, and is stored beside
 * the body, so a comparison parses one page, the new one.  Opening it gives the arrays.
 * All comparing is done on digests.
 *
 * Pure: bytes in, digest out, no clock, no file, no network.  Any thread, several at once.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/hash.h"
#include "base/str.h"

/* What a page may cost; more is ERR_LIMIT, never a shortened digest. */
enum {
    PAGE_BODY_MAX = 64 << 20,    /* bytes of a body */
    PAGE_DEPTH_MAX = 10000,      /* elements inside each other */
    PAGE_NODES_MAX = 1000000,    /* elements and texts */
    PAGE_ATTRIBUTES_MAX = 1000,  /* attributes of one element */
    PAGE_DIGEST_MAX = 256 << 20, /* bytes of a digest; a good maximum for `out` */
};

struct page_source {
    const char *bytes;
    size_t len;
    const char *content_type; /* the header's value; NULL: unknown */
    const char *url;          /* base for links: final URL after redirects; NULL: none */
};

/* Called once before other threads use page; later calls do nothing. */
void page_start(void);

/* Parses into `out` (cleared first; its maximum bounds the digest).  A page that the
 * parser would have truncated is a fault, never a digest. */
MUST_USE enum err page_digest_make(
        const struct page_source *src, struct buf *out, struct fault *f);

/* The decoded text of a source (UTF-8, bad bytes replaced), as `regexp ... ON source` sees
 * it.  `ret_charset`, unless NULL, is the name of what it was decoded from. */
MUST_USE enum err page_decode(const struct page_source *src, struct buf *out, struct fault *f,
        const char **ret_charset);

/* Arrays of a digest that have a hash of their own. */
enum page_array {
    PAGE_CHILDREN,   /* structure */
    PAGE_TAGS,       /* tag names in preorder */
    PAGE_ATTRIBUTES, /* sorted attributes in preorder */
    PAGE_CONTENT,    /* normalised texts */
    PAGE_BLOCKS,     /* which texts stand in one block: with CONTENT, the text as it is read */
    PAGE_LINKS,
    PAGE_IMAGES,
    PAGE_ARRAY_COUNT
};

enum page_type { PAGE_HTML, PAGE_XML, PAGE_TEXT, PAGE_DATA, PAGE_TYPE_COUNT };

/* An opened digest; nothing in it points into the block. */
struct page_digest {
    enum page_type type;
    bool malformed_xml; /* served as XML, not well-formed, hence read as HTML */

    struct hash128 whole; /* of all that makes the canonical tree */
    struct hash128 hash[PAGE_ARRAY_COUNT];
    struct hash128 source; /* of the body's bytes as they were received */
    uint64_t source_bytes;

    uint32_t nodes;           /* elements and texts, in preorder */
    const uint32_t *children; /* [nodes] */
    const uint32_t *tags;     /* [nodes] numbers of the tag table; 0 is #text */
    const uint32_t *attr_at;  /* [nodes + 1] first attribute of the node */
    const uint32_t *end;      /* [nodes] behind the last node below it */
    const uint32_t *parent;   /* [nodes] UINT32_MAX: it has none */

    uint32_t tag_names, attributes, texts, links, images;
    const uint32_t *text_node; /* [texts] the node of each text, ascending */
    const uint8_t *text_block; /* [texts] 1: begins a block; 0: goes on in the one before */
    bool texts_in_row; /* texts lie one behind the other in memory, a zero byte behind each, and
                        * so do values */

    /* Equal numbers are equal strings. */
    uint32_t attr_names, attr_values;
    const uint32_t *attr_name;  /* [attributes] numbers of names */
    const uint32_t *attr_value; /* [attributes] numbers of values */

    /* [nodes] of a region: which nodes of the page they are.  NULL: it is a page. */
    const uint32_t *page_node;

    /* Use the functions below. */
    const struct str *tag_name_of, *attr_name_of, *attr_value_of, *text_of, *link_of, *image_of;
    struct str base;
};

/* Verifies every bound, so that what follows may trust it.  Allocates in `life`; the block
 * may go afterwards.  A block of another version is ERR_UNSUPPORTED. */
MUST_USE enum err page_digest_open(struct arena *life, const void *block, size_t len,
        struct fault *f, struct page_digest **ret_digest);

/* Whether a block is of the version this program writes.  One that is not is to be made
 * again from the body. */
bool page_digest_is_current(const void *block, size_t len);

/* All borrowed, NUL-terminated as well, UTF-8. */
struct str page_tag_name(const struct page_digest *d, uint32_t tag);
struct str page_attr_name(const struct page_digest *d, uint32_t attr);
struct str page_attr_value(const struct page_digest *d, uint32_t attr);
struct str page_text(const struct page_digest *d, uint32_t text);
struct str page_link(const struct page_digest *d, uint32_t link);   /* sorted, each once */
struct str page_image(const struct page_digest *d, uint32_t image); /* sorted, each once */

struct str page_base(
        const struct page_digest *d); /* what references are seen from; may be "" */

/* a, b, i, span and their like: what does not interrupt a block. */
bool page_tag_is_inline(struct str name);

/* The text of each block, in order: texts of inline elements joined as a browser shows it.
 * Allocated in `life`. */
struct page_block {
    struct str text;
    uint32_t node; /* the node of its first text */
};
size_t page_blocks(const struct page_digest *d, struct arena *life, struct page_block **ret);

/* The next word of a text (decision D1: no white space, no punctuation around it but
 * trailing % $ and the euro sign); false at the end.  `*at` starts at 0. */
bool page_word_next(struct str text, size_t *at, struct str *ret_word);

/* The word without regard to case (Unicode's full case folding), appended to `out`. */
bool page_word_fold(struct str word, struct buf *out);

/* Absolute form of `reference` as seen from `base`: dot segments gone, scheme and host in
 * lower case, no default port, "/" for an empty path, fragment kept.  False when it is no
 * usable URL.  Appended to `out`. */
bool page_url_resolve(struct str base, struct str reference, struct buf *out);

/* The frames of a frameset that show a page of the web, in document order; a page written
 * twice is listed twice.  0: the page is no frameset, or an empty one.  In `life`. */
struct page_frame {
    uint32_t node;   /* the frame element */
    const char *url; /* of its src, absolute */
};
size_t page_frames(const struct page_digest *d, struct arena *life, struct page_frame **ret);

/* ---- bundles: a frameset and the pages of its frames as one source ------------------------
 */

enum { PAGE_FRAMES_MAX = 32, PAGE_BUNDLE_TYPE_BYTES = 128 };

struct page_part {
    const char *url;          /* as it was asked for, without fragment; the first: anything */
    const char *final_url;    /* after redirects; NULL: the same */
    const char *content_type; /* NULL: unknown */
    const char *bytes;
    size_t len;
};

/* Appends the bundle, the frameset being the first part, and says of which type it is.
 * Equal parts give equal bytes.  False: it is larger than `out` may be. */
MUST_USE bool page_bundle_write(const struct page_part *parts, size_t n, struct buf *out,
        char type[PAGE_BUNDLE_TYPE_BYTES]);
bool page_is_bundle(const char *content_type);
/* Its parts, which lie in `bytes`; 0: it is none. */
size_t page_bundle_read(struct str bytes, struct arena *life, struct page_part **ret);

/* ---- regions ----------------------------------------------------------------------------- */

enum page_selector_language { PAGE_XPATH, PAGE_CSS };

/* Which elements are meant: XPath 1.0 without namespaces and variables, with the functions of
 * a closed list; or selectors of names, ids, classes, attributes and places.  Any thread. */
struct page_selector;

MUST_USE enum err page_selector_new(struct arena *life, enum page_selector_language language,
        const char *text, struct fault *f, struct page_selector **ret_selector);

/* The selected subtrees, in document order, as a digest of its own in `life`; one that lies
 * in another is not taken twice.  `*ret_region` is an empty digest and `*ret_found` false
 * when nothing is selected. */
MUST_USE enum err page_region(const struct page_digest *d, const struct page_selector *s,
        struct arena *life, struct fault *f, struct page_digest **ret_region, bool *ret_found);

/* ---- patterns: the only home of PCRE2 ---------------------------------------------------- */

/* Limits of one search; hitting one is ERR_LIMIT, not "no match". */
enum { PAGE_PATTERN_BYTES = 4096, PAGE_PATTERN_MSEC = 200, PAGE_MATCHES_MAX = 10000 };

/* A compiled regular expression (UTF, dot matches newline); any thread, several at once. */
struct page_pattern;

MUST_USE enum err page_pattern_new(struct arena *life, const char *pattern, struct fault *f,
        struct page_pattern **ret_pattern);

/* False: nothing is known.  True: no match leaves its line, and what is found in a line depends
 * on that line alone.  A search at one place in a line of n bytes takes no more than
 * variants * (fixed + n) steps, and a match has at least `shortest` bytes. */
struct page_pattern_lines {
    size_t variants, fixed, shortest;
};
bool page_pattern_is_of_lines(const struct page_pattern *p, struct page_pattern_lines *ret);

/* All matches, in order and without overlap: group 1 where the pattern has groups, else the
 * whole match.  `text` is UTF-8; the strings point into it, the array lives in `life`. */
MUST_USE enum err page_pattern_find(const struct page_pattern *p, struct str text,
        struct arena *life, struct fault *f, struct str **ret_matches, size_t *ret_count);
