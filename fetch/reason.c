/* What went wrong, in words that a person who is not a programmer understands.
 *
 * The words are ours.  Of what a server wrote only numbers, and in plain ASCII the URL it
 * redirects to or an encoding's name, are repeated, so a reason is safe to print anywhere.
 */
#include "fetch/fetch_int.h"
#include <errno.h>
#include <stdio.h>

struct status_name {
    int status;
    const char *name;
};

/* Sorted. */
static const struct status_name status_names[] = {
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {205, "Reset Content"},
        {206, "Partial Content"},
        {300, "Multiple Choices"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {402, "Payment Required"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {418, "I'm a teapot"},
        {421, "Misdirected Request"},
        {425, "Too Early"},
        {426, "Upgrade Required"},
        {428, "Precondition Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {451, "Unavailable For Legal Reasons"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
        {511, "Network Authentication Required"},
};

static const char *status_name(int status)
{
    for (size_t i = 0; i < countof(status_names); i++)
        if (status_names[i].status == status)
            return status_names[i].name;
    return "";
}

const char *fetch_count_text(uint64_t count, char text[FETCH_NUMBER_SIZE])
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count), n = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            text[n++] = ',';
        text[n++] = digits[i];
    }
    text[n] = 0;
    return text;
}

const char *fetch_size_text(uint64_t bytes, char text[FETCH_NUMBER_SIZE])
{
    char count[FETCH_NUMBER_SIZE];
    const char *unit = bytes % (1 << 20) == 0   ? "MiB"
                       : bytes % (1 << 10) == 0 ? "KiB"
                                                : "bytes";
    uint64_t n = bytes % (1 << 20) == 0   ? bytes >> 20
                 : bytes % (1 << 10) == 0 ? bytes >> 10
                                          : bytes;
    snprintf(text, FETCH_NUMBER_SIZE, "%.20s %s", fetch_count_text(n, count), unit);
    return text;
}

static const char *seconds_text(msec span, char text[FETCH_NUMBER_SIZE])
{
    if (span % MSEC_PER_SECOND == 0)
        snprintf(text, FETCH_NUMBER_SIZE, "%lld s", (long long)(span / MSEC_PER_SECOND));
    else
        snprintf(text, FETCH_NUMBER_SIZE, "%.3g s", (double)span / (double)MSEC_PER_SECOND);
    return text;
}

void fetch_reason_refused(const struct fetch_address *a, char why[FETCH_WHY_SIZE])
{
    char address[FETCH_ADDRESS_TEXT_SIZE], block[FETCH_CIDR_TEXT_SIZE];
    snprintf(why, FETCH_WHY_SIZE, "%s is not a public address; allow it with --allow %s",
            fetch_address_text(a, address), fetch_address_block(a, block));
}

void fetch_reason_status(int status, bool was_conditional, char why[FETCH_WHY_SIZE])
{
    const char *name = status_name(status);
    const char *more = status == 206 ? ", though the whole page was asked for"
                       : status == 304 && !was_conditional
                               ? ", though nothing was said of an earlier version"
                       : status >= 200 && status < 300 ? ", which is not a page"
                                                       : "";
    snprintf(why, FETCH_WHY_SIZE, "the server answered %d%s%s%s", status, *name ? " " : "",
            name, more);
}

const char *fetch_reason_plain(char *text)
{
    for (char *p = text; *p; p++)
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
    return text;
}

void fetch_reason_robots(
        const char *site, const char *rule, const char *hindrance, char why[FETCH_WHY_SIZE])
{
    if (rule)
        snprintf(
                why, FETCH_WHY_SIZE, "the robots.txt of %.150s forbids it: %.200s", site, rule);
    else
        snprintf(why, FETCH_WHY_SIZE,
                "the robots.txt of %.120s, without which everything there is forbidden, cannot "
                "be had: %.180s",
                site, hindrance ? hindrance : "no answer");
    fetch_reason_plain(why);
}

void fetch_reason_stopped(const char *host, msec left, char why[FETCH_WHY_SIZE])
{
    char span[TIME_TEXT_SIZE];
    snprintf(why, FETCH_WHY_SIZE, "%.250s asked to be left alone, for %s more", host,
            time_span(left, span));
}

/* "93.184.216.34 port 80", or the host's name while there is no address yet. */
static void put_peer(const struct fetch_transfer *t, char *to, size_t size)
{
    char address[FETCH_ADDRESS_TEXT_SIZE];
    if (t->run->has_tried)
        snprintf(to, size, "%s port %u", fetch_address_text(&t->run->address, address),
                t->run->port);
    else
        snprintf(to, size, "%.200s", t->host->name);
}

static void could_not_connect(const struct fetch_transfer *t, char why[FETCH_WHY_SIZE])
{
    char peer[256];
    long number = 0;
    put_peer(t, peer, sizeof(peer));
    if (!t->run->has_tried && t->run->refused[0]) {
        snprintf(why, FETCH_WHY_SIZE, "%s", t->run->refused);
        return;
    }
    curl_easy_getinfo(t->run->easy, CURLINFO_OS_ERRNO, &number);
    if (number == ECONNREFUSED)
        snprintf(why, FETCH_WHY_SIZE, "connection refused by %s", peer);
    else if (number == ENETUNREACH || number == EHOSTUNREACH)
        snprintf(why, FETCH_WHY_SIZE, "there is no route to %s", peer);
    else
        snprintf(why, FETCH_WHY_SIZE, "could not connect to %s", peer);
}

static void certificate(const struct fetch_transfer *t, char why[FETCH_WHY_SIZE])
{
    static const char known[] = "SSL certificate problem: ";
    const char *says = t->run->curl_says;
    if (strncmp(says, known, strlen(known)) == 0)
        snprintf(why, FETCH_WHY_SIZE, "the certificate of %.200s is not trusted: %.100s",
                t->host->name, says + strlen(known));
    else
        snprintf(why, FETCH_WHY_SIZE, "the certificate of %.200s is not for that name",
                t->host->name);
}

static void ended_early(const struct fetch_transfer *t, char why[FETCH_WHY_SIZE])
{
    char got[FETCH_NUMBER_SIZE], all[FETCH_NUMBER_SIZE];
    const struct fetch_run *run = t->run;
    if (t->phase != FETCH_BODY)
        snprintf(why, FETCH_WHY_SIZE, "the connection broke before the answer came");
    else if (run->headers.has_length && !run->headers.is_chunked)
        snprintf(why, FETCH_WHY_SIZE, "the body ended early: %s of %s bytes",
                fetch_count_text(run->body_wire_bytes, got),
                fetch_count_text(run->headers.length, all));
    else
        snprintf(why, FETCH_WHY_SIZE, "the body ended early, after %s bytes",
                fetch_count_text(run->body_wire_bytes, got));
}

void fetch_reason_timeout(const struct fetch_transfer *t, bool total, char why[FETCH_WHY_SIZE])
{
    const struct fetch_limits *l = &t->limits;
    char span[FETCH_NUMBER_SIZE], got[FETCH_NUMBER_SIZE], peer[256];
    curl_off_t first_byte = 0;
    if (total) {
        snprintf(why, FETCH_WHY_SIZE, "timed out after %s with %s bytes received",
                seconds_text(l->total, span), fetch_count_text(t->wire_bytes, got));
        return;
    }
    if (t->phase == FETCH_CONNECTING) {
        put_peer(t, peer, sizeof(peer));
        snprintf(why, FETCH_WHY_SIZE, "timed out after %s %s %s",
                seconds_text(l->connect, span),
                t->run->has_tried ? "connecting to" : "looking up the name", peer);
        return;
    }
    curl_easy_getinfo(t->run->easy, CURLINFO_STARTTRANSFER_TIME_T, &first_byte);
    snprintf(why, FETCH_WHY_SIZE, "timed out after %s waiting for the %s",
            seconds_text(l->first_byte, span),
            first_byte ? "end of the headers" : "first byte");
}

void fetch_reason_slow(const struct fetch_transfer *t, char why[FETCH_WHY_SIZE])
{
    char span[FETCH_NUMBER_SIZE];
    snprintf(why, FETCH_WHY_SIZE, "the server sent less than 100 bytes a second for %s",
            seconds_text(t->limits.slow, span));
}

void fetch_reason_curl(const struct fetch_transfer *t, CURLcode code, char why[FETCH_WHY_SIZE])
{
    const char *host = t->host->name;
    switch ((int)code) { /* libcurl's enum, of which only these can happen to us */
    case CURLE_COULDNT_RESOLVE_HOST:
        snprintf(why, FETCH_WHY_SIZE, "the name %.250s does not resolve", host);
        return;
    case CURLE_COULDNT_CONNECT:
        could_not_connect(t, why);
        return;
    case CURLE_OPERATION_TIMEDOUT:
        fetch_reason_timeout(t, /* total= */ t->phase != FETCH_CONNECTING, why);
        return;
    case CURLE_PEER_FAILED_VERIFICATION:
        certificate(t, why);
        return;
    case CURLE_SSL_CONNECT_ERROR:
        snprintf(why, FETCH_WHY_SIZE, "no secure connection could be made with %.250s", host);
        return;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2_STREAM:
    case CURLE_HTTP2:
        ended_early(t, why);
        return;
    case CURLE_GOT_NOTHING:
        snprintf(why, FETCH_WHY_SIZE, "the server closed the connection without an answer");
        return;
    case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 */
    case CURLE_WEIRD_SERVER_REPLY:
        snprintf(why, FETCH_WHY_SIZE, "%s",
                t->run->headers.status ? "the response headers are broken"
                                       : "the answer is not HTTP");
        return;
    case CURLE_OUT_OF_MEMORY: /* libcurl says so for one endless header line, too */
        snprintf(why, FETCH_WHY_SIZE,
                t->phase == FETCH_WAITING ? "the response headers are too large"
                                          : "there is not enough memory");
        return;
    default:
        snprintf(why, FETCH_WHY_SIZE, "the transfer failed: %.200s", curl_easy_strerror(code));
    }
}
