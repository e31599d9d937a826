/*
 * address_count - counts the open connections of each address, and limits them.
 *
 * The table's memory is fixed, and a page of it is touched only when needed.
 * The table has one entry for each possible connection, since there cannot be
 * more addresses than connections. It has one more entry for each worker,
 * because a worker counts a newcomer before it closes the connection that makes
 * room. So the table never fills up before the server does, even when a client
 * sprays addresses, and every count is exact. One lock serves all workers. A
 * worker holds it for a few steps, twice in the life of a connection.
 *
 * An address may have more than its share while no other address has any
 * connection. When no room is left, addresses above their share give way to
 * addresses below their share.
 *
 * Thread: any, except for create and destroy.
 * Owns:   the table.
 */
#ifndef HANDLER_ADDRESS_COUNT_H
#define HANDLER_ADDRESS_COUNT_H

#include "base/address.h"

enum { ADDRESS_COUNT_ENTRIES_MAX = 1 << 24 };

struct address_count; /* opaque */

/* Makes a table that can count `entries` connections in all, 1 to
 * ADDRESS_COUNT_ENTRIES_MAX. An address's share is `most` connections. If
 * `yields` is true, an address may have more while no other address has any.
 * Returns 0 or -errno. */
MUST_USE int address_count_create(struct address_count **count_out,
                                  uint32_t most, bool yields, size_t entries);
void address_count_destroy(struct address_count *count);

/* Counts one more connection of an address. Returns the connection's ticket,
 * which the caller gives back later. Returns 0 when the address has as many
 * connections as it may, or when all entries are in use. */
MUST_USE uint32_t address_count_take(struct address_count *count,
                                     const struct address *address);

/* Ends the counting of the ticket's connection, and sets *ticket to 0. A ticket
 * of 0 is ignored. */
void address_count_give(struct address_count *count, uint32_t *ticket);

/* Returns whether the ticket's address has more connections than its share.
 * Returns false for ticket 0. */
bool address_count_is_above(struct address_count *count, uint32_t ticket);

/* Returns true if another address has to give way to this one. This is so if
 * this address has less than its share while some other address has more. */
bool address_count_gives_way(struct address_count *count,
                             const struct address *address);

#endif
