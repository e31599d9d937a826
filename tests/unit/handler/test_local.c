#include "unit/handler/asked.h"

#include "handler/local.h"

static struct address peer, neighbour;
static const struct forwarded_trust *trust;

static int set_up(void **state)
{
    trust = NULL;
    peer = neighbour = (struct address){.family = ADDRESS_UNIX};
    exchange = (struct exchange){.peer = &peer, .neighbour = &neighbour};
    return begin_asking(state);
}

/* --- Who sends ----------------------------------------------------------- */

static bool is_local(const char *fields)
{
    ask("GET /", fields);
    return local_is_sender(&exchange, trust);
}

TEST(who_is_connected_must_be_of_this_machine)
{
    assert_true(is_local(""));
    assert_true(address_parse(&neighbour, BYTES("127.0.0.3")));
    assert_true(is_local("Accept: */*\r\nX-Forward: x\r\nX-Real: y\r\n"));
    assert_true(address_parse(&neighbour, BYTES("192.0.2.1")));
    assert_false(is_local(""));
}

TEST(whom_a_trusted_proxy_speaks_for_is_not_local)
{
    peer = (struct address){.family = ADDRESS_UNKNOWN};
    assert_false(is_local(""));
    assert_true(address_parse(&peer, BYTES("192.0.2.1")));
    assert_false(is_local(""));
    assert_true(address_parse(&peer, BYTES("127.0.0.1")));
    assert_true(is_local(""));
    exchange.is_introduced = true;
    assert_false(is_local(""));
}

/* Wherever it was told to say whom it asks for, be it nowhere. */
TEST(a_proxy_that_is_trusted_need_not_add_anything)
{
    struct cidr block;
    struct forwarded_trust trusted = {
        .trusts_unix = true, .blocks = &block, .block_count = 1};

    assert_true(cidr_parse(&block, "10.0.0.0/8"));
    trust = &trusted;
    assert_false(is_local(""));
    assert_true(address_parse(&neighbour, BYTES("127.0.0.1")));
    assert_true(is_local(""));
    assert_true(cidr_parse(&block, "127.0.0.0/8"));
    assert_false(is_local(""));
}

TEST(whatever_a_proxy_adds_gives_it_away)
{
    static const char *const cases[] = {
        "Via: 1.1 p\r\n",
        "Forwarded: for=127.0.0.1\r\n",
        "X-Forwarded-For: 127.0.0.1\r\n",
        "x-forwarded-for:\r\n",
        "X-Forwarded-Proto: https\r\n",
        "X-Forwarded-Host: h\r\n",
        "X-FORWARDED-server: h\r\n",
        "X-Forwarded-Prefix: /a\r\n",
        "X-Real-IP: 127.0.0.1\r\n",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (is_local(cases[i]))
            fail_msg("%s", cases[i]);
}

/* --- By which name ------------------------------------------------------- */

TEST(names_are_those_that_nobody_else_can_have)
{
    static struct host hosts[] = {{{".site.example", 13}, hosts},
                                  {{"web1", 4}, hosts}};
    static const struct hosts names = {hosts, 2};
    static const struct {
        const char *host;
        bool is_ours;
    } cases[] = {
        {"", true}, /* of no browser */
        {"localhost", true},
        {"LOCALHOST:8080", true},
        {"127.0.0.1", true},
        {"127.0.0.1:8080", true},
        {"192.0.2.1:80", true}, /* pages cannot be of an address not theirs */
        {"[::1]", true},
        {"[2001:db8::1]:8080", true},
        {"web1:8080", true},
        {"Web1.", true},
        {"a.site.example", true},
        {"site.example", false},
        {"localhost.evil.example", false},
        {"localhosts", false},
        {"127.0.0.1.evil.example", false},
        {"127.1", false},
        {"256.0.0.1", false},
        {"[127.0.0.1]", false},
        {"[::1", false},
        {"[", false},
        {"evil.example", false},
        {"evil.example:127", false},
        {":80", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (local_is_named(&names, bytes_of(cases[i].host)) != cases[i].is_ours)
            fail_msg("%s", cases[i].host);
    assert_true(local_is_named(NULL, BYTES("localhost")));
    assert_false(local_is_named(NULL, BYTES("web1")));
}

TEST(a_name_is_not_one_for_having_been_asked_behind_one)
{
    char longest[80] = "";

    for (int i = 0; i < 3; i++) {
        assert_true(local_is_named(NULL, BYTES("127.0.0.1:8080")));
        assert_false(local_is_named(NULL, BYTES("evil.example:8")));
        assert_true(local_is_named(NULL, BYTES("127.0.0.1:8080")));
        assert_true(local_is_named(NULL, BYTES("192.0.2.1:8080")));
    }
    snprintf(longest, sizeof(longest), "127.0.0.1:%065d", 80);
    assert_true(local_is_named(NULL, bytes_of(longest)));
    longest[0] = 'x';
    assert_false(local_is_named(NULL, bytes_of(longest)));
}

SUITE(.each_begin = set_up, .each_end = end_asking);
