/*
 * cache_body - the bytes of an answer that is stored or being fetched. One
 * writer appends them, and readers follow, each at its own pace.
 *
 * A short body lies in memory, a longer one in a file, from which the kernel
 * sends by itself. The file has no name and lies in memory as well, or it is
 * the file of a spool, on a disk.
 *
 * A file in memory can also be mapped, and its bytes read in place. One mapping
 * serves all readers, from the first who wants it until the body goes. Neither
 * sendfile(2) from the file nor send(2) from the mapping is always the cheaper
 * way. CPU time of a small program that sends 10 MiB, in microseconds (Linux
 * 6.18):
 *                                                   sendfile(2)   send(2)
 *   a device that gathers pages and cuts segments         1,900     2,700
 *   a client on this machine, over loopback               2,000     1,050
 *
 * Over loopback sendfile(2) saves no copy, because the client copies the same
 * pages in turn, but costs the kernel some work for each page. TLS reads all
 * bytes anyway, and a mapping saves the pread(2). A body that is still being
 * filled is always sent from its file, even to clients on this machine: the
 * sockets of many readers then hold its pages and no copies.
 *
 * No mapped byte is touched before it was written, and no mapped file becomes
 * shorter: only this process has the file, and it makes holes only where all
 * readers have passed.
 *
 * A body that turns out to be longer than may be kept becomes a passing body:
 * only the bytes between the slowest reader and the writer are held then.
 *
 *   FILLING --> WHOLE      all bytes are there, and never change again
 *      |  '---> BROKEN     no more will come: readers break off
 *      +--> passing, while FILLING
 *
 * Thread: any; one writer. The mutex guards waits, readers and their places.
 *         The bytes up to cache_body_filled() can be read without it.
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
    CACHE_BODY_MAPS_MAX = 16384 /* most mappings; Linux allows 65530 */
};

enum cache_body_state {
    CACHE_BODY_FILLING,
    CACHE_BODY_WHOLE,
    CACHE_BODY_BROKEN
};

/* Counts of all bodies of a store. */
struct cache_body_counts {
    atomic_size_t files;      /* number of open files */
    atomic_size_t maps;       /* number of mapped files */
    _Atomic uint64_t filling; /* bytes set aside for unfinished bodies */
    _Atomic uint64_t whole;   /* bytes of memory that whole bodies take */
    struct cache_spooling *spooling; /* disk for long bodies; NULL: no disk */
};

struct cache_body; /* opaque */

/* A reader of a body that is still being filled. */
struct cache_reader {
    struct list list_node; /* private */
    bool is_mapped;        /* the reader wants the bytes of a file mapped */
    uint64_t at; /* offset of the next byte; guarded by the body's mutex */
};

/* Makes an empty body, whose length may be CACHE_LENGTH_UNKNOWN. `counts` is
 * borrowed. Returns NULL when memory or descriptors are short. */
MUST_USE struct cache_body *cache_body_create(uint64_t length,
                                              struct cache_body_counts *counts);
/* Makes a body of the file fd, which the body then owns. With is_whole readers
 * may have all bytes at once. Otherwise they get only the bytes that
 * cache_body_reveal() lets them have. Returns NULL when memory is short; the
 * caller then still owns fd. */
MUST_USE struct cache_body *cache_body_create_of(
    int fd, uint64_t length, bool is_whole, struct cache_body_counts *counts);
struct cache_body *cache_body_acquire(struct cache_body *body);
void cache_body_release(struct cache_body **body_ref);

/* --- For the writer ------------------------------------------------------ */

/* Appends data to the body. Returns false when there is no room for the data;
 * the caller then has to end the body. */
MUST_USE bool cache_body_put(struct cache_body *body, struct bytes data);

/* Appends the next len bytes of the pipe fd to the body, and returns what
 * cache_body_put() would return. */
MUST_USE bool cache_body_put_pipe(struct cache_body *body, int fd,
                                  uint64_t len);

/* Notes that many readers wait for the body and will join it. From then on
 * cache_body_is_crowded() is true. */
void cache_body_await_crowd(struct cache_body *body);

/* Ends the body: no more bytes follow. If is_whole is false, bytes are missing
 * and the body is broken. Otherwise the body is whole; a spooled body becomes
 * whole only when the spool has written all of it. */
void cache_body_end(struct cache_body *body, bool is_whole);

/* Lets readers have the first `filled` bytes of the body's file, because these
 * bytes have been checked. */
void cache_body_reveal(struct cache_body *body, uint64_t filled);

/* Takes the file of a spooled body that is whole. Only the first caller gets
 * the file. Returns NULL to all others, and also when a part of the body is not
 * in the file. To be called in the queue's thread. */
MUST_USE struct cache_file_writer *cache_body_take_file(struct cache_body
                                                            *body);

/* cache_body_is_spooled(): whether a spool brings, or has brought, the body to
 * a disk. cache_body_has_fallen(): whether a part of the body lies in memory
 * instead, because it did not get to the disk. */
bool cache_body_is_spooled(const struct cache_body *body);
bool cache_body_has_fallen(const struct cache_body *body);

/* Turns a body that is longer than may be kept into a passing body. Bytes that
 * all its readers have passed are given up. */
void cache_body_pass(struct cache_body *body);

/* Whether more bytes may be put into the body now. If not, `wait` is told as
 * soon as they may. */
bool cache_body_takes_more(struct cache_body *body, struct cache_wait *wait);

/* Whether anybody besides the writer and an entry holds the body. */
bool cache_body_is_wanted(const struct cache_body *body);

/* Whether the body is passing and has no reader. A client that holds the body
 * but has not joined it does not count, because the body's beginning may be
 * gone already. */
bool cache_body_is_forsaken(struct cache_body *body);

/* Cancels a wait of cache_body_takes_more() or cache_body_read(). */
void cache_body_cancel(struct cache_body *body, struct cache_wait *wait);

/* --- For readers --------------------------------------------------------- */

/* Begins to read at offset `at`. The caller has set reader->is_mapped. */
void cache_body_join(struct cache_body *body, struct cache_reader *reader,
                     uint64_t at);
void cache_body_leave(struct cache_body *body, struct cache_reader *reader);

/* Notes that the reader has sent the next len bytes. */
void cache_body_advance(struct cache_body *body, struct cache_reader *reader,
                        uint64_t len);

/* cache_body_note_begun() notes that a reader has its first bytes, or will get
 * none. cache_body_has_beginners(): whether any reader waits for its first
 * bytes. */
void cache_body_note_begun(struct cache_body *body);
bool cache_body_has_beginners(const struct cache_body *body);

/* Whether a reader that begins now can have the bytes from offset `at` on. A
 * passing body may have given them up. */
bool cache_body_has_from(struct cache_body *body, uint64_t at);

/* Whether the body has more than one reader, or will have more than one
 * (cache_body_await_crowd()). */
bool cache_body_is_crowded(struct cache_body *body);

/* Returns at most at_most of the next bytes for `reader`, as a part. The part
 * is empty when there are no bytes now. If *state_out is CACHE_BODY_FILLING
 * then, `wait` is told when there are more. In any other state no more will
 * come. */
struct part cache_body_read(struct cache_body *body,
                            struct cache_reader *reader, uint64_t at_most,
                            struct cache_wait *wait,
                            enum cache_body_state *state_out);

/* --- For anybody --------------------------------------------------------- */

enum cache_body_state cache_body_state_of(const struct cache_body *body);
uint64_t cache_body_filled(const struct cache_body *body);
/* Returns the length of the whole body; CACHE_LENGTH_UNKNOWN as long as nobody
 * knows it. */
uint64_t cache_body_length(const struct cache_body *body);

/* Returns a part of at most len bytes from offset `at` on. The body already has
 * these bytes. */
struct part cache_body_part(const struct cache_body *body, uint64_t at,
                            uint64_t len);

/* Does what cache_body_part() does. But if the body's file can be mapped, the
 * part is a PART_MEMORY that lies in the mapping. */
struct part cache_body_part_mapped(struct cache_body *body, uint64_t at,
                                   uint64_t len);

/* Return how many bytes the body occupies, and how many of them are memory. */
uint64_t cache_body_footprint(const struct cache_body *body);
uint64_t cache_body_memory(const struct cache_body *body);

/* Makes a copy of a whole body that takes no more room than the bytes need.
 * Returns NULL when the copy would save nothing, or memory is short. */
MUST_USE struct cache_body *cache_body_compact(const struct cache_body *body);

#endif
