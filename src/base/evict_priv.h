/*
 * evict_priv - what evict.c and the policies behind it agree on.
 *
 * evict.c counts, knows the limits and the newcomer; a policy keeps the order
 * of those inside. A newcomer stands apart, in no queue, until there is room:
 * all three papers choose victims among the others first.
 *
 *   evict_insert() -> entering --- room ---> queues of the policy
 *                        |                      |
 *                        +--- victim, removed <-+
 */
#ifndef BASE_EVICT_PRIV_H
#define BASE_EVICT_PRIV_H

#include "base/evict.h"

/* The rules of one policy, whose struct has a struct evict as a member. */
struct evict_rules {
    uint32_t frequency_max; /* how many hits a node remembers */

    /* Memory and queues; NULL: no memory. evict.c fills in the base. */
    struct evict *(*create)(void);
    void (*destroy)(struct evict *evict);

    /* A newcomer has come, with cleared private fields: sets aside what put()
     * will need. False: no memory. May be NULL. */
    bool (*enter)(struct evict *evict, struct evict_node *node);

    /* Takes the newcomer into a queue. */
    void (*put)(struct evict *evict, struct evict_node *node);

    /* A node in a queue was used, beyond its frequency. May be NULL. */
    void (*hit)(struct evict *evict, struct evict_node *node);

    /* Takes node out of its queue. */
    void (*drop)(struct evict *evict, struct evict_node *node);

    /* Takes the next victim out of its queue, or names the newcomer, which is
     * in none. Called while over a limit; there is always someone. */
    struct evict_node *(*take)(struct evict *evict);
};

struct evict {
    const struct evict_rules *rules;
    uint64_t bytes_max;
    size_t entries_max;
    uint64_t bytes; /* the newcomer's included */
    size_t entries;
    struct evict_node *entering; /* the newcomer, or NULL */
};

extern const struct evict_rules evict_lru;
extern const struct evict_rules evict_gdsf;
extern const struct evict_rules evict_sieve;
extern const struct evict_rules evict_saved;

/* --- evict_heap.c: of policies that keep a heap -------------------------- */

static inline struct evict_node *evict_node_in(struct heap_node *node)
{
    return OWNER_OF(node, struct evict_node, heap);
}

/* Makes room for one more. False: no memory. */
MUST_USE bool evict_heap_reserve(struct heap *heap);

/* Whether the entries that do not outrank a newcomer of that priority take
 * enough room to give way to it. The newcomer is counted already. */
bool evict_heap_can_make_room(const struct evict *evict,
                              const struct heap *heap, uint64_t priority);

static inline struct evict_node *evict_node_of(struct list *list_node)
{
    return OWNER_OF(list_node, struct evict_node, list_node);
}

#endif
