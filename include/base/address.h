/*
 * address - the address of a socket's peer, in 20 bytes.
 *
 * An IPv4-mapped IPv6 address, under which a dual-stack listener sees an IPv4
 * client, is stored as IPv4.
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

/* A zeroed address has the family ADDRESS_UNKNOWN, so an address that was never
 * set is not taken for a client's. */
enum address_family {
    ADDRESS_UNKNOWN, /* unknown, since a proxy did not name its client */
    ADDRESS_UNIX,
    ADDRESS_IPV4,
    ADDRESS_IPV6
};

enum { ADDRESS_TEXT_MAX = 46 };

struct address {
    uint8_t family;
    uint16_t port;      /* in host order; 0 unless the family is IP */
    uint8_t octets[16]; /* network order; IPv4 uses the first 4 */
};

void address_from(struct address *address, const struct sockaddr *from);

/* An address in the system's form, to which a socket can be bound or
 * connected. */
union address_any {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

/* Writes `address` to `to` in the system's form, and returns the length of that
 * form. For ADDRESS_UNIX, `path` is the socket's path, which must fit into
 * sun_path. */
socklen_t address_fill(const struct address *address, const char *path,
                       union address_any *to);

/* Set `address` to 4 octets of IPv4, or to 16 octets of IPv6, in network order.
 * `port` is in host order. */
void address_from_ipv4(struct address *address, const void *octets,
                       uint16_t port);
void address_from_ipv6(struct address *address, const void *octets,
                       uint16_t port);

/* Reads "192.0.2.1" or "2001:db8::1", without brackets, zone or port, and sets
 * the port to 0. Returns false, and leaves `address` unchanged, if `text` is no
 * address. */
MUST_USE bool address_parse(struct address *address, struct bytes text);

/* Returns true if `address` is a unix socket or a loopback address: its peer
 * can only be on this machine. */
bool address_is_local(const struct address *address);

/* Writes "192.0.2.1", "2001:db8::1", "unix:" or "unknown" without a port;
 * returns the length. */
size_t address_format(const struct address *address,
                      char out[ADDRESS_TEXT_MAX]);

#endif
