/* One known change in a page of the size and shape of documentation, and what each type must
 * make of it: that change, with these words, and nothing else.
 *
 * Both versions are written from one model (planted_page.h), so what is expected follows from
 * the model and from what the types mean, not from any other look at the pages.
 *
 *     VIGIL_TEST_ROUNDS=n   more or fewer rounds than 12
 *     VIGIL_TEST_SEED=n     other pages
 */
#include "tests/cdg/cdg_help.h"
#include "tests/cdg/planted_page.h"
#include <stdlib.h>

enum { SECTIONS_MAX = 60 };

/* ---- what is expected -------------------------------------------------------------------- */

enum question {
    Q_ANY,
    Q_LINKS,
    Q_IMAGES,
    Q_WORDS,
    Q_KEYWORDS,
    Q_STRUCTURE,
    Q_TAGS,
    Q_ATTRIBUTES,
    Q_CONTENT,
    Q_TABLE,
    Q_TABLE_ELSEWHERE,
    Q_LIST,
    Q_LIST_ELSEWHERE,
    Q_REGEXP,
    Q_LI_NEW,
    Q_LI_DELETED,
    Q_LI_UPDATED,
    Q_P_UPDATED,
    Q_TD_UPDATED,
    Q_TR_NEW,
    Q_DIV_UPDATED,
    Q_DIV_DELETED,
    Q_PHRASE,
    Q_PHRASE_ELSEWHERE,
    Q_PASSAGE,
    Q_COUNT
};

static const char *const kinds[Q_COUNT] = {"any change", "links", "images", "all words",
        "keywords", "structure", "tags", "attributes", "content", "table", "table", "list",
        "list", "regexp", "element", "element", "element", "element", "element", "element",
        "element", "element", "phrase", "phrase", "phrase"};

/* Section `at` is where it was planted, `far` is another. */
static struct cdg_leaf leaf_for(struct arena *life, enum question q, unsigned at, unsigned far)
{
    struct cdg_leaf l = leaf_of(kinds[q]);
    static const struct {
        enum question q;
        const char *name;
        enum cdg_status status;
    } elements[] = {{Q_LI_NEW, "li", CDG_NEW}, {Q_LI_DELETED, "li", CDG_DELETED},
            {Q_LI_UPDATED, "li", CDG_UPDATED}, {Q_P_UPDATED, "p", CDG_UPDATED},
            {Q_TD_UPDATED, "td", CDG_UPDATED}, {Q_TR_NEW, "tr", CDG_NEW},
            {Q_DIV_UPDATED, "div", CDG_UPDATED}, {Q_DIV_DELETED, "div", CDG_DELETED}};
    const char **words = arena_array_of(life, 2, const char *);

    for (size_t i = 0; i < countof(elements); i++)
        if (elements[i].q == q) {
            l.text = elements[i].name;
            l.status = elements[i].status;
        }
    if (q == Q_KEYWORDS) {
        words[0] = numbered(life, "PLANTED%u", at, 0);
        words[1] = arena_printf(life, "p%u_0 p%u_1", at, at);
        l.words = words;
        l.nwords = 2;
    }
    if (q == Q_TABLE || q == Q_TABLE_ELSEWHERE)
        l.text = numbered(life, "c%u_0a", q == Q_TABLE ? at : far, 0);
    if (q == Q_LIST || q == Q_LIST_ELSEWHERE)
        l.text = numbered(life, "i%u_0a", q == Q_LIST ? at : far, 0);
    if (q == Q_REGEXP) {
        l.text = numbered(life, "\\bi%u_\\d+a", at, 0);
        l.on_text = true;
    }
    if (q == Q_PASSAGE)
        l.text = numbered(life, "p%u_1 ", at, 0);
    if (q == Q_PHRASE || q == Q_PHRASE_ELSEWHERE) {
        words[0] = paragraph(life, q == Q_PHRASE ? at : far, false);
        l.words = words;
        l.nwords = 1;
    }
    return l;
}

/* A line for each entry, in no order; "C": changed, however told; "#a b c d": so many inserted,
 * deleted, updated and moved. */
static const char *expected(struct arena *life, enum question q, enum plant plant, unsigned s)
{
    const char *item = item_text(life, s, 77), *one = item_text(life, s, 1);
    const char *old_p = paragraph(life, s, false), *new_p = paragraph(life, s, true);
    bool structural = plant == IMAGE_NEW || plant == ITEM_NEW || plant == ITEM_GONE ||
                      plant == ROW_NEW || plant == SECTION_GONE;

#define SAY(...) return arena_printf(life, __VA_ARGS__)
    if (plant == NOTHING)
        return "N";
    switch (q) {
    case Q_ANY:
        switch (plant) {
        case WORD:
            SAY("~%s→%s\n", old_p, new_p);
        case LINK:
            SAY("~href=\"/l%u\"→href=\"/new%u\"\n", s, s);
        case IMAGE:
            SAY("~src=\"/i%u.png\"→src=\"/n%u.png\"\n", s, s);
        case ITEM_NEW:
            SAY("+%s\n", item);
        case ITEM_GONE:
            SAY("−%s\n", one);
        case ITEM_MOVED:
            SAY("»%s\n", item_text(life, s, ITEMS - 1));
        case CELL:
            SAY("+planted%u_1\n−c%u_1b\n", s, s);
        case ROW_NEW:
            SAY("+c%u_77a\n+c%u_77b\n", s, s);
        case ATTRIBUTE:
            return "~class=\"section\"→class=\"other\"\n";
        case SECTION_GONE: /* heading, paragraph, items, cells; and the image, which has no text
                            */
            return "C";
        default:
            return "#0 0 1 0";
        }
    case Q_LINKS:
        if (plant == LINK)
            SAY("+http://x.org/new%u\n−http://x.org/l%u\n", s, s);
        if (plant == SECTION_GONE)
            SAY("−http://x.org/l%u\n", s);
        return "N";
    case Q_IMAGES:
        if (plant == IMAGE)
            SAY("+http://x.org/n%u.png\n−http://x.org/i%u.png\n", s, s);
        if (plant == IMAGE_NEW)
            SAY("+http://x.org/j%u.png\n", s);
        if (plant == SECTION_GONE)
            SAY("−http://x.org/i%u.png\n", s);
        return "N";
    case Q_WORDS:
        switch (plant) {
        case WORD:
            SAY("+planted%u\n−p%u_0\n", s, s);
        case ITEM_NEW:
            SAY("+i%u_77a\n+i%u_77b\n+i%u_77c\n", s, s, s);
        case ITEM_GONE:
            SAY("−i%u_1a\n−i%u_1b\n−i%u_1c\n", s, s, s);
        case CELL:
            SAY("+planted%u_1\n−c%u_1b\n", s, s);
        case ROW_NEW:
            SAY("+c%u_77a\n+c%u_77b\n", s, s);
        case SECTION_GONE: /* its heading's own word, 12 of the paragraph less one twice */
            SAY("#0 %d 0 0", 1 + 11 + 3 * ITEMS + 2 * ROWS);
        default:
            return "N";
        }
    case Q_KEYWORDS:
        if (plant == WORD)
            SAY("+PLANTED%u\n−p%u_0 p%u_1\n", s, s, s);
        if (plant == SECTION_GONE)
            SAY("−p%u_0 p%u_1\n", s, s);
        return "N";
    case Q_STRUCTURE:
        return structural ? "C" : "N";
    case Q_TAGS:
        switch (plant) {
        case TAG:
            return "+<h3>\n−<h2>\n";
        case IMAGE_NEW:
            return "+<img>\n";
        case ITEM_NEW:
            return "+<li>\n";
        case ITEM_GONE:
            return "−<li>\n";
        case ROW_NEW:
            return "+<td>\n+<td>\n+<tr>\n";
        default:
            return structural ? "C" : "N";
        }
    case Q_ATTRIBUTES:
        if (plant == LINK)
            SAY("~href=\"/l%u\"→href=\"/new%u\"\n", s, s);
        if (plant == IMAGE)
            SAY("~src=\"/i%u.png\"→src=\"/n%u.png\"\n", s, s);
        if (plant == ATTRIBUTE)
            return "~class=\"section\"→class=\"other\"\n";
        return structural ? "C" : "N";
    case Q_CONTENT:
        switch (plant) {
        case WORD:
            SAY("~%s→%s\n", text_before(life, s, accents[0], first_word(life, s, false)),
                    text_before(life, s, accents[0], first_word(life, s, true)));
        case ITEM_NEW:
        case ITEM_GONE:
        case ITEM_MOVED:
        case CELL:
        case ROW_NEW:
            return expected(life, Q_ANY, plant, s);
        case SECTION_GONE: /* five texts of the paragraph */
            SAY("#0 %d 0 0", 1 + 5 + ITEMS + 2 * ROWS);
        default:
            return "N";
        }
    case Q_TABLE:
        if (plant == CELL)
            SAY("~c%u_1b→planted%u_1\n", s, s);
        if (plant == ROW_NEW)
            SAY("+c%u_77a c%u_77b\n", s, s);
        return plant == SECTION_GONE ? "U" : "N";
    case Q_LIST:
        if (plant == ITEM_NEW || plant == ITEM_GONE || plant == ITEM_MOVED)
            return expected(life, Q_ANY, plant, s);
        return plant == SECTION_GONE ? "U" : "N";
    case Q_REGEXP:
        if (plant == ITEM_NEW)
            SAY("+i%u_77a\n", s);
        if (plant == ITEM_GONE)
            SAY("−i%u_1a\n", s);
        if (plant == ITEM_MOVED)
            SAY("»i%u_%da\n", s, ITEMS - 1);
        return plant == SECTION_GONE ? arena_printf(life, "#0 %d 0 0", ITEMS) : "N";
    case Q_LI_NEW:
        return plant == ITEM_NEW ? arena_printf(life, "+%s\n", item) : "N";
    case Q_LI_DELETED:
        return plant == ITEM_GONE      ? arena_printf(life, "−%s\n", one)
               : plant == SECTION_GONE ? arena_printf(life, "#0 %d 0 0", ITEMS)
                                       : "N";
    case Q_LI_UPDATED:
        return "N";
    case Q_P_UPDATED:
        if (plant == WORD)
            SAY("~%s→%s\n", old_p, new_p);
        return plant == LINK || plant == IMAGE || plant == IMAGE_NEW ? "#0 0 1 0" : "N";
    case Q_TD_UPDATED:
        return plant == CELL ? arena_printf(life, "~c%u_1b→planted%u_1\n", s, s) : "N";
    case Q_TR_NEW:
        return plant == ROW_NEW ? "#1 0 0 0" : "N";
    case Q_DIV_UPDATED: /* whatever changed, it did so inside one */
        return plant == SECTION_GONE ? "N" : "#0 0 1 0";
    case Q_DIV_DELETED:
        return plant == SECTION_GONE ? "#0 1 0 0" : "N";
    case Q_PHRASE:
        if (plant == WORD) /* its first word: the words around it are as they were */
            return "#0 0 1 0";
        if (plant ==
                SECTION_GONE) /* the cells before it, part of its context, are still there */
            return s ? "U" : "#0 1 0 0";
        return "N";
    case Q_PASSAGE:
        if (plant == WORD)
            SAY("~%s→%s\n", old_p, new_p);
        return plant == SECTION_GONE ? "?" : "N";
    case Q_TABLE_ELSEWHERE:
    case Q_LIST_ELSEWHERE:
    case Q_PHRASE_ELSEWHERE:
    case Q_COUNT:
        return "N";
    }
    return "N";
#undef SAY
}

/* ---- as it is told ----------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted_lines(struct arena *life, const char *text)
{
    char *all[5000], *copy = arena_strdup(life, text), *save;
    size_t n = 0;
    BUF(out, 1 << 22);

    for (char *line = strtok_r(copy, "\n", &save); line && n < countof(all);
            line = strtok_r(NULL, "\n", &save))
        all[n++] = line;
    qsort(all, n, sizeof *all, by_text);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s\n", all[i]);
    return arena_strdup(life, buf_text(&out));
}

static char *told(struct arena *life, const struct cdg_finding *f, const char *wanted)
{
    static const char *const keys[] = {"inserted", "deleted", "updated", "moved"};
    static const char *const signs[] = {"+", "−", "~", "»"};
    BUF(out, 1 << 22);

    if (f->result != CDG_C)
        return arena_strdup(life, f->result == CDG_N ? "N" : "U");
    if (strcmp(wanted, "C") == 0)
        return arena_strdup(life, "C");
    if (wanted[0] == '#')
        return arena_printf(
                life, "#%u %u %u %u", f->inserted, f->deleted, f->updated, f->moved);
    json_t *root = json_loads(f->detail, 0, NULL), *item;
    json_t *leaf = json_array_get(json_object_get(root, "leaves"), 0);
    for (size_t k = 0; k < countof(keys); k++) {
        size_t i;
        json_array_foreach(json_object_get(leaf, keys[k]), i, item)
        {
            if (json_is_string(item))
                buf_printf(&out, "%s%s\n", signs[k], json_string_value(item));
            else
                buf_printf(&out, "%s%s→%s\n", signs[k],
                        json_string_value(json_object_get(item, "old")),
                        json_string_value(json_object_get(item, "new")));
        }
    }
    json_decref(root);
    return sorted_lines(life, buf_text(&out));
}

static void try_plant(enum plant plant, unsigned sections, uint32_t *state)
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    unsigned at = next_random(state) % sections;
    unsigned far = (at + 1 + next_random(state) % (sections - 1)) % sections;
    struct version v = {NOTHING, sections, at, next_random(state)};
    char *before = page_of(life, v);
    struct cdg_version *old = version_of(life, 1, before, "text/html; charset=utf-8");

    v.plant = plant;
    v.noise = next_random(state);
    char *after = page_of(life, v);
    struct cdg_version *new_ = version_of(life, 2, after, "text/html; charset=utf-8");
    for (enum question q = 0; q < Q_COUNT; q++) {
        struct cdg_expr e = {.op = CDG_LEAF, .leaf = leaf_for(life, q, at, far)};
        const struct cdg_finding *f;
        const char *wanted = expected(life, q, plant, at);
        REQUIRE(cdg_compare_once(&e, old, new_, life, NULL, &f) == OK);
        if (wanted[0] == '?')
            continue;
        if (strchr(wanted, '\n'))
            wanted = sorted_lines(life, wanted);
        char *got = told(life, f, wanted);
        if (strcmp(got, wanted) != 0)
            test_fail(__FILE__, __LINE__,
                    "%s in section %u of %u, question %d (%s): is\n%s\n"
                    "expected\n%s",
                    plant_names[plant], at, sections, q, kinds[q], got, wanted);
    }
}

static int number_of(const char *variable, int usual)
{
    const char *text = getenv(variable);

    return text ? (int)strtol(text, NULL, 10) : usual;
}

TEST(planted, "one change in a page is found by the types it concerns, and by no other")
{
    uint32_t state = (uint32_t)number_of("VIGIL_TEST_SEED", 41);
    int rounds = number_of("VIGIL_TEST_ROUNDS", 12);

    for (int round = 0; round < rounds; round++)
        for (enum plant plant = 0; plant < PLANT_COUNT; plant++)
            try_plant(plant, 2 + next_random(&state) % (SECTIONS_MAX - 1), &state);
}

TEST_MAIN()
