/* What the change types work with: questions and answers, the nodes both versions share, words,
 * blocks, elements, sequences.  Of sentinels, groups and plans it knows nothing; those are in
 * cdg_int.h.
 */
#pragma once
#include "cdg/cdg.h"

/* ---- kinds: kinds.c, and a file each ----------------------------------------------------- */

/* One difference. */
enum change_how {
    CHANGE_INSERTED,
    CHANGE_DELETED,
    CHANGE_UPDATED,
    CHANGE_MOVED,
    CHANGE_FOUND,
    CHANGE_HOW_COUNT
};

struct change {
    enum change_how how;
    struct str old, new_; /* deleted: old; inserted, moved, found: new_ */
    const char *path;     /* updated: where, in words of its own; NULL: there are none */

    /* Old, new: the node it stands at, + 1; 0: not known.  Where that is in each page is
     * written for what is listed (places.c). */
    uint32_t at[2];
    bool of_block;        /* not nodes but texts: the blocks that begin with them */
    bool by_path;         /* an update that says little without its path */
    struct str attribute; /* of this name, of the node; ptr NULL: the node itself */
    struct str place[2];  /* ptr NULL: not known; lives as long as the pair's cache */
};

struct answer {
    enum cdg_result result;
    const char *reason;     /* U: why; C: a remark for the summary, or NULL */
    struct change *changes; /* at most CHANGES_LISTED of each how */
    size_t nchanges, cap;
    size_t counts[CHANGE_HOW_COUNT]; /* all there were */
    bool coarse;                     /* correct, but perhaps not the smallest list */
    struct str state;                /* to be remembered for the next pair; ptr NULL: none */
    const char *notice;              /* for the owner, once; NULL: none */
};

enum { CHANGES_LISTED = 500, ITEM_BYTES = 4000 };

/* What a comparison may use.  Strings in the answer may point into the digests. */
struct question {
    const struct cdg_leaf *leaf;
    const void *prepared;
    const struct cdg_version *old, *new_;
    struct pair_cache *cache;
    struct arena *life;           /* as long as the question; the answer is copied out of it */
    uint64_t key;                 /* which question it is, for its state */
    struct str state;             /* what its sentinel remembers; ptr NULL: nothing */
    const struct leaf_hits *hits; /* keywords: what the index says; NULL: it was not asked */
};

/* What several questions about one pair share; made when first asked for. */
struct pair_cache {
    struct arena *life;
    struct vocabulary *words, *folded;           /* of all of both versions */
    struct vocabulary *changed, *changed_folded; /* of where they differ */
    struct vocabulary *rows;                     /* of there and around */
    unsigned rows_margin;
    struct spans *spans;
    struct blocks *blocks;
    struct joined *joined[2];
    struct element_pair *elements;
    struct aligned *aligned;
    struct matching *matching;
    struct places *places[2]; /* old, new */
};

struct str_list {
    struct str *all;
    size_t count;
};

struct cdg_kind {
    /* Refuses arguments it cannot work with.  NULL: none are looked at. */
    enum err (*check)(const struct cdg_leaf *leaf, struct fault *f);
    /* Makes what every comparison needs, once.  NULL: nothing. */
    void *(*prepare)(const struct cdg_leaf *leaf, struct arena *life);
    /* Answers.  `a` comes as N without changes. */
    void (*compare)(const struct question *q, struct answer *a);
    /* What CHANGED > n% counts in one version, in order.  NULL: it cannot be asked. */
    struct str_list (*parts)(const struct question *q, const struct cdg_version *v);
    /* Whether answering needs what the answer before told to remember.  NULL: never. */
    bool (*keeps)(const struct cdg_leaf *leaf);
    /* Can be asked of what is neither markup nor text, of which only the bytes are known. */
    bool of_data;
    /* Answers N unless the keyword index says otherwise; `prepared` is struct keywords. */
    bool is_keyed;
};

const struct cdg_kind *kind_of(int kind);
/* The selector of a leaf's region, NULL when it has none. */
enum err leaf_region(const struct cdg_leaf *leaf, struct arena *life, struct fault *f,
        struct page_selector **ret_selector);
enum err leaf_check(const struct cdg_leaf *leaf, struct fault *f);

/* ---- answers: answer.c ------------------------------------------------------------------- */

void answer_add(struct answer *a, struct arena *life, struct change c);
/* The difference of two sorted sets of a digest's strings. */
void answer_add_sets(struct answer *a, const struct question *q, uint32_t nold, uint32_t nnew,
        struct str (*get)(const struct page_digest *d, uint32_t i));
void answer_unknown(struct answer *a, const char *reason);
/* places.c: what was found in a region gets to stand in the page.  Then: writes down where what
 * is listed stands. */
void answer_leave_region(const struct question *inside, struct answer *a);
void answer_fill_places(const struct question *q, struct answer *a);
/* Copies what the answer points to, texts no longer than anybody is shown. */
void answer_keep(struct answer *a, struct arena *life);

/* ---- bytes ------------------------------------------------------------------------------- */

static inline uint64_t eight_bytes(const char *p)
{
    uint64_t n;
    memcpy(&n, p, sizeof n);
    return n;
}

static inline uint32_t four_bytes(const char *p)
{
    uint32_t n;
    memcpy(&n, p, sizeof n);
    return n;
}

/* str_equal for the small and many. */
static inline bool str_same(struct str a, struct str b)
{
    size_t i = 0;

    if (a.len != b.len)
        return false;
    if (a.len < 8) {
        if (a.len >= 4)
            return four_bytes(a.ptr) == four_bytes(b.ptr) &&
                   four_bytes(a.ptr + a.len - 4) == four_bytes(b.ptr + a.len - 4);
        for (; i < a.len && a.ptr[i] == b.ptr[i]; i++)
            ;
        return i == a.len;
    }
    if (a.len > 256)
        return memcmp(a.ptr, b.ptr, a.len) == 0;
    for (; i + 8 < a.len; i += 8)
        if (eight_bytes(a.ptr + i) != eight_bytes(b.ptr + i))
            return false;
    return eight_bytes(a.ptr + a.len - 8) == eight_bytes(b.ptr + a.len - 8);
}

/* How many of their first n bytes, and how many of their last bytes, are the same. */
static inline size_t same_front(const char *a, const char *b, size_t n)
{
    size_t i = 0;

    while (i + 128 <= n && memcmp(a + i, b + i, 128) == 0)
        i += 128;
    while (i + 8 <= n && eight_bytes(a + i) == eight_bytes(b + i))
        i += 8;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

static inline size_t same_back(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len, i = 0;
    const char *x = a.ptr + a.len, *y = b.ptr + b.len;

    while (i + 8 <= n && eight_bytes(x - i - 8) == eight_bytes(y - i - 8))
        i += 8;
    while (i < n && x[-1 - (ptrdiff_t)i] == y[-1 - (ptrdiff_t)i])
        i++;
    return i;
}

/* ---- spans: spans.c ---------------------------------------------------------------------- */

#define NO_NODE UINT32_MAX

/* A row of nodes that is the same in both versions, and the texts and elements in it. */
enum span_of { SPAN_NODES, SPAN_TEXTS, SPAN_ELEMENTS, SPAN_OF_COUNT };

struct span {
    uint32_t at[SPAN_OF_COUNT][2]; /* old, new: the first */
    uint32_t len[SPAN_OF_COUNT];
};

/* A node of either version, and the first text at or behind it. */
struct span_place {
    uint32_t node[2], text[2];
};

struct spans {
    const struct page_digest *d[2];
    struct span *all; /* ascending in both versions */
    size_t count;
    const uint32_t *tag;   /* by number of the old one's tags: the new one's, or NO_NODE */
    const uint32_t *name;  /* the same for names of attributes */
    bool same_numbers;     /* these say nothing */
    bool in_row;           /* the texts of both */
    uint32_t values_front; /* values of attributes below it are the same in both */
    struct arena *life;
};
const struct spans *spans_of(const struct question *q);
/* Whether two elements have the same name and attributes. */
bool span_element_equal(const struct spans *s, uint32_t old, uint32_t new_);
/* The span in which both stand, at the same place; NULL: there is none. */
const struct span *span_at(
        const struct span *all, size_t count, enum span_of of, size_t old, size_t new_);
/* How many right before these places are equal, one by one, as lcs_pair wants it. */
size_t span_run(const struct span *all, size_t count, enum span_of of, size_t old, size_t new_,
        bool (*equal)(const void *arg, size_t old, size_t new_), const void *arg);

/* same.c: by number of the old names, the number of the new name that is the same; NO_NODE:
 * there is none. */
uint32_t *numbers_map(const struct str *old, uint32_t nold, const struct str *new_,
        uint32_t nnew, struct arena *life);

/* ---- blocks: blocks.c -------------------------------------------------------------------- */

struct block {
    uint32_t from, end; /* its texts */
    size_t len;
    const char *text; /* NULL: nobody read it yet */
};

/* Blocks without a match, less what both sides begin and end with. */
struct gap {
    size_t from[2], end[2]; /* blocks, old and new; one of the two may be none */
    size_t head, tail;      /* bytes of the first and of the last block that are the same */
};

/* The blocks of both versions, and which of the old is which of the new. */
struct blocks {
    const struct page_digest *d[2];
    struct block *all[2];
    size_t count[2];
    uint32_t *prints[2]; /* their lengths */
    struct span *spans;  /* of blocks, which they call nodes */
    size_t nspans;
    uint32_t *match; /* by new block; LCS_NONE: none */
    bool exact;      /* it is the longest; else it may be any that is right */
    struct gap *gaps;
    size_t ngaps;
    struct arena *life;
};
const struct blocks *blocks_of(const struct question *q);
struct str block_write(const struct blocks *b, bool new_, size_t i);

static inline struct str block_text(const struct blocks *b, bool new_, size_t i)
{
    const struct block *k = &b->all[new_][i];
    return k->text ? (struct str){k->text, k->len} : block_write(b, new_, i);
}

/* All texts of a version one behind the other, a space where a block begins. */
struct joined {
    struct str text;
    size_t *at; /* by text of the digest: where it begins */
};
const struct joined *joined_of(const struct question *q, bool new_);

/* How many bytes of two texts are whole words and the same, at their begin and at their end. */
size_t text_cut_front(struct str a, struct str b);
size_t text_cut_back(struct str a, struct str b);

/* ---- words: vocabulary.c, changed.c, outside.c
 * ------------------------------------------------------ */

/* The words of both versions of a pair, each once, with how often they occur. */
struct vocabulary {
    struct vocabulary_word **all; /* in order of first appearance, the old version first */
    size_t count, cap;
    uint32_t *seq[2]; /* the words of the old and of the new version, as numbers */
    size_t nseq[2], seq_cap[2];
    uint32_t *slots; /* open addressing: number + 1 */
    size_t mask;
};

enum vocabulary_rest { REST_UNKNOWN, REST_SEEN, REST_COUNTED };

struct vocabulary_word {
    struct str text;
    uint64_t hash;
    uint32_t number;
    uint32_t counts[2]; /* old, new */
    uint32_t block[2];  /* where it was first counted; only if it was */

    /* of vocabulary_changed: how often in what both versions share */
    uint32_t rest;
    uint8_t rest_known; /* enum vocabulary_rest; REST_SEEN: only whether */
    bool wanted;
};

struct vocabulary_filling {
    struct vocabulary *v;
    bool folded;
    struct arena *life;
    struct buf fold;
    uint32_t block; /* whose words are added */
};
struct vocabulary_filling vocabulary_fill(struct arena *life, bool folded);
void vocabulary_add(struct vocabulary_filling *f, int side, struct str text);
void vocabulary_add_both(
        struct vocabulary_filling *f, struct str word);  /* one, on both sides */
void vocabulary_add_apart(struct vocabulary_filling *f); /* what is no row, on both sides */
struct vocabulary *vocabulary_filled(struct vocabulary_filling *f);
struct vocabulary_word *vocabulary_find(const struct vocabulary *v, struct str text);

/* As they are written, or without regard to case. */
const struct vocabulary *vocabulary_of(const struct question *q, bool folded);

/* Only the words of gaps: one that is not there occurs as often in both versions. */
struct vocabulary *vocabulary_changed(const struct question *q, bool folded);
/* Finds out for the words of it that are `wanted` whether or how often they occur outside
 * the gaps. */
void vocabulary_settle(const struct question *q, bool folded, bool counted);
/* Words of gaps and around them, folded, in a row: a row of at most margin + 1 words that is
 * not there occurs as often in both versions.  Counts are of these places only. */
enum { VOCABULARY_ROW = 9 }; /* words in a row that are worth it */
const struct vocabulary *vocabulary_rows(const struct question *q, unsigned margin);
/* The first text of the block in which the side has the word for the first time. */
uint32_t vocabulary_text(const struct question *q, const struct vocabulary_word *w, bool new_);
/* "word (1→3)" */
struct str with_counts(struct arena *life, struct str word, uint32_t old, uint32_t new_);
/* Every word of the page in order. */
struct str_list page_words(const struct page_digest *d, struct arena *life);

/* ---- phrases followed by their own words: track.c ---------------------------------------- */

enum { STATE_BYTES = 1 << 20 };

void track_compare(const struct question *q, struct answer *a);
struct str_list track_parts(const struct question *q, const struct cdg_version *v);

/* ---- keywords: keywords.c ---------------------------------------------------------------- */

struct keyword_term {
    struct str text; /* folded */
    bool open_front, open_back;
};

struct keyword {
    const char *written;
    struct keyword_term *terms;
    size_t count; /* 0: it has no letter or digit */
};

struct keywords { /* what a leaf of them has prepared */
    struct keyword *all;
    size_t count;
};

struct keyword keyword_read(const char *written, struct arena *life);
bool keyword_occurs(const struct keyword *k, struct str text);
bool keyword_term_matches(const struct keyword_term *t, struct str word);
void keyword_count(const struct keyword *k, const struct vocabulary *v, uint32_t counts[2]);
bool keywords_have_same_text(const struct question *q); /* no keyword can have changed */

/* ---- the keywords of a group: keyword_index.c, keyword_look.c
 * ---------------------------------------------
 */

struct keyword_index;

/* A keyword of a leaf whose presence, or count where that is asked for, differs. */
struct keyword_hit {
    uint32_t keyword, counts[2]; /* old, new */
};

struct leaf_hits {
    const struct cdg_node *leaf;
    struct keyword_hit *all; /* in the order of the leaf's keywords */
    size_t count, cap;
};

struct keyword_index *keyword_index_new(void);
struct keyword_index *keyword_index_copy(const struct keyword_index *ix);
void keyword_index_free(struct keyword_index *ix); /* NULL is fine */
/* As often as it was added, a leaf is to be removed; the last time it must still be there. */
void keyword_index_add(struct keyword_index *ix, const struct cdg_node *leaf);
void keyword_index_remove(struct keyword_index *ix, const struct cdg_node *leaf);
bool keyword_index_is_empty(const struct keyword_index *ix);
size_t keyword_index_bytes(const struct keyword_index *ix);

/* Which leaves a pair changes something for; only versions and cache of `pair` are used. */
struct keyword_hits;
const struct keyword_hits *keyword_index_look(
        const struct keyword_index *ix, const struct question *pair, struct arena *life);
/* NULL: nothing changed for it. */
struct leaf_hits *keyword_hits_of(const struct keyword_hits *h, const struct cdg_node *leaf);

/* ---- elements: elements.c ---------------------------------------------------------------- */

enum { ELEMENTS_PAGE = 64 };

/* The elements of a digest as items, each written out when it is asked for. */
struct elements {
    const struct page_digest *d;
    struct arena *life;
    /* "<a href=\"x\">", parts: name, then each attribute; a page for so many */
    struct diff_item ***pages; /* NULL: nobody asked for any of them, or for this one */
    uint32_t *node;            /* by item */
    size_t count;
};

const struct diff_item *element_item(const struct elements *e, size_t i);
bool element_has_text(const struct elements *e, size_t i); /* a text stands below it */

/* The elements of a pair. */
struct element_pair {
    struct elements old, new_;
    const struct spans *spans;
};
const struct element_pair *element_pair_of(const struct question *q);
/* As diff_input wants it: by name and attributes, or by name alone. */
bool element_pair_equal(const void *pair, size_t old, size_t new_);
bool element_pair_same_name(const void *pair, size_t old, size_t new_);
size_t element_pair_run(const void *pair, size_t old, size_t new_);
size_t element_pair_name_run(const void *pair, size_t old, size_t new_);
struct diff_item element_pair_item(const void *pair, bool new_, size_t i);
/* How many elements from these on are known to be the same, and to have as many children. */
size_t element_pair_known(const struct element_pair *pair, size_t old, size_t new_);
/* The number of the first text at or behind a node. */
uint32_t first_text(const struct page_digest *d, uint32_t node);
/* The texts from one node up to another, blocks with a space between them. */
struct str subtree_text(
        const struct page_digest *d, uint32_t node, uint32_t end, struct arena *life);
/* The attributes in which two elements of one name differ, by item, each as an update. */
void answer_add_attributes(struct answer *a, const struct question *q,
        const struct element_pair *pair, size_t old, size_t new_);
/* Where the trees first differ, as an update: a change has something to show. */
void answer_add_first_difference(struct answer *a, const struct question *q);

/* ---- sequences: lcs.c, diff.c ------------------------------------------------------------ */

/* Longest common subsequence of two sequences of symbols; of several, the one with the
 * smallest positions in `b`.  Writes for each of b's positions the position in `a` it is
 * matched with, or LCS_NONE.  False: too large, matched by landmarks, perhaps not longest. */
#define LCS_NONE UINT32_MAX
bool lcs_match(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *ret_match);
/* The same for sequences whose items can only be asked whether they are equal.  False: they
 * differ in too many places, nothing is written. */
struct lcs_spans {
    const struct span *all; /* ascending in both; NULL: nothing is known */
    size_t count;
    enum span_of of;
};
struct lcs_pair {
    size_t na, nb;
    bool (*equal)(const void *arg, size_t a, size_t b);
    const void *arg;
    size_t most; /* differences beyond this many do not matter; 0: all do */
    /* How many items right before these places are equal, one by one; NULL: `equal` says. */
    size_t (*run)(const void *arg, size_t a, size_t b);
    const uint32_t *prints[2];  /* by item of a and of b: equal ones have equal prints */
    const struct str *texts[2]; /* or equal texts; NULL: nothing can be said */
    struct lcs_spans spans;     /* rows known to be equal */
};
bool lcs_match_few(const struct lcs_pair *p, uint32_t *ret_match);
/* How many items are matched with those from `old` on, one by one. */
size_t match_row(const uint32_t *match, size_t count, uint32_t old);
bool lcs_length_few(const struct lcs_pair *p, size_t *ret_length);
/* Its length only; one row of memory. */
size_t lcs_length(const uint32_t *a, size_t na, const uint32_t *b, size_t nb);

struct diff_item {
    struct str text;
    struct str key;          /* what equal items have equal; NULL: the text */
    const struct str *parts; /* what the change ratio counts; NULL: the words of the text */
    size_t nparts;
};

enum diff_how { DIFF_INSERT, DIFF_DELETE, DIFF_UPDATE, DIFF_MOVE };

struct diff_edit {
    enum diff_how how;
    uint32_t old, new_; /* positions; the one that does not apply is LCS_NONE */
};

struct diff {
    struct diff_edit *edits; /* in the order of the new sequence, deletions where they were */
    size_t count;
    bool coarse;
    const uint32_t *match; /* as lcs_match gives it; pairs of a coarse one may be updates */
};

void diff_sequences(const struct diff_item *old, size_t nold, const struct diff_item *new_,
        size_t nnew, struct arena *life, struct diff *ret);

/* The same for items that are costly to write out: only those that differ are asked for. */
struct diff_input {
    size_t nold, nnew;
    bool (*equal)(const void *arg, size_t old, size_t new_);
    struct diff_item (*item)(const void *arg, bool new_, size_t i);
    const void *arg;
    const uint32_t *match; /* of equal items, as lcs_match gives it; NULL: not known */
    size_t (*run)(const void *arg, size_t old, size_t new_); /* as in lcs_pair; may be NULL */
    const uint32_t *prints[2];                               /* the same */
    const struct str *texts[2];
    struct lcs_spans spans;
    /* The node of an item, for what is told of it; NULL: it has none. */
    uint32_t (*node)(const void *arg, bool new_, size_t i);
    bool of_blocks; /* not nodes but the first texts of blocks */
};
void diff_compare(const struct diff_input *in, struct arena *life, struct diff *ret);
/* 1 - 2 LCS / (|a| + |b|), 0 for two empty lists; approximate above a size nobody reads. */
double list_ratio(struct str_list a, struct str_list b);
/* Adds a diff's edits to an answer. */
void answer_add_items(struct answer *a, struct arena *life, const struct diff *d,
        const struct diff_input *in);
void answer_add_diff(struct answer *a, struct arena *life, const struct diff *d,
        const struct diff_item *old, const struct diff_item *new_);
