/*
 * generation_priv - shared by generation.c (references, services for workers)
 * and generation_open.c (opens what a configuration names).
 */
#ifndef PROCESS_GENERATION_PRIV_H
#define PROCESS_GENERATION_PRIV_H

#include <stdatomic.h>

#include "files/docroots.h"
#include "process/generation.h"

/* A rate limit's table, or a file of passwords. */
struct opened {
    const char *name; /* the option's text, which identifies it */
    uint64_t burst;   /* a rate limit's burst also identifies it */
    struct rate_limit *limiter;
    struct htpasswd *htpasswd;
    struct opened *next;
};

struct generation {
    struct options options;
    struct docroots roots;
    struct opened *opened;
    struct kv_tokens *tokens; /* may write keys; NULL: no tokens */
    /* May purge the proxy cache; NULL: no tokens. */
    struct kv_tokens *purgers;
    struct forwarded_trust trust;
    struct hosts names; /* names of this machine and its sites */
    struct proxies *proxies;
    struct credentials credentials;
    const char *challenges;           /* folder of ACME challenges, or NULL */
    struct tls_trust *upstream_trust; /* NULL: no server is asked over TLS */
    uint16_t https_port;
    atomic_uint refs;
};

/* Opens all that the options name; takes over from before what it can. Returns
 * EX_OK, or a status after a line on errors; generation_close() closes what is
 * open in any case. */
int generation_open(struct generation *generation,
                    const struct generation *before, FILE *errors);
void generation_close(struct generation *generation);

#endif
