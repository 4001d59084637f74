/* What is kept, how small, and what goes: the sweeper on real rows. */
#include "tests/store/store_fixture.h"

enum { LINES = 500, BODY = 64 << 10 };

/* A page of some 30 KB that nobody could compress well; an edit changes one line of it. */
static size_t page_text(char *to, unsigned page, unsigned version)
{
    size_t len = 0;
    for (unsigned i = 0; i < LINES; i++) {
        unsigned edited =
                version >= i ? (version - i) / LINES + 1 : 0; /* line i: at i, i+500 */
        uint64_t seed = (uint64_t)page << 40 | (uint64_t)edited << 20 | i, word[3];
        for (int k = 0; k < 3; k++) { /* splitmix64 */
            uint64_t z = seed * 3 + (uint64_t)k + 0x9e3779b97f4a7c15u;
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
            z = (z ^ z >> 27) * 0x94d049bb133111ebu;
            word[k] = z ^ z >> 31;
        }
        len += (size_t)snprintf(to + len, BODY - len, "<p>%016llx %016llx %016llx</p>\n",
                (unsigned long long)word[0], (unsigned long long)word[1],
                (unsigned long long)word[2]);
    }
    return len;
}

struct site_version {
    struct version_fixture v;
    char body[BODY];
};

static void site_version(
        struct site_version *s, int64_t page, int64_t sentinel, int64_t n, unsigned contents)
{
    version_init(&s->v, page, sentinel, n);
    s->v.job.body = s->body;
    s->v.job.body_bytes = page_text(s->body, (unsigned)page, contents);
    s->v.job.body_sha256 = sha256_of(s->body, s->v.job.body_bytes);
    s->v.job.seen_by = &s->v.change.sentinel_id;
    s->v.job.nseen_by = sentinel != 0;
    s->v.job.fetched_at = NOON + n * MSEC_PER_HOUR;
}

static void put(struct fixture *x, int64_t page, int64_t sentinel, int64_t n, unsigned contents)
{
    static struct site_version s;
    site_version(&s, page, sentinel, n, contents);
    if (store_run(x->store, &s.v.job.job, &x->fault) != OK)
        test_fail(__FILE__, __LINE__, "version %lld: %s", (long long)n, x->fault.message);
}

/* The body of a version is the text it was made of. */
static bool gives_back(struct fixture *x, int64_t page, int64_t n, unsigned contents)
{
    static char want[BODY];
    size_t len = page_text(want, (unsigned)page, contents);
    struct store_load_job job = {.job.kind = STORE_JOB_LOAD,
            .page_id = page,
            .version = n,
            .want_body = true,
            .digest.max = BODY,
            .body.max = BODY};
    bool same = store_run(x->store, &job.job, &x->fault) == OK && job.found &&
                job.body.len == len && memcmp(job.body.data, want, len) == 0;
    if (!same)
        printf("# version %lld: %s, %zu bytes for %zu\n", (long long)n, x->fault.message,
                job.body.len, len);
    buf_done(&job.digest);
    buf_done(&job.body);
    return same;
}

static bool has_made_a_round(void *arg)
{
    struct store_sweep_figures f;
    store_sweeper_figures(arg, &f);
    if (f.error[0])
        printf("# sweeper: %s\n", f.error);
    return f.rounds > 1 || f.failures > 3;
}

/* Rounds until two are complete. */
static struct store_sweep_figures sweep(struct fixture *x, msec keep, int64_t keep_bytes)
{
    struct store_sweep_options o = {.keep = keep, .keep_bytes = keep_bytes, .every = 10};
    struct store_sweeper *w;
    struct store_sweep_figures f = {0};
    if (store_sweeper_start(x->store, &o, &x->fault, &w) != OK) {
        test_fail(__FILE__, __LINE__, "%s", x->fault.message);
        return f;
    }
    EXPECT(eventually(has_made_a_round, w, 60 * MSEC_PER_SECOND));
    store_sweeper_figures(w, &f);
    store_sweeper_stop(w);
    EXPECT_INT(f.failures, 0);
    return f;
}

#define STORED "SELECT sum(octet_length(zstd)) FROM vigil_kb.body"

/* Those that can be compared with: what differs from a key that is gone is no digest. */
#define HAVE_DIGESTS                                                                           \
    "SELECT string_agg(v.version::text, ' ' ORDER BY v.version) FROM vigil_kb.version v"       \
    " WHERE v.digest_zstd IS NOT NULL AND (v.digest_base IS NULL OR EXISTS (SELECT FROM"       \
    " vigil_kb.key k WHERE k.page_id = v.page_id AND k.version = v.digest_base))"

TEST(deltas, "old versions become deltas of their successors, in bounded chains, and come back")
{
    enum { VERSIONS = 70 };
    FIXTURE_MADE(x);
    int64_t page;
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    int64_t sentinel = add_sentinel(&x, "news", "http://x/", &page);
    for (int64_t n = 1; n <= VERSIONS; n++)
        put(&x, page, sentinel, n, (unsigned)n);
    long long before = sql_int(&x, STORED);
    struct store_sweep_figures f = sweep(&x, MSEC_NEVER, 0);
    long long after = sql_int(&x, STORED);
    printf("# %d versions: %lld bytes, %lld as deltas; %lld packed\n", VERSIONS, before, after,
            (long long)f.packed);
    EXPECT_INT(f.released, 0);
    EXPECT_INT(f.saved_bytes, before - after);
    EXPECT(after * 2 < before);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.versions"), VERSIONS);
    /* the newest is whole, every sixteenth too, and no chain is longer */
    EXPECT_TEXT(
            sql(&x, "SELECT base_sha256 IS NULL FROM vigil_kb.body b JOIN vigil_kb.version v"
                    " ON v.body_sha256 = b.sha256 ORDER BY version DESC LIMIT 1"),
            "t");
    EXPECT(sql_int(&x,
                   "WITH RECURSIVE c AS (SELECT sha256, base_sha256, 1 AS n FROM vigil_kb.body"
                   " UNION ALL SELECT c.sha256, b.base_sha256, n + 1 FROM c JOIN vigil_kb.body "
                   "b"
                   " ON b.sha256 = c.base_sha256) SELECT max(n) FROM c") <= 16);
    EXPECT(sql_int(&x, "SELECT count(*) FROM vigil_kb.body WHERE base_sha256 IS NULL") <= 6);
    /* a digest is kept where somebody may compare with it: the newest two */
    EXPECT_TEXT(sql(&x, HAVE_DIGESTS), "69 70");
    for (int64_t n = 1; n <= VERSIONS; n++)
        EXPECT(gives_back(&x, page, n, (unsigned)n));
    /* nothing is left to do */
    f = sweep(&x, MSEC_NEVER, 0);
    EXPECT_INT(f.packed, 0);
}

TEST(flip, "bodies that come back again and again, on several pages, never make a ring")
{
    FIXTURE_MADE(x);
    int64_t pages[3], sentinels[3];
    unsigned contents[3][40];
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    for (int i = 0; i < 3; i++)
        sentinels[i] = add_sentinel(&x, arena_printf(x.life, "s%d", i),
                arena_printf(x.life, "http://x/%d", i), &pages[i]);
    uint64_t dice = 7;
    for (int n = 0; n < 40; n++)
        for (int i = 0; i < 3; i++) {
            dice = dice * 6364136223846793005u + 1442695040888963407u;
            unsigned c = (unsigned)(dice >> 40) % 5;
            if (n && c == contents[i][n - 1])
                c = 5 + (unsigned)n;
            contents[i][n] = c;
            static struct site_version s;
            site_version(&s, pages[i], sentinels[i], n + 1, c);
            s.v.job.body_bytes = page_text(s.body, 1, c); /* the same on all pages */
            s.v.job.body_sha256 = sha256_of(s.body, s.v.job.body_bytes);
            EXPECT(store_run(x.store, &s.v.job.job, &x.fault) == OK);
            if (n % 7 == 3 && i == 1)
                (void)sweep(&x, MSEC_NEVER, 0);
        }
    (void)sweep(&x, MSEC_NEVER, 0);
    EXPECT(sql_int(&x, "SELECT count(*) FROM vigil_kb.body WHERE base_sha256 IS NOT NULL") > 0);
    EXPECT(sql_int(&x, "SELECT max(height) FROM vigil_kb.body") < 16);
    int wrong = 0;
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < 40; n++) {
            struct store_load_job job = {.job.kind = STORE_JOB_LOAD,
                    .page_id = pages[i],
                    .version = n + 1,
                    .want_body = true,
                    .digest.max = BODY,
                    .body.max = BODY};
            static char want[BODY];
            size_t len = page_text(want, 1, contents[i][n]);
            wrong += store_run(x.store, &job.job, &x.fault) != OK || job.body.len != len ||
                     memcmp(job.body.data, want, len) != 0;
            buf_done(&job.digest);
            buf_done(&job.body);
        }
    EXPECT_INT(wrong, 0);
    /* and when all goes, nothing is left behind, bases included */
    for (int i = 0; i < 3; i++) {
        struct store_step drop = {.kind = STORE_STEP_DROP, .sentinel_id = sentinels[i]};
        struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &drop, .nsteps = 1};
        EXPECT(store_run(x.store, &plan.job, &x.fault) == OK);
    }
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.body"), 0);
}

static const char *kept(struct fixture *x, int64_t page)
{
    return sql(x, arena_printf(x->life,
                          "SELECT coalesce(string_agg(version::text, ' ' ORDER BY version), '')"
                          " FROM vigil_kb.version WHERE page_id = %lld",
                          (long long)page));
}

TEST(need, "what is compared with and what CHANGEHISTORY speaks of stays, the rest goes by age")
{
    FIXTURE_MADE(x);
    int64_t page;
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct store_step step = step_create("news", "http://x/");
    step.change_history = 3;
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    REQUIRE(store_run(x.store, &plan.job, &x.fault) == OK);
    page = step.ret_page_id;
    int64_t slow = add_sentinel(&x, "slow", "http://x/", NULL); /* history 0, sees only some */
    for (int64_t n = 1; n <= 20; n++)
        put(&x, page, step.ret_id, n, (unsigned)n);
    sql(&x, arena_printf(x.life,
                    "UPDATE vigil_kb.sentinel_state SET last_version = 7"
                    " WHERE sentinel_id = %lld",
                    (long long)slow));
    x.clock.wall = NOON + 20 * MSEC_PER_HOUR;
    (void)sweep(&x, MSEC_NEVER, 0);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.versions"), 20);
    (void)sweep(&x, 10 * MSEC_PER_HOUR, 0); /* 10 hours old are those fetched at hour 10 */
    EXPECT_TEXT(kept(&x, page), "7 10 11 12 13 14 15 16 17 18 19 20");
    EXPECT(gives_back(&x, page, 7, 7));
    struct store_sweep_figures f = sweep(&x, 0, 0);
    EXPECT_TEXT(kept(&x, page), "7 17 18 19 20"); /* three changes: 17-18, 18-19, 19-20 */
    EXPECT_INT(f.released, 7);
    EXPECT(gives_back(&x, page, 7, 7));
    EXPECT(gives_back(&x, page, 17, 17));
    /* changes stay, numbers too */
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.changes"), 19);
    EXPECT_INT(sql_int(&x, "SELECT last_version FROM vigil.status WHERE name = 'news'"), 20);
    EXPECT_TEXT(sql(&x, HAVE_DIGESTS), "7 19 20");
    /* ended, it compares no more; its history stays */
    sql(&x, "UPDATE vigil_kb.sentinel SET state = 'ended'");
    (void)sweep(&x, 0, 0);
    EXPECT_TEXT(kept(&x, page), "17 18 19 20");
    put(&x, page, step.ret_id, 21, 21);
    EXPECT_TEXT(kept(&x, page), "17 18 19 20 21");
    /* no body without a version or a delta of it */
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.body b WHERE NOT EXISTS (SELECT FROM"
                           " vigil_kb.version v WHERE v.body_sha256 = b.sha256) AND NOT EXISTS"
                           " (SELECT FROM vigil_kb.body d WHERE d.base_sha256 = b.sha256)"),
            0);
}

TEST(bytes,
        "more than keep_bytes: the oldest go first, until it fits or only the needed are left")
{
    FIXTURE_MADE(x);
    int64_t page;
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    int64_t sentinel = add_sentinel(&x, "news", "http://x/", &page);
    static struct site_version s;
    for (int64_t n = 1; n <= 30; n++) { /* nothing in common: no deltas */
        site_version(&s, page, sentinel, n, 1);
        s.v.job.body_bytes = page_text(s.body, (unsigned)n + 100, 1);
        s.v.job.body_sha256 = sha256_of(s.body, s.v.job.body_bytes);
        REQUIRE(store_run(x.store, &s.v.job.job, &x.fault) == OK);
    }
    x.clock.wall = NOON + 31 * MSEC_PER_HOUR;
    long long all = sql_int(&x, STORED);
    struct store_sweep_figures f = sweep(&x, MSEC_NEVER, all / 2);
    long long left = sql_int(&x, STORED),
              versions = sql_int(&x, "SELECT count(*) FROM vigil.versions");
    printf("# %lld bytes of %lld, %lld versions\n", left, all, versions);
    EXPECT(left <= all / 2 && versions >= 5 && versions <= 15);
    EXPECT(f.released == 30 - versions);
    EXPECT_INT(sql_int(&x, "SELECT max(version) - min(version) + 1 FROM vigil.versions"),
            versions);
    (void)sweep(&x, MSEC_NEVER, 1);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.versions"), 2);
}

static bool three_rounds(void *arg)
{
    struct store_sweep_figures f;
    store_sweeper_figures(arg, &f);
    return f.rounds > 3;
}

TEST(beside, "a sweeper beside a writer loses nothing, and no commit waits for it")
{
    enum { PAGES = 8, VERSIONS = 60 };
    FIXTURE_MADE(x);
    int64_t pages[PAGES], sentinels[PAGES];
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    for (int i = 0; i < PAGES; i++)
        sentinels[i] = add_sentinel(&x, arena_printf(x.life, "s%d", i),
                arena_printf(x.life, "http://x/%d", i), &pages[i]);
    x.clock.wall = NOON + 1000 * MSEC_PER_HOUR;
    struct store_sweep_options o = {.keep = 0, .every = 1};
    struct store_sweeper *w;
    REQUIRE(store_sweeper_start(x.store, &o, &x.fault, &w) == OK);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    struct site_version *s = calloc(PAGES, sizeof *s);
    int failed = 0;
    for (int64_t n = 1; n <= VERSIONS; n++) {
        for (int i = 0; i < PAGES; i++) {
            site_version(&s[i], pages[i], sentinels[i], n, 0);
            /* the same four bodies on all pages: they come, go and come back */
            s[i].v.job.body_bytes = page_text(s[i].body, 9, (unsigned)(n + i) % 4);
            s[i].v.job.body_sha256 = sha256_of(s[i].body, s[i].v.job.body_bytes);
            store_writer_submit(x.writer, &s[i].v.job.job);
        }
        REQUIRE(fixture_drain(&x, 20 * MSEC_PER_SECOND));
        for (int i = 0; i < PAGES; i++)
            failed += s[i].v.job.job.err != OK;
    }
    EXPECT_INT(failed, 0);
    EXPECT(eventually(three_rounds, w, 20 * MSEC_PER_SECOND));
    struct store_sweep_figures f;
    store_sweeper_figures(w, &f);
    printf("# %lld released, %lld packed, %lld turns failed\n", (long long)f.released,
            (long long)f.packed, (long long)f.failures);
    store_writer_stop(x.writer, 10 * MSEC_PER_SECOND);
    x.writer = NULL;
    store_sweeper_stop(w);
    free(s);
    EXPECT(f.released > 0);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.changes"), PAGES * (VERSIONS - 1));
    EXPECT_INT(
            sql_int(&x, "SELECT count(*) FROM vigil_kb.version v WHERE NOT EXISTS (SELECT FROM"
                        " vigil_kb.body b WHERE b.sha256 = v.body_sha256)"),
            0);
    (void)sweep(&x, 0, 0);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.body b WHERE NOT EXISTS (SELECT FROM"
                           " vigil_kb.version v WHERE v.body_sha256 = b.sha256) AND NOT EXISTS"
                           " (SELECT FROM vigil_kb.body d WHERE d.base_sha256 = b.sha256)"),
            0);
}

TEST_MAIN()
