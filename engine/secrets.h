/* secrets -- what ${SECRET name} stands for, from a file only we can read.
 *
 * Values are handed out for one request and are never stored, logged or printed.
 */
#pragma once
#include "base/arena.h"
#include "base/fault.h"
#include "base/str.h"

struct secrets;

/* `path` as the setting fetch.secrets gives it, "" when there is none; read when asked. */
struct secrets *secrets_new(struct arena *life, const char *path);

/* For a request to `url`.  Borrowed until the next call. */
MUST_USE enum err secrets_get(struct secrets *s, struct str name, const char *url,
        struct fault *f, const char **ret_value);

/* `text` with every reference replaced, in `life`; *ret_held (may be NULL): there was one. */
MUST_USE enum err secrets_fill(struct secrets *s, struct arena *life, const char *text,
        const char *url, struct fault *f, const char **ret_text, bool *ret_held);
