/*
 * kv_redis - keys in Redis or Valkey, one of them alone or a cluster.
 *
 *   client (worker) --commands, pipelined--> connection --TCP--> a node
 *        ^                                  |
 *        +---- answers, in the loop --------+
 *
 * Nothing is kept here: any number of servers share one engine. Of the engine:
 * 64 partitions, each with a hash tag n of its own, so that a cluster has them
 * on all its nodes. A key's partition is that of its {tag}, if it has one that
 * is not empty, as Redis itself would say. In a partition there are
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
 * all its keys are in one partition: else it is KV_CROSSED.
 *
 * A write whose answer never came is KV_TIMEOUT: it may have taken place. It is
 * sent again only when it certainly has not: it was refused (MOVED, ASK, ...)
 * or did not leave us whole. Reading is tried once more.
 *
 * By TLS each node must show a certificate for the host that the URL names it
 * by; one that the cluster tells of, for the first host.
 *
 * Thread: open and close the main thread's; a client is its worker's.
 * Owns:   what the URL says, and the counters; a client its connections.
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
    struct tls_trust *trust; /* whom it believes then; held; NULL else */
    unsigned timeout_ms;     /* of a question; 0: 5 s */
    size_t calls_max;        /* under way, of each client; 0: 16384 */
    size_t bytes_max;        /* of them, as sent; 0: 256 MiB */
};

/* What the store has counted since it was opened, of all clients. */
struct kv_redis_counts {
    uint64_t calls;       /* commands sent */
    uint64_t redirected;  /* commands sent again: MOVED, ASK and the like */
    uint64_t repeated;    /* commands sent again after a connection was lost */
    uint64_t timeouts;    /* questions that had no answer in time */
    uint64_t unreachable; /* questions that no node could be asked */
    uint64_t connects;
};

struct kv_redis; /* opaque */

/* Whether text is meant for us, right or wrong; and whether by TLS. */
bool kv_redis_is_url(const char *text);
bool kv_redis_is_tls(const char *text);

/* NULL, or what is wrong with it, as words to put behind it. */
MUST_USE const char *kv_redis_check(const char *url);

/* Finds the addresses of names, which may take a while, but does not connect.
 * 0 or -errno: -EINVAL, see kv_redis_check(); -EHOSTUNREACH, no address. */
MUST_USE int kv_redis_open(struct kv_redis **store_out,
                           const struct kv_redis_options *options);

/* Closes the store, whose clients must be gone. NULL is accepted. */
void kv_redis_close(struct kv_redis *store);

/* A worker's client, which connects in its loop; now is what it holds for the
 * time. NULL: no memory. Destroyed when the loop does not run any more; what
 * was asked is forgotten then. */
MUST_USE struct kv_client *kv_redis_client_create(struct kv_redis *store,
                                                  struct ev_loop *loop,
                                                  const struct now *now);

void kv_redis_count(const struct kv_redis *store,
                    struct kv_redis_counts *counts);

#endif
