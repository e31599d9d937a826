#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "io/tls/tls_context_priv.h"
#include "io/tls/tls_priv.h"

/* --- Suites -------------------------------------------------------------- */

bool tls_takeover_init(struct tls_buffers *buffers)
{
    for (size_t i = 0; i < TLS_SUITE_COUNT; i++)
        if (!tls_suite_init(&buffers->suites[i],
                            (uint16_t)(TLS_SUITE_FIRST + i)))
            return false;
    return true;
}

void tls_takeover_fini(struct tls_buffers *buffers)
{
    for (size_t i = 0; i < TLS_SUITE_COUNT; i++)
        tls_suite_fini(&buffers->suites[i]);
}

static const struct tls_suite *find_suite(const struct tls *tls)
{
    const SSL_CIPHER *chosen = SSL_get_current_cipher(tls->ssl);

    for (size_t i = 0; i < TLS_SUITE_COUNT; i++)
        if (tls->buffers->suites[i].id == SSL_CIPHER_get_protocol_id(chosen))
            return &tls->buffers->suites[i];
    return NULL;
}

/* --- The connection ------------------------------------------------------ */

bool tls_takeover_begin(struct tls *tls)
{
    tls->secrets = tls_secrets_create(tls->ssl);
    SSL_set_read_ahead(tls->ssl, 0); /* src/io/tls/tls_wire.c reads ahead */
    return tls->secrets != NULL;
}

void tls_taken_destroy(struct tls_taken *taken)
{
    if (!taken)
        return;
    tls_direction_fini(&taken->in);
    tls_direction_fini(&taken->out);
    X509_free(taken->certificate);
    SSL_CTX_free(taken->context);
    free(taken);
}

static bool take_keys(struct tls_taken *taken, const struct tls_suite *suite,
                      const struct tls_secrets *secrets)
{
    if (!tls_direction_take(&taken->in, suite, &secrets->client, false) ||
        !tls_direction_take(&taken->out, suite, &secrets->server, true))
        return false;
    taken->out.sequence = secrets->records;
    return true;
}

/* Makes the struct of a connection that is taken over. Returns NULL when memory
 * is short. */
static struct tls_taken *take(const struct tls *tls,
                              const struct tls_suite *suite)
{
    struct tls_facts facts;
    struct tls_taken *taken;

    tls_tell(tls, &facts);
    taken = calloc(1, sizeof(*taken) + facts.name.len + 1);
    if (!taken)
        return NULL;
    if (!take_keys(taken, suite, tls->secrets)) {
        tls_taken_destroy(taken);
        return NULL;
    }
    memcpy(taken->name, facts.name.data, facts.name.len);
    taken->cipher = facts.cipher;
    taken->group = facts.group;
    taken->is_resumed = facts.is_resumed;
    taken->speaks_http2 = tls_speaks_http2(tls);
    taken->set = tls_chosen(tls);
    if (SSL_get_verify_result(tls->ssl) == X509_V_OK)
        taken->certificate = SSL_get1_peer_certificate(tls->ssl);
    return taken;
}

/* Whether the client wants smaller records than usual (RFC 6066 4). Such
 * connections, which are few, stay with OpenSSL, which can make such
 * records. */
static bool wants_small_records(const SSL *ssl)
{
    return SSL_SESSION_get_max_fragment_length(SSL_get0_session(ssl)) !=
           TLSEXT_max_fragment_length_DISABLED;
}

/* Whether the connection can be taken over. The records that OpenSSL has sent
 * must have been counted, and OpenSSL must have read none behind the handshake:
 * otherwise the sequence numbers would be wrong. */
static bool can_be_taken(const struct tls *tls)
{
    return SSL_version(tls->ssl) == TLS1_3_VERSION &&
           !wants_small_records(tls->ssl) &&
           tls->secrets->client.secret_len > 0 &&
           tls->secrets->server.secret_len > 0 && !SSL_has_pending(tls->ssl);
}

void tls_takeover_end(struct tls *tls)
{
    const struct tls_suite *suite;

    if (!tls->secrets)
        return;
    suite = can_be_taken(tls) ? find_suite(tls) : NULL;
    if (suite)
        tls->taken = take(tls, suite);
    tls_secrets_destroy(&tls->secrets, tls->ssl);
    if (!tls->taken) {
        SSL_set_read_ahead(tls->ssl, 1);
        return;
    }
    tls->taken->context = tls_context_hold(tls->ssl);
    SSL_set_quiet_shutdown(tls->ssl, 1);
    (void)SSL_shutdown(tls->ssl); /* sends nothing; keeps the session good */
    SSL_free(tls->ssl);
    tls->ssl = NULL;
}
