/*
 * address_merge - makes one list of addresses, in the order to try them, from
 * what a look-up found and what was known before.
 *
 * IPv6 and IPv4 take turns, IPv6 first (RFC 8305, 4): when one family does not
 * work, the second try is already the other. In each family the addresses known
 * before come first, in their old order, and the new ones follow. So an
 * unchanged set keeps its order, however DNS servers rotate their lists, and
 * when more addresses are found than fit, the known ones stay.
 *
 *   address_merge_init()  address_merge_put()...  address_merge_finish()
 *
 * Thread: none of its own; the owner's thread.
 * Owns:   nothing; borrows the addresses known before.
 */
#ifndef IO_ADDRESS_MERGE_H
#define IO_ADDRESS_MERGE_H

#include "base/address.h"

enum { ADDRESS_MERGE_MAX = 16 };

struct address_merge {
    const struct address *old;
    size_t old_count;
    bool is_found[ADDRESS_MERGE_MAX]; /* old[i] was put again */
    /* New addresses by family, each only once. */
    struct address ipv6[ADDRESS_MERGE_MAX];
    struct address ipv4[ADDRESS_MERGE_MAX];
    size_t ipv6_count;
    size_t ipv4_count;
};

/* Begins with the addresses `old`, which an earlier address_merge_finish()
 * gave; there may be none. */
void address_merge_init(struct address_merge *merge, const struct address *old,
                        size_t old_count);

/* Adds an address, whatever its port. An address that was put before is left
 * out, and so are 0.0.0.0 and ::, which would connect to this machine. */
void address_merge_put(struct address_merge *merge,
                       const struct address *address);

/* Writes the addresses to `out`, and returns how many there are. *is_other_out
 * tells whether they differ from those known before. */
size_t address_merge_finish(const struct address_merge *merge,
                            struct address out[ADDRESS_MERGE_MAX],
                            bool *is_other_out);

#endif
