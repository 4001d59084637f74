/* Page readers: what they answer, what they cannot do, and what becomes of those that try.
 *
 * The program is its own reader: main() at the end.  A second hidden word makes it a reader
 * that has been taken over and tries something. */
#include "page/worker_int.h"
#include "tests/test.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <unistd.h>

static struct page_worker *started(void)
{
    struct fault f = {.code = OK};
    struct page_worker *w = NULL;
    if (page_worker_start(NULL, &f, &w) != OK)
        printf("# %s\n", f.message);
    return w;
}

/* A sanitizer makes everything slower; no test here waits for a deadline but where it says. */
enum { PATIENCE = 30000 };

static enum err read_page(struct page_worker *w, const char *type, const char *body, size_t len,
        struct buf *digest, struct fault *f, bool *alive)
{
    struct page_wish wish = {
            .source = {body, len, type, "http://a.example/dir/"}, .digest = digest};
    return page_worker_read(w, &wish, PATIENCE, f, alive);
}

TEST(same, "a reader's digest is the one made here, byte for byte, page after page")
{
    static const char *const pages[][2] = {
            {"text/html", "<!DOCTYPE html><title>T</title><p>one <b>two</b><a href=x>y</a><img "
                          "src=i.png>"},
            {"text/html; charset=shift_jis", "<p>\x93\xfa\x96\x7b\x8c\xea"},
            {"text/html; charset=iso-2022-jp", "<p>\x1b$BF|K\\8l\x1b(B"},
            {"text/html; charset=euc-kr", "<p>\xc7\xd1\xb1\xdb"},
            {"text/html; charset=big5", "<p>\xa4\xa4\xa4\xe5"},
            {"text/html; charset=gb2312", "<p>\xd6\xd0\xce\xc4"},
            {"text/html; charset=koi8-r", "<p>\xf0\xd2\xc9\xd7\xc5\xd4"},
            {"text/html; charset=windows-1258", "<p>\xd0\xf0"},
            {"text/html", "<meta charset=iso-8859-16><p>\xaa\xba"},
            {"application/xml", "<?xml version='1.0'?><a><b c='d'>e</b></a>"},
            {"application/xml", "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x SYSTEM "
                                "'file:///etc/passwd'>]><a>&x;</a>"},
            {"application/json", "{\"a\": [1, 2, {\"b\": null}]}"},
            {"text/plain", "line\nline two\n"},
            {"application/pdf", "%PDF\x01\x02"},
            {NULL, "<html><p>sniffed"},
            {"text/html", ""},
    };
    struct page_worker *w = started();
    REQUIRE(w);
    for (size_t i = 0; i < countof(pages); i++) {
        struct page_source src = {
                pages[i][1], strlen(pages[i][1]), pages[i][0], "http://a.example/dir/"};
        BUF(here, PAGE_DIGEST_MAX);
        BUF(there, PAGE_DIGEST_MAX);
        BUF(text_here, FRAME_TEXT_MAX);
        BUF(text_there, FRAME_TEXT_MAX);
        struct fault f = {.code = OK};
        bool alive = false;
        struct page_wish wish = {src, &there, &text_there};
        EXPECT(page_digest_make(&src, &here, &f) == OK);
        EXPECT(page_decode(&src, &text_here, &f, NULL) == OK);
        EXPECT_INT(page_worker_read(w, &wish, PATIENCE, &f, &alive), OK);
        if (!alive)
            printf("# page %zu: %s\n", i, f.message);
        REQUIRE(alive);
        EXPECT(here.len == there.len && memcmp(here.data, there.data, here.len) == 0);
        EXPECT_TEXT(buf_text(&text_there), buf_text(&text_here));
    }
    EXPECT_INT(page_worker_pages(w), countof(pages));
    page_worker_free(w);
}

TEST(large, "pages larger than any socket buffer go through")
{
    struct page_worker *w = started();
    REQUIRE(w);
    BUF(page, PAGE_BODY_MAX);
    for (int i = 0; i < 100000; i++)
        buf_printf(&page, "<p>paragraph %d of a long page</p>\n", i);
    for (int i = 0; i < 3; i++) {
        BUF(here, PAGE_DIGEST_MAX);
        BUF(there, PAGE_DIGEST_MAX);
        struct fault f = {.code = OK};
        struct page_source src = {page.data, page.len, "text/html", "http://a.example/dir/"};
        bool alive = false;
        EXPECT(page_digest_make(&src, &here, &f) == OK);
        EXPECT_INT(read_page(w, "text/html", page.data, page.len, &there, &f, &alive), OK);
        REQUIRE(alive);
        EXPECT(here.len == there.len && memcmp(here.data, there.data, here.len) == 0);
    }
    page_worker_free(w);
}

TEST(sorts, "large pages of every sort go through, whatever the C library does for them")
{
    static const struct {
        const char *type, *begin, *each, *end;
    } sorts[] = {
            {"text/html", "<ul>", "<li class=c%d id=i%d><a href=/%d?x>a%d</a><img src=%d.png>",
                    ""},
            {"application/xml", "<?xml version='1.0'?><r>",
                    "<a%d b%d='c%d'><d id='e%d'>text %d</d>&amp;</a%d>", "</r>"},
            {"application/json", "[", "{\"a%d\": [%d, %d.5, \"s%d\", null, {\"x\": %d}]},",
                    "{}]"},
            {"text/plain", "", "line %d of a long text with %d and %d and %d, %d, %d\n", ""},
            {"text/html; charset=shift_jis", "<p>",
                    "\x93\xfa\x96\x7b\x8c\xea %d %d %d %d %d<br>", ""},
            {"application/octet-stream", "\x01", "%d %d %d %d %d\x02\x03", ""},
    };
    for (size_t i = 0; i < countof(sorts); i++) {
        struct page_worker *w = started(); /* each one fresh, with nothing learnt yet */
        REQUIRE(w);
        BUF(page, PAGE_BODY_MAX);
        BUF(here, PAGE_DIGEST_MAX);
        BUF(there, PAGE_DIGEST_MAX);
        struct fault f = {.code = OK};
        bool alive = false;
        buf_puts(&page, sorts[i].begin);
        for (int k = 0; k < 8000; k++)
            buf_printf(&page, sorts[i].each, k, k, k, k, k, k);
        buf_puts(&page, sorts[i].end);
        struct page_source src = {page.data, page.len, sorts[i].type, "http://a.example/dir/"};
        EXPECT(page_digest_make(&src, &here, &f) == OK);
        EXPECT_INT(read_page(w, sorts[i].type, page.data, page.len, &there, &f, &alive), OK);
        if (!alive)
            printf("# %s: %s\n", sorts[i].type, f.message);
        EXPECT(here.len == there.len && memcmp(here.data, there.data, here.len) == 0);
        page_worker_free(w);
    }
}

/* Small pages lie where a large one lay: (1) of area.c is about what a reader wrote there, this
 * is about what the page itself brought. */
TEST(forged, "a large page that looks like answers to others is taken for none")
{
    enum { LARGE = 3 << 20, MANY = PAGE_WORKER_MOST };
    struct fault f = {.code = OK};
    bool alive = false;
    BUF(large, LARGE);
    BUF(wrong, PAGE_DIGEST_MAX);
    BUF(digest, PAGE_DIGEST_MAX);
    struct page_source other = {"<p>forged", 9, "text/html", "http://a.example/dir/"};
    struct page_worker *w = started();
    REQUIRE(w && page_digest_make(&other, &wrong, &f) == OK);
    REQUIRE(buf_reserve(&large, LARGE));
    memset(large.data, 'x', large.len = LARGE);
    size_t forged = 0;
    for (unsigned slot = 0; slot < AREA_SLOTS; slot++) {
        BUF(none, 1);
        size_t at = offsetof(struct area, slots) + slot * sizeof(struct area_slot);
        size_t body = offsetof(struct area, whole.body);
        uint64_t job = slot + 2; /* the large one is the first */
        struct frame_answer h;
        frame_answer_make(&h, job, &wrong, &none, &f, AREA_ANSWER_MAX);
        if (at < body || at - body + sizeof(struct area_slot) > LARGE)
            continue;
        memcpy(large.data + at - body, &job, sizeof job);
        memcpy(large.data + at - body + offsetof(struct area_slot, head), &h, sizeof h);
        memcpy(large.data + at - body + offsetof(struct area_slot, answer), wrong.data,
                wrong.len);
        forged++;
    }
    EXPECT(forged > 3);
    EXPECT(read_page(w, "text/plain", large.data, LARGE, &digest, &f, &alive) == OK && alive);
    struct page_wish wishes[MANY];
    struct buf answers[MANY];
    BUF(small, 128 << 10); /* but it takes a while */
    for (int i = 0; i < 4000; i++)
        buf_printf(&small, "<p class=%d>mine<b>%d</b>", i, i);
    for (size_t i = 0; i < MANY; i++) {
        buf_init(&answers[i], PAGE_DIGEST_MAX);
        wishes[i] = (struct page_wish){
                .source = {small.data, small.len, "text/html", "http://a.example/dir/"},
                .digest = &answers[i]};
        REQUIRE(page_worker_takes(w, &wishes[i]));
        (void)page_worker_give(w, &wishes[i]);
    }
    BUF(right, PAGE_DIGEST_MAX);
    REQUIRE(page_digest_make(&wishes[0].source, &right, &f) == OK);
    for (size_t i = 0; i < MANY;) {
        struct pollfd p = {page_worker_fd(w), POLLIN, 0};
        enum page_turn t = page_worker_turn(w, &f);
        REQUIRE(t != PAGE_TURN_DEAD);
        if (t == PAGE_TURN_READ)
            (void)poll(&p, 1, 1); /* before the next one can be answered */
        if (t == PAGE_TURN_DONE) {
            EXPECT(f.code == OK && answers[i].len == right.len &&
                    memcmp(answers[i].data, right.data, right.len) == 0);
            i++;
        }
    }
    for (size_t i = 0; i < MANY; i++)
        buf_done(&answers[i]);
    page_worker_free(w);
}

TEST(refused, "a page that breaks a limit is that page's fault, and the reader goes on")
{
    struct page_worker *w = started();
    REQUIRE(w);
    BUF(deep, 1 << 20);
    for (int i = 0; i < PAGE_DEPTH_MAX + 100; i++)
        buf_puts(&deep, "<div>");
    for (int i = 0; i < 3; i++) {
        BUF(digest, PAGE_DIGEST_MAX);
        struct fault f = {.code = OK}, here = {.code = OK};
        struct page_source src = {deep.data, deep.len, "text/html", NULL};
        bool alive = false;
        EXPECT_INT(page_digest_make(&src, &digest, &here), ERR_LIMIT);
        EXPECT_INT(
                read_page(w, "text/html", deep.data, deep.len, &digest, &f, &alive), ERR_LIMIT);
        EXPECT_TEXT(f.message, here.message);
        EXPECT_INT(digest.len, 0);
        REQUIRE(alive);
        EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), OK);
        REQUIRE(alive);
    }
    page_worker_free(w);
}

TEST(small, "a digest larger than was asked for is refused, whatever the reader says")
{
    struct page_worker *w = started();
    REQUIRE(w);
    BUF(digest, 100);
    struct fault f = {.code = OK};
    bool alive = true;
    EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), ERR_LIMIT);
    EXPECT(!alive);
    EXPECT_TEXT(f.message, "the page could not be read: the reader's answer is damaged");
    page_worker_free(w);
}

TEST(stopped, "a reader that does not answer in time is killed, and nothing is left of it")
{
    struct page_worker *w = started();
    REQUIRE(w);
    BUF(digest, PAGE_DIGEST_MAX);
    struct fault f = {.code = OK};
    bool alive = true;
    EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), OK);
    pid_t pid = page_worker_pid(w);
    kill(pid, SIGSTOP);
    struct page_wish wish = {.source = {"<p>y", 4, "text/html", NULL}, .digest = &digest};
    EXPECT_INT(page_worker_read(w, &wish, 200, &f, &alive), ERR_LIMIT);
    EXPECT(!alive);
    EXPECT_TEXT(f.message, "the page could not be read: the reader was killed after 200 ms");
    page_worker_free(w);
    EXPECT(kill(pid, 0) == -1 && errno == ESRCH);
}

TEST(killed, "a reader that dies says of what, for the page it had")
{
    struct page_worker *w = started();
    REQUIRE(w);
    BUF(digest, PAGE_DIGEST_MAX);
    struct fault f = {.code = OK};
    bool alive = true;
    EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), OK);
    kill(page_worker_pid(w), SIGSEGV);
    EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), ERR_LIMIT);
    EXPECT(!alive);
    if (page_worker_is_confined())
        EXPECT_TEXT(f.message,
                "the page could not be read: the reader died of signal 11, Segmentation fault");
    page_worker_free(w);
}

static bool has_processors(pid_t pid, const cpu_set_t *want)
{
    cpu_set_t has;
    return sched_getaffinity(pid, sizeof has, &has) == 0 && CPU_EQUAL(&has, want);
}

TEST(seats,
        "whoever waits for a page may use the same processors after it, and so may a reader")
{
    struct page_worker *w = started();
    REQUIRE(w);
    cpu_set_t all;
    BUF(digest, PAGE_DIGEST_MAX);
    BUF(large, PAGE_BODY_MAX);
    struct fault f = {.code = OK};
    bool alive = false;
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int i = 0; i < 200000; i++)
        buf_puts(&large, "<p>x</p>\n"); /* takes more than a moment */
    for (int i = 0; i < 3; i++) {
        EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), OK);
        EXPECT(has_processors(0, &all));
    }
    EXPECT_INT(read_page(w, "text/html", large.data, large.len, &digest, &f, &alive), OK);
    EXPECT(has_processors(0, &all) && has_processors(page_worker_pid(w), &all));
    EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), OK);
    struct page_wish wish = {.source = {"<p>y", 4, "text/html", NULL}, .digest = &digest};
    (void)page_worker_give(w, &wish); /* without waiting */
    EXPECT(has_processors(page_worker_pid(w), &all));
    page_worker_free(w);
    EXPECT(has_processors(0, &all));
}

TEST(missing, "a program that cannot be started is said so")
{
    struct fault f = {.code = OK};
    struct page_worker *w = NULL;
    EXPECT_INT(page_worker_start("/nowhere/vigil", &f, &w), ERR_IO);
    EXPECT(strstr(f.message, "/nowhere/vigil"));
    bool alive = true;
    REQUIRE(page_worker_start("/bin/true", &f, &w) == OK);
    BUF(digest, PAGE_DIGEST_MAX);
    EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), ERR_LIMIT);
    EXPECT(!alive);
    page_worker_free(w);
}

/* ---- S2: a reader that was taken over
 * --------------------------------------------------------- */

static void try_open(void)
{
    (void)!open("/etc/passwd", O_RDONLY);
}

static void try_connect(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(80)};
    (void)!connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to);
}

static void try_fork(void)
{
    if (fork() == 0)
        _exit(0);
}

static void try_execve(void)
{
    char name[] = "true";
    char *const argv[] = {name, NULL}, *const env[] = {NULL};
    execve("/bin/true", argv, env);
}

static void try_ptrace(void)
{
    (void)ptrace(PTRACE_ATTACH, getppid(), 0, 0);
}

static void try_environ(void)
{
    int fd = open("/proc/self/environ", O_RDONLY);
    char c;
    (void)!read(fd, &c, 1);
}

static void try_code(void)
{
    (void)mmap(
            NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void try_protect(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void try_kill(void)
{
    (void)kill(getppid(), 0);
}

static void try_limits(void)
{
    struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};
    (void)setrlimit(RLIMIT_AS, &l);
}

static const struct misdeed {
    const char *name;
    void (*run)(void);
} misdeeds[] = {{"open", try_open}, {"connect", try_connect}, {"fork", try_fork},
        {"execve", try_execve}, {"ptrace", try_ptrace}, {"environ", try_environ},
        {"code", try_code}, {"protect", try_protect}, {"kill", try_kill},
        {"limits", try_limits}};

enum { MISDEED_SURVIVED = 77 };

/* The very way a reader starts, then the deed. */
static int misdeed_main(const char *name)
{
    page_worker_enter();
    for (size_t i = 0; i < countof(misdeeds); i++)
        if (strcmp(name, misdeeds[i].name) == 0)
            misdeeds[i].run();
    _exit(MISDEED_SURVIVED);
}

static int status_of_misdeed(const char *name)
{
    int fds[2], area_fd, status = -1;
    char answer[4096];
    struct area *area;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    CHECK(area_new(NULL, &area_fd, &area) == OK);
    pid_t pid = fork();
    if (pid == 0) {
        char program[] = "/proc/self/exe", word[] = "--misdeed";
        CHECK(area_fd > WORKER_FD);
        dup2(fds[1], WORKER_FD);
        dup2(area_fd, WORKER_AREA_FD);
        if (area_fd == WORKER_AREA_FD)
            (void)fcntl(area_fd, F_SETFD, 0);
        closefrom(WORKER_AREA_FD + 1);
        execl(program, program, word, name, (char *)NULL);
        _exit(1);
    }
    close(fds[1]);
    close(area_fd);
    area_free(area);
    while (read(fds[0], answer, sizeof answer) > 0)
        ;
    close(fds[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

TEST(misdeeds,
        "a reader that opens, connects, forks, executes, traces or reads the environment dies")
{
    for (size_t i = 0; i < countof(misdeeds); i++) {
        int status = status_of_misdeed(misdeeds[i].name);
        if (!page_worker_is_confined())
            continue; /* a sanitizer's build is not the one that is proved */
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
            test_fail(__FILE__, __LINE__, "%s: status %x", misdeeds[i].name, (unsigned)status);
    }
    EXPECT_INT(WEXITSTATUS(status_of_misdeed("nothing")), MISDEED_SURVIVED);
}

TEST(environment, "a reader has no environment, no file but its socket, and little memory")
{
    char path[64], bytes[64];
    struct page_worker *w = started();
    REQUIRE(w);
    BUF(digest, PAGE_DIGEST_MAX);
    struct fault f = {.code = OK};
    bool alive = true;
    EXPECT_INT(read_page(w, "text/html", "<p>x", 4, &digest, &f, &alive), OK);
    int pid = page_worker_pid(w);
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    int fd = open(path, O_RDONLY);
    if (fd >= 0) { /* only root may look */
        EXPECT_INT(read(fd, bytes, sizeof bytes), 0);
        close(fd);
    }
    struct rlimit l;
    if (page_worker_is_confined() && prlimit(pid, RLIMIT_AS, NULL, &l) == 0)
        EXPECT_INT(l.rlim_max, 512 << 20);
    if (prlimit(pid, RLIMIT_NOFILE, NULL, &l) == 0)
        EXPECT_INT(l.rlim_max, WORKER_FD + 1);
    page_worker_free(w);
}

/* ---- frames from a reader gone mad
 * ------------------------------------------------------------ */

static bool is_taken(const void *bytes, size_t len, struct buf *digest, struct fault *f)
{
    struct frame_reader r;
    size_t room;
    char *at;
    frame_reader_init(&r, 7, digest, NULL, NULL, 0);
    for (size_t used = 0; used < len && (at = frame_reader_room(&r, &room));) {
        size_t n = len - used < room ? len - used : room;
        memcpy(at, (const char *)bytes + used, n);
        frame_reader_got(&r, n);
        used += n;
    }
    bool taken = r.is_whole && frame_reader_result(&r, f) == OK;
    frame_reader_done(&r);
    return taken;
}

TEST(frames,
        "an answer for another page, of the wrong length or with another word is not taken")
{
    BUF(digest, 1000);
    struct fault f = {.code = OK};
    struct {
        struct frame_answer h;
        char body[16];
    } a = {.body = "0123456789abcdef"};
    const struct buf sixteen = {.len = 16}, none = {0};
    frame_answer_make(&a.h, 7, &sixteen, &none, &f, 0);
    EXPECT(is_taken(&a, sizeof a, &digest, &f) && digest.len == 16);
    EXPECT(!is_taken(&a, sizeof a - 1, &digest, &f));

    struct frame_answer good = a.h;
    a.h.job = 8;
    EXPECT(!is_taken(&a, sizeof a, &digest, &f));
    a.h = good;
    a.h.magic ^= 1;
    EXPECT(!is_taken(&a, sizeof a, &digest, &f));
    a.h = good;
    a.h.digest_bytes = 1001;
    EXPECT(!is_taken(&a, sizeof a, &digest, &f));
    a.h.digest_bytes = UINT64_MAX;
    EXPECT(!is_taken(&a, sizeof a, &digest, &f));
    a.h = good;
    a.h.text_bytes = 1; /* was not asked for */
    EXPECT(!is_taken(&a, sizeof a, &digest, &f));
    a.h = good;
    a.h.code = ERR_COUNT;
    EXPECT(!is_taken(&a, sizeof a, &digest, &f));
}

TEST(words, "a reader's words reach people only as one line of text")
{
    BUF(digest, 1000);
    struct {
        struct frame_answer h;
        char words[8];
    } a;
    static const char *const bad[] = {"a\nbcdefg", "a\033[2Jxyz", "\xff\xfe\xfd....."};
    struct fault f = {.code = ERR_LIMIT, .message = "too deep"};
    const struct buf none = {0};
    frame_answer_make(&a.h, 7, &none, &none, &f, 0);
    memcpy(a.words, "too deep", 8);
    struct fault told = {.code = OK};
    EXPECT(!is_taken(&a, sizeof a, &digest, &told));
    EXPECT_INT(told.code, ERR_LIMIT);
    EXPECT_TEXT(told.message, "too deep");
    for (size_t i = 0; i < countof(bad); i++) {
        memcpy(a.words, bad[i], 8);
        EXPECT(!is_taken(&a, sizeof a, &digest, &told));
        EXPECT_TEXT(told.message, "the page could not be read, and the reader gave no reason");
    }
}

int main(int argc, char **argv)
{
    if (page_worker_is_asked(argc, argv))
        return page_worker_main();
    if (argc == 3 && strcmp(argv[1], "--misdeed") == 0)
        return misdeed_main(argv[2]);
    return test_run_all(argc, argv);
}
