#include "io/tls/tls_schedule_priv.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include "suite.h"

/*
 * What OpenSSL asks for in a handshake is answered as its own algorithm would:
 * both are asked, and must agree.
 */

enum { OUT_MAX = 200 };

static struct tls_suite suites[TLS_SUITE_COUNT];
static EVP_KDF *ours;
static EVP_KDF *original;

struct question {
    int mode;
    const char *digest;
    struct bytes key, salt, prefix, label, data; /* without data: left out */
    size_t len;                                  /* that is asked for */
};

static OSSL_PARAM octets(const char *name, struct bytes value)
{
    return OSSL_PARAM_construct_octet_string(name,
                                             (void *)(uintptr_t)value.data,
                                             value.len);
}

static int ask(EVP_KDF *kdf, const struct question *question,
               unsigned char *out)
{
    const struct {
        const char *name;
        struct bytes value;
    } texts[] = {{OSSL_KDF_PARAM_KEY, question->key},
                 {OSSL_KDF_PARAM_SALT, question->salt},
                 {OSSL_KDF_PARAM_PREFIX, question->prefix},
                 {OSSL_KDF_PARAM_LABEL, question->label},
                 {OSSL_KDF_PARAM_DATA, question->data}};
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    OSSL_PARAM parameters[8];
    size_t count = 0;
    int mode = question->mode;
    int result;

    assert_non_null(context);
    parameters[count++] = OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode);
    parameters[count++] =
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                         (char *)(uintptr_t)question->digest,
                                         0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (texts[i].value.data)
            parameters[count++] = octets(texts[i].name, texts[i].value);
    parameters[count] = OSSL_PARAM_construct_end();
    result = EVP_KDF_derive(context, out, question->len, parameters);
    EVP_KDF_CTX_free(context);
    return result > 0;
}

static void expect_agreement(const struct question *question)
{
    unsigned char one[OUT_MAX] = {0};
    unsigned char other[OUT_MAX] = {0};
    int result = ask(ours, question, one);

    assert_int_equal(result, ask(original, question, other));
    if (result)
        assert_memory_equal(one, other, question->len);
}

static struct bytes make_text(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        text[i] = (char)random();
    return (struct bytes){text, len};
}

/* Questions of every kind that a handshake has, about few secrets again and
 * again. */
static void ask_at_random(int count)
{
    static const char *const labels[] = {
        "key", "iv", "finished", "s ap traffic", "c ap traffic", "res master"};
    char secrets[3][TLS_SECRET_MAX], texts[2][80];

    srandom(8446);
    for (size_t i = 0; i < 3; i++)
        (void)make_text(secrets[i], TLS_SECRET_MAX);
    for (int i = 0; i < count; i++) {
        bool is_long = random() % 2;
        size_t bytes = is_long ? 48 : 32;
        struct question question = {.digest = is_long ? "SHA2-384" : "SHA2-256",
                                    .prefix = BYTES("tls13 "),
                                    .label = BYTES("derived"),
                                    .len = bytes};
        struct bytes secret = {secrets[random() % 3], bytes};

        if (random() % 3 == 0) {
            question.mode = EVP_KDF_HKDF_MODE_EXTRACT_ONLY;
            if (random() % 4 > 0)
                question.salt = secret;
            if (random() % 4 > 0)
                question.key = make_text(texts[0], (size_t)random() % 80);
        } else {
            question.mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
            question.key = secret;
            question.label = bytes_of(labels[random() % 6]);
            question.len = 1 + (size_t)random() % bytes;
            if (random() % 2)
                question.data = make_text(texts[1], random() % 2 ? bytes : 0);
        }
        expect_agreement(&question);
    }
}

TEST(it_is_ours_that_a_context_finds)
{
    assert_string_equal(tls_schedule_properties(), "?provider=sprintd");
    assert_string_equal(OSSL_PROVIDER_get0_name(EVP_KDF_get0_provider(ours)),
                        "sprintd");
    assert_string_equal(
        OSSL_PROVIDER_get0_name(EVP_KDF_get0_provider(original)), "default");
}

TEST(a_handshake_gets_what_openssl_would_have_made)
{
    struct tls_secrets secrets = {.records = 0};

    tls_schedule_enter(suites, &secrets);
    ask_at_random(3000);
    tls_schedule_leave();
}

TEST(who_is_in_no_handshake_gets_the_same)
{
    ask_at_random(500);
}

/* Whatever it is, it is made as ever, or refused. */
TEST(what_tls_1_3_does_not_ask_for_is_left_to_openssl)
{
    static const char zeros[200];
    struct bytes secret = {zeros, 32};
    struct question usual = {EVP_KDF_HKDF_MODE_EXPAND_ONLY,
                             "SHA2-256",
                             .key = secret,
                             .prefix = BYTES("tls13 "),
                             .label = BYTES("key"),
                             .len = 32};
    struct question cases[10];
    struct tls_secrets secrets = {.records = 0};

    for (size_t i = 0; i < 10; i++)
        cases[i] = usual;
    cases[0].digest = "SHA2-512";
    cases[0].key.len = 64;
    cases[1].digest = "no digest";
    cases[2].prefix = BYTES("dtls13");
    cases[3].len = 33;
    cases[4].len = OUT_MAX;
    cases[5].key.len = 31;
    cases[6].key.len = 0;
    cases[7].data = (struct bytes){zeros, 65};
    cases[8].mode = EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND;
    cases[9].mode = EVP_KDF_HKDF_MODE_EXTRACT_ONLY;
    cases[9].salt = secret; /* and a label that no extraction has */
    tls_schedule_enter(suites, &secrets);
    for (size_t i = 0; i < 10; i++)
        expect_agreement(&cases[i]);
    tls_schedule_leave();
    assert_int_equal(secrets.client.secret_len, 0);
    assert_int_equal(secrets.server.secret_len, 0);
}

/* --- What is noted ------------------------------------------------------- */

static void expand(const unsigned char *secret, const char *label,
                   unsigned char *out, size_t len)
{
    struct question question = {
        EVP_KDF_HKDF_MODE_EXPAND_ONLY,     "SHA2-256",
        .key = {(const char *)secret, 32}, .prefix = BYTES("tls13 "),
        .label = bytes_of(label),          .len = len};

    assert_true(ask(ours, &question, out));
}

static void expand_all(const unsigned char *secret)
{
    unsigned char traffic[32], made[32];

    expand(secret, "s hs traffic", traffic, 32);
    expand(traffic, "key", made, 16);
    expand(traffic, "iv", made, 12);
    expand(traffic, "finished", made, 32);
    expand(secret, "s ap traffic", traffic, 32);
    expand(traffic, "key", made, 16);
    expand(traffic, "iv", made, 12);
    expand(secret, "exp master", traffic, 32);
    expand(traffic, "key", made, 16); /* as if there were one */
    expand(secret, "c ap traffic", traffic, 32);
    expand(traffic, "key", made, 16);
    expand(traffic, "iv", made, 12);
}

static void expect_keys(const struct tls_keys *keys,
                        const unsigned char *secret, const char *label)
{
    unsigned char made[32];

    expand(secret, label, made, 32);
    assert_int_equal(keys->secret_len, 32);
    assert_memory_equal(keys->secret, made, 32);
    expand(keys->secret, "key", made, 16);
    assert_int_equal(keys->key_len, 16);
    assert_memory_equal(keys->key, made, 16);
    expand(keys->secret, "iv", made, 12);
    assert_int_equal(keys->iv_len, 12);
    assert_memory_equal(keys->iv, made, 12);
}

TEST(the_keys_of_traffic_are_noted_and_no_others)
{
    static const unsigned char secret[32] = "what a handshake has agreed on.";
    struct tls_secrets secrets = {.records = 7};

    tls_schedule_enter(suites, &secrets);
    expand_all(secret);
    tls_schedule_leave();
    expect_keys(&secrets.server, secret, "s ap traffic");
    expect_keys(&secrets.client, secret, "c ap traffic");
    assert_int_equal(secrets.records, 0); /* of the new key */
}

TEST(of_another_handshake_nothing_is_noted)
{
    static const unsigned char secret[32] = "of a client of ours, say.......";
    struct tls_secrets secrets = {.records = 7};

    tls_schedule_enter(suites, &secrets);
    tls_schedule_leave();
    expand_all(secret);
    assert_int_equal(secrets.records, 7);
    assert_int_equal(secrets.server.secret_len, 0);
    assert_int_equal(secrets.client.secret_len, 0);
}

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < TLS_SUITE_COUNT; i++)
        if (!tls_suite_init(&suites[i], (uint16_t)(TLS_SUITE_FIRST + i)))
            return -1;
    ours = EVP_KDF_fetch(NULL, "TLS13-KDF", tls_schedule_properties());
    original = EVP_KDF_fetch(NULL, "TLS13-KDF", "provider=default");
    return ours && original ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < TLS_SUITE_COUNT; i++)
        tls_suite_fini(&suites[i]);
    EVP_KDF_free(ours);
    EVP_KDF_free(original);
    return 0;
}

SUITE(.begin = set_up, .end = tear_down);
