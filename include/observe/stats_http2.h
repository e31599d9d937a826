/*
 * stats_http2 - counts what HTTP/2 clients do, and the abuses for which they
 * were stopped.
 *
 * Thread: see stats.h.
 * Owns:   nothing.
 */
#ifndef OBSERVE_STATS_HTTP2_H
#define OBSERVE_STATS_HTTP2_H

#include "base/bytes.h"
#include "observe/counter.h"

enum stats_http2_event {
    STATS_HTTP2_CONNECTIONS,
    STATS_HTTP2_STREAMS,
    STATS_HTTP2_RESET_BY_CLIENT,
    STATS_HTTP2_RESET_BY_SERVER,
    STATS_HTTP2_EVENT_COUNT
};

/* The abuse for which a client's connection or stream was ended. Frames and
 * resets are an abuse only in large numbers. */
enum stats_http2_abuse {
    STATS_HTTP2_HEADERS,        /* fields far beyond the limits */
    STATS_HTTP2_CONTINUATION,   /* heads in too many frames */
    STATS_HTTP2_RESETS,         /* streams reset by either side */
    STATS_HTTP2_SETTINGS,       /* SETTINGS frames */
    STATS_HTTP2_PINGS,          /* PING frames */
    STATS_HTTP2_PRIORITIES,     /* PRIORITY and PRIORITY_UPDATE frames */
    STATS_HTTP2_WINDOWS,        /* WINDOW_UPDATE frames */
    STATS_HTTP2_SMALL_WINDOWS,  /* windows for a few bytes at a time */
    STATS_HTTP2_EMPTY_FRAMES,   /* DATA frames without data */
    STATS_HTTP2_UNKNOWN_FRAMES, /* frames of unknown types */
    STATS_HTTP2_OVERHEAD,       /* too many bytes without content */
    STATS_HTTP2_UNREAD,         /* answers to control frames, left unread */
    STATS_HTTP2_STREAMS_OVER,   /* streams beyond the limit */
    STATS_HTTP2_MEMORY,         /* waiting heads beyond the limit of memory */
    STATS_HTTP2_SLOW,           /* streams whose window stays closed */
    STATS_HTTP2_ABUSE_COUNT
};

struct stats_http2 {
    struct counter events[STATS_HTTP2_EVENT_COUNT];
    struct counter abuses[STATS_HTTP2_ABUSE_COUNT];
};

/* The numbers of struct stats_http2, summed over workers. */
struct stats_http2_sums {
    uint64_t events[STATS_HTTP2_EVENT_COUNT];
    uint64_t abuses[STATS_HTTP2_ABUSE_COUNT];
};

static inline void stats_http2_note(struct stats_http2 *http2,
                                    enum stats_http2_event event)
{
    counter_add(&http2->events[event], 1);
}

static inline void stats_http2_note_abuse(struct stats_http2 *http2,
                                          enum stats_http2_abuse abuse)
{
    counter_add(&http2->abuses[abuse], 1);
}

void stats_http2_add(struct stats_http2_sums *sums,
                     const struct stats_http2 *http2);

/* Whether any client has spoken HTTP/2. */
bool stats_http2_is_used(const struct stats_http2_sums *sums);

/* Return names like "streams", "resets", for labels and keys; NULL if there is
 * no such number. */
const char *stats_http2_event_name(unsigned number);
const char *stats_http2_abuse_name(unsigned number);

#endif
