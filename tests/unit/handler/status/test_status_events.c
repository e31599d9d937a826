/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "handler/status/status.h"

#include "unit/handler/status/status_fixture.h"

/* Appends the next piece to what was taken, if there is one now. */
static enum sent_step take_piece(struct exchange *exchange)
{
    static char chunk[ANSWER_MAX];
    enum sent_step step = sent_step(exchange, &now);

    assert_int_not_equal(step, SENT_FAILED);
    assert_true(sent_is_memory(&exchange->response));
    assert_in_range(sent_take(&exchange->response, chunk, ANSWER_MAX), 0,
                    (size_t)(answer.text + ANSWER_MAX - answer.body) -
                        answer.len);
    answer.len += sent_unchunk(chunk, answer.body + answer.len);
    return step;
}

/* Takes pieces until there are no more for now, or the stream ends. */
static void take(struct exchange *exchange)
{
    enum sent_step step;

    answer.body = answer.text + exchange->response.head_bytes;
    answer.len = 0;
    do
        step = take_piece(exchange);
    while (step == SENT_ON && !exchange_is_done(exchange));
}

static void begin_events(struct exchange *exchange)
{
    ask(exchange, "GET", "/events", "");
    assert_int_equal(answer.status, 200);
    assert_true(response_has_more(&exchange->response));
    assert_field("\r\nContent-Type: text/event-stream\r\n");
    assert_field("\r\nCache-Control: no-store\r\n");
    assert_field("\r\nTransfer-Encoding: chunked\r\n");
    take(exchange);
    assert_string_equal(answer.body, "retry: 1000\n\n");
}

/* One tick, whole, is what was taken. */
static void assert_tick(void)
{
    static const char before[] = "event: tick\ndata: ";
    size_t begin = sizeof(before) - 1;

    assert_in_range(answer.len, begin + 3, ANSWER_MAX);
    assert_memory_equal(answer.body, before, begin);
    assert_string_equal(answer.body + answer.len - 2, "\n\n");
    assert_json(answer.body + begin, answer.len - begin - 2);
    assert_null(memchr(answer.body + begin, '\n', answer.len - begin - 2));
    assert_non_null(strstr(answer.body, "\"point\":"));
}

TEST(each_second_has_a_tick_for_each_stream)
{
    static struct exchange first, second;

    begin_events(&first);
    begin_events(&second);
    for (int i = 0; i < 3; i++) {
        assert_true(status_tick(status));
        take(&first);
        assert_tick();
        take(&second);
        assert_tick();
        take(&second);
        assert_int_equal(answer.len, 0); /* not twice */
    }
    response_fini(&first.response);
    response_fini(&second.response);
    assert_false(status_tick(status));
}

TEST(who_comes_later_begins_with_the_next_tick)
{
    static struct exchange first, second;

    begin_events(&first);
    assert_true(status_tick(status));
    begin_events(&second);
    take(&second);
    assert_int_equal(answer.len, 0);
    assert_true(status_tick(status));
    take(&second);
    assert_tick();
    response_fini(&second.response);
    response_fini(&first.response);
}

TEST(who_is_too_slow_misses_a_tick_and_never_half_of_one)
{
    static struct exchange slow;
    const char *newer;

    begin_events(&slow);
    assert_true(status_tick(status));
    sample_note(&stats->workers[0], SAMPLE_MS);
    assert_true(status_tick(status));
    take(&slow);
    assert_tick();
    newer = strstr(answer.body, "\"requests\":{\"total\":1,");
    assert_non_null(newer);
    response_fini(&slow.response);
}

/* As a worker of a machine with hundreds of cores would have it. */
TEST(a_tick_may_be_longer_than_a_piece)
{
    static struct exchange exchange;
    struct stats_options many = sample_options(400);
    struct stats_shared *others = stats_shared_create(&many, &sample_began);
    struct status_options options = {.audience = {&allowed_list, &known},
                                     .stats = others,
                                     .history = history,
                                     .defaults = {.now = &now}};

    assert_non_null(others);
    status_destroy(status);
    status = status_create(&options);
    assert_non_null(status);
    begin_events(&exchange);
    assert_true(status_tick(status));
    answer.len = 0;
    take_piece(&exchange);
    assert_int_equal(answer.len, BODY_PIECE_BYTES);
    /* What it is in the middle of stays as it is when the next one comes. */
    sample_note(&others->workers[0], SAMPLE_MS);
    assert_true(status_tick(status));
    do
        take_piece(&exchange);
    while (answer.body[answer.len - 1] != '\n');
    assert_tick();
    assert_null(strstr(answer.body, "\"requests\":{\"total\":1,"));
    take(&exchange);
    assert_tick();
    assert_non_null(strstr(answer.body, "\"requests\":{\"total\":1,"));
    response_fini(&exchange.response);
    status_destroy(status);
    status = NULL;
    stats_shared_destroy(others);
}

TEST(without_memory_for_a_tick_there_is_a_heartbeat)
{
    static struct exchange exchange;

    begin_events(&exchange);
    allocations_left = 0;
    assert_true(status_tick(status));
    allocations_left = -1;
    take(&exchange);
    assert_string_equal(answer.body, ":\n\n");
    assert_true(status_tick(status));
    take(&exchange);
    assert_tick();
    response_fini(&exchange.response);
}

TEST(streams_end_when_draining_begins)
{
    static struct exchange exchange;

    begin_events(&exchange);
    status_drain(status);
    take(&exchange);
    assert_int_equal(answer.len, 0);
    assert_true(exchange_is_done(&exchange));
    response_fini(&exchange.response);
    assert_int_equal(get("/events"), 503);
}

TEST(more_streams_than_allowed_are_told_to_come_later)
{
    static struct exchange exchanges[STATUS_STREAMS_MAX];

    for (size_t i = 0; i < STATUS_STREAMS_MAX; i++)
        begin_events(&exchanges[i]);
    assert_int_equal(get("/events"), 503);
    assert_field("\r\nRetry-After: 10\r\n");
    assert_int_equal(get("/status.json"), 200);
    response_fini(&exchanges[7].response);
    begin_events(&exchanges[7]);
    assert_int_equal(get("/events"), 503);
    for (size_t i = 0; i < STATUS_STREAMS_MAX; i++)
        response_fini(&exchanges[i].response);
}

TEST(who_has_more_than_a_share_gives_way)
{
    static struct exchange exchanges[STATUS_STREAMS_MAX + 1];
    struct exchange *last = &exchanges[STATUS_STREAMS_MAX - 1];

    for (size_t i = 0; i < STATUS_STREAMS_MAX; i++)
        begin_events(&exchanges[i]);
    peer.family = ADDRESS_IPV4;
    peer.octets[0] = 127;
    begin_events(&exchanges[STATUS_STREAMS_MAX]);
    take(last);
    assert_true(exchange_is_done(last));
    take(&exchanges[0]);
    assert_false(exchange_is_done(&exchanges[0]));
    for (size_t i = 0; i <= STATUS_STREAMS_MAX; i++)
        response_fini(&exchanges[i].response);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
