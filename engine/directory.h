/* directory -- the sentinels that exist, by name and by id.
 *
 * Built from the store's rows, by an engine and by a command alike, so that both judge a
 * request by the same facts.  What an engine knows beyond that (events, rules, streams)
 * hangs on `struct life` and is no business of this file.
 */
#pragma once
#include "base/arena.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "base/time.h"
#include "cdg/cdg.h"
#include "grammar/grammar.h"
#include "store/store.h"

enum phase { PHASE_WAITING, PHASE_RUNNING, PHASE_ENDED };

/* One end of a lifespan, as the definition says it. */
struct point {
    enum grammar_time_kind kind; /* AT, START, END, FOR, NEVER */
    char *of;                    /* START, END: whose */
    msec offset;                 /* START, END, FOR; negative: AT, that long before `of`'s */
    bool before_start;           /* with a negative offset: before its start, not its end */
};

struct life;

/* Versions of a page by the positions somebody saw them at, the newest last: engine/seen.c. */
struct seen {
    int64_t *all; /* 0: counted, but not needed any more */
    size_t count, cap;
};

void seen_done(struct seen *s);
void seen_push(struct seen *s, int64_t version);
void seen_keep(struct seen *s, size_t most);        /* forgets the older ones */
int64_t seen_at(const struct seen *s, size_t back); /* 0: the newest; 0 if not known */
bool seen_agrees(const struct seen *s, const struct seen *other); /* where both know */
void seen_merge(struct seen *s, const struct seen *other);        /* what agrees */

/* What a sentinel has seen of one page. */
struct sight {
    int64_t base_version; /* current when it took its place: pairs before do not concern it */
    int64_t last_version; /* the newest it was shown */
    struct seen seen;     /* after a restart: those it will compare with */
    char *answers;        /* what its questions remember from pair to pair; NULL: nothing */
};

/* engine/answers.c: what one part remembers, ptr NULL: nothing; and the text with another
 * answer of it, malloc'ed, NULL: it would be too long. */
enum { ANSWERS_MAX = 16 << 20 };
struct str answers_get(const char *text, unsigned part);
char *answers_with(const char *text, unsigned part, struct str answer);

/* The pages of a sentinel behind the first, and what it has collected on all of them. */
struct further {
    unsigned count;
    struct list
            kept; /* struct cdg_constituent: after a restart, until it has its places again */
    struct further_page {
        char *url;
        int64_t page_id;
        struct sight sight;
    } all[];
};

/* Begins without a memory at this version; takes over another's memory. */
void sight_begin(struct sight *s, int64_t version);
void sight_copy(struct sight *s, const struct sight *from);

/* That somebody's FROM or TO hangs on another sentinel, found by that one's name. */
struct relation {
    struct map_node node;
    struct sentinel *who;
    const char *of; /* NULL: not listed */
};

struct sentinel {
    struct map_node by_name, by_id;
    struct relation on_from, on_to;
    struct arena *arena; /* of its texts while it is drafted; NULL: it is listed */
    char *texts;         /* of one that is listed, in one block: there may be a million */
    int64_t id;
    char *name, *owner, *definition, *url;
    enum phase phase;
    bool enabled;
    bool lacks_points; /* an older engine did not write down what FROM and TO say */
    struct point from, to;
    msec fetch_every; /* 0: on change */
    msec installed_at;
    msec starts_at, ends_at;   /* nominal; MSEC_NEVER: not known yet, or never */
    msec started_at, ended_at; /* MSEC_NEVER: has not */
    msec entered_at;           /* when it last took its place in the graph */
    int64_t page_id;
    struct sight sight;
    struct further *further; /* NULL: it watches one page */
    struct life *life;       /* the engine's part; NULL in a command */
};

struct directory {
    struct arena *arena;
    struct map by_name, by_id;
    struct map relations; /* struct relation, by the name they hang on */
    size_t count;
};

/* Of a name without regard to case. */
uint64_t name_hash(const char *name);

void directory_init(struct directory *d, struct arena *life);
void directory_done(struct directory *d);

/* Reads every sentinel from the store. */
MUST_USE enum err directory_load(struct directory *d, struct store *s, struct fault *f);

struct sentinel *directory_find(const struct directory *d, const char *name);
struct sentinel *directory_get(const struct directory *d, int64_t id);

/* A new sentinel with its own arena, not yet listed. */
struct sentinel *sentinel_new(struct directory *d, const char *name);
void sentinel_free(struct sentinel *s); /* NULL is fine */
/* Lists it, with name and id set; its texts move. */
void directory_insert(struct directory *d, struct sentinel *s);
void directory_remove(struct directory *d, struct sentinel *s); /* frees it, too */

/* Takes texts and times over from an effective definition. */
void sentinel_define(struct sentinel *s, const struct grammar_definition *effective);

/* Gives it its further pages, by their URLs. */
void sentinel_watch_more(struct sentinel *s, const char *const *urls, unsigned count);

/* How far `from` has come with its life, for a new definition of the same sentinel. */
void sentinel_go_on(struct sentinel *s, const struct sentinel *from);
/* Would both look at the same page, at the same times, with the same question? */
bool sentinel_asks_the_same(const struct sentinel *a, const struct sentinel *b);

/* "waiting", "waiting-disabled", "active", "disabled", "ended" */
const char *sentinel_state(const struct sentinel *s);
bool sentinel_is_active(const struct sentinel *s);

/* Parses a stored definition again; it was checked when it was stored. */
const struct grammar_definition *sentinel_parse(const struct sentinel *s, struct arena *life);

struct sentinel_words { /* of its definition, as they are shown */
    char *monitor, *fetch, *compare, *from, *to;
    char *request; /* what is asked beyond a plain GET of the URL: webrequest.h */
};
struct sentinel_words sentinel_words(const struct sentinel *s, struct arena *life);

/* Those that name `name` in their FROM or TO, each once: start with NULL, ends with NULL. */
struct sentinel *directory_next_dependant(
        const struct directory *d, const char *name, struct relation **at);

/* Does `s` name `other` in its FROM or TO? */
bool sentinel_depends_on(const struct sentinel *s, const char *other);
