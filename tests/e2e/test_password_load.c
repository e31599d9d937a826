/*
 * Passwords while much is going on: a flood of wrong ones, and files of users
 * that change.
 */
#include "configured.h"
#include "passwords.h"

enum { GUESSERS = 100, FILES = 200, COST = 8 };

static const char load_conf[] =
    "workers = 1\n"
    "root = www\n"
    "site all { location /private { auth-file = users } }\n";

E2E_BEGIN(start)
{
    site_text("../www/canary", "canary\n");
    site_text("../www/private/f", "secret");
}

static void write_users(const char *password)
{
    const char *text = password_line("joe", password, "$2y$", COST);

    site_replace("../users", text, strlen(text));
}

static const char *guess(unsigned number)
{
    return printed("GET /private/f HTTP/1.1\r\nHost: a\r\n%s\r\n",
                   credentials("joe", printed("guess %u", number)));
}

/* --- Floods --------------------------------------------------------------- */

/* The slowest of many small files. */
static uint64_t time_files(const struct server *server)
{
    struct client *client = client_open(server);
    uint64_t worst = 0;

    for (unsigned i = 0; i < FILES; i++) {
        uint64_t begin = now_ms();

        client_expect_usable(client);
        if (now_ms() - begin > worst)
            worst = now_ms() - begin;
    }
    client_close(client);
    return worst;
}

TEST(guessers_hold_up_nobody_but_each_other)
{
    struct client *clients[GUESSERS];
    unsigned refused = 0;
    unsigned busy = 0;
    struct server *one;

    write_users("open sesame");
    one = start_configured(load_conf);
    for (unsigned i = 0; i < GUESSERS; i++) {
        const char *text = guess(i);

        clients[i] = client_open(one);
        client_send(clients[i], text, strlen(text));
    }
    assert_in_range(time_files(one), 0, patience(1000));
    /* From another address one need not queue up behind them. */
    clients[0] = client_open_from(one, "127.0.0.2");
    expect_body(client_ask(clients[0], "GET", "/private/f",
                           credentials("joe", "open sesame")),
                "secret");
    for (unsigned i = 1; i < GUESSERS; i++) {
        struct reply *reply = client_reply(clients[i]);

        if (reply->status == 503) {
            expect_field(reply, "Retry-After", "5");
            expect_field(reply, "Cache-Control", "no-store");
            busy++;
        } else {
            expect_status(reply, 401);
            refused++;
        }
        client_expect_usable(clients[i]);
    }
    assert_in_range(refused, 1, GUESSERS);
    assert_in_range(busy, 1, GUESSERS);
}

/* Each of count clients guesses once; so many share an address. */
static void guess_from_many(struct server *one, struct client **clients,
                            unsigned count, unsigned each)
{
    unsigned addresses = count / each;

    for (unsigned i = 0; i < count; i++) {
        const char *text = guess(i);

        clients[i] = client_open_from(one, printed("127.0.0.%u",
                                                   10 + i % addresses));
        client_send(clients[i], text, strlen(text));
    }
    pause_ms(50); /* all of them have been read */
}

static void let_newcomer_in(struct server *one)
{
    struct client *newcomer = client_open_from(one, "127.0.0.2");

    expect_body(client_ask(newcomer, "GET", "/private/f",
                           credentials("joe", "open sesame")),
                "secret");
}

/* So many guesses from so many addresses are under way when a newcomer asks,
 * who is right and gets in. */
static void guess_before_newcomer(struct client **clients, unsigned count,
                                  unsigned addresses)
{
    struct server *one;

    write_users("open sesame");
    one = start_configured(load_conf);
    guess_from_many(one, clients, count, addresses);
    let_newcomer_in(one);
}

/* Eight addresses have all there is; a ninth asks once, and is right. */
TEST(many_guessers_make_room_for_a_newcomer)
{
    struct client *clients[64];
    unsigned busy = 0;

    guess_before_newcomer(clients, 64, 8);
    for (unsigned i = 0; i < 64; i++) {
        unsigned status = client_reply(clients[i])->status;

        busy += status == 503;
        assert_true(status == 503 || status == 401);
    }
    assert_in_range(busy, 0, 1);
}

/* When the newcomer has had an answer, most of what the others have put before
 * still waits. */
TEST(a_newcomer_waits_for_one_of_each_and_not_for_all)
{
    struct client *clients[64];
    uint64_t begin = now_ms(), newcomer_ms, all_ms;

    guess_before_newcomer(clients, 64, 8);
    newcomer_ms = now_ms() - begin;
    for (unsigned i = 0; i < 64; i++)
        client_reply(clients[i]);
    all_ms = now_ms() - begin;
    if (newcomer_ms > all_ms / 2)
        flunk("the newcomer waited %llu ms, and all %llu",
              (unsigned long long)newcomer_ms, (unsigned long long)all_ms);
}

/* So many addresses that each has one question or two there: to come first
 * gives nobody a right to stay. */
TEST(a_newcomer_gets_in_where_all_are_equals)
{
    struct client *clients[140];
    unsigned busy = 0;

    guess_before_newcomer(clients, 140, 2);
    for (unsigned i = 0; i < 140; i++)
        busy += client_reply(clients[i])->status == 503;
    assert_in_range(busy, 30, 139);
}

TEST(what_was_right_is_right_in_a_flood)
{
    const char *right = credentials("joe", "open sesame");
    struct client *client;
    struct server *one;

    write_users("open sesame");
    one = start_configured(load_conf);
    client = client_open(one);
    expect_body(client_ask(client, "GET", "/private/f", right), "secret");
    for (unsigned i = 0; i < GUESSERS; i++) {
        const char *text = guess(i);

        client_send(client_open(one), text, strlen(text));
    }
    for (unsigned i = 0; i < FILES; i++)
        expect_body(client_ask(client, "GET", "/private/f", right), "secret");
}

TEST(the_same_guess_is_checked_once_for_all)
{
    struct client *clients[GUESSERS];
    struct server *one;

    write_users("open sesame");
    one = start_configured(load_conf);
    for (unsigned i = 0; i < GUESSERS; i++) {
        const char *text = guess(7);

        clients[i] = client_open(one);
        client_send(clients[i], text, strlen(text));
    }
    for (unsigned i = 0; i < GUESSERS; i++)
        expect_status(client_reply(clients[i]), 401);
}

/* --- Changes -------------------------------------------------------------- */

static unsigned status_with(const struct server *server, const char *password)
{
    return ask(server, "GET", "/private/f", credentials("joe", password))
        ->status;
}

static bool has_said(const struct server *server, const char *words)
{
    return strstr(read_text(server->errors, NULL), words) != NULL;
}

TEST(a_changed_file_counts_within_moments)
{
    struct server *one;

    write_users("first");
    one = start_configured(load_conf);
    assert_int_equal(status_with(one, "first"), 200);
    write_users("second");
    assert_true(eventually(status_with(one, "first") == 401, 10000));
    assert_int_equal(status_with(one, "second"), 200);
}

TEST(a_faulty_file_changes_nothing)
{
    static const char plain[] = "joe:plain text\n";
    struct server *one;

    write_users("first");
    one = start_configured(load_conf);
    assert_int_equal(status_with(one, "first"), 200);
    site_replace("../users", plain, strlen(plain));
    assert_true(eventually((status_with(one, "first"), has_said(one, "users")),
                           10000));
    assert_int_equal(status_with(one, "first"), 200);
    assert_int_equal(status_with(one, "plain text"), 401);
    site_remove("../users");
    assert_int_equal(status_with(one, "first"), 200);
    write_users("third");
    assert_true(eventually(status_with(one, "third") == 200, 10000));
    assert_int_equal(status_with(one, "first"), 401);
}

TEST(a_faulty_file_is_told_at_start_and_by_a_test)
{
    static const char faulty[] = "# fine\njoe:plain text\n";
    const char *path = configuration(load_conf);
    struct outcome outcome;

    site_replace("../users", faulty, strlen(faulty));
    RUN(&outcome, "-c", path);
    assert_int_equal(outcome.status, 78);
    assert_non_null(strstr(outcome.err, "users':2: "));
    RUN(&outcome, "-t", "-c", path);
    assert_int_equal(outcome.status, 78);
    assert_non_null(strstr(outcome.err,
                           printed("%s:3: auth-file '%s/users', line 2: ", path,
                                   folder())));
    site_remove("../users");
    RUN(&outcome, "-t", "-c", path);
    assert_int_equal(outcome.status, 78);
    assert_non_null(strstr(outcome.err, "No such file or directory"));
}

E2E_SUITE(start);
