/* sample -- a message like any other, for tests that change a thing or two in it. */
#pragma once
#include "notify/notify_int.h"

/* Settings like those of an operator who sends mail; `from` NULL: v@example.org. */
struct notify *sample_notify(struct arena *life, const char *from);

struct sample {
    struct notify_line lines[4];
    struct notify_part part;
    struct notify_item item; /* change 2 of the sentinel "s": one line inserted */
    struct notify_message m; /* key "k", by webhook */
};
void sample_init(struct sample *s);
