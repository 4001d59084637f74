/* Scenario files: lines into scenarios, words and times.
 *
 * A line is one statement.  A '#' at its beginning or after a space starts a comment, unless
 * it stands in quotes; a backslash at the end joins the next line to it.
 */
#include "tests/sim/sim.h"
#include "base/str.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 4 << 20 };

/* The end of the quoted text that begins at s, or the end of everything. */
static const char *past_quote(const char *s)
{
    char quote = *s++;
    while (*s && *s != quote)
        s++;
    return *s ? s + 1 : s;
}

static size_t without_comment(const char *line)
{
    const char *s = line;
    while (*s) {
        if (*s == '#' && (s == line || isspace((unsigned char)s[-1])))
            break;
        bool opens = s == line || isspace((unsigned char)s[-1]) || s[-1] == '{' || s[-1] == '(';
        s = *s == '"' || (*s == '\'' && opens) ? past_quote(s) : s + 1;
    }
    return (size_t)(s - line);
}

static bool read_all(const char *file, struct buf *text, struct fault *f)
{
    char part[4096];
    size_t n;
    FILE *in = fopen(file, "r");
    if (!in) {
        fault_set(f, ERR_IO, "%s: %s", file, strerror(errno));
        return false;
    }
    while ((n = fread(part, 1, sizeof part, in)) > 0)
        buf_append(text, part, n);
    fclose(in);
    return true;
}

static char *trimmed(struct arena *life, const char *s, size_t len)
{
    struct str t = str_trim((struct str){s, len});
    return arena_strndup(life, t.ptr, t.len);
}

/* The next statement, joined over its lines; false at the end of the file. */
static bool next_statement(struct arena *life, char **at, int *line, struct statement *ret)
{
    BUF(text, FILE_MAX);
    ret->line = *line;
    for (bool more = true; more && **at; (*line)++) {
        char *end = *at + strcspn(*at, "\n");
        bool last = !*end;
        *end = 0;
        size_t len = without_comment(*at);
        struct str t = str_trim((struct str){*at, len});
        more = t.len > 0 && t.ptr[t.len - 1] == '\\';
        buf_append(&text, t.ptr, more ? t.len - 1 : t.len);
        buf_putc(&text, ' ');
        *at = last ? end : end + 1;
    }
    if (!text.len)
        return false;
    ret->text = trimmed(life, buf_text(&text), text.len);
    return true;
}

enum err scenario_read(struct arena *life, const char *file, struct fault *f,
        struct scenario **ret_scenarios, size_t *ret_n)
{
    BUF(text, FILE_MAX);
    if (!read_all(file, &text, f))
        return ERR_IO;
    size_t lines = 1;
    for (const char *s = buf_text(&text); *s; s++)
        lines += *s == '\n';
    struct scenario *all = arena_array_of(life, lines, struct scenario), *now = NULL;
    struct statement st;
    char *copy = arena_strdup(life, buf_text(&text)), *at = copy;
    int line = 1;
    *ret_n = 0;
    while (next_statement(life, &at, &line, &st)) {
        struct words w;
        if (!*st.text)
            continue;
        words_split(life, st.text, &w);
        if (strcmp(w.word[0], "scenario") == 0) {
            if (w.n != 2)
                return fault_set(
                        f, ERR_SYNTAX, "%s:%d: write scenario \"title\"", file, st.line);
            now = &all[(*ret_n)++];
            *now = (struct scenario){.file = file, .title = w.word[1], .line = st.line};
            now->statements = arena_array_of(life, lines, struct statement);
        } else if (!now) {
            return fault_set(
                    f, ERR_SYNTAX, "%s:%d: a file begins with a scenario", file, st.line);
        } else {
            now->statements[now->nstatements++] = st;
        }
    }
    *ret_scenarios = all;
    return OK;
}

void words_split(struct arena *life, const char *text, struct words *ret)
{
    ret->n = 0;
    for (const char *s = text; *s && ret->n < WORDS_MAX;) {
        while (isspace((unsigned char)*s))
            s++;
        if (!*s)
            break;
        const char *from = s;
        if (*s == '"') {
            s = past_quote(s);
            size_t len = (size_t)(s - from) - 1;
            ret->word[ret->n++] = arena_strndup(life, from + 1, len ? len - (s[-1] == '"') : 0);
            continue;
        }
        while (*s && !isspace((unsigned char)*s))
            s++;
        ret->word[ret->n++] = arena_strndup(life, from, (size_t)(s - from));
    }
    ret->word[ret->n] = NULL;
}

/* ---- spans ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    msec ms;
} units[] = {{"ms", 1}, {"s", 1000}, {"sec", 1000}, {"second", 1000}, {"m", MSEC_PER_MINUTE},
        {"min", MSEC_PER_MINUTE}, {"minute", MSEC_PER_MINUTE}, {"h", MSEC_PER_HOUR},
        {"hour", MSEC_PER_HOUR}, {"d", MSEC_PER_DAY}, {"day", MSEC_PER_DAY},
        {"w", 7 * MSEC_PER_DAY}, {"week", 7 * MSEC_PER_DAY}};

static msec unit_of(struct str name)
{
    if (name.len > 2 && name.ptr[name.len - 1] == 's')
        name.len--;
    for (size_t i = 0; i < countof(units); i++)
        if (str_equal_nocase(name, str_of(units[i].name)))
            return units[i].ms;
    return 0;
}

bool span_parse(const char *text, msec *ret_span)
{
    msec sum = 0;
    const char *s = text;
    if (strcmp(text, "0") == 0) {
        *ret_span = 0;
        return true;
    }
    do {
        char *end;
        while (isspace((unsigned char)*s))
            s++;
        if (!isdigit((unsigned char)*s))
            return false;
        msec n = strtoll(s, &end, 10);
        for (s = end; isspace((unsigned char)*s); s++)
            ;
        const char *name = s;
        while (isalpha((unsigned char)*s))
            s++;
        msec unit = unit_of((struct str){name, (size_t)(s - name)});
        if (!unit)
            return false;
        sum += n * unit;
        while (isspace((unsigned char)*s))
            s++;
    } while (*s);
    *ret_span = sum;
    return true;
}

char *span_text(struct arena *life, msec span)
{
    BUF(out, 128);
    static const struct {
        const char *name;
        msec ms;
    } shown[] = {{"d", MSEC_PER_DAY}, {"h", MSEC_PER_HOUR}, {"m", MSEC_PER_MINUTE}, {"s", 1000},
            {"ms", 1}};
    if (span < 0)
        buf_putc(&out, '-');
    msec left = span < 0 ? -span : span;
    for (size_t i = 0; i < countof(shown); i++) {
        if (left / shown[i].ms)
            buf_printf(&out, "%lld%s", (long long)(left / shown[i].ms), shown[i].name);
        left %= shown[i].ms;
    }
    return arena_strdup(life, span ? buf_text(&out) : "0");
}
