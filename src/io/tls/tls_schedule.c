#include "io/tls/tls_schedule_priv.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/provider.h>
#include <pthread.h>
#include <string.h>

#define NAME "sprintd" /* name of the provider, and of its property */
#define ALGORITHM "TLS13-KDF"

/* --- The handshake of this thread ---------------------------------------- */

static _Thread_local struct {
    const struct tls_suite *suites; /* NULL: no handshake is entered */
    struct tls_secrets *secrets;
    /* keys of which OpenSSL asks for `key` and `iv` next; or NULL */
    struct tls_keys *begun;
} current;

void tls_schedule_enter(const struct tls_suite *suites,
                        struct tls_secrets *secrets)
{
    current.suites = suites;
    current.secrets = secrets;
    current.begun = NULL;
}

void tls_schedule_leave(void)
{
    for (size_t i = 0; current.suites && i < TLS_SUITE_COUNT; i++)
        tls_hkdf_forget(current.suites[i].hkdf);
    current.suites = NULL;
}

/* Finds the tls_hkdf of a digest, given the digest's name in OpenSSL. Returns
 * NULL for a digest that no suite of TLS 1.3 has. */
static struct tls_hkdf *find_hkdf(const char *digest)
{
    if (!current.suites)
        return NULL;
    if (strcmp(digest, "SHA2-256") == 0)
        return current.suites[0].hkdf; /* TLS_AES_128_GCM_SHA256 */
    if (strcmp(digest, "SHA2-384") == 0)
        return current.suites[1].hkdf; /* TLS_AES_256_GCM_SHA384 */
    return NULL;
}

/* --- What is asked for --------------------------------------------------- */

struct question {
    int mode;
    const char *digest;
    struct bytes secret; /* key material that the answer is made of */
    struct bytes previous;
    struct bytes prefix;
    struct bytes label;
    struct bytes context;
};

/* Takes one parameter into `question`. Returns false when the parameter is
 * unknown here. */
static bool read_one(struct question *question, const OSSL_PARAM *parameter)
{
    struct bytes value = {parameter->data, parameter->data_size};
    const char *name = parameter->key;

    if (strcmp(name, OSSL_KDF_PARAM_MODE) == 0)
        return OSSL_PARAM_get_int(parameter, &question->mode) == 1;
    if (strcmp(name, OSSL_KDF_PARAM_DIGEST) == 0)
        question->digest = parameter->data;
    else if (strcmp(name, OSSL_KDF_PARAM_KEY) == 0)
        question->secret = value;
    else if (strcmp(name, OSSL_KDF_PARAM_PREFIX) == 0)
        question->prefix = value;
    else if (strcmp(name, OSSL_KDF_PARAM_LABEL) == 0)
        question->label = value;
    else if (strcmp(name, OSSL_KDF_PARAM_DATA) == 0)
        question->context = value;
    else if (strcmp(name, OSSL_KDF_PARAM_SALT) == 0)
        question->previous = value;
    else
        return false;
    return true;
}

static bool read_question(struct question *question,
                          const OSSL_PARAM *parameters)
{
    *question = (struct question){.mode = -1};
    for (; parameters && parameters->key; parameters++)
        if (!read_one(question, parameters))
            return false;
    return question->digest && bytes_eq(question->prefix, BYTES("tls13 "));
}

/* --- What is noted ------------------------------------------------------- */

static void note_secret(struct tls_keys *keys, const unsigned char *secret,
                        size_t len)
{
    *keys = (struct tls_keys){.secret_len = len};
    memcpy(keys->secret, secret, len);
    current.begun = keys;
}

/* Notes the two secrets of application traffic, and the key and vector that
 * OpenSSL asks for after each. Keys and vectors of the handshake's own secrets
 * are not noted. */
static void note(const struct question *question, const unsigned char *made,
                 size_t len)
{
    struct tls_secrets *secrets = current.secrets;
    struct tls_keys *keys = current.begun;

    if (bytes_eq(question->label, BYTES("c ap traffic"))) {
        note_secret(&secrets->client, made, len);
    } else if (bytes_eq(question->label, BYTES("s ap traffic"))) {
        note_secret(&secrets->server, made, len);
        secrets->records = 0;
    } else if (!keys || !bytes_eq(question->secret,
                                  (struct bytes){(const char *)keys->secret,
                                                 keys->secret_len})) {
        current.begun = NULL;
    } else if (bytes_eq(question->label, BYTES("key")) && len <= TLS_KEY_MAX) {
        memcpy(keys->key, made, len);
        keys->key_len = len;
    } else if (bytes_eq(question->label, BYTES("iv")) && len <= TLS_IV_BYTES) {
        memcpy(keys->iv, made, len);
        keys->iv_len = len;
    }
}

/* --- The algorithm ------------------------------------------------------- */

static EVP_KDF *original;

/* Whether a value is given but empty. No handshake has such a value, which
 * differs from a value that is left out. */
static bool is_void(struct bytes value)
{
    return value.data && value.len == 0;
}

/* Answers the question. Returns false when OpenSSL's own algorithm has to
 * answer it. */
static bool answer(const struct question *question, unsigned char *out,
                   size_t len)
{
    struct tls_hkdf *hkdf = find_hkdf(question->digest);
    unsigned char secret[TLS_SECRET_MAX];
    bool is_made;

    if (!hkdf)
        return false;
    if (question->mode == EVP_KDF_HKDF_MODE_EXPAND_ONLY) {
        if (!tls_hkdf_expand(hkdf, question->secret, question->label,
                             question->context, out, len))
            return false;
        note(question, out, len);
        return true;
    }
    if (question->mode != EVP_KDF_HKDF_MODE_EXTRACT_ONLY ||
        len != tls_hkdf_secret_bytes(hkdf) || is_void(question->previous) ||
        is_void(question->secret) ||
        !bytes_eq(question->label, BYTES("derived")))
        return false;
    is_made = tls_hkdf_extract(hkdf, question->previous, question->secret,
                               secret);
    if (is_made)
        memcpy(out, secret, len);
    OPENSSL_cleanse(secret, sizeof(secret));
    return is_made;
}

static int ask_original(unsigned char *out, size_t len,
                        const OSSL_PARAM *parameters)
{
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(original);
    int result = context ? EVP_KDF_derive(context, out, len, parameters) : 0;

    EVP_KDF_CTX_free(context);
    return result;
}

static int derive(void *context, unsigned char *out, size_t len,
                  const OSSL_PARAM *parameters)
{
    struct question question;

    (void)context;
    if (current.suites && read_question(&question, parameters) &&
        answer(&question, out, len))
        return 1;
    return ask_original(out, len, parameters);
}

/* --- The provider -------------------------------------------------------- */

/* Returns the same empty context every time, because each question comes with
 * all that it needs. */
static void *new_context(void *provider)
{
    return provider;
}

static void free_context(void *context)
{
    (void)context;
}

static const OSSL_ALGORITHM *tell_algorithms(void *provider, int operation,
                                             int *is_not_kept)
{
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_KDF_NEWCTX, (void (*)(void))new_context},
        {OSSL_FUNC_KDF_FREECTX, (void (*)(void))free_context},
        {OSSL_FUNC_KDF_DERIVE, (void (*)(void))derive},
        {0, NULL}};
    static const OSSL_ALGORITHM algorithms[] = {{ALGORITHM, "provider=" NAME,
                                                 functions, NULL},
                                                {NULL, NULL, NULL, NULL}};

    (void)provider;
    *is_not_kept = 0;
    return operation == OSSL_OP_KDF ? algorithms : NULL;
}

static int begin_provider(const OSSL_CORE_HANDLE *handle,
                          const OSSL_DISPATCH *offered,
                          const OSSL_DISPATCH **functions_out, void **provider)
{
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))tell_algorithms},
        {0, NULL}};
    static char nothing; /* serves as a context, which must not be NULL */

    (void)handle;
    (void)offered;
    *functions_out = functions;
    *provider = &nothing;
    return 1;
}

/* --- Loading the provider ------------------------------------------------ */

#define PREFERENCE "?provider=" NAME

static pthread_once_t begun_once = PTHREAD_ONCE_INIT;
static OSSL_PROVIDER *provider;
/* an SSL_CTX that prefers our provider gets our algorithm */
static bool is_found;

/* Loads our provider. OpenSSL's own algorithm is fetched first, because later
 * the same name would find ours. OSSL_PROVIDER_try_load() with 1 keeps
 * OpenSSL's own providers; without that, ours would replace them. */
static void begin(void)
{
    EVP_KDF *ours = NULL;

    original = EVP_KDF_fetch(NULL, ALGORITHM, NULL);
    if (original && OSSL_PROVIDER_add_builtin(NULL, NAME, begin_provider) == 1)
        provider = OSSL_PROVIDER_try_load(NULL, NAME, 1);
    if (provider)
        ours = EVP_KDF_fetch(NULL, ALGORITHM, PREFERENCE);
    is_found = ours && EVP_KDF_get0_provider(ours) == provider;
    EVP_KDF_free(ours);
    ERR_clear_error();
}

const char *tls_schedule_properties(void)
{
    pthread_once(&begun_once, begin);
    return is_found ? PREFERENCE : NULL;
}
