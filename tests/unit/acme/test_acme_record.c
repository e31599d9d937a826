#include "acme/acme_record.h"

#include "suite.h"

enum { HOUR_S = 3600, DAY_S = 24 * HOUR_S, NOW_S = 1800000000 };

TEST(what_is_written_reads_the_same)
{
    struct acme_record record = {.directory = "https://a.example/dir",
                                 .order = "https://a.example/order/1",
                                 .names = "0123",
                                 .attempts = {NOW_S, 0, NOW_S - 5},
                                 .failures = 3,
                                 .next_s = NOW_S + 60,
                                 .window_from_s = 1,
                                 .window_until_s = 2,
                                 .look_s = 3,
                                 .error = "dns: no such name"};
    struct acme_record again;
    struct buf text;

    buf_init(&text, NULL, 0, 1 << 20);
    acme_record_put(&record, &text);
    acme_record_read(&again, buf_bytes(&text));
    assert_string_equal(again.order, record.order);
    assert_string_equal(again.error, record.error);
    assert_int_equal(again.failures, 3);
    assert_int_equal(again.next_s, record.next_s);
    assert_int_equal(again.attempts[0], NOW_S);
    assert_int_equal(again.attempts[1], NOW_S - 5);
    assert_int_equal(again.window_until_s, 2);
    buf_fini(&text);
}

TEST(what_is_damaged_is_nothing_known)
{
    static const char *const bad[] = {
        "", "\n\n", "order", "order ", "x y\n", "attempt 1", "\377\376 \1"};
    char *longer = malloc(5000);

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct acme_record record;

        acme_record_read(&record, bytes_of(bad[i]));
        assert_string_equal(record.order, "");
        assert_int_equal(record.failures, 0);
    }
    memset(longer, 'o', 5000);
    memcpy(longer, "order ", 6);
    for (size_t len = 0; len < 5000; len += 499) {
        struct acme_record record;

        acme_record_read(&record, (struct bytes){longer, len});
        assert_true(strlen(record.order) <= ACME_URL_MAX);
    }
    free(longer);
}

/* Root's terminal is shown whose order it is. */
TEST(what_a_terminal_would_obey_is_no_address)
{
    struct acme_record record;

    acme_record_read(&record,
                     BYTES("directory https://a\x1b]0;mine\a\n"
                           "order https://a\x9b\nnames 01\x7f\nfailures 2\n"
                           "error no\xc3\xa9\n"));
    assert_string_equal(record.directory, "");
    assert_string_equal(record.order, "");
    assert_string_equal(record.names, "");
    assert_int_equal(record.failures, 2);
    assert_string_equal(record.error, "no\xc3\xa9");
}

TEST(renewal_is_due_at_two_thirds_or_half_of_a_life)
{
    struct acme_record record = {.failures = 0};
    int64_t due_s = acme_record_due(&record, 0, 90 * DAY_S, 0);

    assert_int_equal(due_s, 60 * DAY_S);
    assert_int_equal(acme_record_due(&record, 0, 6 * DAY_S, 0), 3 * DAY_S);
    /* Chance brings it forward, by a fiftieth at most. */
    due_s = acme_record_due(&record, 0, 90 * DAY_S, UINT32_MAX);
    assert_true(due_s < 60 * DAY_S && due_s >= 58 * DAY_S);
    record.window_from_s = 1000;
    record.window_until_s = 2000;
    assert_int_equal(acme_record_due(&record, 0, 90 * DAY_S, 0), 1000);
    assert_int_equal(acme_record_due(&record, 0, 90 * DAY_S, UINT32_MAX), 2000);
}

/* As an authority has it that counts in days, of a certificate for an hour. */
TEST(a_window_beyond_the_life_is_cut_to_it)
{
    struct acme_record record = {.window_from_s = NOW_S - DAY_S,
                                 .window_until_s = NOW_S + DAY_S};
    int64_t ends_at = NOW_S + 3600;

    assert_int_equal(acme_record_due(&record, NOW_S, ends_at, 0), NOW_S);
    assert_int_equal(acme_record_due(&record, NOW_S, ends_at, UINT32_MAX),
                     ends_at - 360);
    /* All of it lies in the last tenth: that is what is wanted. */
    record.window_from_s = ends_at - 100;
    assert_int_equal(acme_record_due(&record, NOW_S, ends_at, UINT32_MAX),
                     ends_at - 100);
    /* It is over: the certificate is called back. */
    record.window_from_s = NOW_S - 20;
    record.window_until_s = NOW_S - 10;
    assert_in_range(acme_record_due(&record, NOW_S, ends_at, UINT32_MAX),
                    NOW_S - 20, NOW_S - 10);
}

TEST(pauses_double_up_to_a_day)
{
    struct acme_record record = {.failures = 0};
    int64_t last_s = 0;

    for (int i = 0; i < 40; i++) {
        int64_t pause_s;

        acme_record_fail(&record, "no\nroute", NOW_S, 60000, -1, 0);
        pause_s = record.next_s - NOW_S;
        assert_true(pause_s >= last_s);
        assert_int_equal(pause_s, i < 11 ? 60ll << i : DAY_S);
        last_s = pause_s;
    }
    assert_string_equal(record.error, "no route");
    record = (struct acme_record){.failures = 0};
    acme_record_fail(&record, "later", NOW_S, 60000, 7200, 0);
    assert_int_equal(record.next_s, NOW_S + 7200);
}

TEST(five_failures_an_hour_are_the_most)
{
    struct acme_record record = {.failures = 0};
    int64_t when_s = 0;

    for (int i = 0; i < ACME_FAILURES_MAX; i++)
        assert_true(acme_record_begin(&record, NOW_S + i, &when_s));
    assert_false(acme_record_begin(&record, NOW_S + 10, &when_s));
    assert_int_equal(when_s, NOW_S + HOUR_S);
    assert_false(acme_record_begin(&record, NOW_S + HOUR_S - 1, &when_s));
    assert_true(acme_record_begin(&record, NOW_S + HOUR_S, &when_s));
    assert_false(acme_record_begin(&record, NOW_S + HOUR_S, &when_s));
    /* One that ended well was no failure; the others stay. */
    acme_record_succeed(&record);
    assert_true(acme_record_begin(&record, NOW_S + HOUR_S, &when_s));
    assert_false(acme_record_begin(&record, NOW_S + HOUR_S, &when_s));
    /* A clock that was wrong does not count for ever. */
    assert_true(acme_record_begin(&record, NOW_S - 10 * DAY_S, &when_s));
}

SUITE(.begin = NULL);
