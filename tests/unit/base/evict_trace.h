/*
 * evict_trace - requests to a cache, drawn by lot from a fixed seed.
 *
 * Popular ids follow a Zipf law: the k-th is asked for in proportion to
 * 1 / k^alpha. Every so often a scan walks in order through ids that only
 * scans ask for, as a crawler does.
 */
#ifndef TESTS_EVICT_TRACE_H
#define TESTS_EVICT_TRACE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { POPULAR = 4000, SCANNED = 8000, IDS = POPULAR + SCANNED };

enum sizes { SIZES_EQUAL, SIZES_POWERS, SIZES_ANY };

struct trace {
    double alpha;
    enum sizes sizes;
    unsigned scan_every; /* requests; 0: no scans */
    unsigned scan_length;
    uint64_t random; /* state */
    unsigned asked;
    unsigned scan_left;
    unsigned scan_next;
    double reach[POPULAR]; /* share of requests up to this id */
    uint64_t bytes[IDS];
};

/* splitmix64: Steele, Lea, Flood, OOPSLA 2014. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t trace_random(struct trace *trace)
{
    return mix(trace->random += UINT64_C(0x9e3779b97f4a7c15));
}

/* From 128 B to 128 KiB, most of them small; independent of the popularity. */
static uint64_t draw_bytes(struct trace *trace)
{
    uint64_t lot = trace_random(trace);
    unsigned power = 7 + (unsigned)(lot % 11) * (unsigned)(lot / 11 % 11) / 10;

    if (trace->sizes == SIZES_EQUAL)
        return 128;
    if (trace->sizes == SIZES_POWERS)
        return UINT64_C(1) << power;
    return (UINT64_C(1) << power) + (lot >> 20) % (UINT64_C(1) << power);
}

/* Alpha, sizes and scans are set. */
static void trace_begin(struct trace *trace, uint64_t seed)
{
    double sum = 0;

    trace->random = seed;
    trace->asked = trace->scan_left = trace->scan_next = 0;
    for (int i = 0; i < POPULAR; i++)
        trace->reach[i] = sum += pow(i + 1, -trace->alpha);
    for (int i = 0; i < POPULAR; i++)
        trace->reach[i] /= sum;
    for (int i = 0; i < IDS; i++)
        trace->bytes[i] = draw_bytes(trace);
}

static int draw_popular(struct trace *trace)
{
    double lot = (double)(trace_random(trace) >> 11) * 0x1p-53;
    int low = 0;
    int high = POPULAR - 1;

    while (low < high) {
        int middle = (low + high) / 2;

        if (trace->reach[middle] <= lot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The id that is asked for next. */
static int trace_next(struct trace *trace)
{
    trace->asked++;
    if (trace->scan_every > 0 && trace->asked % trace->scan_every == 0)
        trace->scan_left = trace->scan_length;
    if (trace->scan_left == 0)
        return draw_popular(trace);
    trace->scan_left--;
    return POPULAR + (int)(trace->scan_next++ % SCANNED);
}

#endif
