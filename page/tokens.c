/* HTML tokens, by the rules of the HTML standard.
 *
 * What stands in the page as it is meant, nearly everything, is handed on where it lies; only
 * what has references or capital letters is copied.  It must hold that
 *  (1) every byte is looked at a bounded number of times,
 *  (2) a tag that the page does not end is no tag, and
 *  (3) an element has at most PAGE_ATTRIBUTES_MAX attributes, or the page is refused.
 */
#include "page/page_int.h"

/* A string of the tag being read: in the page, or in `copies`, which may still move. */
struct piece {
    size_t at, len;
    bool copied;
};

struct attribute {
    struct piece name, value;
};

struct tokens {
    struct str s;
    size_t at;
    struct token_sink *sink;
    struct buf copies; /* of the tag being read: what does not stand in the page like this */
    struct buf attrs;  /* struct attribute */
    struct buf pairs;  /* struct pair, once `copies` has stopped moving */
    struct buf text;
    unsigned template_depth;
    bool begun; /* there was more than comments and white space */
    bool too_many;
};

static bool ends_name(char c)
{
    return is_space(c) || c == '/' || c == '>';
}

static bool is_letter(char c)
{
    return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

static struct str rest(const struct tokens *t, size_t from)
{
    return (struct str){t->s.ptr + from, t->s.len - from};
}

static bool starts(const struct tokens *t, size_t at, const char *word)
{
    return at < t->s.len && str_starts_nocase(rest(t, at), str_of(word));
}

/* ---- text -------------------------------------------------------------------------------- */

static void put_resolved(struct buf *out, struct str s, bool in_attribute)
{
    size_t from = 0;

    while (from < s.len) {
        const char *amp = memchr(s.ptr + from, '&', s.len - from);
        size_t i = amp ? (size_t)(amp - s.ptr) : s.len;
        buf_push(out, s.ptr + from, i - from);
        if (!amp)
            return;
        char utf8[8];
        size_t len,
                taken = reference_read((struct str){amp, s.len - i}, in_attribute, utf8, &len);
        if (taken)
            buf_push(out, utf8, len);
        else
            buf_push_char(out, '&');
        from = i + (taken ? taken : 1);
    }
}

static void emit_text(struct tokens *t, size_t from, size_t to, bool references)
{
    struct str s = {t->s.ptr + from, to - from};

    if (s.len == 0 || t->template_depth)
        return;
    t->begun = t->begun || !is_blank(s);
    if (references && memchr(s.ptr, '&', s.len)) {
        buf_clear(&t->text);
        put_resolved(&t->text, s, false);
        s = (struct str){t->text.data, t->text.len};
    }
    t->sink->text(t->sink, s);
}

/* ---- what is no content: comments, doctypes, processing instructions --------------------- */

static size_t behind(const struct tokens *t, size_t from, const char *mark)
{
    const char *p = from < t->s.len
                            ? memmem(t->s.ptr + from, t->s.len - from, mark, strlen(mark))
                            : NULL;
    return p ? (size_t)(p - t->s.ptr) + strlen(mark) : t->s.len;
}

/* Behind the comment whose "<!--" is at `at`. */
static size_t comment_end(const struct tokens *t, size_t at)
{
    size_t i = at + 4;

    if (starts(t, i, ">"))
        return i + 1;
    if (starts(t, i, "->"))
        return i + 2;
    for (;;) { /* (1): each step goes on behind a "--" */
        i = behind(t, i, "--");
        if (i >= t->s.len)
            return t->s.len;
        while (i < t->s.len && t->s.ptr[i] == '-')
            i++;
        if (starts(t, i, ">"))
            return i + 1;
        if (starts(t, i, "!>"))
            return i + 2;
    }
}

/* Behind "<!..." or "<?..." or "</" that begins no tag. */
static size_t declaration(struct tokens *t, size_t at)
{
    if (starts(t, at, "<!--"))
        return comment_end(t, at);
    if (starts(t, at, "<![CDATA[") && t->sink->is_foreign(t->sink)) {
        size_t end = behind(t, at, "]]>");
        size_t text_end = end >= 3 && memcmp(t->s.ptr + end - 3, "]]>", 3) == 0 ? end - 3 : end;
        emit_text(t, at + 9, text_end, false);
        return end;
    }
    size_t end = behind(t, at, ">");
    if (starts(t, at, "<!DOCTYPE") && !t->begun) {
        bool is_ended = t->s.ptr[end - 1] == '>';
        struct str s = {t->s.ptr + at + 9, end - at - 9 - is_ended};
        t->sink->doctype(t->sink, !is_ended || doctype_is_quirky(s));
        t->begun = true;
    }
    return end;
}

/* ---- tags -------------------------------------------------------------------------------- */

/* Reads an attribute's value at i (behind '=' and white space); returns where it ends. */
static size_t attribute_value(struct tokens *t, size_t i, struct piece *ret)
{
    char quote = t->s.ptr[i];
    size_t from = i, to;

    if (quote == '"' || quote == '\'') {
        const char *p = memchr(t->s.ptr + i + 1, quote, t->s.len - i - 1);
        from = i + 1;
        to = p ? (size_t)(p - t->s.ptr) : t->s.len;
        i = p ? to + 1 : t->s.len;
    } else {
        while (i < t->s.len && !is_space(t->s.ptr[i]) && t->s.ptr[i] != '>')
            i++;
        to = i;
    }
    *ret = (struct piece){from, to - from, false};
    if (memchr(t->s.ptr + from, '&', to - from)) {
        *ret = (struct piece){t->copies.len, 0, true};
        put_resolved(&t->copies, (struct str){t->s.ptr + from, to - from}, true);
        ret->len = t->copies.len - ret->at;
    }
    return i;
}

static size_t skip_space(const struct tokens *t, size_t i)
{
    while (i < t->s.len && is_space(t->s.ptr[i]))
        i++;
    return i;
}

/* A name in lower case. */
static struct piece name_piece(struct tokens *t, size_t from, size_t to)
{
    struct piece p = {from, to - from, false};
    bool plain = true;

    for (size_t i = from; i < to; i++)
        plain &= (unsigned char)t->s.ptr[i] >= ' ' &&
                 !(t->s.ptr[i] >= 'A' && t->s.ptr[i] <= 'Z');
    if (plain)
        return p;
    p = (struct piece){t->copies.len, to - from, true};
    if (!buf_push(&t->copies, t->s.ptr + from, to - from))
        return (struct piece){from, 0, false};
    for (char *c = t->copies.data + p.at; to > from; c++, to--)
        *c = (unsigned char)*c < ' ' ? '_' : to_lower(*c);
    return p;
}

static struct str piece_text(const struct tokens *t, struct piece p)
{
    return (struct str){(p.copied ? t->copies.data : t->s.ptr) + p.at, p.len};
}

/* One attribute at i; returns the place behind it. */
static size_t attribute(struct tokens *t, size_t i)
{
    size_t from = i;

    for (i++; i < t->s.len && !ends_name(t->s.ptr[i]) && t->s.ptr[i] != '='; i++)
        ;
    struct attribute a = {.name = name_piece(t, from, i)};
    size_t eq = skip_space(t, i);
    if (eq < t->s.len && t->s.ptr[eq] == '=') {
        i = skip_space(t, eq + 1);
        if (i < t->s.len && t->s.ptr[i] != '>')
            i = attribute_value(t, i, &a.value);
    }
    if (t->attrs.len / sizeof a >= PAGE_ATTRIBUTES_MAX) /* (3) */
        t->too_many = true;
    else
        buf_push(&t->attrs, &a, sizeof a);
    return i;
}

/* Reads the attributes; returns the place behind the tag's '>', 0 when there is none. */
static size_t attributes(struct tokens *t, size_t i, bool *ret_self_closing)
{
    *ret_self_closing = false;
    while (i < t->s.len && !t->too_many) {
        char c = t->s.ptr[i];
        if (c == '>')
            return i + 1;
        if (is_space(c) || c == '/') {
            *ret_self_closing = c == '/' && i + 1 < t->s.len && t->s.ptr[i + 1] == '>';
            i++;
            continue;
        }
        i = attribute(t, i);
    }
    return 0; /* (2) */
}

/* The attributes as pairs, now that their bytes have a place. */
static struct pair *pairs(struct tokens *t, size_t *ret_n)
{
    size_t n = t->attrs.len / sizeof(struct attribute);
    const struct attribute *a = (const struct attribute *)(const void *)t->attrs.data;

    buf_clear(&t->pairs);
    for (size_t i = 0; i < n; i++) {
        struct pair p = {.name = piece_text(t, a[i].name), .value = piece_text(t, a[i].value)};
        buf_push(&t->pairs, &p, sizeof p);
    }
    *ret_n = t->pairs.overflowed ? 0 : n;
    return (struct pair *)(void *)t->pairs.data;
}

/* ---- content that is not markup ---------------------------------------------------------- */

static bool is_end_tag(const struct tokens *t, size_t at, struct str name)
{
    size_t end = at + 2 + name.len;
    return end < t->s.len && t->s.ptr[at + 1] == '/' &&
           str_starts_nocase(rest(t, at + 2), name) && ends_name(t->s.ptr[end]);
}

/* Where "</name" stands, from `at` on; the end when it does not. */
static size_t find_end_tag(const struct tokens *t, size_t at, struct str name)
{
    for (size_t i = at; i < t->s.len; i++) {
        const char *p = memchr(t->s.ptr + i, '<', t->s.len - i);
        if (!p)
            break;
        i = (size_t)(p - t->s.ptr);
        if (is_end_tag(t, i, name))
            return i;
    }
    return t->s.len;
}

/* The same for a script, where "<!-- <script>" hides the next "</script>". */
static size_t find_script_end(const struct tokens *t, size_t at)
{
    static const struct str name = {"script", 6};
    bool escaped = false, doubly = false;

    for (size_t i = at; i < t->s.len; i++) {
        char c = t->s.ptr[i];
        if (c == '-' && starts(t, i, "-->")) {
            escaped = doubly = false;
        } else if (c != '<') {
            continue;
        } else if (starts(t, i, "<!--")) {
            escaped = true;
            i += starts(t, i, "<!-->") || starts(t, i, "<!--->") ? 1 : 3;
        } else if (is_end_tag(t, i, name)) {
            if (!doubly)
                return i;
            doubly = false;
        } else if (escaped && starts(t, i, "<script") && i + 7 < t->s.len &&
                   ends_name(t->s.ptr[i + 7])) {
            doubly = true;
        }
    }
    return t->s.len;
}

/* Reads the content that follows a start tag of this name, up to its end tag. */
static void content_read(struct tokens *t, struct str name, enum token_content content)
{
    size_t from = t->at;

    switch (content) {
    case CONTENT_MARKUP:
        return;
    case CONTENT_SKIPPED:
        t->at = str_equal(name, STR("script")) ? find_script_end(t, from)
                                               : find_end_tag(t, from, name);
        return;
    case CONTENT_RAW:
    case CONTENT_REFERENCES:
        t->at = find_end_tag(t, from, name);
        emit_text(t, from, t->at, content == CONTENT_REFERENCES);
        return;
    case CONTENT_REST:
        t->at = t->s.len;
        emit_text(t, from, t->at, false);
        return;
    }
}

/* ---- one tag ----------------------------------------------------------------------------- */

/* Whether the element is left out here, unread.  In SVG and MathML, where the content even of
 * a script is markup, it is the sink that leaves it out. */
static bool is_left_out(const struct tokens *t, struct str name)
{
    static const char *const names[] = {"noscript", "script", "style", "template"};
    return name_is_one_of(name, names, countof(names)) && !t->sink->is_foreign(t->sink);
}

static void start_tag(struct tokens *t, struct str name, bool self_closing)
{
    size_t n;
    struct pair *attrs = pairs(t, &n);

    if (is_left_out(t, name)) {
        if (str_equal(name, STR("template")))
            t->template_depth++;
        else
            content_read(t, name, CONTENT_SKIPPED);
    } else if (!t->template_depth) {
        content_read(t, name, t->sink->start(t->sink, name, attrs, n, self_closing));
    }
}

static void end_tag(struct tokens *t, struct str name)
{
    if (!is_left_out(t, name)) {
        if (!t->template_depth)
            t->sink->end(t->sink, name);
    } else if (str_equal(name, STR("template"))) {
        t->template_depth -= t->template_depth > 0;
    }
}

/* The tag whose '<' is at `at`; moves behind it. */
static void tag(struct tokens *t, size_t at)
{
    bool closing = t->s.ptr[at + 1] == '/', self_closing;
    size_t from = at + 1 + closing, i = from;

    while (i < t->s.len && !ends_name(t->s.ptr[i]))
        i++;
    buf_clear(&t->copies);
    buf_clear(&t->attrs);
    t->begun = true;
    struct piece name = name_piece(t, from, i);
    size_t end = attributes(t, i, &self_closing);
    t->at = end ? end : t->s.len;
    if (!end || t->copies.overflowed || t->attrs.overflowed)
        return;
    /* the name may be needed behind the sink, while `copies` stays as it is */
    if (closing)
        end_tag(t, piece_text(t, name));
    else
        start_tag(t, piece_text(t, name), self_closing);
}

static void next(struct tokens *t)
{
    const char *p = memchr(t->s.ptr + t->at, '<', t->s.len - t->at);
    size_t from = t->at, at = p ? (size_t)(p - t->s.ptr) : t->s.len;

    /* a '<' that begins nothing is text, and stays in one piece with what surrounds it */
    while (at < t->s.len) {
        char c = at + 1 < t->s.len ? t->s.ptr[at + 1] : 0,
             d = at + 2 < t->s.len ? t->s.ptr[at + 2] : 0;
        if (is_letter(c) || c == '!' || c == '?' || (c == '/' && d))
            break;
        p = memchr(t->s.ptr + at + 1, '<', t->s.len - at - 1);
        at = p ? (size_t)(p - t->s.ptr) : t->s.len;
    }
    emit_text(t, from, at, true);
    t->at = at;
    if (at == t->s.len)
        return;
    char c = t->s.ptr[at + 1], d = at + 2 < t->s.len ? t->s.ptr[at + 2] : 0;
    if (is_letter(c) || (c == '/' && is_letter(d)))
        tag(t, at);
    else
        t->at = declaration(t, at);
}

enum err tokens_read(struct str text, struct token_sink *sink, struct fault *f)
{
    struct tokens t = {.s = text, .sink = sink};
    struct buf *all[] = {&t.copies, &t.attrs, &t.pairs, &t.text};
    enum err e = OK;

    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], 4 * text.len + 4096 + PAGE_ATTRIBUTES_MAX * sizeof(struct attribute));
    while (t.at < t.s.len && !t.too_many && !sink->is_over(sink))
        next(&t);
    if (t.too_many)
        e = fault_set(
                f, ERR_LIMIT, "an element has more than %d attributes", PAGE_ATTRIBUTES_MAX);
    else if (t.copies.overflowed || t.attrs.overflowed || t.pairs.overflowed ||
             t.text.overflowed)
        e = fault_set(f, ERR_LIMIT, "no memory to read the page");
    for (size_t i = 0; i < countof(all); i++)
        buf_done(all[i]);
    return e;
}
