/*
 * cache_port - how word of what a cache was waited for comes to a worker, from
 * whichever worker it comes.
 *
 *   wait: IDLE --(the object's list, its mutex)--> WAITING
 *         WAITING --cache_wait_tell()--> READY --(the port's loop)--> IDLE,
 *         and on_ready is called
 *
 * Thread: cache_wait_tell() any, with the object's mutex held; the rest the
 *         port's worker. Order of locks: an object's, then a port's.
 * Owns:   nothing; waits lie in whoever waits.
 */
#ifndef CACHE_CACHE_PORT_H
#define CACHE_CACHE_PORT_H

#include <pthread.h>

#include "base/list.h"
#include "io/mailbox.h"

struct cache_port {
    pthread_mutex_t mutex; /* guards the two below, and the nodes of ready */
    struct list ready;
    bool is_sent;             /* the note is under way */
    struct mailbox_note note; /* private, too */
    struct mailbox *mailbox;  /* borrowed */
};

struct cache_wait {
    struct list list_node; /* private, as the next */
    bool is_ready;
    struct cache_port *port;
    /* In the port's loop; wait is idle again, and may be gone afterwards. */
    void (*on_ready)(struct cache_wait *wait);
};

void cache_port_init(struct cache_port *port, struct mailbox *mailbox);
/* Nothing waits by it any more, and no other worker knows it. */
void cache_port_fini(struct cache_port *port);

static inline void cache_wait_init(struct cache_wait *wait,
                                   struct cache_port *port,
                                   void (*on_ready)(struct cache_wait *wait))
{
    list_init(&wait->list_node);
    wait->is_ready = false;
    wait->port = port;
    wait->on_ready = on_ready;
}

/* Whoever waits in list, which mutex guards that is held, is told. */
void cache_wait_tell(struct list *list);

/* Has on_ready called soon, as if it had waited: the port's worker. Harmless
 * when it is about to be. */
void cache_wait_later(struct cache_wait *wait);

/* Stops waiting in an object's list; mutex is the object's, or NULL if it waits
 * in none: on_ready will not be called. */
void cache_wait_cancel(struct cache_wait *wait, pthread_mutex_t *mutex);

#endif
