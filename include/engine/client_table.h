/*
 * client_table - the clients of a client_share, by their names.
 *
 * Room is made ahead, so that nobody who comes can fail; entries that were
 * never used are not touched, and take no memory.
 *
 * Thread: one scheduler's.
 * Owns:   the entries.
 */
#ifndef ENGINE_CLIENT_TABLE_H
#define ENGINE_CLIENT_TABLE_H

#include "base/heap.h"
#include "base/list.h"
#include "engine/client_due.h"
#include "engine/client_level.h"

/* What client_share knows of one client, which begins as all zero but for its
 * name; V is explained there. */
struct client_entry {
    uint64_t client;
    struct client_entry *next; /* private: of the bucket, or of the free ones */
    struct heap_node node;     /* in due or leaving */
    uint32_t places;           /* that wait */
    bool is_waiting;           /* it is in due, unless it is alone */
    uint32_t elsewhere;        /* workers at which it waits, too */
    uint64_t had;              /* V when it would have had what it was sent */
    struct client_due due;
    struct client_level level;
    struct list list; /* of places, the one whose turn is next first */
};

/* All members are private. */
struct client_table {
    struct client_entry **buckets; /* by client, capacity of them */
    uint32_t capacity;
    struct client_entry *free;
    size_t unused;      /* of blocks, besides */
    struct list blocks; /* of entries */
};

void client_table_init(struct client_table *table);
void client_table_fini(struct client_table *table);

/* Makes room for so many in all. 0 or -ENOMEM. */
MUST_USE int client_table_reserve(struct client_table *table, size_t capacity);

/* The entry of a client; NULL: there is none. */
struct client_entry *client_table_find(const struct client_table *table,
                                       uint64_t client);

static inline bool client_table_is_full(const struct client_table *table)
{
    return !table->free && table->unused == 0;
}

/* One of the entries, for whatever it is; it is not to be found. There is
 * one. */
struct client_entry *client_table_take(struct client_table *table);

/* Adds a client that is not there; there is room. */
struct client_entry *client_table_add(struct client_table *table,
                                      uint64_t client);

/* Takes somebody out, whose entry is free then. */
void client_table_remove(struct client_table *table,
                         struct client_entry *entry);

static inline void client_entry_init(struct client_entry *entry,
                                     uint64_t client)
{
    *entry = (struct client_entry){.client = client};
    list_init(&entry->list);
}

#endif
