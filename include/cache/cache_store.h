/*
 * cache_store - all answers that the workers keep, and the flights: which
 * answers are being fetched.
 *
 *   find --> an entry: use it, or ask whether it is still good
 *    '-----> none: join --> LEAD: fetch it; cache_flight_end() tells the others
 *                      '--> WAIT: somebody fetches it; look again at the end
 *                      '--> ALONE: fetch; the last answer was not for all
 *
 * Keys lie in shards by a secret hash. Each shard has a lock, which is held for
 * one look; nothing is written, sent or freed under it. When there is no room,
 * the policy of a shard chooses the entry that goes, and shards take turns.
 *
 * With a disk, memory has the heads of all entries, but only the bodies that
 * are awake: those that were asked for last. An entry that is not on disk yet,
 * or for which the disk had no room, is always awake, and is dropped when its
 * turn to sleep comes.
 *
 * Invariant: the store has one reference to each indexed entry; the settled
 *            entries have at most bytes_max in all, and one more while it is
 *            being put.
 * Thread:    any.
 * Owns:      entries, flights.
 */
#ifndef CACHE_CACHE_STORE_H
#define CACHE_CACHE_STORE_H

#include "cache/cache_disk.h"
#include "http/request.h"

enum {
    CACHE_VARIANTS_MAX = 32, /* most variants that one key has */
    /* For this many seconds after an answer for one client only, requests for
     * its key do not wait for each other. */
    CACHE_ALONE_S = 10,
    /* When a fetch has taken this many seconds, one of the requests that wait
     * for it begins another fetch. */
    CACHE_LATE_S = 10,
    /* For this many seconds after an answer that was too long to be kept,
     * requests for its key do not wait for each other. */
    CACHE_LONG_S = 600,
    CACHE_AWAKE_BYTES_MAX =
        134217728, /* most bytes of bodies that are on disk and in memory */
    /* With a disk: most bytes of all entries, without their bodies. */
    CACHE_HEADS_BYTES_MAX = 268435456
};

struct cache_store_options {
    enum evict_policy policy;
    uint64_t bytes_max;
    uint64_t object_max;            /* most bytes of one body */
    size_t files_max;               /* most descriptors of all bodies */
    struct cache_disk_options disk; /* folder NULL: all is in memory */
};

struct cache_store; /* opaque */

/* Returns 0 or -errno. */
MUST_USE int cache_store_create(struct cache_store **store_out,
                                const struct cache_store_options *options);
/* Writes what is still to be written, and ends the store's thread. To be called
 * when all workers have ended. */
void cache_store_stop(struct cache_store *store);
/* Frees the store. To be called when nobody has any of its objects any more.
 * NULL is accepted. */
void cache_store_destroy(struct cache_store *store);

const struct cache_store_options *cache_store_options_of(
    const struct cache_store *store);

/* Leaves the folder, if there is one, to another process. NULL is accepted. */
void cache_store_leave(struct cache_store *store);

/* --- Finding ------------------------------------------------------------- */

struct cache_found {
    struct cache_entry *entry; /* a reference; NULL: nothing was found */
    struct cache_body *body;   /* a reference; NULL: the entry has no body */
    uint64_t variant;          /* for cache_store_join(), like `version` */
    uint64_t version;
};

/* Finds the newest entry of a key that fits the request. */
void cache_store_find(struct cache_store *store, struct bytes key,
                      const struct request *request,
                      struct cache_found *found_out);
void cache_found_release(struct cache_found *found);

/* Whether an answer that is no error (its status is below 400) is kept for the
 * key, in any variant. */
bool cache_store_has_answer(struct cache_store *store, struct bytes key);

/* --- Fetching ------------------------------------------------------------ */

enum cache_outcome {
    CACHE_OUTCOME_NONE,   /* the flight is under way */
    CACHE_OUTCOME_STORED, /* the answer is stored: find it */
    CACHE_OUTCOME_AGAIN,  /* the flight failed: another may fetch */
    CACHE_OUTCOME_ALONE   /* the answer was not for all: each asks alone */
};

struct cache_flight; /* opaque; counted */

enum cache_join {
    CACHE_LEAD,  /* the caller fetches, and then ends *flight_out */
    CACHE_WAIT,  /* somebody else fetches; `wait` is told of the end */
    CACHE_ALONE, /* the caller fetches, and nobody waits for it */
    CACHE_LOOK   /* an entry has come: the caller looks for it again */
};

/* Joins the flight that fetches what cache_store_find() has not found, or
 * begins such a flight. `found` is the result of cache_store_find() for the
 * same key. With CACHE_LEAD and CACHE_WAIT *flight_out becomes a reference. A
 * caller that may lead but will not wait passes NULL for `wait`, and gets no
 * reference with CACHE_WAIT.
 *
 * Here and below now_s is of the monotonic clock, so that setting the wall
 * clock makes no wait longer. */
enum cache_join cache_store_join(struct cache_store *store, struct bytes key,
                                 const struct cache_found *found, int64_t now_s,
                                 struct cache_wait *wait,
                                 struct cache_flight **flight_out);

/* Whether anybody waits for a flight's end. */
bool cache_flight_has_waits(struct cache_store *store,
                            const struct cache_flight *flight);

/* Tells all who wait how the flight ended. Takes over the leader's
 * reference. */
void cache_flight_end(struct cache_store *store,
                      struct cache_flight **flight_ref,
                      enum cache_outcome outcome, int64_t now_s);

/* Ends all waits for flights that began at least CACHE_LATE_S ago. Of the
 * requests that waited for such a flight, the first one then leads another
 * flight, and the others wait for that. Looks at all flights under way; to be
 * called now and then. */
void cache_store_end_late(struct cache_store *store, int64_t now_s);

/* Returns how the flight ended, for a request that waits for it;
 * CACHE_OUTCOME_NONE while the flight goes on. */
enum cache_outcome cache_flight_peek(struct cache_store *store,
                                     const struct cache_flight *flight);

/* Ends a wait, whether the flight has ended or not, and takes over the
 * reference. Returns what cache_flight_peek() would return. */
enum cache_outcome cache_flight_leave(struct cache_store *store,
                                      struct cache_flight **flight_ref,
                                      struct cache_wait *wait);

/* --- Keeping ------------------------------------------------------------- */

/* Whether a body of that length, or of CACHE_LENGTH_UNKNOWN, may be begun. */
bool cache_store_has_room(struct cache_store *store, uint64_t length);
/* Whether no further body may be begun, because all bodies together take more
 * than twice the memory that the kept ones may take. Bodies that are being
 * filled count, and so do bodies that were given up but are still read. */
bool cache_store_is_full(const struct cache_store *store);

/* cache_store_note_long() notes that a variant of a key's answer, of unknown
 * length, was longer than may be kept. cache_store_was_long(): whether that was
 * noted lately. If there are many such notes, some are forgotten. */
void cache_store_note_long(struct cache_store *store, struct bytes key,
                           struct bytes variant, int64_t now_s);
bool cache_store_was_long(struct cache_store *store, struct bytes key,
                          struct bytes variant, int64_t now_s);

/* Returns NULL when memory or descriptors are short. */
MUST_USE struct cache_body *cache_store_make_body(struct cache_store *store,
                                                  uint64_t length);

/* Three counts that are taken before the origin is asked. */
struct cache_epoch {
    /* How often the key, or another with the same hash, was made invalid. */
    uint32_t invalidated;
    uint32_t all_invalidated; /* how often any key of its shard was */
    uint32_t purges;          /* number of purges */
};

struct cache_epoch cache_store_epoch(struct cache_store *store,
                                     struct bytes key);

/* Whether the entry is still current. It is not, if its key (or a key with the
 * same hash) was made invalid since that epoch, or if a purge since then has
 * named the entry. Soft purges do not count. */
bool cache_store_is_current(struct cache_store *store,
                            struct cache_entry *entry,
                            struct cache_epoch epoch);

/* Puts the entry into the store, in the place of an entry of the same variant.
 * The store takes a reference of its own. The entry's body may still be filled;
 * cache_store_settle() is to be called when all of it has been put. If
 * `earlier` is not NULL, the new entry is an update of `earlier`, and has the
 * same body. Returns false, and puts nothing, when the entry was made invalid
 * or purged since that epoch, or when `earlier` has been replaced meanwhile. An
 * entry that was purged softly is put, and counts as stale. */
MUST_USE bool cache_store_put(struct cache_store *store,
                              struct cache_entry *entry,
                              const struct cache_entry *earlier,
                              struct cache_epoch epoch);

/* Notes that all of the entry's body has been put. As soon as the body is
 * whole, its bytes count as kept, and the entry may be evicted. */
void cache_store_settle(struct cache_store *store, struct cache_entry *entry);

void cache_store_drop(struct cache_store *store, struct cache_entry *entry);

/* Removes all variants of a key, and returns how many there were. */
size_t cache_store_invalidate(struct cache_store *store, struct bytes key);

/* Which entries to purge: those of one place and host, by address or tag. */
struct cache_purge {
    struct bytes place;   /* name of the proxy; data NULL: any */
    struct bytes address; /* "host/path?query"; with is_prefix: its beginning */
    struct bytes tags;    /* entries have one of these; empty: any tags */
    bool is_prefix;
    bool is_soft; /* entries stay; the origin is asked before use */
};

/* Removes the entries that `purge` names, or marks them as stale if the purge
 * is soft. Returns how many there were. Looks at every entry. If such an entry
 * is being fetched now, cache_store_put() will refuse or mark it. */
size_t cache_store_purge(struct cache_store *store,
                         const struct cache_purge *purge);

/* Calls `visit` for each entry that `meant` names, with the bytes that the
 * entry occupies (0 while it is filled). Looks at every entry; no lock is held
 * during the call. */
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
