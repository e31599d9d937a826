/*
 * stats_tls - counts clients' TLS handshakes by their results.
 *
 * Thread: see stats.h.
 * Owns:   nothing.
 */
#ifndef OBSERVE_STATS_TLS_H
#define OBSERVE_STATS_TLS_H

#include "base/bytes.h"
#include "observe/counter.h"

enum stats_tls_handshake {
    STATS_TLS_FULL,
    STATS_TLS_RESUMED, /* resumed by a ticket */
    STATS_TLS_HANDSHAKE_COUNT
};

/* Why a handshake failed. */
enum stats_tls_failure {
    STATS_TLS_VERSION,     /* no common version */
    STATS_TLS_CIPHER,      /* no common cipher */
    STATS_TLS_NAME,        /* no certificate for the name that was asked for */
    STATS_TLS_CERTIFICATE, /* the client's certificate is missing or invalid */
    STATS_TLS_ALERT,       /* the client sent an alert */
    STATS_TLS_PLAIN_HTTP,  /* the client spoke plain HTTP */
    STATS_TLS_GONE,        /* the client has left */
    STATS_TLS_TIMEOUT,     /* the handshake took too long */
    STATS_TLS_OTHER,
    STATS_TLS_FAILURE_COUNT
};

enum { STATS_TLS_VERSION_COUNT = 3, STATS_TLS_GROUP_COUNT = 4 };

struct stats_tls {
    struct counter handshakes[STATS_TLS_HANDSHAKE_COUNT];
    struct counter failed[STATS_TLS_FAILURE_COUNT];
    struct counter versions[STATS_TLS_VERSION_COUNT];
    struct counter groups[STATS_TLS_GROUP_COUNT];
};

/* The numbers of struct stats_tls, summed over workers. */
struct stats_tls_sums {
    uint64_t handshakes[STATS_TLS_HANDSHAKE_COUNT];
    uint64_t failed[STATS_TLS_FAILURE_COUNT];
    uint64_t versions[STATS_TLS_VERSION_COUNT];
    uint64_t groups[STATS_TLS_GROUP_COUNT];
};

/* Notes a completed handshake. `version` and `group` are names like "TLSv1.3"
 * and "x25519", empty if unknown. */
void stats_tls_note(struct stats_tls *tls, bool is_resumed,
                    struct bytes version, struct bytes group);

static inline void stats_tls_note_failure(struct stats_tls *tls,
                                          enum stats_tls_failure failure)
{
    counter_add(&tls->failed[failure], 1);
}

void stats_tls_add(struct stats_tls_sums *sums, const struct stats_tls *tls);

/* Whether any client has tried TLS. */
bool stats_tls_is_used(const struct stats_tls_sums *sums);

/* Return names like "resumed", "plain_http", "TLSv1.3", "x25519", for labels
 * and keys; NULL if there is no such number. */
const char *stats_tls_handshake_name(unsigned number);
const char *stats_tls_failure_name(unsigned number);
const char *stats_tls_version_name(unsigned number);
const char *stats_tls_group_name(unsigned number);

#endif
