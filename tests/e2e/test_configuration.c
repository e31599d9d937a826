/*
 * The configuration file: what is said of a faulty one, what wins, and what is
 * in force.
 */
#include <sys/stat.h>

#include "configured.h"

enum { USAGE = 64, CONFIG = 78 };

E2E_BEGIN(start)
{
    site_text("sub/hello", "hello\n");
}

static void expect(const struct outcome *outcome, int status, const char *out,
                   const char *err)
{
    if (outcome->status != status || strcmp(outcome->out, out) != 0 ||
        strcmp(outcome->err, err) != 0)
        flunk("status %d, out '%s', err '%s'", outcome->status, outcome->out,
              outcome->err);
}

/* --- Faults --------------------------------------------------------------- */

TEST(all_faults_are_told_with_their_lines)
{
    const char *path = configuration("rooot = /x\n"
                                     "port = 80;\n"
                                     "# a comment\n"
                                     "workers = many\n"
                                     "site \"x\" {\n"
                                     "    root = /nowhere\n"
                                     "    location \"/y\" {\n"
                                     "        rooot = /x\n"
                                     "    }\n"
                                     "    hosts = {a, b:80}\n"
                                     "}\n");
    const char *expected = printed(
        "%s:1: key 'rooot' is unknown; did you mean 'root'?\n"
        "%s:2: ';' ends nothing here: leave it out, or quote it\n"
        "%s:4: key 'workers': 'many' is not a number from 0 to 1024\n"
        "%s:8: site \"x\": location \"/y\": key 'rooot' is unknown; did you "
        "mean 'root'?\n"
        "%s:10: site \"x\": host 'b:80' has a port: sites are found by name "
        "alone\n",
        path, path, path, path, path);
    struct outcome outcome;
    char *root;

    RUN(&outcome, "--config", path);
    expect(&outcome, CONFIG, "", expected);
    RUN(&outcome, "-T", "-c", path);
    expect(&outcome, CONFIG, "", expected);
    /* A test looks at what is there as well. */
    RUN(&outcome, "-t", "-c", path);
    assert_int_equal(outcome.status, CONFIG);
    root = strstr(outcome.err, printed("%s:6: root '/nowhere': ", path));
    assert_non_null(root);
    assert_true(root < strstr(outcome.err, printed("%s:8: ", path)));
}

/* What one file leaves open hides no fault of it, or of another. */
TEST(all_faults_of_included_files_are_told)
{
    const char *path = configuration("include \"more\"\n"
                                     "wrokers = 2\n");
    const char *more = printed("%s/more", folder());
    struct outcome outcome;

    site_text("../more", "site \"x\" { root = /\n    prt = 1\n");
    RUN(&outcome, "-T", "-c", path);
    expect(
        &outcome, CONFIG, "",
        printed("%s:2: key 'wrokers' is unknown; did you mean 'workers'?\n"
                "%s:1: site \"x\": what is opened here is not closed in this "
                "file\n"
                "%s:2: site \"x\": key 'prt' is unknown; did you mean "
                "'port'?\n",
                path, more, more));
}

TEST(variables_make_only_so_much)
{
    char *value = scratch(100 * 1000 + 1);
    char *text = scratch(2000);
    struct outcome outcome;
    const char *path;
    char *to = text;

    memset(value, 'x', 100 * 1000);
    value[100 * 1000] = '\0';
    setenv("SPRINTD_TEST", value, 1);
    to = stpcpy(to, "respond = \"a line\\n\"\nauth-realm = \"");
    for (int i = 0; i < 42; i++) /* 4.2 MB; 4 MiB are 4.19 MB */
        to = stpcpy(to, "${SPRINTD_TEST}");
    stpcpy(to, "\"\n");
    path = configuration(text);
    RUN(&outcome, "-T", "-c", path);
    expect(&outcome, CONFIG, "",
           printed("%s:2: variables and escapes make more than 4194304 bytes\n",
                   path));
    stpcpy(to - strlen("${SPRINTD_TEST}"), "\"\n");
    path = configuration(text);
    RUN(&outcome, "-T", "-c", path);
    assert_non_null(strstr(outcome.err, "is too long for a realm"));
    unsetenv("SPRINTD_TEST");
}

TEST(what_is_no_file_is_refused)
{
    struct outcome outcome;
    const char *fifo = printed("%s/fifo", folder());

    RUN(&outcome, "-c", folder());
    expect(&outcome, CONFIG, "",
           printed("%s: cannot be read: Is a directory\n", folder()));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    RUN(&outcome, "-t", "-c", fifo);
    expect(&outcome, CONFIG, "", printed("%s: is no file\n", fifo));
    RUN(&outcome, "-c", "/nowhere/x");
    assert_int_equal(outcome.status, CONFIG);
}

TEST(a_wrong_command_line_is_another_fault)
{
    struct outcome outcome;

    RUN(&outcome, "-c", configuration("nonsense"), "--port=many");
    assert_int_equal(outcome.status, USAGE);
    assert_null(strstr(outcome.err, "test.conf"));
}

/* It would keep nobody out. */
TEST(a_location_that_would_not_count_is_refused)
{
    static const char *const tests[] = {NULL, "-t"};
    const char *path = configuration("root = www\n"
                                     "kv = \"/kv=./kv\"\n"
                                     "status = /_s\n"
                                     "site one {\n"
                                     "    location / { deny = all }\n"
                                     "    location /kv { deny = all }\n"
                                     "    location /kvs { deny = all }\n"
                                     "    location /kv/a/b { deny = all }\n"
                                     "    location /_s/x { deny = all }\n"
                                     "    location \"= /kv\" { deny = all }\n"
                                     "}\n");
    const char *faults = "";
    static const struct {
        unsigned line;
        const char *location;
        const char *where;
    } refused[] = {{6, "/kv", "kv serves below '/kv'"},
                   {8, "/kv/a/b", "kv serves below '/kv'"},
                   {9, "/_s/x", "status serves below '/_s'"},
                   {10, "= /kv", "kv serves below '/kv'"}};

    site_text("../www/canary", "canary\n");
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        faults = printed("%s%s:%u: site \"one\": location \"%s\": lies in what "
                         "%s in every site alike, and nothing of it would "
                         "count there\n",
                         faults, path, refused[i].line, refused[i].location,
                         refused[i].where);
    for (size_t i = 0; i < 2; i++) {
        struct outcome outcome;

        RUN(&outcome, "-c", path, tests[i]);
        assert_string_equal(outcome.err, faults);
        assert_int_equal(outcome.status, CONFIG);
    }
}

/* --- Tests ---------------------------------------------------------------- */

/* One of two would never be asked. */
TEST(stores_are_apart_from_each_other)
{
    static const struct {
        const char *lines, *fault;
    } cases[] = {
        {"kv = {\"/a=one\", \"/b=two\", \"/a=three\"}",
         "kv '/a' has the prefix of another store"},
        {"kv = {\"/a=one\", \"/b/=one\"}",
         "kv '/b/' has the folder of another store"},
        {"kv = {\"/a=redis://127.0.0.1:1\", \"/a/=redis://:x@127.0.0.1:1\"}",
         "kv '/a/' has the prefix of another store"},
        {"status = /a\nkv = {\"/a=one\"}", "kv '/a' has the prefix of status"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *path = configuration(cases[i].lines);
        struct outcome outcome;

        RUN(&outcome, "--config", path);
        if (outcome.status != CONFIG || !strstr(outcome.err, cases[i].fault))
            flunk("status %d, '%s'", outcome.status, outcome.err);
    }
}

TEST(words_of_other_servers_are_answered_with_ours)
{
    const char *path = configuration("root = www\n"
                                     "site a {\n"
                                     "    server_name example.org\n"
                                     "    ssl_certificate full.pem\n"
                                     "}\n"
                                     "<VirtualHost a>\n");
    struct outcome outcome;

    RUN(&outcome, "--test", "--config", path);
    expect(&outcome, CONFIG, "",
           printed("%s:3: site \"a\": 'server_name' is hosts = {example.org} "
                   "in a site; see docs/migrate.md\n"
                   "%s:4: site \"a\": 'ssl_certificate' is certificate = "
                   "full.pem; none is needed where hosts are reached by listen "
                   "= \"https://:443\"; see docs/migrate.md\n"
                   "%s:6: '<VirtualHost' is site \"name\" { ... }; see "
                   "docs/migrate.md\n",
                   path, path, path));
}

TEST(a_sound_file_is_called_well_formed)
{
    const char *path =
        configuration("root = www\n"
                      "site a { location /x { } location /y { } }\n"
                      "site b { }\n");
    struct outcome outcome;

    site_text("../www/canary", "canary\n");
    RUN(&outcome, "--test", "--config", path);
    expect(&outcome, 0,
           printed("%s: well-formed, 2 sites, 2 locations\n", path), "");
}

TEST(a_command_line_is_tested_too)
{
    struct outcome outcome;
    struct server *one = START(NULL);

    /* The port is taken, and is not tried. */
    RUN(&outcome, "-t", printed("--listen=127.0.0.1:%u", one->port), site());
    expect(&outcome, 0, "sprintd: well-formed, 0 sites, 0 locations\n", "");
    RUN(&outcome, "-t", "--bind=192.0.2.1", "--access-log=/nowhere/x",
        "/nowhere");
    expect(&outcome, CONFIG, "",
           "sprintd: root '/nowhere': No such file or directory\n"
           "sprintd: access-log '/nowhere/x': No such file or directory\n"
           "sprintd: bind '192.0.2.1': is no address of this machine\n");
}

TEST(nobody_may_test)
{
    struct outcome outcome;

    server_run(&(struct launch){.root = "", .as_nobody = true, .is_bare = true},
               (const char *const[]){"-t", "--listen=127.0.0.1:80", "/", NULL},
               &outcome);
    expect(&outcome, 0, "sprintd: well-formed, 0 sites, 0 locations\n", "");
}

/* The server is started by somebody else, who may. */
TEST(where_the_tester_may_not_write_the_server_may)
{
    struct outcome outcome;
    const char *place = printed("unix:%s/closed/socket", folder());

    site_folder("../closed");
    site_mode("../closed", 0500);
    server_run(&(struct launch){.root = "", .as_nobody = true, .is_bare = true},
               (const char *const[]){"-t", "--listen", place, "/", NULL},
               &outcome);
    expect(&outcome, 0, "sprintd: well-formed, 0 sites, 0 locations\n",
           printed("sprintd: warning: listen '%s': you may not write there: "
                   "whether the server may is not checked\n",
                   place));
}

/* --- What is in force ----------------------------------------------------- */

static void expect_line(const char *text, const char *begin, const char *origin)
{
    const char *line = strstr(text, printed("\n%s ", begin));
    const char *comment = line ? strstr(line, " # ") : NULL;
    size_t len = strlen(origin);

    if (!comment || strncmp(comment + 3, origin, len) != 0 ||
        comment[3 + len] != '\n')
        flunk("no '%s' from '%s' in: %s", begin, origin, text);
}

TEST(the_command_line_wins_and_the_dump_says_so)
{
    const char *path = configuration("port = 1\nworkers = 3\nroot = www\n"
                                     "site x {\n    autoindex = yes\n}\n");
    struct outcome outcome;

    RUN(&outcome, "-T", "-p", "82", "--config", path, "--access-log=-");
    assert_int_equal(outcome.status, 0);
    expect_line(outcome.out, "port = 82", "command line");
    expect_line(outcome.out, "access-log = \"-\"", "command line");
    expect_line(outcome.out, "workers = 3", printed("%s:2", path));
    expect_line(outcome.out, printed("root = \"%s/www\"", folder()),
                printed("%s:3", path));
    expect_line(outcome.out, "schedule = srpt", "default");
    expect_line(outcome.out, "    autoindex = yes", printed("%s:5", path));
    assert_non_null(strstr(outcome.out, "\n# bind is not set\n"));
}

/* Cuts off where the values are from. */
static char *without_origins(char *text)
{
    char *to = text;

    for (char *line = text; *line;) {
        char *end = line + strcspn(line, "\n");
        char *comment = strstr(line, " # ");
        char *stop = comment && comment < end ? comment : end;

        memmove(to, line, (size_t)(stop - line));
        to += stop - line;
        *to++ = '\n';
        line = *end ? end + 1 : end;
    }
    *to = '\0';
    return text;
}

TEST(a_dump_is_a_file_that_says_the_same)
{
    const char *path = configuration(
        "root = www\nlisten = {\"127.0.0.1:0\", '[::1]:0'}\n"
        "rate-limit = 5/s\n"
        "log-format = '%{remote} \"q\" \\ ${x} $'\nchunk-size = 3000\n"
        "keepalive-timeout = 1500ms\nlink-rate = 80M\nbody-timeout = 2m\n"
        "status = /_s\nstatus-allow = {10.0.0.0/8, ::1}\n"
        "site 'with \"quotes\"' {\n    hosts = {A.example, \"*.b\", [::01]}\n"
        "    cache-control = \"max-age=3, public\"\n"
        "    location '= /a\"b' { show-hidden = yes }\n"
        "    location / { root = /tmp rate-limit = off auth-file = off }\n"
        "    location /t { respond = \"one\\n\\t'two' \\\\ \\${x}\" }\n"
        "    location /e { respond = '' }\n}\n"
        "site empty { hosts = {} }\n");
    struct outcome first;
    struct outcome second;

    RUN(&first, "-T", "-c", path);
    assert_string_equal(first.err, "");
    assert_int_equal(first.status, 0);
    RUN(&second, "-T", "-c", configuration(first.out));
    assert_string_equal(second.err, "");
    assert_string_equal(without_origins(first.out),
                        without_origins(second.out));
    assert_non_null(strstr(second.out, "location '= /a\"b' {"));
    assert_non_null(strstr(second.out, "        rate-limit = off"));
    assert_non_null(strstr(second.out, "        auth-file = off"));
    assert_non_null(strstr(second.out, "= \"one\\n\\t'two' \\\\ \\${x}\""));
    /* Locations at the top stand there again. */
    RUN(&first, "-T", "-c",
        configuration("root = www\nlocation /a { autoindex = yes }\n"
                      "location \"= /b\" { respond = b }\n"));
    assert_non_null(strstr(first.out, "\nlocation \"/a\" {"));
    RUN(&second, "-T", "-c", configuration(first.out));
    assert_string_equal(second.err, "");
    assert_string_equal(without_origins(first.out),
                        without_origins(second.out));
    RUN(&second, "-t", "-c", printed("%s/test.conf", folder()));
    assert_string_equal(
        second.out,
        printed("%s/test.conf: well-formed, 0 sites, 2 locations\n", folder()));
    /* Without a file it is one too. */
    RUN(&first, "-T", "-p", "83", "relative");
    RUN(&second, "-T", "-c", configuration(first.out));
    assert_string_equal(without_origins(first.out),
                        without_origins(second.out));
    assert_non_null(strstr(second.out,
                           printed("root = \"%s/relative\"", folder())));
}

/* --- Serving -------------------------------------------------------------- */

TEST(what_a_file_says_is_served)
{
    const char *path = configuration("root = www/sub\nserver-timing = yes\n"
                                     "cache-control = no-store\nworkers = 2\n");
    struct server *one;
    struct reply *reply;

    site_text("../www/sub/hello", "hello\n");
    one = server_start(&(struct launch){.root = ""},
                       (const char *const[]){"-c", path, NULL});
    reply = get(one, "/hello");
    expect_status(reply, 200);
    expect_body(reply, "hello\n");
    expect_field(reply, "Cache-Control", "no-store");
    assert_non_null(strstr(one->banner, "2 workers"));
}

TEST(a_file_without_a_root_is_named_instead)
{
    const char *path = configuration("site x { respond = here }\n");
    struct server *one = server_start(&(struct launch){.root = ""},
                                      (const char *const[]){"-c", path, NULL});

    assert_non_null(strstr(one->banner,
                           printed("serving %s at http://", path)));
    expect_body(get(one, "/"), "here");
}

E2E_SUITE(start);
