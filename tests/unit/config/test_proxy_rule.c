#include "config/proxy_rule.h"

#include "suite.h"

static struct proxy_rule rule;

static struct bytes as_read(const char *text)
{
    const char *fault = proxy_rule_read(&rule, bytes_of(text));

    if (fault)
        fail_msg("'%s' %s", text, fault);
    return rule.prefix;
}

#define assert_bytes(actual, wanted) \
    assert_true(bytes_eq(actual, bytes_of(wanted)))

/* --- What is good -------------------------------------------------------- */

TEST(a_server_is_read_whole)
{
    static const struct {
        const char *text;
        const char *prefix;
        const char *name;
        const char *host;
        unsigned port;
        const char *path;
    } cases[] = {
        {"/=http://127.0.0.1:9000", "", "127.0.0.1:9000", "127.0.0.1", 9000,
         ""},
        {"/=http://app", "", "app", "app", 80, ""},
        {"/=HTTP://app", "", "app", "app", 80, ""},
        {"/a/=http://App.example./", "/a", "App.example.", "App.example.", 80,
         "/"},
        {"/a/b=http://[::1]:65535/v1/x", "/a/b", "[::1]:65535", "::1", 65535,
         "/v1/x"},
        {"/a=http://[2001:db8::1]", "/a", "[2001:db8::1]", "2001:db8::1", 80,
         ""},
        {"/-._~=http://a_b:1/~x/-._$&'()*+=:@", "/-._~", "a_b:1", "a_b", 1,
         "/~x/-._$&'()*+=:@"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_bytes(as_read(cases[i].text), cases[i].prefix);
        assert_int_equal(rule.count, 1);
        assert_bytes(rule.path, cases[i].path);
        assert_bytes(rule.servers[0].name, cases[i].name);
        assert_bytes(rule.servers[0].authority, cases[i].name);
        assert_bytes(rule.servers[0].host, cases[i].host);
        assert_int_equal(rule.servers[0].port, cases[i].port);
        assert_int_equal(rule.servers[0].socket.len, 0);
        assert_int_equal(rule.servers[0].weight, 1);
        assert_int_equal(rule.servers[0].conns_max, 0);
        assert_false(rule.servers[0].is_backup);
    }
}

TEST(a_prefix_may_be_left_out)
{
    assert_bytes(as_read("http://a:81/x=y,http://b/x=y"), "");
    assert_false(rule.has_prefix);
    assert_bytes(rule.path, "/x=y");
    assert_int_equal(rule.count, 2);
    assert_bytes(as_read("unix:/run/a=b"), "");
    assert_bytes(rule.servers[0].socket, "/run/a=b");
    as_read("/=http://a");
    assert_true(rule.has_prefix);
}

TEST(a_socket_is_a_server_too)
{
    assert_bytes(as_read("/=unix:/run/app"), "");
    assert_bytes(rule.servers[0].socket, "/run/app");
    assert_bytes(rule.servers[0].name, "unix:/run/app");
    assert_bytes(rule.servers[0].authority, "localhost");
    assert_bytes(rule.path, "");
    as_read("/a=unix:/run/app:/b;weight=2");
    assert_bytes(rule.servers[0].socket, "/run/app");
    assert_bytes(rule.servers[0].name, "unix:/run/app");
    assert_bytes(rule.path, "/b");
    assert_int_equal(rule.servers[0].weight, 2);
}

TEST(https_is_another_way_to_a_server_or_a_socket)
{
    static const struct {
        const char *text;
        bool is_tls;
        const char *name;
        const char *host;
        unsigned port;
        const char *socket;
        const char *path;
    } cases[] = {
        {"/=https://app", true, "app", "app", 443, "", ""},
        {"/=HTTPS://app:8443/x", true, "app:8443", "app", 8443, "", "/x"},
        {"/=https://[::1]", true, "[::1]", "::1", 443, "", ""},
        {"/=https://unix:/run/a:/x", true, "unix:/run/a", "", 0, "/run/a",
         "/x"},
        {"/=http://app", false, "app", "app", 80, "", ""},
        {"/=unix:/run/a", false, "unix:/run/a", "", 0, "/run/a", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_bytes(as_read(cases[i].text), "");
        assert_int_equal(rule.servers[0].is_tls, cases[i].is_tls);
        assert_bytes(rule.servers[0].name, cases[i].name);
        assert_bytes(rule.servers[0].host, cases[i].host);
        assert_bytes(rule.servers[0].socket, cases[i].socket);
        assert_int_equal(rule.servers[0].port, cases[i].port);
        assert_bytes(rule.path, cases[i].path);
    }
    as_read("https://a:1;weight=3,http://b:2,https://c:3;backup");
    assert_int_equal(rule.count, 3);
    assert_true(rule.servers[0].is_tls && rule.servers[2].is_tls);
    assert_false(rule.servers[1].is_tls);
    assert_int_equal(rule.servers[0].weight, 3);
    assert_true(rule.servers[2].is_backup);
}

TEST(several_have_what_is_said_of_each)
{
    as_read("/=http://a/x;weight=1000,http://b:81/x;max-conns=7;backup,"
            "unix:/c:/x;backup;max-conns=1000000;weight=1");
    assert_int_equal(rule.count, 3);
    assert_int_equal(rule.servers[0].weight, 1000);
    assert_false(rule.servers[0].is_backup);
    assert_int_equal(rule.servers[1].weight, 1);
    assert_int_equal(rule.servers[1].conns_max, 7);
    assert_true(rule.servers[1].is_backup);
    assert_int_equal(rule.servers[1].port, 81);
    assert_int_equal(rule.servers[2].conns_max, 1000000);
    assert_true(rule.servers[2].is_backup);
}

/* --- What is not --------------------------------------------------------- */

TEST(what_is_no_rule_is_refused_with_its_reason)
{
    static const struct {
        const char *text;
        const char *words; /* a part of them */
    } cases[] = {
        {"", "is not PREFIX=SERVER"},
        {"/", "is not PREFIX=SERVER"},
        {"/=", "is not PREFIX=SERVER"},
        {"=http://a", "is not PREFIX=SERVER"},
        {"a=http://a", "has a prefix"},
        {"a", "is not PREFIX=SERVER"},
        {"app=http://a", "prefix"},
        {"//=http://a", "prefix"},
        {"/a/../b=http://a", "prefix"},
        {"/a b=http://a", "prefix"},
        {"/%61=http://a", "prefix"},
        {"/=https:/a", "none of http://, https:// and unix:/"},
        {"/=https://", "no name and no address"},
        {"/=https://http://a", "port that is no number"},
        {"/=https://unix:app", "begin with a slash"},
        {"/=http:/a", "none of http://, https:// and unix:/"},
        {"/=http", "none of http://, https:// and unix:/"},
        {"/=a:9000", "none of http://, https:// and unix:/"},
        {"/=http://", "no name and no address"},
        {"/=http:///x", "no name and no address"},
        {"/=http://:9000", "no name and no address"},
        {"/=http://a..b", "no name and no address"},
        {"/=http://a b", "no name and no address"},
        {"/=http://u@a", "no name and no address"},
        {"/=http://256.0.0.1", "no name and no address"},
        {"/=http://a?b", "no name and no address"},
        {"/=http://::1", "no name and no address"},
        {"/=http://[::1", "brackets"},
        {"/=http://[]", "brackets"},
        {"/=http://[127.0.0.1]", "brackets"},
        {"/=http://[::1%eth0]", "brackets"},
        {"/=http://[::1]9000", "port"},
        {"/=http://a:", "port"},
        {"/=http://a:0", "port"},
        {"/=http://a:65536", "port"},
        {"/=http://a:9999999999", "port"},
        {"/=http://a:8x", "port"},
        {"/=http://a:-1", "port"},
        {"/=http://a/x?y", "path"},
        {"/=http://a/x#y", "path"},
        {"/=http://a/x y", "path"},
        {"/=http://a/%41", "path"},
        {"/=http://a/../x", "path"},
        {"/=http://a/x/.", "path"},
        {"/=unix:", "socket"},
        {"/=unix:/", "socket"},
        {"/=unix:run/app", "socket"},
        {"/=unix:/run/app:x", "socket"},
        {"/=http://a;weight=0", "weight"},
        {"/=http://a;weight=1001", "weight"},
        {"/=http://a;weight=", "weight"},
        {"/=http://a;weight=1.5", "weight"},
        {"/=http://a;max-conns=1000001", "max-conns"},
        {"/=http://a;max-conns=x", "max-conns"},
        {"/=http://a;weight=1;weight=1", "two weights"},
        {"/=http://a;backup;weight=2;backup", "backup twice"},
        {"/=http://a;max-conns=1;max-conns=2", "two max-conns"},
        {"/=http://a;down", "none of"},
        {"/=http://a;Backup", "none of"},
        {"/=http://a;;backup", "none of"},
        {"/=http://a,", "comma"},
        {"/=,http://a", "none of http://, https:// and unix:/"},
        {"/=http://a,,http://b", "none of http://, https:// and unix:/"},
        {"/=http://a,http://A", "twice"},
        {"/=unix:/a,unix:/a;backup", "twice"},
        {"/=http://a/x,http://b", "not the same"},
        {"/=http://a/x,http://b/y", "not the same"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *words = proxy_rule_read(&rule, bytes_of(cases[i].text));

        if (!words || !strstr(words, cases[i].words))
            fail_msg("'%s' %s", cases[i].text, words ? words : "is taken");
    }
}

/* --- How much ------------------------------------------------------------ */

static char text[16384];

/* Behind what text holds already. */
__attribute__((format(printf, 1, 2))) static void write_on(const char *format,
                                                           ...)
{
    size_t len = strlen(text);
    va_list list;

    va_start(list, format);
    vsnprintf(text + len, sizeof(text) - len, format, list);
    va_end(list);
}

TEST(there_are_sixty_four_servers_at_most)
{
    strncpy(text, "/=http://a0", sizeof(text) - 1);
    for (unsigned i = 1; i < PROXY_RULE_SERVERS_MAX; i++)
        write_on(",http://a%u", i);
    assert_null(proxy_rule_read(&rule, bytes_of(text)));
    assert_int_equal(rule.count, PROXY_RULE_SERVERS_MAX);
    write_on(",http://b");
    assert_non_null(proxy_rule_read(&rule, bytes_of(text)));
}

/* before, len times 'a', and after it. */
static const char *read_long(const char *before, size_t len, const char *after)
{
    text[0] = '\0';
    write_on("%s", before);
    memset(text + strlen(before), 'a', len);
    text[strlen(before) + len] = '\0';
    write_on("%s", after);
    return proxy_rule_read(&rule, bytes_of(text));
}

TEST(prefixes_paths_and_sockets_have_an_end)
{
    assert_null(read_long("/", 199, "=http://a"));
    assert_non_null(read_long("/", 200, "=http://a"));
    assert_non_null(read_long("/", 2000, "=http://a"));
    assert_null(read_long("/=http://a/", PROXY_RULE_PATH_MAX - 1, ""));
    assert_non_null(read_long("/=http://a/", PROXY_RULE_PATH_MAX, ""));
    assert_null(read_long("/=unix:/", UPSTREAM_UNIX_PATH_MAX - 1, ""));
    assert_non_null(read_long("/=unix:/", UPSTREAM_UNIX_PATH_MAX, ""));
    assert_null(read_long("/=http://", 63, ""));
    assert_non_null(read_long("/=http://", 64, ""));
}

/* --- What is beside it --------------------------------------------------- */

TEST(balances_are_called_by_their_names)
{
    static const struct {
        const char *name;
        enum balance_policy policy;
        enum proxy_hash hash;
        const char *field;
    } cases[] = {{"round-robin", BALANCE_ROUND_ROBIN, PROXY_HASH_ADDRESS, ""},
                 {"least-conn", BALANCE_LEAST_CONN, PROXY_HASH_ADDRESS, ""},
                 {"random", BALANCE_RANDOM, PROXY_HASH_ADDRESS, ""},
                 {"hash-address", BALANCE_HASH, PROXY_HASH_ADDRESS, ""},
                 {"hash-uri", BALANCE_HASH, PROXY_HASH_URI, ""},
                 {"hash:X-User", BALANCE_HASH, PROXY_HASH_FIELD, "X-User"}};
    static const char *const bad[] = {
        "", "hash", "hash:", "Random", "hash:X User", "random "};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct proxy_options options = {.hash_field = BYTES("")};

        assert_null(proxy_rule_read_balance(&options, bytes_of(cases[i].name)));
        assert_int_equal(options.upstream.balance.policy, cases[i].policy);
        assert_int_equal(options.hash, cases[i].hash);
        assert_bytes(options.hash_field, cases[i].field);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct proxy_options options;

        assert_non_null(proxy_rule_read_balance(&options, bytes_of(bad[i])));
    }
}

TEST(statuses_are_one_or_a_range)
{
    static const char *const bad[] = {"",         "199",      "600", "200-",
                                      "-200",     "399-200",  "2xx", "200-600",
                                      "200-300-", "200 - 300"};
    unsigned min, max;

    assert_null(proxy_rule_read_statuses(BYTES("204"), &min, &max));
    assert_int_equal(min, 204);
    assert_int_equal(max, 204);
    assert_null(proxy_rule_read_statuses(BYTES("200-599"), &min, &max));
    assert_int_equal(min, 200);
    assert_int_equal(max, 599);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (!proxy_rule_read_statuses(bytes_of(bad[i]), &min, &max))
            fail_msg("'%s' is taken", bad[i]);
}
