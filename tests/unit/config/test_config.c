#include "config/config.h"

#include "config/config_check.h"
#include "config/option_table.h"
#include "io/small_file.h"
#include "unit/config/config_fixture.h"
#include "unit/place.h"

/* --- What is read --------------------------------------------------------- */

TEST(values_are_those_of_the_command_line)
{
    read_well("port = 81\nroot = \"www\"\nchunk-size = 1.5K\n"
              "keepalive-timeout = 250ms\nlink-rate = 80M\nserver-timing = on\n"
              "schedule = fair\nlisten = {\"127.0.0.1:80\", 'unix:/x',}\n"
              "status-allow = 10.0.0.0/8\nstatus = /s/\n");
    assert_int_equal(options.port, 81);
    assert_string_equal(options.location.root, "/srv/www");
    assert_int_equal(options.chunk_bytes, 1536);
    assert_int_equal(options.keepalive_ms, 250);
    assert_int_equal(options.link_rate, 80000000);
    assert_true(options.server_timing);
    assert_string_equal(option_schedule_name(&options), "fair");
    assert_int_equal(options.listen.count, 2);
    assert_string_equal(options.listen.items[1], "unix:/x");
    assert_int_equal(options.status_allow.count, 1);
    assert_true(bytes_eq(options.status, BYTES("/s")));
    assert_int_equal(options.workers, 0); /* not told */
}

TEST(every_option_is_a_key_or_for_the_command_line)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);
        char text[200];

        snprintf(text, sizeof(text), "root = /a\n%s = ''\n", row->name);
        read_text(text);
        if (row->scope == OPTION_COMMAND)
            assert_non_null(strstr(said, "is for the command line only"));
        else
            assert_null(strstr(said, "unknown"));
    }
}

TEST(a_site_has_what_is_above_but_for_what_it_says)
{
    const struct site_options *site;

    read_well("site a {\n hosts = {Example.ORG, \"*.Example.org\"}\n"
              " location /x { autoindex = no }\n"
              " location \"= /x/\" { root = y }\n"
              " show-hidden = yes\n}\n"
              "site \"b\" { root = /b location / { } }\n"
              "autoindex = yes root = a\n");
    assert_int_equal(options.site_count, 2);
    site = &options.sites[0];
    assert_string_equal(site->name, "a");
    assert_int_equal(site->hosts.count, 2);
    assert_string_equal(site->hosts.items[0], "example.org");
    assert_string_equal(site->hosts.items[1], "*.example.org");
    assert_string_equal(site->options.root, "/srv/a");
    assert_true(site->options.autoindex && site->options.show_hidden);
    assert_int_equal(site->location_count, 2);
    assert_true(bytes_eq(site->locations[0].path, BYTES("/x")));
    assert_false(site->locations[0].is_exact);
    assert_false(site->locations[0].options.autoindex);
    assert_true(site->locations[0].options.show_hidden);
    assert_true(bytes_eq(site->locations[1].path, BYTES("/x/")));
    assert_true(site->locations[1].is_exact);
    assert_string_equal(site->locations[1].options.root, "/srv/y");
    site = &options.sites[1];
    assert_string_equal(site->options.root, "/b");
    assert_false(site->options.show_hidden);
    assert_int_equal(site->locations[0].path.len, 0);
    assert_string_equal(site->locations[0].options.root, "/b");
}

TEST(locations_at_the_top_are_those_of_all_hosts)
{
    const struct site_options *site;

    read_well("location /x { autoindex = no }\nroot = a\nautoindex = yes\n"
              "location \"= /y\" { root = y }\n");
    assert_int_equal(options.site_count, 1);
    site = &options.sites[0];
    assert_string_equal(site->name, "");
    assert_int_equal(site->hosts.count, 0);
    assert_string_equal(site->options.root, "/srv/a");
    assert_int_equal(site->location_count, 2);
    assert_string_equal(site->locations[0].options.root, "/srv/a");
    assert_false(site->locations[0].options.autoindex);
    assert_true(site->locations[1].is_exact);
    assert_string_equal(site->locations[1].options.root, "/srv/y");
}

TEST(the_command_line_wins_over_the_top)
{
    read_below("--port 81 -l a:1 --autoindex=no here",
               BYTES("port = 80\nlisten = {\"b:2\", \"c:3\"}\n"
                     "autoindex = yes\nroot = /there\nworkers = 2\n"
                     "site x { autoindex = yes }\nsite y { root = /y }\n"));
    assert_string_equal(said, "");
    assert_int_equal(options.port, 81);
    assert_int_equal(options.workers, 2);
    assert_int_equal(options.listen.count, 1);
    assert_string_equal(options.listen.items[0], "a:1");
    assert_string_equal(options.location.root, "here");
    assert_false(options.location.autoindex);
    assert_true(options.sites[0].options.autoindex);
    assert_string_equal(options.sites[0].options.root, "here");
    assert_string_equal(options.sites[1].options.root, "/y");
    assert_int_equal(config_origin(&options, "port"), ORIGIN_COMMAND_LINE);
    assert_int_equal(config_origin(&options, "root"), ORIGIN_COMMAND_LINE);
    assert_int_equal(config_origin(&options, "workers"), 5);
    assert_int_equal(config_origin(&options, "chunk-size"), ORIGIN_DEFAULT);
}

TEST(what_the_command_line_wins_over_is_checked_too)
{
    read_below("--port 81 /a", BYTES("port = many\n"));
    assert_string_equal(
        said, "file:1: key 'port': 'many' is not a number from 0 to 65535\n");
    assert_int_equal(options.port, 81);
}

TEST(an_empty_list_is_one_that_was_told)
{
    read_well("root = /a\nlisten = {}\nsite x { hosts = {} }\n");
    assert_int_equal(options.listen.count, 0);
    assert_int_equal(config_origin(&options, "listen"), 2);
    assert_int_equal(options.site_origins[0].hosts, 3);
}

TEST(the_environment_is_in_double_quotes_and_words)
{
    setenv("SPRINTD_TEST", "/from/there", 1);
    unsetenv("SPRINTD_NONE");
    read_well("root = \"${SPRINTD_TEST}/x\"\n"
              "access-log = ${SPRINTD_TEST}\n"
              "respond = '${SPRINTD_TEST}'\n"
              "bind = \"${SPRINTD_NONE:-::1}\"\n");
    assert_string_equal(options.location.root, "/from/there/x");
    assert_string_equal(options.access_log, "/from/there");
    assert_string_equal(options.location.respond, "${SPRINTD_TEST}");
    assert_string_equal(options.bind, "::1");
    setenv("SPRINTD_TEST",
           "\x01"
           "a",
           1);
    expect_faults("root = /a\nbind = \"${SPRINTD_TEST}\"\n",
                  "file:2: key 'bind': '?a' is not a text without control "
                  "characters\n");
    unsetenv("SPRINTD_TEST");
}

TEST(comments_and_other_line_ends_do_not_move_lines)
{
    expect_faults("\xEF\xBB\xBF# one\r\n// two\r\n/* three\r\nfour */ root = "
                  "'#/*'\r\n\r\nprot = 1\r\nport = //\r\n x\r\n",
                  "file:6: key 'prot' is unknown; did you mean 'port'?\n"
                  "file:7: key 'port': 'x' is not a number from 0 to 65535\n");
}

/* --- The file itself ------------------------------------------------------ */

static void load(const char *path)
{
    char *arguments[] = {(char[]){"sprintd"}, NULL};
    size_t len;
    FILE *to;

    forget();
    assert_int_equal(command_line_read(&options, 1, arguments, stderr), 0);
    options.config = path;
    config_load(&options, &faults);
    to = open_memstream(&said, &len);
    faults_print(&faults, to);
    fclose(to);
}

TEST(roots_are_below_the_folder_of_the_file)
{
    struct place place;
    char expected[4200];

    assert_int_equal(place_open(&place), 0);
    assert_int_equal(place_write(&place, "file", "root = sites/a\n"), 0);
    load(place_path(&place, "file"));
    assert_string_equal(said, "");
    snprintf(expected, sizeof(expected), "%s/sites/a", place.name);
    assert_string_equal(options.location.root, expected);
    place_close(&place);
}

TEST(only_files_of_a_sane_size_are_read)
{
    struct place place;
    char *large = malloc(SMALL_FILE_BYTES_MAX + 1);

    assert_non_null(large);
    assert_int_equal(place_open(&place), 0);
    memset(large, '\n', SMALL_FILE_BYTES_MAX + 1);
    memcpy(large, "root = /a", 9);
    place_write_bytes(&place, "large", large, SMALL_FILE_BYTES_MAX);
    load(place_path(&place, "large"));
    assert_string_equal(said, "");
    place_write_bytes(&place, "larger", large, SMALL_FILE_BYTES_MAX + 1);
    load(place_path(&place, "larger"));
    assert_non_null(strstr(said, "larger: is longer than 1048576 bytes\n"));
    load(place.name);
    assert_non_null(strstr(said, "cannot be read: Is a directory\n"));
    assert_int_equal(mkfifoat(place.fd, "fifo", 0600), 0);
    load(place_path(&place, "fifo"));
    assert_non_null(strstr(said, "fifo: is no file\n"));
    load(place_path(&place, "none"));
    assert_non_null(strstr(said, "cannot be read: No such file"));
    free(large);
    place_close(&place);
}

SUITE(.end = tear_down);
