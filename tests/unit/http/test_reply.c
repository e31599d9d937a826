#include "http/reply.h"

#include "base/buf.h"
#include "reply_cases.h"
#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct outcome {
    enum http1_verdict verdict;
    const char *fault; /* of HTTP1_BAD */
    size_t used;       /* of HTTP1_DONE */
    struct reply reply;
    char *copy;      /* what the reply's views point into */
    struct buf dump; /* of HTTP1_DONE: all of the reply as text */
};

static void dump_view(struct buf *dump, const char *name, struct bytes text)
{
    buf_printf(dump, "%s=", name);
    buf_put(dump, text);
    buf_put_literal(dump, "\n");
}

static void dump_reply(struct buf *dump, const struct reply *reply)
{
    buf_printf(dump, "%u minor=%u persists=%d chunked=%d length=%d,%ju %x\n",
               reply->status, reply->minor, reply->persists, reply->is_chunked,
               reply->has_length, (uintmax_t)reply->content_length,
               (unsigned)reply->seen);
    dump_view(dump, "reason", reply->reason);
    dump_view(dump, "upgrade", reply->upgrade);
    for (unsigned i = 0; i < reply->field_count; i++) {
        buf_printf(dump, "%u:", (unsigned)reply->fields[i].id);
        buf_put(dump, reply->fields[i].name);
        dump_view(dump, "", reply->fields[i].value);
    }
}

/* Reads first bytes of text, then step more each time, each time in memory of
 * exactly that size. */
static void read_in_steps(struct outcome *outcome, struct bytes text,
                          size_t first, size_t step)
{
    struct http1_progress progress = {0};
    size_t len = first;

    for (;;) {
        outcome->copy = malloc(len > 0 ? len : 1);
        assert_non_null(outcome->copy);
        memcpy(outcome->copy, text.data, len);
        outcome->verdict = http1_parse_reply(&progress, outcome->copy, len,
                                             &outcome->reply, &outcome->used,
                                             &outcome->fault);
        if (outcome->verdict != HTTP1_MORE || len == text.len)
            break;
        free(outcome->copy);
        len = text.len - len > step ? len + step : text.len;
    }
    buf_init(&outcome->dump, NULL, 0, 1 << 20);
    if (outcome->verdict == HTTP1_DONE)
        dump_reply(&outcome->dump, &outcome->reply);
    if (outcome->verdict != HTTP1_MORE)
        assert_true(progress.checked == 0 && progress.line == 0 &&
                    progress.start == 0 && progress.lines == 0);
}

static void read_whole(struct outcome *outcome, struct bytes text)
{
    read_in_steps(outcome, text, text.len, 0);
}

static void outcome_fini(struct outcome *outcome)
{
    free(outcome->copy);
    buf_fini(&outcome->dump);
}

static void assert_same_in_steps(const struct outcome *whole, struct bytes text,
                                 size_t first, size_t step)
{
    struct outcome split;

    read_in_steps(&split, text, first, step);
    assert_int_equal(split.verdict, whole->verdict);
    assert_int_equal(split.dump.len, whole->dump.len);
    if (whole->verdict == HTTP1_DONE) {
        assert_int_equal(split.used, whole->used);
        assert_memory_equal(split.dump.data, whole->dump.data, split.dump.len);
    }
    if (whole->verdict == HTTP1_BAD)
        assert_string_equal(split.fault, whole->fault);
    outcome_fini(&split);
}

static void assert_same_in_any_split(struct bytes text)
{
    struct outcome whole;

    read_whole(&whole, text);
    for (size_t first = 0; first < text.len; first++)
        assert_same_in_steps(&whole, text, first, text.len);
    assert_same_in_steps(&whole, text, 0, 1);
    assert_same_in_steps(&whole, text, 1, 2);
    outcome_fini(&whole);
}

static void assert_bytes(struct bytes text, const char *expected)
{
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.data, expected, text.len);
}

/* --- Cases --------------------------------------------------------------- */

static void assert_is_as_said(const struct reply *reply,
                              const struct good_reply *said)
{
    bool is_bare = said->status == 204 || said->status == 304 ||
                   (said->status > 0 && said->status < 200);
    enum body_framing framing = said->framing == BODY_NONE && !is_bare
                                    ? BODY_UNTIL_CLOSE
                                    : said->framing;

    assert_int_equal(reply->status, said->status > 0 ? said->status : 200);
    assert_int_equal(reply->minor, said->is_http10 ? 0 : 1);
    assert_bytes(reply->reason, said->reason ? said->reason : "OK");
    assert_int_equal(reply->persists, !said->closes);
    assert_int_equal(reply->is_chunked, said->is_chunked);
    assert_int_equal(reply->has_length, said->has_length);
    assert_int_equal(reply->content_length, said->content_length);
    assert_bytes(reply->upgrade, said->upgrade ? said->upgrade : "");
    assert_int_equal(reply_framing(reply, METHOD_GET), framing);
    assert_int_equal(reply_framing(reply, METHOD_POST), framing);
    assert_int_equal(reply_framing(reply, METHOD_HEAD),
                     framing == BODY_TUNNEL ? BODY_TUNNEL : BODY_NONE);
}

TEST(good_heads_are_read)
{
    for (size_t i = 0; i < COUNT(good_replies); i++) {
        struct bytes text = bytes_of(good_replies[i].head);
        struct outcome outcome;

        read_whole(&outcome, text);
        if (outcome.verdict != HTTP1_DONE)
            fail_msg("%s: %s", outcome.fault, text.data);
        assert_int_equal(outcome.used, text.len);
        assert_is_as_said(&outcome.reply, &good_replies[i]);
        outcome_fini(&outcome);
    }
}

TEST(bad_heads_are_refused)
{
    for (size_t i = 0; i < COUNT(bad_replies); i++) {
        struct outcome outcome;

        read_whole(&outcome, bad_replies[i].head);
        if (outcome.verdict != HTTP1_BAD)
            fail_msg("case %zu: verdict %d: %s", i, outcome.verdict,
                     bad_replies[i].head.data);
        assert_string_equal(outcome.fault, bad_replies[i].fault);
        outcome_fini(&outcome);
    }
}

TEST(heads_are_read_alike_in_any_pieces)
{
    for (size_t i = 0; i < COUNT(good_replies); i++)
        assert_same_in_any_split(bytes_of(good_replies[i].head));
    for (size_t i = 0; i < COUNT(bad_replies); i++)
        assert_same_in_any_split(bad_replies[i].head);
}

TEST(a_good_head_is_not_done_before_its_end)
{
    for (size_t i = 0; i < COUNT(good_replies); i++) {
        struct bytes text = bytes_of(good_replies[i].head);

        for (size_t len = 0; len < text.len; len++) {
            struct outcome outcome;

            read_whole(&outcome, (struct bytes){text.data, len});
            assert_int_equal(outcome.verdict, HTTP1_MORE);
            outcome_fini(&outcome);
        }
    }
}

/* --- Bodies -------------------------------------------------------------- */

static enum body_framing framing_of(unsigned status, enum method asked)
{
    struct reply reply = {.status = status, .minor = 1, .has_length = true};

    return reply_framing(&reply, asked);
}

TEST(a_status_and_a_method_say_whether_there_is_a_body)
{
    assert_int_equal(framing_of(200, METHOD_GET), BODY_LENGTH);
    assert_int_equal(framing_of(200, METHOD_HEAD), BODY_NONE);
    assert_int_equal(framing_of(404, METHOD_HEAD), BODY_NONE);
    assert_int_equal(framing_of(204, METHOD_PUT), BODY_NONE);
    assert_int_equal(framing_of(205, METHOD_PUT), BODY_LENGTH);
    assert_int_equal(framing_of(304, METHOD_GET), BODY_NONE);
    assert_int_equal(framing_of(199, METHOD_GET), BODY_NONE);
    assert_int_equal(framing_of(101, METHOD_GET), BODY_TUNNEL);
    assert_int_equal(framing_of(200, METHOD_CONNECT), BODY_TUNNEL);
    assert_int_equal(framing_of(299, METHOD_CONNECT), BODY_TUNNEL);
    assert_int_equal(framing_of(403, METHOD_CONNECT), BODY_LENGTH);
}

TEST(all_but_101_below_200_are_interim)
{
    for (unsigned status = 100; status < 600; status++) {
        struct reply reply = {.status = status};

        assert_int_equal(reply_is_interim(&reply),
                         status < 200 && status != 101);
    }
}

/* --- Heads one after the other ------------------------------------------- */

TEST(an_interim_reply_ends_where_the_next_begins)
{
    struct bytes text = BYTES("HTTP/1.1 100 Continue\r\n\r\n"
                              "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody");
    size_t first = strlen("HTTP/1.1 100 Continue\r\n\r\n");
    struct outcome outcome;

    read_whole(&outcome, text);
    assert_int_equal(outcome.verdict, HTTP1_DONE);
    assert_int_equal(outcome.reply.status, 100);
    assert_int_equal(outcome.used, first);
    outcome_fini(&outcome);
    read_whole(&outcome, (struct bytes){text.data + first, text.len - first});
    assert_int_equal(outcome.reply.status, 200);
    assert_int_equal(outcome.reply.field_count, 1);
    assert_int_equal(outcome.used, text.len - first - strlen("body"));
    outcome_fini(&outcome);
}

TEST(what_follows_a_head_is_not_looked_at)
{
    static const struct bytes rest[] = {
        {"\0", 1}, {"\r\n", 2}, {"\n", 1}, {"x: y\r\n\r\n", 8}};

    for (size_t i = 0; i < COUNT(rest); i++) {
        struct bytes head = BYTES("HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
        struct outcome outcome;
        struct buf text;

        buf_init(&text, NULL, 0, 1000);
        buf_put(&text, head);
        buf_put(&text, rest[i]);
        read_whole(&outcome, buf_bytes(&text));
        assert_int_equal(outcome.verdict, HTTP1_DONE);
        assert_int_equal(outcome.used, head.len);
        assert_int_equal(outcome.reply.field_count, 1);
        outcome_fini(&outcome);
        buf_fini(&text);
    }
}

TEST(fields_are_found_by_what_they_mean)
{
    struct outcome outcome;
    const struct field *field;

    read_whole(&outcome, BYTES("HTTP/1.1 200 OK\r\nServer: a\r\nDATE: b\r\n"
                               "Keep-Alive: c\r\ndate:  d \r\n\r\n"));
    field = reply_find(&outcome.reply, FIELD_DATE);
    assert_non_null(field);
    assert_bytes(field->name, "DATE");
    assert_bytes(field->value, "b");
    assert_bytes(outcome.reply.fields[3].value, "d");
    assert_non_null(reply_find(&outcome.reply, FIELD_HOP_BY_HOP));
    assert_null(reply_find(&outcome.reply, FIELD_CONNECTION));
    assert_int_equal(outcome.reply.fields[0].id, FIELD_OTHER);
    outcome_fini(&outcome);
}

/* --- Limits -------------------------------------------------------------- */

/* NULL: it is fine. */
static const char *fault_in(const struct buf *text)
{
    struct outcome outcome;
    const char *fault;

    assert_false(text->failed);
    read_whole(&outcome, buf_bytes(text));
    assert_int_not_equal(outcome.verdict, HTTP1_MORE);
    assert_same_in_steps(&outcome, buf_bytes(text), 0, 101);
    assert_same_in_steps(&outcome, buf_bytes(text), text->len - 1, 1);
    fault = outcome.verdict == HTTP1_BAD ? outcome.fault : NULL;
    outcome_fini(&outcome);
    return fault;
}

static const char *fault_of_fields(unsigned count)
{
    struct buf text;
    const char *fault;

    buf_init(&text, NULL, 0, 10000);
    buf_put_literal(&text, "HTTP/1.1 200 OK\r\n");
    for (unsigned i = 0; i < count; i++)
        buf_printf(&text, "A%u: b\r\n", i);
    buf_put_literal(&text, "\r\n");
    fault = fault_in(&text);
    buf_fini(&text);
    return fault;
}

TEST(a_head_has_100_fields_at_most)
{
    assert_null(fault_of_fields(REPLY_FIELDS_MAX));
    assert_string_equal(fault_of_fields(REPLY_FIELDS_MAX + 1),
                        "has a head that is too large");
}

/* A head of so many bytes, with its length in the reason or in a field. */
static const char *fault_of_bytes(size_t bytes, const char *before,
                                  const char *behind)
{
    struct buf text;
    const char *fault;

    buf_init(&text, NULL, 0, 100000);
    buf_put(&text, bytes_of(before));
    while (text.len < bytes - strlen(behind))
        buf_put_literal(&text, "x");
    buf_put(&text, bytes_of(behind));
    fault = fault_in(&text);
    buf_fini(&text);
    return fault;
}

TEST(a_head_has_32_kib_at_most)
{
    static const char *const heads[][2] = {
        {"HTTP/1.1 200 OK\r\nA: ", "\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nContent-Length:\t5\r\nA: ", "\r\n\r\n"},
        {"HTTP/1.1 200 ", "\r\n\r\n"},
        {"HTTP/1.1 200 ", "\r\nA: b\r\n\r\n"},
    };

    for (size_t i = 0; i < COUNT(heads); i++) {
        assert_null(fault_of_bytes(REPLY_HEAD_BYTES_MAX, heads[i][0],
                                   heads[i][1]));
        assert_string_equal(fault_of_bytes(REPLY_HEAD_BYTES_MAX + 1,
                                           heads[i][0], heads[i][1]),
                            "has a head that is too large");
    }
}

TEST(an_endless_line_is_given_up_before_its_end)
{
    static char text[REPLY_HEAD_BYTES_MAX + 2];
    struct outcome outcome;

    memset(text, 'x', sizeof(text));
    read_whole(&outcome, (struct bytes){text, REPLY_HEAD_BYTES_MAX});
    assert_int_equal(outcome.verdict, HTTP1_MORE);
    outcome_fini(&outcome);
    read_whole(&outcome, (struct bytes){text, REPLY_HEAD_BYTES_MAX + 1});
    assert_int_equal(outcome.verdict, HTTP1_BAD);
    outcome_fini(&outcome);
}
