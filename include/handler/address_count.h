/*
 * address_count - how many connections each address has open, and no more than
 * so many.
 *
 * Memory is fixed, and touched as it is needed: an entry for each connection
 * that there may be, since no more addresses than that have one, and another
 * for each worker, which counts a newcomer before it closes the connection that
 * makes room for it. So it never fills up before the server does, whoever
 * sprays addresses, and no count is ever guessed. One lock for all workers: it
 * is held for a few steps, twice in the life of a connection.
 *
 * An address that is alone may have more than its share, on loan: when there is
 * no room left, addresses above their share give way to any that has less.
 *
 * Thread: all but create and destroy any.
 * Owns:   the table.
 */
#ifndef HANDLER_ADDRESS_COUNT_H
#define HANDLER_ADDRESS_COUNT_H

#include "base/address.h"

enum { ADDRESS_COUNT_ENTRIES_MAX = 1 << 24 };

struct address_count; /* opaque */

/* most: how many an address may have, its share; yields: and any number as long
 * as no other has one; entries, 1 to ADDRESS_COUNT_ENTRIES_MAX: how many there
 * may be in all. 0 or -errno. */
MUST_USE int address_count_create(struct address_count **count_out,
                                  uint32_t most, bool yields, size_t entries);
void address_count_destroy(struct address_count *count);

/* Counts one more connection. Returns its ticket, which is to be given back; 0:
 * no, the address has as many as it may, or all entries are in use. */
MUST_USE uint32_t address_count_take(struct address_count *count,
                                     const struct address *address);

/* Counts one connection less. *ticket becomes 0; a ticket that is 0 already is
 * nobody's. */
void address_count_give(struct address_count *count, uint32_t *ticket);

/* Whether the address of the ticket has more than its share; of 0: no. */
bool address_count_is_above(struct address_count *count, uint32_t ticket);

/* Whether some address has more than its share, and would give way to this one,
 * which has less. */
bool address_count_gives_way(struct address_count *count,
                             const struct address *address);

#endif
