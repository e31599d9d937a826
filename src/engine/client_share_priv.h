/*
 * client_share_priv - what the files of client_share have in common.
 *
 * client_share_present.c knows which clients are here, and therefore how V
 * rises. client_share.c builds on client_share_present.c: it puts and takes the
 * places of clients, and charges clients for what they are sent.
 */
#ifndef ENGINE_CLIENT_SHARE_PRIV_H
#define ENGINE_CLIENT_SHARE_PRIV_H

#include "engine/client_share.h"

static inline struct client_entry *client_share_first(const struct heap *heap)
{
    return OWNER_OF(heap_first(heap)->node, struct client_entry, node);
}

/* Returns the client whose name is `client`; NULL when it is not here. */
struct client_entry *client_share_find(struct client_share *share,
                                       uint64_t client);

/* Adds a client that was not here, while other clients are here or wait at
 * other workers. The new client has had nothing, and is in no heap yet. */
struct client_entry *client_share_enter(struct client_share *share,
                                        uint64_t client);

/* Returns the client of a place that is being put, and adds the client if it is
 * not here. A lone client has one place at most: if the lone client has a place
 * already, client_share_join() is called first. */
struct client_entry *client_share_find_or_enter(struct client_share *share,
                                                uint64_t client);

/* Puts the lone client into the table and the heaps, where all others are. */
void client_share_join(struct client_share *share);

/* Lets a client that waits no more stay here as long as it is ahead of V. A
 * client that is not ahead of V is removed at once. */
void client_share_go_among_leaving(struct client_share *share,
                                   struct client_entry *entry);

/* Raises V for `bytes` bytes that were sent. Clients that are here or wait at
 * other workers share these bytes evenly. */
void client_share_advance(struct client_share *share, uint64_t bytes);

#endif
