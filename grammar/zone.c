/* Time zones: fixed ones by their abbreviation or offset, others from the zone database.
 *
 * The C library's functions keep one zone for the whole process, so the files of the database
 * (TZif, RFC 8536) are read here.  Their bytes are trusted no more than any file:
 *  (1) nothing is read outside of them, whatever their counts say;
 *  (2) a name leads to a file inside the database directory or nowhere.
 * Past the last transition of the file its rule decides (tzrule.c).
 */
#include "grammar/zone_int.h"
#include "base/str.h"
#include <fcntl.h>
#include <unistd.h>

enum { ZONE_FILE_MAX = 256 * 1024, MAX_TRANSITIONS = 4096, MAX_TYPES = 256 };

const char *const zone_abbreviations[] = {
        "UTC", "GMT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "CET", "CEST"};
const size_t n_zone_abbreviations = countof(zone_abbreviations);

static const int abbreviation_hours[] = {0, 0, -5, -4, -6, -5, -7, -6, -8, -7, 1, 2};

/* ---- the file ----------------------------------------------------------------------- */

struct reader {
    const unsigned char *at, *end;
};

static bool take(struct reader *r, size_t n, const unsigned char **ret)
{
    if ((size_t)(r->end - r->at) < n) /* (1) */
        return false;
    *ret = r->at;
    r->at += n;
    return true;
}

static int64_t big_endian(const unsigned char *p, size_t n)
{
    uint64_t v = p[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return (int64_t)v;
}

struct header {
    char version;
    size_t isut, isstd, leap, times, types, chars;
};

static bool take_header(struct reader *r, struct header *h)
{
    const unsigned char *p;
    if (!take(r, 44, &p) || memcmp(p, "TZif", 4) != 0)
        return false;
    h->version = (char)p[4];
    size_t *counts[] = {&h->isut, &h->isstd, &h->leap, &h->times, &h->types, &h->chars};
    for (size_t i = 0; i < countof(counts); i++) {
        int64_t n = big_endian(p + 20 + 4 * i, 4);
        if (n < 0 || n > ZONE_FILE_MAX)
            return false;
        *counts[i] = (size_t)n;
    }
    return h->times <= MAX_TRANSITIONS && h->types >= 1 && h->types <= MAX_TYPES;
}

/* The block behind a header, with times of `width` bytes. */
static bool take_block(struct arena *life, struct reader *r, const struct header *h,
        size_t width, struct zone *z)
{
    const unsigned char *times, *indices, *types, *rest;
    if (!take(r, h->times * width, &times) || !take(r, h->times, &indices) ||
            !take(r, h->types * 6, &types) ||
            !take(r, h->chars + h->leap * (width + 4) + h->isstd + h->isut, &rest))
        return false;
    z->transitions = arena_array_of(life, h->times + 1, struct transition);
    z->n_transitions = h->times;
    z->before = big_endian(types, 4) * MSEC_PER_SECOND;
    for (size_t i = 0; i < h->times; i++) {
        if (indices[i] >= h->types)
            return false;
        int64_t at = big_endian(times + i * width, width);
        if (at > INT64_MAX / 4000 || (i > 0 && at * MSEC_PER_SECOND < z->transitions[i - 1].at))
            return false;
        at = at < -(INT64_MAX / 4000) ? -(INT64_MAX / 4000) : at;
        z->transitions[i].at = at * MSEC_PER_SECOND;
        z->transitions[i].offset = big_endian(types + indices[i] * 6, 4) * MSEC_PER_SECOND;
    }
    return true;
}

static bool take_footer(struct reader *r, struct zone *z)
{
    const char *text = (const char *)r->at + 1;
    if (r->end - r->at < 2 || *r->at != '\n')
        return true; /* no rule: the last offset stays */
    const char *end = memchr(text, '\n', (size_t)(r->end - r->at - 1));
    if (!end)
        return false;
    if (end == text)
        return true;
    z->has_rule = tzrule_parse((struct str){text, (size_t)(end - text)}, &z->rule);
    return z->has_rule;
}

bool zone_parse(struct arena *life, const void *bytes, size_t len, const struct zone **ret_zone)
{
    struct reader r = {bytes, (const unsigned char *)bytes + len};
    struct zone *z = arena_new_of(life, struct zone);
    struct header h;
    if (!take_header(&r, &h) || !take_block(life, &r, &h, 4, z))
        return false;
    if (h.version >= '2' &&
            (!take_header(&r, &h) || !take_block(life, &r, &h, 8, z) || !take_footer(&r, z)))
        return false;
    *ret_zone = z;
    return true;
}

/* ---- finding one -------------------------------------------------------------------- */

static const struct zone *zone_fixed(struct arena *life, msec offset)
{
    struct zone *z = arena_new_of(life, struct zone);
    z->before = offset;
    return z;
}

/* (2) Letters, digits, _ + - between single slashes, no leading dash or slash. */
static bool name_is_safe(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > 64 || strchr("/+-", name[0]) || name[len - 1] == '/' ||
            strstr(name, "//"))
        return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") ==
           len;
}

static bool zone_load(struct arena *life, const char *zoneinfo, const char *name,
        const struct zone **ret_zone)
{
    const char *path = arena_printf(life, "%s/%s", zoneinfo, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    BUF(bytes, ZONE_FILE_MAX);
    char block[4096];
    ssize_t n;
    while ((n = read(fd, block, sizeof block)) > 0 && buf_append(&bytes, block, (size_t)n))
        ;
    (void)close(fd); /* nothing was written */
    return n == 0 && bytes.len > 0 && zone_parse(life, bytes.data, bytes.len, ret_zone);
}

bool zone_find(struct arena *life, const char *zoneinfo, const char *name,
        const struct zone **ret_zone)
{
    for (size_t i = 0; i < n_zone_abbreviations; i++) {
        if (!grammar_name_equal(name, zone_abbreviations[i]))
            continue;
        *ret_zone = abbreviation_hours[i]
                            ? zone_fixed(life, abbreviation_hours[i] * MSEC_PER_HOUR)
                            : NULL;
        return true;
    }
    if ((name[0] == '+' || name[0] == '-') && strlen(name) == 6 && name[3] == ':') {
        int64_t h, m;
        if (!str_to_int((struct str){name + 1, 2}, &h) ||
                !str_to_int((struct str){name + 4, 2}, &m))
            return false;
        msec offset = h * MSEC_PER_HOUR + m * MSEC_PER_MINUTE;
        *ret_zone = zone_fixed(life, name[0] == '-' ? -offset : offset);
        return true;
    }
    return name_is_safe(name) &&
           zone_load(life, zoneinfo ? zoneinfo : "/usr/share/zoneinfo", name, ret_zone);
}

/* ---- using one ---------------------------------------------------------------------- */

static msec offset_at(const struct zone *z, msec at)
{
    if (!z)
        return 0;
    size_t n = z->n_transitions;
    if (n == 0 || at >= z->transitions[n - 1].at) {
        if (z->has_rule)
            return tzrule_offset(&z->rule, at);
        return n ? z->transitions[n - 1].offset : z->before;
    }
    if (at < z->transitions[0].at)
        return z->before;
    size_t low = 0, high = n - 1; /* transitions[low].at <= at < transitions[high].at */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (z->transitions[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return z->transitions[low].offset;
}

msec zone_local(const struct zone *z, msec at)
{
    return at + offset_at(z, at);
}

/* Offsets change by hours and rarely, so those a day before and a day after are the only
 * candidates.  Both right: the time comes twice, and the earlier instant is the first.
 * Neither: it is skipped, and the offset from before the change is meant. */
msec zone_instant(const struct zone *z, msec local)
{
    msec before = offset_at(z, local - MSEC_PER_DAY),
         after = offset_at(z, local + MSEC_PER_DAY);
    msec a = local - before, b = local - after;
    bool a_right = offset_at(z, a) == before, b_right = offset_at(z, b) == after;
    if (a_right && b_right)
        return a < b ? a : b;
    return a_right || !b_right ? a : b;
}
