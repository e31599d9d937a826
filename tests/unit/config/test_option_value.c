#include "config/option_print.h"
#include "config/option_value.h"

#include "unit/config/told.h"

TEST(what_was_told_is_printed_as_a_file_has_it)
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
                 {"--https-redirect-port=auto", "https-redirect-port", "auto"},
                 {"--https-redirect-port=1", "https-redirect-port", "1"},
                 {"--autoindex", "autoindex", "yes"},
                 {"--respond=a\"b\\${c}", "respond", "\"a\\\"b\\\\\\${c}\""},
                 {"--respond=_\tb\n", "respond", "\"_\\tb\\n\""},
                 {"--respond=", "respond", "\"\""},
                 {"--auth-file=off", "auth-file", NULL},
                 {"--auth-file=./off", "auth-file", "\"./off\""},
                 {"--rate-limit=off", "rate-limit", NULL},
                 {"--deny=all --deny=::1", "deny", "{all, \"::1/128\"}"},
                 {"-l a:1 -l b:2", "listen", "{\"a:1\", \"b:2\"}"},
                 {"--status=/a/", "status", "\"/a\""},
                 {"--status-allow=::1 --status-allow=10.0.0.0/8",
                  "status-allow", "{\"::1/128\", \"10.0.0.0/8\"}"},
                 {"--status-host=a.example --status-host=*.b", "status-host",
                  "{\"a.example\", \"*.b\"}"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct option_row *row = option_find(bytes_of(cases[i].name));
        char *text;
        size_t len;
        FILE *to = open_memstream(&text, &len);

        read_well(cases[i].line);
        assert_int_equal(option_print(to,
                                      option_is_below_top(row->scope)
                                          ? (const void *)&options.location
                                          : &options,
                                      row),
                         cases[i].printed != NULL);
        fclose(to);
        assert_string_equal(text, cases[i].printed ? cases[i].printed : "");
        free(text);
    }
}

TEST(schedules_and_policies_are_called_by_their_names)
{
    read_well("");
    assert_string_equal(option_schedule_name(&options), "srpt");
    assert_string_equal(option_cache_policy_name(&options), "sieve");
    read_well("--schedule fair --cache-policy gdsf");
    assert_string_equal(option_schedule_name(&options), "fair");
    assert_string_equal(option_cache_policy_name(&options), "gdsf");
}

static void *base_of(const struct option_row *row)
{
    return option_is_below_top(row->scope) ? (void *)&options.location
                                           : &options;
}

/* What a message asks for is taken. */
TEST(a_time_may_be_what_its_message_says)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);
        char said[200] = "";
        char least[20], most[20];
        FILE *to;

        if (row->kind != OPTION_TIME)
            continue;
        to = fmemopen(said, sizeof(said) - 1, "w");
        option_explain(to, row, "");
        fclose(to);
        assert_int_equal(sscanf(said, "is not a time from %19s to %19[^,],",
                                least, most),
                         2);
        assert_int_equal(option_set(base_of(row), row, least, NULL), 0);
        assert_int_equal(option_set(base_of(row), row, most, NULL), 0);
        assert_int_equal(option_set(base_of(row), row, "1h", NULL), 0);
        assert_int_equal(option_set(base_of(row), row, "25h", NULL), -EINVAL);
    }
}

SUITE(.end = forget_options);
