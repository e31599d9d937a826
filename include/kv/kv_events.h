/*
 * kv_events - what was changed last in a store, for those who watch it.
 *
 *   writer:   put ... put --> [ draft ] --publish, when it is true--> ring
 *   watcher:  next, next, ... each at a place of its own
 *
 * The ring holds so many bytes of the last events, whoever watches and however
 * slowly: a watcher keeps a place in it, and nothing else is kept for it. Where
 * the ring has left a place behind, the watcher is told by KV_EVENT_RESET that
 * it has missed something, and goes on from the present.
 *
 * Each event has a number, larger than those before it. With them a watch can
 * be resumed: from any number on that the ring still knows what followed.
 *
 * Thread: put, undo, publish and restart one thread's at a time; the rest any.
 * Locks:  one, held for a copy, or while a watcher looks for what it watches.
 * Owns:   the ring and the draft; watches are borrowed.
 */
#ifndef KV_KV_EVENTS_H
#define KV_KV_EVENTS_H

#include "kv/kv_store.h"

struct kv_events; /* opaque */

/* Without are_resumable, numbers are told to nobody. NULL: no memory. */
MUST_USE struct kv_events *kv_events_create(size_t bytes_max,
                                            bool are_resumable);
void kv_events_destroy(struct kv_events *events); /* NULL is accepted */

/* --- The writer's -------------------------------------------------------- */

/* Copies the event into the draft. Of entry only the key counts, but for a put.
 * What finds no room costs watchers a reset. */
void kv_events_put(struct kv_events *events, enum kv_event_kind kind,
                   uint64_t number, const struct kv_entry *entry);

/* kv_events_undo() takes back all that was put since kv_events_draft() returned
 * draft. */
size_t kv_events_draft(const struct kv_events *events);
void kv_events_undo(struct kv_events *events, size_t draft);

/* The draft is true; last: the number of the last change, with an event or
 * without. */
void kv_events_publish(struct kv_events *events, uint64_t last);

/* Restarts the numbers where others have made changes, the last of this number,
 * or there were events that nobody knows: watchers are reset. */
void kv_events_restart(struct kv_events *events, uint64_t last);

/* --- Any thread's -------------------------------------------------------- */

/* The revision of the last change that was published. */
uint64_t kv_events_last(const struct kv_events *events);

/* Begins behind watch->since, or with a reset where it has none that can be
 * resumed from. There are changes up to known, published or not yet. */
void kv_events_begin(struct kv_events *events, struct kv_watch *watch,
                     uint64_t known);

#endif
