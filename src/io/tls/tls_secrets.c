#include "io/tls/tls_secrets_priv.h"

#include <openssl/crypto.h>
#include <openssl/ssl.h>

/* Counts the records that are encrypted with the server's secret. The count is
 * the sequence number of the next record. All records that the server writes
 * once it has that secret are encrypted with it, because OpenSSL has sent all
 * others before. */
static void on_message(int is_written, int version, int type, const void *data,
                       size_t len, SSL *ssl, void *object)
{
    struct tls_secrets *secrets = object;

    (void)version;
    (void)data;
    (void)len;
    (void)ssl;
    if (is_written && type == SSL3_RT_HEADER)
        secrets->records++;
}

struct tls_secrets *tls_secrets_create(SSL *ssl)
{
    struct tls_secrets *secrets = OPENSSL_zalloc(sizeof(*secrets));

    if (!secrets)
        return NULL;
    SSL_set_msg_callback(ssl, on_message);
    SSL_set_msg_callback_arg(ssl, secrets);
    return secrets;
}

void tls_secrets_destroy(struct tls_secrets **secrets_ref, SSL *ssl)
{
    if (!*secrets_ref)
        return;
    SSL_set_msg_callback(ssl, NULL);
    OPENSSL_clear_free(*secrets_ref, sizeof(**secrets_ref));
    *secrets_ref = NULL;
}
