/* How long a page may take, and how that is told.
 *
 *  (1) A page has the deadline, in time of the clock: what a reader does not do by then it does
 *      not do.
 *  (2) But on a machine with too much to do a reader may wait for a processor that long, and
 *      no page is to blame for that.  One that would run if it could, and has not had the
 *      deadline in processor time, goes on, up to PATIENCE deadlines.
 *  (3) A reader that sleeps over a page is not such a one: nothing that it may wait for is left
 *      in its sandbox, so it has been taken over.
 */
#include "page/worker_int.h"
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 10 };

/* What the process has used so far; -1: cannot be told. */
static msec cpu_used(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return -1;
    return (msec)t.tv_sec * MSEC_PER_SECOND + t.tv_nsec / 1000000;
}

/* Does it run, or wait for a processor, or for memory that was swapped out?  (3) */
static bool would_run(pid_t pid)
{
    char path[40], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1); /* 123 (vigil-reader) R ... */
    close(fd);
    const char *name_end = n > 0 ? strrchr(text, ')') : NULL;
    return name_end && (strncmp(name_end, ") R", 3) == 0 || strncmp(name_end, ") D", 3) == 0);
}

msec page_worker_look(struct page_worker *w, msec spent, msec deadline)
{
    uint64_t job = w->errands[w->oldest].head.job;
    msec cpu = cpu_used(w->pid);
    CHECK(w->count > 0);
    if (w->looked_at != job) { /* it cannot have used more than that for this page */
        w->looked_at = job;
        w->cpu_before = cpu - (spent < PAGE_WORKER_LOOK_MSEC ? spent : PAGE_WORKER_LOOK_MSEC);
    }
    if (spent < deadline) /* (1) */
        return deadline - spent;
    msec left = deadline - (cpu - w->cpu_before);
    if (cpu < 0 || left * 50 <= deadline || spent / PATIENCE >= deadline || !would_run(w->pid))
        return 0;
    return left < deadline / 10 ? left : deadline / 10 + 1; /* (3) may become true any time */
}

void page_worker_overran(msec deadline, struct fault *f)
{
    char span[TIME_TEXT_SIZE];
    fault_set(f, ERR_LIMIT, "the page could not be read: the reader was killed after %s",
            time_span(deadline, span));
}

void page_worker_did_not_start(struct fault *f)
{
    char span[TIME_TEXT_SIZE];
    fault_set(f, ERR_BUSY, "the page could not be read: a reader did not come up in %s",
            time_span(PAGE_WORKER_START_MSEC, span));
}
