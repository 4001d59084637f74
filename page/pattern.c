/* Regular expressions that end.
 *
 * PCRE2's match limit counts anew for each place where a match may start, so a page can
 * make a harmless-looking pattern run for minutes.  So the search goes in windows: a match
 * may only start inside the window, and between windows the clock is looked at.  It must
 * hold that
 *  (1) a search computes little longer than PAGE_PATTERN_MSEC, whatever pattern and page, and
 *  (2) a search that was cut short says so.
 * Time that others had on a busy machine is not the pattern's.
 *
 * A window that was quick is doubled, since finding the first character of a match scans
 * ahead of the window; one that was slow makes the next one small again.  What is quick here
 * may be slow a little further on, so a larger window has a smaller limit for each of its
 * places: no window takes more steps than the smallest may.  A place that needs more is
 * searched again in a small one.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/time.h"
#include "page/page_int.h"
#include <pcre2.h>

enum { WINDOW_LEAST = 64, WINDOW_MOST = 1 << 16, MATCH_LIMIT = 1000000, DEPTH_LIMIT = 1000 };
enum { HEAP_KIB = 16 * 1024, JIT_STACK_BYTES = 512 * 1024 };

struct page_pattern {
    pcre2_code *code;
    bool has_group, has_jit, is_of_lines;
    struct page_pattern_lines lines;
};

static void pattern_release(void *arg)
{
    struct page_pattern *p = arg;
    pcre2_code_free(p->code);
}

enum err page_pattern_new(struct arena *life, const char *pattern, struct fault *f,
        struct page_pattern **ret_pattern)
{
    struct page_pattern *p = arena_new_of(life, struct page_pattern);
    int error;
    size_t at;
    uint32_t groups = 0;

    if (strlen(pattern) > PAGE_PATTERN_BYTES)
        return fault_set(
                f, ERR_LIMIT, "the pattern is longer than %d bytes", PAGE_PATTERN_BYTES);
    p->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
            PCRE2_UTF | PCRE2_DOTALL | PCRE2_USE_OFFSET_LIMIT | PCRE2_NEVER_BACKSLASH_C, &error,
            &at, NULL);
    if (!p->code) {
        char why[120];
        pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof why);
        return fault_set(
                f, ERR_SYNTAX, "the pattern is wrong at character %zu: %s", at + 1, why);
    }
    arena_defer(life, pattern_release, p);
    pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    p->has_group = groups > 0;
    p->has_jit = pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) == 0;
    uint32_t shortest = 0;
    pcre2_pattern_info(p->code, PCRE2_INFO_MINLENGTH, &shortest);
    p->is_of_lines = shortest > 0 && pattern_is_of_lines(pattern, &p->lines);
    p->lines.shortest = shortest; /* characters, each of a byte at least */
    *ret_pattern = p;
    return OK;
}

bool page_pattern_is_of_lines(const struct page_pattern *p, struct page_pattern_lines *ret)
{
    *ret = p->lines;
    return p->is_of_lines;
}

struct search {
    const struct page_pattern *p;
    struct str text;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    msec deadline; /* not before it can the search have taken too long */
    msec began;    /* of clock_thread */
    msec now;      /* when the last window was done */
    size_t window;
    size_t searched; /* matches may start from here on in the next window */
    struct arena *life;
    struct str *matches;
    size_t count, cap;
};

static void search_done(struct search *s)
{
    pcre2_match_data_free(s->data);
    pcre2_match_context_free(s->context);
    pcre2_jit_stack_free(s->stack);
}

static bool search_init(struct search *s)
{
    s->data = pcre2_match_data_create_from_pattern(s->p->code, NULL);
    s->context = pcre2_match_context_create(NULL);
    if (!s->data || !s->context)
        return false;
    pcre2_set_depth_limit(s->context, DEPTH_LIMIT);
    pcre2_set_heap_limit(s->context, HEAP_KIB);
    s->now = clock_mono(&clock_system);
    s->deadline = s->now + PAGE_PATTERN_MSEC;
    s->began = clock_thread();
    s->window = WINDOW_LEAST;
    return true;
}

static size_t next_character(struct str text, size_t at)
{
    at++;
    while (at < text.len && (text.ptr[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static int search_once(struct search *s, size_t at)
{
    s->searched = at + s->window;
    pcre2_set_offset_limit(s->context, s->searched - 1);
    pcre2_set_match_limit(s->context, (uint32_t)(MATCH_LIMIT / (s->window / WINDOW_LEAST)));
    int n = pcre2_match(s->p->code, (PCRE2_SPTR)s->text.ptr, s->text.len, at,
            PCRE2_NO_UTF_CHECK, s->data, s->context);
    if (n == PCRE2_ERROR_JIT_STACKLIMIT && !s->stack) { /* seldom: 32 KiB is enough for most */
        s->stack = pcre2_jit_stack_create(64 * 1024, JIT_STACK_BYTES, NULL);
        pcre2_jit_stack_assign(s->context, NULL, s->stack);
        n = pcre2_match(s->p->code, (PCRE2_SPTR)s->text.ptr, s->text.len, at,
                PCRE2_NO_UTF_CHECK, s->data, s->context);
    }
    return n;
}

/* Looks for a match that starts in the window at `at`. */
static int search_window(struct search *s, size_t at)
{
    msec before = s->now;
    int n = search_once(s, at);

    if (n == PCRE2_ERROR_MATCHLIMIT && s->window > WINDOW_LEAST) {
        s->window = WINDOW_LEAST;
        n = search_once(s, at);
    }
    s->now = clock_mono(&clock_system);
    bool quick = s->now - before < 1;
    if (quick && s->window < WINDOW_MOST)
        s->window *= 2;
    else if (!quick)
        s->window = WINDOW_LEAST;
    return n;
}

static void match_add(struct search *s, int groups)
{
    const size_t *ovector = pcre2_get_ovector_pointer(s->data);
    size_t from = ovector[0], to = ovector[1];

    if (s->p->has_group) {
        bool set = groups > 1 && ovector[2] != PCRE2_UNSET;
        from = set ? ovector[2] : ovector[0];
        to = set ? ovector[3] : from; /* a group that took no part is empty */
    }
    if (s->count == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct str *bigger = arena_array_of(s->life, cap, struct str);
        if (s->count)
            memcpy(bigger, s->matches, s->count * sizeof *bigger);
        s->matches = bigger;
        s->cap = cap;
    }
    s->matches[s->count++] = (struct str){s->text.ptr + from, to > from ? to - from : 0};
}

/* Where the search goes on; SIZE_MAX when it is over. */
static size_t search_step(struct search *s, size_t at, struct fault *f, enum err *e)
{
    int n = search_window(s, at);
    size_t end = s->searched;

    if (n == PCRE2_ERROR_NOMATCH) {
        while (end < s->text.len && (s->text.ptr[end] & 0xC0) == 0x80)
            end++;
        return end > s->text.len ? SIZE_MAX : end;
    }
    if (n < 0) { /* (2) */
        *e = fault_set(f, ERR_LIMIT, "the pattern takes too many steps on this page");
        return SIZE_MAX;
    }
    if (s->count == PAGE_MATCHES_MAX) {
        *e = fault_set(
                f, ERR_LIMIT, "the pattern matches more than %d times", PAGE_MATCHES_MAX);
        return SIZE_MAX;
    }
    match_add(s, n);
    const size_t *ovector = pcre2_get_ovector_pointer(s->data);
    size_t next = ovector[1] > at ? ovector[1] : at;
    if (ovector[1] <= ovector[0])
        next = next_character(s->text, next);
    return next > s->text.len ? SIZE_MAX : next;
}

static bool took_too_long(const struct search *s)
{
    return s->now > s->deadline &&
           clock_thread() - s->began > PAGE_PATTERN_MSEC; /* asks the kernel: only then */
}

enum err page_pattern_find(const struct page_pattern *p, struct str text, struct arena *life,
        struct fault *f, struct str **ret_matches, size_t *ret_count)
{
    CLEANUP(search_done) struct search s = {.p = p, .text = text, .life = life};
    enum err e = OK;

    if (!search_init(&s))
        return fault_set(f, ERR_LIMIT, "no memory to search the page");
    for (size_t at = 0; at != SIZE_MAX && !e;) {
        if (took_too_long(&s)) /* (1) */
            return fault_set(f, ERR_LIMIT, "the pattern takes longer than %d ms on this page",
                    PAGE_PATTERN_MSEC);
        at = search_step(&s, at, f, &e);
    }
    if (e)
        return e;
    *ret_matches = s.matches;
    *ret_count = s.count;
    return OK;
}
