#include "handler/hosts.h"

#include <arpa/inet.h>

/* --- The table ------------------------------------------------------------ */

/* Returns the position of the first item that does not sort before `name`. */
static size_t place_of(const struct hosts *hosts, struct bytes name)
{
    size_t low = 0;
    size_t high = hosts->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bytes_order(hosts->items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hosts_add(struct hosts *hosts, struct arena *arena, struct bytes name,
               void *site)
{
    struct host *items = arena_grow(arena, hosts->items, hosts->count,
                                    sizeof(*items));
    size_t at;

    if (!items)
        return false;
    hosts->items = items;
    if (name.data[0] == '*')
        name = (struct bytes){name.data + 1, name.len - 1};
    at = place_of(hosts, name);
    memmove(items + at + 1, items + at, (hosts->count - at) * sizeof(*items));
    items[at] = (struct host){name, site};
    hosts->count++;
    return true;
}

static void *find_exactly(const struct hosts *hosts, struct bytes name)
{
    size_t at = place_of(hosts, name);

    return at < hosts->count && bytes_eq(hosts->items[at].name, name)
               ? hosts->items[at].site
               : NULL;
}

/* Returns the short form of an IPv6 address in brackets. Returns an empty text
 * if `host` is no such address. */
static struct bytes shorten(struct bytes host, char to[HOSTS_NAME_BYTES_MAX])
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr octets;
    size_t len;

    if (host.len < 3 || host.len - 2 >= sizeof(text) ||
        host.data[host.len - 1] != ']')
        return BYTES("");
    memcpy(text, host.data + 1, host.len - 2);
    text[host.len - 2] = '\0';
    if (inet_pton(AF_INET6, text, &octets) != 1 ||
        !inet_ntop(AF_INET6, &octets, to + 1, INET6_ADDRSTRLEN))
        return BYTES("");
    len = strlen(to + 1) + 2;
    to[0] = '[';
    to[len - 1] = ']';
    return (struct bytes){to, len};
}

/* Returns the host in lower case, without port and final dot. Returns an empty
 * text if `host` is no name. */
static struct bytes normalise(struct bytes host, char to[HOSTS_NAME_BYTES_MAX])
{
    const char *end = memchr(host.data, ']', host.len);
    const char *colon;

    end = end ? end + 1 : host.data;
    colon = memchr(end, ':', host.len - (size_t)(end - host.data));
    if (colon)
        host = bytes_between(host.data, colon);
    if (host.len > 0 && *host.data == '[')
        return shorten(host, to);
    if (host.len > 0 && host.data[host.len - 1] == '.')
        host.len--;
    if (host.len > HOSTS_NAME_BYTES_MAX)
        return BYTES("");
    for (size_t i = 0; i < host.len; i++)
        to[i] = byte_lower(host.data[i]);
    return (struct bytes){to, host.len};
}

void *hosts_find(const struct hosts *hosts, struct bytes host)
{
    char text[HOSTS_NAME_BYTES_MAX];
    struct bytes name;
    void *site;

    if (hosts->count == 0 || host.len == 0)
        return NULL;
    name = normalise(host, text);
    /* In the table, a wildcard's name begins with a dot. No host begins with
     * one. */
    if (name.len == 0 || name.data[0] == '.')
        return NULL;
    site = find_exactly(hosts, name);
    while (!site && name.len > 1) {
        const char *dot = memchr(name.data + 1, '.', name.len - 1);

        if (!dot)
            break;
        name = bytes_between(dot, name.data + name.len);
        site = find_exactly(hosts, name);
    }
    return site;
}
