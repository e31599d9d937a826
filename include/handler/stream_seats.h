/*
 * stream_seats - limits the number of a worker's streams that stay open as long
 * as their clients listen. Each such stream has a seat.
 *
 * An address's share is a quarter of the seats. An address may have more while
 * no other address has a seat. When all seats are taken, addresses above their
 * share give way to addresses below. A stream that gives way ends a bit later.
 * Until then the number of streams exceeds the maximum, by at most a quarter.
 *
 * Thread: one per worker; the count's lock is never contended.
 * Owns:   the count. Seats lie in their streams.
 */
#ifndef HANDLER_STREAM_SEATS_H
#define HANDLER_STREAM_SEATS_H

#include "base/list.h"
#include "handler/address_count.h"

struct stream_seats {
    struct address_count *addresses; /* NULL: there are no seats */
    struct list taken;               /* seats taken, in order of arrival */
    size_t count;                    /* seats in `taken` */
    size_t leaving;                  /* seats that give way, and whose streams
                                        have not ended yet */
    size_t max;
};

struct stream_seat {
    struct list list_node;
    uint32_t ticket;
    bool gives_way; /* the stream must end */
};

/* Makes `max` seats, at most ADDRESS_COUNT_ENTRIES_MAX. Seats that give way are
 * not counted. Returns 0 or -errno. */
MUST_USE int stream_seats_init(struct stream_seats *seats, size_t max);
/* Frees seats, all of which must have been left. Accepts a zeroed object. */
void stream_seats_fini(struct stream_seats *seats);

/* Takes `seat` for a stream of the address. Returns false if the address can
 * have no seat now. If another seat must give way, sets *leaver_out to that
 * seat, whose stream the caller must wake; otherwise to NULL. */
MUST_USE bool stream_seats_take(struct stream_seats *seats,
                                struct stream_seat *seat,
                                const struct address *address,
                                struct stream_seat **leaver_out);
void stream_seats_leave(struct stream_seats *seats, struct stream_seat *seat);

#endif
