/*
 * address_count - counts the open connections of each address, and limits them.
 *
 * Memory is fixed, and touched only when needed: one entry for each possible
 * connection, since there cannot be more addresses, and one more for each
 * worker, which counts a newcomer before it closes the connection that makes
 * room for it. So the table never fills up before the server does, whoever
 * sprays addresses, and every count is exact. One lock serves all workers: it
 * is held for a few steps, twice in the life of a connection.
 *
 * An address that is alone may have more than its share: when there is no room
 * left, addresses above their share give way to those below theirs.
 *
 * Thread: any, except for create and destroy.
 * Owns:   the table.
 */
#ifndef HANDLER_ADDRESS_COUNT_H
#define HANDLER_ADDRESS_COUNT_H

#include "base/address.h"

enum { ADDRESS_COUNT_ENTRIES_MAX = 1 << 24 };

struct address_count; /* opaque */

/* most: how many connections an address may have, its share. yields: more,
 * while no other address has any. entries, 1 to ADDRESS_COUNT_ENTRIES_MAX:
 * connections counted in all. Returns 0 or -errno. */
MUST_USE int address_count_create(struct address_count **count_out,
                                  uint32_t most, bool yields, size_t entries);
void address_count_destroy(struct address_count *count);

/* Counts one more connection. Returns its ticket, to be given back later; 0:
 * the address has as many as it may, or all entries are in use. */
MUST_USE uint32_t address_count_take(struct address_count *count,
                                     const struct address *address);

/* Counts one connection less, and sets *ticket to 0. A ticket of 0 is
 * ignored. */
void address_count_give(struct address_count *count, uint32_t *ticket);

/* Whether the ticket's address has more than its share; false for ticket 0. */
bool address_count_is_above(struct address_count *count, uint32_t ticket);

/* Whether some address has more than its share, and this one less: then the
 * former has to give way. */
bool address_count_gives_way(struct address_count *count,
                             const struct address *address);

#endif
