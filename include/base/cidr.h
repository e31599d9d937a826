/*
 * cidr - a block of addresses, as in "192.0.2.0/24" or "2001:db8::/32".
 *
 * An address without a length is a block of its own. IPv4-mapped blocks of
 * IPv6 are kept as IPv4, as addresses are; so ::/0 is all of IPv6 only.
 *
 * Thread: any; values only.
 */
#ifndef BASE_CIDR_H
#define BASE_CIDR_H

#include "base/address.h"

/* The family of the block of all addresses; no address has it. */
enum { CIDR_ALL = 0xFF };

struct cidr {
    uint8_t family; /* ADDRESS_IPV4 or ADDRESS_IPV6, or CIDR_ALL */
    uint8_t bits;   /* how many bits of octets count */
    uint8_t octets[16];
};

/* A list of blocks, borrowed. Zeroed is empty. */
struct cidrs {
    struct cidr *items;
    size_t count;
};

/* False: text is no block. Bits set behind the length are refused too: whether
 * they are too many or the length too small, only the writer knows. */
MUST_USE bool cidr_parse(struct cidr *cidr, const char *text);

bool cidr_contains(const struct cidr *cidr, const struct address *address);

static inline bool cidrs_contain(const struct cidrs *cidrs,
                                 const struct address *address)
{
    for (size_t i = 0; i < cidrs->count; i++)
        if (cidr_contains(&cidrs->items[i], address))
            return true;
    return false;
}

/* Whether address may come. deny names addresses that may not; allow, if it
 * names any, those that may and no others. CIDR_ALL in deny means all that
 * allow does not name, so that both can stand together. */
MUST_USE static inline bool cidrs_admit(const struct cidrs *allow,
                                        const struct cidrs *deny,
                                        const struct address *address)
{
    bool is_allowed = cidrs_contain(allow, address);

    for (size_t i = 0; i < deny->count; i++)
        if (cidr_contains(&deny->items[i], address) &&
            !(deny->items[i].family == CIDR_ALL && is_allowed))
            return false;
    return allow->count == 0 || is_allowed;
}

#endif
