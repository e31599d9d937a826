#include "config/configuration.h"

#include <sysexits.h>

#include "config/config_site.h"
#include "handler/cors.h"
#include "suite.h"
#include "unit/place.h"

static struct place place;
static struct options options;
static char *said;

static int set_up(void **state)
{
    (void)state;
    return place_open(&place);
}

static int tear_down(void **state)
{
    (void)state;
    options_fini(&options);
    free(said);
    said = NULL;
    return place_close(&place);
}

/* Reads a file with that text, or none for NULL, and one argument unless it
 * is empty. */
static int read_with(const char *text, const char *argument)
{
    char copy[200];
    char path[PLACE_NAME_MAX + 20];
    char *arguments[4] = {(char[]){"sprintd"}};
    int count = 1;
    int status;
    size_t len;
    FILE *errors;

    options_fini(&options);
    free(said);
    if (text) {
        assert_int_equal(place_write(&place, "conf", text), 0);
        snprintf(path, sizeof(path), "--config=%s/conf", place.name);
        arguments[count++] = path;
    }
    snprintf(copy, sizeof(copy), "%s", argument);
    if (*argument)
        arguments[count++] = copy;
    errors = open_memstream(&said, &len);
    assert_non_null(errors);
    status = configuration_read(&options, count, arguments, errors);
    assert_int_equal(fclose(errors), 0);
    return status;
}

/* The report, every line without the file's name. */
static void expect_said(const char *expected)
{
    const char *at = said;
    char name[PLACE_NAME_MAX + 8];

    snprintf(name, sizeof(name), "%s/conf:", place.name);
    while (*expected) {
        size_t len = strcspn(expected, "\n") + 1;

        if (strncmp(at, name, strlen(name)) != 0)
            fail_msg("no more than that: %s", said);
        at += strlen(name);
        if (strncmp(at, expected, len) != 0)
            fail_msg("'%.*s' is not in: %s", (int)len - 1, expected, said);
        at += len;
        expected += len;
    }
    assert_string_equal(at, "");
}

TEST(what_is_sound_is_compiled_everywhere)
{
    assert_int_equal(read_with("root = /a\n"
                               "header-set = \"A: b\"\n"
                               "site x {\n"
                               "    try-files = {\"$path\", \"/x\"}\n"
                               "    location /y { header-set = {} }\n"
                               "}\n",
                               ""),
                     EX_OK);
    assert_string_equal(said, "");
    assert_non_null(options.location.edits);
    assert_null(options.location.try_files);
    assert_non_null(options.sites[0].options.edits);
    assert_non_null(options.sites[0].options.try_files);
    assert_null(options.sites[0].locations[0].options.edits);
    assert_non_null(options.sites[0].locations[0].options.try_files);
}

/* A file of settings may name a certificate when it is read again. */
TEST(files_of_a_command_line_are_never_served_by_tls)
{
    static const struct {
        const char *text;
        const char *argument;
        bool may;
    } cases[] = {{NULL, "--root=/tmp", false},
                 {NULL, "--workers=2", false},
                 {"root = /tmp\n", "", true},
                 {NULL, "--https=localhost", true},
                 {NULL, "--proxy=/=https://127.0.0.1:1", true},
                 {NULL, "--kv=/k=rediss://127.0.0.1:1", true},
                 {NULL, "--certificate=/no/such.pem", true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        (void)read_with(cases[i].text, cases[i].argument);
        if (config_may_speak_tls(&options) != cases[i].may)
            fail_msg("%s", cases[i].argument);
    }
}

TEST(what_is_wrong_above_is_told_once)
{
    assert_int_equal(read_with("root = /a\n"
                               "cors-origin = \"*\"\n"
                               "cors-credentials = yes\n"
                               "site x { location /y { } location /z { } }\n"
                               "site w { }\n",
                               ""),
                     EX_CONFIG);
    expect_said("2: cors-origin has '*' together with credentials\n");
}

TEST(what_is_wrong_again_is_told_again)
{
    assert_int_equal(
        read_with("root = /a\n"
                  "site x {\n"
                  "    cors-credentials = yes\n"
                  "    location /y { cors-origin = \"*\" }\n"
                  "    location /z { cors-origin = \"https://a.example\" }\n"
                  "    location /v {\n"
                  "        respond-status = 204 respond = text\n"
                  "    }\n"
                  "}\n"
                  "site w { cors-origin = \"*\" cors-credentials = yes\n"
                  "    location /a { cors-origin = \"*\" }\n"
                  "    location /b { }\n"
                  "}\n",
                  ""),
        EX_CONFIG);
    expect_said(
        "4: site \"x\": location \"/y\": cors-origin has '*' together with "
        "credentials\n"
        "7: site \"x\": location \"/v\": respond has a text, and a status that "
        "allows none\n"
        "10: site \"w\": cors-origin has '*' together with credentials\n"
        "11: site \"w\": location \"/a\": cors-origin has '*' together with "
        "credentials\n");
}

/* What makes it wrong may be said where the option itself is not. */
TEST(a_location_can_make_wrong_what_was_right)
{
    assert_int_equal(read_with("root = /a\n"
                               "cors-origin = \"*\"\n"
                               "site x {\n"
                               "    location /y { cors-credentials = yes }\n"
                               "}\n",
                               ""),
                     EX_CONFIG);
    expect_said("4: site \"x\": location \"/y\": cors-origin has '*' together "
                "with credentials\n");
}

TEST(places_are_looked_at_by_a_test_only)
{
    static const char text[] = "root = /nowhere/at/all\n";

    assert_int_equal(read_with(text, ""), EX_OK);
    assert_int_equal(read_with(text, "--test"), EX_CONFIG);
    expect_said("1: root '/nowhere/at/all': No such file or directory\n");
}

TEST(what_is_wrong_with_a_command_line_is_usage)
{
    assert_int_equal(read_with(NULL, "--nonsense"), EX_USAGE);
    assert_int_equal(read_with(NULL, "--respond-status=204"), EX_OK);
    assert_int_equal(read_with(NULL, "/nowhere/at/all"), EX_OK);
    assert_int_equal(read_with("root = /a", "--nonsense"), EX_USAGE);
    assert_int_equal(read_with(NULL, "--try-files=nonsense"), EX_USAGE);
}

TEST(help_reads_no_file)
{
    assert_int_equal(read_with("nonsense", "--help"), EX_OK);
    assert_string_equal(said, "");
    assert_int_equal(read_with("nonsense", "--version"), EX_OK);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
