/*
 * generation_priv - shared by generation.c (references, services for workers)
 * and generation_open.c (opens the files that a configuration names).
 */
#ifndef PROCESS_GENERATION_PRIV_H
#define PROCESS_GENERATION_PRIV_H

#include <stdatomic.h>

#include "files/docroots.h"
#include "process/generation.h"

/* A rate limit's table, or a file of passwords, that an option names. */
struct opened {
    const char *name; /* the option's text, which identifies the entry */
    uint64_t burst;   /* together with `name`, identifies a rate limit */
    struct rate_limit *limiter;
    struct htpasswd *htpasswd;
    struct opened *next;
};

struct generation {
    struct options options;
    struct docroots roots;
    struct opened *opened;
    struct kv_tokens *tokens; /* tokens for writing keys, or NULL */
    /* Tokens for purging the proxy cache, or NULL. */
    struct kv_tokens *purgers;
    struct forwarded_trust trust;
    struct hosts names; /* names of this machine and its sites */
    struct proxies *proxies;
    struct credentials credentials;
    const char *challenges;           /* folder of ACME challenges, or NULL */
    struct tls_trust *upstream_trust; /* NULL if no server is asked over TLS */
    uint16_t https_port;
    atomic_uint refs;
};

/* Opens everything that the options name, or takes it over from the generation
 * `before`. Returns EX_OK, or a status of sysexits.h after writing one line to
 * `errors`. generation_close() is needed in both cases. */
int generation_open(struct generation *generation,
                    const struct generation *before, FILE *errors);
void generation_close(struct generation *generation);

#endif
