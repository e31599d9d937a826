/*
 * cache_store - all answers that are kept, of all workers, and who is fetching
 * what.
 *
 *   find --> an entry: use it, or ask whether it is still good
 *    '-----> none: join --> LEAD: fetch it; cache_flight_end() tells the others
 *                      '--> WAIT: somebody does; look again when that has ended
 *                      '--> ALONE: what is answered there was not for all
 *
 * Keys lie in shards by a secret hash, each with a lock, which is held for one
 * look; nothing is written, sent or freed under it. When there is no room, the
 * policy of a shard chooses the entry that goes, and shards take turns.
 *
 * With a disk the entries' heads lie in memory, and of their bodies those that
 * are awake: the last that were asked for. What is not on disk yet, or for
 * which there was no room, is always awake, and goes as soon as it is not to
 * be.
 *
 * Invariant: an entry that is indexed has one reference of the store's own;
 *            what is settled is at most bytes_max in all, but for one put under
 * way.
 * Thread:    any.
 * Owns:      entries, flights.
 */
#ifndef CACHE_CACHE_STORE_H
#define CACHE_CACHE_STORE_H

#include "cache/cache_disk.h"
#include "http/request.h"

enum {
    CACHE_VARIANTS_MAX = 32, /* of one key */
    CACHE_ALONE_S = 10,      /* nobody waits, after an answer for one only */
    CACHE_LATE_S = 10,       /* all wait for one; then one more asks, too */
    CACHE_LONG_S = 600,      /* after one that was too long, each asks alone */
    CACHE_AWAKE_BYTES_MAX =
        134217728, /* bodies in memory that lie on disk, too */
    CACHE_HEADS_BYTES_MAX = 268435456 /* entries without bodies, with a disk */
};

struct cache_store_options {
    enum evict_policy policy;
    uint64_t bytes_max;
    uint64_t object_max;            /* bytes of a body, at most */
    size_t files_max;               /* descriptors, at most */
    struct cache_disk_options disk; /* folder NULL: all is in memory */
};

struct cache_store; /* opaque */

/* 0 or -errno. */
MUST_USE int cache_store_create(struct cache_store **store_out,
                                const struct cache_store_options *options);
/* Writes what is still to be written, and ends the store's thread. Workers have
 * ended before. */
void cache_store_stop(struct cache_store *store);
/* Frees the store, of which nobody has anything any more. NULL is accepted. */
void cache_store_destroy(struct cache_store *store);

const struct cache_store_options *cache_store_options_of(
    const struct cache_store *store);

/* Leaves the folder, if there is one, to another process. NULL is accepted. */
void cache_store_leave(struct cache_store *store);

/* --- Finding ------------------------------------------------------------- */

struct cache_found {
    struct cache_entry *entry; /* a reference, like body; NULL: none */
    struct cache_body *body;   /* NULL: it has none */
    uint64_t variant;          /* for cache_store_join(), like version */
    uint64_t version;
};

/* The entry of a key that the request selects: the newest. */
void cache_store_find(struct cache_store *store, struct bytes key,
                      const struct request *request,
                      struct cache_found *found_out);
void cache_found_release(struct cache_found *found);

/* Whether an answer that is no error (a status below 400) is kept for key, as
 * whatever variant. */
bool cache_store_has_answer(struct cache_store *store, struct bytes key);

/* --- Fetching ------------------------------------------------------------ */

enum cache_outcome {
    CACHE_OUTCOME_NONE,   /* the flight is under way */
    CACHE_OUTCOME_STORED, /* the answer is stored: look for it */
    CACHE_OUTCOME_AGAIN,  /* nothing is known: another may fetch */
    CACHE_OUTCOME_ALONE   /* it was not for all, or there was no answer */
};

struct cache_flight; /* opaque; counted */

enum cache_join {
    CACHE_LEAD,  /* fetch; the caller ends *flight_out */
    CACHE_WAIT,  /* somebody fetches; wait is told of the end */
    CACHE_ALONE, /* fetch, without waiting for each other */
    CACHE_LOOK   /* an entry has come: find again */
};

/* now_s is of the monotonic clock, here and below: what is waited for does not
 * take longer when the clock on the wall is set.
 *
 * found is of this key. *flight_out is a reference, with LEAD and WAIT. A
 * caller that would lead, but not wait, gives NULL for wait: it gets no
 * reference with WAIT. */
enum cache_join cache_store_join(struct cache_store *store, struct bytes key,
                                 const struct cache_found *found, int64_t now_s,
                                 struct cache_wait *wait,
                                 struct cache_flight **flight_out);

/* Whether anybody waits for a flight's end. */
bool cache_flight_has_waits(struct cache_store *store,
                            const struct cache_flight *flight);

/* Tells all who wait how the flight ended. Takes the leader's reference over.
 */
void cache_flight_end(struct cache_store *store,
                      struct cache_flight **flight_ref,
                      enum cache_outcome outcome, int64_t now_s);

/* Tells those who wait for what was begun CACHE_LATE_S ago: the first of them
 * leads another flight, for which the others wait. Looks at all that is under
 * way; to be called now and then. */
void cache_store_end_late(struct cache_store *store, int64_t now_s);

/* How the flight ended, for one that waits; CACHE_OUTCOME_NONE while it goes
 * on. */
enum cache_outcome cache_flight_peek(struct cache_store *store,
                                     const struct cache_flight *flight);

/* Ends a wait, whether the flight has ended or not. Takes the reference over.
 */
enum cache_outcome cache_flight_leave(struct cache_store *store,
                                      struct cache_flight **flight_ref,
                                      struct cache_wait *wait);

/* --- Keeping ------------------------------------------------------------- */

/* Whether a body of that length, or CACHE_LENGTH_UNKNOWN, may be begun. */
bool cache_store_has_room(struct cache_store *store, uint64_t length);
/* Whether nothing more may be begun: bodies that are kept, that are being
 * filled, and that were given up and are still read have twice the bytes that
 * may be kept. */
bool cache_store_is_full(const struct cache_store *store);

/* Notes that a variant of a key's answer, of unknown length, was longer than
 * may be kept; and whether it was lately. Of many some are forgotten. */
void cache_store_note_long(struct cache_store *store, struct bytes key,
                           struct bytes variant, int64_t now_s);
bool cache_store_was_long(struct cache_store *store, struct bytes key,
                          struct bytes variant, int64_t now_s);

/* NULL: no memory or descriptors. */
MUST_USE struct cache_body *cache_store_make_body(struct cache_store *store,
                                                  uint64_t length);

/* How often the key, or one that hashes alike, was made invalid, how often
 * anything of its shard, and how often anything was purged; taken before the
 * origin is asked. */
struct cache_epoch {
    uint32_t invalidated;
    uint32_t all_invalidated;
    uint32_t purges;
};

struct cache_epoch cache_store_epoch(struct cache_store *store,
                                     struct bytes key);

/* Whether the entry's key, or one that hashes alike, was neither made invalid
 * since that epoch, nor purged but softly. */
bool cache_store_is_current(struct cache_store *store,
                            struct cache_entry *entry,
                            struct cache_epoch epoch);

/* Lets the entry in, in the place of the same variant's. The store takes a
 * reference of its own. Its body may still be filled: cache_store_settle().
 * earlier: the entry that it was updated from, which has the same body; or
 * NULL. False: it was made invalid, or purged, since that epoch, or earlier has
 * given way to another meanwhile, and it stays out; what was purged softly is
 * let in, to be asked about. */
MUST_USE bool cache_store_put(struct cache_store *store,
                              struct cache_entry *entry,
                              const struct cache_entry *earlier,
                              struct cache_epoch epoch);

/* All of the entry's body has been put: as soon as that is whole the entry
 * counts, and may be evicted. */
void cache_store_settle(struct cache_store *store, struct cache_entry *entry);

void cache_store_drop(struct cache_store *store, struct cache_entry *entry);

/* Removes all variants of a key; how many there were. */
size_t cache_store_invalidate(struct cache_store *store, struct bytes key);

/* What is to go: of one place and host, by address or by tag. */
struct cache_purge {
    struct bytes place;   /* data NULL: of all proxies */
    struct bytes address; /* "host/path?query"; with is_prefix: its beginning */
    struct bytes tags;    /* tags, one of which counts; empty: any */
    bool is_prefix;
    bool is_soft; /* entries stay, but the origin is asked first */
};

/* Removes the entries that purge names; returns how many. Looks at every entry.
 * One that is being fetched meanwhile, and that purge names, is not let in. */
size_t cache_store_purge(struct cache_store *store,
                         const struct cache_purge *purge);

/* Calls visit for each entry that meant names, with the bytes it occupies, 0
 * while it is filled. Looks at every entry; nothing is locked meanwhile. */
void cache_store_list(struct cache_store *store,
                      const struct cache_purge *meant,
                      void (*visit)(void *context,
                                    const struct cache_entry *entry,
                                    uint64_t bytes),
                      void *context);

struct cache_store_counts {
    uint64_t entries;
    uint64_t bytes;
    uint64_t files;
    uint64_t evictions;
    struct cache_disk_counts disk;
};

struct cache_store_counts cache_store_count(const struct cache_store *store);

#endif
