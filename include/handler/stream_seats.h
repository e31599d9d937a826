/*
 * stream_seats - who may have one of the streams that a worker keeps open for
 * as long as their clients listen.
 *
 * An address has a quarter of them. One that is alone may have more, on loan:
 * when all are taken, addresses above their share give way to any that has
 * less. A stream that gives way ends in its own time, and until then it is one
 * more than there are; of those there is a quarter at most.
 *
 * Thread: one per worker; no locks but the count's, which nobody waits for.
 * Owns:   the count. Seats lie in their streams.
 */
#ifndef HANDLER_STREAM_SEATS_H
#define HANDLER_STREAM_SEATS_H

#include "base/list.h"
#include "handler/address_count.h"

struct stream_seats {
    struct address_count *addresses; /* NULL: there are no seats */
    struct list taken;               /* in order of arrival */
    size_t count;                    /* of these */
    size_t leaving;                  /* that have given way, and are there */
    size_t max;
};

struct stream_seat {
    struct list list_node;
    uint32_t ticket;
    bool gives_way; /* the stream is to end */
};

/* max: how many there are, with nobody above a share, at most
 * ADDRESS_COUNT_ENTRIES_MAX. 0 or -errno. */
MUST_USE int stream_seats_init(struct stream_seats *seats, size_t max);
/* Frees seats, all of which have been left. Zeroed ones are fine. */
void stream_seats_fini(struct stream_seats *seats);

/* Takes a seat. False: there is none for that address now. *leaver_out is the
 * seat that gives way to this one, whose stream is to be woken; or NULL. */
MUST_USE bool stream_seats_take(struct stream_seats *seats,
                                struct stream_seat *seat,
                                const struct address *address,
                                struct stream_seat **leaver_out);
void stream_seats_leave(struct stream_seats *seats, struct stream_seat *seat);

#endif
