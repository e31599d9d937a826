/*
 * stats_objects - the objects that rows of the statistics describe (the
 * snapshot, each worker, store, upstream server and so on), and the items of
 * rows that have several numbers.
 *
 * Thread: any; constants and values only.
 */
#ifndef OBSERVE_STATS_OBJECTS_H
#define OBSERVE_STATS_OBJECTS_H

#include "observe/stats_rows.h"

/* --- Objects ------------------------------------------------------------- */

/* A label of the metrics and its value. `name` is NULL if there is no label. */
struct stats_label {
    const char *name;
    const char *value;
};

struct stats_object {
    const void *base;
    struct stats_label labels[2];            /* identify the object */
    const struct stats_store_options *store; /* NULL for all but stores */
    struct stats_upstream upstream;          /* set for upstream servers */
    struct stats_certificate certificate;    /* set for certificates */
    char number[16];                         /* private */
};

/* Returns how many objects a part has, such as workers or stores; 1 for a part
 * of the whole server. */
size_t stats_object_count(const struct stats_snapshot *snapshot,
                          enum stats_part part);

/* Gets an object; `number` must be below stats_object_count(). The object
 * borrows from the snapshot. The object must not be copied, since it points
 * into itself. */
void stats_object_get(const struct stats_snapshot *snapshot,
                      enum stats_part part, size_t number,
                      struct stats_object *object_out);

/* Whether the object has a value for the row. A store lacks some rows' values,
 * depending on its engine. */
bool stats_object_has(const struct stats_object *object,
                      const struct stats_row *row);

/* --- Vectors and distributions ------------------------------------------- */

/* One counter of a vector. The caller zeroes the struct before the first
 * stats_item_next(). */
struct stats_item {
    const char *name;
    uint64_t value;
    /* private */
    unsigned at;
    char code[4];
};

/* Goes on to the next counter of a vector. Returns false behind the last
 * counter. */
bool stats_item_next(const struct stats_row *row,
                     const struct stats_snapshot *snapshot,
                     struct stats_item *item);

/* The quantiles and the mean shown for a distribution. */
enum { STATS_QUANTILE_COUNT = 7 };

extern const struct stats_quantile {
    const char *name;  /* name in the JSON */
    const char *title; /* title of a column */
    double share;      /* share of values up to the quantile; -1: the mean */
} stats_quantiles[STATS_QUANTILE_COUNT];

/* Returns the quantile's value in nanoseconds. */
uint64_t stats_quantile_of(const struct stats_quantile *quantile,
                           const struct distribution *distribution);

#endif
