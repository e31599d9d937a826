#include "base/address.h"

#include <netinet/in.h>

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0,    0,
                                          0, 0, 0, 0, 0xFF, 0xFF};

void address_from(struct address *address, const struct sockaddr *from)
{
    *address = (struct address){.family = ADDRESS_UNIX};
    if (from->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, from, sizeof(in));
        address->family = ADDRESS_IPV4;
        address->port = ntohs(in.sin_port);
        memcpy(address->octets, &in.sin_addr, 4);
    } else if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        const uint8_t *octets = in6.sin6_addr.s6_addr;

        memcpy(&in6, from, sizeof(in6));
        address->port = ntohs(in6.sin6_port);
        if (memcmp(octets, mapped_prefix, sizeof(mapped_prefix)) == 0) {
            address->family = ADDRESS_IPV4;
            memcpy(address->octets, octets + sizeof(mapped_prefix), 4);
        } else {
            address->family = ADDRESS_IPV6;
            memcpy(address->octets, octets, 16);
        }
    }
}

/* --- Text, several times as fast as inet_ntop(3): one a line of the log --- */

static char *put_octet(char *at, unsigned octet)
{
    if (octet >= 100)
        *at++ = (char)('0' + octet / 100);
    if (octet >= 10)
        *at++ = (char)('0' + octet / 10 % 10);
    *at++ = (char)('0' + octet % 10);
    return at;
}

static char *put_group(char *at, unsigned group)
{
    int shift = group >= 0x1000 ? 12 : group >= 0x100 ? 8 : group >= 16 ? 4 : 0;

    for (; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[group >> shift & 15];
    return at;
}

/* Where the longest run of zero groups begins, the first of several (RFC 5952
 * 4.2); *len_out is 0 when there is none of two at least. */
static unsigned find_zeros(const unsigned groups[8], unsigned *len_out)
{
    unsigned best = 0;
    unsigned len = 0;

    *len_out = 0;
    for (unsigned i = 0; i < 8; i++) {
        len = groups[i] == 0 ? len + 1 : 0;
        if (len >= 2 && len > *len_out) {
            *len_out = len;
            best = i + 1 - len;
        }
    }
    return best;
}

static char *put_ipv6(char *at, const uint8_t octets[16])
{
    unsigned groups[8];
    unsigned zeros, len;

    for (unsigned i = 0; i < 8; i++)
        groups[i] = (unsigned)octets[2 * i] << 8 | octets[2 * i + 1];
    zeros = find_zeros(groups, &len);
    for (unsigned i = 0; i < 8; i++) {
        if (len > 0 && i == zeros) {
            *at++ = ':';
            i += len - 1;
            if (i == 7)
                *at++ = ':';
            continue;
        }
        if (i > 0)
            *at++ = ':';
        at = put_group(at, groups[i]);
    }
    return at;
}

size_t address_format(const struct address *address, char out[ADDRESS_TEXT_MAX])
{
    char *at = out;

    if (address->family == ADDRESS_IPV4) {
        for (unsigned i = 0; i < 4; i++) {
            if (i > 0)
                *at++ = '.';
            at = put_octet(at, address->octets[i]);
        }
    } else if (address->family == ADDRESS_IPV6) {
        at = put_ipv6(at, address->octets);
    } else {
        memcpy(at, "unix:", 5);
        at += 5;
    }
    *at = '\0';
    return (size_t)(at - out);
}
