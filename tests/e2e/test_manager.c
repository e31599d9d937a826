/*
 * A service manager, such as systemd: what it is told, and the sockets that it
 * opens.
 */
#include "client.h"
#include "operator.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

enum { QUICK_MS = 2000 };

static struct server *start_controlled(void)
{
    return START("--control", control_path());
}

TEST(the_manager_hears_how_it_is)
{
    int manager = manager_open();
    struct server *one = start_controlled();
    char message[512];

    assert_true(manager_hears(manager, "READY=1", message, sizeof(message)));
    assert_non_null(strstr(message, printed("MAINPID=%d", one->pid)));
    ctl_ok("reload");
    assert_true(manager_hears(manager, "RELOADING=1", message,
                              sizeof(message)));
    assert_non_null(strstr(message, "MONOTONIC_USEC="));
    assert_true(manager_hears(manager, "READY=1", message, sizeof(message)));
    server_signal(one, SIGTERM);
    assert_true(manager_hears(manager, "STOPPING=1", message, sizeof(message)));
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    manager_close(manager);
}

TEST(the_watchdog_is_fed)
{
    int manager = manager_open();
    char message[512];

    setenv("WATCHDOG_USEC", "4000000", 1);
    START(NULL);
    for (int i = 0; i < 3; i++)
        assert_true(manager_hears(manager, "WATCHDOG=1", message,
                                  sizeof(message)));
    manager_close(manager);
}

/* A socket that somebody listens on already, and its port. */
static int listen_somewhere(unsigned *port_out)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port_out = ntohs(address.sin_port);
    return fd;
}

TEST(sockets_of_the_manager_are_served)
{
    unsigned port;
    int fd = listen_somewhere(&port);
    struct launch launch = {.is_bare = true, .listener = fd};
    const char *const arguments[] = {"--control", control_path(), NULL};
    struct server *one = server_start(&launch, arguments);

    assert_int_equal(one->port, port);
    expect_status(get(one, "/canary"), 200);
    ctl_ok("reload"); /* which leaves them alone */
    expect_status(get(one, "/canary"), 200);
    close(fd);
}

TEST(a_connection_starts_it)
{
    static const char tool[] = "/usr/bin/systemd-socket-activate";
    struct server fake = {.address = "127.0.0.1"};
    const char *program = getenv("SPRINTD");
    pid_t pid;

    if (access(tool, X_OK) == -1)
        skip();
    close(listen_somewhere(&fake.port));
    pid = fork();
    if (pid == 0) {
        char where[32];
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        snprintf(where, sizeof(where), "127.0.0.1:%u", fake.port);
        execl(tool, tool, "-l", where, "--fdname=http", program, site(), NULL);
        _exit(127);
    }
    assert_true(eventually(
        ({
            struct sockaddr_in to = {.sin_family = AF_INET,
                                     .sin_port = htons((uint16_t)fake.port),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
            struct client *client = client_open_to((struct sockaddr *)&to,
                                                   sizeof(to));
            bool is_there = client;

            if (client) {
                expect_status(client_ask(client, "GET", "/canary", ""), 200);
                client_close(client);
            }
            is_there;
        }),
        10000));
    kill(pid, SIGTERM);
    assert_true(process_ends(pid));
}

SUITE(.begin = operator_begin, .end = harness_end,
      .each_end = operator_after_test);
