#include "handler/address_count.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>

#include "base/address_key.h"
#include "base/pages.h"

/* Entries are linked by their numbers. An entry's number is its index in
 * `entries`, plus 1. Each entry is in the chain of its hash, or in the chain of
 * free entries. */
struct counted_address {
    uint64_t key;
    uint32_t open; /* open connections; 0: the entry is free */
    uint32_t next; /* number of the chain's next entry; 0: there is none */
    /* Number of the entry's chain, so that the key is hashed only once. */
    uint32_t chain;
};

struct address_count {
    pthread_mutex_t mutex; /* guards `entries`, `chains` and `free` */
    struct siphash_key secret;
    uint32_t most;
    bool yields;      /* an address alone in the table may have more */
    uint32_t free;    /* number of the first free entry; 0: there is none */
    uint32_t touched; /* so many entries, the first ones, were ever used */
    uint32_t entry_count;
    uint32_t used;
    uint32_t above; /* entries with more connections than `most` */
    uint32_t chain_mask;
    uint32_t *chains;
    struct counted_address entries[];
};

static uint32_t choose_chain(const struct address_count *count, uint64_t key)
{
    return (uint32_t)address_key_hash(key, &count->secret) & count->chain_mask;
}

/* Returns the link that leads to the key's entry in its chain. If the key has
 * no entry, returns the chain's last link, which is 0. */
static uint32_t *find_link(struct address_count *count, uint32_t chain,
                           uint64_t key)
{
    uint32_t *link = &count->chains[chain];

    while (*link != 0 && count->entries[*link - 1].key != key)
        link = &count->entries[*link - 1].next;
    return link;
}

/* Adds an entry to a chain; the caller holds the mutex. Returns the entry's
 * number, or 0 if no entry is free. */
static uint32_t add_entry(struct address_count *count, uint32_t chain,
                          uint64_t key, uint32_t *link)
{
    uint32_t number = count->free;
    struct counted_address *entry;

    if (number == 0 && count->touched == count->entry_count)
        return 0;
    if (number == 0)
        number = ++count->touched;
    entry = &count->entries[number - 1];
    count->free = entry->next;
    count->used++;
    *entry = (struct counted_address){.key = key, .chain = chain};
    *link = number;
    return number;
}

uint32_t address_count_take(struct address_count *count,
                            const struct address *address)
{
    uint64_t key = address_key_of(address);
    uint32_t chain = choose_chain(count, key);
    uint32_t *link;
    uint32_t number;

    pthread_mutex_lock(&count->mutex);
    link = find_link(count, chain, key);
    number = *link != 0 ? *link : add_entry(count, chain, key, link);
    if (number != 0) {
        struct counted_address *entry = &count->entries[number - 1];

        if (entry->open < count->most || (count->yields && count->used == 1))
            count->above += ++entry->open == count->most + 1;
        else
            number = 0;
    }
    pthread_mutex_unlock(&count->mutex);
    return number;
}

void address_count_give(struct address_count *count, uint32_t *ticket)
{
    uint32_t number = *ticket;
    struct counted_address *entry;

    *ticket = 0;
    if (number == 0)
        return;
    entry = &count->entries[number - 1];
    pthread_mutex_lock(&count->mutex);
    assert(entry->open > 0);
    count->above -= entry->open == count->most + 1;
    if (--entry->open == 0) {
        *find_link(count, entry->chain, entry->key) = entry->next;
        entry->next = count->free;
        count->free = number;
        count->used--;
    }
    pthread_mutex_unlock(&count->mutex);
}

/* Returns how many connections the key has open. The caller holds the mutex. */
static uint32_t count_open(struct address_count *count, uint64_t key)
{
    uint32_t number = *find_link(count, choose_chain(count, key), key);

    return number != 0 ? count->entries[number - 1].open : 0;
}

bool address_count_is_above(struct address_count *count, uint32_t ticket)
{
    bool is_above;

    if (ticket == 0)
        return false;
    pthread_mutex_lock(&count->mutex);
    is_above = count->entries[ticket - 1].open > count->most;
    pthread_mutex_unlock(&count->mutex);
    return is_above;
}

bool address_count_gives_way(struct address_count *count,
                             const struct address *address)
{
    uint64_t key = address_key_of(address);
    bool gives_way;

    pthread_mutex_lock(&count->mutex);
    gives_way = count->above > 0 && count_open(count, key) < count->most;
    pthread_mutex_unlock(&count->mutex);
    return gives_way;
}

static size_t bytes_of_table(size_t entries)
{
    return sizeof(struct address_count) +
           entries * sizeof(struct counted_address);
}

static size_t bytes_of_chains(size_t count)
{
    return count * sizeof(uint32_t);
}

int address_count_create(struct address_count **count_out, uint32_t most,
                         bool yields, size_t entries)
{
    struct address_count *count;
    size_t chain_count = 1;
    int err = -ENOMEM;

    assert(most >= 1);
    assert(entries >= 1 && entries <= ADDRESS_COUNT_ENTRIES_MAX);
    while (chain_count < entries)
        chain_count *= 2;
    count = pages_open(bytes_of_table(entries));
    if (!count)
        return -ENOMEM;
    count->chains = pages_open(bytes_of_chains(chain_count));
    if (!count->chains)
        goto close_count;
    err = siphash_make_key(&count->secret);
    if (err != 0)
        goto close_chains;
    count->most = most;
    count->yields = yields;
    count->chain_mask = (uint32_t)(chain_count - 1);
    count->entry_count = (uint32_t)entries;
    pthread_mutex_init(&count->mutex, NULL);
    *count_out = count;
    return 0;

close_chains:
    pages_close(count->chains, bytes_of_chains(chain_count));
close_count:
    pages_close(count, bytes_of_table(entries));
    return err;
}

void address_count_destroy(struct address_count *count)
{
    if (!count)
        return;
    pthread_mutex_destroy(&count->mutex);
    pages_close(count->chains, bytes_of_chains((size_t)count->chain_mask + 1));
    pages_close(count, bytes_of_table(count->entry_count));
}
