/*
 * conn_memory_priv - the memory of a set's connections. It is allocated in
 * slabs, each for several connections; a connection shares no cache line with
 * another. The memory of a closed connection is used for another; the slabs are
 * freed with the set.
 *
 * Thread: the set's.
 */
#ifndef ENGINE_CONN_MEMORY_PRIV_H
#define ENGINE_CONN_MEMORY_PRIV_H

#include "engine/conn_set.h"

/* Returns the size of a connection with its session, which begins with
 * `protocol` and may change to HTTP/2. */
size_t conn_memory_count_bytes(const struct protocol *protocol);

/* Adds a slab of free connections. Returns false when the set has as many
 * connections as it may have, or there is no memory. */
MUST_USE bool conn_memory_grow(struct conn_set *set);

/* Takes a free connection, whose members have arbitrary values. Returns NULL
 * when there is no memory. */
struct conn *conn_memory_take(struct conn_set *set);

/* Makes the closed connections free. None of their functions may be running. */
void conn_memory_reap(struct conn_set *set);

/* Gives all memory back. */
void conn_memory_free(struct conn_set *set);

#endif
