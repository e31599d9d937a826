#include <sys/ioctl.h>

#include "io/tls/tls_priv.h"
#include "unit/tls_pair.h"

/*
 * Connections that OpenSSL keeps, as that of a client that wants small records:
 * it takes what is no data as long as more of it is there, in a single call.
 */
enum { UPDATES = 5000, PIECE = 1000 };

static void open_kept(struct pair *pair)
{
    assert_int_equal(SSL_CTX_set_tlsext_max_fragment_length(
                         pair_client, TLSEXT_max_fragment_length_4096),
                     1);
    pair_open(pair);
    assert_non_null(pair->tls->ssl);
}

static void end_kept(struct pair *pair)
{
    pair_end(pair);
    assert_int_equal(SSL_CTX_set_tlsext_max_fragment_length(
                         pair_client, TLSEXT_max_fragment_length_DISABLED),
                     1);
}

static void update_keys(struct pair *pair)
{
    assert_int_equal(SSL_key_update(pair->client, SSL_KEY_UPDATE_NOT_REQUESTED),
                     1);
    assert_int_equal(SSL_do_handshake(pair->client), 1);
}

TEST(who_sends_only_what_is_no_data_keeps_nobody)
{
    char data[100];
    struct pair pair;
    int unread = 0;
    size_t len;

    open_kept(&pair);
    for (int i = 0; i < UPDATES; i++)
        update_keys(&pair);
    while (pair_push(&pair, SIZE_MAX) > 0)
        ;
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                     IO_FAILED);
    assert_int_equal(len, 0);
    assert_string_equal(pair.tls->why, "too many records without data");
    assert_int_equal(ioctl(pair.fd, FIONREAD, &unread), 0);
    assert_true(unread > TLS_IDLE_BYTES_MAX); /* most of it was not read */
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                     IO_FAILED);
    end_kept(&pair);
}

TEST(slow_ones_are_counted_too)
{
    enum io_result result = IO_AGAIN_READ;
    char data[100];
    struct pair pair;
    size_t len;

    open_kept(&pair);
    for (int i = 0; i < UPDATES && result == IO_AGAIN_READ; i++) {
        update_keys(&pair);
        (void)pair_push(&pair, SIZE_MAX);
        result = tls_receive(pair.tls, data, sizeof(data), &len);
        assert_in_range(pair.tls->idle_bytes, 1, TLS_IDLE_BYTES_MAX + PIECE);
    }
    assert_int_equal(result, IO_FAILED);
    end_kept(&pair);
}

TEST(data_makes_up_for_new_keys)
{
    static char text[16000];
    static char data[sizeof(text)];
    struct pair pair;
    size_t len;

    open_kept(&pair);
    for (int i = 0; i < UPDATES; i++) {
        update_keys(&pair);
        pair_say(&pair, "a");
        assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                         IO_DONE);
        assert_int_equal(len, 1);
    }
    end_kept(&pair);
}

TEST(large_records_may_come_in_any_pieces)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    static char text[16384];
    static char data[sizeof(text)];

    for (size_t i = 0; i < 4; i++) {
        struct pair pair;

        pair_limit_version(versions[i % 2], versions[i % 2]);
        if (versions[i % 2] == TLS1_3_VERSION)
            open_kept(&pair);
        else
            pair_open(&pair);
        assert_non_null(pair.tls->ssl);
        for (int n = 0; n < 20; n++) {
            size_t got = 0, len;

            assert_int_equal(SSL_write(pair.client, text, sizeof(text)),
                             sizeof(text));
            while (got < sizeof(text)) {
                (void)pair_push(&pair, i < 2 ? PIECE : SIZE_MAX);
                if (tls_receive(pair.tls, data, i < 2 ? 100 : sizeof(data),
                                &len) != IO_AGAIN_READ)
                    assert_true(len > 0);
                got += len;
            }
        }
        assert_in_range(pair.tls->idle_bytes, 0, TLS_RECORD_EXTRA_MAX);
        end_kept(&pair);
    }
    pair_limit_version(0, 0);
}

SUITE(.begin = pair_set_up, .end = pair_tear_down);
