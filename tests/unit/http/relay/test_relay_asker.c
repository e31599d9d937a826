#include "unit/http/relay/relay_fixture.h"

/* --- Who has asked ------------------------------------------------------- */

#define CLAIMS                                                            \
    "X-Forwarded-For: 203.0.113.9\r\nx-forwarded-for: 198.51.100.7\r\n"   \
    "X-Forwarded-Proto: https\r\nX-Forwarded-Host: b\r\n"                 \
    "X-Forwarded-Port: 443\r\nX-Forwarded-User: root\r\nX-Real-IP: 1\r\n" \
    "x-rewrite-url: /b\r\nX-Original-URL: /b\r\nX_Script-Name: /b\r\n"    \
    "Forwarded: for=203.0.113.9\r\n"

TEST(what_anybody_claims_is_dropped)
{
    assert_goes_on(GET_WITH(CLAIMS), GET_WITH(""));
    believe_in(FORWARDED_NONE);
    assert_goes_on(GET_WITH(CLAIMS), GET_WITH(""));
    believe_in(FORWARDED_X_FOR);
    assert_true(cidr_parse(&block, "10.0.0.0/8"));
    assert_goes_on(GET_WITH(CLAIMS), GET_WITH(""));
}

TEST(what_a_trusted_proxy_says_is_gone_on_with)
{
    believe_in(FORWARDED_X_FOR);
    assert_goes_on(GET_WITH(CLAIMS),
                   GET_WITH("X-Forwarded-Proto: https\r\n"
                            "X-Forwarded-Host: b\r\nX-Forwarded-Port: 443\r\n"
                            "X-Forwarded-User: root\r\nX-Real-IP: 1\r\n"
                            "x-rewrite-url: /b\r\nX-Original-URL: /b\r\n"
                            "Via: 1.1 sprintd\r\n"
                            "X-Forwarded-For: 203.0.113.9, 198.51.100.7, "
                            "192.0.2.1\r\n"));
    assert_goes_on(GET_WITH(""), GET_WITH("Via: 1.1 sprintd\r\n"
                                          "X-Forwarded-For: 192.0.2.1\r\n"
                                          "X-Forwarded-Proto: http\r\n"
                                          "X-Forwarded-Host: a\r\n"));
    believe_in(FORWARDED_RFC7239);
    assert_goes_on(GET_WITH(CLAIMS),
                   GET_WITH("Via: 1.1 sprintd\r\nForwarded: for=203.0.113.9, "
                            "for=192.0.2.1;proto=http;host=a\r\n"));
}

TEST(an_underscore_makes_no_other_name)
{
    assert_goes_on(
        GET_WITH("X_Forwarded_For: 1\r\nX-Forwarded_Proto: 2\r\n"
                 "x_real_ip: 3\r\nContent_Length: 4\r\nTransfer_Encoding: 5\r\n"
                 "X_Forwarded_Anything_That_Is_Long_Enough: 6\r\n"
                 "Content_Type: 7\r\nmy_field: 8\r\nMax_Forwards: 9\r\n"),
        GET_WITH("my_field: 8\r\n"));
}

TEST(addresses_and_hosts_are_quoted_where_they_must_be)
{
    assert_true(address_parse(&peer, BYTES("2001:db8::1")));
    assert_int_equal(relay_text(BYTES("GET / HTTP/1.1\r\nHost: [::1]:80\r\n"
                                      "\r\n")),
                     RELAY_DONE);
    storage[out.len] = '\0';
    assert_non_null(strstr(storage, "\r\nX-Forwarded-For: 2001:db8::1\r\n"));
    assert_non_null(strstr(storage, "\r\nX-Forwarded-Host: [::1]:80\r\n"));
    assert_non_null(strstr(storage, "\r\nForwarded: for=\"[2001:db8::1]\";"
                                    "proto=http;host=\"[::1]:80\"\r\n"));
    peer = (struct address){.family = ADDRESS_UNIX};
    from.scheme = BYTES("https");
    assert_int_equal(relay_text(BYTES("GET / HTTP/1.0\r\n\r\n")), RELAY_DONE);
    storage[out.len] = '\0';
    assert_non_null(strstr(storage, "\r\nVia: 1.0 sprintd\r\n"
                                    "X-Forwarded-For: unknown\r\n"
                                    "X-Forwarded-Proto: https\r\n"
                                    "Forwarded: for=unknown;proto=https\r\n"));
}

/* Applications take the fields for lists, or decode them; Host is Host. */
TEST(a_host_that_may_be_read_as_another_is_told_by_host_alone)
{
    static const char *const hosts[] = {"x,b", "x;host=b", "b%2ec", "a%2Cb:1"};
    char text[100];

    for (size_t i = 0; i < COUNT(hosts); i++) {
        snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n",
                 hosts[i]);
        assert_int_equal(relay_text(bytes_of(text)), RELAY_DONE);
        storage[out.len] = '\0';
        snprintf(text, sizeof(text), "\r\nHost: %s\r\n", hosts[i]);
        assert_non_null(strstr(storage, text));
        assert_non_null(strstr(storage, "\r\nForwarded: for=192.0.2.1;"
                                        "proto=http\r\n"));
        assert_null(strstr(storage, "X-Forwarded-Host"));
    }
}

/* --- Certificates -------------------------------------------------------- */

#define SHOWN                                            \
    GET_WITH("X-Forwarded-Tls-Client-Subject: CN=a\r\n"  \
             "X-FORWARDED-TLS-CLIENT-FINGERPRINT: 1\r\n" \
             "X_Forwarded_Tls_Client_Subject: CN=b\r\n"  \
             "X-Forwarded-Tls_Client-Fingerprint: 2\r\n")
#define PLAINLY "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

TEST(a_clients_certificate_is_told_by_us_alone)
{
    assert_string_equal(relayed(SHOWN), PLAINLY);
    relay.tells_client = true;
    assert_string_equal(relayed(SHOWN), PLAINLY);
    from.client_subject = BYTES("CN=alice");
    from.client_fingerprint = BYTES("0123");
    assert_string_equal(relayed(SHOWN),
                        "GET / HTTP/1.1\r\nHost: a\r\n"
                        "X-Forwarded-Tls-Client-Subject: CN=alice\r\n"
                        "X-Forwarded-Tls-Client-Fingerprint: 0123\r\n\r\n");
    relay.tells_client = false;
    assert_string_equal(relayed(SHOWN), PLAINLY);
}

TEST(not_even_a_trusted_proxy_tells_it_where_we_do)
{
    believe_in(FORWARDED_X_FOR);
    assert_non_null(strstr(relayed(SHOWN), "Client-Subject: CN=a\r\n"));
    relay.tells_client = true;
    assert_null(strstr(relayed(SHOWN), "CN="));
}

/* --- Rounds -------------------------------------------------------------- */

/* Through our name so many times, then others. */
static enum relay_verdict relay_rounds(unsigned rounds, const char *ours,
                                       const char *others)
{
    char text[2000];
    size_t len = (size_t)snprintf(text, sizeof(text),
                                  "GET / HTTP/1.1\r\nHost: a\r\n");

    for (unsigned i = 0; i < rounds; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
                                i % 2 ? ", "
                                : i   ? "\r\nVia: "
                                      : "Via: ",
                                ours);
    snprintf(text + len, sizeof(text) - len, "\r\nVia: %s\r\n\r\n", others);
    return relay_text(bytes_of(text));
}

TEST(a_request_that_comes_round_is_stopped)
{
    static const char *const ours[] = {"1.1 sprintd", "1.0 SPRINTD",
                                       "HTTP/1.1 sprintd (a b)",
                                       "1.1\t sprintd\t(c)"};

    for (size_t i = 0; i < COUNT(ours); i++) {
        assert_int_equal(relay_rounds(RELAY_ROUNDS_MAX - 1, ours[i], "1.1 x"),
                         RELAY_DONE);
        assert_int_equal(relay_rounds(RELAY_ROUNDS_MAX, ours[i], "1.1 x"),
                         RELAY_LOOP);
    }
    assert_int_equal(relay_rounds(20, "1.1 sprintd2", "sprintd"), RELAY_DONE);
    assert_int_equal(relay_rounds(20, "sprintd", ",,1.1, , sprintd 1.1"),
                     RELAY_DONE);
    assert_int_equal(relay_reason(RELAY_LOOP), REASON_LOOP);
}

TEST(hops_are_counted_down)
{
    assert_goes_on("OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 05\r\n\r\n",
                   "OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 4\r\n\r\n");
    assert_goes_on(GET_WITH("Max-Forwards: 0\r\n"),
                   GET_WITH("Max-Forwards: 0\r\n"));
    assert_int_equal(relay_text(BYTES("OPTIONS / HTTP/1.1\r\nHost: a\r\n"
                                      "Max-Forwards: 0\r\n\r\n")),
                     RELAY_LAST);
    assert_int_equal(relay_text(BYTES("TRACE / HTTP/1.1\r\nHost: a\r\n"
                                      "Max-Forwards: 0\r\n\r\n")),
                     RELAY_LAST);
}

TEST(a_count_of_hops_is_a_number)
{
    static const char *const counts[] = {"",
                                         "-1",
                                         "1x",
                                         "1, 2",
                                         "1\r\nMax-Forwards: 1",
                                         "1 1",
                                         "+1",
                                         "0x1",
                                         "1000000000000000000"};

    for (size_t i = 0; i < COUNT(counts); i++) {
        char text[200];

        snprintf(text, sizeof(text),
                 "OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: %s\r\n\r\n",
                 counts[i]);
        assert_int_equal(relay_text(bytes_of(text)), RELAY_BAD_COUNT);
    }
    assert_goes_on(
        "OPTIONS * HTTP/1.1\r\nHost: a\r\n"
        "Max-Forwards: 100000000000000000\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 99999999999999999\r\n"
        "\r\n");
}

SUITE(.each_begin = set_up);
