#include "engine/conn_memory_priv.h"

#include <stdlib.h>

#include "engine/h2/h2.h"

enum { CACHE_LINE = 64, SLAB_CONNS = 64 };

struct slab {
    struct list list_node;
    _Alignas(CACHE_LINE) char conns[]; /* each has conn_bytes bytes */
};

bool conn_memory_grow(struct conn_set *set)
{
    size_t allocated = set->allocated + SLAB_CONNS;
    struct slab *slab;

    if (set->allocated >= set->shared.context.limits.connections_max ||
        sched_reserve(&set->shared.sched, allocated) != 0)
        return false;
    slab = aligned_alloc(CACHE_LINE,
                         sizeof(*slab) + SLAB_CONNS * set->conn_bytes);
    if (!slab)
        return false;
    list_put_last(&set->slabs, &slab->list_node);
    for (size_t i = 0; i < SLAB_CONNS; i++) {
        void *at = slab->conns + i * set->conn_bytes;
        struct conn *conn = at;

        list_put_last(&set->free, &conn->list_node);
    }
    set->allocated = allocated;
    return true;
}

struct conn *conn_memory_take(struct conn_set *set)
{
    struct conn *conn;

    if (list_is_empty(&set->free) && !conn_memory_grow(set))
        return NULL;
    conn = OWNER_OF(set->free.next, struct conn, list_node);
    list_drop(&conn->list_node);
    return conn;
}

void conn_memory_reap(struct conn_set *set)
{
    while (!list_is_empty(&set->closed)) {
        struct list *list_node = set->closed.next;

        list_drop(list_node);
        list_put_first(&set->free, list_node);
    }
}

size_t conn_memory_count_bytes(const struct protocol *protocol)
{
    size_t session_bytes = protocol->session_bytes;
    size_t bytes;

    if (session_bytes < h2_protocol.session_bytes)
        session_bytes = h2_protocol.session_bytes;
    bytes = offsetof(struct conn, session) + session_bytes;
    if (bytes < sizeof(struct conn))
        bytes = sizeof(struct conn);
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

void conn_memory_free(struct conn_set *set)
{
    while (!list_is_empty(&set->slabs)) {
        struct slab *slab = OWNER_OF(set->slabs.next, struct slab, list_node);

        list_drop(&slab->list_node);
        free(slab);
    }
}
