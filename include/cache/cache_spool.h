/*
 * cache_spool - brings a body to a file on disk while the body comes: a worker
 * puts pieces, and the queue's thread writes them.
 *
 *   put --> pieces, of limited size in all --> file
 *                                         '--> memory: all that comes after the
 *                                              disk is full, or the body is not
 *                                              to be kept any more
 *
 * Thread: put, end, fall and is_full are for the worker that writes; take and
 *         the events for the queue's thread.
 * Owns:   pieces; the file, until it is taken.
 */
#ifndef CACHE_CACHE_SPOOL_H
#define CACHE_CACHE_SPOOL_H

#include "cache/cache_file.h"

enum {
    CACHE_SPOOL_PENDING_MAX = 1048576, /* most unwritten bytes of one body */
    CACHE_SPOOL_ALL_MAX = 67108864     /* most unwritten bytes of all bodies */
};

/* Where the spools write. */
struct cache_spooling {
    struct cache_folder *folder;
    struct cache_queue *queue;
    _Atomic uint64_t pending; /* unwritten bytes of all spools */
};

/* What the spool tells its owner. `context` is that of cache_spool_create(). */
struct cache_spool_events {
    /* Called when pieces begin to go to a file. fd belongs to the context from
     * then on. */
    void (*on_file)(void *context, int fd);
    /* Called when the bytes from offset `at` on begin to go to a file in
     * memory. fd belongs to the context from then on. */
    void (*on_fall)(void *context, int fd, uint64_t at);
    void (*on_written)(void *context, uint64_t written);
    void (*on_end)(void *context, bool is_whole);
    /* hold is called before the queue uses the spool, release afterwards. */
    void (*hold)(void *context);
    void (*release)(void *context);
};

struct cache_spool; /* opaque */

/* Returns NULL when memory is short. */
MUST_USE struct cache_spool *cache_spool_create(
    struct cache_spooling *spooling, const struct cache_spool_events *events,
    void *context);
/* Frees a spool that the queue does not use. NULL is accepted. */
void cache_spool_destroy(struct cache_spool *spool);

/* Adds a piece, a copy of data. Returns false when memory is short. */
MUST_USE bool cache_spool_put(struct cache_spool *spool, struct bytes data);
bool cache_spool_is_full(struct cache_spool *spool);
/* Ends the spool: no piece follows. */
void cache_spool_end(struct cache_spool *spool, bool is_whole);
/* Lets all that follows go into memory, because the body is not to be kept. */
void cache_spool_fall(struct cache_spool *spool);

/* Takes the file of a spool that has ended. Returns NULL when the spool has not
 * ended, when a part of the body is not in the file, or when the file has been
 * taken already. */
MUST_USE struct cache_file_writer *cache_spool_take(struct cache_spool *spool);

#endif
