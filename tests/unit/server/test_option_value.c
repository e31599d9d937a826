#include "server/option_value.h"

#include <errno.h>

#include "told.h"

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
                 {"--deny=all --deny=::1", "deny", "{all, \"::1/128\"}"},
                 {"-l a:1 -l b:2", "listen", "{\"a:1\", \"b:2\"}"},
                 {"--status=/a/", "status", "\"/a\""},
                 {"--status-allow=::1 --status-allow=10.0.0.0/8",
                  "status-allow", "{\"::1/128\", \"10.0.0.0/8\"}"},
                 {"--status-host=a.example --status-host=*.b", "status-host",
                  "{\"a.example\", \"*.b\"}"}};

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

static void *base_of(const struct option_row *row)
{
    return row->scope == OPTION_LOCATION ? (void *)&options.location : &options;
}

/* What a message asks for is taken. */
static void a_time_may_be_what_its_message_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_told_is_printed_as_a_file_has_it),
        cmocka_unit_test(a_time_may_be_what_its_message_says),
        cmocka_unit_test(schedules_and_policies_are_called_by_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, forget_options);
}
