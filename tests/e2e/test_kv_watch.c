/*
 * Changes as they happen, of a store in a folder: all of them, in order, from
 * wherever a client was; and who cannot follow is told so.
 */
#include "operator.h"
#include "sse.h"
#include "store.h"

#include <signal.h>

#define NDJSON "Content-Type: application/x-ndjson\r\n"

enum { SOON_MS = 20000 };

static unsigned long long revision_of_list(struct client *client)
{
    struct reply *reply = store_ask(client, "HEAD", "", NULL, NULL);

    expect_status(reply, 200);
    assert_non_null(reply_field(reply, "X-KV-Revision"));
    return strtoull(reply_field(reply, "X-KV-Revision"), NULL, 10);
}

/* Puts as many keys of a name as there are in a batch. */
static void put_many(struct client *client, const char *prefix, unsigned count)
{
    size_t room = count * (strlen(prefix) + 64), len = 0;
    char *lines = scratch(room);

    for (unsigned i = 0; i < count; i++)
        len += (size_t)
            snprintf(lines + len, room - len,
                     "{\"op\":\"put\",\"key\":\"%s%05u\",\"value\":\"\"}\n",
                     prefix, i);
    expect_status(store_ask(client, "POST", "-/batch", NDJSON, lines), 200);
}

/* --- What is told -------------------------------------------------------- */

TEST(changes_are_told_in_their_order)
{
    struct server *one = START_STORE(store_folder(), "--workers=2");
    struct client *watcher = client_open(one);
    struct client *client = client_open(one);
    struct sse_event event;
    unsigned long long first;
    const char *begin;

    sse_open(watcher, "/kv/?watch=1&prefix=w%2F", NULL);
    assert_int_equal(sse_expect(watcher, "reset", "{}"), 0);
    first = store_put(client, "w/a", "one");
    event = sse_next(watcher);
    assert_string_equal(event.name, "put");
    assert_true(event.id == first);
    begin = printed("{\"key\":\"w/a\",\"size\":3,\"etag\":\"\\\"%llu\\\"\",",
                    first);
    if (strncmp(event.data, begin, strlen(begin)) != 0 ||
        !strstr(event.data, ",\"expires\":null}"))
        flunk("%s", event.data);
    store_put(client, "other", "x");
    assert_true(store_put(client, "w/a", "two") ==
                sse_expect(watcher, "put", "{\"key\":\"w/a\""));
    expect_status(store_ask(client, "DELETE", "w/a", NULL, NULL), 204);
    assert_true(sse_expect(watcher, "delete", "{\"key\":\"w/a\"}") > first + 2);
    expect_status(store_ask(client, "DELETE", "w/a", NULL, NULL), 404);
    expect_status(store_ask(client, "POST", "w/n?op=add", NULL, NULL), 201);
    sse_expect(watcher, "put", "{\"key\":\"w/n\",\"size\":1,");
    expect_status(store_ask(client, "POST", "-/batch", NDJSON,
                            "{\"op\":\"put\",\"key\":\"w/1\",\"value\":\"\"}\n"
                            "{\"op\":\"put\",\"key\":\"no\",\"value\":\"\"}\n"
                            "{\"op\":\"delete\",\"key\":\"w/n\"}\n"
                            "{\"op\":\"check\",\"key\":\"w/1\",\"if\":\"*\"}\n"
                            "{\"op\":\"put\",\"key64\":\"dy//\",\"value\":"
                            "\"\"}\n"),
                  200);
    sse_expect(watcher, "put", "{\"key\":\"w/1\"");
    sse_expect(watcher, "delete", "{\"key\":\"w/n\"}");
    sse_expect(watcher, "put", "{\"key64\":\"dy//\"");
    /* What was not done is not told. */
    expect_status(store_ask(client, "PUT", "w/1", "If-None-Match: *\r\n", "x"),
                  412);
    expect_status(store_ask(client, "POST", "-/batch", NDJSON,
                            "{\"op\":\"put\",\"key\":\"w/2\",\"value\":\"\"}\n"
                            "{\"op\":\"check\",\"key\":\"w/2\",\"if\":"
                            "\"absent\"}\n"),
                  412);
    store_put(client, "w/end", "");
    sse_expect(watcher, "put", "{\"key\":\"w/end\"");
}

TEST(what_expires_is_told_of)
{
    struct server *one = START_STORE(store_folder(), NULL);
    struct client *watcher = client_open(one);
    struct client *client = client_open(one);
    unsigned long long put;

    sse_open(watcher, "/kv/?watch=1", NULL);
    sse_expect(watcher, "reset", "{");
    store_put(client, "short?ttl=1", "x");
    put = sse_expect(watcher, "put", "{\"key\":\"short\"");
    assert_true(sse_expect(watcher, "expire", "{\"key\":\"short\"}") > put);
    expect_status(store_ask(client, "GET", "short", NULL, NULL), 404);
}

TEST(a_question_that_makes_no_sense_is_refused)
{
    static const char *const questions[] = {"?watch=2",
                                            "?watch=yes",
                                            "?since=1",
                                            "?watch=1&since=",
                                            "?watch=1&since=-1",
                                            "?watch=1&since=1x",
                                            "?watch=1&limit=1",
                                            "?watch=1&values=1",
                                            "?watch=1&cursor=6b61",
                                            "?watch=1&delimiter=/",
                                            "?watch=0&since=1",
                                            "?watch=1&watch=1"};
    struct server *one = START_STORE(store_folder(), NULL);
    struct client *client = client_open(one);

    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        going_on("%s", questions[i]);
        expect_problem(store_ask(client, "GET", questions[i], NULL, NULL), 400,
                       "parameter");
    }
    going_on("%s", "");
    expect_status(store_ask(client, "GET", "?watch=0", NULL, NULL), 200);
    expect_status(store_ask(client, "HEAD", "?watch=1", NULL, NULL), 200);
    client_expect_usable(client);
}

/* --- From where ---------------------------------------------------------- */

TEST(a_watch_goes_on_where_it_was)
{
    const char *place = store_folder();
    struct server *one = START_STORE(place, "--workers=2");
    struct client *client = client_open(one);
    struct client *watcher = client_open(one);
    unsigned long long first, second;

    first = store_put(client, "a", "1");
    second = store_put(client, "b", "2");
    store_put(client, "c", "3");
    sse_open(watcher, printed("/kv/?watch=1&since=%llu", first), NULL);
    sse_expect(watcher, "put", "{\"key\":\"b\"");
    sse_expect(watcher, "put", "{\"key\":\"c\"");
    watcher = client_open(one);
    sse_open(watcher, printed("/kv/?watch=1&since=%llu", first),
             printed("Last-Event-ID: %llu\r\n", second));
    sse_expect(watcher, "put", "{\"key\":\"c\"");
    watcher = client_open(one);
    sse_open(watcher, "/kv/?watch=1&since=0", NULL);
    assert_true(sse_expect(watcher, "put", "{\"key\":\"a\"") == first);
    /* Ids that are none of ours, and what has not happened yet. */
    watcher = client_open(one);
    sse_open(watcher, "/kv/?watch=1", "Last-Event-ID: x\r\n");
    sse_expect(watcher, "reset", "{\"revision\":");
    watcher = client_open(one);
    sse_open(watcher, printed("/kv/?watch=1&since=%llu", second + 1000), NULL);
    sse_expect(watcher, "reset", "{\"revision\":");
    /* After a restart nobody knows any more what was before. */
    server_stop(one);
    one = START_STORE(place, NULL);
    watcher = client_open(one);
    sse_open(watcher, printed("/kv/?watch=1&since=%llu", second), NULL);
    assert_true(sse_expect(watcher, "reset", "{\"revision\":") == second + 1);
    watcher = client_open(one);
    sse_open(watcher, printed("/kv/?watch=1&since=%llu", second + 1), NULL);
    store_put(client_open(one), "d", "4");
    sse_expect(watcher, "put", "{\"key\":\"d\"");
}

/* Lists and watches begin in the midst of writing: what a list has not, and no
 * event tells, would be missing. */
TEST(nothing_is_lost_between_a_list_and_a_watch)
{
    enum { WRITERS = 8, ROUNDS = 40 };
    struct server *one = START_STORE(store_folder(), "--workers=2",
                                     "--kv-sync=off");
    struct client *writers[WRITERS];

    for (unsigned i = 0; i < WRITERS; i++)
        writers[i] = client_open(one);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct client *watcher = client_open(one);
        unsigned long long revision, last = 0;

        for (unsigned i = 0; i < WRITERS; i++)
            store_say(writers[i], "PUT", printed("w%u", i), NULL,
                      printed("%u", round));
        revision = revision_of_list(watcher);
        sse_open(watcher, printed("/kv/?watch=1&since=%llu", revision), NULL);
        for (unsigned i = 0; i < WRITERS; i++) {
            unsigned long long written =
                reply_revision(client_reply(writers[i]));

            last = written > last ? written : last;
        }
        for (unsigned long long at = revision; at < last; at++)
            assert_true(sse_expect(watcher, "put", "{\"key\":\"w") == at + 1);
        client_close(watcher);
    }
}

/* --- Who is slow, and how many ------------------------------------------- */

/* On a busy machine this one falls behind, too. */
static void expect_end(struct client *quick, unsigned long long end)
{
    struct sse_event event;

    do
        event = sse_next(quick);
    while (event.id < end);
    assert_int_equal(event.id, end);
}

TEST(who_falls_behind_is_told_and_costs_no_memory)
{
    enum { BATCHES = 40, OPS = 2000, GROWTH_MAX = 24 << 20 };
    struct server *one = START_STORE(store_folder(), "--kv-sync=off");
    struct client *slow = client_open_narrow(one, 4096);
    struct client *quick = client_open(one);
    struct client *client = client_open(one);
    char *prefix = scratch(401);
    uint64_t before;
    unsigned long long end, last = 0;
    unsigned resets = 0;

    memset(prefix, 'p', 400);
    prefix[400] = '\0';
    sse_open(slow, "/kv/?watch=1", NULL);
    sse_open(quick, "/kv/?watch=1&prefix=end", NULL);
    sse_expect(slow, "reset", "{");
    sse_expect(quick, "reset", "{");
    put_many(client, prefix, OPS); /* the file's pages are in memory, too */
    before = server_memory(one);
    for (unsigned i = 0; i < BATCHES; i++)
        put_many(client, prefix, OPS);
    if (!is_sanitized())
        assert_true(server_memory(one) < before + GROWTH_MAX);
    end = store_put(client, "end", "x");
    while (last < end) {
        struct sse_event event = sse_next(slow);

        resets += strcmp(event.name, "reset") == 0;
        assert_true(event.id > last);
        last = event.id;
    }
    assert_true(resets > 0);
    expect_end(quick, end);
    store_put(client, "end", "y");
    sse_expect(slow, "put", "{\"key\":\"end\"");
}

TEST(so_many_watch_at_a_time)
{
    struct server *one = START_STORE(store_folder(), "--workers=1",
                                     "--kv-watchers=2");
    struct server *none = START_STORE(store_folder(), "--kv-watchers=0");
    struct client *first = client_open(one), *second = client_open(one);
    struct client *client = client_open(one);
    struct reply *reply;

    sse_open(first, "/kv/?watch=1", NULL);
    sse_open(second, "/kv/?watch=1", NULL);
    reply = store_ask(client, "GET", "?watch=1", NULL, NULL);
    expect_problem(reply, 503, "too many");
    assert_non_null(reply_field(reply, "Retry-After"));
    client_close(first);
    assert_true(eventually(store_ask(client, "HEAD", "?watch=1", NULL, NULL)
                                   ->status == 200,
                           SOON_MS));
    sse_open(client, "/kv/?watch=1", NULL);
    sse_expect(client, "reset", "{");
    expect_problem(store_ask_alone(none, "GET", "?watch=1", NULL, NULL), 501,
                   "changes");
}

TEST(an_address_has_more_than_a_share_on_loan)
{
    struct server *one = START_STORE(store_folder(), "--workers=1",
                                     "--kv-watchers=4");
    struct client *clients[4];
    struct client *newcomer = client_open_from(one, "127.0.0.2");
    struct client *writer = client_open(one);

    for (unsigned i = 0; i < 4; i++) {
        clients[i] = client_open(one);
        sse_open(clients[i], "/kv/?watch=1", NULL);
        sse_expect(clients[i], "reset", "{");
    }
    sse_open(newcomer, "/kv/?watch=1", NULL);
    sse_expect(newcomer, "reset", "{");
    sse_expect_end(clients[3]); /* the last that came */
    expect_problem(store_ask(clients[3], "GET", "?watch=1", NULL, NULL), 503,
                   "too many");
    store_put(writer, "a", "1");
    for (unsigned i = 0; i < 3; i++)
        sse_expect(clients[i], "put", "{\"key\":\"a\"");
    sse_expect(newcomer, "put", "{\"key\":\"a\"");
}

/* --- What happens to the server ------------------------------------------ */

TEST(a_reload_changes_nothing_and_a_stop_ends_it)
{
    struct server *one = START_STORE(store_folder(), "--workers=2");
    struct client *watcher = client_open(one);
    struct client *client = client_open(one);

    sse_open(watcher, "/kv/?watch=1", NULL);
    sse_expect(watcher, "reset", "{");
    server_signal(one, SIGHUP);
    pause_ms(200);
    store_put(client, "a", "1");
    sse_expect(watcher, "put", "{\"key\":\"a\"");
    server_signal(one, SIGTERM);
    sse_expect_end(watcher);
    client_expect_end(watcher);
    assert_int_equal(server_wait(one, patience(SOON_MS)), 0);
}

/* The successor knows what the last change of its predecessor was, so that who
 * has seen that goes on as if nothing had been. */
TEST_WITH(a_watch_outlives_an_upgrade_by_coming_back, NULL, operator_after_test)
{
    struct server *one = START_STORE(store_folder(), "--workers=2",
                                     "--pid-file", pid_path(), "--control",
                                     control_path());
    struct server place = *one; /* another process serves there then */
    struct client *watcher = client_open(one);
    struct client *client = client_open(one);
    unsigned long long last;
    pid_t pid;

    sse_open(watcher, "/kv/?watch=1", NULL);
    sse_expect(watcher, "reset", "{");
    store_put(client, "a", "1");
    last = sse_expect(watcher, "put", "{\"key\":\"a\"");
    ctl_ok("upgrade");
    sse_expect_end(watcher);
    client_expect_end(watcher);
    client_close(client);
    assert_int_equal(server_wait(one, patience(SOON_MS)), 0);
    watcher = client_open(&place);
    sse_open(watcher, "/kv/?watch=1", printed("Last-Event-ID: %llu\r\n", last));
    store_put(client_open(&place), "b", "2");
    assert_true(sse_expect(watcher, "put", "{\"key\":\"b\"") == last + 1);
    pid = pid_in_file();
    ctl_ok("stop");
    sse_expect_end(watcher);
    assert_true(process_ends(pid));
}

E2E_SUITE(operator_begin);
