/*
 * acme_settings - what a configuration says about certificates that an
 * authority is asked for.
 *
 * Thread: any; values only.
 * Owns:   nothing; all is borrowed of the options.
 */
#ifndef ACME_ACME_SETTINGS_H
#define ACME_ACME_SETTINGS_H

#include <stdint.h>

#include "acme/acme_key.h"
#include "base/texts.h"

enum { ACME_CHALLENGE_TYPES_MAX = 4 };

struct acme_settings {
    struct texts directories; /* at least one */
    struct texts challenges;  /* at least one, in the order to try them */
    const char *email;        /* NULL: none is told */
    const char *ca;           /* NULL: the system's */
    const char *profile;      /* NULL: the authority chooses */
    const char *eab_id;       /* NULL: accounts are not bound */
    const char *eab_key;      /* a file */
    enum acme_key_kind key;
    int64_t retry_ms;
};

struct options;

/* Makes settings of options, which have to outlive them. items: room for the
 * challenges. */
struct acme_settings acme_settings_of(
    const struct options *options, const char *items[ACME_CHALLENGE_TYPES_MAX]);

#endif
