/* HTML tokens, by the rules of the HTML standard.
 *
 * libxml2's HTML parser is of the time of HTML 4: `<!-->` swallows text, the content of a
 * title is read as markup, names of attributes it does not expect are dropped, and a tag
 * with a hundred thousand attributes takes half a minute.  So the tokens are ours, and the
 * parser is left with the one thing that is its own: which element ends where.  It must
 * hold that
 *  (1) every byte is looked at a bounded number of times,
 *  (2) a tag that the page does not end is no tag, and
 *  (3) an element has at most PAGE_ATTRIBUTES_MAX attributes, or the page is refused.
 */
#include "page/page_int.h"

struct tokens {
    struct str s;
    size_t at;
    struct token_sink *sink;
    struct buf names; /* of the tag being read: name, attribute names and values */
    struct buf spans; /* four numbers an attribute: name and value in `names` */
    struct buf pairs; /* struct pair, once `names` has stopped moving */
    struct buf text;
    unsigned template_depth, foreign_depth;
    bool too_many;
};

/* How the content of an element is read. */
enum content { CONTENT_MARKUP, CONTENT_RAW, CONTENT_REFERENCES, CONTENT_SKIPPED, CONTENT_REST };

static enum content content_of(struct str name)
{
    static const struct {
        const char *name;
        enum content content;
    } table[] = {{"script", CONTENT_SKIPPED}, {"style", CONTENT_SKIPPED},
            {"noscript", CONTENT_SKIPPED}, {"title", CONTENT_REFERENCES},
            {"textarea", CONTENT_REFERENCES}, {"xmp", CONTENT_RAW}, {"iframe", CONTENT_RAW},
            {"noembed", CONTENT_RAW}, {"noframes", CONTENT_RAW}, {"plaintext", CONTENT_REST}};

    for (size_t i = 0; i < countof(table); i++)
        if (name.ptr[0] == table[i].name[0] && str_equal(name, str_of(table[i].name)))
            return table[i].content;
    return CONTENT_MARKUP;
}

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

/* ---- text
 * ------------------------------------------------------------------------------------ */

/* Appends s without the characters no parser takes: zero bytes and other controls.  A form
 * feed is white space to HTML, but not to the parser. */
static void put_clean(struct buf *out, struct str s)
{
    size_t from = 0;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool noncharacter = c == 0xEF && i + 2 < s.len && (unsigned char)s.ptr[i + 1] == 0xBF &&
                            (unsigned char)s.ptr[i + 2] >= 0xBE;
        if ((c >= ' ' && !noncharacter) || (is_space((char)c) && c != '\f'))
            continue;
        buf_append(out, s.ptr + from, i - from);
        if (c == '\f')
            buf_putc(out, ' ');
        i += noncharacter ? 2 : 0;
        from = i + 1;
    }
    buf_append(out, s.ptr + from, s.len - from);
}

static void put_resolved(struct buf *out, struct str s, bool in_attribute)
{
    size_t from = 0;

    while (from < s.len) {
        const char *amp = memchr(s.ptr + from, '&', s.len - from);
        size_t i = amp ? (size_t)(amp - s.ptr) : s.len;
        put_clean(out, (struct str){s.ptr + from, i - from});
        if (!amp)
            return;
        char utf8[8];
        size_t len,
                taken = reference_read((struct str){amp, s.len - i}, in_attribute, utf8, &len);
        if (taken)
            put_clean(out, (struct str){utf8, len});
        else
            buf_putc(out, '&');
        from = i + (taken ? taken : 1);
    }
}

static void emit_text(struct tokens *t, size_t from, size_t to, bool references)
{
    struct str s = {t->s.ptr + from, to - from};

    if (s.len == 0 || t->template_depth)
        return;
    buf_clear(&t->text);
    if (references)
        put_resolved(&t->text, s, false);
    else
        put_clean(&t->text, s);
    if (t->text.len)
        t->sink->text(t->sink, (struct str){t->text.data, t->text.len});
}

/* ---- what is no content: comments, doctypes, processing instructions
 * --------------------------- */

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
    if (t->foreign_depth && starts(t, at, "<![CDATA[")) {
        size_t end = behind(t, at, "]]>");
        size_t text_end = end >= 3 && memcmp(t->s.ptr + end - 3, "]]>", 3) == 0 ? end - 3 : end;
        emit_text(t, at + 9, text_end, false);
        return end;
    }
    return behind(t, at, ">");
}

/* ---- tags
 * --------------------------------------------------------------------------------------- */

/* Reads an attribute's value at i (behind '=' and white space); returns where it ends. */
static size_t attribute_value(struct tokens *t, size_t i)
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
    put_resolved(&t->names, (struct str){t->s.ptr + from, to - from}, true);
    return i;
}

static size_t skip_space(const struct tokens *t, size_t i)
{
    while (i < t->s.len && is_space(t->s.ptr[i]))
        i++;
    return i;
}

static void put_name(struct tokens *t, size_t from, size_t to)
{
    if (!buf_append(&t->names, t->s.ptr + from, to - from))
        return;
    for (char *p = t->names.data + t->names.len - (to - from); to > from; p++, to--)
        *p = (unsigned char)*p < ' ' ? '_' : to_lower(*p);
}

/* One attribute at i; returns the place behind it. */
static size_t attribute(struct tokens *t, size_t i)
{
    size_t from = i, mark[4];

    for (i++; i < t->s.len && !ends_name(t->s.ptr[i]) && t->s.ptr[i] != '='; i++)
        ;
    mark[0] = t->names.len;
    put_name(t, from, i);
    mark[1] = mark[2] = t->names.len;
    size_t eq = skip_space(t, i);
    if (eq < t->s.len && t->s.ptr[eq] == '=') {
        i = skip_space(t, eq + 1);
        if (i < t->s.len && t->s.ptr[i] != '>')
            i = attribute_value(t, i);
    }
    mark[3] = t->names.len;
    if (t->spans.len / sizeof mark >= PAGE_ATTRIBUTES_MAX) /* (3) */
        t->too_many = true;
    else
        buf_append(&t->spans, mark, sizeof mark);
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
    size_t n = t->spans.len / (4 * sizeof(size_t));
    const size_t *mark = (const size_t *)(const void *)t->spans.data;

    buf_clear(&t->pairs);
    for (size_t i = 0; i < n; i++, mark += 4) {
        struct pair p = {{t->names.data + mark[0], mark[1] - mark[0]},
                {t->names.data + mark[2], mark[3] - mark[2]}};
        buf_append(&t->pairs, &p, sizeof p);
    }
    *ret_n = t->pairs.overflowed ? 0 : n;
    return (struct pair *)(void *)t->pairs.data;
}

/* ---- content that is not markup
 * ------------------------------------------------------------------ */

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
static void content_read(struct tokens *t, struct str name, enum content content)
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

/* ---- one tag
 * -------------------------------------------------------------------------------------- */

static bool is_foreign_root(struct str name)
{
    return str_equal(name, STR("svg")) || str_equal(name, STR("math"));
}

static void start_tag(struct tokens *t, struct str name, bool self_closing)
{
    enum content content = t->foreign_depth && !str_equal(name, STR("script")) &&
                                           !str_equal(name, STR("style"))
                                   ? CONTENT_MARKUP
                                   : content_of(name);
    size_t n;
    struct pair *attrs = pairs(t, &n);

    if (is_foreign_root(name) && !self_closing)
        t->foreign_depth++;
    if (str_equal(name, STR("template"))) {
        t->template_depth++;
        return;
    }
    bool closed_here = self_closing && t->foreign_depth;
    if (content != CONTENT_SKIPPED && !t->template_depth)
        t->sink->start(t->sink, name, attrs, n,
                self_closing && (t->foreign_depth || is_foreign_root(name)));
    if (!closed_here)
        content_read(t, name, content);
}

static void end_tag(struct tokens *t, struct str name)
{
    if (is_foreign_root(name) && t->foreign_depth)
        t->foreign_depth--;
    if (str_equal(name, STR("template")))
        t->template_depth -= t->template_depth > 0;
    else if (!t->template_depth && content_of(name) != CONTENT_SKIPPED)
        t->sink->end(t->sink, name);
}

/* The tag whose '<' is at `at`; moves behind it. */
static void tag(struct tokens *t, size_t at)
{
    bool closing = t->s.ptr[at + 1] == '/', self_closing;
    size_t from = at + 1 + closing, i = from;

    while (i < t->s.len && !ends_name(t->s.ptr[i]))
        i++;
    buf_clear(&t->names);
    buf_clear(&t->spans);
    put_name(t, from, i);
    size_t name_len = t->names.len;
    size_t end = attributes(t, i, &self_closing);
    t->at = end ? end : t->s.len;
    if (!end || t->names.overflowed || t->spans.overflowed)
        return;
    /* the name may be needed behind the sink, while `names` stays as it is */
    struct str name = {t->names.data, name_len};
    if (closing)
        end_tag(t, name);
    else
        start_tag(t, name, self_closing);
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
    struct buf *all[] = {&t.names, &t.spans, &t.pairs, &t.text};
    enum err e = OK;

    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], 4 * text.len + 4096 + PAGE_ATTRIBUTES_MAX * 64);
    while (t.at < t.s.len && !t.too_many && !sink->is_over(sink))
        next(&t);
    if (t.too_many)
        e = fault_set(
                f, ERR_LIMIT, "an element has more than %d attributes", PAGE_ATTRIBUTES_MAX);
    else if (t.names.overflowed || t.spans.overflowed || t.pairs.overflowed ||
             t.text.overflowed)
        e = fault_set(f, ERR_LIMIT, "no memory to read the page");
    for (size_t i = 0; i < countof(all); i++)
        buf_done(all[i]);
    return e;
}
