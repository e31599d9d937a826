#include <openssl/err.h>

#include "io/tls/tls_priv.h"
#include "unit/tls_pair.h"

/*
 * Clients of connections that were taken over who do what OpenSSL's would not:
 * their records are made here, of the secrets that it has told.
 */

struct forged_record {
    int type; /* enum tls_content, mostly */
    const char *payload;
    size_t len;
};

static void send_record(struct pair *pair, struct tls_direction *out, int type,
                        const char *payload, size_t len)
{
    char record[1000];
    size_t sealed = tls_record_seal(out, (enum tls_content)type, payload, len,
                                    record);

    assert_true(sealed > 0);
    assert_int_equal(send(pair->far_fd, record, sealed, 0), sealed);
}

/* A connection whose client's records are made here. */
static void open_forged(struct pair *pair, struct tls_direction *out)
{
    pair_open(pair);
    (void)pair_pull(pair, SIZE_MAX);
    pair_begin_direction(out, pair, &pair_client_secret, true);
}

static void end_forged(struct pair *pair, struct tls_direction *out)
{
    tls_direction_fini(out);
    pair_end(pair);
}

static void expect_refusal(struct pair *pair, enum tls_alert alert)
{
    char data[100];
    size_t len;
    int returned;

    assert_int_equal(tls_receive(pair->tls, data, sizeof(data), &len),
                     IO_FAILED);
    assert_int_equal(len, 0);
    assert_true(pair_pull(pair, SIZE_MAX) > 0);
    ERR_clear_error();
    returned = SSL_read(pair->client, data, 1);
    assert_true(returned <= 0);
    assert_int_equal(SSL_get_error(pair->client, returned), SSL_ERROR_SSL);
    assert_int_equal(ERR_GET_REASON(ERR_get_error()),
                     SSL_AD_REASON_OFFSET + (int)alert);
    assert_true(SSL_get_shutdown(pair->client) & SSL_RECEIVED_SHUTDOWN);
    assert_int_equal(tls_receive(pair->tls, data, sizeof(data), &len),
                     IO_FAILED);
    assert_int_equal(recv(pair->far_fd, data, 1, 0), -1); /* no second word */
}

static void expect_data(struct pair *pair, const char *expected)
{
    char data[100];
    size_t len;

    assert_int_equal(tls_receive(pair->tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(data, expected, len);
}

TEST(what_no_client_may_say_ends_the_connection_with_an_alert)
{
    static const struct {
        int type;
        const char *payload;
        size_t len;
        enum tls_alert alert;
    } cases[] = {
        {TLS_CONTENT_HANDSHAKE, "\x04\0\0\x01\0", 5, /* a ticket */
         TLS_ALERT_UNEXPECTED_MESSAGE},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01\x02", 5,
         TLS_ALERT_ILLEGAL_PARAMETER},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01\xff", 5,
         TLS_ALERT_ILLEGAL_PARAMETER},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\0", 4, TLS_ALERT_DECODE_ERROR},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x02\0\0", 6, TLS_ALERT_DECODE_ERROR},
        {TLS_CONTENT_HANDSHAKE, "\x18\x01", 2, TLS_ALERT_DECODE_ERROR},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01\0\x18\0\0\x01\0", 10,
         TLS_ALERT_UNEXPECTED_MESSAGE},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01\0\0", 6,
         TLS_ALERT_UNEXPECTED_MESSAGE},
        {TLS_CONTENT_HANDSHAKE, "", 0, TLS_ALERT_UNEXPECTED_MESSAGE},
        {TLS_CONTENT_HANDSHAKE, "\x01\0\0\0", 4, /* ClientHello */
         TLS_ALERT_UNEXPECTED_MESSAGE},
        {TLS_CONTENT_HANDSHAKE, "\x14", 1, TLS_ALERT_UNEXPECTED_MESSAGE},
        {TLS_CONTENT_ALERT, "\x02", 1, TLS_ALERT_DECODE_ERROR},
        {TLS_CONTENT_ALERT, "", 0, TLS_ALERT_UNEXPECTED_MESSAGE},
        {TLS_CONTENT_ALERT, "\x01\0\x01\0", 4, TLS_ALERT_DECODE_ERROR},
        {TLS_CONTENT_CHANGE, "\x01", 1, TLS_ALERT_UNEXPECTED_MESSAGE},
        {24, "heartbeat", 9, TLS_ALERT_UNEXPECTED_MESSAGE},
        {255, "", 0, TLS_ALERT_UNEXPECTED_MESSAGE},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct tls_direction out;
        struct pair pair;

        open_forged(&pair, &out);
        send_record(&pair, &out, TLS_CONTENT_DATA, "before", 6);
        send_record(&pair, &out, cases[i].type, cases[i].payload, cases[i].len);
        send_record(&pair, &out, TLS_CONTENT_DATA, "behind", 6);
        expect_data(&pair, "before");
        assert_true(tls_has_unread(pair.tls)); /* no byte will wake anybody */
        expect_refusal(&pair, cases[i].alert);
        end_forged(&pair, &out);
    }
}

/* --- Messages in pieces, and records without data ------------------------ */

TEST(a_new_key_may_be_announced_in_pieces)
{
    static const char update[] = "\x18\0\0\x01\0";
    struct tls_direction out;
    struct pair pair;

    for (size_t cut = 1; cut < 5; cut++) {
        open_forged(&pair, &out);
        send_record(&pair, &out, TLS_CONTENT_HANDSHAKE, update, cut);
        if (cut % 2 == 0) { /* once in one call, once in two */
            char data[10];
            size_t len;

            assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                             IO_AGAIN_READ);
        }
        send_record(&pair, &out, TLS_CONTENT_HANDSHAKE, update + cut, 5 - cut);
        assert_true(tls_direction_update(&out));
        send_record(&pair, &out, TLS_CONTENT_DATA, "new", 3);
        expect_data(&pair, "new");
        end_forged(&pair, &out);
    }
}

TEST(nothing_comes_between_the_pieces_of_a_message)
{
    static const struct forged_record cases[] = {
        {TLS_CONTENT_DATA, "x", 1},
        {TLS_CONTENT_DATA, "", 0},
        {TLS_CONTENT_ALERT, "\x01\x5a", 2},
        {TLS_CONTENT_HANDSHAKE, "", 0}};
    struct tls_direction out;
    struct pair pair;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        open_forged(&pair, &out);
        send_record(&pair, &out, TLS_CONTENT_HANDSHAKE, "\x18\0", 2);
        send_record(&pair, &out, cases[i].type, cases[i].payload, cases[i].len);
        expect_refusal(&pair, TLS_ALERT_UNEXPECTED_MESSAGE);
        end_forged(&pair, &out);
    }
}

/* Each kind 32 times, and then something that counts; once more is too much. */
TEST(records_without_data_are_limited_in_a_row)
{
    static const struct forged_record cases[] = {
        {TLS_CONTENT_DATA, "", 0},
        {TLS_CONTENT_ALERT, "\x01\x5a", 2},
        {TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01\0", 5}};
    struct tls_direction out;
    struct pair pair;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        open_forged(&pair, &out);
        for (int n = 0; n < 32 + 1 + 33; n++) {
            if (n == 32) {
                send_record(&pair, &out, TLS_CONTENT_DATA, "x", 1);
                expect_data(&pair, "x");
                continue;
            }
            send_record(&pair, &out, cases[i].type, cases[i].payload,
                        cases[i].len);
            if (cases[i].type == TLS_CONTENT_HANDSHAKE)
                assert_true(tls_direction_update(&out));
        }
        expect_refusal(&pair, TLS_ALERT_UNEXPECTED_MESSAGE);
        end_forged(&pair, &out);
    }
}

/* However they are spread: data in between counts by its bytes. */
TEST(new_keys_are_limited_by_what_comes_besides)
{
    enum { MOST = 64, BYTES = 512 };
    static const char update[] = "\x18\0\0\x01\0";
    static char data[BYTES];
    struct tls_direction out;
    struct pair pair;
    size_t len;

    open_forged(&pair, &out);
    for (int n = 0; n < MOST + 1; n++) {
        send_record(&pair, &out, TLS_CONTENT_HANDSHAKE, update, 5);
        assert_true(tls_direction_update(&out));
        send_record(&pair, &out, TLS_CONTENT_DATA, "x", 1);
        expect_data(&pair, "x");
        for (int i = 0; n == MOST - 1 && i < 2; i++) {
            send_record(&pair, &out, TLS_CONTENT_DATA, data, BYTES);
            assert_int_equal(tls_receive(pair.tls, data, BYTES, &len), IO_DONE);
            assert_int_equal(len, BYTES);
        }
    }
    send_record(&pair, &out, TLS_CONTENT_HANDSHAKE, update, 5);
    expect_refusal(&pair, TLS_ALERT_UNEXPECTED_MESSAGE);
    end_forged(&pair, &out);
}

/* Of many that came together one answer is enough (4.6.3), and none is given
 * behind the end. */
TEST(a_wish_for_keys_is_answered_once_and_not_behind_the_end)
{
    struct tls_direction out;
    struct pair pair;
    char data[100];
    size_t len;

    for (int has_ended = 0; has_ended < 2; has_ended++) {
        open_forged(&pair, &out);
        if (has_ended)
            assert_int_equal(tls_shut_down(pair.tls), IO_DONE);
        while (recv(pair.far_fd, data, sizeof(data), 0) > 0)
            ;
        for (int i = 0; i < 3; i++) {
            send_record(&pair, &out, TLS_CONTENT_HANDSHAKE, "\x18\0\0\x01\x01",
                        5);
            assert_true(tls_direction_update(&out));
        }
        assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                         IO_AGAIN_READ);
        assert_int_equal(recv(pair.far_fd, data, sizeof(data), 0),
                         has_ended ? -1 : 5 + TLS_RECORD_SEALED);
        end_forged(&pair, &out);
    }
}

TEST(an_end_behind_data_is_not_waited_for)
{
    struct tls_direction out;
    struct pair pair;
    char data[10];
    size_t len;

    open_forged(&pair, &out);
    send_record(&pair, &out, TLS_CONTENT_DATA, "last", 4);
    send_record(&pair, &out, TLS_CONTENT_ALERT, "\x01\0", 2);
    expect_data(&pair, "last");
    assert_true(tls_has_unread(pair.tls));
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_EOF);
    assert_false(tls_was_cut(pair.tls));
    end_forged(&pair, &out);
}

/* --- Records that are none ----------------------------------------------- */

TEST(what_is_in_clear_or_cannot_be_a_record_is_refused_at_once)
{
    static const struct {
        const char *bytes;
        size_t len;
        enum tls_alert alert;
    } cases[] = {
        {"G", 1, TLS_ALERT_UNEXPECTED_MESSAGE},
        {"\x15\x03\x03\0\x02\x01\0", 7, TLS_ALERT_UNEXPECTED_MESSAGE},
        {"\x14\x03\x03\0\x01\x01", 6, TLS_ALERT_UNEXPECTED_MESSAGE},
        {"\x16\x03\x03\x40", 4, TLS_ALERT_UNEXPECTED_MESSAGE},
        {"\x17\x03\x03\x41\x01", 5, TLS_ALERT_RECORD_OVERFLOW},
        {"\x17\x03\x03\xff\xff", 5, TLS_ALERT_RECORD_OVERFLOW},
        {"\x17\x03\x03\0\0", 5, TLS_ALERT_BAD_RECORD_MAC},
        {"\x17\x03\x03\0\x10"
         "0123456789abcdef",
         21, TLS_ALERT_BAD_RECORD_MAC},
    };
    struct pair pair;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pair_open(&pair);
        (void)pair_pull(&pair, SIZE_MAX);
        assert_int_equal(send(pair.far_fd, cases[i].bytes, cases[i].len, 0),
                         cases[i].len);
        expect_refusal(&pair, cases[i].alert);
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
    pair_begin_direction(&out, &pair, &pair_client_secret, true);
    send_record(&pair, &out, TLS_CONTENT_DATA, "", 0);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                     IO_AGAIN_READ);
    send_record(&pair, &out, TLS_CONTENT_ALERT, "\x01\x5a", 2);
    send_record(&pair, &out, TLS_CONTENT_DATA, "x", 1);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 1);
    send_record(&pair, &out, TLS_CONTENT_ALERT, "\x02\x50", 2);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                     IO_FAILED);
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
    pair_begin_direction(&out, &pair, &pair_client_secret, true);
    send_record(&pair, &out, TLS_CONTENT_ALERT, "\x01\x00", 2);
    assert_int_equal(send(pair.far_fd, "garbage", 7, 0), 7);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                         IO_EOF);
    assert_false(tls_was_cut(pair.tls));
    tls_direction_fini(&out);
    pair_end(&pair);
}

SUITE(.begin = pair_set_up, .end = pair_tear_down);
