/*
 * cache_control - reads Cache-Control as a shared cache has to, and
 * Surrogate-Control, which has the same form (RFC 9111 5.2, RFC 5861). For
 * CDN-Cache-Control see cache_targeted.
 *
 * Thread: any; no state.
 * Owns:   nothing; the lists of fields are views into the values read.
 */
#ifndef CACHE_CACHE_CONTROL_H
#define CACHE_CACHE_CONTROL_H

#include <stdint.h>

#include "base/bytes.h"

/* Longer times are cut to this number of seconds (RFC 9111 1.2.2). */
#define CACHE_SECONDS_MAX INT64_C(2147483648)

enum cache_directive {
    CACHE_NO_STORE = 1 << 0,
    /* The next two are about the whole answer. A directive that lists fields
     * sets no_cache_fields or private_fields instead. */
    CACHE_NO_CACHE = 1 << 1,
    CACHE_PRIVATE = 1 << 2,
    CACHE_PUBLIC = 1 << 3,
    CACHE_MUST_REVALIDATE = 1 << 4,
    CACHE_PROXY_REVALIDATE = 1 << 5,
    CACHE_MUST_UNDERSTAND = 1 << 6,
    CACHE_ONLY_IF_CACHED = 1 << 7,
    CACHE_IMMUTABLE = 1 << 8,
    CACHE_ANY = 1 << 9 /* the field had a directive, known or not */
};

enum { CACHE_UNSAID = -1 };

struct cache_control {
    uint32_t said; /* bits of enum cache_directive */
    /* Seconds, or CACHE_UNSAID. Of two values that differ the lesser counts. A
     * value that is no number is 0, stale at once (RFC 9111 4.2.1). */
    int64_t max_age;
    int64_t s_maxage;
    int64_t min_fresh;
    int64_t max_stale; /* CACHE_SECONDS_MAX if no number is given */
    int64_t stale_while_revalidate;
    int64_t stale_if_error;
    struct bytes no_cache_fields; /* names with commas between; or empty */
    struct bytes private_fields;
};

void cache_control_init(struct cache_control *control);

/* Reads the value of one line, and adds what it says to *control. If
 * `surrogate` is empty, directives have no targets, and ';' ends a directive as
 * ',' does. Otherwise the line is a Surrogate-Control: a directive may have a
 * target behind ';', and counts if it has none or if it is `surrogate`. */
void cache_control_read(struct cache_control *control, struct bytes value,
                        struct bytes surrogate);

/* Reads all of `text` as a number of seconds, digits only. A number that is
 * too large gives CACHE_SECONDS_MAX. Returns false when `text` is no number. */
bool cache_seconds_read(struct bytes text, int64_t *seconds_out);

/* Returns the directive with that name, if it is one that takes no argument;
 * otherwise 0. */
enum cache_directive cache_control_find_flag(struct bytes name);

/* Returns the member of *control for the seconds of the directive with that
 * name; NULL for a directive without seconds. */
int64_t *cache_control_find_time(struct cache_control *control,
                                 struct bytes name);

static inline bool cache_control_says(const struct cache_control *control,
                                      enum cache_directive directive)
{
    return control->said & directive;
}

#endif
