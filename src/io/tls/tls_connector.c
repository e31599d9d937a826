#include "io/tls/tls_connector.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "io/tls/tls_certificate_priv.h"
#include "io/tls/tls_priv.h"
#include "io/tls/tls_trust_priv.h"

struct tls_connector {
    SSL_CTX *ctx;
    struct tls_trust *trust;
};

struct tls_target {
    struct tls_connector *connector;
    SSL_SESSION *session; /* the session to resume; NULL: none */
    bool is_address;
    char name[];
};

/* --- Sessions ------------------------------------------------------------ */

static void drop_session(struct tls_target *target)
{
    SSL_SESSION_free(target->session);
    target->session = NULL;
}

/* Keeps the newest session, because the server accepts it for longest. Returns
 * 1: the session is ours now. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls_target *target = SSL_get_app_data(ssl);

    drop_session(target);
    target->session = session;
    return 1;
}

/* Whether a session is still good. A session vouches for a server only while
 * the certificate that it was begun with is in force. */
static bool is_good(const SSL_SESSION *session)
{
    X509 *x509 = SSL_SESSION_get0_peer((SSL_SESSION *)(uintptr_t)session);

    return SSL_SESSION_is_resumable(session) && x509 &&
           X509_cmp_current_time(X509_get0_notAfter(x509)) > 0;
}

/* --- A worker's connector ------------------------------------------------ */

static bool set_trust(SSL_CTX *ctx, const struct tls_trust *trust)
{
    STACK_OF(X509) *authorities = tls_trust_authorities(trust);
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);

    SSL_CTX_set_verify(ctx, authorities ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                       NULL);
    for (int i = 0; i < sk_X509_num(authorities); i++)
        if (X509_STORE_add_cert(store, sk_X509_value(authorities, i)) != 1)
            return false;
    return !tls_trust_is_named(trust) ||
           X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) == 1;
}

static bool show(SSL_CTX *ctx, const struct tls_certificate *certificate)
{
    return !certificate ||
           SSL_CTX_use_cert_and_key(ctx, tls_certificate_x509(certificate),
                                    tls_certificate_key(certificate),
                                    tls_certificate_others(certificate),
                                    1) == 1;
}

static bool fill(SSL_CTX *ctx, const struct tls_trust *trust)
{
    static const unsigned char protocols[] = "\x08http/1.1";

    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
                                            SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, on_session);
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_alpn_protos(ctx, protocols, sizeof(protocols) - 1) ==
               0 &&
           set_trust(ctx, trust) && show(ctx, tls_trust_certificate(trust));
}

struct tls_connector *tls_connector_create(struct tls_trust *trust,
                                           char fault[TLS_FAULT_MAX])
{
    struct tls_connector *connector = calloc(1, sizeof(*connector));
    const char *why;

    fault[0] = '\0';
    ERR_clear_error();
    if (connector) {
        connector->trust = tls_trust_acquire(trust);
        connector->ctx = SSL_CTX_new(TLS_client_method());
        if (connector->ctx && fill(connector->ctx, trust))
            return connector;
    }
    why = ERR_reason_error_string(ERR_peek_error());
    snprintf(fault, TLS_FAULT_MAX, "%s", why ? why : "out of memory");
    ERR_clear_error();
    tls_connector_destroy(connector);
    return NULL;
}

void tls_connector_offer_nothing(struct tls_connector *connector)
{
    (void)!SSL_CTX_set_alpn_protos(connector->ctx, NULL, 0);
}

void tls_connector_destroy(struct tls_connector *connector)
{
    if (!connector)
        return;
    SSL_CTX_free(connector->ctx);
    tls_trust_release(&connector->trust);
    free(connector);
}

/* --- Servers ------------------------------------------------------------- */

struct tls_target *tls_target_create(struct tls_connector *connector,
                                     struct bytes name)
{
    struct tls_target *target;
    struct address address;

    if (name.len > 1 && name.data[name.len - 1] == '.')
        name.len--;       /* SNI and certificates have no final dot */
    assert(name.len > 0); /* an empty name would fit any name */
    target = calloc(1, sizeof(*target) + name.len + 1);
    if (!target)
        return NULL;
    target->connector = connector;
    target->is_address = address_parse(&address, name);
    memcpy(target->name, name.data, name.len);
    return target;
}

void tls_target_destroy(struct tls_target *target)
{
    if (!target)
        return;
    drop_session(target);
    free(target);
}

static bool expect_name(SSL *ssl, const struct tls_target *target)
{
    X509_VERIFY_PARAM *rules = SSL_get0_param(ssl);

    if (target->is_address)
        return X509_VERIFY_PARAM_set1_ip_asc(rules, target->name) == 1;
    X509_VERIFY_PARAM_set_hostflags(rules,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(rules, target->name, 0) == 1 &&
           SSL_set_tlsext_host_name(ssl, target->name) == 1;
}

struct tls *tls_connect(struct tls_buffers *buffers, struct tls_target *target,
                        int fd)
{
    struct tls *tls = tls_create(buffers, target->connector->ctx, fd);

    if (!tls)
        return NULL;
    if (target->session && !is_good(target->session))
        drop_session(target);
    ERR_clear_error();
    if (SSL_set_app_data(tls->ssl, target) != 1 ||
        !expect_name(tls->ssl, target) ||
        (target->session && SSL_set_session(tls->ssl, target->session) != 1)) {
        ERR_clear_error();
        tls_destroy(tls);
        return NULL;
    }
    SSL_set_connect_state(tls->ssl);
    return tls;
}

const char *tls_why(const struct tls *tls)
{
    if (tls->failure == TLS_FAILURE_PLAIN_HTTP)
        return "the server speaks HTTP without TLS";
    if (tls->why)
        return tls->why;
    if (tls->error != 0)
        return strerrordesc_np(tls->error);
    if (!tls->is_open)
        return "ended in the handshake";
    return tls->is_cut ? "ended without close_notify" : NULL;
}
