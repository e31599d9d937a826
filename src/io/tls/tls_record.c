#include "io/tls/tls_record.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

/* --- Suites -------------------------------------------------------------- */

bool tls_suite_init(struct tls_suite *suite, uint16_t id)
{
    static const struct {
        const char *cipher;
        enum tls_digest digest;
    } all[TLS_SUITE_COUNT] = {{"AES-128-GCM", TLS_SHA256},
                              {"AES-256-GCM", TLS_SHA384},
                              {"ChaCha20-Poly1305", TLS_SHA256}};
    size_t number = (size_t)id - TLS_SUITE_FIRST;

    *suite = (struct tls_suite){
        .cipher = EVP_CIPHER_fetch(NULL, all[number].cipher, NULL),
        .hkdf = tls_hkdf_create(all[number].digest),
        .id = id};
    if (suite->cipher && suite->hkdf) {
        suite->secret_bytes = tls_hkdf_secret_bytes(suite->hkdf);
        return true;
    }
    tls_suite_fini(suite);
    return false;
}

void tls_suite_fini(struct tls_suite *suite)
{
    EVP_CIPHER_free(suite->cipher);
    tls_hkdf_destroy(suite->hkdf);
    *suite = (struct tls_suite){.id = 0};
}

/* --- Keys ---------------------------------------------------------------- */

static bool expand(const struct tls_direction *direction, const char *label,
                   unsigned char *out, size_t len)
{
    const struct tls_suite *suite = direction->suite;
    struct bytes secret = {(const char *)direction->secret,
                           suite->secret_bytes};

    return tls_hkdf_expand(suite->hkdf, secret, bytes_of(label),
                           (struct bytes){NULL, 0}, out, len);
}

static bool expand_key(const struct tls_direction *direction,
                       unsigned char key_out[TLS_KEY_MAX])
{
    int len = EVP_CIPHER_get_key_length(direction->suite->cipher);

    return expand(direction, "key", key_out, (size_t)len);
}

bool tls_direction_find_key(const struct tls_direction *direction,
                            unsigned char key_out[TLS_KEY_MAX])
{
    bool is_done = expand_key(direction, key_out);

    tls_hkdf_forget(direction->suite->hkdf);
    return is_done;
}

static bool use_key(struct tls_direction *direction, const unsigned char *key)
{
    direction->sequence = 0;
    return EVP_CipherInit_ex2(direction->cipher, direction->suite->cipher, key,
                              NULL, direction->seals, NULL) == 1;
}

/* Makes the key of a direction from its secret. Then the suite forgets the
 * secret at once: all connections share the suite, which would otherwise keep
 * the secret until it gets another one. */
static bool make_key(struct tls_direction *direction)
{
    unsigned char key[TLS_KEY_MAX];
    bool is_done = expand_key(direction, key) &&
                   expand(direction, "iv", direction->iv, TLS_IV_BYTES) &&
                   use_key(direction, key);

    tls_hkdf_forget(direction->suite->hkdf);
    OPENSSL_cleanse(key, sizeof(key));
    return is_done;
}

/* Begins a direction with a secret. Returns false when the secret is not as
 * long as the suite's, or memory is short. */
static bool begin(struct tls_direction *direction,
                  const struct tls_suite *suite, struct bytes secret,
                  bool seals)
{
    *direction = (struct tls_direction){.suite = suite, .seals = seals};
    if (secret.len != suite->secret_bytes)
        return false;
    memcpy(direction->secret, secret.data, secret.len);
    direction->cipher = EVP_CIPHER_CTX_new();
    return direction->cipher;
}

bool tls_direction_init(struct tls_direction *direction,
                        const struct tls_suite *suite, struct bytes secret,
                        bool seals)
{
    if (begin(direction, suite, secret, seals) && make_key(direction))
        return true;
    tls_direction_fini(direction);
    return false;
}

bool tls_direction_take(struct tls_direction *direction,
                        const struct tls_suite *suite,
                        const struct tls_keys *keys, bool seals)
{
    struct bytes secret = {(const char *)keys->secret, keys->secret_len};
    bool is_begun = begin(direction, suite, secret, seals);

    if (is_begun && keys->iv_len == TLS_IV_BYTES &&
        keys->key_len == (size_t)EVP_CIPHER_get_key_length(suite->cipher)) {
        memcpy(direction->iv, keys->iv, TLS_IV_BYTES);
        if (use_key(direction, keys->key))
            return true;
    }
    tls_direction_fini(direction);
    return false;
}

void tls_direction_fini(struct tls_direction *direction)
{
    EVP_CIPHER_CTX_free(direction->cipher);
    OPENSSL_cleanse(direction, sizeof(*direction));
}

bool tls_direction_update(struct tls_direction *direction)
{
    unsigned char next[TLS_SECRET_MAX];
    bool is_done = expand(direction, "traffic upd", next,
                          direction->suite->secret_bytes);

    if (is_done)
        memcpy(direction->secret, next, direction->suite->secret_bytes);
    OPENSSL_cleanse(next, sizeof(next));
    return is_done && make_key(direction);
}

/* Makes the nonce: the vector, its end xored with the big-endian counter (RFC
 * 8446 5.3). */
static void make_nonce(const struct tls_direction *direction,
                       unsigned char nonce[TLS_IV_BYTES])
{
    memcpy(nonce, direction->iv, TLS_IV_BYTES);
    for (int i = 0; i < 8; i++)
        nonce[TLS_IV_BYTES - 1 - i] ^= (unsigned char)(direction->sequence >>
                                                       8 * i);
}

/* --- Records ------------------------------------------------------------- */

static void write_head(unsigned char *head, size_t len)
{
    head[0] = TLS_CONTENT_DATA;
    head[1] = head[2] = 3; /* as in TLS 1.2 (RFC 8446 5.1) */
    head[3] = (unsigned char)(len >> 8);
    head[4] = (unsigned char)len;
}

size_t tls_record_seal(struct tls_direction *direction, enum tls_content type,
                       const char *payload, size_t len, char *out)
{
    EVP_CIPHER_CTX *cipher = direction->cipher;
    unsigned char *head = (unsigned char *)out;
    unsigned char *body = head + TLS_RECORD_HEAD;
    unsigned char last = (unsigned char)type;
    unsigned char nonce[TLS_IV_BYTES];
    int n;

    write_head(head, len + 1 + TLS_RECORD_TAG);
    make_nonce(direction, nonce);
    if (EVP_EncryptInit_ex2(cipher, NULL, NULL, nonce, NULL) != 1 ||
        EVP_EncryptUpdate(cipher, NULL, &n, head, TLS_RECORD_HEAD) != 1 ||
        (len > 0 &&
         EVP_EncryptUpdate(cipher, body, &n, (const unsigned char *)payload,
                           (int)len) != 1) ||
        EVP_EncryptUpdate(cipher, body + len, &n, &last, 1) != 1 ||
        EVP_EncryptFinal_ex(cipher, body + len + 1, &n) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, TLS_RECORD_TAG,
                            body + len + 1) != 1)
        return 0;
    direction->sequence++;
    return len + TLS_RECORD_SEALED;
}

size_t tls_record_length(struct bytes begun)
{
    const unsigned char *head = (const unsigned char *)begun.data;

    return begun.len < TLS_RECORD_HEAD
               ? 0
               : TLS_RECORD_HEAD + ((size_t)head[3] << 8 | head[4]);
}

static bool decrypt(struct tls_direction *direction, unsigned char *record,
                    size_t len)
{
    EVP_CIPHER_CTX *cipher = direction->cipher;
    unsigned char *body = record + TLS_RECORD_HEAD;
    unsigned char nonce[TLS_IV_BYTES];
    int n;

    make_nonce(direction, nonce);
    return EVP_DecryptInit_ex2(cipher, NULL, NULL, nonce, NULL) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, TLS_RECORD_TAG,
                               body + len) == 1 &&
           EVP_DecryptUpdate(cipher, NULL, &n, record, TLS_RECORD_HEAD) == 1 &&
           EVP_DecryptUpdate(cipher, body, &n, body, (int)len) == 1 &&
           EVP_DecryptFinal_ex(cipher, body + len, &n) == 1;
}

enum tls_alert tls_record_open(struct tls_direction *direction, char *record,
                               size_t len, enum tls_content *type_out,
                               struct bytes *payload_out)
{
    char *body = record + TLS_RECORD_HEAD;

    if (record[0] != TLS_CONTENT_DATA)
        return TLS_ALERT_UNEXPECTED_MESSAGE;
    if (len > TLS_RECORD_MAX ||
        tls_record_length((struct bytes){record, len}) > TLS_RECORD_MAX)
        return TLS_ALERT_RECORD_OVERFLOW;
    if (len < TLS_RECORD_SEALED)
        return TLS_ALERT_BAD_RECORD_MAC;
    len -= TLS_RECORD_HEAD + TLS_RECORD_TAG;
    if (!decrypt(direction, (unsigned char *)record, len))
        return TLS_ALERT_BAD_RECORD_MAC;
    direction->sequence++;
    if (len > TLS_RECORD_BYTES + 1)
        return TLS_ALERT_RECORD_OVERFLOW;
    while (len > 0 && body[len - 1] == 0)
        len--;
    if (len == 0)
        return TLS_ALERT_UNEXPECTED_MESSAGE;
    *type_out = (enum tls_content)(unsigned char)body[len - 1];
    *payload_out = (struct bytes){body, len - 1};
    return TLS_ALERT_NONE;
}
