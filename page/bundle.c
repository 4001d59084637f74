/* Bundles: a frameset and the pages of its frames as one source.
 *
 * A page made of frames is one page to whoever reads it, so it is one body here: the frameset
 * and what its frames show, one part behind the other as MHTML has it (RFC 2557), so that a
 * stored one can be looked at with other programs.  It must hold that
 *  (1) equal parts in equal order are equal bytes, whenever they are put together,
 *  (2) a frame's page stands in the tree below its frame, and what it refers to is seen from
 *      its own address, and
 *  (3) frames that show each other, and bundles that a stranger made, end: a page is not shown
 *      inside itself, and there is a limit to how often pages are shown.
 */
#include "page/bundle.h"
#include <stdio.h>
#include <stdlib.h>

#define TYPE_BEGINS "multipart/related; type=\"text/html\"; boundary=\"vigil-"

/* ---- writing ----------------------------------------------------------------------------- */

/* A header must not end before it should. */
static void put_header(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "%s: ", name);
    for (; *value; value++)
        buf_putc(out, (unsigned char)*value < ' ' ? ' ' : *value);
    buf_puts(out, "\r\n");
}

static void boundary_of(const struct page_part *parts, size_t n, char boundary[40])
{
    struct hash128 h = {n, 0};

    for (size_t i = 0; i < n; i++) {
        struct hash128 both[2] = {h, hash128_of(parts[i].bytes, parts[i].len)};
        h = hash128_of(both, sizeof both); /* (1) */
    }
    snprintf(
            boundary, 40, "%016llx%016llx", (unsigned long long)h.hi, (unsigned long long)h.lo);
}

bool page_bundle_write(const struct page_part *parts, size_t n, struct buf *out,
        char type[PAGE_BUNDLE_TYPE_BYTES])
{
    char boundary[40];

    boundary_of(parts, n, boundary);
    for (size_t i = 0; i < n; i++) {
        const struct page_part *p = &parts[i];
        buf_printf(out, "--vigil-%s\r\n", boundary);
        if (p->content_type)
            put_header(out, "Content-Type", p->content_type);
        put_header(out, "Content-Location", p->url);
        put_header(out, "Content-Base", p->final_url ? p->final_url : p->url);
        buf_printf(out, "Content-Transfer-Encoding: binary\r\nContent-Length: %zu\r\n\r\n",
                p->len);
        buf_append(out, p->bytes, p->len);
        buf_puts(out, "\r\n");
    }
    buf_printf(out, "--vigil-%s--\r\n", boundary);
    snprintf(type, PAGE_BUNDLE_TYPE_BYTES, TYPE_BEGINS "%s\"", boundary);
    return !out->overflowed;
}

/* ---- reading ----------------------------------------------------------------------------- */

bool page_is_bundle(const char *content_type)
{
    return content_type && str_starts_nocase(str_of(content_type), STR(TYPE_BEGINS));
}

static bool next_line(struct str *rest, struct str *ret)
{
    const char *end = memmem(rest->ptr, rest->len, "\r\n", 2);

    if (!end)
        return false;
    *ret = (struct str){rest->ptr, (size_t)(end - rest->ptr)};
    rest->len -= ret->len + 2;
    rest->ptr = end + 2;
    return true;
}

static bool take_header(struct str line, const char *name, struct arena *life, const char **ret)
{
    size_t n = strlen(name);

    if (!str_starts_nocase(line, str_of(name)) || line.len < n + 2)
        return false;
    *ret = arena_strndup(life, line.ptr + n + 2, line.len - n - 2);
    return true;
}

static bool part_read(struct str *rest, struct arena *life, struct page_part *ret)
{
    struct page_part p = {.url = NULL};
    const char *length = NULL;
    struct str line;

    if (!next_line(rest, &line) || !str_starts_nocase(line, STR("--vigil-")))
        return false;
    while (next_line(rest, &line) && line.len) {
        (void)(take_header(line, "Content-Type", life, &p.content_type) ||
                take_header(line, "Content-Location", life, &p.url) ||
                take_header(line, "Content-Base", life, &p.final_url) ||
                take_header(line, "Content-Length", life, &length));
    }
    if (!p.url || !length)
        return false;
    unsigned long long n = strtoull(length, NULL, 10);
    if (n > rest->len)
        return false;
    p.bytes = rest->ptr;
    p.len = (size_t)n;
    rest->ptr += p.len;
    rest->len -= p.len;
    *ret = p;
    return next_line(rest, &line) && line.len == 0;
}

size_t page_bundle_read(struct str bytes, struct arena *life, struct page_part **ret)
{
    size_t n = 0;

    *ret = arena_array_of(life, PAGE_FRAMES_MAX + 1, struct page_part);
    while (n <= PAGE_FRAMES_MAX && part_read(&bytes, life, &(*ret)[n]))
        n++;
    return n;
}

/* ---- into the tree ----------------------------------------------------------------------- */

static const struct page_part *part_find(const struct bundle *bundle, struct str url)
{
    const char *fragment = memchr(url.ptr, '#', url.len);

    if (fragment)
        url.len = (size_t)(fragment - url.ptr);
    for (size_t i = 1; i < bundle->count; i++)
        if (str_equal(str_of(bundle->parts[i].url), url))
            return &bundle->parts[i];
    return NULL;
}

static struct str base_now(const struct build *b, struct buf *scratch)
{
    const struct bundle *bundle = b->bundle;
    struct str url = bundle->base[bundle->depth], own = {buf_text(&b->base), b->base.len};

    buf_clear(scratch);
    if (b->has_base && page_url_resolve(url, own, scratch))
        return (struct str){scratch->data, scratch->len};
    return url;
}

/* Makes what was noted from `from` on absolute: (2). */
static void resolve_from(struct build *b, struct buf *numbers, size_t from, struct str base)
{
    uint32_t *all = (uint32_t *)(void *)numbers->data;
    BUF(url, 1 << 20);

    for (size_t i = from; i < numbers->len / sizeof *all; i++) {
        buf_clear(&url);
        if (page_url_resolve(base, intern_text(&b->attr_strings, all[i]), &url))
            all[i] = intern_get(&b->attr_strings, (struct str){url.data, url.len});
    }
    b->overflowed |= intern_is_full(&b->attr_strings);
}

static enum err part_to_tree(const struct page_part *part, struct build *b, struct fault *f)
{
    struct page_source src = {part->bytes, part->len, part->content_type, part->final_url};
    enum page_type type = content_type_page(src.content_type, (struct str){src.bytes, src.len});
    BUF(text, 4 * (size_t)PAGE_BODY_MAX);
    struct str s = {"", 0};

    enum err e = type == PAGE_DATA ? OK : decode_text(&src, &text, f, &s);
    if (e)
        return e;
    switch (type) {
    case PAGE_HTML:
    case PAGE_XML:
        return html_read(s, b, f);
    case PAGE_TEXT:
        return plain_read(s, b, f);
    case PAGE_DATA:
    case PAGE_TYPE_COUNT:
        break;
    }
    return data_read(&src, b, f);
}

static bool is_shown_around(const struct bundle *bundle, const struct page_part *part)
{
    for (unsigned i = 1; i <= bundle->depth; i++)
        if (bundle->shown[i] == part)
            return true;
    return false;
}

static void show(struct build *b, const struct page_part *part)
{
    struct bundle *bundle = b->bundle;
    struct buf outer = b->base;
    bool had_base = b->has_base;
    size_t links = b->links.len / sizeof(uint32_t), images = b->images.len / sizeof(uint32_t);
    BUF(scratch, 1 << 20);

    buf_init(&b->base, outer.max);
    b->has_base = false;
    bundle->depth++;
    bundle->times++;
    bundle->shown[bundle->depth] = part;
    bundle->base[bundle->depth] = str_of(part->final_url ? part->final_url : part->url);
    bundle->err = part_to_tree(part, b, bundle->f);
    struct str base = base_now(b, &scratch);
    resolve_from(b, &b->links, links, base);
    resolve_from(b, &b->images, images, base);
    bundle->depth--;
    buf_done(&b->base);
    b->base = outer;
    b->has_base = had_base;
}

/* The src of a frame inside a frame, as the outermost page would have to write it. */
static void src_set(struct build *b, struct build_attr *src, struct str url)
{
    uint32_t number = intern_get(&b->attr_strings, url);

    b->overflowed |= intern_is_full(&b->attr_strings);
    src->value = src->raw = number;
}

void bundle_fill_frame(struct build *b, uint32_t attrs, uint32_t nattrs)
{
    struct bundle *bundle = b->bundle;
    BUF(scratch, 1 << 20);
    BUF(url, 1 << 20);

    for (uint32_t i = attrs; i < attrs + nattrs && !bundle->err && !b->overflowed; i++) {
        struct build_attr *a = (struct build_attr *)(void *)b->attrs.data + i;
        if (!str_equal(intern_text(&b->attr_strings, a->name), STR("src")) ||
                !page_url_resolve(
                        base_now(b, &scratch), intern_text(&b->attr_strings, a->raw), &url))
            continue;
        struct str absolute = {url.data, url.len};
        if (bundle->depth)
            src_set(b, a, absolute);
        const struct page_part *part = part_find(bundle, absolute);
        if (part && bundle->depth < BUNDLE_DEPTH && bundle->times < BUNDLE_TIMES &&
                !is_shown_around(bundle, part)) /* (3) */
            show(b, part);
    }
}

enum err bundle_digest(const struct page_source *src, struct buf *out, struct fault *f)
{
    SCRATCH struct arena *life = arena_new(NULL, "bundle");
    struct bundle bundle = {.f = f};
    struct page_part *parts;

    bundle.count = page_bundle_read((struct str){src->bytes, src->len}, life, &parts);
    if (bundle.count == 0)
        return fault_set(f, ERR_SYNTAX, "the page says it is made of parts and has none");
    bundle.parts = parts;
    bundle.base[0] = str_of(src->url ? src->url : parts[0].url);
    CLEANUP(build_done) struct build b;
    build_init(&b, out->max, /* xml= */ false);
    b.bundle = &bundle;
    enum err e = part_to_tree(&parts[0], &b, f);
    if (!e)
        e = bundle.err;
    return e ? e : build_finish(&b, PAGE_HTML, /* malformed_xml= */ false, src, out, f);
}

enum err bundle_decode(const struct page_source *src, struct buf *out, struct fault *f)
{
    SCRATCH struct arena *life = arena_new(NULL, "bundle");
    struct page_part *parts;
    size_t n = page_bundle_read((struct str){src->bytes, src->len}, life, &parts);

    for (size_t i = 0; i < n; i++) {
        const struct page_part *p = &parts[i];
        struct page_source one = {p->bytes, p->len, p->content_type, p->final_url};
        BUF(text, out->max);
        struct str decoded;
        enum err e = decode_text(&one, &text, f, &decoded);
        if (e)
            return e;
        if (!buf_append(out, decoded.ptr, decoded.len) || !buf_puts(out, "\n"))
            return fault_set(
                    f, ERR_LIMIT, "the decoded page is larger than %zu bytes", out->max);
    }
    return OK;
}
