/* explain -- what a sentinel is made of and what it costs.
 *
 * Everything is worked out from the definitions and the rows in the store, so a definition can
 * be explained before it is installed, and without an engine.  What only a running engine knows
 * is asked of it: in which groups the sentinel stands, with whom it shares each node there, and
 * what the nodes were last found to be (explain_graph.c, for both).
 */
#pragma once
#include "base/json.h"
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

/* At one of its pages: who compares the same pairs. */
struct explained_group {
    const char *url, *stream, *compare;
    int64_t base_version; /* the next pair's old side; 0: there is no version yet */
    int64_t waiting;      /* versions to come until that pair */
    int64_t sentinels;    /* in it, this one included */
};

struct explained_node {
    unsigned number; /* from 1 */
    enum cdg_op op;
    unsigned of[2];       /* the operands' numbers; 0: none */
    unsigned group;       /* from 1; 0: what several pages find is put together here */
    const char *question; /* as the language writes it; a long one is cut */
    const char *alias;    /* of the page it is about; NULL: there is only one */
    bool is_whole;        /* it is the sentinel's condition */
    struct explained_names shared_with;
    const char *result; /* "changed", "unchanged", "not computed"; NULL: it is not known */
    const char *reason; /* of the last; NULL: none */
    bool differs;       /* it remembers, and others who ask it were told otherwise */
    int64_t old_version, new_version;
    msec at;
};

struct explained_graph {
    struct explained_group *groups;
    struct explained_node *nodes; /* operands before what is above them */
    size_t ngroups, nnodes;
    msec since; /* from when on an engine knows results; MSEC_NEVER: none answers */
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
    struct explained_graph graph;
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

void explained_name(struct arena *life, struct explained_names *to, const char *name);

/* ---- explain_graph.c ------------------------------------------------------------------ */

/* Where a sentinel stands at one of its pages. */
struct explain_spot {
    int64_t page_id; /* in the graph */
    int64_t position;
    const struct seen *seen; /* the versions at the newest positions */
    const char *url, *stream;
};

/* One spot for each of its pages. */
void explain_graph(struct arena *life, const struct directory *d, const struct cdg *g,
        const struct sentinel *s, const struct explain_spot *spots,
        struct explained_graph *ret);
/* As members of an object, and back. */
void explained_graph_put(struct json *j, const struct explained_graph *x);
/* Leaves what it says nothing of: it may be about another definition by now, or about one that
 * is not in the graph. */
void explained_graph_read(struct arena *life, const char *answer, const char *definition,
        struct explained_graph *ret);
void explained_names_put(struct json *j, const char *key, const struct explained_names *n);
