/* bench_store: what the knowledge base costs, as ratios to bare libpq on the same server in
 * the same run.
 *
 *     build/tests/store/bench_store [sentinels, 1000000] [directory, /tmp]
 *
 * One line a figure: name, value, unit; the limit it is held against, if any, and whether it
 * keeps it.  Exit 1 if one does not.
 */
#include "tests/store/bench_store.h"
#include <ftw.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct bench b;

static int over_limit;

double now(void)
{
    return (double)clock_mono(&clock_system) / 1000;
}

void report(const char *name, double value, const char *unit)
{
    printf("%-58s %12.2f %s\n", name, value, unit);
}

void report_limit(const char *name, double value, const char *unit, double limit, bool at_most)
{
    bool kept = at_most ? value <= limit : value >= limit;
    printf("%-58s %12.2f %-10s %s %g: %s\n", name, value, unit,
            at_most ? "at most" : "at least", limit, kept ? "kept" : "NOT KEPT");
    over_limit |= !kept;
}

double cpu_of(int pid)
{
    clockid_t clock;
    struct timespec t;
    CHECK(clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the store ---- */

void bare(const char *sql)
{
    PGresult *r = PQexec(b.bare, sql);
    ExecStatusType s = PQresultStatus(r);
    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s: %s", sql, PQerrorMessage(b.bare));
        exit(2);
    }
    PQclear(r);
}

double bare_number(const char *sql)
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
