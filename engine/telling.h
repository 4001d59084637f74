/* telling -- from a definition and the settings to whom, how and when. */
#pragma once
#include "engine/settings.h"
#include "grammar/grammar.h"
#include "notify/notify.h"
#include "store/store.h"

/* Fills what the store is to know about telling. */
void telling_fill(struct arena *life, const struct settings *s,
        const struct grammar_definition *d, struct store_step *step);

/* Can these settings reach everybody the definition names?  The fault says what is missing. */
MUST_USE enum err telling_check(
        const struct settings *s, const struct grammar_notify *n, struct fault *f);

/* A notify of these settings; `carrier` NULL: only to ask it and to render. */
MUST_USE enum err telling_notify(struct arena *life, const struct settings *s,
        const char *instance, const struct notify_carrier *carrier, struct fault *f,
        struct notify **ret_notify);

/* Does a user get one message of all their sentinels? */
bool telling_is_combined(const struct settings *s);

/* What the operator wants told of everything. */
size_t telling_always(const struct settings *s, struct store_tell tells[2]);

/* A secret's value: the setting's text, or the first line of the file it names with @. */
MUST_USE enum err telling_secret(struct arena *life, const struct settings *s,
        enum setting which, struct fault *f, const char **ret_value);

/* ---- detail.c: what was found, as lines ---- */

struct store_owed;

/* Fills the item's parts from the detail JSON of a change. */
void detail_parts(struct arena *life, const char *detail, struct notify_item *item);
/* A row of the outbox as notify wants it. */
void detail_item(struct arena *life, const struct store_owed *o, struct notify_item *ret);
