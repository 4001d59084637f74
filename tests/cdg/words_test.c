/* all words and keywords: the tables of the semantics, then what might break them. */
#include "tests/cdg/cdg_help.h"

static struct cdg_leaf words_except(bool counted, const char *const *words, size_t n)
{
    struct cdg_leaf l = leaf_of("all words");
    l.counted = counted;
    l.words = words;
    l.nwords = n;
    return l;
}

#define EXPECT_WORDS(before, after, expected)                                                  \
    EXPECT_LEAF(words_except(false, NULL, 0), before, after, expected)
#define EXPECT_COUNTED(before, after, expected)                                                \
    EXPECT_LEAF(words_except(true, NULL, 0), before, after, expected)

TEST(AW1, "AW1: words that came and went")
{
    EXPECT_WORDS("the red car", "the blue car", "+blue −red");
}

TEST(AW2, "AW2: the order of words does not count")
{
    EXPECT_WORDS("a b c", "c b a", "N");
}

TEST(AW3, "AW3: excepted words do not count, however they are written")
{
    static const char *const the[] = {"The"};
    EXPECT_LEAF(words_except(false, the, 1), "a b", "the a b THE", "N");
}

TEST(AW4, "AW4: punctuation around words does not count")
{
    EXPECT_WORDS("Price: 10,", "Price 10", "N");
}

TEST(AW5, "AW5: punctuation inside words does")
{
    EXPECT_WORDS("on 2000-7-6, ok", "on 2000-7-7, ok", "+2000-7-7 −2000-7-6");
}

TEST(AW6, "AW6: repetition counts only when counted")
{
    EXPECT_WORDS("x x x", "x", "N");
    EXPECT_COUNTED("x x x", "x", "−x (3→1)");
}

TEST(AW7, "AW7: case counts")
{
    EXPECT_WORDS("Apple", "apple", "+apple −Apple");
}

TEST(AW8, "AW8: a paragraph less is no word more or less")
{
    EXPECT_WORDS("<p>a</p><p>b</p>", "<p>a</p>b", "N");
}

/* Pages of one paragraph that says `word` only in the old version, and one that says `rest`. */
static const char *page_with(struct arena *life, const char *word, const char *rest)
{
    return arena_printf(life, "<p>here %s it was</p><p>%s</p>", word, rest);
}

TEST(words_elsewhere,
        "a word that went is still there when it stands elsewhere, whatever is around")
{
    static const char *const around[][2] = {{"", ""}, {"(", ")"}, {"\xC2\xAB", "\xC2\xBB"},
            {"\xE2\x80\x9C", "\xE2\x80\x9D"}, {"a\xC2\xA0", "\xC2\xA0z"}, {"a ", " z"},
            {"1\xE2\x80\x83", ""}, {"&amp;", "..."}, {"\xC3\x97", ""},
            {"a long way to the ", ""},
            {"a long way to the word ", " and a long way behind it"}};
    static const char *const words[] = {
            "edited", "x", "\xC3\xA9t\xC3\xA9", "e\xC3\xA9n", "10.50", "42", "_a", "K"};
    SCRATCH struct arena *life = arena_new(NULL, "test");

    for (size_t w = 0; w < countof(words); w++)
        for (size_t i = 0; i < countof(around); i++)
            for (int pad = 0; pad < 20; pad++) {
                const char *rest = arena_printf(life, "%.*s %s%s%s", pad,
                        "so much text before i", around[i][0], words[w], around[i][1]);
                const char *old = page_with(life, words[w], rest);
                struct cdg_leaf key = leaf_of("keywords");
                key.words = &words[w];
                key.nwords = 1;
                EXPECT_WORDS(old, page_with(life, "", rest), "N");
                EXPECT_COUNTED(old, page_with(life, "", rest),
                        arena_printf(life, "−%s (2→1)", words[w]));
                EXPECT_LEAF(key, old, page_with(life, "", rest), "N");
                key.counted = true;
                EXPECT_LEAF(key, old, page_with(life, "", rest),
                        arena_printf(life, "−%s (2→1)", words[w]));
                rest = arena_printf(
                        life, "%.*s b%s %sb", pad, "so much text before i", words[w], words[w]);
                EXPECT_WORDS(page_with(life, words[w], rest), page_with(life, "", rest),
                        arena_printf(life, "−%s", words[w]));
            }
}

TEST(words_folded, "a keyword stands elsewhere too where that only folds to it")
{
    static const char *const folds[][2] = {{"kilo", "\xE2\x84\xAA"
                                                    "ilo"},
            {"salt", "\xC5\xBF"
                     "alt"},
            {"as", "a\xC5\xBF"}, {"find", "\xEF\xAC\x81nd"},
            {"strasse", "Stra\xC3\x9F"
                        "e"},
            {"\xC3\xA9t\xC3\xA9", "\xC3\x89T\xC3\x89"}, {"e\xC3\xA9", "E\xC3\x89"},
            {"edited", "EDITED"}};
    SCRATCH struct arena *life = arena_new(NULL, "test");

    for (size_t i = 0; i < countof(folds); i++) {
        struct cdg_leaf key = leaf_of("keywords");
        key.words = &folds[i][0];
        key.nwords = 1;
        const char *rest = arena_printf(
                life, "some text that goes before %s and then more of it", folds[i][1]);
        EXPECT_LEAF(key, page_with(life, folds[i][0], rest), page_with(life, "", rest), "N");
        key.counted = true;
        EXPECT_LEAF(key, page_with(life, folds[i][0], rest), page_with(life, "", rest),
                arena_printf(life, "−%s (2→1)", folds[i][0]));
    }
}

TEST(words_joined, "inline elements do not separate words, others do")
{
    EXPECT_WORDS("ab", "a<b>b</b>", "N");
    EXPECT_WORDS("ab", "a<br>b", "+a +b −ab");
    EXPECT_WORDS("a b", "<table><tr><td>a</td><td>b</td></table>", "N");
    EXPECT_WORDS("foobar", "<div>foo</div>bar", "+foo +bar −foobar");
}

TEST(words_not_text, "attributes, scripts and comments are no words")
{
    EXPECT_WORDS("x", "<p title=y>x<script>z</script><!-- q -->", "N");
}

TEST(words_counted, "counts tell what grew and what shrank")
{
    EXPECT_COUNTED("a b b", "a a b c", "+a (1→2) +c (0→1) −b (2→1)");
    EXPECT_COUNTED("a b", "b a", "N");
    static const char *const a[] = {"A", "c"};
    EXPECT_LEAF(words_except(true, a, 2), "a b", "a a b c", "N");
}

TEST(words_unicode, "words of other scripts are words, exclusion folds their case too")
{
    static const char *const strasse[] = {"STRASSE"};
    EXPECT_WORDS("\xD0\xBC\xD0\xB8\xD1\x80", "\xD0\xBC\xD0\xB8\xD1\x80.", "N");
    EXPECT_LEAF(words_except(false, strasse, 1), "x",
            "x Stra\xC3\x9F"
            "e",
            "N");
}

TEST(words_units, "percent and currency signs behind a number belong to it")
{
    EXPECT_WORDS("50", "50%", "+50% −50");
    EXPECT_WORDS("$5", "5", "N");
}

TEST(words_empty, "a page without words and one with punctuation only are the same")
{
    EXPECT_WORDS("", "-- !!! --", "N");
    EXPECT_WORDS("", "a", "+a");
}

/* ---- keywords ---------------------------------------------------------------------------- */

enum how { ANY, ALL, COUNTED };

static char *keywords(struct arena *life, enum how how, const char *list, const char *before,
        const char *after)
{
    const char *words[16];
    struct cdg_leaf l = leaf_of("keywords");
    char *save = NULL, *copy = arena_strdup(life, list);
    for (char *p = strtok_r(copy, ",", &save); p; p = strtok_r(NULL, ",", &save))
        words[l.nwords++] = p;
    l.words = words;
    l.all = how == ALL;
    l.counted = how == COUNTED;
    return show(life, compare_leaf(life, l, before, after, "text/html; charset=utf-8"));
}

#define EXPECT_KEYWORDS(how, list, before, after, expected)                                    \
    do {                                                                                       \
        SCRATCH struct arena *kw_life = arena_new(NULL, "t");                                  \
        EXPECT_TEXT(keywords(kw_life, (how), (list), (before), (after)), (expected));          \
    } while (0)

TEST(KW1, "KW1: a keyword that appeared is told")
{
    EXPECT_KEYWORDS(ANY, "room,exam", "exam", "exam room", "+room");
}

TEST(KW2, "KW2: case does not count")
{
    EXPECT_KEYWORDS(ANY, "room", "Room 5", "ROOM 6", "N");
}

TEST(KW3, "KW3: a keyword is a whole word")
{
    EXPECT_KEYWORDS(ANY, "art", "art", "start", "−art");
}

TEST(KW4, "KW4: a star widens it")
{
    EXPECT_KEYWORDS(ANY, "*art", "nothing", "start", "+*art");
    EXPECT_KEYWORDS(ANY, "art*", "nothing", "artist", "+art*");
    EXPECT_KEYWORDS(ANY, "*art*", "nothing", "starting", "+*art*");
    EXPECT_KEYWORDS(ANY, "art*", "nothing", "start", "N");
    EXPECT_KEYWORDS(ANY, "*art", "nothing", "artist", "N");
}

TEST(KW5, "KW5: all of them or nothing")
{
    EXPECT_KEYWORDS(ALL, "a,b,c", "a b", "a c", "N");
}

TEST(KW6, "KW6: all of them appeared")
{
    EXPECT_KEYWORDS(ALL, "a,b,c", "a b", "a b c", "+a +b +c");
    EXPECT_KEYWORDS(ALL, "a,b,c", "a b c", "c", "−a −b −c");
}

TEST(KW7, "KW7: several words must stand together")
{
    EXPECT_KEYWORDS(
            ANY, "call for papers", "call for papers", "call, for paper", "−call for papers");
    EXPECT_KEYWORDS(ANY, "call for papers", "call papers for", "Call: FOR <b>papers</b>!",
            "+call for papers");
}

TEST(KW8, "KW8: how often counts only when counted")
{
    EXPECT_KEYWORDS(ANY, "x", "x x", "x", "N");
    EXPECT_KEYWORDS(COUNTED, "x", "x x", "x", "−x (2→1)");
}

TEST(keyword_edges, "keywords with punctuation, other scripts, and stars inside several words")
{
    EXPECT_KEYWORDS(ANY, "c++", "b", "C++ course", "+c++");
    EXPECT_KEYWORDS(
            ANY, "\xC3\x89T\xC3\x89", "x", "un \xC3\xA9t\xC3\xA9", "+\xC3\x89T\xC3\x89");
    EXPECT_KEYWORDS(ANY, "sold out*", "sold", "Sold outright", "+sold out*");
    EXPECT_KEYWORDS(COUNTED, "*a*", "a ab", "a ba cab", "+*a* (2→3)");
    EXPECT_KEYWORDS(COUNTED, "a a", "a a", "a a a", "+a a (1→2)");
    EXPECT_KEYWORDS(ANY, "x,y,z", "x y", "y z", "+z −x");
    EXPECT_KEYWORDS(ANY, "x", "<p title=x>", "<!-- x -->", "N");
    EXPECT_KEYWORDS(ANY, "x", "", "x", "+x");
    EXPECT_KEYWORDS(ANY, "e-mail", "email", "e-mail,", "+e-mail");
}

TEST(keyword_refused, "a keyword without a letter, and none at all, are refused")
{
    static const char *const none[] = {"--"};
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = leaf_of("keywords")};
    struct fault f;
    EXPECT_INT(cdg_check(&e, (struct cdg_compare){CDG_PAIRWISE, 0}, &f), ERR_RANGE);
    e.leaf.words = none;
    e.leaf.nwords = 1;
    EXPECT_INT(cdg_check(&e, (struct cdg_compare){CDG_PAIRWISE, 0}, &f), ERR_RANGE);
}

/* ---- CHANGED > n% ------------------------------------------------------------------------ */

static char *changed(struct arena *life, const char *kind, double percent, bool at_least,
        const char *before, const char *after)
{
    struct cdg_leaf l = leaf_of(kind);
    l.changed_over = true;
    l.at_least = at_least;
    l.percent = percent;
    return arena_strdup(life,
            compare_leaf(life, l, before, after, "text/html")->result == CDG_C ? "C" : "N");
}

TEST(ratio, "a change is told only above the ratio that was asked for")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_TEXT(
            changed(life, "any change", 50, false, "a b c d", "a b x y"), "N"); /* RA2: 0.5 */
    EXPECT_TEXT(changed(life, "any change", 50, true, "a b c d", "a b x y"), "C");
    EXPECT_TEXT(changed(life, "any change", 49, false, "a b c d", "a b x y"), "C");
    EXPECT_TEXT(changed(life, "any change", 99, false, "a b c d", "w x y z"), "C"); /* RA3: 1 */
    EXPECT_TEXT(changed(life, "any change", 34, false, "a b c d", "a b c d e f g h"),
            "N"); /* RA4 */
    EXPECT_TEXT(changed(life, "any change", 33, false, "a b c d", "a b c d e f g h"), "C");
    EXPECT_TEXT(changed(life, "any change", 0, false, "a b", "<i>a b</i>"), "N"); /* no word */
    EXPECT_TEXT(changed(life, "all words", 60, false, "a b c d", "a b x y"), "N");
    EXPECT_TEXT(changed(life, "links", 50, false, "<a href=/a><a href=/b>",
                        "<a href=/a><a href=/c>"),
            "N");
    EXPECT_TEXT(changed(life, "links", 40, false, "<a href=/a><a href=/b>",
                        "<a href=/a><a href=/c>"),
            "C");
    EXPECT_TEXT(changed(life, "images", 50, false, "<img src=/a>", "<img src=/b>"), "C");
}

TEST_MAIN()
