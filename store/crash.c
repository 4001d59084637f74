#include "store/crash.h"
#include "base/str.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Written once, before any thread can read it: the environment is a constant of the
 * process, and so is this. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char wanted[64];
static atomic_long passes_left;

static void look(void)
{
    const char *text = getenv("VIGIL_CRASH_POINT");
    if (!text)
        return;
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : strlen(text);
    int64_t count = 1;
    if (len >= sizeof wanted || (colon && !str_to_int(str_of(colon + 1), &count)))
        return;
    memcpy(wanted, text, len);
    wanted[len] = 0;
    atomic_store(&passes_left, (long)count);
}

void crash_point(const char *name)
{
    pthread_once(&once, look);
    if (wanted[0] && strcmp(name, wanted) == 0 && atomic_fetch_sub(&passes_left, 1) == 1)
        _exit(137);
}
