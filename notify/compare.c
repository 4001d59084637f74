/* Two versions of a page as one list of lines, for looking at.
 *
 * Whether something changed was decided elsewhere, by what the sentinel asked; this only
 * lays the two texts beside each other.  Myers' greedy algorithm finds the shortest edit;
 * when the texts differ in more than EDITS_MAX lines, what is between equal ends counts as
 * replaced whole.  A line that went and one that came in the same place are one updated line
 * when they share enough words.
 */
#include "notify/notify_int.h"

enum { EDITS_MAX = 1000 };

struct texts {
    const struct notify_line *old, *now;
    long n, m; /* between equal ends */
};

static bool same(const struct notify_line *a, const struct notify_line *b)
{
    return a->shape == b->shape && strcmp(a->now, b->now) == 0;
}

/* ---- the shortest edit ---- */

/* Furthest points of each round, kept to walk back. */
struct rounds {
    long *at[EDITS_MAX + 1];
    long used;
};

static bool search(struct arena *life, const struct texts *t, struct rounds *r)
{
    long most = t->n + t->m < EDITS_MAX ? t->n + t->m : EDITS_MAX;
    long *v = arena_array_of(life, (size_t)(2 * most + 3), long);
    v += most + 1;
    for (long d = 0; d <= most; d++) {
        for (long k = -d; k <= d; k += 2) {
            bool down = k == -d || (k != d && v[k - 1] < v[k + 1]);
            long x = down ? v[k + 1] : v[k - 1] + 1, y = x - k;
            while (x < t->n && y < t->m && same(&t->old[x], &t->now[y])) {
                x++;
                y++;
            }
            v[k] = x;
            if (x >= t->n && y >= t->m) {
                r->used = d;
                r->at[d] = arena_memdup(life, v - d - 1, (size_t)(2 * d + 3) * sizeof *v);
                return true;
            }
        }
        r->at[d] = arena_memdup(life, v - d - 1, (size_t)(2 * d + 3) * sizeof *v);
    }
    return false;
}

/* Marks the lines that stay. */
static void walk_back(
        const struct texts *t, const struct rounds *r, bool *old_stays, bool *now_stays)
{
    long x = t->n, y = t->m;
    for (long d = r->used; d > 0; d--) {
        const long *v = r->at[d - 1] + d; /* v[k] of the round before, k from -d to d */
        long k = x - y;
        bool down = k == -d || (k != d && v[k - 1] < v[k + 1]);
        long before = down ? k + 1 : k - 1, px = v[before], py = px - before;
        while (x > px && y > py && x > 0 && y > 0 && (x > px + !down || y > py + down)) {
            old_stays[--x] = true;
            now_stays[--y] = true;
        }
        x = px;
        y = py;
    }
    while (x > 0 && y > 0) {
        old_stays[--x] = true;
        now_stays[--y] = true;
    }
}

/* ---- lines that are one ---- */

static size_t kept_bytes(const struct words *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += w->runs[i].changed ? 0 : w->runs[i].text.len;
    return n;
}

static bool is_update(const struct notify_line *old, const struct notify_line *now)
{
    if (old->shape != now->shape)
        return false;
    if (old->shape == NOTIFY_LINK || old->shape == NOTIFY_IMAGE)
        return true;
    SCRATCH struct arena *scratch = arena_new(NULL, "words");
    struct words a, b;
    words_compare(scratch, str_of(old->now), str_of(now->now), &a, &b);
    size_t longer = strlen(old->now) > strlen(now->now) ? strlen(old->now) : strlen(now->now);
    return kept_bytes(&b) * 3 >= longer;
}

static void put(struct notify_part *part, enum notify_mark mark, const struct notify_line *old,
        const struct notify_line *now)
{
    part->lines[part->nlines++] = (struct notify_line){
            .mark = mark,
            .shape = now ? now->shape : old->shape,
            .old = old ? old->now : NULL,
            .now = now ? now->now : NULL,
    };
}

/* A stretch of lines that went and one of lines that came, in the same place. */
static void put_stretch(struct notify_part *part, const struct notify_line *old, long n,
        const struct notify_line *now, long m)
{
    long i = 0, k = 0;
    while (i < n && k < m) {
        if (is_update(&old[i], &now[k]))
            put(part, NOTIFY_UPDATED, &old[i++], &now[k++]);
        else if (n - i >= m - k)
            put(part, NOTIFY_DELETED, &old[i++], NULL);
        else
            put(part, NOTIFY_INSERTED, NULL, &now[k++]);
    }
    while (i < n)
        put(part, NOTIFY_DELETED, &old[i++], NULL);
    while (k < m)
        put(part, NOTIFY_INSERTED, NULL, &now[k++]);
}

void notify_compare(struct arena *life, const struct notify_line *old, size_t nold,
        const struct notify_line *now, size_t nnow, struct notify_part *part)
{
    struct texts t = {old, now, (long)nold, (long)nnow};
    bool *old_stays = arena_array_of(life, nold + 1, bool);
    bool *now_stays = arena_array_of(life, nnow + 1, bool);
    long head = 0;
    part->lines = arena_array_of(life, nold + nnow + 1, struct notify_line);
    part->nlines = 0;
    while (head < t.n && head < t.m && same(&old[head], &now[head]))
        head++;
    while (t.n > head && t.m > head && same(&old[t.n - 1], &now[t.m - 1])) {
        t.n--;
        t.m--;
    }
    struct texts middle = {old + head, now + head, t.n - head, t.m - head};
    struct rounds *r = arena_new_of(life, struct rounds);
    if (search(life, &middle, r))
        walk_back(&middle, r, old_stays + head, now_stays + head);
    for (long i = 0; i < head; i++)
        put(part, NOTIFY_SAME, NULL, &now[i]);
    for (long i = head, k = head; i < t.n || k < t.m;) {
        long n = 0, m = 0;
        while (i + n < t.n && !old_stays[i + n])
            n++;
        while (k + m < t.m && !now_stays[k + m])
            m++;
        put_stretch(part, old + i, n, now + k, m);
        i += n;
        k += m;
        if (i < t.n && k < t.m)
            put(part, NOTIFY_SAME, NULL, &now[k]);
        i++;
        k++;
    }
    for (size_t k = (size_t)t.m; k < nnow; k++)
        put(part, NOTIFY_SAME, NULL, &now[k]);
}

static size_t count_words(struct str s)
{
    size_t n = 0;
    bool inside = false;
    for (size_t i = 0; i < s.len; i++) {
        bool space = s.ptr[i] == ' ' || s.ptr[i] == '\t';
        n += !space && !inside;
        inside = !space;
    }
    return n;
}

double notify_ratio(const struct notify_part *part)
{
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < part->nlines; i++) {
        const struct notify_line *l = &part->lines[i];
        size_t old = count_words(str_of(l->old)), now = count_words(str_of(l->now));
        if (l->mark == NOTIFY_SAME || l->mark == NOTIFY_MOVED || l->mark == NOTIFY_FOUND) {
            all += 2 * now;
            kept += now;
            continue;
        }
        all += old + now;
        if (l->mark != NOTIFY_UPDATED)
            continue;
        SCRATCH struct arena *scratch = arena_new(NULL, "words");
        struct words a, b;
        words_compare(scratch, str_of(l->old), str_of(l->now), &a, &b);
        for (size_t k = 0; k < b.n; k++)
            kept += b.runs[k].changed ? 0 : count_words(b.runs[k].text);
    }
    return all ? 1 - 2.0 * (double)kept / (double)all : 0;
}
