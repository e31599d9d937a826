#include "cache/cache_port.h"

/* Sends the note, unless it is under way. The port is locked. */
static void notify(struct cache_port *port)
{
    if (port->is_sent)
        return;
    port->is_sent = true;
    mailbox_send(port->mailbox, &port->note);
}

static void make_ready(struct cache_wait *wait)
{
    struct cache_port *port = wait->port;

    pthread_mutex_lock(&port->mutex);
    if (!wait->is_ready) {
        wait->is_ready = true;
        list_put_last(&port->ready, &wait->ready_node);
        notify(port);
    }
    pthread_mutex_unlock(&port->mutex);
}

/* Takes the first ready wait. Returns NULL when there is none. */
static struct cache_wait *take_ready(struct cache_port *port)
{
    struct cache_wait *wait = NULL;

    pthread_mutex_lock(&port->mutex);
    if (!list_is_empty(&port->ready)) {
        wait = OWNER_OF(port->ready.next, struct cache_wait, ready_node);
        list_drop(&wait->ready_node);
        wait->is_ready = false;
    }
    pthread_mutex_unlock(&port->mutex);
    return wait;
}

static size_t count_ready(struct cache_port *port)
{
    size_t count = 0;

    pthread_mutex_lock(&port->mutex);
    port->is_sent = false;
    for (const struct list *at = port->ready.next; at != &port->ready;
         at = at->next)
        count++;
    pthread_mutex_unlock(&port->mutex);
    return count;
}

static void on_arrive(struct mailbox_note *note)
{
    struct cache_port *port = OWNER_OF(note, struct cache_port, note);
    struct cache_wait *wait;

    /* Waits that become ready meanwhile come later, so that the loop's other
     * work gets its turn. */
    for (size_t count = count_ready(port); count > 0; count--) {
        wait = take_ready(port);
        if (!wait)
            return;
        wait->on_ready(wait);
    }
}

void cache_port_init(struct cache_port *port, struct mailbox *mailbox)
{
    pthread_mutex_init(&port->mutex, NULL);
    list_init(&port->ready);
    port->is_sent = false;
    port->note = (struct mailbox_note){.on_arrive = on_arrive};
    port->mailbox = mailbox;
}

void cache_port_fini(struct cache_port *port)
{
    pthread_mutex_destroy(&port->mutex);
}

void cache_wait_tell(struct list *list)
{
    while (!list_is_empty(list)) {
        struct cache_wait *wait = OWNER_OF(list->next, struct cache_wait,
                                           list_node);

        list_drop(&wait->list_node);
        make_ready(wait);
    }
}

void cache_wait_later(struct cache_wait *wait)
{
    make_ready(wait);
}

void cache_wait_cancel(struct cache_wait *wait, pthread_mutex_t *mutex)
{
    struct cache_port *port = wait->port;

    if (mutex)
        pthread_mutex_lock(mutex);
    list_drop(&wait->list_node);
    pthread_mutex_lock(&port->mutex);
    list_drop(&wait->ready_node);
    wait->is_ready = false;
    pthread_mutex_unlock(&port->mutex);
    if (mutex)
        pthread_mutex_unlock(mutex);
}
