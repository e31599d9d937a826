/*
 * cache_body_priv - what the files of a body share. Each file calls only those
 * below it in this list:
 *
 *   cache_body_write.c  fills: in memory, in a file, by a spool; passes on
 *   cache_body.c        reads, counts, gives back
 */
#ifndef CACHE_CACHE_BODY_PRIV_H
#define CACHE_CACHE_BODY_PRIV_H

#include "cache/cache_body.h"

struct cache_body {
    atomic_uint refs;
    atomic_int state;        /* enum cache_body_state */
    _Atomic uint64_t filled; /* how many bytes are there */
    struct cache_body_counts *counts;
    uint64_t length;    /* as announced; or CACHE_LENGTH_UNKNOWN */
    uint64_t set_aside; /* the body's part of counts->filling */
    uint64_t counted; /* the body's part of counts->whole; set before `state` */
    char *memory;     /* the first bytes; NULL: all are in the file */
    size_t memory_bytes;
    int fd;                    /* file of the bytes behind those in memory; -1:
                                  none; set before `filled` exceeds
                                  memory_bytes */
    bool is_on_disk;           /* the file of fd is on a disk; set with fd */
    struct cache_spool *spool; /* writes the bytes and raises `filled`; NULL:
                                  the body's writer does so */
    uint64_t taken;            /* bytes that the spool was given */
    atomic_uint holds;         /* number of references that the spool has */
    atomic_int fallen_fd;      /* file in memory with the bytes that did not get
                                  to the disk; -1: none */
    uint64_t fallen_at;        /* offset of the first byte in fallen_fd; set
                                  before fallen_fd */
    _Atomic(char *) map;       /* mapping of fd; NULL: nobody wanted it yet, or
                                  fd cannot be mapped */
    size_t map_bytes;          /* length of the whole body; set before `map` */
    atomic_uint beginners;     /* number of readers without a byte yet */
    pthread_mutex_t mutex;     /* guards all below */
    struct list waits;         /* waits of readers for more bytes */
    struct list writer;        /* the writer's wait for slow readers */
    struct list readers;
    bool awaits_crowd;
    bool is_passing;
    uint64_t given_up; /* bytes before this offset are gone */
};

/* --- cache_body.c -------------------------------------------------------- */

/* Makes a body that has no room for bytes yet. Returns NULL when memory is
 * short. */
MUST_USE struct cache_body *cache_body_make(uint64_t length,
                                            struct cache_body_counts *counts);

/* Counts one more open descriptor. */
void cache_body_count_file(const struct cache_body *body);

/* Sets `bytes` aside for a body that is being filled (counts->filling), instead
 * of the bytes that were set aside for it before. */
void cache_body_set_aside(struct cache_body *body, uint64_t bytes);

#endif
