/* What is wrong, where, and what to do about it.
 *
 *  (1) Diagnostics come out in the order of the file, whichever pass found them.
 *  (2) A file that is all errors costs no more memory than one that is not: their number and
 *      the piece of source each keeps are limited.
 */
#include "grammar/grammar_int.h"
#include "base/str.h"

enum { MAX_DIAGNOSTICS = 1000, MAX_SOURCE_LINE = 400, SOURCE_BEFORE_CARET = 160 };

static const struct {
    const char *name, *summary;
    enum grammar_severity severity;
} codes[GRAMMAR_CODE_COUNT] = {
#define CODE(id, severity, summary) {#id, summary, GRAMMAR_##severity},
#include "grammar/codes.def"
#undef CODE
};

const char *grammar_code_name(enum grammar_code code)
{
    return codes[code].name;
}

const char *grammar_code_summary(enum grammar_code code)
{
    return codes[code].summary;
}

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The source line, or of a long one what is around the caret (2). */
static void take_source_line(struct grammar_script *s, struct grammar_diagnostic *d)
{
    size_t at = d->pos.offset < s->len ? d->pos.offset : s->len, begin = at, end = at;
    while (begin > 0 && s->text[begin - 1] != '\n' && at - begin < SOURCE_BEFORE_CARET)
        begin--;
    while (begin < at && is_inside_character(s->text[begin]))
        begin++;
    while (end < s->len && s->text[end] != '\n' && end - begin < MAX_SOURCE_LINE)
        end++;
    while (end > at && end < s->len && is_inside_character(s->text[end]))
        end--;
    if (end > begin && s->text[end - 1] == '\r')
        end--;
    if (begin == 0 && end >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
        begin = 3;
    for (size_t i = begin; i < at && i < end; i++)
        d->caret += !is_inside_character(s->text[i]);
    d->source_line = arena_strndup(s->life, s->text + begin, end - begin);
}

static struct grammar_diagnostic *append(struct grammar_script *s, enum grammar_code code,
        struct grammar_pos pos, const char *message)
{
    struct grammar_diagnostic *d = arena_new_of(s->life, struct grammar_diagnostic);
    d->code = code;
    d->severity = codes[code].severity;
    d->file = s->file;
    d->pos = pos;
    d->message = message;
    take_source_line(s, d);
    if (s->inner->last)
        s->inner->last->next = d;
    else
        s->diagnostics = d;
    s->inner->last = d;
    if (d->severity == GRAMMAR_ERROR)
        s->n_errors++;
    else
        s->n_warnings++;
    return d;
}

struct grammar_diagnostic *report(struct grammar_script *s, enum grammar_code code,
        struct grammar_pos pos, const char *fmt, ...)
{
    if (s->n_errors + s->n_warnings >= MAX_DIAGNOSTICS) {
        s->inner->too_many = true;
        s->n_errors += codes[code].severity == GRAMMAR_ERROR;
        return NULL;
    }
    va_list ap;
    va_start(ap, fmt);
    char *message = arena_vprintf(s->life, fmt, ap);
    va_end(ap);
    return append(s, code, pos, message);
}

const struct grammar_diagnostic *grammar_complain(struct grammar_script *script,
        enum grammar_code code, struct grammar_pos pos, const struct fault *f)
{
    struct grammar_diagnostic *d =
            append(script, code, pos, arena_strdup(script->life, f->message));
    if (*f->hint)
        d->hint = arena_strdup(script->life, f->hint);
    return d;
}

void report_hint(struct grammar_script *s, struct grammar_diagnostic *d, const char *fmt, ...)
{
    if (!d || d->hint)
        return;
    va_list ap;
    va_start(ap, fmt);
    d->hint = arena_vprintf(s->life, fmt, ap);
    va_end(ap);
}

void report_nearest(struct grammar_script *s, struct grammar_diagnostic *d, const char *nearest)
{
    if (nearest)
        report_hint(s, d, "Did you mean %s?", nearest);
}

static struct grammar_diagnostic *merge(
        struct grammar_diagnostic *a, struct grammar_diagnostic *b)
{
    struct grammar_diagnostic *first = NULL, **to = &first;
    while (a && b) {
        struct grammar_diagnostic **from = b->pos.offset < a->pos.offset ? &b : &a;
        *to = *from;
        to = &(*from)->next;
        *from = (*from)->next;
    }
    *to = a ? a : b;
    return first;
}

static struct grammar_diagnostic *sort(struct grammar_diagnostic *list)
{
    if (!list || !list->next)
        return list;
    struct grammar_diagnostic *middle = list;
    for (struct grammar_diagnostic *end = list->next; end && end->next; end = end->next->next)
        middle = middle->next;
    struct grammar_diagnostic *second = middle->next;
    middle->next = NULL;
    return merge(sort(list), sort(second));
}

void report_sort(struct grammar_script *s)
{
    s->diagnostics = sort(s->diagnostics); /* (1) */
    struct grammar_diagnostic *last = s->diagnostics;
    while (last && last->next)
        last = last->next;
    s->inner->last = last;
}

/* How many columns of a terminal a character takes.  The ranges are the large blocks of wide
 * and of combining characters; a caret one column off elsewhere does no harm. */
static unsigned width_of(uint32_t c)
{
    if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) ||
            (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff)
        return 0;
    bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
                (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
                (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) ||
                (c >= 0x20000 && c <= 0x3fffd);
    return wide ? 2 : 1;
}

/* A definition may come from a stranger: what a terminal would act on, and bytes that are no
 * text, are shown as a question mark. */
static void print_source(struct buf *out, const char *line)
{
    for (size_t left = strlen(line); left > 0;) {
        size_t n = utf8_length(line, left);
        uint32_t c = 0;
        if (n > 0)
            (void)utf8_decode(line, left, &c);
        bool odd = n == 0 || (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) ||
                   (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
        n = n > 0 ? n : 1;
        (void)(odd ? buf_putc(out, '?') : buf_append(out, line, n));
        line += n;
        left -= n;
    }
}

static void print_caret(struct buf *out, const struct grammar_diagnostic *d)
{
    const char *p = d->source_line;
    size_t left = strlen(p);
    for (uint32_t i = 0; i < d->caret && left > 0; i++) {
        uint32_t c = 0;
        size_t n = utf8_length(p, left) > 0 ? utf8_decode(p, left, &c) : 1;
        for (unsigned w = width_of(c); w > 0; w--)
            (void)buf_putc(out, c == '\t' ? '\t' : ' ');
        p += n;
        left -= n;
    }
    (void)buf_puts(out, "^\n");
}

/* Whoever prints asks out->overflowed; here it does not matter. */
void grammar_diagnostic_print(struct buf *out, const struct grammar_diagnostic *d)
{
    (void)buf_printf(out, "%s:%u:%u: %s: %s: ", d->file, d->pos.line, d->pos.column,
            d->severity == GRAMMAR_ERROR ? "error" : "warning", codes[d->code].name);
    print_source(out, d->message);
    (void)buf_puts(out, "\n    ");
    print_source(out, d->source_line);
    (void)buf_puts(out, "\n    ");
    print_caret(out, d);
    if (d->hint)
        (void)buf_printf(out, "    %s\n", d->hint);
}

void grammar_diagnostic_json(struct json *out, const struct grammar_diagnostic *d)
{
    json_object_begin(out);
    json_key(out, "code");
    json_text(out, codes[d->code].name);
    json_key(out, "severity");
    json_text(out, d->severity == GRAMMAR_ERROR ? "error" : "warning");
    json_key(out, "file");
    json_text(out, d->file);
    json_key(out, "line");
    json_int(out, d->pos.line);
    json_key(out, "column");
    json_int(out, d->pos.column);
    json_key(out, "message");
    json_text(out, d->message);
    json_key(out, "hint");
    json_text(out, d->hint);
    json_key(out, "source");
    json_text(out, d->source_line);
    json_object_end(out);
}
