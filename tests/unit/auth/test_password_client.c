/* link: -Wl,--wrap=htpasswd_check,--wrap=calloc,--wrap=pthread_create */
#include "auth/password_cache.h"
#include "unit/auth/password_fixture.h"

/* --- Answers -------------------------------------------------------------- */

TEST(the_answer_comes_by_the_loop)
{
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(ask(1, "a", "wrong"), PASSWORD_LATER);
    assert_int_equal(askings[0].told, 0);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    assert_int_equal(wait_for(1), PASSWORD_WRONG);
    assert_int_equal(count_begun(), 2);
}

TEST(what_was_right_is_answered_at_once_for_a_minute)
{
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    now_ms += PASSWORD_CACHE_LIFE_MS - 1;
    assert_int_equal(ask(1, "a", "right"), PASSWORD_RIGHT);
    assert_int_equal(ask_from(0, 1, "a", "right", 77), PASSWORD_RIGHT);
    assert_int_equal(count_begun(), 1);
    now_ms++;
    assert_int_equal(ask(1, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(1), PASSWORD_RIGHT);
    assert_int_equal(count_begun(), 2);
}

TEST(what_was_wrong_is_asked_each_time)
{
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ask(i, "a", "wrong"), PASSWORD_LATER);
        assert_int_equal(wait_for(i), PASSWORD_WRONG);
        assert_int_equal(count_begun(), i + 1);
    }
}

TEST(user_and_password_do_not_run_into_each_other)
{
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
    assert_int_equal(ask(1, "ar", "ight"), PASSWORD_LATER);
    assert_int_equal(wait_for(1), PASSWORD_WRONG);
    assert_int_equal(ask(2, "", "aright"), PASSWORD_LATER);
    assert_int_equal(wait_for(2), PASSWORD_WRONG);
}

TEST(overlong_ones_are_wrong_without_a_check)
{
    char text[300];

    memset(text, 'x', 256);
    text[256] = '\0';
    assert_int_equal(ask(0, text, "right"), PASSWORD_WRONG);
    assert_int_equal(ask(0, "a", text), PASSWORD_WRONG);
    assert_int_equal(count_begun(), 0);
    text[255] = '\0';
    assert_int_equal(ask(0, text, text), PASSWORD_LATER);
    assert_int_equal(wait_for(0), PASSWORD_WRONG);
}

/* --- The same question ---------------------------------------------------- */

TEST(the_same_question_is_checked_once)
{
    set_gate(false);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(ask(i, "a", "right"), PASSWORD_LATER);
    wait_until_begun(1);
    set_gate(true);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(wait_for(i), PASSWORD_RIGHT);
    assert_int_equal(count_begun(), 1);
}

TEST(the_same_question_of_two_workers_is_checked_once)
{
    set_gate(false);
    assert_int_equal(ask_from(0, 0, "a", "right", 1), PASSWORD_LATER);
    wait_until_begun(1);
    assert_int_equal(ask_from(1, 1, "a", "right", 2), PASSWORD_LATER);
    /* Another passes it by. */
    assert_int_equal(ask_from(1, 2, "b", "right", 2), PASSWORD_LATER);
    wait_until_begun(2);
    assert_string_equal(last_user, "b");
    set_gate(true);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(wait_for(i), PASSWORD_RIGHT);
    assert_int_equal(count_begun(), 2);
    assert_int_equal(ask_from(1, 3, "a", "right", 3), PASSWORD_RIGHT);
}

/* --- Giving up ------------------------------------------------------------ */

TEST(who_gives_up_is_not_told)
{
    set_gate(false);
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    assert_int_equal(ask(1, "a", "right"), PASSWORD_LATER);
    assert_int_equal(ask(2, "b", "right"), PASSWORD_LATER);
    wait_until_begun(2);
    password_client_cancel(clients[0], &askings[0].wait);
    password_client_cancel(clients[0], &askings[0].wait);
    password_client_cancel(clients[0], &askings[2].wait);
    set_gate(true);
    assert_int_equal(wait_for(1), PASSWORD_RIGHT);
    /* What has been found out is known all the same. */
    while (ask(3, "b", "right") == PASSWORD_LATER) {
        wait_for(3);
        askings[3] = (struct asking){0};
    }
    assert_int_equal(askings[0].told, 0);
    assert_int_equal(askings[2].told, 0);
    assert_int_equal(count_begun(), 2);
}

TEST(what_nobody_waits_for_is_not_checked)
{
    unsigned round;

    set_gate(false);
    assert_int_equal(ask_from(0, 0, "a", "wrong", 1), PASSWORD_LATER);
    assert_int_equal(ask_from(0, 1, "b", "wrong", 1), PASSWORD_LATER);
    wait_until_begun(THREADS);
    for (round = 0; round < 100; round++) {
        assert_int_equal(ask_from(0, 2, "c", "wrong", 2), PASSWORD_LATER);
        password_client_cancel(clients[0], &askings[2].wait);
    }
    set_gate(true);
    assert_int_equal(wait_for(0), PASSWORD_WRONG);
    assert_int_equal(wait_for(1), PASSWORD_WRONG);
    assert_int_equal(count_begun(), THREADS);
}

static void ask_again(struct asking *asking)
{
    asking->then = NULL;
    asking->told = 0;
    assert_int_equal(ask(0, "a", "wrong"), PASSWORD_LATER);
}

TEST(who_is_told_may_ask_again)
{
    askings[0].then = ask_again;
    assert_int_equal(ask(0, "a", "wrong"), PASSWORD_LATER);
    while (count_begun() < 2 || askings[0].told == 0)
        ev_run(loop, EVRUN_ONCE);
    assert_int_equal(askings[0].verdict, PASSWORD_WRONG);
}

static void cancel_the_next(struct asking *asking)
{
    password_client_cancel(clients[0], &asking[1].wait);
}

TEST(who_is_told_may_make_others_give_up)
{
    set_gate(false);
    askings[0].then = cancel_the_next;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ask(i, "a", "wrong"), PASSWORD_LATER);
    set_gate(true);
    assert_int_equal(wait_for(2), PASSWORD_WRONG);
    assert_int_equal(askings[0].told, 1);
    assert_int_equal(askings[1].told, 0);
}

/* --- Coming and going ----------------------------------------------------- */

TEST(after_the_stop_nothing_is_taken)
{
    set_gate(false);
    assert_int_equal(ask(0, "a", "right"), PASSWORD_LATER);
    wait_until_begun(1);
    set_gate(true);
    password_check_stop(check);
    password_check_stop(check);
    assert_int_equal(ask(1, "b", "right"), PASSWORD_BUSY);
    /* The one under way had its end. */
    assert_int_equal(wait_for(0), PASSWORD_RIGHT);
}

TEST(without_memory_or_threads_there_are_no_checks)
{
    struct password_check *other = NULL;
    struct password_client *client = NULL;

    allocations_left = 0;
    assert_int_equal(password_check_create(&other, 1), -ENOMEM);
    assert_int_equal(password_client_create(&client, check, mailboxes[0]),
                     -ENOMEM);
    allocations_left = -1;
    for (threads_left = 0; threads_left < 2; threads_left++) {
        int left = threads_left;

        assert_int_equal(password_check_create(&other, 2), -EAGAIN);
        threads_left = left;
    }
    threads_left = -1;
    assert_null(other);
    password_check_destroy(NULL);
    password_client_destroy(NULL);
}

/* --- Many questions ------------------------------------------------------- */

TEST(many_questions_all_get_their_own_answer)
{
    uint64_t random = 88172645463325252u;
    bool expects_right[WAITS] = {false};
    bool is_waiting[WAITS] = {false};

    for (int i = 0; i < 20000; i++) {
        size_t number;
        char user[16];

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        number = (size_t)(random >> 8) % 16;
        snprintf(user, sizeof(user), "u%u", (unsigned)(random >> 20) % 50);
        if (is_waiting[number] && random % 4 == 0) {
            password_client_cancel(clients[number % CLIENTS],
                                   &askings[number].wait);
            is_waiting[number] = false;
        } else if (is_waiting[number] && askings[number].told > 0) {
            assert_int_equal(askings[number].told, 1);
            /* Where the threads get no CPU, looks at the file pile up. */
            if (askings[number].verdict != PASSWORD_BUSY)
                assert_int_equal(askings[number].verdict == PASSWORD_RIGHT,
                                 expects_right[number]);
            is_waiting[number] = false;
        } else if (!is_waiting[number]) {
            bool is_right = random >> 40 & 1;

            askings[number] = (struct asking){0};
            expects_right[number] = is_right;
            is_waiting[number] = ask_from(number % CLIENTS, number, user,
                                          is_right ? "right" : "wrong",
                                          (uint8_t)number) == PASSWORD_LATER;
        }
        now_ms += random % 64;
        ev_run(loop, EVRUN_NOWAIT);
    }
    for (size_t number = 0; number < 16; number++)
        if (is_waiting[number])
            password_client_cancel(clients[number % CLIENTS],
                                   &askings[number].wait);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
