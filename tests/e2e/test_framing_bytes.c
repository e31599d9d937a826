/*
 * Every byte value at every kind of place in a head, and heads of every size,
 * judged by the RFCs' own sets of characters.
 */
#include "raw_case.h"

#include "client.h"

static bool is_tchar(unsigned char byte)
{
    return byte && strchr("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                          byte);
}

static bool is_value(unsigned char byte)
{
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

static bool is_zero_or_space(unsigned char byte)
{
    return byte == '0' || byte == ' ' || byte == '\t';
}

static bool is_none(unsigned char byte)
{
    (void)byte;
    return false;
}

/* What browsers and curl send, though no grammar has all of it. */
static bool is_query(unsigned char byte)
{
    return byte > ' ' && byte != 0x7f;
}

/* The byte stands between the two texts. Behind those allowed the connection
 * goes on; all others end it, with 400 or the other status. Nothing is said
 * about the bytes in except. */
static const struct place {
    const char *name;
    const char *before;
    const char *after;
    bool (*is_allowed)(unsigned char byte);
    const char *except;
    int other_status;
} places[] = {
    {"method", "GE", "T /f HTTP/1.1\r\nHost: a\r\n\r\n", is_none, "", 501},
    {"first byte", "", "GET /f HTTP/1.1\r\nHost: a\r\n\r\n", is_none, "", 501},
    {"query", "GET /f?x", "y HTTP/1.1\r\nHost: a\r\n\r\n", is_query, "", 0},
    {"before the version", "GET /f ", "HTTP/1.1\r\nHost: a\r\n\r\n", is_none,
     "", 505},
    {"version", "GET /f HTTP/1.", "1\r\nHost: a\r\n\r\n", is_none, "", 505},
    {"after the version", "GET /f HTTP/1.1", "\r\nHost: a\r\n\r\n", is_none, "",
     505},
    {"first byte of a line", "GET /f HTTP/1.1\r\n", "X: a\r\nHost: a\r\n\r\n",
     is_tchar, "", 0},
    /* "X:Y: a" has the value "Y: a". */
    {"name", "GET /f HTTP/1.1\r\nX", "Y: a\r\nHost: a\r\n\r\n", is_tchar, ":",
     0},
    {"end of a name", "GET /f HTTP/1.1\r\nX", ": a\r\nHost: a\r\n\r\n",
     is_tchar, ":", 0},
    {"value", "GET /f HTTP/1.1\r\nX: a", "b\r\nHost: a\r\n\r\n", is_value, "",
     0},
    {"end of a value", "GET /f HTTP/1.1\r\nX: a", "\r\nHost: a\r\n\r\n",
     is_value, "", 0},
    /* "01" to "09" announce a body that is not there. */
    {"length", "GET /f HTTP/1.1\r\nHost: a\r\nContent-Length: 0", "\r\n\r\n",
     is_zero_or_space, "123456789", 0},
    {"instead of LF", "GET /f HTTP/1.1\r\nX: a\r", "Host: a\r\n\r\n", is_none,
     "\n", 0},
    {"instead of CR", "GET /f HTTP/1.1\r\nX: a", "\nHost: a\r\n\r\n", is_none,
     "\r", 0},
    {"instead of the last LF", "GET /f HTTP/1.1\r\nHost: a\r\n\r", "\r\n\r\n",
     is_none, "\n", 0},
};

static struct raw_case make_case(const struct place *place, unsigned char byte)
{
    bool is_allowed = place->is_allowed(byte);
    size_t before = strlen(place->before);
    size_t after = strlen(place->after);
    char *text = scratch(before + after + 1);
    char *name = scratch(64);

    memcpy(text, place->before, before);
    text[before] = (char)byte;
    memcpy(text + before + 1, place->after, after);
    snprintf(name, 64, "%s: byte 0x%02x", place->name, byte);
    return (struct raw_case){
        .name = name,
        .bytes = text,
        .len = before + 1 + after,
        .then = is_allowed                                     ? THEN_GOES_ON
                : place->other_status == 501 && is_tchar(byte) ? THEN_EITHER
                                                               : THEN_CLOSES,
        .statuses = {is_allowed ? 200 : 400,
                     is_allowed ? 0 : place->other_status}};
}

TEST(every_byte_is_allowed_or_refused_by_its_place)
{
    enum { PLACES = sizeof(places) / sizeof(*places) };
    struct raw_case *cases = scratch(PLACES * 256 * sizeof(*cases));
    size_t count = 0;

    for (size_t i = 0; i < PLACES; i++)
        for (unsigned byte = 0; byte < 256; byte++)
            if (byte == 0 || !strchr(places[i].except, (int)byte))
                cases[count++] = make_case(&places[i], (unsigned char)byte);
    raw_cases_whole(raw_server, cases, count);
}

/* --- Sizes --------------------------------------------------------------- */

static char *padded(const char *before, size_t count, char pad,
                    const char *after)
{
    size_t head = strlen(before);
    char *text = scratch(head + count + strlen(after) + 1);

    memcpy(text, before, head);
    memset(text + head, pad, count);
    memcpy(text + head + count, after, strlen(after) + 1);
    return text;
}

static void add(struct raw_case *raw, const char *name, char *bytes,
                enum raw_then then, int status, int other)
{
    *raw = (struct raw_case){.name = name,
                             .bytes = bytes,
                             .len = strlen(bytes),
                             .then = then,
                             .statuses = {status, other}};
}

static char *with_fields(size_t count)
{
    size_t size = 64 + count * 16;
    char *text = scratch(size);
    size_t len = (size_t)snprintf(text, size, "GET /f HTTP/1.1\r\nHost: a\r\n");

    for (size_t i = 0; i + 1 < count; i++)
        len += (size_t)snprintf(text + len, size - len, "X%05zu: a\r\n", i);
    memcpy(text + len, "\r\n", 3);
    return text;
}

TEST(heads_within_reason_are_read_and_larger_ones_refused)
{
    static const char line_end[] = " HTTP/1.1\r\nHost: a\r\n\r\n";
    static const char fields[] = "GET /f HTTP/1.1\r\nHost: a\r\n";
    struct raw_case cases[16];
    size_t n = 0;

    /* RFC 9112 3: at least 8,000 octets. "GET /f?" and " HTTP/1.1" are 16. */
    add(&cases[n++], "a line of 8,000", padded("GET /f?", 7984, 'x', line_end),
        THEN_GOES_ON, 200, 0);
    add(&cases[n++], "a line of 70,000",
        padded("GET /f?", 70000, 'x', line_end), THEN_CLOSES, 414, 0);
    add(&cases[n++], "a path of 70,000", padded("GET /", 70000, 'x', line_end),
        THEN_CLOSES, 414, 0);
    add(&cases[n++], "a line without end", padded("GET /f?", 300000, 'x', ""),
        THEN_CLOSES, 414, 0);
    add(&cases[n++], "a method of 70,000", padded("G", 70000, 'x', line_end),
        THEN_CLOSES, 501, 0);
    add(&cases[n++], "a version of 70,000",
        padded("GET /f HTTP/1.1", 70000, '1', "\r\nHost: a\r\n\r\n"),
        THEN_CLOSES, 400, 414);
    cases[n - 1].statuses[2] = 505;
    add(&cases[n++], "a value of 4,000",
        padded("GET /f HTTP/1.1\r\nHost: a\r\nX: ", 4000, 'x', "\r\n\r\n"),
        THEN_GOES_ON, 200, 0);
    add(&cases[n++], "a value of 100,000",
        padded("GET /f HTTP/1.1\r\nHost: a\r\nX: ", 100000, 'x', "\r\n\r\n"),
        THEN_CLOSES, 431, 0);
    add(&cases[n++], "a value without end",
        padded("GET /f HTTP/1.1\r\nHost: a\r\nX: ", 300000, 'x', ""),
        THEN_CLOSES, 431, 0);
    add(&cases[n++], "a name of 100,000",
        padded(fields, 100000, 'x', ": a\r\n\r\n"), THEN_CLOSES, 431, 0);
    add(&cases[n++], "a Host of 100,000",
        padded("GET /f HTTP/1.1\r\nHost: ", 100000, 'x', "\r\n\r\n"),
        THEN_CLOSES, 431, 400);
    add(&cases[n++], "100 fields", with_fields(100), THEN_GOES_ON, 200, 0);
    add(&cases[n++], "101 fields", with_fields(101), THEN_CLOSES, 431, 0);
    add(&cases[n++], "5,000 fields", with_fields(5000), THEN_CLOSES, 431, 0);
    raw_cases_whole(raw_server, cases, n);
}

TEST(a_line_just_over_the_limit_is_414_however_it_comes)
{
    static const char line_end[] = " HTTP/1.1\r\nHost: a\r\n\r\n";
    size_t limit = 0;

    /* Wherever the limit is: one more byte must make the difference, to 414
     * at once, however much of it has come in. */
    for (size_t step = 1u << 15; step > 0; step /= 2) {
        struct client *client = client_open(raw_server);

        client_say(client, "GET /f?");
        client_send(client, padded("", limit + step, 'x', line_end),
                    limit + step + sizeof(line_end) - 1);
        if (client_reply(client)->status == 200)
            limit += step;
        client_close(client);
    }
    assert_in_range(limit, 7984, 65000);
    for (size_t i = 1; i < 40; i++) {
        struct client *client = client_open(raw_server);
        char *line = padded("GET /f?", limit + i, 'x', line_end);

        client_send(client, line, limit - 20);
        client_drip(client, line + limit - 20, strlen(line) - limit + 20);
        expect_status(client_reply(client), 414);
        client_expect_end(client);
    }
}

TEST(many_empty_lines_are_no_way_to_stay)
{
    struct client *client = client_open(raw_server);
    struct reply *reply;

    for (size_t i = 0; i < 20000; i++)
        if (!client_send(client, "\r\n\r\n\r\n", 6))
            break;
    client_half_close(client);
    if (client_try(client, false, &reply) == CLIENT_REPLY) {
        expect_status(reply, 400);
        client_expect_end(client);
    }
}

SUITE(.begin = raw_case_begin, .each_end = harness_after_test,
      .run = raw_case_run);
