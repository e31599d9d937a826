#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/tls/tls_certificate_priv.h"
#include "io/tls/tls_challenge_priv.h"
#include "io/tls/tls_context_priv.h"
#include "io/tls/tls_name.h"
#include "io/tls/tls_return_priv.h"
#include "io/tls/tls_schedule_priv.h"
#include "io/tls/tls_table_priv.h"
#include "io/tls/tls_tickets_priv.h"

/* The ciphers of Mozilla's profile "intermediate" 6.0, without DHE. */
#define CIPHERS_12                   \
    "ECDHE-ECDSA-AES128-GCM-SHA256:" \
    "ECDHE-RSA-AES128-GCM-SHA256:"   \
    "ECDHE-ECDSA-AES256-GCM-SHA384:" \
    "ECDHE-RSA-AES256-GCM-SHA384:"   \
    "ECDHE-ECDSA-CHACHA20-POLY1305:" \
    "ECDHE-RSA-CHACHA20-POLY1305"
#define CIPHERS_13                                   \
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:" \
    "TLS_CHACHA20_POLY1305_SHA256"
#define GROUPS "X25519:P-256"

/* How many tickets a client of TLS 1.3 gets for each whole handshake. By
 * default OpenSSL gives two, for clients that open several connections at once.
 * A second ticket costs as much as a reply or two. */
enum { TICKETS = 1 };

/* The time for which a session is valid. The key that made its ticket is kept
 * for at least that time. */
enum { SESSION_S = (TLS_TICKETS_KEPT - 1) * TLS_TICKETS_ROTATE_S };

/*
 * Connections are made of the first SSL_CTX, and each connection keeps a
 * reference to that SSL_CTX to its end. So all that callbacks need belongs to
 * the first SSL_CTX, and is freed with it.
 */
struct tls_context {
    struct tls_table *table;
    EVP_CIPHER *cipher; /* for tickets */
    size_t count;
    SSL_CTX
    *items[]; /* in the order of the table's sets; items[0] owns this struct */
};

/* --- What belongs to an SSL_CTX ------------------------------------------ */

static pthread_once_t slots_once = PTHREAD_ONCE_INIT;
/* The index at which the first SSL_CTX keeps the context. */
static int context_slot = -1;
/* The index at which each SSL_CTX keeps its set. */
static int set_slot = -1;

static void free_context(struct tls_context *context)
{
    for (size_t i = 1; i < context->count; i++)
        SSL_CTX_free(context->items[i]);
    EVP_CIPHER_free(context->cipher);
    tls_table_release(&context->table);
    free(context);
}

static void on_free(void *parent, void *object, CRYPTO_EX_DATA *data, int slot,
                    long number, void *context)
{
    (void)parent;
    (void)data;
    (void)slot;
    (void)number;
    (void)context;
    if (object)
        free_context(object);
}

static void make_slots(void)
{
    context_slot = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_free);
    set_slot = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

const struct tls_set *tls_context_chosen(const SSL *ssl)
{
    return SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), set_slot);
}

SSL_CTX *tls_context_hold(const SSL *ssl)
{
    const struct tls_context *context =
        SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    (void)SSL_CTX_up_ref(context->items[0]);
    return context->items[0];
}

/* --- Names --------------------------------------------------------------- */

static int verify_mode(const struct tls_set *set)
{
    switch (set->client) {
    case TLS_CLIENT_NONE:
        return SSL_VERIFY_NONE;
    case TLS_CLIENT_REQUEST:
        return SSL_VERIFY_PEER;
    case TLS_CLIENT_REQUIRE:
        return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    }
    return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

/* Changes the connection to another SSL_CTX. SSL_set_SSL_CTX() does not copy
 * the session id context and the verify mode, so both are set here. */
static bool go_over(SSL *ssl, SSL_CTX *to, const struct tls_set *set)
{
    if (!SSL_set_SSL_CTX(ssl, to) ||
        !SSL_set_session_id_context(ssl, set->session_name,
                                    sizeof(set->session_name)))
        return false;
    SSL_set_verify(ssl, verify_mode(set), NULL);
    return true;
}

/* Chooses the set before a session is looked for, because a session can be
 * resumed only with the set that the name leads to. The callback for names
 * comes too late for that. */
static int on_client_hello(SSL *ssl, int *alert, void *object)
{
    const struct tls_context *context = object;
    const unsigned char *extension;
    size_t len;
    const char *challenges = tls_table_challenges(context->table);
    const struct tls_set *set;
    struct bytes name;

    if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &extension,
                                   &len))
        return SSL_CLIENT_HELLO_SUCCESS;
    name = tls_name_read_extension((struct bytes){(const char *)extension,
                                                  len});
    if (challenges && tls_challenge_is_asked(ssl)) {
        if (tls_challenge_show(ssl, challenges, name))
            return SSL_CLIENT_HELLO_SUCCESS;
        *alert = SSL_AD_UNRECOGNIZED_NAME;
        return SSL_CLIENT_HELLO_ERROR;
    }
    set = tls_table_find(context->table, name);
    if (set->number == 0 || go_over(ssl, context->items[set->number], set))
        return SSL_CLIENT_HELLO_SUCCESS;
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_CLIENT_HELLO_ERROR;
}

/* Tells the client that its name has been used (RFC 6066 3). */
static int on_name(SSL *ssl, int *alert, void *object)
{
    (void)ssl;
    (void)alert;
    (void)object;
    return SSL_TLSEXT_ERR_OK;
}

/* Chooses the protocol. A client that lists acme-tls/1 alone gets acme-tls/1;
 * the challenge's certificate, if there is one, has been chosen already. From
 * any other list we choose in our own order. A client that lists nothing we
 * speak gets no connection (RFC 7301 3.2): its bytes mean something else, and
 * an attacker may have made it send bytes that look like a request here. */
static int on_protocols(SSL *ssl, const unsigned char **out,
                        unsigned char *out_len, const unsigned char *in,
                        unsigned in_len, void *object)
{
    static const unsigned char spoken[] = "\x02h2\x08http/1.1\x08http/1.0";
    const struct tls_context *context = object;
    bool has_http2 = tls_table_offers_http2(context->table);
    unsigned skipped = has_http2 ? 0 : 3;
    unsigned char *chosen;

    (void)ssl;
    if (tls_table_challenges(context->table) &&
        tls_challenge_is_listed((struct bytes){(const char *)in, in_len})) {
        *out = in + 1;
        *out_len = in[0];
        return SSL_TLSEXT_ERR_OK;
    }
    if (SSL_select_next_proto(&chosen, out_len, spoken + skipped,
                              sizeof(spoken) - 1 - skipped, in,
                              in_len) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL; /* no_application_protocol */
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* --- Tickets ------------------------------------------------------------- */

static int begin_mac(EVP_MAC_CTX *mac, struct tls_ticket_key *key)
{
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key->mac,
                                          sizeof(key->mac)),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};

    return EVP_MAC_CTX_set_params(mac, parameters);
}

/* Whether the client gets another ticket. A ticket of TLS 1.3 is used once (RFC
 * 8446 C.4), so each client that comes back gets a new one. A client of TLS 1.2
 * gets one if the key of its ticket is no longer the newest. */
static bool wants_another(const SSL *ssl, enum tls_ticket_age age)
{
    return age == TLS_TICKET_OLD || SSL_version(ssl) >= TLS1_3_VERSION;
}

/* Sets up `cipher` and `mac` with the key that makes or opens a ticket. Returns
 * what OpenSSL expects: 0 when there is no such key, 1 when there is one, 2
 * when the client is also to get a newer ticket, and a negative number on
 * failure. */
static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv,
                     EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int makes)
{
    enum { FAILED = -1, UNKNOWN = 0, KNOWN = 1, RENEWED = 2 };
    const struct tls_set *set = tls_context_chosen(ssl);
    struct tls_tickets *tickets = tls_table_tickets(set->table);
    const struct tls_context *context =
        SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    struct tls_ticket_key key;
    int result = KNOWN;

    if (makes) {
        bool is_there = tls_tickets_take_newest(tickets, &key);

        memcpy(name, key.name, sizeof(key.name));
        if (!is_there ||
            RAND_bytes(iv, EVP_CIPHER_get_iv_length(context->cipher)) != 1 ||
            !EVP_EncryptInit_ex2(cipher, context->cipher, key.cipher, iv, NULL))
            result = FAILED;
    } else {
        enum tls_ticket_age age = tls_tickets_find(tickets, name, &key);

        if (age == TLS_TICKET_UNKNOWN)
            return UNKNOWN;
        result = wants_another(ssl, age) ? RENEWED : KNOWN;
        if (!EVP_DecryptInit_ex2(cipher, context->cipher, key.cipher, iv, NULL))
            result = FAILED;
    }
    if (result != FAILED && !begin_mac(mac, &key))
        result = FAILED;
    OPENSSL_cleanse(&key, sizeof(key));
    return result;
}

/* --- Making -------------------------------------------------------------- */

static bool set_rules(SSL_CTX *ctx, enum tls_profile profile)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* Otherwise a handshake would look for the rest of a chain among the
     * authorities of clients. */
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_timeout(ctx, SESSION_S);
    return SSL_CTX_set_min_proto_version(ctx, profile == TLS_PROFILE_MODERN
                                                  ? TLS1_3_VERSION
                                                  : TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_early_data(ctx, 0) == 1 &&
           SSL_CTX_set_num_tickets(ctx, TICKETS) == 1 &&
           SSL_CTX_set_cipher_list(ctx, CIPHERS_12) == 1 &&
           SSL_CTX_set_ciphersuites(ctx, CIPHERS_13) == 1 &&
           SSL_CTX_set1_groups_list(ctx, GROUPS) == 1;
}

static bool show(SSL_CTX *ctx, const struct tls_certificate *certificate)
{
    return SSL_CTX_use_cert_and_key(ctx, tls_certificate_x509(certificate),
                                    tls_certificate_key(certificate),
                                    tls_certificate_others(certificate),
                                    1) == 1;
}

static bool ask_clients(SSL_CTX *ctx, const struct tls_set *set)
{
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);

    if (set->client == TLS_CLIENT_NONE)
        return true;
    for (int i = 0; i < sk_X509_num(set->authorities); i++) {
        X509 *authority = sk_X509_value(set->authorities, i);

        if (X509_STORE_add_cert(store, authority) != 1 ||
            SSL_CTX_add_client_CA(ctx, authority) != 1)
            return false;
    }
    SSL_CTX_set_verify(ctx, verify_mode(set), NULL);
    return true;
}

static bool fill(SSL_CTX *ctx, const struct tls_set *set,
                 struct tls_context *context)
{
    bool is_done = set_rules(ctx, tls_table_profile(set->table)) &&
                   SSL_CTX_set_session_id_context(ctx, set->session_name,
                                                  sizeof(set->session_name)) ==
                       1 &&
                   SSL_CTX_set_app_data(ctx, context) == 1 &&
                   SSL_CTX_set_ex_data(ctx, set_slot, (void *)(uintptr_t)set) ==
                       1 &&
                   ask_clients(ctx, set);

    if (set->client != TLS_CLIENT_NONE)
        tls_return_limit(context->items[0]);
    for (size_t i = 0; i < set->certificate_count && is_done; i++)
        is_done = show(ctx, set->certificates[i]);
    return is_done;
}

static void set_callbacks(SSL_CTX *first, struct tls_context *context)
{
    if (context->count > 1 || tls_table_challenges(context->table)) {
        SSL_CTX_set_client_hello_cb(first, on_client_hello, context);
        for (size_t i = 0; i < context->count; i++)
            SSL_CTX_set_tlsext_servername_callback(context->items[i], on_name);
    }
    for (size_t i = 0; i < context->count; i++)
        SSL_CTX_set_alpn_select_cb(context->items[i], on_protocols, context);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(first, on_ticket);
}

static bool make_all(struct tls_context *context)
{
    size_t count = tls_table_set_count(context->table);

    context->cipher = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
    if (!context->cipher)
        return false;
    while (context->count < count) {
        const struct tls_set *set = tls_table_set(context->table,
                                                  context->count);
        SSL_CTX *ctx = SSL_CTX_new_ex(NULL, tls_schedule_properties(),
                                      TLS_server_method());

        if (!ctx)
            return false;
        context->items[context->count++] = ctx;
        if (!fill(ctx, set, context))
            return false;
    }
    set_callbacks(context->items[0], context);
    return true;
}

static void explain(char fault[TLS_FAULT_MAX])
{
    const char *why = ERR_reason_error_string(ERR_peek_error());

    snprintf(fault, TLS_FAULT_MAX, "%s", why ? why : "out of memory");
    ERR_clear_error();
}

struct tls_context *tls_context_create(struct tls_table *table,
                                       char fault[TLS_FAULT_MAX])
{
    struct tls_context *context = calloc(1, sizeof(*context) +
                                                tls_table_set_count(table) *
                                                    sizeof(SSL_CTX *));
    SSL_CTX *first;

    fault[0] = '\0';
    pthread_once(&slots_once, make_slots);
    ERR_clear_error();
    if (!context || context_slot == -1 || set_slot == -1) {
        free(context);
        explain(fault);
        return NULL;
    }
    context->table = tls_table_acquire(table);
    if (make_all(context) &&
        SSL_CTX_set_ex_data(context->items[0], context_slot, context) == 1)
        return context;
    explain(fault);
    first = context->count > 0 ? context->items[0] : NULL;
    free_context(context);
    SSL_CTX_free(first);
    return NULL;
}

void tls_context_destroy(struct tls_context *context)
{
    if (context)
        SSL_CTX_free(context->items[0]); /* the last reference frees all */
}

SSL_CTX *tls_context_ssl(struct tls_context *context)
{
    return context->items[0];
}
