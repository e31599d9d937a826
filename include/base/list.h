/*
 * list - a doubly linked ring through a node inside the owner.
 *
 * A struct list is both head and node. A node that is in no list points at
 * itself, so that list_drop() may be called twice and list_is_empty() also
 * says whether a node is linked.
 *
 * Thread: none of its own; the owner's thread.
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

/* The owner of the node that is its member. */
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

/* Puts node before position: before the head is the tail of the list. */
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

/* Takes node out of its list; nothing happens when it is in none. */
static inline void list_drop(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

#endif
