/*
 * rules_fixture - one list of rules of a kind that a test fills line by line.
 */
#ifndef UNIT_HTTP_RULES_FIXTURE_H
#define UNIT_HTTP_RULES_FIXTURE_H

#include "suite.h"

/* Defines rules, which clear() empties, and add(), which fails the test when a
 * line is refused. */
#define RULES(kind)                                                   \
    static struct kind##_rules rules;                                 \
                                                                      \
    static int clear(void **state)                                    \
    {                                                                 \
        (void)state;                                                  \
        rules = (struct kind##_rules){0};                             \
        return 0;                                                     \
    }                                                                 \
                                                                      \
    static void add(const char *text)                                 \
    {                                                                 \
        const char *fault = kind##_rules_add(&rules, bytes_of(text)); \
                                                                      \
        if (fault)                                                    \
            fail_msg("'%s' %s", text, fault);                         \
    }

#endif
