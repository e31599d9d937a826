#include "observe/stats_certificates.h"

#include <stdlib.h>

#include "base/units.h"

bool stats_certificates_open(struct stats_certificates *certificates,
                             size_t count)
{
    *certificates = (struct stats_certificates){
        .items = calloc(count + 1, sizeof(*certificates->items))};
    if (!certificates->items)
        return false;
    if (pthread_mutex_init(&certificates->lock, NULL) != 0) {
        free(certificates->items);
        certificates->items = NULL;
        return false;
    }
    certificates->count = count;
    return true;
}

void stats_certificates_close(struct stats_certificates *certificates)
{
    if (certificates->items)
        pthread_mutex_destroy(&certificates->lock);
    free(certificates->items);
    certificates->items = NULL;
    certificates->count = 0;
}

void stats_certificates_name(struct stats_certificates *certificates,
                             size_t number, const char *site)
{
    certificates->items[number].site = site;
}

void stats_certificates_set(struct stats_certificates *certificates,
                            size_t number,
                            const struct stats_certificate_facts *facts)
{
    pthread_mutex_lock(&certificates->lock);
    certificates->items[number].facts = *facts;
    pthread_mutex_unlock(&certificates->lock);
}

void stats_certificates_get(const struct stats_certificates *certificates,
                            size_t number, int64_t wall_ns,
                            struct stats_certificate *certificate_out)
{
    /* The cast removes const from the lock, the only member that reading
     * changes. */
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&certificates->lock;
    struct stats_certificate_facts *facts = &certificate_out->facts;
    int64_t left_ms;

    pthread_mutex_lock(lock);
    *facts = certificates->items[number].facts;
    pthread_mutex_unlock(lock);
    left_ms = facts->ends_at * MS_PER_S - wall_ns / NS_PER_MS;
    certificate_out->site = certificates->items[number].site;
    certificate_out->names = facts->names;
    certificate_out->issuer = facts->issuer;
    certificate_out->error = facts->error;
    certificate_out->left_ms = left_ms > 0 ? (uint64_t)left_ms : 0;
    certificate_out->failures = facts->failures;
    certificate_out->next_ns = facts->next_at * NS_PER_S;
}
