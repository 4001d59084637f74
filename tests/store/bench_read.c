/* Digests read back, put together, against bare reads of the stored rows. */
#include "tests/bench/middle.h"
#include "tests/store/bench_store.h"
#include <unistd.h>

/* with_key: as an engine reads it that has forgotten what the next version may differ from. */
static double read_ours(unsigned times, bool with_key)
{
    double begun = now();
    for (unsigned i = 0; i < times; i++) {
        struct store_load_job job = {.job.kind = STORE_JOB_LOAD,
                .page_id = b.page[i % PAGES],
                .version = ROUNDS * VERSIONS,
                .want_key = with_key,
                .digest.max = 64 << 20,
                .body.max = 64 << 20};
        MUST(store_run(b.store, &job.job, &b.fault));
        CHECK(job.found && job.digest.len && !job.key == !with_key);
        store_key_free(job.key);
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

void reading(void)
{
    enum { TURNS = 9, TIMES = 1000 };
    PQclear(PQprepare(b.bare, "br",
            "SELECT digest_zstd FROM vigil_kb.key"
            " WHERE page_id = $1::bigint AND version = $2::bigint",
            0, NULL));
    double ours[TURNS], read[TURNS], ratio[TURNS], keyed[TURNS];
    double ours_cpu = 0, read_cpu = 0;
    (void)read_ours(200, false);
    (void)read_ours(200, true);
    (void)read_bare(200);
    for (int r = 0; r < TURNS; r++) {
        double before = cpu_of(getpid()) + cpu_of(b.store->conn.backend);
        ours[r] = read_ours(TIMES, false);
        ours_cpu += cpu_of(getpid()) + cpu_of(b.store->conn.backend) - before;
        before = (cpu_of(getpid()) + cpu_of(PQbackendPID(b.bare)));
        read[r] = read_bare(TIMES);
        read_cpu += (cpu_of(getpid()) + cpu_of(PQbackendPID(b.bare))) - before;
        ratio[r] = ours[r] / read[r];
        keyed[r] = read_ours(TIMES, true);
    }
    report("reading the previous digest, put together", middle(ours, TURNS) / TIMES * 1e6,
            "us");
    report("a bare read of its stored row by primary key", middle(read, TURNS) / TIMES * 1e6,
            "us");
    report_limit("  ours against the bare read, which leaves it packed", middle(ratio, TURNS),
            "", 1.3, true);
    report("    by processor time", ours_cpu / read_cpu, "");
    report("reading it with the key of the next version", middle(keyed, TURNS) / TIMES * 1e6,
            "us");
}
