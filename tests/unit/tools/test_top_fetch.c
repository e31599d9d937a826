/* link: -Wl,--wrap=now_read_ns,--wrap=getaddrinfo */
#include "tools/top_fetch.h"

#include <netdb.h>
#include <sysexits.h>

#include "unit/place.h"
#include "unit/tools/answering.h"
#include "wrap.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

/* --- Time and names ------------------------------------------------------ */

static uint64_t now_ns;
static uint64_t
    step_ns; /* what passes from one look at the clock to the next */
static int interrupt_fd; /* -1: nothing interrupts */
static int resolved;     /* what getaddrinfo says; 0: it does its work */

WRAP(uint64_t, now_read_ns, void)
{
    return now_ns += step_ns;
}

WRAP(int, getaddrinfo, const char *host, const char *port,
     const struct addrinfo *hints, struct addrinfo **addresses_out)
{
    return resolved != 0 ? resolved
                         : __real_getaddrinfo(host, port, hints, addresses_out);
}

static int set_up(void **state)
{
    (void)state;
    now_ns = 0;
    step_ns = 0;
    resolved = 0;
    interrupt_fd = -1;
    return 0;
}

/* --- Fetching ------------------------------------------------------------ */

static char why[4096];
static unsigned interrupts_left; /* until it gives up */

static bool gives_up(void *self)
{
    char byte;

    assert_ptr_equal(self, &interrupt_fd);
    assert_int_equal(read(interrupt_fd, &byte, 1), 1);
    return --interrupts_left == 0;
}

/* The exit status; the body must be what is expected when it is EX_OK. */
static int fetch(const char *url, const char *body)
{
    const struct top_interrupt interrupt = {.fds = {-1, interrupt_fd, -1},
                                            .gives_up = gives_up,
                                            .self = &interrupt_fd};
    struct top_target target;
    struct buf buf, got;
    int status;

    assert_null(top_target_read(&target, url));
    buf_init(&got, NULL, 0, TOP_BODY_BYTES_MAX);
    buf_init(&buf, why, sizeof(why) - 1, sizeof(why) - 1);
    status = top_fetch(&target, &interrupt, &got, &buf);
    why[buf.len] = '\0';
    if (status == EX_OK)
        assert_true(bytes_eq(buf_bytes(&got), bytes_of(body)));
    assert_int_equal(status == EX_OK, buf.len == 0);
    assert_null(strpbrk(why, "\r\n"));
    buf_fini(&got);
    return status;
}

static void assert_why(const char *part)
{
    if (!strstr(why, part))
        fail_msg("'%s' is missing: %s", part, why);
}

static void assert_asked(const struct answering *answering, const char *request)
{
    char text[4096];
    ssize_t got = read(answering->requests, text, sizeof(text) - 1);

    assert_true(got > 0);
    text[got] = '\0';
    assert_string_equal(text, request);
}

TEST(asks_for_the_document_and_takes_it)
{
    struct answering answering = answering_open(ANSWERING_ONCE, OK);
    char request[512];

    assert_int_equal(fetch(answering_url(answering.port, "/s"), "{}"), EX_OK);
    snprintf(request, sizeof(request),
             "GET /s/status.json HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
             "Accept: application/json\r\nUser-Agent: sprintd-top\r\n"
             "Connection: close\r\n\r\n",
             answering.port);
    assert_asked(&answering, request);
    answering_close(&answering);
}

TEST(asks_through_a_socket_in_the_file_system)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct answering answering;
    struct place place;
    char url[128];
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(place_open(&place), 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", place.name);
    assert_int_equal(bind(listener, (struct sockaddr *)&address,
                          sizeof(address)),
                     0);
    answering = answering_open_at(listener, ANSWERING_ONCE, OK);
    snprintf(url, sizeof(url), "unix:%s/s:/x", place.name);
    assert_int_equal(fetch(url, "{}"), EX_OK);
    assert_asked(&answering,
                 "GET /x/status.json HTTP/1.1\r\nHost: localhost\r\n"
                 "Accept: application/json\r\nUser-Agent: sprintd-top\r\n"
                 "Connection: close\r\n\r\n");
    answering_close(&answering);
    place_close(&place);
}

/* The answer to one connection. */
static int fetch_answer(enum answering_way way, const char *answer,
                        const char *body)
{
    struct answering answering = answering_open(way, answer);
    int status = fetch(answering_url(answering.port, ""), body);

    answering_close(&answering);
    return status;
}

TEST(takes_replies_of_every_framing)
{
    static const struct {
        const char *answer;
        const char *body;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", "hello"},
        {"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", ""},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
         "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
         "hello"},
        {"HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked \r\n\r\n0\r\n\r\n", ""},
        {"HTTP/1.0 200 OK\r\n\r\nhello", "hello"},
        {"HTTP/1.1 200\r\n\r\n", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(fetch_answer(ANSWERING_ONCE, cases[i].answer,
                                      cases[i].body),
                         EX_OK);
}

TEST(refuses_whatever_is_unclear)
{
    static const char *const answers[] = {
        "x",
        "\r\n\r\n",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\n\nhello",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2p1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: 8388609\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
        "Transfer-Encoding: chunked\r\n\r\na",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
        "Content-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\na",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel",
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        if (fetch_answer(ANSWERING_ONCE, answers[i], "") != EX_PROTOCOL)
            fail_msg("taken: %s", answers[i]);
        assert_why("no HTTP");
    }
}

TEST(a_head_or_a_body_without_end_is_refused)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nA: ", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"};

    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
        assert_int_equal(fetch_answer(ANSWERING_ENDLESS, answers[i], ""),
                         EX_PROTOCOL);
}

TEST(says_why_a_server_does_not_tell)
{
    static const struct {
        const char *answer;
        int status;
        const char *why;
    } cases[] = {
        {"HTTP/1.1 403 Forbidden\r\n\r\n", EX_UNAVAILABLE, "--status-allow"},
        {"HTTP/1.1 404 Not Found\r\n\r\n", EX_UNAVAILABLE,
         "404: nothing at '/s/status.json'; start it with --status /s"},
        {"HTTP/1.1 503 Service Unavailable\r\n\r\n", EX_UNAVAILABLE,
         "answers with 503"},
        {"HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n", EX_UNAVAILABLE,
         "answers with 301"},
        {"220 mail.example ESMTP\r\n\r\n", EX_PROTOCOL, "no HTTP"},
        {"", EX_PROTOCOL, "no HTTP"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}", EX_PROTOCOL,
         "no HTTP"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct answering answering = answering_open(ANSWERING_ONCE,
                                                    cases[i].answer);

        assert_int_equal(fetch(answering_url(answering.port, "/s/"), ""),
                         cases[i].status);
        assert_why(cases[i].why);
        answering_close(&answering);
    }
}

TEST(says_when_nobody_listens)
{
    int port;
    int fd = answering_bind(&port);

    assert_int_equal(fetch(answering_url(port, ""), ""), EX_UNAVAILABLE);
    assert_why("127.0.0.1:");
    assert_why("cannot connect: Connection refused");
    close(fd);
    assert_int_equal(fetch("unix:/nowhere/s", ""), EX_UNAVAILABLE);
    assert_why("/nowhere/s: cannot connect: No such file");
}

TEST(says_when_a_name_is_not_known)
{
    resolved = EAI_NONAME;
    assert_int_equal(fetch("nobody.example", ""), EX_UNAVAILABLE);
    assert_why("nobody.example:80: cannot connect: Name or service not known");
}

TEST(gives_up_on_a_server_that_says_nothing)
{
    struct answering answering = answering_open(ANSWERING_MUTE, OK);

    step_ns = (TOP_FETCH_MS / 10 * 9) * UINT64_C(1000000);
    assert_int_equal(fetch(answering_url(answering.port, ""), ""),
                     EX_UNAVAILABLE);
    assert_why("timed out");
    answering_close(&answering);
}

TEST(gives_up_on_an_answer_that_takes_too_long_as_a_whole)
{
    struct answering answering = answering_open(ANSWERING_ENDLESS,
                                                "HTTP/1.1 200 OK\r\n\r\n");

    step_ns = (TOP_FETCH_MS / 20) * UINT64_C(1000000);
    assert_int_equal(fetch(answering_url(answering.port, ""), ""),
                     EX_UNAVAILABLE);
    assert_why("timed out");
    answering_close(&answering);
}

/* Fetches while so many bytes can be read, of which it gives up at the last. */
static int fetch_interrupted(const struct answering *answering, unsigned bytes,
                             unsigned last)
{
    int ends[2];
    int status;

    assert_int_equal(pipe(ends), 0);
    for (unsigned i = 0; i < bytes; i++)
        assert_int_equal(write(ends[1], "x", 1), 1);
    interrupt_fd = ends[0];
    interrupts_left = last;
    step_ns = 1; /* the time would never be over */
    status = fetch(answering_url(answering->port, ""), "{}");
    close(ends[0]);
    close(ends[1]);
    return status;
}

TEST(gives_up_when_told_to)
{
    struct answering answering = answering_open(ANSWERING_MUTE, OK);

    assert_int_equal(fetch_interrupted(&answering, 3, 3), EX_UNAVAILABLE);
    assert_why("canceled");
    answering_close(&answering);
}

TEST(goes_on_when_an_interruption_means_nothing)
{
    struct answering answering = answering_open(ANSWERING_ONCE, OK);

    assert_int_equal(fetch_interrupted(&answering, 1, 2), EX_OK);
    assert_int_equal(interrupts_left, 1);
    answering_close(&answering);
}

TEST(leaves_no_descriptor_open)
{
    struct answering answering = answering_open(ANSWERING_ONCE, OK);
    unsigned before = place_count_fds();

    for (int i = 0; i < 3; i++)
        assert_int_equal(fetch(answering_url(answering.port, ""), "{}"), EX_OK);
    assert_int_equal(fetch("unix:/nowhere/s", ""), EX_UNAVAILABLE);
    assert_int_equal(place_count_fds(), before);
    answering_close(&answering);
}

SUITE(.each_begin = set_up);
