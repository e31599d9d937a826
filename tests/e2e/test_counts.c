/*
 * What the server counts is what its clients counted, to the last byte: in
 * status.json, in the metrics, in the Server Statistic Report and in the access
 * log alike.
 */
#include "client.h"
#include "report.h"

enum {
    SEED = 5,
    MIDDLE = 100000,
    LARGE = 20000000,
    HEAD_MAX = 1000,
    SOON_MS = 5000,
    STATUS_MIN = 100,
    STATUS_END = 600
};

static char *log_path;

E2E_BEGIN(start)
{
    site_seeded("middle", SEED, MIDDLE);
    site_seeded("large", SEED, LARGE);
}

/* --- The client's own account -------------------------------------------- */

static const char *const methods[] = {"GET",     "HEAD",   "OPTIONS", "POST",
                                      "PUT",     "DELETE", "PATCH",   "TRACE",
                                      "CONNECT", "other"};

enum { METHODS = sizeof(methods) / sizeof(methods[0]), OTHER = METHODS - 1 };

static struct tally {
    uint64_t methods[METHODS];
    uint64_t statuses[STATUS_END];
    uint64_t incomplete;
    uint64_t bytes_said;
    uint64_t bytes_heard;
    uint64_t opened;
    uint64_t ended_by_client;
    uint64_t ended_by_error;
    uint64_t ended_by_drain;
} tally;

static struct client *open_counted(const struct server *server)
{
    tally.opened++;
    return client_open(server);
}

static void close_counted(struct client *client)
{
    tally.ended_by_client++;
    client_close(client);
}

static unsigned find_method(const char *request)
{
    for (unsigned i = 0; i < OTHER; i++)
        if (strncmp(request, methods[i], strlen(methods[i])) == 0 &&
            request[strlen(methods[i])] == ' ')
            return i;
    return OTHER;
}

static void say(struct client *client, const char *request)
{
    tally.methods[find_method(request)]++;
    tally.bytes_said += strlen(request);
    client_send(client, request, strlen(request));
}

/* Reads one whole message: all there is of it, as it came. */
static struct reply *hear(struct client *client, bool to_head, unsigned status)
{
    struct reply *reply = to_head ? client_reply_to_head(client)
                                  : client_reply(client);

    expect_status(reply, status);
    assert_int_not_equal(reply->framing, REPLY_BY_CHUNKS);
    tally.statuses[status]++;
    tally.bytes_heard += reply->head_len + reply->body_len;
    return reply;
}

static struct reply *exchange(struct client *client, const char *line,
                              const char *fields, const char *body,
                              unsigned status)
{
    going_on("%s", line);
    say(client, printed("%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s", line,
                        fields, body));
    return hear(client, strncmp(line, "HEAD ", 5) == 0, status);
}

/* --- What is told -------------------------------------------------------- */

/* Where a number stands; NULL: it is not told there. */
struct row {
    uint64_t expected;
    const char *object; /* in status.json, and its member */
    const char *member;
    const char *metric; /* with its labels */
    const char *title;  /* in the report, and the row below it */
    const char *label;
};

/* All there is to compare; the last has no title. */
static const struct row *list_rows(void)
{
    const struct row rest[] = {
        {tally.incomplete, "requests", "incomplete",
         "sprintd_responses_incomplete_total", "Requests", "incomplete"},
        {tally.bytes_said, "bytes", "in", "sprintd_received_bytes_total",
         "Responses", "bytes received"},
        {tally.bytes_heard, "bytes", "out", "sprintd_sent_bytes_total",
         "Responses", "bytes sent"},
        {tally.opened, "connections", "accepted",
         "sprintd_connections_accepted_total", "Connections", "accepted"},
        {tally.ended_by_client, "closed", "client",
         "sprintd_connections_closed_total{reason=\"client\"}", "Connections",
         "closed: client"},
        {tally.ended_by_error, "closed", "error",
         "sprintd_connections_closed_total{reason=\"error\"}", "Connections",
         "closed: error"},
        {tally.ended_by_drain, "closed", "drain",
         "sprintd_connections_closed_total{reason=\"drain\"}", "Connections",
         "closed: drain"}};
    const size_t rest_count = sizeof(rest) / sizeof(rest[0]);
    const size_t most = METHODS + STATUS_END + rest_count + 2;
    struct row *rows = scratch(most * sizeof(*rows));
    struct row *row = rows;
    uint64_t all = 0;

    for (size_t i = 0; i < METHODS; i++) {
        *row++ = (struct row){
            tally.methods[i],
            "by_method",
            methods[i],
            printed("sprintd_requests_total{method=\"%s\"}", methods[i]),
            "Requests",
            methods[i]};
        all += tally.methods[i];
    }
    for (unsigned i = STATUS_MIN; i < STATUS_END; i++) {
        const char *code = printed("%u", i);

        *row++ = (struct row){tally.statuses[i],
                              "by_status",
                              code,
                              printed("sprintd_responses_total{code=\"%u\"}",
                                      i),
                              "Responses",
                              code};
    }
    *row++ = (struct row){all, "requests", "total", NULL, "Requests", "all"};
    memcpy(row, rest, sizeof(rest));
    row[rest_count] = (struct row){0};
    return rows;
}

/* Of all three: 0 where it is missing, as what did not happen may be. */
static uint64_t read_json(const char *text, const struct row *row)
{
    const char *object = strstr(text, printed("\"%s\":{", row->object));
    const char *key = printed("\"%s\":", row->member);
    const char *member = object ? strstr(object, key) : NULL;
    const char *end = object ? strchr(object, '}') : NULL;

    return member && member < end ? strtoull(member + strlen(key), NULL, 10)
                                  : 0;
}

static uint64_t read_metrics(const char *text, const struct row *row)
{
    const char *key = printed("\n%s ", row->metric);
    const char *line = strstr(text, key);

    return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

static uint64_t read_report(const char *text, const struct row *row)
{
    return report_number(text, row->title, row->label);
}

/* The first number that is not the client's; NULL: there is none. */
static const char *find_difference(const char *text, const struct row *rows,
                                   uint64_t (*read)(const char *text,
                                                    const struct row *row))
{
    for (const struct row *row = rows; row->title; row++) {
        uint64_t told;

        if (read == read_metrics && !row->metric)
            continue;
        told = read(text, row);
        if (told != row->expected)
            return printed("%s, %s: %llu instead of %llu", row->title,
                           row->label, (unsigned long long)told,
                           (unsigned long long)row->expected);
    }
    return NULL;
}

/* Asks until all is counted: a client has its answer a moment before that is.
 * What is told is as it was before the asking. */
static void expect_told(struct client *client, const char *target,
                        uint64_t (*read)(const char *text,
                                         const struct row *row))
{
    const char *difference = "";
    uint64_t until_ms = now_ms() + patience(SOON_MS);

    while (difference && now_ms() < until_ms) {
        const struct row *rows = list_rows();
        struct reply *reply = exchange(client, printed("GET %s", target), "",
                                       "", 200);
        char *text = scratch(reply->body_len + 1);

        memcpy(text, reply->body, reply->body_len);
        text[reply->body_len] = '\0';
        difference = find_difference(text, rows, read);
        if (difference)
            pause_ms(20);
    }
    if (difference)
        flunk("%s", difference);
}

static void expect_all_told(struct client *client)
{
    expect_told(client, "/_s/status.json", read_json);
    expect_told(client, "/_s/metrics", read_metrics);
}

/* --- The mix ------------------------------------------------------------- */

static void keep_alive(const struct server *server)
{
    enum { CLIENTS = 4, GETS = 30, HEADS = 20, POSTS = 10 };
    struct client *clients[CLIENTS];
    char *etag = NULL;

    for (size_t i = 0; i < CLIENTS; i++)
        clients[i] = open_counted(server);
    for (size_t i = 0; i < GETS; i++)
        etag = printed("If-None-Match: %s\r\n",
                       reply_field(exchange(clients[i % CLIENTS], "GET /canary",
                                            "", "", 200),
                                   "ETag"));
    for (size_t i = 0; i < HEADS; i++)
        exchange(clients[i % CLIENTS], "HEAD /none", "", "", 404);
    for (size_t i = 0; i < POSTS; i++)
        exchange(clients[i % CLIENTS], "POST /canary", "Content-Length: 5\r\n",
                 "12345", 405);
    exchange(clients[0], "PUT /canary", "Transfer-Encoding: chunked\r\n",
             "3\r\nabc\r\n0\r\n\r\n", 405);
    exchange(clients[0], "GET /canary", etag, "", 304);
    exchange(clients[1], "HEAD /canary", etag, "", 304);
    exchange(clients[1], "HEAD /large", "", "", 200);
    exchange(clients[2], "GET /large", "Range: bytes=0-999\r\n", "", 206);
    exchange(clients[2], "GET /middle", "Range: bytes=1-9,11-19\r\n", "", 206);
    exchange(clients[2], "GET /canary", "Range: bytes=7-\r\n", "", 416);
    exchange(clients[3], "OPTIONS /canary", "", "", 204);
    exchange(clients[3], "DELETE /canary", "", "", 405);
    exchange(clients[3], "GET /middle", "", "", 200);
    exchange(clients[3], "GET /large", "", "", 200);
    for (size_t i = 0; i < CLIENTS; i++)
        close_counted(clients[i]);
}

static void closed(const struct server *server)
{
    enum { CLIENTS = 10 };

    for (size_t i = 0; i < CLIENTS; i++) {
        struct client *client = open_counted(server);

        exchange(client, i % 2 == 0 ? "GET /canary" : "HEAD /none",
                 "Connection: close\r\n", "", i % 2 == 0 ? 200 : 404);
        client_expect_end(client);
        close_counted(client);
    }
}

static void pipelined(const struct server *server)
{
    enum { DEPTH = 16 };
    struct client *client = open_counted(server);

    for (size_t i = 0; i < DEPTH; i++) {
        say(client, "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n");
        say(client, "HEAD /middle HTTP/1.1\r\nHost: a\r\n\r\n");
        say(client, "GET /middle HTTP/1.1\r\nHost: a\r\n\r\n");
        say(client, "GET /none HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    for (size_t i = 0; i < DEPTH; i++) {
        hear(client, false, 200);
        hear(client, true, 200);
        hear(client, false, 200);
        hear(client, false, 404);
    }
    close_counted(client);
}

static void nonsense(const struct server *server)
{
    struct client *client = open_counted(server);

    say(client, "no request\r\n\r\n");
    hear(client, false, 400);
    client_expect_end(client);
    client_close(client);
    tally.ended_by_error++;
}

/* --- The access log ------------------------------------------------------ */

struct logged {
    uint64_t lines;
    uint64_t bytes_in;
    uint64_t bytes_sent;
    uint64_t broken_off;      /* how many were */
    uint64_t broken_off_sent; /* of them, bytes */
};

static struct logged read_log(void)
{
    struct logged sum = {0};

    for (char *at = read_text(log_path, NULL); *at; at = strchr(at, '\n') + 1) {
        char complete[8];
        unsigned long in, sent;

        if (sscanf(at, "%7s %lu %lu\n", complete, &in, &sent) != 3 ||
            !strchr(at, '\n'))
            flunk("not a line: '%s'", at);
        sum.lines++;
        sum.bytes_in += in;
        sum.bytes_sent += sent;
        if (strcmp(complete, "false") == 0) {
            sum.broken_off++;
            sum.broken_off_sent += sent;
        }
    }
    return sum;
}

/* What the kernel took of it and the client did not live to see, only the
 * server can tell; what it tells must be the same everywhere. */
static void broken_off(const struct server *server)
{
    struct client *client = client_open_narrow(server, 65536);
    size_t got;

    tally.opened++;
    say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    got = client_take(client, 50000);
    client_reset(client);
    assert_true(eventually(read_log().broken_off == 1, SOON_MS));
    assert_in_range(read_log().broken_off_sent, got, LARGE - 1);
    tally.bytes_heard += read_log().broken_off_sent;
    tally.statuses[200]++;
    tally.incomplete++;
    tally.ended_by_error++;
}

TEST(counts_are_those_of_the_clients)
{
    struct server *one;
    struct client *client;
    const char *difference;
    struct logged logged;

    tally = (struct tally){0};
    log_path = printed("%s/log", folder());
    one = START("--workers=2", "--report=always", "--status=/_s",
                printed("--access-log=%s", log_path),
                "--log-format=%{complete} %{bytes_in} %{bytes_sent}");
    client = open_counted(one);
    expect_all_told(client);
    keep_alive(one);
    expect_all_told(client);
    closed(one);
    pipelined(one);
    nonsense(one);
    expect_all_told(client);
    broken_off(one);
    expect_all_told(client);
    server_stop(one);
    tally.ended_by_drain++; /* the one that asked */
    assert_non_null(report_last(one));
    difference = find_difference(report_last(one), list_rows(), read_report);
    if (difference)
        flunk("%s", difference);
    assert_int_equal(report_number(report_last(one), "Connections", "open"), 0);
    logged = read_log();
    assert_int_equal(logged.lines,
                     report_number(report_last(one), "Requests", "all"));
    assert_int_equal(logged.bytes_in, tally.bytes_said);
    assert_int_equal(logged.bytes_sent, tally.bytes_heard);
    assert_int_equal(logged.broken_off, 1);
}

E2E_SUITE(start);
