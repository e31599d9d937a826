#include "engine/client_share_priv.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void leave(struct client_share *share, struct client_entry *entry)
{
    client_table_remove(&share->table, entry);
    share->count--;
}

struct client_entry *client_share_enter(struct client_share *share,
                                        uint64_t client)
{
    struct client_entry *entry;

    if (client_table_is_full(&share->table)) {
        /* The table has room for more clients than can wait. So if it is full,
         * at least one of its clients is leaving. */
        entry = client_share_first(&share->leaving);
        heap_drop(&share->leaving, &entry->node);
        leave(share, entry);
    }
    entry = client_table_add(&share->table, client);
    entry->had = share->now;
    share->count++;
    return entry;
}

/* Adds a client while no other client is here or waits at other workers. */
static struct client_entry *enter_alone(struct client_share *share,
                                        uint64_t client)
{
    struct client_entry *entry = share->lone;

    client_entry_init(entry, client);
    entry->had = share->now;
    share->is_alone = true;
    share->count++;
    return entry;
}

void client_share_join(struct client_share *share)
{
    const struct client_entry *lone = share->lone;
    struct client_entry *entry = client_share_enter(share, lone->client);
    struct list *place = lone->list.next;

    share->is_alone = false;
    share->count--;
    entry->due = lone->due;
    entry->places = lone->places;
    entry->is_waiting = lone->is_waiting;
    entry->elsewhere = lone->elsewhere;
    entry->had = lone->had;
    entry->level = lone->level;
    if (entry->places > 0) { /* a lone client has one place at most */
        list_drop(place);
        list_put_last(&entry->list, place);
    }
    if (entry->is_waiting)
        heap_put(&share->due, &entry->node, entry->due.at, 0);
    if (share->taken == lone)
        share->taken = entry;
}

struct client_entry *client_share_find(struct client_share *share,
                                       uint64_t client)
{
    if (share->is_alone) {
        if (share->lone->client == client)
            return share->lone;
        client_share_join(share);
    }
    return client_table_find(&share->table, client);
}

void client_share_go_among_leaving(struct client_share *share,
                                   struct client_entry *entry)
{
    if (share->is_alone) {
        if (entry->had <= share->now) {
            share->is_alone = false;
            share->count--;
            return;
        }
        client_share_join(share);
        entry = client_table_find(&share->table, entry->client);
    }
    if (entry->had > share->now)
        heap_put(&share->leaving, &entry->node, entry->had, 0);
    else
        leave(share, entry);
}

struct client_entry *client_share_find_or_enter(struct client_share *share,
                                                uint64_t client)
{
    struct client_entry *entry;

    if (share->count == 0 && share->others.count == 0)
        return enter_alone(share, client);
    if (share->is_alone && share->lone->places > 0)
        client_share_join(share);
    entry = client_share_find(share, client);
    return entry ? entry : client_share_enter(share, client);
}

void client_share_advance(struct client_share *share, uint64_t bytes)
{
    uint64_t credit = share->rest +
                      client_due_virtual(least(bytes, UINT32_MAX)) *
                          CLIENT_SHARE_WHOLE;

    share->rest = 0;
    while (share->count > 0) {
        uint64_t all = (uint64_t)share->count * CLIENT_SHARE_WHOLE -
                       share->missing + share->others.parts;
        uint64_t each = credit / all;
        uint64_t until_next = share->leaving.count == 0
                                  ? UINT64_MAX
                                  : client_share_first(&share->leaving)->had -
                                        share->now;
        struct client_entry *entry;

        if (each < until_next) {
            share->now += each;
            share->rest = credit - each * all;
            return;
        }
        share->now += until_next;
        credit -= until_next * all;
        entry = client_share_first(&share->leaving);
        heap_drop(&share->leaving, &entry->node);
        leave(share, entry);
    }
}
