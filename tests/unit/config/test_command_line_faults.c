#include "config/command_line.h"

#include "unit/config/told.h"

TEST(every_bad_value_names_its_option)
{
    static const struct {
        const char *name;
        const char *values; /* separated by spaces */
    } cases[] = {{"port",
                  "65536 -1 x 80x 8.5 1e3 0x50 _ +1 99999999999999999999 1K"},
                 {"workers", "1025 many 1.0"},
                 {"chunk-size", "0 2G 1T 1KB K -1 0.5 1.5"},
                 {"cache-size", "1025G x 1..5K 1e99 inf nan"},
                 {"cache-entries", "16777217 -5"},
                 {"max-connections", "x 16777217"},
                 {"max-requests-per-connection", "4294967296"},
                 {"keepalive-timeout", "0 0ms 25h 1441m -1s 1.5ms 5sec s"},
                 {"header-timeout", "0 never"},
                 {"body-timeout", "0 86401"},
                 {"send-timeout", "0 _"},
                 {"send-rate-min", "fast"},
                 {"drain-timeout", "2d"},
                 {"schedule", "SRPT lifo _ srpt,fifo"},
                 {"starvation-bound", "1048577 -1 x"},
                 {"starvation-factor", "1025 -1 1.5 x"},
                 {"link-rate", "0 7999 fast -1 1e9 _ 2000000G"},
                 {"send-method", "write"},
                 {"cache-policy", "lfu"},
                 {"bind", "_ a\nb"},
                 {"cache-control", "_ a\r\nb \x7f"},
                 {"access-log", "_"},
                 {"status", "_ / x /a//b /a// /. /a/.. /a%62 /a?b /a/b;c //"},
                 {"status-allow", "_ x 10.0.0.1/8 10.0.0.0/33 ::1/129 unix:"},
                 {"status-host", "_ a..b a:80 *. *.*.a a/b 10.0.0.1 [::1]"},
                 {"log-format", "_ combine %h %{x} %{status %"},
                 {"log-overflow", "_ block"},
                 {"log-level", "_ warn 3"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *at = cases[i].values;

        while (*at) {
            int len = (int)strcspn(at, " ");
            char line[200];
            char option[50];

            snprintf(line, sizeof(line), "--%s %.*s", cases[i].name, len, at);
            snprintf(option, sizeof(option), "--%s: ", cases[i].name);
            if (strchr(line, '\n'))
                assert_int_equal(read_options(line), -EINVAL);
            else
                read_badly(line);
            assert_non_null(strstr(errors, option));
            at += at[len] == ' ' ? len + 1 : len;
        }
    }
}

TEST(a_format_or_a_template_is_read)
{
    read_well("--log-format json");
    assert_string_equal(options.log_format, "json");
    read_well("--log-format=%{remote}:\"%{request}\"=100%%");
    assert_string_equal(options.log_format, "%{remote}:\"%{request}\"=100%%");
    read_badly("--log-format=%{status}%{stat}");
    assert_non_null(strstr(errors, "'%{stat}'; there are remote "));
}

TEST(a_missing_value_names_its_option)
{
    static const char *const names[] = {"port",       "listen",
                                        "schedule",   "cache-size",
                                        "access-log", "drain-timeout"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char line[100];

        snprintf(line, sizeof(line), "root --%s", names[i]);
        read_badly(line);
        assert_non_null(strstr(errors, names[i]));
    }
    read_badly("-w");
    assert_non_null(strstr(errors, "--workers"));
}

TEST(an_unknown_option_is_named)
{
    static const char *const unknown[] = {"--ports", "--por", "-x",  "-pw",
                                          "--=",     "---",   "-=1", "--Port"};

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        read_badly(unknown[i]);
        assert_non_null(strstr(errors, unknown[i]));
        assert_non_null(strstr(errors, "--help"));
    }
}

TEST(too_many_listeners_are_refused)
{
    char line[500] = "";

    for (int i = 0; i < OPTIONS_LISTEN_MAX; i++)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s-l :%d",
                 i > 0 ? " " : "", i);
    read_well(line);
    assert_int_equal(options.listen.count, OPTIONS_LISTEN_MAX);
    snprintf(line + strlen(line), sizeof(line) - strlen(line), " -l :99");
    read_badly(line);
    assert_non_null(strstr(errors, "--listen"));
}

TEST(the_prefix_of_the_status_has_no_slash_at_its_end)
{
    read_well("--status /_sprintd");
    assert_true(bytes_eq(options.status, BYTES("/_sprintd")));
    read_well("--status=/a.b/~c/");
    assert_true(bytes_eq(options.status, BYTES("/a.b/~c")));
}

TEST(a_prefix_that_is_too_long_is_refused)
{
    char line[300];

    snprintf(line, sizeof(line), "--status /%0199d", 0);
    read_well(line);
    assert_int_equal(options.status.len, 200);
    snprintf(line, sizeof(line), "--status /%0200d", 0);
    read_badly(line);
}

TEST(blocks_that_are_allowed_are_collected)
{
    char line[500] = "";

    for (int i = 0; i < OPTIONS_STATUS_ALLOW_MAX; i++)
        snprintf(line + strlen(line), sizeof(line) - strlen(line),
                 "%s--status-allow=%d.0.0.0/8", i > 0 ? " " : "", i + 1);
    read_well(line);
    assert_int_equal(options.status_allow.count, OPTIONS_STATUS_ALLOW_MAX);
    assert_int_equal(options.status_allow.items[15].octets[0], 16);
    assert_int_equal(options.status_allow.items[15].bits, 8);
    snprintf(line + strlen(line), sizeof(line) - strlen(line),
             " --status-allow ::1");
    read_badly(line);
    assert_non_null(strstr(errors, "--status-allow"));
}

SUITE(.end = forget_options);
