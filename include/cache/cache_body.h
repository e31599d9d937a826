/*
 * cache_body - the bytes of an answer that is kept, or is just being fetched:
 * one writes, others read along at their own pace.
 *
 * What is short lies in memory; else in a file, from which the kernel sends by
 * itself: one without a name, in memory as well, or that of a spool, on a disk.
 *
 * A file in memory can be read in place, too: it is mapped when somebody first
 * wants that, once for all readers, as long as there is the body. Both ways
 * exist because neither is the better one. The sender's CPU for 10 MiB in a
 * small program, sendfile(2) from the file against send(2) from its mapping
 * (Linux 6.18, microseconds):
 *
 *   a device that gathers pages and cuts segments   1,900 / 2,700
 *   a client on this machine, over loopback         2,000 / 1,050
 *
 * Over loopback nothing is gained by not copying, for the client copies the
 * same pages in turn, and what the kernel does for each page in sendfile(2) is
 * lost. TLS reads all of it anyway: from a mapping it saves the pread(2). A
 * body that is still being filled goes to clients on this machine by file all
 * the same, so that the sockets of a crowd hold its pages and no copies.
 *
 * No mapped byte is touched that has not been written, and no such file becomes
 * shorter: this process alone has it, and makes holes only in what all readers
 * have behind them.
 *
 * A body that turns out to be longer than may be kept passes: only what is
 * between the slowest reader and the writer is held then.
 *
 *   FILLING --> WHOLE      all of it is there, and never changes again
 *      |  '---> BROKEN     no more will come: readers break off
 *      +--> passing, while FILLING
 *
 * Thread: any; one writer. The mutex guards waits, readers and what they say;
 *         the bytes up to cache_body_filled() are there for all.
 * Owns:   memory or file. Counted.
 */
#ifndef CACHE_CACHE_BODY_H
#define CACHE_CACHE_BODY_H

#include <stdatomic.h>

#include "cache/cache_port.h"
#include "cache/cache_spool.h"
#include "http/body.h"

#define CACHE_LENGTH_UNKNOWN UINT64_MAX

enum {
    CACHE_BODY_MEMORY_MAX = 65536, /* a longer body lies in a file */
    CACHE_BODY_PASSING_MAX = 1048576,
    CACHE_BODY_MAPS_MAX = 16384 /* mappings; a process may have 65530 */
};

enum cache_body_state {
    CACHE_BODY_FILLING,
    CACHE_BODY_WHOLE,
    CACHE_BODY_BROKEN
};

/* Of all bodies of a store. */
struct cache_body_counts {
    atomic_size_t files;      /* open files */
    atomic_size_t maps;       /* mapped files */
    _Atomic uint64_t filling; /* bytes set aside for bodies not whole yet */
    _Atomic uint64_t whole;   /* memory of whole bodies, kept or only read */
    struct cache_spooling *spooling; /* where long bodies go; NULL: memory */
};

struct cache_body; /* opaque */

/* A reader of a body that is still being filled. */
struct cache_reader {
    struct list list_node; /* private */
    bool is_mapped;        /* wants bytes of a file by its mapping */
    uint64_t at; /* bytes before it have been sent; the mutex guards it */
};

/* Makes an empty body; its length may be CACHE_LENGTH_UNKNOWN. counts is
 * borrowed. NULL: no memory, or no descriptor. */
MUST_USE struct cache_body *cache_body_create(uint64_t length,
                                              struct cache_body_counts *counts);
/* Makes a body of a file, which it owns from then on. Readers get all of it
 * when is_whole, else what cache_body_reveal() has let them have. NULL: no
 * memory. */
MUST_USE struct cache_body *cache_body_create_of(
    int fd, uint64_t length, bool is_whole, struct cache_body_counts *counts);
struct cache_body *cache_body_acquire(struct cache_body *body);
void cache_body_release(struct cache_body **body_ref);

/* --- The writer's -------------------------------------------------------- */

/* Puts data behind what is there. False: there is no room for it, and the body
 * is to be ended. */
MUST_USE bool cache_body_put(struct cache_body *body, struct bytes data);

/* Does so with len bytes out of a pipe. */
MUST_USE bool cache_body_put_pipe(struct cache_body *body, int fd,
                                  uint64_t len);

/* Tells the body that others wait for it, and will join. */
void cache_body_await_crowd(struct cache_body *body);

/* Ends the body: nothing follows. A body that is spooled is whole as soon as
 * all of it is written. */
void cache_body_end(struct cache_body *body, bool is_whole);

/* Lets readers have the first filled bytes of a file: these have been checked.
 */
void cache_body_reveal(struct cache_body *body, uint64_t filled);

/* Takes the file of a body that was spooled and is whole. The first caller gets
 * it, all others get NULL. It is called in the queue's thread. */
MUST_USE struct cache_file_writer *cache_body_take_file(struct cache_body
                                                            *body);

/* Whether the body is on its way to a disk, or was; and whether it did not get
 * there. */
bool cache_body_is_spooled(const struct cache_body *body);
bool cache_body_has_fallen(const struct cache_body *body);

/* The body turns out to be longer than may be kept: from now on its bytes are
 * given up behind the slowest reader. */
void cache_body_pass(struct cache_body *body);

/* Whether more may be put; else wait is told when it may. */
bool cache_body_takes_more(struct cache_body *body, struct cache_wait *wait);

/* Whether anybody besides the writer and an entry holds the body. */
bool cache_body_is_wanted(const struct cache_body *body);

/* Whether the body only passes and nobody reads it: others that hold it have no
 * place in it to wait at, and would not find its beginning. */
bool cache_body_is_forsaken(struct cache_body *body);

void cache_body_cancel(struct cache_body *body, struct cache_wait *wait);

/* --- Readers' ------------------------------------------------------------ */

/* Begins to read at at; the caller has set reader->is_mapped. */
void cache_body_join(struct cache_body *body, struct cache_reader *reader,
                     uint64_t at);
void cache_body_leave(struct cache_body *body, struct cache_reader *reader);

/* Notes that the next len bytes have been sent. */
void cache_body_advance(struct cache_body *body, struct cache_reader *reader,
                        uint64_t len);

/* Notes that a reader which has joined has its first bytes, or does without.
 * cache_body_has_beginners(): whether some reader has none yet. */
void cache_body_note_begun(struct cache_body *body);
bool cache_body_has_beginners(const struct cache_body *body);

/* Whether the bytes from at on are there for a reader that begins now: of a
 * body that only passes some may have been given up. */
bool cache_body_has_from(struct cache_body *body, uint64_t at);

/* Whether more than one reads it, or is about to. */
bool cache_body_is_crowded(struct cache_body *body);

/* What is there for reader from its place on. Its len is 0: nothing, and wait
 * is told when that changes, unless *state_out says that it never will. */
struct part cache_body_read(struct cache_body *body,
                            struct cache_reader *reader, uint64_t at_most,
                            struct cache_wait *wait,
                            enum cache_body_state *state_out);

/* --- Anybody's ----------------------------------------------------------- */

enum cache_body_state cache_body_state_of(const struct cache_body *body);
uint64_t cache_body_filled(const struct cache_body *body);
/* How long the whole body is; CACHE_LENGTH_UNKNOWN until that is known. */
uint64_t cache_body_length(const struct cache_body *body);

/* A part of len bytes from at on, which are there. */
struct part cache_body_part(const struct cache_body *body, uint64_t at,
                            uint64_t len);

/* The same part, from the mapping where there can be one: PART_MEMORY. */
struct part cache_body_part_mapped(struct cache_body *body, uint64_t at,
                                   uint64_t len);

/* How many bytes the body occupies; and how many of these are memory. */
uint64_t cache_body_footprint(const struct cache_body *body);
uint64_t cache_body_memory(const struct cache_body *body);

/* Copies a whole body into no more room than it needs. NULL: nothing would be
 * gained, or there is no memory. */
MUST_USE struct cache_body *cache_body_compact(const struct cache_body *body);

#endif
