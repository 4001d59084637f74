/* worker -- page readers: child processes in which what a server sent is parsed.
 *
 * A reader is this same program started again with a hidden word on its command line, an
 * empty environment and one socket.  It confines itself before it reads a byte: no files, no
 * network, no new processes, a dozen system calls, 512 MiB.  It reads one page after the
 * other and answers each with a digest; a page that makes it crash or dawdle costs that reader
 * and an error of that page, nothing else.
 *
 * A few pages may be given at once, so that a reader need not wait for the next one: it takes
 * them in order, and the oldest is always the one it is at, and the one to blame if it dies.
 * Those it has not begun with can be taken back.
 *
 * The answer is believed in nothing: its lengths are checked here, a digest is to be opened
 * with page_digest_open, which checks its bounds, and text is to be checked for UTF-8.  An
 * answer that does not belong to the page that was given is a reader gone mad.
 *
 * Nothing here waits but page_worker_read.  One thread at a time for each worker; it should be
 * the one that started it, or one that lives as long, since a reader dies with that thread.
 */
#pragma once
#include "base/time.h"
#include "page/page.h"

/* The hidden word.  A program that starts readers asks first thing in main():
 *     if (page_worker_is_asked(argc, argv))
 *         return page_worker_main(); */
#define PAGE_WORKER_WORD "--page-reader"

bool page_worker_is_asked(int argc, char **argv);
int page_worker_main(void);
/* What page_worker_main does before its first page; ends the process when it cannot. */
void page_worker_enter(void);

/* Whether readers of this build are fully confined.  Under a sanitizer, which needs system
 * calls and address space of its own, they are only cut off from files. */
bool page_worker_is_confined(void);

struct page_worker;

/* `program` NULL: this one.  Does not wait for it to come up. */
MUST_USE enum err page_worker_start(
        const char *program, struct fault *f, struct page_worker **ret_worker);
/* Kills it, whatever it does, and leaves nothing behind.  NULL is fine.  A reader with much
 * memory takes a while to die; where that matters it is killed first, and freed when its
 * descriptor says that it is gone. */
void page_worker_free(struct page_worker *w);
void page_worker_kill(struct page_worker *w);
bool page_worker_is_gone(struct page_worker *w);

int page_worker_fd(const struct page_worker *w); /* to wait on */
int page_worker_pid(const struct page_worker *w);
bool page_worker_is_up(const struct page_worker *w); /* and confined: time counts from here */
uint64_t page_worker_pages(const struct page_worker *w); /* it has read so far */

/* What is wanted of a page; a NULL is not wanted. */
struct page_wish {
    struct page_source source; /* borrowed until it is over */
    struct buf *digest;        /* filled; its maximum bounds what is taken */
    struct buf *text;          /* the decoded source, as page_decode gives it */
};

enum { PAGE_WORKER_MOST = 16 }; /* pages that one reader can have at a time */

/* Whether it can be given this one now.  What is not small is read alone: others would wait
 * for it who knows how long. */
bool page_worker_takes(const struct page_worker *w, const struct page_wish *wish);

enum page_turn {
    PAGE_TURN_WRITE, /* more of the page can be handed over when the socket takes it */
    PAGE_TURN_READ,  /* the answer, or word that it is up, is still to come */
    PAGE_TURN_DONE,  /* the oldest is answered: `f` says OK or what is wrong with the page */
    PAGE_TURN_DEAD,  /* the reader is of no use any more; `f` says why.  Free it. */
};

/* One that it takes; the wish must stay until it is over.  Says what to wait for: WRITE or
 * READ. */
enum page_turn page_worker_give(struct page_worker *w, const struct page_wish *wish);

/* Goes on as far as it can without waiting, to the end of the oldest page at most: after a DONE
 * of a page another turn is due at once, for there may be more, and no other sign of it.  With
 * nothing given: READ until the reader is up and confined, DONE once it is. */
enum page_turn page_worker_turn(struct page_worker *w, struct fault *f);

/* Takes back the newest of those that the reader has not begun with, and says how many; they
 * are as if they had never been given.  The oldest always stays.  If there were any, the reader
 * takes no others until it is through with those it has: it is at something long. */
unsigned page_worker_take_back(struct page_worker *w);

/* A reader keeps the memory that a large page needed, for the next one is much cheaper then.
 * When none has come for a while it should be told to give it back; it must have no page. */
bool page_worker_wants_rest(const struct page_worker *w);
void page_worker_rest(struct page_worker *w);

/* Looks after the page that the reader is at, `spent` since its turn came, and says in how long
 * to look again; 0: its time is over.  Time that a reader had to wait for a processor is not
 * counted, within reason, if somebody looks PAGE_WORKER_LOOK_MSEC after the beginning. */
enum { PAGE_WORKER_LOOK_MSEC = 10 };
msec page_worker_look(struct page_worker *w, msec spent, msec deadline);

/* How long a reader may take to come up, on a machine that is very busy. */
enum { PAGE_WORKER_START_MSEC = 20000 };

/* The whole of it for programs without a loop: waits until the reader is up, then as long as
 * page_worker_look lets it.  Meanwhile both may be bound to one processor.  A false
 * `*ret_alive` means that the reader must be freed. */
MUST_USE enum err page_worker_read(struct page_worker *w, const struct page_wish *wish,
        msec deadline, struct fault *f, bool *ret_alive);

/* How a killing is told to people: "the page could not be read: the reader was killed after
 * 2 s". */
void page_worker_overran(msec deadline, struct fault *f);
/* One that did not even come up; no page is to blame. */
void page_worker_did_not_start(struct fault *f);
