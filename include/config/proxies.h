/*
 * proxies - the proxies of one configuration: their options for workers, and
 * what all workers share about each server.
 *
 * The state of a server (ejected, busy, ...) passes to the next configuration,
 * if that has the same proxy: see proxies_inherit().
 *
 * Thread: made by the main thread; all workers count in what is shared.
 * Owns:   what is shared; the rest lies in the configuration's arena or texts.
 */
#ifndef CONFIG_PROXIES_H
#define CONFIG_PROXIES_H

#include "config/proxy_told.h"
#include "engine/worker.h"
#include "observe/stats_upstreams.h"

enum { PROXIES_SERVERS_MAX = 256 }; /* servers in all proxies together */

struct proxies; /* opaque */

/* Returns what is wrong with a proxy, or with its combination with others, to
 * be put behind its text, and sets *told_out to that proxy; NULL: nothing is
 * wrong. */
const char *proxies_check(const struct options *options,
                          struct proxy_told *told_out);

/* Makes the proxies of checked options. trust: the one that sites use; purgers:
 * who may purge the cache, or NULL; both borrowed. NULL: no memory. */
MUST_USE struct proxies *proxies_create(const struct options *options,
                                        const struct forwarded_trust *trust,
                                        const struct kv_tokens *purgers,
                                        struct arena *arena);
void proxies_destroy(struct proxies *proxies); /* NULL is accepted */

/* Whether any server is asked over TLS. */
bool proxies_need_trust(const struct options *options);

/* Takes over what earlier knows about the servers of unchanged proxies. To be
 * called before a worker uses proxies. */
void proxies_inherit(struct proxies *proxies, const struct proxies *earlier);

const struct worker_proxy *proxies_list(const struct proxies *proxies,
                                        size_t *count_out);

/* The upstreams for reports; valid as long as proxies. */
const struct stats_upstreams *proxies_upstreams(const struct proxies *proxies);

#endif
