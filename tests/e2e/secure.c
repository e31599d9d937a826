#include "secure.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "harness.h"
#include "make_certificate.h"

enum { PATIENCE_MS = 10000 };

struct secure {
    SSL *ssl;
    int fd;
    bool is_server;
};

struct secure_server {
    struct secure_server *next;
    SSL_CTX *context;
};

static struct secure_server *servers; /* connections may outlive a test */

static SSL_CTX *context;
static SSL_SESSION *ticket;
static char fault[256];

/* Of the next handshakes. */
static const char *asked_name = "localhost";
static const char *own_certificate;
static const char *signatures;
static const char *offered;

bool secure_is_wanted(void)
{
    const char *wanted = getenv("SPRINTD_TLS");

    return wanted && wanted[0] != '\0';
}

bool secure_is_wanted_upstream(void)
{
    const char *wanted = getenv("SPRINTD_UPSTREAM_TLS");

    return wanted && wanted[0] != '\0';
}

static void write_to(const char *path, const struct making *making)
{
    struct made made = make_certificate(making);
    FILE *file = fopen(path, "w");

    if (!file || PEM_write_X509(file, made.x509) != 1 ||
        PEM_write_PrivateKey(file, made.key, NULL, NULL, 0, NULL, NULL) != 1 ||
        fclose(file) != 0)
        flunk("no certificate in '%s'", path);
    made_free(&made);
}

const char *secure_write(const char *name, const struct making *making)
{
    const char *path = printed("%s/%s", folder(), name);

    write_to(path, making);
    return path;
}

const char *secure_certificate(void)
{
    static char path[4096];

    if (path[0] != '\0')
        return path;
    snprintf(path, sizeof(path), "%s/localhost.pem", folder());
    write_to(path, &(struct making){.subject = "localhost",
                                    .names = "DNS:localhost,IP:127.0.0.1"});
    return path;
}

/* --- Handshakes ---------------------------------------------------------- */

void secure_offer(const char *protocol)
{
    offered = protocol;
}

/* One name, behind its length. */
static void offer(SSL *ssl)
{
    unsigned char list[256];
    size_t len = strlen(offered);

    list[0] = (unsigned char)len;
    memcpy(list + 1, offered, len);
    if (len > 255 || SSL_set_alpn_protos(ssl, list, (unsigned)len + 1) != 0)
        flunk("OpenSSL does not offer '%s'", offered);
}

static SSL *make_ssl(int fd)
{
    SSL *ssl;

    if (!context)
        context = SSL_CTX_new(TLS_client_method());
    /* OpenSSL writes as write(2) does. */
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    ssl = context ? SSL_new(context) : NULL;
    if (!ssl)
        flunk("no memory");
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE |
                          SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_fd(ssl, fd);
    if ((*asked_name && SSL_set_tlsext_host_name(ssl, asked_name) != 1) ||
        (signatures && SSL_set1_sigalgs_list(ssl, signatures) != 1) ||
        (own_certificate && (SSL_use_certificate_file(ssl, own_certificate,
                                                      SSL_FILETYPE_PEM) != 1 ||
                             SSL_use_PrivateKey_file(ssl, own_certificate,
                                                     SSL_FILETYPE_PEM) != 1)))
        flunk("OpenSSL takes no '%s', '%s' or '%s'", asked_name, signatures,
              own_certificate);
    if (ticket)
        SSL_set_session(ssl, ticket);
    if (offered)
        offer(ssl);
    return ssl;
}

static bool wait_for(int fd, int error)
{
    struct pollfd ready = {
        .fd = fd, .events = error == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN};

    return (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) &&
           poll(&ready, 1, (int)patience(PATIENCE_MS)) == 1;
}

static struct secure *make_secure(SSL *ssl, int fd)
{
    struct secure *secure = malloc(sizeof(*secure));

    if (!secure)
        flunk("no memory");
    *secure = (struct secure){.ssl = ssl, .fd = fd};
    return secure;
}

void secure_ask_for(const char *name)
{
    asked_name = name ? name : "localhost";
}

void secure_show(const char *path)
{
    own_certificate = path;
}

void secure_accept(const char *algorithms)
{
    signatures = algorithms;
}

static bool shake(SSL *ssl, int fd)
{
    int done;

    ERR_clear_error();
    while ((done = SSL_do_handshake(ssl)) != 1)
        if (!wait_for(fd, SSL_get_error(ssl, done))) {
            const char *why = ERR_reason_error_string(ERR_peek_last_error());

            snprintf(fault, sizeof(fault), "%s", why ? why : "ended");
            return false;
        }
    return true;
}

struct secure *secure_begin(int fd)
{
    SSL *ssl = make_ssl(fd);

    SSL_set_connect_state(ssl);
    if (shake(ssl, fd))
        return make_secure(ssl, fd);
    SSL_free(ssl);
    return NULL;
}

/* --- Of a server --------------------------------------------------------- */

struct secure_server *secure_serve(const struct secure_identity *identity)
{
    struct secure_server *server = malloc(sizeof(*server));
    SSL_CTX *made = SSL_CTX_new(TLS_server_method());
    const char *path = identity->certificate ? identity->certificate
                                             : secure_certificate();

    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    if (!server || !made ||
        SSL_CTX_use_certificate_file(made, path, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(made, path, SSL_FILETYPE_PEM) != 1)
        flunk("no server with '%s'", path);
    SSL_CTX_set_session_id_context(made, (const unsigned char *)"e2e", 3);
    SSL_CTX_set_max_proto_version(made, identity->version_max);
    if (identity->client_ca) {
        if (SSL_CTX_load_verify_file(made, identity->client_ca) != 1)
            flunk("no authority in '%s'", identity->client_ca);
        SSL_CTX_set_verify(made,
                           SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                           NULL);
    }
    *server = (struct secure_server){.next = servers, .context = made};
    return servers = server;
}

struct secure *secure_adopt(struct secure_server *server, int fd)
{
    SSL *ssl = SSL_new(server->context);
    struct secure *secure;

    if (!ssl)
        flunk("no memory");
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE |
                          SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_fd(ssl, fd);
    SSL_set_accept_state(ssl);
    secure = make_secure(ssl, fd);
    secure->is_server = true;
    return secure;
}

struct secure *secure_take(struct secure_server *server, int fd)
{
    struct secure *secure = secure_adopt(server, fd);

    if (shake(secure->ssl, fd))
        return secure;
    SSL_free(secure->ssl);
    free(secure);
    return NULL;
}

const char *secure_fault(void)
{
    return fault;
}

void secure_end(struct secure *secure)
{
    if (secure) {
        if (secure->is_server && SSL_is_init_finished(secure->ssl))
            (void)SSL_shutdown(secure->ssl);
        else /* OpenSSL would take its ticket for one that was broken off */
            SSL_set_shutdown(secure->ssl,
                             SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        SSL_free(secure->ssl);
    }
    free(secure);
}

/* --- Bytes --------------------------------------------------------------- */

/* Of a call that returned 0 or less. */
static ssize_t result_of(const struct secure *secure, int returned)
{
    switch (SSL_get_error(secure->ssl, returned)) {
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    default:
        if (errno == 0 || errno == EAGAIN)
            errno = ECONNRESET;
        return -1;
    }
}

ssize_t secure_receive(struct secure *secure, void *data, size_t len)
{
    int n;

    ERR_clear_error();
    errno = 0;
    n = SSL_read(secure->ssl, data, (int)len);
    return n > 0 ? n : result_of(secure, n);
}

ssize_t secure_send(struct secure *secure, const void *data, size_t len)
{
    int n;

    ERR_clear_error();
    errno = 0;
    n = SSL_write(secure->ssl, data, (int)(len < 65536 ? len : 65536));
    return n > 0 ? n : result_of(secure, n);
}

bool secure_has_more(const struct secure *secure)
{
    return SSL_pending(secure->ssl) > 0;
}

void secure_shut_down(struct secure *secure)
{
    (void)SSL_shutdown(secure->ssl);
}

/* --- What was agreed upon ------------------------------------------------ */

const char *secure_version(const struct secure *secure)
{
    return SSL_get_version(secure->ssl);
}

const char *secure_protocol(const struct secure *secure)
{
    const unsigned char *name = NULL;
    unsigned len = 0;

    SSL_get0_alpn_selected(secure->ssl, &name, &len);
    return printed("%.*s", (int)len, len > 0 ? (const char *)name : "");
}

bool secure_is_resumed(const struct secure *secure)
{
    return SSL_session_reused(secure->ssl) == 1;
}

bool secure_has_other_ticket(const struct secure *secure)
{
    const unsigned char *one, *other;
    size_t len, other_len;

    SSL_SESSION_get0_ticket(ticket, &one, &len);
    SSL_SESSION_get0_ticket(SSL_get0_session(secure->ssl), &other, &other_len);
    return len > 0 && other_len > 0 &&
           (len != other_len || memcmp(one, other, len) != 0);
}

void secure_keep_ticket(struct secure *secure)
{
    SSL_SESSION_free(ticket);
    ticket = secure ? SSL_get1_session(secure->ssl) : NULL;
}

void secure_limit_version(int version)
{
    if (!context)
        context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, version);
    SSL_CTX_set_max_proto_version(context, version);
}

/* --- Whom it has shown --------------------------------------------------- */

const char *secure_shown(const struct secure *secure)
{
    X509 *x509 = SSL_get0_peer_certificate(secure->ssl);
    char *name = scratch(256);

    if (!x509 || X509_NAME_get_text_by_NID(X509_get_subject_name(x509),
                                           NID_commonName, name, 256) <= 0)
        flunk("no certificate, or one without a name");
    return name;
}
