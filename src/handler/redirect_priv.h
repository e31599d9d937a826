/*
 * redirect_priv - what the two files of redirects share: redirect.c, which has
 * the rules, and redirect_target.c, which writes where they lead.
 */
#ifndef HANDLER_REDIRECT_PRIV_H
#define HANDLER_REDIRECT_PRIV_H

#include "handler/redirect.h"

/* What a target is filled in with. */
struct redirect_filling {
    struct bytes captures[GLOB_CAPTURES_MAX];
    struct bytes path;
    struct bytes query;
    struct bytes host; /* empty: there is none */
    struct bytes port; /* behind it, with its colon; empty: the scheme's */
    struct bytes scheme;
};

enum redirect_variable {
    VARIABLE_HOST,
    VARIABLE_PATH,
    VARIABLE_QUERY,
    VARIABLE_SCHEME,
    VARIABLE_CAPTURE, /* the first, and then the others */
    VARIABLE_NONE = VARIABLE_CAPTURE + GLOB_CAPTURES_MAX
};

/* What stands behind a dollar sign, and how long that is. */
enum redirect_variable redirect_variable_read(struct bytes text,
                                              size_t *len_out);

/* Takes what stands before a byte of set, or all. */
struct bytes redirect_take_before(struct bytes *text, const char *set);

/* Whether a target begins with a scheme. */
bool redirect_is_absolute(struct bytes to);

/* Writes where a rule leads. */
void redirect_put_target(struct buf *out, const struct redirect_rule *rule,
                         const struct redirect_filling *filling);

#endif
