/*
 * kv_events - the latest changes of a store, for its watchers.
 *
 *   writer: put ... put --> [ draft ] --publish, after commit--> ring
 *   watcher: next, next, ... each from its own position
 *
 * The ring holds the latest events, up to bytes_max. The number and speed of
 * watchers do not matter, since a watcher is only a position in the ring. When
 * the ring has overwritten that position, KV_EVENT_RESET tells the watcher that
 * events were missed, and the watcher goes on from the present.
 *
 * Each event has a larger number than all events before. A watch can be resumed
 * from any number whose later events are still in the ring.
 *
 * Thread: one thread at a time may put, undo, publish and restart; any thread
 *         may call the other functions.
 * Locks:  one, held while an event is copied or a watcher searches the ring.
 * Owns:   the ring and the draft; watches are borrowed.
 */
#ifndef KV_KV_EVENTS_H
#define KV_KV_EVENTS_H

#include "kv/kv_store.h"

struct kv_events; /* opaque */

/* Creates a ring of bytes_max. If are_resumable is false, watchers get no event
 * numbers. Returns NULL if there is no memory. */
MUST_USE struct kv_events *kv_events_create(size_t bytes_max,
                                            bool are_resumable);
void kv_events_destroy(struct kv_events *events); /* NULL is accepted */

/* --- The writer's -------------------------------------------------------- */

/* Copies an event into the draft. A KV_EVENT_PUT copies all of `entry`, any
 * other event only the key. If the draft has no room for the event, all
 * watchers are reset at the next publish. */
void kv_events_put(struct kv_events *events, enum kv_event_kind kind,
                   uint64_t number, const struct kv_entry *entry);

/* kv_events_draft() returns the draft's present end. kv_events_undo() removes
 * all events that were put since kv_events_draft() returned `draft`. */
size_t kv_events_draft(const struct kv_events *events);
void kv_events_undo(struct kv_events *events, size_t draft);

/* Shows the draft to watchers. `last` is the number of the last change, even if
 * that change made no event. */
void kv_events_publish(struct kv_events *events, uint64_t last);

/* Resets all watchers. The numbers of new events follow `last`. Used when
 * another process has changed the store, or when events were lost. */
void kv_events_restart(struct kv_events *events, uint64_t last);

/* --- Any thread's -------------------------------------------------------- */

/* Returns the number of the last change that was published. */
uint64_t kv_events_last(const struct kv_events *events);

/* Positions the watch after the change that has the number watch->since. If the
 * watch cannot be resumed there, its first event is a reset. `known` is the
 * number of the store's last change, published or not. */
void kv_events_begin(struct kv_events *events, struct kv_watch *watch,
                     uint64_t known);

#endif
