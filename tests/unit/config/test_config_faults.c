#include "config/config.h"

#include "config/config_section.h"
#include "config/config_site.h"
#include "unit/config/config_fixture.h"

static const struct {
    const char *text;
    const char *fault; /* after "file:LINE: ", LINE 2 */
} wrong[] = {
    {"rooot = x", "key 'rooot' is unknown; did you mean 'root'?"},
    {"keepalive_timeout = 3s",
     "'keepalive_timeout' is keepalive-timeout = 60s; see docs/migrate.md"},
    {"keepalive_timeuot = 3s",
     "key 'keepalive_timeuot' is unknown; did you mean 'keepalive-timeout'?"},
    {"keepalive-timeout = 60 seconds",
     "key 'keepalive-timeout': '60 seconds': a number and its unit are one "
     "word, such as 60s, 2m or 64M"},
    {"port = 80 prot = 81", "key 'prot' is unknown; did you mean 'port'?"},
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
    {"location /x { location /y { } }",
     "location \"/x\": a location belongs in a site, or at the top"},
    {"location /x { rooot = a }",
     "location \"/x\": key 'rooot' is unknown; did you mean 'root'?"},
    {"location /x { } site y { }",
     "site \"y\" and locations are at the top: where there are sites, "
     "locations stand in them"},
    {"site y { } location /x { }",
     "location \"/x\" and a site are at the top: where there are sites, "
     "locations stand in them"},
    {"location /x { } location /x/ { }", "the location is on line 2 already"},
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

TEST(what_is_wrong_is_said_with_its_line)
{
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

TEST(nul_is_no_text)
{
    read_below("", BYTES("root = /a\0b\n"));
    assert_string_equal(said, "file:1: byte 0x00 is no text\n");
    read_below("", BYTES("root = \"/a\\\0b\"\n"));
    assert_non_null(strstr(said, "file:1: "));
}

TEST(hosts_are_names_or_addresses)
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

TEST(labels_and_names_have_their_limits)
{
    char text[600];

    snprintf(text, sizeof(text), "root = /a site x { hosts = a%062d.b }", 0);
    read_well(text);
    snprintf(text, sizeof(text), "root = /a site x { hosts = a%063d.b }", 0);
    read_text(text);
    assert_non_null(strstr(said, "is no host name"));
    snprintf(text, sizeof(text), "root = /a site x { hosts = a%0253d }", 0);
    read_text(text);
    assert_non_null(strstr(said, "is empty or too long"));
}

TEST(what_serves_nothing_is_a_fault)
{
    expect_faults("", "file: has nothing to serve: give it 'root = DIRECTORY', "
                      "a proxy or a site\n");
    expect_faults("site x { }\nsite y { location /a { root = /a }\n"
                  "location /b { } }\n",
                  "file:1: site \"x\": has nothing to do: give it a root or a "
                  "proxy\n"
                  "file:3: site \"y\": location \"/b\": has nothing to do: "
                  "give it a root or a proxy\n");
    /* What is told to a location counts for a proxy in it or around it. */
    expect_faults("proxy = \"/a=http://a\"\n"
                  "site x { }\n"
                  "site y { location /a/b { }\n"
                  "location / { }\n"
                  "location /b { }\n"
                  "location /c { proxy = http://c }\n"
                  "location /c/d { }\n"
                  "location /a/e { proxy = {} } }\n",
                  "file:5: site \"y\": location \"/b\": has nothing to do: "
                  "give it a root or a proxy\n"
                  "file:8: site \"y\": location \"/a/e\": has nothing to do: "
                  "give it a root or a proxy\n");
    expect_faults("proxy = \"/a=http://a\"\n", "");
    expect_faults("kv = \"/kv=folder\"\n", "");
    expect_faults("status = /s\n", "");
    read_below("/a", BYTES("site x { }"));
    assert_string_equal(said, "");
}

TEST(the_first_thousand_faults_are_told)
{
    static char text[FAULTS_MAX * 12] = "root = /a\n";
    size_t len = strlen(text);
    size_t lines = 0;

    for (int i = 0; i < FAULTS_MAX + 10; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "x%d = 1\n", i);
    read_text(text);
    for (const char *c = said; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, FAULTS_MAX + 1);
    assert_non_null(strstr(said, "file:1001: key 'x999' is unknown\n"));
    assert_non_null(strstr(said, "file: and 10 more\n"));
}

/* Of what is not all there, all is read or told; no byte beyond is looked
 * at. */
TEST(every_beginning_of_a_file_is_read_or_refused)
{
    static const char whole[] =
        "port = 80\nsite x { # one\n hosts = {a, \"*.b\",}\n root = "
        "\"${A:-/a}\""
        "\n location \"= /y\" { index = 'z' } include none\n}\n"
        "server { listen 80; tls\n}\n\"q\\\"\" = 1 e.org {\n} x { } } , {{}";

    for (size_t len = 0; len < sizeof(whole); len++) {
        char *text = malloc(len + (len == 0));

        assert_non_null(text);
        memcpy(text, whole, len);
        read_below("/a", (struct bytes){text, len});
        assert_true(faults.count < 20);
        free(text);
    }
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

TEST(there_are_only_so_many_of_each)
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
         "} }\n", "host 'h100' is one too many"},
        {OPTIONS_LISTEN_MAX, "\":", "\",", "root = /a\nlisten = {", "}\n",
         "key 'listen': ':16' is not accepted: at most 16"},
    };

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

TEST(a_longer_list_is_told_once)
{
    char *text = repeat(CONFIG_LIST_MAX + 1, "\"", "\",\n", "type = {\n",
                        "}\n");

    read_below("/a", bytes_of(text));
    free(text);
    assert_string_equal(said,
                        "file:259: key 'type' has 257 values; at most 256 "
                        "are taken\n");
}

TEST(depth_and_length_are_no_way_to_harm)
{
    enum { MANY = 100000 };
    static char text[MANY + 100];

    snprintf(text, sizeof(text), "root = /a\nx ");
    memset(text + strlen(text), '{', MANY);
    read_text(text);
    assert_string_equal(said, "file:2: key 'x' is unknown\n");
    snprintf(text, sizeof(text), "root = /a\nsite x {");
    memset(text + strlen(text), '{', MANY);
    read_text(text);
    assert_string_equal(said, "file:2: site \"x\": '{' where a key should be\n"
                              "file:2: site \"x\": its '}' is missing\n");
    memset(text, 0, sizeof(text));
    snprintf(text, sizeof(text), "root = /a\n");
    memset(text + strlen(text), 'x', MANY);
    read_text(text);
    assert_int_equal(faults.count, 1);
    assert_true(strlen(said) < 200);
}

SUITE(.end = tear_down);
