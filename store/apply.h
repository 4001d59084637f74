/* apply -- what the files apply*.c share: jobs inside the transaction that is open. */
#pragma once
#include "store/store_int.h"

MUST_USE enum err apply_plan(struct conn *c, struct store_plan_job *job, msec now,
        struct arena *scratch, struct fault *f);

/* apply.c */
MUST_USE enum err apply_no_page(int64_t page_id, struct fault *f);
/* The columns of PAGES_SAW: those of the fetch by columns_page, then those of a version. */
enum { PAGE_COLUMNS = 14 };
void columns_page(struct columns *rows, const struct store_fetch_state *s);

/* apply_sight.c: what sentinels keep in mind */
MUST_USE enum err put_sights(struct conn *c, const struct store_sight *sights, size_t n,
        struct arena *scratch, struct fault *f);
MUST_USE enum err put_notes(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f);
MUST_USE enum err put_constituents(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f);

/* apply_create.c: what definitions bring, of as many steps as stand in a row */
MUST_USE enum err create_sentinels(struct conn *c, struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f);
MUST_USE enum err put_pages(struct conn *c, struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f);
MUST_USE enum err put_places(struct conn *c, const struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f);
MUST_USE enum err put_tells(struct conn *c, const struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f);
/* apply_taken_up.c: into job->life; `all`: it is not known of which steps */
MUST_USE enum err find_taken_up(struct conn *c, struct store_plan_job *job, bool all,
        struct arena *scratch, struct fault *f);
/* apply_plan.c */
MUST_USE enum err name_taken(const char *name, struct fault *f);
