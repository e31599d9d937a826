/*
 * `sprintd cache`: an operator lists, counts and purges what a running server
 * keeps of what it proxies.
 */
#include "operator.h"
#include "upstream.h"

#define KEEP "Cache-Control: max-age=600\r\n"
#define REPLY(fields, body) \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n" KEEP fields "\r\n" body
#define LEN(n) "Content-Length: " #n "\r\n"

#define START_CACHE(upstream, ...)                                             \
    START("--workers=2", printed("--proxy=/=%s", (upstream)->at), "--control", \
          control_path(), "--proxy-retries=0", __VA_ARGS__)

/* What the command prints, where nothing but success will do. */
#define CACHE_OK(...)                                                  \
    run_ok((const char *const[]){"cache", "--control", control_path(), \
                                 __VA_ARGS__, NULL})

static const char *run_ok(const char *const arguments[])
{
    struct outcome *outcome = scratch(sizeof(*outcome));

    server_run(&(struct launch){.is_bare = true, .root = ""}, arguments,
               outcome);
    if (outcome->status != 0)
        flunk("%s: %d, %s", arguments[3], outcome->status, outcome->err);
    return outcome->out;
}

static void fetch(const struct server *server, const struct upstream *upstream,
                  const char *path, const char *fields, const char *text)
{
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, "GET %s HTTP/1.1\r\nHost: Example.org\r\n%s\r\n", path,
               fields);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, "%s", text);
    (void)client_reply(client);
}

static bool is_kept(const struct server *server, const char *path)
{
    struct reply *reply = client_ask_host(client_open(server), "GET",
                                          "example.org", path,
                                          "Cache-Control: only-if-cached\r\n");

    return reply->status == 200;
}

static void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        flunk("'%s' is not in: %s", part, text);
}

TEST(an_operator_sees_what_is_kept)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--proxy-cache=memory");
    const char *text;

    expect_in(CACHE_OK("stat"), "in: memory\nentries: 0\nbytes: 0 of "
                                "268435456\n");
    fetch(server, upstream, "/a?x=1", "", REPLY(LEN(5), "hello"));
    fetch(server, upstream, "/b/c", "Foo: 1\r\n",
          REPLY("Vary: Foo\r\n" LEN(1), "b"));
    fetch(server, upstream, "/p", "Range: bytes=0-1\r\n",
          "HTTP/1.1 206 Part\r\nConnection: close\r\n" KEEP
          "Content-Range: bytes 0-1/9\r\n" LEN(2) "\r\nab");
    expect_in(CACHE_OK("stat"), "entries: 3\n");
    text = CACHE_OK("ls");
    expect_in(text, " 200 ");
    expect_in(text, " http://example.org/a?x=1\n");
    expect_in(text, " http://example.org/b/c [foo]\n");
    expect_in(text, " http://example.org/p (1 parts of 9 bytes)\n");
    text = CACHE_OK("ls", "example.org/b/*");
    expect_in(text, "http://example.org/b/c");
    assert_null(strstr(text, "/a?x=1"));
    text = CACHE_OK("ls", "http://EXAMPLE.org/a?x=1");
    expect_in(text, "/a?x=1\n");
    assert_null(strstr(text, "/b/c"));
    assert_null(strstr(CACHE_OK("ls", "example.org/A?x=1"), "org"));
}

/* A query may have any byte that is none of HTTP's; terminals obey some. */
TEST(nobody_speaks_to_an_operators_terminal)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--proxy-cache=memory");
    const char *text;

    fetch(server, upstream, "/a?\xc2\x9bK", "",
          REPLY("Vary: Foo\xc2\x9bK\r\n" LEN(1), "a"));
    text = CACHE_OK("ls");
    expect_in(text, "/a?\\xc2\\x9bK [foo\\xc2\\x9bk]\n");
}

TEST(an_operator_purges_an_address_a_prefix_tags_or_all)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--proxy-cache=memory");
    static const char *const paths[] = {"/a/1", "/a/2", "/b", "/c"};

    for (size_t i = 0; i < 4; i++)
        fetch(server, upstream, paths[i], "",
              REPLY("Cache-Tag: even, odd\r\n" LEN(1), "x"));
    assert_string_equal(CACHE_OK("purge", "https://Example.org/b"),
                        "1 purged\n");
    assert_false(is_kept(server, "/b"));
    assert_true(is_kept(server, "/c"));
    assert_string_equal(CACHE_OK("purge", "example.org/a/*"), "2 purged\n");
    assert_false(is_kept(server, "/a/1"));
    assert_string_equal(CACHE_OK("purge", "--tag", "none,other"), "0 purged\n");
    assert_true(is_kept(server, "/c"));
    assert_string_equal(CACHE_OK("purge", "--tag", "none,odd"), "1 purged\n");
    assert_false(is_kept(server, "/c"));
    fetch(server, upstream, "/d", "", REPLY("ETag: \"v\"\r\n" LEN(1), "d"));
    assert_string_equal(CACHE_OK("purge", "--soft", "*"), "1 purged\n");
    expect_in(CACHE_OK("ls"), "/d purged\n");
    assert_false(is_kept(server, "/d"));
    assert_string_equal(CACHE_OK("purge", "*"), "1 purged\n");
    expect_in(CACHE_OK("stat"), "entries: 0\n");
}

TEST(a_purge_in_a_folder_is_on_disk)
{
    struct upstream *upstream = upstream_open();
    const char *cache = printed("--proxy-cache=%s/kept", folder());
    struct server *server = START_CACHE(upstream, cache);

    fetch(server, upstream, "/a", "", REPLY(LEN(1), "a"));
    fetch(server, upstream, "/b", "", REPLY(LEN(1), "b"));
    assert_true(eventually(strstr(CACHE_OK("stat"), "files written: 2\n"),
                           3000));
    assert_string_equal(CACHE_OK("purge", "example.org/a"), "1 purged\n");
    server_stop(server);
    server = START_CACHE(upstream, cache);
    assert_true(eventually(is_kept(server, "/b"), 3000));
    assert_false(is_kept(server, "/a"));
}

TEST(what_cannot_be_meant_is_refused)
{
    static const char *const wrong[][4] = {{"purge"},
                                           {"purge", "--soft"},
                                           {"purge", "--tag"},
                                           {"purge", "a", "b"},
                                           {"purge", "a b"},
                                           {"purge", "--hard", "a"},
                                           {"ls", "a", "b"},
                                           {"ls", "--soft"},
                                           {"stat", "a"},
                                           {"prune"},
                                           {NULL}};
    struct upstream *upstream = upstream_open();
    struct outcome outcome;

    START_CACHE(upstream, "--proxy-cache=memory");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        RUN(&outcome, "cache", "--control", control_path(), wrong[i][0],
            wrong[i][1], wrong[i][2]);
        going_on("command %zu", i);
        assert_int_not_equal(outcome.status, 0);
        assert_true(outcome.err[0] != '\0');
        assert_string_equal(outcome.out, "");
    }
}

TEST(a_server_without_a_cache_says_so_and_none_at_all_is_told)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct outcome outcome;

    RUN(&outcome, "cache", "--control", control_path(), "stat");
    assert_int_equal(outcome.status, EXIT_FAILURE);
    expect_in(outcome.err, "this server has no --proxy-cache");
    server_stop(server);
    RUN(&outcome, "cache", "--control", control_path(), "stat");
    assert_int_equal(outcome.status, 69);
    expect_in(outcome.err, "no server is at");
}

SUITE(.begin = operator_begin, .end = harness_end,
      .each_end = operator_after_test);
