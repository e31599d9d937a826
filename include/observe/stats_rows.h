/*
 * stats_rows - the table of the statistics: the name, the meaning and the place
 * of each number.
 *
 * Every view goes through the table: the report, the metrics, the JSON, and
 * `sprintd top` and the dashboard, which read the JSON. A new number needs a
 * field that is counted, and a row here. A view shows the number if the row has
 * a text for that view. A row describes one kind of object: the snapshot, or
 * each worker, store and so on.
 *
 * Thread: any; constants and values only.
 */
#ifndef OBSERVE_STATS_ROWS_H
#define OBSERVE_STATS_ROWS_H

#include "observe/stats_snapshot.h"

/* --- Rows ---------------------------------------------------------------- */

enum stats_part {
    /* Parts that exist once; their fields lie in struct stats_snapshot. */
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
    /* Parts that exist several times; their fields lie in the structs named
     * here. */
    STATS_PART_CACHE_IF,    /* struct stats_cache_if */
    STATS_PART_SIZE,        /* struct stats_by_size */
    STATS_PART_WORKER,      /* struct stats_worker */
    STATS_PART_STORE,       /* uint64_t[], by enum stats_store_number */
    STATS_PART_UPSTREAM,    /* struct stats_upstream */
    STATS_PART_CERTIFICATE, /* struct stats_certificate */
    STATS_PART_COUNT,
    /* struct history_point: an array in the JSON; not part of a snapshot */
    STATS_PART_POINT = STATS_PART_COUNT
};

enum stats_kind {
    STATS_KIND_COUNTER,
    STATS_KIND_GAUGE,       /* a value that goes up and down */
    STATS_KIND_VECTOR,      /* several counters, each with its name */
    STATS_KIND_DISTRIBUTION /* struct distribution */
};

enum stats_unit {
    STATS_UNIT_NUMBER,
    STATS_UNIT_BYTES,
    STATS_UNIT_BYTES_A_SECOND,
    STATS_UNIT_NS, /* the JSON shows microseconds, or 0 if unknown */
    STATS_UNIT_US,
    STATS_UNIT_MS,     /* the JSON shows seconds */
    STATS_UNIT_MOMENT, /* nanoseconds since the epoch; the JSON: seconds */
    STATS_UNIT_BOOL,
    STATS_UNIT_TEXT,  /* a const char *; a label in the metrics */
    STATS_UNIT_SHARE, /* a double from 0 to 1; NAN if unknown */
    STATS_UNIT_RATE   /* a double; NAN if unknown */
};

struct stats_row {
    enum stats_part part;
    enum stats_kind kind;
    enum stats_unit unit;
    /* if true, the report and the JSON omit the number when it is 0, and all
     * views omit a gauge that is unknown */
    bool is_sparse;
    size_t offset; /* where the field lies in its object */
    size_t bytes;
    const char *name; /* name in the JSON; NULL if not in the JSON */
    /* label in the report, or of a trend in `sprintd top`; NULL if the row has
     * no label. The names of a vector's counters follow the label. */
    const char *label;
    /* metric's name, or NULL; rows of a metric are adjacent */
    const char *metric;
    /* the metric's help text, set only in the metric's first row; every object
     * of the metric has a value for this row */
    const char *help;
    /* In a vector: the name of the metric's label, whose values are the
     * counters' names. Otherwise: the value of a label that tells the metric's
     * rows apart, or NULL. */
    const char *key;
    struct { /* how `sprintd top` shows the number */
        const char *text;
        unsigned position; /* column in the part's line, from 1; 0: hidden */
    } top;
};

/* Returns the next row of a part after `row`, or the part's first row if `row`
 * is NULL. Returns NULL after the last row. */
const struct stats_row *stats_row_next(enum stats_part part,
                                       const struct stats_row *row);

/* Return the row's field in the object at `base`: a pointer to the field, its
 * value as a number, or its value as a text. */
const void *stats_row_at(const struct stats_row *row, const void *base);
uint64_t stats_row_number(const struct stats_row *row, const void *base);
const char *stats_row_text(const struct stats_row *row, const void *base);

/* Whether the row is a sparse gauge that is unknown for the object at `base`,
 * so that all views omit the row. */
bool stats_row_is_left_out(const struct stats_row *row, const void *base);

#endif
