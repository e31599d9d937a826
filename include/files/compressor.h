/*
 * compressor - threads beside the workers that compress, once for all of them,
 * what workers order; and the shelf where results wait to be fetched.
 *
 *   worker --ask--> QUEUED -> RUNNING -> READY, HOPELESS or FAILED
 *             ^                             |
 *             +-------- asked again <-------+     (no worker is told: one that
 *                                                  still wants it asks again)
 *
 * An order is known by the version of what it is made of, by its coding, its
 * dictionary and its effort: whichever worker asks, and however often, it is
 * made once. Orders that are quickly made go before slow ones. Slow orders have
 * a small part of the processor's time while requests come
 * (compressor_share.c).
 *
 * A result leaves the shelf when every worker has fetched it, or when the shelf
 * is full and it is the oldest; the newest stays, however long. That something
 * does not get smaller by 5 % is remembered in the same way.
 *
 * Threads open nothing and write nothing: a text comes with its order, or a
 * descriptor, of which a duplicate is read. A file whose stamp is another
 * before or after reading than in the order gives no result. A dictionary is
 * opened by who places the order, and compared with its hash when it is read.
 *
 * The stamp may be of anything that has versions, as long as no two have the
 * same: a device of UINT64_MAX is no file's.
 *
 * Thread: create, stop and destroy the main thread's; the rest any, under one
 *         mutex that nobody holds for more than a few steps.
 * Owns:   copies of texts, duplicates of descriptors, the results on the shelf.
 */
#ifndef FILES_COMPRESSOR_H
#define FILES_COMPRESSOR_H

#include <stdatomic.h>

#include "codec/codec.h"
#include "files/dictionary.h"
#include "files/file_stamp.h"
#include "http/coding.h"
#include "observe/stats.h"

enum {
    COMPRESSOR_THREADS_MAX = 16,
    /* Orders that wait or are being made: in all, those with a descriptor,
     * slow ones, and slow ones with a descriptor. */
    COMPRESSOR_QUEUE_MAX = 256,
    COMPRESSOR_DESCRIPTORS_MAX = 16,
    COMPRESSOR_SLOW_MAX = 32,
    COMPRESSOR_SLOW_DESCRIPTORS_MAX = 8,
    COMPRESSOR_TEXT_BYTES_MAX = 65536, /* text that comes with an order */
    COMPRESSOR_SHELF_MAX = 4096,       /* settled orders that are remembered */
    COMPRESSOR_SHELF_BYTES_MAX = 32 << 20,
    COMPRESSOR_RETRY_MS = 10000,  /* then a failed order is tried again */
    COMPRESSOR_WORTH_PERCENT = 95 /* of the plain size: a larger result is
                                     not worth keeping */
};

/* What came of an order: counted, and the same for all. */
struct coded_body {
    atomic_uint refs;
    size_t len;
    uint64_t hash; /* of data */
    char bytes[];
};

void coded_body_hold(struct coded_body *body);
void coded_body_release(struct coded_body *body); /* NULL is accepted */

struct compress_order {
    struct file_stamp stamp;
    enum coding coding;
    enum codec_effort effort;
    struct bytes text; /* COMPRESSOR_TEXT_BYTES_MAX at most; data NULL: fd */
    int fd;            /* stamp.bytes are read from here then */
    struct dictionary *dictionary; /* borrowed; NULL but for CODING_DCZ */
};

enum compressor_answer {
    COMPRESSOR_READY,
    COMPRESSOR_LATER,    /* not ready: ask again */
    COMPRESSOR_HOPELESS, /* the result is not small enough */
    COMPRESSOR_REFUSED   /* too many orders, no memory, or it has failed */
};

struct compressor; /* opaque */

/* 0 or -errno. workers: how many fetch results. told gets what is counted, and
 * lives longer. */
MUST_USE int compressor_create(struct compressor **compressor_out,
                               unsigned threads, unsigned workers,
                               struct counter told[STATS_COMPRESS_NUMBERS]);
void compressor_stop(struct compressor *compressor);    /* threads have ended */
void compressor_destroy(struct compressor *compressor); /* NULL is accepted */

/* Tells what is known of that order. When nothing is known, the order is
 * placed. With COMPRESSOR_READY one reference to the result is the caller's. */
enum compressor_answer compressor_ask(struct compressor *compressor,
                                      const struct compress_order *order,
                                      uint64_t now_ms,
                                      struct coded_body **body_out);

#endif
