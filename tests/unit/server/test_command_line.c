#include "server/command_line.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/evict.h"
#include "backend/file_cache.h"
#include "base/log.h"
#include "engine/sched.h"
#include "observe/access_log.h"
#include "server/option_compare.h"
#include "server/option_value.h"

enum { ARGUMENTS_MAX = 40 };

static struct options options;
static char errors[4096]; /* what was said about them */

/* Reads arguments that are separated by single spaces; "_" stands for an
 * empty one. 0 or -EINVAL. */
static int read_options(const char *line)
{
    static char texts[2][4096]; /* values point into it */
    static unsigned turn;
    char *text = texts[turn++ % 2];
    char *arguments[ARGUMENTS_MAX] = {text};
    int count = 1;
    FILE *to = fmemopen(errors, sizeof(errors), "w");
    int status;

    assert_non_null(to);
    snprintf(text, sizeof(texts[0]), "sprintd %s", line);
    for (char *at = text; *at; at++) {
        if (*at == ' ') {
            *at = '\0';
            assert_in_range(count, 1, ARGUMENTS_MAX - 1);
            arguments[count++] = strcmp(at + 1, "_") == 0 ? at + 2 : at + 1;
        }
    }
    if (*line == '\0')
        count = 1;
    errors[0] = '\0';
    options_fini(&options); /* those of the time before */
    status = command_line_read(&options, count, arguments, to);
    fclose(to);
    return status;
}

static void read_well(const char *line)
{
    if (read_options(line) != 0)
        fail_msg("%s: %s", line, errors);
    assert_string_equal(errors, "");
}

static void read_badly(const char *line)
{
    if (read_options(line) != -EINVAL)
        fail_msg("accepted: %s", line);
    assert_memory_equal(errors, "sprintd: ", 9);
    assert_non_null(strchr(errors, '\n'));
    assert_int_equal(strchr(errors, '\n')[1], '\0'); /* one line */
}

#define AT(member) offsetof(struct options, member)

static uint64_t number_at(size_t offset)
{
    uint64_t number;

    memcpy(&number, (const char *)&options + offset, sizeof(number));
    return number;
}

static const char *text_at(size_t offset)
{
    const char *text;

    memcpy(&text, (const char *)&options + offset, sizeof(text));
    return text;
}

static bool switch_at(size_t offset)
{
    return *((const char *)&options + offset) != 0;
}

/* --- Defaults ------------------------------------------------------------------------ */

static void without_arguments_everything_has_its_default(void **state)
{
    (void)state;
    read_well("");
    assert_string_equal(options.location.root, "www");
    assert_int_equal(options.port, 8080);
    assert_null(options.bind);
    assert_int_equal(options.listen.count, 0);
    assert_int_equal(options.workers, 0);
    assert_int_equal(options.schedule, SCHED_POLICY_SRPT);
    assert_int_equal(options.starvation_bound, 256);
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

/* --- Every option --------------------------------------------------------------------- */

static void numbers_sizes_and_times_are_read(void **state)
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
                 {"schedule", "srpt", AT(schedule), SCHED_POLICY_SRPT},
                 {"schedule", "fsp", AT(schedule), SCHED_POLICY_FSP},
                 {"schedule", "fifo", AT(schedule), SCHED_POLICY_FIFO},
                 {"schedule", "fair", AT(schedule), SCHED_POLICY_FAIR},
                 {"starvation-bound", "0", AT(starvation_bound), 0},
                 {"starvation-bound", "1048576", AT(starvation_bound), 1 << 20},
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
                 {"cache-policy", "sieve", AT(cache_policy), EVICT_SIEVE},
                 {"cache-policy", "s3fifo", AT(cache_policy), EVICT_S3FIFO}};

    (void)state;
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

static void texts_are_read(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
    } cases[] = {{"bind", AT(bind)},
                 {"cache-control", AT(location.cache_control)},
                 {"access-log", AT(access_log)}};

    (void)state;
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

static void a_switch_turns_on_that_alone(void **state)
{
    (void)state;
    for (int i = 0; i < SWITCHES; i++) {
        char line[100];

        snprintf(line, sizeof(line), "--%s", switches[i].name);
        read_well(line);
        for (int other = 0; other < SWITCHES; other++)
            assert_int_equal(switch_at(switches[other].offset), i == other);
    }
}

static void a_switch_can_be_turned_off_again(void **state)
{
    (void)state;
    read_well("--autoindex=no");
    assert_false(options.location.autoindex);
    read_well("--autoindex --autoindex=off");
    assert_false(options.location.autoindex);
    read_well("--autoindex=yes");
    assert_true(options.location.autoindex);
    read_badly("--autoindex=perhaps");
    assert_non_null(strstr(errors, "yes or no"));
}

static void listeners_are_collected(void **state)
{
    (void)state;
    read_well("--listen 127.0.0.1:80 --listen=[::1]:81 -l unix:/x");
    assert_int_equal(options.listen.count, 3);
    assert_string_equal(options.listen.items[0], "127.0.0.1:80");
    assert_string_equal(options.listen.items[1], "[::1]:81");
    assert_string_equal(options.listen.items[2], "unix:/x");
}

static void letters_stand_for_names(void **state)
{
    (void)state;
    read_well("-p 81 -b ::1 -l x:1 -w 3 -h -V");
    assert_int_equal(options.port, 81);
    assert_string_equal(options.bind, "::1");
    assert_int_equal(options.listen.count, 1);
    assert_int_equal(options.workers, 3);
    assert_true(options.wants_help && options.wants_version);
    read_well("-p=82");
    assert_int_equal(options.port, 82);
}

static void the_last_of_two_counts(void **state)
{
    (void)state;
    read_well("--port 81 -p 82");
    assert_int_equal(options.port, 82);
}

/* --- The root ----------------------------------------------------------------------------- */

static void what_is_no_option_is_the_root(void **state)
{
    (void)state;
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

static void a_second_root_is_refused(void **state)
{
    (void)state;
    read_badly("one two");
    assert_non_null(strstr(errors, "'two'"));
    read_badly("one -- --two");
    assert_non_null(strstr(errors, "'--two'"));
}

/* --- What is wrong --------------------------------------------------------------------------- */

static void every_bad_value_names_its_option(void **state)
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
                 {"link-rate", "0 7999 fast -1 1e9 _ 2000000G"},
                 {"send-method", "write"},
                 {"cache-policy", "lfu"},
                 {"bind", "_ a\nb"},
                 {"cache-control", "_ a\r\nb \x7f"},
                 {"access-log", "_"},
                 {"status", "_ / x /a//b /a// /. /a/.. /a%62 /a?b /a/b;c //"},
                 {"status-allow", "_ x 10.0.0.1/8 10.0.0.0/33 ::1/129 unix:"},
                 {"log-format", "_ combine %h %{x} %{status %"},
                 {"log-overflow", "_ block"},
                 {"log-level", "_ warn 3"}};

    (void)state;
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

static void a_format_or_a_template_is_read(void **state)
{
    (void)state;
    read_well("--log-format json");
    assert_string_equal(options.log_format, "json");
    read_well("--log-format=%{remote}:\"%{request}\"=100%%");
    assert_string_equal(options.log_format, "%{remote}:\"%{request}\"=100%%");
    read_badly("--log-format=%{status}%{stat}");
    assert_non_null(strstr(errors, "'%{stat}'; there are remote "));
}

static void a_missing_value_names_its_option(void **state)
{
    static const char *const names[] = {"port",       "listen",
                                        "schedule",   "cache-size",
                                        "access-log", "drain-timeout"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char line[100];

        snprintf(line, sizeof(line), "root --%s", names[i]);
        read_badly(line);
        assert_non_null(strstr(errors, names[i]));
    }
    read_badly("-w");
    assert_non_null(strstr(errors, "--workers"));
}

static void an_unknown_option_is_named(void **state)
{
    static const char *const unknown[] = {"--ports", "--por", "-x",  "-pw",
                                          "--=",     "---",   "-=1", "--Port"};

    (void)state;
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        read_badly(unknown[i]);
        assert_non_null(strstr(errors, unknown[i]));
        assert_non_null(strstr(errors, "--help"));
    }
}

static void too_many_listeners_are_refused(void **state)
{
    char line[500] = "";

    (void)state;
    for (int i = 0; i < OPTIONS_LISTEN_MAX; i++)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s-l :%d",
                 i > 0 ? " " : "", i);
    read_well(line);
    assert_int_equal(options.listen.count, OPTIONS_LISTEN_MAX);
    snprintf(line + strlen(line), sizeof(line) - strlen(line), " -l :99");
    read_badly(line);
    assert_non_null(strstr(errors, "--listen"));
}

static void the_prefix_of_the_status_has_no_slash_at_its_end(void **state)
{
    (void)state;
    read_well("--status /_sprintd");
    assert_true(bytes_eq(options.status, BYTES("/_sprintd")));
    read_well("--status=/a.b/~c/");
    assert_true(bytes_eq(options.status, BYTES("/a.b/~c")));
}

static void a_prefix_that_is_too_long_is_refused(void **state)
{
    char line[300];

    (void)state;
    snprintf(line, sizeof(line), "--status /%0199d", 0);
    read_well(line);
    assert_int_equal(options.status.len, 200);
    snprintf(line, sizeof(line), "--status /%0200d", 0);
    read_badly(line);
}

static void blocks_that_are_allowed_are_collected(void **state)
{
    char line[500] = "";

    (void)state;
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

/* --- Texts ------------------------------------------------------------------------------------- */

static void help_names_every_option(void **state)
{
    static const char names[] =
        "-p, --port N|-b, --bind ADDRESS|-l, --listen WHERE|-w, --workers N|"
        "--schedule ORDER|--starvation-bound K|--link-rate RATE|"
        "--chunk-size BYTES|--send-method HOW|--autoindex|"
        "--show-hidden|--follow-symlinks|--cache-control VALUE|"
        "--no-server-header|--cache-size BYTES|--cache-entries N|"
        "--cache-policy POLICY|--max-connections N|"
        "--max-requests-per-connection N|--keepalive-timeout TIME|"
        "--header-timeout TIME|--body-timeout TIME|--send-timeout TIME|"
        "--send-rate-min BYTES|--drain-timeout TIME|"
        "--access-log WHERE|--log-format FORMAT|--log-overflow "
        "WHAT|--status PREFIX|--status-allow CIDR|--log-level LEVEL|"
        "--profile|-h, --help|-V, --version";
    const char *at = names;
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    command_line_print_help(to);
    fclose(to);
    while (*at) {
        char name[50];

        len = strcspn(at, "|");
        snprintf(name, sizeof(name), "%.*s", (int)len, at);
        if (!strstr(text, name))
            fail_msg("no %s in: %s", name, text);
        at += at[len] == '|' ? len + 1 : len;
    }
    free(text);
}

static void help_fits_into_eighty_columns(void **state)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    command_line_print_help(to);
    fclose(to);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 80)
            fail_msg("%.*s", (int)strcspn(line, "\n"), line);
    free(text);
}

static void what_was_told_is_printed_as_a_file_has_it(void **state)
{
    static const struct {
        const char *line;
        const char *name;
        const char *printed; /* NULL: nothing */
    } cases[] = {{"", "port", "8080"},
                 {"", "bind", NULL},
                 {"", "listen", NULL},
                 {"", "link-rate", "auto"},
                 {"--link-rate=off", "link-rate", "off"},
                 {"--link-rate=80M", "link-rate", "80000000"},
                 {"--chunk-size=3000", "chunk-size", "3000"},
                 {"--cache-size=0", "cache-size", "0"},
                 {"--cache-size=1024G", "cache-size", "1024G"},
                 {"--body-timeout=250ms", "body-timeout", "250ms"},
                 {"--body-timeout=2m", "body-timeout", "120s"},
                 {"--schedule=fsp", "schedule", "fsp"},
                 {"--autoindex", "autoindex", "yes"},
                 {"--respond=a\"b\\${c}", "respond", "\"a\\\"b\\\\\\${c}\""},
                 {"--respond=_\tb\n", "respond", "\"_\\tb\\n\""},
                 {"--respond=", "respond", "\"\""},
                 {"--auth-file=off", "auth-file", NULL},
                 {"--auth-file=./off", "auth-file", "\"./off\""},
                 {"--rate-limit=off", "rate-limit", NULL},
                 {"-l a:1 -l b:2", "listen", "{\"a:1\", \"b:2\"}"},
                 {"--status=/a/", "status", "\"/a\""},
                 {"--status-allow=::1 --status-allow=10.0.0.0/8",
                  "status-allow", "{\"::1/128\", \"10.0.0.0/8\"}"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct option_row *row = option_find(bytes_of(cases[i].name));
        char *text;
        size_t len;
        FILE *to = open_memstream(&text, &len);

        read_well(cases[i].line);
        assert_int_equal(option_print(to,
                                      row->scope == OPTION_LOCATION
                                          ? (const void *)&options.location
                                          : &options,
                                      row),
                         cases[i].printed != NULL);
        fclose(to);
        assert_string_equal(text, cases[i].printed ? cases[i].printed : "");
        free(text);
    }
}

static void schedules_and_policies_are_called_by_their_names(void **state)
{
    (void)state;
    read_well("");
    assert_string_equal(option_schedule_name(&options), "srpt");
    assert_string_equal(option_cache_policy_name(&options), "sieve");
    read_well("--schedule fair --cache-policy s3fifo");
    assert_string_equal(option_schedule_name(&options), "fair");
    assert_string_equal(option_cache_policy_name(&options), "s3fifo");
}

static void values_are_compared_by_what_they_say(void **state)
{
    static const struct {
        const char *line, *other, *name;
        bool are_equal;
    } cases[] = {
        {"--workers=2", "-w 2", "workers", true},
        {"--workers=2", "--workers=3", "workers", false},
        {"--schedule=fsp", "--schedule=fsp", "schedule", true},
        {"--schedule=fsp", "", "schedule", false},
        {"--profile", "", "profile", false},
        {"--access-log=a", "--access-log=a", "access-log", true},
        {"--access-log=a", "--access-log=b", "access-log", false},
        {"--access-log=a", "", "access-log", false},
        {"", "", "access-log", true},
        {"-l a:1 -l b:2", "-l a:1 -l b:2", "listen", true},
        {"-l a:1 -l b:2", "-l a:1", "listen", false},
        {"-l a:1", "-l a:2", "listen", false},
        {"--status=/a", "--status=/a/", "status", true},
        {"--status=/a", "", "status", false},
        {"--status-allow=::1", "--status-allow=::1/128", "status-allow", true},
        {"--status-allow=::1", "--status-allow=::2", "status-allow", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct option_row *row = option_find(bytes_of(cases[i].name));
        struct options first;

        read_well(cases[i].line);
        first = options;
        options = (struct options){0};
        read_well(cases[i].other);
        if (option_is_equal(&first, &options, row) != cases[i].are_equal)
            fail_msg("'%s' and '%s'", cases[i].line, cases[i].other);
        options_fini(&first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_arguments_everything_has_its_default),
        cmocka_unit_test(numbers_sizes_and_times_are_read),
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(a_switch_turns_on_that_alone),
        cmocka_unit_test(a_switch_can_be_turned_off_again),
        cmocka_unit_test(listeners_are_collected),
        cmocka_unit_test(letters_stand_for_names),
        cmocka_unit_test(the_last_of_two_counts),
        cmocka_unit_test(what_is_no_option_is_the_root),
        cmocka_unit_test(a_second_root_is_refused),
        cmocka_unit_test(values_are_compared_by_what_they_say),
        cmocka_unit_test(every_bad_value_names_its_option),
        cmocka_unit_test(a_format_or_a_template_is_read),
        cmocka_unit_test(a_missing_value_names_its_option),
        cmocka_unit_test(an_unknown_option_is_named),
        cmocka_unit_test(too_many_listeners_are_refused),
        cmocka_unit_test(the_prefix_of_the_status_has_no_slash_at_its_end),
        cmocka_unit_test(a_prefix_that_is_too_long_is_refused),
        cmocka_unit_test(blocks_that_are_allowed_are_collected),
        cmocka_unit_test(help_names_every_option),
        cmocka_unit_test(help_fits_into_eighty_columns),
        cmocka_unit_test(what_was_told_is_printed_as_a_file_has_it),
        cmocka_unit_test(schedules_and_policies_are_called_by_their_names),
    };

    int status = cmocka_run_group_tests(tests, NULL, NULL);

    options_fini(&options);
    return status;
}
