/* bench_store -- what the parts of the store's benchmark share. */
#pragma once
#include "base/pool.h"
#include "page/page.h"
#include "store/store_int.h"
#include "store/writer.h"
#include <stdio.h>
#include <stdlib.h>

enum { PAGES = 64, VERSIONS = 20, ROUNDS = 5 };

extern struct bench {
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

#define MUST(call)                                                                             \
    do {                                                                                       \
        if ((call) != OK) {                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, b.fault.message);               \
            exit(2);                                                                           \
        }                                                                                      \
    } while (0)

/* ---- bench_store.c ---- */
double now(void);       /* seconds */
double cpu_of(int pid); /* seconds a process has worked so far, all its threads */
void report(const char *name, double value, const char *unit);
void report_limit(const char *name, double value, const char *unit, double limit, bool at_most);
void bare(const char *sql); /* on the connection that is not ours */
double bare_number(const char *sql);

/* ---- bench_site.c: a living site, made before anything is measured ---- */
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

extern struct version versions[ROUNDS][VERSIONS][PAGES];
void make_site(void);

/* ---- the parts ---- */
void writing(void);
void reading(void);
void many(long n);
void status_updates(long n);
