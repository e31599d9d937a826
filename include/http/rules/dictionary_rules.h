/*
 * dictionary_rules - which answers may be compressed with a dictionary that the
 * client already has (RFC 9842), and with which one.
 *
 *   /assets/app.*.js            each answer of the pattern is a dictionary for
 *                               the next one
 *   /docs/page-*=/docs.words    the file /docs.words is the dictionary for all
 *                               of them, which name it in a Link field
 *   app:/assets/app.*.js        the client is told a name of the dictionary,
 *                               too
 *
 * Patterns are those of base/glob.h, for whole paths. They have no '?', because
 * the patterns of browsers have none. The star of a browser's pattern takes
 * slashes, too, so that a browser may offer a dictionary where none is used.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   all of it.
 */
#ifndef HTTP_RULES_DICTIONARY_RULES_H
#define HTTP_RULES_DICTIONARY_RULES_H

#include "base/glob.h"

enum {
    DICTIONARY_RULES_MAX = 8,
    DICTIONARY_PATH_BYTES_MAX = 160, /* limit for a pattern, and for a file */
    DICTIONARY_ID_BYTES_MAX = 64,    /* our limit; RFC 9842 2.1.3 allows 1024 */
    /* In `lines` each byte of a pattern or file becomes three bytes at most,
     * and each byte of an id two. */
    DICTIONARY_LINES_BYTES_MAX = 6 * DICTIONARY_PATH_BYTES_MAX +
                                 2 * DICTIONARY_ID_BYTES_MAX + 120
};

struct dictionary_rule {
    struct glob answers;
    uint8_t file_len; /* 0: each answer is itself a dictionary */
    uint8_t text_len;
    uint16_t use_len;
    uint16_t link_len; /* length of the Link line; 0: there is none */
    char file[DICTIONARY_PATH_BYTES_MAX];
    char text[DICTIONARY_PATH_BYTES_MAX]; /* the pattern, as written */
    char lines[DICTIONARY_LINES_BYTES_MAX];
};

struct dictionary_rules {
    size_t count;
    struct dictionary_rule rules[DICTIONARY_RULES_MAX];
};

/* Adds a rule to `rules`, which began as all zero. Returns NULL, or what is
 * wrong with `text`, as words to put behind `text`. */
MUST_USE const char *dictionary_rules_add(struct dictionary_rules *rules,
                                          struct bytes text);

/* dictionary_rules_find_made() finds the first rule by which the answer for a
 * clean path is a dictionary; dictionary_rules_find_used() finds the first by
 * which that answer is sent with a dictionary. Both return NULL when no rule
 * fits; `rules` may be NULL. */
const struct dictionary_rule *dictionary_rules_find_made(
    const struct dictionary_rules *rules, struct bytes path);
const struct dictionary_rule *dictionary_rules_find_used(
    const struct dictionary_rules *rules, struct bytes path);

/* Returns the line Use-As-Dictionary, for an answer that is a dictionary by
 * that rule. */
static inline struct bytes dictionary_rule_use(const struct dictionary_rule
                                                   *rule)
{
    return (struct bytes){rule->lines, rule->use_len};
}

/* Returns the line Link, or an empty text, for an answer that is sent with a
 * dictionary by that rule. */
static inline struct bytes dictionary_rule_link(const struct dictionary_rule
                                                    *rule)
{
    return (struct bytes){rule->lines + rule->use_len, rule->link_len};
}

#endif
