#include "io/tls/tls_record.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

enum { LABEL_MAX = 32 };

/* --- Suites -------------------------------------------------------------- */

static EVP_MAC_CTX *make_mac(char *digest)
{
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *mac = hmac ? EVP_MAC_CTX_new(hmac) : NULL;

    EVP_MAC_free(hmac); /* mac has its own reference */
    if (mac && EVP_MAC_CTX_set_params(mac, parameters) == 1)
        return mac;
    EVP_MAC_CTX_free(mac);
    return NULL;
}

bool tls_suite_init(struct tls_suite *suite, uint16_t id)
{
    static const struct {
        const char *cipher;
        char digest[sizeof("SHA256")];
        size_t secret_bytes;
    } all[TLS_SUITE_COUNT] = {{"AES-128-GCM", "SHA256", 32},
                              {"AES-256-GCM", "SHA384", 48},
                              {"ChaCha20-Poly1305", "SHA256", 32}};
    size_t number = (size_t)id - TLS_SUITE_FIRST;
    char digest[sizeof(all->digest)];

    memcpy(digest, all[number].digest, sizeof(digest));
    *suite = (struct tls_suite){
        .cipher = EVP_CIPHER_fetch(NULL, all[number].cipher, NULL),
        .mac = make_mac(digest),
        .secret_bytes = all[number].secret_bytes,
        .id = id};
    if (suite->cipher && suite->mac)
        return true;
    tls_suite_fini(suite);
    return false;
}

void tls_suite_fini(struct tls_suite *suite)
{
    EVP_CIPHER_free(suite->cipher);
    EVP_MAC_CTX_free(suite->mac);
    *suite = (struct tls_suite){.id = 0};
}

/* --- Keys ---------------------------------------------------------------- */

/* The digest is shared by all connections, and would keep the last secret that
 * it was given until the next one comes. */
static void forget_secret(const struct tls_suite *suite)
{
    static const unsigned char nothing[TLS_SECRET_MAX];

    (void)EVP_MAC_init(suite->mac, nothing, suite->secret_bytes, NULL);
}

static bool give_secret(const struct tls_direction *direction)
{
    return EVP_MAC_init(direction->suite->mac, direction->secret,
                        direction->suite->secret_bytes, NULL) == 1;
}

/* HKDF-Expand-Label without a context (7.1), of at most one digest: so HMAC is
 * counted once. The secret was given before. */
static bool expand(const struct tls_direction *direction, const char *label,
                   unsigned char *out, size_t len)
{
    static const char prefix[] = "tls13 ";
    const struct tls_suite *suite = direction->suite;
    size_t label_len = sizeof(prefix) - 1 + strlen(label);
    unsigned char info[3 + LABEL_MAX + 2] = {(unsigned char)(len >> 8),
                                             (unsigned char)len,
                                             (unsigned char)label_len};
    unsigned char block[EVP_MAX_MD_SIZE];
    size_t block_len;
    bool is_done;

    memcpy(info + 3, prefix, sizeof(prefix) - 1);
    memcpy(info + 3 + sizeof(prefix) - 1, label, strlen(label));
    info[3 + label_len] = 0;     /* no context */
    info[3 + label_len + 1] = 1; /* the first block, which is enough */
    is_done = EVP_MAC_init(suite->mac, NULL, 0, NULL) == 1 &&
              EVP_MAC_update(suite->mac, info, 3 + label_len + 2) == 1 &&
              EVP_MAC_final(suite->mac, block, &block_len, sizeof(block)) == 1;
    if (is_done)
        memcpy(out, block, len);
    OPENSSL_cleanse(block, sizeof(block));
    return is_done;
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
    bool is_done = give_secret(direction) && expand_key(direction, key_out);

    forget_secret(direction->suite);
    return is_done;
}

static bool make_key(struct tls_direction *direction)
{
    const EVP_CIPHER *cipher = direction->suite->cipher;
    unsigned char key[TLS_KEY_MAX];
    bool is_done = give_secret(direction) && expand_key(direction, key) &&
                   expand(direction, "iv", direction->iv, TLS_IV_BYTES) &&
                   EVP_CipherInit_ex2(direction->cipher, cipher, key, NULL,
                                      direction->seals, NULL) == 1;

    forget_secret(direction->suite);
    OPENSSL_cleanse(key, sizeof(key));
    direction->sequence = 0;
    return is_done;
}

bool tls_direction_init(struct tls_direction *direction,
                        const struct tls_suite *suite, struct bytes secret,
                        bool seals)
{
    *direction = (struct tls_direction){.suite = suite, .seals = seals};
    if (secret.len != suite->secret_bytes)
        return false;
    memcpy(direction->secret, secret.data, secret.len);
    direction->cipher = EVP_CIPHER_CTX_new();
    if (direction->cipher && make_key(direction))
        return true;
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
    return give_secret(direction) &&
           expand(direction, "traffic upd", direction->secret,
                  direction->suite->secret_bytes) &&
           make_key(direction);
}

/* The counter, big-endian, over the end of the vector (5.3). */
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
    head[1] = head[2] = 3; /* as in TLS 1.2 (5.1) */
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
