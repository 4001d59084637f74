/* mutate -- versions of a made page: words, lines, tags, attributes, cells and items that come,
 * go, change and move, at random but by number. */
#pragma once
#include "base/buf.h"
#include <stdint.h>

static inline uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 12;
}

/* Cuts the lines from..to out, and puts them back before line `at`, or never. */
static inline void lines_move(struct buf *page, uint32_t *state, bool keep)
{
    BUF(out, 1 << 22);
    BUF(cut, 1 << 22);
    size_t lines = 0, from, to, at, line = 0;

    for (size_t i = 0; i < page->len; i++)
        lines += page->data[i] == '\n';
    from = 1 + next_random(state) % lines;
    to = from + 1 + next_random(state) % 3;
    at = 1 + next_random(state) % lines;
    for (int pass = 0; pass < 2; pass++, line = 0)
        for (size_t i = 0, start = 0; i < page->len; i++) {
            if (page->data[i] != '\n')
                continue;
            bool is_cut = line >= from && line < to;
            if (pass == 0 && is_cut)
                buf_append(&cut, page->data + start, i + 1 - start);
            if (pass == 1 && line == at && keep)
                buf_append(&out, buf_text(&cut), cut.len);
            if (pass == 1 && !is_cut)
                buf_append(&out, page->data + start, i + 1 - start);
            start = i + 1;
            line++;
        }
    buf_clear(page);
    buf_append(page, buf_text(&out), out.len);
}

static inline void word_replace(struct buf *page, uint32_t *state)
{
    static const char *const words[] = {"price", "sentinel", "newword", "Price", "caf\xC3\xA9",
            "CAF\xC3\x89", "page version", "<b>page</b> version", "<a href=/n>n</a>",
            "<img src=i.png>", "</p><p>", "", "the<br>page"};
    size_t at = page->len / 4 + next_random(state) % (page->len / 2);
    BUF(out, 1 << 22);

    while (at < page->len && page->data[at] != ' ')
        at++;
    size_t end = at + 1;
    while (end < page->len && page->data[end] != ' ' && page->data[end] != '<')
        end++;
    buf_append(&out, page->data, at + 1);
    buf_puts(&out, words[next_random(state) % countof(words)]);
    buf_append(&out, page->data + end, page->len - end);
    buf_clear(page);
    buf_append(page, out.data, out.len);
}

/* Puts `text` in place of the next `old` behind a place taken at random. */
static inline void text_replace(
        struct buf *page, uint32_t *state, const char *old, const char *text)
{
    size_t at = next_random(state) % page->len;
    char *p = memmem(page->data + at, page->len - at, old, strlen(old));
    BUF(out, 1 << 22);

    if (!p)
        return;
    buf_append(&out, page->data, (size_t)(p - page->data));
    buf_puts(&out, text);
    buf_append(&out, p + strlen(old), page->len - (size_t)(p - page->data) - strlen(old));
    buf_clear(page);
    buf_append(page, out.data, out.len);
}

static inline void mutate(struct buf *page, uint32_t *state, unsigned most)
{
    static const char *const pairs[][2] = {{"<td>", "<td>7</td><td>"}, {"<td>1", "<td>9"},
            {"<tr>", "<tr><td>a</td><td>b</td></tr><tr>"}, {"<li>", "<li>another item<li>"},
            {"<li>", "<li class=new>"}, {"<ul>", "<ol>"}, {"</ul>", "</ul><ul><li>x y</ul>"},
            {"id=\"s", "id=\"t"}, {"id=\"s", "id=\"s1"}, {" id=", " name="}, {"<p>", "<h3>"},
            {"<p>", "<p title=x>"}, {"<p>", "<div><p>"}, {"level1", "level2"},
            {"href=\"/doc/", "href=\"/more/"}, {"<table>", ""}, {"<b>", "<i>"},
            {"Section ", "Chapter "}, {"Section", "Section  "}, {"<b>bold</b> ", ""},
            {"&amp;", "&#8195;"}, {"price", "pri<i></i>ce"}, {"the ", "the, "},
            {"<h2>", "<h2><img src=\"/i/x.png\">"}, {" title=\"Permalink\"", ""}};
    unsigned n = next_random(state) % (most + 1);

    for (unsigned i = 0; i < n; i++)
        switch (next_random(state) % 6) {
        case 0:
            lines_move(page, state, /* keep= */ true);
            break;
        case 1:
            lines_move(page, state, /* keep= */ false);
            break;
        case 2:
        case 3:
            word_replace(page, state);
            break;
        default: {
            const char *const *pair = pairs[next_random(state) % countof(pairs)];
            text_replace(page, state, pair[0], pair[1]);
            break;
        }
        }
}
