#include "base/address.h"

#include <arpa/inet.h>

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0,    0,
                                          0, 0, 0, 0, 0xFF, 0xFF};

void address_from_ipv4(struct address *address, const void *octets,
                       uint16_t port)
{
    *address = (struct address){.family = ADDRESS_IPV4, .port = port};
    memcpy(address->octets, octets, 4);
}

void address_from_ipv6(struct address *address, const void *octets,
                       uint16_t port)
{
    const uint8_t *from = octets;

    if (memcmp(from, mapped_prefix, sizeof(mapped_prefix)) == 0) {
        address_from_ipv4(address, from + sizeof(mapped_prefix), port);
        return;
    }
    *address = (struct address){.family = ADDRESS_IPV6, .port = port};
    memcpy(address->octets, from, 16);
}

void address_from(struct address *address, const struct sockaddr *from)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    *address = (struct address){.family = ADDRESS_UNKNOWN};
    if (from->sa_family == AF_UNIX) {
        address->family = ADDRESS_UNIX;
    } else if (from->sa_family == AF_INET) {
        memcpy(&in, from, sizeof(in));
        address_from_ipv4(address, &in.sin_addr, ntohs(in.sin_port));
    } else if (from->sa_family == AF_INET6) {
        memcpy(&in6, from, sizeof(in6));
        address_from_ipv6(address, &in6.sin6_addr, ntohs(in6.sin6_port));
    }
}

socklen_t address_fill(const struct address *address, const char *path,
                       union address_any *to)
{
    *to = (union address_any){0};
    switch ((enum address_family)address->family) {
    case ADDRESS_IPV4:
        to->in.sin_family = AF_INET;
        to->in.sin_port = htons(address->port);
        memcpy(&to->in.sin_addr, address->octets, 4);
        return sizeof(to->in);
    case ADDRESS_IPV6:
        to->in6.sin6_family = AF_INET6;
        to->in6.sin6_port = htons(address->port);
        memcpy(&to->in6.sin6_addr, address->octets, 16);
        return sizeof(to->in6);
    case ADDRESS_UNIX:
    case ADDRESS_UNKNOWN: /* no socket has this family */
        break;
    }
    to->un.sun_family = AF_UNIX;
    memcpy(to->un.sun_path, path, strlen(path));
    return sizeof(to->un);
}

/* Reads one number of an IPv4 address, and moves *at past it. Returns false if
 * there is no number, or if it is above 255 or has a leading zero. */
static bool take_octet(const char **at, const char *end, uint8_t *octet_out)
{
    const char *next = *at;
    unsigned octet, digit;

    if (next == end || (octet = (unsigned)(*next++ - '0')) > 9)
        return false;
    while (next < end && (digit = (unsigned)(*next - '0')) <= 9) {
        octet = octet * 10 + digit;
        if (octet < 10 || octet > 255)
            return false;
        next++;
    }
    *at = next;
    *octet_out = (uint8_t)octet;
    return true;
}

/* Accepts what inet_pton(3) accepts, in less than half the time. Speed matters,
 * since most requests from this machine have such an address in Host, and
 * proxies send one with each request. */
static bool parse_ipv4(struct bytes text, uint8_t octets[4])
{
    const char *at = text.data;
    const char *end = text.data + text.len;

    for (unsigned i = 0; i < 4; i++) {
        if (i > 0 && (at == end || *at++ != '.'))
            return false;
        if (!take_octet(&at, end, &octets[i]))
            return false;
    }
    return at == end;
}

static bool parse_ipv6(struct bytes text, uint8_t octets[16])
{
    char copy[ADDRESS_TEXT_MAX];

    if (text.len == 0 || text.len >= sizeof(copy) ||
        memchr(text.data, '\0', text.len))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return inet_pton(AF_INET6, copy, octets) == 1;
}

bool address_parse(struct address *address, struct bytes text)
{
    uint8_t octets[16];

    if (parse_ipv4(text, octets))
        address_from_ipv4(address, octets, 0);
    else if (parse_ipv6(text, octets))
        address_from_ipv6(address, octets, 0);
    else
        return false;
    return true;
}

bool address_is_local(const struct address *address)
{
    static const uint8_t loopback[16] = {[15] = 1};

    switch ((enum address_family)address->family) {
    case ADDRESS_UNKNOWN:
        return false;
    case ADDRESS_UNIX:
        return true;
    case ADDRESS_IPV4:
        return address->octets[0] == 127;
    case ADDRESS_IPV6:
        return memcmp(address->octets, loopback, sizeof(loopback)) == 0;
    }
    return false;
}

/* --- Text, several times as fast as inet_ntop(3): each log line has one --- */

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

/* Finds the longest run of zero groups, the first if several are equally long
 * (RFC 5952 4.2). Returns where the run begins. *len_out is its length, or 0 if
 * no run has at least two groups. */
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
        struct bytes text = address->family == ADDRESS_UNIX ? BYTES("unix:")
                                                            : BYTES("unknown");

        memcpy(at, text.data, text.len);
        at += text.len;
    }
    *at = '\0';
    return (size_t)(at - out);
}
