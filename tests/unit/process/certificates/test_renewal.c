/* link: -Wl,--wrap=generation_credentials,--wrap=certificates_look */
/* link: -Wl,--wrap=certificates_are_old,--wrap=certificates_find_closed */
/* link: -Wl,--wrap=certificates_term,--wrap=certificates_destroy */
/* link: -Wl,--wrap=credentials_read,--wrap=credentials_note */
/* link: -Wl,--wrap=tls_tickets_tick */
#include "process/server_priv.h"

#include <sysexits.h>

#include "suite.h"
#include "wrap.h"

enum { LOOK_MS = 10000, MINUTE_MS = 60000, DAY_MS = 24 * 60 * MINUTE_MS };

static struct server server;
static struct credentials credentials;
static uint64_t now_ms;

/* --- Files, which cannot be read ----------------------------------------- */

static uint64_t files; /* how they are */
static unsigned tries;

WRAP(struct credentials *, generation_credentials, struct generation *at)
{
    (void)at;
    return &credentials;
}

WRAP(uint64_t, certificates_look, const struct certificates *of)
{
    (void)of;
    return files;
}

WRAP(bool, certificates_are_old, const struct certificates *certificates)
{
    (void)certificates;
    return true;
}

WRAP(const char *, certificates_find_closed, const struct certificates *of)
{
    (void)of;
    return NULL;
}

WRAP(bool, certificates_term, const struct certificates *certificates,
     size_t number, struct certificate_term *term)
{
    (void)certificates;
    (void)number;
    (void)term;
    return false;
}

WRAP(void, certificates_destroy, struct certificates *certificates)
{
    assert_null(certificates);
}

WRAP(int, credentials_read, const struct credentials *of,
     struct certificates **certificates_out, FILE *errors)
{
    (void)of;
    (void)certificates_out;
    (void)errors;
    tries++;
    return EX_CONFIG;
}

WRAP(void, credentials_note, struct credentials *of)
{
    (void)of;
}

WRAP(uint64_t, tls_tickets_tick, struct tls_tickets *tickets, uint64_t now_s)
{
    (void)tickets;
    (void)now_s;
    return now_s;
}

/* --- Time ---------------------------------------------------------------- */

static int set_up(void **state)
{
    static char certificates;

    (void)state;
    server.renewal = (struct renewal){.has_told = false};
    credentials.certificates = (struct certificates *)(void *)&certificates;
    files = 1;
    tries = 0;
    now_ms = DAY_MS;
    return 0;
}

static void pass(uint64_t ms)
{
    for (uint64_t end_ms = now_ms + ms; now_ms < end_ms; now_ms += LOOK_MS)
        assert_in_range(renewal_tick(&server, now_ms), 1, LOOK_MS);
}

/* --- Tests --------------------------------------------------------------- */

TEST(files_that_change_are_read_when_they_have_not_for_a_while)
{
    for (unsigned i = 0; i < 5; i++) {
        files++;
        pass(LOOK_MS);
        assert_int_equal(tries, 0);
    }
    pass(LOOK_MS);
    assert_int_equal(tries, 1);
}

/* There may have been no descriptor left, in that moment. */
TEST(what_could_not_be_read_is_tried_again)
{
    pass(2 * LOOK_MS);
    assert_int_equal(tries, 1);
    pass(MINUTE_MS);
    assert_int_equal(tries, 2);
    pass(2 * MINUTE_MS);
    assert_int_equal(tries, 3);
    pass(4 * MINUTE_MS);
    assert_int_equal(tries, 4);
    pass(4 * (uint64_t)DAY_MS);
    assert_in_range(tries, 12, 16); /* seldom, as it is told each time */
    files++;
    pass(2 * LOOK_MS);
    assert_in_range(tries, 13, 17);
    tries = 0;
    pass(MINUTE_MS);
    assert_int_equal(tries, 1);
}

TEST(the_pause_between_tries_has_an_end)
{
    pass(4 * (uint64_t)DAY_MS);
    tries = 0;
    pass(20 * (uint64_t)DAY_MS);
    assert_in_range(tries, 19, 20); /* once a day */
}

SUITE(.each_begin = set_up);
