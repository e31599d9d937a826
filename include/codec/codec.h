/*
 * codec - what compressors of whole buffers have in common: what they are
 * told, and what they say.
 *
 * Each library is known to one file beside this, which has a function of the
 * type codec_fn. Nothing here knows what a coding is called in HTTP.
 *
 * Thread: any; an order is one thread's, but for stops and the meter.
 */
#ifndef CODEC_CODEC_H
#define CODEC_CODEC_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"

enum codec_effort {
    CODEC_QUICK, /* two milliseconds, or tens of megabytes a second */
    CODEC_SLOW   /* as small as it gets; about one megabyte a second */
};

enum codec_result {
    CODEC_DONE,
    CODEC_TOO_LARGE, /* it does not fit into out_max bytes */
    CODEC_NO_MEMORY,
    CODEC_STOPPED
};

/* Bytes that compressors have allocated at present, and the most they had since
 * it was asked last. Begins as all zero; any thread. */
struct codec_meter {
    atomic_ullong bytes;
    atomic_ullong bytes_max;
};

struct codec_order {
    struct bytes text;
    struct bytes dictionary; /* of codec_zstd() alone; empty: none */
    char *out;               /* out_max bytes of the caller's */
    size_t out_max;
    enum codec_effort effort;
    const atomic_bool *stops;  /* given up soon after it has become true */
    struct codec_meter *meter; /* shared; must live as long as its threads */
    size_t out_len;            /* once CODEC_DONE */
};

typedef enum codec_result (*codec_fn)(struct codec_order *order);

/* Bytes that are compressed between two looks at stops. */
enum { CODEC_STEP_BYTES = 131072 };

static inline bool codec_is_stopped(const struct codec_order *order)
{
    return atomic_load_explicit(order->stops, memory_order_relaxed);
}

/* --- codec_meter.c ------------------------------------------------------- */

/* malloc() and free(), counted. NULL: no memory. */
void *codec_meter_allocate(struct codec_meter *meter, size_t bytes);
void codec_meter_free(struct codec_meter *meter, void *memory);

/* What a library has allocated without asking us. */
void codec_meter_add(struct codec_meter *meter, uint64_t bytes);
void codec_meter_subtract(struct codec_meter *meter, uint64_t bytes);

uint64_t codec_meter_read(const struct codec_meter *meter);
uint64_t codec_meter_take_max(struct codec_meter *meter);

/* Texts up to here gzip and zstd make quickly as small as they get, but for a
 * thousandth: that takes two milliseconds at most. */
enum { CODEC_SHORT_BYTES = 16 << 10 };

/* --- One file each ------------------------------------------------------- */

/* The zstd format (RFC 8878) with a window of 8 MiB at most (RFC 9659). With a
 * dictionary, whose bytes are taken as they are, of as much as a client must
 * have for that (RFC 9842 5): 8 MiB, or 1.25 times the dictionary; and with one
 * effort only, which is enough. */
enum codec_result codec_zstd(struct codec_order *order);

/* Brotli (RFC 7932). */
enum codec_result codec_brotli(struct codec_order *order);

/* gzip (RFC 1952), by libdeflate. It looks at stops only before it begins: the
 * most that is compressed at the slowest level is CODEC_GZIP_SLOWEST_BYTES,
 * which takes about a second. */
enum { CODEC_GZIP_SLOWEST_BYTES = 2 << 20 };
enum codec_result codec_gzip(struct codec_order *order);

#endif
