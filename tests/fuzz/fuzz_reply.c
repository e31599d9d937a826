/*
 * fuzz_reply - raw bytes from an upstream, up to what goes on to the client.
 *
 * The first byte of the input chooses what was asked, the next two say where
 * the rest is split into two reads; the rest is what comes over the
 * connection: replies one after the other, with bodies. Each must come to the
 * same whole, split and byte by byte; made anew for the client it must be read
 * as the same reply, with nothing of the upstream's connection. Any breach
 * aborts.
 */
#include "http/http1/http1_frame.h"

#include "relay_checks.h"

enum {
    REPLIES_MAX = 8,    /* of one input */
    BYTEWISE_MAX = 512, /* longer texts are not read byte by byte */
    WALL_S = 1784600000
};

static const struct now now = {.wall_s = WALL_S};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- What was asked ------------------------------------------------------ */

static const char *const questions[] = {
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n",
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n"
     "Upgrade: websocket\r\n\r\n"),
};

static const struct relay relay = {.pseudonym = {"sprintd", 7},
                                   .upgrade = {"websocket", 9}};

static void ask(struct request *request, unsigned which)
{
    static struct field few[REQUEST_FIELDS_FEW];
    const char *text = questions[which % 4];
    struct http1_progress progress = {0};
    size_t used;
    enum reason reason;

    request->fields = few;
    request->many = NULL; /* it has few */
    CHECK(http1_parse(&progress, text, strlen(text), request, &used, &reason) ==
          HTTP1_DONE);
}

/* --- The head ------------------------------------------------------------ */

struct answer {
    enum http1_verdict verdict;
    const char *fault;
    size_t used;
    struct reply reply;
    char *copy; /* what the reply's views point into */
};

static void read_answer(struct answer *answer, struct bytes text, size_t first,
                        size_t step)
{
    struct http1_progress progress = {0};
    size_t len = first < text.len ? first : text.len;

    for (;;) {
        answer->copy = copy_of(text.data, len);
        answer->verdict = http1_parse_reply(&progress, answer->copy, len,
                                            &answer->reply, &answer->used,
                                            &answer->fault);
        if (answer->verdict != HTTP1_MORE || len == text.len)
            return;
        free(answer->copy);
        len = text.len - len > step ? len + step : text.len;
    }
}

static void check_reply(const struct reply *reply, const char *data, size_t len)
{
    uint32_t seen = 0;

    CHECK(len >= 4 && memcmp(data + len - 4, "\r\n\r\n", 4) == 0);
    CHECK(len <= REPLY_HEAD_BYTES_MAX);
    CHECK(reply->status >= 100 && reply->status <= 599 && reply->minor <= 1);
    CHECK(!has_control(reply->reason));
    CHECK(reply->reason.len == 0 || is_inside(reply->reason, data, len));
    CHECK(reply->upgrade.len == 0 || is_inside(reply->upgrade, data, len));
    CHECK(!(reply->is_chunked && (reply->has_length || reply->minor == 0)));
    CHECK(reply->content_length <= INT64_MAX);
    CHECK(reply->status != 101 || reply->upgrade.len > 0);
    CHECK(reply->field_count <= REPLY_FIELDS_MAX);
    for (unsigned i = 0; i < reply->field_count; i++) {
        check_view(reply->fields[i].name, data, len);
        check_view(reply->fields[i].value, data, len);
        CHECK(head_is_token(reply->fields[i].name));
        CHECK(reply->fields[i].id == field_identify(reply->fields[i].name));
        seen |= 1u << reply->fields[i].id;
    }
    CHECK(reply->seen == seen);
}

static void check_same_answer(const struct answer *whole, struct bytes text,
                              size_t first, size_t step)
{
    const struct reply *x = &whole->reply;
    struct answer split;
    const struct reply *y = &split.reply;

    read_answer(&split, text, first, step);
    CHECK(split.verdict == whole->verdict);
    if (whole->verdict == HTTP1_DONE) {
        check_reply(y, split.copy, split.used);
        CHECK(split.used == whole->used && x->status == y->status);
        CHECK(x->minor == y->minor && x->persists == y->persists);
        CHECK(x->is_chunked == y->is_chunked);
        CHECK(x->has_length == y->has_length);
        CHECK(x->content_length == y->content_length && x->seen == y->seen);
        CHECK(bytes_eq(x->reason, y->reason));
        CHECK(bytes_eq(x->upgrade, y->upgrade));
        CHECK(x->field_count == y->field_count);
        for (unsigned i = 0; i < x->field_count; i++) {
            CHECK(bytes_eq(x->fields[i].name, y->fields[i].name));
            CHECK(bytes_eq(x->fields[i].value, y->fields[i].value));
        }
    }
    free(split.copy);
}

/* --- The head that goes on ----------------------------------------------- */

static struct fields fields_of(const struct reply *reply)
{
    return (struct fields){reply->fields, reply->field_count};
}

/* Reads what was made, and compares. Our own fields may make one too many. */
static bool read_again(struct answer *again, struct bytes head,
                       const struct reply *reply, uint32_t ours)
{
    read_answer(again, head, head.len, 1);
    if (again->verdict != HTTP1_DONE) {
        CHECK(reply->field_count > REPLY_FIELDS_MAX - 3 ||
              head.len > REPLY_HEAD_BYTES_MAX);
        free(again->copy);
        return false;
    }
    CHECK(again->used == head.len && again->reply.minor == 1);
    CHECK(again->reply.status == reply->status);
    CHECK(bytes_eq(again->reply.reason, reply->reason) ||
          (reply->reason.len > RESPONSE_PHRASE_MAX &&
           !reply_is_interim(reply)));
    check_relayed(fields_of(reply), fields_of(&again->reply), ours);
    CHECK(reply_find(&again->reply, FIELD_VIA));
    return true;
}

static struct bytes head_of(const struct response *response)
{
    CHECK(response->part_count == 1 && response->head_bytes > 0);
    CHECK(response->bytes_left == response->head_bytes);
    return (struct bytes){response->parts[0].at.memory, response->head_bytes};
}

/* What there is in a 1xx of the connection's. */
static void check_interim(const struct reply *reply, struct bytes head)
{
    struct answer again;

    if (!read_again(&again, head, reply,
                    1u << FIELD_VIA | 1u << FIELD_CONNECTION |
                        1u << FIELD_UPGRADE))
        return;
    CHECK(!again.reply.has_length);
    CHECK(reply->status == 101 || !reply_find(&again.reply, FIELD_CONNECTION));
    free(again.copy);
}

static void relay_interim_head(const struct request *request,
                               const struct reply *reply)
{
    struct response response; /* a 101 is one, another is written as it is */
    struct response_room room;
    struct buf head;

    response_init(&response, &room);
    response_begin_relayed(&response, reply->status, reply->reason);
    buf_init(&head, NULL, 0, 2 * RELAY_HEAD_BYTES_MAX);
    switch (relay_interim(&relay, request, reply, &response.head)) {
    case RELAY_DONE:
        if (reply->status == 101) {
            response_add_bare_head(&response);
            http1_frame(&response, false, &now);
            check_interim(reply, head_of(&response));
        } else {
            http1_put_interim(&head, reply->status, reply->reason,
                              bytes_between(response.head.data +
                                                RESPONSE_HEADROOM,
                                            response.head.data +
                                                response.head.len));
            check_interim(reply, buf_bytes(&head));
        }
        break;
    case RELAY_BAD_SWITCH:
        CHECK(reply->status == 101);
        break;
    default:
        CHECK(reply_find(reply, FIELD_CONNECTION));
        break;
    }
    buf_fini(&head);
    response_fini(&response);
}

static struct piece end_body(struct source *source, uint64_t at_most)
{
    (void)source, (void)at_most;
    return (struct piece){.state = PIECE_END};
}

static void keep_source(struct source *source)
{
    (void)source;
}

/* As the handler of a proxy does, but for the body. */
static void end_head(struct response *response, const struct reply *reply,
                     enum body_framing framing)
{
    static struct source source = {.next = end_body, .destroy = keep_source};

    switch (framing) {
    case BODY_LENGTH:
        response_add_source_of(response, &source, reply->content_length);
        break;
    case BODY_CHUNKED:
    case BODY_UNTIL_CLOSE:
        response_add_source(response, &source);
        break;
    case BODY_NONE:
    case BODY_TUNNEL:
        response_add_head(response);
        break;
    }
}

static void check_framing(const struct reply *before, const struct reply *after,
                          enum method asked)
{
    enum body_framing framing = reply_framing(before, asked);

    CHECK(after->persists);
    CHECK(reply_framing(after, asked) ==
          (framing == BODY_UNTIL_CLOSE ? BODY_CHUNKED : framing));
    if (framing == BODY_LENGTH || (framing == BODY_NONE && after->has_length)) {
        CHECK(before->has_length && after->has_length);
        CHECK(before->content_length == after->content_length);
    }
}

static void relay_final_head(const struct request *request,
                             const struct reply *reply)
{
    enum body_framing framing = reply_framing(reply, request->method);
    uint32_t ours = 1u << FIELD_VIA | 1u << FIELD_DATE |
                    1u << FIELD_CONTENT_LENGTH | 1u << FIELD_TRANSFER_ENCODING;
    struct response response;
    struct response_room room;
    struct answer again;

    if (relay_takes_trailers(request))
        ours |= 1u << FIELD_TRAILER;
    response_init(&response, &room);
    response.persists = true;
    response.is_head = request->method == METHOD_HEAD;
    response_begin_relayed(&response, reply->status, reply->reason);
    response.has_date = reply_find(reply, FIELD_DATE);
    if (relay_reply(&relay, request, reply, &response.head) != RELAY_DONE) {
        CHECK(reply_find(reply, FIELD_CONNECTION));
    } else {
        end_head(&response, reply, framing);
        http1_frame(&response, false, &now);
        if (read_again(&again, head_of(&response), reply, ours)) {
            check_framing(reply, &again.reply, request->method);
            CHECK(count_others(fields_of(reply)) <=
                  count_others(fields_of(&again.reply)));
            free(again.copy);
        }
    }
    response_fini(&response);
}

/* --- Names that are the client's ----------------------------------------- */

static bool is_host(struct bytes value)
{
    return value.len >= 2 && *value.data == '/' &&
           (value.data[1] == '/' || value.data[1] == '\\');
}

/* No other field may come of a value, and no other host of a path. */
static void check_renamed(const struct reply *before, const struct reply *after)
{
    unsigned at = 0;

    for (unsigned i = 0; i < after->field_count; i++) {
        struct bytes name = after->fields[i].name;
        bool is_ours = bytes_eq(name, BYTES("Via")) ||
                       bytes_eq(name, BYTES("Content-Length"));

        while (at < before->field_count &&
               !bytes_eq(before->fields[at].name, name))
            at++;
        CHECK(at < before->field_count || is_ours);
        if (at < before->field_count && bytes_ieq(name, BYTES("Location")) &&
            is_host(after->fields[i].value))
            CHECK(bytes_eq(before->fields[at].value, after->fields[i].value));
        at += at < before->field_count;
    }
}

static void relay_renamed_head(const struct request *request,
                               const struct reply *reply)
{
    static const struct bytes prefixes[][2] = {
        {{"/app", 4}, {"/", 1}}, {{"", 0}, {"/v1", 3}}, {{"", 0}, {"", 0}}};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        struct relay renaming = relay;
        struct answer again;
        struct buf head;

        renaming.renames = true;
        renaming.host = BYTES("b");
        renaming.strip = prefixes[i][0];
        renaming.replace = prefixes[i][1];
        buf_init(&head, NULL, 0, RELAY_HEAD_BYTES_MAX);
        buf_printf(&head, "HTTP/1.1 %u \r\n", reply->status);
        if (relay_reply(&renaming, request, reply, &head) == RELAY_DONE) {
            buf_put_literal(&head, "\r\n");
            read_answer(&again, buf_bytes(&head), head.len, 1);
            if (again.verdict == HTTP1_DONE) {
                CHECK(again.used == head.len);
                check_renamed(reply, &again.reply);
            }
            free(again.copy);
        }
        buf_fini(&head);
    }
}

/* --- The body ------------------------------------------------------------ */

struct reading_body {
    enum body_event event;
    size_t used;
    struct buf body;
    struct buf trailer;
};

static void read_body(struct reading_body *reading, enum body_framing framing,
                      uint64_t length, struct bytes text, size_t first,
                      size_t step)
{
    size_t len = first < text.len ? first : text.len;
    struct body_reader reader;

    body_reader_init(&reader, framing, length);
    buf_init(&reading->body, NULL, 0, text.len);
    buf_init(&reading->trailer, NULL, 0, CHUNKED_TRAILER_BYTES_MAX);
    reader.chunked.trailer = &reading->trailer;
    reading->used = 0;
    for (;;) {
        char *copy = copy_of(text.data + reading->used, len);
        struct bytes input = {copy, len};
        struct bytes data;

        while ((reading->event = body_reader_next(&reader, &input, &data)) ==
               BODY_DATA) {
            CHECK(data.len > 0 && is_inside(data, copy, len));
            buf_put(&reading->body, data);
        }
        CHECK(reading->event != BODY_AGAIN || input.len == 0);
        reading->used += len - input.len;
        free(copy);
        if (reading->event != BODY_AGAIN || reading->used == text.len)
            break;
        len = text.len - reading->used < step ? text.len - reading->used : step;
    }
    CHECK(!reading->body.failed && !reading->trailer.failed);
    CHECK(reader.bytes == reading->body.len);
    if (reading->event == BODY_AGAIN)
        CHECK(body_reader_finish(&reader) ==
              (body_reader_plain(&reader) == UINT64_MAX ? BODY_END : BODY_BAD));
}

static void reading_body_fini(struct reading_body *reading)
{
    buf_fini(&reading->body);
    buf_fini(&reading->trailer);
}

/* What may follow a body is read as fields that mean nothing to a server. */
static void check_trailer(struct bytes lines)
{
    struct buf text;
    struct answer answer;

    buf_init(&text, NULL, 0, REPLY_HEAD_BYTES_MAX);
    buf_put_literal(&text, "HTTP/1.1 200 OK\r\n");
    relay_trailer(lines, &text);
    buf_put_literal(&text, "\r\n");
    read_answer(&answer, buf_bytes(&text), text.len, 1);
    CHECK(answer.verdict == HTTP1_DONE ||
          strstr(answer.fault, "large")); /* over 100 */
    if (answer.verdict == HTTP1_DONE)
        CHECK((answer.reply.seen & ~(1u << FIELD_OTHER)) == 0);
    free(answer.copy);
    buf_fini(&text);
}

static bool take_body(enum body_framing framing, uint64_t length,
                      struct bytes *text, size_t split)
{
    const size_t steps[][2] = {{split, text->len + 1}, {1, 1}};
    struct reading_body whole;
    bool is_complete;

    read_body(&whole, framing, length, *text, text->len, 1);
    for (int i = 0; i < (text->len <= BYTEWISE_MAX ? 2 : 1); i++) {
        struct reading_body pieces;

        read_body(&pieces, framing, length, *text, steps[i][0], steps[i][1]);
        CHECK(pieces.event == whole.event);
        CHECK(whole.event != BODY_END || pieces.used == whole.used);
        CHECK(bytes_eq(buf_bytes(&pieces.body), buf_bytes(&whole.body)));
        CHECK(whole.event == BODY_BAD ||
              bytes_eq(buf_bytes(&pieces.trailer), buf_bytes(&whole.trailer)));
        reading_body_fini(&pieces);
    }
    is_complete = whole.event == BODY_END;
    if (is_complete) {
        check_trailer(buf_bytes(&whole.trailer));
        text->data += whole.used;
        text->len -= whole.used;
    }
    reading_body_fini(&whole);
    return is_complete;
}

/* --- All of it ----------------------------------------------------------- */

/* Takes one reply off the front of text. False: it is not whole, or the
 * connection ends with it. */
static bool take_reply(const struct request *request, struct bytes *text,
                       size_t split)
{
    const struct reply *reply;
    struct answer whole;
    bool goes_on = false;

    read_answer(&whole, *text, text->len, 1);
    reply = &whole.reply;
    check_same_answer(&whole, *text, split, text->len + 1);
    if (text->len <= BYTEWISE_MAX)
        check_same_answer(&whole, *text, 0, 1);
    if (whole.verdict == HTTP1_BAD)
        CHECK(*whole.fault);
    if (whole.verdict == HTTP1_DONE) {
        check_reply(reply, whole.copy, whole.used);
        text->data += whole.used;
        text->len -= whole.used;
        if (reply->status < 200) {
            relay_interim_head(request, reply);
        } else {
            relay_final_head(request, reply);
            relay_renamed_head(request, reply);
        }
        goes_on = take_body(reply_framing(reply, request->method),
                            reply->content_length, text, split) &&
                  reply->persists;
    }
    free(whole.copy);
    return goes_on;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request request;
    struct bytes text;
    size_t split;

    if (size < 3)
        return 0;
    ask(&request, data[0]);
    text = (struct bytes){(const char *)data + 3, size - 3};
    split = ((size_t)data[1] << 8 | data[2]) % (text.len + 1);
    for (int i = 0; i < REPLIES_MAX && take_reply(&request, &text, split); i++)
        ;
    return 0;
}
