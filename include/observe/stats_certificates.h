/*
 * stats_certificates - the state of the sites' certificates: when each
 * certificate ends and, for managed certificates, how the renewal goes.
 *
 * Thread: any thread may read; the main thread writes. A lock is held only
 *         during a copy.
 * Owns:   copies of all facts; the sites' names are borrowed.
 */
#ifndef OBSERVE_STATS_CERTIFICATES_H
#define OBSERVE_STATS_CERTIFICATES_H

#include <pthread.h>
#include <stdint.h>

#include "base/bytes.h"

enum { STATS_CERTIFICATE_TEXT_MAX = 255 };

/* The facts of a site's certificate. If the site has several certificates, the
 * facts are of the one that ends first. Texts that are too long are cut. */
struct stats_certificate_facts {
    /* When the certificate ends, in seconds since the epoch; 0 if the site has
     * no certificate. */
    int64_t ends_at;
    int64_t next_at;   /* next order, in seconds since the epoch; 0: never */
    uint64_t failures; /* consecutive failed orders */
    char names[STATS_CERTIFICATE_TEXT_MAX + 1];  /* "a.example,b.example" */
    char issuer[STATS_CERTIFICATE_TEXT_MAX + 1]; /* "" if unknown */
    char error[STATS_CERTIFICATE_TEXT_MAX + 1];  /* the last error, or "" */
};

struct stats_certificates {
    size_t count;
    /* private */
    pthread_mutex_t lock;
    struct {
        const char *site; /* unique */
        struct stats_certificate_facts facts;
    } * items;
};

/* Makes room for `count` certificates, which have no facts yet. Returns false
 * if there is no memory; there is then nothing to close. */
MUST_USE bool stats_certificates_open(struct stats_certificates *certificates,
                                      size_t count);
void stats_certificates_close(struct stats_certificates *certificates);

/* Sets the name of the site `number`, counted from 0. */
void stats_certificates_name(struct stats_certificates *certificates,
                             size_t number, const char *site);
void stats_certificates_set(struct stats_certificates *certificates,
                            size_t number,
                            const struct stats_certificate_facts *facts);

/* A certificate for reports. The texts, except `site`, lie in `facts`. */
struct stats_certificate {
    const char *site;
    const char *names;
    const char *issuer;
    const char *error;
    uint64_t left_ms; /* time until the certificate's end; 0 after its end */
    uint64_t failures;
    int64_t next_ns; /* next order, since the epoch; 0 for never */
    struct stats_certificate_facts facts;
};

void stats_certificates_get(const struct stats_certificates *certificates,
                            size_t number, int64_t wall_ns,
                            struct stats_certificate *certificate_out);

#endif
