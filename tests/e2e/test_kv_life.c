/*
 * What becomes of a store: servers that come and go, copies of it, other
 * processes that want it, a day's work.
 */
#include "operator.h"
#include "report.h"
#include "store.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>

enum { KEYS = 200 };

static void fill(struct client *client)
{
    for (int i = 0; i < KEYS; i++)
        store_put(client, printed("key/%d", i), printed("value %d", i));
    expect_status(store_ask(client, "PUT", "%FF?ttl=1000",
                            "Content-Type: text/plain\r\n", "\xff\xfe"),
                  201);
}

static void expect_filled(const struct server *server)
{
    struct client *client = client_open(server);
    struct reply *reply;

    for (int i = 0; i < KEYS; i++)
        store_holds(client, printed("key/%d", i), printed("value %d", i));
    reply = store_ask(client, "GET", "%ff", NULL, NULL);
    expect_body(reply, "\xff\xfe");
    expect_field(reply, "Content-Type", "text/plain");
    assert_non_null(reply_field(reply, "X-KV-Expires"));
}

/* --- Restarts and copies ------------------------------------------------- */

TEST(a_restart_keeps_all)
{
    const char *path = store_folder();
    uint64_t revision = 0;

    for (int i = 0; i < 3; i++) {
        struct server *one = START_STORE(path, NULL);
        struct client *client = client_open(one);
        uint64_t now;

        if (i == 0)
            fill(client);
        expect_filled(one);
        now = store_put(client, "counter", printed("%d", i));
        assert_true(now > revision);
        revision = now;
        clients_close();
        server_stop(one);
    }
}

TEST(a_store_goes_through_lines)
{
    const char *from = store_folder(), *to = store_folder();
    const char *lines = printed("%s/lines", folder());
    struct server *one = START_STORE(from, NULL);

    fill(client_open(one));
    assert_int_equal(STORE_COMMAND(NULL, lines, "export", from), 0);
    assert_non_null(strstr(read_text(lines, NULL), "\"key64\":\"/w==\""));
    assert_int_equal(STORE_COMMAND(lines, NULL, "import", to), 0);
    expect_filled(START_STORE(to, NULL));
    assert_int_equal(STORE_COMMAND(lines, NULL, "import", from), EX_TEMPFAIL);
    site_text("../lines", "{\"key\":\"a\",\"value\":\"b\"}\n{\"key\":\n");
    assert_int_equal(STORE_COMMAND(lines, NULL, "import", store_folder()),
                     EX_DATAERR);
}

TEST(a_store_is_copied_while_it_is_in_use)
{
    const char *from = store_folder(), *to = store_folder();
    struct server *one = START_STORE(from, NULL);
    struct client *client = client_open(one);

    fill(client);
    for (int i = 0; i < 50; i++)
        store_say(client, "PUT", "busy", NULL, printed("%d", i));
    assert_int_equal(STORE_COMMAND(NULL, NULL, "backup", from, to), 0);
    for (int i = 0; i < 50; i++)
        client_reply(client);
    expect_filled(START_STORE(to, NULL));
    assert_int_not_equal(STORE_COMMAND(NULL, NULL, "backup", from, to), 0);
}

TEST(tools_of_lmdb_read_it)
{
    const char *path = store_folder();
    struct server *one;
    int status = 0;
    pid_t pid;

    if (access("/usr/bin/mdb_stat", X_OK) == -1)
        skip();
    one = START_STORE(path, NULL);
    fill(client_open(one));
    pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(1);
        execl("/usr/bin/mdb_stat", "mdb_stat", "-a", path, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_int_equal(status, 0);
}

/* --- Others that want it ------------------------------------------------- */

TEST(a_second_process_is_refused)
{
    const char *path = store_folder();
    struct server *one = START_STORE(path, NULL);
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--bind=127.0.0.1", "--kv",
        printed("/kv=%s", path), site());
    assert_int_equal(outcome.status, EX_CANTCREAT);
    assert_non_null(strstr(outcome.err, "another process has it open"));
    store_put(client_open(one), "a", "still");
}

TEST(two_stores_are_two)
{
    struct server *one = START_STORE(store_folder(), "--kv",
                                     printed("/other=%s", store_folder()));
    struct client *client = client_open(one);

    store_put(client, "a", "here");
    expect_status(client_ask(client, "GET", "/other/a", NULL), 404);
    client_say(client, "PUT /other/a HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Length: 5\r\n\r\nthere");
    expect_status(client_reply(client), 201);
    expect_body(client_ask(client, "GET", "/other/a", NULL), "there");
    store_holds(client, "a", "here");
}

TEST(a_strict_sandbox_lets_it_work)
{
    struct server *one;

    site_text("../tokens", "0123456789abcdef\n");
    one = START_STORE(store_folder(), "--sandbox=strict", "--kv-token",
                      printed("%s/tokens", folder()), "--kv-sync=interval:10");
    fill(client_open(one));
    expect_filled(one);
}

#define FIRST_TOKEN "0123456789abcdef"
#define SECOND_TOKEN "fedcba9876543210"

/* From elsewhere, as far as tokens go. */
static unsigned put_with(const struct server *one, const char *token)
{
    const char *fields = printed("Origin: http://b.example\r\n"
                                 "Authorization: Bearer %s\r\n",
                                 token);

    return store_ask_alone(one, "PUT", "a", fields, "x")->status;
}

TEST(a_token_file_may_be_roots_alone)
{
    const char *path = printed("%s/private", folder());
    struct launch launch = {0};
    struct outcome outcome;
    struct server *one;

    if (geteuid() != 0)
        skip();
    site_text("../private", "0123456789abcdef\n");
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(chmod(folder(), 0755), 0);
    one = server_start(&launch,
                       (const char *const[]){"--user=nobody", "--kv",
                                             printed("/kv=%s", store_folder()),
                                             "--kv-token", path, "--control",
                                             control_path(), NULL});
    assert_int_equal(put_with(one, FIRST_TOKEN), 201);
    /* And stays as it was read, since the rights to do so again are gone. */
    site_text("../private", SECOND_TOKEN "\n");
    assert_int_equal(ctl("reload", &outcome), 0);
    assert_int_equal(put_with(one, SECOND_TOKEN), 401);
    assert_int_equal(put_with(one, FIRST_TOKEN), 204);
    assert_non_null(strstr(outcome.out, "its tokens stay as they were"));
    assert_true(server_has_said(one, "its tokens stay as they were"));
}

TEST(tokens_are_read_again)
{
    struct server *one;
    struct outcome outcome;

    site_text("../again", FIRST_TOKEN "\n");
    one = START_STORE(store_folder(), "--sandbox=strict", "--control",
                      control_path(), "--kv-token",
                      printed("%s/again", folder()));
    assert_int_equal(put_with(one, FIRST_TOKEN), 201);
    assert_int_equal(put_with(one, SECOND_TOKEN), 401);
    site_text("../again", SECOND_TOKEN "\n");
    assert_int_equal(put_with(one, SECOND_TOKEN), 401); /* not of itself */
    ctl_ok("reload");
    assert_int_equal(put_with(one, FIRST_TOKEN), 401);
    assert_int_equal(put_with(one, SECOND_TOKEN), 204);
    site_text("../again", FIRST_TOKEN "\nshort\n");
    assert_int_equal(ctl("reload", &outcome), EXIT_FAILURE);
    assert_non_null(strstr(outcome.err, "again':2: a token has 16"));
    assert_int_equal(put_with(one, FIRST_TOKEN), 401);
    assert_int_equal(put_with(one, SECOND_TOKEN), 204);
}

/* What a reload has answered holds for whoever comes next, of any worker. */
TEST(a_token_that_went_writes_nothing_after_a_reload)
{
    static const char *const tokens[] = {FIRST_TOKEN, SECOND_TOKEN};
    struct server *one;

    site_text("../taken", FIRST_TOKEN "\n");
    one = START_STORE(store_folder(), "--workers=4", "--control",
                      control_path(), "--kv-token",
                      printed("%s/taken", folder()));
    for (unsigned i = 1; i <= 20; i++) {
        site_text("../taken", printed("%s\n", tokens[i % 2]));
        ctl_ok("reload");
        for (unsigned j = 0; j < 4; j++)
            assert_int_equal(put_with(one, tokens[(i + 1) % 2]), 401);
    }
}

TEST(a_refused_write_keeps_its_connection)
{
    struct server *one;
    struct client *client;

    site_text("../some", FIRST_TOKEN "\n");
    one = START_STORE(store_folder(), "--kv-max-value=10", "--kv-token",
                      printed("%s/some", folder()));
    client = client_open(one);
    expect_status(store_ask(client, "PUT", "a", "Origin: http://b.example\r\n",
                            "x"),
                  401);
    expect_status(store_ask(client, "PUT", "a", "Content-Encoding: gzip\r\n",
                            "x"),
                  415);
    expect_status(store_ask(client, "PUT", "a", NULL, "more than ten"), 413);
    store_put(client, "a", "ten or few");
    store_holds(client, "a", "ten or few");
}

TEST(a_faulty_token_file_is_told_of)
{
    const char *path = printed("%s/faulty", folder());
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--kv", printed("/kv=%s", store_folder()),
        "--kv-token", path, site());
    assert_int_equal(outcome.status, EX_NOINPUT);
    assert_non_null(strstr(outcome.err, strerror(ENOENT)));
    site_text("../faulty", "0123456789abcdef\nshort\n");
    RUN(&outcome, "--port=0", "--kv", printed("/kv=%s", store_folder()),
        "--kv-token", path, site());
    assert_int_equal(outcome.status, EX_CONFIG);
    assert_non_null(strstr(outcome.err, "faulty':2: "));
}

/* --- A day's work -------------------------------------------------------- */

enum { GET, POST, DELETE };
enum { SESSIONS = 10, REQUESTS = 1000, VALUES = 50 };

/* What the sessions count, all together. */
static struct {
    uint64_t methods[3];
    uint64_t statuses[600];
    uint64_t got_bytes;
} tally;

static unsigned draw(unsigned below)
{
    static uint64_t count;
    uint64_t word;

    seeded_fill(10, 8 * count++, (char *)&word, sizeof(word));
    return (unsigned)(word % below);
}

/* 80 of 100 read, 10 write, 10 delete. */
static void begin_work(struct client *client)
{
    static const char *const names[] = {"GET", "POST", "DELETE"};
    unsigned dice = draw(10);
    unsigned method = dice < 8 ? GET : dice == 8 ? POST : DELETE;

    tally.methods[method]++;
    store_say(client, names[method], printed("%u", draw(VALUES)), NULL,
              method == POST ? printed("%0*u", (int)draw(2000), dice) : NULL);
}

static void end_work(struct client *client)
{
    struct reply *reply = client_reply(client);

    tally.statuses[reply->status]++;
    if (reply->status == 200)
        tally.got_bytes += reply->body_len;
}

static void work_a_day(const struct server *one)
{
    struct client *sessions[SESSIONS];

    for (unsigned i = 0; i < SESSIONS; i++)
        sessions[i] = client_open(one);
    for (unsigned at = 0; at < REQUESTS; at++) {
        for (unsigned i = 0; i < SESSIONS; i++)
            begin_work(sessions[i]);
        for (unsigned i = 0; i < SESSIONS; i++)
            end_work(sessions[i]);
    }
    clients_close();
}

static uint64_t of_store(const char *report, const char *label)
{
    return report_number(report, "Store /kv, engine lmdb", label);
}

static void expect_store_in(const char *report)
{
    uint64_t created = of_store(report, "puts: created");
    uint64_t replaced = of_store(report, "puts: replaced");
    uint64_t deleted = of_store(report, "deletes: done");

    assert_int_equal(of_store(report, "gets: found"), tally.statuses[200]);
    assert_int_equal(of_store(report, "gets: found") +
                         of_store(report, "gets: missing"),
                     tally.methods[0]);
    assert_int_equal(created, tally.statuses[201]);
    assert_int_equal(created + replaced, tally.methods[1]);
    assert_int_equal(replaced + deleted, tally.statuses[204]);
    assert_int_equal(deleted + of_store(report, "deletes: missing"),
                     tally.methods[2]);
    assert_int_equal(of_store(report, "keys"), created - deleted);
    assert_int_equal(of_store(report, "writes answered"),
                     tally.methods[1] + tally.methods[2]);
    assert_in_range(of_store(report, "commits"), 1,
                    of_store(report, "writes answered"));
    assert_int_equal(of_store(report, "writes that wait"), 0);
    assert_true(of_store(report, "bytes of the file") > 0);
}

TEST(the_report_agrees_with_its_clients)
{
    static const unsigned statuses[] = {200, 201, 204, 404};
    struct server *one = START_STORE(store_folder(), "--report=always");
    const char *report;

    work_a_day(one);
    server_stop(one);
    report = report_last(one);
    assert_non_null(report);
    assert_int_equal(report_number(report, "Requests", "all"),
                     SESSIONS * REQUESTS);
    assert_int_equal(report_number(report, "Connections", "accepted"),
                     SESSIONS);
    assert_in_range(tally.methods[GET], SESSIONS * REQUESTS * 78 / 100,
                    SESSIONS * REQUESTS * 82 / 100);
    assert_int_equal(report_number(report, "Requests", "GET"),
                     tally.methods[GET]);
    assert_int_equal(report_number(report, "Requests", "POST"),
                     tally.methods[POST]);
    assert_int_equal(report_number(report, "Requests", "DELETE"),
                     tally.methods[DELETE]);
    for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
        assert_true(tally.statuses[statuses[i]] > 0);
        assert_int_equal(report_number(report, "Responses",
                                       printed("%u", statuses[i])),
                         tally.statuses[statuses[i]]);
    }
    expect_store_in(report);
    assert_true(report_number(report, "Responses", "bytes sent") >=
                tally.got_bytes);
}

E2E_SUITE(operator_begin);
