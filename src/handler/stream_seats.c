#include "handler/stream_seats.h"

#include <assert.h>

enum { PARTS = 4 /* an address's share is the seats divided by this number */ };

static size_t share_of(size_t max)
{
    return (max + PARTS - 1) / PARTS;
}

int stream_seats_init(struct stream_seats *seats, size_t max)
{
    *seats = (struct stream_seats){.max = max};
    list_init(&seats->taken);
    return max == 0 ? 0
                    : address_count_create(&seats->addresses,
                                           (uint32_t)share_of(max), true, max);
}

void stream_seats_fini(struct stream_seats *seats)
{
    assert(seats->count == 0 && seats->leaving == 0);
    address_count_destroy(seats->addresses);
    seats->addresses = NULL;
}

/* Of the seats whose addresses are above their share, returns the one that was
 * taken last. Returns NULL if no address is above its share. */
static struct stream_seat *find_loan(struct stream_seats *seats)
{
    for (struct list *at = seats->taken.prev; at != &seats->taken;
         at = at->prev) {
        struct stream_seat *seat = OWNER_OF(at, struct stream_seat, list_node);

        if (address_count_is_above(seats->addresses, seat->ticket))
            return seat;
    }
    return NULL;
}

/* Chooses a seat that must give way to the address, and marks it. Returns the
 * seat, or NULL if no seat must give way. */
static struct stream_seat *make_room(struct stream_seats *seats,
                                     const struct address *address)
{
    struct stream_seat *leaver = NULL;

    if (seats->leaving < share_of(seats->max) &&
        address_count_gives_way(seats->addresses, address))
        leaver = find_loan(seats);
    if (!leaver)
        return NULL;
    list_drop(&leaver->list_node);
    address_count_give(seats->addresses, &leaver->ticket);
    leaver->gives_way = true;
    seats->count--;
    seats->leaving++;
    return leaver;
}

bool stream_seats_take(struct stream_seats *seats, struct stream_seat *seat,
                       const struct address *address,
                       struct stream_seat **leaver_out)
{
    *leaver_out = NULL;
    *seat = (struct stream_seat){.ticket = 0};
    if (seats->max == 0)
        return false;
    if (seats->count == seats->max &&
        !(*leaver_out = make_room(seats, address)))
        return false;
    seat->ticket = address_count_take(seats->addresses, address);
    if (seat->ticket == 0)
        return false;
    list_put_last(&seats->taken, &seat->list_node);
    seats->count++;
    return true;
}

void stream_seats_leave(struct stream_seats *seats, struct stream_seat *seat)
{
    if (seat->gives_way) {
        seats->leaving--;
        return;
    }
    list_drop(&seat->list_node);
    address_count_give(seats->addresses, &seat->ticket);
    seats->count--;
}
