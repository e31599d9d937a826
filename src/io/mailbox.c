#include "io/mailbox.h"

#include <assert.h>
#include <unistd.h>

#include "base/pages.h"

enum {
    CACHE_LINE = 64,
    /* How many new connections are taken before open connections have their
     * turn. A new connection takes time, since its first request has probably
     * come. */
    MAILS_AT_ONCE = 16
};

/* The low bits of a position p are its place in the ring, the other bits its
 * lap. The cell at that place is free for the put at p while sequence == lap,
 * and full for the take at p once sequence == lap + 1. The take sets sequence
 * to lap + capacity, which is the next lap. So zeroed memory is an empty
 * ring. */
struct cell {
    atomic_size_t sequence;
    struct mail mail;
};

struct mailbox {
    struct ev_loop *loop;
    ev_async wake;
    struct mailbox_receiver receiver;
    size_t mask;
    size_t take_at; /* only the receiver uses it */
    _Alignas(CACHE_LINE) atomic_size_t put_at;
    atomic_uint commands;
    _Atomic(struct mailbox_note *) notes; /* the latest one sent is first */
    _Alignas(CACHE_LINE) struct cell cells[];
};

static size_t lap_of(const struct mailbox *mailbox, size_t at)
{
    return at & ~mailbox->mask;
}

static bool take(struct mailbox *mailbox, struct mail *mail_out)
{
    struct cell *cell = &mailbox->cells[mailbox->take_at & mailbox->mask];
    size_t lap = lap_of(mailbox, mailbox->take_at);

    if (atomic_load_explicit(&cell->sequence, memory_order_acquire) != lap + 1)
        return false;
    *mail_out = cell->mail;
    atomic_store_explicit(&cell->sequence, lap + mailbox->mask + 1,
                          memory_order_release);
    mailbox->take_at++;
    return true;
}

/* Reverses the list of notes. Returns the new head, which was the last note
 * before. */
static struct mailbox_note *turn_around(struct mailbox_note *notes)
{
    struct mailbox_note *turned = NULL;

    while (notes) {
        struct mailbox_note *note = notes;

        notes = note->next;
        note->next = turned;
        turned = note;
    }
    return turned;
}

/* Delivers all notes. All notes are taken out first, so that a note that
 * on_arrive sends again waits for the next delivery. */
static void deliver_notes(struct mailbox *mailbox)
{
    struct mailbox_note *sent = atomic_exchange_explicit(&mailbox->notes, NULL,
                                                         memory_order_acquire);
    struct mailbox_note *in_order = turn_around(sent);

    while (in_order) {
        struct mailbox_note *note = in_order;

        in_order = note->next; /* on_arrive may free or resend the note */
        note->on_arrive(note);
    }
}

static void on_wake(struct ev_loop *loop, ev_async *wake, int events)
{
    struct mailbox *mailbox = wake->data;
    struct mailbox_receiver *receiver = &mailbox->receiver;
    struct mail mail;
    unsigned commands;
    size_t taken = 0;

    (void)loop;
    (void)events;
    /* Mail that was put before a command is delivered before the command. */
    while ((taken < MAILS_AT_ONCE || atomic_load(&mailbox->commands)) &&
           take(mailbox, &mail)) {
        receiver->on_mail(receiver->context, &mail);
        taken++;
    }
    deliver_notes(mailbox);
    if (taken == MAILS_AT_ONCE) { /* there may be more */
        mailbox_wake(mailbox);
        return;
    }
    commands = atomic_exchange(&mailbox->commands, 0);
    if (commands)
        receiver->on_command(receiver->context, commands);
}

static size_t bytes_of_ring(size_t capacity)
{
    return sizeof(struct mailbox) + capacity * sizeof(struct cell);
}

struct mailbox *mailbox_create(struct ev_loop *loop, size_t capacity,
                               struct mailbox_receiver receiver)
{
    struct mailbox *mailbox;

    /* In a ring of one cell, a full cell and a free one would have the same
     * sequence. */
    assert(capacity > 1 && (capacity & (capacity - 1)) == 0);
    mailbox = pages_open(bytes_of_ring(capacity));
    if (!mailbox)
        return NULL;
    mailbox->loop = loop;
    mailbox->receiver = receiver;
    mailbox->mask = capacity - 1;
    ev_async_init(&mailbox->wake, on_wake);
    mailbox->wake.data = mailbox;
    ev_async_start(loop, &mailbox->wake);
    return mailbox;
}

void mailbox_destroy(struct mailbox *mailbox)
{
    struct mail mail;

    if (!mailbox)
        return;
    while (take(mailbox, &mail))
        close(mail.fd);
    ev_async_stop(mailbox->loop, &mailbox->wake);
    pages_close(mailbox, bytes_of_ring(mailbox->mask + 1));
}

bool mailbox_put(struct mailbox *mailbox, const struct mail *mail)
{
    size_t at = atomic_load_explicit(&mailbox->put_at, memory_order_relaxed);

    for (;;) {
        struct cell *cell = &mailbox->cells[at & mailbox->mask];
        size_t sequence = atomic_load_explicit(&cell->sequence,
                                               memory_order_acquire);

        size_t lap = lap_of(mailbox, at);

        if (sequence == lap) {
            /* Claims the free cell. If that fails, `at` becomes the present
             * put_at. */
            if (!atomic_compare_exchange_weak_explicit(&mailbox->put_at, &at,
                                                       at + 1,
                                                       memory_order_relaxed,
                                                       memory_order_relaxed))
                continue;
            cell->mail = *mail;
            atomic_store_explicit(&cell->sequence, lap + 1,
                                  memory_order_release);
            return true;
        }
        if ((ptrdiff_t)(sequence - lap) < 0)
            return false; /* the cell still holds what was put a lap ago */
        at = atomic_load_explicit(&mailbox->put_at, memory_order_relaxed);
    }
}

void mailbox_send(struct mailbox *mailbox, struct mailbox_note *note)
{
    note->next = NULL;
    mailbox_send_all(mailbox, note);
}

void mailbox_send_all(struct mailbox *mailbox, struct mailbox_note *first)
{
    struct mailbox_note *last = turn_around(first);

    first->next = atomic_load_explicit(&mailbox->notes, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&mailbox->notes, &first->next,
                                                  last, memory_order_release,
                                                  memory_order_relaxed))
        ;
    mailbox_wake(mailbox);
}

void mailbox_command(struct mailbox *mailbox, unsigned commands)
{
    atomic_fetch_or(&mailbox->commands, commands);
    mailbox_wake(mailbox);
}

void mailbox_wake(struct mailbox *mailbox)
{
    ev_async_send(mailbox->loop, &mailbox->wake);
}
