#include "acme/acme_key_priv.h"

#include <stdlib.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include "base/base64.h"

enum { RSA_BITS = 2048, FIELD_BYTES_MAX = 48, NUMBER_BYTES_MAX = 1024 };

struct acme_key {
    EVP_PKEY *key;
    enum acme_key_kind kind;
};

/* --- Making and loading -------------------------------------------------- */

static struct acme_key *adopt(EVP_PKEY *evp, enum acme_key_kind kind)
{
    struct acme_key *key = evp ? calloc(1, sizeof(*key)) : NULL;

    if (!key) {
        EVP_PKEY_free(evp);
        return NULL;
    }
    key->key = evp;
    key->kind = kind;
    return key;
}

struct acme_key *acme_key_create(enum acme_key_kind kind)
{
    switch (kind) {
    case ACME_KEY_P256:
        return adopt(EVP_EC_gen("P-256"), kind);
    case ACME_KEY_P384:
        return adopt(EVP_EC_gen("P-384"), kind);
    case ACME_KEY_RSA2048:
        return adopt(EVP_RSA_gen(RSA_BITS), kind);
    }
    return NULL;
}

/* Refuses to ask for a key's password, since nobody is there to enter it. */
static int refuse_password(char *to, int size, int writes, void *context)
{
    (void)to;
    (void)size;
    (void)writes;
    (void)context;
    return -1;
}

static bool find_kind(EVP_PKEY *key, enum acme_key_kind *kind_out)
{
    *kind_out = ACME_KEY_RSA2048;
    if (EVP_PKEY_is_a(key, "RSA"))
        return EVP_PKEY_get_bits(key) >= RSA_BITS &&
               EVP_PKEY_get_bits(key) <= NUMBER_BYTES_MAX * 8;
    *kind_out = EVP_PKEY_get_bits(key) == 384 ? ACME_KEY_P384 : ACME_KEY_P256;
    return EVP_PKEY_is_a(key, "EC") &&
           (EVP_PKEY_get_bits(key) == 256 || EVP_PKEY_get_bits(key) == 384);
}

struct acme_key *acme_key_load(struct bytes pem)
{
    BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
    EVP_PKEY *key = NULL;
    enum acme_key_kind kind;

    if (bio)
        key = PEM_read_bio_PrivateKey(bio, NULL, refuse_password, NULL);
    BIO_free(bio);
    ERR_clear_error();
    if (key && find_kind(key, &kind))
        return adopt(key, kind);
    EVP_PKEY_free(key);
    return NULL;
}

void acme_key_destroy(struct acme_key *key)
{
    if (!key)
        return;
    EVP_PKEY_free(key->key);
    free(key);
}

bool acme_key_put_pem(const struct acme_key *key, struct buf *pem)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    const char *text = NULL;
    long len = 0;

    if (bio && PEM_write_bio_PKCS8PrivateKey(bio, key->key, NULL, NULL, 0, NULL,
                                             NULL) == 1)
        len = BIO_get_mem_data(bio, &text);
    if (len > 0)
        buf_put(pem, (struct bytes){text, (size_t)len});
    BIO_free(bio); /* wipes its text, being a BIO_s_secmem */
    return len > 0 && !pem->failed;
}

struct evp_pkey_st *acme_key_evp(const struct acme_key *key)
{
    return key->key;
}

/* --- As JSON ------------------------------------------------------------- */

const char *acme_key_algorithm(const struct acme_key *key)
{
    switch (key->kind) {
    case ACME_KEY_P256:
        return "ES256";
    case ACME_KEY_P384:
        return "ES384";
    case ACME_KEY_RSA2048:
        break;
    }
    return "RS256";
}

static size_t field_bytes(const struct acme_key *key)
{
    return key->kind == ACME_KEY_P384 ? FIELD_BYTES_MAX : 32;
}

/* Appends a number of the key in base64url. Zeros are put before the number
 * until it has `bytes` bytes; none if `bytes` is 0. */
static bool put_number(const struct acme_key *key, const char *name,
                       size_t bytes, struct buf *json)
{
    unsigned char octets[NUMBER_BYTES_MAX];
    BIGNUM *number = NULL;
    int len = -1;

    if (EVP_PKEY_get_bn_param(key->key, name, &number) == 1 &&
        BN_num_bytes(number) <= NUMBER_BYTES_MAX)
        len = BN_bn2binpad(number, octets,
                           bytes > 0 ? (int)bytes : BN_num_bytes(number));
    BN_free(number);
    if (len > 0)
        base64_put_url(json, (struct bytes){(char *)octets, (size_t)len});
    return len > 0;
}

static bool put_curve(const struct acme_key *key, struct buf *json)
{
    size_t bytes = field_bytes(key);

    buf_printf(json, "{\"crv\":\"%s\",\"kty\":\"EC\",\"x\":\"",
               key->kind == ACME_KEY_P384 ? "P-384" : "P-256");
    if (!put_number(key, OSSL_PKEY_PARAM_EC_PUB_X, bytes, json))
        return false;
    buf_put_literal(json, "\",\"y\":\"");
    if (!put_number(key, OSSL_PKEY_PARAM_EC_PUB_Y, bytes, json))
        return false;
    buf_put_literal(json, "\"}");
    return !json->failed;
}

bool acme_key_put_jwk(const struct acme_key *key, struct buf *json)
{
    if (key->kind != ACME_KEY_RSA2048)
        return put_curve(key, json);
    buf_put_literal(json, "{\"e\":\"");
    if (!put_number(key, OSSL_PKEY_PARAM_RSA_E, 0, json))
        return false;
    buf_put_literal(json, "\",\"kty\":\"RSA\",\"n\":\"");
    if (!put_number(key, OSSL_PKEY_PARAM_RSA_N, 0, json))
        return false;
    buf_put_literal(json, "\"}");
    return !json->failed;
}

bool acme_key_put_thumbprint(const struct acme_key *key, struct buf *text)
{
    unsigned char digest[ACME_DIGEST_BYTES];
    struct buf jwk;
    bool is_done;

    buf_init(&jwk, NULL, 0, ACME_KEY_PEM_MAX);
    is_done = acme_key_put_jwk(key, &jwk) &&
              acme_digest(buf_bytes(&jwk), digest);
    buf_fini(&jwk);
    if (is_done)
        base64_put_url(text, (struct bytes){(char *)digest, sizeof(digest)});
    return is_done && !text->failed;
}

/* --- Signing ------------------------------------------------------------- */

/* Appends the two numbers of an ECDSA signature one after the other, as JSON
 * needs them (RFC 7518 3.4). `der` is OpenSSL's form of them, in ASN.1. */
static bool put_pair(const struct acme_key *key, const unsigned char *der,
                     size_t len, struct buf *signature)
{
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)len);
    unsigned char octets[2 * FIELD_BYTES_MAX];
    int bytes = (int)field_bytes(key);
    bool is_done =
        pair && BN_bn2binpad(ECDSA_SIG_get0_r(pair), octets, bytes) == bytes &&
        BN_bn2binpad(ECDSA_SIG_get0_s(pair), octets + bytes, bytes) == bytes;

    ECDSA_SIG_free(pair);
    if (is_done)
        base64_put_url(signature,
                       (struct bytes){(char *)octets, 2 * (size_t)bytes});
    return is_done && !signature->failed;
}

bool acme_key_sign(const struct acme_key *key, struct bytes text,
                   struct buf *signature)
{
    const EVP_MD *digest = key->kind == ACME_KEY_P384 ? EVP_sha384()
                                                      : EVP_sha256();
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    unsigned char der[NUMBER_BYTES_MAX];
    size_t len = sizeof(der);
    bool is_done = context &&
                   EVP_DigestSignInit(context, NULL, digest, NULL, key->key) ==
                       1 &&
                   EVP_DigestSign(context, der, &len,
                                  (const unsigned char *)text.data,
                                  text.len) == 1;

    EVP_MD_CTX_free(context);
    if (!is_done)
        return false;
    if (key->kind != ACME_KEY_RSA2048)
        return put_pair(key, der, len, signature);
    base64_put_url(signature, (struct bytes){(char *)der, len});
    return !signature->failed;
}

bool acme_digest(struct bytes text, unsigned char digest[ACME_DIGEST_BYTES])
{
    return EVP_Digest(text.data, text.len, digest, NULL, EVP_sha256(), NULL) ==
           1;
}

bool acme_hmac(struct bytes secret, struct bytes text,
               unsigned char digest[ACME_DIGEST_BYTES])
{
    unsigned len = ACME_DIGEST_BYTES;

    return HMAC(EVP_sha256(), secret.data, (int)secret.len,
                (const unsigned char *)text.data, text.len, digest, &len);
}
