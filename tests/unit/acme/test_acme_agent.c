/* link: -Wl,--wrap=time -lcurl */
#include "acme/acme_agent.h"

#include <time.h>

#include "config/options.h"
#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

enum { DAY_S = 24 * 3600, NOW_S = 1700000000 };

static struct place place;
static time_t clock_s;

WRAP(time_t, time, time_t *out)
{
    if (out)
        *out = clock_s;
    return clock_s;
}

static int set_up(void **state)
{
    (void)state;
    clock_s = NOW_S;
    return place_open(&place);
}

static int tear_down(void **state)
{
    (void)state;
    return place_close(&place);
}

/* Nobody listens there. */
static const char *directories[] = {"https://127.0.0.1:1/directory"};
static const char *names[] = {"a.example"};

static void open_agent(struct acme_agent *agent, struct options *options,
                       struct managed_certificate *certificate)
{
    char *folder = strdup(place_path(&place, "acme"));

    assert_non_null(folder);
    *certificate = (struct managed_certificate){.site = "*",
                                                .name = names[0],
                                                .path = "/none",
                                                .names = {.items = names,
                                                          .count = 1}};
    *options = (struct options){.acme_directory = {.items = directories,
                                                   .count = 1},
                                .acme_folder = folder,
                                .acme_retry_ms = 60000,
                                .managed = certificate,
                                .managed_count = 1};
    assert_int_equal(acme_agent_open(agent, options), 0);
}

static void close_agent(struct acme_agent *agent)
{
    char *folder = (char *)(uintptr_t)agent->options->acme_folder;

    acme_agent_close(agent);
    free(folder);
}

TEST(what_has_failed_is_tried_again_soon)
{
    struct managed_certificate certificate;
    struct options options;
    struct acme_agent agent;

    open_agent(&agent, &options, &certificate);
    assert_in_range(acme_agent_turn(&agent), 1, 10);
    assert_false(acme_agent_is_well(&agent));
    assert_in_range(agent.seen[0].due_s, NOW_S + 60, NOW_S + 66);
    close_agent(&agent);
}

/* A machine that begins with a wrong clock fails to get anything, until
 * somebody tells it what time it is. */
TEST(a_clock_that_is_set_back_holds_nothing_up)
{
    struct managed_certificate certificate;
    struct options options;
    struct acme_agent agent;

    open_agent(&agent, &options, &certificate);
    clock_s = NOW_S + 30 * DAY_S;
    (void)acme_agent_turn(&agent);
    assert_in_range(agent.seen[0].due_s, clock_s + 60, clock_s + 66);
    clock_s = NOW_S;
    (void)acme_agent_turn(&agent);
    assert_in_range(agent.seen[0].due_s, NOW_S + 120, NOW_S + 132);
    close_agent(&agent);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
