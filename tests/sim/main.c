/* vigil-sim: plays scenario files in the simulated world and prints TAP.
 *
 *     vigil-sim [-v] [-k PART] FILE...
 *
 * -v says what the engine logs and how long each scenario took; -k plays only scenarios with
 * PART in their title.  tests/sim/README.md explains the language.
 */
#include "tests/sim/sim.h"
#include "base/log.h"
#include "page/worker.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { COMPLAINTS_MAX = 1 << 20 };

struct options {
    bool verbose;
    const char *part;
};

struct score {
    int played, failed;
};

static void play(struct server *s, const struct scenario *scenario, const struct options *o,
        struct score *score)
{
    BUF(complaints, COMPLAINTS_MAX);
    char known_bug[KNOWN_BUG_SIZE];
    msec began = clock_mono(&clock_system);
    bool ok = play_scenario(s, scenario, o->verbose, &complaints, known_bug);
    fputs(buf_text(&complaints), stdout);
    printf("%sok %d - %s", ok ? "" : "not ", ++score->played, scenario->title);
    if (known_bug[0])
        printf(" # TODO %s", known_bug);
    putchar('\n');
    if (o->verbose)
        printf("# %lld ms\n", (long long)(clock_mono(&clock_system) - began));
    /* Something known to be wrong that works is news, and must be noticed. */
    score->failed += ok == (known_bug[0] != 0);
}

static int play_file(
        struct server *s, const char *file, const struct options *o, struct score *score)
{
    SCRATCH struct arena *life = arena_new(NULL, "file");
    struct fault f = {0};
    struct scenario *all;
    size_t n;
    if (scenario_read(life, file, &f, &all, &n) != OK) {
        fprintf(stderr, "vigil-sim: %s\n", f.message);
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        if (!o->part || strstr(all[i].title, o->part))
            play(s, &all[i], o, score);
    return 0;
}

int main(int argc, char **argv)
{
    if (page_worker_is_asked(argc, argv))
        return page_worker_main();
    SCRATCH struct arena *life = arena_new(NULL, "sim");
    struct options o = {0};
    struct score score = {0};
    struct fault f = {0};
    struct server *s = NULL;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "-v") == 0) {
            o.verbose = true;
        } else if (strcmp(argv[i], "-k") == 0 && i + 1 < argc) {
            o.part = argv[++i];
        } else {
            fputs("usage: vigil-sim [-v] [-k PART] FILE...\n", stderr);
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    log_set_level(o.verbose ? LOG_INFO : LOG_ERROR);
    int bad = server_begin(life, &f, &s) == OK ? 0 : 2;
    if (bad)
        fprintf(stderr, "vigil-sim: %s\n", f.message);
    for (; !bad && i < argc; i++)
        bad = play_file(s, argv[i], &o, &score);
    if (s)
        server_end(s);
    printf("1..%d\n", score.played);
    return bad ? bad : score.failed ? 1 : 0;
}
