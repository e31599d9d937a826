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
#include "upstream.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
    MBIT = 80,
    KB = 1024,
    SMALL = 64 * KB,
    LARGE = 1024 * KB,
    HUGE_BYTES = 4 * LARGE,
    GREEDY = 8, /* clients */
    HUNDRED = 100,
    STREAM = 64 * LARGE, /* more than is waited for */
    ASKING = 4 * GREEDY, /* connections: enough waits for 200 ms of the link */
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
    download_file(HUGE_BYTES);
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
    /* Under fair sharing each of the others has as much as it has; and
     * something of each is under way. */
    const size_t most = 2 * (1 + GREEDY) * LARGE + 2 * GREEDY * SMALL;

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

/* How much of a huge one has come when so much came in all. */
static size_t count_of_huge(const struct server *server, size_t all_bytes)
{
    struct download all[1 + GREEDY];
    size_t got = 0;

    for (unsigned i = 1; i <= GREEDY; i++)
        begin_from(&all[i], server, i, SMALL);
    begin_from(&all[0], server, 0, HUGE_BYTES);
    while (got <= all_bytes)
        got += turn(all, 1 + GREEDY, 1, SMALL);
    close_all(all, GREEDY + 1);
    return all[0].got;
}

/* It need not move yet when each could have had 1.5 MB, as the link carries 2.4
 * MB in a quarter of a second; and goes before others when it has to. */
TEST(a_large_reply_stands_still_while_that_keeps_the_promise)
{
    struct server *server;
    int round = 0;
    size_t got;

    if (is_sanitized())
        skip(); /* there are gaps between the others */
    netns_need(MBIT);
    server = NETNS_START("--link-rate=80M", "--workers=1");
    while ((got = count_of_huge(server, (1 + GREEDY) * LARGE * 3 / 2)) >
           LARGE / 4)
        if (++round == ROUNDS)
            flunk("%zu KB came of it", got / KB);
    while ((got = count_of_huge(server, (1 + GREEDY) * LARGE * 4)) < LARGE / 2)
        if (++round == 2 * ROUNDS)
            flunk("%zu KB came of it", got / KB);
    server_stop(server);
}

/* --- A stream without an end beside them ------------------------------------- */

/* A process that says what never ends, and not how long it is. */
static pid_t stream_from(const struct client *peer)
{
    static const char zeros[16 * KB];
    struct pollfd ready = {.fd = client_socket(peer), .events = POLLOUT};
    pid_t pid = fork();

    assert_true(pid != -1);
    if (pid != 0)
        return pid;
    while (poll(&ready, 1, -1) == 1 &&
           (send(ready.fd, zeros, sizeof(zeros), MSG_NOSIGNAL) != -1 ||
            errno == EAGAIN))
        ;
    _exit(0);
}

/* What the link carries in the time for which the server, or this program, has
 * had no CPU since: others may have asked for nothing meanwhile. */
static size_t count_missed(const struct server *server, uint64_t since_ns)
{
    uint64_t ns = netns_count_waited_ns(server->pid) +
                  netns_count_waited_ns(getpid()) - since_ns;

    return (size_t)(ns * (MBIT * UINT64_C(1000000) / 8) / UINT64_C(1000000000));
}

/* How much of it has come when so much came in all since it began; and how much
 * of that may be because others had no CPU to ask with. */
static size_t count_stream(const struct server *server,
                           const struct upstream *upstream, size_t most,
                           size_t *missed_out)
{
    struct download all[1 + ASKING];
    struct client *peer;
    uint64_t waited_ns;
    size_t got = 0;
    pid_t pid;

    for (unsigned i = 1; i <= ASKING; i++)
        begin_from(&all[i], server, 1 + i % GREEDY, SMALL);
    while (got <= 2 * ASKING * SMALL)
        got += turn(all + 1, ASKING, 0, SMALL);
    begin_from(&all[0], server, 0, STREAM);
    all[0].is_unchecked = true;
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(peer, "HTTP/1.1 200 OK\r\n\r\n");
    pid = stream_from(peer);
    waited_ns = netns_count_waited_ns(server->pid) +
                netns_count_waited_ns(getpid());
    for (got = 0; got <= most;)
        got += turn(all, 1 + ASKING, 1, SMALL);
    *missed_out = count_missed(server, waited_ns);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    client_close(peer);
    close_all(all, 1 + ASKING);
    return all[0].got;
}

/* Under fair sharing it would have a ninth, 2 MB; half of that is promised, but
 * for what is under way. */
static void expect_stream(const char *option, const char *workers, size_t bytes,
                          bool comes)
{
    const struct upstream *upstream = upstream_open_unix();

    for (size_t i = 0; i < HOLDING; i++) {
        bool has_come = !comes;

        going_on("%s %s %s", holding[i], option, workers);
        for (int round = 0; has_come != comes; round++) {
            struct server *server = NETNS_START(holding[i], option, workers,
                                                printed("--proxy=/%d=%s",
                                                        STREAM, upstream->at));
            size_t missed;
            size_t got = count_stream(server, upstream,
                                      2 * (1 + GREEDY) * LARGE, &missed);

            has_come = got >= (comes ? bytes : bytes + missed);
            if (has_come != comes && round + 1 == ROUNDS)
                flunk("%zu KB came of it", got / KB);
            server_stop(server);
        }
    }
}

TEST(a_stream_of_unknown_length_has_its_share)
{
    netns_need(MBIT);
    expect_stream("--starvation-factor=2", "--workers=1", LARGE * 3 / 4, true);
}

TEST(nor_do_other_workers_keep_it_waiting)
{
    netns_need(MBIT);
    /* What one tells another takes a tick. */
    expect_stream("--starvation-factor=2", "--workers=3", LARGE / 2, true);
}

TEST(without_a_factor_it_waits)
{
    if (is_sanitized())
        skip(); /* those that are to be sent first are not made quickly enough */
    netns_need(MBIT);
    expect_stream("--starvation-factor=0", "--workers=1", LARGE / 2, false);
}

/* --- Many connections -------------------------------------------------------- */

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

static void expect_half(const char *workers)
{
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], workers);
        int round = 0;
        size_t percent;

        going_on("%s %s", holding[i], workers);
        while ((percent = percent_beside_hundred(server, LARGE)) < 40)
            if (++round == ROUNDS)
                flunk("one connection had %zu %%", percent);
        server_stop(server);
    }
}

TEST(a_hundred_connections_have_no_more_of_the_link_than_one)
{
    netns_need(MBIT);
    expect_half("--workers=1");
}

TEST(nor_do_they_with_several_workers)
{
    netns_need(MBIT);
    expect_half("--workers=3");
}

SUITE(.begin = start, .end = netns_suite_end, .each_end = harness_after_test);
