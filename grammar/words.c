/* The words of the language, and which one somebody may have meant.
 *
 *  (1) In words.def every word stands behind its letter; a test looks up each of them.
 */
#include "grammar/grammar_int.h"
#include "base/str.h"

static const struct {
    const char *text;
    uint8_t len;
    uint8_t flags;
} words[N_WORDS] = {
        {"", 0, 0},
#define LETTER(x)
#define WORD(id, text, flags) {text, sizeof(text) - 1, flags},
#include "grammar/words.def"
#undef WORD
#undef LETTER
};

static const uint8_t letters[27] = {
#define WORD(id, text, flags)
#define LETTER(x) LETTER_##x,
#include "grammar/words.def"
#undef LETTER
#undef WORD
        N_WORDS,
};

enum word word_find(struct str text)
{
    unsigned letter = text.len ? ((unsigned char)text.ptr[0] | 0x20u) - 'a' : 26;
    if (letter >= 26)
        return W_NONE;
    for (int w = letters[letter]; w < letters[letter + 1]; w++) /* (1) */
        if (words[w].len == text.len &&
                str_equal_nocase(text, (struct str){words[w].text, text.len}))
            return (enum word)w;
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
