/*
 * generation_priv - what generation.c (who holds one, what workers are given of
 * it) and generation_open.c (what a configuration names) share.
 */
#ifndef PROCESS_GENERATION_PRIV_H
#define PROCESS_GENERATION_PRIV_H

#include <stdatomic.h>

#include "files/docroots.h"
#include "process/generation.h"

/* A rate limit with its table, or a file of passwords. */
struct opened {
    const char *name; /* what the option says; the same text, the same thing */
    uint64_t burst;   /* of a rate limit, which is another one with another */
    struct rate_limit *limiter;
    struct htpasswd *htpasswd;
    struct opened *next;
};

struct generation {
    struct options options;
    struct docroots roots;
    struct opened *opened;
    struct kv_tokens *tokens; /* who may write keys; NULL: there are none */
    /* Who may purge answers of proxies; NULL: there are none. */
    struct kv_tokens *purgers;
    struct forwarded_trust trust;
    struct hosts names; /* of this machine, and of its sites */
    struct proxies *proxies;
    struct credentials credentials;
    const char *challenges; /* of authorities of certificates; NULL: none */
    struct tls_trust *upstream_trust; /* NULL: no proxy needs it */
    uint16_t https_port;
    atomic_uint refs;
};

/* Opens all that the options name, as much as can be taken over from before.
 * EX_OK, or a status after a line on errors: what is open is closed by
 * generation_close() then, too. */
int generation_open(struct generation *generation,
                    const struct generation *before, FILE *errors);
void generation_close(struct generation *generation);

#endif
