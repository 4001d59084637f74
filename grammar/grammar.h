/* grammar -- text to sentinel and back.
 *
 * Three languages go in: WebVigiL's (CREATE SENTINEL .. USING .. MONITOR ..), WebCQ's (CREATE
 * SENTINEL .. AS SENTINEL TYPE ..) and Xyleme's (SUBSCRIPTION ..).  One tree comes out: the
 * WebCQ form is translated while it is read, so nobody else knows that it exists.
 *
 *     grammar_parse   text -> statements, with every syntax error of the file
 *     grammar_check   statements + what exists already -> meaning: names, dates, cycles;
 *                     fills `effective`, where no default and no inheritance is left to do
 *     grammar_print   a statement, or a part of one, in its canonical form;
 *                     parsing that gives the same tree again
 *
 * It knows no clock, no store and no network: the present and the sentinels that exist are
 * given by the caller in a `struct grammar_world`.  The one thing it reads is the time zone
 * database, when a definition names a zone.  No state outside its arguments: two threads may
 * parse at once.  Everything returned lives in the caller's arena.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/time.h"

/* Where something stands in its file: both count from 1, a column is a character, not a byte.
 * Parts that no text stands for (a default, a translated value) have line 0. */
struct grammar_pos {
    uint32_t line, column;
    uint32_t offset; /* bytes from the start of the text */
};

/* ---- change expressions ------------------------------------------------------------- */

enum grammar_type {
    GRAMMAR_ANY_CHANGE,
    GRAMMAR_LINKS,
    GRAMMAR_IMAGES,
    GRAMMAR_ALL_WORDS,
    GRAMMAR_KEYWORDS,
    GRAMMAR_PHRASE,
    GRAMMAR_TABLE,
    GRAMMAR_LIST,
    GRAMMAR_REGEXP,
    GRAMMAR_STRUCTURE,
    GRAMMAR_TAGS,
    GRAMMAR_ATTRIBUTES,
    GRAMMAR_CONTENT,
    GRAMMAR_ELEMENT,
    GRAMMAR_TYPE_COUNT
};

enum grammar_status { /* of an XML element, or of a document in a WHERE */
    GRAMMAR_EXISTS,
    GRAMMAR_NEW,
    GRAMMAR_UPDATED,
    GRAMMAR_DELETED,
    GRAMMAR_UNCHANGED,
    GRAMMAR_STATUS_COUNT
};

enum grammar_region { GRAMMAR_WHOLE_PAGE, GRAMMAR_XPATH, GRAMMAR_CSS };
enum grammar_threshold { GRAMMAR_NO_THRESHOLD, GRAMMAR_MORE_THAN, GRAMMAR_AT_LEAST };

struct grammar_word {
    const char *text; /* a word, a phrase, or several words that must be adjacent */
    struct grammar_pos pos;
};

/* One question about one page.  Which members mean something depends on `type`. */
struct grammar_leaf {
    enum grammar_type type;
    const char *alias;          /* the page, as named by AS; NULL with a single page */
    unsigned page;              /* index into the definition's pages; set by grammar_check */
    bool raw;                   /* any change: compare bytes */
    bool counted;               /* all words, keywords: counts matter */
    bool all;                   /* keywords: the conjunction of all */
    bool on_text;               /* regexp: on the normalised text instead of the source */
    bool strict;                /* element: the text must be its own */
    enum grammar_status status; /* element */
    struct grammar_word *words; /* keywords; phrases; all words: the exclusion set */
    unsigned n_words;
    const char *containing; /* phrase, table, list: identifying text; element: CONTAINS */
    unsigned number;        /* table, list: which one, from 1; 0 when chosen by text */
    unsigned box;           /* phrase: words around it, 10 if not said */
    unsigned occurrence;    /* phrase: which one, 1 if not said */
    const char *pattern;    /* regexp */
    const char *element;    /* element: its tag */
    enum grammar_region region;
    const char *region_path;
    enum grammar_threshold threshold;
    unsigned threshold_ppm; /* parts per million: CHANGED > 50% is 500000 */
    struct grammar_pos pos, pattern_pos, region_pos, alias_pos;
};

enum grammar_op { GRAMMAR_LEAF, GRAMMAR_AND, GRAMMAR_OR, GRAMMAR_NOT };

/* AND and OR have two or more kids, none of them of the same operator (a AND b AND c is one
 * node); NOT has one; a leaf has none. */
struct grammar_change {
    enum grammar_op op;
    struct grammar_leaf *leaf;
    struct grammar_change **kids;
    unsigned n_kids;
    struct grammar_pos pos;
};

/* ---- times -------------------------------------------------------------------------- */

enum grammar_time_kind {
    GRAMMAR_TIME_MISSING, /* only before grammar_check */
    GRAMMAR_TIME_NOW,     /* only before grammar_check: now + offset */
    GRAMMAR_TIME_DATE,    /* only before grammar_check: a day, maybe with clock and zone */
    GRAMMAR_TIME_AT,      /* only after it: the instant `at` */
    GRAMMAR_TIME_START,   /* when `of` starts, + offset */
    GRAMMAR_TIME_END,     /* when `of` ends, + offset */
    GRAMMAR_TIME_FOR,     /* TO only: `offset` after the own start */
    GRAMMAR_TIME_NEVER,   /* TO only */
};

/* A date as it was written.  `zone` is NULL when none was given, "UTC", "+01:00", "PST" or
 * "Europe/Berlin" otherwise. */
struct grammar_date {
    int year, month, day;
    int hour, minute, second, ms;
    bool has_clock;
    const char *zone;
    struct grammar_pos zone_pos;
};

struct grammar_time {
    enum grammar_time_kind kind;
    msec at;        /* effective: AT's instant.  For START and END with a negative offset the
                     * instant it means, computed from `of`'s absolute time; for others
                     * MSEC_NEVER. */
    msec offset;    /* signed */
    const char *of; /* the other sentinel, as written */
    bool is_now;    /* effective FROM: start in the same transaction */
    struct grammar_date date;
    struct grammar_pos pos;
};

/* ---- a sentinel's definition -------------------------------------------------------- */

enum grammar_clause {
    GRAMMAR_USING,
    GRAMMAR_MONITOR,
    GRAMMAR_FETCH,
    GRAMMAR_FROM,
    GRAMMAR_TO, /* FOR counts as TO */
    GRAMMAR_NOTIFY,
    GRAMMAR_COMPARE,
    GRAMMAR_CHANGEHISTORY,
    GRAMMAR_PRESENTATION,
    GRAMMAR_WITHIN,
    GRAMMAR_PRIORITY,
    GRAMMAR_TOPIC,
    GRAMMAR_WITH,
    GRAMMAR_CLAUSE_COUNT
};

struct grammar_page {
    const char *url;      /* with its scheme; NULL while `sentinel` is not resolved */
    const char *sentinel; /* an earlier sentinel whose page is meant; NULL once effective */
    const char *alias;    /* NULL when there is none */
    struct grammar_pos pos;
};

enum grammar_method_kind {
    GRAMMAR_EMAIL,
    GRAMMAR_WEBHOOK,
    GRAMMAR_FAX,
    GRAMMAR_PHONE,
    GRAMMAR_DASHBOARD,
    GRAMMAR_INTERACTIVE, /* dashboard only */
    GRAMMAR_BULLETIN,    /* PERSONALIZED WEB-BULLETIN */
    GRAMMAR_METHOD_COUNT
};

struct grammar_method {
    enum grammar_method_kind kind;
    const char *target; /* address, URL or number; NULL where there is none */
    struct grammar_pos pos;
};

struct grammar_notify {
    struct grammar_method *methods;
    unsigned n_methods;
    bool best_effort; /* said so; means the same as immediate */
    msec every;       /* 0: immediately, else one message a period */
};

enum grammar_compare_kind { GRAMMAR_PAIRWISE, GRAMMAR_MOVING, GRAMMAR_EVERY };

struct grammar_compare {
    enum grammar_compare_kind kind; /* effective: MOVING:2 and EVERY:2 are PAIRWISE */
    unsigned n;                     /* 2 for PAIRWISE */
};

enum grammar_presentation {
    GRAMMAR_PRESENT_BY_TYPE, /* only before grammar_check */
    GRAMMAR_DUAL_FRAME,
    GRAMMAR_ONLY_CHANGE,
    GRAMMAR_MERGED,
};

struct grammar_header {
    const char *name, *value; /* value may hold ${SECRET name}, see grammar_secret_next */
    struct grammar_pos pos;
};

/* How to ask for the pages: WITH (..).  All NULL or 0 when not said. */
struct grammar_request {
    const char *method; /* upper case; effective: GET, or POST when there is a body */
    const char *body;
    const char *user_agent;
    struct grammar_header *headers;
    unsigned n_headers;
    msec timeout; /* 0: the engine's setting */
    int follow;   /* redirects to follow; -1: the engine's setting */
    bool cookies; /* kept from one fetch to the next */
    bool render;  /* by a browser, which hands back what it built */
};

struct grammar_definition {
    uint32_t given;  /* bit (1 << enum grammar_clause) for each clause that was written */
    uint32_t broken; /* and for each in which something was reported */
    struct grammar_page *pages;
    unsigned n_pages;
    struct grammar_change *monitor;
    msec fetch_every; /* 0: on change */
    struct grammar_time from, to;
    struct grammar_notify notify;
    struct grammar_compare compare;
    unsigned changehistory;
    enum grammar_presentation presentation;
    msec within;
    unsigned priority;
    const char *topic; /* NULL when there is none */
    struct grammar_request request;
    struct grammar_pos clause_pos[GRAMMAR_CLAUSE_COUNT];
};

static inline bool grammar_is_given(const struct grammar_definition *d, enum grammar_clause c)
{
    return d->given >> c & 1;
}

/* ---- subscriptions (Xyleme's form) -------------------------------------------------- */

enum grammar_freq {
    GRAMMAR_NO_FREQ,
    GRAMMAR_HOURLY,
    GRAMMAR_DAILY,
    GRAMMAR_WEEKLY,
    GRAMMAR_BIWEEKLY, /* twice a week */
    GRAMMAR_MONTHLY,
    GRAMMAR_FREQ_COUNT
};

enum grammar_cond_kind {
    GRAMMAR_URL_EXTENDS,
    GRAMMAR_URL_IS,
    GRAMMAR_DOCID_IS,
    GRAMMAR_DTDID_IS,
    GRAMMAR_DTD_IS,
    GRAMMAR_DOMAIN_IS,
    GRAMMAR_FILENAME_IS,
    GRAMMAR_LAST_ACCESSED,
    GRAMMAR_LAST_UPDATE,
    GRAMMAR_SELF_CONTAINS,
    GRAMMAR_SELF_STATUS,
    GRAMMAR_ELEMENT_IS, /* [status] tag-or-variable [[strict] contains text] */
    GRAMMAR_COND_COUNT
};

enum grammar_cmp { GRAMMAR_LT, GRAMMAR_LE, GRAMMAR_EQ, GRAMMAR_GE, GRAMMAR_GT };

struct grammar_cond {
    enum grammar_cond_kind kind;
    const char *text;           /* what the URL, name or text is compared with; may be NULL */
    int64_t number;             /* DOCID, DTDID */
    enum grammar_cmp cmp;       /* LAST_ACCESSED, LAST_UPDATE */
    struct grammar_time when;   /* the same; `at` is set by grammar_check */
    enum grammar_status status; /* SELF_STATUS, ELEMENT_IS */
    const char *element;        /* ELEMENT_IS: a tag, or a variable of FROM */
    int variable;               /* ELEMENT_IS: index into binds; -1 for a tag */
    bool strict;
    struct grammar_pos pos;
};

struct grammar_bind {
    bool any_depth; /* self//tag, else self/tag */
    const char *element, *variable;
    struct grammar_pos pos;
};

struct grammar_attribute {
    const char *name, *value;
    bool is_text; /* a string; else the word URL or DATE or a variable */
};

struct grammar_monitoring {
    const char *name;     /* of the query: its template's element or the bound tag */
    const char *variable; /* select X; NULL when a template is selected */
    const char *element;  /* select <element .../> */
    struct grammar_attribute *attributes;
    unsigned n_attributes;
    struct grammar_bind *binds;
    unsigned n_binds;
    struct grammar_cond *conds; /* all must hold */
    unsigned n_conds;
    struct grammar_pos pos;
};

struct grammar_continuous {
    const char *name;
    bool delta;
    const char *query;      /* white space and comments outside strings made one space */
    enum grammar_freq freq; /* NO_FREQ when a notification triggers it */
    const char *when_subscription, *when_query;
    struct grammar_pos pos;
};

struct grammar_refresh {
    const char *url;
    enum grammar_freq freq;
    struct grammar_pos pos;
};

enum grammar_revent_kind {
    GRAMMAR_REPORT_IMMEDIATE,
    GRAMMAR_REPORT_FREQ,
    GRAMMAR_REPORT_WEEKDAY,
    GRAMMAR_REPORT_MONTHDAY,
    GRAMMAR_REPORT_COUNT,
    GRAMMAR_REPORT_NOTIFIED, /* when the query `name` notifies */
};

struct grammar_revent {
    enum grammar_revent_kind kind;
    enum grammar_freq freq;
    int weekday;      /* 1 Monday .. 7 Sunday */
    int month, day;   /* MONTHDAY */
    const char *name; /* COUNT: the query counted, NULL for all; NOTIFIED: the query */
    bool at_least;    /* COUNT: >= instead of > */
    int64_t count;
    struct grammar_pos pos;
};

struct grammar_report {
    const char *query; /* NULL: the notifications as they are */
    struct grammar_revent *events;
    unsigned n_events;
    int64_t atmost_count; /* 0: no limit */
    enum grammar_freq atmost_freq, archive;
    struct grammar_pos pos;
};

struct grammar_virtual {
    const char *subscription, *query;
    struct grammar_pos pos;
};

struct grammar_subscription {
    struct grammar_monitoring *monitoring;
    unsigned n_monitoring;
    struct grammar_continuous *continuous;
    unsigned n_continuous;
    struct grammar_refresh *refresh;
    unsigned n_refresh;
    struct grammar_virtual *virtuals;
    unsigned n_virtuals;
    struct grammar_report *report; /* NULL when there is none */
};

/* ---- statements --------------------------------------------------------------------- */

enum grammar_verb {
    GRAMMAR_CREATE,
    GRAMMAR_ALTER,
    GRAMMAR_ENABLE,
    GRAMMAR_DISABLE,
    GRAMMAR_STOP,
    GRAMMAR_SHOW,
    GRAMMAR_DROP,
    GRAMMAR_SUBSCRIPTION,
    GRAMMAR_VERB_COUNT
};

struct grammar_statement {
    struct grammar_statement *next;
    enum grammar_verb verb;
    const char *name; /* as written; names are compared without regard to ASCII case */
    struct grammar_pos pos, name_pos;
    uint32_t end;    /* offset behind the last byte, the semicolon included */
    bool or_replace; /* CREATE */
    bool cascade;    /* DROP */
    bool has_errors; /* something in it was reported */
    struct grammar_definition *definition; /* CREATE, ALTER: as written */
    /* CREATE, ALTER: what it amounts to, set by grammar_check, NULL when it has errors.  All
     * values are there, whatever `given` says: pages have URLs, times are AT, START, END, FOR
     * or NEVER, presentation and request method are chosen. */
    struct grammar_definition *effective;
    struct grammar_subscription *subscription;
};

/* ---- diagnostics -------------------------------------------------------------------- */

enum grammar_code {
#define CODE(id, severity, summary) GRAMMAR_##id,
#include "grammar/codes.def"
#undef CODE
    GRAMMAR_CODE_COUNT
};

enum grammar_severity { GRAMMAR_ERROR, GRAMMAR_WARNING };

struct grammar_diagnostic {
    struct grammar_diagnostic *next;
    enum grammar_code code;
    enum grammar_severity severity;
    const char *file;
    struct grammar_pos pos;
    const char *message; /* "no such date (month/day/year is expected)" */
    const char *hint;    /* "Did you mean LINKS?" or NULL */
    const char
            *source_line; /* without its line end; of a very long one the part that matters */
    uint32_t caret;       /* characters of source_line before the caret */
};

struct grammar_script {
    struct arena *life;
    const char *file;
    const char *text; /* a copy of what was parsed */
    size_t len;
    struct grammar_statement *statements; /* in the order of the file */
    size_t n_statements;
    struct grammar_diagnostic *diagnostics; /* in the order of the file */
    size_t n_errors, n_warnings;
    struct grammar_inner *inner;
};

const char *grammar_code_name(enum grammar_code code);    /* "E031" */
const char *grammar_code_summary(enum grammar_code code); /* "no such date" */

/* For who finds fault with a statement after the grammar did not: adds to the script's
 * diagnostics, with the source line and all. */
const struct grammar_diagnostic *grammar_complain(struct grammar_script *script,
        enum grammar_code code, struct grammar_pos pos, const struct fault *f);

/* "file:line:col: error: E031: ...", the source line, a caret line and the hint. */
void grammar_diagnostic_print(struct buf *out, const struct grammar_diagnostic *d);
/* {"code":"E031","severity":"error","file":..,"line":..,"column":..,"message":..,"hint":..,
 * "source":..} as one value. */
void grammar_diagnostic_json(struct json *out, const struct grammar_diagnostic *d);

/* ---- parsing and checking ----------------------------------------------------------- */

/* Always sets *ret_script, which holds every statement that could be understood and every
 * error.  OK when there was none, else ERR_SYNTAX.  `file` is borrowed for `life`. */
MUST_USE enum err grammar_parse(struct arena *life, const char *file, const char *text,
        size_t len, struct grammar_script **ret_script);

enum grammar_phase { GRAMMAR_WAITING, GRAMMAR_RUNNING, GRAMMAR_ENDED };

/* A sentinel (or subscription) that exists already.  Borrowed until grammar_check returns. */
struct grammar_known {
    const char *name;
    enum grammar_phase phase;
    bool start_is_absolute, end_is_absolute; /* a known instant, not hanging on another's */
    msec starts_at, ends_at;    /* those instants; starts_at also when it has started */
    const char *const *depends; /* names in its From and To; for a subscription: the
                                 * subscriptions of its virtual references */
    size_t n_depends;
    const char *const *dependants; /* who names it in From or To, for DROP */
    size_t n_dependants;
    const char *definition; /* what grammar_print_effective gave when it was made;
                             * NULL for a subscription */
};

struct grammar_world {
    msec now;
    const char *zone;     /* for dates without one; NULL: UTC */
    msec min_interval;    /* of a fetch; 0: no minimum */
    const char *zoneinfo; /* where the time zone database is; NULL: /usr/share/zoneinfo */
    void *arg;
    /* Fills *ret and returns true when such a sentinel exists.  NULL: nothing exists. */
    bool (*find_sentinel)(
            void *arg, struct arena *life, const char *name, struct grammar_known *ret_known);
    bool (*find_subscription)(
            void *arg, struct arena *life, const char *name, struct grammar_known *ret_known);
    /* Calls `visit` with each sentinel's name, for "did you mean".  May be NULL. */
    void (*each_name)(void *arg, void (*visit)(void *ctx, const char *name), void *ctx);
    /* Can this XPath or CSS selector be read?  NULL: every one is taken. */
    enum err (*check_selector)(enum grammar_region language, const char *text, struct fault *f);
};

/* Statements are taken in order, each seeing what those before it did.  Adds to the script's
 * diagnostics and fills `effective`.  OK when the script has no errors at all, else
 * ERR_SYNTAX, ERR_NAME or ERR_RANGE, by the first one. */
MUST_USE enum err grammar_check(
        struct grammar_script *script, const struct grammar_world *world);

/* Reads what grammar_print_effective wrote, as an effective definition again: pages of leaves,
 * instants and request method are set.  Not what depends on others: for START and END with a
 * negative offset `at` is MSEC_NEVER. */
MUST_USE enum err grammar_load(struct arena *life, const char *text, struct fault *f,
        const struct grammar_definition **ret_definition);

/* ---- printing ----------------------------------------------------------------------- */

/* One line, without a semicolon.  Printing never fails; ask out->overflowed. */
void grammar_print(struct buf *out, const struct grammar_statement *st);
/* CREATE SENTINEL name .. with only the clauses in `given`, or, for an effective definition,
 * with every value spelled out. */
void grammar_print_definition(
        struct buf *out, const char *name, const struct grammar_definition *d);
void grammar_print_effective(
        struct buf *out, const char *name, const struct grammar_definition *d);
void grammar_print_change(struct buf *out, const struct grammar_change *c);
/* Without the page alias: the text by which equal questions about one page are one. */
void grammar_print_leaf(struct buf *out, const struct grammar_leaf *l);
void grammar_print_fetch(struct buf *out, msec fetch_every); /* "on change", "every 6 hours" */
void grammar_print_compare(struct buf *out, struct grammar_compare c); /* "moving:3" */
void grammar_print_duration(struct buf *out, msec d);                  /* "1 week 2 days" */
void grammar_print_time(struct buf *out, const struct grammar_time *t);
void grammar_print_methods(struct buf *out, const struct grammar_notify *n);
/* One method's word, the first of those that name it: "email", "webhook". */
const char *grammar_method_name(enum grammar_method_kind kind);
const char *grammar_type_name(enum grammar_type type); /* "links", "any change" */
const char *grammar_presentation_name(enum grammar_presentation p);

/* The whole file in canonical form, a clause a line, comments kept.  Nothing is written when
 * it has errors; the script tells them. */
MUST_USE enum err grammar_fmt(struct arena *life, const char *file, const char *text,
        size_t len, struct buf *out, struct grammar_script **ret_script);

/* ---- small services for who walks the tree ------------------------------------------ */

/* Finds the next ${SECRET name} at or after *at: true, with where it stands and its name.
 * Set *at to 0 first; it is moved behind the reference. */
bool grammar_secret_next(
        const char *value, size_t *at, struct str *ret_whole, struct str *ret_name);

/* Same names, as the language compares them. */
bool grammar_name_equal(const char *a, const char *b);

/* Parses a single change expression, or a single time: for `vigil compare --monitor` and for
 * options like --since.  The message of `f` is the first error's. */
MUST_USE enum err grammar_parse_change(struct arena *life, const char *text, struct fault *f,
        struct grammar_change **ret_change);
MUST_USE enum err grammar_parse_instant(
        const char *text, const struct grammar_world *world, struct fault *f, msec *ret_at);
