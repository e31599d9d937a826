/*
 * compress_rules - which answers the operator wants compressed while they are
 * sent, and how: the codings, the preferred one first, media types, and sizes.
 *
 * A type is a pattern of base/glob.h: with a star it names all types that begin
 * with "text/", or all that end with "+json". Parameters behind a semicolon in
 * the type of an answer do not count.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   all of it.
 */
#ifndef HTTP_RULES_COMPRESS_RULES_H
#define HTTP_RULES_COMPRESS_RULES_H

#include "base/glob.h"
#include "http/coding.h"

enum { COMPRESS_TYPES_MAX = 40 };

/* The word for no compression, in the place of a coding. */
#define COMPRESS_OFF "off"

struct compress_rules {
    struct coding_order order;
    unsigned codings;   /* bits 1 << coding of all codings in `order` */
    uint64_t bytes_min; /* an answer known to be smaller stays as it is */
    uint64_t bytes_max;
    size_t type_count;
    struct glob types[COMPRESS_TYPES_MAX];
};

/* Both functions add to `rules`, which began as all zero. They return NULL, or
 * what is wrong with `text`, as words to put behind `text`. */
MUST_USE const char *compress_rules_add_coding(struct compress_rules *rules,
                                               struct bytes text);
MUST_USE const char *compress_rules_add_type(struct compress_rules *rules,
                                             struct bytes text);

/* compress_rules_add_codings() adds all codings, first the one that makes texts
 * smallest. compress_rules_add_types() adds the types whose bodies become
 * smaller when compressed. */
void compress_rules_add_codings(struct compress_rules *rules);
void compress_rules_add_types(struct compress_rules *rules);

/* Whether a media type, maybe with parameters, is among the rules' types. */
bool compress_rules_take(const struct compress_rules *rules, struct bytes type);

/* Whether a Cache-Control value says no-transform (RFC 9111 5.2.2.6): the
 * answer then has to stay as it is. */
bool compress_is_forbidden(struct bytes cache_control);

/* Whether any Cache-Control line that `head` has from offset `from` on says
 * no-transform: a list may be spread over several lines (RFC 9110 5.3). */
bool compress_is_forbidden_in(struct bytes head, size_t from);

#endif
