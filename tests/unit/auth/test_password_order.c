/* link: -Wl,--wrap=htpasswd_check,--wrap=calloc,--wrap=pthread_create */
#include "auth/password_cache.h"
#include "unit/auth/password_fixture.h"

/* --- Floods --------------------------------------------------------------- */

/* Fills all jobs with different questions, from as many addresses as it takes;
 * returns how many there were. */
static size_t flood(size_t first)
{
    size_t count;

    for (count = 0; count < PASSWORD_JOBS; count++) {
        char user[16];

        snprintf(user, sizeof(user), "u%zu", first + count);
        INSIST(ask_from(0, first + count, user, "wrong",
                        (uint8_t)(100 + count / PASSWORD_JOBS_EACH)));
    }
    return count;
}

TEST(an_address_cannot_take_all_jobs)
{
    set_gate(false);
    for (size_t i = 0; i < PASSWORD_JOBS_EACH; i++) {
        char user[16];

        snprintf(user, sizeof(user), "u%zu", i);
        assert_int_equal(ask(i, user, "wrong"), PASSWORD_LATER);
    }
    assert_int_equal(ask(20, "more", "wrong"), PASSWORD_BUSY);
    assert_int_equal(ask_from(1, 21, "more", "wrong", 1), PASSWORD_BUSY);
    assert_int_equal(ask_from(0, 20, "more", "right", 2), PASSWORD_LATER);
    set_gate(true);
    assert_int_equal(wait_for(20), PASSWORD_RIGHT);
    assert_int_equal(wait_for(0), PASSWORD_WRONG);
    assert_int_equal(ask(22, "more", "wrong"), PASSWORD_LATER);
}

TEST(a_flood_does_not_touch_who_was_right_before)
{
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    set_gate(false);
    assert_int_equal(flood(1), PASSWORD_JOBS);
    assert_int_equal(ask_from(0, 0, "new", "right", 100), PASSWORD_BUSY);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(ask(0, "a", "right"), PASSWORD_RIGHT);
    set_gate(true);
    for (size_t i = 1; i <= PASSWORD_JOBS; i++)
        assert_int_equal(wait_for(i), PASSWORD_WRONG);
    askings[0] = (struct asking){0};
    assert_int_equal(ask(0, "new", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
}

/* How many of the first so many have been told that, and no others anything. */
static size_t count_told(size_t count, enum password_verdict verdict)
{
    size_t told = 0;

    ev_run(loop, EVRUN_NOWAIT);
    for (size_t i = 0; i < count; i++) {
        assert_true(askings[i].told == 0 || askings[i].verdict == verdict);
        told += askings[i].told;
    }
    return told;
}

TEST(the_busiest_address_makes_room_for_a_newcomer)
{
    set_gate(false);
    assert_int_equal(flood(0), PASSWORD_JOBS);
    wait_until_begun(THREADS);
    /* Another worker's. */
    assert_int_equal(ask_from(1, 70, "new", "right", 1), PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 1);
    assert_int_equal(askings[PASSWORD_JOBS - 1].told, 1); /* the last */
    set_gate(true);
    assert_int_equal(wait_for(70), PASSWORD_RIGHT);
    for (size_t i = 0; i < PASSWORD_JOBS - 1; i++)
        assert_int_equal(wait_for(i), PASSWORD_WRONG);
    assert_int_equal(count_begun(), PASSWORD_JOBS);
}

TEST(a_network_is_as_busy_as_all_its_addresses)
{
    set_gate(false);
    for (size_t i = 0; i < PASSWORD_JOBS; i++) {
        char user[16];

        snprintf(user, sizeof(user), "u%zu", i);
        INSIST(ask_from_site(i, user, "wrong", i == 9 ? 2 : 1, (uint8_t)i));
    }
    wait_until_begun(THREADS);
    assert_int_equal(ask_from_site(71, "new", "right", 3, 1), PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 1);
    /* One of theirs has no more than any of them, but not less. */
    assert_int_equal(ask_from_site(70, "their", "right", 1, 200),
                     PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 2);
    assert_int_equal(askings[9].told, 0);
    set_gate(true);
    assert_int_equal(wait_for(71), PASSWORD_RIGHT);
    assert_int_equal(wait_for(9), PASSWORD_WRONG);
}

/* One question each from as many addresses as there are jobs. */
static void ask_from_many(const char *password)
{
    for (size_t i = 0; i < PASSWORD_JOBS; i++) {
        char user[16];

        snprintf(user, sizeof(user), "u%zu", i);
        INSIST(ask_from(0, i, user, password, (uint8_t)i));
    }
}

TEST(among_equals_the_lot_decides)
{
    bool was_drawn[PASSWORD_JOBS] = {false};
    size_t drawn = 0;

    for (int round = 0; round < 8; round++) {
        set_gate(false);
        memset(askings, 0, sizeof(askings));
        ask_from_many("right");
        wait_until_begun(begun_before + THREADS);
        assert_int_equal(ask_from(0, 70, "new", "right", 200), PASSWORD_LATER);
        assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 1);
        for (size_t i = 0; i < PASSWORD_JOBS; i++)
            was_drawn[i] |= askings[i].told > 0;
        set_gate(true);
        assert_int_equal(wait_for(70), PASSWORD_RIGHT);
        for (size_t i = 0; i < PASSWORD_JOBS; i++)
            if (askings[i].told == 0)
                wait_for(i);
        begun_before = count_begun();
        now_ms += PASSWORD_CACHE_LIFE_MS;
    }
    for (size_t i = 0; i < PASSWORD_JOBS; i++)
        drawn += was_drawn[i];
    assert_in_range(drawn, 3, 8); /* once in millions of runs not */
}

TEST(among_equals_who_was_wrong_makes_room)
{
    ask_from_many("wrong");
    for (size_t i = 0; i < PASSWORD_JOBS; i++)
        wait_for(i);
    memset(askings, 0, sizeof(askings));
    set_gate(false);
    begun_before = count_begun();
    for (size_t i = 0; i < PASSWORD_JOBS; i++) {
        char user[16];

        /* From 128 on they are new, and have not been wrong. */
        snprintf(user, sizeof(user), "v%zu", i);
        INSIST(ask_from(0, i, user, "right",
                        (uint8_t)(i < THREADS + 1 ? i : 128 + i)));
    }
    wait_until_begun(begun_before + THREADS);
    assert_int_equal(ask_from(0, 70, "n0", "right", 100), PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), 1);
    assert_int_equal(askings[THREADS].told, 1); /* the one that waited */
    /* None of those is left, and one who was wrong moves nobody else. */
    assert_int_equal(ask_from(0, 71, "n1", "right", 50), PASSWORD_BUSY);
    assert_int_equal(ask_from(0, 71, "n1", "right", 101), PASSWORD_LATER);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY) +
                         askings[70].told,
                     2);
}

/* Whoever was right is not one of those who were wrong any more. */
TEST(to_be_right_makes_good)
{
    assert_int_equal(ask_from(0, 0, "a", "wrong", 200), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_WRONG);
    memset(askings, 0, sizeof(askings));
    assert_int_equal(ask_from(0, 0, "a", "right", 200), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    memset(askings, 0, sizeof(askings));
    set_gate(false);
    begun_before = count_begun();
    ask_from_many("right");
    wait_until_begun(begun_before + THREADS);
    assert_int_equal(ask_from(0, 70, "new", "right", 200), PASSWORD_LATER);
}

/* --- Turns ---------------------------------------------------------------- */

/* Asks so many questions, of users whose names begin with that. */
static void ask_many(size_t first, size_t count, char name, uint8_t site,
                     uint8_t subnet)
{
    for (size_t i = 0; i < count; i++) {
        char user[24];

        snprintf(user, sizeof(user), "%c%zu", name, i);
        INSIST(ask_from_site(first + i, user, "wrong", site, subnet));
    }
}

/* Lets all be answered, so many of which have begun; the order by the names'
 * first letters. */
static const char *let_answer(size_t count)
{
    set_gate(true);
    for (size_t i = 0; i < count; i++)
        wait_for(i);
    return begun_users + THREADS; /* these began before the others came */
}

/* Two threads begin two at a time, and either is the faster. */
static void assert_orders(const char *expected, const char *found)
{
    assert_int_equal(strlen(found), strlen(expected));
    for (size_t i = 0; expected[i]; i++) {
        bool is_near = expected[i] == found[i] ||
                       (i > 0 && expected[i - 1] == found[i]) ||
                       (expected[i + 1] && expected[i + 1] == found[i]);

        if (!is_near)
            fail_msg("'%s' is not '%s'", found, expected);
    }
}

static void begin_with_others(void)
{
    set_gate(false);
    ask_many(0, THREADS, '.', 99, 1);
    wait_until_begun(THREADS);
}

TEST(addresses_are_answered_in_turns)
{
    begin_with_others();
    ask_many(THREADS, 4, 'a', 1, 1);
    ask_many(THREADS + 4, 2, 'b', 2, 1);
    ask_many(THREADS + 6, 1, 'c', 3, 1);
    assert_orders("abcabaa", let_answer(THREADS + 7));
}

TEST(networks_are_answered_in_turns_and_their_addresses)
{
    begin_with_others();
    ask_many(THREADS, 3, 'a', 1, 1);     /* of one network, */
    ask_many(THREADS + 3, 2, 'b', 1, 2); /* which this is in, too */
    ask_many(THREADS + 5, 3, 'c', 2, 1);
    assert_orders("acbcacba", let_answer(THREADS + 8));
}

/* --- Room as it is needed ------------------------------------------------ */

/* Whoever is given up has no load any more, and so is not given up twice; and
 * jobs come to an end when nobody hears of it. */
TEST(room_is_made_as_long_as_it_is_fair)
{
    size_t newcomers = 0;

    set_gate(false);
    assert_int_equal(flood(0), PASSWORD_JOBS);
    wait_until_begun(THREADS);
    while (newcomers < 40) {
        char user[16];

        snprintf(user, sizeof(user), "n%zu", newcomers);
        if (ask_from(0, PASSWORD_JOBS + newcomers, user, "right",
                     (uint8_t)(1 + newcomers)) == PASSWORD_BUSY)
            break;
        newcomers++;
    }
    assert_in_range(newcomers, 8, 39);
    assert_int_equal(count_told(PASSWORD_JOBS, PASSWORD_BUSY), newcomers);
    set_gate(true);
    for (size_t i = 0; i < newcomers; i++)
        assert_int_equal(wait_for(PASSWORD_JOBS + i), PASSWORD_RIGHT);
}

TEST(a_flood_does_not_keep_a_changed_file_away)
{
    uint64_t generation = htpasswd_generation(htpasswd);
    size_t count;

    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    set_gate(false);
    count = flood(1);
    write_file("# changed\n");
    now_ms += HTPASSWD_LOOK_MS;
    assert_int_equal(ask(0, "a", "right"), PASSWORD_RIGHT); /* the last time */
    set_gate(true);
    while (htpasswd_generation(htpasswd) == generation)
        usleep(1000);
    for (size_t i = 1; i <= count; i++)
        wait_for(i);
    askings[0] = (struct asking){0};
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
