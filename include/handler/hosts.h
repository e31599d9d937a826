/*
 * hosts - finds the site of a request by the host that it names.
 *
 * "example.org" means that host alone. "*.example.org" means all hosts below
 * example.org, at any depth, but not example.org itself. An exact name is
 * preferred to all patterns; of several patterns, the longest counts. Case, a
 * port and a final dot make no difference (RFC 3986 3.2.2, RFC 9110 4.2.3).
 *
 * Thread: filled by one thread; afterwards any thread may read.
 * Owns:   its table, in the arena; names are borrowed.
 */
#ifndef HANDLER_HOSTS_H
#define HANDLER_HOSTS_H

#include "base/arena.h"

enum { HOSTS_NAME_BYTES_MAX = 255 }; /* longest name by RFC 1035 2.3.4 */

struct host {
    struct bytes name; /* of "*.example.org", only ".example.org" is kept */
    void *site;
};

/* The hosts of all sites. Zeroed at first. */
struct hosts {
    struct host *items; /* sorted by name */
    size_t count;
};

/* Adds a name of `site`: a host name, a pattern such as "*.example.org", an
 * IPv4 address, or an IPv6 address in brackets in the form of inet_ntop().
 * `name` is in lower case, has no port, and is not in the table yet. Returns
 * false when there is no memory. */
MUST_USE bool hosts_add(struct hosts *hosts, struct arena *arena,
                        struct bytes name, void *site);

/* Returns the site for the value of a Host field, or NULL. */
void *hosts_find(const struct hosts *hosts, struct bytes host);

#endif
