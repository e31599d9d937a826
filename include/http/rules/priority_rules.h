/*
 * priority_rules - priorities that the operator gives to responses, by the name
 * or path of the request's target. A rule overrules the client (RFC 9218 8).
 *
 *   *.css u=1              by name
 *   /video/v*.mp4 u=6, i   by path
 *
 * The first rule that fits decides. A part of the priority that the rule leaves
 * out stays as the client has set it.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   all of it.
 */
#ifndef HTTP_RULES_PRIORITY_RULES_H
#define HTTP_RULES_PRIORITY_RULES_H

#include "http/name_glob.h"
#include "http/priority.h"

enum { PRIORITY_RULES_MAX = 32 };

struct priority_rules {
    size_t count;
    struct priority_rule {
        struct name_glob glob;
        struct priority_said said;
    } rules[PRIORITY_RULES_MAX];
};

/* Adds a rule to `rules`, which began as all zero. Returns NULL, or what is
 * wrong with `text`, as words to put behind `text`. */
MUST_USE const char *priority_rules_add(struct priority_rules *rules,
                                        struct bytes text);

/* Returns what the rules say of a clean path: nothing when no rule fits. */
struct priority_said priority_rules_find(const struct priority_rules *rules,
                                         struct bytes path);

#endif
