/*
 * cache_rules - which Cache-Control an answer gets: by its path or its type.
 *
 *   *.css max-age=31536000, immutable      by name, the last segment
 *   /assets/v*.js max-age=86400            by path
 *   text/html no-cache                     by media type, or "type/" and '*'
 *
 * The first rule that fits decides.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   nothing; the texts are borrowed.
 */
#ifndef HTTP_RULES_CACHE_RULES_H
#define HTTP_RULES_CACHE_RULES_H

#include "http/name_glob.h"

enum { CACHE_RULES_MAX = 32, CACHE_RULE_VALUE_MAX = 500 };

struct cache_rules {
    size_t count;
    struct cache_rule {
        uint8_t kind;          /* private */
        struct bytes type;     /* the media type, in a rule by type */
        struct name_glob glob; /* the pattern, in a rule by name or path */
        struct bytes value;
    } rules[CACHE_RULES_MAX];
};

/* Adds a rule to `rules`, which began as all zero. Returns NULL, or what is
 * wrong with `text`, as words to put behind `text`. */
MUST_USE const char *cache_rules_add(struct cache_rules *rules,
                                     struct bytes text);

/* Returns the value for a file. `path` is clean, and names the file itself and
 * not only its directory. Parameters of its media type do not count. Returns
 * `fallback` when no rule fits. */
struct bytes cache_rules_find(const struct cache_rules *rules,
                              struct bytes path, struct bytes type,
                              struct bytes fallback);

/* Checks that `text` is a value of Cache-Control (RFC 9111 5.2) whose times are
 * numbers of seconds. Returns NULL, or what is wrong with `text`. */
MUST_USE const char *cache_control_check(struct bytes text);

#endif
