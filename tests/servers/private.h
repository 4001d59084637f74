/* private -- every way we know of writing an address that strangers must not lead us to.
 *
 * Shared by whatever takes a URL from somebody: pages, redirects, robots.txt, webhooks.  The
 * names in it, private.example, private6.example and both.example, are the test's to resolve.
 */
#pragma once

/* %u is the port of whoever must not be reached. */
static const char *const private_urls[] = {
        "http://127.0.0.1:%u/",
        "http://127.1:%u/",
        "http://127.0.1:%u/",
        "http://0x7f000001:%u/",
        "http://0x7f.0.0.1:%u/",
        "http://0x7f.1:%u/",
        "http://0177.0.0.1:%u/",
        "http://0177.1:%u/",
        "http://017700000001:%u/",
        "http://2130706433:%u/",
        "http://127.0.0.1.:%u/",
        "http://127.0.0.2:%u/",
        "http://127.255.255.254:%u/",
        "http://0.0.0.0:%u/",
        "http://0:%u/",
        "http://0x0:%u/",
        "http://localhost:%u/",
        "http://LocalHost:%u/",
        "http://localhost.:%u/",
        "http://x.localhost:%u/",
        "http://[::1]:%u/",
        "http://[0:0:0:0:0:0:0:1]:%u/",
        "http://[::]:%u/",
        "http://[::ffff:127.0.0.1]:%u/",
        "http://[::ffff:7f00:1]:%u/",
        "http://[0:0:0:0:0:ffff:127.0.0.1]:%u/",
        "http://[::127.0.0.1]:%u/",
        "http://[64:ff9b::7f00:1]:%u/",
        "http://[64:ff9b:1::1]:%u/",
        "http://[2002:7f00:1::]:%u/",
        "http://[fe80::1]:%u/",
        "http://[fd00::2]:%u/",
        "http://[ff02::1]:%u/",
        "http://169.254.169.254:%u/latest/meta-data/",
        "http://10.0.0.1:%u/",
        "http://100.64.0.1:%u/",
        "http://172.16.0.1:%u/",
        "http://192.168.0.1:%u/",
        "http://224.0.0.1:%u/",
        "http://255.255.255.255:%u/",
        "http://%%31%%32%%37.0.0.1:%u/",
        "http://127\xe3\x80\x82"
        "0\xe3\x80\x82"
        "0\xe3\x80\x82"
        "1:%u/",                                                 /* ideographic stops */
        "http://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1:%u/", /* circled 1, 2, 7 */
        "http://private.example:%u/",
        "http://private6.example:%u/",
        "http://both.example:%u/",
        "http://example.org@127.0.0.1:%u/",
        "http://127.0.0.1:%u#@example.org/",
        "http://127.0.0.1:%u/?@example.org/",
        "https://127.0.0.1:%u/",
        "ftp://127.0.0.1:%u/",
        "gopher://127.0.0.1:%u/_x",
        "dict://127.0.0.1:%u/x",
        "telnet://127.0.0.1:%u/",
        "file://127.0.0.1/etc/passwd?%u",
};

/* What a resolver may say; as in a URL, so that those of IPv6 are in brackets. */
static const char *const private_addresses[] = {
        "127.0.0.1",
        "127.0.0.2",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::]",
        "10.0.0.1",
        "169.254.169.254",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::2]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
};
