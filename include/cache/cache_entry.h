/*
 * cache_entry - an answer that is kept: what it was asked for by, its head,
 * what that says, and its body.
 *
 * Thread: any: but for what the store that has it guards, and for atomics, it
 *         never changes. What a 304 says makes another entry of the same body.
 * Owns:   its texts, in one piece with it; references to its body and its file.
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
    struct bytes names;          /* that it varies by: cache_vary.h */
    struct bytes variant;        /* the values that it was asked for with */
    struct bytes phrase;         /* behind its status */
    struct bytes lines;          /* its fields */
    struct bytes hidden;         /* fields that clients do not get */
    struct bytes codings;        /* of its body, where it does not vary by what
                                    clients take; or empty */
    struct cache_facts facts;    /* of these lines */
    struct cache_ranges *ranges; /* of its body; NULL: it is not in parts */
    uint32_t cost_ms;            /* what it took to get it */
    atomic_llong retry_s;     /* the origin has failed, and is left alone until;
                             of the monotonic clock */
    atomic_bool has_answered; /* then, with an error */
    atomic_bool
        is_purged; /* softly: it must not be used before it is asked about */
    /* The store's. */
    uint64_t hash;
    struct cache_entry *next;
    struct evict_node node;
    struct cache_body *body; /* NULL: it has none, or that lies on disk alone */
    struct cache_file *file; /* NULL: it is not on disk */
    struct evict_node waking; /* of the body, while there is one */
    bool has_body;
    bool is_indexed;
    bool is_settled; /* the policy of entries knows it */
    bool is_awake;   /* the policy of bodies knows its body */
    atomic_uint refs;
    char text[];
};

struct cache_entry_parts {
    struct bytes key;
    struct bytes names;
    struct bytes variant;
    unsigned status;
    struct bytes phrase;
    struct bytes lines; /* as they came; of these it keeps what is to be */
    struct cache_body
        *body; /* a reference is taken; NULL: there will be none */
    uint32_t cost_ms;
};

/* Makes an entry with one reference. An answer without a Date gets the time at
 * which it came. NULL: no memory. */
MUST_USE struct cache_entry *cache_entry_create(
    const struct cache_entry_parts *parts,
    const struct cache_circumstances *circumstances);

/* The answer, brought up to date by the lines of another to the same: parts
 * says the status, phrase, body and lines of what it is now. */
MUST_USE struct cache_entry *cache_entry_update(
    const struct cache_entry *earlier, const struct cache_entry_parts *parts,
    const struct cache_circumstances *circumstances);

/* The same answer, brought up to date by the lines of a 304. body is that of
 * the earlier. */
MUST_USE struct cache_entry *cache_entry_refresh(
    const struct cache_entry *earlier, struct cache_body *body,
    struct bytes lines, const struct cache_circumstances *circumstances);

/* Whether a 304, or what answers HEAD, with those lines is about the earlier:
 * its validators are those that this has (RFC 9111 4.3.4, 4.3.5). */
bool cache_entry_is_meant(const struct cache_entry *earlier,
                          struct bytes lines);

/* As cache_facts_use(), of one that may have been purged. */
enum cache_use cache_entry_use(const struct cache_entry *entry,
                               const struct cache_control *request,
                               int64_t now_s);

/* Whether asking anew has just failed, and is not to be tried again yet. now_s
 * is of the monotonic clock. */
static inline bool cache_entry_is_left_alone(const struct cache_entry *entry,
                                             int64_t now_s)
{
    return atomic_load_explicit(&entry->retry_s, memory_order_acquire) > now_s;
}

struct cache_entry *cache_entry_acquire(struct cache_entry *entry);
void cache_entry_release(struct cache_entry **entry_ref);

#endif
