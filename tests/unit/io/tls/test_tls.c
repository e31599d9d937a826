#include "io/tls/tls_tickets.h"
#include "unit/tls_pair.h"

/* --- The handshake ------------------------------------------------------- */

TEST(a_handshake_is_done_and_told)
{
    struct tls_facts facts;
    struct pair pair;

    pair_open(&pair);
    tls_tell(pair.tls, &facts);
    assert_string_equal(facts.version, "TLSv1.3");
    assert_string_equal(facts.cipher, "TLS_AES_256_GCM_SHA384");
    assert_string_equal(facts.group, "x25519");
    assert_int_equal(facts.name.len, strlen("localhost"));
    assert_memory_equal(facts.name.data, "localhost", facts.name.len);
    assert_false(facts.is_resumed);
    assert_int_equal(tls_failure(pair.tls), TLS_FAILURE_NONE);
    assert_non_null(tls_chosen(pair.tls));
    pair_end(&pair);
}

TEST(a_client_comes_back_by_its_ticket)
{
    struct tls_facts facts;
    struct pair pair;

    pair_begin_again(&pair, pair_make_session());
    pair_shake(&pair, SIZE_MAX);
    tls_tell(pair.tls, &facts);
    assert_true(facts.is_resumed);
    pair_end(&pair);
}

/* A client sends some all the same, as if its ticket allowed that: it could be
 * sent again by anybody (RFC 8446 8). */
TEST(early_data_is_refused_and_never_read)
{
    SSL_SESSION *session = pair_make_session();
    char text[100];
    struct pair pair;
    size_t len;

    assert_int_equal(SSL_SESSION_get_max_early_data(session), 0);
    assert_int_equal(SSL_SESSION_set_max_early_data(session, 1000), 1);
    pair_begin_again(&pair, session);
    assert_int_equal(SSL_write_early_data(pair.client, "early", 5, &len), 1);
    pair_shake(&pair, SIZE_MAX);
    assert_int_equal(SSL_get_early_data_status(pair.client),
                     SSL_EARLY_DATA_REJECTED);
    assert_int_equal(tls_receive(pair.tls, text, sizeof(text), &len),
                     IO_AGAIN_READ);
    pair_say(&pair, "late");
    assert_int_equal(tls_receive(pair.tls, text, sizeof(text), &len), IO_DONE);
    assert_int_equal(len, 4);
    assert_memory_equal(text, "late", 4);
    pair_end(&pair);
}

/* Cuts both ways of a handshake at that byte of the client's. */
static bool shake_cut_at(size_t at)
{
    enum io_result result = IO_AGAIN_READ;
    struct pair pair;
    bool was_cut = false;

    pair_begin(&pair);
    for (int i = 0; i < 10 && result != IO_DONE; i++) {
        (void)SSL_do_handshake(pair.client);
        if (!was_cut && pair.pushed + (size_t)BIO_pending(pair.out) > at) {
            (void)pair_push(&pair, at - pair.pushed);
            result = tls_handshake(pair.tls);
            assert_int_equal(result, IO_AGAIN_READ);
            was_cut = true;
        }
        (void)pair_push(&pair, SIZE_MAX);
        result = tls_handshake(pair.tls);
        (void)pair_pull(&pair, SIZE_MAX);
    }
    assert_int_equal(result, IO_DONE);
    assert_int_equal(SSL_do_handshake(pair.client), 1);
    pair_end(&pair);
    return was_cut;
}

TEST(a_handshake_may_be_cut_anywhere)
{
    size_t at = 1;

    while (shake_cut_at(at))
        at++;
    assert_true(at > 300);
}

TEST(a_handshake_may_come_byte_by_byte)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    struct pair pair;

    for (size_t i = 0; i < 2; i++) {
        pair_limit_version(versions[i], versions[i]);
        pair_begin(&pair);
        pair_shake(&pair, 1);
        pair_end(&pair);
    }
    pair_limit_version(0, 0);
}

/* All that there is room for would take long. */
TEST(tiny_records_are_opened_by_turns)
{
    enum { RECORDS = 300, AT_ONCE = 128 };
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    char data[2 * RECORDS];
    struct pair pair;

    for (size_t i = 0; i < 2; i++) {
        size_t got = 0;
        size_t len;

        pair_limit_version(versions[i], versions[i]);
        pair_open(&pair);
        for (int n = 0; n < RECORDS; n++)
            assert_int_equal(SSL_write(pair.client, n % 2 ? "b" : "a", 1), 1);
        (void)pair_push(&pair, SIZE_MAX);
        while (got < RECORDS) {
            assert_int_equal(tls_receive(pair.tls, data + got,
                                         sizeof(data) - got, &len),
                             IO_DONE);
            assert_in_range(len, 1, AT_ONCE);
            got += len;
            assert_int_equal(tls_has_unread(pair.tls), got < RECORDS);
        }
        for (int n = 0; n < RECORDS; n++)
            assert_int_equal(data[n], n % 2 ? 'b' : 'a');
        pair_end(&pair);
    }
    pair_limit_version(0, 0);
}

TEST(who_leaves_in_the_handshake_is_gone)
{
    struct pair pair;

    pair_begin(&pair);
    (void)SSL_do_handshake(pair.client);
    (void)pair_push(&pair, 100);
    assert_int_equal(tls_handshake(pair.tls), IO_AGAIN_READ);
    shutdown(pair.far_fd, SHUT_WR);
    assert_int_equal(tls_handshake(pair.tls), IO_EOF);
    assert_int_equal(tls_failure(pair.tls), TLS_FAILURE_GONE);
    pair_end(&pair);
}

TEST(plain_http_is_known_and_not_answered_by_an_alert)
{
    static const char *const requests[] = {"GET / HTTP/1.1\r\n\r\n", "OPTIONS",
                                           "P", "\r\nGET /"};
    struct pair pair;

    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        pair_begin(&pair);
        assert_true(send(pair.far_fd, requests[i], strlen(requests[i]), 0) > 0);
        assert_int_equal(tls_handshake(pair.tls), IO_FAILED);
        assert_int_equal(tls_failure(pair.tls), TLS_FAILURE_PLAIN_HTTP);
        assert_int_equal(pair_pull(&pair, SIZE_MAX), 0);
        pair_end(&pair);
    }
}

TEST(garbage_is_refused)
{
    char garbage[300];
    struct pair pair;

    srandom(18);
    for (int i = 0; i < 300; i++) {
        size_t from = (size_t)i % 3; /* with the head of a record, or less */

        for (size_t at = 0; at < sizeof(garbage); at++)
            garbage[at] = (char)random();
        memcpy(garbage, "\x16\x03\x01", from + 1);
        pair_begin(&pair);
        assert_true(send(pair.far_fd, garbage, sizeof(garbage), 0) > 0);
        if (tls_handshake(pair.tls) == IO_AGAIN_READ) {
            shutdown(pair.far_fd, SHUT_WR);
            assert_int_equal(tls_handshake(pair.tls), IO_EOF);
        }
        assert_int_not_equal(tls_failure(pair.tls), TLS_FAILURE_NONE);
        assert_int_not_equal(tls_handshake(pair.tls), IO_DONE);
        pair_end(&pair);
    }
}

TEST(no_common_version_is_told)
{
    struct pair pair;

    pair_limit_version(TLS1_1_VERSION, TLS1_1_VERSION);
    SSL_CTX_set_cipher_list(pair_client, "DEFAULT@SECLEVEL=0");
    pair_begin(&pair);
    (void)SSL_do_handshake(pair.client);
    assert_true(pair_push(&pair, SIZE_MAX) > 0);
    assert_int_equal(tls_handshake(pair.tls), IO_FAILED);
    assert_int_equal(tls_failure(pair.tls), TLS_FAILURE_VERSION);
    assert_true(pair_pull(&pair, SIZE_MAX) > 0); /* an alert */
    pair_end(&pair);
    SSL_CTX_set_cipher_list(pair_client, "DEFAULT");
    pair_limit_version(0, 0);
}

TEST(an_alert_of_the_client_is_told)
{
    struct pair pair;

    pair_begin(&pair);
    SSL_set_verify(pair.client, SSL_VERIFY_PEER, NULL); /* it trusts nobody */
    (void)SSL_do_handshake(pair.client);
    (void)pair_push(&pair, SIZE_MAX);
    assert_int_equal(tls_handshake(pair.tls), IO_AGAIN_READ);
    (void)pair_pull(&pair, SIZE_MAX);
    assert_int_equal(SSL_do_handshake(pair.client), -1);
    assert_true(pair_push(&pair, SIZE_MAX) > 0);
    assert_int_equal(tls_handshake(pair.tls), IO_FAILED);
    assert_int_equal(tls_failure(pair.tls), TLS_FAILURE_ALERT);
    pair_end(&pair);
}

/* --- Receiving ----------------------------------------------------------- */

TEST(records_of_one_byte_become_one_text)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char data[100];
    struct pair pair;
    size_t len;

    pair_open(&pair);
    for (const char *at = text; *at; at++)
        assert_int_equal(SSL_write(pair.client, at, 1), 1);
    while (pair_push(&pair, SIZE_MAX) > 0)
        ;
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(data, text, len);
    assert_false(tls_has_unread(pair.tls));
    pair_end(&pair);
}

TEST(what_does_not_fit_is_unread)
{
    char data[8];
    struct pair pair;
    size_t len;

    pair_open(&pair);
    pair_say(&pair, "0123456789");
    pair_say(&pair, "abc");
    assert_int_equal(tls_receive(pair.tls, data, 6, &len), IO_DONE);
    assert_int_equal(len, 6);
    assert_true(tls_has_unread(pair.tls));
    assert_int_equal(tls_receive(pair.tls, data, 6, &len), IO_DONE);
    assert_int_equal(len, 6); /* of two records */
    assert_memory_equal(data, "6789ab", len);
    assert_true(tls_has_unread(pair.tls));
    assert_int_equal(tls_receive(pair.tls, data, 6, &len), IO_DONE);
    assert_int_equal(len, 1);
    assert_false(tls_has_unread(pair.tls));
    assert_int_equal(tls_receive(pair.tls, data, 6, &len), IO_AGAIN_READ);
    pair_end(&pair);
}

TEST(half_a_record_is_waited_for)
{
    char data[100];
    struct pair pair;
    size_t len;

    pair_open(&pair);
    assert_int_equal(SSL_write(pair.client, "0123456789", 10), 10);
    while (pair_push(&pair, 1) > 0) {
        enum io_result result = tls_receive(pair.tls, data, sizeof(data), &len);

        assert_int_equal(result,
                         BIO_pending(pair.out) > 0 ? IO_AGAIN_READ : IO_DONE);
        assert_false(tls_has_unread(pair.tls));
    }
    assert_int_equal(len, 10);
    pair_end(&pair);
}

TEST(an_end_that_was_announced_is_no_cut)
{
    char data[10];
    struct pair pair;
    size_t len;

    pair_open(&pair);
    pair_say(&pair, "last");
    assert_int_equal(SSL_shutdown(pair.client), 0);
    (void)pair_push(&pair, SIZE_MAX);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 4);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_EOF);
    assert_false(tls_was_cut(pair.tls));
    pair_end(&pair);
}

TEST(an_end_without_a_word_is_a_cut)
{
    char data[10];
    struct pair pair;
    size_t len;

    pair_open(&pair);
    pair_say(&pair, "last");
    shutdown(pair.far_fd, SHUT_WR);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len), IO_EOF);
    assert_true(tls_was_cut(pair.tls));
    pair_end(&pair);
}

TEST(a_forged_record_ends_it)
{
    char data[10];
    struct pair pair;
    size_t len;

    pair_open(&pair);
    assert_int_equal(send(pair.far_fd,
                          "\x17\x03\x03\0\x14"
                          "0123456789abcdefghij",
                          25, 0),
                     25);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                     IO_FAILED);
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &len),
                     IO_FAILED);
    assert_int_equal(tls_send(pair.tls, &(struct iovec){data, 1}, 1, false,
                              &len),
                     IO_FAILED);
    assert_true(pair_pull(&pair, SIZE_MAX) > 0); /* an alert */
    pair_end(&pair);
}

/* --- The end ------------------------------------------------------------- */

TEST(the_end_is_announced_once)
{
    char data[10];
    struct pair pair;
    size_t pulled;

    pair_open(&pair);
    assert_int_equal(tls_shut_down(pair.tls), IO_DONE);
    pulled = pair_pull(&pair, SIZE_MAX);
    assert_true(pulled > 0);
    assert_int_equal(tls_shut_down(pair.tls), IO_DONE);
    assert_int_equal(pair_pull(&pair, SIZE_MAX), 0);
    assert_int_equal(SSL_read(pair.client, data, sizeof(data)), 0);
    assert_int_equal(SSL_get_error(pair.client, 0), SSL_ERROR_ZERO_RETURN);
    /* The other way is still open. */
    pair_say(&pair, "more");
    assert_int_equal(tls_receive(pair.tls, data, sizeof(data), &pulled),
                     IO_DONE);
    assert_int_equal(pulled, 4);
    pair_end(&pair);
}

TEST(nothing_is_said_to_who_is_gone)
{
    char data[10] = "";
    struct pair pair;
    size_t len;

    pair_open(&pair);
    close(pair.far_fd);
    pair.far_fd = -1;
    assert_int_equal(tls_send(pair.tls, &(struct iovec){data, 10}, 1, false,
                              &len),
                     IO_FAILED);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(tls_shut_down(pair.tls), IO_DONE);
    pair_end(&pair);
}

SUITE(.begin = pair_set_up, .end = pair_tear_down);
