#include "engine/client_share.h"

#include <errno.h>

enum {
    PER_PLACE = 2,     /* clients for each place: those that wait, and others */
    PLACES_MIN = 8192, /* room that nobody uses is never touched */
    LOOKS = 4,
    SLOPE_WIDTH = 19 /* of CLIENT_SHARE_FACTOR_MAX << CLIENT_SLOPE_BITS */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t virtual(uint64_t bytes)
{
    return bytes << FAIR_SHARE_FRACTION_BITS;
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

/* What he is less than a whole one, who waits elsewhere, too. */
static uint64_t missing_of(const struct client_entry *entry)
{
    return CLIENT_SHARE_WHOLE - CLIENT_SHARE_WHOLE / (1 + entry->elsewhere);
}

static void set_elsewhere(struct client_share *share,
                          struct client_entry *entry, uint32_t elsewhere)
{
    if (entry->elsewhere == elsewhere)
        return; /* nearly always */
    share->missing -= missing_of(entry);
    entry->elsewhere = elsewhere;
    share->missing += missing_of(entry);
}

static void leave(struct client_share *share, struct client_entry *entry)
{
    client_table_remove(&share->table, entry);
    share->count--;
}

static struct client_entry *first_of(const struct heap *heap)
{
    return OWNER_OF(heap_first(heap)->node, struct client_entry, node);
}

/* Somebody new, who has had nothing; he is in none of the heaps yet. */
static struct client_entry *enter(struct client_share *share, uint64_t client)
{
    struct client_entry *entry;

    if (client_table_is_full(&share->table)) {
        /* As many as wait are not all that there is room for. */
        entry = first_of(&share->leaving);
        heap_drop(&share->leaving, &entry->node);
        leave(share, entry);
    }
    entry = client_table_add(&share->table, client);
    entry->had = share->now;
    share->count++;
    return entry;
}

/* Nobody else is here, and nobody waits elsewhere. */
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

/* He is not alone any more. */
static void join(struct client_share *share)
{
    const struct client_entry *lone = share->lone;
    struct client_entry *entry = enter(share, lone->client);
    struct list *place = lone->list.next;

    share->is_alone = false;
    share->count--;
    entry->slope = lone->slope;
    entry->sloped = lone->sloped;
    entry->places = lone->places;
    entry->is_waiting = lone->is_waiting;
    entry->elsewhere = lone->elsewhere;
    entry->had = lone->had;
    entry->due = lone->due;
    entry->asked = lone->asked;
    entry->small = lone->small;
    entry->level = lone->level;
    if (entry->places > 0) { /* that is one */
        list_drop(place);
        list_put_last(&entry->list, place);
    }
    if (entry->is_waiting)
        heap_put(&share->due, &entry->node, entry->due, 0);
    if (share->taken == lone)
        share->taken = entry;
}

/* The client, who may be here; NULL: he is not. */
static struct client_entry *find_present(struct client_share *share,
                                         uint64_t client)
{
    if (share->is_alone) {
        if (share->lone->client == client)
            return share->lone;
        join(share);
    }
    return client_table_find(&share->table, client);
}

static void go_among_leaving(struct client_share *share,
                             struct client_entry *entry)
{
    if (share->is_alone) {
        if (entry->had <= share->now) {
            share->is_alone = false;
            share->count--;
            return;
        }
        join(share);
        entry = client_table_find(&share->table, entry->client);
    }
    if (entry->had > share->now)
        heap_put(&share->leaving, &entry->node, entry->had, 0);
    else
        leave(share, entry);
}

/* In steps of a quarter of a power of two. A level stays until what is asked for
 * is an eighth less, or a quarter more: to change it is to move all that wait. */
static uint64_t level_of(uint64_t level, uint64_t asked)
{
    unsigned shift;

    if (asked >= CLIENT_SHARE_LEVEL_MAX)
        return CLIENT_SHARE_LEVEL_MAX;
    if (level - level / 8 <= asked && asked < level + level / 4)
        return level;
    shift = asked < 8 ? 0 : 61u - (unsigned)__builtin_clzll(asked);
    return asked >> shift << shift;
}

/* Whether anybody else can wait than one client that waits here. */
static bool waits_among_others(const struct client_share *share)
{
    return share->due.count > 1 || share->others.count > 0;
}

static void set_level(struct client_share *share, struct client_entry *entry)
{
    uint64_t before = entry->level;
    uint64_t level = entry->small > 1 ? level_of(before, entry->asked) : 0;

    if (level < before ? entry->places > CLIENT_SHARE_MANY
                       : !waits_among_others(share))
        return;
    entry->level = level;
    if (level == before || !share->on_level)
        return;
    for (struct list *at = entry->list.next; at != &entry->list; at = at->next)
        share->on_level(share, OWNER_OF(at, struct client_place, link), before,
                        level);
}

static inline void move_level(struct client_share *share,
                              struct client_entry *entry)
{
    if (entry->level > 0 || (entry->small > 1 && waits_among_others(share)))
        set_level(share, entry);
}

/* Of the bytes that are known to come of a place: what its client asks for. */
static uint64_t counted_of(uint64_t known)
{
    return known <= CLIENT_SHARE_SMALL ? known : 0;
}

/* What was taken is put back with what it has left now, or not at all. */
static void uncount_taken(struct client_share *share)
{
    if (share->taken && share->taken_counted > 0) {
        share->taken->asked -= share->taken_counted;
        share->taken->small--;
    }
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
    heap_drop(&share->due, &entry->node); /* unless he is alone */
    go_among_leaving(share, entry);
}

/* Whose place was taken and not put back waits no more. Nobody can tell sooner:
 * most are put back at once. */
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

/* At how many other workers he waits, too. */
static inline uint32_t look_elsewhere(struct client_share *share,
                                      struct client_entry *entry)
{
    if (share->others.count == 0 && entry->elsewhere == 0)
        return 0;
    return ask_elsewhere(share, entry);
}

/* The only one that waited has the level now that he has among others. */
static void go_among_waiting(struct client_share *share,
                             struct client_entry *entry)
{
    struct client_entry *only = share->due.count == 1 ? first_of(&share->due)
                                                      : NULL;

    heap_put(&share->due, &entry->node, entry->due, 0);
    if (only)
        move_level(share, only);
}

/* What a place keeps of its client: when something is due, in bytes and from
 * somewhere, and by which slope. It is never 0. */
static uint64_t promise_of(const struct client_share *share,
                           const struct client_entry *entry)
{
    uint64_t slope = entry->sloped > 0 ? entry->slope
                                       : share->factor << CLIENT_SLOPE_BITS;

    return entry->due >> FAIR_SHARE_FRACTION_BITS << SLOPE_WIDTH | slope;
}

/* By how many bytes V has to rise until that. */
static uint64_t bytes_until(const struct client_share *share, uint64_t promise)
{
    uint64_t due = promise >> SLOPE_WIDTH << SLOPE_WIDTH;
    uint64_t now = share->now >> FAIR_SHARE_FRACTION_BITS << SLOPE_WIDTH;

    return (int64_t)(due - now) > 0 ? (due - now) >> SLOPE_WIDTH : 0;
}

/* He goes on where he was, and no slower than he was promised then, when there
 * may have been fewer clients. */
static void go_on(const struct client_share *share, struct client_entry *entry,
                  uint64_t promise)
{
    uint64_t slope = promise & ((UINT64_C(1) << SLOPE_WIDTH) - 1);

    entry->due = share->now + virtual(bytes_until(share, promise));
    if (slope < entry->slope)
        entry->slope = (uint32_t)slope;
}

/* G: what is large stands still for so long, times the clients that wait. */
static uint64_t grace_of(const struct client_share *share)
{
    uint64_t count = (uint64_t)share->count + share->others.count;

    if (count <= CLIENT_SHARE_STILL_S * CLIENT_SHARE_GRACES)
        return share->grace;
    return least(share->grace, most(share->still / count, CLIENT_SHARE_GRACE));
}

/* Sets when something is due. Who was here just now, and could take no more for
 * a moment, goes on where he was. */
static void begin(struct client_share *share, struct client_entry *entry,
                  const struct client_place *place, uint64_t bytes)
{
    uint64_t factor = share->factor;
    uint64_t b = bytes > 0 ? least(bytes, UINT32_MAX) : 1;
    uint64_t g = least((factor - 1) * b * CLIENT_SHARE_PARTS_LATER /
                           CLIENT_SHARE_PARTS,
                       grace_of(share));

    if (heap_has(&entry->node))
        heap_drop(&share->leaving, &entry->node);
    if (entry->had < share->now)
        entry->had = share->now;
    entry->slope = (uint32_t)((factor << CLIENT_SLOPE_BITS) -
                              (g << CLIENT_SLOPE_BITS) / b);
    entry->due = share->now + virtual(g);
    if (place->promise != 0 && bytes_until(share, place->promise) < g)
        go_on(share, entry, place->promise);
    entry->is_waiting = true;
    client_marks_put(&share->marks, entry->client);
    entry->sloped = virtual(b) * (1 + look_elsewhere(share, entry));
    if (!share->is_alone)
        go_among_waiting(share, entry);
}

/* Who something is put for. What is put back is the only place of who is
 * alone. */
static struct client_entry *find_or_enter(struct client_share *share,
                                          uint64_t client)
{
    struct client_entry *entry;

    if (share->count == 0 && share->others.count == 0)
        return enter_alone(share, client);
    if (share->is_alone && share->lone->places > 0)
        join(share);
    entry = find_present(share, client);
    return entry ? entry : enter(share, client);
}

/* --- Places --------------------------------------------------------------- */

void client_share_put(struct client_share *share, struct client_place *place,
                      uint64_t bytes, uint64_t known)
{
    uint64_t counted = counted_of(known);
    struct client_entry *entry;

    /* What is put back goes on; all else begins anew if it is alone. */
    if (place->promise == 0 || place != share->taken_place)
        settle(share);
    uncount_taken(share);
    entry = find_or_enter(share, place->client);
    if (!entry->is_waiting)
        begin(share, entry, place, bytes);
    entry->asked += counted;
    entry->small += counted > 0;
    entry->places++;
    list_put_last(&entry->list, &place->link);
    move_level(share, entry);
}

void client_share_take(struct client_share *share, struct client_place *place,
                       uint64_t known)
{
    settle(share);
    share->taken = find_present(share, place->client);
    share->taken->places--;
    share->taken_place = place;
    share->taken_counted = counted_of(known);
    place->promise = promise_of(share, share->taken);
    list_drop(&place->link);
}

void client_share_drop(struct client_share *share, struct client_place *place,
                       uint64_t known)
{
    client_share_take(share, place, known);
    settle(share);
}

/* V rises by what was sent, shared among all that are here or elsewhere. */
static void advance(struct client_share *share, uint64_t bytes)
{
    uint64_t credit = share->rest +
                      virtual(least(bytes, UINT32_MAX)) * CLIENT_SHARE_WHOLE;

    share->rest = 0;
    while (share->count > 0) {
        uint64_t all = (uint64_t)share->count * CLIENT_SHARE_WHOLE -
                       share->missing + share->others.parts;
        uint64_t each = credit / all;
        uint64_t until_next = share->leaving.count == 0
                                  ? UINT64_MAX
                                  : first_of(&share->leaving)->had - share->now;
        struct client_entry *entry;

        if (each < until_next) {
            share->now += each;
            share->rest = credit - each * all;
            return;
        }
        share->now += until_next;
        credit -= until_next * all;
        entry = first_of(&share->leaving);
        heap_drop(&share->leaving, &entry->node);
        leave(share, entry);
    }
}

/* How far what he is sent puts off what is due. */
static uint64_t put_off(const struct client_share *share,
                        struct client_entry *entry, uint64_t had)
{
    uint64_t sloped = least(had, entry->sloped);

    entry->sloped -= sloped;
    return (sloped >> CLIENT_SLOPE_BITS) * entry->slope +
           (had - sloped) * share->factor;
}

void client_share_charge(struct client_share *share, struct client_place *place,
                         uint64_t bytes)
{
    struct client_entry *entry = find_present(share, place->client);
    uint64_t had = virtual(least(bytes, UINT32_MAX));

    if (!entry)
        entry = enter(share, place->client);
    had *= 1 + look_elsewhere(share, entry);
    entry->had += had;
    if (entry->is_waiting) {
        entry->due = least(entry->due + put_off(share, entry, had),
                           share->now + virtual(share->ahead));
        if (!share->is_alone)
            heap_rekey(&share->due, &entry->node, entry->due);
        place->promise = promise_of(share, entry);
    } else {
        if (heap_has(&entry->node))
            heap_drop(&share->leaving, &entry->node);
        go_among_leaving(share, entry);
    }
    advance(share, bytes);
}

/* Who waits for long without being sent anything may wait at more or fewer
 * workers than when he began to: a few are looked after each time. */
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
        join(share);
    share->others = *others;
    if (share->due.count == 1)
        move_level(share, first_of(&share->due));
    look_again(share);
    if (share->count > 0 && sent > 0)
        advance(share, sent);
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
    return share->due.count == 1 ? first_of(&share->due)->client : 0;
}

struct client_place *client_share_first_due(struct client_share *share)
{
    settle(share);
    if (!client_share_has_due(share))
        return NULL;
    return OWNER_OF(first_of(&share->due)->list.next, struct client_place,
                    link);
}

uint64_t client_share_excess_of(const struct client_share *share,
                                const struct client_place *place)
{
    const struct client_entry *entry;
    uint64_t free_until = share->now + virtual(CLIENT_SHARE_CREDIT);

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

    return entry ? entry->level : 0;
}
