#include "unit/handler/kv/kv_fixture.h"

static struct stats_store counts;

static int set_up(void **state)
{
    int status = kv_set_up(state);

    counts = (struct stats_store){0};
    kv_options.stats = &counts;
    kv_renew();
    return status;
}

static uint64_t take(enum stats_store_number number)
{
    uint64_t value = counter_read(&counts.numbers[number]);

    counter_set(&counts.numbers[number], 0);
    return value;
}

static void expect_none(void)
{
    for (unsigned i = 0; i < STATS_STORE_NUMBERS; i++)
        if (counter_read(&counts.numbers[i]) != 0)
            fail_msg("number %u was counted", i);
}

#define BATCH "Content-Type: application/x-ndjson\r\n"

TEST(each_question_is_counted_once_by_what_came_of_it)
{
    static const struct {
        const char *line;
        const char *fields;
        const char *body;
        enum stats_store_number number;
        uint64_t bytes_in;
        uint64_t bytes_out;
    } cases[] = {
        {"PUT /kv/a", "", "12345", STATS_STORE_CREATED, 5, 0},
        {"POST /kv/", "", "12", STATS_STORE_CREATED, 2, 0},
        {"PUT /kv/a", "", "1234", STATS_STORE_REPLACED, 4, 0},
        {"PUT /kv/a", "If-None-Match: *\r\n", "1", STATS_STORE_PRECONDITIONS, 0,
         0},
        {"DELETE /kv/a", "If-Match: \"99\"\r\n", NULL,
         STATS_STORE_PRECONDITIONS, 0, 0},
        {"GET /kv/a", "", NULL, STATS_STORE_FOUND, 0, 4},
        {"HEAD /kv/a", "", NULL, STATS_STORE_FOUND, 0, 0},
        {"GET /kv/a", "Range: bytes=1-2\r\n", NULL, STATS_STORE_FOUND, 0, 2},
        {"GET /kv/a", "Range: bytes=9-\r\n", NULL, STATS_STORE_FOUND, 0, 0},
        {"GET /kv/a", "If-None-Match: *\r\n", NULL, STATS_STORE_FOUND, 0, 0},
        {"GET /kv/b", "", NULL, STATS_STORE_MISSING, 0, 0},
        {"GET /kv/", "", NULL, STATS_STORE_LISTS, 0, 0},
        {"DELETE /kv/b", "", NULL, STATS_STORE_NOT_DELETED, 0, 0},
        {"DELETE /kv/a", "", NULL, STATS_STORE_DELETED, 0, 0},
        {"POST /kv/-/batch", BATCH,
         "{\"op\":\"check\",\"key\":\"x\",\"if\":\"99\"}\n"
         "{\"op\":\"put\",\"key\":\"x\",\"value\":\"1\"}\n",
         STATS_STORE_PRECONDITIONS, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        kv_ask(cases[i].line, cases[i].fields, cases[i].body);
        if (take(cases[i].number) != 1 ||
            take(STATS_STORE_BYTES_IN) != cases[i].bytes_in ||
            take(STATS_STORE_BYTES_OUT) != cases[i].bytes_out)
            fail_msg("%s %s", cases[i].line, cases[i].fields);
        expect_none();
    }
}

TEST(a_batch_counts_with_each_of_its_operations)
{
    kv_ask("PUT /kv/a", "", "1");
    kv_ask("PUT /kv/b", "", "1");
    counts = (struct stats_store){0};
    kv_ask("POST /kv/-/batch", BATCH,
           "{\"op\":\"put\",\"key\":\"a\",\"value\":\"123\"}\n"
           "{\"op\":\"put\",\"key\":\"c\",\"value\":\"1234\"}\n"
           "{\"op\":\"delete\",\"key\":\"b\"}\n"
           "{\"op\":\"delete\",\"key\":\"d\"}\n");
    assert_int_equal(take(STATS_STORE_BATCHES), 1);
    assert_int_equal(take(STATS_STORE_REPLACED), 1);
    assert_int_equal(take(STATS_STORE_CREATED), 1);
    assert_int_equal(take(STATS_STORE_DELETED), 1);
    assert_int_equal(take(STATS_STORE_NOT_DELETED), 1);
    assert_int_equal(take(STATS_STORE_BYTES_IN), 7);
    expect_none();
}

TEST(what_the_store_cannot_do_is_counted_by_its_reason)
{
    static const struct {
        enum kv_outcome outcome;
        enum stats_store_number number;
    } cases[] = {{KV_BUSY, STATS_STORE_BUSY},
                 {KV_FULL, STATS_STORE_FULL},
                 {KV_ERROR, STATS_STORE_FAILED}};

    fake.is_failing = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fake.outcome = cases[i].outcome;
        kv_ask("PUT /kv/a", "", "x");
        kv_ask("GET /kv/a", "", NULL);
        kv_ask("GET /kv/", "", NULL);
        assert_int_equal(take(cases[i].number), 3);
        expect_none();
    }
}

TEST(a_write_whose_client_has_gone_is_counted)
{
    kv_begin("PUT /kv/a", "", BYTES("x"), 1);
    leave();
    expect_none();
    kv_answer();
    assert_int_equal(take(STATS_STORE_CREATED), 1);
}

TEST(what_never_reached_the_store_is_not_counted)
{
    kv_ask("PUT /kv/a", "Content-Encoding: gzip\r\n", "x");
    kv_ask("GET /kv/a?x=y", "", NULL);
    kv_ask("PATCH /kv/a", "", NULL);
    kv_peer.octets[0] = 10;
    kv_ask("PUT /kv/a", "", "x");
    expect_none();
}

SUITE(.each_begin = set_up, .each_end = kv_tear_down);
