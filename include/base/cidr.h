/*
 * cidr - a block of addresses, as in "192.0.2.0/24" or "2001:db8::/32".
 *
 * An address without a prefix length is a block of one address. IPv4-mapped
 * blocks of IPv6 are stored as IPv4, as addresses are, so ::/0 contains only
 * IPv6.
 *
 * Thread: any; values only.
 */
#ifndef BASE_CIDR_H
#define BASE_CIDR_H

#include "base/address.h"

/* The family of the block that contains all addresses. No address has this
 * family. */
enum { CIDR_ALL = 0xFF };

struct cidr {
    uint8_t family; /* ADDRESS_IPV4 or ADDRESS_IPV6, or CIDR_ALL */
    uint8_t bits;   /* prefix length: how many bits count */
    uint8_t octets[16];
};

/* A borrowed list of blocks. A zeroed list is empty. */
struct cidrs {
    struct cidr *items;
    size_t count;
};

/* Reads a block. Returns false if `text` is not a block. A block with bits set
 * behind its prefix is refused, too, since it is unclear whether the address or
 * the prefix length is wrong. */
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

/* Returns true if `address` is admitted. An address is refused if `deny`
 * contains it, or if `allow` is not empty and does not contain it. CIDR_ALL in
 * `deny` does not refuse addresses that `allow` contains, so that both lists
 * can be used together. */
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
