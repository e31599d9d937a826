#include "unit/http/relay/relay_fixture.h"

struct relay relay;
struct relay_from from;
struct address peer;
static struct forwarded_trust trust;
struct cidr block;

int set_up(void **state)
{
    (void)state;
    relay = (struct relay){.host = BYTES("up:9000"),
                           .keeps_host = true,
                           .pseudonym = BYTES("sprintd")};
    from = (struct relay_from){.peer = &peer, .scheme = BYTES("http")};
    trust = (struct forwarded_trust){.blocks = &block, .block_count = 1};
    assert_true(address_parse(&peer, BYTES("192.0.2.1")));
    assert_true(cidr_parse(&block, "192.0.2.0/24"));
    return 0;
}

void believe_in(enum forwarded_field field)
{
    trust.field = field;
    relay.trust = &trust;
}

static struct field few[REQUEST_FIELDS_FEW];
static struct field many[REQUEST_FIELDS_MAX];
struct request request = {.fields = few, .many = many};
struct buf out;
char storage[RELAY_HEAD_BYTES_MAX];

void parse(struct bytes text)
{
    struct http1_progress progress = {0};
    size_t used;
    enum reason reason;

    if (http1_parse(&progress, text.data, text.len, &request, &used, &reason) !=
        HTTP1_DONE)
        fail_msg("%s: %s", reason_word(reason).data, text.data);
}

enum relay_verdict relay_text(struct bytes text)
{
    parse(text);
    buf_init(&out, storage, sizeof(storage) - 1, sizeof(storage) - 1);
    return relay_request(&relay, &request, &from, &out);
}

const char *relayed(const char *text)
{
    static const char always[] = "Via: 1.1 sprintd\r\n"
                                 "X-Forwarded-For: 192.0.2.1\r\n"
                                 "X-Forwarded-Proto: http\r\n"
                                 "X-Forwarded-Host: a\r\n"
                                 "Forwarded: for=192.0.2.1;proto=http;"
                                 "host=a\r\n";
    enum relay_verdict verdict = relay_text(bytes_of(text));
    char *at;

    if (verdict != RELAY_DONE)
        fail_msg("verdict %d: %s", verdict, text);
    storage[out.len] = '\0';
    at = strstr(storage, always);
    if (at)
        memmove(at, at + strlen(always), strlen(at + strlen(always)) + 1);
    return storage;
}

void assert_goes_on(const char *text, const char *expected)
{
    assert_string_equal(relayed(text), expected);
}
