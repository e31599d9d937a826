#include "io/tls/tls_priv.h"
#include "unit/tls_pair.h"

/*
 * Connections that were taken over from OpenSSL, whose client is OpenSSL's: both
 * must agree on each record. Where a client does what OpenSSL's would not, its
 * records are made here, of the secrets that it has told.
 */

enum { LARGE = 300000 };

static char large[LARGE];
static struct tls_secret client_secret;
static struct tls_secret server_secret;

static void note_secret(const char *line, const char *label,
                        struct tls_secret *secret)
{
    const char *at = strrchr(line, ' ') + 1;

    if (strncmp(line, label, strlen(label)) != 0)
        return;
    secret->len = strlen(at) / 2;
    for (size_t i = 0; i < secret->len; i++) {
        unsigned byte;

        assert_int_equal(sscanf(at + 2 * i, "%2x", &byte), 1);
        secret->bytes[i] = (unsigned char)byte;
    }
}

static void on_line(const SSL *ssl, const char *line)
{
    (void)ssl;
    note_secret(line, "CLIENT_TRAFFIC_SECRET_0", &client_secret);
    note_secret(line, "SERVER_TRAFFIC_SECRET_0", &server_secret);
}

static enum io_result receive(struct pair *pair, char *data, size_t size,
                              size_t *len)
{
    return tls_receive(pair->tls, data, size, len);
}

static void client_says(struct pair *pair, const char *text)
{
    assert_int_equal(SSL_write(pair->client, text, (int)strlen(text)),
                     strlen(text));
    while (pair_push(pair, SIZE_MAX) > 0)
        ;
}

static void expect_talk(struct pair *pair)
{
    struct iovec answer = {(char *)(uintptr_t) "answer", 6};
    char data[100];
    size_t len;

    client_says(pair, "question");
    assert_int_equal(receive(pair, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 8);
    assert_memory_equal(data, "question", 8);
    assert_int_equal(tls_send(pair->tls, &answer, 1, false, &len), IO_DONE);
    len = sizeof(data);
    pair_read(pair, data, &len);
    assert_int_equal(len, 6);
    assert_memory_equal(data, "answer", 6);
}

/* --- Taking over ----------------------------------------------------------------- */

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
            assert_int_equal(receive(&pair, data + got, 40000 - got, &len),
                             IO_DONE);
        assert_memory_equal(data, large, 40000);
        pair_end(&pair);
    }
    pair_limit_version(0, 0);
}

/* --- Records, however they are cut -------------------------------------------------- */

/* What the client writes in pieces comes over the wire in others, and is asked for
 * in yet others. */
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
        result = receive(pair, data + got, n < LARGE - got ? n : LARGE - got,
                         &len);
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

/* --- Keys ---------------------------------------------------------------------------- */

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

static void begin_direction(struct tls_direction *direction, struct pair *pair,
                            const struct tls_secret *secret, bool seals)
{
    assert_true(tls_direction_init(direction, pair->tls->taken->out.suite,
                                   (struct bytes){(const char *)secret->bytes,
                                                  secret->len},
                                   seals));
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
    begin_direction(&in, &pair, &server_secret, false);
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

/* --- Clients that do what they may not ------------------------------------------------ */

static void send_record(struct pair *pair, struct tls_direction *out, int type,
                        const char *payload, size_t len)
{
    char record[1000];
    size_t sealed = tls_record_seal(out, (enum tls_content)type, payload, len,
                                    record);

    assert_true(sealed > 0);
    assert_int_equal(send(pair->far_fd, record, sealed, 0), sealed);
}

TEST(what_no_client_may_say_ends_the_connection_with_an_alert)
{
    static const struct {
        int type;
        const char *payload;
        size_t len;
    } cases[] = {
        {TLS_CONTENT_HANDSHAKE, "\x04\0\0\x01\0", 5}, /* a ticket */
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01\x02", 5},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01", 4},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01\0\x18\0\0\x01\0", 10},
        {TLS_CONTENT_HANDSHAKE, "", 0},
        {TLS_CONTENT_HANDSHAKE, "\x01\0\0\0", 4}, /* ClientHello */
        {TLS_CONTENT_ALERT, "\x02", 1},
        {TLS_CONTENT_ALERT, "", 0},
        {TLS_CONTENT_ALERT, "\x01\0\x01\0", 4},
        {TLS_CONTENT_CHANGE, "\x01", 1},
        {24, "heartbeat", 9},
        {255, "", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct tls_direction out;
        struct pair pair;
        char data[100];
        size_t len;
        int returned;

        pair_open(&pair);
        (void)pair_pull(&pair, SIZE_MAX);
        begin_direction(&out, &pair, &client_secret, true);
        send_record(&pair, &out, TLS_CONTENT_DATA, "before", 6);
        send_record(&pair, &out, cases[i].type, cases[i].payload, cases[i].len);
        send_record(&pair, &out, TLS_CONTENT_DATA, "behind", 6);
        assert_int_equal(receive(&pair, data, sizeof(data), &len), IO_DONE);
        assert_int_equal(len, 6);
        assert_memory_equal(data, "before", 6);
        assert_int_equal(receive(&pair, data, sizeof(data), &len), IO_FAILED);
        assert_int_equal(len, 0);
        assert_true(pair_pull(&pair, SIZE_MAX) > 0);
        returned = SSL_read(pair.client, data, 1);
        assert_true(returned <= 0);
        assert_int_equal(SSL_get_error(pair.client, returned), SSL_ERROR_SSL);
        assert_true(SSL_get_shutdown(pair.client) & SSL_RECEIVED_SHUTDOWN);
        tls_direction_fini(&out);
        pair_end(&pair);
    }
}

TEST(alerts_end_it_but_for_one_and_empty_records_do_not)
{
    struct tls_direction out;
    struct pair pair;
    char data[100];
    size_t len;

    pair_open(&pair);
    begin_direction(&out, &pair, &client_secret, true);
    send_record(&pair, &out, TLS_CONTENT_DATA, "", 0);
    assert_int_equal(receive(&pair, data, sizeof(data), &len), IO_AGAIN_READ);
    send_record(&pair, &out, TLS_CONTENT_ALERT, "\x01\x5a", 2);
    send_record(&pair, &out, TLS_CONTENT_DATA, "x", 1);
    assert_int_equal(receive(&pair, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 1);
    send_record(&pair, &out, TLS_CONTENT_ALERT, "\x02\x50", 2);
    assert_int_equal(receive(&pair, data, sizeof(data), &len), IO_FAILED);
    tls_direction_fini(&out);
    pair_end(&pair);
}

/* What comes behind it is nothing any more, and no fault either. */
TEST(nothing_counts_behind_the_end)
{
    struct tls_direction out;
    struct pair pair;
    char data[100];
    size_t len;

    pair_open(&pair);
    begin_direction(&out, &pair, &client_secret, true);
    send_record(&pair, &out, TLS_CONTENT_ALERT, "\x01\x00", 2);
    assert_int_equal(send(pair.far_fd, "garbage", 7, 0), 7);
    for (int i = 0; i < 3; i++)
        assert_int_equal(receive(&pair, data, sizeof(data), &len), IO_EOF);
    assert_false(tls_was_cut(pair.tls));
    tls_direction_fini(&out);
    pair_end(&pair);
}

TEST(a_head_that_promises_too_much_is_not_waited_for)
{
    struct pair pair;
    char data[100];
    size_t len;

    pair_open(&pair);
    assert_int_equal(send(pair.far_fd, "\x17\x03\x03\x41\x01", 5, 0), 5);
    assert_int_equal(receive(&pair, data, sizeof(data), &len), IO_FAILED);
    assert_true(pair_pull(&pair, SIZE_MAX) > 0);
    pair_end(&pair);
}

static int set_up(void **state)
{
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (char)('a' + i % 23 + i / 4096 % 3);
    if (pair_set_up(state) != 0)
        return -1;
    SSL_CTX_set_keylog_callback(pair_client, on_line);
    return 0;
}

SUITE(.begin = set_up, .end = pair_tear_down);
