/* WebVigiL's chapter 6: how a URL finds its versions, three ways.
 *
 *     bench_mapping URLS DEPTH_MIN DEPTH_MAX DIRECTORY CONNECTION
 *
 * Prints "hash|directory|ours build|rebuild|seek SECONDS".
 *
 *   hash       a table in memory from path to a short name, appended to a file as it grows; a
 *              directory of that name
 *   directory  the path itself as directories
 *   ours       a row in PostgreSQL, found by the SHA-256 of the URL, and a table in memory
 *
 * As in the thesis, build makes the mapping for all URLs, rebuild brings it back after a
 * restart, and seek finds where the versions of a page are, for ten thousand pages chosen
 * evenly.  Wall time, since all of it is waiting for a disk or a database.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include <fcntl.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SEEKS = 10000, BATCH = 1000, PATH_BYTES = 200 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void say(const char *way, const char *what, double seconds)
{
    printf("%s %s %.6f\n", way, what, seconds);
    fflush(stdout);
}

/* The path of URL number n, without its file name: a host and so many folders.  Every fourth
 * URL shares its folders with its neighbours, as pages of a site do. */
static void url_path(unsigned n, unsigned depth_min, unsigned depth_max, char path[PATH_BYTES])
{
    unsigned folder = n / 4;
    unsigned depth = depth_min + folder % (depth_max - depth_min + 1);
    int at = snprintf(path, PATH_BYTES, "site%u.example.org", folder % 5000);
    for (unsigned level = 1; level < depth; level++)
        at += snprintf(path + at, PATH_BYTES - (size_t)at, "/part%u", (folder >> level) % 61);
    if (depth > 1)
        snprintf(path + at, PATH_BYTES - (size_t)at, "/f%u", folder);
}

struct job {
    unsigned urls, least, most;
    const char *directory, *connection;
};

static void path_of(const struct job *j, unsigned n, char path[PATH_BYTES])
{
    url_path(n, j->least, j->most, path);
}

static unsigned sought(const struct job *j, unsigned i)
{
    return (unsigned)((uint64_t)i * 7919 % j->urls);
}

/* ---- a table in memory ---------------------------------------------------------------- */

struct entry {
    struct map_node node;
    const char *key;
    int64_t number;
};

static struct entry *entry_find(struct map *m, const char *key)
{
    for (struct map_node *n = map_first(m, map_hash_text(key)); n; n = map_next(n)) {
        struct entry *e = container_of(n, struct entry, node);
        if (strcmp(e->key, key) == 0)
            return e;
    }
    return NULL;
}

static struct entry *entry_add(
        struct map *m, struct arena *life, const char *key, int64_t number)
{
    struct entry *e = arena_new_of(life, struct entry);
    e->key = arena_strdup(life, key);
    e->number = number;
    map_insert(m, &e->node, map_hash_text(key));
    return e;
}

/* ---- hash ----------------------------------------------------------------------------- */

static void hash_build(const struct job *j)
{
    SCRATCH struct arena *life = arena_new(NULL, "hash");
    struct map m;
    char path[PATH_BYTES], file[PATH_BYTES];
    map_init(&m);
    snprintf(file, sizeof(file), "%s/hash", j->directory);
    CHECK(mkdir(file, 0700) == 0);
    snprintf(file, sizeof(file), "%s/hash.names", j->directory);
    FILE *names = fopen(file, "w");
    CHECK(names);
    for (unsigned n = 0; n < j->urls; n++) {
        path_of(j, n, path);
        if (entry_find(&m, path))
            continue;
        struct entry *e = entry_add(&m, life, path, (int64_t)m.count + 1);
        fprintf(names, "%lld %s\n", (long long)e->number, path);
        snprintf(file, sizeof(file), "%s/hash/U%lld", j->directory, (long long)e->number);
        CHECK(mkdir(file, 0700) == 0);
    }
    fclose(names);
    map_done(&m);
}

static void hash_rebuild(const struct job *j, struct map *m, struct arena *life)
{
    char file[PATH_BYTES], path[PATH_BYTES];
    long long number;
    snprintf(file, sizeof(file), "%s/hash.names", j->directory);
    FILE *names = fopen(file, "r");
    CHECK(names);
    while (fscanf(names, "%lld %199s", &number, path) == 2)
        entry_add(m, life, path, number);
    fclose(names);
}

static void open_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0);
    close(fd);
}

static void hash_way(const struct job *j)
{
    SCRATCH struct arena *life = arena_new(NULL, "hash");
    struct map m;
    char path[PATH_BYTES], file[PATH_BYTES];
    double from = now();
    hash_build(j);
    say("hash", "build", now() - from);
    map_init(&m);
    from = now();
    hash_rebuild(j, &m, life);
    say("hash", "rebuild", now() - from);
    from = now();
    for (unsigned i = 0; i < SEEKS; i++) {
        path_of(j, sought(j, i), path);
        struct entry *e = entry_find(&m, path);
        CHECK(e);
        snprintf(file, sizeof(file), "%s/hash/U%lld", j->directory, (long long)e->number);
        open_directory(file);
    }
    say("hash", "seek", now() - from);
    map_done(&m);
}

/* ---- directory ------------------------------------------------------------------------ */

static void make_directories(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

static void directory_way(const struct job *j)
{
    char path[PATH_BYTES], file[2 * PATH_BYTES];
    double from = now();
    for (unsigned n = 0; n < j->urls; n++) {
        path_of(j, n, path);
        snprintf(file, sizeof(file), "%s/tree/%s", j->directory, path);
        if (mkdir(file, 0700) != 0)
            make_directories(file);
    }
    say("directory", "build", now() - from);
    say("directory", "rebuild", 0);
    from = now();
    for (unsigned i = 0; i < SEEKS; i++) {
        path_of(j, sought(j, i), path);
        snprintf(file, sizeof(file), "%s/tree/%s", j->directory, path);
        open_directory(file);
    }
    say("directory", "seek", now() - from);
}

/* ---- ours ----------------------------------------------------------------------------- */

static void must(PGconn *c, PGresult *r)
{
    ExecStatusType s = PQresultStatus(r);
    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK) {
        fprintf(stderr, "bench_mapping: %s", PQerrorMessage(c));
        exit(2);
    }
    PQclear(r);
}

/* An array in PostgreSQL's notation: no path of ours needs quoting. */
static void urls_of(const struct job *j, unsigned from, unsigned to, struct buf *out)
{
    char path[PATH_BYTES];
    buf_clear(out);
    for (unsigned n = from; n < to; n++) {
        path_of(j, n, path);
        buf_printf(out, "%c%s", n == from ? '{' : ',', path);
    }
    buf_putc(out, '}');
}

static void ours_way(const struct job *j)
{
    SCRATCH struct arena *life = arena_new(NULL, "ours");
    BUF(list, 1 << 20);
    struct map m;
    char path[PATH_BYTES];
    PGconn *c = PQconnectdb(j->connection);
    CHECK(PQstatus(c) == CONNECTION_OK);
    must(c, PQexec(c, "TRUNCATE vigil_kb.page CASCADE"));
    double from = now();
    for (unsigned n = 0; n < j->urls; n += BATCH) {
        urls_of(j, n, n + BATCH < j->urls ? n + BATCH : j->urls, &list);
        const char *values[] = {buf_text(&list)};
        must(c, PQexecParams(c,
                        "INSERT INTO vigil_kb.page (url, url_sha256) SELECT u, sha256("
                        "convert_to(u, 'UTF8')) FROM (SELECT DISTINCT unnest($1::text[]) u) q "
                        "ON CONFLICT (url_sha256) DO NOTHING",
                        1, NULL, values, NULL, NULL, 0));
    }
    say("ours", "build", now() - from);
    map_init(&m);
    from = now();
    PGresult *r = PQexec(c, "SELECT id, url FROM vigil_kb.page");
    for (int i = 0; i < PQntuples(r); i++)
        entry_add(&m, life, PQgetvalue(r, i, 1), strtoll(PQgetvalue(r, i, 0), NULL, 10));
    PQclear(r);
    say("ours", "rebuild", now() - from);
    from = now();
    must(c, PQprepare(c, "seek", "SELECT url FROM vigil_kb.page WHERE id = $1", 1, NULL));
    for (unsigned i = 0; i < SEEKS; i++) {
        char id[32];
        path_of(j, sought(j, i), path);
        struct entry *e = entry_find(&m, path);
        CHECK(e);
        snprintf(id, sizeof(id), "%lld", (long long)e->number);
        const char *values[] = {id};
        r = PQexecPrepared(c, "seek", 1, values, NULL, NULL, 0);
        CHECK(PQntuples(r) == 1);
        PQclear(r);
    }
    say("ours", "seek", now() - from);
    map_done(&m);
    PQfinish(c);
}

int main(int argc, char **argv)
{
    char file[2 * PATH_BYTES];
    if (argc != 6) {
        fprintf(stderr, "usage: bench_mapping URLS DEPTH_MIN DEPTH_MAX DIRECTORY CONNECTION\n");
        return 1;
    }
    struct job j = {(unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]),
            argv[4], argv[5]};
    snprintf(file, sizeof(file), "%s/tree", j.directory);
    CHECK(mkdir(file, 0700) == 0);
    hash_way(&j);
    directory_way(&j);
    ours_way(&j);
    return 0;
}
