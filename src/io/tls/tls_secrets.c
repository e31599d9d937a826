#include "io/tls/tls_secrets_priv.h"

#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <string.h>

/*
 * OpenSSL tells traffic secrets by the callback that is there for key logs. It
 * is the only door that 3.0 has; the line goes into the memory of its
 * connection, and is wiped out when the keys are made of it.
 */

static int value_of(char digit)
{
    return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

/* 0: there is more than a secret can have. */
static size_t read_hexadecimal(const char *text,
                               unsigned char out[TLS_SECRET_MAX])
{
    size_t len = strlen(text) / 2;

    if (len > TLS_SECRET_MAX)
        return 0;
    for (size_t i = 0; i < len; i++)
        out[i] = (unsigned char)(value_of(text[2 * i]) << 4 |
                                 value_of(text[2 * i + 1]));
    return len;
}

static void on_secret(const SSL *ssl, const char *line);

/* OpenSSL writes a line for each of five secrets, digit by digit, which takes
 * some per cent of a handshake: so it is asked for them only where one comes
 * next that is wanted, which is behind a Finished. */
static void listen_to(const SSL *ssl, bool listens)
{
    SSL_CTX_set_keylog_callback(SSL_get_SSL_CTX(ssl),
                                listens ? on_secret : NULL);
}

/* A line is a label, the client's random bytes, and the secret. What the server
 * writes from its secret on is encrypted with it: OpenSSL has sent by then what
 * was not. */
static void on_secret(const SSL *ssl, const char *line)
{
    static const char client[] = "CLIENT_TRAFFIC_SECRET_0 ";
    static const char server[] = "SERVER_TRAFFIC_SECRET_0 ";
    struct tls_secrets *secrets = SSL_get_app_data(ssl);
    const char *secret = strrchr(line, ' ');

    if (!secrets || !secret)
        return;
    if (strncmp(line, client, strlen(client)) == 0) {
        secrets->client.len = read_hexadecimal(secret + 1,
                                               secrets->client.bytes);
        listen_to(ssl, false);
    } else if (strncmp(line, server, strlen(server)) == 0) {
        secrets->server.len = read_hexadecimal(secret + 1,
                                               secrets->server.bytes);
        secrets->records = 0;
        listen_to(ssl, false);
    }
}

static bool is_finished(int type, const unsigned char *data, size_t len)
{
    return type == SSL3_RT_HANDSHAKE && len > 0 && data[0] == SSL3_MT_FINISHED;
}

/* Counts records, of which the sequence number is made. Each Finished, ours and
 * the client's, is seen here before its keys are made. */
static void on_message(int is_written, int version, int type, const void *data,
                       size_t len, SSL *ssl, void *object)
{
    struct tls_secrets *secrets = object;

    (void)version;
    if (is_written && type == SSL3_RT_HEADER)
        secrets->records++;
    else if (is_finished(type, data, len))
        listen_to(ssl, true);
}

struct tls_secrets *tls_secrets_create(SSL *ssl)
{
    struct tls_secrets *secrets = OPENSSL_zalloc(sizeof(*secrets));

    if (!secrets || SSL_set_app_data(ssl, secrets) != 1) {
        OPENSSL_free(secrets);
        return NULL;
    }
    SSL_set_msg_callback(ssl, on_message);
    SSL_set_msg_callback_arg(ssl, secrets);
    return secrets;
}

void tls_secrets_destroy(struct tls_secrets **secrets_ref, SSL *ssl)
{
    if (!*secrets_ref)
        return;
    listen_to(ssl, false);
    SSL_set_msg_callback(ssl, NULL);
    (void)SSL_set_app_data(ssl, NULL);
    OPENSSL_clear_free(*secrets_ref, sizeof(**secrets_ref));
    *secrets_ref = NULL;
}
