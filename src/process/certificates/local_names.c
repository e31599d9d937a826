#include "process/certificates/local_names.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include "io/small_file.h"

static const char hosts_path[] = "/etc/hosts";

/* Takes the next word from the beginning of a line. Returns false if the line
 * has no more words. */
static bool take_word(struct bytes *line, struct bytes *word_out)
{
    const char *end = line->data + line->len;
    const char *at = line->data;
    const char *word;

    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    word = at;
    while (at < end && *at != ' ' && *at != '\t' && *at != '\r' && *at != '#')
        at++;
    *word_out = bytes_between(word, at);
    *line = bytes_between(at, end);
    return word_out->len > 0;
}

static bool is_longer_name(struct bytes name, struct bytes host)
{
    return name.len > host.len + 1 && name.data[host.len] == '.' &&
           bytes_ieq((struct bytes){name.data, host.len}, host);
}

static void add_line(struct tls_names *names, struct bytes host,
                     struct bytes line)
{
    struct bytes word;

    while (take_word(&line, &word))
        if (is_longer_name(word, host))
            tls_names_add(names, word);
}

void local_names_add_hosts(struct tls_names *names, struct bytes host,
                           struct bytes text)
{
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;

        add_line(names, host, (struct bytes){text.data, len});
        text.data += end ? len + 1 : len;
        text.len -= end ? len + 1 : len;
    }
}

static void add_own_name(struct tls_names *names)
{
    char host[HOST_NAME_MAX_BYTES + 1];
    struct small_file hosts;

    if (gethostname(host, sizeof(host) - 1) == -1)
        return;
    host[sizeof(host) - 1] = '\0';
    tls_names_add(names, bytes_of(host));
    if (*host == '\0' || small_file_read(&hosts, hosts_path) != 0)
        return;
    local_names_add_hosts(names, bytes_of(host),
                          (struct bytes){hosts.text, hosts.len});
    small_file_fini(&hosts);
}

/* Whether an address is valid only on one network link. Such an address needs
 * the name of the link's interface, which certificates cannot contain. */
static bool is_of_link(const struct sockaddr *any)
{
    const struct sockaddr_in6 *in6 = (const void *)any;

    return any->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

static void add_interfaces(struct tls_names *names)
{
    struct ifaddrs *list;

    if (getifaddrs(&list) == -1)
        return; /* the sandbox may forbid netlink sockets */
    for (const struct ifaddrs *at = list; at; at = at->ifa_next) {
        struct address address;

        if (!at->ifa_addr || !(at->ifa_flags & IFF_UP) ||
            (at->ifa_addr->sa_family != AF_INET &&
             at->ifa_addr->sa_family != AF_INET6) ||
            is_of_link(at->ifa_addr))
            continue;
        address_from(&address, at->ifa_addr);
        tls_names_add_address(names, &address);
    }
    freeifaddrs(list);
}

void local_names_find(struct tls_names *names)
{
    names->count = 0;
    tls_names_add(names, BYTES("localhost"));
    tls_names_add(names, BYTES("127.0.0.1"));
    tls_names_add(names, BYTES("::1"));
    add_own_name(names);
    add_interfaces(names);
}
