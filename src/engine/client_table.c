#include "engine/client_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/pages.h"

struct block {
    struct list link;
    size_t unused; /* entries that were never used, at the array's beginning */
    struct client_entry entries[];
};

static size_t bytes_of_buckets(size_t capacity)
{
    return capacity * sizeof(struct client_entry *);
}

void client_table_init(struct client_table *table)
{
    *table = (struct client_table){.capacity = 0};
    list_init(&table->blocks);
}

void client_table_fini(struct client_table *table)
{
    while (!list_is_empty(&table->blocks)) {
        struct block *block = OWNER_OF(table->blocks.next, struct block, link);

        list_drop(&block->link);
        free(block);
    }
    pages_close(table->buckets, bytes_of_buckets(table->capacity));
    client_table_init(table);
}

/* Finds a client's bucket. The addresses of one network differ only in their
 * last bits; a hash spreads them over all buckets. */
static struct client_entry **bucket_of(const struct client_table *table,
                                       uint64_t client)
{
    uint64_t hash = client * UINT64_C(0x9e3779b97f4a7c15);

    return &table->buckets[(hash >> 32) * table->capacity >> 32];
}

static void link_in(struct client_table *table, struct client_entry *entry)
{
    struct client_entry **bucket = bucket_of(table, entry->client);

    entry->next = *bucket;
    *bucket = entry;
}

static void rehash(struct client_table *table, struct client_entry **buckets,
                   uint32_t capacity)
{
    struct client_entry **old = table->buckets;
    uint32_t old_capacity = table->capacity;

    table->buckets = buckets;
    table->capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++) {
        while (old[i]) {
            struct client_entry *entry = old[i];

            old[i] = entry->next;
            link_in(table, entry);
        }
    }
    pages_close(old, bytes_of_buckets(old_capacity));
}

int client_table_reserve(struct client_table *table, size_t capacity)
{
    size_t more = capacity - table->capacity;
    struct client_entry **buckets;
    struct block *block;

    if (capacity <= table->capacity)
        return 0;
    block = malloc(sizeof(*block) + more * sizeof(*block->entries));
    buckets = pages_open(bytes_of_buckets(capacity));
    if (!block || !buckets) {
        free(block);
        pages_close(buckets, bytes_of_buckets(capacity));
        return -ENOMEM;
    }
    block->unused = more;
    table->unused += more;
    list_put_first(&table->blocks, &block->link);
    rehash(table, buckets, (uint32_t)capacity);
    return 0;
}

struct client_entry *client_table_find(const struct client_table *table,
                                       uint64_t client)
{
    struct client_entry *entry = *bucket_of(table, client);

    while (entry && entry->client != client)
        entry = entry->next;
    return entry;
}

struct client_entry *client_table_take(struct client_table *table)
{
    struct client_entry *entry = table->free;
    struct block *block;

    if (entry) {
        table->free = entry->next;
        return entry;
    }
    for (;;) {
        block = OWNER_OF(table->blocks.next, struct block, link);
        if (block->unused > 0)
            break;
        list_drop(&block->link);
        list_put_last(&table->blocks, &block->link);
    }
    table->unused--;
    return &block->entries[--block->unused];
}

struct client_entry *client_table_add(struct client_table *table,
                                      uint64_t client)
{
    struct client_entry *entry = client_table_take(table);

    client_entry_init(entry, client);
    link_in(table, entry);
    return entry;
}

void client_table_remove(struct client_table *table, struct client_entry *entry)
{
    struct client_entry **at = bucket_of(table, entry->client);

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    entry->next = table->free;
    table->free = entry;
}
