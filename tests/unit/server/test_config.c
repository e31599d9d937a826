#include "server/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "../place.h"
#include "server/command_line.h"
#include "server/config_check.h"
#include "server/config_file.h"
#include "server/config_outline.h"
#include "server/config_site.h"
#include "server/option_table.h"

static struct options options;
static struct faults faults;
static char *said; /* the report */

static void forget(void)
{
    options_fini(&options);
    faults_fini(&faults);
    free(said);
    said = NULL;
}

/* Reads a text as if it lay in /srv, below a command line of words. */
static void read_below(const char *words, struct bytes text)
{
    static char line[200];
    char *arguments[10] = {(char[]){"sprintd"}};
    int count = 1;
    size_t len;
    FILE *to;

    forget();
    memset(line, 0, sizeof(line));
    snprintf(line, sizeof(line), "%s", words);
    for (char *at = line; *at; at += strlen(at) + 1) {
        at[strcspn(at, " ")] = '\0';
        arguments[count++] = at;
    }
    assert_int_equal(command_line_read(&options, count, arguments, stderr), 0);
    options.config = "file";
    faults.file = "file";
    config_read(&options, text, "/srv", &faults);
    to = open_memstream(&said, &len);
    faults_print(&faults, to);
    fclose(to);
}

static void read_text(const char *text)
{
    read_below("", bytes_of(text));
}

static void read_well(const char *text)
{
    read_text(text);
    if (faults.count > 0)
        fail_msg("%s", said);
}

/* The report is those lines, and nothing else. */
static void expect_faults(const char *text, const char *expected)
{
    read_text(text);
    assert_string_equal(said, expected);
}

static int tear_down(void **state)
{
    (void)state;
    forget();
    return 0;
}

/* --- What is read --------------------------------------------------------- */

static void values_are_those_of_the_command_line(void **state)
{
    (void)state;
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

static void every_option_is_a_key_or_for_the_command_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        char text[200];

        snprintf(text, sizeof(text), "root = /a\n%s = ''\n", row->name);
        read_text(text);
        if (row->scope == OPTION_COMMAND)
            assert_non_null(strstr(said, "is for the command line only"));
        else
            assert_null(strstr(said, "unknown"));
    }
}

static void a_site_has_what_is_above_but_for_what_it_says(void **state)
{
    const struct site_options *site;

    (void)state;
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

static void the_command_line_wins_over_the_top(void **state)
{
    (void)state;
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

static void what_the_command_line_wins_over_is_checked_too(void **state)
{
    (void)state;
    read_below("--port 81 /a", BYTES("port = many\n"));
    assert_string_equal(
        said, "file:1: key 'port': 'many' is not a number from 0 to 65535\n");
    assert_int_equal(options.port, 81);
}

static void an_empty_list_is_one_that_was_told(void **state)
{
    (void)state;
    read_well("root = /a\nlisten = {}\nsite x { hosts = {} }\n");
    assert_int_equal(options.listen.count, 0);
    assert_int_equal(config_origin(&options, "listen"), 2);
    assert_int_equal(options.site_origins[0].hosts, 3);
}

static void the_environment_is_in_double_quotes_and_words(void **state)
{
    (void)state;
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

static void comments_and_other_line_ends_do_not_move_lines(void **state)
{
    (void)state;
    expect_faults("\xEF\xBB\xBF# one\r\n// two\r\n/* three\r\nfour */ root = "
                  "'#/*'\r\n\r\nprot = 1\r\nport = //\r\n x\r\n",
                  "file:6: key 'prot' is unknown; did you mean 'port'?\n"
                  "file:7: key 'port': 'x' is not a number from 0 to 65535\n");
}

/* --- What is wrong -------------------------------------------------------- */

static const struct {
    const char *text;
    const char *fault; /* after "file:LINE: ", LINE 2 */
} wrong[] = {
    {"rooot = x", "key 'rooot' is unknown; did you mean 'root'?"},
    {"keepalive_timeout = 3s",
     "key 'keepalive_timeout' is unknown; did you mean 'keepalive-timeout'?"},
    {"foo = { a, b }", "key 'foo' is unknown"},
    {"foo \"bar\" { a { b = 1 } }", "key 'foo' is unknown"},
    {"sites x { root = /a }", "key 'sites' is unknown; did you mean 'site'?"},
    {"lokation /x { root = /a }",
     "key 'lokation' is unknown; did you mean 'location'?"},
    {"site x { acces-log = y }",
     "site \"x\": key 'acces-log' is unknown; did you mean 'access-log'?"},
    {"bind = \"${SPRINTD_NONE}\"",
     "'${SPRINTD_NONE}' is not set in the environment"},
    {"hosts = {a}", "key 'hosts' belongs in a site"},
    {"location /x { }", "a location belongs in a site"},
    {"config = x", "'config' is for the command line only"},
    {"\"site=x|root\" = x", "key 'site=x|root' is unknown"},
    {"port = 1 port = 2", "key 'port' stands on line 2 already"},
    {"port 80", "key 'port': '=' is missing behind it"},
    {"port", "key 'port': '=' is missing behind it"},
    {"port =", "key 'port' has no value"},
    {"port = {80}", "key 'port' takes one value, not a list"},
    {"port = 80;", "';' ends nothing here: leave it out, or quote it"},
    {"port += 80", "'+=' adds to nothing: say the whole list"},
    {"cache-control = *", "'*' must be in quotes"},
    {"include(x)", "'(' must be in quotes"},
    {"listen = {\"a:1\" \"b:2\"}",
     "key 'listen': ',' or '}' is missing in its list"},
    {"listen = {'a:1'\nworkers = 1",
     "key 'listen': ',' or '}' is missing in its list"},
    {"listen = {'a:1'\n'b:2'}",
     "key 'listen': ',' or '}' is missing in its list"},
    {"listen = {{x}}", "key 'listen': ',' or '}' is missing in its list"},
    {"}", "this '}' closes nothing"},
    {"{ a }", "'{' where a key should be"},
    {", port = 1", "',' where a key should be"},
    {"bind = \"x", "the string that begins here is not closed on its line"},
    {"bind = 'x\\'", "the string that begins here is not closed on its line"},
    {"bind = \"\\x41\"", "'\\x' is not understood in a string"},
    {"bind = \"\\0\"", "'\\0' is not understood in a string"},
    {"bind = \"a\tb\"", "byte 0x09 in a string"},
    {"bind = \"${A\"", "'${' without its '}'"},
    {"bind = ${A", "'${' without its '}'"},
    {"bind = a${A}", "'${' within a word: put the whole in quotes"},
    {"bind = a\x01", "byte 0x01 is no text"},
    {"/* x", "the comment that begins here is not closed"},
    {"port = 99999", "key 'port': '99999' is not a number from 0 to 65535"},
    {"autoindex = perhaps", "key 'autoindex': 'perhaps' is not yes or no"},
    {"bind = \"\"", "key 'bind': '' is not a text without control characters"},
    {"site { }", "a site is written so: site \"name\" { ... }"},
    {"site x", "a site is written so: site \"name\" { ... }"},
    {"site = x", "a site is written so: site \"name\" { ... }"},
    {"site '' { }", "site \"\" has an empty name"},
    {"site \"a\\\"\" { }", "site \"a\\\"\" has a '\\' or '${' in its name"},
    {"site x { site y { } }", "site \"x\": a site belongs at the top"},
    {"site x { port = 1 }",
     "site \"x\": key 'port' belongs at the top of the file"},
    {"site x { } site x { }", "site \"x\" is there already"},
    {"site x {", "site \"x\": its '}' is missing"},
    {"site x { host = a }",
     "site \"x\": key 'host' is unknown; did you mean 'hosts'?"},
    {"site x { location { } }",
     "site \"x\": a location is written so: location \"/path\" or location "
     "\"= /path\" { ... }"},
    {"site x { location x { } }",
     "site \"x\": location \"x\": its path must begin with '/' and be of at "
     "most 4096 bytes"},
    {"site x { location \"=\" { } }",
     "site \"x\": location \"=\": its path must begin with '/' and be of at "
     "most 4096 bytes"},
    {"site x { location /../a { } }",
     "site \"x\": location \"/../a\": nothing can be asked for by such a path"},
    {"site x { location \"= /a//b\" { } }",
     "site \"x\": location \"= /a//b\": its path is not as it is compared: "
     "write \"= /a/b\""},
    {"site x { location /a { } location /a/ { } }",
     "site \"x\": the location is on line 2 already"},
    {"site x { location /a { rooot = /y } }",
     "site \"x\": location \"/a\": key 'rooot' is unknown; did you mean "
     "'root'?"},
    {"site x { hosts = {a} } site y { hosts = {b, A} }",
     "site \"y\": host 'a' is on line 2 already"},
};

static void what_is_wrong_is_said_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[300];
        char expected[300];

        snprintf(text, sizeof(text), "root = /a\n%s\n", wrong[i].text);
        snprintf(expected, sizeof(expected), "file:2: %s\n", wrong[i].fault);
        read_text(text);
        if (strcmp(said, expected) != 0)
            fail_msg("%s\nis %snot %s", wrong[i].text, said, expected);
    }
}

static void nul_is_no_text(void **state)
{
    (void)state;
    read_below("", BYTES("root = /a\0b\n"));
    assert_string_equal(said, "file:1: byte 0x00 is no text\n");
    read_below("", BYTES("root = \"/a\\\0b\"\n"));
    assert_non_null(strstr(said, "file:1: "));
}

static void hosts_are_names_or_addresses(void **state)
{
    static const struct {
        const char *host;
        const char *is; /* NULL: refused */
    } cases[] = {{"localhost", "localhost"},
                 {"A-b_c.example", "a-b_c.example"},
                 {"*.test", "*.test"},
                 {"1.2.3.4", "1.2.3.4"},
                 {"[0:0:0:0:0:0:0:1]", "[::1]"},
                 {"[2001:DB8::A]", "[2001:db8::a]"},
                 {"[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]"},
                 {"", NULL},
                 {"a:80", NULL},
                 {"[::1]:80", NULL},
                 {"::1", NULL},
                 {"[::g]", NULL},
                 {"[::1", NULL},
                 {"[]", NULL},
                 {"1.2.3", NULL},
                 {"1.2.3.400", NULL},
                 {"*", NULL},
                 {"*.", NULL},
                 {"*.1", NULL},
                 {"a.*.b", NULL},
                 {"*a.b", NULL},
                 {"a..b", NULL},
                 {"a.b.", NULL},
                 {"-a.b", NULL},
                 {"a-.b", NULL},
                 {"a b", NULL},
                 {"a/b", NULL}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[200];

        snprintf(text, sizeof(text), "root = /a site x { hosts = '%s' }",
                 cases[i].host);
        read_text(text);
        if (!cases[i].is && faults.count != 1)
            fail_msg("'%s' is accepted", cases[i].host);
        if (cases[i].is) {
            assert_string_equal(said, "");
            assert_string_equal(options.sites[0].hosts.items[0], cases[i].is);
        }
    }
}

static void labels_and_names_have_their_limits(void **state)
{
    char text[600];

    (void)state;
    snprintf(text, sizeof(text), "root = /a site x { hosts = a%062d.b }", 0);
    read_well(text);
    snprintf(text, sizeof(text), "root = /a site x { hosts = a%063d.b }", 0);
    read_text(text);
    assert_non_null(strstr(said, "is no host name"));
    snprintf(text, sizeof(text), "root = /a site x { hosts = a%0253d }", 0);
    read_text(text);
    assert_non_null(strstr(said, "is empty or too long"));
}

static void what_serves_nothing_is_a_fault(void **state)
{
    (void)state;
    expect_faults("", "file: has nothing to serve: give it 'root = DIRECTORY' "
                      "or a site\n");
    expect_faults("site x { }\nsite y { location /a { root = /a }\n"
                  "location /b { } }\n",
                  "file:1: site \"x\": has nothing to do: give it a root\n"
                  "file:3: site \"y\": location \"/b\": has nothing to do: "
                  "give it a root\n");
    read_below("/a", BYTES("site x { }"));
    assert_string_equal(said, "");
}

static void the_first_thousand_faults_are_told(void **state)
{
    static char text[FAULTS_MAX * 12] = "root = /a\n";
    size_t len = strlen(text);
    size_t lines = 0;

    (void)state;
    for (int i = 0; i < FAULTS_MAX + 10; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "x%d = 1\n", i);
    read_text(text);
    for (const char *c = said; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, FAULTS_MAX + 1);
    assert_non_null(strstr(said, "file:1001: key 'x999' is unknown\n"));
    assert_non_null(strstr(said, "file: and 10 more\n"));
}

/* begin, so many parts with their number in the middle, end. */
static char *repeat(int count, const char *before, const char *behind,
                    const char *begin, const char *end)
{
    size_t len;
    char *text;
    FILE *to = open_memstream(&text, &len);

    fputs(begin, to);
    for (int i = 0; i < count; i++)
        fprintf(to, "%s%d%s", before, i, behind);
    fputs(end, to);
    fclose(to);
    return text;
}

static void there_are_only_so_many_of_each(void **state)
{
    static const struct {
        int most;
        const char *before;
        const char *behind;
        const char *begin;
        const char *end;
        const char *fault;
    } cases[] = {
        {CONFIG_SITES_MAX, "site s", " { }\n", "root = /a\n", "",
         "site \"s1024\" is one too many"},
        {CONFIG_LOCATIONS_MAX, "location /l", " { }\n", "root = /a\nsite x {\n",
         "}\n", "site \"x\": location \"/l256\" is one too many"},
        {CONFIG_HOSTS_MAX, "\"h", "\",\n", "root = /a\nsite x { hosts = {\n",
         "} }\n", "host 'h64' is one too many"},
        {OPTIONS_LISTEN_MAX, "\":", "\",", "root = /a\nlisten = {", "}\n",
         "key 'listen': ':16' is not accepted: at most 16"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = repeat(cases[i].most, cases[i].before, cases[i].behind,
                            cases[i].begin, cases[i].end);

        read_well(text);
        free(text);
        text = repeat(cases[i].most + 1, cases[i].before, cases[i].behind,
                      cases[i].begin, cases[i].end);
        read_text(text);
        free(text);
        if (faults.count != 1 || !strstr(said, cases[i].fault))
            fail_msg("no '%s': %s", cases[i].fault, said);
    }
}

static void depth_and_length_are_no_way_to_harm(void **state)
{
    enum { MANY = 100000 };
    static char text[MANY + 100];

    (void)state;
    snprintf(text, sizeof(text), "root = /a\nx ");
    memset(text + strlen(text), '{', MANY);
    read_text(text);
    assert_string_equal(said, "file:2: key 'x' is unknown\n");
    memset(text, 0, sizeof(text));
    snprintf(text, sizeof(text), "root = /a\n");
    memset(text + strlen(text), 'x', MANY);
    read_text(text);
    assert_int_equal(faults.count, 1);
    assert_true(strlen(said) < 200);
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

static void roots_are_below_the_folder_of_the_file(void **state)
{
    struct place place;
    char expected[4200];

    (void)state;
    assert_int_equal(place_open(&place), 0);
    assert_int_equal(place_write(&place, "file", "root = sites/a\n"), 0);
    load(place_path(&place, "file"));
    assert_string_equal(said, "");
    snprintf(expected, sizeof(expected), "%s/sites/a", place.name);
    assert_string_equal(options.location.root, expected);
    place_close(&place);
}

static void only_files_of_a_sane_size_are_read(void **state)
{
    struct place place;
    char *large = malloc(CONFIG_FILE_BYTES_MAX + 1);

    (void)state;
    assert_non_null(large);
    assert_int_equal(place_open(&place), 0);
    memset(large, '\n', CONFIG_FILE_BYTES_MAX + 1);
    memcpy(large, "root = /a", 9);
    place_write_bytes(&place, "large", large, CONFIG_FILE_BYTES_MAX);
    load(place_path(&place, "large"));
    assert_string_equal(said, "");
    place_write_bytes(&place, "larger", large, CONFIG_FILE_BYTES_MAX + 1);
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

/* --- What is there -------------------------------------------------------- */

static void check(const char *text)
{
    size_t len;
    FILE *to;

    read_text(text);
    config_check(&options, &faults);
    free(said);
    to = open_memstream(&said, &len);
    faults_print(&faults, to);
    fclose(to);
}

static void what_is_named_must_be_there(void **state)
{
    static const struct {
        const char *text;
        const char *fault; /* NULL: none */
    } cases[] = {
        {"root = /", NULL},
        {"root = /nowhere", "file:1: root '/nowhere': No such file"},
        {"root = /dev/null", "file:1: root '/dev/null': Not a directory"},
        {"root = /\nsite x {\nroot = /nowhere\n}", "file:3: root '/nowhere': "},
        {"root = /\nsite x { location /y {\nroot = /nowhere\n} }",
         "file:3: root '/nowhere': "},
        {"root = / access-log = /tmp/sprintd-test-none", NULL},
        {"root = / access-log = -", NULL},
        {"root = / access-log = 'syslog:'", NULL},
        {"root = /\naccess-log = /nowhere/log",
         "file:2: access-log '/nowhere/log': No such file"},
        {"root = /\naccess-log = /tmp", "access-log '/tmp': Is a directory"},
        {"root = / listen = {'127.0.0.1:1', ':2', 'unix:/tmp/x'}", NULL},
        {"root = /\nlisten = '192.0.2.1:80'",
         "file:2: listen '192.0.2.1:80': is no address of this machine"},
        {"root = / listen = '127.0.0.1'", "is none of ADDRESS:PORT"},
        {"root = / listen = 'a:99999'", "is none of ADDRESS:PORT"},
        {"root = / listen = '::1:80'", "is none of ADDRESS:PORT"},
        {"root = / listen = '[]:80'", "is none of ADDRESS:PORT"},
        {"root = / listen = 'localhost:80'", "is no numeric address"},
        {"root = / listen = 'unix:'", "a path that is empty or too long"},
        {"root = /\nlisten = {':2', 'unix:/tmp/x', ':2'}",
         "file:2: listen ':2': is in the list already"},
        {"root = / listen = {'127.0.0.1:0', '127.0.0.1:0'}", NULL},
        {"root = /\npid-file = /nowhere/x",
         "file:2: pid-file '/nowhere/x': No such file"},
        {"root = /\ncontrol = /nowhere/x",
         "file:2: control '/nowhere/x': No such file"},
        {"root = / pid-file = /x control = /tmp/y", NULL},
        {"root = / user = root group = root", NULL},
        {"root = / user = '12345:54321'", NULL},
        {"root = /\nuser = nobody-at-all",
         "file:2: user 'nobody-at-all': there is none of that name"},
        {"root = /\nuser = 'root:none-at-all'",
         "file:2: group 'none-at-all': there is none of that name"},
        {"root = /\nuser = root\ngroup = none-at-all",
         "file:3: group 'none-at-all': there is none of that name"},
        {"root = / listen = 'unix:/nowhere/x'", "No such file"},
        {"root = / bind = localhost", "bind 'localhost': is no numeric"},
        {"root = / bind = 127.0.0.1", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check(cases[i].text);
        if (!cases[i].fault && faults.count > 0)
            fail_msg("%s: %s", cases[i].text, said);
        if (cases[i].fault &&
            (faults.count != 1 || !strstr(said, cases[i].fault)))
            fail_msg("%s: %s", cases[i].text, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_command_line),
        cmocka_unit_test(every_option_is_a_key_or_for_the_command_line),
        cmocka_unit_test(a_site_has_what_is_above_but_for_what_it_says),
        cmocka_unit_test(the_command_line_wins_over_the_top),
        cmocka_unit_test(what_the_command_line_wins_over_is_checked_too),
        cmocka_unit_test(an_empty_list_is_one_that_was_told),
        cmocka_unit_test(the_environment_is_in_double_quotes_and_words),
        cmocka_unit_test(comments_and_other_line_ends_do_not_move_lines),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(nul_is_no_text),
        cmocka_unit_test(hosts_are_names_or_addresses),
        cmocka_unit_test(labels_and_names_have_their_limits),
        cmocka_unit_test(what_serves_nothing_is_a_fault),
        cmocka_unit_test(the_first_thousand_faults_are_told),
        cmocka_unit_test(there_are_only_so_many_of_each),
        cmocka_unit_test(depth_and_length_are_no_way_to_harm),
        cmocka_unit_test(roots_are_below_the_folder_of_the_file),
        cmocka_unit_test(only_files_of_a_sane_size_are_read),
        cmocka_unit_test(what_is_named_must_be_there),
    };

    return cmocka_run_group_tests(tests, NULL, tear_down);
}
