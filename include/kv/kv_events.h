/*
 * kv_events - what was changed last in a store, for those who watch it.
 *
 *   writer: put ... put --> [ draft ] --publish, when it is true--> ring
 *   watcher: next, next, ... each from its own position
 *
 * The ring holds the last events, up to bytes_max, however many watch and
 * however slowly: a watcher is only a position in the ring. When the ring has
 * overwritten that position, KV_EVENT_RESET tells the watcher that it has
 * missed something, and it goes on from the present.
 *
 * Each event has a number, larger than those before it. A watch can be resumed
 * from any number whose later events are still in the ring.
 *
 * Thread: one thread at a time may put, undo, publish and restart; any the
 *         rest.
 * Locks:  one, held while an event is copied or a watcher searches the ring.
 * Owns:   the ring and the draft; watches are borrowed.
 */
#ifndef KV_KV_EVENTS_H
#define KV_KV_EVENTS_H

#include "kv/kv_store.h"

struct kv_events; /* opaque */

/* Without are_resumable, watchers are told no numbers. NULL: no memory. */
MUST_USE struct kv_events *kv_events_create(size_t bytes_max,
                                            bool are_resumable);
void kv_events_destroy(struct kv_events *events); /* NULL is accepted */

/* --- The writer's -------------------------------------------------------- */

/* Copies the event into the draft. Only a put uses more of entry than its key.
 * When an event finds no room, watchers are reset. */
void kv_events_put(struct kv_events *events, enum kv_event_kind kind,
                   uint64_t number, const struct kv_entry *entry);

/* kv_events_undo() takes back all that was put since kv_events_draft() returned
 * draft. */
size_t kv_events_draft(const struct kv_events *events);
void kv_events_undo(struct kv_events *events, size_t draft);

/* Shows the draft to watchers. last is the number of the last change, whether
 * it made an event or not. */
void kv_events_publish(struct kv_events *events, uint64_t last);

/* Resets all watchers and goes on from number last: others have changed the
 * store, or events were lost. */
void kv_events_restart(struct kv_events *events, uint64_t last);

/* --- Any thread's -------------------------------------------------------- */

/* The revision of the last change that was published. */
uint64_t kv_events_last(const struct kv_events *events);

/* Places the watch behind watch->since, or begins it with a reset if it cannot
 * be resumed there. known is the last change, published or not yet. */
void kv_events_begin(struct kv_events *events, struct kv_watch *watch,
                     uint64_t known);

#endif
