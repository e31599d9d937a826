#include "acme/acme_key.h"

#include "acme/acme_jws.h"
#include "acme/acme_x509.h"
#include "base/base64.h"
#include "base/json_read.h"
#include "io/tls/tls_certificate.h"
#include "suite.h"

static const enum acme_key_kind kinds[] = {ACME_KEY_P256, ACME_KEY_P384,
                                           ACME_KEY_RSA2048};

TEST(keys_survive_being_written)
{
    for (size_t i = 0; i < 3; i++) {
        struct acme_key *key = acme_key_create(kinds[i]);
        struct acme_key *again;
        char jwk[2048], other[2048];
        struct buf pem, one, two;

        assert_non_null(key);
        buf_init(&pem, NULL, 0, ACME_KEY_PEM_MAX);
        buf_init(&one, jwk, sizeof(jwk), sizeof(jwk));
        buf_init(&two, other, sizeof(other), sizeof(other));
        assert_true(acme_key_put_pem(key, &pem));
        again = acme_key_load(buf_bytes(&pem));
        assert_non_null(again);
        assert_true(acme_key_put_jwk(key, &one));
        assert_true(acme_key_put_jwk(again, &two));
        assert_true(bytes_eq(buf_bytes(&one), buf_bytes(&two)));
        assert_string_equal(acme_key_algorithm(key), acme_key_algorithm(again));
        acme_key_destroy(key);
        acme_key_destroy(again);
        buf_fini(&pem);
    }
}

TEST(what_is_no_key_is_none)
{
    static const char *const bad[] = {
        "", "hello",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_null(acme_key_load(bytes_of(bad[i])));
}

/* Numbers of curves have all their zeros: 100 keys have some that begin so. */
TEST(numbers_have_one_length)
{
    for (int i = 0; i < 100; i++) {
        struct acme_key *key = acme_key_create(ACME_KEY_P256);
        char text[512];
        struct buf json;
        struct json_reader read;

        buf_init(&json, text, sizeof(text), sizeof(text));
        assert_true(acme_key_put_jwk(key, &json));
        assert_int_equal(json_read(&read, buf_bytes(&json)), 0);
        assert_int_equal(json_find(read.values, "x")->text.len, 43);
        assert_int_equal(json_find(read.values, "y")->text.len, 43);
        json_fini(&read);
        json.len = 0;
        assert_true(acme_key_sign(key, BYTES("text"), &json));
        assert_int_equal(json.len, 86);
        acme_key_destroy(key);
    }
}

/* The example of RFC 7515 A.1. */
TEST(secrets_sign_as_the_rfc_has_it)
{
    static const char secret64[] =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcg"
        "UuTwjAzZr1Z9CAow";
    static const char input[] =
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAi"
        "OjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    char secret[128], text[64];
    unsigned char digest[ACME_DIGEST_BYTES];
    struct buf out;
    size_t len;

    assert_true(base64_decode_url(bytes_of(secret64), secret, &len));
    assert_int_equal(len, 64);
    assert_true(acme_hmac((struct bytes){secret, len}, bytes_of(input),
                          digest));
    buf_init(&out, text, sizeof(text), sizeof(text));
    base64_put_url(&out, (struct bytes){(char *)digest, sizeof(digest)});
    assert_true(bytes_eq(buf_bytes(&out),
                         BYTES("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")));
}

TEST(base64_of_urls_goes_both_ways)
{
    static const char *const bad[] = {"a", "ab=", "a+bc", "a/bc", "abcde"};
    char text[64], back[64];
    struct buf out;
    size_t len;

    for (size_t n = 0; n < 20; n++) {
        char bytes[20];

        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)(0xFB + i * 37);
        buf_init(&out, text, sizeof(text), sizeof(text));
        base64_put_url(&out, (struct bytes){bytes, n});
        assert_null(memchr(text, '=', out.len));
        assert_true(base64_decode_url(buf_bytes(&out), back, &len));
        assert_int_equal(len, n);
        assert_memory_equal(back, bytes, n);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(base64_decode_url(bytes_of(bad[i]), back, &len));
}

TEST(a_message_names_the_key_or_the_account)
{
    struct acme_key *key = acme_key_create(ACME_KEY_P256);
    struct acme_jws jws = {.key = key,
                           .nonce = "n\"1",
                           .url = "https://a.example/new",
                           .payload = BYTES("{}")};
    struct json_reader message, head;
    char decoded[2048];
    struct buf text;
    size_t len;

    for (int has_account = 0; has_account < 2; has_account++) {
        buf_init(&text, NULL, 0, 8192);
        jws.account = has_account ? "https://a.example/acct/1" : NULL;
        assert_true(acme_jws_put(&jws, &text));
        assert_int_equal(json_read(&message, buf_bytes(&text)), 0);
        assert_true(bytes_eq(json_find(message.values, "payload")->text,
                             BYTES("e30")));
        assert_true(base64_decode_url(
            json_find(message.values, "protected")->text, decoded, &len));
        assert_int_equal(json_read(&head, (struct bytes){decoded, len}), 0);
        assert_true((json_find(head.values, "kid") != NULL) == has_account);
        assert_true((json_find(head.values, "jwk") != NULL) == !has_account);
        assert_non_null(json_find(head.values, "nonce"));
        json_fini(&head);
        json_fini(&message);
        buf_fini(&text);
    }
    acme_key_destroy(key);
}

TEST(a_challenge_has_its_name_and_key)
{
    unsigned char digest[ACME_DIGEST_BYTES] = {1, 2, 3};
    struct tls_certificate *certificate;
    char fault[TLS_FAULT_MAX];
    struct buf pem;

    buf_init(&pem, NULL, 0, 65536);
    assert_true(acme_x509_put_challenge("a.example", digest, 1700000000, &pem));
    assert_int_equal(tls_certificate_create(&certificate, buf_bytes(&pem),
                                            buf_bytes(&pem), fault),
                     0);
    assert_true(tls_certificate_covers(certificate, BYTES("a.example")));
    assert_false(tls_certificate_covers(certificate, BYTES("b.example")));
    assert_string_equal(tls_certificate_issuer(certificate), "sprintd");
    tls_certificate_release(&certificate);
    buf_fini(&pem);
}

SUITE(.begin = NULL);
