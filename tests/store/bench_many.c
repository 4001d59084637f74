/* Many sentinels: loading them at a start, and what their status updates leave behind. */
#include "tests/store/bench_store.h"
#include <sys/resource.h>
#include <unistd.h>

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

void many(long n)
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
void status_updates(long n)
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
