/*
 * cache_entry - an answer that is kept: what request it is for, its head, what
 * the head says, and its body.
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
    struct bytes names;          /* fields that it varies by: cache_vary.h */
    struct bytes variant;        /* values of these fields in its request */
    struct bytes phrase;         /* reason phrase behind its status */
    struct bytes lines;          /* its fields */
    struct bytes hidden;         /* lines that clients do not get */
    struct bytes codings;        /* Content-Encoding, unless it varies by what
                                    clients take; or empty */
    struct cache_facts facts;    /* what lines say */
    struct cache_ranges *ranges; /* of its body; NULL: it is not in parts */
    uint32_t cost_ms;            /* time that its answer took */
    atomic_llong retry_s;        /* until when the origin is left alone after a
                                 failure; monotonic clock */
    atomic_bool has_answered;    /* an error answer was that failure */
    atomic_bool is_purged; /* softly: the origin is asked before it is used */
    /* The store's own members. */
    uint64_t hash;
    struct cache_entry *next;
    struct evict_node node;
    struct cache_body *body;  /* NULL: it has none, or only one on disk */
    struct cache_file *file;  /* NULL: it is not on disk */
    struct evict_node waking; /* for its body, while there is one */
    bool has_body;
    bool is_indexed;
    bool is_settled; /* evict has node */
    bool is_awake;   /* awake, the policy of bodies, has waking */
    atomic_uint refs;
    char text[];
};

struct cache_entry_parts {
    struct bytes key;
    struct bytes names;
    struct bytes variant;
    unsigned status;
    struct bytes phrase;
    struct bytes lines; /* as they came; the entry keeps some */
    struct cache_body
        *body; /* a reference is taken; NULL: there will be none */
    uint32_t cost_ms;
};

/* Makes an entry with one reference. An answer without a Date gets the time at
 * which it came. NULL: no memory. */
MUST_USE struct cache_entry *cache_entry_create(
    const struct cache_entry_parts *parts,
    const struct cache_circumstances *circumstances);

/* Makes an entry of earlier's answer, updated by another to the same request:
 * parts says the status, phrase, body and lines that it has now. */
MUST_USE struct cache_entry *cache_entry_update(
    const struct cache_entry *earlier, const struct cache_entry_parts *parts,
    const struct cache_circumstances *circumstances);

/* Makes an entry of earlier's answer, updated by the lines of a 304. body is
 * earlier's. */
MUST_USE struct cache_entry *cache_entry_refresh(
    const struct cache_entry *earlier, struct cache_body *body,
    struct bytes lines, const struct cache_circumstances *circumstances);

/* Whether a 304 or an answer to HEAD with those lines is about earlier: they
 * have the same validators (RFC 9111 4.3.4, 4.3.5). */
bool cache_entry_is_meant(const struct cache_entry *earlier,
                          struct bytes lines);

/* Does what cache_facts_use() does, for an entry that may have been purged. */
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
