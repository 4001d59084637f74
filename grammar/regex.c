/* Does a regular expression compile?  The only place here that knows PCRE2.
 *
 * The options are those with which the pattern will be run on a page: UTF, and a dot that
 * matches line ends too.  The limits keep a pattern from costing more than its text.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "grammar/check_int.h"
#include <pcre2.h>

enum { PATTERN_MAX_BYTES = 16 * 1024, PATTERN_MAX_NESTING = 100 };

static int nesting_limit(uint32_t depth, void *arg)
{
    (void)arg;
    return depth > PATTERN_MAX_NESTING;
}

bool regex_check(struct arena *life, const char *pattern, const char **ret_message)
{
    int code;
    size_t offset;
    char text[200];
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    CHECK(context);
    pcre2_set_max_pattern_length(context, PATTERN_MAX_BYTES);
    pcre2_set_compile_recursion_guard(context, nesting_limit, NULL);
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
            PCRE2_UTF | PCRE2_DOTALL | PCRE2_NEVER_BACKSLASH_C, &code, &offset, context);
    pcre2_compile_context_free(context);
    if (re) {
        pcre2_code_free(re);
        return true;
    }
    if (pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text) < 0)
        str_copy(text, sizeof text, "cannot be compiled");
    *ret_message = arena_printf(life, "%s (offset %zu)", text, offset);
    return false;
}
