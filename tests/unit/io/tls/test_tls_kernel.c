#include "io/tls/tls_kernel.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/select.h>

#include "io/tls/tls_priv.h"
#include "unit/tls_pair.h"

/*
 * Connections whose records the kernel makes. Where it has no TLS there is
 * nothing to test, and that is said; that it is done here then is tested
 * everywhere.
 */

enum { LARGE = 1 << 20, SMALL = 1000 };

static char large[LARGE];
static char received[LARGE + SMALL];

static void expect_kernel(void)
{
    if (tls_kernel_is_there())
        return;
    print_message("this kernel has no TLS (CONFIG_TLS)\n");
    skip();
}

static int make_file(void)
{
    char name[] = "/tmp/tls.XXXXXX";
    int file = mkstemp(name);

    assert_true(file >= 0);
    unlink(name);
    assert_int_equal(write(file, large, LARGE), LARGE);
    return file;
}

static void connect_both(int fds[2])
{
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(there);
    int listening = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(listening, (struct sockaddr *)&there, len), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&there, &len),
                     0);
    fds[1] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fds[1], (struct sockaddr *)&there, len), 0);
    fds[0] = accept4(listening, NULL, NULL, SOCK_NONBLOCK);
    assert_true(fds[0] >= 0);
    close(listening);
}

/* Bytes take a moment over TCP, even to one's own machine. */
static void wait_for(int fd)
{
    struct timeval patience = {.tv_sec = 20};
    fd_set set;

    FD_ZERO(&set);
    FD_SET(fd, &set);
    assert_int_equal(select(fd + 1, &set, NULL, NULL, &patience), 1);
}

static void open_over_tcp(struct pair *pair)
{
    enum io_result result = IO_AGAIN_READ;
    int fds[2];

    connect_both(fds);
    pair_begin_on(pair, fds[0], fds[1]);
    (void)SSL_do_handshake(pair->client);
    while (result == IO_AGAIN_READ) {
        if (pair_push(pair, SIZE_MAX) > 0)
            wait_for(pair->fd);
        result = tls_handshake(pair->tls);
        if (result == IO_AGAIN_READ) {
            wait_for(pair->far_fd);
            assert_int_equal(fcntl(pair->far_fd, F_SETFL, O_NONBLOCK), 0);
            (void)pair_pull(pair, SIZE_MAX);
            (void)SSL_do_handshake(pair->client);
        }
    }
    assert_int_equal(result, IO_DONE);
}

/* What the client gets, up to so many bytes. */
static void read_so_many(struct pair *pair, char *data, size_t len)
{
    size_t got = 0;

    while (got < len) {
        size_t n = len - got;

        pair_read(pair, data + got, &n);
        got += n;
        if (n == 0) {
            wait_for(pair->far_fd);
        }
    }
}

/* Sends the file, and what the client takes of it meanwhile goes to
 * received. */
static void send_file(struct pair *pair, int file)
{
    size_t at = 0;
    size_t got = 0;

    while (at < LARGE) {
        size_t sent = 0;
        size_t n = LARGE - got;
        enum io_result result = tls_send_file(pair->tls, file, at, LARGE - at,
                                              &sent);

        assert_true(result == IO_DONE || result == IO_AGAIN_WRITE);
        at += sent;
        pair_read(pair, received + got, &n);
        got += n;
    }
    read_so_many(pair, received + got, LARGE - got);
    assert_memory_equal(received, large, LARGE);
}

static void send_text(struct pair *pair, const char *text)
{
    struct iovec parts[2] = {{(char *)(uintptr_t)text, 3},
                             {(char *)(uintptr_t)text + 3, strlen(text) - 3}};
    size_t sent;

    assert_int_equal(tls_send(pair->tls, parts, 2, false, &sent), IO_DONE);
    assert_int_equal(sent, strlen(text));
    read_so_many(pair, received, sent);
    assert_memory_equal(received, text, sent);
}

TEST(what_the_kernel_cannot_do_is_done_here)
{
    int file = make_file();
    struct pair pair;

    pair_open(&pair); /* over a socket that has no TCP */
    send_file(&pair, file);
    assert_true(pair.tls->taken->has_tried);
    assert_false(pair.tls->taken->by_kernel);
    send_text(&pair, "behind it");
    pair_end(&pair);
    close(file);
}

TEST(large_files_are_the_kernel_s_with_each_suite)
{
    static const char *const names[] = {"TLS_AES_128_GCM_SHA256",
                                        "TLS_AES_256_GCM_SHA384",
                                        "TLS_CHACHA20_POLY1305_SHA256"};
    int file = make_file();
    struct pair pair;

    expect_kernel();
    for (size_t i = 0; i < 3; i++) {
        SSL_CTX_set_ciphersuites(pair_client, names[i]);
        open_over_tcp(&pair);
        send_text(&pair, "before it");
        assert_false(pair.tls->taken->has_tried);
        send_file(&pair, file);
        assert_true(pair.tls->taken->has_tried);
        /* Kernels have AES-GCM whenever they have TLS. */
        assert_true(pair.tls->taken->by_kernel || i == 2);
        send_text(&pair, "behind it");
        send_file(&pair, file);
        assert_false(tls_has_kept(pair.tls));
        assert_false(tls_has_owed(pair.tls));
        pair_end(&pair);
    }
    SSL_CTX_set_ciphersuites(pair_client, TLS_DEFAULT_CIPHERSUITES);
    close(file);
}

TEST(the_kernel_sends_the_end_as_an_alert)
{
    int file = make_file();
    struct pair pair;
    char data[10];
    size_t len;

    expect_kernel();
    open_over_tcp(&pair);
    send_file(&pair, file);
    assert_true(pair.tls->taken->by_kernel);
    assert_int_equal(tls_shut_down(pair.tls), IO_DONE);
    wait_for(pair.far_fd);
    (void)pair_pull(&pair, SIZE_MAX);
    assert_int_equal(SSL_read(pair.client, data, sizeof(data)), 0);
    assert_int_equal(SSL_get_error(pair.client, 0), SSL_ERROR_ZERO_RETURN);
    /* The other way is ours, and still open. */
    assert_int_equal(SSL_write(pair.client, "more", 4), 4);
    (void)pair_push(&pair, SIZE_MAX);
    wait_for(pair.fd);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 4);
    pair_end(&pair);
    close(file);
}

TEST(a_new_key_is_more_than_the_kernel_can_do)
{
    int file = make_file();
    struct pair pair;
    char data[10];
    size_t len;
    int returned;

    expect_kernel();
    open_over_tcp(&pair);
    send_file(&pair, file);
    SSL_key_update(pair.client, SSL_KEY_UPDATE_REQUESTED);
    assert_int_equal(SSL_write(pair.client, "more", 4), 4);
    (void)pair_push(&pair, SIZE_MAX);
    wait_for(pair.fd);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                     IO_FAILED);
    wait_for(pair.far_fd);
    (void)pair_pull(&pair, SIZE_MAX);
    returned = SSL_read(pair.client, data, sizeof(data));
    assert_int_equal(SSL_get_error(pair.client, returned), SSL_ERROR_SSL);
    pair_end(&pair);
    close(file);
}

/* Which is 400 GB: they are said to have gone. The socket has no keys here, and
 * sends what it is given. */
TEST(a_key_that_cannot_change_is_used_for_no_more_than_it_may_be)
{
    int file = make_file();
    struct pair pair;
    struct iovec part = {large, TLS_RECORD_BYTES + 1};
    size_t sent;

    pair_open(&pair);
    pair.tls->taken->out.sequence = TLS_RECORDS_DUE;
    assert_false(tls_is_worn(pair.tls)); /* since it can change */
    pair.tls->taken->by_kernel = true;
    pair.tls->taken->out.sequence = TLS_RECORDS_DUE - 2;
    assert_false(tls_is_worn(pair.tls));
    assert_int_equal(tls_send(pair.tls, &part, 1, false, &sent), IO_DONE);
    assert_int_equal(sent, TLS_RECORD_BYTES + 1);
    assert_int_equal(pair.tls->taken->out.sequence, TLS_RECORDS_DUE);
    assert_true(tls_is_worn(pair.tls));
    pair.tls->taken->out.sequence = TLS_RECORDS_MAX - 2;
    assert_int_equal(tls_send_file(pair.tls, file, 0, TLS_RECORD_BYTES, &sent),
                     IO_DONE);
    assert_int_equal(tls_send_file(pair.tls, file, 0, 1, &sent), IO_FAILED);
    part.iov_len = 1;
    assert_int_equal(tls_send(pair.tls, &part, 1, false, &sent), IO_FAILED);
    assert_int_equal(sent, 0);
    pair_end(&pair);
    close(file);
}

static int set_up(void **state)
{
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (char)('a' + i % 23 + i / 4096 % 3);
    if (pair_set_up(state) != 0)
        return -1;
    tls_table_use_kernel(pair_table);
    return 0;
}

SUITE(.begin = set_up, .end = pair_tear_down);
