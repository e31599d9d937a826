/*
 * resolver_priv - what two files share: resolver.c, which knows the names and
 * when to look them up, and resolver_ares.c, which alone knows c-ares.
 * resolver.c calls resolver_ares.c, which calls back by resolver_events.
 */
#ifndef IO_RESOLVER_PRIV_H
#define IO_RESOLVER_PRIV_H

#include "base/heap.h"
#include "base/host_name.h"
#include "base/list.h"
#include "base/siphash.h"
#include "io/resolver.h"

/* By these calls, resolver_ares.c tells how a look-up ended. Owners of names
 * are told later, at the end of the turn, because c-ares is in the middle of
 * its work. */
struct resolver_events {
    void (*on_failure)(struct resolver_name *name, const char *why);
    void (*on_found)(struct resolver_name *name,
                     const struct address_merge *merge, uint64_t ttl_ms);
    void (*on_turn_end)(struct resolver *resolver); /* after c-ares' work */
};

struct resolver {
    const struct resolver_events *events;
    struct ev_loop *loop;
    const struct now *now;
    struct ares_channeldata *channel;
    ev_timer timer; /* for c-ares' time-outs and the names due */
    /* two for each server, for UDP and TCP; a watcher with fd -1 is unused */
    ev_io *watchers;
    size_t watcher_count;
    struct list names;
    size_t name_count;
    struct heap due;  /* names that wait for their next look-up */
    struct list news; /* names whose owners are to be told */
    struct siphash_key key;
    uint64_t draws;
    bool is_telling;
};

struct resolver_name {
    struct resolver *resolver;
    struct list list_node;
    struct list news_link;
    struct heap_node due_node;
    resolver_fn on_change;
    void *context;
    enum resolver_state state;
    bool is_asking; /* c-ares has a pointer to this name */
    bool is_closed; /* c-ares' answer will free the name */
    /* Its look-up is being started: an answer that comes now used no
     * network. */
    bool is_asked_just;
    unsigned failures; /* failed look-ups in a row */
    const char *why;
    uint64_t ends_ms;
    uint16_t port;
    size_t count;
    struct address addresses[RESOLVER_ADDRESSES_MAX];
    char host[HOST_NAME_MAX_BYTES + 2] /* with a dot at its end, and NUL */;
};

/* --- resolver_ares.c ------------------------------------------------------ */

/* Opens c-ares. The caller has set resolver->events, and calls
 * resolver_ares_close() even after a failure. Returns 0 or -errno. */
MUST_USE int resolver_ares_open(struct resolver *resolver,
                                const struct resolver_options *options);
void resolver_ares_close(struct resolver *resolver);

/* Begins a look-up, which may be over on return. */
void resolver_ares_ask(struct resolver_name *name);

/* Ends the look-ups, and single tries of look-ups, whose time is over. */
void resolver_ares_mind_time(struct resolver *resolver);

/* Returns in how many ms resolver_ares_mind_time() has to be called; UINT64_MAX
 * when it need not be called. */
uint64_t resolver_ares_left_ms(struct resolver *resolver);

#endif
