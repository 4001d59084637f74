/* What the files of grammar share with each other and with nobody else. */
#pragma once
#include "grammar/grammar.h"

/* ---- words (words.c) ---------------------------------------------------------------- */

enum word {
    W_NONE,
#define WORD(id, text, flags) W_##id,
/* The first word of the letter gets the same number: counting goes back by one. */
#define LETTER(x) LETTER_##x, LETTER_BACK_##x = LETTER_##x - 1,
#include "grammar/words.def"
#undef LETTER
#undef WORD
    N_WORDS
};

enum word_flag { RESERVED = 1, CLAUSE = 2, CQ = 4, PART = 8, VERB = 16 };

enum word word_find(struct str text);
const char *word_text(enum word w); /* upper case */
unsigned word_flags(enum word w);

/* The nearest of `n` texts, at most two letters away, or NULL.  A text that would have to be
 * mostly rewritten is not near. */
const char *word_nearest(struct str text, const char *const *choices, size_t n);
/* The nearest word with one of the flags. */
const char *word_nearest_flagged(struct str text, unsigned flags);

/* ---- tokens (lex.c) ----------------------------------------------------------------- */

enum token_kind {
    T_END,
    T_NAME,
    T_NUMBER,  /* digits */
    T_DECIMAL, /* digits "." digits */
    T_STRING,
    T_SYMBOL,   /* `symbol` tells which */
    T_BAD,      /* a character with no meaning here */
    T_UNCLOSED, /* a string without its end */
};

/* Symbols of two characters get numbers outside ASCII. */
enum { SYM_GE = 256, SYM_LE, SYM_SLASHES, SYM_TAG_END };

struct token {
    enum token_kind kind;
    enum word word; /* T_NAME: which, W_NONE if the language has no such word */
    int symbol;
    struct str text; /* as it stands in the source, quotes included */
    struct grammar_pos pos;
};

struct lexer {
    const char *text;
    uint32_t len;
    struct grammar_pos at;
    bool repaired; /* bytes that are no text were reported and replaced by REPAIRED_BYTE */
    uint32_t no_closing; /* from here on there is no ”, so that nobody looks for it again */
};

enum { REPAIRED_BYTE = 0x1a };

void lex_init(struct lexer *lx, const char *text, size_t len);
void lex_next(struct lexer *lx, struct token *ret);
/* Goes back to a token, to read it in another way. */
void lex_rewind(struct lexer *lx, const struct token *tok);
/* From here to the first white space or one of , ; ( ) quotes < >: a bare URL or address. */
struct token lex_bare(struct lexer *lx);
/* From here as long as characters are letters, digits, or in `more`. */
struct token lex_run(struct lexer *lx, const char *more);
/* White space and comments. */
void lex_skip_space(struct lexer *lx);
/* Text up to WHEN, TRY or the end of the statement, outside strings: a query. */
struct token lex_query(struct lexer *lx, struct buf *ret_normalised);
/* The length of the comment at p, 0 when there is none.  `before` is the byte before p. */
size_t lex_comment(const char *p, size_t len, char before);
void lex_advance(struct lexer *lx, size_t bytes);

/* ---- diagnostics (diagnostic.c) ----------------------------------------------------- */

struct comment {
    uint32_t offset, len;
};

struct grammar_inner {
    bool keep_comments;
    struct comment *comments; /* in the order of the file */
    unsigned n_comments;
    struct grammar_diagnostic *last;
    struct grammar_statement **last_statement;
    bool too_many;
};

struct grammar_diagnostic *report(struct grammar_script *s, enum grammar_code code,
        struct grammar_pos pos, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Hints are whole sentences. */
void report_hint(struct grammar_script *s, struct grammar_diagnostic *d, const char *fmt, ...)
        PRINTF_LIKE(3, 4);
/* "Did you mean X?" unless `nearest` is NULL. */
void report_nearest(
        struct grammar_script *s, struct grammar_diagnostic *d, const char *nearest);
void report_sort(struct grammar_script *s);

/* ---- the parser (parse.c) ----------------------------------------------------------- */

enum { PARSE_MAX_DEPTH = 200, NAME_MAX_BYTES = 63 };

/* Every parse_ function begins at the token it is about, leaves p->tok behind what it read
 * and returns false when it has reported something: whoever called it then gives up as well,
 * up to the clause, where parse_recover finds the next place to go on. */
struct parser {
    struct grammar_script *script;
    struct arena *life;
    struct lexer lx;
    struct token tok;          /* the one to look at */
    uint32_t consumed;         /* offset behind the last token taken */
    struct grammar_pos behind; /* the same place, with its line; line 0: none was taken */
    struct grammar_statement *st;
    struct grammar_diagnostic *said; /* the last error, to hang a hint on; may be NULL */
    unsigned depth;
};

void parse_advance(struct parser *p);
bool parse_is(const struct parser *p, enum word w);
bool parse_is_symbol(const struct parser *p, int symbol);
bool parse_take(struct parser *p, enum word w);       /* if it is there */
bool parse_take_symbol(struct parser *p, int symbol); /* if it is there */
bool parse_need(struct parser *p, enum word w);       /* or E010 */
bool parse_need_symbol(struct parser *p, int symbol, const char *what);
struct token parse_peek(const struct parser *p); /* the token after p->tok */

/* "expected X, found Y" with `code`; a broken token is told as what it is instead. */
bool parse_expected(struct parser *p, enum grammar_code code, const char *what);
struct grammar_diagnostic *parse_error(struct parser *p, enum grammar_code code,
        struct grammar_pos pos, const char *fmt, ...) PRINTF_LIKE(4, 5);

bool parse_name(struct parser *p, const char *what, const char **ret_name);
bool parse_string(struct parser *p, const char *what, const char **ret_text);
bool parse_number(struct parser *p, const char *what, int64_t min, int64_t max, int64_t *ret);
bool parse_url(struct parser *p, const char **ret_url);
/* After a lex_ function has read the current token in its own way: looks at what follows. */
void parse_resume(struct parser *p);
char *string_value(struct arena *life, const struct token *tok);
/* What to call the token in a message: "links" with its quotes, or: the end. */
const char *token_shown(struct arena *life, const struct token *tok);
/* Goes on at the next ; or word with one of `flags`, or at the end. */
void parse_recover(struct parser *p, unsigned flags);
/* Tells what is wrong with something that begins no clause, and goes on behind it. */
void parse_stray(struct parser *p, unsigned flags);
bool parse_at_end(const struct parser *p); /* of the statement */

/* As grammar_parse, with the script made by script_new. */
struct grammar_script *script_new(
        struct arena *life, const char *file, const char *text, size_t len);
enum err script_parse(struct grammar_script *s);
/* Keeps the comments between two offsets, if they are wanted. */
void parse_note_comments(struct parser *p, uint32_t from, uint32_t to);

/* Room for one more behind the `n` there are: a new array whenever n is a power of two. */
void *grow(struct arena *life, void *array, unsigned n, size_t each);
#define GROW(life, array, n)                                                                   \
    ((array) = grow((life), (array), (n), sizeof(*(array))), &(array)[(n)++])

/* ---- what clauses are made of ------------------------------------------------------- */

void definition_init(struct grammar_definition *d);
bool parse_clause(struct parser *p, struct grammar_definition *d);       /* clause.c */
bool parse_pages(struct parser *p, struct grammar_definition *d);        /* clause.c */
bool parse_topic(struct parser *p, struct grammar_definition *d);        /* clause.c */
bool parse_methods(struct parser *p, struct grammar_notify *n);          /* notify.c */
bool parse_request(struct parser *p, struct grammar_request *r);         /* request.c */
bool parse_change(struct parser *p, struct grammar_change **ret_change); /* change.c */
bool leaf_check_words(struct parser *p, const struct grammar_leaf *l);   /* change.c */
struct grammar_change *change_of_leaf(struct arena *life, struct grammar_leaf *l);
bool parse_duration(struct parser *p, msec *ret_duration);           /* duration.c */
bool parse_time(struct parser *p, struct grammar_time *ret_time);    /* instant.c */
bool parse_date(struct parser *p, struct grammar_time *ret_time);    /* instant.c */
bool parse_webcq(struct parser *p, struct grammar_definition *d);    /* webcq.c */
bool parse_subscription(struct parser *p);                           /* subscription.c */
bool parse_where(struct parser *p, struct grammar_monitoring *m);    /* where.c */
bool parse_freq(struct parser *p, enum grammar_freq *ret_freq);      /* report.c */
bool parse_report(struct parser *p, struct grammar_subscription *s); /* report.c */
const char *freq_name(enum grammar_freq f);
extern const char *const weekday_names[7], *const month_names[12];

/* Notes that a clause begins here; false, with E012, when it was there before. */
bool clause_begin(struct parser *p, struct grammar_definition *d, enum grammar_clause c,
        const char *shown);
const char *clause_text(enum grammar_clause c);

bool url_complete(struct arena *life, const char *url, const char **ret_url); /* url.c */
bool mail_is_valid(const char *mail);
bool name_is_plain(const char *s); /* letters, digits, _ and -, not reserved, not too long */

/* ---- calendars and zones (civil.c, zone.c) ------------------------------------------ */

int64_t civil_days(int year, int month, int day); /* since 1970-01-01 */
void civil_from_days(int64_t days, int *year, int *month, int *day);
int civil_month_days(int year, int month);

struct zone; /* NULL is UTC */
/* Abbreviations and ±hh:mm are built in, other names are looked up under `zoneinfo`; false
 * when there is no such zone. */
bool zone_find(struct arena *life, const char *zoneinfo, const char *name,
        const struct zone **ret_zone);
/* From the bytes of a TZif file. */
bool zone_parse(
        struct arena *life, const void *bytes, size_t len, const struct zone **ret_zone);
/* What a wall clock there shows, to the instant.  A time that is skipped counts as if the
 * clock had not been put forward yet; of one that comes twice the first is meant. */
msec zone_instant(const struct zone *z, msec local);
msec zone_local(const struct zone *z, msec at); /* the other way */
extern const char *const zone_abbreviations[];
extern const size_t n_zone_abbreviations;
