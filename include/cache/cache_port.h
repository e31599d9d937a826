/*
 * cache_port - how a worker is told that what it waits for in a cache is there,
 * from whichever worker that comes.
 *
 *   in an object's list (its mutex):  cache_wait_in() --> cache_wait_tell()
 *   in the port's (the port's):        cache_wait_tell(), cache_wait_later()
 *                                      --> the port's loop: on_ready is called
 *
 * The two are independent of each other, with a node each. A wait for an object
 * may be called for another reason meanwhile, and waits for the object still;
 * it may also begin to wait anew while a call is on its way.
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
    pthread_mutex_t mutex; /* guards ready, its nodes, and is_sent */
    struct list ready;
    bool is_sent;             /* note is under way */
    struct mailbox_note note; /* private, too */
    struct mailbox *mailbox;  /* borrowed */
};

struct cache_wait {
    struct list list_node;  /* private, as the next two: in an object's list */
    struct list ready_node; /* in the port's ready */
    bool is_ready;          /* on_ready is to be called */
    struct cache_port *port;
    /* Called in the port's loop. wait may be gone afterwards, if it has been
     * cancelled or waits for nothing. */
    void (*on_ready)(struct cache_wait *wait);
};

void cache_port_init(struct cache_port *port, struct mailbox *mailbox);
/* Ends a port by which nothing waits, and that no other worker knows. */
void cache_port_fini(struct cache_port *port);

static inline void cache_wait_init(struct cache_wait *wait,
                                   struct cache_port *port,
                                   void (*on_ready)(struct cache_wait *wait))
{
    list_init(&wait->list_node);
    list_init(&wait->ready_node);
    wait->is_ready = false;
    wait->port = port;
    wait->on_ready = on_ready;
}

/* Lets wait be the last in list, where it may be already. The mutex that guards
 * list is held. */
static inline void cache_wait_in(struct list *list, struct cache_wait *wait)
{
    list_drop(&wait->list_node);
    list_put_last(list, &wait->list_node);
}

/* Takes a wait out of its list. A call that is on its way comes all the same.
 */
static inline void cache_wait_leave(struct cache_wait *wait)
{
    list_drop(&wait->list_node);
}

/* Tells all waits in list. The mutex that guards list is held. */
void cache_wait_tell(struct list *list);

/* Has on_ready called soon; the port's worker only. Harmless when that is due
 * anyway, and for a wait that is in a list. */
void cache_wait_later(struct cache_wait *wait);

/* Stops waiting in an object's list: on_ready will not be called. mutex is the
 * object's, or NULL if wait is in no list. */
void cache_wait_cancel(struct cache_wait *wait, pthread_mutex_t *mutex);

#endif
