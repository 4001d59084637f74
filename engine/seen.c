/* Positions: which versions of a page were seen, one after the other.
 *
 * Whoever compares with more than the version before counts what he sees himself: the
 * versions 4, 7 and 9 of a page can be his first, second and third.  The list holds the
 * newest of them; a version nobody will compare with any more may stand there as 0, so that
 * the others keep their distance.
 */
#include "engine/directory.h"
#include <stdlib.h>

void seen_done(struct seen *s)
{
    free(s->all);
    *s = (struct seen){.all = NULL};
}

static void make_room(struct seen *s, size_t count)
{
    if (count <= s->cap)
        return;
    size_t cap = count < 8 ? 8 : 2 * count;
    s->all = realloc(s->all, cap * sizeof *s->all);
    CHECK(s->all);
    s->cap = cap;
}

void seen_push(struct seen *s, int64_t version)
{
    make_room(s, s->count + 1);
    s->all[s->count++] = version;
}

void seen_keep(struct seen *s, size_t most)
{
    if (s->count <= most)
        return;
    memmove(s->all, s->all + (s->count - most), most * sizeof *s->all);
    s->count = most;
}

int64_t seen_at(const struct seen *s, size_t back)
{
    return back < s->count ? s->all[s->count - 1 - back] : 0;
}

bool seen_agrees(const struct seen *s, const struct seen *other)
{
    size_t both = s->count < other->count ? s->count : other->count;

    for (size_t back = 0; back < both; back++) {
        int64_t a = seen_at(s, back), b = seen_at(other, back);
        if (a && b && a != b)
            return false;
    }
    return true;
}

void seen_merge(struct seen *s, const struct seen *other)
{
    make_room(s, other->count);
    if (other->count > s->count) {
        size_t older = other->count - s->count;
        memmove(s->all + older, s->all, s->count * sizeof *s->all);
        memset(s->all, 0, older * sizeof *s->all);
        s->count = other->count;
    }
    for (size_t back = 0; back < other->count; back++) {
        int64_t *mine = &s->all[s->count - 1 - back];
        if (!*mine)
            *mine = seen_at(other, back);
    }
}

void sight_begin(struct sight *s, int64_t version)
{
    seen_done(&s->seen);
    free(s->answers);
    *s = (struct sight){.base_version = version, .last_version = version};
}

void sight_copy(struct sight *s, const struct sight *from)
{
    sight_begin(s, from->base_version);
    s->last_version = from->last_version;
    seen_merge(&s->seen, &from->seen);
    s->answers = from->answers ? strdup(from->answers) : NULL;
    CHECK(!from->answers || s->answers);
}
