/*
 * What other orders would have cost is told, and agrees with what is known of
 * them.
 *
 * alone: it measures a link
 */
#include "download.h"
#include "netns.h"

enum { MBIT = 40, KB = 1024, CROWD = 24, SECONDS = 6, ROUNDS = 3 };

E2E_BEGIN(start)
{
    static const size_t sizes[] = {1 * KB, 16 * KB, 256 * KB};

    download_files(sizes, sizeof(sizes) / sizeof(*sizes));
    netns_begin();
}

/* Keeps the link busy with replies of very different size, some seconds. */
static void keep_busy(const struct server *server)
{
    struct download all[CROWD];
    uint64_t until_us;

    for (size_t i = 0; i < CROWD; i++)
        download_begin(&all[i], client_open(server),
                       i % 4 == 0 ? 256 * KB
                       : i % 2    ? 1 * KB
                                  : 16 * KB);
    until_us = all[0].asked_us + SECONDS * UINT64_C(1000000);
    for (uint64_t now_us = 0; now_us < until_us;) {
        downloads_turn(all, CROWD);
        for (size_t i = 0; i < CROWD; i++) {
            if (!download_has_ended(&all[i]))
                continue;
            now_us = all[i].ended_us;
            download_again(&all[i], all[i].size);
        }
    }
    for (size_t i = 0; i < CROWD; i++)
        client_close(all[i].client);
}

/* A member of "what_if" in status.json; 0: it is not there. */
static uint64_t told(const struct reply *reply, const char *member)
{
    const char *part = strstr(reply->body, "\"what_if\":{");
    const char *at = part ? strstr(part, printed("\"%s\":", member)) : NULL;

    return at ? strtoull(at + strlen(member) + 3, NULL, 10) : 0;
}

/* The clients here wait for their replies before they ask again, which is what
 * makes the orders' means comparable with what was. */
static bool is_plausible(const struct server *server)
{
    const struct reply *reply = get(server, "/_s/status.json");
    uint64_t did = told(reply, "did_us");
    uint64_t fifo = told(reply, "fifo_us");
    uint64_t fair = told(reply, "fair_us");
    uint64_t srpt = told(reply, "srpt_us");

    going_on("did %lu us, fifo %lu, fair %lu, srpt %lu", (unsigned long)did,
             (unsigned long)fifo, (unsigned long)fair, (unsigned long)srpt);
    return srpt > 0 && srpt < fair && srpt < fifo && did * 10 > srpt * 5 &&
           did < fifo;
}

TEST(other_orders_are_told_of_while_the_link_is_busy)
{
    struct server *server;
    int round = 0;

    netns_need(MBIT);
    server = NETNS_START("--link-rate=40M", "--workers=1", "--status=/_s",
                         "--status-allow=10.99.1.0/24");
    assert_null(strstr(get(server, "/_s/status.json")->body, "what_if"));
    do {
        if (round++ == ROUNDS)
            flunk("not as it should be");
        keep_busy(server);
    } while (!is_plausible(server));
    assert_non_null(strstr(get(server, "/_s/metrics")->body,
                           "sprintd_whatif_seconds_count{policy=\"fair\"} "));
    server_stop(server);
}

SUITE(.begin = start, .end = netns_suite_end, .each_end = harness_after_test);
