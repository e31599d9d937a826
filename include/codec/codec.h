/*
 * codec - the common interface of compressors of whole buffers.
 *
 * Each compression library has one file, with one codec_fn. This module does
 * not know the names of codings in HTTP.
 *
 * Thread: any; an order belongs to one thread, except its `stops` and `meter`.
 */
#ifndef CODEC_CODEC_H
#define CODEC_CODEC_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"

enum codec_effort {
    CODEC_QUICK, /* takes 2 ms for a short text, else works at tens of MB/s */
    CODEC_SLOW   /* makes the text as small as possible, at about 1 MB/s */
};

enum codec_result {
    CODEC_DONE,
    CODEC_TOO_LARGE, /* the result would have more than out_max bytes */
    CODEC_NO_MEMORY,
    CODEC_STOPPED
};

/* The bytes that compressors have allocated now, and the most that they had
 * since codec_meter_take_max() was last called. The struct starts zeroed; any
 * thread may use it. */
struct codec_meter {
    atomic_ullong bytes;
    atomic_ullong bytes_max;
};

struct codec_order {
    struct bytes text;
    struct bytes dictionary; /* only for codec_zstd(); may be empty */
    char *out;               /* room for out_max bytes, the caller's */
    size_t out_max;
    enum codec_effort effort;
    const atomic_bool *stops;  /* set by any thread to make the codec give up */
    struct codec_meter *meter; /* shared; must outlive all its users */
    size_t out_len;            /* length of the result, with CODEC_DONE */
};

typedef enum codec_result (*codec_fn)(struct codec_order *order);

/* Bytes that are compressed between two checks of `stops`. */
enum { CODEC_STEP_BYTES = 131072 };

static inline bool codec_is_stopped(const struct codec_order *order)
{
    return atomic_load_explicit(order->stops, memory_order_relaxed);
}

/* --- codec_meter.c ------------------------------------------------------- */

/* These work like malloc() and free(), but count the bytes in the meter. */
void *codec_meter_allocate(struct codec_meter *meter, size_t bytes);
void codec_meter_free(struct codec_meter *meter, void *memory);

/* These count memory that a library has allocated, or freed, by itself. */
void codec_meter_add(struct codec_meter *meter, uint64_t bytes);
void codec_meter_subtract(struct codec_meter *meter, uint64_t bytes);

uint64_t codec_meter_read(const struct codec_meter *meter);

/* Returns the maximum since the last call. The next maximum begins with the
 * bytes that are allocated now. */
uint64_t codec_meter_take_max(struct codec_meter *meter);

/* Texts up to this size are short: gzip and zstd bring them to within a
 * thousandth of their smallest size in two milliseconds. */
enum { CODEC_SHORT_BYTES = 16 << 10 };

/* --- The codings, one file each ------------------------------------------ */

/* The zstd format (RFC 8878). Its window is at most 8 MiB (RFC 9659). With a
 * dictionary, which is used as raw content, the window is at most what clients
 * must support for dictionaries (RFC 9842 5): 8 MiB, or 1.25 times the
 * dictionary if that is more. With a dictionary, `effort` is ignored, since one
 * level serves both efforts. */
enum codec_result codec_zstd(struct codec_order *order);

/* Brotli (RFC 7932). */
enum codec_result codec_brotli(struct codec_order *order);

/* gzip (RFC 1952), by libdeflate. The library compresses a text in one go, so
 * `stops` is checked only before it begins. Therefore its slowest level gets at
 * most CODEC_GZIP_SLOWEST_BYTES, which take about a second. */
enum { CODEC_GZIP_SLOWEST_BYTES = 2 << 20 };
enum codec_result codec_gzip(struct codec_order *order);

#endif
