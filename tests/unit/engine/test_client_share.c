/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=pages_open */
#include "suite.h"
#include "unit/engine/client_model.h"
#include "unit/memory.h"

/* --- The bound ----------------------------------------------------------- */

enum mix { MIXED, FLOODED, CROWDED, MIXES };

/* Some have large ones, and all that others send is small, and never ends. */
static uint64_t draw_bytes(enum mix mix, int client)
{
    if (mix == FLOODED)
        return client < 3 ? 1u << (10 + draw(14)) : 1 + draw(20000);
    return 1 + draw(1u << draw(23));
}

static void run(enum mix mix, uint64_t bound, uint64_t factor, uint64_t quantum,
                int steps)
{
    unsigned busy = mix == CROWDED ? 1 : 2 + draw(6);

    model_use(bound, factor);
    model_use_rate(draw(24000000));
    for (int step = 0; step < steps; step++) {
        int at = (int)draw(MODEL_ITEMS);
        int client = (int)(mix == CROWDED && draw(2) ? 0 : draw(MODEL_CLIENTS));

        if (model.jobs[at].left == 0 && draw(busy) == 0) {
            model_arrive(at, client, draw_bytes(mix, client), draw(20) == 0);
        } else if (model.jobs[at].is_away) {
            model.jobs[at].is_away = false;
            model_put(at);
        } else if (model.jobs[at].left > 0 &&
                   draw(200) == 0) { /* it gives up */
            sched_drop(&model.sched, &model.items[at]);
            model.taken = -1;
            model.jobs[at].left = 0;
            model.naive.of[model.jobs[at].client].waiting--;
        } else {
            (void)model_serve(quantum, 30);
        }
        model_check_bounds((double)factor, (double)quantum);
        model_check_level(client);
    }
    assert_true(model.naive.v > 0);
}

TEST(no_client_is_slower_than_the_factor_allows_whatever_others_send)
{
    static const uint64_t factors[] = {1, 2, 3, 8};
    static const uint64_t bounds[] = {0, 256};

    draw_seed = 1989;
    for (int round = 0; round < 48; round++)
        run((enum mix)(round % MIXES), bounds[round / 3 % 2],
            factors[round % 4], 1 + draw(3000), 12000);
}

/* Clients in a loop over small files, beside one with a large one. Its bytes
 * when so many have been sent in all. */
static uint64_t link_rate;

static uint64_t count_beside_loops(uint64_t factor, uint64_t all)
{
    enum { LOOPS = 8, SMALL = 100000, LARGE = 2000000 };

    model_use(256, factor);
    model_use_rate(link_rate);
    model_arrive(0, 0, LARGE, false);
    for (int i = 1; i <= LOOPS; i++)
        model_arrive(i, i, SMALL, false);
    for (uint64_t sent = 0; sent < all; sent += 1500) {
        int at = model_serve(1500, 0);

        if (at > 0 && model.jobs[at].left == 0)
            model_arrive(at, at, SMALL, false);
    }
    return LARGE - model.jobs[0].left;
}

TEST(a_large_one_is_not_kept_waiting_by_small_ones_without_an_end)
{
    /* Fair sharing would have sent all of it by 9 * 2 MB. */
    assert_int_equal(count_beside_loops(0, 8000000), 0);
    assert_in_range(count_beside_loops(2, 8000000), 250000, 450000);
    assert_int_equal(count_beside_loops(2, 36100000), 2000000);
    assert_int_equal(count_beside_loops(1, 18100000), 2000000);
}

/* On a fast link, which is busy with the same for a shorter time, it comes
 * later, and is complete when it has to be. */
TEST(on_a_fast_link_a_large_one_begins_later)
{
    link_rate = 10000000;
    assert_int_equal(count_beside_loops(2, 9 * 1700000), 0);
    assert_in_range(count_beside_loops(2, 9 * 1900000), 50000, 150000);
    assert_int_equal(count_beside_loops(2, 36100000), 2000000);
    link_rate = 0;
}

/* Bytes that are sent in all until the last of so many clients has some. */
static uint64_t count_until_last(int clients)
{
    const uint64_t bytes = 10000000;
    uint64_t left[MODEL_ITEMS];
    uint64_t sent = 0;

    model_use(0, 2);
    model_use_rate(10000000);
    for (int i = 0; i < clients; i++) {
        left[i] = i < clients - 1 ? bytes : 2 * bytes;
        sched_arrive(&model.sched, &model.items[i], (uint64_t)i + 1, left[i],
                     false);
        sched_put(&model.sched, &model.items[i], left[i]);
    }
    for (; left[clients - 1] == 2 * bytes; sent += 1000) {
        struct sched_item *item = sched_take(&model.sched);
        int at = (int)(item - model.items);

        sched_sent(&model.sched, item, 1000);
        left[at] -= 1000;
        if (left[at] > 0)
            sched_put(&model.sched, item, left[at]);
    }
    return sent;
}

/* However many wait: nobody waits so long for a first byte. */
TEST(what_is_large_stands_still_for_ten_seconds_at_most)
{
    assert_in_range(count_until_last(30), 70000000, 76000000); /* 250 ms each */
    assert_in_range(count_until_last(100), 95000000, 101000000);
    assert_in_range(count_until_last(MODEL_ITEMS), 95000000, 101000000);
}

/* A large one beside eight clients in a loop, whose socket is full after each
 * piece: bytes that are sent in all until it is complete. When each could have
 * had most of it, the link gets slower, as more clients would make it. */
static uint64_t count_until_complete(uint64_t bytes)
{
    enum { LOOPS = 8, SMALL = 100000, PIECE = 1500 };
    uint64_t left[1 + LOOPS] = {bytes};
    uint64_t sent = 0;
    bool is_away = false;

    model_use(0, 2);
    model_use_rate(10000000);
    sched_arrive(&model.sched, &model.items[0], 1, bytes, false);
    sched_put(&model.sched, &model.items[0], bytes);
    while (left[0] > 0) {
        struct sched_item *item;
        int at;

        for (int i = 1; i <= LOOPS; i++) {
            if (left[i] > 0)
                continue;
            left[i] = SMALL;
            sched_arrive(&model.sched, &model.items[i], (uint64_t)i + 1, SMALL,
                         false);
            sched_put(&model.sched, &model.items[i], SMALL);
        }
        item = sched_take(&model.sched);
        at = (int)(item - model.items);
        sched_sent(&model.sched, item, left[at] < PIECE ? left[at] : PIECE);
        sent += left[at] < PIECE ? left[at] : PIECE;
        left[at] -= left[at] < PIECE ? left[at] : PIECE;
        if (is_away)
            sched_put(&model.sched, &model.items[0], left[0]);
        is_away = at == 0;
        if (left[at] > 0 && !is_away)
            sched_put(&model.sched, item, left[at]);
        if (sent > 9 * (bytes - bytes / 8))
            model_use_rate(0);
    }
    return sent;
}

TEST(what_was_promised_is_kept_when_the_link_gets_slower)
{
    assert_in_range(count_until_complete(2700000), 40000000,
                    UINT64_C(9) * 2 * 2700000 + 500000);
}

/* --- Connections --------------------------------------------------------- */

/* One connection beside a hundred of another client, all always asking: what
 * it gets, in percent. */
static uint64_t percent_beside_hundred(uint64_t one, uint64_t other)
{
    enum { ALL = 400000000 };
    uint64_t got = 0;

    model_use(1024, 2);
    model_arrive(0, 0, one, false);
    for (int i = 1; i <= 100; i++)
        model_arrive(i, 1, other, false);
    for (uint64_t sent = 0; sent < ALL; sent += 1500) {
        uint64_t before = model.jobs[0].had;
        int at = model_serve(1500, 0);

        if (at == 0)
            got += model.jobs[0].had - before;
        if (model.jobs[at].left == 0)
            model_arrive(at, at > 0, at > 0 ? other : one, false);
    }
    return got * 100 / ALL;
}

TEST(a_hundred_connections_have_no_more_than_one)
{
    assert_in_range(percent_beside_hundred(100000, 100000), 42, 55);
    assert_in_range(percent_beside_hundred(110000, 100000), 42, 55);
    assert_in_range(percent_beside_hundred(4000000, 5000), 42, 55);
    assert_in_range(percent_beside_hundred(5000, 4000000), 42, 55);
}

TEST(one_client_alone_is_served_shortest_first)
{
    draw_seed = 7;
    model_use(0, 2);
    for (int step = 0; step < 20000; step++) {
        int at = (int)draw(MODEL_ITEMS);

        if (model.jobs[at].left == 0 && draw(3) == 0) {
            model_arrive(at, 0, 1 + draw(1u << draw(22)), false);
        } else {
            uint64_t least = UINT64_MAX;

            for (int i = 0; i < MODEL_ITEMS; i++)
                if (model.jobs[i].left > 0 && model.jobs[i].left < least)
                    least = model.jobs[i].left;
            at = model_serve(2000, 0);
            if (at >= 0)
                assert_int_equal(model.jobs[at].left,
                                 least > 2000 ? least - 2000 : 0);
        }
    }
}

TEST(who_is_due_goes_before_a_shorter_newcomer)
{
    model_use(0, 2);
    model_arrive(0, 0, 4000000, false);
    model_arrive(1, 1, 90000, false);
    while (!client_share_has_due(&model.sched.clients)) {
        assert_int_equal(model_serve(3000, 0), 1);
        if (model.jobs[1].left == 0)
            model_arrive(1, 1, 90000, false);
    }
    sched_arrive(&model.sched, &model.items[2], 3, 10, false);
    assert_false(sched_goes_first(&model.sched, &model.items[2], 10));
    assert_true(sched_next_key(&model.sched) == 0);
    assert_ptr_equal(sched_take(&model.sched), &model.items[0]);
    assert_true(sched_key(&model.sched, &model.items[0], model.jobs[0].left) ==
                0);
    sched_put(&model.sched, &model.items[0], model.jobs[0].left);
    assert_true(sched_key(&model.sched, &model.items[0], model.jobs[0].left) >=
                model.jobs[0].left);
}

/* --- Several workers ----------------------------------------------------- */

/* What the others send counts against them, and only as far as they have other
 * clients. */
TEST(a_client_alone_with_its_worker_is_due_by_what_others_send)
{
    struct client_others others = {
        .sent = 5000000000, .count = 3, .parts = 3 * CLIENT_SHARE_WHOLE};

    model_use(0, 2);
    model_arrive(0, 0, 1000000, false);
    client_share_hear(&model.sched.clients,
                      &others); /* long ago, as far as known */
    assert_false(client_share_has_due(&model.sched.clients));
    others.sent += 500000;
    client_share_hear(&model.sched.clients, &others);
    assert_false(client_share_has_due(&model.sched.clients));
    others.sent += 500000; /* a fourth of what is counted is over 384 KiB */
    client_share_hear(&model.sched.clients, &others);
    assert_true(client_share_has_due(&model.sched.clients));
    others.count = 0;
    others.parts = 0;
    client_share_hear(&model.sched.clients, &others);
    assert_false(client_share_has_due(&model.sched.clients));
}

/* However much has come to this worker, and less or more to others. */
TEST(keys_begin_at_the_base)
{
    static const uint64_t factors[] = {0, 2};

    for (int i = 0; i < 2; i++) {
        uint64_t base;

        model_use(1024, factors[i]);
        for (int at = 0; at < MODEL_ITEMS - 1; at++)
            model_arrive(at, at % MODEL_CLIENTS, 1000000, false);
        base = sched_base(&model.sched);
        sched_arrive(&model.sched, &model.items[MODEL_ITEMS - 1], 1000, 5000,
                     false);
        assert_true(sched_key(&model.sched, &model.items[MODEL_ITEMS - 1],
                              5000) == base + 1024 * 5000);
    }
}

/* --- Names and memory ---------------------------------------------------- */

static uint64_t name_of(const char *text)
{
    struct address address = {0};

    assert_true(address_parse(&address, (struct bytes){text, strlen(text)}));
    return client_share_name(&address);
}

TEST(an_address_or_a_network_of_ipv6_is_one_client)
{
    static const struct address local = {.family = ADDRESS_UNIX};

    assert_true(name_of("192.0.2.1") == name_of("192.0.2.1"));
    assert_true(name_of("192.0.2.1") != name_of("192.0.2.2"));
    assert_true(name_of("2001:db8::1") == name_of("2001:db8::ffff:1"));
    assert_true(name_of("2001:db8::1") != name_of("2001:db8:0:1::1"));
    assert_true(name_of("::c000:201") != name_of("192.0.2.1"));
    assert_true(client_share_name(&local) != name_of("0.0.0.0"));
}

/* More of them than there is room for: those forgotten are not waiting. */
TEST(any_number_of_clients_may_come_and_go)
{
    draw_seed = 11;
    model_use(256, 2);
    for (uint64_t i = 0; i < 100000; i++) {
        struct sched_item *item = &model.items[i % MODEL_ITEMS];

        sched_drop(&model.sched, item);
        sched_arrive(&model.sched, item, i, 1000 + draw(100000), false);
        sched_put(&model.sched, item, 1000);
        item = sched_take(&model.sched);
        sched_sent(&model.sched, item, 1000);
        assert_in_range(model.sched.clients.count, 1, 2 * MODEL_ITEMS);
    }
    while (sched_take(&model.sched))
        ;
    assert_int_equal(client_share_waiting(&model.sched.clients), 0);
}

TEST(without_memory_there_is_room_for_as_many_as_before)
{
    for (long left = 0; left < 8; left++) {
        struct sched_item *item;

        model_use(0, 2);
        allocations_left = left;
        (void)!sched_reserve(&model.sched, (size_t)MODEL_ITEMS * 8);
        allocations_left = -1;
        for (uint64_t i = 0; i < MODEL_ITEMS; i++) {
            sched_arrive(&model.sched, &model.items[i], i * i, 1000, false);
            sched_put(&model.sched, &model.items[i], 1000);
        }
        for (int i = 0; i < MODEL_ITEMS; i++) {
            assert_non_null(item = sched_take(&model.sched));
            sched_sent(&model.sched, item, 1000);
        }
        assert_null(sched_take(&model.sched));
    }
}

static int tear_down(void **state)
{
    allocations_left = -1;
    return model_tear_down(state);
}

SUITE(.each_begin = model_set_up, .each_end = tear_down);
