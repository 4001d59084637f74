/* HTML tokens, by the rules of the HTML standard.
 *
 * What stands in the page as it is meant, nearly everything, is handed on where it lies; only
 * what has references or capital letters is copied.  It must hold that
 *  (1) every byte is looked at a bounded number of times,
 *  (2) a tag that the page does not end is no tag, and
 *  (3) an element has at most PAGE_ATTRIBUTES_MAX attributes, or the page is refused.
 */
#include "page/page_int.h"
#include "page/scan.h"

/* A string of the tag being read that is in `copies`, which may still move. */
struct copy {
    size_t at;
    uint32_t pair; /* NAME_OF_TAG: it is the tag's name */
    bool is_value;
};

#define NAME_OF_TAG UINT32_MAX

struct tokens {
    struct str s;
    size_t at;
    struct token_sink *sink;
    struct buf copies; /* of the tag being read: what does not stand in the page like this */
    struct buf copied; /* struct copy */
    struct buf pairs;  /* struct pair; has room for all there may be */
    struct str name;   /* of the tag being read */
    struct buf text;
    unsigned template_depth;
    bool begun; /* there was more than comments and white space */
    bool too_many;
};

/* What a byte is in a tag. */
enum {
    BYTE_SPACE = 1,
    BYTE_ENDS_NAME = 2,
    BYTE_ENDS_ATTRIBUTE = 4, /* the name of one */
    BYTE_CHANGES = 8,        /* is written otherwise in a name */
    BYTE_UNTIDY = 16,        /* in a value: makes it one that has to be normalised */
    BYTE_REFERENCE = 32,
};

#define ENDS (BYTE_ENDS_NAME | BYTE_ENDS_ATTRIBUTE)
static const uint8_t byte_classes[256] = {
        [0 ... '\t' - 1] = BYTE_CHANGES | BYTE_UNTIDY,
        ['\t' ... '\n'] = BYTE_SPACE | ENDS,
        [0x0B] = BYTE_CHANGES | BYTE_UNTIDY,
        ['\f' ... '\r'] = BYTE_SPACE | ENDS,
        ['\r' + 1 ... ' ' - 1] = BYTE_CHANGES | BYTE_UNTIDY,
        [' '] = BYTE_SPACE | ENDS,
        ['/'] = ENDS,
        ['>'] = ENDS,
        ['='] = BYTE_ENDS_ATTRIBUTE,
        ['&'] = BYTE_REFERENCE,
        ['A' ... 'Z'] = BYTE_CHANGES,
        [0x7F ... 0xFF] = BYTE_UNTIDY,
};
#undef ENDS

static unsigned class_of(char c)
{
    return byte_classes[(unsigned char)c];
}

static bool ends_name(char c)
{
    return class_of(c) & BYTE_ENDS_NAME;
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

/* `references`: there are some, and they mean something. */
static void put_text(struct tokens *t, struct str s, bool references)
{
    if (s.len == 0 || t->template_depth)
        return;
    bool blank = is_blank(s);
    t->begun = t->begun || !blank;
    if (references) {
        buf_clear(&t->text);
        put_resolved(&t->text, s, false);
        s = (struct str){t->text.data, t->text.len};
        blank = is_blank(s);
    }
    t->sink->text(t->sink, s, blank);
}

static void emit_text(struct tokens *t, size_t from, size_t to, bool references)
{
    struct str s = {t->s.ptr + from, to - from};

    put_text(t, s, references && s.len && memchr(s.ptr, '&', s.len));
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
    bool is_cdata = t->s.len - at >= 9 && memcmp(t->s.ptr + at, "<![CDATA[", 9) == 0;
    if (is_cdata && t->sink->is_foreign(t->sink)) { /* in capitals, other than DOCTYPE */
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

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && class_of(*p) & BYTE_SPACE)
        p++;
    return p;
}

/* What is behind `at` in `copies` becomes a string of this pair, or the tag's name. */
static void copy_note(struct tokens *t, size_t at, uint32_t pair, bool is_value)
{
    struct copy c = {at, pair, is_value};
    struct pair *all = (struct pair *)(void *)t->pairs.data;
    struct str *s = pair == NAME_OF_TAG ? &t->name
                    : is_value          ? &all[pair].value
                                        : &all[pair].name;

    s->len = t->copies.len - at;
    buf_push(&t->copied, &c, sizeof c);
}

/* The strings get their places, now that `copies` has stopped moving. */
static void copies_place(struct tokens *t)
{
    const struct copy *c = (const struct copy *)(const void *)t->copied.data;
    struct pair *all = (struct pair *)(void *)t->pairs.data;

    for (size_t n = t->copied.len / sizeof *c; n > 0; n--, c++) {
        struct str *s = c->pair == NAME_OF_TAG ? &t->name
                        : c->is_value          ? &all[c->pair].value
                                               : &all[c->pair].name;
        s->ptr = t->copies.data + c->at;
    }
}

/* A name in lower case. */
static void copy_name(struct tokens *t, struct str name, uint32_t pair)
{
    size_t at = t->copies.len;

    if (!buf_push(&t->copies, name.ptr, name.len))
        return;
    for (char *c = t->copies.data + at; c < t->copies.data + t->copies.len; c++)
        *c = (unsigned char)*c < ' ' ? '_' : to_lower(*c);
    copy_note(t, at, pair, false);
}

/* Where the value that begins at p ends: at its quote, or at the page's end.  Says whether it
 * has references, and whether it is tidy: has nothing to squeeze, trim, drop or compose. */
static const char *quoted_end(
        const char *p, const char *end, char quote, bool *ret_references, bool *ret_tidy)
{
    const char *from = p;

    *ret_references = false;
    *ret_tidy = true;
    for (; *ret_tidy; p++) {
        p = scan_value(p, end, quote);
        if (p == end || *p == quote)
            break;
        if (*p == '&')
            *ret_references = true;
        else if (*p != ' ' || p == from || p[-1] == ' ')
            *ret_tidy = false;
    }
    if (*ret_tidy) {
        *ret_tidy = p == from || p[-1] != ' ';
        return p;
    }
    const char *close = memchr(from, quote, (size_t)(end - from));
    p = close ? close : end;
    *ret_references = memchr(from, '&', (size_t)(p - from)) != NULL;
    return p;
}

/* Reads an attribute's value at p (behind '=' and white space); returns where it ends. */
static const char *attribute_value(
        struct tokens *t, const char *p, const char *end, uint32_t pair, struct pair *a)
{
    char quote = *p;
    const char *from = p, *to;
    bool references;

    if (quote == '"' || quote == '\'') {
        from = p + 1;
        to = quoted_end(from, end, quote, &references, &a->tidy);
        p = to < end ? to + 1 : end;
    } else {
        unsigned all = 0;
        for (; p < end && !(class_of(*p) & BYTE_SPACE) && *p != '>'; p++)
            all |= class_of(*p);
        to = p;
        references = all & BYTE_REFERENCE;
        a->tidy = !(all & BYTE_UNTIDY);
    }
    a->value = (struct str){from, (size_t)(to - from)};
    if (references) {
        size_t at = t->copies.len;
        put_resolved(&t->copies, a->value, true);
        copy_note(t, at, pair, true);
        a->tidy = false;
    }
    return p;
}

/* One attribute at p; returns the place behind it. */
static const char *attribute(struct tokens *t, const char *p, const char *end)
{
    struct pair *a = (struct pair *)(void *)(t->pairs.data + t->pairs.len);
    uint32_t pair = (uint32_t)(t->pairs.len / sizeof *a);
    const char *from = p;
    unsigned all = 0;

    if (pair >= PAGE_ATTRIBUTES_MAX) { /* (3) */
        t->too_many = true;
        return end;
    }
    t->pairs.len += sizeof *a;
    do
        all |= class_of(*p++);
    while (p < end && !(class_of(*p) & BYTE_ENDS_ATTRIBUTE));
    *a = (struct pair){.name = {from, (size_t)(p - from)}, .value = {"", 0}, .tidy = true};
    if (all & BYTE_CHANGES)
        copy_name(t, a->name, pair);
    const char *eq = skip_space(p, end);
    if (eq < end && *eq == '=') {
        p = skip_space(eq + 1, end);
        if (p < end && *p != '>')
            p = attribute_value(t, p, end, pair, a);
    }
    return p;
}

/* Reads the attributes; returns the place behind the tag's '>', NULL when there is none. */
static const char *attributes(
        struct tokens *t, const char *p, const char *end, bool *ret_self_closing)
{
    *ret_self_closing = false;
    while (p < end && !t->too_many) {
        char c = *p;
        if (c == '>')
            return p + 1;
        if (class_of(c) & BYTE_ENDS_NAME) {
            *ret_self_closing = c == '/' && p + 1 < end && p[1] == '>';
            p++;
            continue;
        }
        p = attribute(t, p, end);
    }
    return NULL; /* (2) */
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
    const char *end = t->s.ptr + t->s.len;
    bool escaped = false, doubly = false;

    for (size_t i = at; i < t->s.len; i++) {
        i = (size_t)(scan_to(t->s.ptr + i, end, '<', '-') - t->s.ptr);
        if (i == t->s.len)
            break;
        if (t->s.ptr[i] == '-') {
            if (starts(t, i, "-->"))
                escaped = doubly = false;
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

static bool is_template(struct str name)
{
    return name.len == 8 && memcmp(name.ptr, "template", 8) == 0;
}

/* Whether the element is left out here, unread.  In SVG and MathML, where the content even of
 * a script is markup, it is the sink that leaves it out. */
static bool is_left_out(const struct tokens *t, struct str name)
{
    return ((name.len == 6 && memcmp(name.ptr, "script", 6) == 0) ||
                   (name.len == 5 && memcmp(name.ptr, "style", 5) == 0) ||
                   (name.len == 8 && memcmp(name.ptr, "noscript", 8) == 0) ||
                   is_template(name)) &&
           !t->sink->is_foreign(t->sink);
}

static void start_tag(struct tokens *t, struct str name, bool self_closing)
{
    struct pair *attrs = (struct pair *)(void *)t->pairs.data;
    size_t n = t->pairs.len / sizeof *attrs;

    if (is_left_out(t, name)) {
        if (is_template(name))
            t->template_depth++;
        else
            content_read(t, name, CONTENT_SKIPPED);
    } else if (!t->template_depth) {
        enum token_content content = t->sink->start(t->sink, name, attrs, n, self_closing);
        if (content != CONTENT_MARKUP)
            content_read(t, name, content);
    }
}

static void end_tag(struct tokens *t, struct str name)
{
    if (!is_left_out(t, name)) {
        if (!t->template_depth)
            t->sink->end(t->sink, name);
    } else if (is_template(name)) {
        t->template_depth -= t->template_depth > 0;
    }
}

/* The tag whose '<' is at `at`; moves behind it. */
static void tag(struct tokens *t, const char *at, const char *end)
{
    bool closing = at[1] == '/', self_closing;
    const char *from = at + 1 + closing, *p = from;
    unsigned all = 0;

    t->pairs.len = 0;
    t->begun = true;
    for (; p < end && !(class_of(*p) & BYTE_ENDS_NAME); p++)
        all |= class_of(*p);
    t->name = (struct str){from, (size_t)(p - from)};
    if (all & BYTE_CHANGES)
        copy_name(t, t->name, NAME_OF_TAG);
    p = attributes(t, p, end, &self_closing);
    t->at = p ? (size_t)(p - t->s.ptr) : t->s.len;
    if (t->copied.len)
        copies_place(t);
    if (p && !t->copies.overflowed && !t->copied.overflowed) {
        if (closing)
            end_tag(t, t->name);
        else
            start_tag(t, t->name, self_closing);
    }
    if (t->copied.len) {
        buf_clear(&t->copies);
        buf_clear(&t->copied);
    }
}

static void next(struct tokens *t)
{
    const char *from = t->s.ptr + t->at, *end = t->s.ptr + t->s.len, *p = from;
    bool references = false;
    char c = 0, d = 0;

    for (;; p++) {
        p = scan_to(p, end, '<', '&');
        if (p == end)
            break;
        if (*p == '&') {
            references = true;
            continue;
        }
        c = end - p > 1 ? p[1] : 0;
        d = end - p > 2 ? p[2] : 0;
        if (is_letter(c) || c == '!' || c == '?' || (c == '/' && d))
            break;
        /* a '<' that begins nothing is text, and stays in one piece with what surrounds it */
    }
    put_text(t, (struct str){from, (size_t)(p - from)}, references);
    t->at = (size_t)(p - t->s.ptr);
    if (p == end)
        return;
    if (is_letter(c) || (c == '/' && is_letter(d)))
        tag(t, p, end);
    else
        t->at = declaration(t, t->at);
}

enum err tokens_read(struct str text, struct token_sink *sink, struct fault *f)
{
    struct tokens t = {.s = text, .sink = sink};
    struct buf *all[] = {&t.copies, &t.copied, &t.pairs, &t.text};
    enum err e = OK;

    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], 4 * text.len + 4096 + PAGE_ATTRIBUTES_MAX * sizeof(struct pair));
    buf_reserve(&t.pairs, PAGE_ATTRIBUTES_MAX * sizeof(struct pair));
    while (t.at < t.s.len && !t.too_many && !t.pairs.overflowed && !*sink->is_over)
        next(&t);
    if (t.too_many)
        e = fault_set(
                f, ERR_LIMIT, "an element has more than %d attributes", PAGE_ATTRIBUTES_MAX);
    else if (t.copies.overflowed || t.copied.overflowed || t.pairs.overflowed ||
             t.text.overflowed)
        e = fault_set(f, ERR_LIMIT, "no memory to read the page");
    for (size_t i = 0; i < countof(all); i++)
        buf_done(all[i]);
    return e;
}
