#include <fcntl.h>

#include "io/tls/tls_priv.h"
#include "unit/tls_pair.h"

/*
 * Connections that were taken over from OpenSSL, whose client is OpenSSL's:
 * both must agree on each record.
 */

enum { LARGE = 300000 };

static char large[LARGE];

static void expect_talk(struct pair *pair)
{
    struct iovec answer = {(char *)(uintptr_t) "answer", 6};
    char data[100];
    size_t len;

    pair_say(pair, "question");
    assert_int_equal(tls_receive(pair->tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 8);
    assert_memory_equal(data, "question", 8);
    assert_int_equal(tls_send(pair->tls, &answer, 1, false, &len), IO_DONE);
    len = sizeof(data);
    pair_read(pair, data, &len);
    assert_int_equal(len, 6);
    assert_memory_equal(data, "answer", 6);
}

/* --- Taking over --------------------------------------------------------- */

TEST(each_suite_of_tls_1_3_is_taken)
{
    static const char *const names[] = {"TLS_AES_128_GCM_SHA256",
                                        "TLS_AES_256_GCM_SHA384",
                                        "TLS_CHACHA20_POLY1305_SHA256"};
    struct tls_facts facts;
    struct pair pair;

    for (size_t i = 0; i < 3; i++) {
        SSL_CTX_set_ciphersuites(pair_client, names[i]);
        pair_open(&pair);
        assert_null(pair.tls->ssl);
        assert_null(pair.tls->secrets);
        tls_tell(pair.tls, &facts);
        assert_string_equal(facts.cipher, names[i]);
        expect_talk(&pair);
        expect_talk(&pair);
        pair_end(&pair);
    }
    SSL_CTX_set_ciphersuites(pair_client, TLS_DEFAULT_CIPHERSUITES);
}

/* With the secret of a ticket the first of all has something in it. */
TEST(who_comes_back_is_taken_with_either_digest)
{
    static const char *const names[] = {"TLS_AES_128_GCM_SHA256",
                                        "TLS_AES_256_GCM_SHA384"};

    for (size_t i = 0; i < 2; i++) {
        struct tls_facts facts;
        struct pair pair;

        SSL_CTX_set_ciphersuites(pair_client, names[i]);
        pair_begin_again(&pair, pair_make_session());
        pair_shake(&pair, SIZE_MAX);
        assert_non_null(pair.tls->taken);
        tls_tell(pair.tls, &facts);
        assert_true(facts.is_resumed);
        assert_string_equal(facts.cipher, names[i]);
        expect_talk(&pair);
        pair_end(&pair);
    }
    SSL_CTX_set_ciphersuites(pair_client, TLS_DEFAULT_CIPHERSUITES);
}

/* The share that a client sends is of a group that the server has not. */
TEST(who_is_asked_to_begin_again_is_taken)
{
    struct pair pair;

    SSL_CTX_set1_groups_list(pair_client, "P-384:P-256");
    pair_open(&pair);
    assert_non_null(pair.tls->taken);
    expect_talk(&pair);
    expect_talk(&pair);
    pair_end(&pair);
    SSL_CTX_set1_groups_list(pair_client, "X25519:P-256");
}

TEST(tls_1_2_stays_with_openssl)
{
    struct tls_facts facts;
    struct pair pair;

    pair_limit_version(TLS1_2_VERSION, TLS1_2_VERSION);
    pair_open(&pair);
    assert_non_null(pair.tls->ssl);
    assert_null(pair.tls->secrets);
    tls_tell(pair.tls, &facts);
    assert_string_equal(facts.version, "TLSv1.2");
    expect_talk(&pair);
    expect_talk(&pair);
    pair_end(&pair);
    pair_limit_version(0, 0);
}

/* A client need not wait for the server's word before its first request. */
TEST(what_comes_with_the_end_of_the_handshake_is_not_lost)
{
    static const int versions[] = {TLS1_3_VERSION, TLS1_2_VERSION};
    char data[LARGE];
    struct pair pair;
    size_t len, got;

    for (size_t i = 0; i < 2; i++) {
        pair_limit_version(versions[i], versions[i]);
        pair_begin(&pair);
        (void)SSL_do_handshake(pair.client);
        (void)pair_push(&pair, SIZE_MAX);
        assert_int_equal(tls_handshake(pair.tls), IO_AGAIN_READ);
        (void)pair_pull(&pair, SIZE_MAX);
        (void)SSL_do_handshake(pair.client);
        if (versions[i] == TLS1_2_VERSION) {
            (void)pair_push(&pair, SIZE_MAX);
            assert_int_equal(tls_handshake(pair.tls), IO_DONE);
            (void)pair_pull(&pair, SIZE_MAX);
            assert_int_equal(SSL_do_handshake(pair.client), 1);
        }
        assert_int_equal(SSL_write(pair.client, large, 40000), 40000);
        while (pair_push(&pair, SIZE_MAX) > 0)
            ;
        if (versions[i] == TLS1_3_VERSION) {
            assert_int_equal(tls_handshake(pair.tls), IO_DONE);
            assert_true(tls_has_unread(pair.tls));
        }
        for (got = 0; got < 40000; got += len)
            assert_int_equal(tls_receive(pair.tls, data + got, 40000 - got,
                                         &len),
                             IO_DONE);
        assert_memory_equal(data, large, 40000);
        pair_end(&pair);
    }
    pair_limit_version(0, 0);
}

/* The end of a handshake, with a request right behind it or without. */
static void shake_and_ask(struct pair *pair, bool asks)
{
    pair_begin(pair);
    (void)SSL_do_handshake(pair->client);
    (void)pair_push(pair, SIZE_MAX);
    assert_int_equal(tls_handshake(pair->tls), IO_AGAIN_READ);
    (void)pair_pull(pair, SIZE_MAX);
    assert_int_equal(SSL_do_handshake(pair->client), 1);
    if (asks)
        pair_say(pair, "question");
    (void)pair_push(pair, SIZE_MAX);
    assert_int_equal(tls_handshake(pair->tls), IO_DONE);
    assert_int_equal(pair_pull(pair, SIZE_MAX), 0);
    assert_false(tls_has_kept(pair->tls)); /* nobody is woken for it */
}

static int tickets;

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    (void)ssl;
    (void)session;
    tickets++;
    return 0;
}

TEST(tickets_leave_with_the_first_reply_or_when_nothing_was_asked)
{
    struct iovec answer = {(char *)(uintptr_t) "answer", 6};
    struct pair pair;
    char data[100];
    size_t len;

    SSL_CTX_set_session_cache_mode(pair_client, SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(pair_client, on_session);
    for (int asks = 0; asks < 2; asks++) {
        tickets = 0;
        shake_and_ask(&pair, asks);
        assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                         asks ? IO_DONE : IO_AGAIN_READ);
        assert_int_equal(len, asks ? 8 : 0);
        if (asks)
            assert_int_equal(pair_pull(&pair, SIZE_MAX), 0);
        else
            assert_true(pair_pull(&pair, SIZE_MAX) > 0);
        assert_int_equal(tls_send(pair.tls, &answer, 1, false, &len), IO_DONE);
        assert_int_equal(len, 6);
        len = sizeof(data);
        pair_read(&pair, data, &len);
        assert_int_equal(len, 6);
        assert_memory_equal(data, "answer", 6);
        assert_int_equal(tickets, 1);
        expect_talk(&pair);
        pair_end(&pair);
    }
    SSL_CTX_sess_set_new_cb(pair_client, NULL);
}

/* A file comes behind them, and so does the end. */
TEST(whatever_is_sent_first_comes_behind_the_tickets)
{
    struct tls_direction in;
    struct bytes payload;
    enum tls_content type;
    struct pair pair;
    char wire[2000];
    size_t len, record;

    for (int ends = 0; ends < 2; ends++) {
        shake_and_ask(&pair, true);
        assert_int_equal(tls_receive(pair.tls, wire, sizeof(wire), &len),
                         IO_DONE);
        if (ends) {
            assert_int_equal(tls_shut_down(pair.tls), IO_DONE);
        } else {
            int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);

            assert_int_equal(tls_send_file(pair.tls, file, 0, 5, &len),
                             IO_DONE);
            assert_int_equal(len, 5);
            close(file);
        }
        assert_true(recv(pair.far_fd, wire, sizeof(wire), 0) > 0);
        pair_begin_direction(&in, &pair, &pair_server_secret, false);
        record = tls_record_length((struct bytes){wire, sizeof(wire)});
        assert_int_equal(tls_record_open(&in, wire, record, &type, &payload),
                         TLS_ALERT_NONE);
        assert_int_equal(type, TLS_CONTENT_HANDSHAKE);
        if (!ends) {
            assert_int_equal(tls_record_open(&in, wire + record,
                                             5 + TLS_RECORD_SEALED, &type,
                                             &payload),
                             TLS_ALERT_NONE);
            assert_memory_equal(payload.data, "\0\0\0\0", 5);
        }
        tls_direction_fini(&in);
        pair_end(&pair);
    }
}

/* --- Records, however they are cut --------------------------------------- */

/* What the client writes in pieces comes over the wire in others, and is asked
 * for in yet others. */
static void receive_cut(struct pair *pair, size_t wrote_most,
                        size_t pushed_most, size_t asked_most)
{
    static char data[LARGE];
    size_t written = 0;
    size_t got = 0;
    size_t len;

    while (got < LARGE) {
        size_t n = 1 + (size_t)random() % wrote_most;
        enum io_result result;

        if (n > LARGE - written)
            n = LARGE - written;
        if (n > 0 && BIO_pending(pair->out) < 40000) {
            assert_int_equal(SSL_write(pair->client, large + written, (int)n),
                             n);
            written += n;
        }
        if (!tls_has_unread(pair->tls))
            (void)pair_push(pair, 1 + (size_t)random() % pushed_most);
        n = 1 + (size_t)random() % asked_most;
        result = tls_receive(pair->tls, data + got,
                             n < LARGE - got ? n : LARGE - got, &len);
        assert_true(result == IO_DONE ? len > 0 && len <= n
                                      : result == IO_AGAIN_READ && len == 0);
        got += len;
        if (len > 0 && random() % 50 == 0)
            (void)SSL_key_update(pair->client, SSL_KEY_UPDATE_REQUESTED);
    }
    assert_memory_equal(data, large, LARGE);
    assert_false(tls_has_unread(pair->tls));
    assert_null(pair->tls->held);
}

TEST(records_may_be_cut_and_asked_for_in_any_pieces)
{
    static const size_t sizes[][3] = {{40000, 60000, 40000}, {40000, 3000, 900},
                                      {500, 60000, 3000},    {500, 700, 40000},
                                      {16384, 16406, 16384}, {9000, 9000, 50}};
    struct pair pair;

    srandom(18);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        pair_open(&pair);
        receive_cut(&pair, sizes[i][0], sizes[i][1], sizes[i][2]);
        (void)pair_pull(&pair, SIZE_MAX);
        expect_talk(&pair);
        pair_end(&pair);
    }
}

/* How long the longest record is of those that the server sends. */
static size_t send_and_look(struct pair *pair, size_t bytes)
{
    static char wire[2 * LARGE];
    struct iovec part = {large, bytes};
    size_t len = 0, longest = 0;

    while (part.iov_len > 0) {
        size_t sent;
        ssize_t n;

        assert_int_equal(tls_send(pair->tls, &part, 1, false, &sent), IO_DONE);
        part = (struct iovec){(char *)part.iov_base + sent,
                              part.iov_len - sent};
        while ((n = recv(pair->far_fd, wire + len, sizeof(wire) - len, 0)) > 0)
            len += (size_t)n;
    }
    for (size_t at = 0; at < len;) {
        size_t record = tls_record_length((struct bytes){wire + at, len - at});

        assert_true(record > 0);
        longest = record > longest ? record : longest;
        at += record;
    }
    return longest;
}

TEST(a_client_that_wants_small_records_gets_no_others)
{
    static const uint8_t modes[] = {TLSEXT_max_fragment_length_512,
                                    TLSEXT_max_fragment_length_4096,
                                    TLSEXT_max_fragment_length_DISABLED};
    static const size_t most[] = {512, 4096, TLS_RECORD_BYTES};

    for (size_t i = 0; i < 3; i++) {
        struct pair pair;

        assert_int_equal(SSL_CTX_set_tlsext_max_fragment_length(pair_client,
                                                                modes[i]),
                         1);
        pair_open(&pair);
        expect_talk(&pair);
        assert_int_equal(send_and_look(&pair, 40000),
                         most[i] + TLS_RECORD_SEALED);
        pair_end(&pair);
    }
}

/* --- Keys ---------------------------------------------------------------- */

TEST(keys_are_updated_when_the_client_wants_it)
{
    struct pair pair;

    pair_open(&pair);
    for (int i = 0; i < 20; i++) {
        SSL_key_update(pair.client, i % 3 == 0 ? SSL_KEY_UPDATE_NOT_REQUESTED
                                               : SSL_KEY_UPDATE_REQUESTED);
        expect_talk(&pair);
        assert_false(pair.tls->taken->owes_update);
    }
    pair_end(&pair);
}

TEST(a_key_is_used_for_so_many_records_and_no_more)
{
    struct iovec part = {large, 100};
    char wire[1000];
    struct tls_direction in;
    struct bytes payload;
    enum tls_content type;
    struct pair pair;
    size_t sent, record;

    pair_open(&pair);
    (void)pair_pull(&pair, SIZE_MAX);
    pair_begin_direction(&in, &pair, &pair_server_secret, false);
    in.sequence = pair.tls->taken->out.sequence = 1 << 24;
    assert_int_equal(tls_send(pair.tls, &part, 1, false, &sent), IO_DONE);
    assert_true(recv(pair.far_fd, wire, sizeof(wire), 0) > 0);
    record = tls_record_length((struct bytes){wire, sizeof(wire)});
    assert_int_equal(tls_record_open(&in, wire, record, &type, &payload),
                     TLS_ALERT_NONE);
    assert_int_equal(type, TLS_CONTENT_HANDSHAKE);
    assert_int_equal(payload.len, 5);
    assert_memory_equal(payload.data, "\x18\0\0\x01\0", 5);
    assert_true(tls_direction_update(&in));
    assert_int_equal(tls_record_open(&in, wire + record,
                                     100 + TLS_RECORD_SEALED, &type, &payload),
                     TLS_ALERT_NONE);
    assert_memory_equal(payload.data, large, 100);
    tls_direction_fini(&in);
    pair_end(&pair);
}

static int set_up(void **state)
{
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (char)('a' + i % 23 + i / 4096 % 3);
    return pair_set_up(state);
}

SUITE(.begin = set_up, .end = pair_tear_down);
