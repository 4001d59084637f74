#include "tests/grammar/world.h"

msec at(const char *iso)
{
    msec t = 0;
    EXPECT(time_parse_iso(iso, &t));
    return t;
}

static const char *const rel_depends[] = {"base9"}, *const base9_dependants[] = {"rel"};

static const struct {
    const char *name;
    enum grammar_phase phase;
    const char *starts, *ends;
    const char *definition;
} stored[] = {
        {"s1", GRAMMAR_WAITING, "2026-12-01T00:00:00Z", "2026-12-20T00:00:00Z",
                "CREATE SENTINEL s1 USING http://s1.example.org/page MONITOR links FETCH every "
                "2 "
                "hours FROM 2026-12-01T00:00Z TO 2026-12-20T00:00Z NOTIFY BY email "
                "owner@example.org COMPARE moving:3 CHANGEHISTORY 7 PRESENTATION merged WITHIN "
                "1 "
                "day PRIORITY 2 TOPIC 'first'"},
        {"act", GRAMMAR_RUNNING, "2026-11-10T00:00:00Z", "2026-12-10T00:00:00Z",
                "CREATE SENTINEL act USING http://act.example.org/ MONITOR images FETCH on "
                "change "
                "FROM 2026-11-10T00:00Z TO 2026-12-10T00:00Z NOTIFY BY dashboard COMPARE "
                "pairwise "
                "CHANGEHISTORY 10 PRESENTATION only change WITHIN 1 day PRIORITY 1"},
        {"old", GRAMMAR_ENDED, "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z",
                "CREATE SENTINEL old USING http://old.example.org/ MONITOR any change FETCH on "
                "change FROM 2026-01-01T00:00Z TO 2026-02-01T00:00Z NOTIFY BY dashboard "
                "COMPARE "
                "pairwise CHANGEHISTORY 10 PRESENTATION dual frame WITHIN 1 day PRIORITY 1"},
        {"base9", GRAMMAR_WAITING, "2026-12-02T00:00:00Z", "2026-12-09T00:00:00Z",
                "CREATE SENTINEL base9 USING http://base.example.org/ MONITOR tags FETCH on "
                "change "
                "FROM 2026-12-02T00:00Z TO 2026-12-09T00:00Z NOTIFY BY dashboard COMPARE "
                "pairwise "
                "CHANGEHISTORY 10 PRESENTATION only change WITHIN 1 day PRIORITY 1"},
        {"rel", GRAMMAR_WAITING, NULL, NULL,
                "CREATE SENTINEL rel USING http://a.example.org/ AS a, http://b.example.org/ "
                "AS b "
                "MONITOR a.links OR b.links FETCH on change FROM end(base9) FOR 3 days NOTIFY "
                "BY "
                "dashboard COMPARE pairwise CHANGEHISTORY 10 PRESENTATION only change WITHIN 2 "
                "hours PRIORITY 1"},
};

static bool find_sentinel(
        void *arg, struct arena *life, const char *name, struct grammar_known *k)
{
    (void)arg;
    (void)life;
    for (size_t i = 0; i < countof(stored); i++) {
        if (!grammar_name_equal(stored[i].name, name))
            continue;
        k->name = stored[i].name;
        k->phase = stored[i].phase;
        k->start_is_absolute = stored[i].starts != NULL;
        k->end_is_absolute = stored[i].ends != NULL;
        k->starts_at = stored[i].starts ? at(stored[i].starts) : 0;
        k->ends_at = stored[i].ends ? at(stored[i].ends) : 0;
        k->definition = stored[i].definition;
        if (strcmp(stored[i].name, "rel") == 0) {
            k->depends = rel_depends;
            k->n_depends = 1;
        }
        if (strcmp(stored[i].name, "base9") == 0) {
            k->dependants = base9_dependants;
            k->n_dependants = 1;
        }
        return true;
    }
    return false;
}

static void each_name(void *arg, void (*visit)(void *ctx, const char *name), void *ctx)
{
    (void)arg;
    for (size_t i = 0; i < countof(stored); i++)
        visit(ctx, stored[i].name);
}

/* Of a language with one selector less than all. */
static enum err selector(enum grammar_region language, const char *text, struct fault *f)
{
    return language == GRAMMAR_XPATH && strcmp(text, "//p[") == 0
                   ? fault_set(f, ERR_SYNTAX, "this one cannot be read")
                   : OK;
}

struct grammar_world world_make(void)
{
    return (struct grammar_world){.now = at(NOW_TEXT),
            .min_interval = MSEC_PER_MINUTE,
            .find_sentinel = find_sentinel,
            .each_name = each_name,
            .check_selector = selector};
}

struct grammar_script *run(struct arena *life, const char *text)
{
    struct grammar_script *s;
    struct grammar_world w = world_make();
    enum err parsed = grammar_parse(life, "test.vigil", text, strlen(text), &s);
    enum err checked = grammar_check(s, &w);
    EXPECT((checked == OK) == (s->n_errors == 0));
    EXPECT(parsed == OK || checked != OK);
    return s;
}

static const char *codes_of(struct arena *life, const struct grammar_script *s)
{
    const char *text = "";
    for (const struct grammar_diagnostic *d = s->diagnostics; d; d = d->next)
        text = arena_printf(life, "%s%s%u:%u %s", text, *text ? " " : "", d->pos.line,
                d->pos.column, grammar_code_name(d->code));
    return text;
}

const char *codes(struct arena *life, const char *text)
{
    return codes_of(life, run(life, text));
}

/* Takes the marks out of `marked` and tells where they stood: "1:46 E054". */
const char *marked_codes(
        struct arena *life, const char *marked, const char *list, const char **ret_text)
{
    char *text = arena_strdup(life, marked), *to = text;
    const char *expected = "";
    unsigned line = 1, column = 1;
    for (const char *p = marked; *p;) {
        if (strncmp(p, "¤", 2) == 0) {
            size_t n = strcspn(list, " ");
            if (n > 0)
                expected = arena_printf(life, "%s%s%u:%u %.*s", expected, *expected ? " " : "",
                        line, column, (int)n, list);
            list += n + (list[n] == ' ');
            p += 2;
            continue;
        }
        if (*p == '\n')
            line++, column = 1;
        else
            column += ((unsigned char)*p & 0xc0) != 0x80;
        *to++ = *p++;
    }
    *to = 0;
    *ret_text = text;
    return expected;
}

const struct grammar_definition *effective(struct arena *life, const char *text)
{
    const struct grammar_statement *st = run(life, text)->statements;
    while (st && st->next)
        st = st->next;
    return st ? st->effective : NULL;
}

const char *canonical(struct arena *life, const char *text)
{
    struct grammar_script *s;
    if (grammar_parse(life, "test.vigil", text, strlen(text), &s) != OK)
        return codes_of(life, s);
    BUF(out, 1 << 20);
    for (const struct grammar_statement *st = s->statements; st; st = st->next) {
        if (out.len > 0)
            (void)buf_puts(&out, "; ");
        grammar_print(&out, st);
    }
    return arena_strdup(life, buf_text(&out));
}

char *slurp(struct arena *life, const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        test_fail(__FILE__, __LINE__, "cannot read %s", path);
        *ret_len = 0;
        return arena_strdup(life, "");
    }
    BUF(bytes, 16 << 20);
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        (void)buf_append(&bytes, block, n);
    (void)fclose(f);
    *ret_len = bytes.len;
    return arena_strndup(life, buf_text(&bytes), bytes.len);
}
