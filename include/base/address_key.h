/*
 * address_key - the number by which limits recognize a client. All addresses of
 * a /64 of IPv6 count as one client, since every customer of a network has at
 * least a /64; each IPv4 address is a client of its own.
 *
 * The keys of IPv4 addresses are those of 0:ffff:.../64, a network that is
 * reserved and routed nowhere. All peers of unix sockets share the key 1, all
 * unknown clients the key 2.
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

/* Returns the network that a key's address is in. For IPv6, this is a /48, the
 * usual size for a site, with 65,536 keys. An IPv4 address is its own
 * network. */
static inline uint64_t address_key_network(uint64_t key)
{
    bool is_ipv6 = key >> 48 != 0;

    return is_ipv6 ? key & ~UINT64_C(0xFFFF) : key;
}

/* Returns the hash that places a key in a table. Clients cannot foresee the
 * hash. */
static inline uint64_t address_key_hash(uint64_t key,
                                        const struct siphash_key *secret)
{
    return siphash_of_word(secret, key);
}

#endif
