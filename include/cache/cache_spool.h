/*
 * cache_spool - the way of a body to a file on disk, while it comes: a worker
 * puts pieces, the queue's thread writes them.
 *
 *   put --> pieces, at most so many bytes --> file
 *                                        '--> memory, from where the disk was
 *                                             full, or no more is to be kept
 *
 * Thread: put, end, fall and is_full the writing worker's; events and take the
 *         queue's thread's.
 * Owns:   pieces; the file, until it is taken.
 */
#ifndef CACHE_CACHE_SPOOL_H
#define CACHE_CACHE_SPOOL_H

#include "cache/cache_file.h"

enum {
    CACHE_SPOOL_PENDING_MAX = 1048576, /* unwritten bytes of one body */
    CACHE_SPOOL_ALL_MAX = 67108864     /* and of all; each may have some */
};

/* Where the spools write. */
struct cache_spooling {
    struct cache_folder *folder;
    struct cache_queue *queue;
    _Atomic uint64_t pending; /* of all spools, in bytes */
};

/* What the spool tells its owner; context is what was given at creation. */
struct cache_spool_events {
    /* The pieces are written to that file; the descriptor is the context's. */
    void (*on_file)(void *context, int fd);
    /* The bytes from at on lie in that file; the descriptor is the context's,
     * too. */
    void (*on_fall)(void *context, int fd, uint64_t at);
    void (*on_written)(void *context, uint64_t written);
    void (*on_end)(void *context, bool is_whole);
    /* Between these two calls the queue uses the spool. */
    void (*hold)(void *context);
    void (*release)(void *context);
};

struct cache_spool; /* opaque */

/* NULL: no memory. */
MUST_USE struct cache_spool *cache_spool_create(
    struct cache_spooling *spooling, const struct cache_spool_events *events,
    void *context);
/* Frees a spool that the queue does not use. NULL is accepted. */
void cache_spool_destroy(struct cache_spool *spool);

/* Adds a piece, a copy of data. False: no memory. */
MUST_USE bool cache_spool_put(struct cache_spool *spool, struct bytes data);
bool cache_spool_is_full(struct cache_spool *spool);
/* Ends the spool: no piece follows. */
void cache_spool_end(struct cache_spool *spool, bool is_whole);
/* Lets what follows go into memory: it is not to be kept. */
void cache_spool_fall(struct cache_spool *spool);

/* The file, once it has ended; NULL: not all is in it, or it has been taken. */
MUST_USE struct cache_file_writer *cache_spool_take(struct cache_spool *spool);

#endif
