/* What the files that check meaning share. */
#pragma once
#include "base/map.h"
#include "grammar/grammar_int.h"

struct dependant {
    struct dependant *next;
    struct entry *who;
};

/* A sentinel as the statements so far have left it; one that was asked for and does not exist
 * has an entry too. */
struct entry {
    struct map_node node;
    const char *name;
    bool exists;
    bool broken;    /* defined in this file, with errors: nothing is known about it */
    bool in_script; /* what follows comes from this file */
    bool was_cut;   /* its stored dependants have been dealt with by DROP .. CASCADE */
    enum grammar_phase phase;
    bool start_is_absolute, end_is_absolute;
    msec starts_at, ends_at;
    const char *const *depends;
    size_t n_depends;
    const char *const *stored_dependants;
    size_t n_stored_dependants;
    struct dependant *dependants; /* of this file; may have changed their mind since */
    const char *stored;           /* the text of the definition, until it is needed */
    const struct grammar_definition *definition; /* effective */
    const struct grammar_subscription *subscription;
    unsigned visited;
};

struct zone_cache {
    struct zone_cache *next;
    const char *name;
    bool exists;
    const struct zone *zone;
};

struct check {
    struct grammar_script *script;
    const struct grammar_world *world;
    struct arena *life;
    struct map sentinels, subscriptions;
    unsigned visit;
    unsigned suggestions; /* how often all names were searched for a near one */
    struct zone_cache *zones;
    struct grammar_statement *st;
};

struct grammar_diagnostic *check_error(struct check *ck, enum grammar_code code,
        struct grammar_pos pos, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* ---- names.c ---- */
struct entry *entry_get(struct check *ck, const char *name); /* never NULL; see `exists` */
struct entry *entry_get_subscription(struct check *ck, const char *name);
/* The entry, or NULL with E040 told (nothing told when it is broken). */
struct entry *entry_need(struct check *ck, const char *name, struct grammar_pos pos);
/* Its effective definition; NULL when it cannot be known. */
const struct grammar_definition *entry_definition(struct check *ck, struct entry *e);
void entry_reset(struct entry *e); /* exists, waiting, nothing known */
void entry_depends_on(struct check *ck, struct entry *e, const char *const *names, size_t n);
/* Would `name`, depending on these, depend on itself? */
bool entry_closes_cycle(struct check *ck, struct map *in, const char *name,
        const char *const *names, size_t n, const char **ret_through);
/* Names of those that depend on e now. */
size_t entry_dependants(struct check *ck, struct entry *e, const char ***ret_names);

/* ---- lifespan.c ---- */
/* FROM and TO as written or missing -> as they are run.  `source` is the sentinel inherited
 * from, or NULL.  False when something was told. */
bool lifespan_resolve(struct check *ck, struct entry *self, struct entry *source,
        struct grammar_definition *eff);
/* Only FROM or TO, or both, are new. */
bool lifespan_alter(struct check *ck, struct entry *self,
        const struct grammar_definition *given, struct grammar_definition *eff);
/* Notes in the entry what is known of its start and end. */
void lifespan_note(struct check *ck, struct entry *self, const struct grammar_definition *eff);
/* A date to an instant; `end_of_day` says what a day without a clock means.  False with E032.
 */
bool date_instant(struct check *ck, const struct grammar_date *d, bool end_of_day,
        struct grammar_pos pos, msec *ret_at);

/* ---- effective.c, pages.c, subscheck.c, regex.c ---- */
void check_create(struct check *ck, struct grammar_statement *st);
void check_alter(struct check *ck, struct grammar_statement *st);
bool pages_check(struct check *ck, const struct grammar_definition *eff);
int page_find(const struct grammar_definition *d, const char *alias); /* -1: there is none */
const char *request_default_method(const struct grammar_request *r);
void check_subscription(struct check *ck, struct grammar_statement *st);
bool regex_check(struct arena *life, const char *pattern, const char **ret_message);
