/*
 * --profile: samples of what the threads are at show where the processor's
 * time goes; without it there are none.
 */
#include "client.h"

#include "json.h"

enum { CLIENTS = 4, VOLLEY = 16, MIDDLE = 200000, LONG_MS = 15000 };

E2E_BEGIN(start)
{
    site_seeded("middle", 1, MIDDLE);
}

/* --- Load, and what is told of it ----------------------------------------- */

static void load(const struct server *server)
{
    struct client *clients[CLIENTS];

    for (size_t i = 0; i < CLIENTS; i++)
        clients[i] = client_open(server);
    for (size_t i = 0; i < CLIENTS; i++)
        for (size_t j = 0; j < VOLLEY; j++)
            client_say(clients[i], "GET /%s HTTP/1.1\r\nHost: a\r\n\r\n",
                       j % 4 == 0 ? "middle" : "canary");
    for (size_t i = 0; i < CLIENTS; i++) {
        for (size_t j = 0; j < VOLLEY; j++)
            expect_status(client_reply(clients[i]), 200);
        client_close(clients[i]);
    }
}

/* The part of status.json under "profile". */
static const char *profile_of(const struct server *server)
{
    struct reply *reply = get(server, "/_s/status.json");
    const char *at;

    expect_status(reply, 200);
    expect_json(reply->body, reply->body_len);
    at = strstr(printed("%.*s", (int)reply->body_len, reply->body),
                "\"profile\":{");
    assert_non_null(at);
    return at;
}

static const char *const phases[] = {"accept",   "read", "parse", "lookup",
                                     "schedule", "send", "log",   "other"};
enum { PHASES = sizeof(phases) / sizeof(*phases) };

static double share_of(const char *profile, const char *name)
{
    const char *at = strstr(profile, printed("\"%s\":", name));

    if (!at)
        flunk("no %s in %s", name, profile);
    return strtod(at + strlen(name) + 3, NULL);
}

static double sum_of(const char *profile)
{
    double sum = 0;

    for (size_t i = 0; i < PHASES; i++)
        sum += share_of(profile, phases[i]);
    return sum;
}

/* Whether they are told with what they need to be believed: the time that was
 * not used, which is known each second, and enough samples. */
static bool is_told(const struct server *server)
{
    const char *profile = profile_of(server);

    return share_of(profile, "send") > 0 && share_of(profile, "read") > 0 &&
           share_of(profile, "idle") > 0;
}

/* --- Tests ---------------------------------------------------------------- */

TEST(shares_of_all_time_are_told)
{
    struct server *server = START("--profile", "--status=/_s", "--workers=2",
                                  "--report=always");
    const char *profile;
    const char *report;
    double sum;

    if (!eventually((load(server), is_told(server)), LONG_MS))
        flunk("%s", profile_of(server));
    profile = profile_of(server);
    assert_int_equal(strncmp(profile, "\"profile\":{\"enabled\":true,", 26), 0);
    sum = sum_of(profile);
    for (size_t i = 0; i < PHASES; i++)
        assert_true(share_of(profile, phases[i]) >= 0);
    if (sum + share_of(profile, "idle") < 0.999 ||
        sum + share_of(profile, "idle") > 1.001)
        flunk("not all or more of it: %s", profile);
    server_stop(server);
    report = strstr(read_text(server->errors, NULL),
                    "Where the workers' time went");
    assert_non_null(report);
    for (size_t i = 0; i < PHASES; i++)
        assert_non_null(strstr(report, printed("\n  %s ", phases[i])));
    assert_non_null(strstr(report, "\n  idle "));
}

TEST(samples_are_metrics)
{
    static const char family[] = "# TYPE sprintd_profile_samples_total counter";
    static const char name[] = "sprintd_profile_samples_total{phase=\"send\"} ";
    struct server *server = START("--profile", "--status=/_s", "--workers=1");
    const char *text;

    if (!eventually((load(server), is_told(server)), LONG_MS))
        flunk("%s", profile_of(server));
    text = printed("%s", get(server, "/_s/metrics")->body);
    assert_non_null(strstr(text, family));
    assert_non_null(strstr(text, name));
    assert_true(strtoull(strstr(text, name) + strlen(name), NULL, 10) > 0);
}

TEST(without_the_option_there_are_no_samples)
{
    struct server *server = START("--status=/_s", "--report=always");
    const char *profile;

    for (size_t i = 0; i < 20; i++)
        load(server);
    profile = profile_of(server);
    assert_int_equal(strncmp(profile, "\"profile\":{\"enabled\":false,", 27),
                     0);
    assert_true(sum_of(profile) == 0);
    assert_null(strstr(printed("%s", get(server, "/_s/metrics")->body),
                       "profile_samples"));
    server_stop(server);
    assert_null(strstr(read_text(server->errors, NULL), "time went"));
}

TEST(a_limit_on_timers_is_said_and_survived)
{
    struct server *server;
    struct rlimit old;
    struct rlimit none;

    assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &old), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
    server = START("--profile", "--workers=1");
    assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &old), 0);
    client_expect_usable(client_open(server));
    assert_true(eventually(strstr(read_text(server->errors, NULL),
                                  "--profile: worker 0: ") != NULL,
                           LONG_MS));
}

E2E_SUITE(start);
