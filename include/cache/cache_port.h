/*
 * cache_port - wakes a worker when the cache has what the worker waits for,
 * whichever worker has brought it.
 *
 *   in an object's list (its mutex):  cache_wait_in() --> cache_wait_tell()
 *   in the port's list (its mutex):   cache_wait_tell(), cache_wait_later()
 *                                     --> the port's loop: on_ready is called
 *
 * The two lists are independent of each other, and a wait has a node for each.
 * While a wait stands in an object's list, on_ready may be called for another
 * reason; the wait stays in the list. The wait may also begin anew while a call
 * of on_ready is on its way.
 *
 * Thread: cache_wait_tell() any, with the object's mutex held; the rest the
 *         port's worker. Order of locks: an object's, then a port's.
 * Owns:   nothing; a wait lies in the object that waits.
 */
#ifndef CACHE_CACHE_PORT_H
#define CACHE_CACHE_PORT_H

#include <pthread.h>

#include "base/list.h"
#include "io/mailbox.h"

struct cache_port {
    pthread_mutex_t mutex; /* guards `ready`, its nodes, and is_sent */
    struct list ready;
    bool is_sent;             /* `note` is on its way to the port's loop */
    struct mailbox_note note; /* tells the loop that `ready` has waits */
    struct mailbox *mailbox;  /* borrowed */
};

struct cache_wait {
    struct list list_node; /* in an object's list; private, like the next two */
    struct list ready_node; /* in the port's `ready` */
    bool is_ready;          /* on_ready is to be called */
    struct cache_port *port;
    /* Called in the port's loop. The call may free `wait`, if that was
     * cancelled or waits for nothing. */
    void (*on_ready)(struct cache_wait *wait);
};

void cache_port_init(struct cache_port *port, struct mailbox *mailbox);
/* Ends a port that no wait uses, and that no other worker knows. */
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

/* Puts `wait` at the end of `list`, or moves it there if it is in the list
 * already. The caller holds the mutex that guards the list. */
static inline void cache_wait_in(struct list *list, struct cache_wait *wait)
{
    list_drop(&wait->list_node);
    list_put_last(list, &wait->list_node);
}

/* Takes a wait out of its list. A call of on_ready that is on its way comes all
 * the same. */
static inline void cache_wait_leave(struct cache_wait *wait)
{
    list_drop(&wait->list_node);
}

/* Empties `list`, and tells the ports of its waits to call on_ready for them
 * soon. The caller holds the mutex that guards the list. */
void cache_wait_tell(struct list *list);

/* Tells the port to call on_ready soon. Only the port's worker may do this. It
 * does no harm when on_ready is to be called anyway, or `wait` is in a list. */
void cache_wait_later(struct cache_wait *wait);

/* Ends the wait: on_ready will not be called any more. `mutex` is that of the
 * object in whose list the wait stands; NULL if it is in no list. */
void cache_wait_cancel(struct cache_wait *wait, pthread_mutex_t *mutex);

#endif
