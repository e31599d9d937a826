/*
 * resolver - names to addresses, by DNS and /etc/hosts, without a wait.
 *
 * The addresses of an open name are looked up again when their time to live is
 * over, and on_change is called when they differ. A look-up that fails leaves
 * the addresses as they were, and is repeated ever more rarely.
 *
 *   ASKING --addresses--> KNOWN   again when the TTL is over; failures leave
 *      |                    ^     it as it is
 *      +--failure--> FAILED-+     again after 1 to 30 s
 *
 * Addresses stand in the order in which to try them (address_merge.h).
 *
 * A look-up that is given up runs on unseen: c-ares has no way to stop one.
 *
 * Thread: one loop's; resolver_create() any, before the loop runs.
 * Owns:   its timer; its sockets, open only while a look-up is under way; all
 *         names, from resolver_name_open() to resolver_name_close().
 */
#ifndef IO_RESOLVER_H
#define IO_RESOLVER_H

#include <ev.h>

#include "base/address.h"
#include "base/now.h"
#include "io/address_merge.h"

enum {
    RESOLVER_NAMES_MAX = 1024,                  /* of one resolver */
    RESOLVER_ADDRESSES_MAX = ADDRESS_MERGE_MAX, /* of one name */
    RESOLVER_TTL_MIN_MS = 1000,
    RESOLVER_TTL_MAX_MS = 60 * 60 * 1000,
    RESOLVER_HOSTS_TTL_MS = 10 * 1000, /* of addresses from /etc/hosts */
    RESOLVER_RETRY_MIN_MS = 1000,
    RESOLVER_RETRY_MAX_MS = 30 * 1000,
    /* A server is asked three times, for 1, 2 and 4 s. */
    RESOLVER_TRY_MS = 1000,
    RESOLVER_TRIES = 3
};

/* What the process must be able to read, NULL at the end: /etc/hosts at all
 * times, the others at creation. Besides it opens UDP and TCP sockets and
 * connects them. */
extern const char *const resolver_paths[];

struct resolver_options {
    struct ev_loop *loop;
    const struct now *now;   /* the loop's own, refreshed each turn */
    const char *resolv_conf; /* NULL: /etc/resolv.conf */
    const char *servers;     /* "192.0.2.1,[2001:db8::1]:53"; or NULL */
    int try_ms;              /* for the first try; 0: RESOLVER_TRY_MS */
};

struct resolver;      /* opaque */
struct resolver_name; /* opaque */

enum resolver_state {
    RESOLVER_ASKING, /* its first look-up is under way */
    RESOLVER_KNOWN,  /* there are addresses */
    RESOLVER_FAILED  /* no addresses so far; asked again in a while */
};

/* Told from the loop, never from within a function below: the addresses of
 * name are others than before, or its first look-up has failed. It may open
 * and close names, this one too, but not destroy the resolver. */
typedef void (*resolver_fn)(void *context, struct resolver_name *name);

/* 0, -ENOMEM, -EINVAL (servers), or why a file of resolver_paths that is there
 * cannot be read. */
MUST_USE int resolver_create(struct resolver **resolver_out,
                             const struct resolver_options *options);

/* Closes the names still open, and gives up what is under way. */
void resolver_destroy(struct resolver *resolver);

/* Begins to look host up, an IPv4 or IPv6 address (without brackets) or a
 * name. What needs no network is there on return: an address, which stays as
 * it is; what /etc/hosts says; a failure to send. For that on_change is not
 * called. 0, -EINVAL (neither name nor address), -ENOSPC (RESOLVER_NAMES_MAX),
 * -ENOMEM. */
MUST_USE int resolver_name_open(struct resolver_name **name_out,
                                struct resolver *resolver, struct bytes host,
                                uint16_t port, resolver_fn on_change,
                                void *context);

/* May be called at any time; on_change is not called for name any more. */
void resolver_name_close(struct resolver_name *name);

enum resolver_state resolver_name_state(const struct resolver_name *name);

/* All known addresses, with the port from resolver_name_open(); *count_out is 0
 * unless KNOWN. They stay until the loop turns, or name is closed. */
const struct address *resolver_name_addresses(const struct resolver_name *name,
                                              size_t *count_out);

/* When name is looked up again, by options->now; 0: that is under way, or will
 * never be. */
uint64_t resolver_name_ends_ms(const struct resolver_name *name);

/* Why the last look-up failed; NULL: it did not. */
const char *resolver_name_why(const struct resolver_name *name);

#endif
