/*
 * A slow link: what is held back for it, so that small replies pass large ones
 * and the link is busy all the time.
 *
 * Times depend on the machine. What is compared are times under one setting
 * with those under another; and each comparison may be repeated: other
 * programs can spoil one, but what the server does wrong it does every time.
 *
 * alone: it measures a link
 */
#include "download.h"
#include "netns.h"

enum {
    MBIT = 40,
    QUICK_MBIT = 160, /* where too low a limit would show */
    KB = 1024,
    MB = 1024 * KB,
    HUGE_BYTES = 64 * MB,
    CROWD = 16,
    ROUNDS = 5
};

static const char off[] = "--link-rate=off";
enum { HOLDING = 2 };
static const char *const holding[HOLDING] = {"--link-rate=auto",
                                             "--link-rate=40M"};
static const char *const holding_quick[HOLDING] = {"--link-rate=auto",
                                                   "--link-rate=160M"};

E2E_BEGIN(start)
{
    static const size_t sizes[] = {1 * KB,   16 * KB, 64 * KB, 256 * KB,
                                   512 * KB, 1 * MB,  2 * MB,  4 * MB};

    download_files(sizes, sizeof(sizes) / sizeof(*sizes));
    site_text(printed("%d", HUGE_BYTES), "");
    assert_int_equal(truncate(printed("%s/%d", site(), HUGE_BYTES), HUGE_BYTES),
                     0);
    netns_begin();
}

/* --- How quick, how fast -------------------------------------------------- */

/* Of the crowd each asks again when it has been served. */
static size_t crowd_turn(struct download *all, size_t count)
{
    size_t got = downloads_turn(all, count);

    for (size_t i = 0; i < CROWD; i++)
        if (download_has_ended(&all[i]))
            download_again(&all[i], all[i].size);
    return got;
}

/* What small replies take on average, each asked for on a new connection while
 * a crowd of large ones comes. */
static uint64_t small_us(const struct server *server)
{
    enum { PROBES = 16, APART = 128 * KB };
    struct download all[CROWD + 1];
    struct download *small = &all[CROWD];
    uint64_t us = 0;

    for (size_t i = 0; i < CROWD; i++)
        download_begin(&all[i], client_open(server), 512 * KB);
    for (size_t i = 0; i < PROBES; i++) {
        for (size_t got = 0; got < APART;)
            got += crowd_turn(all, CROWD);
        download_begin(small, client_open(server), 1 * KB);
        while (!download_has_ended(small))
            crowd_turn(all, CROWD + 1);
        us += download_us(small);
        client_close(small->client);
    }
    for (size_t i = 0; i < CROWD; i++)
        client_close(all[i].client);
    return us / PROBES;
}

/* Bytes a second of so many downloads at a time, from the first request to the
 * last byte. */
static double speed(const struct server *server, size_t count, size_t size)
{
    struct download all[CROWD];
    uint64_t ended_us = 0;

    for (size_t i = 0; i < count; i++) {
        download_begin(&all[i], client_open(server), size);
        all[i].is_unchecked = size == HUGE_BYTES;
    }
    downloads_finish(all, count);
    for (size_t i = 0; i < count; i++) {
        if (all[i].ended_us > ended_us)
            ended_us = all[i].ended_us;
        client_close(all[i].client);
    }
    return (double)(count * size) * 1e6 / (double)(ended_us - all[0].asked_us);
}

/* What it is like when nothing is held back; 0: not yet measured. */
static struct {
    unsigned mbit;
    uint64_t small_us;
    double speed;
} plainly;

static void use_link(unsigned mbit)
{
    netns_need(mbit);
    if (plainly.mbit != mbit)
        plainly.small_us = 0;
    plainly.mbit = mbit;
}

static void measure_plainly(void)
{
    struct server *server = NETNS_START(off, "--workers=1");

    plainly.small_us = small_us(server);
    plainly.speed = speed(server, 1, 2 * MB);
    server_stop(server);
}

/* Whether small replies take at most a quarter of the time they would. */
static bool is_quick(const struct server *server, uint64_t *us_out)
{
    if (plainly.small_us == 0)
        measure_plainly();
    *us_out = small_us(server);
    return 4 * *us_out <= plainly.small_us;
}

static void expect_quick(const struct server *server)
{
    uint64_t us;

    for (int round = 0; round < ROUNDS; round++) {
        if (is_quick(server, &us))
            return;
        measure_plainly();
    }
    flunk("a small one took %.1f ms; when nothing is held back %.1f ms",
          (double)us / 1e3, (double)plainly.small_us / 1e3);
}

/* Downloads have at least such a share of the speed that one would have. */
static void expect_fast(const struct server *server, size_t count, size_t size,
                        double share)
{
    double held = 0;

    for (int round = 0; round < ROUNDS; round++) {
        if (round > 0 || plainly.small_us == 0)
            measure_plainly();
        held = speed(server, count, size);
        if (held >= share * plainly.speed)
            return;
    }
    flunk("%.2f MB/s; when nothing is held back %.2f", held / 1e6,
          plainly.speed / 1e6);
}

/* --- Small ones pass, the link is busy ----------------------------------- */

TEST(a_small_reply_passes_large_ones)
{
    use_link(MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], "--workers=1");

        going_on("%s", holding[i]);
        expect_quick(server);
        server_stop(server);
    }
}

/* Which part of the time that small replies take is saved when bytes are held
 * back. */
static double gain(bool is_tls)
{
    const char *const settings[] = {off, holding[1]};
    uint64_t us[2];

    for (size_t i = 0; i < 2; i++) {
        struct server *server =
            server_start(&(struct launch){.netns = netns_of_server(),
                                          .address = NETNS_SERVER,
                                          .is_tls = is_tls},
                         (const char *const[]){settings[i], "--workers=1",
                                               NULL});

        us[i] = small_us(server);
        server_stop(server);
    }
    print_message("%s: %llu us instead of %llu\n",
                  is_tls ? "over TLS" : "in clear text",
                  (unsigned long long)us[1], (unsigned long long)us[0]);
    return 1 - (double)us[1] / (double)us[0];
}

TEST(tls_leaves_nine_tenths_of_what_that_gains)
{
    double plain = 0, encrypted = 0;

    use_link(MBIT);
    for (int round = 0; round < ROUNDS; round++) {
        plain = gain(false);
        encrypted = gain(true);
        going_on("%.3f of the time are saved over TLS, %.3f without", encrypted,
                 plain);
        if (plain > 0.3 && encrypted >= 0.9 * plain)
            return;
    }
    flunk("nothing of that");
}

TEST(one_large_reply_keeps_the_link_busy)
{
    static const double shares[HOLDING] = {0.95, 0.92};
    /* a known one is used up to 0.97 */

    use_link(MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], "--workers=1");

        going_on("%s", holding[i]);
        expect_fast(server, 1, 4 * MB, shares[i]);
        server_stop(server);
    }
}

/* Which of the workers are in each other's way is not always the same. */
TEST(many_workers_share_the_link)
{
    use_link(MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        enum { TIMES = 3 };
        int quick = 0;
        uint64_t us;

        going_on("%s", holding[i]);
        for (int round = 0; round < TIMES; round++) {
            struct server *server = NETNS_START(holding[i], "--workers=4");

            quick += is_quick(server, &us);
            expect_fast(server, 4, 256 * KB, 0.8);
            server_stop(server);
        }
        if (quick < TIMES - 1)
            flunk("small ones were slow, the last took %.1f ms; when nothing "
                  "is held back %.1f ms",
                  (double)us / 1e3, (double)plainly.small_us / 1e3);
    }
}

/* Connections that have been answered and are kept leave nothing behind with
 * their workers that others would have to wait for. */
TEST(idle_connections_of_other_workers_hold_nobody_back)
{
    use_link(QUICK_MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding_quick[i], "--workers=4");
        struct download idle[CROWD];

        going_on("%s", holding_quick[i]);
        for (size_t k = 0; k < CROWD; k++)
            download_begin(&idle[k], client_open(server), 64 * KB);
        downloads_finish(idle, CROWD);
        expect_fast(server, 1, 2 * MB, 0.75);
        server_stop(server);
    }
}

/* Each worker orders its own replies, partly by what came before them. What one
 * of them has had to do in its life must not put it behind the others. */
TEST(workers_are_alike_whatever_they_have_done)
{
    enum { BROKEN_OFF = 40 }; /* 40 * 64 MB > 256 * 4 MB, by the bound */

    use_link(MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], "--workers=2");
        struct download first;

        going_on("%s", holding[i]);
        /* Who has fewer connections gets the next: the other one does. */
        download_begin(&first, client_open(server), 1 * KB);
        downloads_finish(&first, 1);
        for (int k = 0; k < BROKEN_OFF; k++) {
            struct client *client = client_open_narrow(server, 16 * KB);

            client_say(client, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n",
                       HUGE_BYTES);
            client_take(client, 1);
            client_reset(client);
            pause_ms(2 * slowness());
        }
        expect_quick(server);
        server_stop(server);
    }
}

/* Where there is no narrow link, holding back costs nothing. How fast it is
 * varies by a quarter from one moment to the next. */
TEST(a_fast_link_is_not_slowed_down)
{
    struct server *plain;
    struct server *server;
    int good = 0;
    double full = 0;
    double held = 0;

    netns_need(MBIT); /* not for the link: loopback is up there */
    plain = START(off, "--workers=1");
    server = START(holding[0], "--workers=1");
    for (int round = 0; round < 4 * ROUNDS && good < ROUNDS; round++) {
        full = speed(plain, 4, HUGE_BYTES);
        held = speed(server, 4, HUGE_BYTES);
        good += held >= 0.9 * full;
    }
    if (good < ROUNDS)
        flunk("again and again less, at last %.0f MB/s of %.0f", held / 1e6,
              full / 1e6);
}

/* --- Clients that are in the way ----------------------------------------- */

TEST(clients_that_stop_reading_block_nobody)
{
    enum { STUCK = 4, FIRST = 4 * KB };

    use_link(MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], "--workers=1");
        struct download stuck[STUCK];

        going_on("%s", holding[i]);
        for (size_t k = 0; k < STUCK; k++) {
            download_begin(&stuck[k], client_open_narrow(server, 16 * KB),
                           256 * KB); /* less than what comes later */
            while (stuck[k].got < FIRST)
                downloads_turn(&stuck[k], 1);
        }
        expect_fast(server, 4, 512 * KB, 0.9);
        expect_quick(server);
        downloads_finish(stuck, STUCK);
        server_stop(server);
    }
}

enum way { CLOSES, RESETS, IS_SERVED, IS_BROKEN_OFF, IS_LET_GO, WAYS };

/* Connections whose replies wait, for the link in even rounds and for their
 * clients in odd ones, end in every way. But for those that read nothing: the
 * server has to let go of them. */
static void end_in_every_way(const struct server *server, unsigned round)
{
    struct client *clients[2 * WAYS];
    size_t shrinks = 1 * MB + 1 + round;
    char *path = printed("%s/%zu", site(), shrinks);

    download_file(shrinks);
    for (size_t i = 0; i < 2 * WAYS; i++) {
        clients[i] = client_open_narrow(server, 16 * KB);
        client_say(clients[i],
                   "GET /%zu HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                   i % WAYS == IS_BROKEN_OFF ? shrinks
                   : i % WAYS == IS_SERVED   ? (size_t)16 * KB
                                             : (size_t)1 * MB);
    }
    for (size_t i = 0; i < 2 * WAYS; i++)
        if (round % 2 == 1)
            client_take(clients[i], 1);
    if (truncate(path, 64 * KB) == -1)
        flunk("truncate '%s'", path);
    for (size_t i = 0; i < 2 * WAYS; i++) {
        switch ((enum way)(i % WAYS)) {
        case CLOSES:
            client_close(clients[i]);
            break;
        case RESETS:
            client_reset(clients[i]);
            break;
        case IS_SERVED:
            assert_true(client_take(clients[i], SIZE_MAX) > 16 * KB);
            client_close(clients[i]);
            break;
        case IS_BROKEN_OFF:
            assert_true(client_take(clients[i], SIZE_MAX) < 1 * MB);
            client_close(clients[i]);
            break;
        case IS_LET_GO:
        case WAYS:
            break;
        }
    }
    site_remove(printed("%zu", shrinks));
}

TEST(no_end_of_a_connection_leaves_anything_held)
{
    unsigned rounds = is_sanitized() ? 6 : 20;

    use_link(QUICK_MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding_quick[i], "--workers=1",
                                            "--send-timeout=1s",
                                            "--cache-entries=0");
        size_t descriptors = server_descriptors(server);

        going_on("%s", holding_quick[i]);
        for (unsigned round = 0; round < rounds; round++)
            end_in_every_way(server, round);
        assert_true(eventually(server_descriptors(server) <= descriptors,
                               10000));
        expect_fast(server, 1, 2 * MB, 0.75);
        expect_quick(server);
        server_stop(server);
    }
}

SUITE(.begin = start, .end = netns_suite_end, .each_end = harness_after_test);
