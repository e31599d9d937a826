/*
 * A slow link that is shared among clients, who are addresses: nobody starves,
 * and connections buy nothing.
 *
 * The clock is what comes over the link, as in test_link_order.c; each course
 * may be run again: what the server does wrong it does every time.
 *
 * alone: it measures a link
 */
#include "download.h"
#include "netns.h"

enum {
    MBIT = 80,
    KB = 1024,
    SMALL = 64 * KB,
    LARGE = 1024 * KB,
    GREEDY = 8, /* clients */
    HUNDRED = 100,
    ROUNDS = 4,
    HOLDING = 2
};

static const char *const holding[HOLDING] = {"--link-rate=auto",
                                             "--link-rate=80M"};

E2E_BEGIN(start)
{
    download_file(1 * KB);
    download_file(SMALL);
    download_file(LARGE);
    netns_begin();
}

/* Each of them asks again when it has been served. What came in all. */
static size_t turn(struct download *all, size_t count, size_t first,
                   size_t size)
{
    size_t got = downloads_turn(all, count);

    for (size_t i = first; i < count; i++)
        if (download_has_ended(&all[i]))
            download_again(&all[i], size);
    return got;
}

static void begin_from(struct download *download, const struct server *server,
                       unsigned number, size_t size)
{
    download_begin(download, client_open_from(server, netns_client(number)),
                   size);
}

static void close_all(const struct download *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        client_close(all[i].client);
}

/* --- A large one beside greedy clients ----------------------------------- */

/* How much had come in all when the large one was complete; more than most: it
 * was not. */
static size_t count_until_large(const struct server *server, size_t most)
{
    struct download all[1 + GREEDY];
    size_t got = 0;
    bool has_begun = false;

    for (unsigned i = 1; i <= GREEDY; i++)
        begin_from(&all[i], server, i, SMALL);
    while (got <= most && !(has_begun && download_has_ended(&all[0]))) {
        got += turn(has_begun ? all : all + 1, GREEDY + has_begun, has_begun,
                    SMALL);
        if (!has_begun && got > 2 * GREEDY * SMALL) {
            has_begun = true;
            got = 0;
            begin_from(&all[0], server, 0, LARGE);
        }
    }
    close_all(all, GREEDY + 1);
    return got;
}

static void expect_large(const char *option, const char *workers, bool comes)
{
    /* Under fair sharing each of the others has as much as it has. */
    const size_t most = 2 * (1 + GREEDY) * LARGE;

    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], option, workers);
        int round = 0;
        size_t got;

        going_on("%s %s %s", holding[i], option, workers);
        while (((got = count_until_large(server, most)) <= most) != comes)
            if (++round == ROUNDS)
                flunk("%zu KB came in all", got / KB);
        server_stop(server);
    }
}

TEST(greedy_clients_do_not_keep_a_large_reply_waiting)
{
    netns_need(MBIT);
    expect_large("--starvation-factor=2", "--workers=1", true);
}

TEST(nor_do_those_of_other_workers)
{
    netns_need(MBIT);
    expect_large("--starvation-factor=2", "--workers=3", true);
}

TEST(without_a_factor_they_do)
{
    netns_need(MBIT);
    expect_large("--starvation-factor=0", "--workers=1", false);
}

/* --- Many connections ---------------------------------------------------- */

/* What one connection of a client has in percent beside a hundred of another,
 * both always asking, when both have come to know one another. */
static size_t percent_beside_hundred(const struct server *server, size_t size)
{
    const size_t before = 12 * 1024 * KB; /* credit is used up */
    const size_t most = 40 * 1024 * KB;
    struct download all[1 + HUNDRED];
    size_t got = 0;
    size_t own = 0;

    for (unsigned i = 0; i <= HUNDRED; i++)
        begin_from(&all[i], server, i > 0, i > 0 ? SMALL : size);
    while (got <= most) {
        size_t had = all[0].got;

        got += turn(all, 1 + HUNDRED, 1, SMALL);
        if (got > before)
            own += all[0].got - had;
        if (download_has_ended(&all[0]))
            download_again(&all[0], size);
    }
    close_all(all, 1 + HUNDRED);
    return own * 100 / (most - before);
}

TEST(a_hundred_connections_have_no_more_of_the_link_than_one)
{
    netns_need(MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], "--workers=1");
        int round = 0;
        size_t percent;

        going_on("%s", holding[i]);
        while ((percent = percent_beside_hundred(server, LARGE)) < 40)
            if (++round == ROUNDS)
                flunk("one connection had %zu %%", percent);
        server_stop(server);
    }
}

SUITE(.begin = start, .end = netns_suite_end, .each_end = harness_after_test);
