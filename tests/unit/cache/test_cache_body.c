#include "cache/cache_body.h"

#include <ev.h>

#include "suite.h"

enum { LENGTH = 200000 };

static struct cache_body_counts counts;
static struct ev_loop *loop;
static struct mailbox *mailbox;
static struct cache_port port;
static char text[LENGTH];

static int set_up(void **state)
{
    (void)state;
    loop = ev_loop_new(0);
    mailbox = mailbox_create(loop, 2,
                             (struct mailbox_receiver){.context = NULL});
    cache_port_init(&port, mailbox);
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = (char)(i * 2654435761u >> 13);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cache_port_fini(&port);
    mailbox_destroy(mailbox);
    ev_loop_destroy(loop);
    assert_int_equal(counts.files, 0);
    assert_int_equal(counts.maps, 0);
    assert_int_equal(counts.filling, 0);
    return 0;
}

SUITE(.each_begin = set_up, .each_end = tear_down);

/* Fails unless the bytes from at on are those of the text. */
static void assert_part(const struct part *part, uint64_t at)
{
    static char read[LENGTH];

    if (part->kind == PART_MEMORY) {
        assert_memory_equal(part->at.memory, text + at, part->len);
        return;
    }
    assert_int_equal(part->kind, PART_SENDFILE);
    assert_int_equal(pread(part->fd, read, part->len, (off_t)part->at.offset),
                     (ssize_t)part->len);
    assert_memory_equal(read, text + at, part->len);
}

static void assert_all(const struct cache_body *body, size_t length)
{
    for (uint64_t at = 0; at < length;) {
        struct part part = cache_body_part(body, at, length - at);

        assert_true(part.len > 0);
        assert_part(&part, at);
        at += part.len;
    }
}

static void put_all(struct cache_body *body, size_t length, size_t step)
{
    for (size_t at = 0; at < length;) {
        size_t n = length - at < step ? length - at : step;

        assert_true(cache_body_put(body, (struct bytes){text + at, n}));
        at += n;
    }
    cache_body_end(body, true);
    assert_int_equal(cache_body_state_of(body), CACHE_BODY_WHOLE);
    assert_int_equal(cache_body_length(body), length);
    assert_all(body, length);
}

TEST(bodies_of_any_length_come_back_whether_it_was_known_or_not)
{
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 100000, LENGTH};
    static const size_t steps[] = {1000, 60000, 65536, LENGTH};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++)
            for (unsigned known = 0; known < 2; known++) {
                struct cache_body *body =
                    cache_body_create(known ? lengths[i] : CACHE_LENGTH_UNKNOWN,
                                      &counts);

                assert_non_null(body);
                put_all(body, lengths[i], steps[k]);
                cache_body_release(&body);
            }
}

TEST(one_that_says_less_or_more_than_it_has_is_broken)
{
    struct cache_body *body = cache_body_create(10, &counts);

    assert_true(cache_body_put(body, BYTES("12345")));
    assert_false(cache_body_put(body, BYTES("123456")));
    cache_body_end(body, true);
    assert_int_equal(cache_body_state_of(body), CACHE_BODY_BROKEN);
    cache_body_release(&body);
}

static unsigned told;

static void on_ready(struct cache_wait *wait)
{
    (void)wait;
    told++;
}

static void run(void)
{
    ev_run(loop, EVRUN_NOWAIT);
    ev_run(loop, EVRUN_NOWAIT);
}

TEST(a_reader_is_told_once_when_there_is_more)
{
    struct cache_body *body = cache_body_create(CACHE_LENGTH_UNKNOWN, &counts);
    enum cache_body_state found;
    struct cache_reader reader = {.at = 0};
    struct cache_wait wait;
    struct part part;

    told = 0;
    cache_wait_init(&wait, &port, on_ready);
    cache_body_join(body, &reader, 0);
    part = cache_body_read(body, &reader, 100, &wait, &found);
    assert_int_equal(part.len, 0);
    assert_int_equal(found, CACHE_BODY_FILLING);
    assert_true(cache_body_put(body, (struct bytes){text, 150}));
    assert_true(cache_body_put(body, (struct bytes){text + 150, 50}));
    run();
    assert_int_equal(told, 1);
    part = cache_body_read(body, &reader, 100, &wait, &found);
    assert_int_equal(part.len, 100);
    assert_part(&part, 0);
    cache_body_advance(body, &reader, 200);
    part = cache_body_read(body, &reader, 100, &wait, &found);
    assert_int_equal(part.len, 0);
    cache_body_cancel(body, &wait);
    cache_body_end(body, false);
    run();
    assert_int_equal(told, 1);
    part = cache_body_read(body, &reader, 100, &wait, &found);
    assert_int_equal(found, CACHE_BODY_BROKEN);
    cache_body_leave(body, &reader);
    cache_body_release(&body);
}

TEST(one_that_passes_waits_for_its_slowest_reader)
{
    struct cache_body *body = cache_body_create(CACHE_LENGTH_UNKNOWN, &counts);
    struct cache_reader slow, fast;
    struct cache_wait writer;

    told = 0;
    cache_wait_init(&writer, &port, on_ready);
    cache_body_join(body, &slow, 0);
    cache_body_join(body, &fast, 0);
    cache_body_pass(body);
    for (int i = 0; i < 5; i++)
        assert_true(cache_body_put(body, (struct bytes){text, LENGTH}));
    assert_true(cache_body_takes_more(body, &writer));
    assert_true(cache_body_put(body, (struct bytes){text, LENGTH}));
    cache_body_advance(body, &fast, 6 * LENGTH);
    assert_false(cache_body_takes_more(body, &writer));
    cache_body_advance(body, &slow, LENGTH);
    run();
    assert_int_equal(told, 1);
    assert_true(cache_body_takes_more(body, &writer));
    cache_body_leave(body, &slow);
    assert_true(cache_body_takes_more(body, &writer));
    cache_body_leave(body, &fast);
    cache_body_end(body, true);
    cache_body_release(&body);
}

TEST(what_passes_and_has_no_reader_is_forsaken)
{
    struct cache_body *body = cache_body_create(CACHE_LENGTH_UNKNOWN, &counts);
    struct cache_body *entrys = cache_body_acquire(body);
    struct cache_body *held = cache_body_acquire(body);
    struct cache_reader reader = {0};

    cache_body_join(body, &reader, 0);
    cache_body_pass(body);
    assert_false(cache_body_is_forsaken(body));
    cache_body_leave(body, &reader);
    assert_true(cache_body_is_wanted(body)); /* but has no place in it */
    assert_true(cache_body_is_forsaken(body));
    cache_body_release(&held);
    cache_body_release(&entrys);
    cache_body_end(body, false);
    cache_body_release(&body);
}

/* What is gone of what passes would be read as zeros. */
TEST(who_joins_behind_what_has_been_given_up_breaks_off)
{
    struct cache_body *body = cache_body_create(CACHE_LENGTH_UNKNOWN, &counts);
    struct cache_reader early = {0}, late = {0};
    enum cache_body_state found;
    struct cache_wait writer;

    cache_wait_init(&writer, &port, on_ready);
    cache_body_join(body, &early, 0);
    cache_body_pass(body);
    for (int i = 0; i < 6; i++)
        assert_true(cache_body_put(body, (struct bytes){text, LENGTH}));
    cache_body_advance(body, &early, 6 * LENGTH);
    assert_true(cache_body_takes_more(body, &writer));
    cache_body_join(body, &late, 0);
    assert_int_equal(cache_body_read(body, &late, 1000, &writer, &found).len,
                     0);
    assert_int_equal(found, CACHE_BODY_BROKEN);
    cache_body_leave(body, &late);
    cache_body_leave(body, &early);
    cache_body_end(body, true);
    cache_body_release(&body);
}

TEST(a_short_one_of_unknown_length_takes_no_more_room_than_it_needs)
{
    struct cache_body *body = cache_body_create(CACHE_LENGTH_UNKNOWN, &counts);
    struct cache_body *compact;

    put_all(body, 100, 100);
    compact = cache_body_compact(body);
    assert_non_null(compact);
    assert_true(cache_body_footprint(compact) < 1000);
    assert_all(compact, 100);
    assert_null(cache_body_compact(compact));
    cache_body_release(&compact);
    cache_body_release(&body);
}

/* A wait has been called for another reason while it waits for its slowest
 * reader, and waits anew while a call is on its way: neither list may lose its
 * ends by that. */
TEST(a_writer_that_is_called_while_it_waits_is_told_all_the_same)
{
    struct cache_body *body = cache_body_create(CACHE_LENGTH_UNKNOWN, &counts);
    struct cache_reader slow = {.at = 0};
    struct cache_wait writer, other;

    told = 0;
    cache_wait_init(&writer, &port, on_ready);
    cache_wait_init(&other, &port, on_ready);
    cache_body_join(body, &slow, 0);
    cache_body_pass(body);
    for (int i = 0; i < 6; i++)
        assert_true(cache_body_put(body, (struct bytes){text, LENGTH}));
    assert_false(cache_body_takes_more(body, &writer));
    cache_wait_later(&writer);
    cache_wait_later(&other);
    run();
    assert_int_equal(told, 2);
    cache_wait_later(&writer);
    assert_false(cache_body_takes_more(body, &writer)); /* called already */
    cache_wait_later(&other);
    cache_body_advance(body, &slow, 1); /* tells the same */
    run();
    assert_int_equal(told, 4);
    assert_false(cache_body_takes_more(body, &writer));
    cache_body_advance(body, &slow, LENGTH);
    run();
    assert_int_equal(told, 5);
    assert_true(cache_body_takes_more(body, &writer));
    cache_body_leave(body, &slow);
    run();
    assert_int_equal(told, 5);
    cache_body_end(body, true);
    cache_body_release(&body);
}

TEST(more_than_one_reader_is_a_crowd_and_so_is_who_will_join)
{
    struct cache_body *body = cache_body_create(LENGTH, &counts);
    struct cache_reader one, other;

    cache_body_join(body, &one, 0);
    assert_false(cache_body_is_crowded(body));
    cache_body_join(body, &other, 0);
    assert_true(cache_body_is_crowded(body));
    cache_body_note_begun(body);
    assert_true(cache_body_has_beginners(body));
    cache_body_note_begun(body);
    assert_false(cache_body_has_beginners(body));
    cache_body_leave(body, &one);
    assert_false(cache_body_is_crowded(body));
    cache_body_await_crowd(body);
    assert_true(cache_body_is_crowded(body));
    cache_body_leave(body, &other);
    cache_body_release(&body);
}

/* --- Mapped -------------------------------------------------------------- */

static void assert_mapped(struct cache_body *body, uint64_t at, uint64_t len)
{
    struct part part = cache_body_part_mapped(body, at, len);

    assert_int_equal(part.kind, PART_MEMORY);
    assert_int_equal(part.len, len);
    assert_part(&part, at);
}

TEST(a_long_one_is_mapped_once_for_all_while_it_comes_and_whole)
{
    struct cache_body *body = cache_body_create(LENGTH, &counts);

    assert_true(cache_body_put(body, (struct bytes){text, 100000}));
    assert_mapped(body, 0, 100000);
    assert_mapped(body, 99999, 1);
    assert_true(cache_body_put(body, (struct bytes){text + 100000, 100000}));
    cache_body_end(body, true);
    assert_mapped(body, 0, LENGTH);
    assert_mapped(body, LENGTH - 1, 1);
    assert_int_equal(counts.maps, 1);
    cache_body_release(&body);
}

TEST(one_of_unknown_length_is_mapped_when_it_is_whole)
{
    struct cache_body *body = cache_body_create(CACHE_LENGTH_UNKNOWN, &counts);
    struct part part;

    assert_true(cache_body_put(body, (struct bytes){text, LENGTH}));
    assert_mapped(body, 0, CACHE_BODY_MEMORY_MAX); /* it lies there anyway */
    part = cache_body_part_mapped(body, CACHE_BODY_MEMORY_MAX, 1000);
    assert_int_equal(part.kind, PART_SENDFILE);
    assert_part(&part, CACHE_BODY_MEMORY_MAX);
    cache_body_end(body, true);
    assert_mapped(body, CACHE_BODY_MEMORY_MAX, LENGTH - CACHE_BODY_MEMORY_MAX);
    cache_body_release(&body);
}

TEST(what_passes_is_on_a_disk_or_would_be_one_too_many_goes_by_file)
{
    struct cache_body *body = cache_body_create(LENGTH, &counts);
    struct cache_body *filed;

    assert_true(cache_body_put(body, (struct bytes){text, LENGTH}));
    atomic_store(&counts.maps, CACHE_BODY_MAPS_MAX);
    assert_int_equal(cache_body_part_mapped(body, 0, 1).kind, PART_SENDFILE);
    assert_int_equal(counts.maps, CACHE_BODY_MAPS_MAX);
    atomic_store(&counts.maps, 0);
    cache_body_pass(body);
    assert_int_equal(cache_body_part_mapped(body, 0, 1).kind, PART_SENDFILE);
    filed = cache_body_create_of(dup(cache_body_part(body, 0, 1).fd), LENGTH,
                                 true, &counts);
    assert_non_null(filed);
    assert_int_equal(cache_body_part_mapped(filed, 0, 1).kind, PART_SENDFILE);
    cache_body_release(&filed);
    cache_body_release(&body);
}
