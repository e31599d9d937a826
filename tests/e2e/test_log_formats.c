/*
 * The formats of the access log: what each tells, that JSON stays JSON, how a
 * connection's story reads, and where the time of a request went.
 */
#include <signal.h>

#include "client.h"
#include "json.h"

enum { LARGE = 20000000, SOON_MS = 3000, USAGE = 64 };

static char *log_path;

E2E_BEGIN(start)
{
    site_seeded("large", 1, LARGE);
}

static struct server *start_as(const char *format, const char *option)
{
    log_path = printed("%s/log.%llu", folder(), (unsigned long long)now_ms());
    return START(printed("--access-log=%s", log_path),
                 printed("--log-format=%s", format), "--workers=1", option);
}

/* The lines of the log, as one text with NULs for newlines; each is checked
 * to be whole and free of controls. *count_out says how many there are. */
static char **read_lines(size_t *count_out)
{
    size_t len;
    char *text = read_text(log_path, &len);
    char **lines;
    size_t count = 0;

    for (size_t i = 0; i < len; i++) {
        count += text[i] == '\n';
        if (text[i] != '\n' &&
            ((unsigned char)text[i] < 0x20 || text[i] == 0x7f))
            flunk("a control byte in the log");
    }
    assert_true(len == 0 || text[len - 1] == '\n');
    lines = scratch((count + 1) * sizeof(*lines));
    for (size_t i = 0; i < count; i++) {
        lines[i] = text;
        text = strchr(text, '\n');
        *text++ = '\0';
    }
    lines[count] = NULL;
    *count_out = count;
    return lines;
}

static bool has(const char *line, const char *part)
{
    return strstr(line, part) != NULL;
}

static void expect_has(const char *line, const char *part)
{
    if (!has(line, part))
        flunk("'%s' is not in '%s'", part, line);
}

/* The number behind a key. */
static unsigned long long number_of(const char *line, const char *key)
{
    expect_has(line, key);
    return strtoull(strstr(line, key) + strlen(key), NULL, 10);
}

/* --- Named formats ------------------------------------------------------- */

TEST(common_has_neither_referer_nor_agent)
{
    struct server *one = start_as("common", NULL);
    char **lines;
    size_t count;

    ask(one, "GET", "/canary?a", "User-Agent: u\r\nReferer: r\r\n");
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, 1);
    assert_memory_equal(lines[0], "127.0.0.1 - - [", 15);
    assert_string_equal(strchr(lines[0], ']'),
                        "] \"GET /canary?a HTTP/1.1\" 200 7");
}

/* What clients may send, and what JSON has to make of it. */
TEST(json_is_json_whatever_was_sent)
{
    static const char *const requests[] = {
        "GET /canary HTTP/1.1\r\nHost: a\r\nUser-Agent: \"\\\x01\r\n\r\n",
        "GET /canary HTTP/1.1\r\nHost: a\r\nReferer: \xc3\xa9\xff\xc3\r\n\r\n",
        "GET /\"},{\" HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\x1b[31m HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\\u000a HTTP/1.1\r\nHost: \"x\"\r\n\r\n",
        "\x16\x03\x01\x02\r\n\r\n",
        "GET /f\n{\"forged\":1} HTTP/1.1\r\n\r\n",
        "\xf0\x9f\x98\x80 / HTTP/1.1\r\n\r\n",
        "GET /canary?%22 HTTP/1.1\r\nHost: a\r\nUser-Agent: a\tb\r\n\r\n",
    };
    struct server *one = start_as("json", NULL);
    size_t sent = sizeof(requests) / sizeof(requests[0]);
    char **lines;
    size_t count;

    client_say_each(one, requests, sent);
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, sent);
    for (size_t i = 0; i < count; i++) {
        going_on("%s", lines[i]);
        expect_json(lines[i], strlen(lines[i]));
        assert_true(lines[i][0] == '{');
        number_of(lines[i], "\"status\":");
    }
    assert_int_equal(number_of(lines[1], "\"status\":"), 200);
    expect_has(lines[1], "\"referer\":\"\xc3\xa9\\ufffd\\ufffd\"");
}

TEST(json_tells_what_was_sent)
{
    struct server *one = start_as("json", NULL);
    struct client *client = client_open(one);
    const char *request = "GET /canary?q HTTP/1.1\r\nHost: a\r\n"
                          "User-Agent: u\r\n\r\n";
    struct reply *reply;
    size_t bytes;
    char **lines;
    size_t count;

    client_say(client, "%s", request);
    reply = client_reply(client);
    bytes = reply->head_len + reply->body_len;
    client_ask(client, "GET", "/none", "Connection: close\r\n");
    client_expect_end(client);
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, 2);
    assert_int_equal(number_of(lines[0], "\"bytes\":"), 7);
    assert_int_equal(number_of(lines[0], "\"bytes_sent\":"), bytes);
    assert_int_equal(number_of(lines[0], "\"bytes_in\":"), strlen(request));
    assert_int_equal(number_of(lines[0], "\"requests\":"), 1);
    assert_int_equal(number_of(lines[0], "\"connection\":"), 1);
    expect_has(lines[0], "\"request\":\"GET /canary?q HTTP/1.1\","
                         "\"method\":\"GET\",\"path\":\"/canary\",");
    expect_has(lines[0], "\"user_agent\":\"u\"");
    expect_has(lines[0], "\"keepalive\":true,\"complete\":true}");
    assert_int_equal(number_of(lines[1], "\"requests\":"), 2);
    assert_int_equal(number_of(lines[1], "\"status\":"), 404);
    expect_has(lines[1], "\"keepalive\":false,\"complete\":true}");
}

/* --- Stories ------------------------------------------------------------- */

/* The line that says how a connection closed; its number is the text between
 * time and event. */
static const char *find_close(char **lines, unsigned long connection)
{
    for (; *lines; lines++)
        if (has(*lines, " close ") &&
            strtoul(strchr(*lines, ' '), NULL, 10) == connection)
            return *lines;
    flunk("connection %lu was not closed", connection);
}

TEST(a_connection_has_a_story)
{
    struct server *one = start_as("events", "--max-requests-per-connection=3");
    struct client *client = client_open(one);
    char **lines;
    size_t count;

    client_ask(client, "GET", "/canary", NULL);
    client_ask(client, "GET", "/none", NULL);
    client_ask(client, "HEAD", "/canary", NULL);
    client_expect_end(client);
    client_close(client);
    client = client_open(one);
    client_expect_usable(client);
    client_close(client);
    client = client_open(one);
    client_say(client, "rubbish\r\n\r\n");
    client_reply(client);
    client_expect_end(client);
    client_close(client);
    client = client_open_narrow(one, 4096);
    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    client_reset(client);
    assert_true(eventually(read_lines(&count) && count == 5 + 3 + 3 + 3,
                           SOON_MS));
    client = client_open(one);
    client_ask(client, "GET", "/canary", NULL);
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, 5 + 3 + 3 + 3 + 3);
    expect_has(lines[0], " 1 accept remote=127.0.0.1 port=");
    expect_has(lines[1], " 1 request n=1 status=200 bytes=7 ");
    expect_has(lines[2], " 1 request n=2 status=404 ");
    expect_has(lines[3], " 1 request n=3 status=200 bytes=0 ");
    expect_has(find_close(lines, 1), " reason=limit requests=3");
    expect_has(find_close(lines, 2), " reason=client requests=1");
    expect_has(find_close(lines, 3), " reason=error requests=1");
    expect_has(find_close(lines, 4), " reason=error requests=1");
    expect_has(find_close(lines, 5), " reason=drain requests=1");
}

TEST(silence_and_slowness_are_told_apart)
{
    struct server *one = start_as("events", "--header-timeout=300ms");
    struct client *silent = client_open(one);
    struct client *slow = client_open(one);
    bool is_idle = false;
    bool is_timeout = false;
    char **lines;
    size_t count;

    client_say(slow, "GET /can");
    assert_int_equal(client_reply(slow)->status, 408);
    client_expect_end(slow);
    client_expect_end(silent);
    client_close(slow);
    client_close(silent);
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, 5);
    /* The kernel may keep a silent one back, so their order is open. */
    for (unsigned long i = 1; i <= 2; i++) {
        const char *line = find_close(lines, i);

        is_idle |= has(line, " reason=idle requests=0");
        is_timeout |= has(line, " reason=timeout requests=1");
    }
    assert_true(is_idle && is_timeout);
}

TEST(numbers_of_connections_are_unique)
{
    enum { CLIENTS = 40 };
    struct server *one;
    bool seen[CLIENTS * 4 + 5] = {0};
    char **lines;
    size_t count;
    size_t accepts = 0;

    log_path = printed("%s/log.unique", folder());
    one = START(printed("--access-log=%s", log_path), "--log-format=events",
                "--workers=4");
    for (int i = 0; i < CLIENTS; i++)
        client_expect_usable(client_open(one));
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, 3 * CLIENTS);
    for (size_t i = 0; i < count; i++) {
        unsigned long number = strtoul(strchr(lines[i], ' '), NULL, 10);

        assert_in_range(number, 1, sizeof(seen) - 1);
        if (!has(lines[i], " accept "))
            continue;
        assert_false(seen[number]);
        seen[number] = true;
        assert_int_equal(number_of(lines[i], "worker="), (number - 1) % 4);
        accepts++;
    }
    assert_int_equal(accepts, CLIENTS);
}

/* --- Templates and time -------------------------------------------------- */

TEST(a_template_tells_where_the_time_went)
{
    enum { PAUSE_MS = 300 };
    struct server *one = start_as("%{status} total=%{total_us} "
                                  "queue=%{queue_us} service=%{service_us} "
                                  "%{path} %{complete}",
                                  NULL);
    struct client *client = client_open_narrow(one, 4096);
    char **lines;
    size_t count;

    client_ask(client, "GET", "/canary", NULL);
    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    pause_ms(PAUSE_MS);
    expect_seeded(client_reply(client), 1, 0, LARGE);
    client_say(client, "GET /canary HTTP/1.1\r\n");
    pause_ms(PAUSE_MS);
    client_say(client, "Host: a\r\n\r\n");
    client_reply(client);
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        unsigned long long total = number_of(lines[i], "total=");
        unsigned long long queue = number_of(lines[i], "queue=");
        unsigned long long service = number_of(lines[i], "service=");

        going_on("%s", lines[i]);
        assert_memory_equal(lines[i], "200 ", 4);
        /* Each is rounded down. */
        assert_true(total >= queue + service);
        assert_true(strcmp(strrchr(lines[i], ' '), " true") == 0);
    }
    /* A client that takes its time shows as service; one that does not come
     * to the end of its request, as neither, but in the total. */
    assert_true(number_of(lines[1], "service=") >= PAUSE_MS * 900);
    assert_true(number_of(lines[2], "total=") >= PAUSE_MS * 900);
    assert_true(number_of(lines[2], "service=") +
                    number_of(lines[2], "queue=") <
                number_of(lines[2], "total=") - PAUSE_MS * 500);
}

/* Also of bodies that nobody wants, and of heads that are none. */
TEST(a_template_tells_how_much_was_read)
{
    static const char *const requests[] = {
        "GET /canary HTTP/1.1\r\nHost: a\r\nUser-Agent: u\r\n\r\n",
        "HEAD /none HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /canary HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345",
        ("PUT /canary HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
         "2\r\nab\r\n0\r\n\r\n"),
        "rubbish\r\n\r\n",
    };
    enum { REQUESTS = sizeof(requests) / sizeof(requests[0]) };
    struct server *one = start_as("%{method} in=%{bytes_in}", NULL);
    struct client *client = client_open(one);
    char **lines;
    size_t count;

    for (size_t i = 0; i < REQUESTS; i++)
        client_say(client, "%s", requests[i]); /* pipelined */
    for (size_t i = 0; i < REQUESTS; i++)
        i == 1 ? client_reply_to_head(client) : client_reply(client);
    client_expect_end(client);
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, REQUESTS);
    for (size_t i = 0; i < REQUESTS; i++) {
        going_on("%s", lines[i]);
        assert_int_equal(number_of(lines[i], " in="), strlen(requests[i]));
    }
}

TEST(what_is_broken_off_is_not_complete)
{
    struct server *one = start_as("%{complete} %{bytes} %{total_us}", NULL);
    struct client *client = client_open_narrow(one, 4096);
    char **lines;
    size_t count;

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    client_reset(client);
    client_expect_usable(client_open(one));
    server_stop(one);
    lines = read_lines(&count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++)
        if (has(lines[i], "false"))
            assert_in_range(number_of(lines[i], "false "), 1, LARGE - 1);
    assert_true(has(lines[0], "false") || has(lines[1], "false"));
}

TEST(a_template_that_is_wrong_is_refused_at_start)
{
    static const struct {
        const char *format;
        const char *said;
    } cases[] = {
        {"%{remote} %{nonsense}", "'%{nonsense}'; there are remote "},
        {"%{remote", "has no '}'"},
        {"%h %l %u", "'%h' is no field"},
        {"jason", "common, combined, json, events"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct outcome outcome;

        RUN(&outcome, "--port=0", "--access-log=-", "--log-format",
            cases[i].format, site());
        assert_int_equal(outcome.status, USAGE);
        expect_has(outcome.err, "--log-format");
        expect_has(outcome.err, cases[i].said);
        assert_ptr_equal(strchr(outcome.err, '\n'),
                         outcome.err + strlen(outcome.err) - 1);
    }
}

E2E_SUITE(start);
