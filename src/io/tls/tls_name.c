#include "io/tls/tls_name.h"

#include <arpa/inet.h>
#include <stdint.h>

enum { HOST_NAME_TYPE = 0 };

/* Writes an address in its shortest form. Returns false when the text is no
 * address. */
static bool shorten(struct bytes address, char to[TLS_NAME_MAX + 1])
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr octets;

    if (address.len >= sizeof(text))
        return false;
    memcpy(text, address.data, address.len);
    text[address.len] = '\0';
    return inet_pton(AF_INET6, text, &octets) == 1 &&
           inet_ntop(AF_INET6, &octets, to, TLS_NAME_MAX + 1);
}

static struct bytes normalise_address(struct bytes host,
                                      char to[TLS_NAME_MAX + 1])
{
    if (host.len > 0 && host.data[0] == '[') {
        const char *close = memchr(host.data, ']', host.len);

        if (!close)
            return BYTES("");
        host = bytes_between(host.data + 1, close);
    }
    return shorten(host, to) ? bytes_of(to) : BYTES("");
}

struct bytes tls_name_normalise(struct bytes host, char to[TLS_NAME_MAX + 1])
{
    const char *colon = host.len > 0 ? memchr(host.data, ':', host.len) : NULL;

    if (colon &&
        (host.data[0] == '[' ||
         memchr(colon + 1, ':', host.len - (size_t)(colon + 1 - host.data))))
        return normalise_address(host, to);
    if (colon)
        host = bytes_between(host.data, colon);
    if (host.len > 0 && host.data[host.len - 1] == '.')
        host.len--;
    if (host.len > TLS_NAME_MAX)
        return BYTES("");
    for (size_t i = 0; i < host.len; i++)
        to[i] = byte_lower(host.data[i]);
    return (struct bytes){to, host.len};
}

struct bytes tls_name_above(struct bytes name)
{
    const char *dot = name.len > 0 ? memchr(name.data, '.', name.len) : NULL;

    return dot ? bytes_between(dot, name.data + name.len) : BYTES("");
}

bool tls_name_matches(struct bytes pattern, struct bytes name)
{
    struct bytes above;

    if (pattern.len == 0 || name.len == 0)
        return false;
    if (bytes_eq(pattern, name))
        return true;
    if (pattern.len < 3 || memcmp(pattern.data, "*.", 2) != 0)
        return false;
    above = tls_name_above(name);
    return above.len > 0 && above.len < name.len &&
           bytes_eq((struct bytes){pattern.data + 1, pattern.len - 1}, above);
}

/*
 *   list length (2) | type (1) | name length (2) | name
 *
 * OpenSSL and RFC 6066 know one type, and one name of that type.
 */
struct bytes tls_name_read_extension(struct bytes extension)
{
    const uint8_t *at = (const uint8_t *)extension.data;
    size_t list;
    size_t len;

    if (extension.len < 5)
        return BYTES("");
    list = (size_t)(at[0] << 8 | at[1]);
    len = (size_t)(at[3] << 8 | at[4]);
    if (list + 2 != extension.len || at[2] != HOST_NAME_TYPE || len == 0 ||
        len + 5 != extension.len || len > TLS_NAME_MAX ||
        memchr(at + 5, '\0', len))
        return BYTES("");
    return (struct bytes){extension.data + 5, len};
}
