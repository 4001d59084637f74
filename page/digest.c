/* The digest block: its layout, its checks, and what can be asked of it.
 *
 * A block comes back from the database or from a worker that parsed hostile bytes, so
 * page_digest_open believes nothing.  Behind it, it must hold that
 *  (1) every array lies in the block and has the length its count says,
 *  (2) every number in an array is a valid index of the one it points into,
 *  (3) child counts describe a forest: no child is promised that does not come, and
 *  (4) strings are UTF-8, cut at characters, and end in a zero byte.
 */
#include "page/page_int.h"

uint64_t digest_total(const struct digest_header *h)
{
    uint64_t spans = (uint64_t)h->tag_names + 2 * (uint64_t)h->attributes + h->texts +
                     h->links + h->images + 1;
    uint64_t numbers = 3 * (uint64_t)h->nodes + 1 + h->texts;

    if (h->string_bytes > UINT32_MAX)
        return UINT64_MAX;
    uint64_t bytes = sizeof *h + numbers * sizeof(uint32_t) + spans * sizeof(struct page_span) +
                     h->texts + h->string_bytes;
    return (bytes + 7) / 8 * 8;
}

/* ---- checks --------------------------------------------------------------------------------
 */

static bool forest_is_sound(const struct page_digest *d)
{
    uint64_t promised = 0; /* (3) */

    for (uint32_t i = 0; i < d->nodes; i++) {
        promised -= promised > 0;
        promised += d->children[i];
        if (promised > d->nodes - 1 - i)
            return false;
    }
    return promised == 0;
}

static bool nodes_are_sound(const struct page_digest *d)
{
    uint32_t text = 0;

    for (uint32_t i = 0; i < d->nodes; i++) {
        if (d->tags[i] >= d->tag_names || d->attr_at[i] > d->attr_at[i + 1]) /* (2) */
            return false;
        if (d->tags[i] != 0)
            continue;
        if (d->children[i] || d->attr_at[i] != d->attr_at[i + 1] || text >= d->texts ||
                d->text_node[text++] != i || d->text_block[text - 1] > 1)
            return false;
    }
    return text == d->texts && d->attr_at[0] == 0 && d->attr_at[d->nodes] == d->attributes;
}

static bool strings_are_sound(const struct page_digest *d, uint64_t bytes)
{
    uint64_t spans = (uint64_t)d->tag_names + 2 * (uint64_t)d->attributes + d->texts +
                     d->links + d->images + 1;

    if (!utf8_is_valid(d->strings, bytes)) /* (4) */
        return false;
    for (uint64_t i = 0; i < spans; i++) {
        struct page_span s = d->spans[i];
        if ((uint64_t)s.at + s.len >= bytes || d->strings[s.at + s.len] != 0 ||
                (d->strings[s.at] & 0xC0) == 0x80 || memchr(d->strings + s.at, 0, s.len))
            return false;
    }
    return d->tag_names > 0 && str_equal(page_tag_name(d, 0), STR("#text"));
}

static bool is_ascending(const struct page_digest *d, uint32_t n,
        struct str (*get)(const struct page_digest *, uint32_t))
{
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(get(d, i - 1).ptr, get(d, i).ptr) >= 0)
            return false;
    return true;
}

/* Points the view at the arrays, which lie one behind the other. */
static void view_fill(struct page_digest *d, const struct digest_header *h)
{
    const uint32_t *at = (const uint32_t *)(const void *)(h + 1);

    *d = (struct page_digest){.type = h->type,
            .malformed_xml = h->malformed_xml,
            .whole = h->whole,
            .source = h->source,
            .source_bytes = h->source_bytes,
            .nodes = h->nodes,
            .tag_names = h->tag_names,
            .attributes = h->attributes,
            .texts = h->texts,
            .links = h->links,
            .images = h->images};
    memcpy(d->hash, h->hash, sizeof d->hash);
    d->children = at;
    d->tags = d->children + h->nodes;
    d->attr_at = d->tags + h->nodes;
    d->text_node = d->attr_at + h->nodes + 1;
    d->spans = (const struct page_span *)(const void *)(d->text_node + h->texts);
    const struct page_span *end = d->spans + h->tag_names + 2 * (size_t)h->attributes +
                                  h->texts + h->links + h->images + 1;
    d->text_block = (const uint8_t *)(const void *)end;
    d->strings = (const char *)(d->text_block + h->texts);
}

enum err page_digest_open(struct arena *life, const void *block, size_t len, struct fault *f,
        struct page_digest **ret_digest)
{
    const struct digest_header *h = block;
    struct page_digest d;

    if (len < sizeof *h || (uintptr_t)block % 8 != 0 || memcmp(h->magic, DIGEST_MAGIC, 8) != 0)
        return fault_set(f, ERR_SYNTAX, "this is no page digest");
    if (h->version != DIGEST_VERSION)
        return fault_set(f, ERR_UNSUPPORTED,
                "the page digest has version %u, this program reads %d", h->version,
                DIGEST_VERSION);
    if (h->total != len || digest_total(h) != len || h->type >= PAGE_TYPE_COUNT ||
            h->malformed_xml > 1) /* (1) */
        return fault_set(f, ERR_SYNTAX, "the page digest is damaged: its length is wrong");
    view_fill(&d, h);
    if (!forest_is_sound(&d) || !nodes_are_sound(&d) ||
            !strings_are_sound(&d, h->string_bytes) || !is_ascending(&d, d.links, page_link) ||
            !is_ascending(&d, d.images, page_image))
        return fault_set(f, ERR_SYNTAX, "the page digest is damaged");
    *ret_digest = arena_memdup(life, &d, sizeof d);
    return OK;
}

/* ---- strings --------------------------------------------------------------------------------
 */

static struct str span_text(const struct page_digest *d, size_t span)
{
    return (struct str){d->strings + d->spans[span].at, d->spans[span].len};
}

struct str page_tag_name(const struct page_digest *d, uint32_t tag)
{
    return span_text(d, tag);
}

struct str page_attr_name(const struct page_digest *d, uint32_t attr)
{
    return span_text(d, d->tag_names + 2 * (size_t)attr);
}

struct str page_attr_value(const struct page_digest *d, uint32_t attr)
{
    return span_text(d, d->tag_names + 2 * (size_t)attr + 1);
}

struct str page_text(const struct page_digest *d, uint32_t text)
{
    return span_text(d, d->tag_names + 2 * (size_t)d->attributes + text);
}

struct str page_link(const struct page_digest *d, uint32_t link)
{
    return span_text(d, d->tag_names + 2 * (size_t)d->attributes + d->texts + link);
}

struct str page_image(const struct page_digest *d, uint32_t image)
{
    return span_text(d, d->tag_names + 2 * (size_t)d->attributes + d->texts + d->links + image);
}

struct str page_base(const struct page_digest *d)
{
    return span_text(
            d, d->tag_names + 2 * (size_t)d->attributes + d->texts + d->links + d->images);
}
