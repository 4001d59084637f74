/* naive_int -- what the files of the naive answers share. */
#pragma once
#include "base/buf.h"
#include "tests/cdg/naive.h"
#include <stdio.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct strings {
    char **all;
    size_t count;
};

enum { INSERTED, DELETED, UPDATED, MOVED, FOUND, HOW_COUNT };

struct out {
    struct arena *life;
    struct strings lists[HOW_COUNT];
    bool changed, unknown;
};

struct edit {
    int how;
    uint32_t old, new_;
};

struct edits {
    struct edit *all;
    size_t count;
};

/* naive.c */
void naive_push(struct arena *life, struct strings *s, const char *text);
struct strings naive_words_in(struct arena *life, const char *text);
char *naive_folded(struct arena *life, const char *word);
struct strings naive_blocks_of(struct arena *life, const struct page_digest *d);
struct strings naive_words_of(struct arena *life, const struct page_digest *d);
bool naive_same_strings(struct strings a, struct strings b);
void naive_tell(struct out *o, int how, const char *text);
void naive_tell_update(struct out *o, const char *old, const char *new_);
struct edits naive_difference(struct arena *life, struct strings old, struct strings new_,
        const struct strings *old_parts, const struct strings *new_parts);
const struct strings *naive_parts_of(struct arena *life, struct strings s);
void naive_tell_edits(struct out *o, struct edits e, struct strings old, struct strings new_);
void naive_tell_difference(struct out *o, struct strings old, struct strings new_);

/* naive_trees.c */
const char *naive_tag_of(const struct page_digest *d, uint32_t node);
char *naive_text_below(struct arena *life, const struct page_digest *d, uint32_t node);
void naive_any_change(
        struct out *o, const struct page_digest *old, const struct page_digest *new_);
void naive_arrays(struct out *o, const struct page_digest *old, const struct page_digest *new_,
        const char *kind);
void naive_content(
        struct out *o, const struct page_digest *old, const struct page_digest *new_);
void naive_element(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_);

/* naive_words.c */
void naive_sets(struct out *o, const struct page_digest *old, const struct page_digest *new_,
        bool images);
void naive_all_words(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_);
void naive_keywords(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_);
void naive_object(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_, bool table);
struct strings naive_matches(
        struct arena *life, const struct cdg_leaf *leaf, const struct page_digest *d);
void naive_phrase(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_);
unsigned naive_keyword_count(struct arena *life, const char *keyword, struct strings words);
struct strings naive_folded_words(struct arena *life, struct strings words);
