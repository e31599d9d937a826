/*
 * cache_entry - a stored answer: the key of its request, its head, the facts in
 * the head, and its body.
 *
 * Thread: any. Only the atomics change, and the members that the store guards;
 *         after a 304 another entry with the same body is made.
 * Owns:   its texts, allocated with it; references to its body and its file.
 *         Counted.
 */
#ifndef CACHE_CACHE_ENTRY_H
#define CACHE_CACHE_ENTRY_H

#include "base/evict.h"
#include "cache/cache_body.h"
#include "cache/cache_facts.h"
#include "cache/cache_ranges.h"

struct cache_entry {
    struct bytes key;
    struct bytes names;          /* fields that the answer varies by */
    struct bytes variant;        /* values of these fields in the request */
    struct bytes phrase;         /* reason phrase behind the status */
    struct bytes lines;          /* fields of the answer */
    struct bytes hidden;         /* fields that clients do not get */
    struct bytes codings;        /* value of Content-Encoding; empty if the
                                    answer varies by Accept-Encoding */
    struct cache_facts facts;    /* what `lines` say */
    struct cache_ranges *ranges; /* parts of the answer; NULL: it is whole */
    uint32_t cost_ms;            /* how long the origin took to answer */
    atomic_llong retry_s;        /* the origin has failed, and is not asked
                                    before this second of the monotonic clock */
    atomic_bool has_answered;    /* the origin failed, but it answered */
    atomic_bool is_purged;       /* purged softly: the entry counts as stale */
    /* The store's own members. */
    uint64_t hash;
    struct cache_entry *next;
    struct evict_node node;
    struct cache_body *body;  /* in memory; NULL: there is none there */
    struct cache_file *file;  /* on a disk; NULL: the entry is not there */
    struct evict_node waking; /* node of a body that is in memory */
    bool has_body;
    bool is_indexed;
    bool is_settled; /* `node` is in the shard's `evict` */
    bool is_awake;   /* `waking` is in the shard's `awake` */
    atomic_uint refs;
    char text[];
};

struct cache_entry_parts {
    struct bytes key;
    struct bytes names;
    struct bytes variant;
    unsigned status;
    struct bytes phrase;
    struct bytes lines; /* fields as they came; the entry keeps some of them */
    struct cache_body
        *body; /* a reference is taken; NULL: the answer has no body */
    uint32_t cost_ms;
};

/* Makes an entry with one reference. An answer without a Date gets the time at
 * which it came as its Date. Returns NULL when memory is short. */
MUST_USE struct cache_entry *cache_entry_create(
    const struct cache_entry_parts *parts,
    const struct cache_circumstances *circumstances);

/* Makes an entry of the answer in `earlier`, updated by a later answer to the
 * same request. `parts` has the status, phrase, body and lines of the later
 * answer. */
MUST_USE struct cache_entry *cache_entry_update(
    const struct cache_entry *earlier, const struct cache_entry_parts *parts,
    const struct cache_circumstances *circumstances);

/* Makes an entry of the answer in `earlier`, updated by the lines of a 304.
 * `body` is the body of the earlier entry. */
MUST_USE struct cache_entry *cache_entry_refresh(
    const struct cache_entry *earlier, struct cache_body *body,
    struct bytes lines, const struct cache_circumstances *circumstances);

/* Whether the lines of a 304 or of an answer to HEAD are about the answer in
 * `earlier`: both have the same validators (RFC 9111 4.3.4, 4.3.5). */
bool cache_entry_is_meant(const struct cache_entry *earlier,
                          struct bytes lines);

/* Returns what cache_facts_use() returns, but treats an entry that was purged
 * softly as stale: CACHE_USE_MEANWHILE if its answer allows that, otherwise
 * CACHE_USE_ASK. */
enum cache_use cache_entry_use(const struct cache_entry *entry,
                               const struct cache_control *request,
                               int64_t now_s);

/* Whether asking the origin has just failed, and is not to be tried again yet.
 * now_s is of the monotonic clock. */
static inline bool cache_entry_is_left_alone(const struct cache_entry *entry,
                                             int64_t now_s)
{
    return atomic_load_explicit(&entry->retry_s, memory_order_acquire) > now_s;
}

struct cache_entry *cache_entry_acquire(struct cache_entry *entry);
void cache_entry_release(struct cache_entry **entry_ref);

#endif
