/*
 * A narrow link is used up while anything waits, whatever waits for it, however
 * narrow it is and wherever: its rate is found out, and found out right.
 *
 * The link counts what leaves, with all headers, for a second. Other programs
 * can keep the server from sending and this one from asking for more; so less
 * is expected by as much as either has waited for a CPU, and each may be run
 * again: what the server does wrong it does every time.
 *
 * alone: it measures a link
 */
#include "download.h"
#include "netns.h"

#include <inttypes.h>

enum {
    KB = 1024,
    HUGE_BYTES = 256 * KB * KB,
    PAGE = 6,   /* connections that load files of many sizes, kept alive */
    CROWD = 16, /* that ask for the same again and again */
    DOWNLOADS = 1 + CROWD,
    WARM_MS = 1000, /* until the rate is known */
    COUNT_MS = 1000,
    LEARN_MS = 4000, /* a pace that runs away has, by then */
    ROUNDS = 4
};

static const size_t files[] = {2 * KB, 16 * KB, 4 * KB, 64 * KB,
                               1 * KB, 32 * KB, 8 * KB};
enum { FILES = sizeof(files) / sizeof(*files) };

/* Where the link is narrow: at the server's own interface, or further away. */
enum place { NOWHERE, HERE, FAR_AWAY };

static enum place place;

/* What asks for something all the time. */
struct load {
    const char *name;
    size_t downloads; /* of a file that never ends */
    size_t others;
    bool is_same;       /* all others ask for the largest file */
    bool is_new_always; /* each request on a connection of its own */
};

static const struct load page = {"a page beside a download", 1, PAGE, false,
                                 false};
static const struct load crowd = {"a crowd", 0, CROWD, true, false};
static const struct load strangers = {"new connections", 0, CROWD, false, true};
static const struct load few = {"few downloads", 3, 0, false, false};

static int start(void **state)
{
    if (harness_begin(state) != 0)
        return -1;
    for (size_t i = 0; i < FILES; i++)
        download_file(files[i]);
    site_text(printed("%d", HUGE_BYTES), "");
    if (truncate(printed("%s/%d", site(), HUGE_BYTES), HUGE_BYTES) == -1)
        return -1;
    place = NOWHERE;
    return 0;
}

static int end(void **state)
{
    netns_end();
    return harness_end(state);
}

static size_t next_size(const struct load *load)
{
    static size_t at;

    return load->is_same ? files[3] : files[at++ % FILES];
}

static void ask_anew(const struct server *server, const struct load *load,
                     struct download *download)
{
    if (download->size == HUGE_BYTES) {
        download_again(download, HUGE_BYTES);
    } else if (load->is_new_always) {
        client_close(download->client);
        download_begin(download, client_open(server), next_size(load));
    } else {
        download_again(download, next_size(load));
    }
}

/* For so many ms. */
static void ask_for(const struct server *server, const struct load *load,
                    struct download *all, uint64_t ms)
{
    uint64_t end_ms = now_ms() + ms;

    do {
        downloads_turn(all, load->downloads + load->others);
        for (size_t i = 0; i < load->downloads + load->others; i++)
            if (download_has_ended(&all[i]))
                ask_anew(server, load, &all[i]);
    } while (now_ms() < end_ms);
}

/* What is used of the link; and for which share of the time the server or this
 * program waited for a CPU. */
static double share_used(const struct server *server, const struct load *load,
                         unsigned mbit, double *waited_out)
{
    struct download all[DOWNLOADS];
    size_t at = 0;
    uint64_t since_ms, bytes, waited_ns;

    for (; at < load->downloads; at++) {
        download_begin(&all[at], client_open(server), HUGE_BYTES);
        all[at].is_unchecked = true;
    }
    for (; at < load->downloads + load->others; at++)
        download_begin(&all[at], client_open(server), next_size(load));
    ask_for(server, load, all, WARM_MS);
    bytes = netns_count_bytes();
    since_ms = now_ms();
    waited_ns = netns_count_waited_ns(server->pid) +
                netns_count_waited_ns(getpid());
    ask_for(server, load, all, COUNT_MS);
    waited_ns = netns_count_waited_ns(server->pid) +
                netns_count_waited_ns(getpid()) - waited_ns;
    bytes = netns_count_bytes() - bytes;
    since_ms = now_ms() - since_ms;
    for (size_t i = 0; i < at; i++)
        client_close(all[i].client);
    *waited_out = (double)waited_ns / ((double)since_ms * 1e6);
    return (double)bytes * 8 / (mbit * 1e3 * (double)since_ms);
}

static void be_at(enum place wanted)
{
    if (place == wanted)
        return;
    if (place != NOWHERE)
        netns_end();
    if (wanted == HERE)
        netns_begin();
    else
        netns_begin_far();
    place = wanted;
}

/* Of a link that is used up no more is left than what is kept free to have no
 * queue; a sanitizer's server is too slow for a fast one. What others have of
 * the CPUs excuses so much and no more. */
static void expect_busy(enum place where, unsigned mbit,
                        const struct load *load)
{
    const double excuse = 0.2;
    double least = mbit <= 80 ? 0.97 : is_sanitized() ? 0.3 : 0.95;
    struct server *server;
    double share, waited;

    be_at(where);
    netns_need(mbit);
    for (int round = 0; round < ROUNDS; round++) {
        going_on("%u Mbit/s, %s", mbit, load->name);
        server = NETNS_START("--link-rate=auto", "--workers=1");
        share = share_used(server, load, mbit, &waited);
        server_stop(server);
        if (share >= least - (waited < excuse ? waited : excuse))
            return;
    }
    flunk("only %.1f %% were used, %.1f %% of the time without a CPU",
          share * 100, waited * 100);
}

TEST(two_mbit_are_used_by_a_page_beside_a_download)
{
    expect_busy(HERE, 2, &page);
}

TEST(two_mbit_are_used_by_new_connections)
{
    expect_busy(HERE, 2, &strangers);
}

TEST(eight_mbit_are_used_by_a_page_beside_a_download)
{
    expect_busy(HERE, 8, &page);
}

TEST(eight_mbit_are_used_by_a_crowd)
{
    expect_busy(HERE, 8, &crowd);
}

TEST(eight_mbit_are_used_by_new_connections)
{
    expect_busy(HERE, 8, &strangers);
}

TEST(eighty_mbit_are_used_by_a_page_beside_a_download)
{
    expect_busy(HERE, 80, &page);
}

TEST(eighty_mbit_are_used_by_a_crowd)
{
    expect_busy(HERE, 80, &crowd);
}

TEST(eighty_mbit_are_used_by_new_connections)
{
    expect_busy(HERE, 80, &strangers);
}

TEST(eighty_mbit_are_used_by_few_downloads)
{
    expect_busy(HERE, 80, &few);
}

TEST(eight_hundred_mbit_are_used_by_a_page_beside_a_download)
{
    expect_busy(HERE, 800, &page);
}

TEST(eight_hundred_mbit_are_used_by_a_crowd)
{
    expect_busy(HERE, 800, &crowd);
}

TEST(eight_hundred_mbit_are_used_by_few_downloads)
{
    expect_busy(HERE, 800, &few);
}

TEST(two_mbit_far_away_are_used_by_a_page_beside_a_download)
{
    expect_busy(FAR_AWAY, 2, &page);
}

TEST(two_mbit_far_away_are_used_by_new_connections)
{
    expect_busy(FAR_AWAY, 2, &strangers);
}

TEST(eight_mbit_far_away_are_used_by_a_page_beside_a_download)
{
    expect_busy(FAR_AWAY, 8, &page);
}

TEST(eight_mbit_far_away_are_used_by_new_connections)
{
    expect_busy(FAR_AWAY, 8, &strangers);
}

TEST(eighty_mbit_far_away_are_used_by_a_page_beside_a_download)
{
    expect_busy(FAR_AWAY, 80, &page);
}

TEST(eighty_mbit_far_away_are_used_by_a_crowd)
{
    expect_busy(FAR_AWAY, 80, &crowd);
}

TEST(eighty_mbit_far_away_are_used_by_new_connections)
{
    expect_busy(FAR_AWAY, 80, &strangers);
}

TEST(eighty_mbit_far_away_are_used_by_few_downloads)
{
    expect_busy(FAR_AWAY, 80, &few);
}

/* How much of a fast link this machine can use depends on what else it does, and
 * on who gets a CPU first: what clients, the link and the server have of it is the
 * bottleneck then. What throttles for no reason leaves most of the link. */
static void expect_no_less(enum place where, unsigned mbit,
                           const struct load *load)
{
    double share[2], waited;

    be_at(where);
    netns_need(mbit);
    for (int round = 0; round < ROUNDS; round++) {
        for (int is_auto = 0; is_auto < 2; is_auto++) {
            struct server *server = NETNS_START(is_auto ? "--link-rate=auto"
                                                        : "--link-rate=off",
                                                "--workers=1");

            share[is_auto] = share_used(server, load, mbit, &waited);
            server_stop(server);
        }
        if (share[1] >= 0.9 * share[0])
            return;
    }
    flunk("%.1f %% were used, %.1f with nothing held back", share[1] * 100,
          share[0] * 100);
}

TEST(eight_hundred_mbit_far_away_are_used_as_with_nothing_held_back)
{
    expect_no_less(FAR_AWAY, 800, &page);
    expect_no_less(FAR_AWAY, 800, &crowd);
    expect_no_less(FAR_AWAY, 800, &few);
}

/* --- Several workers ------------------------------------------------------ */

/* Bytes a second, by the statistics; 0: not known. */
static uint64_t rate_told(const struct server *server)
{
    static const char member[] = "\"rate_bytes_per_second\":";
    const struct reply *reply = get(server, "/_s/status.json");
    const char *at = strstr(reply->body, member);

    assert_non_null(at);
    return strtoull(at + strlen(member), NULL, 10);
}

/* What the pace is when a crowd has asked for a while. */
static uint64_t rate_learnt(const struct server *server)
{
    struct download all[CROWD];
    uint64_t rate;

    for (size_t i = 0; i < CROWD; i++)
        download_begin(&all[i], client_open(server), next_size(&crowd));
    ask_for(server, &crowd, all, LEARN_MS);
    rate = rate_told(server);
    for (size_t i = 0; i < CROWD; i++)
        client_close(all[i].client);
    return rate;
}

/* Each of them sees only a part of the queue, and some have no CPU for a while:
 * a queue that one does not see is there still. */
TEST(the_pace_of_several_workers_is_that_of_the_link)
{
    const unsigned mbit = 80;
    const uint64_t bytes = mbit * UINT64_C(125000);
    uint64_t rate;

    be_at(HERE);
    netns_need(mbit);
    for (int round = 0; round < ROUNDS; round++) {
        struct server *server = NETNS_START("--link-rate=auto", "--workers=4",
                                            "--status=/_s",
                                            "--status-allow=10.99.1.0/24");

        rate = rate_learnt(server);
        server_stop(server);
        if (rate > bytes * 8 / 10 && rate < bytes * 12 / 10)
            return;
    }
    flunk("%" PRIu64 " bytes a second of %" PRIu64, rate, bytes);
}

SUITE(.begin = start, .end = end, .each_end = harness_after_test);
