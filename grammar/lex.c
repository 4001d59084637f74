/* Text to tokens.
 *
 * The language reads some places in their own way: a bare URL, a date, a query in somebody
 * else's language.  So tokens are made one at a time, and the parser may go back to where a
 * token began and read it differently.  It must hold that
 *  (1) nothing is reported here: a strange character is only wrong if the parser looks at it,
 *  (2) a column counts characters, whatever their length in bytes,
 *  (3) every token but the last takes at least one byte.
 *
 * The text is valid UTF-8 by the time it comes here.
 */
#include "grammar/grammar_int.h"

enum { IS_LETTER = 1, IS_DIGIT = 2, IS_SPACE = 4, ENDS_BARE = 8 };

/* By byte: a look-up here is most of what reading a definition costs. */
static const uint8_t classes[256] = {
        [0 ... 8] = ENDS_BARE,
        ['\t' ... '\r'] = IS_SPACE | ENDS_BARE,
        [14 ... 31] = ENDS_BARE,
        [' '] = IS_SPACE | ENDS_BARE,
        [','] = ENDS_BARE,
        [';'] = ENDS_BARE,
        ['('] = ENDS_BARE,
        [')'] = ENDS_BARE,
        ['\''] = ENDS_BARE,
        ['"'] = ENDS_BARE,
        ['<'] = ENDS_BARE,
        ['>'] = ENDS_BARE,
        ['0' ... '9'] = IS_DIGIT,
        ['A' ... 'Z'] = IS_LETTER,
        ['a' ... 'z'] = IS_LETTER,
        ['_'] = IS_LETTER,
};

static bool is(char c, unsigned what)
{
    return classes[(unsigned char)c] & what;
}

void lex_init(struct lexer *lx, const char *text, size_t len)
{
    *lx = (struct lexer){.text = text,
            .len = (uint32_t)len,
            .at = {.line = 1, .column = 1},
            .no_closing = UINT32_MAX};
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        lx->at.offset = 3; /* a byte order mark is not a character of the text */
}

void lex_advance(struct lexer *lx, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)lx->text + lx->at.offset;
    for (size_t i = 0; i < bytes; i++) {
        if (p[i] == '\n') {
            lx->at.line++;
            lx->at.column = 1;
        } else if ((p[i] & 0xc0) != 0x80) {
            lx->at.column++; /* (2) */
        }
    }
    lx->at.offset += (uint32_t)bytes;
}

/* For bytes known to be ASCII without a line end. */
static void advance_plain(struct lexer *lx, size_t bytes)
{
    lx->at.column += (uint32_t)bytes;
    lx->at.offset += (uint32_t)bytes;
}

size_t lex_comment(const char *p, size_t len, char before)
{
    bool dashes = len >= 2 && p[0] == '-' && p[1] == '-';
    bool percent = len >= 1 && p[0] == '%' && !is(before, IS_DIGIT);
    if (!dashes && !percent)
        return 0;
    const char *end = memchr(p, '\n', len);
    return end ? (size_t)(end - p) : len;
}

void lex_skip_space(struct lexer *lx)
{
    while (lx->at.offset < lx->len) {
        const char *p = lx->text + lx->at.offset;
        char c = *p;
        size_t comment;
        if (c == ' ')
            advance_plain(lx, 1);
        else if (is(c, IS_SPACE) || (c == REPAIRED_BYTE && lx->repaired))
            lex_advance(lx, 1);
        else if ((c == '-' || c == '%') && (comment = lex_comment(p, lx->len - lx->at.offset,
                                                    lx->at.offset ? p[-1] : ' ')) > 0)
            lex_advance(lx, comment);
        else
            break;
    }
}

/* The bytes of the string here, quotes included; 0 when it is not closed.  Of '' and "" at most
 * one can be left open in a file, and is looked for once; of “ any number can. */
static size_t string_length(struct lexer *lx, const char *p, size_t len)
{
    if (*p == '\'' || *p == '"') {
        for (size_t i = 1; i < len; i++) {
            const char *quote = memchr(p + i, *p, len - i);
            if (!quote)
                return 0;
            i = (size_t)(quote - p);
            if (i + 1 < len && p[i + 1] == *p)
                i++;
            else
                return i + 1;
        }
        return 0;
    }
    if (lx->at.offset >= lx->no_closing)
        return 0;
    const char *end = memmem(p, len, "\xe2\x80\x9d", 3); /* ” */
    if (!end)
        lx->no_closing = lx->at.offset;
    return end ? (size_t)(end - p) + 3 : 0;
}

static bool string_begins(const char *p, size_t len)
{
    return *p == '\'' || *p == '"' || (len >= 3 && memcmp(p, "\xe2\x80\x9c", 3) == 0); /* “ */
}

static void lex_string(struct lexer *lx, struct token *t, const char *p, size_t left)
{
    size_t n = string_length(lx, p, left);
    t->kind = n > 0 ? T_STRING : T_UNCLOSED;
    if (n == 0) {
        const char *end = memchr(p, '\n', left); /* the next line may well be right again */
        n = end ? (size_t)(end - p) : left;
    }
    t->text.len = n;
    lex_advance(lx, n);
}

static void lex_name(struct lexer *lx, struct token *t, const char *p, size_t left)
{
    size_t n = 1;
    while (n < left && (is(p[n], IS_LETTER | IS_DIGIT) ||
                               (p[n] == '-' && !(n + 1 < left && p[n + 1] == '-'))))
        n++;
    t->kind = T_NAME;
    t->text.len = n;
    t->word = word_find(t->text);
    advance_plain(lx, n);
}

static void lex_number(struct lexer *lx, struct token *t, const char *p, size_t left)
{
    size_t n = 1;
    t->kind = T_NUMBER;
    while (n < left && is(p[n], IS_DIGIT))
        n++;
    if (n + 1 < left && p[n] == '.' && is(p[n + 1], IS_DIGIT)) {
        t->kind = T_DECIMAL;
        n += 2;
        while (n < left && is(p[n], IS_DIGIT))
            n++;
    }
    t->text.len = n;
    advance_plain(lx, n);
}

static void lex_symbol(struct lexer *lx, struct token *t, const char *p, size_t left)
{
    static const struct {
        char text[3];
        int symbol;
    } doubles[] = {{">=", SYM_GE}, {"<=", SYM_LE}, {"//", SYM_SLASHES}, {"/>", SYM_TAG_END}};

    for (size_t i = 0; i < countof(doubles); i++) {
        if (left >= 2 && memcmp(p, doubles[i].text, 2) == 0) {
            t->kind = T_SYMBOL;
            t->symbol = doubles[i].symbol;
            t->text.len = 2;
            advance_plain(lx, 2);
            return;
        }
    }
    t->kind = strchr(",;(){}.:=<>+-/%*", *p) ? T_SYMBOL : T_BAD;
    t->symbol = *p;
    t->text.len = utf8_length(p, left);
    if (t->text.len == 0)
        t->text.len = 1;
    lex_advance(lx, t->text.len);
}

void lex_next(struct lexer *lx, struct token *t)
{
    lex_skip_space(lx);
    const char *p = lx->text + lx->at.offset;
    size_t left = lx->len - lx->at.offset;
    *t = (struct token){.pos = lx->at, .text = {p, 0}};
    if (left == 0)
        return;

    if (is(*p, IS_LETTER))
        lex_name(lx, t, p, left);
    else if (is(*p, IS_DIGIT))
        lex_number(lx, t, p, left);
    else if (string_begins(p, left))
        lex_string(lx, t, p, left);
    else
        lex_symbol(lx, t, p, left);
}

void lex_rewind(struct lexer *lx, const struct token *tok)
{
    lx->at = tok->pos;
}

static bool ends_bare(const char *p, size_t len)
{
    return is(*p, ENDS_BARE) ||
           (*p == '\xe2' && len >= 3 &&
                   (memcmp(p, "\xe2\x80\x9c", 3) == 0 || memcmp(p, "\xe2\x80\x9d", 3) == 0));
}

struct token lex_bare(struct lexer *lx)
{
    const char *p = lx->text + lx->at.offset;
    size_t left = lx->len - lx->at.offset, n = 0;
    while (n < left && !ends_bare(p + n, left - n))
        n++;
    struct token t = {.kind = T_NAME, .pos = lx->at, .text = {p, n}};
    lex_advance(lx, n);
    return t;
}

struct token lex_run(struct lexer *lx, const char *more)
{
    const char *p = lx->text + lx->at.offset;
    size_t left = lx->len - lx->at.offset, n = 0;
    while (n < left && (is(p[n], IS_LETTER | IS_DIGIT) || (p[n] && strchr(more, p[n]))) &&
            lex_comment(p + n, left - n, '0') == 0)
        n++;
    struct token t = {.kind = T_NAME, .pos = lx->at, .text = {p, n}};
    advance_plain(lx, n);
    return t;
}

static bool ends_query(const char *p, size_t n)
{
    enum word w = word_find((struct str){p, n});
    return w == W_WHEN || w == W_TRY;
}

/* Strings are copied as they are; a run of white space and comments becomes one space, so
 * that the same query printed and read again is the same text. */
struct token lex_query(struct lexer *lx, struct buf *ret)
{
    struct token t = {.kind = T_STRING};
    lex_skip_space(lx);
    t.pos = lx->at;
    t.text.ptr = lx->text + lx->at.offset;
    while (lx->at.offset < lx->len) {
        const char *p = lx->text + lx->at.offset;
        size_t left = lx->len - lx->at.offset, n = 1;
        uint32_t before = lx->at.offset;
        if (*p == ';')
            break;
        if (string_begins(p, left)) {
            n = string_length(lx, p, left);
            if (n == 0) {
                t.kind = T_UNCLOSED;
                t.pos = lx->at;
                break;
            }
        } else if (is(*p, IS_LETTER | IS_DIGIT)) {
            while (n < left && (is(p[n], IS_LETTER | IS_DIGIT)))
                n++;
            if (ends_query(p, n))
                break;
        }
        (void)buf_append(ret, p, n); /* the caller asks ret->overflowed */
        lex_advance(lx, n);
        t.text.len = (size_t)(lx->text + lx->at.offset - t.text.ptr);
        before = lx->at.offset;
        lex_skip_space(lx);
        if (lx->at.offset > before)
            (void)buf_putc(ret, ' ');
    }
    while (ret->len > 0 && ret->data[ret->len - 1] == ' ')
        ret->data[--ret->len] = 0;
    return t;
}
