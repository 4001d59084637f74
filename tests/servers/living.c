/* living -- the living site as a server of its own, told by a test what becomes of its pages.
 *
 *     living PAGES [LOG]
 *
 * Prints its URL, then reads commands, one a line, until its stdin closes:
 *
 *     turn KIND PAGE     a change of this kind: links images words phrase table list keyword
 * noise fail HOW PAGE      from now on the page fails: 500 503 404 cut drop; well: no more sync
 * answered with what was served so far, as a line of JSON
 *
 * The log is the truth.  "made KIND PAGE" is a change when it happened, "seen KIND PAGE" the
 * moment a client first had a whole answer that shows it: of two changes of a kind between two
 * looks only one can be told.  "failed HOW PAGE" is an answer that was none.
 *
 * It must hold that
 *  (1) commands before a sync are in force when it is answered, and
 *  (2) whatever is answered is in the log in the order it was.
 */
#include "base/buf.h"
#include "web/site.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>

/* So long ago that no date is in the future however often a page turns. */
static const msec FIRST_DATE = 1000000000000;

struct page {
    struct web_living now, seen; /* what it is, and what a client last had of it */
    enum web_failure failure;
    bool known; /* some client had it */
};

struct living {
    pthread_mutex_t mutex; /* everything below: the site's thread answers, ours commands */
    struct page *pages;    /* [0] is not used */
    uint32_t count;
    FILE *log; /* may be NULL */
    uint64_t requests, whole, not_modified, failed, bytes;
};

/* ---- the site's thread ------------------------------------------------------------------ */

static enum web_failure state(struct web_living *page, msec *ret_changed_at, void *arg)
{
    struct living *l = arg;
    pthread_mutex_lock(&l->mutex);
    const struct page *p = &l->pages[page->number];
    uint64_t turns = 0;
    for (int kind = 0; kind < WEB_TURNS; kind++)
        turns += p->now.turns[kind];
    *page = p->now;
    *ret_changed_at = FIRST_DATE + (msec)turns * MSEC_PER_SECOND;
    enum web_failure failure = p->failure;
    pthread_mutex_unlock(&l->mutex);
    return failure;
}

static void note_seen(struct living *l, const struct web_living *page)
{
    struct page *p = &l->pages[page->number];
    for (unsigned kind = 0; p->known && kind < WEB_TURNS; kind++)
        if (web_living_differs(&p->seen, page, kind) && l->log)
            fprintf(l->log, "seen %s %u\n", web_turn_name(kind), page->number);
    p->seen = *page;
    p->known = true;
}

static void answered(const struct web_living *page, unsigned status, size_t bytes, void *arg)
{
    struct living *l = arg;
    pthread_mutex_lock(&l->mutex);
    l->requests++;
    l->bytes += bytes;
    if (status == 200) {
        l->whole++;
        note_seen(l, page);
    } else if (status == 304) {
        l->not_modified++;
    } else {
        l->failed++;
        if (l->log)
            fprintf(l->log, "failed %s %u\n", web_failure_name(l->pages[page->number].failure),
                    page->number);
    }
    pthread_mutex_unlock(&l->mutex);
}

/* ---- commands --------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sync_now(struct living *l)
{
    if (l->log)
        fflush(l->log);
    printf("{\"requests\": %llu, \"whole\": %llu, \"not_modified\": %llu, \"failed\": %llu, "
           "\"bytes\": %llu, \"cpu\": %.6f}\n",
            (unsigned long long)l->requests, (unsigned long long)l->whole,
            (unsigned long long)l->not_modified, (unsigned long long)l->failed,
            (unsigned long long)l->bytes, cpu_seconds());
    fflush(stdout);
}

static bool turn(struct living *l, const char *name, unsigned number)
{
    for (unsigned kind = 0; kind < WEB_TURNS; kind++) {
        if (strcmp(name, web_turn_name(kind)) != 0)
            continue;
        l->pages[number].now.turns[kind]++;
        if (l->log)
            fprintf(l->log, "made %s %u\n", name, number);
        return true;
    }
    return false;
}

static bool set_failure(struct living *l, const char *name, unsigned number)
{
    for (unsigned failure = 0; failure < WEB_FAILURES; failure++)
        if (strcmp(name, web_failure_name(failure)) == 0) {
            l->pages[number].failure = failure;
            return true;
        }
    return false;
}

static bool obey(struct living *l, const char *line)
{
    char verb[16], what[16];
    unsigned number;
    if (strcmp(line, "sync\n") == 0) {
        sync_now(l);
        return true;
    }
    if (sscanf(line, "%15s %15s %u", verb, what, &number) != 3 || number < 1 ||
            number > l->count)
        return false;
    return strcmp(verb, "turn") == 0   ? turn(l, what, number)
           : strcmp(verb, "fail") == 0 ? set_failure(l, what, number)
                                       : false;
}

int main(int argc, char **argv)
{
    SCRATCH struct arena *life = arena_new(NULL, "living");
    struct living l = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct web_host host = {state, answered, &l};
    struct web_site *site;
    struct fault f = {0};
    char line[200];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    l.count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    if (l.count < 1 || (argc > 2 && !(l.log = fopen(argv[2], "w")))) {
        fprintf(stderr, "usage: living PAGES [LOG]\n");
        return 1;
    }
    l.pages = calloc((size_t)l.count + 1, sizeof(*l.pages));
    CHECK(l.pages);
    for (uint32_t i = 1; i <= l.count; i++)
        l.pages[i].now.number = i;
    struct web_site_options o = {.clock = &clock_system, .living = l.count, .host = &host};
    if (web_site_start(life, &o, &f, &site) != OK) {
        fprintf(stderr, "living: %s\n", f.message);
        return 2;
    }
    printf("%s\n", web_site_url(site));
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        pthread_mutex_lock(&l.mutex);
        if (!obey(&l, line)) /* (1) */
            fprintf(stderr, "living: not understood: %s", line);
        pthread_mutex_unlock(&l.mutex);
    }
    web_site_stop(site);
    free(l.pages);
    return l.log && fclose(l.log) != 0;
}
