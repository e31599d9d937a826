/*
 * A narrow link is used up while anything waits, whatever waits for it and
 * however narrow it is: its rate is found out, and found out right.
 *
 * What is counted are bytes of bodies in a second; what lies around them is
 * reckoned by full segments, so that the link is a little busier than it seems.
 * Other programs can keep this one from counting; so each may be run again:
 * what the server does wrong it does every time.
 *
 * alone: it measures a link
 */
#include "download.h"
#include "netns.h"

enum {
    KB = 1024,
    HUGE_BYTES = 256 * KB * KB,
    PAGE = 6,   /* connections that load files of many sizes, kept alive */
    CROWD = 16, /* that ask for the same again and again */
    DOWNLOADS = 1 + CROWD,
    WARM_MS = 1000, /* until the rate is known */
    COUNT_MS = 1000,
    SEGMENT = 1448,
    FRAME = 1514,
    ROUNDS = 4
};

static const size_t files[] = {2 * KB, 16 * KB, 4 * KB, 64 * KB,
                               1 * KB, 32 * KB, 8 * KB};
enum { FILES = sizeof(files) / sizeof(*files) };

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
    netns_begin();
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

/* How many bytes came in so many ms, or a little more. */
static size_t count(const struct server *server, const struct load *load,
                    struct download *all, uint64_t *ms)
{
    uint64_t since_ms = now_ms();
    uint64_t wanted_ms = *ms;
    size_t got = 0;

    do {
        got += downloads_turn(all, load->downloads + load->others);
        for (size_t i = 0; i < load->downloads + load->others; i++)
            if (download_has_ended(&all[i]))
                ask_anew(server, load, &all[i]);
        *ms = now_ms() - since_ms;
    } while (*ms < wanted_ms);
    return got;
}

/* What is used of the link. */
static double share_used(const struct server *server, const struct load *load,
                         unsigned mbit)
{
    struct download all[DOWNLOADS];
    size_t at = 0;
    uint64_t warm_ms = WARM_MS;
    uint64_t ms = COUNT_MS;
    size_t got;

    for (; at < load->downloads; at++) {
        download_begin(&all[at], client_open(server), HUGE_BYTES);
        all[at].is_unchecked = true;
    }
    for (; at < load->downloads + load->others; at++)
        download_begin(&all[at], client_open(server), next_size(load));
    count(server, load, all, &warm_ms);
    got = count(server, load, all, &ms);
    for (size_t i = 0; i < at; i++)
        client_close(all[i].client);
    return (double)got * FRAME / SEGMENT * 8 / (mbit * 1e3 * (double)ms);
}

static void expect_busy(unsigned mbit, const struct load *load, double least)
{
    struct server *server;
    double share;

    netns_need(mbit);
    for (int round = 0; round < ROUNDS; round++) {
        going_on("%u Mbit/s, %s", mbit, load->name);
        server = NETNS_START("--link-rate=auto", "--workers=1");
        share = share_used(server, load, mbit);
        server_stop(server);
        if (share >= least)
            return;
    }
    flunk("only %.1f %% were used", share * 100);
}

TEST(two_mbit_are_used_by_a_page_beside_a_download)
{
    expect_busy(2, &page, 0.92);
}

TEST(two_mbit_are_used_by_new_connections)
{
    expect_busy(2, &strangers, 0.85); /* of short replies heads are a part */
}

TEST(eight_mbit_are_used_by_a_page_beside_a_download)
{
    expect_busy(8, &page, 0.92);
}

TEST(eight_mbit_are_used_by_a_crowd)
{
    expect_busy(8, &crowd, 0.92);
}

TEST(eighty_mbit_are_used_by_a_page_beside_a_download)
{
    expect_busy(80, &page, 0.9);
}

TEST(eighty_mbit_are_used_by_few_downloads)
{
    expect_busy(80, &few, 0.9);
}

TEST(eight_hundred_mbit_are_used_by_a_crowd)
{
    expect_busy(800, &crowd, is_sanitized() ? 0.3 : 0.85);
}

SUITE(.begin = start, .end = end, .each_end = harness_after_test);
