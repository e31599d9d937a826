/*
 * resolver_priv - what resolver.c (names, and when to look them up) and
 * resolver_ares.c (how; all that knows c-ares) share. The upper one calls the
 * lower one; word travels up by resolver_events.
 */
#ifndef IO_RESOLVER_PRIV_H
#define IO_RESOLVER_PRIV_H

#include "base/heap.h"
#include "base/host_name.h"
#include "base/list.h"
#include "base/siphash.h"
#include "io/resolver.h"

/* How a look-up ended. Owners are told later, at the end of the turn, as c-ares
 * is in the middle of something. */
struct resolver_events {
    void (*on_failure)(struct resolver_name *name, const char *why);
    void (*on_found)(struct resolver_name *name,
                     const struct address_merge *merge, uint64_t ttl_ms);
    void (*on_turn_end)(struct resolver *resolver); /* c-ares had its turn */
};

struct resolver {
    const struct resolver_events *events;
    struct ev_loop *loop;
    const struct now *now;
    struct ares_channeldata *channel;
    ev_timer timer;  /* for c-ares' time-outs and the names due */
    ev_io *watchers; /* a UDP and a TCP one for each server; fd -1: unused */
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
    bool is_asking;     /* c-ares has a pointer to this name */
    bool is_closed;     /* c-ares alone has it, whose answer frees it */
    bool is_asked_just; /* an answer now comes without network use */
    unsigned failures;  /* failed look-ups in a row */
    const char *why;
    uint64_t ends_ms;
    uint16_t port;
    size_t count;
    struct address addresses[RESOLVER_ADDRESSES_MAX];
    char host[HOST_NAME_MAX_BYTES + 2] /* with a dot at its end, and NUL */;
};

/* --- resolver_ares.c ------------------------------------------------------ */

/* resolver->events is set. 0 or -errno; resolver_ares_close() either way. */
MUST_USE int resolver_ares_open(struct resolver *resolver,
                                const struct resolver_options *options);
void resolver_ares_close(struct resolver *resolver);

/* Begins a look-up. It may be over on return. */
void resolver_ares_ask(struct resolver_name *name);

/* Ends look-ups, and tries, that have waited long enough. */
void resolver_ares_mind_time(struct resolver *resolver);

/* In how many ms there is something to mind; UINT64_MAX: never. */
uint64_t resolver_ares_left_ms(struct resolver *resolver);

#endif
