/*
 * kv_redis - keys in Redis or Valkey, one of them alone or a cluster.
 *
 *   client (worker) --commands, pipelined--> connection --TCP--> a node
 *        ^                                  |
 *        +---- answers, in the loop --------+
 *
 * Nothing is kept here: any number of servers share one engine. The keys are
 * spread over 64 partitions, each with a hash tag n of its own, so that a
 * cluster has some on each node. A key with a {tag} that is not empty goes by
 * its tag alone, as in Redis itself. A partition holds
 *
 *   NAME:{n}:k:KEY  hash: r revision, m stored, e expires, t type, n bytes, v
 *   NAME:{n}:i      sorted set, all keys, for listing
 *   NAME:{n}:e      sorted set, keys that expire, by when
 *   NAME:{n}:r      the last revision: a time, so that it rises for ever, even
 *                   if the engine has lost this
 *   NAME:{n}:n      in the first one: the last name given (KV_PUT_NAMED)
 *
 * A write is one script, which looks at all conditions before it changes
 * anything. Revisions rise in each partition. A cluster does a write only if
 * all its keys are in one partition; otherwise the write is KV_CROSSED.
 *
 * A write whose answer never came is KV_TIMEOUT: it may have taken place. A
 * write is repeated only when it certainly has not: the node refused it (MOVED,
 * ASK, ...), or it was not sent whole. A read is repeated once.
 *
 * Over TLS, each node of the URL must show a certificate for its host there; a
 * node that the cluster names, one for the URL's first host.
 *
 * Thread: the main thread opens and closes; a client is its worker's.
 * Owns:   the parsed URL and the counters; a client owns its connections.
 */
#ifndef KV_REDIS_KV_REDIS_H
#define KV_REDIS_KV_REDIS_H

#include "base/now.h"
#include "io/tls/tls_connector.h"
#include "kv/kv_store.h"

struct ev_loop;

struct kv_redis_options {
    const char *url;         /* redis://[USER:PASSWORD@]HOST[:PORT][,...][/DB]
                            [?name=NAME]; or rediss://, by TLS; read once */
    struct tls_trust *trust; /* trusted by rediss://; held; else NULL */
    unsigned timeout_ms;     /* time limit of an answer; 0: 5 s */
    size_t calls_max;        /* unanswered commands of a client; 0: 16384 */
    size_t bytes_max;        /* bytes of these; 0: 256 MiB */
};

/* Counts of all clients since the store was opened. */
struct kv_redis_counts {
    uint64_t calls;       /* commands sent */
    uint64_t redirected;  /* commands sent again: MOVED, ASK and the like */
    uint64_t repeated;    /* commands sent again after a connection was lost */
    uint64_t timeouts;    /* questions without an answer in time */
    uint64_t unreachable; /* questions for which no node could be reached */
    uint64_t connects;
};

struct kv_redis; /* opaque */

/* Whether text begins as such a URL, valid or not; the second: one with TLS. */
bool kv_redis_is_url(const char *text);
bool kv_redis_is_tls(const char *text);

/* Returns NULL, or what is wrong with the URL, to be put behind it. */
MUST_USE const char *kv_redis_check(const char *url);

/* Looks up the addresses of names, which may take a while; does not connect. 0
 * or -errno: -EINVAL, see kv_redis_check(); -EHOSTUNREACH, no address. */
MUST_USE int kv_redis_open(struct kv_redis **store_out,
                           const struct kv_redis_options *options);

/* Closes the store, whose clients must be gone. NULL is accepted. */
void kv_redis_close(struct kv_redis *store);

/* Creates a worker's client, which connects in its loop; now is the worker's
 * clock. NULL: no memory. It is destroyed after the loop has ended; unanswered
 * questions are forgotten then. */
MUST_USE struct kv_client *kv_redis_client_create(struct kv_redis *store,
                                                  struct ev_loop *loop,
                                                  const struct now *now);

void kv_redis_count(const struct kv_redis *store,
                    struct kv_redis_counts *counts);

#endif
