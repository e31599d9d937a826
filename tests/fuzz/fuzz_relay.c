/*
 * fuzz_relay - a client's request, made anew for an upstream.
 *
 * The first byte of the input chooses how: prefix, trust, upgrade, a body that
 * lies here; the rest is a head. What goes on must be read as the same request
 * by a server as strict as we are: no other target, no other body, nothing of
 * the client's connection, and of who asked only what we say. Any breach
 * aborts.
 */
#include "relay_checks.h"

enum {
    HAS_PREFIX = 1,
    KEEPS_HOST = 2,
    TRUSTS_X_FOR = 4,
    TRUSTS_RFC7239 = 8,
    UPGRADES = 16,
    LIES_HERE = 32,
    CONTINUES = 64,
    BODY_BYTES = 1234
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fields fields_of(const struct request *request)
{
    return (struct fields){request->fields, request->field_count};
}

static unsigned count_of(const struct request *request, enum field_id id)
{
    unsigned count = 0;

    for (unsigned i = 0; i < request->field_count; i++)
        count += request->fields[i].id == id;
    return count;
}

static void check_target(const struct request *before,
                         const struct request *after, bool has_prefix)
{
    struct bytes path = before->path;

    CHECK(bytes_eq(before->method_name, after->method_name));
    CHECK(bytes_eq(before->query, after->query));
    CHECK(!before->query.data == !after->query.data);
    if (has_prefix && !bytes_eq(path, BYTES("*"))) {
        CHECK(path.len >= 4 && memcmp(path.data, "/app", 4) == 0);
        path.data += 4;
        path.len -= 4;
        CHECK(after->path.len == path.len + 2);
        CHECK(memcmp(after->path.data, "/x", 2) == 0);
        CHECK(memcmp(after->path.data + 2, path.data, path.len) == 0);
    } else {
        CHECK(bytes_eq(path, after->path));
    }
}

static void check_body(const struct request *before,
                       const struct request *after, unsigned choice)
{
    bool has_body = before->is_chunked ||
                    request_find(before, FIELD_CONTENT_LENGTH);

    if (has_body && choice & LIES_HERE) {
        CHECK(!after->is_chunked && after->content_length == BODY_BYTES);
    } else {
        CHECK(before->is_chunked == after->is_chunked);
        CHECK(before->content_length == after->content_length);
    }
    CHECK(after->minor == 1 && after->keep_alive && !after->expects_other);
    CHECK(after->expects_continue ==
          (before->expects_continue && choice & CONTINUES));
}

/* Who asked is said last, and by us. */
static void check_asker(const struct request *request, unsigned choice)
{
    bool is_trusted = choice & (TRUSTS_X_FOR | TRUSTS_RFC7239);
    const struct field *field = request_find(request, FIELD_X_FORWARDED_FOR);
    struct bytes end = BYTES("192.0.2.1");

    CHECK(count_of(request, FIELD_X_FORWARDED_FOR) ==
          !(choice & TRUSTS_RFC7239));
    CHECK(count_of(request, FIELD_FORWARDED) ==
          !((choice & (TRUSTS_X_FOR | TRUSTS_RFC7239)) == TRUSTS_X_FOR));
    if (field) {
        CHECK(field->value.len >= end.len);
        CHECK(memcmp(field->value.data + field->value.len - end.len, end.data,
                     end.len) == 0);
        CHECK(is_trusted || bytes_eq(field->value, end));
    }
    for (unsigned i = 0; !is_trusted && i < request->field_count; i++) {
        CHECK(request->fields[i].id != FIELD_X_REAL_IP);
        CHECK(request->fields[i].id != FIELD_OTHER ||
              request->fields[i].name.len < 11 ||
              !bytes_ieq((struct bytes){request->fields[i].name.data, 11},
                         BYTES("X-Forwarded")));
    }
}

/* The prefix that was taken away is told once, by us, and stands out of what
 * comes next. */
static void take_prefix(const struct request *before, struct request *after,
                        unsigned choice)
{
    unsigned kept = 0;

    if (!(choice & HAS_PREFIX))
        return;
    for (unsigned i = 0; i < after->field_count; i++) {
        struct bytes value = after->fields[i].value;

        if (!bytes_ieq(after->fields[i].name, BYTES("X-Forwarded-Prefix"))) {
            after->fields[kept++] = after->fields[i];
            continue;
        }
        CHECK(value.len >= 4 &&
              memcmp(value.data + value.len - 4, "/app", 4) == 0);
    }
    CHECK(kept + !bytes_eq(before->path, BYTES("*")) == after->field_count);
    after->field_count = (uint8_t)kept;
}

static void check_again(const struct request *before, struct bytes head,
                        unsigned choice)
{
    uint32_t ours = 1u << FIELD_HOST | 1u << FIELD_VIA | 1u << FIELD_TE |
                    1u << FIELD_CONNECTION | 1u << FIELD_UPGRADE |
                    1u << FIELD_EXPECT | 1u << FIELD_CONTENT_LENGTH |
                    1u << FIELD_TRANSFER_ENCODING | 1u << FIELD_MAX_FORWARDS |
                    1u << FIELD_X_FORWARDED_FOR | 1u << FIELD_X_FORWARDED_HOST |
                    1u << FIELD_X_FORWARDED_PROTO | 1u << FIELD_FORWARDED;
    struct reading again;

    read_head(&again, head, head.len, 1);
    if (again.verdict == HTTP1_DONE) {
        struct request *after = &again.request;

        CHECK(again.used == head.len);
        check_request(after, again.copy, again.used);
        take_prefix(before, after, choice);
        check_target(before, after, choice & HAS_PREFIX);
        check_body(before, after, choice);
        check_relayed(fields_of(before), fields_of(after), ours);
        check_asker(after, choice);
        CHECK(count_others(fields_of(before)) <=
              count_others(fields_of(after)));
        CHECK(bytes_eq(after->host, choice & KEEPS_HOST && before->host.len > 0
                                        ? before->host
                                        : BYTES("up:9000")));
        CHECK(count_of(after, FIELD_VIA) == count_of(before, FIELD_VIA) + 1);
    } else {
        CHECK(before->field_count > REQUEST_FIELDS_MAX - 10 ||
              head.len > HTTP1_HEAD_BYTES_MAX ||
              before->line.len > HTTP1_LINE_BYTES_MAX - 16);
    }
    free(again.copy);
}

static void relay_one(const struct request *request, unsigned choice)
{
    static struct cidr block;
    static struct address peer;
    struct forwarded_trust trust = {
        .field = choice & TRUSTS_RFC7239 ? FORWARDED_RFC7239 : FORWARDED_X_FOR,
        .blocks = &block,
        .block_count = 1};
    struct relay relay = {
        .strip = choice & HAS_PREFIX ? BYTES("/app") : BYTES(""),
        .replace = choice & HAS_PREFIX ? BYTES("/x") : BYTES(""),
        .host = BYTES("up:9000"),
        .keeps_host = choice & KEEPS_HOST,
        .pseudonym = BYTES("sprintd"),
        .upgrade = choice & UPGRADES ? BYTES("websocket") : BYTES("")};
    struct relay_from from = {.peer = &peer,
                              .scheme = BYTES("http"),
                              .expects_continue = choice & CONTINUES,
                              .has_length = choice & LIES_HERE,
                              .length = BODY_BYTES};
    struct buf head;

    CHECK(cidr_parse(&block, "192.0.2.0/24"));
    CHECK(address_parse(&peer, BYTES("192.0.2.1")));
    if (choice & (TRUSTS_X_FOR | TRUSTS_RFC7239))
        relay.trust = &trust;
    buf_init(&head, NULL, 0, RELAY_HEAD_BYTES_MAX);
    switch (relay_request(&relay, request, &from, &head)) {
    case RELAY_DONE:
        check_again(request, buf_bytes(&head), choice);
        break;
    case RELAY_BAD_CONNECTION:
        CHECK(request_find(request, FIELD_CONNECTION));
        break;
    case RELAY_BAD_TARGET:
        CHECK(choice & HAS_PREFIX ||
              memchr(request->path.data, '.', request->path.len) ||
              memchr(request->path.data, '%', request->path.len));
        break;
    case RELAY_BAD_COUNT:
    case RELAY_LAST:
        CHECK(request_find(request, FIELD_MAX_FORWARDS));
        break;
    case RELAY_LOOP:
        CHECK(request_find(request, FIELD_VIA));
        break;
    case RELAY_BAD_SWITCH:
    case RELAY_TOO_LARGE:
        CHECK(false);
    }
    buf_fini(&head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading whole;
    struct bytes text;

    if (size < 1)
        return 0;
    text = (struct bytes){(const char *)data + 1, size - 1};
    read_head(&whole, text, text.len, 1);
    if (whole.verdict == HTTP1_DONE && whole.request.method != METHOD_CONNECT &&
        whole.request.method != METHOD_TRACE)
        relay_one(&whole.request, data[0]);
    free(whole.copy);
    return 0;
}
