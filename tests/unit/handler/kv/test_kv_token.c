#include "handler/kv/kv_token.h"

#include "io/small_file.h"
#include "unit/handler/asked.h"

#define LONG_A "aaaaaaaaaaaaaaaaaaaa"
#define LONG_B "bbbbbbbbbbbbbbbb-._~+/=="
#define LONG_C "cccccccccccccccc"

static struct kv_tokens *tokens;
static struct kv_token_fault fault;
static struct kv_access access_to;
static struct host known_hosts[] = {{{"h", 1}, known_hosts}};
static const struct hosts known = {known_hosts, 1};
static struct address peer;
static struct kv_pass pass;

static int set_up(void **state)
{
    access_to = (struct kv_access){.names = &known};
    exchange.neighbour = exchange.peer = &peer;
    exchange.is_introduced = false;
    peer = (struct address){.family = ADDRESS_IPV4, .octets = {192, 0, 2, 1}};
    return begin_asking(state);
}

static int tear_down(void **state)
{
    kv_tokens_release(&tokens);
    tokens = NULL;
    return end_asking(state);
}

static void read_tokens(const char *text)
{
    if (kv_tokens_parse(&tokens, bytes_of(text), &fault) != 0)
        fail_msg("line %u: %s", fault.line, fault.text);
    access_to.tokens = tokens;
}

/* Asked for by that name. */
static enum kv_leave judge_at(const char *host, const char *fields)
{
    ask("PUT /kv/a", fields);
    exchange.request.host = bytes_of(host);
    return kv_access_judge(&access_to, &exchange, &pass);
}

static enum kv_leave judge(const char *fields)
{
    ask("PUT /kv/a", fields);
    return kv_access_judge(&access_to, &exchange, &pass);
}

TEST(a_token_opens_what_its_lines_say)
{
    read_tokens("# all of it\n" LONG_A "\r\n\n  \t\n" LONG_B " a/\n" LONG_B
                "\tx%20y \n" LONG_C " %ff");
    assert_int_equal(judge("Authorization: Bearer " LONG_A "\r\n"),
                     KV_LEAVE_GIVEN);
    assert_true(kv_pass_has(&pass, BYTES("anything")));
    assert_true(kv_pass_has(&pass, BYTES("")));
    assert_int_equal(judge("Authorization: bearer   " LONG_B "\r\n"),
                     KV_LEAVE_GIVEN);
    assert_true(kv_pass_has(&pass, BYTES("a/")));
    assert_true(kv_pass_has(&pass, BYTES("x yz")));
    assert_false(kv_pass_has(&pass, BYTES("a")));
    assert_false(kv_pass_has(&pass, BYTES("\377")));
    assert_false(kv_pass_has(&pass, BYTES("")));
    assert_int_equal(judge("Authorization: Bearer " LONG_C "\r\n"),
                     KV_LEAVE_GIVEN);
    assert_true(kv_pass_has(&pass, BYTES("\377")));
    assert_false(kv_pass_has(&pass, BYTES("a/")));
}

TEST(without_a_token_of_ours_nothing_is_written)
{
    static const char *const cases[] = {
        "",
        "Authorization: Bearer\r\n",
        "Authorization: Bearer \r\n",
        "Authorization: Bearer " LONG_A "a\r\n",
        "Authorization: Bearer aaaaaaaaaaaaaaaaaaa\r\n",
        "Authorization: Basic " LONG_A "\r\n",
        "Authorization: " LONG_A "\r\n",
        "Authorization: Bearer " LONG_A "\r\n"
        "Authorization: Bearer " LONG_A "\r\n",
    };
    char field[400];

    assert_int_equal(judge("Authorization: Bearer " LONG_A "\r\n"),
                     KV_LEAVE_REFUSED);
    read_tokens(LONG_A);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (judge(cases[i]) != KV_LEAVE_UNKNOWN)
            fail_msg("'%s'", cases[i]);
    snprintf(field, sizeof(field), "Authorization: Bearer %0256d\r\n", 0);
    assert_int_equal(judge(field), KV_LEAVE_UNKNOWN);
}

TEST(who_is_on_this_machine_needs_none)
{
    static const struct address here[] = {
        {.family = ADDRESS_UNIX},
        {.family = ADDRESS_IPV4, .octets = {127, 1, 2, 3}},
        {.family = ADDRESS_IPV6, .octets = {[15] = 1}}};

    read_tokens(LONG_A);
    for (size_t i = 0; i < sizeof(here) / sizeof(*here); i++) {
        peer = here[i];
        assert_int_equal(judge(""), KV_LEAVE_GIVEN);
        assert_true(kv_pass_has(&pass, BYTES("any")));
        assert_int_equal(judge_at("localhost:80",
                                  "Origin: http://Localhost:80\r\n"),
                         KV_LEAVE_GIVEN);
        assert_int_equal(judge_at("[::1]", "Origin: http://[::1]\r\n"),
                         KV_LEAVE_GIVEN);
        assert_int_equal(judge_at("127.0.0.1", "Origin: http://127.0.0.1\r\n"),
                         KV_LEAVE_GIVEN);
        /* Such names may lead here, too. */
        assert_int_equal(judge("Origin: http://H\r\n"), KV_LEAVE_UNKNOWN);
        assert_int_equal(judge_at("localhost.evil.example",
                                  "Origin: http://localhost.evil.example\r\n"),
                         KV_LEAVE_UNKNOWN);
        assert_int_equal(judge("Origin: http://evil.example\r\n"),
                         KV_LEAVE_UNKNOWN);
        assert_int_equal(judge("Origin: null\r\n"), KV_LEAVE_UNKNOWN);
        assert_int_equal(judge("Origin: http://h:81\r\n"), KV_LEAVE_UNKNOWN);
        assert_int_equal(judge("Origin: http://evil.example\r\n"
                               "Authorization: Bearer " LONG_A "\r\n"),
                         KV_LEAVE_GIVEN);
    }
    peer = (struct address){.family = ADDRESS_IPV6, .octets = {[15] = 2}};
    assert_int_equal(judge(""), KV_LEAVE_UNKNOWN);
}

TEST(what_a_proxy_here_passes_on_needs_one)
{
    read_tokens(LONG_A);
    peer = (struct address){.family = ADDRESS_UNIX};
    assert_int_equal(judge("Via: 1.1 p\r\n"), KV_LEAVE_UNKNOWN);
    assert_int_equal(judge("X-Forwarded-For: 127.0.0.1\r\n"), KV_LEAVE_UNKNOWN);
    /* One that leaves nothing of its own passes on for whom it is. */
    assert_int_equal(judge_at("www.example", ""), KV_LEAVE_UNKNOWN);
    assert_int_equal(judge_at("localhost", ""), KV_LEAVE_GIVEN);
    access_to.trust = &(struct forwarded_trust){.trusts_unix = true};
    assert_int_equal(judge_at("localhost", ""), KV_LEAVE_UNKNOWN);
    access_to.trust = NULL;
}

TEST(only_a_browser_here_that_was_misled_may_not_read)
{
    ask("GET /kv/a", "");
    assert_true(kv_access_reads(&access_to, &exchange));
    exchange.request.host = BYTES("evil.example");
    assert_true(kv_access_reads(&access_to, &exchange));
    peer = (struct address){.family = ADDRESS_IPV4, .octets = {127, 0, 0, 1}};
    assert_false(kv_access_reads(&access_to, &exchange));
    exchange.request.host = BYTES("localhost:8080");
    assert_true(kv_access_reads(&access_to, &exchange));
}

static bool reads_for(const char *fields)
{
    ask("GET /kv/a", fields);
    exchange.request.host = BYTES("www.example");
    return kv_access_reads(&access_to, &exchange);
}

/* What a proxy adds, the script of a page can add as well. */
TEST(only_a_trusted_proxy_here_reads_by_any_name)
{
    struct cidr block;
    struct forwarded_trust trust = {.blocks = &block, .block_count = 1};

    peer = (struct address){.family = ADDRESS_IPV4, .octets = {127, 0, 0, 1}};
    assert_false(reads_for("Via: 1.1 p\r\n"));
    assert_false(reads_for("X-Forwarded-Foo: 1\r\n"));
    assert_false(reads_for("X-Forwarded-For: 192.0.2.1\r\n"));
    assert_true(cidr_parse(&block, "10.0.0.0/8"));
    access_to.trust = &trust;
    assert_false(reads_for("X-Forwarded-For: 192.0.2.1\r\n"));
    assert_true(cidr_parse(&block, "127.0.0.1"));
    assert_true(reads_for("X-Forwarded-For: 192.0.2.1\r\n"));
    access_to.trust = NULL;
    exchange.is_introduced = true; /* and of another machine */
    assert_true(reads_for(""));
}

TEST(writes_may_be_open_to_all_or_closed_to_all)
{
    access_to.open_writes = true;
    assert_int_equal(judge(""), KV_LEAVE_GIVEN);
    access_to.read_only = true;
    assert_int_equal(judge(""), KV_LEAVE_REFUSED);
    peer = (struct address){.family = ADDRESS_UNIX};
    assert_int_equal(judge(""), KV_LEAVE_REFUSED);
}

TEST(faults_are_told_with_their_line)
{
    static const struct {
        const char *text;
        unsigned line;
    } cases[] = {
        {"", 0},
        {"# nothing\n", 0},
        {LONG_A "\nshort\n", 2},
        {LONG_A "\n\n" LONG_C "!\n", 3},
        {LONG_C "\377\n", 1},
        {"================\n", 1},
        {LONG_C "=a\n", 1},
        {LONG_A " a b\n", 1},
        {LONG_A " %0\n", 1},
        {LONG_A " %00\n", 1},
    };
    static char text[300];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(kv_tokens_parse(&tokens, bytes_of(cases[i].text),
                                         &fault),
                         -EINVAL);
        assert_non_null(fault.text);
        if (fault.line != cases[i].line)
            fail_msg("'%s': line %u", cases[i].text, fault.line);
    }
    memset(text, 'a', 256);
    assert_int_equal(kv_tokens_parse(&tokens, bytes_of(text), &fault), -EINVAL);
    text[255] = '\0';
    read_tokens(text);
}

TEST(a_file_has_a_thousand_tokens_at_most)
{
    static char text[KV_TOKENS_MAX * 24 + 100];
    size_t len = 0;

    for (unsigned i = 0; i < KV_TOKENS_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%016u %u\n", i,
                                i);
    read_tokens(text);
    assert_int_equal(judge("Authorization: Bearer 0000000000000999\r\n"),
                     KV_LEAVE_GIVEN);
    assert_true(kv_pass_has(&pass, BYTES("999")));
    assert_false(kv_pass_has(&pass, BYTES("998")));
    kv_tokens_release(&tokens);
    tokens = NULL;
    snprintf(text + len, sizeof(text) - len, "%016u\n", 5);
    assert_int_equal(kv_tokens_parse(&tokens, bytes_of(text), &fault), -EINVAL);
    assert_int_equal(fault.line, KV_TOKENS_MAX + 1);
}

TEST(tokens_come_from_a_file)
{
    char path[] = "/tmp/kv-token-XXXXXX";
    static char blank[4096];
    int fd = mkstemp(path);
    int err;

    assert_int_not_equal(fd, -1);
    assert_int_equal(write(fd, LONG_A "\n", sizeof(LONG_A)), sizeof(LONG_A));
    err = kv_tokens_open(&tokens, path, &fault);
    assert_int_equal(err, 0);
    access_to.tokens = tokens;
    assert_int_equal(judge("Authorization: Bearer " LONG_A "\r\n"),
                     KV_LEAVE_GIVEN);
    memset(blank, '\n', sizeof(blank));
    for (size_t i = 0; i < SMALL_FILE_BYTES_MAX / sizeof(blank); i++)
        assert_int_equal(write(fd, blank, sizeof(blank)), sizeof(blank));
    close(fd);
    kv_tokens_release(&tokens);
    tokens = NULL;
    err = kv_tokens_open(&tokens, path, &fault);
    unlink(path);
    assert_int_equal(err, -EINVAL);
    assert_string_equal(fault.text, "it has more than 1 MiB");
    assert_int_equal(kv_tokens_open(&tokens, path, &fault), -ENOENT);
    assert_int_equal(kv_tokens_open(&tokens, "/tmp", &fault), -EINVAL);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
