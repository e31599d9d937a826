/*
 * The command itself: what it prints, what it exits with, where it listens.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "client.h"

/* The statuses of sysexits(3). */
enum { USAGE = 64, NO_INPUT = 66, UNAVAILABLE = 69, NO_PERMISSION = 77 };

E2E_BEGIN(start)
{
    site_text("../www/canary", "canary\n");
    site_text("../file", "no directory\n");
}

TEST(help_is_asked_for_and_goes_to_stdout)
{
    static const char *const names[] = {"--port",
                                        "--bind",
                                        "--listen",
                                        "--workers",
                                        "--schedule",
                                        "--chunk-size",
                                        "--send-method",
                                        "--cache-size",
                                        "--cache-entries",
                                        "--cache-policy",
                                        "--max-connections",
                                        "--max-requests-per-connection",
                                        "--keepalive-timeout",
                                        "--header-timeout",
                                        "--body-timeout",
                                        "--send-timeout",
                                        "--send-rate-min",
                                        "--drain-timeout",
                                        "--follow-symlinks",
                                        "--show-hidden",
                                        "--autoindex",
                                        "--cache-control",
                                        "--no-server-header",
                                        "--access-log",
                                        "--help",
                                        "--version",
                                        "-V",
                                        "8080",
                                        "srpt",
                                        "30s"};
    struct outcome outcome;

    RUN(&outcome, "--help");
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.err, "");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strstr(outcome.out, names[i]))
            flunk("--help does not tell about '%s'", names[i]);
    RUN(&outcome, "--port=0", "--help", "--nonsense"); /* whatever else */
    assert_true(outcome.status == 0 || outcome.status == USAGE);
}

TEST(commands_have_help_of_their_own)
{
    static const char *const names[] = {"top", "ctl",  "cache",
                                        "kv",  "acme", "tls"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct outcome outcome;
        struct outcome wrong;

        RUN(&outcome, names[i], "--help");
        assert_int_equal(outcome.status, 0);
        assert_string_equal(outcome.err, "");
        assert_int_equal(strncmp(outcome.out, "Usage:\n", 7), 0);
        assert_non_null(strstr(outcome.out, printed(" sprintd %s ", names[i])));
        RUN(&wrong, names[i], "--nonsense");
        assert_int_equal(wrong.status, USAGE);
        assert_string_equal(wrong.out, "");
        assert_int_not_equal(wrong.err[0], '\0');
    }
}

TEST(version_names_the_libraries)
{
    struct outcome one;
    struct outcome two;

    RUN(&one, "-V");
    RUN(&two, "--version");
    assert_int_equal(one.status, 0);
    assert_string_equal(one.out, two.out);
    assert_string_equal(one.err, "");
    assert_int_equal(strncmp(one.out, "sprintd ", 8), 0);
    assert_non_null(strstr(one.out, "libev 4."));
    assert_non_null(strstr(one.out, "http-parser 2."));
    assert_non_null(strstr(one.out, "1024")); /* one of the limits */
}

/* One line on stderr, beginning with the program's name, that says word. */
static void expect_complaint(const struct outcome *outcome, int status,
                             const char *word)
{
    const char *end = strchr(outcome->err, '\n');

    if (outcome->status != status)
        flunk("status %d, not %d: '%s'", outcome->status, status, outcome->err);
    if (outcome->out[0])
        flunk("it printed '%s'", outcome->out);
    if (strncmp(outcome->err, "sprintd: ", 9) != 0 || !end || end[1])
        flunk("not one line: '%s'", outcome->err);
    if (!strstr(outcome->err, word))
        flunk("no word of '%s': '%s'", word, outcome->err);
}

TEST(bad_options_are_named)
{
    static const struct {
        const char *argument;
        const char *word;
    } cases[] = {
        {"--nonsense", "--nonsense"},
        {"--prot=8080", "did you mean '--port'?"},
        {"--https=on", "--https"},
        {"--https=example.org,Yes", "--https"},
        {"-X", "X"},
        {"--port=65536", "--port"},
        {"--port=-1", "--port"},
        {"--port=abc", "--port"},
        {"--port=80x", "--port"},
        {"--port=", "--port"},
        {"--port", "--port"},
        {"--bind=nonsense", "--bind"},
        {"--bind=1.2.3", "--bind"},
        {"--listen=nonsense", "--listen"},
        {"--listen=127.0.0.1", "--listen"},
        {"--listen=127.0.0.1:99999", "--listen"},
        {"--listen=[::1", "--listen"},
        {"--listen=unix:", "--listen"},
        {"--workers=1025", "--workers"},
        {"--workers=-1", "--workers"},
        {"--workers=many", "--workers"},
        {"--schedule=lifo", "--schedule"},
        {"--schedule=SRPT2", "--schedule"},
        {"--chunk-size=0", "--chunk-size"},
        {"--chunk-size=1X", "--chunk-size"},
        {"--chunk-size=99999999999999999999", "--chunk-size"},
        {"--proxy-buffer=31K", "--proxy-buffer"},
        {"--send-method=magic", "--send-method"},
        {"--cache-size=-1", "--cache-size"},
        {"--cache-size=16777216T", "--cache-size"},
        {"--cache-entries=x", "--cache-entries"},
        {"--cache-policy=random", "--cache-policy"},
        {"--max-connections=-5", "--max-connections"},
        {"--max-requests-per-connection=1.5", "--max-requests-per-connection"},
        {"--keepalive-timeout=soon", "--keepalive-timeout"},
        {"--header-timeout=-1", "--header-timeout"},
        {"--body-timeout=1h30", "--body-timeout"},
        {"--send-timeout=", "--send-timeout"},
        {"--send-rate-min=fast", "--send-rate-min"},
        {"--drain-timeout=nan", "--drain-timeout"},
        {"--drain-timeout=inf", "--drain-timeout"},
        {"--drain-timeout=1e400", "--drain-timeout"},
        {"--cache-control=a\x01"
         "b",
         "--cache-control"},
        {"--autoindex=perhaps", "--autoindex"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct outcome outcome;

        going_on("%s", cases[i].argument);
        RUN(&outcome, cases[i].argument);
        expect_complaint(&outcome, USAGE, cases[i].word);
    }
}

TEST(there_is_one_root)
{
    struct outcome outcome;
    struct server *one;

    RUN(&outcome, "--port=0", "one", "two");
    expect_complaint(&outcome, USAGE, "two");
    RUN(&outcome, "--port=0", "nowhere");
    expect_complaint(&outcome, NO_INPUT, "nowhere");
    RUN(&outcome, "--port=0", "file");
    expect_complaint(&outcome, NO_INPUT, "file");
    RUN(&outcome, "--port=0", "file/below");
    expect_complaint(&outcome, NO_INPUT, "file/below");
    /* "www" where it starts, when none is named. */
    one = server_start(&(struct launch){.root = ""},
                       (const char *const[]){NULL});
    client_expect_usable(client_open(one));
    server_run(&(struct launch){.root = "", .folder = "/", .is_bare = true},
               (const char *const[]){"--port=0", NULL}, &outcome);
    if (access("/www", F_OK) == -1)
        expect_complaint(&outcome, NO_INPUT, "www");
}

TEST(a_root_that_must_not_be_read_is_77)
{
    struct outcome outcome;

    site_folder("../closed");
    site_folder("../locked/inside");
    site_mode("../closed", 0);
    site_mode("../locked", 0);
    server_run(&(struct launch){.root = "", .as_nobody = true, .is_bare = true},
               (const char *const[]){"--port=0", "closed", NULL}, &outcome);
    expect_complaint(&outcome, NO_PERMISSION, "closed");
    server_run(&(struct launch){.root = "", .as_nobody = true, .is_bare = true},
               (const char *const[]){"--port=0", "locked/inside", NULL},
               &outcome);
    expect_complaint(&outcome, NO_PERMISSION, "locked/inside");
    site_mode("../closed", 0755); /* so that it can be removed */
    site_mode("../locked", 0755);
}

TEST(an_address_that_cannot_be_had_is_69)
{
    struct server *one = START(NULL);
    struct outcome outcome;

    RUN(&outcome, "--bind=127.0.0.1", printed("--port=%u", one->port), site());
    expect_complaint(&outcome, UNAVAILABLE, "--port");
    if (!strstr(outcome.err, printed("%u", one->port)))
        flunk("no word of the port: '%s'", outcome.err);
    RUN(&outcome, printed("--listen=127.0.0.1:%u", one->port), site());
    expect_complaint(&outcome, UNAVAILABLE, "--listen");
    RUN(&outcome, "--bind=192.0.2.1", "--port=0", site()); /* TEST-NET-1 */
    expect_complaint(&outcome, UNAVAILABLE, "192.0.2.1");
    client_expect_usable(client_open(one));
}

TEST(an_access_log_that_cannot_be_written_is_said)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--access-log=nowhere/log", site());
    assert_int_not_equal(outcome.status, 0);
    expect_complaint(&outcome, outcome.status, "--access-log");
}

TEST(it_says_where_it_serves_what)
{
    struct server *one = START("--workers=3", "--schedule=fair");

    assert_string_equal(
        one->banner,
        printed("sprintd: serving %s at http://127.0.0.1:%u/ (3 workers, "
                "schedule fair)",
                site(), one->port));
}

/* --- Where it listens ---------------------------------------------------- */

static struct client *open_ipv6(unsigned port)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)port),
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    return client_open_to((struct sockaddr *)&address, sizeof(address));
}

static bool has_ipv6(void)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = fd != -1 &&
               bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    if (fd != -1)
        close(fd);
    return has;
}

TEST(by_default_it_listens_on_all_addresses)
{
    struct server *one = server_start(&(struct launch){.is_bare = true},
                                      (const char *const[]){"--port=0", NULL});

    client_expect_usable(client_open(one));
    if (has_ipv6()) {
        struct client *client = open_ipv6(one->port);

        assert_non_null(client);
        client_expect_usable(client);
    }
}

TEST(it_listens_on_several_addresses)
{
    const char *path = printed("%s/several", folder());
    struct server *one = START("--listen=127.0.0.1:0", "--listen=127.0.0.2:0",
                               printed("--listen=unix:%s", path));
    char line[512];
    const char *port;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(0x7f000002)};

    assert_true(server_line(one, line, sizeof(line)));
    port = strstr(line, "http://127.0.0.2:");
    assert_non_null(port);
    address.sin_port = htons((uint16_t)strtoul(port + 17, NULL, 10));
    assert_true(server_line(one, line, sizeof(line)));
    assert_non_null(strstr(line, printed("at unix:%s ", path)));
    client_expect_usable(client_open(one));
    client_expect_usable(client_open_to((struct sockaddr *)&address,
                                        sizeof(address)));
    client_expect_usable(client_open_unix(path));
    if (has_ipv6()) {
        struct server *six = START("--listen=[::1]:0");

        assert_non_null(strstr(six->banner, "http://[::1]:"));
        client_expect_usable(open_ipv6(six->port));
    }
}

TEST(a_stale_socket_is_replaced_and_a_live_one_is_not)
{
    const char *path = printed("%s/live", folder());
    const char *listen = printed("--listen=unix:%s", path);
    struct server *one = START(listen);
    struct server *again;
    struct outcome outcome;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int stale;

    RUN(&outcome, listen, site());
    expect_complaint(&outcome, UNAVAILABLE, path);
    client_expect_usable(client_open_unix(path));
    server_signal(one, 9); /* leaves its socket behind */
    server_wait(one, patience(5000));
    again = START(listen);
    client_expect_usable(client_open_unix(path));
    server_stop(again);

    /* One that somebody bound and nobody listens on. */
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/bound", folder());
    stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stale, (struct sockaddr *)&address, sizeof(address)),
                     0);
    close(stale);
    START(printed("--listen=unix:%s", address.sun_path));
    client_expect_usable(client_open_unix(address.sun_path));
}

TEST(a_file_is_not_taken_for_a_stale_socket)
{
    struct outcome outcome;

    site_text("../precious", "precious\n");
    site_link("../precious-link", "precious");
    RUN(&outcome, "--listen=unix:precious", site());
    expect_complaint(&outcome, UNAVAILABLE, "precious");
    RUN(&outcome, "--listen=unix:precious-link", site());
    expect_complaint(&outcome, UNAVAILABLE, "precious-link");
    assert_string_equal(read_text(printed("%s/precious", folder()), NULL),
                        "precious\n");
    RUN(&outcome, printed("--listen=unix:%0200d", 1), site()); /* 108 at most */
    assert_true(outcome.status == USAGE || outcome.status == UNAVAILABLE);
    expect_complaint(&outcome, outcome.status, "--listen");
}

E2E_SUITE(start);
