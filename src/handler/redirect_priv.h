/*
 * redirect_priv - shared by redirect.c, which has the rules, and
 * redirect_target.c, which writes their targets.
 */
#ifndef HANDLER_REDIRECT_PRIV_H
#define HANDLER_REDIRECT_PRIV_H

#include "handler/redirect.h"

/* The values with which a target is filled in. */
struct redirect_filling {
    struct bytes captures[GLOB_CAPTURES_MAX];
    struct bytes path;
    struct bytes query;
    struct bytes host; /* empty: the request names no host */
    struct bytes port; /* with its colon; empty: the scheme's default */
    struct bytes scheme;
};

enum redirect_variable {
    VARIABLE_HOST,
    VARIABLE_PATH,
    VARIABLE_QUERY,
    VARIABLE_SCHEME,
    VARIABLE_CAPTURE, /* $1; the other captures follow */
    VARIABLE_NONE = VARIABLE_CAPTURE + GLOB_CAPTURES_MAX
};

/* Reads the variable behind a dollar sign. *len_out is its length. */
enum redirect_variable redirect_variable_read(struct bytes text,
                                              size_t *len_out);

/* Returns the part of `text` before its first byte that is in `set`, or all of
 * `text` if it has no such byte. Takes that part off `text`. */
struct bytes redirect_take_before(struct bytes *text, const char *set);

/* Whether a target begins with a scheme. */
bool redirect_is_absolute(struct bytes to);

/* Writes the target of a rule. */
void redirect_put_target(struct buf *out, const struct redirect_rule *rule,
                         const struct redirect_filling *filling);

#endif
