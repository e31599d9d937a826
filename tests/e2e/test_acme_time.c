/* Certificates of an authority that is away for long, and clocks that are
 * wrong. A timer asks, so that the time is ours to set. */
#include <sys/stat.h>

#include "acme_pebble.h"

enum { MINUTE_S = 60, HOUR_S = 3600, YEAR_S = 365 * 24 * HOUR_S };

/* A server that answers, and has no program of its own that asks. */
static struct server *start(const struct pebble_options *options)
{
    acme_pebble_begin(options);
    place.retry = "60";
    return ACME_SERVE(&place, "--https", ACME_NAMES, "--acme-start", "off");
}

/* Asks at that time; nothing goes wrong. */
static const char *ask(int64_t ahead_s)
{
    const char *said;

    if (acme_once(&place, ahead_s, &said) != 0)
        flunk("once: %s", said);
    return said;
}

static const char *live(void)
{
    return printed("%s", read_text(acme_live(), NULL));
}

TEST(a_timer_asks_as_well_as_the_server)
{
    struct server *server = start(&(struct pebble_options){0});
    const char *root = pebble_root(pebble);

    assert_int_equal(acme_program(server), 0);
    assert_non_null(strstr(ask(0), "certificate for www"));
    assert_string_equal(ask(0), "");
    assert_int_equal(pebble_count(pebble, "Added order"), 1);
    assert_true(eventually(acme_is_trusted(&place, "sprintd.example.net", root),
                           45000));
    server_stop(server);
}

/* It is due after two hours of its four; the authority comes back after three
 * and a half, and has forgotten all. */
TEST(an_authority_may_be_away_for_an_hour)
{
    struct server *server = start(&(struct pebble_options){
        .validity_s = 4 * HOUR_S});
    unsigned port = pebble->port;
    unsigned tries = 0;
    const char *said, *before;

    (void)ask(0);
    before = live();
    pebble_stop(pebble);
    for (int minute = 121; minute <= 191; minute += 5) {
        assert_int_not_equal(acme_once(&place, minute * MINUTE_S, &said), 0);
        tries += strstr(said, "no certificate for") != NULL;
        assert_string_equal(live(), before);
    }
    /* After 1, 2, 4, 8, 16, and 32 minutes, and a tenth more at most. */
    assert_in_range(tries, 5, 7);
    pebble = pebble_start(&(struct pebble_options){.port = port,
                                                   .http = place.http,
                                                   .https = place.https,
                                                   .validity_s = 4 * HOUR_S});
    place = acme_place_of(pebble);
    assert_non_null(strstr(ask(232 * MINUTE_S), "does not know the account"));
    assert_true(strcmp(live(), before) != 0);
    assert_int_equal(pebble_count(pebble, "Added order"), 1);
    server_stop(server);
}

static void expect_status(int wanted)
{
    struct outcome outcome;

    assert_int_equal(acme_run(&place, "status", NULL, &outcome), wanted);
}

TEST(a_clock_in_the_future_is_told_and_changes_nothing)
{
    struct server *server = start(&(struct pebble_options){0});
    const char *said, *before;

    (void)ask(0);
    before = live();
    assert_int_not_equal(acme_once(&place, 20LL * YEAR_S, &said), 0);
    assert_non_null(strstr(said, "is this machine's clock right?"));
    assert_string_equal(live(), before);
    assert_int_equal(pebble_count(pebble, "Added order"), 1);
    /* Nor does it hold up what comes when it is right again. */
    expect_status(0);
    assert_int_equal(unlink(acme_live()), 0);
    (void)ask(0);
    assert_int_equal(pebble_count(pebble, "Added order"), 2);
    server_stop(server);
}

TEST(a_clock_in_the_past_is_told_and_changes_nothing)
{
    struct server *server = start(&(struct pebble_options){0});
    const char *said, *before;

    assert_int_not_equal(acme_once(&place, -5LL * YEAR_S, &said), 0);
    assert_non_null(strstr(said, "is this machine's clock right?"));
    assert_int_not_equal(access(acme_live(), F_OK), 0);
    (void)ask(0);
    before = live();
    (void)acme_once(&place, -5LL * YEAR_S, &said);
    assert_non_null(strstr(said, "this machine's clock is wrong"));
    assert_string_equal(live(), before);
    assert_int_equal(pebble_count(pebble, "Added order"), 1);
    expect_status(0);
    server_stop(server);
}

SUITE(.begin = acme_begin, .end = harness_end, .each_end = acme_pebble_after);
