/*
 * dictionary_rules - which answers may be sent as the difference from a
 * dictionary that the client has already (RFC 9842), and from which one.
 *
 *   /assets/app.*.js            each answer of the pattern is a dictionary for
 *                               the next one
 *   /docs/page-*=/docs.words    that file is the dictionary of all of them,
 *                               which name it in a Link field
 *   app:/assets/app.*.js        the client is told a name for it, too
 *
 * Patterns are those of base/glob.h, of whole paths, but without '?', which
 * browsers' patterns do not have. The star of a browser's pattern takes
 * slashes, too: so it may offer a dictionary where none is used.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   all of it.
 */
#ifndef HTTP_RULES_DICTIONARY_RULES_H
#define HTTP_RULES_DICTIONARY_RULES_H

#include "base/glob.h"

enum {
    DICTIONARY_RULES_MAX = 8,
    DICTIONARY_PATH_BYTES_MAX = 160, /* of a pattern, and of a file */
    DICTIONARY_ID_BYTES_MAX = 64,    /* RFC 9842 2.1.3 allows 1024 */
    /* Each byte becomes three at most. */
    DICTIONARY_LINES_BYTES_MAX = 6 * DICTIONARY_PATH_BYTES_MAX +
                                 2 * DICTIONARY_ID_BYTES_MAX + 120
};

struct dictionary_rule {
    struct glob answers;
    uint8_t file_len; /* 0: every answer is a dictionary */
    uint8_t text_len;
    uint16_t use_len;
    uint16_t link_len; /* 0: there is no Link */
    char file[DICTIONARY_PATH_BYTES_MAX];
    char text[DICTIONARY_PATH_BYTES_MAX]; /* the pattern, as written */
    char lines[DICTIONARY_LINES_BYTES_MAX];
};

struct dictionary_rules {
    size_t count;
    struct dictionary_rule rules[DICTIONARY_RULES_MAX];
};

/* Adds a rule to rules, which began as all zero. Returns NULL, or what is wrong
 * with text, as words to put behind it. */
MUST_USE const char *dictionary_rules_add(struct dictionary_rules *rules,
                                          struct bytes text);

/* The first rule by which the answer of a clean path is a dictionary, or is
 * sent by one. NULL: none; rules may be NULL. */
const struct dictionary_rule *dictionary_rules_find_made(
    const struct dictionary_rules *rules, struct bytes path);
const struct dictionary_rule *dictionary_rules_find_used(
    const struct dictionary_rules *rules, struct bytes path);

/* The line of an answer that is a dictionary by that rule:
 * Use-As-Dictionary. */
static inline struct bytes dictionary_rule_use(const struct dictionary_rule
                                                   *rule)
{
    return (struct bytes){rule->lines, rule->use_len};
}

/* The line of an answer that uses one: Link, or empty. */
static inline struct bytes dictionary_rule_link(const struct dictionary_rule
                                                    *rule)
{
    return (struct bytes){rule->lines + rule->use_len, rule->link_len};
}

#endif
