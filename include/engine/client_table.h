/*
 * client_table - the clients of a client_share, by their names.
 *
 * Room is reserved ahead, so that adding a client cannot fail; an entry takes
 * no memory until its first use.
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

/* What a client_share knows of one client; client_share.h explains V. In a new
 * entry everything but the name is zero. */
struct client_entry {
    uint64_t client;
    struct client_entry *next; /* private: next in its bucket or free list */
    struct heap_node node;     /* in client_share's heap `due` or `leaving` */
    uint32_t places;           /* number of the client's waiting places */
    bool is_waiting;           /* the client waits, in the heap `due` or
                                  alone */
    uint32_t elsewhere;        /* other workers at which the client waits */
    uint64_t had;              /* the V at which it will have had its share */
    struct client_due due;
    struct client_level level;
    struct list list; /* the client's waiting places; the first is next */
};

/* All members are private. */
struct client_table {
    struct client_entry **buckets; /* `capacity` lists of entries; the hash of a
                                      client's name selects one */
    uint32_t capacity;
    struct client_entry *free;
    size_t unused;      /* entries that were never used */
    struct list blocks; /* memory of the entries */
};

void client_table_init(struct client_table *table);
void client_table_fini(struct client_table *table);

/* Makes room for `capacity` clients in all. Returns 0 or -ENOMEM. */
MUST_USE int client_table_reserve(struct client_table *table, size_t capacity);

/* Returns the entry of a client; NULL when it has none. */
struct client_entry *client_table_find(const struct client_table *table,
                                       uint64_t client);

static inline bool client_table_is_full(const struct client_table *table)
{
    return !table->free && table->unused == 0;
}

/* Takes an entry that client_table_find() will not find. client_share uses it
 * for a client that is here alone. The table must not be full. */
struct client_entry *client_table_take(struct client_table *table);

/* Adds an entry for `client`, which must not have an entry yet. The table must
 * not be full. */
struct client_entry *client_table_add(struct client_table *table,
                                      uint64_t client);

/* Takes `entry` out of the table and makes it free for another client. */
void client_table_remove(struct client_table *table,
                         struct client_entry *entry);

static inline void client_entry_init(struct client_entry *entry,
                                     uint64_t client)
{
    *entry = (struct client_entry){.client = client};
    list_init(&entry->list);
}

#endif
