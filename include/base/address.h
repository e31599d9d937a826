/*
 * address - who is at the other end of a socket, in 20 bytes.
 *
 * IPv4-mapped IPv6 addresses (what a dual-stack listener sees of an IPv4
 * client) are kept as IPv4.
 *
 * Thread: any; values only.
 */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/bytes.h"

/* A zeroed address is unknown: nobody is taken for somebody by an oversight. */
enum address_family {
    ADDRESS_UNKNOWN, /* a proxy does not say who its client is */
    ADDRESS_UNIX,
    ADDRESS_IPV4,
    ADDRESS_IPV6
};

enum { ADDRESS_TEXT_MAX = 46 };

struct address {
    uint8_t family;
    uint16_t port;      /* in host order; 0 without octets */
    uint8_t octets[16]; /* network order; 4 of them for ADDRESS_IPV4 */
};

void address_from(struct address *address, const struct sockaddr *from);

/* What a socket can be bound or connected to. */
union address_any {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

/* Fills the system's form of address in; path is that of ADDRESS_UNIX, and
 * fits. Returns its length. */
socklen_t address_fill(const struct address *address, const char *path,
                       union address_any *to);

/* Sets an address of 4 or 16 octets in network order, and a port in host
 * order. */
void address_from_ipv4(struct address *address, const void *octets,
                       uint16_t port);
void address_from_ipv6(struct address *address, const void *octets,
                       uint16_t port);

/* Reads "192.0.2.1" or "2001:db8::1", without brackets, zone or port, which
 * becomes 0. False: it is neither; address is as it was. */
MUST_USE bool address_parse(struct address *address, struct bytes text);

/* Whether address can only be of this machine: a unix socket or loopback. */
bool address_is_local(const struct address *address);

/* Writes "192.0.2.1", "2001:db8::1", "unix:" or "unknown" without a port;
 * returns the length. */
size_t address_format(const struct address *address,
                      char out[ADDRESS_TEXT_MAX]);

#endif
