/*
 * mailbox - carries new connections and commands from any thread to one loop.
 *
 * A bounded ring of cells with sequence numbers (Vyukov's bounded queue):
 * putting is one compare-and-swap, taking is none, nobody ever waits for a
 * lock. Waking is separate from putting, so that a sender wakes a loop once
 * for a whole batch; libev writes to its eventfd only when the loop sleeps.
 *
 * Commands are bits that stay set until seen: they cannot be lost to a full
 * ring. Neither can notes: they are chained through memory of their senders'.
 *
 * Thread: mailbox_put(), mailbox_send(), mailbox_command() and mailbox_wake()
 *         any; the rest the receiving loop's.
 * Owns:   the ring. A descriptor belongs to the mailbox from put to take; a
 *         note, which it borrows, stays untouched from send to arrival.
 */
#ifndef IO_MAILBOX_H
#define IO_MAILBOX_H

#include <ev.h>
#include <stdatomic.h>

#include "base/address.h"

struct mail {
    int fd;
    struct address peer;
    bool is_tls;     /* its listener speaks TLS */
    bool makes_room; /* all connections are in use: one has to go */
};

/* A message to the loop, embedded in what it is about. */
struct mailbox_note {
    struct mailbox_note *next; /* the mailbox's; also for mailbox_send_all() */
    void (*on_arrive)(struct mailbox_note *note);
};

struct mailbox_receiver {
    void (*on_mail)(void *context, const struct mail *mail);
    void (*on_command)(void *context, unsigned commands);
    void *context;
};

struct mailbox; /* opaque */

/* capacity is a power of two, 2 or more. NULL: no memory. */
MUST_USE struct mailbox *mailbox_create(struct ev_loop *loop, size_t capacity,
                                        struct mailbox_receiver receiver);

/* Closes the descriptors still inside; notes never arrive. The loop must not
 * run any more. */
void mailbox_destroy(struct mailbox *mailbox);

/* Puts mail in. False when full; the caller keeps the descriptor then. */
MUST_USE bool mailbox_put(struct mailbox *mailbox, const struct mail *mail);

/* Has note->on_arrive called in the loop, once, in the order of sending. note
 * must not be under way already. Wakes the loop. */
void mailbox_send(struct mailbox *mailbox, struct mailbox_note *note);

/* Sends all notes that hang on first by next, in that order. The loop is woken
 * once, when they are all there: woken by the first, it could be asleep again
 * before the second. */
void mailbox_send_all(struct mailbox *mailbox, struct mailbox_note *first);

/* Sets command bits and wakes the loop. */
void mailbox_command(struct mailbox *mailbox, unsigned commands);

void mailbox_wake(struct mailbox *mailbox);

#endif
