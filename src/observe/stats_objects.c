#include "observe/stats_objects.h"

#include <stdio.h>

/* --- Objects ------------------------------------------------------------- */

size_t stats_object_count(const struct stats_snapshot *snapshot,
                          enum stats_part part)
{
    switch ((int)part) {
    case STATS_PART_CACHE_IF:
        return snapshot->cache_told.requests > 0 ? MINIATURE_MODELS : 0;
    case STATS_PART_SIZE:
        return STATS_SIZE_COUNT;
    case STATS_PART_WORKER:
        return snapshot->options.worker_count;
    case STATS_PART_STORE:
        return snapshot->options.store_count;
    case STATS_PART_CERTIFICATE:
        return snapshot->certificates ? snapshot->certificates->count : 0;
    case STATS_PART_UPSTREAM:
        return snapshot->upstreams ? snapshot->upstreams->count : 0;
    default:
        return 1;
    }
}

void stats_object_get(const struct stats_snapshot *snapshot,
                      enum stats_part part, size_t number,
                      struct stats_object *object_out)
{
    static const char *const sizes[STATS_SIZE_COUNT] = {
        "1KiB", "10KiB", "100KiB", "1MiB", "more"}; /* upper bounds */
    const struct stats_upstreams *upstreams = snapshot->upstreams;
    struct stats_upstream *upstream = &object_out->upstream;
    struct stats_label *labels = object_out->labels;

    *object_out = (struct stats_object){.base = snapshot};
    switch ((int)part) {
    case STATS_PART_SIZE:
        object_out->base = &snapshot->sizes[number];
        labels[0] = (struct stats_label){"size", sizes[number]};
        break;
    case STATS_PART_CACHE_IF:
        object_out->base = &snapshot->cache_if[number];
        labels[0] = (struct stats_label){"policy",
                                         snapshot->cache_if[number].policy};
        labels[1] = (struct stats_label){"size",
                                         snapshot->cache_if[number].size};
        break;
    case STATS_PART_CACHE:
        labels[0] = (struct stats_label){"policy",
                                         snapshot->options.cache_policy};
        break;
    case STATS_PART_WORKER:
        object_out->base = &snapshot->workers[number];
        snprintf(object_out->number, sizeof(object_out->number), "%zu", number);
        labels[0] = (struct stats_label){"worker", object_out->number};
        break;
    case STATS_PART_STORE:
        object_out->base = snapshot->stores[number];
        object_out->store = &snapshot->options.stores[number];
        labels[0] = (struct stats_label){"store", object_out->store->prefix};
        break;
    case STATS_PART_CERTIFICATE:
        object_out->base = &object_out->certificate;
        stats_certificates_get(snapshot->certificates, number,
                               snapshot->wall_ns, &object_out->certificate);
        labels[0] = (struct stats_label){"site", object_out->certificate.site};
        break;
    case STATS_PART_UPSTREAM:
        object_out->base = upstream;
        upstreams->read(upstreams->context, number, snapshot->mono_ms,
                        upstream);
        labels[0] = (struct stats_label){"proxy", upstream->proxy};
        labels[1] = (struct stats_label){"server", upstream->server};
        break;
    default:
        break;
    }
}

bool stats_object_has(const struct stats_object *object,
                      const struct stats_row *row)
{
    return !object->store ||
           stats_store_has(object->store,
                           (unsigned)(row->offset / sizeof(uint64_t)));
}

/* --- Vectors ------------------------------------------------------------- */

/* Returns the name of the vector's item with this number, or NULL if there is
 * no such item. */
static const char *name_item(const struct stats_row *row,
                             const struct stats_snapshot *snapshot,
                             unsigned number, char code[4])
{
    const struct stats_options *options = &snapshot->options;

    switch (row->offset) {
    case offsetof(struct stats_snapshot, methods):
        return number < options->method_count ? options->method_names[number]
                                              : NULL;
    case offsetof(struct stats_snapshot, statuses):
        snprintf(code, 4, "%u", (STATS_STATUS_MIN + number) % 1000);
        return number < STATS_STATUS_COUNT ? code : NULL;
    case offsetof(struct stats_snapshot, closed):
        return number < STATS_CLOSE_COUNT ? stats_close_name(number) : NULL;
    case offsetof(struct stats_snapshot, refused):
        return number < STATS_REFUSAL_COUNT ? stats_refusal_name(number) : NULL;
    case offsetof(struct stats_snapshot, http2.events):
        return stats_http2_event_name(number);
    case offsetof(struct stats_snapshot, http2.abuses):
        return stats_http2_abuse_name(number);
    case offsetof(struct stats_snapshot, tls.handshakes):
        return stats_tls_handshake_name(number);
    case offsetof(struct stats_snapshot, tls.failed):
        return stats_tls_failure_name(number);
    case offsetof(struct stats_snapshot, tls.versions):
        return stats_tls_version_name(number);
    case offsetof(struct stats_snapshot, tls.groups):
        return stats_tls_group_name(number);
    default: /* the samples of each phase */
        return number < STATS_PHASE_COUNT && options->is_profiled
                   ? stats_phase_name(number)
                   : NULL;
    }
}

bool stats_item_next(const struct stats_row *row,
                     const struct stats_snapshot *snapshot,
                     struct stats_item *item)
{
    const uint64_t *values = stats_row_at(row, snapshot);
    unsigned number = item->at++;

    item->name = name_item(row, snapshot, number, item->code);
    if (item->name)
        item->value = values[number];
    return item->name;
}

/* --- Distributions ------------------------------------------------------- */

const struct stats_quantile stats_quantiles[STATS_QUANTILE_COUNT] = {
    {"min", "min", 0},   {"mean", "mean", -1}, {"p50", "median", 0.5},
    {"p90", "p90", 0.9}, {"p99", "p99", 0.99}, {"p999", "p99.9", 0.999},
    {"max", "max", 1},
};

uint64_t stats_quantile_of(const struct stats_quantile *quantile,
                           const struct distribution *distribution)
{
    if (quantile->share < 0)
        return (uint64_t)(distribution_mean(distribution) + 0.5);
    return distribution_quantile(distribution, quantile->share);
}
