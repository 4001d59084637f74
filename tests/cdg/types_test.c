/* Every change type is described, and nothing is described that is none. */
#include "tests/cdg/cdg_help.h"
#include <ctype.h>
#include <stdio.h>

#ifndef SOURCE_ROOT
#error "SOURCE_ROOT is the folder of the sources"
#endif

static char *document(struct arena *life, const char *path)
{
    BUF(text, 1 << 24);
    char chunk[4096];
    size_t n;
    FILE *f = fopen(arena_printf(life, "%s/%s", SOURCE_ROOT, path), "rb");
    if (!f) {
        test_fail(__FILE__, __LINE__, "%s cannot be read", path);
        return arena_strdup(life, "");
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_append(&text, chunk, n);
    fclose(f);
    return arena_strdup(life, buf_text(&text));
}

TEST(described, "every type has a section in docs/types.md that begins with how it is written")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    char *text = document(life, "docs/types.md");
    const struct cdg_kind_info *k;
    for (int i = 0; (k = cdg_kind_get(i)); i++) {
        char *section = strstr(text, arena_printf(life, "\n## %s\n\n`%s`", k->name, k->form));
        if (!section)
            test_fail(__FILE__, __LINE__, "no section \"%s\" that begins with `%s`", k->name,
                    k->form);
    }
}

TEST(only_types, "every section but the first is a type")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    unsigned sections = 0, types = 0;
    for (char *at = document(life, "docs/types.md"); (at = strstr(at, "\n## ")); at++) {
        char *name = arena_strndup(life, at + 4, strcspn(at + 4, "\n"));
        types += cdg_kind_find(name) >= 0;
        sections++;
    }
    EXPECT_INT(types, sections - 1);
    int n = 0;
    while (cdg_kind_get(n))
        n++;
    EXPECT_INT(types, n);
}

TEST(in_language, "every type is in the table of the language")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    char *text = document(life, "docs/language.md");
    for (int i = 0; cdg_kind_get(i); i++)
        if (!strstr(text, arena_printf(life, "\n| `%s", cdg_kind_get(i)->name)))
            test_fail(__FILE__, __LINE__, "\"%s\" is not in docs/language.md",
                    cdg_kind_get(i)->name);
}

TEST(own_file, "every type answers, and only some have no measure")
{
    unsigned without = 0;
    for (int i = 0; cdg_kind_get(i); i++)
        without += !cdg_kind_measures(i);
    EXPECT_INT(without, 1); /* element */
    EXPECT(!cdg_kind_measures(cdg_kind_find("element")));
}

TEST_MAIN()
