/* settings -- what an operator may choose, from file, environment and command line.
 *
 * Later wins: defaults, `--config FILE` (INI), VIGIL_FETCH_MIN_INTERVAL and its like in the
 * environment, `--set fetch.min_interval=1s`.  A value is checked when it is given, and a
 * wrong one names where it came from.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/time.h"

enum setting {
#define SETTING(id, name, type, value, least, most, why) SETTING_##id,
#include "engine/settings.def"
#undef SETTING
    SETTING_COUNT
};

struct settings {
    struct arena *life;
    struct setting_value {
        const char *text;   /* as given */
        const char *origin; /* "default", "/etc/vigil.ini:3", "VIGIL_…", "--set" */
        int64_t number;     /* spans in ms, bytes, ints, log level */
        const char **list;  /* CIDRS */
        size_t nlist;
    } values[SETTING_COUNT];
};

void settings_init(struct settings *s, struct arena *life);

MUST_USE enum err settings_read_file(struct settings *s, const char *path, struct fault *f);
MUST_USE enum err settings_read_environment(struct settings *s, char **env, struct fault *f);
/* "fetch.min_interval=1s" */
MUST_USE enum err settings_set_pair(struct settings *s, const char *pair, struct fault *f);
MUST_USE enum err settings_set(struct settings *s, const char *name, const char *value,
        const char *origin, struct fault *f);
/* --allow: adds to fetch.allow instead of replacing it. */
MUST_USE enum err settings_allow(struct settings *s, const char *cidr, struct fault *f);

/* Whether nobody has chosen a value; false for a name that is none. */
bool settings_is_default(const struct settings *s, const char *name);
int64_t settings_number(const struct settings *s, enum setting which);
const char *settings_text(const struct settings *s, enum setting which);
/* The file of certificates a setting names; NULL: the system's are trusted. */
MUST_USE enum err settings_ca(
        const struct settings *s, enum setting which, struct fault *f, const char **ret_file);

/* One row each: name, value, default, unit, origin, why. */
void settings_print(const struct settings *s, struct buf *out);
void settings_json(const struct settings *s, struct buf *out); /* an object a line */
