#include "io/tls/tls_hkdf.h"

#include <string.h>

#include "suite.h"

/* RFC 8448 3, a simple connection; CLIENT and SERVER are of its handshake. */
#define SHARED                         \
    "\x8b\xd4\x05\x4f\xb5\x5b\x9d\x63" \
    "\xfd\xfb\xac\xf9\xf0\x4b\x9f\x0d" \
    "\x35\xe6\xd6\x3f\x53\x75\x63\xef" \
    "\xd4\x62\x72\x90\x0f\x89\x49\x2d"
#define EARLY                          \
    "\x33\xad\x0a\x1c\x60\x7e\xc0\x3b" \
    "\x09\xe6\xcd\x98\x93\x68\x0c\xe2" \
    "\x10\xad\xf3\x00\xaa\x1f\x26\x60" \
    "\xe1\xb2\x2e\x10\xf1\x70\xf9\x2a"
#define HANDSHAKE                      \
    "\x1d\xc8\x26\xe9\x36\x06\xaa\x6f" \
    "\xdc\x0a\xad\xc1\x2f\x74\x1b\x01" \
    "\x04\x6a\xa6\xb9\x9f\x69\x1e\xd2" \
    "\x21\xa9\xf0\xca\x04\x3f\xbe\xac"
#define MASTER                         \
    "\x18\xdf\x06\x84\x3d\x13\xa0\x8b" \
    "\xf2\xa4\x49\x84\x4c\x5f\x8a\x47" \
    "\x80\x01\xbc\x4d\x4c\x62\x79\x84" \
    "\xd5\xa4\x1d\xa8\xd0\x40\x29\x19"
#define CLIENT                         \
    "\xb3\xed\xdb\x12\x6e\x06\x7f\x35" \
    "\xa7\x80\xb3\xab\xf4\x5e\x2d\x8f" \
    "\x3b\x1a\x95\x07\x38\xf5\x2e\x96" \
    "\x00\x74\x6a\x0e\x27\xa5\x5a\x21"
#define SERVER                         \
    "\xb6\x7b\x7d\x69\x0c\xc1\x6c\x4e" \
    "\x75\xe5\x42\x13\xcb\x2d\x37\xb4" \
    "\xe9\xc9\x12\xbc\xde\xd9\x10\x5d" \
    "\x42\xbe\xfd\x59\xd3\x91\xad\x38"
#define SERVER_KEY                     \
    "\x3f\xce\x51\x60\x09\xc2\x17\x27" \
    "\xd0\xf2\xe4\xe8\x6e\xe4\x03\xbc"
#define CLIENT_KEY                     \
    "\xdb\xfa\xa6\x93\xd1\x76\x2c\x5b" \
    "\x66\x6a\xf5\xd9\x50\x25\x8d\x01"
#define CLIENT_VECTOR "\x5b\xd3\xc7\x1b\x83\x6e\x0b\x76\xbb\x73\x26\x5f"
#define SERVER_VECTOR "\x5d\x31\x3e\xb2\x67\x12\x76\xee\x13\x00\x0b\x30"

static struct tls_hkdf *sha256;
static struct tls_hkdf *sha384;

TEST(the_secrets_of_rfc_8448_come_out_in_their_order)
{
    unsigned char early[TLS_SECRET_MAX];
    unsigned char handshake[TLS_SECRET_MAX];
    unsigned char master[TLS_SECRET_MAX];
    struct bytes none = {NULL, 0};

    assert_true(tls_hkdf_extract(sha256, none, none, early));
    assert_memory_equal(early, EARLY, 32);
    assert_true(tls_hkdf_extract(sha256, BYTES(EARLY), BYTES(SHARED),
                                 handshake));
    assert_memory_equal(handshake, HANDSHAKE, 32);
    assert_true(tls_hkdf_extract(sha256, BYTES(HANDSHAKE), none, master));
    assert_memory_equal(master, MASTER, 32);
}

/* Of one secret more than one, and of others between. */
TEST(the_keys_of_rfc_8448_come_out_in_any_order)
{
    const struct {
        struct bytes secret, label, made;
    } cases[] = {{BYTES(SERVER), BYTES("key"), BYTES(SERVER_KEY)},
                 {BYTES(SERVER), BYTES("iv"), BYTES(SERVER_VECTOR)},
                 {BYTES(CLIENT), BYTES("key"), BYTES(CLIENT_KEY)},
                 {BYTES(CLIENT), BYTES("iv"), BYTES(CLIENT_VECTOR)}};
    enum { CASES = sizeof(cases) / sizeof(*cases) };

    srandom(1);
    for (size_t i = 0; i < 1000; i++) {
        size_t number = (size_t)random() % CASES;
        unsigned char made[TLS_SECRET_MAX];

        assert_true(tls_hkdf_expand(sha256, cases[number].secret,
                                    cases[number].label,
                                    (struct bytes){NULL, 0}, made,
                                    cases[number].made.len));
        assert_memory_equal(made, cases[number].made.data,
                            cases[number].made.len);
        if (i % 7 == 0)
            tls_hkdf_forget(sha256);
    }
}

TEST(secrets_are_as_long_as_a_digest)
{
    unsigned char out[TLS_SECRET_MAX] = "before";
    char secret[TLS_SECRET_MAX + 1] = {0};
    struct bytes none = {NULL, 0};

    assert_int_equal(tls_hkdf_secret_bytes(sha256), 32);
    assert_int_equal(tls_hkdf_secret_bytes(sha384), 48);
    for (size_t len = 0; len <= sizeof(secret); len++) {
        struct bytes given = {secret, len};

        assert_int_equal(tls_hkdf_expand(sha256, given, BYTES("key"), none, out,
                                         16),
                         len == 32);
        assert_int_equal(tls_hkdf_expand(sha384, given, BYTES("key"), none, out,
                                         16),
                         len == 48);
        assert_int_equal(tls_hkdf_extract(sha256, given, none, out),
                         len == 0 || len == 32);
        assert_int_equal(tls_hkdf_extract(sha384, given, none, out),
                         len == 0 || len == 48);
    }
}

TEST(nothing_is_written_of_what_is_too_long)
{
    static const char text[300];
    unsigned char out[TLS_SECRET_MAX + 1] = "before";

    assert_false(tls_hkdf_expand(sha256, BYTES(MASTER), BYTES("key"),
                                 (struct bytes){NULL, 0}, out, 33));
    assert_false(tls_hkdf_expand(sha256, BYTES(MASTER),
                                 (struct bytes){text, 250},
                                 (struct bytes){NULL, 0}, out, 32));
    assert_false(tls_hkdf_expand(sha256, BYTES(MASTER), BYTES("key"),
                                 (struct bytes){text, 65}, out, 32));
    assert_string_equal(out, "before");
    assert_true(tls_hkdf_expand(sha256, BYTES(MASTER),
                                (struct bytes){text, 249},
                                (struct bytes){text, 64}, out, 32));
    assert_true(tls_hkdf_expand(sha256, BYTES(MASTER), (struct bytes){NULL, 0},
                                (struct bytes){NULL, 0}, out, 0));
}

static int set_up(void **state)
{
    (void)state;
    sha256 = tls_hkdf_create(TLS_SHA256);
    sha384 = tls_hkdf_create(TLS_SHA384);
    return sha256 && sha384 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tls_hkdf_destroy(sha256);
    tls_hkdf_destroy(sha384);
    tls_hkdf_destroy(NULL);
    return 0;
}

SUITE(.begin = set_up, .end = tear_down);
