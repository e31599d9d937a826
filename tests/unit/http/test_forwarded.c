#include "http/forwarded.h"

#include "suite.h"

enum { LINES_MAX = 4 };

static struct request request;
static struct field fields[LINES_MAX];
static char *copies[LINES_MAX];
static struct cidr blocks[2];
static struct forwarded_trust trust;

static int set_up(void **state)
{
    (void)state;
    request = (struct request){.fields = fields};
    assert_true(cidr_parse(&blocks[0], "10.0.0.0/8"));
    assert_true(cidr_parse(&blocks[1], "fd00::/8"));
    trust = (struct forwarded_trust){FORWARDED_X_FOR, false, blocks, 2};
    return 0;
}

static void forget_lines(void)
{
    for (size_t i = 0; i < LINES_MAX; i++) {
        free(copies[i]);
        copies[i] = NULL;
    }
    request = (struct request){.fields = fields};
}

static int tear_down(void **state)
{
    (void)state;
    forget_lines();
    return 0;
}

/* A copy of exactly that size, so that a sanitizer sees the next byte. */
static void add_line(enum field_id id, const char *value)
{
    size_t len = strlen(value);
    uint8_t at = request.field_count++;

    assert_true(at < LINES_MAX);
    copies[at] = malloc(len + (len == 0));
    assert_non_null(copies[at]);
    memcpy(copies[at], value, len);
    request.fields[at] = (struct field){.value = {copies[at], len}, .id = id};
    if (!(request.seen & 1u << id))
        request.first[id] = at;
    request.seen |= 1u << id;
}

/* "192.0.2.1" or, with a port, "192.0.2.1 80". */
static const char *find_client(const char *peer_text)
{
    static char out[ADDRESS_TEXT_MAX + 8];
    char text[ADDRESS_TEXT_MAX];
    struct address peer = {.family = ADDRESS_UNIX};
    struct address client;

    if (strcmp(peer_text, "unix") != 0)
        assert_true(address_parse(&peer, bytes_of(peer_text)));
    client = forwarded_client(&request, &peer, &trust);
    address_format(&client, text);
    if (client.port == 0)
        return memcpy(out, text, sizeof(text));
    snprintf(out, sizeof(out), "%s %u", text, client.port);
    return out;
}

struct line_case {
    const char *value;
    const char *client; /* the peer is 10.0.0.1 */
};

static void check_cases(enum field_id id, const struct line_case *cases,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *client;

        add_line(id, cases[i].value);
        client = find_client("10.0.0.1");
        if (strcmp(client, cases[i].client) != 0)
            fail_msg("'%s' is of %s", cases[i].value, client);
        forget_lines();
    }
}

#define CHECK_CASES(id, cases) \
    check_cases((id), (cases), sizeof(cases) / sizeof(*(cases)))

TEST(the_right_most_untrusted_of_x_forwarded_for_asks)
{
    static const struct line_case cases[] = {
        {"192.0.2.1", "192.0.2.1"},
        {"203.0.113.9, 192.0.2.1", "192.0.2.1"},
        {"203.0.113.9, 192.0.2.1, 10.0.0.2", "192.0.2.1"},
        {"203.0.113.9,192.0.2.1,10.0.0.2,10.9.9.9", "192.0.2.1"},
        {"nonsense, 192.0.2.1", "192.0.2.1"},
        {"\", 192.0.2.1", "192.0.2.1"},
        {"10.0.0.3, 10.0.0.2", "10.0.0.3"},
        {"2001:db8::1, fd00::1", "2001:db8::1"},
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"[2001:db8::1]:8080", "2001:db8::1 8080"},
        {"192.0.2.1:8080", "192.0.2.1 8080"},
        {" , 192.0.2.1 ,\t, ", "192.0.2.1"},
        {",,,", "unknown"},
        {"", "unknown"},
    };

    CHECK_CASES(FIELD_X_FORWARDED_FOR, cases);
}

TEST(what_is_no_address_is_an_unknown_client)
{
    static const struct line_case cases[] = {
        {"unknown", "unknown"},
        {"192.0.2.1, unknown", "unknown"},
        {"192.0.2.1, unknown, 10.0.0.2", "unknown"},
        {"192.0.2.1, localhost, 10.0.0.2, 10.0.0.3", "unknown"},
        {"192.0.2.1:", "unknown"},
        {"192.0.2.1:65536", "unknown"},
        {"192.0.2.1:x", "unknown"},
        {"192.0.2.1:_", "unknown"},
        {"192.0.2.1 192.0.2.2", "unknown"},
        {"192.0.2.1;192.0.2.2", "unknown"},
        {"[192.0.2.1]", "unknown"},
        {"[2001:db8::1", "unknown"},
        {"[2001:db8::1]x", "unknown"},
        {"[2001:db8::1]:", "unknown"},
        {"2001:db8::1]:80", "unknown"},
        {"[]", "unknown"},
        {"[", "unknown"},
        {":", "unknown"},
        {"\"192.0.2.1\"", "unknown"},
        {"for=192.0.2.1", "unknown"},
    };

    CHECK_CASES(FIELD_X_FORWARDED_FOR, cases);
}

TEST(the_right_most_untrusted_of_forwarded_asks)
{
    static const struct line_case cases[] = {
        {"for=192.0.2.1", "192.0.2.1"},
        {"For=\"192.0.2.1\"", "192.0.2.1"},
        {"FOR=\"[2001:db8::1]\"", "2001:db8::1"},
        {"for=\"[2001:db8::1]:80\"", "2001:db8::1 80"},
        {"for=\"192.0.2.1:80\"", "192.0.2.1 80"},
        {"for=\"192.0.2.1:_http\"", "192.0.2.1"},
        {"for=192.0.2.1;proto=http;by=10.0.0.2", "192.0.2.1"},
        {"proto=http;host=\"a,b;for=1.1.1.1\";for=192.0.2.1", "192.0.2.1"},
        {"for=203.0.113.9, for=192.0.2.1;by=x, for=10.0.0.2", "192.0.2.1"},
        {";for=192.0.2.1;;by=_x;", "192.0.2.1"},
        {", for=192.0.2.1 ,", "192.0.2.1"},
        {"for=192.0.2.1;host=\"a\\\",b\\\\\"", "192.0.2.1"},
        {"for=192.0.2.1;host=\"=\\\"for=1.1.1.1\"", "192.0.2.1"},
    };

    trust.field = FORWARDED_RFC7239;
    CHECK_CASES(FIELD_FORWARDED, cases);
}

/* What stands to the left of a proxy's words is the client's. */
TEST(open_quotes_do_not_swallow_what_proxies_add)
{
    static const struct line_case cases[] = {
        {"for=\", for=192.0.2.1", "192.0.2.1"},
        {"\", for=\"192.0.2.1\"", "192.0.2.1"},
        {"for=\"x, for=\"[2001:db8::1]:80\";proto=http", "2001:db8::1 80"},
        {"for=\"\\, for=192.0.2.1, for=10.0.0.2", "192.0.2.1"},
    };

    trust.field = FORWARDED_RFC7239;
    CHECK_CASES(FIELD_FORWARDED, cases);
}

TEST(what_is_no_node_is_an_unknown_client)
{
    static const struct line_case cases[] = {
        {"for=unknown", "unknown"},
        {"for=_hidden", "unknown"},
        {"for=192.0.2.1, for=_hidden, for=10.0.0.2", "unknown"},
        {"by=192.0.2.1", "unknown"},
        {"for=192.0.2.1, proto=http", "unknown"},
        {"for=192.0.2.1;for=192.0.2.2", "unknown"},
        {"for=192.0.2.1;by", "unknown"},
        {"for=192.0.2.1;by=", "unknown"},
        {"for=192.0.2.1:80", "unknown"}, /* not without quotes */
        {"for=[2001:db8::1]", "unknown"},
        {"for =192.0.2.1", "unknown"},
        {"for= 192.0.2.1", "unknown"},
        {"for=\"192.0.2.1", "unknown"},
        {"for=192.0.2.1\"", "unknown"},
        {"for=\"192.0.2.1\"x", "unknown"},
        {"for=\"192.0.2.\\1\"", "unknown"},
        {"for=\"192.0.2.1:_\xFF\"", "unknown"},
        {"\"", "unknown"},
        {"\\\"", "unknown"},
        {"for=\"\\\"", "unknown"},
        {"192.0.2.1", "unknown"},
    };

    trust.field = FORWARDED_RFC7239;
    CHECK_CASES(FIELD_FORWARDED, cases);
}

TEST(all_lines_are_one_list)
{
    add_line(FIELD_X_FORWARDED_FOR, "192.0.2.7, 192.0.2.1");
    add_line(FIELD_HOST, "x");
    add_line(FIELD_X_FORWARDED_FOR, "10.0.0.3, 10.0.0.2");
    assert_string_equal(find_client("10.0.0.1"), "192.0.2.1");
    forget_lines();
    add_line(FIELD_X_FORWARDED_FOR, "192.0.2.1");
    add_line(FIELD_X_FORWARDED_FOR, "unknown, 10.0.0.2");
    assert_string_equal(find_client("10.0.0.1"), "unknown");
}

TEST(only_those_who_are_trusted_are_believed)
{
    add_line(FIELD_X_FORWARDED_FOR, "192.0.2.1");
    assert_string_equal(find_client("203.0.113.1"), "203.0.113.1");
    assert_string_equal(find_client("unix"), "unix:");
    trust.trusts_unix = true;
    assert_string_equal(find_client("unix"), "192.0.2.1");
    trust.block_count = 0;
    assert_string_equal(find_client("10.0.0.1"), "10.0.0.1");
}

TEST(only_the_chosen_field_counts)
{
    add_line(FIELD_X_FORWARDED_FOR, "192.0.2.1");
    add_line(FIELD_FORWARDED, "for=192.0.2.2");
    assert_string_equal(find_client("10.0.0.1"), "192.0.2.1");
    trust.field = FORWARDED_RFC7239;
    assert_string_equal(find_client("10.0.0.1"), "192.0.2.2");
    trust.field = FORWARDED_NONE;
    assert_string_equal(find_client("10.0.0.1"), "10.0.0.1");
}

TEST(a_trusted_proxy_that_says_nothing_names_nobody)
{
    trust.trusts_unix = true;
    assert_string_equal(find_client("10.0.0.1"), "unknown");
    assert_string_equal(find_client("unix"), "unknown");
    assert_string_equal(find_client("192.0.2.1"), "192.0.2.1");
    add_line(FIELD_FORWARDED, "for=192.0.2.1");
    assert_string_equal(find_client("10.0.0.1"), "unknown");
}

/* What is "here" to a proxy elsewhere is not here. */
TEST(loopback_is_of_the_machine_of_whoever_says_it)
{
    static const struct {
        const char *peer;
        const char *value;
        const char *client;
    } cases[] = {
        {"10.0.0.1", "127.0.0.1", "unknown"},
        {"10.0.0.1", "::1", "unknown"},
        {"10.0.0.1", "192.0.2.1, ::ffff:127.0.0.1", "unknown"},
        {"127.0.0.1", "127.0.0.2", "127.0.0.2"},
        {"127.0.0.1", "192.0.2.1, 127.0.0.1", "192.0.2.1"},
        {"127.0.0.1", "127.0.0.2, 10.0.0.1", "unknown"},
        {"unix", "127.0.0.2", "127.0.0.2"},
    };

    assert_true(cidr_parse(&blocks[1], "127.0.0.1"));
    trust.trusts_unix = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        add_line(FIELD_X_FORWARDED_FOR, cases[i].value);
        assert_string_equal(find_client(cases[i].peer), cases[i].client);
        forget_lines();
    }
}

/* Nothing that is put to the left of it changes what a proxy has said. */
TEST(no_prefix_changes_the_outcome)
{
    static const char alphabet[] = "for=\"\\,;[]:1.a _\xFF";
    uint64_t random = 88172645463325252u;

    trust.field = FORWARDED_RFC7239;
    for (int round = 0; round < 20000; round++) {
        char value[64];
        size_t len = 0;

        for (; len < (size_t)round % 24; len++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            value[len] = alphabet[random % (sizeof(alphabet) - 1)];
        }
        snprintf(value + len, sizeof(value) - len, ",for=\"192.0.2.1:7\"");
        add_line(FIELD_FORWARDED, value);
        assert_string_equal(find_client("10.0.0.1"), "192.0.2.1 7");
        forget_lines();
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
