/* What a page reader gives up before it reads a byte.
 *
 * libxml2's authors advise against feeding it untrusted data, and a reader does little else.
 * So whoever takes a reader over must find that
 *  (1) a system call outside the short list below ends the process,
 *  (2) memory can be had, but none that can be executed, and not more than 512 MiB,
 *  (3) no file can be opened even if (1) should fail: an empty Landlock ruleset, where the
 *      kernel has Landlock, and no room for another descriptor, and
 *  (4) no program started from here could gain rights: no_new_privs.
 *
 * abort() is not on the list, since it could signal others: a failed CHECK dies of the first
 * call abort() makes, which is all the same to whoever started the reader.
 *
 * The filter is some thirty instructions of classic BPF written out below rather than made
 * by a library: the list is short, and it can be read here to the last jump.
 *
 * Sanitizers need address space without limit and calls of their own, so in their builds
 * (1) and (2) do not hold; the plain build is the one that is proved.
 */
#include "page/worker_int.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                     \
        __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#error "name the architecture as linux/audit.h does"
#endif

/* CPU_SECONDS is far more than a reader uses before it is replaced; it ends one that spins
 * where nobody watches it. */
enum { MEMORY_BYTES = 512 << 20, CPU_SECONDS = 300 };

bool page_worker_is_confined(void)
{
    return !HAS_SANITIZER;
}

static bool limit(int resource, rlim_t most)
{
    struct rlimit l = {most, most};
    return setrlimit((__rlimit_resource_t)resource, &l) == 0;
}

static bool set_limits(void)
{
    return limit(RLIMIT_NOFILE, WORKER_FD + 1) && limit(RLIMIT_NPROC, 0) &&
           limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_CPU, CPU_SECONDS) &&
           (HAS_SANITIZER || limit(RLIMIT_AS, MEMORY_BYTES)); /* (2) */
}

/* (3) A kernel without Landlock, or with it switched off, is no reason not to run: it is the
 * second lock on a door that the filter keeps shut. */
static bool shut_files(void)
{
    struct landlock_ruleset_attr all = {
            .handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    long fd = syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (fd < 0)
        return errno == ENOSYS || errno == EOPNOTSUPP;
    bool shut = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
    close((int)fd);
    return shut;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LET BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1) /* else skip one */
#define LET_IF(value) IF(value), LET
#define KILL_UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 1, 0), KILL

/* Small numbers only: the upper halves of 64-bit arguments are looked at where they count. */
static struct sock_filter rules[] = {LOAD(arch),
        KILL_UNLESS(THIS_ARCH), /* another ABI numbers its calls otherwise */
        LOAD(nr),               /* (1) */
        LET_IF(SYS_read), LET_IF(SYS_write),
        LET_IF(SYS_writev), /* on what is open: the socket, and nothing */
        LET_IF(SYS_brk), LET_IF(SYS_munmap), LET_IF(SYS_mremap), LET_IF(SYS_madvise),
        LET_IF(SYS_exit_group), LET_IF(SYS_exit), LET_IF(SYS_clock_gettime),
        LET_IF(SYS_futex),     /* the C library's own locks */
        KILL_UNLESS(SYS_mmap), /* the last that is allowed: (2) */
        LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), KILL, LET};

static bool shut_calls(void)
{
    struct sock_fprog program = {.len = countof(rules), .filter = rules};
    return HAS_SANITIZER || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum err sandbox_enter(struct fault *f)
{
    const char *what = "give up new rights";
    bool done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && /* (4) */
                prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
    if (done && !shut_files()) {
        what = "shut off files with Landlock";
        done = false;
    }
    if (done && !set_limits()) {
        what = "set its limits";
        done = false;
    }
    if (done && !shut_calls()) {
        what = "shut off system calls with seccomp";
        done = false;
    }
    if (done)
        return OK;
    fault_set(f, ERR_IO, "a page reader could not %s: %s", what, strerror(errno));
    fault_hint(f, "Pages are read only where the kernel can confine the reader: it needs "
                  "seccomp filters (CONFIG_SECCOMP_FILTER).");
    return ERR_IO;
}
