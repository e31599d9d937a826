/*
 * acme_settings - the options that concern certificates from an authority.
 *
 * Thread: any; values only.
 * Owns:   nothing; all is borrowed from the options.
 */
#ifndef ACME_ACME_SETTINGS_H
#define ACME_ACME_SETTINGS_H

#include <stdint.h>

#include "acme/acme_key.h"
#include "base/texts.h"

enum { ACME_CHALLENGE_TYPES_MAX = 4 };

struct acme_settings {
    struct texts directories; /* URLs, at least one */
    struct texts challenges;  /* at least one, in the order to try them */
    const char *email;        /* NULL: no contact is given */
    const char *ca;           /* trusted certificates; NULL: the system's */
    const char *profile;      /* NULL: the authority chooses */
    const char *eab_id;       /* NULL: accounts are not bound */
    const char *eab_key;      /* name of the file with the key */
    enum acme_key_kind key;
    int64_t retry_ms;
};

struct options;

/* Makes settings from options. The options must outlive the settings, and so
 * must `items`, which holds the list of challenges. */
struct acme_settings acme_settings_of(
    const struct options *options, const char *items[ACME_CHALLENGE_TYPES_MAX]);

#endif
