/*
 * compressor - threads that compress what workers order, once for all workers;
 * and a shelf where the results wait to be fetched.
 *
 *   worker --ask--> QUEUED -> RUNNING -> READY, HOPELESS or FAILED
 *             ^                             |
 *             +-------- asked again <-------+     (no worker is told: a worker
 *                                                  that still wants the result
 *                                                  asks again)
 *
 * An order is identified by the version of its text, its coding, its dictionary
 * and its effort. Each order is made once, whichever workers ask, and however
 * often. Quick orders go before slow ones. While requests come, slow orders
 * have a small part of the processor's time (compressor_share.c).
 *
 * A result leaves the shelf when every worker has fetched it, or when the shelf
 * is full and the result is the oldest. The newest result stays until the next
 * one comes, even if it is longer than the whole shelf. Texts that do not get
 * smaller by 5 % are remembered on the shelf in the same way.
 *
 * The threads open nothing and write nothing: an order brings its text, or a
 * descriptor, of which a duplicate is read. A file gives no result when its
 * stamp, before or after the reading, differs from the order's. The worker that
 * places an order opens the order's dictionary; the thread that reads the
 * dictionary compares the bytes with its hash.
 *
 * A stamp may stand for any text that has versions, as long as no two versions
 * have the same stamp. No file has UINT64_MAX as its device, so this number may
 * mark other texts.
 *
 * Thread: create, stop and destroy are for the main thread; the rest for any,
 *         under one mutex that is held for only a few steps.
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
    /* Limits for the orders that wait or are being made: how many orders, and
     * how many descriptors they have together. Then the same two limits for
     * slow orders alone. */
    COMPRESSOR_QUEUE_MAX = 256,
    COMPRESSOR_DESCRIPTORS_MAX = 16,
    COMPRESSOR_SLOW_MAX = 32,
    COMPRESSOR_SLOW_DESCRIPTORS_MAX = 8,
    COMPRESSOR_TEXT_BYTES_MAX = 65536, /* the longest text that an order may
                                          bring */
    COMPRESSOR_SHELF_MAX = 4096,       /* the most settled orders that are
                                          remembered */
    COMPRESSOR_SHELF_BYTES_MAX = 32 << 20,
    COMPRESSOR_RETRY_MS = 10000,  /* a failed order may be tried again after
                                     this time */
    COMPRESSOR_WORTH_PERCENT = 95 /* a result that is larger than this part of
                                     the plain size is not kept */
};

/* The result of an order; reference-counted, and shared by all workers. */
struct coded_body {
    atomic_uint refs;
    size_t len;
    uint64_t hash; /* hash of `bytes` */
    char bytes[];
};

void coded_body_hold(struct coded_body *body);
void coded_body_release(struct coded_body *body); /* NULL is accepted */

struct compress_order {
    struct file_stamp stamp;
    enum coding coding;
    enum codec_effort effort;
    struct bytes text; /* at most COMPRESSOR_TEXT_BYTES_MAX long; its data is
                          NULL when the text is read from `fd` */
    int fd;            /* the text's file, whose first stamp.bytes are read */
    struct dictionary *dictionary; /* borrowed; NULL except for CODING_DCZ */
};

enum compressor_answer {
    COMPRESSOR_READY,
    COMPRESSOR_LATER,    /* not ready; the worker may ask again */
    COMPRESSOR_HOPELESS, /* the result is not small enough */
    COMPRESSOR_REFUSED   /* too many orders, no memory, or a failure */
};

struct compressor; /* opaque */

/* Creates the compressor and starts its threads. Returns 0 or -errno. `workers`
 * is how many workers fetch results. `told` gets the statistics, and must
 * outlive the compressor. */
MUST_USE int compressor_create(struct compressor **compressor_out,
                               unsigned threads, unsigned workers,
                               struct counter told[STATS_COMPRESS_NUMBERS]);
void compressor_stop(struct compressor *compressor);    /* ends its threads */
void compressor_destroy(struct compressor *compressor); /* NULL is accepted */

/* Returns what the compressor knows of the order's result. If it knows nothing,
 * places the order. With COMPRESSOR_READY, *body_out is the result, with one
 * reference for the caller. */
enum compressor_answer compressor_ask(struct compressor *compressor,
                                      const struct compress_order *order,
                                      uint64_t now_ms,
                                      struct coded_body **body_out);

#endif
