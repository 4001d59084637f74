/* What differs inside two lines, word by word.
 *
 * The longest common sequence of words stays, the rest is changed.  Lines of more words than
 * a table can hold are compared from both ends only: what is between is changed.
 */
#include "notify/notify_int.h"

enum { TABLE_WORDS = 600 };

struct list_of {
    struct str *at;
    size_t n;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct list_of split(struct arena *life, struct str s)
{
    struct list_of l = {arena_array_of(life, s.len + 1, struct str), 0};
    for (size_t i = 0; i < s.len;) {
        size_t n = 0;
        while (i + n < s.len && !is_space(s.ptr[i + n]))
            n++;
        while (i + n < s.len && is_space(s.ptr[i + n]))
            n++;
        l.at[l.n++] = (struct str){s.ptr + i, n};
        i += n;
    }
    return l;
}

static bool same(struct str a, struct str b)
{
    return str_equal(str_trim(a), str_trim(b));
}

/* Marks what is kept; `a` and `b` are what is left between equal ends. */
static void mark_kept(
        struct arena *life, struct list_of a, struct list_of b, bool *kept_a, bool *kept_b)
{
    if (!a.n || !b.n || a.n > TABLE_WORDS || b.n > TABLE_WORDS)
        return;
    size_t wide = b.n + 1;
    unsigned short *best = arena_array_of(life, (a.n + 1) * wide, unsigned short);
    for (size_t i = a.n; i-- > 0;)
        for (size_t k = b.n; k-- > 0;) {
            unsigned short down = best[(i + 1) * wide + k], right = best[i * wide + k + 1];
            best[i * wide + k] = same(a.at[i], b.at[k])
                                         ? (unsigned short)(best[(i + 1) * wide + k + 1] + 1)
                                 : down > right ? down
                                                : right;
        }
    for (size_t i = 0, k = 0; i < a.n && k < b.n;) {
        if (same(a.at[i], b.at[k])) {
            kept_a[i++] = kept_b[k++] = true;
        } else if (best[(i + 1) * wide + k] >= best[i * wide + k + 1]) {
            i++;
        } else {
            k++;
        }
    }
}

static void gather(struct arena *life, struct list_of l, const bool *kept, struct words *ret)
{
    ret->runs = arena_array_of(life, l.n + 1, struct words_run);
    ret->n = 0;
    for (size_t i = 0; i < l.n; i++) {
        struct words_run *last = ret->n ? &ret->runs[ret->n - 1] : NULL;
        if (last && last->changed == !kept[i])
            last->text.len += l.at[i].len;
        else
            ret->runs[ret->n++] = (struct words_run){l.at[i], !kept[i]};
    }
}

void words_compare(struct arena *life, struct str old, struct str now, struct words *ret_old,
        struct words *ret_now)
{
    struct list_of a = split(life, old), b = split(life, now);
    bool *kept_a = arena_array_of(life, a.n + 1, bool);
    bool *kept_b = arena_array_of(life, b.n + 1, bool);
    size_t head = 0, tail = 0;
    while (head < a.n && head < b.n && same(a.at[head], b.at[head])) {
        kept_a[head] = kept_b[head] = true;
        head++;
    }
    while (head + tail < a.n && head + tail < b.n &&
            same(a.at[a.n - 1 - tail], b.at[b.n - 1 - tail])) {
        kept_a[a.n - 1 - tail] = kept_b[b.n - 1 - tail] = true;
        tail++;
    }
    mark_kept(life, (struct list_of){a.at + head, a.n - head - tail},
            (struct list_of){b.at + head, b.n - head - tail}, kept_a + head, kept_b + head);
    gather(life, a, kept_a, ret_old);
    gather(life, b, kept_b, ret_now);
}
