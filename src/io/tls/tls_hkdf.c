/* The plain digests are OpenSSL's old interface, and the only one with a state
 * that can be copied by value. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "io/tls/tls_hkdf.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>

enum {
    BLOCK_MAX = SHA512_CBLOCK,
    PREFIX_BYTES = 6,
    LABEL_MAX = 249,  /* the longest that a length byte allows */
    CONTEXT_MAX = 64, /* at least as long as any digest */
    /* Room for two bytes of length; for the label and the context, each behind
     * a byte with its length; and for the number of the block. */
    INFO_MAX = 2 + 1 + PREFIX_BYTES + LABEL_MAX + 1 + CONTEXT_MAX + 1
};

union state {
    SHA256_CTX sha256;
    SHA512_CTX sha512; /* for SHA-384, too */
};

struct tls_hkdf {
    enum tls_digest digest;
    size_t secret_bytes;
    size_t block_bytes;
    unsigned char nothing[TLS_SECRET_MAX]; /* the digest of no bytes */
    bool has_key;
    unsigned char key[TLS_SECRET_MAX]; /* the key of `inner` and `outer` */
    union state inner;
    union state outer;
};

/* --- Digests ------------------------------------------------------------- */

static void begin(const struct tls_hkdf *hkdf, union state *state)
{
    if (hkdf->digest == TLS_SHA256)
        (void)SHA256_Init(&state->sha256);
    else
        (void)SHA384_Init(&state->sha512);
}

static void add(const struct tls_hkdf *hkdf, union state *state,
                const void *data, size_t len)
{
    if (hkdf->digest == TLS_SHA256)
        (void)SHA256_Update(&state->sha256, data, len);
    else
        (void)SHA384_Update(&state->sha512, data, len);
}

static void end(const struct tls_hkdf *hkdf, union state *state,
                unsigned char *out)
{
    if (hkdf->digest == TLS_SHA256)
        (void)SHA256_Final(out, &state->sha256);
    else
        (void)SHA384_Final(out, &state->sha512);
}

struct tls_hkdf *tls_hkdf_create(enum tls_digest digest)
{
    struct tls_hkdf *hkdf = OPENSSL_zalloc(sizeof(*hkdf));
    union state state;

    if (!hkdf)
        return NULL;
    hkdf->digest = digest;
    hkdf->secret_bytes = digest == TLS_SHA256 ? SHA256_DIGEST_LENGTH
                                              : SHA384_DIGEST_LENGTH;
    hkdf->block_bytes = digest == TLS_SHA256 ? SHA256_CBLOCK : SHA512_CBLOCK;
    begin(hkdf, &state);
    end(hkdf, &state, hkdf->nothing);
    return hkdf;
}

void tls_hkdf_destroy(struct tls_hkdf *hkdf)
{
    OPENSSL_clear_free(hkdf, sizeof(*hkdf));
}

size_t tls_hkdf_secret_bytes(const struct tls_hkdf *hkdf)
{
    return hkdf->secret_bytes;
}

void tls_hkdf_forget(struct tls_hkdf *hkdf)
{
    if (!hkdf->has_key)
        return;
    hkdf->has_key = false;
    OPENSSL_cleanse(hkdf->key, sizeof(hkdf->key));
    OPENSSL_cleanse(&hkdf->inner, sizeof(hkdf->inner));
    OPENSSL_cleanse(&hkdf->outer, sizeof(hkdf->outer));
}

/* --- HMAC (RFC 2104) ----------------------------------------------------- */

static void begin_padded(const struct tls_hkdf *hkdf, union state *state,
                         unsigned char pad)
{
    unsigned char block[BLOCK_MAX];

    memset(block, pad, hkdf->block_bytes);
    for (size_t i = 0; i < hkdf->secret_bytes; i++)
        block[i] ^= hkdf->key[i];
    begin(hkdf, state);
    add(hkdf, state, block, hkdf->block_bytes);
    OPENSSL_cleanse(block, hkdf->block_bytes);
}

/* Begins HMAC with `key`, which is as long as a digest. Several secrets in a
 * row are often made with one key. So nothing is computed again when `key` is
 * the key of the last call. */
static void set_key(struct tls_hkdf *hkdf, const unsigned char *key)
{
    enum { INNER = 0x36, OUTER = 0x5c };

    if (hkdf->has_key && memcmp(hkdf->key, key, hkdf->secret_bytes) == 0)
        return;
    memcpy(hkdf->key, key, hkdf->secret_bytes);
    hkdf->has_key = true;
    begin_padded(hkdf, &hkdf->inner, INNER);
    begin_padded(hkdf, &hkdf->outer, OUTER);
}

static void authenticate(const struct tls_hkdf *hkdf, const void *data,
                         size_t len, unsigned char out[TLS_SECRET_MAX])
{
    union state state = hkdf->inner;

    add(hkdf, &state, data, len);
    end(hkdf, &state, out);
    state = hkdf->outer;
    add(hkdf, &state, out, hkdf->secret_bytes);
    end(hkdf, &state, out);
    OPENSSL_cleanse(&state, sizeof(state));
}

/* --- HKDF ---------------------------------------------------------------- */

static size_t append(unsigned char *info, size_t at, const void *data,
                     size_t len)
{
    if (len > 0)
        memcpy(info + at, data, len);
    return at + len;
}

bool tls_hkdf_expand(struct tls_hkdf *hkdf, struct bytes secret,
                     struct bytes label, struct bytes context,
                     unsigned char *out, size_t len)
{
    static const char prefix[] = "tls13 ";
    unsigned char block[TLS_SECRET_MAX];
    unsigned char info[INFO_MAX];
    size_t at = 0;

    if (secret.len != hkdf->secret_bytes || len > hkdf->secret_bytes ||
        label.len > LABEL_MAX || context.len > CONTEXT_MAX)
        return false;
    info[at++] = 0; /* high byte of `len`, which is small */
    info[at++] = (unsigned char)len;
    info[at++] = (unsigned char)(PREFIX_BYTES + label.len);
    at = append(info, at, prefix, PREFIX_BYTES);
    at = append(info, at, label.data, label.len);
    info[at++] = (unsigned char)context.len;
    at = append(info, at, context.data, context.len);
    info[at++] = 1; /* number of the first block, which is enough */
    set_key(hkdf, (const unsigned char *)secret.data);
    authenticate(hkdf, info, at, block);
    memcpy(out, block, len);
    OPENSSL_cleanse(block, sizeof(block));
    return true;
}

bool tls_hkdf_extract(struct tls_hkdf *hkdf, struct bytes previous,
                      struct bytes secret, unsigned char out[TLS_SECRET_MAX])
{
    static const unsigned char zeros[TLS_SECRET_MAX];
    struct bytes nothing = {(const char *)hkdf->nothing, hkdf->secret_bytes};
    unsigned char salt[TLS_SECRET_MAX] = {0};

    if (previous.len > 0 && !tls_hkdf_expand(hkdf, previous, BYTES("derived"),
                                             nothing, salt, hkdf->secret_bytes))
        return false;
    set_key(hkdf, salt);
    OPENSSL_cleanse(salt, sizeof(salt));
    if (secret.len > 0)
        authenticate(hkdf, secret.data, secret.len, out);
    else
        authenticate(hkdf, zeros, hkdf->secret_bytes, out);
    return true;
}
