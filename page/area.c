/* Memory that a page reader shares with the side that started it: pages lie in it on their way
 * in, and answers on their way out, so that no byte of them goes through a socket's buffers,
 * and no system call is made for a page while both sides are awake.
 *
 * What a taken-over reader could do with it is write into it at any time.  So
 *  (1) whoever started the reader believes no byte there: it copies an answer out, head first,
 *      at a length that the checked copy of the head says, and checks that copy; what it has to
 *      remember of a page it keeps on its own side; and
 *  (2) nobody can make the area shorter, which would be the death of whoever reads there next.
 */
#include "page/worker_int.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

static int memory_file(void)
{
    static const char name[] = "vigil-reader";
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) /* an older kernel */
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd;
}

struct area *area_map(int fd)
{
    void *at = mmap(NULL, sizeof(struct area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

enum err area_new(struct fault *f, int *ret_fd, struct area **ret_area)
{
    int fd = memory_file();
    struct area *area = NULL;
    if (fd >= 0 && ftruncate(fd, sizeof *area) == 0 &&
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) /* (2) */
        area = area_map(fd);
    if (!area) {
        fault_set(f, ERR_IO, "no memory to share with a page reader: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_IO;
    }
    *ret_fd = fd;
    *ret_area = area;
    return OK;
}

void area_free(struct area *area)
{
    if (area)
        munmap(area, sizeof *area);
}

struct area_place area_place(struct area *area, unsigned slot)
{
    struct area_whole *w = &area->whole;
    if (slot == AREA_WHOLE)
        return (struct area_place){
                &w->answered, &w->head, w->answer, w->body, sizeof w->answer, sizeof w->body};
    struct area_slot *s = &area->slots[slot];
    return (struct area_place){
            &s->answered, &s->head, s->answer, s->body, sizeof s->answer, sizeof s->body};
}

void area_clear(struct area *area)
{
    (void)madvise(&area->whole, sizeof *area - offsetof(struct area, whole), MADV_REMOVE);
}
