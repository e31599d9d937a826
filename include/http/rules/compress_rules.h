/*
 * compress_rules - what the operator wants compressed on the way, and how: the
 * codings, that first which is made first, media types, and sizes.
 *
 * A type is a pattern of base/glob.h, whose star stands for all of "text/" or
 * of "+json"; what is behind a semicolon in the type of an answer does not
 * count.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   all of it.
 */
#ifndef HTTP_RULES_COMPRESS_RULES_H
#define HTTP_RULES_COMPRESS_RULES_H

#include "base/glob.h"
#include "http/coding.h"

enum { COMPRESS_TYPES_MAX = 40 };

/* The word for no compression in the place of a coding. */
#define COMPRESS_OFF "off"

struct compress_rules {
    struct coding_order order;
    unsigned codings;   /* bit 1 << coding: in the order */
    uint64_t bytes_min; /* of what is compressed, where that is known */
    uint64_t bytes_max;
    size_t type_count;
    struct glob types[COMPRESS_TYPES_MAX];
};

/* Each adds to an object that began as all zero. NULL, or what is wrong with
 * text, as words to put behind it. */
MUST_USE const char *compress_rules_add_coding(struct compress_rules *rules,
                                               struct bytes text);
MUST_USE const char *compress_rules_add_type(struct compress_rules *rules,
                                             struct bytes text);

/* What is added where nothing is said: all codings, that first which leaves the
 * fewest bytes of texts, and types that shrink. */
void compress_rules_add_codings(struct compress_rules *rules);
void compress_rules_add_types(struct compress_rules *rules);

/* Whether a media type, maybe with parameters, is among those. */
bool compress_rules_take(const struct compress_rules *rules, struct bytes type);

/* Whether the value of a Cache-Control field says no-transform (RFC 9111
 * 5.2.2.6): the answer is to leave as it is. */
bool compress_is_forbidden(struct bytes cache_control);

#endif
