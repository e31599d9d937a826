/*
 * mailbox - carries new connections, commands and notes from any thread to one
 * loop.
 *
 * The mailbox is a bounded ring of cells with sequence numbers (Vyukov's
 * bounded queue): a put takes one compare-and-swap, a take none, and nobody
 * ever waits for a lock. Waking is separate from putting, so that a sender
 * wakes a loop once for a whole batch; libev writes to its eventfd only when
 * the loop sleeps.
 *
 * Only connections need room in the ring. A full ring loses neither commands
 * nor notes: commands are bits that stay set until the loop has seen them, and
 * notes form a list in memory of their senders.
 *
 * Thread: mailbox_put(), mailbox_send(), mailbox_command() and mailbox_wake()
 *         are for any thread, the rest for the receiving loop's.
 * Owns:   the ring, and each descriptor from put to take. A note is borrowed,
 *         and its sender leaves it alone from send to arrival.
 */
#ifndef IO_MAILBOX_H
#define IO_MAILBOX_H

#include <ev.h>
#include <stdatomic.h>

#include "base/address.h"

struct mail {
    int fd;
    struct address peer;
    bool is_tls;     /* the connection's listener speaks TLS */
    bool makes_room; /* no connection is free: one has to be closed */
};

/* A message to the loop, embedded in the object that the message is about. */
struct mailbox_note {
    /* set by the mailbox, or by the caller of mailbox_send_all() */
    struct mailbox_note *next;
    void (*on_arrive)(struct mailbox_note *note);
};

struct mailbox_receiver {
    void (*on_mail)(void *context, const struct mail *mail);
    void (*on_command)(void *context, unsigned commands);
    void *context;
};

struct mailbox; /* opaque */

/* Creates a mailbox. `capacity` is how many mails fit in: a power of two, at
 * least 2. Returns NULL when memory is short. */
MUST_USE struct mailbox *mailbox_create(struct ev_loop *loop, size_t capacity,
                                        struct mailbox_receiver receiver);

/* Destroys a mailbox whose loop does not run any more. Closes the descriptors
 * that are still in the ring. Notes that are still under way never arrive. */
void mailbox_destroy(struct mailbox *mailbox);

/* Puts mail in. Returns false when the mailbox is full; the caller keeps the
 * descriptor then. */
MUST_USE bool mailbox_put(struct mailbox *mailbox, const struct mail *mail);

/* Sends a note, and wakes the loop, which will call note->on_arrive once. Notes
 * arrive in the order in which they were sent. A note that has not arrived yet
 * must not be sent again. */
void mailbox_send(struct mailbox *mailbox, struct mailbox_note *note);

/* Sends the list of notes that begins with `first`, in its order, and wakes the
 * loop once, after the last note. If the first note woke the loop, the loop
 * could be asleep again before the second note was sent. */
void mailbox_send_all(struct mailbox *mailbox, struct mailbox_note *first);

/* Sets command bits and wakes the loop. */
void mailbox_command(struct mailbox *mailbox, unsigned commands);

void mailbox_wake(struct mailbox *mailbox);

#endif
