/*
 * proxies - the proxies of one configuration: what their workers are to make
 * of it, and what these share of each server.
 *
 * A server that is left out, or busy, is so for the next configuration, too, if
 * that says the same of the proxy: see proxies_inherit().
 *
 * Thread: made by the main thread; what is shared is counted by all workers.
 * Owns:   what is shared; all else lies in the configuration's arena, or is
 *         borrowed from its texts.
 */
#ifndef CONFIG_PROXIES_H
#define CONFIG_PROXIES_H

#include "config/proxy_told.h"
#include "engine/worker.h"
#include "observe/stats_upstreams.h"

enum { PROXIES_SERVERS_MAX = 256 }; /* of all proxies together */

struct proxies; /* opaque */

/* What is wrong with a proxy where it is told, or beside the others, as words
 * to put behind its text; NULL: nothing. *told_out is that one. */
const char *proxies_check(const struct options *options,
                          struct proxy_told *told_out);

/* Makes the proxies of options that have been checked. trust: as it is for
 * sites; purgers: who may purge what is kept, or NULL; both borrowed. NULL: no
 * memory. */
MUST_USE struct proxies *proxies_create(const struct options *options,
                                        const struct forwarded_trust *trust,
                                        const struct kv_tokens *purgers,
                                        struct arena *arena);
void proxies_destroy(struct proxies *proxies); /* NULL is accepted */

/* Whether some server is asked over TLS. */
bool proxies_need_trust(const struct options *options);

/* Goes on with what earlier knows of the servers of proxies that are as they
 * were. Before a worker sees them. */
void proxies_inherit(struct proxies *proxies, const struct proxies *earlier);

const struct worker_proxy *proxies_list(const struct proxies *proxies,
                                        size_t *count_out);

/* The upstreams for reports; as long as proxies live. */
const struct stats_upstreams *proxies_upstreams(const struct proxies *proxies);

#endif
