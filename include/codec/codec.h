/*
 * codec - the common interface of compressors of whole buffers.
 *
 * One file for each library implements a codec_fn. Nothing here knows what a
 * coding is called in HTTP.
 *
 * Thread: any; an order is one thread's, except its stops and meter.
 */
#ifndef CODEC_CODEC_H
#define CODEC_CODEC_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"

enum codec_effort {
    CODEC_QUICK, /* in two milliseconds, or at tens of MB/s */
    CODEC_SLOW   /* as small as possible, at about 1 MB/s */
};

enum codec_result {
    CODEC_DONE,
    CODEC_TOO_LARGE, /* more than out_max bytes */
    CODEC_NO_MEMORY,
    CODEC_STOPPED
};

/* Bytes that compressors have allocated now, and the most since that was last
 * asked. Zeroed at first; any thread. */
struct codec_meter {
    atomic_ullong bytes;
    atomic_ullong bytes_max;
};

struct codec_order {
    struct bytes text;
    struct bytes dictionary; /* used by codec_zstd() only; empty: none */
    char *out;               /* room for out_max bytes, the caller's */
    size_t out_max;
    enum codec_effort effort;
    const atomic_bool *stops;  /* becomes true: compressing is given up soon */
    struct codec_meter *meter; /* shared; must outlive all its users */
    size_t out_len;            /* set by CODEC_DONE */
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

/* Counts memory that a library has allocated by other means. */
void codec_meter_add(struct codec_meter *meter, uint64_t bytes);
void codec_meter_subtract(struct codec_meter *meter, uint64_t bytes);

uint64_t codec_meter_read(const struct codec_meter *meter);
uint64_t codec_meter_take_max(struct codec_meter *meter);

/* Up to this size, two milliseconds let gzip and zstd compress a text to within
 * a thousandth of its smallest size. */
enum { CODEC_SHORT_BYTES = 16 << 10 };

/* --- One file each ------------------------------------------------------- */

/* The zstd format (RFC 8878). Its window is at most 8 MiB (RFC 9659); with a
 * dictionary, whose bytes are used as they are, at most what clients must
 * support then (RFC 9842 5): 8 MiB, or 1.25 times the dictionary. With a
 * dictionary there is only one effort, which is enough. */
enum codec_result codec_zstd(struct codec_order *order);

/* Brotli (RFC 7932). */
enum codec_result codec_brotli(struct codec_order *order);

/* gzip (RFC 1952), by libdeflate, which looks at stops only before it begins:
 * the slowest level gets at most CODEC_GZIP_SLOWEST_BYTES, which take about a
 * second. */
enum { CODEC_GZIP_SLOWEST_BYTES = 2 << 20 };
enum codec_result codec_gzip(struct codec_order *order);

#endif
