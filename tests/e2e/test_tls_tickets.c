/*
 * How clients come back: by tickets, to any worker, after reloads and upgrades,
 * and to other machines that have the same keys.
 */
#include "base/base64.h"
#include "certified.h"
#include "configured.h"
#include "operator.h"
#include "secure.h"

#include <openssl/ssl.h>
#include <sys/stat.h>

enum { RENEWED_MS = 40000, LOADED_MS = 60000, KEY_BYTES = 80 };

static const char one_site[] = "listen = https://127.0.0.1:0\nworkers = 2\n"
                               "certificate = a\nrespond = a\n";

static struct server *serve_controlled(const char *text)
{
    return serve_certified(printed("control = \"%s\"\npid-file = \"%s\"\n%s",
                                   control_path(), pid_path(), text),
                           NULL);
}

static void write_certificate(void)
{
    certify("a", &(struct making){.subject = "a", .names = "DNS:a.example"});
}

/* Whether a client that has a ticket, if it keeps one, comes back by it. A new
 * one is kept of those who get one. */
static bool comes_back(const struct server *server, bool keeps)
{
    struct client *client = come_as(server, "a.example");
    bool is_resumed;

    assert_non_null(client);
    client_say(client, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    expect_body(client_reply(client), "a");
    is_resumed = secure_is_resumed(client_secured(client));
    if (keeps)
        secure_keep_ticket(client_secured(client));
    client_close(client);
    return is_resumed;
}

static void forget(void)
{
    secure_keep_ticket(NULL);
    secure_limit_version(0);
}

/* --- Keys of its own ----------------------------------------------------- */

TEST(tickets_count_for_all_workers_and_generations_and_after_upgrades)
{
    struct server *server;
    struct server place;
    pid_t pid;

    write_certificate();
    server = serve_controlled(one_site);
    place = *server;
    assert_false(comes_back(server, true));
    for (int i = 0; i < 6; i++)
        assert_true(comes_back(server, false));
    ctl_ok("reload");
    for (int i = 0; i < 4; i++)
        assert_true(comes_back(server, false));
    ctl_ok("upgrade");
    assert_int_equal(server_wait(server, patience(LOADED_MS)), 0);
    for (int i = 0; i < 4; i++)
        assert_true(comes_back(&place, false));
    forget();
    pid = pid_in_file();
    ctl_ok("stop");
    assert_true(process_ends(pid));
}

/* Browsers use one for one connection (RFC 8446 C.4): without another each
 * second visit would be a whole handshake. */
TEST(a_client_of_tls_1_3_that_has_come_back_gets_another_ticket)
{
    struct server *server;

    write_certificate();
    server = serve_certified(one_site, NULL);
    assert_false(comes_back(server, true));
    for (int i = 0; i < 4; i++) {
        struct client *client = come_as(server, "a.example");

        client_say(client, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
        expect_body(client_reply(client), "a");
        assert_true(secure_is_resumed(client_secured(client)));
        assert_true(secure_has_other_ticket(client_secured(client)));
        secure_keep_ticket(client_secured(client));
        client_close(client);
    }
    forget();
}

TEST(tickets_of_tls_1_2_count_as_well)
{
    struct server *server;

    write_certificate();
    server = serve_controlled(one_site);
    secure_limit_version(TLS1_2_VERSION);
    assert_false(comes_back(server, true));
    for (int i = 0; i < 4; i++)
        assert_true(comes_back(server, false));
    ctl_ok("reload");
    assert_true(comes_back(server, false));
    forget();
}

TEST(another_machine_has_other_keys)
{
    struct server *server;

    write_certificate();
    server = serve_certified(one_site, NULL);
    assert_false(comes_back(server, true));
    assert_true(comes_back(server, false));
    assert_false(comes_back(serve_certified(one_site, NULL), false));
    forget();
}

/* --- Keys of a file ------------------------------------------------------ */

/* A line for each letter of keys. */
static void write_keys(const char *keys, unsigned mode)
{
    struct buf text;

    buf_init(&text, NULL, 0, 4096);
    buf_put_literal(&text, "# shared\n");
    for (; *keys != '\0'; keys++) {
        char key[KEY_BYTES];

        memset(key, *keys, sizeof(key));
        base64_put(&text, (struct bytes){key, sizeof(key)});
        buf_put_literal(&text, "\n");
    }
    site_replace("../keys", buf_bytes(&text).data, buf_bytes(&text).len);
    site_mode("../keys", mode);
    buf_fini(&text);
}

static const char *sharing(void)
{
    return printed("%stls-ticket-file = keys\n", one_site);
}

TEST(machines_with_one_file_of_keys_take_each_others_tickets)
{
    struct server *one;
    struct server *other;

    write_certificate();
    write_keys("k", 0640);
    one = serve_certified(sharing(), NULL);
    other = serve_certified(sharing(), NULL);
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        secure_limit_version(version);
        assert_false(comes_back(one, true));
        assert_true(comes_back(other, false));
        secure_keep_ticket(NULL);
    }
    forget();
}

TEST(keys_that_change_count_by_themselves)
{
    struct server *server;

    write_certificate();
    write_keys("k", 0600);
    server = serve_certified(sharing(), NULL);
    assert_false(comes_back(server, true));
    write_keys("lk", 0600);
    assert_true(eventually(server_has_said(server, "read again"), RENEWED_MS));
    assert_true(comes_back(server, true)); /* and gets one of the first key */
    write_keys("l", 0600);
    assert_true(eventually(comes_back(server, false), 1000));
    forget();
}

TEST(a_reload_reads_keys_at_once_and_faulty_ones_change_nothing)
{
    struct server *server;
    struct outcome outcome;

    write_certificate();
    write_keys("k", 0600);
    server = serve_controlled(sharing());
    assert_false(comes_back(server, true));
    write_keys("", 0600);
    assert_int_not_equal(ctl("reload", &outcome), 0);
    if (!strstr(outcome.err, "has no key in it"))
        flunk("out '%s' err '%s'", outcome.out, outcome.err);
    assert_true(comes_back(server, false));
    write_keys("m", 0600);
    ctl_ok("reload");
    assert_false(comes_back(server, false));
    forget();
}

/* --- What the check says ------------------------------------------------- */

static void check(struct outcome *outcome, const char *text)
{
    RUN(outcome, "-t", "-c", configuration(text));
}

static void expect_fault(const char *text, const char *fault)
{
    struct outcome outcome;

    check(&outcome, text);
    assert_int_not_equal(outcome.status, 0);
    if (!strstr(outcome.err, fault))
        flunk("'%s' is not said: '%s'", fault, outcome.err);
}

TEST(keys_that_others_can_read_or_write_are_refused)
{
    struct outcome outcome;

    write_certificate();
    write_keys("k", 0644);
    expect_fault(sharing(), "chmod 0640");
    write_keys("k", 0660);
    expect_fault(sharing(), "chmod 0640");
    write_keys("k", 0640);
    check(&outcome, sharing());
    assert_int_equal(outcome.status, 0);
}

TEST(faulty_files_of_keys_are_told_with_their_line)
{
    write_certificate();
    write_keys("abcdefghi", 0600);
    expect_fault(sharing(), "has more than 8 keys");
    write_keys("aa", 0600);
    expect_fault(sharing(), "two keys of one name");
    site_text("../keys", "YWJj\n");
    site_mode("../keys", 0600);
    expect_fault(sharing(), ":5: tls-ticket-file '");
    write_keys("a", 0600);
    expect_fault("tls-ticket-file = keys\nrespond = a\n",
                 "has no certificate to go with");
    site_remove("../keys");
    expect_fault(sharing(), "cannot be read");
}

static int start(void **state)
{
    operator_adopt();
    return harness_begin(state);
}

SUITE(.begin = start, .end = harness_end, .each_end = operator_after_test);
