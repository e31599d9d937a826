/*
 * hosts - which site a request is for, by the host it names.
 *
 * "example.org" is that host; "*.example.org" all below it, however deep, but
 * not itself. The exact name counts first, then the longest of the others.
 * Case, a port and a dot at the end make no difference (RFC 3986 3.2.2,
 * RFC 9110 4.2.3).
 *
 * Thread: any may look; it is filled before.
 * Owns:   its table, in the arena; names are borrowed.
 */
#ifndef HANDLER_HOSTS_H
#define HANDLER_HOSTS_H

#include "base/arena.h"

enum { HOSTS_NAME_BYTES_MAX = 255 }; /* RFC 1035 2.3.4 */

struct host {
    struct bytes name; /* of "*.example.org": ".example.org" */
    void *site;
};

/* A zeroed table is empty. */
struct hosts {
    struct host *items; /* in order */
    size_t count;
};

/* name: a host name, one behind "*.", an IPv4 address, or an IPv6 address in
 * brackets as inet_ntop() has it; in lower case, no port; not there yet. False:
 * no memory. */
MUST_USE bool hosts_add(struct hosts *hosts, struct arena *arena,
                        struct bytes name, void *site);

/* The site of a Host field's value; NULL: none has it. */
void *hosts_find(const struct hosts *hosts, struct bytes host);

#endif
