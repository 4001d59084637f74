/* Versions that are kept as what differs from their page's key: as an engine writes them. */
#include "store/store_int.h"
#include "tests/store/store_fixture.h"
#include <stdlib.h>

enum { LINES = 400, BODY = 64 << 10 };

/* Lines nobody could compress well; contents n have n of them edited. */
static size_t text_of(char *to, unsigned page, unsigned version, const char *mark)
{
    size_t len = 0;
    for (unsigned i = 0; i < LINES; i++) {
        char line[80];
        struct sha256 sum;
        int n = snprintf(line, sizeof line, "%u %u %u", page, i, i < version);
        sum = sha256_of(line, (size_t)n);
        len += (size_t)snprintf(to + len, BODY - len, "<p>%s", mark);
        for (int k = 0; k < 20; k++)
            len += (size_t)snprintf(to + len, BODY - len, "%02x", (unsigned char)sum.bytes[k]);
        len += (size_t)snprintf(to + len, BODY - len, "</p>\n");
    }
    return len;
}

/* A page as an engine knows it. */
struct site {
    struct fixture *x;
    int64_t page, sentinel, latest;
    unsigned number; /* whose words it has */
    struct store_key *key;
};

struct written {
    struct version_fixture v;
    struct arena *life;
    char body[BODY], digest[BODY];
};

static void prepare(struct site *s, struct written *w, int64_t n, unsigned contents)
{
    version_init(&w->v, s->page, s->sentinel, n);
    w->life = arena_new(NULL, "version");
    w->v.job.body = w->body;
    w->v.job.body_bytes = text_of(w->body, s->number, contents, "");
    w->v.job.body_sha256 = sha256_of(w->body, w->v.job.body_bytes);
    w->v.job.digest = w->digest;
    w->v.job.digest_bytes = text_of(w->digest, s->number, contents, "digest ");
    w->v.job.seen_by = &w->v.change.sentinel_id;
    w->v.job.nseen_by = 1;
    w->v.job.fetched_at = NOON + n * MSEC_PER_HOUR;
    w->v.job.key = s->key;
    store_version_pack(&w->v.job, w->life);
}

static void remember(struct site *s, struct written *w)
{
    if (!w->v.job.packed.of) {
        store_key_free(s->key);
        s->key = store_key_new(&w->v.job);
    }
    arena_freep(&w->life);
}

static void put(struct site *s, unsigned contents)
{
    static struct written w;
    prepare(s, &w, ++s->latest, contents);
    if (store_run(s->x->store, &w.v.job.job, &s->x->fault) != OK)
        test_fail(__FILE__, __LINE__, "version %lld: %s", (long long)s->latest,
                s->x->fault.message);
    remember(s, &w);
}

static struct site site_new(struct fixture *x, const char *name, unsigned number)
{
    struct site s = {.x = x, .number = number};
    s.sentinel = add_sentinel(x, name, arena_printf(x->life, "http://x/%s", name), &s.page);
    return s;
}

static enum err load(struct site *s, int64_t n, bool want_body, struct store_load_job *job)
{
    *job = (struct store_load_job){.job.kind = STORE_JOB_LOAD,
            .page_id = s->page,
            .version = n,
            .want_body = want_body,
            .want_key = true,
            .digest.max = BODY,
            .body.max = BODY};
    return store_run(s->x->store, &job->job, &s->x->fault);
}

static void unload(struct store_load_job *job)
{
    buf_done(&job->digest);
    buf_done(&job->body);
    store_key_free(job->key);
}

static bool is_text(const struct buf *b, unsigned page, unsigned contents, const char *mark)
{
    static char want[BODY];
    size_t len = text_of(want, page, contents, mark);
    return b->len == len && memcmp(b->data, want, len) == 0;
}

static bool gives_back(struct site *s, int64_t n, unsigned contents, bool has_digest)
{
    struct store_load_job job;
    bool same = load(s, n, true, &job) == OK && job.found &&
                is_text(&job.body, s->number, contents, "") &&
                (has_digest ? is_text(&job.digest, s->number, contents, "digest ")
                            : job.digest.len == 0);
    if (!same)
        printf("# version %lld: %s, body %zu, digest %zu\n", (long long)n, s->x->fault.message,
                job.body.len, job.digest.len);
    unload(&job);
    return same;
}

static bool has_swept(void *arg)
{
    struct store_sweep_figures f;
    store_sweeper_figures(arg, &f);
    if (f.error[0])
        printf("# sweeper: %s\n", f.error);
    return f.rounds > 1 || f.failures > 3;
}

static void sweep(struct fixture *x, msec keep)
{
    struct store_sweep_options o = {.keep = keep, .every = 10};
    struct store_sweeper *w;
    struct store_sweep_figures f = {0};
    REQUIRE(store_sweeper_start(x->store, &o, &x->fault, &w) == OK);
    EXPECT(eventually(has_swept, w, 60 * MSEC_PER_SECOND));
    store_sweeper_figures(w, &f);
    store_sweeper_stop(w);
    EXPECT_INT(f.failures, 0);
}

/* After a sweep: the newest two have theirs; of the others those that take next to nothing,
 * while their key is there. */
static bool keeps_digest(struct site *s, int64_t n)
{
    return n > s->latest - 2 ||
           (n >= s->key->version &&
                   sql_int(s->x, arena_printf(s->x->life,
                                         "SELECT coalesce(octet_length(digest_zstd) <= 200,"
                                         " false)::int FROM vigil_kb.version"
                                         " WHERE page_id = %lld AND version = %lld",
                                         (long long)s->page, (long long)n)) == 1);
}

#define LONGEST_CHAIN                                                                          \
    "WITH RECURSIVE c AS (SELECT sha256, base_sha256, 1 AS n FROM vigil_kb.body UNION ALL"     \
    " SELECT c.sha256, b.base_sha256, n + 1 FROM c JOIN vigil_kb.body b"                       \
    " ON b.sha256 = c.base_sha256) SELECT max(n) FROM c"
#define WHOLE "SELECT count(*) FROM vigil_kb.body WHERE base_sha256 IS NULL"

TEST(differences, "a version is kept as what differs from a key, in one step, and comes back")
{
    enum { VERSIONS = 120 };
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s = site_new(&x, "news", 1);
    for (unsigned n = 1; n <= VERSIONS; n++)
        put(&s, n);
    long long whole = sql_int(&x, WHOLE);
    printf("# %lld keys of %d versions, %lld bytes each\n", whole, VERSIONS,
            sql_int(&x, "SELECT avg(octet_length(zstd))::int FROM vigil_kb.body"));
    EXPECT(whole >= 2 && whole <= VERSIONS / 4);
    EXPECT_INT(sql_int(&x, LONGEST_CHAIN), 2);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.key"), whole);
    for (unsigned n = 1; n <= VERSIONS; n++)
        EXPECT(gives_back(&s, n, n, true));
    /* what an engine reads back when it starts is what it would have remembered */
    struct store_load_job job;
    REQUIRE(load(&s, VERSIONS, false, &job) == OK && job.key);
    EXPECT_INT(job.key->version, s.key->version);
    EXPECT(sha256_equal(&job.key->body_sha256, &s.key->body_sha256));
    store_key_free(s.key);
    s.key = job.key;
    job.key = NULL;
    unload(&job);
    put(&s, VERSIONS + 1);
    EXPECT(gives_back(&s, VERSIONS + 1, VERSIONS + 1, true));
    EXPECT_INT(sql_int(&x, WHOLE), whole);
    /* keys become deltas of the next, chains stay bounded, digests go where that pays */
    sweep(&x, MSEC_NEVER);
    EXPECT_INT(sql_int(&x, WHOLE), 1 + (whole - 1) / 15);
    EXPECT(sql_int(&x, LONGEST_CHAIN) <= 16);
    for (unsigned n = 1; n <= VERSIONS + 1; n++)
        EXPECT(gives_back(&s, n, n, keeps_digest(&s, n)));
    EXPECT(sql_int(&x, "SELECT count(*) FROM vigil_kb.key") <= 2);
    EXPECT(sql_int(&x, "SELECT max(octet_length(digest_zstd)) FROM vigil_kb.version"
                       " WHERE version < 120") <= 200);
    put(&s, VERSIONS + 2);
    EXPECT(gives_back(&s, VERSIONS + 2, VERSIONS + 2, true));
    store_key_free(s.key);
}

TEST(kept, "versions go by age; what the others differ from stays as long as they do")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s = site_new(&x, "news", 1);
    for (unsigned n = 1; n <= 8; n++)
        put(&s, n);
    EXPECT_INT(sql_int(&x, WHOLE), 1);
    x.clock.wall = NOON + 100 * MSEC_PER_HOUR;
    sweep(&x, 0);
    EXPECT_TEXT(sql(&x, "SELECT string_agg(version::text, ' ' ORDER BY version)"
                        " FROM vigil_kb.version"),
            "7 8");
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.body"), 3); /* with the key's */
    EXPECT(gives_back(&s, 7, 7, true) && gives_back(&s, 8, 8, true));
    for (unsigned n = 9; n <= 60; n++)
        put(&s, n);
    sweep(&x, 0);
    EXPECT(gives_back(&s, 59, 59, true) && gives_back(&s, 60, 60, true));
    EXPECT(sql_int(&x, "SELECT count(*) FROM vigil_kb.body") <= 4);
    EXPECT(sql_int(&x, "SELECT count(*) FROM vigil_kb.key") <= 2);
    struct store_step drop = {.kind = STORE_STEP_DROP, .sentinel_id = s.sentinel};
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &drop, .nsteps = 1};
    EXPECT(store_run(x.store, &plan.job, &x.fault) == OK);
    EXPECT_INT(sql_int(&x, "SELECT (SELECT count(*) FROM vigil_kb.body) +"
                           " (SELECT count(*) FROM vigil_kb.key)"),
            0);
    store_key_free(s.key);
}

TEST(flips, "contents that come back, on several pages, beside the sweeper: all comes back")
{
    enum { SITES = 3, VERSIONS = 60 };
    FIXTURE_MADE(x);
    struct site s[SITES];
    unsigned contents[SITES][VERSIONS + 1];
    uint64_t dice = 11;
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    for (int i = 0; i < SITES; i++) {
        s[i] = site_new(&x, arena_printf(x.life, "s%d", i), 7); /* the same words on all */
        contents[i][0] = 0;
    }
    for (int n = 1; n <= VERSIONS; n++)
        for (int i = 0; i < SITES; i++) {
            do {
                dice = dice * 6364136223846793005u + 1442695040888963407u;
                contents[i][n] = (unsigned)(dice >> 40) % 90;
            } while (contents[i][n] == contents[i][n - 1]);
            put(&s[i], contents[i][n]);
            if (n % 9 == 5 && i == 1)
                sweep(&x, MSEC_NEVER);
        }
    sweep(&x, MSEC_NEVER);
    EXPECT(sql_int(&x, LONGEST_CHAIN) <= 16);
    for (int i = 0; i < SITES; i++)
        for (int n = 1; n <= VERSIONS; n++)
            EXPECT(gives_back(&s[i], n, contents[i][n], n >= VERSIONS - 1));
    for (int i = 0; i < SITES; i++)
        store_key_free(s[i].key);
}

TEST(damage, "a damaged key is found out and named, never another body handed out")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s = site_new(&x, "news", 1);
    struct store_load_job job;
    for (unsigned n = 1; n <= 4; n++)
        put(&s, n);
    /* another body in the place of the key's: frames are right, the whole is not */
    static char other[BODY];
    size_t len = text_of(other, 2, 1, "");
    BUF(zipped, BODY);
    REQUIRE(zip(other, len, &zipped));
    PGconn *c = PQconnectdb(store_conninfo(x.store));
    const char *values[] = {zipped.data};
    int lengths[] = {(int)zipped.len}, formats[] = {1};
    PGresult *r = PQexecParams(c,
            "UPDATE vigil_kb.body SET zstd = $1::bytea WHERE base_sha256 IS NULL", 1, NULL,
            values, lengths, formats, 0);
    EXPECT(PQresultStatus(r) == PGRES_COMMAND_OK);
    PQclear(r);
    PQfinish(c);
    for (int64_t n = 1; n <= 4; n++) {
        EXPECT(load(&s, n, true, &job) == ERR_STORE);
        char *hex = (char *)sql(&x, arena_printf(x.life,
                                            "SELECT encode(body_sha256, 'hex') FROM"
                                            " vigil_kb.version WHERE version = %lld",
                                            (long long)n));
        hex[16] = 0;
        EXPECT(strstr(x.fault.message, hex) && strstr(x.fault.message, "damaged"));
        unload(&job);
    }
    EXPECT(load(&s, 4, false, &job) == OK && job.digest.len); /* it needs no body */
    unload(&job);
    /* the digest of another: refused; gone: as if it had not been kept, it is made again */
    sql(&x, "UPDATE vigil_kb.key SET digest_zstd = (SELECT zstd FROM vigil_kb.body"
            " WHERE base_sha256 IS NULL)");
    EXPECT(load(&s, 4, false, &job) == ERR_STORE);
    EXPECT(strstr(x.fault.message, "digest is damaged") != NULL);
    unload(&job);
    sql(&x, "DELETE FROM vigil_kb.key");
    EXPECT(load(&s, 4, false, &job) == OK && job.digest.len == 0 && !job.key);
    unload(&job);
    store_key_free(s.key);
}

/* Digests alone: as whoever compares reads them, and as whoever writes the next one does. */
static bool digest_is(struct site *s, int64_t n, bool want_key, enum err err)
{
    struct store_load_job job = {.job.kind = STORE_JOB_LOAD,
            .page_id = s->page,
            .version = n,
            .want_key = want_key,
            .digest.max = BODY,
            .body.max = BODY};
    enum err e = store_run(s->x->store, &job.job, &s->x->fault);
    bool same = e == err && (e ? strstr(s->x->fault.message, "digest is damaged") != NULL
                               : is_text(&job.digest, s->number, (unsigned)n, "digest ") &&
                                                    !job.key == !want_key);
    unload(&job);
    return same;
}

static void set_key_digest(struct fixture *x, const struct buf *digest)
{
    PGconn *c = PQconnectdb(store_conninfo(x->store));
    const char *values[] = {digest->data};
    int lengths[] = {(int)digest->len}, formats[] = {1};
    PGresult *r = PQexecParams(c, "UPDATE vigil_kb.key SET digest_zstd = $1::bytea", 1, NULL,
            values, lengths, formats, 0);
    EXPECT(PQresultStatus(r) == PGRES_COMMAND_OK);
    PQclear(r);
    PQfinish(c);
}

TEST(plain, "a key's digest is used where it stands, packed ones are read too, damage is told")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s = site_new(&x, "news", 1);
    static char digest[BODY];
    size_t len = text_of(digest, 1, 1, "digest "), inside;
    BUF(packed, 2 * BODY);
    for (unsigned n = 1; n <= 3; n++)
        put(&s, n);
    EXPECT_INT(s.key->version, 1);
    EXPECT(plain_contents(s.key->digest, s.key->digest_bytes, &inside) && inside == len);
    for (int64_t n = 1; n <= 3; n++)
        EXPECT(digest_is(&s, n, false, OK) && digest_is(&s, n, true, OK));
    REQUIRE(zip(digest, len, &packed)); /* as it was before it was kept like this */
    set_key_digest(&x, &packed);
    for (int64_t n = 1; n <= 3; n++)
        EXPECT(digest_is(&s, n, false, OK) && digest_is(&s, n, true, OK));
    digest[len / 2] ^= 1;
    REQUIRE(plain(digest, len, &packed));
    digest[len / 2] ^= 1;
    memcpy(packed.data + packed.len - 4, s.key->digest + s.key->digest_bytes - 4, 4);
    set_key_digest(&x, &packed);
    for (int64_t n = 1; n <= 3; n++)
        EXPECT(digest_is(&s, n, false, ERR_STORE) && digest_is(&s, n, true, ERR_STORE));
    store_key_free(s.key);
}

TEST(gone, "a key that is gone when the version comes: it is written whole, with all it owes")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s[2] = {site_new(&x, "a", 1), site_new(&x, "b", 2)};
    static struct written w[2];
    for (unsigned n = 1; n <= 3; n++)
        for (int i = 0; i < 2; i++)
            put(&s[i], n);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    for (int i = 0; i < 2; i++) {
        prepare(&s[i], &w[i], ++s[i].latest, 4);
        EXPECT(w[i].v.job.packed.of == s[i].key);
    }
    /* as a database put back from an old copy would have it: no such body, or one that is no
     * base */
    sql(&x, "UPDATE vigil_kb.body SET height = 0 WHERE height > 0");
    for (int i = 0; i < 2; i++)
        store_writer_submit(x.writer, &w[i].v.job.job);
    REQUIRE(fixture_drain(&x, 20 * MSEC_PER_SECOND));
    for (int i = 0; i < 2; i++) {
        EXPECT_INT(w[i].v.job.job.err, OK);
        EXPECT(!w[i].v.job.packed.of);
        remember(&s[i], &w[i]);
        for (unsigned n = 1; n <= 4; n++)
            EXPECT(gives_back(&s[i], n, n, true));
        /* the store packed it, so what is remembered of the page is nothing */
        EXPECT(!s[i].key);
        put(&s[i], 5);
        put(&s[i], 6);
        EXPECT(gives_back(&s[i], 6, 6, true));
    }
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.changes"), 10);
    EXPECT_INT(sql_int(&x, "SELECT sum(evaluations) FROM vigil.status"), 10);
    for (int i = 0; i < 2; i++)
        store_key_free(s[i].key);
}

static bool has_packed(void *arg)
{
    struct store_sweep_figures f;
    store_sweeper_figures(arg, &f);
    return f.packed > 0 || f.failures > 3;
}

TEST(soon, "the key before becomes a delta, and its digest goes, soon after the next; no round "
           "needed")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s = site_new(&x, "news", 1);
    struct store_sweep_options o = {.keep = MSEC_NEVER, .every = MSEC_PER_HOUR};
    struct store_sweeper *sweeper;
    msec begun = clock_mono(&clock_system);
    REQUIRE(store_sweeper_start(x.store, &o, &x.fault, &sweeper) == OK);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    static struct written w;
    for (unsigned n = 1; n <= 6; n++) {
        if (n == 3) { /* as an engine that has forgotten it */
            store_key_free(s.key);
            s.key = NULL;
        }
        prepare(&s, &w, ++s.latest, n);
        store_writer_submit(x.writer, &w.v.job.job);
        REQUIRE(fixture_drain(&x, 20 * MSEC_PER_SECOND));
        EXPECT(w.v.job.job.err == OK);
        remember(&s, &w);
    }
    EXPECT(eventually(has_packed, sweeper, 30 * MSEC_PER_SECOND));
    struct store_sweep_figures f;
    store_sweeper_figures(sweeper, &f);
    EXPECT(f.rounds == 0 || clock_mono(&clock_system) - begun >= 10 * MSEC_PER_SECOND);
    EXPECT_INT(sql_int(&x, "SELECT sum(version) FROM vigil_kb.key"), 3);
    for (unsigned n = 1; n <= 6; n++)
        EXPECT(gives_back(&s, n, n, n >= 3));
    store_writer_stop(x.writer, 10 * MSEC_PER_SECOND);
    x.writer = NULL;
    store_sweeper_stop(sweeper);
    store_key_free(s.key);
}

TEST(older, "bodies and digests of an older Vigil come back, and its page goes on with a key")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s = site_new(&x, "news", 1);
    for (unsigned n = 1; n <= 6; n++) {
        store_key_free(s.key); /* each whole, as they were */
        s.key = NULL;
        put(&s, n);
    }
    sql(&x, "UPDATE vigil_kb.version v SET digest_zstd = k.digest_zstd, digest_base = NULL"
            " FROM vigil_kb.key k WHERE k.page_id = v.page_id AND k.version = v.version");
    sql(&x, "DELETE FROM vigil_kb.key");
    sql(&x, "UPDATE vigil_kb.body SET height = 0");
    struct store_load_job job;
    EXPECT(load(&s, 6, false, &job) == OK && job.digest.len && !job.key);
    unload(&job);
    for (unsigned n = 1; n <= 6; n++)
        EXPECT(gives_back(&s, n, n, true));
    store_key_free(s.key);
    s.key = NULL;
    for (unsigned n = 7; n <= 12; n++)
        put(&s, n);
    EXPECT_INT(sql_int(&x, WHOLE), 7);
    sweep(&x, MSEC_NEVER);
    EXPECT_INT(sql_int(&x, WHOLE), 1);
    for (unsigned n = 1; n <= 12; n++)
        EXPECT(gives_back(&s, n, n, keeps_digest(&s, n)));
    store_key_free(s.key);
}

TEST(unpacked, "a key that stays unpacked packs the same, and says what it takes")
{
    static struct written first, second, third;
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s = site_new(&x, "unpacked", 1);
    put(&s, 1);
    REQUIRE(s.key);
    size_t packed = store_key_bytes(s.key);

    prepare(&s, &first, 2, 2);
    EXPECT(first.v.job.packed.of == s.key);
    EXPECT(store_key_bytes(s.key) > packed + s.key->body_bytes);
    prepare(&s, &second, 2, 2); /* with it as it was left */
    store_key_shrink(s.key);
    EXPECT_INT(store_key_bytes(s.key), packed);
    prepare(&s, &third, 2, 2); /* and from the start */
    struct written *all[] = {&first, &second, &third};
    for (size_t i = 0; i < countof(all); i++) {
        const struct store_version_job *job = &all[i]->v.job;
        EXPECT_INT(job->packed.body_bytes, first.v.job.packed.body_bytes);
        EXPECT(memcmp(job->packed.body, first.v.job.packed.body, job->packed.body_bytes) == 0);
    }
    for (size_t i = 0; i < countof(all); i++)
        arena_freep(&all[i]->life);
    store_key_free(s.key);
}

TEST(churn, "a page with nothing in common with itself is packed whole, not twice each time")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct site s = site_new(&x, "news", 1);
    for (unsigned n = 1; n <= 20; n++) {
        s.number = n;
        put(&s, 1);
        EXPECT_INT(s.key->version, n);
        EXPECT_INT(s.key->misses, n - 1);
    }
    for (unsigned n = 21; n <= 30; n++) /* it calms down, and that is noticed */
        put(&s, n);
    EXPECT_INT(s.key->version, 23);
    EXPECT(gives_back(&s, 30, 30, true));
    store_key_free(s.key);
}

TEST_MAIN()
