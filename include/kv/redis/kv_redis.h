/*
 * kv_redis - keys in an engine: Redis or Valkey, a single node or a cluster.
 *
 *   client (worker) --commands, pipelined--> connection --TCP--> a node
 *        ^                                  |
 *        +---- answers, in the loop --------+
 *
 * This process keeps no state of the store, so any number of servers can share
 * one engine. The keys are spread over 64 partitions, each with its own hash
 * tag n, so that each node of a cluster has some partitions. If a key contains
 * a {tag} that is not empty, only the tag selects the partition, as in Redis
 * itself. A partition holds
 *
 *   NAME:{n}:k:KEY  hash: r revision, m time stored, e time of expiry, t type,
 *                   n length of the value, v value
 *   NAME:{n}:i      sorted set, all keys, for listing
 *   NAME:{n}:e      sorted set, keys that expire, by time of expiry
 *   NAME:{n}:r      the last revision; a new revision is at least the time, so
 *                   revisions rise even if the engine has lost this key
 *   NAME:{n}:n      in the first partition: the last name given (KV_PUT_NAMED)
 *
 * A write is one script, which looks at all conditions before it changes
 * anything. Revisions rise in each partition. A cluster accepts a write only if
 * all keys of the write are in one partition; otherwise the outcome is
 * KV_CROSSED.
 *
 * A write whose answer never came ends with KV_TIMEOUT, and may have taken
 * place. A write is repeated only when it certainly did not take place: the
 * node refused the write (MOVED, ASK, ...), or the write was not sent whole. A
 * read is repeated once.
 *
 * Over TLS, a node that the URL names must show a certificate for its host in
 * the URL. A node that only the cluster names must show a certificate for the
 * URL's first host.
 *
 * Thread: the main thread opens and closes; a client belongs to one worker.
 * Owns:   the parsed URL and the counters; a client owns its connections.
 */
#ifndef KV_REDIS_KV_REDIS_H
#define KV_REDIS_KV_REDIS_H

#include "base/now.h"
#include "io/tls/tls_connector.h"
#include "kv/kv_store.h"

struct ev_loop;

struct kv_redis_options {
    /* redis://[USER:PASSWORD@]HOST[:PORT][,...][/DB] [?name=NAME], or rediss://
     * for TLS. The text is not needed after kv_redis_open(). */
    const char *url;
    struct tls_trust *trust; /* for rediss://, or NULL; counted */
    unsigned timeout_ms;     /* time limit of an answer; 0: 5 s */
    /* most unanswered commands of a client; 0: 16384 */
    size_t calls_max;
    size_t bytes_max; /* most bytes of these commands; 0: 256 MiB */
};

/* Counts of all clients since the store was opened. */
struct kv_redis_counts {
    uint64_t calls;       /* commands sent */
    uint64_t redirected;  /* commands sent again after MOVED, ASK or the like */
    uint64_t repeated;    /* commands sent again after a connection was lost */
    uint64_t timeouts;    /* questions without an answer in time */
    uint64_t unreachable; /* questions for which no node could be reached */
    uint64_t connects;
};

struct kv_redis; /* opaque */

/* kv_redis_is_url() says whether `text` begins like a URL of Redis, valid or
 * not. kv_redis_is_tls() says whether it begins like such a URL with TLS. */
bool kv_redis_is_url(const char *text);
bool kv_redis_is_tls(const char *text);

/* Returns NULL if the URL is valid, else an error message to append to the
 * URL. */
MUST_USE const char *kv_redis_check(const char *url);

/* Opens the store, which does not connect yet. Looks up the addresses of names,
 * which may take a while. Returns 0 or -errno; -EINVAL if kv_redis_check()
 * refuses the URL, -EHOSTUNREACH if no name has an address. */
MUST_USE int kv_redis_open(struct kv_redis **store_out,
                           const struct kv_redis_options *options);

/* Closes the store, whose clients must be gone. NULL is accepted. */
void kv_redis_close(struct kv_redis *store);

/* Creates a worker's client, which connects in the worker's loop; `now` is the
 * worker's clock. Returns NULL if there is no memory. The client is destroyed
 * after the loop has ended; unanswered questions are then forgotten. */
MUST_USE struct kv_client *kv_redis_client_create(struct kv_redis *store,
                                                  struct ev_loop *loop,
                                                  const struct now *now);

void kv_redis_count(const struct kv_redis *store,
                    struct kv_redis_counts *counts);

#endif
