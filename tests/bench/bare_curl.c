/* The least a program can do that looks at many pages: libcurl's multi interface, nothing else.
 *
 *     bare_curl PREFIX SUFFIX PAGES CONNECTIONS
 *
 * For each line on stdin it fetches PREFIX 1 SUFFIX … PREFIX PAGES SUFFIX once, over so many
 * kept connections, with the validators it got the last time, throws the bodies away, and
 * prints wall and CPU seconds.  It keeps nothing but validators, so it does not know whether
 * a page changed; what does, costs more.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct page {
    char etag[64], date[64];
};

static size_t throw_away(char *data, size_t size, size_t n, void *arg)
{
    (void)data, (void)arg;
    return size * n;
}

static void keep_value(char to[64], const char *line, size_t bytes, const char *name)
{
    size_t skip = strlen(name);
    if (bytes < skip + 2 || bytes - skip >= 64 || strncasecmp(line, name, skip) != 0)
        return;
    memcpy(to, line + skip, bytes - skip - 2);
    to[bytes - skip - 2] = 0;
}

static size_t take_header(char *line, size_t size, size_t n, void *arg)
{
    struct page *p = arg;
    keep_value(p->etag, line, size * n, "ETag: ");
    keep_value(p->date, line, size * n, "Last-Modified: ");
    return size * n;
}

static struct curl_slist *ask_for_changes(const struct page *p)
{
    char line[128];
    struct curl_slist *lines = NULL;
    if (p->etag[0]) {
        snprintf(line, sizeof(line), "If-None-Match: %s", p->etag);
        lines = curl_slist_append(lines, line);
    }
    if (p->date[0]) {
        snprintf(line, sizeof(line), "If-Modified-Since: %s", p->date);
        lines = curl_slist_append(lines, line);
    }
    return lines;
}

static void start(CURLM *multi, CURL *c, char **argv, unsigned number, struct page *p)
{
    char url[500];
    struct curl_slist *lines = ask_for_changes(p), *old;
    snprintf(url, sizeof(url), "%s%u%s", argv[1], number, argv[2]);
    curl_easy_getinfo(c, CURLINFO_PRIVATE, &old);
    curl_slist_free_all(old);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, throw_away);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, p);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, lines);
    curl_easy_setopt(c, CURLOPT_PRIVATE, lines);
    curl_multi_add_handle(multi, c);
}

static void cycle(CURLM *multi, CURL **handles, unsigned connections, char **argv,
        struct page *pages, unsigned count)
{
    unsigned next = 0, done = 0;
    int running, left;
    for (unsigned i = 0; i < connections && next < count; i++, next++)
        start(multi, handles[i], argv, next + 1, &pages[next]);
    while (done < count) {
        CURLMsg *m;
        curl_multi_perform(multi, &running);
        while ((m = curl_multi_info_read(multi, &left))) {
            CURL *c = m->easy_handle;
            curl_multi_remove_handle(multi, c);
            done++;
            if (next < count) {
                start(multi, c, argv, next + 1, &pages[next]);
                next++;
            }
        }
        if (done < count)
            curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    char line[16];
    if (argc != 5) {
        fprintf(stderr, "usage: bare_curl PREFIX SUFFIX PAGES CONNECTIONS\n");
        return 1;
    }
    unsigned count = (unsigned)strtoul(argv[3], NULL, 10);
    unsigned connections = (unsigned)strtoul(argv[4], NULL, 10);
    struct page *pages = calloc(count, sizeof(*pages));
    CURL **handles = calloc(connections, sizeof(*handles));
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    for (unsigned i = 0; i < connections; i++)
        handles[i] = curl_easy_init();
    while (fgets(line, sizeof(line), stdin)) {
        double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        cycle(multi, handles, connections, argv, pages, count);
        printf("%.6f %.6f\n", seconds(CLOCK_MONOTONIC) - wall,
                seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
        fflush(stdout);
    }
    return 0;
}
