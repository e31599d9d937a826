/*
 * cache_body_priv - what the files of a body share. Each calls only those below
 * it:
 *
 *   cache_body_write.c  filled: in memory, in a file, by a spool; passed on
 *   cache_body.c        read, counted, given back
 */
#ifndef CACHE_CACHE_BODY_PRIV_H
#define CACHE_CACHE_BODY_PRIV_H

#include "cache/cache_body.h"

struct cache_body {
    atomic_uint refs;
    atomic_int state;        /* enum cache_body_state */
    _Atomic uint64_t filled; /* bytes that are there */
    struct cache_body_counts *counts;
    uint64_t length;    /* as announced, or unknown */
    uint64_t set_aside; /* of counts->filling */
    uint64_t counted;   /* of counts->whole; set before the state is */
    char *memory;       /* of its beginning; NULL: all is in the file */
    size_t memory_bytes;
    int fd;                    /* -1: all is in memory; set by the writer before
                                 filled is raised beyond memory */
    bool is_on_disk;           /* the file is; set with fd */
    struct cache_spool *spool; /* NULL: what is put is there at once; then the
                                  thread that writes is the writer of filled */
    uint64_t taken;            /* put, of one that is spooled */
    atomic_uint holds;         /* references of the spool's */
    atomic_int fallen_fd;      /* -1: nothing of it lies elsewhere */
    uint64_t fallen_at;        /* from here on; set before */
    _Atomic(char *) map;       /* of the file; NULL: nobody has wanted it, or
                                  it cannot be mapped */
    size_t map_bytes;          /* set before; all the body will ever have */
    atomic_uint beginners;     /* readers that have nothing yet */
    pthread_mutex_t mutex;     /* guards the rest */
    struct list waits;         /* readers that have all there is */
    struct list writer;        /* the writer, while its readers are slow */
    struct list readers;
    bool awaits_crowd;
    bool is_passing;
    uint64_t given_up; /* bytes before that are gone */
};

/* --- cache_body.c -------------------------------------------------------- */

/* A body with no room for anything yet. NULL: no memory. */
MUST_USE struct cache_body *cache_body_make(uint64_t length,
                                            struct cache_body_counts *counts);

/* Counts one more open descriptor. */
void cache_body_count_file(const struct cache_body *body);

/* Has so many bytes count as being filled. */
void cache_body_set_aside(struct cache_body *body, uint64_t bytes);

#endif
