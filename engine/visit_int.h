/* What the files of a visit share: visit.c (getting ready, from hand to hand), visit_read.c
 * (at the page readers), visit_compare.c (on the pool) and visit_commit.c (into the store). */
#pragma once
#include "engine/engine_int.h"
#include "engine/reading.h"
#include "page/page.h"

enum { DIGEST_MAX = PAGE_DIGEST_MAX, SOURCE_MAX = 4 * PAGE_BODY_MAX };

/* What a member's questions remember, for the thread that compares. */
struct remembered {
    int64_t sentinel_id;
    const char *answers;
};

/* A stored version that is needed. */
struct old {
    struct store_load_job load;
    struct visit *visit;
    int64_t version;
    char *block; /* malloc'ed; NULL: could not be had */
    size_t bytes;
    struct reading reading;
    struct buf made; /* its digest, where the stored one could not be used */
    struct buf text; /* its decoded source; data NULL, unless somebody asks about it */
};

struct visit {
    struct cdg_task task;
    struct list link;
    struct arena *arena;
    struct arena *opened; /* while it is compared: the digests, opened */
    struct engine *engine;
    struct webpage *page;
    int64_t version;
    bool is_new;
    struct visit_source source; /* is_new: copies */
    struct reading reading;     /* is_new */
    struct buf digest;          /* is_new: what the reader answered */
    struct buf text;            /* is_new, want_source: the decoded source */
    struct cdg_look *looks;     /* one for each stream that waits; its members are its id's */
    size_t nlooks;
    struct cdg_plan *plan;
    struct remembered *remembered; /* by members whose questions do, in order of their ids */
    size_t nremembered;
    const struct cdg_verdict *verdicts;
    size_t nverdicts;
    struct old *olds;
    size_t nolds, loading;
    bool want_source;        /* somebody's question is about the bytes of both versions */
    struct fault unreadable; /* code OK: it was readable */
    const char **frames;     /* is_new: the pages it shows in frames, each once */
    size_t nframes;
    bool is_incomplete;    /* they are not those it was put together of */
    struct store_key *key; /* is_new: of the page, for packing; NULL: not at hand */
    struct store_version_job job;
};

/* On the loop: gives a body to the page readers; visit_loaded is called when it was read. */
void visit_read_new(struct visit *v);
/* Of a stored version whose body was loaded: its text where somebody asks about it, and its
 * digest where `block` is NULL. */
void visit_read_old(struct old *o);
/* One of the things it waits for is there; with the last, it goes to the pool. */
void visit_loaded(struct visit *v);
/* Text that a reader decoded, as a source; NULL: there is none. */
const struct page_source *visit_text(struct visit *v, const struct buf *text);
/* On a pool thread: compares the new version for every stream, and hands the visit
 * back through the engine's inbox. */
void visit_compare(struct cdg_task *task);
/* On the loop: one transaction with all that was found; frees the visit when it is over. */
void visit_commit(struct visit *v);
void visit_free(struct visit *v);
struct stream *visit_stream(struct webpage *p, int64_t id); /* NULL: closed meanwhile */
/* Shows what a job recorded to whoever runs the engine. */
void visit_show(struct engine *e, const char *url, const struct store_version_job *job);

/* ---- tally.c: what a version job says of sentinels ------------------------------------ */

struct tally {
    struct store_change *changes;
    struct store_evaluation *evaluations;
    struct store_forget *forgets;
    struct store_constituent *constituents;
    struct store_note *notes;
    size_t nnotes, nchanges, nevaluations, nforgets, nconstituents;
};

struct tally tally_new(struct arena *a, size_t most); /* verdicts */
/* `tick`: the instant it counts for. */
void tally_verdict(struct tally *t, const struct cdg_verdict *verdict, msec tick);
void tally_evaluation(
        struct tally *t, int64_t sentinel_id, enum cdg_result result, const char *reason);
void tally_change(struct tally *t, const struct store_change *c);
void tally_forget(struct tally *t, int64_t sentinel_id, unsigned conjunct, msec before);
void tally_joint(struct tally *t, int64_t sentinel_id, const struct cdg_constituent *c,
        const struct cdg_joint_outcome *out, bool forbids);
void tally_note(struct tally *t, int64_t sentinel_id, const char *sentence);
void tally_into(const struct tally *t, struct store_version_job *job, struct arena *a);

/* ---- joint.c ---------------------------------------------------------------------------- */

/* Offers a verdict to the joint of its sentinel; then all that were touched conclude. */
void joint_offer(struct visit *v, struct tally *t, struct joint *j,
        const struct cdg_verdict *verdict, struct list *touched);
void joint_conclude(struct visit *v, struct tally *t, struct list *touched);
void joint_undo(struct visit *v, const struct cdg_verdict *verdict); /* it was refused */
