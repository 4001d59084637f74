/* MONITOR: change expressions.
 *
 * AND binds tighter than OR, NOT tightest.
 *  (1) a AND (b AND c) is one node with three kids: what means the same is the same tree.
 *  (2) Nesting is limited, since walking a tree costs stack; the length of a chain is not.
 *  (3) Two unknown types in one expression are two messages.
 */
#include "grammar/grammar_int.h"
#include "base/str.h"

static const char *const type_names[GRAMMAR_TYPE_COUNT] = {
#define TYPE(id, name, help) [GRAMMAR_##id] = name,
#include "grammar/types.def"
#undef TYPE
};

const char *grammar_type_name(enum grammar_type type)
{
    return type_names[type];
}

static bool parse_or(struct parser *p, struct grammar_change **ret);

struct grammar_change *change_of_leaf(struct arena *life, struct grammar_leaf *l)
{
    struct grammar_change *c = arena_new_of(life, struct grammar_change);
    c->op = GRAMMAR_LEAF;
    c->leaf = l;
    c->pos = l->pos;
    return c;
}

/* ---- words -------------------------------------------------------------------------- */

/* Runs between white space that hold more than punctuation. */
static unsigned count_words(const char *s)
{
    unsigned n = 0;
    while (*(s += strspn(s, " \t\r\n"))) {
        size_t len = strcspn(s, " \t\r\n");
        size_t marks = strspn(s, "!\"#&'()*+,-./:;<=>?@[\\]^`{|}~");
        n += marks < len;
        s += len;
    }
    return n;
}

bool leaf_check_words(struct parser *p, const struct grammar_leaf *l)
{
    enum { MIN_WORDS = 5 };
    bool ok = true;
    for (unsigned i = 0; i < l->n_words; i++) {
        unsigned n = l->type == GRAMMAR_PHRASE ? count_words(l->words[i].text) : MIN_WORDS;
        if (n >= MIN_WORDS)
            continue;
        struct grammar_diagnostic *d = parse_error(p, GRAMMAR_E058, l->words[i].pos,
                "a phrase needs at least %d words, this one has %u", MIN_WORDS, n);
        report_hint(p->script, d, "For fewer words use KEYWORDS, or PHRASE CONTAINING '..'.");
        ok = false;
    }
    return ok;
}

static bool parse_word(struct parser *p, bool enclosed, struct grammar_word *w)
{
    struct token t = p->tok;
    w->pos = t.pos;
    if (t.kind == T_STRING) {
        struct str text = str_trim(str_of(string_value(p->life, &t)));
        w->text = arena_strndup(p->life, text.ptr, text.len);
        parse_advance(p);
        if (text.len == 0)
            parse_error(p, GRAMMAR_E051, t.pos, "an empty word or phrase");
        return true;
    }
    if (!enclosed && t.kind == T_NAME && word_flags(t.word) & RESERVED)
        return parse_expected(p, GRAMMAR_E050, "a word");
    lex_rewind(&p->lx, &t);
    struct token run = lex_run(&p->lx, "*-.");
    if (run.text.len == 0) {
        lex_next(&p->lx, &p->tok);
        parse_expected(p, GRAMMAR_E050, "a word");
        if (t.kind == T_BAD)
            report_hint(p->script, p->said, "Put quotes around a word with other characters.");
        return false;
    }
    w->text = arena_strndup(p->life, run.text.ptr, run.text.len);
    parse_resume(p);
    return true;
}

static bool parse_words(struct parser *p, struct grammar_leaf *l)
{
    int close = parse_is_symbol(p, '{') ? '}' : parse_is_symbol(p, '(') ? ')' : 0;
    if (close)
        parse_advance(p);
    do {
        struct grammar_word w = {0};
        if (!parse_word(p, close != 0, &w))
            return false;
        *GROW(p->life, l->words, l->n_words) = w;
    } while (parse_take_symbol(p, ','));
    if (close == 0)
        return true;
    return parse_need_symbol(p, close, close == '}' ? "\",\" or \"}\"" : "\",\" or \")\"");
}

/* Does a list of words begin at t?  Tells the word ALL from the option ALL. */
static bool begins_words(const struct token *t)
{
    return t->kind == T_STRING || t->kind == T_NUMBER || t->kind == T_UNCLOSED ||
           (t->kind == T_NAME && !(word_flags(t->word) & RESERVED)) ||
           (t->kind == T_SYMBOL && strchr("{(*", t->symbol));
}

static bool take_option(struct parser *p, enum word w)
{
    if (!parse_is(p, w))
        return false;
    struct token next = parse_peek(p);
    return begins_words(&next) && parse_take(p, w);
}

/* ---- what each type is asked with --------------------------------------------------- */

static bool leaf_any_change(struct parser *p, struct grammar_leaf *l)
{
    l->raw = parse_take(p, W_RAW);
    return true;
}

static bool leaf_all_words(struct parser *p, struct grammar_leaf *l)
{
    l->counted = parse_take(p, W_COUNTED);
    return !parse_take(p, W_EXCEPT) || parse_words(p, l);
}

static bool leaf_keywords(struct parser *p, struct grammar_leaf *l)
{
    if (!take_option(p, W_ANY))
        l->all = take_option(p, W_ALL);
    l->counted = take_option(p, W_COUNTED);
    return parse_words(p, l);
}

static bool parse_text(struct parser *p, const char *what, const char **ret_text)
{
    struct grammar_pos pos = p->tok.pos;
    if (!parse_string(p, what, ret_text))
        return false;
    if (strspn(*ret_text, " \t\r\n") == strlen(*ret_text))
        parse_error(p, GRAMMAR_E051, pos, "an empty text");
    return true;
}

static bool leaf_phrase(struct parser *p, struct grammar_leaf *l)
{
    int64_t n;
    l->box = 10;
    l->occurrence = 1;
    if (parse_take(p, W_CONTAINING)) {
        if (!parse_text(p, "the text it contains, in quotes", &l->containing))
            return false;
    } else {
        if (!parse_words(p, l))
            return false;
        (void)leaf_check_words(p, l); /* told */
    }
    if (parse_take(p, W_BOX)) {
        if (!parse_number(p, "a number of words", 3, 30, &n))
            return false;
        l->box = (unsigned)n;
    }
    if (parse_take(p, W_OCCURRENCE)) {
        if (!parse_number(p, "an occurrence", 1, 10000, &n))
            return false;
        l->occurrence = (unsigned)n;
    }
    return true;
}

static bool leaf_table(struct parser *p, struct grammar_leaf *l)
{
    int64_t n;
    if (parse_take(p, W_CONTAINING))
        return parse_text(p, "the text it contains, in quotes", &l->containing);
    l->number = 1;
    if (p->tok.kind != T_NUMBER)
        return true;
    if (!parse_number(p, "its number", 1, 10000, &n))
        return false;
    l->number = (unsigned)n;
    return true;
}

static bool leaf_regexp(struct parser *p, struct grammar_leaf *l)
{
    l->pattern_pos = p->tok.pos;
    if (!parse_string(p, "a regular expression, as a string", &l->pattern))
        return false;
    if (!*l->pattern)
        parse_error(p, GRAMMAR_E051, l->pattern_pos, "an empty regular expression");
    if (!parse_take(p, W_ON))
        return true;
    l->on_text = parse_is(p, W_TEXT);
    if (!l->on_text && !parse_is(p, W_SOURCE))
        return parse_expected(p, GRAMMAR_E010, "SOURCE or TEXT");
    parse_advance(p);
    return true;
}

static bool take_status(struct parser *p, enum grammar_status *ret)
{
    static const enum word statuses[GRAMMAR_STATUS_COUNT] = {
            W_NONE, W_NEW, W_UPDATED, W_DELETED, W_UNCHANGED};
    for (int s = GRAMMAR_NEW; s < GRAMMAR_STATUS_COUNT; s++) {
        if (!parse_is(p, statuses[s]))
            continue;
        struct token next = parse_peek(p);
        bool is_name = next.kind == T_STRING ||
                       (next.kind == T_NAME && !(word_flags(next.word) & RESERVED) &&
                               next.word != W_CONTAINS && next.word != W_STRICT &&
                               next.word != W_IN && next.word != W_CHANGED);
        if (!is_name)
            return false; /* an element of that name */
        *ret = s;
        parse_advance(p);
        return true;
    }
    return false;
}

static bool leaf_element(struct parser *p, struct grammar_leaf *l)
{
    (void)take_status(p, &l->status);
    struct token t = p->tok;
    if (t.kind == T_STRING) {
        l->element = string_value(p->life, &t);
        parse_advance(p);
        if (!*l->element || strpbrk(l->element, " \t\r\n<>"))
            parse_error(p, GRAMMAR_E051, t.pos, "not the name of an element");
    } else if (t.kind == T_NAME && !(word_flags(t.word) & RESERVED)) {
        lex_rewind(&p->lx, &t);
        struct token run = lex_run(&p->lx, ":-.");
        l->element = arena_strndup(p->life, run.text.ptr, run.text.len);
        parse_resume(p);
    } else {
        return parse_expected(p, GRAMMAR_E010, "the name of an element");
    }
    l->strict = parse_take(p, W_STRICT);
    if (!parse_is(p, W_CONTAINS))
        return !l->strict || parse_need(p, W_CONTAINS);
    parse_advance(p);
    return parse_text(p, "the text it contains, in quotes", &l->containing);
}

static bool leaf_plain(struct parser *p, struct grammar_leaf *l)
{
    (void)p;
    (void)l;
    return true;
}

/* ---- spellings ---------------------------------------------------------------------- */

static const struct {
    enum word first, second; /* second is W_NONE when one word is enough */
    enum grammar_type type;
    bool (*parse)(struct parser *p, struct grammar_leaf *l);
    const char *suggest;
} spellings[] = {
        {W_ANY, W_CHANGE, GRAMMAR_ANY_CHANGE, leaf_any_change, "ANY CHANGE"},
        {W_ANYCHANGE, W_NONE, GRAMMAR_ANY_CHANGE, leaf_any_change, "ANYCHANGE"},
        {W_ANY_CHANGE, W_NONE, GRAMMAR_ANY_CHANGE, leaf_any_change, "ANY-CHANGE"},
        {W_LINKS, W_NONE, GRAMMAR_LINKS, leaf_plain, "LINKS"},
        {W_ALL, W_LINKS, GRAMMAR_LINKS, leaf_plain, "ALL LINKS"},
        {W_IMAGES, W_NONE, GRAMMAR_IMAGES, leaf_plain, "IMAGES"},
        {W_ALL, W_IMAGES, GRAMMAR_IMAGES, leaf_plain, "ALL IMAGES"},
        {W_ALL, W_WORDS, GRAMMAR_ALL_WORDS, leaf_all_words, "ALL WORDS"},
        {W_ALLWORDS, W_NONE, GRAMMAR_ALL_WORDS, leaf_all_words, "ALLWORDS"},
        {W_ALL_WORDS, W_NONE, GRAMMAR_ALL_WORDS, leaf_all_words, "ALL-WORDS"},
        {W_KEYWORDS, W_NONE, GRAMMAR_KEYWORDS, leaf_keywords, "KEYWORDS"},
        {W_KEYWORD, W_NONE, GRAMMAR_KEYWORDS, leaf_keywords, "KEYWORD"},
        {W_PHRASE, W_NONE, GRAMMAR_PHRASE, leaf_phrase, "PHRASE"},
        {W_PHRASES, W_NONE, GRAMMAR_PHRASE, leaf_phrase, "PHRASES"},
        {W_TABLE, W_NONE, GRAMMAR_TABLE, leaf_table, "TABLE"},
        {W_LIST, W_NONE, GRAMMAR_LIST, leaf_table, "LIST"},
        {W_REGEXP, W_NONE, GRAMMAR_REGEXP, leaf_regexp, "REGEXP"},
        {W_REGEX, W_NONE, GRAMMAR_REGEXP, leaf_regexp, "REGEX"},
        {W_REGULAR, W_EXPRESSION, GRAMMAR_REGEXP, leaf_regexp, "REGULAR EXPRESSION"},
        {W_STRUCTURE, W_NONE, GRAMMAR_STRUCTURE, leaf_plain, "STRUCTURE"},
        {W_TAGS, W_NONE, GRAMMAR_TAGS, leaf_plain, "TAGS"},
        {W_ATTRIBUTES, W_NONE, GRAMMAR_ATTRIBUTES, leaf_plain, "ATTRIBUTES"},
        {W_CONTENT, W_NONE, GRAMMAR_CONTENT, leaf_plain, "CONTENT"},
        {W_ELEMENT, W_NONE, GRAMMAR_ELEMENT, leaf_element, "ELEMENT"},
};

static bool unknown_type(struct parser *p, struct token found)
{
    const char *choices[countof(spellings)];
    if (found.kind != T_NAME || word_flags(found.word) & (RESERVED | VERB)) {
        parse_expected(p, GRAMMAR_E054, "a change type");
        return false;
    }
    for (size_t i = 0; i < countof(spellings); i++)
        choices[i] = spellings[i].suggest;
    parse_error(
            p, GRAMMAR_E054, found.pos, "unknown change type %s", token_shown(p->life, &found));
    report_nearest(p->script, p->said, word_nearest(found.text, choices, countof(choices)));
    report_hint(p->script, p->said,
            "There are any change, links, images, all words, keywords, phrase, table, list, "
            "regexp, structure, tags, attributes, content and element.");
    return false;
}

/* Behind an unknown word the expression goes on, if it goes on as expressions do (3). */
static bool skip_unknown(struct parser *p, unsigned words)
{
    if (p->tok.kind != T_NAME || word_flags(p->tok.word) & (RESERVED | VERB))
        return false;
    for (; words > 0; words--)
        parse_advance(p);
    return parse_is(p, W_AND) || parse_is(p, W_OR) || parse_is_symbol(p, ')') ||
           parse_at_end(p) || (p->tok.kind == T_NAME && word_flags(p->tok.word) & CLAUSE);
}

static bool parse_type(struct parser *p, struct grammar_leaf *l)
{
    struct token first = p->tok, next = {0};
    if (first.kind == T_NAME &&
            (first.word == W_ANY || first.word == W_ALL || first.word == W_REGULAR))
        next = parse_peek(p);
    for (size_t i = 0; first.kind == T_NAME && i < countof(spellings); i++) {
        if (spellings[i].first != first.word ||
                (spellings[i].second != W_NONE && spellings[i].second != next.word))
            continue;
        l->type = spellings[i].type;
        parse_advance(p);
        if (spellings[i].second != W_NONE)
            parse_advance(p);
        return spellings[i].parse(p, l);
    }
    bool two = next.kind == T_NAME && !(word_flags(next.word) & RESERVED);
    if (two)
        first.text.len = (size_t)(next.text.ptr + next.text.len - first.text.ptr);
    (void)unknown_type(p, first); /* told */
    return skip_unknown(p, two ? 2 : 1);
}

/* ---- what any type may add ---------------------------------------------------------- */

static bool parse_region(struct parser *p, struct grammar_leaf *l)
{
    if (parse_take(p, W_XPATH))
        l->region = GRAMMAR_XPATH;
    else if (parse_take(p, W_CSS))
        l->region = GRAMMAR_CSS;
    else
        return parse_expected(p, GRAMMAR_E010, "XPATH or CSS");
    l->region_pos = p->tok.pos;
    return parse_text(p, "a selector, as a string", &l->region_path);
}

/* Decimals up to a ten-thousandth of a percent. */
static unsigned ppm_of(struct str number)
{
    uint64_t value = 0;
    int decimals = -1;
    for (size_t i = 0; i < number.len && decimals < 4 && value < 10000000; i++) {
        if (number.ptr[i] == '.') {
            decimals = 0;
            continue;
        }
        value = value * 10 + (uint64_t)(number.ptr[i] - '0');
        decimals += decimals >= 0;
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 4; decimals++)
        value *= 10;
    return value > 2000000 ? 2000000 : (unsigned)value;
}

static bool parse_threshold(struct parser *p, struct grammar_leaf *l)
{
    if (parse_is_symbol(p, '>'))
        l->threshold = GRAMMAR_MORE_THAN;
    else if (parse_is_symbol(p, SYM_GE))
        l->threshold = GRAMMAR_AT_LEAST;
    else
        return parse_expected(p, GRAMMAR_E010, "\">\" or \">=\"");
    parse_advance(p);
    struct token number = p->tok;
    if (parse_take_symbol(p, '-')) {
        parse_error(p, GRAMMAR_E052, number.pos, "a percentage lies between 0 and 100");
        number = p->tok;
    }
    if (number.kind != T_NUMBER && number.kind != T_DECIMAL)
        return parse_expected(p, GRAMMAR_E010, "a percentage");
    l->threshold_ppm = ppm_of(number.text);
    parse_advance(p);
    if (l->threshold_ppm > 1000000)
        parse_error(p, GRAMMAR_E052, number.pos, "a percentage lies between 0 and 100");
    if (parse_take_symbol(p, '%') || parse_take(p, W_PERCENT))
        return true;
    parse_expected(p, GRAMMAR_E010, "\"%\" or PERCENT");
    report_hint(p->script, p->said, "A %% must stand directly behind its number.");
    return false;
}

static bool parse_leaf(struct parser *p, struct grammar_change **ret)
{
    struct grammar_leaf *l = arena_new_of(p->life, struct grammar_leaf);
    l->pos = p->tok.pos;
    if (p->tok.kind == T_NAME && p->lx.text[p->lx.at.offset] == '.') {
        l->alias_pos = p->tok.pos;
        if (!parse_name(p, "the name of a page", &l->alias))
            return false;
        parse_advance(p); /* the dot */
    }
    if (!parse_type(p, l))
        return false;
    if (parse_take(p, W_IN) && !parse_region(p, l))
        return false;
    if (parse_take(p, W_CHANGED) && !parse_threshold(p, l))
        return false;
    *ret = change_of_leaf(p->life, l);
    return true;
}

/* ---- operators ---------------------------------------------------------------------- */

static void add_kid(struct parser *p, struct grammar_change *to, struct grammar_change *kid)
{
    if (kid->op != to->op) {
        *GROW(p->life, to->kids, to->n_kids) = kid;
        return;
    }
    for (unsigned i = 0; i < kid->n_kids; i++) /* (1) */
        *GROW(p->life, to->kids, to->n_kids) = kid->kids[i];
}

/* NOT, or (NOT) as WebVigiL writes it. */
static bool take_not(struct parser *p)
{
    if (parse_take(p, W_NOT))
        return true;
    if (!parse_is_symbol(p, '('))
        return false;
    struct lexer lx = p->lx;
    struct token no, close;
    lex_next(&lx, &no);
    lex_next(&lx, &close);
    if (no.kind != T_NAME || no.word != W_NOT || close.kind != T_SYMBOL || close.symbol != ')')
        return false;
    for (int i = 0; i < 3; i++)
        parse_advance(p);
    return true;
}

static bool parse_neg(struct parser *p, struct grammar_change **ret)
{
    struct grammar_pos pos = p->tok.pos;
    bool ok;
    if (p->depth == PARSE_MAX_DEPTH) { /* (2) */
        parse_error(p, GRAMMAR_E003, pos, "nested more than %d deep", PARSE_MAX_DEPTH);
        return false;
    }
    p->depth++;
    if (take_not(p)) {
        struct grammar_change *c = arena_new_of(p->life, struct grammar_change);
        struct grammar_change *kid = NULL;
        c->op = GRAMMAR_NOT;
        c->pos = pos;
        ok = parse_neg(p, &kid);
        if (ok)
            *GROW(p->life, c->kids, c->n_kids) = kid;
        *ret = c;
    } else if (parse_take_symbol(p, '(')) {
        ok = parse_or(p, ret) && parse_need_symbol(p, ')', "AND, OR or \")\"");
    } else {
        ok = parse_leaf(p, ret);
    }
    p->depth--;
    return ok;
}

/* One level of operators: `operand`s with `word` between them. */
static bool parse_level(struct parser *p, enum word word, enum grammar_op op,
        bool (*operand)(struct parser *, struct grammar_change **), struct grammar_change **ret)
{
    struct grammar_pos pos = p->tok.pos;
    struct grammar_change *first = NULL, *node = NULL;
    if (!operand(p, &first))
        return false;
    while (parse_take(p, word)) {
        struct grammar_change *next = NULL;
        if (!node) {
            node = arena_new_of(p->life, struct grammar_change);
            node->op = op;
            node->pos = pos;
            add_kid(p, node, first);
        }
        if (!operand(p, &next))
            return false;
        add_kid(p, node, next);
    }
    *ret = node ? node : first;
    return true;
}

static bool parse_and(struct parser *p, struct grammar_change **ret)
{
    return parse_level(p, W_AND, GRAMMAR_AND, parse_neg, ret);
}

static bool parse_or(struct parser *p, struct grammar_change **ret)
{
    return parse_level(p, W_OR, GRAMMAR_OR, parse_and, ret);
}

bool parse_change(struct parser *p, struct grammar_change **ret_change)
{
    p->depth = 0;
    return parse_or(p, ret_change);
}
