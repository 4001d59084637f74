/* Versions committed, with all they owe, against bare inserts of the same bytes. */
#include "tests/store/bench_store.h"
#include <unistd.h>

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

void writing(void)
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
