#include "config/command_line.h"

#include "base/evict.h"
#include "base/log.h"
#include "engine/sched.h"
#include "files/file_cache.h"
#include "observe/access_log.h"
#include "unit/config/told.h"

/* --- Defaults ------------------------------------------------------------ */

TEST(without_arguments_everything_has_its_default)
{
    read_well("");
    assert_string_equal(options.location.root, "www");
    assert_int_equal(options.port, 8080);
    assert_null(options.bind);
    assert_int_equal(options.listen.count, 0);
    assert_int_equal(options.workers, 0);
    assert_int_equal(options.schedule, SCHED_POLICY_SRPT);
    assert_int_equal(options.starvation_bound, 8192);
    assert_int_equal(options.starvation_factor, 2);
    assert_true(options.link_rate == OPTIONS_LINK_AUTO);
    assert_int_equal(options.chunk_bytes, 512 << 10);
    assert_int_equal(options.send_method, SEND_AUTO);
    assert_int_equal(options.cache_bytes, 64 << 20);
    assert_int_equal(options.cache_entries, 65536);
    assert_int_equal(options.cache_policy, EVICT_SIEVE);
    assert_int_equal(options.connections_max, 0);
    assert_int_equal(options.requests_max, 0);
    assert_int_equal(options.keepalive_ms, 60000);
    assert_int_equal(options.header_ms, 10000);
    assert_int_equal(options.body_ms, 30000);
    assert_int_equal(options.send_ms, 30000);
    assert_int_equal(options.send_rate_min, 256);
    assert_int_equal(options.drain_ms, 30000);
    assert_null(options.location.cache_control);
    assert_int_equal(options.status.len, 0);
    assert_int_equal(options.status_allow.count, 0);
    assert_null(options.access_log);
    assert_string_equal(options.log_format, "combined");
    assert_int_equal(options.log_overflow, LOG_OVERFLOW_DROP);
    assert_int_equal(options.log_level, LOG_LEVEL_NOTICE);
    assert_int_equal(options.report, OPTIONS_REPORT_AUTO);
    assert_false(options.location.follow_symlinks ||
                 options.location.show_hidden || options.location.autoindex ||
                 options.hides_server || options.server_timing ||
                 options.profile || options.wants_help ||
                 options.wants_version);
}

/* --- Every option -------------------------------------------------------- */

TEST(numbers_sizes_and_times_are_read)
{
    static const struct {
        const char *name;
        const char *value;
        size_t offset;
        uint64_t expected;
    } cases[] = {{"port", "0", AT(port), 0},
                 {"port", "65535", AT(port), 65535},
                 {"workers", "1024", AT(workers), 1024},
                 {"chunk-size", "1", AT(chunk_bytes), 1},
                 {"chunk-size", "1.5k", AT(chunk_bytes), 1536},
                 {"chunk-size", "1G", AT(chunk_bytes), 1 << 30},
                 {"cache-size", "0", AT(cache_bytes), 0},
                 {"cache-size", "3M", AT(cache_bytes), 3 << 20},
                 {"cache-size", "1024G", AT(cache_bytes), UINT64_C(1) << 40},
                 {"cache-entries", "16777216", AT(cache_entries), 16777216},
                 {"max-connections", "5000", AT(connections_max), 5000},
                 {"max-requests-per-connection", "4294967295", AT(requests_max),
                  UINT32_MAX},
                 {"keepalive-timeout", "5", AT(keepalive_ms), 5000},
                 {"keepalive-timeout", "5s", AT(keepalive_ms), 5000},
                 {"keepalive-timeout", "1ms", AT(keepalive_ms), 1},
                 {"header-timeout", "2m", AT(header_ms), 120000},
                 {"header-timeout", "0.25s", AT(header_ms), 250},
                 {"body-timeout", "1440m", AT(body_ms), 86400000},
                 {"send-timeout", "250ms", AT(send_ms), 250},
                 {"send-rate-min", "10K", AT(send_rate_min), 10240},
                 {"drain-timeout", "0", AT(drain_ms), 0},
                 {"drain-timeout", "0.5h", AT(drain_ms), 1800000},
                 {"drain-timeout", "24h", AT(drain_ms), 86400000},
                 {"schedule", "srpt", AT(schedule), SCHED_POLICY_SRPT},
                 {"schedule", "fsp", AT(schedule), SCHED_POLICY_FSP},
                 {"schedule", "fifo", AT(schedule), SCHED_POLICY_FIFO},
                 {"schedule", "fair", AT(schedule), SCHED_POLICY_FAIR},
                 {"starvation-bound", "0", AT(starvation_bound), 0},
                 {"starvation-bound", "1048576", AT(starvation_bound), 1 << 20},
                 {"starvation-factor", "0", AT(starvation_factor), 0},
                 {"starvation-factor", "1024", AT(starvation_factor), 1024},
                 {"link-rate", "auto", AT(link_rate), OPTIONS_LINK_AUTO},
                 {"link-rate", "off", AT(link_rate), OPTIONS_LINK_OFF},
                 {"link-rate", "8000", AT(link_rate), 8000},
                 {"link-rate", "80M", AT(link_rate), 80000000},
                 {"link-rate", "1G", AT(link_rate), 1000000000},
                 {"send-method", "auto", AT(send_method), SEND_AUTO},
                 {"send-method", "mmap", AT(send_method), SEND_MMAP},
                 {"send-method", "sendfile", AT(send_method), SEND_SENDFILE},
                 {"send-method", "read", AT(send_method), SEND_READ},
                 {"log-overflow", "drop", AT(log_overflow), LOG_OVERFLOW_DROP},
                 {"log-overflow", "wait", AT(log_overflow), LOG_OVERFLOW_WAIT},
                 {"log-level", "error", AT(log_level), LOG_LEVEL_ERROR},
                 {"log-level", "warning", AT(log_level), LOG_LEVEL_WARNING},
                 {"log-level", "notice", AT(log_level), LOG_LEVEL_NOTICE},
                 {"log-level", "info", AT(log_level), LOG_LEVEL_INFO},
                 {"log-level", "debug", AT(log_level), LOG_LEVEL_DEBUG},
                 {"report", "off", AT(report), OPTIONS_REPORT_OFF},
                 {"report", "auto", AT(report), OPTIONS_REPORT_AUTO},
                 {"report", "always", AT(report), OPTIONS_REPORT_ALWAYS},
                 {"cache-policy", "lru", AT(cache_policy), EVICT_LRU},
                 {"cache-policy", "gdsf", AT(cache_policy), EVICT_GDSF},
                 {"cache-policy", "sieve", AT(cache_policy), EVICT_SIEVE}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[100];

        snprintf(line, sizeof(line), "--%s %s", cases[i].name, cases[i].value);
        read_well(line);
        assert_int_equal(number_at(cases[i].offset), cases[i].expected);
        snprintf(line, sizeof(line), "--%s=%s", cases[i].name, cases[i].value);
        read_well(line);
        assert_int_equal(number_at(cases[i].offset), cases[i].expected);
    }
}

TEST(texts_are_read)
{
    static const struct {
        const char *name;
        size_t offset;
    } cases[] = {{"bind", AT(bind)},
                 {"cache-control", AT(location.cache_control)},
                 {"access-log", AT(access_log)}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[100];

        snprintf(line, sizeof(line), "--%s a=b", cases[i].name);
        read_well(line);
        assert_string_equal(text_at(cases[i].offset), "a=b");
        snprintf(line, sizeof(line), "--%s=a=b", cases[i].name);
        read_well(line);
        assert_string_equal(text_at(cases[i].offset), "a=b");
        snprintf(line, sizeof(line), "--%s -", cases[i].name);
        read_well(line);
        assert_string_equal(text_at(cases[i].offset), "-");
    }
}

static const struct {
    const char *name;
    size_t offset;
} switches[] = {{"autoindex", AT(location.autoindex)},
                {"show-hidden", AT(location.show_hidden)},
                {"follow-symlinks", AT(location.follow_symlinks)},
                {"no-server-header", AT(hides_server)},
                {"server-timing", AT(server_timing)},
                {"profile", AT(profile)},
                {"help", AT(wants_help)},
                {"version", AT(wants_version)}};

enum { SWITCHES = sizeof(switches) / sizeof(switches[0]) };

TEST(a_switch_turns_on_that_alone)
{
    for (int i = 0; i < SWITCHES; i++) {
        char line[100];

        snprintf(line, sizeof(line), "--%s", switches[i].name);
        read_well(line);
        for (int other = 0; other < SWITCHES; other++)
            assert_int_equal(switch_at(switches[other].offset), i == other);
    }
}

TEST(a_switch_can_be_turned_off_again)
{
    read_well("--autoindex=no");
    assert_false(options.location.autoindex);
    read_well("--autoindex --autoindex=off");
    assert_false(options.location.autoindex);
    read_well("--autoindex=yes");
    assert_true(options.location.autoindex);
    read_badly("--autoindex=perhaps");
    assert_non_null(strstr(errors, "yes or no"));
}

TEST(listeners_are_collected)
{
    read_well("--listen 127.0.0.1:80 --listen=[::1]:81 -l unix:/x");
    assert_int_equal(options.listen.count, 3);
    assert_string_equal(options.listen.items[0], "127.0.0.1:80");
    assert_string_equal(options.listen.items[1], "[::1]:81");
    assert_string_equal(options.listen.items[2], "unix:/x");
}

TEST(letters_stand_for_names)
{
    read_well("-p 81 -b ::1 -l x:1 -w 3 -h -V");
    assert_int_equal(options.port, 81);
    assert_string_equal(options.bind, "::1");
    assert_int_equal(options.listen.count, 1);
    assert_int_equal(options.workers, 3);
    assert_true(options.wants_help && options.wants_version);
    read_well("-p=82");
    assert_int_equal(options.port, 82);
}

TEST(the_last_of_two_counts)
{
    read_well("--port 81 -p 82");
    assert_int_equal(options.port, 82);
}

/* --- The root ------------------------------------------------------------ */

TEST(what_is_no_option_is_the_root)
{
    read_well("/srv/files");
    assert_string_equal(options.location.root, "/srv/files");
    read_well("-p 81 files --autoindex");
    assert_string_equal(options.location.root, "files");
    assert_true(options.location.autoindex);
    read_well("-- --port");
    assert_string_equal(options.location.root, "--port");
    read_well("-p 81 --");
    assert_string_equal(options.location.root, "www");
}

TEST(a_second_root_is_refused)
{
    read_badly("one two");
    assert_non_null(strstr(errors, "'two'"));
    read_badly("one -- --two");
    assert_non_null(strstr(errors, "'--two'"));
}

SUITE(.end = forget_options);
