/* A living site: pages of some forty thousand bytes, of which each version writes one to four
 * of three hundred paragraphs anew. */
#include "tests/store/bench_store.h"

enum { PARAGRAPHS = 330, BODY_MAX = 128 << 10 };

static uint64_t dice = 88172645463325252u;

static unsigned roll(unsigned most)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (unsigned)(dice >> 33) % most;
}

static char words[3000][12];

static void learn_words(void)
{
    for (size_t i = 0; i < countof(words); i++) {
        unsigned len = 2 + roll(9);
        for (unsigned k = 0; k < len; k++)
            words[i][k] = "etaoinshrdlucmfwypvbgk"[roll(22)];
    }
}

struct site_page {
    char text[PARAGRAPHS][256];
};

static void write_paragraph(char text[256], unsigned place)
{
    int n = snprintf(
            text, 256, "<p class=\"c%u\"><a href=\"/n/%u\">", place % 5, roll(1000000));
    for (unsigned w = 0; w < 10 + roll(5); w++)
        n += snprintf(text + n, (size_t)(256 - n), "%s ", words[roll(roll(2999) + 1)]);
    snprintf(text + n, (size_t)(256 - n), "</a></p>\n");
}

static void write_page(struct site_page *p)
{
    for (unsigned i = 0; i < PARAGRAPHS; i++)
        write_paragraph(p->text[i], i);
}

static void edit(struct site_page *p)
{
    for (unsigned n = 1 + roll(4); n > 0; n--) {
        unsigned at = roll(PARAGRAPHS);
        write_paragraph(p->text[at], at);
    }
}

struct version versions[ROUNDS][VERSIONS][PAGES];

static void make_version(struct version *v, const struct site_page *from)
{
    v->body = malloc(BODY_MAX);
    size_t len = (size_t)snprintf(v->body, BODY_MAX, "<html><body>\n");
    for (unsigned i = 0; i < PARAGRAPHS; i++)
        len += (size_t)snprintf(v->body + len, BODY_MAX - len, "%s", from->text[i]);
    struct page_source source = {
            .bytes = v->body, .len = len, .content_type = "text/html", .url = "http://x/"};
    buf_init(&v->digest, 64 << 20);
    MUST(page_digest_make(&source, &v->digest, &b.fault));
    BUF(packed, 64 << 20);
    CHECK(zip(v->body, len, &packed));
    v->packed_body = buf_take(&packed, &v->packed_body_bytes);
    CHECK(zip_digest(v->digest.data, v->digest.len, &packed));
    v->packed_digest = buf_take(&packed, &v->packed_digest_bytes);
    v->job.body = v->body;
    v->job.body_bytes = len;
    v->job.body_sha256 = sha256_of(v->body, len);
    v->job.digest = v->digest.data;
    v->job.digest_bytes = v->digest.len;
}

static void make_job(struct version *v, unsigned page, int64_t n)
{
    msec at = clock_wall(&clock_system);
    v->change = (struct store_change){.sentinel_id = b.sentinel[page],
            .old_version = n - 1,
            .inserted = 2,
            .deleted = 2,
            .summary = "2 inserted, 2 deleted",
            .detail = "{\"leaves\":[{\"type\":\"any change\",\"inserted\":[\"some words\"]}]}"};
    v->evaluation = (struct store_evaluation){.sentinel_id = b.sentinel[page], .result = 'C'};
    v->job.job.kind = STORE_JOB_VERSION;
    v->job.fetch = (struct store_fetch_state){.page_id = b.page[page],
            .last_fetch_at = at,
            .verified_at = at,
            .next_fetch_at = at + 60000,
            .etag = "\"abc\"",
            .fetches = n};
    v->job.version = n;
    v->job.fetched_at = at;
    v->job.content_type = "text/html";
    v->job.final_url = "http://x/";
    v->job.changes = &v->change;
    v->job.evaluations = &v->evaluation;
    v->job.seen_by = &b.sentinel[page];
    v->job.nchanges = v->job.nevaluations = v->job.nseen_by = 1;
    v->job.ret_change_ids = &v->change_id;
}

void make_site(void)
{
    static struct site_page pages[PAGES];
    learn_words();
    for (unsigned p = 0; p < PAGES; p++)
        write_page(&pages[p]);
    for (unsigned r = 0; r < ROUNDS; r++)
        for (unsigned n = 0; n < VERSIONS; n++)
            for (unsigned p = 0; p < PAGES; p++) {
                edit(&pages[p]);
                make_version(&versions[r][n][p], &pages[p]);
                make_job(&versions[r][n][p], p, (int64_t)(r * VERSIONS + n + 1));
            }
}
