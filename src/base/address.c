#include "base/address.h"

#include <arpa/inet.h>
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

size_t address_format(const struct address *address, char out[ADDRESS_TEXT_MAX])
{
    int family = address->family == ADDRESS_IPV4 ? AF_INET : AF_INET6;

    if (address->family == ADDRESS_UNIX ||
        !inet_ntop(family, address->octets, out, ADDRESS_TEXT_MAX))
        memcpy(out, "unix:", sizeof("unix:"));
    return strlen(out);
}
