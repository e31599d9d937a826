#include "kv/kv_events.h"

#include "suite.h"

enum { RING_BYTES = 1000, HEAD_BYTES = 48 };

static struct kv_events *events;

static int set_up(void **state)
{
    (void)state;
    events = kv_events_create(RING_BYTES, true);
    return events ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    kv_events_destroy(events);
    events = NULL;
    return 0;
}

static void put(uint64_t number, const char *key)
{
    struct kv_entry entry = {.key = bytes_of(key),
                             .value_bytes = number,
                             .meta = {.revision = number},
                             .type = BYTES("t")};

    kv_events_put(events, KV_EVENT_PUT, number, &entry);
}

static void publish(uint64_t number, const char *key)
{
    put(number, key);
    kv_events_publish(events, number);
}

static struct kv_watch watch_since(const char *prefix, uint64_t since)
{
    struct kv_watch watch = {
        .prefix = bytes_of(prefix), .has_since = true, .since = since};

    kv_events_begin(events, &watch, 0);
    return watch;
}

static void expect(struct kv_watch *watch, uint64_t number, const char *key)
{
    struct kv_event event;

    assert_int_equal(kv_watch_next(watch, &event), KV_WATCH_EVENT);
    assert_int_equal(event.number, number);
    if (!key) {
        assert_int_equal(event.kind, KV_EVENT_RESET);
        return;
    }
    assert_int_equal(event.kind, KV_EVENT_PUT);
    assert_true(bytes_eq(event.entry.key, bytes_of(key)));
    assert_true(bytes_eq(event.entry.type, BYTES("t")));
    assert_int_equal(event.entry.value_bytes, number);
    assert_int_equal(event.entry.meta.revision, number);
}

static void expect_nothing(struct kv_watch *watch)
{
    struct kv_event event;

    assert_int_equal(kv_watch_next(watch, &event), KV_WATCH_LATER);
}

TEST(what_is_published_is_told_in_order)
{
    struct kv_watch all = watch_since("", 0), some = watch_since("b", 0);

    expect_nothing(&all);
    put(1, "a");
    put(2, "b");
    expect_nothing(&all); /* not true yet */
    kv_events_publish(events, 2);
    publish(4, "ba");
    expect(&all, 1, "a");
    expect(&all, 2, "b");
    expect(&all, 4, "ba");
    expect_nothing(&all);
    expect(&some, 2, "b");
    expect(&some, 4, "ba");
    expect_nothing(&some);
    publish(5, "a");
    expect_nothing(&some);
    expect(&all, 5, "a");
}

TEST(what_is_taken_back_is_not_told)
{
    struct kv_watch watch = watch_since("", 0);
    size_t draft;

    put(1, "a");
    draft = kv_events_draft(events);
    put(2, "b");
    kv_events_undo(events, draft);
    put(2, "c");
    kv_events_publish(events, 2);
    put(3, "d");
    kv_events_undo(events, 0);
    kv_events_publish(events, 2);
    expect(&watch, 1, "a");
    expect(&watch, 2, "c");
    expect_nothing(&watch);
}

TEST(a_watch_begins_where_it_says_or_with_a_reset)
{
    struct kv_watch watch = {.has_since = false};

    publish(5, "a");
    publish(6, "b");
    kv_events_begin(events, &watch, 0);
    expect(&watch, 6, NULL);
    expect_nothing(&watch);
    watch = watch_since("", 4);
    expect(&watch, 5, "a");
    watch = watch_since("", 5);
    expect(&watch, 6, "b");
    watch = watch_since("", 6);
    expect_nothing(&watch);
    watch = watch_since("", 7);
    expect(&watch, 6, NULL);
    /* Who has read it from the store knows it before it is published. */
    kv_events_begin(events, &watch, 8);
    expect_nothing(&watch);
    publish(7, "c");
    expect_nothing(&watch);
    publish(8, "d");
    expect(&watch, 8, "d");
}

TEST(who_falls_behind_is_reset)
{
    struct kv_watch slow = watch_since("", 0), quick = watch_since("", 0);
    char key[8];

    for (unsigned i = 1; i <= 1000; i++) {
        snprintf(key, sizeof(key), "%u", i);
        publish(i, key);
        expect(&quick, i, key);
    }
    expect(&slow, 1000, NULL);
    expect_nothing(&slow);
    slow = watch_since("", 1);
    expect(&slow, 1000, NULL);
    slow = watch_since("", 998);
    expect(&slow, 999, "999");
}

TEST(after_a_restart_all_are_reset)
{
    struct kv_watch watch = watch_since("", 0);

    publish(1, "a");
    expect(&watch, 1, "a");
    kv_events_restart(events, 5);
    expect(&watch, 5, NULL);
    kv_events_restart(events, 3); /* what was restored may be older */
    watch = watch_since("", 2);
    expect(&watch, 3, NULL);
    watch = watch_since("", 3);
    expect_nothing(&watch);
    publish(4, "b");
    expect(&watch, 4, "b");
}

TEST(a_draft_too_large_is_a_reset)
{
    struct kv_watch watch = watch_since("", 0);

    for (uint64_t i = 1; i <= RING_BYTES / HEAD_BYTES + 1; i++)
        put(i, "a");
    kv_events_publish(events, 100);
    expect(&watch, 100, NULL);
    publish(101, "b");
    expect(&watch, 101, "b");
}

TEST(numbers_are_told_only_where_they_serve)
{
    struct kv_watch watch;
    struct kv_event event;

    kv_events_destroy(events);
    events = kv_events_create(RING_BYTES, false);
    publish(1, "a");
    watch = watch_since("", 1);
    assert_int_equal(kv_watch_next(&watch, &event), KV_WATCH_EVENT);
    assert_int_equal(event.kind, KV_EVENT_RESET);
    assert_int_equal(event.number, 0);
    publish(2, "b");
    assert_int_equal(kv_watch_next(&watch, &event), KV_WATCH_EVENT);
    assert_int_equal(event.number, 0);
}

TEST(a_long_look_is_done_in_parts)
{
    struct kv_watch watch;
    struct kv_event event;

    kv_events_destroy(events);
    events = kv_events_create(1 << 20, true);
    watch = watch_since("b", 0);
    for (uint64_t i = 1; i <= 10000; i++)
        put(i, "a");
    put(10001, "b");
    kv_events_publish(events, 10001);
    assert_int_equal(kv_watch_next(&watch, &event), KV_WATCH_MORE);
    assert_int_equal(kv_watch_next(&watch, &event), KV_WATCH_MORE);
    expect(&watch, 10001, "b");
}

/* Against all that ever happened: an event is told whole and in its place, or
 * there is a reset, which only who is behind gets. */
TEST(random_watches_are_those_of_a_model)
{
    enum { STEPS = 20000, WATCHES = 5, KEY_MAX = 60 };
    static char keys[STEPS + 1][KEY_MAX + 1];
    struct kv_watch watches[WATCHES];
    uint64_t seen[WATCHES] = {0}, last = 0;

    srand(1);
    for (unsigned i = 0; i < WATCHES; i++)
        watches[i] = watch_since("", 0);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned which = (unsigned)rand() % WATCHES;
        struct kv_event event;

        if (rand() % 3 > 0 && last < STEPS) {
            last++;
            memset(keys[last], 'a' + rand() % 26,
                   (size_t)(1 + rand() % KEY_MAX));
            publish(last, keys[last]);
            continue;
        }
        for (int more = rand() % 6; more > 0; more--) {
            enum kv_watch_result result = kv_watch_next(&watches[which],
                                                        &event);

            assert_int_equal(result == KV_WATCH_LATER, seen[which] == last);
            if (result == KV_WATCH_LATER)
                break;
            assert_int_equal(result, KV_WATCH_EVENT);
            if (event.kind == KV_EVENT_RESET) {
                /* It has missed more than so many. */
                assert_true(last - seen[which] >
                            RING_BYTES / (HEAD_BYTES + KEY_MAX + 2));
                assert_int_equal(event.number, last);
            } else {
                assert_int_equal(event.number, seen[which] + 1);
                assert_true(bytes_eq(event.entry.key,
                                     bytes_of(keys[event.number])));
            }
            seen[which] = event.number;
        }
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
