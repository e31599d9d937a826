#include "config/config_source.h"

#include "config/config_dump.h"
#include "io/small_file.h"
#include "unit/config/config_fixture.h"
#include "unit/place.h"

static struct place place;

static int set_up(void **state)
{
    (void)state;
    return place_open(&place);
}

static int close_place(void **state)
{
    tear_down(state);
    return place_close(&place);
}

static void write_file(const char *name, const char *text)
{
    assert_int_equal(place_write(&place, name, text), 0);
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdirat(place.fd, name, 0755), 0);
}

/* Reads the file "main" there. */
static void load(const char *text)
{
    char *arguments[] = {(char[]){"sprintd"}, NULL};
    size_t len;
    FILE *to;

    forget();
    write_file("main", text);
    assert_int_equal(command_line_read(&options, 1, arguments, stderr), 0);
    options.config = arena_text(&options.arena,
                                bytes_of(place_path(&place, "main")));
    config_load(&options, &faults);
    to = open_memstream(&said, &len);
    faults_print(&faults, to);
    fclose(to);
}

static void load_well(const char *text)
{
    load(text);
    if (faults.count > 0)
        fail_msg("%s", said);
}

/* The report is one line of that file, which ends so. */
static void expect_fault(const char *text, const char *file, const char *end)
{
    size_t len;

    load(text);
    len = strlen(place.name) + 1;
    if (faults.count != 1 || strncmp(said, place.name, len - 1) != 0 ||
        strncmp(said + len, file, strlen(file)) != 0 || !strstr(said, end))
        fail_msg("%s", said);
}

/* --- What is included ---------------------------------------------------- */

TEST(files_stand_where_they_are_included_in_their_order)
{
    make_folder("sites");
    write_file("sites/b.conf", "site b { root = b include \"snippet\"\n}");
    write_file("sites/a.conf", "site a { root = sub/a location /x {\n"
                               "include \"snippet\" } }\n");
    write_file("sites/.hidden.conf", "site hidden { root = a }\n");
    write_file("sites/c.conf~", "nonsense\n");
    write_file("snippet", "autoindex = yes\n\nindex = \"x.html\"");
    write_file("ports", "");
    load_well("port = 81 include \"ports\"\n"
              "include \"sites/*.conf\" include \"sites/*.none\"\n"
              "site c { root = c }\n");
    assert_int_equal(options.site_count, 3);
    assert_string_equal(options.sites[0].name, "a");
    assert_string_equal(options.sites[1].name, "b");
    assert_string_equal(options.sites[2].name, "c");
    /* Relative to the first file's folder, wherever it is said. */
    assert_string_equal(options.sites[0].options.root + strlen(place.name),
                        "/sub/a");
    assert_false(options.sites[0].options.autoindex);
    assert_true(options.sites[0].locations[0].options.autoindex);
    assert_string_equal(options.sites[1].options.index, "x.html");
    assert_int_equal(options.files.count, 6);
}

/* Whoever can make one of these says what is read the next time. */
TEST(names_that_would_be_included_are_known)
{
    static const char *const names[] = {"sites/*",     "deep/*", "deep/b/*",
                                        "deep/b/in/*", "*",      "[x]/*"};

    make_folder("sites");
    make_folder("deep");
    make_folder("deep/b");
    make_folder("deep/b/in");
    make_folder("[x]");
    write_file("deep/a", "");
    write_file("deep/b/in/one", "");
    load_well("root = /a\ninclude \"sites/?.conf\"\ninclude \"deep/a\"\n"
              "include \"deep/*/in/*\"\ninclude \"[[]x]/*.conf\"\n");
    assert_int_equal(options.include_ways.count,
                     sizeof(names) / sizeof(*names));
    for (size_t i = 0; i < options.include_ways.count; i++)
        assert_string_equal(options.include_ways.items[i] + strlen(place.name) +
                                1,
                            names[i]);
}

TEST(a_value_of_that_name_includes_nothing)
{
    load_well("root = /a\nindex = include\n"
              "respond-type = \"a/b\"\nheader-remove = {include, \"b\"}\n"
              "site include { }\n");
    assert_string_equal(options.location.index, "include");
    assert_int_equal(options.location.header_remove.count, 2);
    assert_int_equal(options.files.count, 1);
}

TEST(a_dump_says_which_file_a_value_is_from)
{
    char *text;
    size_t len;
    FILE *to;
    char line[200];

    write_file("more", "\n\nworkers = 3\n");
    load_well("root = /a\ninclude \"more\"\nport = 81\n");
    to = open_memstream(&text, &len);
    config_dump(to, &options);
    fclose(to);
    snprintf(line, sizeof(line), "# %s/more:3\n", place.name);
    assert_non_null(strstr(text, line));
    snprintf(line, sizeof(line), "# %s/main:3\n", place.name);
    assert_non_null(strstr(text, line));
    free(text);
}

TEST(a_name_with_brackets_is_no_pattern_in_the_folder)
{
    make_folder("[a]*");
    write_file("[a]*/x.conf", "port = 82\n");
    write_file("[a]*/main", "root = /a include \"x.conf\"\n");
    forget();
    assert_int_equal(command_line_read(&options, 1,
                                       (char *[]){(char[]){"s"}, NULL}, stderr),
                     0);
    options.config = arena_text(&options.arena,
                                bytes_of(place_path(&place, "[a]*/main")));
    config_load(&options, &faults);
    assert_int_equal(faults.count, 0);
    assert_int_equal(options.port, 82);
}

/* --- What is wrong ------------------------------------------------------- */

TEST(faults_are_told_with_their_file_and_line)
{
    write_file("more", "\nport = many\n");
    expect_fault("root = /a\ninclude \"more\"\n", "more:2:", "'many'");
    write_file("more", "# \"\nindex = \"open\n");
    expect_fault("root = /a\ninclude \"more\"\n", "more:2:", "not closed");
    write_file("more", "port = 1\n");
    expect_fault("root = /a\ninclude \"more\"\nport = 2\n",
                 "main:3:", "/more:1 already");
    expect_fault("root = /a\nport = 2\ninclude \"more\"\n",
                 "more:1:", "/main:2 already");
    expect_fault("root = /a\ninclude \"more\"\nrooot = 2\n",
                 "main:3:", "'rooot' is unknown");
    write_file("more", "site a { root = /a\n}\n}");
    expect_fault("include \"more\"\nsite b { root = /b }",
                 "more:3:", "closes nothing");
    write_file("more", "\nsite a {\nlocation /x { root = /a\n}");
    expect_fault("include \"more\"\nsite b { root = /b }",
                 "more:2:", "not closed in this file");
}

TEST(the_rest_of_a_file_that_is_not_closed_is_read)
{
    char expected[8400];

    write_file("more", "site a {\nrooot = /a\nlocation /x { root = /a }\n");
    load("include \"more\"\nsite b { root = /b }\nprot = 1\n");
    snprintf(expected, sizeof(expected),
             "%s/main:3: key 'prot' is unknown; did you mean 'port'?\n"
             "%s/more:1: site \"a\": what is opened here is not closed in this "
             "file\n"
             "%s/more:2: site \"a\": key 'rooot' is unknown; did you mean "
             "'root'?\n",
             place.name, place.name, place.name);
    assert_string_equal(said, expected);
}

TEST(what_cannot_be_included_is_told)
{
    make_folder("folder");
    expect_fault("root = /a\ninclude \"none\"\n", "main:2:", "No such file");
    expect_fault("root = /a\ninclude \"none/*.conf\"\n",
                 "main:2:", "No such file");
    expect_fault("root = /a\ninclude \"folder\"\n", "main:2:", "is no file");
    expect_fault("root = /a\ninclude \"\"\n", "main:2:", "empty");
    expect_fault("root = /a\ninclude \"${HOME}/x\"\n", "main:2:", "'${'");
    expect_fault("root = /a\ninclude = \"x\"\n", "main:2:", "'include' is");
    expect_fault("root = /a\ninclude main\n", "main:2:", "includes itself");
    write_file("one", "include \"two\"\n");
    write_file("two", "\ninclude \"one\"\n");
    expect_fault("root = /a\ninclude \"one\"\n", "two:2:", "includes itself");
}

TEST(there_is_only_so_much_of_it)
{
    char name[30], text[60];

    for (int i = 1; i <= CONFIG_DEPTH_MAX + 1; i++) {
        snprintf(name, sizeof(name), "%d", i);
        snprintf(text, sizeof(text), "include \"%d\"\n", i + 1);
        write_file(name, i <= CONFIG_DEPTH_MAX ? text : "port = 1\n");
    }
    expect_fault("root = /a\ninclude \"1\"\n", "8:1:", "more than 8");
    load_well("root = /a\ninclude \"2\"\n");
    make_folder("many");
    for (int i = 0; i < CONFIG_FILES_MAX; i++) {
        snprintf(name, sizeof(name), "many/%d", i);
        write_file(name, "\n");
    }
    expect_fault("root = /a\ninclude \"many/*\"\n",
                 "main:2:", "more than 256 files");
    load_well("root = /a\ninclude \"many/*[0-8]\"\n");
}

TEST(there_are_only_so_many_bytes)
{
    char *large = malloc(SMALL_FILE_BYTES_MAX);
    char name[30];

    assert_non_null(large);
    memset(large, '\n', SMALL_FILE_BYTES_MAX);
    make_folder("large");
    for (int i = 0; i < CONFIG_BYTES_MAX / SMALL_FILE_BYTES_MAX; i++) {
        snprintf(name, sizeof(name), "large/%d", i);
        assert_int_equal(place_write_bytes(&place, name, large,
                                           SMALL_FILE_BYTES_MAX),
                         0);
    }
    free(large);
    /* The first file counts, too. */
    load_well("root = /a\ninclude \"large/[0-2]\"\n");
    expect_fault("root = /a\ninclude \"large/?\"\n",
                 "main:2:", "more than 4194304 bytes");
}

/* In the place of a value or behind what is unknown it is no statement. */
TEST(only_statements_include)
{
    write_file("more", "port = many\n");
    expect_fault("root = /a\nx { include \"more\"\n}\n",
                 "main:2:", "key 'x' is unknown");
    expect_fault("root = /a\nlisten = { include \"more\" }\n",
                 "main:2:", "',' or '}' is missing in its list");
}

SUITE(.each_begin = set_up, .each_end = close_place);
