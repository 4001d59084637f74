/* bench_store: what the knowledge base costs, as ratios to bare libpq on the same server in
 * the same run.
 *
 *     build/tests/store/bench_store [sentinels, 1000000] [directory, /tmp]
 *
 * One line a figure: name, value, unit; the limit it is held against, if any, and whether it
 * keeps it.  Exit 1 if one does not.
 */
#include "base/pool.h"
#include "base/str.h"
#include "page/page.h"
#include "store/store_int.h"
#include "store/writer.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { PAGES = 64, VERSIONS = 20, PARAGRAPHS = 330, BODY_MAX = 128 << 10, ROUNDS = 5 };

static int over_limit;

static double now(void)
{
    return (double)clock_mono(&clock_system) / 1000;
}

static void report(const char *name, double value, const char *unit)
{
    printf("%-58s %12.2f %s\n", name, value, unit);
}

static void report_limit(
        const char *name, double value, const char *unit, double limit, bool at_most)
{
    bool kept = at_most ? value <= limit : value >= limit;
    printf("%-58s %12.2f %-10s %s %g: %s\n", name, value, unit,
            at_most ? "at most" : "at least", limit, kept ? "kept" : "NOT KEPT");
    over_limit |= !kept;
}

#define MUST(call)                                                                             \
    do {                                                                                       \
        if ((call) != OK) {                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, b.fault.message);               \
            exit(2);                                                                           \
        }                                                                                      \
    } while (0)

static struct bench {
    char dir[256];
    struct arena *life;
    struct store *store;
    struct loop *loop;
    struct store_writer *writer;
    struct fault fault;
    PGconn *bare;
    int64_t page[PAGES], sentinel[PAGES];
    struct store_key *key[PAGES]; /* as an engine remembers them */
} b;

/* ---- a living site ---- */

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

struct version {
    struct pool_task task;
    struct arena *life;
    atomic_bool is_packed;
    struct store_version_job job;
    struct store_change change;
    struct store_evaluation evaluation;
    int64_t change_id;
    struct store_key *made; /* by it */
    char *body, *packed_body, *packed_digest;
    size_t packed_body_bytes, packed_digest_bytes;
    struct buf digest;
};

static struct version versions[ROUNDS][VERSIONS][PAGES];

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

static void make_site(void)
{
    static struct site_page pages[PAGES];
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

/* ---- the store ---- */

static void tick(struct loop_timer *t)
{
    (void)t;
}

static void drain(void)
{
    struct loop_timer timer;
    loop_timer_init(&timer, tick);
    while (store_writer_pending(b.writer) > 0) {
        loop_timer_set(b.loop, &timer, 1000);
        loop_run_once(b.loop);
    }
    loop_timer_stop(b.loop, &timer);
}

static void bare(const char *sql)
{
    PGresult *r = PQexec(b.bare, sql);
    ExecStatusType s = PQresultStatus(r);
    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s: %s", sql, PQerrorMessage(b.bare));
        exit(2);
    }
    PQclear(r);
}

static double bare_number(const char *sql)
{
    PGresult *r = PQexec(b.bare, sql);
    CHECK(PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1);
    double n = strtod(PQgetvalue(r, 0, 0), NULL);
    PQclear(r);
    return n;
}

static void open_all(const char *place)
{
    static const struct store_writer_hooks none;
    snprintf(b.dir, sizeof b.dir, "%s/vbench-XXXXXX", place);
    CHECK(mkdtemp(b.dir) && chmod(b.dir, 0755) == 0);
    b.life = arena_new(NULL, "bench");
    struct store_options o = {.data = arena_printf(b.life, "%s/data", b.dir),
            .role = STORE_ENGINE,
            .who = "bench",
            .quiet = true,
            .clock = &clock_system};
    MUST(store_open(b.life, &o, &b.fault, &b.store));
    for (unsigned p = 0; p < PAGES; p++) {
        struct store_step step = {.kind = STORE_STEP_CREATE,
                .name = arena_printf(b.life, "s%u", p),
                .owner = "ann",
                .definition = "CREATE SENTINEL ...",
                .state = "active",
                .url = arena_printf(b.life, "http://x/%u", p),
                .installed_at = 1,
                .starts_at = MSEC_NEVER,
                .ends_at = MSEC_NEVER,
                .started_at = 1,
                .ended_at = MSEC_NEVER,
                .entered_at = 1,
                .change_history = 10};
        struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
        MUST(store_run(b.store, &plan.job, &b.fault));
        b.page[p] = step.ret_page_id;
        b.sentinel[p] = step.ret_id;
    }
    b.loop = loop_new();
    MUST(store_writer_start(b.store, b.loop, &none, &b.fault, &b.writer));
    b.bare = PQconnectdb(store_conninfo(b.store));
    CHECK(PQstatus(b.bare) == CONNECTION_OK);
    bare("SET synchronous_commit = on");
}

/* ---- writing ---- */

static void pack(struct pool_task *task)
{
    struct version *v = container_of(task, struct version, task);
    store_version_pack(&v->job, v->life);
    atomic_store(&v->is_packed, true);
}

static void begin_version(struct pool *pool, struct version *v, unsigned page)
{
    v->life = arena_new(NULL, "version");
    v->task.run = pack;
    v->job.key = b.key[page];
    pool_submit(pool, &v->task);
}

static void end_version(struct version *v, unsigned page)
{
    while (!atomic_load(&v->is_packed))
        usleep(200);
    if (!v->job.packed.of)
        b.key[page] = v->made = store_key_new(&v->job);
    store_writer_submit(b.writer, &v->job.job);
}

/* As in an engine: threads that compare also pack, the loop submits in order, and a page's
 * versions come one after the other. */
static double write_ours(unsigned round)
{
    struct pool *pool = pool_new(2, "pack");
    double begun = now();
    for (unsigned p = 0; p < PAGES; p++)
        begin_version(pool, &versions[round][0][p], p);
    for (unsigned n = 0; n < VERSIONS; n++)
        for (unsigned p = 0; p < PAGES; p++) {
            end_version(&versions[round][n][p], p);
            if (n + 1 < VERSIONS)
                begin_version(pool, &versions[round][n + 1][p], p);
        }
    drain();
    double took = now() - begun;
    pool_free(pool);
    for (unsigned n = 0; n < VERSIONS; n++)
        for (unsigned p = 0; p < PAGES; p++) {
            struct version *v = &versions[round][n][p];
            if (v->job.job.err) {
                fprintf(stderr, "%s\n", v->job.job.fault.message);
                exit(2);
            }
            arena_free(v->life);
        }
    return took;
}

/* Waits for what was sent since the last time. */
static void take_answers(void)
{
    CHECK(PQpipelineSync(b.bare));
    for (PGresult *r;;) {
        r = PQgetResult(b.bare);
        ExecStatusType s = r ? PQresultStatus(r) : PGRES_COMMAND_OK;
        CHECK(s == PGRES_COMMAND_OK || s == PGRES_PIPELINE_SYNC);
        PQclear(r);
        if (s == PGRES_PIPELINE_SYNC)
            return;
    }
}

/* The same bytes into a table with a key, as many at a time: as they were handed to us, or
 * packed by somebody else already. */
static double write_bare(unsigned round, bool packed)
{
    enum { GROUP = 128 };
    const char *insert = packed ? "bp" : "bi";
    double begun = now();
    CHECK(PQenterPipelineMode(b.bare));
    unsigned in_group = 0;
    for (unsigned n = 0; n < VERSIONS; n++)
        for (unsigned p = 0; p < PAGES; p++) {
            const struct version *v = &versions[round][n][p];
            char page[24], number[24];
            snprintf(page, sizeof page, "%u", p);
            snprintf(number, sizeof number, "%u", round * VERSIONS + n + 1);
            const char *values[] = {page, number, packed ? v->packed_body : v->body,
                    packed ? v->packed_digest : v->digest.data};
            int lengths[] = {0, 0, (int)(packed ? v->packed_body_bytes : v->job.body_bytes),
                    (int)(packed ? v->packed_digest_bytes : v->digest.len)};
            int formats[] = {0, 0, 1, 1};
            if (in_group == 0)
                CHECK(PQsendQueryPrepared(b.bare, "bb", 0, NULL, NULL, NULL, 0));
            CHECK(PQsendQueryPrepared(b.bare, insert, 4, values, lengths, formats, 0));
            if (++in_group == GROUP) {
                CHECK(PQsendQueryPrepared(b.bare, "bc", 0, NULL, NULL, NULL, 0));
                take_answers();
                in_group = 0;
            }
        }
    CHECK(in_group == 0 || PQsendQueryPrepared(b.bare, "bc", 0, NULL, NULL, NULL, 0));
    take_answers();
    CHECK(PQexitPipelineMode(b.bare));
    return now() - begun;
}

static void prepare_bare(const char *table, const char *insert)
{
    char sql[256];
    snprintf(sql, sizeof sql,
            "CREATE TABLE public.%s (page bigint, version bigint, body bytea, digest bytea,"
            " PRIMARY KEY (page, version))",
            table);
    bare(sql);
    snprintf(sql, sizeof sql,
            "ALTER TABLE public.%s ALTER body SET STORAGE EXTERNAL,"
            " ALTER digest SET STORAGE EXTERNAL",
            table);
    bare(sql);
    snprintf(sql, sizeof sql, "INSERT INTO public.%s VALUES ($1::bigint, $2::bigint, $3, $4)",
            table);
    PQclear(PQprepare(b.bare, insert, sql, 0, NULL));
}

static double cpu_of(int pid)
{
    char path[64], text[1024] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    CHECK(f && fgets(text, sizeof text, f));
    fclose(f);
    unsigned long user = 0, system = 0;
    CHECK(sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                  &user, &system) == 2);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* Rounds side by side, ours and bare; the middle one of the ratios counts. */
struct round {
    double ours, raw, packed;             /* seconds */
    double ours_cpu, raw_cpu, packed_cpu; /* processor seconds, the server's included */
};

static int by_ratio(const void *a, const void *c)
{
    const struct round *x = a, *y = c;
    double d = x->raw / x->ours - y->raw / y->ours;
    return (d > 0) - (d < 0);
}

static double cpu_ours(void)
{
    return cpu_of(getpid()) + cpu_of(b.writer->conn.backend);
}

static double cpu_bare(void)
{
    return cpu_of(getpid()) + cpu_of(PQbackendPID(b.bare));
}

static void writing(void)
{
    struct round rounds[ROUNDS];
    prepare_bare("bare", "bi");
    prepare_bare("packed", "bp");
    PQclear(PQprepare(b.bare, "bb", "BEGIN", 0, NULL));
    PQclear(PQprepare(b.bare, "bc", "COMMIT", 0, NULL));
    for (unsigned r = 0; r < ROUNDS; r++) {
        double before = cpu_ours();
        rounds[r].ours = write_ours(r);
        rounds[r].ours_cpu = cpu_ours() - before;
        before = cpu_bare();
        rounds[r].raw = write_bare(r, /* packed= */ false);
        rounds[r].raw_cpu = cpu_bare() - before;
        before = cpu_bare();
        rounds[r].packed = write_bare(r, /* packed= */ true);
        rounds[r].packed_cpu = cpu_bare() - before;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, by_ratio);
    const struct round *m = &rounds[ROUNDS / 2];
    double n = PAGES * VERSIONS;
    report("versions committed a second, with all they owe", n / m->ours, "1/s");
    report("  processor time of each, the server's included", m->ours_cpu / n * 1e6, "us");
    report("bare pipelined inserts of the same bytes", n / m->raw, "1/s");
    report("  processor time of each", m->raw_cpu / n * 1e6, "us");
    report_limit("  ours as a part of that", m->raw / m->ours, "", 0.7, false);
    report("    by processor time", m->raw_cpu / m->ours_cpu, "");
    report("bare inserts of bytes packed before", n / m->packed, "1/s");
    report("  processor time of each", m->packed_cpu / n * 1e6, "us");
    report("  ours, which packs, as a part of that", m->packed / m->ours, "");
}

/* ---- reading ---- */

static double read_ours(unsigned times)
{
    double begun = now();
    for (unsigned i = 0; i < times; i++) {
        struct store_load_job job = {.job.kind = STORE_JOB_LOAD,
                .page_id = b.page[i % PAGES],
                .version = ROUNDS * VERSIONS,
                .digest.max = 64 << 20,
                .body.max = 64 << 20};
        MUST(store_run(b.store, &job.job, &b.fault));
        CHECK(job.found && job.digest.len);
        buf_done(&job.digest);
        buf_done(&job.body);
    }
    return now() - begun;
}

/* The row it is kept in, as it is stored, by its primary key. */
static double read_bare(unsigned times)
{
    double begun = now();
    for (unsigned i = 0; i < times; i++) {
        char page[24], number[24];
        snprintf(page, sizeof page, "%lld", (long long)b.page[i % PAGES]);
        snprintf(number, sizeof number, "%lld", (long long)b.key[i % PAGES]->version);
        const char *values[] = {page, number};
        PGresult *r = PQexecPrepared(b.bare, "br", 2, values, NULL, NULL, 1);
        CHECK(PQntuples(r) == 1 && PQgetlength(r, 0, 0) > 1000);
        PQclear(r);
    }
    return now() - begun;
}

static int by_value(const void *a, const void *c)
{
    double d = *(const double *)a - *(const double *)c;
    return (d > 0) - (d < 0);
}

static void reading(void)
{
    enum { TURNS = 9, TIMES = 1000 };
    PQclear(PQprepare(b.bare, "br",
            "SELECT digest_zstd FROM vigil_kb.key"
            " WHERE page_id = $1::bigint AND version = $2::bigint",
            0, NULL));
    double ours[TURNS], read[TURNS], ratio[TURNS], ours_cpu = 0, read_cpu = 0;
    (void)read_ours(200);
    (void)read_bare(200);
    for (int r = 0; r < TURNS; r++) {
        double before = cpu_of(getpid()) + cpu_of(b.store->conn.backend);
        ours[r] = read_ours(TIMES);
        ours_cpu += cpu_of(getpid()) + cpu_of(b.store->conn.backend) - before;
        before = cpu_bare();
        read[r] = read_bare(TIMES);
        read_cpu += cpu_bare() - before;
        ratio[r] = ours[r] / read[r];
    }
    double *all[] = {ours, read, ratio};
    for (size_t i = 0; i < countof(all); i++)
        qsort(all[i], TURNS, sizeof(double), by_value);
    report("reading the previous digest, put together", ours[TURNS / 2] / TIMES * 1e6, "us");
    report("a bare read of its stored row by primary key", read[TURNS / 2] / TIMES * 1e6, "us");
    report_limit("  ours against the bare read, which leaves it packed", ratio[TURNS / 2], "",
            1.3, true);
    report("    by processor time", ours_cpu / read_cpu, "");
}

/* ---- room ---- */

static bool rounds_are_over(struct store_sweeper *w, int64_t rounds)
{
    struct store_sweep_figures f;
    store_sweeper_figures(w, &f);
    CHECK(f.failures < 3);
    return f.rounds > rounds;
}

static void room(void)
{
    double plain = 0;
    for (unsigned r = 0; r < ROUNDS; r++)
        for (unsigned n = 0; n < VERSIONS; n++)
            for (unsigned p = 0; p < PAGES; p++)
                plain += (double)versions[r][n][p].packed_body_bytes;
    store_writer_stop(b.writer, 10000);
    struct store_sweep_options o = {.keep = MSEC_NEVER, .every = 50};
    struct store_sweeper *w;
    double begun = now();
    MUST(store_sweeper_start(b.store, &o, &b.fault, &w));
    while (!rounds_are_over(w, 0))
        usleep(10000);
    double took = now() - begun;
    store_sweeper_stop(w);
    double live = bare_number("SELECT (SELECT sum(octet_length(zstd)) FROM vigil_kb.body) +"
                              " (SELECT sum(coalesce(octet_length(digest_zstd), 0))"
                              " FROM vigil_kb.version) +"
                              " (SELECT sum(octet_length(digest_zstd)) FROM vigil_kb.key)");
    bare("VACUUM FULL vigil_kb.body");
    bare("VACUUM FULL vigil_kb.version");
    bare("VACUUM FULL vigil_kb.key");
    double files = bare_number("SELECT pg_total_relation_size('vigil_kb.body') +"
                               " pg_total_relation_size('vigil_kb.version') +"
                               " pg_total_relation_size('vigil_kb.key')");
    double n = (double)ROUNDS * VERSIONS * PAGES;
    report("versions packed a second, beside", n / took, "1/s");
    report("zstd-3 of each body", plain / n, "bytes");
    report("kept for a version: body and digest", live / n, "bytes");
    report("on disk for a version, keys and rows included", files / n, "bytes");
    report_limit("  as a part of zstd-3 of each body", files / plain, "", 0.5, true);
}

/* ---- many sentinels ---- */

static void each_sentinel(const struct store_sentinel *row, void *arg)
{
    *(size_t *)arg += row->name && row->definition;
}

static void each_page(const struct store_page *row, void *arg)
{
    *(size_t *)arg += row->url != NULL;
}

static long resident(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static void many(long n)
{
    char sql[1200];
    snprintf(sql, sizeof sql,
            "INSERT INTO vigil_kb.page (url, url_sha256) SELECT "
            "'http://www.example.org/section/'"
            " || i, sha256(i::text::bytea) FROM generate_series(1, %ld) i",
            n);
    bare(sql);
    bare("INSERT INTO vigil_kb.page_state (page_id, latest_version, etag, last_fetch_at)"
         " SELECT id, 1, 'abc', 'epoch' FROM vigil_kb.page ON CONFLICT DO NOTHING");
    snprintf(sql, sizeof sql,
            "INSERT INTO vigil_kb.sentinel (name, owner, definition, monitor, fetch_rule, "
            "compare,"
            " state, page_id, installed_at, started_at, entered_at) SELECT 'many' || i, 'ann',"
            " 'CREATE SENTINEL many' || i || ' USING http://www.example.org/section/' || i || "
            "' MONITOR links FETCH EVERY 1 hour', 'links', 'every 1 hour', 'pairwise', "
            "'active',"
            " (SELECT max(id) FROM vigil_kb.page) - %ld + i, 'epoch', 'epoch', 'epoch'"
            " FROM generate_series(1, %ld) i",
            n, n);
    bare(sql);
    bare("INSERT INTO vigil_kb.sentinel_state (sentinel_id) SELECT id FROM vigil_kb.sentinel"
         " ON CONFLICT DO NOTHING");
    bare("VACUUM ANALYZE vigil_kb.sentinel");
    bare("VACUUM ANALYZE vigil_kb.sentinel_state");
    bare("VACUUM ANALYZE vigil_kb.page");
    bare("VACUUM ANALYZE vigil_kb.page_state");

    long before = resident();
    size_t sentinels = 0, pages = 0;
    double begun = now();
    MUST(store_load_sentinels(b.store, &b.fault, each_sentinel, &sentinels));
    double took = now() - begun;
    begun = now();
    MUST(store_load_pages(b.store, &b.fault, each_page, &pages));
    double pages_took = now() - begun;
    CHECK(sentinels == (size_t)n + PAGES && pages == (size_t)n + PAGES);
    report("sentinels loaded", (double)sentinels, "");
    report("  a second", (double)sentinels / took, "1/s");
    report("  pages a second", (double)pages / pages_took, "1/s");
    report("  memory that took", (double)(resident() - before) / 1024, "MiB");
}

/* The statement of a version's commit, for as many sentinels as one page may have. */
static void status_updates(long n)
{
    enum { TIMES = 10, STRIDE = 1000 };
    double before = bare_number("SELECT pg_table_size('vigil_kb.sentinel_state')");
    bare("SELECT pg_stat_reset_single_table_counters('vigil_kb.sentinel_state'::regclass)");
    PQclear(PQprepare(b.bare, "bu",
            "UPDATE vigil_kb.sentinel_state t SET evaluations = t.evaluations + 1,"
            "   last_result = 'unchanged' FROM generate_series($1::bigint, $2::bigint) AS u(id)"
            " WHERE t.sentinel_id = u.id",
            0, NULL));
    double begun = now();
    for (int round = 0; round < TIMES; round++)
        for (long at = 0; at <= n + PAGES; at += STRIDE) {
            char from[24], to[24];
            snprintf(from, sizeof from, "%ld", at);
            snprintf(to, sizeof to, "%ld", at + STRIDE - 1);
            const char *values[] = {from, to};
            PGresult *r = PQexecPrepared(b.bare, "bu", 2, values, NULL, NULL, 0);
            CHECK(PQresultStatus(r) == PGRES_COMMAND_OK);
            PQclear(r);
        }
    double took = now() - begun;
    double after = bare_number("SELECT pg_table_size('vigil_kb.sentinel_state')");
    PQfinish(b.bare); /* what a session counted is told when it ends */
    b.bare = PQconnectdb(store_conninfo(b.store));
    usleep(300000);
    double hot = bare_number("SELECT n_tup_hot_upd::float / nullif(n_tup_upd, 0)"
                             " FROM pg_stat_user_tables WHERE relid ="
                             " 'vigil_kb.sentinel_state'::regclass");
    report("status updates a second, 10 rounds over all", TIMES * (double)n / took, "1/s");
    report_limit("  of them on their own page, no index touched", hot, "", 0.95, false);
    report_limit("  the table after them, against before", after / before, "", 1.5, true);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path);
    return 0;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    page_start();
    learn_words();
    open_all(argc > 2 ? argv[2] : "/tmp");
    make_site();
    writing();
    reading();
    room();
    many(n);
    status_updates(n);
    PQfinish(b.bare);
    loop_free(b.loop);
    store_close(b.store);
    for (unsigned r = 0; r < ROUNDS; r++)
        for (unsigned k = 0; k < VERSIONS; k++)
            for (unsigned p = 0; p < PAGES; p++)
                store_key_free(versions[r][k][p].made);
    (void)nftw(b.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return over_limit;
}
