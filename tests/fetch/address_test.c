/* Which addresses are public: edges of every block, wrapped forms, the allow-list. */
#include "fetch/address.h"
#include "fetch/fetch.h"
#include "tests/test.h"

static bool is_public(const char *text)
{
    struct fetch_address a;
    if (!fetch_address_parse(text, &a)) {
        test_fail(__FILE__, __LINE__, "%s is not an address", text);
        return false;
    }
    return fetch_address_is_public(&a);
}

static void expect_public(const char *text, bool expected)
{
    if (is_public(text) != expected)
        test_fail(__FILE__, __LINE__, "%s is taken for %s", text,
                expected ? "not public" : "public");
}

TEST(edges4, "the first and last address of each special IPv4 block is refused, their "
             "neighbours are not")
{
    static const struct {
        const char *before, *first, *last, *after;
    } blocks[] = {
            {NULL, "0.0.0.0", "0.255.255.255", "1.0.0.0"},
            {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
            {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
            {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
            {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
            {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
            {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
            {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
            {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
            {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
            {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
            {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
            {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
            {"223.255.255.255", "224.0.0.0", "255.255.255.255", NULL},
    };
    for (size_t i = 0; i < countof(blocks); i++) {
        if (blocks[i].before)
            expect_public(blocks[i].before, true);
        expect_public(blocks[i].first, false);
        expect_public(blocks[i].last, false);
        if (blocks[i].after)
            expect_public(blocks[i].after, true);
    }
}

TEST(edges6, "IPv6 is public only as global unicast, without its special blocks")
{
    static const char *const refused[] = {"::", "::1", "::2", "100::1", "1fff:ffff::1",
            "2001::1", "2001:1ff:ffff::1", "2001:db8::1", "2001:db8:ffff::1", "3fff::1",
            "3fff:fff::1", "4000::1", "64:ff9b:1::1", "fc00::1", "fd00::1", "fe80::1",
            "febf::1", "fec0::1", "ff02::1", "::127.0.0.1", "::8.8.8.8"};
    static const char *const public[] = {"2000::1", "2001:200::1", "2001:db7:ffff::1",
            "2001:db9::1", "2003::1", "2606:4700::1111", "2a00:1450::1", "3ffe:ffff::1",
            "3fff:1000::1", "3fff:ffff::1"};
    for (size_t i = 0; i < countof(refused); i++)
        expect_public(refused[i], false);
    for (size_t i = 0; i < countof(public); i++)
        expect_public(public[i], true);
}

TEST(wrapped, "an IPv6 address that carries an IPv4 is as public as that IPv4")
{
    expect_public("::ffff:127.0.0.1", false);
    expect_public("::ffff:10.1.2.3", false);
    expect_public("::ffff:169.254.169.254", false);
    expect_public("::ffff:8.8.8.8", true);
    expect_public("64:ff9b::127.0.0.1", false);
    expect_public("64:ff9b::8.8.8.8", true);
    expect_public("2002:7f00:1::", false);
    expect_public("2002:a00:1::1", false);
    expect_public("2002:c0a8:101::1", false);
    expect_public("2002:808:808::1", true);
}

TEST(random_edges, "a thousand addresses of each special block are refused")
{
    static const struct {
        uint32_t start;
        unsigned bits;
    } blocks[] = {{0x00000000, 8}, {0x0a000000, 8}, {0x64400000, 10}, {0x7f000000, 8},
            {0xa9fe0000, 16}, {0xac100000, 12}, {0xc0000000, 24}, {0xc0a80000, 16},
            {0xc6120000, 15}, {0xe0000000, 4}, {0xf0000000, 4}};
    uint32_t seed = 12345;
    for (size_t i = 0; i < countof(blocks); i++)
        for (int k = 0; k < 1000; k++) {
            seed = seed * 1664525 + 1013904223;
            uint32_t ip = blocks[i].start | (seed >> blocks[i].bits);
            struct fetch_address a = {
                    .bytes = {(unsigned char)(ip >> 24), (unsigned char)(ip >> 16),
                            (unsigned char)(ip >> 8), (unsigned char)ip}};
            EXPECT(!fetch_address_is_public(&a));
            struct fetch_address mapped = {.v6 = true, .bytes = {[10] = 0xff, [11] = 0xff}};
            memcpy(mapped.bytes + 12, a.bytes, 4);
            EXPECT(!fetch_address_is_public(&mapped));
        }
}

static bool is_allowed(const char *cidr, const char *address)
{
    struct fetch_cidr c;
    struct fetch_address a;
    struct fault f;
    if (fetch_cidr_parse(cidr, &f, &c) != OK || !fetch_address_parse(address, &a)) {
        test_fail(__FILE__, __LINE__, "%s, %s", cidr, address);
        return false;
    }
    struct fetch_policy p = {&c, 1};
    return fetch_address_is_allowed(&p, &a);
}

TEST(allow, "what the operator allows is allowed, and nothing more")
{
    EXPECT(is_allowed("127.0.0.0/8", "127.9.9.9"));
    EXPECT(is_allowed("127.0.0.0/8", "::ffff:127.0.0.1"));
    EXPECT(is_allowed("127.0.0.1", "127.0.0.1"));
    EXPECT(!is_allowed("127.0.0.1", "127.0.0.2"));
    EXPECT(!is_allowed("127.0.0.0/8", "10.0.0.1"));
    EXPECT(!is_allowed("127.0.0.0/8", "::1"));
    EXPECT(is_allowed("::1", "::1"));
    EXPECT(is_allowed("fd00::/8", "fdff::1"));
    EXPECT(!is_allowed("fd00::/8", "fc00::1"));
    EXPECT(is_allowed("10.0.0.0/9", "10.127.255.255"));
    EXPECT(!is_allowed("10.0.0.0/9", "10.128.0.0"));
    EXPECT(is_allowed("0.0.0.0/0", "192.168.1.1"));
    EXPECT(is_allowed("::/0", "fe80::1"));
    EXPECT(!is_allowed("::/0", "192.168.1.1"));
    EXPECT(is_allowed("10.0.0.0/8", "8.8.8.8")); /* public stays public */
}

TEST(cidr_faults, "a range that is not one is refused with what to write instead")
{
    static const char *const wrong[] = {"", "/", "/8", "localhost", "10.0.0.0/", "10.0.0.0/x",
            "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8", "10.0.0.0/8/8", "::/129",
            "10.0.0.0/ 8", " 10.0.0.0/8", "fd00::%eth0/8", "1.2.3.4/99999999999999999999"};
    struct fault f;
    for (size_t i = 0; i < countof(wrong); i++) {
        f = (struct fault){.code = OK};
        if (fetch_cidr_check(wrong[i], &f) == OK)
            test_fail(__FILE__, __LINE__, "\"%s\" is taken for a range", wrong[i]);
        EXPECT(f.message[0] && f.hint[0]);
    }
    EXPECT(fetch_cidr_check("10.1.2.3/8", &f) == ERR_RANGE);
    EXPECT_TEXT(f.hint, "Write 10.0.0.0/8 for the whole range, or the address alone.");
    EXPECT(fetch_cidr_check("0.0.0.0/0", &f) == OK);
    EXPECT(fetch_cidr_check("fd00::/8", &f) == OK);
    EXPECT(fetch_cidr_check("192.168.1.7", &f) == OK);
}

TEST(block, "a refusal names the block that would have to be allowed")
{
    static const struct {
        const char *address, *block;
    } rows[] = {{"127.0.0.1", "127.0.0.0/8"}, {"10.1.2.3", "10.0.0.0/8"},
            {"172.20.1.1", "172.16.0.0/12"}, {"::1", "::1/128"}, {"fd12::1", "fc00::/7"},
            {"fe80::1", "fe80::/10"}, {"::ffff:192.168.3.4", "192.168.0.0/16"},
            {"1234::1", "1234::1/128"}};
    for (size_t i = 0; i < countof(rows); i++) {
        struct fetch_address a;
        char text[FETCH_CIDR_TEXT_SIZE];
        REQUIRE(fetch_address_parse(rows[i].address, &a));
        EXPECT_TEXT(fetch_address_block(&a, text), rows[i].block);
    }
}
TEST_MAIN()
