/* The words of the language, and which one somebody may have meant.
 *
 *  (1) words.def is sorted, so that finding one is a binary search; a test walks it.
 */
#include "grammar/grammar_int.h"
#include "base/str.h"

static const struct {
    const char *text;
    uint8_t len;
    uint8_t flags;
} words[N_WORDS] = {
        {"", 0, 0},
#define WORD(id, text, flags) {text, sizeof(text) - 1, flags},
#include "grammar/words.def"
#undef WORD
};

/* Upper case against upper case; `text` may be in any case. */
static int compare(struct str text, const char *word, size_t word_len)
{
    size_t n = text.len < word_len ? text.len : word_len;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        c -= c >= 'a' && c <= 'z' ? 'a' - 'A' : 0;
        if (c != (unsigned char)word[i])
            return c < (unsigned char)word[i] ? -1 : 1;
    }
    return text.len == word_len ? 0 : text.len < word_len ? -1 : 1;
}

enum word word_find(struct str text)
{
    int low = 1, high = N_WORDS - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int c = compare(text, words[middle].text, words[middle].len);
        if (c == 0)
            return (enum word)middle;
        if (c < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return W_NONE;
}

const char *word_text(enum word w)
{
    return words[w].text;
}

unsigned word_flags(enum word w)
{
    return words[w].flags;
}

/* Two letters may be wrong, but at least half of the word must be right. */
static unsigned allowed_distance(struct str text)
{
    return text.len < 2 ? 0 : text.len < 4 ? 1 : 2;
}

const char *word_nearest(struct str text, const char *const *choices, size_t n)
{
    const char *best = NULL;
    unsigned best_distance = allowed_distance(text) + 1;
    for (size_t i = 0; i < n; i++) {
        if (best_distance == 0)
            break;
        unsigned d = str_distance(text, str_of(choices[i]), best_distance);
        if (d < best_distance) {
            best_distance = d;
            best = choices[i];
        }
    }
    return best;
}

const char *word_nearest_flagged(struct str text, unsigned flags)
{
    const char *choices[N_WORDS];
    size_t n = 0;
    for (int w = 1; w < N_WORDS; w++)
        if (words[w].flags & flags)
            choices[n++] = words[w].text;
    return word_nearest(text, choices, n);
}
