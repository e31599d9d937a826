/*
 * stats_objects - of whom the rows of the statistics tell: the snapshot, each
 * worker, store, upstream server and the like; and what is read of a row that
 * has more than one number.
 *
 * Thread: any; constants and values only.
 */
#ifndef OBSERVE_STATS_OBJECTS_H
#define OBSERVE_STATS_OBJECTS_H

#include "observe/stats_rows.h"

/* --- Objects ------------------------------------------------------------- */

/* A label of the metrics and its value; none when name is NULL. */
struct stats_label {
    const char *name;
    const char *value;
};

struct stats_object {
    const void *base;
    struct stats_label labels[2];            /* which one it is */
    const struct stats_store_options *store; /* NULL: the object is no store */
    struct stats_upstream upstream;          /* when the object is one */
    struct stats_certificate certificate;    /* when the object is one */
    char number[16];                         /* private */
};

/* How many objects a part has, such as workers or stores; 1 for a part that
 * stands for the whole server. */
size_t stats_object_count(const struct stats_snapshot *snapshot,
                          enum stats_part part);

/* number is below that count. The object borrows from the snapshot and points
 * into itself. */
void stats_object_get(const struct stats_snapshot *snapshot,
                      enum stats_part part, size_t number,
                      struct stats_object *object_out);

/* Whether the object has a value for the row: engines of stores differ. */
bool stats_object_has(const struct stats_object *object,
                      const struct stats_row *row);

/* --- Vectors and distributions ------------------------------------------- */

/* Begins as {0}. */
struct stats_item {
    const char *name;
    uint64_t value;
    /* private */
    unsigned at;
    char code[4];
};

/* Goes on to the next counter of a vector; false after the last. */
bool stats_item_next(const struct stats_row *row,
                     const struct stats_snapshot *snapshot,
                     struct stats_item *item);

/* What is told of a distribution besides its count. */
enum { STATS_QUANTILE_COUNT = 7 };

extern const struct stats_quantile {
    const char *name;  /* of the JSON's member */
    const char *title; /* of a column */
    double share;      /* of what is not above it; -1: it is the mean */
} stats_quantiles[STATS_QUANTILE_COUNT];

/* The quantile's value in nanoseconds. */
uint64_t stats_quantile_of(const struct stats_quantile *quantile,
                           const struct distribution *distribution);

#endif
