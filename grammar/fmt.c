/* vigil fmt: a file in canonical form, a clause a line, comments kept.
 *
 * The text is printed from the tree, so comments have to find their place again.  A comment
 * behind something on its line belongs to that; any other to what comes next.
 *  (1) Every comment of the file is in the result.
 *  (2) Formatting what was formatted changes nothing.
 */
#include "grammar/print_int.h"

/* A line to come: the head of a statement, a clause, or what follows the last statement. */
struct unit {
    uint32_t offset; /* where it begins in the source */
    unsigned clause; /* which clause or part */
    bool is_head;
};

struct fmt {
    const struct grammar_script *script;
    struct buf *out;
    unsigned next_comment;
};

static const struct comment *comment_next(const struct fmt *f, uint32_t before)
{
    const struct grammar_inner *in = f->script->inner;
    if (f->next_comment == in->n_comments || in->comments[f->next_comment].offset >= before)
        return NULL;
    return &in->comments[f->next_comment];
}

/* Does something stand before it on its line? */
static bool is_trailing(const struct fmt *f, const struct comment *c)
{
    for (uint32_t i = c->offset; i > 0 && f->script->text[i - 1] != '\n'; i--)
        if (!strchr(" \t\r\v\f", f->script->text[i - 1]))
            return true;
    return false;
}

static bool blank_line_follows(const struct fmt *f, const struct comment *c)
{
    const char *p = f->script->text + c->offset + c->len;
    unsigned ends = 0;
    for (; *p && strchr(" \t\r\v\f\n", *p); p++)
        ends += *p == '\n';
    return *p && ends > 1;
}

static void put_comment(struct fmt *f, const struct comment *c)
{
    struct str s = {f->script->text + c->offset, c->len};
    while (s.len > 0 && strchr(" \t\r\v\f", s.ptr[s.len - 1]))
        s.len--;
    (void)buf_append(f->out, s.ptr, s.len);
}

/* ---- one statement ------------------------------------------------------------------ */

static unsigned units_of(
        struct arena *life, const struct grammar_statement *st, struct unit **ret)
{
    struct unit *units = NULL;
    unsigned n = 0;
    *GROW(life, units, n) = (struct unit){.offset = st->pos.offset, .is_head = true};
    for (unsigned c = 0; st->definition && c < GRAMMAR_CLAUSE_COUNT; c++)
        if (grammar_is_given(st->definition, c))
            *GROW(life, units, n) =
                    (struct unit){.offset = st->definition->clause_pos[c].offset, .clause = c};
    for (unsigned i = 0; st->subscription && i < subscription_parts(st->subscription); i++)
        *GROW(life, units, n) = (struct unit){
                .offset = subscription_part_pos(st->subscription, i).offset, .clause = i};
    *ret = units;
    return n;
}

/* The unit that the token at `offset` is part of. */
static unsigned unit_at(const struct unit *units, unsigned n, uint32_t offset)
{
    unsigned best = 0;
    for (unsigned i = 1; i < n; i++)
        if (units[i].offset <= offset && units[i].offset >= units[best].offset)
            best = i;
    return best;
}

/* For each comment the unit it belongs to.  From the last to the first, since what comes after
 * a row of comments is the same for all of them. */
static unsigned *find_owners(struct arena *life, const struct fmt *f, unsigned first,
        unsigned n, const struct unit *units, unsigned n_units)
{
    unsigned *owners = arena_array_of(life, n + 1, unsigned);
    uint32_t token = 0;
    for (unsigned i = n; i-- > 0;) {
        const struct comment *c = &f->script->inner->comments[first + i];
        const char *text = f->script->text;
        uint32_t after = c->offset + c->len;
        after += (uint32_t)strspn(text + after, " \t\r\v\f\n");
        if (i + 1 == n || c[1].offset != after)
            token = after;
        owners[i] = unit_at(units, n_units, is_trailing(f, c) ? c->offset : token);
    }
    return owners;
}

static void put_unit(struct fmt *f, const struct grammar_statement *st, const struct unit *u)
{
    if (u->is_head)
        print_head(f->out, st);
    else if (st->definition)
        print_clause(f->out, st->definition, u->clause);
    else
        print_part(f->out, st->subscription, u->clause);
}

/* Of the comments behind parts of unit `u`, the first may stay on its line. */
static const struct comment *comment_behind(
        const struct fmt *f, unsigned first, unsigned n, const unsigned *owners, unsigned u)
{
    for (unsigned i = 0; i < n; i++) {
        const struct comment *c = &f->script->inner->comments[first + i];
        if (owners[i] == u && is_trailing(f, c))
            return c;
    }
    return NULL;
}

/* All others stand before it, on lines of their own. */
static void put_comments_before(
        struct fmt *f, unsigned first, unsigned n, const unsigned *owners, unsigned u)
{
    const struct comment *behind = comment_behind(f, first, n, owners, u);
    for (unsigned i = 0; i < n; i++) {
        const struct comment *c = &f->script->inner->comments[first + i];
        if (owners[i] != u || c == behind)
            continue;
        put_comment(f, c);
        print(f->out, u == 0 ? "\n" : "\n    ");
    }
}

static void put_statement(struct fmt *f, const struct grammar_statement *st)
{
    SCRATCH struct arena *life = arena_new(NULL, "fmt");
    struct unit *units;
    unsigned n = units_of(life, st, &units), n_comments = 0;
    unsigned first = f->next_comment;
    for (; comment_next(f, st->end); f->next_comment++)
        n_comments++;
    const unsigned *owners = find_owners(life, f, first, n_comments, units, n);
    for (unsigned u = 0; u < n; u++) {
        if (u > 0)
            print(f->out, "\n    ");
        put_comments_before(f, first, n_comments, owners, u);
        put_unit(f, st, &units[u]);
        if (u + 1 == n)
            print(f->out, ";");
        const struct comment *behind = comment_behind(f, first, n_comments, owners, u);
        if (behind) {
            print(f->out, " ");
            put_comment(f, behind);
        }
    }
}

/* ---- the file ----------------------------------------------------------------------- */

/* Comments between two statements, or behind the last. */
static void put_between(struct fmt *f, uint32_t until, bool *blank_before)
{
    for (const struct comment *c; (c = comment_next(f, until)); f->next_comment++) {
        if (is_trailing(f, c) && f->out->len > 0 && f->out->data[f->out->len - 1] == '\n') {
            f->out->len--; /* back onto the line of the statement before */
            print(f->out, " ");
        } else if (*blank_before && f->out->len > 0) {
            print(f->out, "\n");
            *blank_before = false;
        }
        bool trailing = f->out->len > 0 && f->out->data[f->out->len - 1] == ' ';
        put_comment(f, c);
        print(f->out, "\n");
        if (!trailing)
            *blank_before = blank_line_follows(f, c);
    }
}

static bool is_one_line(const struct grammar_statement *st)
{
    return !st->definition && !st->subscription;
}

enum err grammar_fmt(struct arena *life, const char *file, const char *text, size_t len,
        struct buf *out, struct grammar_script **ret_script)
{
    if (len >= UINT32_MAX)
        return grammar_parse(life, file, text, len, ret_script);
    struct grammar_script *s = *ret_script = script_new(life, file, text, len);
    s->inner->keep_comments = true;
    if (script_parse(s) != OK)
        return ERR_SYNTAX;

    struct fmt f = {.script = s, .out = out};
    bool blank = false;
    const struct grammar_statement *before = NULL;
    for (const struct grammar_statement *st = s->statements; st; st = st->next) {
        blank = before && !(is_one_line(before) && is_one_line(st));
        put_between(&f, st->pos.offset, &blank);
        if (blank && out->len > 0)
            print(out, "\n");
        put_statement(&f, st);
        print(out, "\n");
        before = st;
    }
    blank = before != NULL;
    put_between(&f, UINT32_MAX, &blank);
    return OK;
}
