/*
 * type_rules - media types that the operator sets for files, by name or path.
 * These types go before those of mime.h.
 *
 *   *.ts video/mp2t                       by name
 *   /feeds/news application/rss+xml          by path
 *   *.txt text/plain; charset=iso-8859-1  a text type is UTF-8 unless it says
 *
 * The first rule that fits decides.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   all of it.
 */
#ifndef HTTP_RULES_TYPE_RULES_H
#define HTTP_RULES_TYPE_RULES_H

#include "http/name_glob.h"

enum { TYPE_RULES_MAX = 32, TYPE_RULE_BYTES_MAX = 120 };

struct type_rules {
    size_t count;
    struct type_rule {
        struct name_glob glob;
        uint8_t type_len;
        char type[TYPE_RULE_BYTES_MAX]; /* with "; charset=utf-8" if need be */
    } rules[TYPE_RULES_MAX];
};

/* Adds a rule to `rules`, which began as all zero. Returns NULL, or what is
 * wrong with `text`, as words to put behind `text`. */
MUST_USE const char *type_rules_add(struct type_rules *rules,
                                    struct bytes text);

/* Returns the type for a clean path that names a file. The type is empty when
 * no rule fits, and when `rules` is NULL. */
struct bytes type_rules_find(const struct type_rules *rules, struct bytes path);

#endif
