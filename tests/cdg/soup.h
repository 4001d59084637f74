/* soup -- small pages of tags and words without order, and versions of them.
 *
 * A soup is a row of numbers, each a piece of HTML, so a page is edited by the piece.  Few
 * words and many repetitions: what is hard for whoever matches two versions.
 */
#pragma once
#include "base/buf.h"
#include <stdint.h>
#include <string.h>

enum { SOUP_MAX = 200 };

struct soup {
    size_t count;
    uint8_t pieces[SOUP_MAX];
};

static const char *const soup_pieces[] = {"<p>", "</p>", "<p id=1>", "<p id=2 class=x>",
        "<div>", "</div>", "<ul>", "</ul>", "<li>", "</li>", "<ol>", "</ol>", "<dl><dt>",
        "<dd>", "</dl>", "<table>", "</table>", "<tr>", "<td>", "<th>", "<td class=q>", "<b>",
        "</b>", "<i>", "</i>", "<a href=/1>", "<a href=/2>", "</a>", "<img src=a>",
        "<img src=b>", "<br>", "<h2>", "</h2>", " ", " ", " ", "a", "b", "c", "price ",
        " the page", " page version", " newword", "section ", "n ", " 9 ", " bold some",
        "Section 3", "another item", " sentinel ", "caf\xC3\xA9", ", ", ".", "%", "<div id=1>",
        "<div id=2>", "<script>x</script>", "&nbsp;", "<span>", "</span>",
        " a b c d e f g h i j k l ", "<form action=/x>", "</form>",
        "<select><option value=http://q/>", "<svg><a href=/3>", "</svg>", "<td></td>",
        "<li></li>", "<p></p>", "<tr></tr>", "X", "<li>a b c", "<li>a b d", "<li>a x y",
        "<tr><td>a<td>b<td>c", "<tr><td>a<td>b<td>d", "<tr><td>a"};

static inline void soup_write(const struct soup *s, struct buf *out)
{
    buf_puts(out, " ");
    for (size_t i = 0; i < s->count; i++)
        buf_puts(out, soup_pieces[s->pieces[i] % countof(soup_pieces)]);
}

static inline void soup_cut(struct soup *s, size_t at, size_t n)
{
    memmove(s->pieces + at, s->pieces + at + n, s->count - at - n);
    s->count -= n;
}

static inline void soup_put(struct soup *s, size_t at, const uint8_t *pieces, size_t n)
{
    memmove(s->pieces + at + n, s->pieces + at, s->count - at);
    memcpy(s->pieces + at, pieces, n);
    s->count += n;
}

/* One edit, told by four numbers: which, where, what, how much. */
static inline void soup_edit(struct soup *s, const uint8_t edit[4])
{
    size_t at = s->count ? edit[1] % s->count : 0, n = edit[3] % 8;
    uint8_t cut[8];

    if (s->count == 0 || edit[0] % 4 == 0) { /* a piece comes */
        if (s->count < SOUP_MAX)
            soup_put(s, at, &edit[2], 1);
        return;
    }
    n = n < s->count - at ? n : s->count - at;
    switch (edit[0] % 4) {
    case 1: /* a piece is another */
        s->pieces[at] = edit[2];
        return;
    case 2: /* a piece goes */
        soup_cut(s, at, 1);
        return;
    default: /* several move */
        memcpy(cut, s->pieces + at, n);
        soup_cut(s, at, n);
        soup_put(s, s->count ? edit[2] % s->count : 0, cut, n);
        return;
    }
}
