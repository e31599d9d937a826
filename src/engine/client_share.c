#include "engine/client_share_priv.h"

#include <errno.h>

enum {
    /* For each place there is room for a client that waits and one that
     * leaves. */
    PER_PLACE = 2,
    PLACES_MIN = 8192, /* the least room; unused room costs no memory */
    LOOKS = 4
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* --- Coming and going ---------------------------------------------------- */

void client_share_init(struct client_share *share, uint64_t factor)
{
    *share = (struct client_share){.factor = factor,
                                   .grace = CLIENT_SHARE_GRACE,
                                   .ahead = CLIENT_SHARE_AHEAD};
    heap_init(&share->due);
    heap_init(&share->leaving);
    client_table_init(&share->table);
}

void client_share_fini(struct client_share *share)
{
    heap_fini(&share->due);
    heap_fini(&share->leaving);
    client_table_fini(&share->table);
    client_share_init(share, share->factor);
}

void client_share_set_rate(struct client_share *share, uint64_t rate)
{
    uint64_t grace = least(rate / CLIENT_SHARE_GRACES, CLIENT_SHARE_GRACE_MAX);

    share->still = rate * CLIENT_SHARE_STILL_S;
    share->grace = most(grace, CLIENT_SHARE_GRACE);
    share->ahead = most(share->grace, CLIENT_SHARE_AHEAD);
}

int client_share_reserve(struct client_share *share, size_t count)
{
    size_t capacity = PLACES_MIN * PER_PLACE;

    while (capacity < count * PER_PLACE)
        capacity *= 2;
    if (share->factor == 0)
        return 0;
    if (heap_reserve(&share->due, capacity) != 0 ||
        heap_reserve(&share->leaving, capacity) != 0 ||
        client_table_reserve(&share->table, capacity) != 0)
        return -ENOMEM;
    if (!share->lone)
        share->lone = client_table_take(&share->table);
    return 0;
}

uint64_t client_share_name_other(const struct address *peer)
{
    uint8_t octets[8] = {0xff};
    uint64_t name;

    if (peer->family == ADDRESS_IPV6)
        memcpy(octets, peer->octets, 8);
    else
        octets[1] = 1;
    memcpy(&name, octets, sizeof(name));
    return name;
}

/* --- Clients -------------------------------------------------------------- */

/* Returns CLIENT_SHARE_WHOLE minus the client's weight at this worker. The
 * result is above 0 while the client waits at other workers, too. */
static uint64_t missing_of(const struct client_entry *entry)
{
    return CLIENT_SHARE_WHOLE - CLIENT_SHARE_WHOLE / (1 + entry->elsewhere);
}

static void set_elsewhere(struct client_share *share,
                          struct client_entry *entry, uint32_t elsewhere)
{
    if (entry->elsewhere == elsewhere)
        return; /* nearly always the case */
    share->missing -= missing_of(entry);
    entry->elsewhere = elsewhere;
    share->missing += missing_of(entry);
}

/* Whether more than one client may wait, here or at other workers. */
static bool waits_among_others(const struct client_share *share)
{
    return share->due.count > 1 || share->others.count > 0;
}

static void set_level(struct client_share *share, struct client_entry *entry)
{
    uint64_t before = entry->level.bytes;
    uint64_t after = client_level_next(&entry->level, entry->places,
                                       waits_among_others(share));

    entry->level.bytes = after;
    if (after == before || !share->on_level)
        return;
    for (struct list *at = entry->list.next; at != &entry->list; at = at->next)
        share->on_level(share, OWNER_OF(at, struct client_place, link), before,
                        after);
}

static inline void move_level(struct client_share *share,
                              struct client_entry *entry)
{
    if (entry->level.bytes > 0 ||
        (entry->level.small > 1 && waits_among_others(share)))
        set_level(share, entry);
}

/* Takes the bytes of the taken place out of its client's level. If the place is
 * put back, client_share_put() counts the bytes that it has left by then. */
static void uncount_taken(struct client_share *share)
{
    if (share->taken)
        client_level_uncount(&share->taken->level, share->taken_counted);
    share->taken_counted = 0;
}

static void settle_taken(struct client_share *share)
{
    struct client_entry *entry = share->taken;

    uncount_taken(share);
    share->taken = NULL;
    if (entry->places > 0) {
        move_level(share, entry);
        return;
    }
    entry->is_waiting = false;
    set_elsewhere(share, entry, 0);
    client_marks_drop(&share->marks, entry->client);
    heap_drop(&share->due, &entry->node); /* does nothing to a lone client */
    client_share_go_among_leaving(share, entry);
}

/* Ends the waiting of a client whose last place was taken and not put back.
 * client_share_take() cannot do this, since most places are put back at
 * once. */
static inline void settle(struct client_share *share)
{
    if (share->taken)
        settle_taken(share);
}

static uint32_t ask_elsewhere(struct client_share *share,
                              struct client_entry *entry)
{
    uint32_t elsewhere = 0;

    if (share->others.count > 0 && share->count_elsewhere)
        elsewhere = share->count_elsewhere(share->context,
                                           client_mark(entry->client));
    if (elsewhere >= CLIENT_SHARE_WHOLE)
        elsewhere = CLIENT_SHARE_WHOLE - 1;
    if (entry->is_waiting)
        set_elsewhere(share, entry, elsewhere);
    return elsewhere;
}

/* Returns at how many other workers the client waits. */
static inline uint32_t look_elsewhere(struct client_share *share,
                                      struct client_entry *entry)
{
    if (share->others.count == 0 && entry->elsewhere == 0)
        return 0;
    return ask_elsewhere(share, entry);
}

/* Lets the client wait among others. A client that has waited alone until now
 * gets its level here. */
static void go_among_waiting(struct client_share *share,
                             struct client_entry *entry)
{
    struct client_entry *only = share->due.count == 1
                                    ? client_share_first(&share->due)
                                    : NULL;

    heap_put(&share->due, &entry->node, entry->due.at, 0);
    if (only)
        move_level(share, only);
}

/* Returns G. A large response stands still while the link carries N times G, so
 * G is smaller where N, the number of clients, is large. */
static uint64_t grace_of(const struct client_share *share)
{
    uint64_t count = (uint64_t)share->count + share->others.count;

    if (count <= CLIENT_SHARE_STILL_S * CLIENT_SHARE_GRACES)
        return share->grace;
    return least(share->grace, most(share->still / count, CLIENT_SHARE_GRACE));
}

/* Called when the client begins to wait: `place` is being put, and no other
 * place of the client waits. */
static void begin(struct client_share *share, struct client_entry *entry,
                  const struct client_place *place, uint64_t bytes)
{
    struct client_wait wait = {.now = share->now,
                               .factor = share->factor,
                               .grace = grace_of(share),
                               .bytes = bytes,
                               .promise = place->promise};

    if (heap_has(&entry->node))
        heap_drop(&share->leaving, &entry->node);
    if (entry->had < share->now)
        entry->had = share->now;
    entry->is_waiting = true;
    client_marks_put(&share->marks, entry->client);
    wait.elsewhere = look_elsewhere(share, entry);
    client_due_begin(&entry->due, &wait);
    if (!share->is_alone)
        go_among_waiting(share, entry);
}

/* --- Places --------------------------------------------------------------- */

void client_share_put(struct client_share *share, struct client_place *place,
                      uint64_t bytes, uint64_t known)
{
    struct client_entry *entry;

    /* A place that is put back keeps its client waiting as before. Any other
     * place makes its client begin anew, if no other place of the client
     * waits. */
    if (place->promise == 0 || place != share->taken_place)
        settle(share);
    uncount_taken(share);
    entry = client_share_find_or_enter(share, place->client);
    if (!entry->is_waiting)
        begin(share, entry, place, bytes);
    client_level_count(&entry->level, client_level_counted(known));
    entry->places++;
    list_put_last(&entry->list, &place->link);
    move_level(share, entry);
}

void client_share_take(struct client_share *share, struct client_place *place,
                       uint64_t known)
{
    settle(share);
    share->taken = client_share_find(share, place->client);
    share->taken->places--;
    share->taken_place = place;
    share->taken_counted = client_level_counted(known);
    place->promise = client_due_promise(&share->taken->due, share->factor);
    list_drop(&place->link);
}

void client_share_drop(struct client_share *share, struct client_place *place,
                       uint64_t known)
{
    client_share_take(share, place, known);
    settle(share);
}

void client_share_charge(struct client_share *share, struct client_place *place,
                         uint64_t bytes)
{
    struct client_entry *entry = client_share_find(share, place->client);
    uint64_t had = client_due_virtual(least(bytes, UINT32_MAX));

    if (!entry)
        entry = client_share_enter(share, place->client);
    had *= 1 + look_elsewhere(share, entry);
    entry->had += had;
    if (entry->is_waiting) {
        client_due_put_off(&entry->due, had, share->factor,
                           share->now + client_due_virtual(share->ahead));
        if (!share->is_alone)
            heap_rekey(&share->due, &entry->node, entry->due.at);
        place->promise = client_due_promise(&entry->due, share->factor);
    } else {
        if (heap_has(&entry->node))
            heap_drop(&share->leaving, &entry->node);
        client_share_go_among_leaving(share, entry);
    }
    client_share_advance(share, bytes);
}

/* Looks up, for a few clients, at how many other workers they wait now: the
 * number may have changed since the client was last sent anything. */
static void look_again(struct client_share *share)
{
    uint32_t count = share->due.count < LOOKS ? share->due.count : LOOKS;

    while (count-- > 0) {
        const struct heap_item *item =
            &share->due.items[share->looked++ % share->due.count];

        (void)look_elsewhere(share,
                             OWNER_OF(item->node, struct client_entry, node));
    }
}

void client_share_hear(struct client_share *share,
                       const struct client_others *others)
{
    uint64_t sent = least(others->sent - share->others.sent,
                          CLIENT_SHARE_HEARD_MAX);

    if (share->is_alone && others->count > 0)
        client_share_join(share);
    share->others = *others;
    if (share->due.count == 1)
        move_level(share, client_share_first(&share->due));
    look_again(share);
    if (share->count > 0 && sent > 0)
        client_share_advance(share, sent);
}

uint64_t client_share_parts(const struct client_share *share)
{
    return (uint64_t)client_share_waiting(share) * CLIENT_SHARE_WHOLE -
           share->missing;
}

uint64_t client_share_only(const struct client_share *share)
{
    if (share->is_alone)
        return share->lone->client;
    return share->due.count == 1 ? client_share_first(&share->due)->client : 0;
}

struct client_place *client_share_first_due(struct client_share *share)
{
    settle(share);
    if (!client_share_has_due(share))
        return NULL;
    return OWNER_OF(client_share_first(&share->due)->list.next,
                    struct client_place, link);
}

uint64_t client_share_excess_of(const struct client_share *share,
                                const struct client_place *place)
{
    const struct client_entry *entry;
    uint64_t free_until = share->now + client_due_virtual(CLIENT_SHARE_CREDIT);

    if (share->count + share->others.count < 2)
        return 0;
    entry = client_table_find(&share->table, place->client);
    return entry && entry->had > free_until
               ? (entry->had - free_until) >> FAIR_SHARE_FRACTION_BITS
               : 0;
}

uint64_t client_share_level_of(const struct client_share *share,
                               const struct client_place *place)
{
    const struct client_entry *entry = client_table_find(&share->table,
                                                         place->client);

    return entry ? entry->level.bytes : 0;
}
