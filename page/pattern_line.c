/* What a pattern can be said to do without running it.
 *
 * A pattern of plain characters, classes without a line's end, word boundaries, groups and few
 * repetitions matches inside a line, and what it finds there depends on that line alone.  Who
 * knows that two texts share most of their lines then need not search those.  It must hold that
 *  (1) what is not understood is not said to be one;
 *  (2) nothing in it matches, or looks at, anything beyond a line's end; and
 *  (3) the steps a search takes are bounded, so that a search of all lines would not have
 *      been given up either.
 */
#include "page/page_int.h"

enum { FIXED_MOST = 1000, VARIANTS_MOST = 1000 };

struct reading {
    const char *at;
    size_t fixed, variants;
    unsigned endless; /* repetitions without an end */
    bool may_repeat;  /* what stands before `at` */
    bool bad;
};

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') &&
           !((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Behind a backslash: an escaped character, or a class that has no line's end. */
static void read_escape(struct reading *r, bool in_class)
{
    char c = *++r->at;

    r->bad |= !(is_punctuation(c) || c == 'd' || c == 'w' || (c == 'b' && !in_class));
    r->may_repeat = c != 'b';
    r->at += c != 0;
}

static void read_class(struct reading *r)
{
    r->at++;
    r->bad |= *r->at == '^' || *r->at == ']';
    while (!r->bad && *r->at != ']') {
        if (*r->at == '\\')
            read_escape(r, /* in_class= */ true);
        else if (*r->at == '[' || (unsigned char)*r->at < ' ') /* the end, too */
            r->bad = true;
        else
            r->at++;
    }
    r->at += !r->bad;
    r->may_repeat = true;
}

static size_t read_number(struct reading *r)
{
    size_t n = 0;

    r->bad |= *r->at < '0' || *r->at > '9';
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        n = n < FIXED_MOST ? 10 * n + (size_t)(*r->at - '0') : n;
    return n;
}

static void read_repeat(struct reading *r)
{
    size_t least = *r->at == '+', most = *r->at == '?';
    bool endless = *r->at == '*' || *r->at == '+';

    r->bad |= !r->may_repeat;
    if (*r->at++ == '{') {
        least = most = read_number(r);
        if (*r->at == ',') {
            r->at++;
            endless = *r->at == '}';
            most = endless ? least : read_number(r);
        }
        r->bad |= *r->at != '}' || most < least;
        r->at += !r->bad;
    }
    if (*r->at == '?' || *r->at == '+') /* as few as will do, or without going back */
        r->at++;
    r->endless += endless;
    r->fixed += least > most ? least : most;
    r->variants *= !r->bad && most > least ? most - least + 1 : 1;
    r->may_repeat = false;
}

static void read_next(struct reading *r)
{
    switch (*r->at) {
    case '\\':
        read_escape(r, /* in_class= */ false);
        break;
    case '[':
        read_class(r);
        break;
    case '(':
        r->bad |= r->at[1] == '?' || r->at[1] == '*';
        r->may_repeat = false;
        r->at++;
        break;
    case ')':
        r->may_repeat = false;
        r->at++;
        break;
    case '|':
        r->variants *= 2;
        r->may_repeat = false;
        r->at++;
        break;
    case '*':
    case '+':
    case '?':
    case '{':
        read_repeat(r);
        break;
    case '.':
    case '^':
    case '$':
    case ']':
    case '}':
        r->bad = true;
        break;
    default:
        r->bad |= (unsigned char)*r->at < ' ';
        r->may_repeat = true;
        r->at++;
    }
    r->fixed++;
    r->bad |= r->fixed > FIXED_MOST || r->variants > VARIANTS_MOST;
}

bool pattern_is_of_lines(const char *pattern, struct page_pattern_lines *ret)
{
    struct reading r = {.at = pattern, .variants = 1};

    while (*r.at && !r.bad)
        read_next(&r);
    if (r.bad || r.endless > 1) /* (1), (3) */
        return false;
    *ret = (struct page_pattern_lines){.fixed = r.fixed, .variants = r.variants};
    return true;
}
