/*
 * stats_rows - the statistics as a table: of each figure what it is called,
 * what it counts, and where it lies.
 *
 * Every view goes through the table: the report, the metrics, the JSON, and
 * `sprintd top` and the dashboard, which read the JSON. A new figure is a field
 * that is counted and a row here; a view shows it when its row has a text for
 * that view. A row tells of one object: of the snapshot, or of each worker,
 * store or the like.
 *
 * Thread: any; constants and values only.
 */
#ifndef OBSERVE_STATS_ROWS_H
#define OBSERVE_STATS_ROWS_H

#include "observe/stats_snapshot.h"

/* --- Rows ---------------------------------------------------------------- */

enum stats_part {
    /* Parts that are there once; their rows lie in struct stats_snapshot. */
    STATS_PART_SERVER,
    STATS_PART_REQUESTS,
    STATS_PART_METHODS,
    STATS_PART_STATUSES,
    STATS_PART_BYTES,
    STATS_PART_CONNECTIONS,
    STATS_PART_TLS,
    STATS_PART_HTTP2,
    STATS_PART_CACHE,
    STATS_PART_COMPRESS,
    STATS_PART_KEPT,
    STATS_PART_QUEUE,
    STATS_PART_LINK,
    STATS_PART_WHAT_IF,
    STATS_PART_LOG,
    STATS_PART_CPU,
    STATS_PART_TIMES,
    /* Parts that are there many times. */
    STATS_PART_CACHE_IF,    /* struct stats_cache_if */
    STATS_PART_SIZE,        /* struct stats_by_size */
    STATS_PART_WORKER,      /* struct stats_worker */
    STATS_PART_STORE,       /* uint64_t by enum stats_store_number */
    STATS_PART_UPSTREAM,    /* struct stats_upstream */
    STATS_PART_CERTIFICATE, /* struct stats_certificate */
    STATS_PART_COUNT,
    STATS_PART_POINT = STATS_PART_COUNT /* struct history_point, an array in the
                                           JSON; no snapshot has it */
};

enum stats_kind {
    STATS_KIND_COUNTER,
    STATS_KIND_GAUGE,       /* it goes up and down */
    STATS_KIND_VECTOR,      /* several counters, each with a name */
    STATS_KIND_DISTRIBUTION /* struct distribution */
};

enum stats_unit {
    STATS_UNIT_NUMBER,
    STATS_UNIT_BYTES,
    STATS_UNIT_BYTES_A_SECOND,
    STATS_UNIT_NS, /* in the JSON microseconds; 0: not known */
    STATS_UNIT_US,
    STATS_UNIT_MS,     /* in the JSON seconds */
    STATS_UNIT_MOMENT, /* nanoseconds since the epoch; in the JSON seconds */
    STATS_UNIT_BOOL,
    STATS_UNIT_TEXT,  /* a const char *; a metric has it as a label */
    STATS_UNIT_SHARE, /* a double from 0 to 1; NAN: not known */
    STATS_UNIT_RATE   /* a double; NAN: not known */
};

struct stats_row {
    enum stats_part part;
    enum stats_kind kind;
    enum stats_unit unit;
    bool is_sparse; /* the report and the JSON leave out what is 0; of gauges
                       that are known of some objects only, all views do */
    size_t offset;  /* of its field in the object */
    size_t bytes;
    const char *name;   /* of the JSON's member; NULL: none */
    const char *label;  /* of the report's line (of a vector: what its names
                           stand behind), or of a trend in top; NULL: none */
    const char *metric; /* NULL: none. Rows of one metric are neighbours. */
    const char *help;   /* explains the metric: in its first row, which every
                           object with one of its rows has */
    const char *key;    /* of a vector: the label that its names are values of;
                           else what tells rows of one metric apart, or NULL */
    struct {            /* in `sprintd top` */
        const char *text;
        unsigned position; /* in the part's line, from 1; 0: it is not there */
    } top;
};

/* The rows of a part one after the other: the first after NULL, NULL after the
 * last. */
const struct stats_row *stats_row_next(enum stats_part part,
                                       const struct stats_row *row);

/* The field of the object at base; and its value, when it is a number, or a
 * text. */
const void *stats_row_at(const struct stats_row *row, const void *base);
uint64_t stats_row_number(const struct stats_row *row, const void *base);
const char *stats_row_text(const struct stats_row *row, const void *base);

/* Whether a sparse gauge has nothing to say of the object. */
bool stats_row_is_left_out(const struct stats_row *row, const void *base);

#endif
