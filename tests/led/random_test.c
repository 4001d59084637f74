/* Random histories: against the oracle, and against the laws that hold between contexts.
 *
 * A round is a random expression over a random history with many ties.  The seed is printed
 * and may be given as LED_SEED, the number of rounds as LED_ROUNDS.
 */
#include "led/led.h"
#include "tests/led/oracle.h"
#include "tests/test.h"

enum { NAMES = 6, RAISES = 16 };

/* ---- chance ---- */

static uint64_t state;

static unsigned chance(unsigned below)
{
    state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ z >> 31) % below);
}

static void seed_start(const char *what)
{
    const char *given = getenv("LED_SEED");
    state = given ? strtoull(given, NULL, 10) : 20260101;
    printf("# %s: seed %" PRIu64 "\n", what, state);
}

static long rounds(long usual)
{
    const char *given = getenv("LED_ROUNDS");
    return given ? atol(given) : usual;
}

static int history_make(struct raise *h, int most, int names)
{
    int count = 2 + (int)chance((unsigned)most - 1);
    msec t = 1;
    for (int i = 0; i < count; i++) {
        t += chance(3);
        h[i] = (struct raise){t, (int)chance((unsigned)names)};
    }
    return count;
}

/* ---- running the detector ---- */

static void collect(void *arg, const struct led_occurrence *o)
{
    struct findings *out = arg;
    struct found f = {.start = o->start, .end = o->end};
    for (uint32_t i = 0; i < led_part_count(o); i++) {
        const struct led_occurrence *p = led_part(o, i);
        if (p->event)
            f.parts |= (uint64_t)1 << p->data;
        else
            f.ticks += p->end;
    }
    if (out->count == FOUND_MAX)
        out->overflowed = true;
    else
        out->list[out->count++] = f;
}

typedef struct led_event *make_fn(struct led *led, struct led_event **names, const void *how);

static void detect(make_fn *make, const void *how, enum led_context context,
        const struct raise *h, int raises, msec shift, struct findings *out)
{
    struct led *led = led_new(shift, shift);
    struct led_event *names[NAMES];
    for (int i = 0; i < NAMES; i++)
        names[i] = led_primitive(led, NULL);
    out->count = 0;
    out->overflowed = false;
    struct led_rule_spec spec = {.action = collect, .arg = out, .context = context};
    struct led_rule *rule;
    CHECK(led_rule_new(led, make(led, names, how), &spec, NULL, &rule) == OK);
    for (int i = 0; i < raises; i++) {
        led_advance(led, h[i].at + shift, h[i].at + shift);
        CHECK(led_raise(led, names[h[i].name], (uint64_t)i, NULL) == OK);
    }
    led_advance(led, h[raises - 1].at + 40 + shift, h[raises - 1].at + 40 + shift);
    led_free(led);
}

/* ---- comparing ---- */

static int by_content(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->parts != y->parts)
        return x->parts < y->parts ? -1 : 1;
    return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

static void sort(struct findings *f)
{
    qsort(f->list, (size_t)f->count, sizeof f->list[0], by_content);
}

static bool is_equal(struct findings *a, struct findings *b)
{
    sort(a);
    sort(b);
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (by_content(&a->list[i], &b->list[i]))
            return false;
    return true;
}

static bool is_subset(struct findings *a, struct findings *b)
{
    sort(a);
    sort(b);
    int j = 0;
    for (int i = 0; i < a->count; i++, j++) {
        while (j < b->count && by_content(&b->list[j], &a->list[i]) < 0)
            j++;
        if (j == b->count || by_content(&b->list[j], &a->list[i]))
            return false;
    }
    return true;
}

static bool uses_once(const struct findings *f)
{
    uint64_t seen = 0;
    for (int i = 0; i < f->count; i++) {
        if (seen & f->list[i].parts)
            return false;
        seen |= f->list[i].parts;
    }
    return true;
}

/* ---- the oracle ---- */

static struct expr *expr_make(struct expr *pool, int *used, int depth)
{
    static const int counts[O_OP_COUNT] = {0, 2, 2, 2, 3, 0, 3, 3};
    struct expr *e = &pool[(*used)++];
    *e = (struct expr){
            .op = depth == 0 || chance(3) == 0 ? O_NAME : 1 + chance(O_OP_COUNT - 1)};
    e->name = (int)chance(4);
    e->count = e->op == O_ANY ? 2 + (int)chance(2) : counts[e->op];
    e->m = 1 + (int)chance((unsigned)(e->count ? e->count : 1));
    for (int i = 0; i < e->count; i++)
        e->kid[i] = expr_make(pool, used, depth - 1);
    return e;
}

static struct led_event *expr_build(struct led *led, struct led_event **names, const void *how)
{
    const struct expr *e = how;
    struct led_event *k[4] = {NULL}, *out = NULL;
    for (int i = 0; i < e->count; i++) {
        k[i] = expr_build(led, names, e->kid[i]);
        if (!k[i])
            return NULL;
    }
    enum err err = OK;
    switch (e->op) {
    case O_NAME:
        out = names[e->name];
        break;
    case O_OR:
        err = led_or(led, k[0], k[1], NULL, &out);
        break;
    case O_AND:
        err = led_and(led, k[0], k[1], NULL, &out);
        break;
    case O_SEQ:
        err = led_seq(led, k[0], k[1], NULL, &out);
        break;
    case O_NOT:
        err = led_not(led, k[1], k[0], k[2], NULL, &out);
        break;
    case O_ANY:
        err = led_any(led, (unsigned)e->m, (unsigned)e->count, k, NULL, &out);
        break;
    case O_A:
        err = led_aperiodic(led, k[0], k[1], k[2], NULL, &out);
        break;
    case O_ASTAR:
        err = led_aperiodic_star(led, k[0], k[1], k[2], NULL, &out);
        break;
    case O_OP_COUNT:
        break;
    }
    return err ? NULL : out; /* equal operands may be refused */
}

static bool is_possible(const struct expr *e)
{
    struct led *led = led_new(0, 0);
    struct led_event *names[NAMES];
    for (int i = 0; i < NAMES; i++)
        names[i] = led_primitive(led, NULL);
    bool possible = expr_build(led, names, e) != NULL;
    led_free(led);
    return possible;
}

static void show(const struct expr *e)
{
    static const char *const ops[] = {"", "OR", "AND", "SEQ", "NOT", "ANY", "A", "A*"};
    if (e->op == O_NAME) {
        printf("%c", 'A' + e->name);
        return;
    }
    printf("%s(", ops[e->op]);
    if (e->op == O_ANY)
        printf("%d; ", e->m);
    for (int i = 0; i < e->count; i++) {
        printf("%s", i ? ", " : "");
        show(e->kid[i]);
    }
    printf(")");
}

static void show_round(const struct expr *e, const struct raise *h, int raises,
        const struct findings *want, const struct findings *got)
{
    printf("# ");
    show(e);
    printf(" over");
    for (int i = 0; i < raises; i++)
        printf(" %c@%" PRId64, 'A' + h[i].name, h[i].at);
    printf("\n# oracle %d, detector %d\n", want->count, got->count);
}

TEST(oracle, "unrestricted detections are exactly those the formulas demand")
{
    static struct findings want, got;
    long count = rounds(30000), compared = 0;
    seed_start("oracle");
    for (long i = 0; i < count && test_failures == 0; i++) {
        struct expr pool[200];
        struct raise h[RAISES];
        int used = 0, raises = history_make(h, 12, 4);
        struct expr *e = expr_make(pool, &used, 1 + (int)chance(3));
        if (!is_possible(e))
            continue;
        oracle_run(e, h, raises, &want);
        if (want.overflowed)
            continue;
        detect(expr_build, e, LED_UNRESTRICTED, h, raises, 0, &got);
        compared++;
        if (!is_equal(&want, &got)) {
            show_round(e, h, raises, &want, &got);
            EXPECT(is_equal(&want, &got));
        }
    }
    printf("# compared %ld\n", compared);
    EXPECT(compared > count / 2);
}

/* ---- laws between contexts ---- */

enum kind { OR, AND, SEQ, NOT, ANY2, ANY3, A, ASTAR, P, PSTAR, PLUS, AND_TURNED, KIND_COUNT };

static struct led_event *kind_make(struct led *led, struct led_event **n, const void *how)
{
    struct led_event *e = NULL;
    struct led_event *const three[] = {n[0], n[1], n[2]};
    enum err err = OK;
    switch (*(const enum kind *)how) {
    case OR:
        err = led_or(led, n[0], n[1], NULL, &e);
        break;
    case AND:
        err = led_and(led, n[0], n[1], NULL, &e);
        break;
    case AND_TURNED:
        err = led_and(led, n[1], n[0], NULL, &e);
        break;
    case SEQ:
        err = led_seq(led, n[0], n[1], NULL, &e);
        break;
    case NOT:
        err = led_not(led, n[2], n[0], n[1], NULL, &e);
        break;
    case ANY2:
        err = led_any(led, 2, 3, three, NULL, &e);
        break;
    case ANY3:
        err = led_any(led, 3, 3, three, NULL, &e);
        break;
    case A:
        err = led_aperiodic(led, n[0], n[1], n[2], NULL, &e);
        break;
    case ASTAR:
        err = led_aperiodic_star(led, n[0], n[1], n[2], NULL, &e);
        break;
    case P:
        err = led_periodic(led, n[0], 3, n[1], NULL, &e);
        break;
    case PSTAR:
        err = led_periodic_star(led, n[0], 3, n[1], NULL, &e);
        break;
    case PLUS:
        err = led_plus(led, n[0], 3, NULL, &e);
        break;
    case KIND_COUNT:
        break;
    }
    CHECK(err == OK);
    return e;
}

static struct findings in[KIND_COUNT][LED_CONTEXT_COUNT];

static void laws_of_contexts(const struct raise *h, int raises)
{
    for (enum kind k = OR; k < KIND_COUNT; k++)
        for (unsigned c = 0; c < LED_CONTEXT_COUNT; c++)
            detect(kind_make, &k, (enum led_context)c, h, raises, 0, &in[k][c]);
    for (enum kind k = OR; k < KIND_COUNT; k++) {
        EXPECT(is_subset(&in[k][LED_RECENT], &in[k][LED_UNRESTRICTED]));
        EXPECT(is_subset(&in[k][LED_CONTINUOUS], &in[k][LED_UNRESTRICTED]));
    }
    static const enum kind firsts[] = {OR, AND, SEQ, NOT};
    for (size_t i = 0; i < countof(firsts); i++)
        EXPECT(is_subset(&in[firsts[i]][LED_CHRONICLE], &in[firsts[i]][LED_UNRESTRICTED]));
    static const enum kind once[] = {AND, SEQ, NOT, ANY2, ANY3, A, ASTAR};
    for (size_t i = 0; i < countof(once); i++) {
        EXPECT(uses_once(&in[once[i]][LED_CUMULATIVE]));
        if (once[i] <= NOT)
            EXPECT(uses_once(&in[once[i]][LED_CHRONICLE]));
    }
    for (unsigned c = 0; c < LED_CONTEXT_COUNT; c++) {
        EXPECT(is_equal(&in[OR][c], &in[OR][LED_UNRESTRICTED]));
        EXPECT(is_equal(&in[AND][c], &in[AND_TURNED][c]));
    }
    EXPECT(is_subset(&in[SEQ][LED_UNRESTRICTED], &in[AND][LED_UNRESTRICTED]));
    EXPECT(is_subset(&in[NOT][LED_UNRESTRICTED], &in[SEQ][LED_UNRESTRICTED]));
    EXPECT(is_equal(&in[A][LED_CONTINUOUS], &in[A][LED_UNRESTRICTED]));
}

TEST(laws, "the contexts keep the laws that hold between them")
{
    long count = rounds(30000) / 5;
    seed_start("laws");
    for (long i = 0; i < count && test_failures == 0; i++) {
        struct raise h[RAISES];
        int raises = history_make(h, RAISES, 3);
        laws_of_contexts(h, raises);
    }
}

static void shifted_back(struct findings *f, msec by)
{
    for (int i = 0; i < f->count; i++) {
        f->list[i].start -= by;
        f->list[i].end -= by;
        f->list[i].ticks = 0; /* how many there are is in the interval */
    }
}

TEST(shift, "shifting all times shifts all results")
{
    static struct findings here, there;
    long count = rounds(30000);
    seed_start("shift");
    for (long i = 0; i < count && test_failures == 0; i++) {
        struct raise h[RAISES];
        int raises = history_make(h, RAISES, 3);
        enum kind k = (enum kind)chance(KIND_COUNT);
        enum led_context c = (enum led_context)chance(LED_CONTEXT_COUNT);
        msec by = (msec)chance(1000000) * 86400;
        detect(kind_make, &k, c, h, raises, 0, &here);
        detect(kind_make, &k, c, h, raises, by, &there);
        shifted_back(&here, 0);
        shifted_back(&there, by);
        EXPECT(is_equal(&here, &there));
    }
}

TEST(strangers, "events that match no operand change nothing")
{
    static struct findings without, with;
    long count = rounds(34000);
    seed_start("strangers");
    for (long i = 0; i < count && test_failures == 0; i++) {
        struct raise h[RAISES], clean[RAISES];
        int raises = history_make(h, RAISES, NAMES), kept = 0;
        enum kind k = (enum kind)chance(KIND_COUNT);
        enum led_context c = (enum led_context)chance(LED_CONTEXT_COUNT);
        uint64_t index[RAISES];
        for (int j = 0; j < raises; j++) {
            index[j] = (uint64_t)kept;
            if (h[j].name < 3 || j == raises - 1) /* the last one says how long we look */
                clean[kept++] = h[j];
        }
        detect(kind_make, &k, c, h, raises, 0, &with);
        detect(kind_make, &k, c, clean, kept, 0, &without);
        for (int j = 0; j < with.count; j++) {
            uint64_t parts = 0;
            for (int b = 0; b < raises; b++)
                if (with.list[j].parts >> b & 1)
                    parts |= (uint64_t)1 << index[b];
            with.list[j].parts = parts;
        }
        EXPECT(is_equal(&with, &without));
    }
}

TEST_MAIN()
