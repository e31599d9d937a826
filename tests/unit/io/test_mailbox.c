/* link: -Wl,--wrap=pages_open */
#include "io/mailbox.h"

#include <pthread.h>
#include <sched.h>

#include "suite.h"
#include "unit/memory.h"

enum { CAPACITY = 64, PRODUCERS = 4, MAILS_EACH = 20000, SEEN_MAX = 256 };

static struct ev_loop *loop;
static struct mailbox *mailbox;

/* What has come, in order; a command as its negative. */
static int seen[SEEN_MAX];
static unsigned seen_count;

static void see(int what)
{
    assert_true(seen_count < SEEN_MAX);
    seen[seen_count++] = what;
}

static void on_mail(void *context, const struct mail *mail)
{
    assert_ptr_equal(context, &seen);
    see(mail->fd);
}

static void on_command(void *context, unsigned commands)
{
    assert_ptr_equal(context, &seen);
    see(-(int)commands);
}

static int set_up(void **state)
{
    struct mailbox_receiver receiver = {on_mail, on_command, &seen};

    (void)state;
    seen_count = 0;
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    mailbox = loop ? mailbox_create(loop, CAPACITY, receiver) : NULL;
    return mailbox ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mailbox_destroy(mailbox);
    ev_loop_destroy(loop);
    return 0;
}

static bool put(int fd)
{
    return mailbox_put(mailbox, &(struct mail){.fd = fd});
}

static void receive(void)
{
    ev_run(loop, EVRUN_NOWAIT);
}

/* Turns until nothing more comes. */
static void receive_all(void)
{
    unsigned before;

    do {
        before = seen_count;
        receive();
    } while (seen_count > before);
}

/* --- One thread ---------------------------------------------------------- */

TEST(mails_arrive_in_the_order_they_were_put)
{
    for (int i = 1000; i < 1000 + CAPACITY; i++)
        assert_true(put(i));
    mailbox_wake(mailbox);
    receive_all();
    assert_int_equal(seen_count, CAPACITY);
    for (int i = 0; i < CAPACITY; i++)
        assert_int_equal(seen[i], 1000 + i);
    assert_true(put(7));
    mailbox_wake(mailbox);
    receive();
    assert_int_equal(seen[CAPACITY], 7);
}

/* Each brings a request: those that are there already have theirs between. */
TEST(many_mails_come_by_turns)
{
    unsigned before = 0;

    for (int i = 0; i < CAPACITY; i++)
        assert_true(put(i));
    mailbox_wake(mailbox);
    while (seen_count < CAPACITY) {
        receive();
        assert_in_range(seen_count - before, 1, CAPACITY / 4);
        before = seen_count;
    }
}

static struct address delivered;

static void on_addressed(void *context, const struct mail *mail)
{
    (void)context;
    delivered = mail->peer;
}

TEST(a_mail_says_who_the_peer_is)
{
    struct mailbox_receiver receiver = {.on_mail = on_addressed};
    struct mailbox *other = mailbox_create(loop, 2, receiver);
    struct mail mail = {
        .peer = {.family = ADDRESS_IPV4, .port = 99, .octets = {192, 0, 2, 1}}};

    assert_non_null(other);
    assert_true(mailbox_put(other, &mail));
    mailbox_wake(other);
    receive();
    mailbox_destroy(other);
    assert_int_equal(delivered.family, ADDRESS_IPV4);
    assert_int_equal(delivered.port, 99);
    assert_memory_equal(delivered.octets, mail.peer.octets, 16);
}

TEST(nothing_is_delivered_before_the_wake)
{
    assert_true(put(1));
    receive();
    assert_int_equal(seen_count, 0);
    mailbox_wake(mailbox);
    receive();
    assert_int_equal(seen_count, 1);
}

TEST(a_full_mailbox_refuses_and_then_takes_again)
{
    for (int round = 0; round < 3; round++) {
        seen_count = 0;
        for (int i = 0; i < CAPACITY; i++)
            assert_true(put(2000 + i));
        assert_false(put(9));
        assert_false(put(9));
        mailbox_wake(mailbox);
        receive_all();
        assert_int_equal(seen_count, CAPACITY);
        assert_int_equal(seen[CAPACITY - 1], 2000 + CAPACITY - 1);
    }
}

TEST(the_ring_goes_around_at_every_fill)
{
    for (int fill = 1; fill <= CAPACITY; fill++) {
        for (int round = 0; round < 3; round++) {
            seen_count = 0;
            for (int i = 0; i < fill; i++)
                assert_true(put(3000 + i));
            mailbox_wake(mailbox);
            receive_all();
            assert_int_equal(seen_count, fill);
            for (int i = 0; i < fill; i++)
                assert_int_equal(seen[i], 3000 + i);
        }
    }
}

TEST(commands_come_after_the_mails_put_before)
{
    assert_true(put(5));
    mailbox_command(mailbox, 1);
    receive();
    assert_int_equal(seen_count, 2);
    assert_int_equal(seen[0], 5);
    assert_int_equal(seen[1], -1);
}

TEST(commands_given_before_a_look_come_together_once)
{
    mailbox_command(mailbox, 1);
    mailbox_command(mailbox, 4);
    mailbox_command(mailbox, 1);
    receive();
    receive();
    assert_int_equal(seen_count, 1);
    assert_int_equal(seen[0], -5);
}

TEST(a_full_mailbox_loses_no_command)
{
    for (int i = 0; i < CAPACITY; i++)
        assert_true(put(1));
    mailbox_command(mailbox, 2);
    receive();
    assert_int_equal(seen_count, CAPACITY + 1);
    assert_int_equal(seen[CAPACITY], -2);
}

struct numbered_note {
    struct mailbox_note note;
    int number;
    int repeats;
};

static void on_note(struct mailbox_note *note)
{
    struct numbered_note *numbered = (struct numbered_note *)(void *)note;

    see(numbered->number);
    if (numbered->repeats-- > 0)
        mailbox_send(mailbox, note);
}

TEST(notes_arrive_in_the_order_they_were_sent)
{
    struct numbered_note notes[5];

    for (int i = 0; i < 5; i++) {
        notes[i] = (struct numbered_note){{.on_arrive = on_note}, 10 + i, 0};
        mailbox_send(mailbox, &notes[i].note);
    }
    assert_int_equal(seen_count, 0);
    receive();
    receive();
    assert_int_equal(seen_count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(seen[i], 10 + i);
}

TEST(notes_sent_together_arrive_together_in_their_order)
{
    struct numbered_note notes[5];

    for (int i = 0; i < 5; i++)
        notes[i] = (struct numbered_note){{.on_arrive = on_note}, 10 + i, 0};
    for (int i = 1; i < 3; i++)
        notes[i].note.next = &notes[i + 1].note;
    notes[3].note.next = NULL;
    mailbox_send(mailbox, &notes[0].note);
    mailbox_send_all(mailbox, &notes[1].note);
    mailbox_send(mailbox, &notes[4].note);
    receive();
    assert_int_equal(seen_count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(seen[i], 10 + i);
}

TEST(a_full_mailbox_takes_notes_all_the_same)
{
    struct numbered_note note = {{.on_arrive = on_note}, 77, 0};

    for (int i = 0; i < CAPACITY; i++)
        assert_true(put(1));
    mailbox_send(mailbox, &note.note);
    mailbox_command(mailbox, 2);
    receive();
    assert_int_equal(seen_count, CAPACITY + 2);
    assert_int_equal(seen[CAPACITY], 77);
    assert_int_equal(seen[CAPACITY + 1], -2);
}

TEST(a_note_may_be_sent_again_once_it_has_arrived)
{
    struct numbered_note note = {{.on_arrive = on_note}, 5, 2};

    mailbox_send(mailbox, &note.note);
    for (int i = 0; i < 5; i++)
        receive();
    assert_int_equal(seen_count, 3);
}

TEST(destroy_closes_the_descriptors_still_inside)
{
    int fds[2];
    struct mailbox *other =
        mailbox_create(loop, 2, (struct mailbox_receiver){.on_mail = on_mail});

    assert_non_null(other);
    assert_int_equal(pipe(fds), 0);
    assert_true(mailbox_put(other, &(struct mail){.fd = fds[0]}));
    assert_true(mailbox_put(other, &(struct mail){.fd = fds[1]}));
    mailbox_destroy(other);
    assert_int_equal(fcntl(fds[0], F_GETFD), -1);
    assert_int_equal(fcntl(fds[1], F_GETFD), -1);
    mailbox_destroy(NULL);
}

TEST(without_memory_there_is_no_mailbox)
{
    allocations_left = 0;
    assert_null(mailbox_create(loop, 2, (struct mailbox_receiver){0}));
    allocations_left = -1;
}

/* --- Many threads -------------------------------------------------------- */

static unsigned long received[PRODUCERS];
static unsigned commands_seen;

/* fd is the place among the producer's own, the port which producer. */
static void count_mail(void *context, const struct mail *mail)
{
    (void)context;
    assert_in_range(mail->peer.port, 0, PRODUCERS - 1);
    assert_int_equal(mail->fd, received[mail->peer.port]);
    received[mail->peer.port]++;
}

static void count_command(void *context, unsigned commands)
{
    (void)context;
    commands_seen |= commands;
}

struct producer {
    pthread_t thread;
    struct mailbox *to;
    uint16_t number;
};

static void *produce(void *context)
{
    const struct producer *producer = context;

    for (int i = 0; i < MAILS_EACH; i++) {
        struct mail mail = {.fd = i, .peer.port = producer->number};

        while (!mailbox_put(producer->to, &mail)) {
            mailbox_wake(producer->to);
            sched_yield();
        }
        if (i % 16 == 15)
            mailbox_wake(producer->to);
        if (i == MAILS_EACH / 2)
            mailbox_command(producer->to, 1u << producer->number);
    }
    mailbox_command(producer->to, 0x100u << producer->number);
    return NULL;
}

static bool has_all(void)
{
    for (int i = 0; i < PRODUCERS; i++)
        if (received[i] < MAILS_EACH)
            return false;
    return commands_seen == 0xF0F;
}

TEST(many_threads_lose_and_mix_up_nothing)
{
    struct mailbox_receiver receiver = {count_mail, count_command, NULL};
    struct mailbox *other = mailbox_create(loop, CAPACITY, receiver);
    struct producer producers[PRODUCERS];

    assert_non_null(other);
    for (uint16_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (struct producer){.to = other, .number = i};
        assert_int_equal(pthread_create(&producers[i].thread, NULL, produce,
                                        &producers[i]),
                         0);
    }
    while (!has_all())
        ev_run(loop, EVRUN_ONCE);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i].thread, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        assert_int_equal(received[i], MAILS_EACH);
    mailbox_destroy(other);
}

enum { NOTES_EACH = 5000 };

struct note_sender {
    pthread_t thread;
    struct numbered_note notes[NOTES_EACH];
};

static struct note_sender senders[PRODUCERS];
static int next_of[PRODUCERS];

static void on_counted_note(struct mailbox_note *note)
{
    int number = ((struct numbered_note *)(void *)note)->number;

    assert_int_equal(number % NOTES_EACH, next_of[number / NOTES_EACH]);
    next_of[number / NOTES_EACH]++;
}

static void *send_notes(void *context)
{
    struct note_sender *sender = context;

    for (int i = 0; i < NOTES_EACH; i++)
        mailbox_send(mailbox, &sender->notes[i].note);
    return NULL;
}

TEST(notes_of_many_threads_all_arrive_in_their_order)
{
    int sum = 0;

    for (int i = 0; i < PRODUCERS; i++) {
        for (int n = 0; n < NOTES_EACH; n++)
            senders[i].notes[n] = (struct numbered_note){
                {.on_arrive = on_counted_note}, i * NOTES_EACH + n, 0};
        assert_int_equal(pthread_create(&senders[i].thread, NULL, send_notes,
                                        &senders[i]),
                         0);
    }
    while (sum < PRODUCERS * NOTES_EACH) {
        ev_run(loop, EVRUN_ONCE);
        sum = 0;
        for (int i = 0; i < PRODUCERS; i++)
            sum += next_of[i];
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(senders[i].thread, NULL);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
