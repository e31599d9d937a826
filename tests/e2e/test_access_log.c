/*
 * The access log: one line per exchange in the Combined Log Format, which no
 * client can forge, to a file that is appended to or to standard output.
 */
#include <time.h>

#include "client.h"

enum { LINES_MAX = 4096, SOON_MS = 2500 };

static char *log_path;

E2E_BEGIN(start)
{
    site_seeded("large", 1, 5000000);
}

struct line {
    char peer[128];
    char date[64];
    char request[8192];
    unsigned status;
    unsigned long long bytes;
    char referer[512];
    char agent[512];
};

/* Takes a "quoted" word; a quote inside must be escaped. */
static const char *take_quoted(const char *at, char *out, size_t size)
{
    size_t len = 0;

    if (*at++ != '"')
        flunk("no quote: '%s'", at);
    while (*at != '"') {
        if (*at == '\0' || (unsigned char)*at < 0x20 ||
            (unsigned char)*at > 0x7e || len + 2 >= size)
            flunk("not printable, or without end: '%.100s'", at);
        if (*at == '\\')
            out[len++] = *at++;
        out[len++] = *at++;
    }
    out[len] = '\0';
    return at + 1;
}

static void parse_line(const char *text, struct line *line)
{
    const char *at = text;
    size_t len = strcspn(at, " ");
    char *end;
    struct tm utc = {0};

    snprintf(line->peer, sizeof(line->peer), "%.*s", (int)len, at);
    if (strncmp(at + len, " - - [", 6) != 0)
        flunk("not in the format: '%s'", text);
    at += len + 6;
    len = strcspn(at, "]");
    snprintf(line->date, sizeof(line->date), "%.*s", (int)len, at);
    if (!strptime(line->date, "%d/%b/%Y:%H:%M:%S %z", &utc) || len != 26)
        flunk("not a date: '%s'", line->date);
    if (strncmp(at + len, "] ", 2) != 0)
        flunk("not in the format: '%s'", text);
    at = take_quoted(at + len + 2, line->request, sizeof(line->request));
    line->status = (unsigned)strtoul(at, &end, 10);
    if (*at != ' ' || *end != ' ')
        flunk("no status: '%s'", text);
    line->bytes = strtoull(end, &end, 10);
    if (*end != ' ' && *end != '-')
        flunk("no bytes: '%s'", text);
    at = take_quoted(strchr(end, '"'), line->referer, sizeof(line->referer));
    if (*at != ' ')
        flunk("not in the format: '%s'", text);
    at = take_quoted(at + 1, line->agent, sizeof(line->agent));
    if (*at)
        flunk("something behind: '%s'", at);
}

/* All lines of a log; each must be in the format. */
static size_t read_lines(const char *path, struct line *lines)
{
    size_t len;
    char *text = read_text(path, &len);
    size_t count = 0;

    if (strlen(text) != len)
        flunk("a NUL in the log");
    for (char *end; (end = strchr(text, '\n')); text = end + 1) {
        *end = '\0';
        if (count == LINES_MAX)
            flunk("too many lines");
        parse_line(text, &lines[count++]);
    }
    assert_string_equal(text, ""); /* whole lines only */
    return count;
}

/* A reader may meet a write half way: what is looked at while it grows is only
 * counted. */
static size_t count_lines(const char *path)
{
    size_t count = 0;

    for (const char *at = read_text(path, NULL); (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

static struct server *start_logging(void)
{
    log_path = printed("%s/log.%llu", folder(), (unsigned long long)now_ms());
    return START(printed("--access-log=%s", log_path), "--workers=1");
}

TEST(each_exchange_has_its_line)
{
    struct server *one = start_logging();
    struct line *lines = scratch(LINES_MAX * sizeof(*lines));
    struct client *client = client_open(one);

    client_ask(client, "GET", "/canary?a=b",
               "User-Agent: tester/1.0 (x)\r\nReferer: http://test/from\r\n");
    client_ask(client, "HEAD", "/large", "User-Agent: tester\r\n");
    client_ask(client, "GET", "/none", NULL);
    client_ask(client, "GET", "/large", "Range: bytes=0-99\r\n");
    client_ask(client, "POST", "/canary", NULL);
    client_say(client, "GET /canary HTTP/1.0\r\n\r\n");
    client_reply(client);
    client_expect_end(client);
    server_stop(one); /* writes what it still has */
    assert_int_equal(read_lines(log_path, lines), 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(lines[i].peer, "127.0.0.1");
    assert_string_equal(lines[0].request, "GET /canary?a=b HTTP/1.1");
    assert_int_equal(lines[0].status, 200);
    assert_int_equal(lines[0].bytes, 7);
    assert_string_equal(lines[0].agent, "tester/1.0 (x)");
    assert_string_equal(lines[0].referer, "http://test/from");
    assert_string_equal(lines[1].request, "HEAD /large HTTP/1.1");
    assert_int_equal(lines[1].bytes, 0);
    assert_int_equal(lines[2].status, 404);
    assert_string_equal(lines[2].agent, "-");
    assert_string_equal(lines[2].referer, "-");
    assert_int_equal(lines[3].status, 206);
    assert_int_equal(lines[3].bytes, 100);
    assert_int_equal(lines[4].status, 405);
    assert_string_equal(lines[5].request, "GET /canary HTTP/1.0");
}

TEST(no_client_can_forge_a_line)
{
    static const char forged[] = "1.2.3.4 - - [01/Jan/2000:00:00:00 +0000]";
    static const char *const requests[] = {
        "GET /\x1b[31m HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a\"b\\c HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\xe9\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /f\n1.2.3.4 - - [01/Jan/2000:00:00:00 +0000] \"x\" 200 1\r\n\r\n",
        "GET /%0a1.2.3.4%20-%20- HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /canary HTTP/1.1\r\nHost: a\r\nUser-Agent: \" 200 1 \\\"\r\n\r\n",
        "GET /canary HTTP/1.1\r\nHost: a\r\nReferer: \xc3\xa9\t\\x\"\r\n\r\n",
        "\x16\x03\x01\x02\r\n\r\n",
        "\r\n\r\n\"\\\x7f\r\n\r\n",
    };
    struct server *one = start_logging();
    struct line *lines = scratch(LINES_MAX * sizeof(*lines));
    size_t count = sizeof(requests) / sizeof(*requests);

    client_say_each(one, requests, count);
    server_stop(one);
    assert_int_equal(read_lines(log_path, lines), count);
    for (size_t i = 0; i < count; i++)
        assert_string_not_equal(lines[i].peer, "1.2.3.4");
    assert_int_equal(lines[6].status, 200);
    assert_null(strstr(read_text(log_path, NULL), printed("\n%s", forged)));
}

TEST(no_client_can_keep_itself_out_of_the_log)
{
    struct server *one = start_logging();
    char *long_value = scratch(7001);
    const char *log;

    memset(long_value, 0xff, 7000); /* four characters each when escaped */
    long_value[7000] = '\0';
    get(one, printed("/canary?%07000d", 0));
    expect_status(ask(one, "GET", "/canary",
                      printed("User-Agent: %s\r\nReferer: %s\r\n", long_value,
                              long_value)),
                  200);
    server_stop(one);
    log = read_text(log_path, NULL);
    assert_non_null(strstr(log, "\"GET /canary?0"));
    assert_non_null(strstr(log, "\"GET /canary HTTP/1.1\" 200 7 "));
    assert_int_equal(log[strlen(log) - 1], '\n');
}

TEST(what_is_broken_off_counts_what_was_sent)
{
    struct server *one = start_logging();
    struct line *lines = scratch(LINES_MAX * sizeof(*lines));
    struct client *client = client_open_narrow(one, 4096);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    client_reset(client);
    client_expect_usable(client_open(one));
    server_stop(one);
    assert_int_equal(read_lines(log_path, lines), 2);
    for (size_t i = 0; i < 2; i++)
        if (strstr(lines[i].request, "large"))
            assert_in_range(lines[i].bytes, 1, 4999999);
}

TEST(the_file_is_appended_to)
{
    struct line *lines = scratch(LINES_MAX * sizeof(*lines));

    for (size_t i = 1; i <= 3; i++) {
        struct server *one = i == 1
                                 ? start_logging()
                                 : START(printed("--access-log=%s", log_path));

        client_expect_usable(client_open(one));
        server_stop(one);
        assert_int_equal(read_lines(log_path, lines), i);
    }
}

TEST(lines_are_there_soon_and_whole_from_all_workers)
{
    enum { ROUNDS = 2000 };
    const char *path = printed("%s/log.all", folder());
    struct server *one = START(printed("--access-log=%s", path), "--workers=4");
    struct line *lines = scratch(LINES_MAX * sizeof(*lines));
    struct client *clients[8];

    for (size_t i = 0; i < 8; i++)
        clients[i] = client_open(one);
    for (size_t i = 0; i < ROUNDS / 8; i++) {
        for (size_t j = 0; j < 8; j++)
            client_say(clients[j],
                       "GET /canary HTTP/1.1\r\nHost: a\r\n"
                       "User-Agent: %0200zu\r\n\r\n",
                       i);
        for (size_t j = 0; j < 8; j++)
            expect_status(client_reply(clients[j]), 200);
    }
    assert_true(eventually(count_lines(path) == ROUNDS, SOON_MS));
    assert_int_equal(read_lines(path, lines), ROUNDS);
}

TEST(a_dash_means_standard_output)
{
    struct server *one = START("--access-log=-", "--workers=1");
    struct line line;
    char text[1024];

    get(one, "/canary?first");
    get(one, "/canary?second");
    assert_true(server_line(one, text, sizeof(text)));
    parse_line(text, &line);
    assert_string_equal(line.request, "GET /canary?first HTTP/1.1");
    assert_true(server_line(one, text, sizeof(text)));
    parse_line(text, &line);
    assert_string_equal(line.request, "GET /canary?second HTTP/1.1");
}

TEST(peers_of_every_family_are_named)
{
    const char *path = printed("%s/log.unix", folder());
    const char *at = printed("%s/log.socket", folder());
    struct server *one = START(printed("--access-log=%s", path),
                               printed("--listen=unix:%s", at));
    struct line *lines = scratch(LINES_MAX * sizeof(*lines));

    client_expect_usable(client_open_unix(at));
    server_stop(one);
    assert_int_equal(read_lines(path, lines), 1);
    assert_true(lines[0].peer[0]); /* something stands there */
    /* An IPv4 client of a dual-stack socket shows as what it is. */
    one = server_start(&(struct launch){.is_bare = true},
                       (const char *const[]){"--port=0",
                                             printed("--access-log=%s.4", path),
                                             NULL});
    client_expect_usable(client_open(one));
    server_stop(one);
    assert_int_equal(read_lines(printed("%s.4", path), lines), 1);
    assert_string_equal(lines[0].peer, "127.0.0.1");
}

E2E_SUITE(start);
