/*
 * dictionary_rules - which answers may be sent as the difference from what the
 * client has already (RFC 9842), and what they are told apart from.
 *
 *   /assets/app.*.js            each answer of the pattern is a dictionary for
 *                               the next one
 *   /docs/page-*=/docs.words    that file is one for all of them, and they
 *                               lead to it by a Link field
 *   app:/assets/app.*.js        the client is told a name for it, too
 *
 * Patterns are those of base/glob.h, of whole paths, but for '?', which the
 * patterns of browsers have no word for. What a browser is told, its star takes
 * slashes, too: it may offer a dictionary where none is used.
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
    uint8_t file_len; /* 0: every answer is one */
    uint8_t text_len;
    uint16_t use_len;
    uint16_t link_len; /* 0: none */
    char file[DICTIONARY_PATH_BYTES_MAX];
    char text[DICTIONARY_PATH_BYTES_MAX]; /* of the pattern, as it was told */
    char lines[DICTIONARY_LINES_BYTES_MAX];
};

struct dictionary_rules {
    size_t count;
    struct dictionary_rule rules[DICTIONARY_RULES_MAX];
};

/* One more rule, of an object that began as all zero. NULL, or what is wrong
 * with text, as words to put behind it. */
MUST_USE const char *dictionary_rules_add(struct dictionary_rules *rules,
                                          struct bytes text);

/* The first rule that has the answer of a clean path as a dictionary, or for
 * which it is sent by one. NULL: none; rules may be NULL. */
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
