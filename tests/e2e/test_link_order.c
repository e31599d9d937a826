/*
 * A slow link: in which order replies leave, under each schedule.
 *
 * The clock is what comes over the link: how many bytes had come in all when a
 * reply was complete. It does not depend on how fast the machine is, but other
 * programs can keep this one from looking at it; so each course may be run
 * again: what the server does wrong it does every time.
 *
 * alone: it measures a link
 */
#include "download.h"
#include "netns.h"

enum { MBIT = 40, KB = 1024, ROUNDS = 5, HOLDING = 2 };

static const char *const holding[HOLDING] = {"--link-rate=auto",
                                             "--link-rate=40M"};

E2E_BEGIN(start)
{
    static const size_t sizes[] = {1 * KB,   16 * KB,  64 * KB,
                                   256 * KB, 512 * KB, 1024 * KB};

    download_files(sizes, sizeof(sizes) / sizeof(*sizes));
    netns_begin();
}

/* --- Order --------------------------------------------------------------- */

enum { COURSE = 4, LATE_AFTER = 256 * KB, SLACK = 160 * KB };

struct course {
    size_t sizes[COURSE];
    size_t ended_at[COURSE]; /* how much had come in all by then */
};

static size_t note_ends(struct course *course, const struct download *all,
                        size_t count, size_t got)
{
    size_t left = COURSE - count;

    for (size_t i = 0; i < count; i++) {
        if (course->ended_at[i] == 0 && download_has_ended(&all[i]))
            course->ended_at[i] = got;
        left += course->ended_at[i] == 0;
    }
    return left;
}

/* Asks for the files one after the other, and for the last one when the link
 * has been busy for a while. */
static void run_course(const struct server *server, struct course *course)
{
    struct download all[COURSE];
    size_t count = 0;
    size_t got = 0;

    memset(course->ended_at, 0, sizeof(course->ended_at));
    for (; count < COURSE - 1; count++) {
        download_begin(&all[count], client_open(server), course->sizes[count]);
        pause_ms(slowness());
    }
    do {
        got += downloads_turn(all, count);
        if (count < COURSE && got >= LATE_AFTER) {
            download_begin(&all[count], client_open(server),
                           course->sizes[count]);
            count++;
        }
    } while (note_ends(course, all, count, got) > 0);
    for (size_t i = 0; i < COURSE; i++)
        client_close(all[i].client);
}

/* Whether all were complete when they should have been. */
typedef bool course_fn(const size_t ended_at[COURSE]);

static void expect_course(const char *schedule, struct course course,
                          course_fn *is_right)
{
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], schedule,
                                            "--workers=1");
        const size_t *at = course.ended_at;
        int round = 0;

        run_course(server, &course);
        while (!is_right(at)) {
            if (++round == ROUNDS)
                flunk("%s %s: complete after %zu, %zu, %zu, %zu KB", holding[i],
                      schedule, at[0] / KB, at[1] / KB, at[2] / KB, at[3] / KB);
            run_course(server, &course);
        }
        server_stop(server);
    }
}

static const struct course mixed = {
    .sizes = {1024 * KB, 256 * KB, 512 * KB, 64 * KB}};
static const struct course equal = {
    .sizes = {512 * KB, 512 * KB, 512 * KB, 512 * KB}};

/* The late one waits for nobody, the others for smaller ones. */
static bool is_by_size(const size_t at[COURSE])
{
    return at[3] <= LATE_AFTER + 64 * KB + SLACK && at[1] < at[2] &&
           at[2] < at[0] && at[1] <= (64 + 256) * KB + SLACK &&
           at[2] <= (64 + 256 + 512) * KB + SLACK;
}

TEST(the_shortest_is_complete_first)
{
    netns_need(MBIT);
    expect_course("--schedule=srpt", mixed, is_by_size);
}

static bool is_by_arrival(const size_t at[COURSE])
{
    return at[0] < at[1] && at[1] < at[2] && at[2] < at[3] &&
           at[0] <= 1024 * KB + SLACK && at[1] <= (1024 + 256) * KB + SLACK;
}

TEST(fifo_completes_them_as_they_came)
{
    netns_need(MBIT);
    expect_course("--schedule=fifo", mixed, is_by_arrival);
}

/* None is complete before six tenths of all have come. */
static bool is_together(const size_t at[COURSE])
{
    for (size_t i = 0; i < COURSE; i++)
        if (at[i] < COURSE * 512 * KB * 6 / 10)
            return false;
    return true;
}

TEST(fair_completes_equal_ones_together)
{
    netns_need(MBIT);
    expect_course("--schedule=fair", equal, is_together);
}

static const struct course late = {
    .sizes = {1024 * KB, 1024 * KB, 1024 * KB, 64 * KB}};

/* The late one gets a quarter of what leaves until it is complete. */
static bool is_shared(const size_t at[COURSE])
{
    return at[3] <= LATE_AFTER + COURSE * 64 * KB + SLACK;
}

TEST(fair_lets_nobody_wait_for_a_large_quantum_of_others)
{
    netns_need(MBIT);
    expect_course("--schedule=fair", late, is_shared);
}

/* Under fair sharing each of three has 85 KB when the late one comes at 256.
 * That is complete at 256 + 4 * 64 = 512, when each has 149; the one of 256 KB
 * at 512 + 3 * 107 = 832; the one of 512 KB at 832 + 2 * 256 = 1344. None may
 * be later; and the late one, which would be first, goes first. */
static bool is_never_later(const size_t at[COURSE])
{
    return at[3] <= LATE_AFTER + 64 * KB + SLACK && at[1] <= 832 * KB + SLACK &&
           at[2] <= 1344 * KB + SLACK;
}

TEST(fsp_completes_none_later_than_fair_sharing)
{
    netns_need(MBIT);
    expect_course("--schedule=fsp", mixed, is_never_later);
}

/* --- A flood ------------------------------------------------------------- */

enum {
    FLOOD = 24,
    FLOOD_BYTES = 16 * KB,
    MEDIUM = 64 * KB,
    /* What was asked for before it passes in any case, and a little that was
     * asked for after it and read before. */
    EARLIER = (FLOOD + 2) * FLOOD_BYTES
};

/* So many clients ask again and again, more quickly than the link lets them;
 * among them a medium reply is asked for. How many bytes the others received
 * until it is complete, or more than most. */
static size_t count_passing(const struct server *server, size_t most,
                            size_t *medium_got_out)
{
    struct download all[FLOOD + 1];
    struct download *medium = &all[FLOOD];
    size_t passed = 0;

    download_begin(medium, client_open(server), 1 * KB);
    downloads_finish(medium, 1);
    for (size_t i = 0; i < FLOOD; i++)
        download_begin(&all[i], client_open(server), FLOOD_BYTES);
    for (bool has_begun = false; passed <= most;) {
        passed += downloads_turn(all, FLOOD + 1);
        if (!has_begun && passed >= 2 * FLOOD * FLOOD_BYTES) {
            has_begun = true;
            passed = 0;
            download_again(medium, MEDIUM);
        }
        if (has_begun && download_has_ended(medium))
            break;
        for (size_t i = 0; i < FLOOD; i++)
            if (download_has_ended(&all[i]))
                download_again(&all[i], FLOOD_BYTES);
    }
    *medium_got_out = medium->got;
    for (size_t i = 0; i <= FLOOD; i++)
        client_close(all[i].client);
    return passed - medium->got;
}

static void break_off(const struct server *server, int count)
{
    for (int i = 0; i < count; i++) {
        struct client *client = client_open_narrow(server, 16 * KB);

        client_say(client, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", 1024 * KB);
        client_take(client, 1);
        client_reset(client);
    }
}

static void expect_passing(const char *schedule, const char *bound, size_t most)
{
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], schedule, bound,
                                            "--workers=1");
        int round = 0;
        size_t passed;
        size_t got;

        break_off(server, 40); /* which leaves no trace */
        while ((passed = count_passing(server, 2 * most, &got)) > most)
            if (++round == ROUNDS)
                flunk("%s: %zu KB passed", holding[i], passed / KB);
        server_stop(server);
    }
}

TEST(srpt_lets_a_flood_pass_no_more_than_the_bound)
{
    netns_need(MBIT);
    /* (K + 1) times what it has itself */
    expect_passing("--schedule=srpt", "--starvation-bound=4",
                   EARLIER + 5 * MEDIUM);
}

TEST(without_a_bound_a_flood_passes_for_ever)
{
    netns_need(MBIT);
    for (size_t i = 0; i < HOLDING; i++) {
        struct server *server = NETNS_START(holding[i], "--workers=1",
                                            "--starvation-bound=0");
        int round = 0;
        size_t got;

        do {
            if (round++ == ROUNDS)
                flunk("%s: it got %zu KB", holding[i], got / KB);
            count_passing(server, EARLIER + 2 * FLOOD * MEDIUM, &got);
        } while (got > 0);
        server_stop(server);
    }
}

TEST(fsp_lets_a_flood_pass_no_more_than_fair_sharing_does)
{
    netns_need(MBIT);
    /* All others would get as much as it has itself; and since they would have
     * half of theirs on average when the next ones come, there would be twice
     * as many. */
    expect_passing("--schedule=fsp", "--starvation-bound=0",
                   EARLIER + 2 * FLOOD * MEDIUM);
}

SUITE(.begin = start, .end = netns_suite_end, .each_end = harness_after_test);
