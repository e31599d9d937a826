/*
 * evict_priv - the interface between evict.c and the policies behind it.
 *
 * evict.c counts entries and bytes, and knows the limits; a policy keeps the
 * order of the nodes inside. The newcomer, the node inserted last, stays out of
 * the queues until there is room, since the papers on these policies choose
 * victims among the other nodes first.
 *
 *   evict_insert() -> entering --- room ---> queues of the policy
 *                        |                      |
 *                        +--- victim, removed <-+
 */
#ifndef BASE_EVICT_PRIV_H
#define BASE_EVICT_PRIV_H

#include "base/evict.h"

/* The functions of one policy, whose own struct contains a struct evict. */
struct evict_rules {
    uint32_t frequency_max; /* node->frequency counts up to this number */

    /* Allocates the policy's struct and queues; evict.c fills in the struct
     * evict inside. Returns NULL if there is no memory. */
    struct evict *(*create)(void);
    void (*destroy)(struct evict *evict);

    /* Reserves what put() will need for a newcomer, whose private members are
     * cleared. Returns false if there is no memory. NULL: a policy that needs
     * to reserve nothing. */
    bool (*enter)(struct evict *evict, struct evict_node *node);

    /* Inserts the newcomer into a queue. */
    void (*put)(struct evict *evict, struct evict_node *node);

    /* Records a use of a node in a queue. evict.c has already counted the use
     * in node->frequency. NULL: a policy that records nothing else. */
    void (*hit)(struct evict *evict, struct evict_node *node);

    /* Removes a node from its queue. */
    void (*drop)(struct evict *evict, struct evict_node *node);

    /* Returns the next victim: a node, which is removed from its queue, or the
     * newcomer, which is in no queue. The function is called when a limit is
     * exceeded, or when the cache is emptied; there is always a victim. */
    struct evict_node *(*take)(struct evict *evict);
};

struct evict {
    const struct evict_rules *rules;
    uint64_t bytes_max;
    size_t entries_max;
    uint64_t bytes; /* bytes of all nodes, newcomer included */
    size_t entries;
    struct evict_node *entering; /* the newcomer, or NULL */
};

extern const struct evict_rules evict_lru;
extern const struct evict_rules evict_gdsf;
extern const struct evict_rules evict_sieve;
extern const struct evict_rules evict_saved;

/* --- evict_heap.c: for policies that keep a heap ------------------------- */

static inline struct evict_node *evict_node_in(struct heap_node *node)
{
    return OWNER_OF(node, struct evict_node, heap);
}

/* Makes room for one more node. Returns false if there is no memory. */
MUST_USE bool evict_heap_reserve(struct heap *heap);

/* Returns true if evicting all entries in the heap with at most the priority
 * `priority` would be enough to keep the limits. `priority` is the newcomer's;
 * `evict` counts the newcomer already. */
bool evict_heap_can_make_room(const struct evict *evict,
                              const struct heap *heap, uint64_t priority);

static inline struct evict_node *evict_node_of(struct list *list_node)
{
    return OWNER_OF(list_node, struct evict_node, list_node);
}

#endif
