/* link: -Wl,--wrap=socket_ask_path,--wrap=socket_count_passing */
#include "io/socket_state.h"
#include "io/tls/tls_priv.h"
#include "unit/tls_pair.h"
#include "wrap.h"

enum { LARGE = 1 << 20 };

static uint32_t passing;

WRAP(uint32_t, socket_count_passing, int fd, uint32_t unsent_max)
{
    (void)fd;
    (void)unsent_max;
    return passing;
}

static char large[LARGE];
static char received[LARGE + 1];

static void fill_large(void)
{
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (char)('a' + i % 23 + i / 4096 % 3);
}

static void open_small(struct pair *pair, int bytes)
{
    pair_open(pair);
    (void)pair_pull(pair, SIZE_MAX);
    assert_int_equal(setsockopt(pair->fd, SOL_SOCKET, SO_SNDBUF, &bytes,
                                sizeof(bytes)),
                     0);
}

/* Counts the records that wait for the client; *bytes_out: their bytes. */
static size_t count_records(const struct pair *pair, size_t *bytes_out)
{
    static unsigned char wire[LARGE];
    ssize_t n = recv(pair->far_fd, wire, sizeof(wire), MSG_PEEK);
    size_t count = 0;
    size_t at = 0;

    while (n > 0 && at + 5 <= (size_t)n) {
        at += 5 + (size_t)(wire[at + 3] << 8 | wire[at + 4]);
        count++;
    }
    *bytes_out = n > 0 ? (size_t)n : 0;
    return count;
}

static int make_file(size_t len)
{
    char name[] = "/tmp/tls.XXXXXX";
    int file = mkstemp(name);

    assert_true(file >= 0);
    unlink(name);
    assert_int_equal(write(file, large, len), len);
    return file;
}

TEST(head_and_body_share_a_record)
{
    struct iovec parts[] = {{large, 300}, {large + 300, 1}, {large + 301, 900}};
    char data[2000];
    struct pair pair;
    size_t len, wire, sent;

    pair_open(&pair);
    assert_int_equal(tls_send(pair.tls, parts, 3, false, &sent), IO_DONE);
    assert_int_equal(sent, 1201);
    assert_int_equal(count_records(&pair, &wire), 1);
    assert_int_equal(wire, tls_wire_bytes(pair.tls, 1201));
    len = sizeof(data);
    pair_read(&pair, data, &len);
    assert_int_equal(len, 1201);
    assert_memory_equal(data, large, len);
    pair_end(&pair);
}

TEST(bytes_on_the_wire_are_foretold)
{
    static const struct {
        int version;
        const char *ciphers; /* of TLS 1.2 */
        size_t extra;
    } cases[] = {{TLS1_3_VERSION, "DEFAULT", 22},
                 {TLS1_2_VERSION, "ECDHE+AESGCM", 29},
                 {TLS1_2_VERSION, "ECDHE+CHACHA20", 21}};
    struct iovec part = {large, 40000};
    struct pair pair;
    size_t wire, sent;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pair_limit_version(cases[i].version, cases[i].version);
        SSL_CTX_set_cipher_list(pair_client, cases[i].ciphers);
        pair_open(&pair);
        assert_int_equal(tls_send(pair.tls, &part, 1, false, &sent), IO_DONE);
        assert_int_equal(sent, 40000);
        assert_int_equal(count_records(&pair, &wire), 3);
        assert_int_equal(wire, 40000 + 3 * cases[i].extra);
        assert_int_equal(tls_wire_bytes(pair.tls, 40000), wire);
        assert_int_equal(tls_payload_bytes(pair.tls, wire), 40000);
        assert_int_equal(tls_payload_bytes(pair.tls, cases[i].extra), 0);
        assert_int_equal(tls_payload_bytes(pair.tls, cases[i].extra + 1), 1);
        pair_end(&pair);
    }
    pair_limit_version(0, 0);
    SSL_CTX_set_cipher_list(pair_client, "DEFAULT");
}

/* Sends all of large in offers of at most so many bytes while the client takes
 * it slowly. */
static void send_all(struct pair *pair, int file, size_t offer, size_t pull)
{
    size_t at = 0;
    size_t len;
    size_t read = 0;

    for (int i = 0; i < 100000 && read < LARGE; i++) {
        size_t want = LARGE - at < offer ? LARGE - at : offer;
        struct iovec parts[2] = {{large + at, want / 3},
                                 {large + at + want / 3, want - want / 3}};
        size_t sent = 0;
        enum io_result result = IO_AGAIN_WRITE;

        if (want > 0 && file >= 0)
            result = tls_send_file(pair->tls, file, at, want, &sent);
        else if (want > 0)
            result = tls_send(pair->tls, parts, 2, false, &sent);
        assert_true(result == IO_DONE || result == IO_AGAIN_WRITE);
        assert_true(result == IO_DONE ? sent > 0 && sent <= want : sent == 0);
        assert_true(pair->tls->kept_len <=
                    TLS_RECORD_BYTES + TLS_RECORD_EXTRA_MAX);
        at += sent;
        (void)pair_pull(pair, pull);
        len = sizeof(received) - read;
        while (SSL_read_ex(pair->client, received + read, len, &len) == 1) {
            read += len;
            len = sizeof(received) - read;
        }
        /* What the client has whole is sent, or owed. */
        assert_true(read <= at + pair->tls->owed);
    }
    assert_int_equal(read, LARGE);
    assert_int_equal(at, LARGE);
    assert_memory_equal(received, large, LARGE);
    assert_false(tls_has_kept(pair->tls));
    assert_false(tls_has_owed(pair->tls));
}

TEST(what_a_full_socket_leaves_is_kept_and_goes_first)
{
    static const size_t offers[] = {LARGE, 70000, 16384, 5000, 100};
    static const size_t pulls[] = {100000, 3000, 500};
    struct pair pair;

    for (size_t i = 0; i < sizeof(offers) / sizeof(*offers); i++)
        for (size_t j = 0; j < sizeof(pulls) / sizeof(*pulls); j++) {
            open_small(&pair, 4608);
            send_all(&pair, -1, offers[i], pulls[j]);
            pair_end(&pair);
        }
}

/* What waits in a socket can be overtaken no more, nor what is kept for it. */
TEST(what_may_not_wait_in_the_socket_is_not_encrypted)
{
    enum { SMALL = 2048 };
    struct iovec part = {large, 100000};
    struct pair pair;
    size_t sent;

    pair_open(&pair);
    passing = 0;
    assert_int_equal(tls_send(pair.tls, &part, 1, false, &sent), IO_DONE);
    assert_int_equal(sent, part.iov_len);
    tls_limit_unsent(pair.tls, 65536);
    assert_int_equal(tls_send(pair.tls, &part, 1, false, &sent), IO_DONE);
    assert_int_equal(sent, SMALL);
    passing = LARGE;
    assert_int_equal(tls_send(pair.tls, &part, 1, false, &sent), IO_DONE);
    assert_true(sent > SMALL);
    pair_end(&pair);
}

TEST(a_file_comes_as_it_is)
{
    int file = make_file(LARGE);
    struct pair pair;

    pair_open(&pair);
    send_all(&pair, file, LARGE, 1000000);
    pair_end(&pair);
    open_small(&pair, 4608);
    send_all(&pair, file, 100000, 3000);
    pair_end(&pair);
    close(file);
}

TEST(a_file_that_has_become_shorter_ends)
{
    int file = make_file(20000);
    struct pair pair;
    size_t sent;

    pair_open(&pair);
    assert_int_equal(tls_send_file(pair.tls, file, 0, 50000, &sent), IO_DONE);
    assert_int_equal(sent, 20000);
    assert_int_equal(tls_send_file(pair.tls, file, 20000, 30000, &sent),
                     IO_EOF);
    assert_int_equal(sent, 0);
    close(file);
    assert_int_equal(tls_send_file(pair.tls, file, 0, 50000, &sent), IO_FAILED);
    assert_int_equal(errno, EBADF);
    pair_end(&pair);
}

/* A budget can be less than what is owed. */
TEST(what_is_owed_is_reported_piece_by_piece)
{
    struct iovec part = {large, 16384};
    struct pair pair;
    size_t sent;
    size_t reported = 0;
    size_t wire;

    open_small(&pair, 4608);
    while (!tls_has_owed(pair.tls)) {
        enum io_result result = tls_send(pair.tls, &part, 1, false, &sent);

        assert_true(result == IO_DONE || result == IO_AGAIN_WRITE);
    }
    assert_int_equal(pair.tls->owed, 16384);
    do
        (void)pair_pull(&pair, SIZE_MAX);
    while (tls_send(pair.tls, &(struct iovec){large, 1}, 1, false, &sent) ==
           IO_AGAIN_WRITE);
    assert_int_equal(sent, 1);
    (void)pair_pull(&pair, SIZE_MAX);
    for (reported = 1; reported < 16384; reported += sent) {
        struct iovec rest = {large + reported, 1000};

        assert_int_equal(tls_send(pair.tls, &rest, 1, false, &sent), IO_DONE);
    }
    /* The last offer was larger than what was owed. */
    assert_int_equal(reported, 17000 / 1000 * 1000 + 1);
    assert_int_equal(count_records(&pair, &wire), 1);
    assert_int_equal(wire, tls_wire_bytes(pair.tls, reported - 16384));
    pair_end(&pair);
}

/* A client that wants keys updated again and again, and takes nothing: what it
 * says is heard, and it is answered once. */
TEST(keys_are_not_updated_while_something_is_kept)
{
    struct iovec part = {large, 16384};
    char data[1000];
    struct pair pair;
    size_t kept, len;

    open_small(&pair, 4608);
    while (!tls_has_kept(pair.tls))
        (void)!tls_send(pair.tls, &part, 1, false, &len);
    kept = pair.tls->kept_len;
    for (int i = 0; i < 50; i++) {
        SSL_key_update(pair.client, SSL_KEY_UPDATE_REQUESTED);
        assert_int_equal(SSL_write(pair.client, "after", 5), 5);
        (void)pair_push(&pair, SIZE_MAX);
        assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                         IO_DONE);
        assert_int_equal(len, 5);
    }
    assert_true(pair.tls->kept_len <= kept);
    assert_true(pair.tls->taken->owes_update);
    while (tls_send(pair.tls, &part, 1, false, &len) != IO_DONE)
        (void)pair_pull(&pair, SIZE_MAX);
    assert_false(pair.tls->taken->owes_update);
    len = sizeof(received);
    pair_read(&pair, received, &len);
    assert_int_equal(SSL_get_error(pair.client, -1), SSL_ERROR_WANT_READ);
    pair_end(&pair);
}

/* Connections of TLS 1.2 are OpenSSL's to their end. */
TEST(what_openssl_has_made_is_kept_and_goes_first_too)
{
    struct iovec part = {large, 16384};
    char data[1000];
    struct pair pair;
    size_t len;

    pair_limit_version(TLS1_2_VERSION, TLS1_2_VERSION);
    open_small(&pair, 4608);
    send_all(&pair, -1, 70000, 3000);
    while (!tls_has_kept(pair.tls))
        (void)!tls_send(pair.tls, &part, 1, false, &len);
    assert_int_equal(SSL_write(pair.client, "after", 5), 5);
    (void)pair_push(&pair, SIZE_MAX);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 5);
    pair_end(&pair);
    pair_limit_version(0, 0);
}

TEST(the_end_waits_for_what_is_kept)
{
    struct iovec part = {large, 16384};
    struct pair pair;
    size_t sent;
    enum io_result result;
    size_t n;

    open_small(&pair, 4608);
    while (!tls_has_kept(pair.tls))
        (void)!tls_send(pair.tls, &part, 1, false, &sent);
    assert_int_equal(tls_shut_down(pair.tls), IO_AGAIN_WRITE);
    do
        (void)pair_pull(&pair, SIZE_MAX);
    while ((result = tls_shut_down(pair.tls)) == IO_AGAIN_WRITE);
    assert_int_equal(result, IO_DONE);
    (void)pair_pull(&pair, SIZE_MAX);
    while (SSL_read_ex(pair.client, received, sizeof(received), &n) == 1)
        ;
    assert_int_equal(SSL_get_error(pair.client, 0), SSL_ERROR_ZERO_RETURN);
    pair_end(&pair);
}

static int set_up(void **state)
{
    fill_large();
    return pair_set_up(state);
}

/* --- Long ways ----------------------------------------------------------- */

static struct socket_path way; /* round trip 0: there is none */

WRAP(bool, socket_ask_path, int fd, struct socket_path *path_out)
{
    (void)fd;
    *path_out = way;
    return way.rtt_us > 0;
}

/* Sends so much, and counts the records that it took. */
static size_t count_sent(struct pair *pair, size_t len)
{
    struct iovec part = {large, len};
    size_t at = 0;
    size_t count, wire;

    while (at < len) {
        size_t sent;

        part.iov_base = large + at;
        part.iov_len = len - at;
        assert_int_equal(tls_send(pair->tls, &part, 1, false, &sent), IO_DONE);
        at += sent;
    }
    count = count_records(pair, &wire);
    pair_pull(pair, SIZE_MAX);
    return count;
}

TEST(what_comes_first_on_a_long_way_comes_in_segments)
{
    enum { SEGMENT = 1448, EXTRA = 22, FIRST = 10 * (SEGMENT - EXTRA) };
    struct pair pair;

    way = (struct socket_path){.rtt_us = 40000, .segment_bytes = SEGMENT};
    pair_open(&pair);
    assert_int_equal(count_sent(&pair, 400), 1); /* says nothing of it */
    assert_int_equal(count_sent(&pair, 2 * (SEGMENT - EXTRA)), 2);
    assert_int_equal(count_sent(&pair, FIRST), 8 + 1);
    assert_int_equal(count_sent(&pair, FIRST), 1);
    pair.tls->sent_ms -= 1000; /* of silence */
    assert_int_equal(count_sent(&pair, FIRST + 16384), 10 + 1);
    assert_int_equal(count_sent(&pair, 16384), 1);
    pair_end(&pair);
}

TEST(on_a_short_way_or_an_unknown_one_records_are_whole)
{
    static const struct socket_path ways[] = {
        {.rtt_us = 0},
        {.rtt_us = 29999, .segment_bytes = 1448},
        {.rtt_us = 40000, .segment_bytes = 65483},
        {.rtt_us = 40000, .segment_bytes = 88},
        {.rtt_us = 40000, .segment_bytes = 0}};
    struct pair pair;

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        way = ways[i];
        pair_open(&pair);
        assert_int_equal(count_sent(&pair, 16384), 1);
        pair_end(&pair);
    }
    way = (struct socket_path){0};
}

SUITE(.begin = set_up, .end = pair_tear_down);
