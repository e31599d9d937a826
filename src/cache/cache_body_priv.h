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
    uint64_t length;    /* as announced; CACHE_LENGTH_UNKNOWN */
    uint64_t set_aside; /* its part of counts->filling */
    uint64_t counted;   /* its part of counts->whole; set before state */
    char *memory;       /* its beginning; NULL: all is in the file */
    size_t memory_bytes;
    int fd;                    /* -1: all is in memory; set by the writer before
                                 filled is raised beyond memory */
    bool is_on_disk;           /* the file of fd is on a disk; set with fd */
    struct cache_spool *spool; /* NULL: what is put is there at once; otherwise
                                  the spool's thread writes filled */
    uint64_t taken;            /* bytes put, if the body is spooled */
    atomic_uint holds;         /* references that the spool has */
    atomic_int fallen_fd;      /* file of bytes that fell to memory; -1: none */
    uint64_t fallen_at;        /* where fallen_fd begins; set before it */
    _Atomic(char *) map;       /* of fd; NULL: not wanted so far, or it cannot
                                  be mapped */
    size_t map_bytes;          /* set before map: all of the body */
    atomic_uint beginners;     /* readers that have not had any byte */
    pthread_mutex_t mutex;     /* guards all below */
    struct list waits;         /* waits of readers that have all there is */
    struct list writer;        /* the wait of the writer for slow readers */
    struct list readers;
    bool awaits_crowd;
    bool is_passing;
    uint64_t given_up; /* bytes before this offset are gone */
};

/* --- cache_body.c -------------------------------------------------------- */

/* Makes a body that has no room for anything yet. NULL: no memory. */
MUST_USE struct cache_body *cache_body_make(uint64_t length,
                                            struct cache_body_counts *counts);

/* Counts one more open descriptor. */
void cache_body_count_file(const struct cache_body *body);

/* Counts so many bytes as being filled. */
void cache_body_set_aside(struct cache_body *body, uint64_t bytes);

#endif
