/*
 * conn_memory_priv - the memory of a set's connections: slabs of some at a
 * time, each on cache lines of its own. Memory of a closed connection is used
 * again; it is given back with the set.
 *
 * Thread: the set's.
 */
#ifndef ENGINE_CONN_MEMORY_PRIV_H
#define ENGINE_CONN_MEMORY_PRIV_H

#include "engine/conn_set.h"

/* The size of a connection whose session begins with protocol, and may go on as
 * HTTP/2: the session lies at the end of the connection. */
size_t conn_memory_count_bytes(const struct protocol *protocol);

/* Makes room for more connections, which are free then. False: the set has as
 * many as it may, or there is no memory. */
MUST_USE bool conn_memory_grow(struct conn_set *set);

/* Takes a free connection, which is as it was left. NULL: there is none. */
struct conn *conn_memory_take(struct conn_set *set);

/* Makes the closed connections free; none of them may be at work. */
void conn_memory_reap(struct conn_set *set);

/* Gives all memory back. */
void conn_memory_free(struct conn_set *set);

#endif
