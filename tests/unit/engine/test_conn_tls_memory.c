#include "unit/engine/conn_fixture.h"

#include <malloc.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "unit/tls_pair.h"

/*
 * What a connection over TLS costs in memory: the heap of this process while
 * clients in another one have so many of them open. Of an idle one 2.3 KiB are
 * two ciphers of OpenSSL's; with its SSL it would be 13.8
 * (io/tls/tls_takeover). What an answer under way holds is the same with and
 * without TLS, but for a part of a record at most.
 */
enum {
    CLIENTS = 200,
    IDLE_BYTES_MAX = 4096,
    KEPT_BYTES_MAX = 2048,
    UNREAD_BYTES_MAX = 12288
};

static int listening;
static struct sockaddr_un there = {.sun_family = AF_UNIX};

static void fail_child(bool is_well)
{
    if (!is_well)
        _exit(1);
}

/* Connects them all, has each send a request and read so much of its answer,
 * says so, and waits until it is ended. */
static void run_clients(const char *request, size_t read_bytes, bool is_tls,
                        int told)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    for (int i = 0; i < CLIENTS; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        SSL *ssl = SSL_new(context);
        char data[4096];
        size_t got = 0;

        fail_child(connect(fd, (struct sockaddr *)&there, sizeof(there)) == 0);
        if (!is_tls) {
            fail_child(send(fd, request, strlen(request), 0) > 0 &&
                       recv(fd, data, read_bytes, MSG_WAITALL) > 0);
            continue;
        }
        SSL_set_fd(ssl, fd);
        fail_child(SSL_connect(ssl) == 1);
        fail_child(SSL_write(ssl, request, (int)strlen(request)) > 0);
        while (got < read_bytes) {
            int n = SSL_read(ssl, data, (int)(read_bytes - got));

            fail_child(n > 0);
            got += (size_t)n;
        }
    }
    fail_child(write(told, "", 1) == 1);
    pause();
}

static pid_t fork_clients(const char *request, size_t read_bytes, bool is_tls,
                          int *told)
{
    int pipe_fds[2];
    pid_t pid;

    assert_int_equal(pipe(pipe_fds), 0);
    pid = fork();
    if (pid == 0) {
        run_clients(request, read_bytes, is_tls, pipe_fds[1]);
        _exit(0);
    }
    close(pipe_fds[1]);
    *told = pipe_fds[0];
    fcntl(*told, F_SETFL, O_NONBLOCK);
    return pid;
}

static void take_connections(bool is_tls)
{
    int fd;

    while ((fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK)) != -1)
        conn_set_open(&set, &(struct mail){.fd = fd,
                                           .peer = client_peer,
                                           .is_tls = is_tls});
}

/* Bytes of the heap per connection. */
static size_t measure(const char *request, size_t read_bytes, bool is_tls)
{
    size_t before, held;
    int told;
    pid_t pid;
    char byte;

    set.shared.tls = pair_context;
    set.shared.context.limits.quantum = 524288;
    assert_int_equal(sched_reserve(&set.shared.sched, CLIENTS), 0);
    pid = fork_clients(request, read_bytes, is_tls, &told);
    /* What the first one makes is all connections'. */
    while (set.count == 0 || !list_is_empty(&set.shared.shaking)) {
        take_connections(is_tls);
        turn();
    }
    before = mallinfo2().uordblks;
    for (held = set.count; read(told, &byte, 1) != 1;) {
        take_connections(is_tls);
        turn();
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    }
    for (int i = 0; i < 100; i++)
        turn();
    assert_int_equal(set.count, CLIENTS);
    held = (mallinfo2().uordblks - before) / (CLIENTS - held);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(told);
    return held;
}

/* A sanitizer has its own heap, of which mallinfo2() tells nothing; and its
 * locks are as another thread had them for who is forked. */
static void expect_heap(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
}

TEST(an_idle_connection_is_small)
{
    size_t bytes;

    expect_heap();
    bytes = measure(GET("/small"), 100, true);
    print_message("an idle connection: %zu bytes\n", bytes);
    assert_true(bytes <= IDLE_BYTES_MAX);
}

TEST(one_that_does_not_read_holds_little_more)
{
    size_t clear, bytes;

    expect_heap();
    clear = measure(GET("/large"), 1, false) + IDLE_BYTES_MAX;
    (void)tear_down(state);
    assert_int_equal(set_up(state), 0);
    bytes = measure(GET("/large"), 1, true);
    print_message("one that does not read: %zu bytes\n", bytes);
    assert_true(bytes <= clear + KEPT_BYTES_MAX);
    assert_true(bytes <= UNREAD_BYTES_MAX);
}

static int set_up_all(void **state)
{
    snprintf(there.sun_path, sizeof(there.sun_path), "/tmp/tls-%d.sock",
             (int)getpid());
    listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    return bind(listening, (struct sockaddr *)&there, sizeof(there)) == 0 &&
                   listen(listening, CLIENTS) == 0
               ? pair_set_up(state)
               : -1;
}

static int tear_down_all(void **state)
{
    close(listening);
    unlink(there.sun_path);
    return pair_tear_down(state);
}

SUITE(.begin = set_up_all, .end = tear_down_all, .each_begin = set_up,
      .each_end = tear_down);
