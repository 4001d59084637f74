/* Any bytes at all through the language: parse, check, print, read again.
 *
 * An ordinary program that replays the files and folders named on its command line; with
 * -DFUZZING and -fsanitize=fuzzer a libFuzzer target (README.md tells how).
 *
 * It must hold that
 *  (1) nothing is read or written outside of what was given,
 *  (2) what was accepted prints, and is read again as the same tree, and
 *  (3) what was checked can be stored, and is loaded as it was.
 */
#include "grammar/grammar.h"
#include "tests/grammar/equal.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find_sentinel(
        void *arg, struct arena *life, const char *name, struct grammar_known *k)
{
    (void)arg;
    (void)life;
    *k = (struct grammar_known){.name = "s1",
            .start_is_absolute = true,
            .starts_at = INT64_C(1796083200000),
            .definition =
                    "CREATE SENTINEL s1 USING http://a.org AS a, http://b.org AS b MONITOR "
                    "a.links AND b.links FROM 2026-12-01T00:00Z TO never"};
    return grammar_name_equal(name, "s1");
}

static void read_again(struct arena *life, const struct grammar_statement *st)
{
    BUF(text, 64 << 20);
    grammar_print(&text, st);
    struct grammar_script *s;
    CHECK(grammar_parse(life, "again", buf_text(&text), text.len, &s) == OK);
    CHECK(s->n_statements == 1 && same_statement(st, s->statements)); /* (2) */
}

static void load_again(struct arena *life, const struct grammar_statement *st)
{
    BUF(once, 64 << 20);
    BUF(twice, 64 << 20);
    const struct grammar_definition *d;
    grammar_print_effective(&once, st->name, st->effective);
    CHECK(grammar_load(life, buf_text(&once), NULL, &d) == OK);
    grammar_print_effective(&twice, st->name, d);
    CHECK(strcmp(buf_text(&once), buf_text(&twice)) == 0); /* (3) */
}

static void format(struct arena *life, const char *text, size_t len)
{
    BUF(once, 64 << 20);
    BUF(twice, 64 << 20);
    struct grammar_script *s;
    if (grammar_fmt(life, "fmt", text, len, &once, &s) != OK)
        return;
    CHECK(grammar_fmt(life, "fmt", buf_text(&once), once.len, &twice, &s) == OK);
    CHECK(once.len == twice.len && memcmp(buf_text(&once), buf_text(&twice), once.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCRATCH struct arena *life = arena_new(NULL, "fuzz");
    struct grammar_world world = {.now = INT64_C(1794830400000),
            .min_interval = MSEC_PER_MINUTE,
            .zone = "Europe/Berlin",
            .find_sentinel = find_sentinel};
    struct grammar_script *s;
    enum err parsed = grammar_parse(life, "fuzz", (const char *)data, size, &s);
    if (parsed == OK) {
        for (const struct grammar_statement *st = s->statements; st; st = st->next)
            read_again(life, st);
        format(life, (const char *)data, size);
    }
    enum err checked = grammar_check(s, &world);
    CHECK((checked == OK) == (s->n_errors == 0));
    BUF(out, 64 << 20);
    for (const struct grammar_diagnostic *d = s->diagnostics; d; d = d->next)
        grammar_diagnostic_print(&out, d);
    for (const struct grammar_statement *st = s->statements; st; st = st->next)
        if (st->effective)
            load_again(life, st);
    return 0;
}

#ifndef FUZZING
static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return 1;
    if (S_ISDIR(st.st_mode)) {
        int failed = 0;
        DIR *dir = opendir(path);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            char below[4096];
            if (e->d_name[0] != '.') {
                (void)snprintf(below, sizeof below, "%s/%s", path, e->d_name);
                failed |= replay(below);
            }
        }
        if (dir)
            (void)closedir(dir);
        return failed || !dir;
    }
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc((size_t)st.st_size + 1);
    int failed = 1;
    if (f && bytes && fread(bytes, 1, (size_t)st.st_size, f) == (size_t)st.st_size) {
        (void)LLVMFuzzerTestOneInput(bytes, (size_t)st.st_size);
        failed = 0;
    }
    if (f)
        (void)fclose(f);
    free(bytes);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i]);
    return failed;
}
#endif
