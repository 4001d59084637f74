/* bare -- what measuring programs share: processor time, the best of several rounds, and the
 * bare walk that reading a page is measured against. */
#pragma once
#include <libxml/HTMLparser.h>
#include <stddef.h>
#include <time.h>

static inline double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Processor time of the best of several rounds. */
#define BEST_OF(rounds, statement)                                                             \
    ({                                                                                         \
        double best_ = 1e9;                                                                    \
        for (int round_ = 0; round_ < (int)(rounds); round_++) {                               \
            double from_ = cpu_seconds();                                                      \
            statement;                                                                         \
            double spent_ = cpu_seconds() - from_;                                             \
            best_ = spent_ < best_ ? spent_ : best_;                                           \
        }                                                                                      \
        best_;                                                                                 \
    })

static inline void bare_start(void *arg, const xmlChar *name, const xmlChar **atts)
{
    (void)name, (void)atts;
    ++*(size_t *)arg;
}

static inline void bare_text(void *arg, const xmlChar *text, int len)
{
    (void)text;
    *(size_t *)arg += (size_t)len;
}

static inline void bare_error(void *arg, xmlErrorPtr error)
{
    (void)arg, (void)error;
}

/* libxml2's SAX parser over a page, nothing kept but a sum. */
static inline size_t bare_walk(const char *page, size_t len)
{
    size_t sum = 0;
    htmlSAXHandler sax = {.startElement = bare_start,
            .characters = bare_text,
            .serror = bare_error,
            .initialized = XML_SAX2_MAGIC};
    htmlParserCtxtPtr c =
            htmlCreatePushParserCtxt(&sax, &sum, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    htmlParseChunk(c, page, (int)len, 1);
    htmlFreeParserCtxt(c);
    return sum;
}
