/*
 * stats_certificates - how the certificates of sites stand: when they end, and
 * of those that an authority is asked for, how that goes.
 *
 * Thread: any reads; one at a time writes, the main thread's. A lock is held
 *         for one copy.
 * Owns:   its copies; the sites' names are borrowed.
 */
#ifndef OBSERVE_STATS_CERTIFICATES_H
#define OBSERVE_STATS_CERTIFICATES_H

#include <pthread.h>
#include <stdint.h>

#include "base/bytes.h"

enum { STATS_CERTIFICATE_TEXT_MAX = 255 };

/* The facts of a site's certificate; of several, of the one that ends first.
 * What is longer than a text is cut. */
struct stats_certificate_facts {
    /* Seconds since the epoch; 0: there is no certificate yet. */
    int64_t ends_at;
    int64_t next_at; /* when an authority is asked, in such seconds; 0: never */
    uint64_t failures;                           /* in a row, of asking */
    char names[STATS_CERTIFICATE_TEXT_MAX + 1];  /* "a.example,b.example" */
    char issuer[STATS_CERTIFICATE_TEXT_MAX + 1]; /* "": nobody */
    char error[STATS_CERTIFICATE_TEXT_MAX + 1];  /* the last; "": none */
};

struct stats_certificates {
    size_t count;
    /* private */
    pthread_mutex_t lock;
    struct {
        const char *site; /* no two have the same */
        struct stats_certificate_facts facts;
    } * items;
};

/* Makes room for count certificates, without facts. False: no memory, and there
 * is nothing to close. */
MUST_USE bool stats_certificates_open(struct stats_certificates *certificates,
                                      size_t count);
void stats_certificates_close(struct stats_certificates *certificates);

/* number is below count. */
void stats_certificates_name(struct stats_certificates *certificates,
                             size_t number, const char *site);
void stats_certificates_set(struct stats_certificates *certificates,
                            size_t number,
                            const struct stats_certificate_facts *facts);

/* A certificate as a report has it. The texts lie in facts. */
struct stats_certificate {
    const char *site;
    const char *names;
    const char *issuer;
    const char *error;
    uint64_t left_ms; /* until it ends; 0: it has */
    uint64_t failures;
    int64_t next_ns; /* since the epoch; 0: never */
    struct stats_certificate_facts facts;
};

void stats_certificates_get(const struct stats_certificates *certificates,
                            size_t number, int64_t wall_ns,
                            struct stats_certificate *certificate_out);

#endif
