#include "engine/client_level.h"

#include "suite.h"
#include "unit/engine/client_model.h"

/* --- Steps ---------------------------------------------------------------- */

static uint64_t next_of(uint64_t before, uint64_t asked, uint32_t small)
{
    const struct client_level level = {
        .asked = asked, .bytes = before, .small = small};

    return client_level_next(&level, small, true);
}

TEST(a_level_is_what_is_asked_for_but_for_an_eighth_or_a_quarter)
{
    draw_seed = 3;
    for (int i = 0; i < 100000; i++) {
        uint64_t asked = 1 + draw(CLIENT_LEVEL_MAX - 1);
        uint64_t before = draw(2) ? draw(CLIENT_LEVEL_MAX) : asked + draw(9);
        uint64_t level = next_of(before, asked, 2);

        assert_true(level - level / 8 <= asked);
        assert_true(asked <= level + level / 4);
        assert_true(next_of(level, asked, 2) == level);
    }
    assert_int_equal(next_of(0, CLIENT_LEVEL_MAX, 2), CLIENT_LEVEL_MAX);
    assert_int_equal(next_of(0, UINT64_MAX, 2), CLIENT_LEVEL_MAX);
}

TEST(one_thing_and_large_ones_have_no_level)
{
    assert_int_equal(next_of(0, 50000, 1), 0);
    assert_int_equal(next_of(0, 0, 0), 0);
    assert_int_equal(client_level_counted(CLIENT_LEVEL_SMALL),
                     CLIENT_LEVEL_SMALL);
    assert_int_equal(client_level_counted(CLIENT_LEVEL_SMALL + 1), 0);
    assert_int_equal(client_level_counted(UINT64_MAX), 0);
}

/* --- Pages --------------------------------------------------------------- */

/* The client of the next that is sent to, whole. */
static int take_client(void)
{
    int at = model_serve(UINT64_MAX, 0);

    assert_true(at >= 0);
    return model.jobs[at].client;
}

TEST(who_waits_for_less_in_all_goes_first)
{
    model_use(0, 1024); /* nobody is due so soon */
    for (int i = 0; i < 6; i++)
        model_arrive(i, 0, 20000, false);
    model_arrive(6, 1, 25000, false); /* each is longer, both are less */
    model_arrive(7, 1, 25000, false);
    model_arrive(8, 2, 60000, false); /* nothing else */
    assert_int_equal(take_client(), 2);
    assert_int_equal(take_client(), 1);
}

TEST(what_is_small_does_not_wait_for_a_large_one_of_its_client)
{
    model_use(0, 1024);
    model_arrive(0, 0, 10000000, false);
    model_arrive(1, 1, 5000, false);
    model_arrive(2, 0, 4000, false);
    assert_int_equal(take_client(), 0);
    assert_int_equal(model.jobs[2].left, 0);
}

/* As what is left of a client's is less and less. In turns the last but one
 * would be the last of the other. */
TEST(of_two_alike_one_is_finished_before_the_other)
{
    int left[2] = {6, 6};
    int taken_in_all = 0;

    model_use(0, 1024);
    for (int i = 0; i < 12; i++)
        model_arrive(i, i % 2, 50000, false);
    for (; left[0] > 0 && left[1] > 0; taken_in_all++)
        left[take_client()]--;
    assert_in_range(taken_in_all, 6, 8);
}

static uint64_t moved;
static void (*move)(struct client_share *share, struct client_place *place,
                    uint64_t before, uint64_t after);

static void count_moved(struct client_share *share, struct client_place *place,
                        uint64_t before, uint64_t after)
{
    moved++;
    move(share, place, before, after);
}

/* A client that lets much wait asks for something and gives up, again and
 * again, and its level would be another each time. */
static uint64_t count_moved_by(int waiting, int requests)
{
    model_use(0, 1024);
    move = model.sched.clients.on_level;
    model.sched.clients.on_level = count_moved;
    moved = 0;
    model_arrive(MODEL_ITEMS - 1, 1, 100000, false); /* somebody else */
    for (int i = 0; i < waiting; i++)
        model_arrive(i, 0, 10, false);
    for (int i = 0; i < requests; i++) {
        model_arrive(MODEL_ITEMS - 2, 0, CLIENT_LEVEL_SMALL, false);
        model_check_level(0);
        sched_drop(&model.sched, &model.items[MODEL_ITEMS - 2]);
        model_check_level(0);
    }
    return moved;
}

TEST(a_request_does_not_move_all_that_its_client_waits_for)
{
    enum { REQUESTS = 10000 };
    const uint64_t steps = (MODEL_ITEMS - 2) *
                           80; /* of a quarter, up to 1 MiB */

    assert_in_range(count_moved_by(6, REQUESTS), REQUESTS * (6 + 7),
                    REQUESTS * (6 + 7) + steps); /* a page's are */
    assert_in_range(count_moved_by(MODEL_ITEMS - 2, REQUESTS), 1, steps);
    assert_true(client_share_level(&model.sched.clients,
                                   &model.items[0].place) > 0);
    while (model.sched.heap.count >
           6 + 1) /* and it is known again in the end */
        (void)model_serve(UINT64_MAX, 0);
    (void)client_share_first_due(&model.sched.clients); /* settles */
    assert_in_range(client_share_level(&model.sched.clients,
                                       &model.items[MODEL_ITEMS - 3].place),
                    50, 80);
}

/* One who waits for a dozen, in all for 18,600 bytes. */
static void let_one_wait(void)
{
    model_use(0, 1024);
    move = model.sched.clients.on_level;
    model.sched.clients.on_level = count_moved;
    moved = 0;
    for (int i = 0; i < 12; i++)
        model_arrive(i, 0, 1000 + 100 * (uint64_t)i, false);
    assert_int_equal(model_serve(UINT64_MAX, 0), 0);
    model_check_level(0);
    assert_int_equal(client_share_level(&model.sched.clients,
                                        &model.items[1].place),
                     0);
    assert_int_equal(moved, 0);
}

/* Within a client a level changes nothing. */
TEST(who_waits_alone_has_no_level_until_somebody_comes)
{
    let_one_wait();
    model_arrive(MODEL_ITEMS - 1, 1, 5000, false);
    assert_int_equal(moved, 11);
    model_check_level(0);
    assert_in_range(client_share_level(&model.sched.clients,
                                       &model.items[1].place),
                    15000, 18000);
    assert_int_equal(model_serve(UINT64_MAX, 0), MODEL_ITEMS - 1);
    for (int i = 1; i < 12; i++)
        assert_int_equal(model_serve(UINT64_MAX, 0), i);
}

TEST(who_waits_alone_has_no_level_until_somebody_waits_elsewhere)
{
    const struct client_others others = {.count = 1,
                                         .parts = CLIENT_SHARE_WHOLE};

    let_one_wait();
    client_share_hear(&model.sched.clients, &others);
    assert_int_equal(moved, 11);
    model_check_level(0);
    assert_in_range(client_share_level(&model.sched.clients,
                                       &model.items[1].place),
                    15000, 18000);
    model_arrive(12, 0, 1500, false); /* it goes on from there */
    assert_in_range(client_share_level(&model.sched.clients,
                                       &model.items[12].place),
                    15000, 20000);
}

/* The next of a connection's many responses says little of what its client
 * waits for. */
TEST(what_is_one_of_many_has_no_part_in_levels)
{
    struct sched_item *items = model.items;
    struct heap *heap = &model.sched.heap;
    uint64_t level;

    model_use(0, 2);
    items[0].is_of_many = items[1].is_of_many = true;
    model_arrive(0, 0, 1000, false);
    model_arrive(1, 0, 2000, false);
    model_arrive(2, 0, 3000, false);
    model_arrive(MODEL_ITEMS - 1, 1, 5000, false);
    assert_int_equal(client_share_level(&model.sched.clients, &items[0].place),
                     0);
    model_arrive(3, 0, 4000, false);
    level = client_share_level(&model.sched.clients, &items[0].place);
    assert_in_range(level, 6000, 8000);
    assert_int_equal(heap_key(heap, &items[0].node), 1000);
    assert_int_equal(heap_key(heap, &items[1].node), 2000);
    assert_int_equal(heap_key(heap, &items[2].node), 3000 + level);
    sched_drop(&model.sched, &items[0]);
    sched_drop(&model.sched, &items[2]);
    assert_int_equal(client_share_level(&model.sched.clients, &items[1].place),
                     0);
    assert_int_equal(heap_key(heap, &items[1].node), 2000);
    assert_int_equal(heap_key(heap, &items[3].node), 4000);
}

SUITE(.each_begin = model_set_up, .each_end = model_tear_down);
