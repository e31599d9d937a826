/* Certificates of an authority, when something goes wrong. */
#include <signal.h>
#include <sys/stat.h>

#include "acme_pebble.h"

static bool is_trusted(const char *root)
{
    return eventually(acme_is_trusted(&place, "sprintd.example.net", root),
                      30000);
}

TEST(the_second_authority_takes_over)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server;

    place.directories[1] = place.directories[0];
    place.directories[0] = "https://127.0.0.1:1/dir";
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(is_trusted(root));
    server_stop(server);
}

/* Pebble forgets all when it ends. */
TEST(an_account_that_is_forgotten_is_made_anew)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    unsigned port = pebble->port;

    assert_true(is_trusted(root));
    server_stop(server);
    pebble_stop(pebble);
    pebble = pebble_start(&(struct pebble_options){
        .port = port, .http = place.http, .https = place.https});
    place = acme_place_of(pebble);
    root = pebble_root(pebble);
    assert_int_equal(unlink(acme_live()), 0);
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(is_trusted(root));
    assert_true(acme_has_said(server, "does not know the account"));
    server_stop(server);
}

TEST(what_is_damaged_is_replaced)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);
    const char *account;

    assert_true(is_trusted(root));
    server_stop(server);
    account = printed("%s/acme/accounts", acme_folder());
    assert_int_equal(truncate(acme_live(), 700), 0);
    assert_int_equal(
        system(printed("for f in '%s'/*/key.pem; do echo no > $f; done; "
                       "echo no > '%s'",
                       account, acme_record())),
        0);
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(is_trusted(root));
    assert_true(acme_has_said(server, "placeholder"));
    assert_true(acme_has_said(server, "key.pem.damaged"));
    server_stop(server);
}

/* Nobody answers where the authority looks. */
TEST(five_orders_an_hour_may_fail)
{
    struct server *server;
    struct outcome outcome;
    struct acme_place elsewhere;

    (void)acme_pebble_begin(&(struct pebble_options){0});
    elsewhere = place;
    elsewhere.http = free_port();
    elsewhere.https = free_port();
    server = ACME_SERVE(&elsewhere, "--https", ACME_NAMES);
    assert_true(eventually(acme_has_said(server, "5 orders have failed"),
                           40000));
    pause_ms(1500);
    assert_int_equal(pebble_count(pebble, "Added order"), 5);
    server_stop(server);
    /* The next one knows. */
    server = ACME_SERVE(&elsewhere, "--https", ACME_NAMES);
    pause_ms(2000);
    assert_int_equal(pebble_count(pebble, "Added order"), 5);
    assert_int_not_equal(acme_run(&elsewhere, "status", NULL, &outcome), 0);
    assert_non_null(strstr(outcome.out, "failed "));
    server_stop(server);
}

/* Where it was killed it goes on: the same order, and nothing broken. */
TEST(who_is_killed_at_any_point_goes_on)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);

    for (unsigned i = 0; i < 12; i++) {
        pid_t program = 0;

        assert_true(eventually((program = acme_program(server)) > 0, 70000));
        pause_ms(20 + i * 25);
        kill(program, SIGKILL);
        if (i % 4 == 3) { /* not to wait for the steward's pauses */
            server_stop(server);
            server = ACME_SERVE(&place, "--https", ACME_NAMES);
        }
    }
    server_stop(server);
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(is_trusted(root));
    assert_true(pebble_count(pebble, "Added order") <= 6);
    server_stop(server);
}

/* A window that has passed: it is renewed at once, as what replaces another. */
TEST(the_window_of_the_authority_counts)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES);

    assert_true(is_trusted(root));
    if (!eventually(strstr(read_text(acme_record(), NULL), "look 1"), 5000) ||
        strstr(read_text(acme_record(), NULL), "window-from 0")) {
        print_message("skipped: this pebble has no renewal information\n");
        server_stop(server);
        skip();
    }
    server_stop(server);
    assert_int_equal(
        system(printed("sed -i -e 's/^window-from .*/window-from 1000/' -e "
                       "'s/^window-until .*/window-until 2000/' '%s'",
                       acme_record())),
        0);
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(eventually(pebble_count(pebble, "Added order") == 2, 10000));
    assert_true(is_trusted(root));
    server_stop(server);
}

/* The server shows what it had meanwhile. */
TEST(what_is_damaged_or_lost_while_it_runs_is_replaced)
{
    const char *root = acme_pebble_begin(&(struct pebble_options){0});
    struct server *server = ACME_SERVE(&place, "--https", ACME_NAMES,
                                       "--sandbox", "off");

    assert_true(is_trusted(root));
    assert_int_equal(truncate(acme_live(), 700), 0);
    assert_true(eventually(pebble_count(pebble, "Added order") == 2, 20000));
    assert_true(acme_is_trusted(&place, "sprintd.example.net", root));
    /* By one step: the program may be writing there. */
    assert_int_equal(system(printed("mv '%s/acme' '%s/lost'", acme_folder(),
                                    acme_folder())),
                     0);
    assert_true(eventually(acme_has_said(server, "is not there any more"),
                           20000));
    assert_true(eventually(access(acme_live(), F_OK) == 0, 20000));
    assert_true(is_trusted(root));
    assert_true(pebble_count(pebble, "Added order") <= 4);
    server_stop(server);
}

TEST(a_folder_that_cannot_be_written_is_told)
{
    struct server *server;

    (void)acme_pebble_begin(&(struct pebble_options){0});
    if (geteuid() == 0)
        skip(); /* who may write everywhere */
    assert_int_equal(
        system(printed("mkdir -p '%s/acme/live/challenge' "
                       "'%s/acme/orders' '%s/acme/accounts' && chmod 700 "
                       "'%s/acme' && chmod 500 '%s/acme/accounts'",
                       acme_folder(), acme_folder(), acme_folder(),
                       acme_folder(), acme_folder())),
        0);
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(eventually(acme_has_said(server, "cannot be"), 10000));
    server_stop(server);
}

SUITE(.begin = acme_begin, .end = harness_end, .each_end = acme_pebble_after);
