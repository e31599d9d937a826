#include "io/tls/tls_return_priv.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static uint64_t read_now_s(void)
{
    return (uint64_t)time(NULL);
}

/* Reads when the certificate of a session's client was last checked. Returns
 * false when the session does not say. */
static bool read_seen(SSL_SESSION *session, uint64_t *seen_s_out)
{
    void *data = NULL;
    size_t len = 0;

    if (SSL_SESSION_get0_ticket_appdata(session, &data, &len) != 1 ||
        len != sizeof(*seen_s_out))
        return false;
    memcpy(seen_s_out, data, sizeof(*seen_s_out));
    return true;
}

/* Writes into a ticket when its client's certificate was last checked. The
 * ticket of a resumed session keeps the time of the session's first ticket. */
static int on_make(SSL *ssl, void *object)
{
    SSL_SESSION *session = SSL_get_session(ssl);
    uint64_t seen_s;

    (void)object;
    if (!SSL_SESSION_get0_peer(session) ||
        (SSL_session_reused(ssl) == 1 && read_seen(session, &seen_s)))
        return 1;
    seen_s = read_now_s();
    return SSL_SESSION_set1_ticket_appdata(session, &seen_s, sizeof(seen_s));
}

/* Whether the client has to show its certificate again. */
static bool is_over(SSL_SESSION *session)
{
    const X509 *x509 = SSL_SESSION_get0_peer(session);
    uint64_t now_s = read_now_s();
    uint64_t seen_s;

    if (!x509)
        return false;
    return !read_seen(session, &seen_s) || now_s > seen_s + TLS_RETURN_S ||
           X509_cmp_current_time(X509_get0_notAfter(x509)) <= 0;
}

static SSL_TICKET_RETURN on_open(SSL *ssl, SSL_SESSION *session,
                                 const unsigned char *name, size_t name_len,
                                 SSL_TICKET_STATUS status, void *object)
{
    (void)ssl;
    (void)name;
    (void)name_len;
    (void)object;
    if ((status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) ||
        is_over(session))
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE
                                        : SSL_TICKET_RETURN_USE_RENEW;
}

void tls_return_limit(SSL_CTX *ctx)
{
    SSL_CTX_set_session_ticket_cb(ctx, on_make, on_open, NULL);
}
