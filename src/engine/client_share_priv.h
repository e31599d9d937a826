/*
 * client_share_priv - what the files of client_share have in common.
 *
 * client_share_present.c knows which clients are here, and so how V rises.
 * client_share.c, above it, puts and takes their places, and charges them.
 */
#ifndef ENGINE_CLIENT_SHARE_PRIV_H
#define ENGINE_CLIENT_SHARE_PRIV_H

#include "engine/client_share.h"

static inline struct client_entry *client_share_first(const struct heap *heap)
{
    return OWNER_OF(heap_first(heap)->node, struct client_entry, node);
}

/* The client, if it is here; otherwise NULL. */
struct client_entry *client_share_find(struct client_share *share,
                                       uint64_t client);

/* Adds a client that was not here, while others are here or wait elsewhere. It
 * has had nothing, and is in no heap yet. */
struct client_entry *client_share_enter(struct client_share *share,
                                        uint64_t client);

/* The client of a place that is put; it enters if it is not here. A lone client
 * with a place joins the others, as a lone client has one place at most. */
struct client_entry *client_share_find_or_enter(struct client_share *share,
                                                uint64_t client);

/* The lone client joins the others: it is not alone any more. */
void client_share_join(struct client_share *share);

/* A client that does not wait stays here while it is ahead of V. */
void client_share_go_among_leaving(struct client_share *share,
                                   struct client_entry *entry);

/* V rises by what was sent, shared among all that are here or elsewhere. */
void client_share_advance(struct client_share *share, uint64_t bytes);

#endif
