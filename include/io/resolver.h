/*
 * resolver - names to addresses, by DNS and /etc/hosts, without blocking.
 *
 * The addresses of an open name are looked up again when their time to live is
 * over, and on_change is called when they differ. When a look-up fails, the
 * addresses stay, and the next tries come ever more rarely.
 *
 *   ASKING --addresses--> KNOWN   again when the TTL is over; failures leave
 *      |                    ^     the state as it is
 *      +--failure--> FAILED-+     again after 1 to 30 s
 *
 * Addresses stand in the order in which to try them (address_merge.h).
 *
 * When a name is closed during its look-up, the look-up still runs to its end,
 * and its result is dropped: c-ares has no way to stop a single look-up.
 *
 * Thread: the loop's; resolver_create() any thread's, before the loop runs.
 * Owns:   its timer, its sockets (open only while a look-up is under way), and
 *         all names from resolver_name_open() to resolver_name_close().
 */
#ifndef IO_RESOLVER_H
#define IO_RESOLVER_H

#include <ev.h>

#include "base/address.h"
#include "base/now.h"
#include "io/address_merge.h"

enum {
    RESOLVER_NAMES_MAX = 1024,                  /* most names of one resolver */
    RESOLVER_ADDRESSES_MAX = ADDRESS_MERGE_MAX, /* most addresses of a name */
    RESOLVER_TTL_MIN_MS = 1000,
    RESOLVER_TTL_MAX_MS = 60 * 60 * 1000,
    RESOLVER_HOSTS_TTL_MS = 10 * 1000, /* for addresses from /etc/hosts */
    RESOLVER_RETRY_MIN_MS = 1000,
    RESOLVER_RETRY_MAX_MS = 30 * 1000,
    /* A server is asked three times, with time-outs of 1, 2 and 4 s. */
    RESOLVER_TRY_MS = 1000,
    RESOLVER_TRIES = 3
};

/* The files that the process must be able to read, with NULL at the end:
 * /etc/hosts at all times, the others at creation. The resolver also opens UDP
 * and TCP sockets and connects them. */
extern const char *const resolver_paths[];

struct resolver_options {
    struct ev_loop *loop;
    const struct now *now;   /* the loop's clock, refreshed each turn */
    const char *resolv_conf; /* NULL: /etc/resolv.conf */
    /* DNS servers, such as "192.0.2.1,[2001:db8::1]:53"; NULL: those of
     * resolv_conf */
    const char *servers;
    int try_ms; /* time-out of the first try; 0: the default */
};

struct resolver;      /* opaque */
struct resolver_name; /* opaque */

enum resolver_state {
    RESOLVER_ASKING, /* the name's first look-up is under way */
    RESOLVER_KNOWN,  /* there are addresses */
    RESOLVER_FAILED  /* no addresses so far; the name is asked again later */
};

/* Called from the loop, never from within a function below, when the addresses
 * of `name` have changed, or when its first look-up has failed. The callback
 * may open names and close them, even `name`, but not destroy the resolver. */
typedef void (*resolver_fn)(void *context, struct resolver_name *name);

/* Creates a resolver. Returns 0, -ENOMEM, -EINVAL (options->servers is
 * malformed), or another -errno when a file of resolver_paths is there but
 * cannot be read. */
MUST_USE int resolver_create(struct resolver **resolver_out,
                             const struct resolver_options *options);

/* Closes the names still open, and gives up all look-ups under way. */
void resolver_destroy(struct resolver *resolver);

/* Begins to look up `host`, an IPv4 or IPv6 address (without brackets) or a
 * name. In three cases the outcome is known on return, and on_change is not
 * called for it: `host` is an address (which never changes), /etc/hosts has the
 * name, or the question could not be sent. Returns 0, -EINVAL (`host` is
 * neither a name nor an address), -ENOSPC (RESOLVER_NAMES_MAX) or -ENOMEM. */
MUST_USE int resolver_name_open(struct resolver_name **name_out,
                                struct resolver *resolver, struct bytes host,
                                uint16_t port, resolver_fn on_change,
                                void *context);

/* Closes `name`, at any time; on_change is not called for it any more. */
void resolver_name_close(struct resolver_name *name);

enum resolver_state resolver_name_state(const struct resolver_name *name);

/* Returns all known addresses, with the port from resolver_name_open();
 * *count_out is 0 unless the state is RESOLVER_KNOWN. The addresses stay until
 * the loop turns, or `name` is closed. */
const struct address *resolver_name_addresses(const struct resolver_name *name,
                                              size_t *count_out);

/* Returns the time of the next look-up of `name`, by the clock options->now.
 * Returns 0 when a look-up is under way, or when `name` will never be looked up
 * again. */
uint64_t resolver_name_ends_ms(const struct resolver_name *name);

/* Returns why the last look-up failed; NULL when it did not fail. */
const char *resolver_name_why(const struct resolver_name *name);

#endif
