/*
 * proxies - the proxies of one configuration: their options for the workers,
 * and the data about each server that all workers share.
 *
 * The state of a server, such as ejected or busy, passes to the next
 * configuration if that has the same proxy (proxies_inherit()).
 *
 * Thread: the main thread makes it; all workers update the shared data.
 * Owns:   the shared data; the rest lies in the configuration's arena or texts.
 */
#ifndef CONFIG_PROXIES_H
#define CONFIG_PROXIES_H

#include "config/proxy_told.h"
#include "engine/worker.h"
#include "observe/stats_upstreams.h"

enum { PROXIES_SERVERS_MAX = 256 }; /* servers in all proxies together */

struct proxies; /* opaque */

/* Checks each proxy by itself, and whether all can be used together. Returns
 * NULL if all are valid. Otherwise, *told_out gets the first bad proxy, and the
 * result is an error message to append to that proxy's text. */
const char *proxies_check(const struct options *options,
                          struct proxy_told *told_out);

/* Makes the proxies of `options`, which was checked. `trust` is the trust that
 * sites use; `purgers` are the tokens that may purge the cache, or NULL. Both
 * are borrowed. Returns NULL if there is no memory. */
MUST_USE struct proxies *proxies_create(const struct options *options,
                                        const struct forwarded_trust *trust,
                                        const struct kv_tokens *purgers,
                                        struct arena *arena);
void proxies_destroy(struct proxies *proxies); /* NULL is accepted */

/* Whether any server is asked over TLS. */
bool proxies_need_trust(const struct options *options);

/* Takes over the shared data of unchanged proxies from `earlier`. Must be
 * called before a worker uses `proxies`. */
void proxies_inherit(struct proxies *proxies, const struct proxies *earlier);

const struct worker_proxy *proxies_list(const struct proxies *proxies,
                                        size_t *count_out);

/* Returns the upstreams for reports. The result lives as long as `proxies`. */
const struct stats_upstreams *proxies_upstreams(const struct proxies *proxies);

#endif
