/* WebCQ's form: CREATE Sentinel x AS Sentinel Type .. Sentinel Target ..
 *
 * Read clause by clause, then translated into a definition as if it had been written in the
 * WebVigiL form:
 *     type and object         MONITOR
 *     target                  USING
 *     trigger condition       FETCH EVERY
 *     notification condition  NOTIFY .. EVERY, a multiple of the trigger, by default equal to
 * it notification method     NOTIFY BY start, stop condition   FROM, TO name TOPIC: the words
 * people know it by
 */
#include "grammar/grammar_int.h"
#include "base/str.h"

enum cq_clause {
    CQ_NAME,
    CQ_TYPE,
    CQ_TARGET,
    CQ_OBJECT,
    CQ_TRIGGER,
    CQ_NOTIFICATION,
    CQ_METHOD,
    CQ_START,
    CQ_STOP,
    CQ_COUNT
};

struct cq {
    unsigned given;
    struct grammar_pos pos[CQ_COUNT], object_pos, notification_pos;
    struct grammar_leaf *leaf;
    bool object_needed, object_possible;
    const char *object;
    msec notification;
};

static const struct {
    enum word first, second;
    enum grammar_clause clause; /* where its position goes */
} cq_words[CQ_COUNT] = {
        [CQ_NAME] = {W_SENTINEL, W_NAME, GRAMMAR_TOPIC},
        [CQ_TYPE] = {W_SENTINEL, W_TYPE, GRAMMAR_MONITOR},
        [CQ_TARGET] = {W_SENTINEL, W_TARGET, GRAMMAR_USING},
        [CQ_OBJECT] = {W_SENTINEL, W_OBJECT, GRAMMAR_MONITOR},
        [CQ_TRIGGER] = {W_TRIGGER, W_CONDITION, GRAMMAR_FETCH},
        [CQ_NOTIFICATION] = {W_NOTIFICATION, W_CONDITION, GRAMMAR_NOTIFY},
        [CQ_METHOD] = {W_NOTIFICATION, W_METHOD, GRAMMAR_NOTIFY},
        [CQ_START] = {W_START, W_CONDITION, GRAMMAR_FROM},
        [CQ_STOP] = {W_STOP, W_CONDITION, GRAMMAR_TO},
};

static const struct {
    enum word first, second;
    enum grammar_type type;
    bool object_needed, object_possible;
    const char *name;
} cq_types[] = {
        {W_ANY, W_CHANGE, GRAMMAR_ANY_CHANGE, false, false, "ANY CHANGE"},
        {W_ALL, W_LINKS, GRAMMAR_LINKS, false, false, "ALL LINKS"},
        {W_ALL, W_IMAGES, GRAMMAR_IMAGES, false, false, "ALL IMAGES"},
        {W_ALL, W_WORDS, GRAMMAR_ALL_WORDS, false, false, "ALL WORDS"},
        {W_TABLE, W_NONE, GRAMMAR_TABLE, false, true, "TABLE"},
        {W_LIST, W_NONE, GRAMMAR_LIST, false, true, "LIST"},
        {W_PHRASE, W_NONE, GRAMMAR_PHRASE, true, true, "PHRASE"},
        {W_REGULAR, W_EXPRESSION, GRAMMAR_REGEXP, true, true, "REGULAR EXPRESSION"},
        {W_KEYWORD, W_NONE, GRAMMAR_KEYWORDS, true, true, "KEYWORD"},
        {W_KEYWORDS, W_NONE, GRAMMAR_KEYWORDS, true, true, "KEYWORDS"},
};

/* ---- reading ------------------------------------------------------------------------ */

static bool parse_cq_type(struct parser *p, struct cq *cq)
{
    struct token found = p->tok;
    enum word second = parse_peek(p).word;
    const char *choices[countof(cq_types)];
    for (size_t i = 0; i < countof(cq_types); i++) {
        choices[i] = cq_types[i].name;
        if (!parse_is(p, cq_types[i].first) ||
                (cq_types[i].second != W_NONE && cq_types[i].second != second))
            continue;
        cq->leaf = arena_new_of(p->life, struct grammar_leaf);
        cq->leaf->type = cq_types[i].type;
        cq->leaf->pos = found.pos;
        cq->object_needed = cq_types[i].object_needed;
        cq->object_possible = cq_types[i].object_possible;
        parse_advance(p);
        if (cq_types[i].second != W_NONE)
            parse_advance(p);
        return true;
    }
    if (found.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E054, "a change type");
    parse_error(
            p, GRAMMAR_E054, found.pos, "unknown change type %s", token_shown(p->life, &found));
    report_nearest(p->script, p->said, word_nearest(found.text, choices, countof(choices)));
    report_hint(p->script, p->said,
            "There are any change, all links, all images, all words, table, list, phrase, "
            "regular expression and keywords.");
    return false;
}

static bool parse_target(struct parser *p, struct grammar_definition *d)
{
    struct grammar_page page = {.pos = p->tok.pos};
    if (!parse_url(p, &page.url))
        return false;
    d->n_pages = 0;
    d->pages = NULL;
    *GROW(p->life, d->pages, d->n_pages) = page;
    return true;
}

static bool parse_cq_clause(
        struct parser *p, struct cq *cq, enum cq_clause c, struct grammar_definition *d)
{
    struct grammar_notify methods;
    switch (c) {
    case CQ_NAME:
        return parse_topic(p, d);
    case CQ_TYPE:
        return parse_cq_type(p, cq);
    case CQ_TARGET:
        return parse_target(p, d);
    case CQ_OBJECT:
        cq->object_pos = p->tok.pos;
        return parse_string(p, "the object, as a string", &cq->object);
    case CQ_TRIGGER:
        return parse_duration(p, &d->fetch_every);
    case CQ_NOTIFICATION:
        cq->notification_pos = p->tok.pos;
        return parse_duration(p, &cq->notification);
    case CQ_METHOD:
        if (!parse_methods(p, &methods))
            return false;
        d->notify = methods;
        return true;
    case CQ_START:
        return parse_time(p, &d->from);
    case CQ_STOP:
        return parse_time(p, &d->to);
    case CQ_COUNT:
        break;
    }
    return false;
}

/* Reads "SENTINEL TYPE" and its like. */
static bool parse_cq_words(struct parser *p, enum cq_clause *ret)
{
    struct token first = p->tok, second = parse_peek(p);
    for (enum cq_clause c = 0; c < CQ_COUNT; c++) {
        if (!parse_is(p, cq_words[c].first) || second.kind != T_NAME ||
                second.word != cq_words[c].second)
            continue;
        *ret = c;
        return true;
    }
    parse_advance(p);
    const char *what = first.word == W_SENTINEL       ? "NAME, TYPE, TARGET or OBJECT"
                       : first.word == W_NOTIFICATION ? "CONDITION or METHOD"
                                                      : "CONDITION";
    return parse_expected(p, GRAMMAR_E010, what);
}

static void parse_cq_clauses(struct parser *p, struct cq *cq, struct grammar_definition *d)
{
    while (!parse_at_end(p)) {
        enum cq_clause c = CQ_COUNT;
        if (p->tok.kind != T_NAME || !(word_flags(p->tok.word) & CQ)) {
            struct grammar_pos before = p->tok.pos;
            parse_stray(p, CQ);
            if (p->tok.pos.offset == before.offset)
                return; /* another statement begins */
            continue;
        }
        if (!parse_cq_words(p, &c)) {
            parse_recover(p, CQ);
            continue;
        }
        if (cq->given >> c & 1)
            parse_error(p, GRAMMAR_E012, p->tok.pos, "clause %s %s given twice",
                    word_text(cq_words[c].first), word_text(cq_words[c].second));
        cq->given |= 1u << c;
        cq->pos[c] = p->tok.pos;
        parse_advance(p);
        parse_advance(p);
        if (!parse_cq_clause(p, cq, c, d))
            parse_recover(p, CQ);
    }
}

/* ---- translating -------------------------------------------------------------------- */

static void add_keywords(struct parser *p, struct cq *cq)
{
    struct grammar_leaf *l = cq->leaf;
    struct str rest = str_of(cq->object);
    for (;;) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        struct str one =
                str_trim((struct str){rest.ptr, comma ? (size_t)(comma - rest.ptr) : rest.len});
        if (one.len == 0) {
            parse_error(p, GRAMMAR_E051, cq->object_pos, "an empty word or phrase");
            return;
        }
        *GROW(p->life, l->words, l->n_words) =
                (struct grammar_word){arena_strndup(p->life, one.ptr, one.len), cq->object_pos};
        if (!comma)
            break;
        rest = (struct str){comma + 1, rest.len - (size_t)(comma + 1 - rest.ptr)};
    }
    l->all = l->n_words > 1; /* WebCQ waits for all of them */
}

static void add_object(struct parser *p, struct cq *cq)
{
    struct grammar_leaf *l = cq->leaf;
    struct str object = str_trim(str_of(cq->object));
    if (object.len == 0) {
        parse_error(p, GRAMMAR_E051, cq->object_pos, "an empty object");
        return;
    }
    switch (l->type) {
    case GRAMMAR_KEYWORDS:
        add_keywords(p, cq);
        break;
    case GRAMMAR_PHRASE:
        *GROW(p->life, l->words, l->n_words) = (struct grammar_word){
                arena_strndup(p->life, object.ptr, object.len), cq->object_pos};
        (void)leaf_check_words(p, l); /* told */
        break;
    case GRAMMAR_REGEXP:
        l->pattern = cq->object;
        l->pattern_pos = cq->object_pos;
        break;
    case GRAMMAR_TABLE:
    case GRAMMAR_LIST:
        l->containing = cq->object;
        l->number = 0;
        break;
    default: /* the other types take no object */
        break;
    }
}

static void translate_type(struct parser *p, struct cq *cq, struct grammar_definition *d)
{
    if (!cq->leaf)
        return;
    if (cq->leaf->type == GRAMMAR_TABLE || cq->leaf->type == GRAMMAR_LIST)
        cq->leaf->number = 1;
    if (cq->leaf->type == GRAMMAR_PHRASE) {
        cq->leaf->box = 10;
        cq->leaf->occurrence = 1;
    }
    if (cq->object && !cq->object_possible)
        report(p->script, GRAMMAR_W001, cq->object_pos, "an object has no effect on %s",
                grammar_type_name(cq->leaf->type));
    else if (cq->object)
        add_object(p, cq);
    else if (cq->object_needed && !(cq->given >> CQ_OBJECT & 1))
        parse_error(p, GRAMMAR_E014, cq->pos[CQ_TYPE],
                "clause SENTINEL OBJECT is missing for %s", grammar_type_name(cq->leaf->type));
    d->monitor = change_of_leaf(p->life, cq->leaf);
}

static void translate_notify(struct parser *p, struct cq *cq, struct grammar_definition *d)
{
    struct grammar_notify *n = &d->notify;
    if (cq->notification && d->fetch_every && cq->notification % d->fetch_every)
        parse_error(p, GRAMMAR_E025, cq->notification_pos,
                "NOTIFICATION CONDITION must be a multiple of TRIGGER CONDITION");
    if (n->every == 0)
        n->every = cq->notification ? cq->notification : d->fetch_every;
    if (n->every && n->n_methods == 0)
        *GROW(p->life, n->methods, n->n_methods) =
                (struct grammar_method){.kind = GRAMMAR_DASHBOARD};
    if (n->n_methods) {
        d->given |= 1u << GRAMMAR_NOTIFY;
        if (!d->clause_pos[GRAMMAR_NOTIFY].line)
            d->clause_pos[GRAMMAR_NOTIFY] = p->st->name_pos;
    }
}

static void need(struct parser *p, const struct cq *cq, enum cq_clause c)
{
    if (!(cq->given >> c & 1))
        parse_error(p, GRAMMAR_E014, p->st->name_pos, "clause %s %s is missing in \"%s\"",
                word_text(cq_words[c].first), word_text(cq_words[c].second), p->st->name);
}

bool parse_webcq(struct parser *p, struct grammar_definition *d)
{
    struct cq cq = {0};
    parse_cq_clauses(p, &cq, d);
    need(p, &cq, CQ_TYPE);
    need(p, &cq, CQ_TARGET);
    for (enum cq_clause c = 0; c < CQ_COUNT; c++) {
        enum grammar_clause to = cq_words[c].clause;
        if (!(cq.given >> c & 1) || d->given >> to & 1)
            continue;
        d->given |= 1u << to;
        d->clause_pos[to] = cq.pos[c];
    }
    translate_type(p, &cq, d);
    translate_notify(p, &cq, d);
    if (p->st->has_errors)
        d->broken = UINT32_MAX; /* clauses of the two forms do not correspond one to one */
    return true;
}
