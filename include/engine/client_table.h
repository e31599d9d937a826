/*
 * client_table - the clients of a client_share, by their names.
 *
 * Room is reserved ahead, so that adding a client cannot fail; entries that
 * were never used are not touched, and take no memory.
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

/* What client_share.h, which explains V, knows of one client. A new entry is
 * all zero but for the name. */
struct client_entry {
    uint64_t client;
    struct client_entry *next; /* private: next of its bucket, or next free */
    struct heap_node node;     /* in client_share's due or leaving */
    uint32_t places;           /* how many of its places wait */
    bool is_waiting;           /* it is in due, unless it is alone */
    uint32_t elsewhere;        /* other workers at which it waits */
    uint64_t had;              /* V at which its share is what it was sent */
    struct client_due due;
    struct client_level level;
    struct list list; /* its waiting places, the next in turn first */
};

/* All members are private. */
struct client_table {
    struct client_entry **buckets; /* by client, capacity of them */
    uint32_t capacity;
    struct client_entry *free;
    size_t unused;      /* entries that were never used */
    struct list blocks; /* memory of the entries */
};

void client_table_init(struct client_table *table);
void client_table_fini(struct client_table *table);

/* Makes room for capacity clients in all. 0 or -ENOMEM. */
MUST_USE int client_table_reserve(struct client_table *table, size_t capacity);

/* The entry of a client; NULL: there is none. */
struct client_entry *client_table_find(const struct client_table *table,
                                       uint64_t client);

static inline bool client_table_is_full(const struct client_table *table)
{
    return !table->free && table->unused == 0;
}

/* Takes an entry for any use; client_table_find() does not find it. The table
 * is not full. */
struct client_entry *client_table_take(struct client_table *table);

/* Adds client, which is not there yet. The table is not full. */
struct client_entry *client_table_add(struct client_table *table,
                                      uint64_t client);

/* Takes out entry, which is free then. */
void client_table_remove(struct client_table *table,
                         struct client_entry *entry);

static inline void client_entry_init(struct client_entry *entry,
                                     uint64_t client)
{
    *entry = (struct client_entry){.client = client};
    list_init(&entry->list);
}

#endif
