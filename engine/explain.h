/* explain -- what a sentinel is made of and what it costs.
 *
 * Everything is worked out from the definitions and the rows in the store, so an explanation
 * is the same whether an engine runs or not, and a definition can be explained before it is
 * installed.
 */
#pragma once
#include "engine/directory.h"

struct explained_names {
    const char **names; /* the first few */
    size_t shown, total;
};

struct explained_event {
    const char *name, *expression; /* "Start(s2)", "PLUS(End(s1), 1 day)" */
    const char *when;              /* what is known about its instant */
    struct explained_names listeners;
};

struct explained_rule {
    const char *on, *action;
};

struct explained_node {
    const char *question;        /* a change type with its object, or the whole expression */
    const char *alias;           /* of the page it is about; NULL: there is only one */
    bool is_whole, is_elsewhere; /* about another page than the first */
    struct explained_names shared_with;
};

struct explained {
    const struct sentinel *sentinel;
    struct sentinel_words words;
    const char *waits_for; /* a sentence */
    struct explained_event events[3];
    struct explained_rule rules[3];
    const char *pages;               /* their addresses */
    const struct explain_page *page; /* the first one */
    const char *stream;              /* when its fetch rule ticks */
    struct explained_names stream_with;
    struct explained_node *nodes;
    size_t nnodes;
    msec next_fetch; /* MSEC_NEVER: none is planned */
    const char *next_why;
    double fetches_alone, fetches_shared; /* a day */
};

/* What the store knows of a page that matters here. */
struct explain_page {
    bool known;
    msec last_fetch, next_fetch;
    msec learned; /* interval; 0: nothing learned yet */
    const char *error;
    const char *const *frames; /* the pages its newest version was put together of */
    size_t nframes;
};

/* What it found so far, as vigil.status has it; all texts, NULL: nothing yet. */
struct explain_last {
    const char *result, *reason;
    const char *evaluations, *changes, *change_at;
};

struct explained *explain(struct arena *life, const struct directory *d,
        const struct sentinel *s, const struct explain_page *page, msec now);
