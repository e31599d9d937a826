/*
 * list - a doubly linked ring through a node inside the owner.
 *
 * A struct list is both head and node. A node outside of any list points at
 * itself. So list_drop() may be called twice, and list_is_empty() of a node
 * tells whether the node is linked.
 *
 * Thread: the owner's.
 * Owns:   nothing.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *prev;
};

/* The struct of type `type` whose member `member` is at `node`. */
#define OWNER_OF(node, type, member) \
    ((type *)(void *)((char *)(node)-offsetof(type, member)))

static inline void list_init(struct list *list)
{
    list->next = list->prev = list;
}

static inline bool list_is_empty(const struct list *list)
{
    return list->next == list;
}

/* Inserts `node` before `position`. If `position` is the list's head, the node
 * becomes the last. */
static inline void list_put_before(struct list *position, struct list *node)
{
    node->prev = position->prev;
    node->next = position;
    position->prev->next = node;
    position->prev = node;
}

static inline void list_put_first(struct list *head, struct list *node)
{
    list_put_before(head->next, node);
}

static inline void list_put_last(struct list *head, struct list *node)
{
    list_put_before(head, node);
}

/* Removes a node from its list. Does nothing if the node is in no list. */
static inline void list_drop(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

#endif
