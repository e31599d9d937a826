/*
 * address_key - whom limits count as one client: an IPv4 address, or a /64 of
 * IPv6, as every customer has one at least, with all addresses in it.
 *
 * IPv4 addresses stand where 0:ffff:.../64 would, which is reserved and routed
 * nowhere; the key of all peers of unix sockets is 1, that of all unknown ones
 * 2.
 *
 * Thread: any; values only.
 */
#ifndef BASE_ADDRESS_KEY_H
#define BASE_ADDRESS_KEY_H

#include "base/address.h"
#include "base/siphash.h"

static inline uint64_t address_key_of(const struct address *address)
{
    unsigned octets = address->family == ADDRESS_IPV4 ? 4 : 8;
    uint64_t key = address->family == ADDRESS_IPV4 ? 0xFFFF : 0;

    if (address->family == ADDRESS_UNIX)
        return 1;
    if (address->family == ADDRESS_UNKNOWN)
        return 2;
    for (unsigned i = 0; i < octets; i++)
        key = key << 8 | address->octets[i];
    return key;
}

/* The network that the address of a key is in: a /48 of IPv6, which is what a
 * site gets, with 65,536 of our keys in it. An IPv4 address is its own. */
static inline uint64_t address_key_network(uint64_t key)
{
    bool is_ipv6 = key >> 48 != 0;

    return is_ipv6 ? key & ~UINT64_C(0xFFFF) : key;
}

/* Where a key stands in a table, which nobody can foresee. */
static inline uint64_t address_key_hash(uint64_t key,
                                        const struct siphash_key *secret)
{
    return siphash_of_word(secret, key);
}

#endif
