#include "unit/handler/kv/kv_fixture.h"

static int set_up(void **state)
{
    fake.events = kv_events_create(1 << 16, true);
    return fake.events ? kv_set_up(state) : -1;
}

static void tell(enum kv_event_kind kind, uint64_t number, const char *key)
{
    struct kv_entry entry = {
        .key = bytes_of(key), .meta = {.revision = number}, .type = BYTES("")};

    kv_events_put(fake.events, kind, number, &entry);
    kv_events_publish(fake.events, number);
    if (fake.watch)
        fake.watch->on_change(fake.watch);
}

/* What is there to be sent by now. */
static const char *take(void)
{
    static char text[1 << 17];
    struct response *response = &exchange.response;
    size_t len = 0;

    sent_look(&exchange, &now);
    for (enum sent_step step = SENT_ON; step == SENT_ON;) {
        assert_true(sent_is_memory(response));
        len += sent_take(response, text + len, sizeof(text) / 2 - len);
        if (exchange_is_done(&exchange) || (response->is_waiting && wakes == 0))
            break;
        wakes = 0;
        step = sent_step(&exchange, &now);
        assert_int_not_equal(step, SENT_FAILED);
    }
    return text;
}

static void watch(const char *query, const char *fields)
{
    char line[200];

    snprintf(line, sizeof(line), "GET /kv/?watch=1%s", query);
    kv_begin(line, fields, (struct bytes){NULL, 0}, 0);
}

TEST(changes_are_events)
{
    watch("&since=0", "");
    assert_in(take(), "Content-Type: text/event-stream\r\n");
    tell(KV_EVENT_PUT, 3, "a");
    assert_in(take(),
              "event: put\nid: 3\n"
              "data: {\"key\":\"a\",\"size\":0,\"etag\":\"\\\"3\\\"\",");
    assert_string_equal(take(), "");
    tell(KV_EVENT_DELETE, 4, "a\n");
    tell(KV_EVENT_EXPIRE, 5, "b");
    assert_in(take(), "event: delete\nid: 4\ndata: {\"key\":\"a\\u000a\"}\n\n"
                      "event: expire\nid: 5\ndata: {\"key\":\"b\"}\n\n");
}

TEST(silence_is_broken_by_heartbeats)
{
    watch("&since=0", "");
    assert_in(take(), "\r\n\r\n");
    for (unsigned i = 0; i < 14; i++)
        kv_tick(kv);
    assert_string_equal(take(), "");
    kv_tick(kv);
    assert_string_equal(take(), "00000003\r\n:\n\n\r\n");
    assert_string_equal(take(), "");
}

TEST(a_drained_stream_ends_when_all_is_told)
{
    watch("&since=0", "");
    take();
    tell(KV_EVENT_PUT, 1, "a");
    kv_drain(kv);
    wakes = 1;
    assert_in(take(), "\"key\":\"a\"");
    assert_true(exchange_is_done(&exchange));
    watch("", "");
    assert_in(take(), "HTTP/1.1 503");
}

TEST(the_longest_events_fit)
{
    char key[KV_KEY_BYTES_MAX + 1];

    memset(key, 0x01, sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    watch("&since=0", "");
    take();
    for (uint64_t i = 1; i <= 20; i++)
        tell(KV_EVENT_DELETE, i, key);
    assert_in(take(), "\nid: 20\n");
}

TEST(a_store_that_answers_later_is_waited_for)
{
    fake.is_slow = true;
    watch("", "");
    assert_int_equal(exchange.response.bytes_left, 0);
    assert_int_equal(sent_step(&exchange, &now), SENT_LATER);
    fake.watch->on_done(fake.watch);
    assert_int_equal(wakes, 1);
    assert_in(take(), "event: reset\n");
    watch("", ""); /* whoever leaves before is forgotten */
    leave();
    assert_null(fake.watch);
    watch("", "");
    kv_drain(kv);
    wakes = 1;
    assert_in(take(), "HTTP/1.1 503");
    assert_null(fake.watch);
}

TEST(a_store_that_cannot_be_watched_says_why)
{
    static const struct {
        enum kv_outcome outcome;
        const char *begin;
    } cases[] = {{KV_UNSUPPORTED, "HTTP/1.1 501"},
                 {KV_UNREACHABLE, "HTTP/1.1 503"},
                 {KV_BUSY, "HTTP/1.1 503"},
                 {KV_ERROR, "HTTP/1.1 500"}};

    fake.is_failing = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fake.outcome = cases[i].outcome;
        watch("", "");
        assert_in(take(), cases[i].begin);
        assert_null(fake.watch);
    }
}

TEST(a_watch_that_is_lost_ends)
{
    watch("", "");
    assert_in(take(), "event: reset\n");
    fake.watch->outcome = KV_UNSUPPORTED;
    fake.watch->on_change(fake.watch);
    assert_string_equal(take(), "0\r\n\r\n");
    assert_true(exchange_is_done(&exchange));
}

SUITE(.each_begin = set_up, .each_end = kv_tear_down);
