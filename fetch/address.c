/* Public or not: the tables of special addresses and the few forms that wrap an IPv4.
 *
 * A page monitor fetches what strangers name, from inside somebody's network, so it must
 * hold that
 *  (1) an IPv4 address is public unless a table row says otherwise,
 *  (2) an IPv6 address is public only inside 2000::/3, and not in the rows below it,
 *  (3) an IPv6 address that carries an IPv4 (mapped, NAT64, 6to4) is as public as that
 *      IPv4, and
 *  (4) what the operator allows is allowed, in whichever form it is written.
 *
 * The rows are IANA's special-purpose registries, with multicast and the reserved class E.
 */
#include "fetch/address.h"
#include "fetch/fetch.h"
#include "base/str.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

struct block4 {
    uint32_t start;
    unsigned bits;
};

#define IP4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

/* Sorted, not overlapping. */
static const struct block4 not_public4[] = {
        {IP4(0, 0, 0, 0), 8},       /* this network */
        {IP4(10, 0, 0, 0), 8},      /* private */
        {IP4(100, 64, 0, 0), 10},   /* carrier-grade NAT */
        {IP4(127, 0, 0, 0), 8},     /* loopback */
        {IP4(169, 254, 0, 0), 16},  /* link-local, cloud metadata */
        {IP4(172, 16, 0, 0), 12},   /* private */
        {IP4(192, 0, 0, 0), 24},    /* protocol assignments */
        {IP4(192, 0, 2, 0), 24},    /* documentation */
        {IP4(192, 88, 99, 0), 24},  /* 6to4 relays */
        {IP4(192, 168, 0, 0), 16},  /* private */
        {IP4(198, 18, 0, 0), 15},   /* benchmarks */
        {IP4(198, 51, 100, 0), 24}, /* documentation */
        {IP4(203, 0, 113, 0), 24},  /* documentation */
        {IP4(224, 0, 0, 0), 4},     /* multicast */
        {IP4(240, 0, 0, 0), 4},     /* reserved, broadcast */
};

struct block6 {
    unsigned char start[16];
    unsigned bits;
};

/* Sorted, not overlapping; only for addresses that carry no IPv4.  The rows outside
 * 2000::/3 are there to be named in a refusal, (2) refuses them anyway. */
static const struct block6 not_public6[] = {
        {{0}, 128},                              /* unspecified */
        {{[15] = 1}, 128},                       /* loopback */
        {{0x00, 0x64, 0xff, 0x9b, 0x00, 1}, 48}, /* NAT64 of a local network */
        {{0x01, 0x00}, 64},                      /* discard */
        {{0x20, 0x01}, 23},                      /* protocol assignments, Teredo, ORCHID */
        {{0x20, 0x01, 0x0d, 0xb8}, 32},          /* documentation */
        {{0x3f, 0xff}, 20},                      /* documentation */
        {{0xfc}, 7},                             /* private */
        {{0xfe, 0x80}, 10},                      /* link-local */
        {{0xfe, 0xc0}, 10},                      /* site-local */
        {{0xff}, 8},                             /* multicast */
};

static const struct block6 global6 = {{0x20}, 3};

/* Where an IPv4 hides: the prefix, and the byte at which the IPv4 starts. */
static const struct {
    struct block6 prefix;
    unsigned at;
} wrapped4[] = {
        {{{[10] = 0xff, [11] = 0xff}, 96}, 12}, /* ::ffff:a.b.c.d */
        {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12},   /* 64:ff9b::a.b.c.d, NAT64 */
        {{{0x20, 0x02}, 16}, 2},                /* 2002:aabb:ccdd::, 6to4 */
};

static bool same_prefix(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

static uint32_t as_number(const struct fetch_address *a)
{
    return IP4(a->bytes[0], a->bytes[1], a->bytes[2], a->bytes[3]);
}

static const struct block4 *block4_of(uint32_t ip)
{
    for (size_t i = 0; i < countof(not_public4); i++)
        if ((ip ^ not_public4[i].start) >> (32 - not_public4[i].bits) == 0)
            return &not_public4[i];
    return NULL;
}

static const struct block6 *block6_of(const struct fetch_address *a)
{
    for (size_t i = 0; i < countof(not_public6); i++)
        if (same_prefix(a->bytes, not_public6[i].start, not_public6[i].bits))
            return &not_public6[i];
    return NULL;
}

/* The IPv4 inside an IPv6, if there is one. */
static bool unwrap(const struct fetch_address *a, struct fetch_address *ret_inner)
{
    if (!a->v6)
        return false;
    for (size_t i = 0; i < countof(wrapped4); i++) {
        if (!same_prefix(a->bytes, wrapped4[i].prefix.start, wrapped4[i].prefix.bits))
            continue;
        *ret_inner = (struct fetch_address){.v6 = false};
        memcpy(ret_inner->bytes, a->bytes + wrapped4[i].at, 4);
        return true;
    }
    return false;
}

bool fetch_address_parse(const char *text, struct fetch_address *ret_address)
{
    struct fetch_address a = {.v6 = false};
    if (inet_pton(AF_INET, text, a.bytes) != 1) {
        a.v6 = true;
        if (inet_pton(AF_INET6, text, a.bytes) != 1)
            return false;
    }
    *ret_address = a;
    return true;
}

bool fetch_address_of(const struct sockaddr *sa, struct fetch_address *ret_address)
{
    struct fetch_address a = {.v6 = sa->sa_family == AF_INET6};
    if (sa->sa_family == AF_INET)
        memcpy(a.bytes, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
    else if (sa->sa_family == AF_INET6)
        memcpy(a.bytes, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, 16);
    else
        return false;
    *ret_address = a;
    return true;
}

const char *fetch_address_text(
        const struct fetch_address *a, char text[FETCH_ADDRESS_TEXT_SIZE])
{
    inet_ntop(a->v6 ? AF_INET6 : AF_INET, a->bytes, text, FETCH_ADDRESS_TEXT_SIZE);
    return text;
}

bool fetch_cidr_contains(const struct fetch_cidr *c, const struct fetch_address *a)
{
    return c->base.v6 == a->v6 && same_prefix(c->base.bytes, a->bytes, c->bits);
}

bool fetch_address_is_public(const struct fetch_address *a)
{
    struct fetch_address inner;
    if (!a->v6)
        return !block4_of(as_number(a)); /* (1) */
    if (unwrap(a, &inner))
        return !block4_of(as_number(&inner));                                   /* (3) */
    return same_prefix(a->bytes, global6.start, global6.bits) && !block6_of(a); /* (2) */
}

bool fetch_address_is_allowed(const struct fetch_policy *p, const struct fetch_address *a)
{
    struct fetch_address inner;
    bool wraps = unwrap(a, &inner);
    for (size_t i = 0; i < p->nallow; i++)
        if (fetch_cidr_contains(&p->allow[i], a) ||
                (wraps && fetch_cidr_contains(&p->allow[i], &inner)))
            return true; /* (4) */
    return fetch_address_is_public(a);
}

/* Clears what is beyond the prefix; says whether there was anything. */
static bool mask(struct fetch_cidr *c)
{
    bool changed = false;
    for (unsigned i = c->bits; i < (c->base.v6 ? 128u : 32u); i++) {
        unsigned char bit = (unsigned char)(0x80 >> i % 8);
        changed |= (c->base.bytes[i / 8] & bit) != 0;
        c->base.bytes[i / 8] &= (unsigned char)~bit;
    }
    return changed;
}

static const char *cidr_text(const struct fetch_cidr *c, char text[FETCH_CIDR_TEXT_SIZE])
{
    char base[FETCH_ADDRESS_TEXT_SIZE];
    snprintf(text, FETCH_CIDR_TEXT_SIZE, "%s/%u", fetch_address_text(&c->base, base), c->bits);
    return text;
}

const char *fetch_address_block(const struct fetch_address *a, char text[FETCH_CIDR_TEXT_SIZE])
{
    struct fetch_address inner;
    struct fetch_cidr c = {.base = unwrap(a, &inner) ? inner : *a};
    const struct block4 *b4 = c.base.v6 ? NULL : block4_of(as_number(&c.base));
    const struct block6 *b6 = c.base.v6 ? block6_of(&c.base) : NULL;
    c.bits = b4 ? b4->bits : b6 ? b6->bits : c.base.v6 ? 128 : 32;
    mask(&c);
    return cidr_text(&c, text);
}

static enum err cidr_syntax(const char *text, struct fault *f)
{
    enum err e = fault_set(f, ERR_SYNTAX, "\"%.80s\" is not a range of addresses", text);
    fault_hint(f, "Write it like 10.0.0.0/8, fd00::/8 or a single address.");
    return e;
}

enum err fetch_cidr_parse(const char *text, struct fault *f, struct fetch_cidr *ret_cidr)
{
    char address[FETCH_ADDRESS_TEXT_SIZE];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    struct fetch_cidr c;
    if (len >= sizeof(address))
        return cidr_syntax(text, f);
    memcpy(address, text, len);
    address[len] = 0;
    if (!fetch_address_parse(address, &c.base))
        return cidr_syntax(text, f);

    int64_t most = c.base.v6 ? 128 : 32, bits = most;
    if (slash && (slash[1] < '0' || slash[1] > '9' || !str_to_int(str_of(slash + 1), &bits)))
        return cidr_syntax(text, f);
    if (bits < 0 || bits > most) {
        enum err e = fault_set(f, ERR_RANGE, "\"%.80s\" has no such prefix length", text);
        fault_hint(f, "Give a prefix length between 0 and %d.", (int)most);
        return e;
    }
    c.bits = (unsigned)bits;
    if (mask(&c)) {
        char meant[FETCH_CIDR_TEXT_SIZE];
        enum err e = fault_set(f, ERR_RANGE, "\"%.80s\" has bits beyond its prefix", text);
        fault_hint(
                f, "Write %s for the whole range, or the address alone.", cidr_text(&c, meant));
        return e;
    }
    *ret_cidr = c;
    return OK;
}

enum err fetch_cidr_check(const char *text, struct fault *f)
{
    struct fetch_cidr c;
    return fetch_cidr_parse(text, f, &c);
}
