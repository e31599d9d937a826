#include "io/tls/tls_priv.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "io/tls/tls_challenge_priv.h"
#include "io/tls/tls_context_priv.h"
#include "io/tls/tls_kernel.h"
#include "io/tls/tls_schedule_priv.h"

struct tls_buffers *tls_buffers_create(void)
{
    struct tls_buffers *buffers = malloc(sizeof(*buffers));

    if (!buffers)
        return NULL;
    buffers->current = NULL;
    buffers->method = NULL;
    buffers->bio = NULL;
    buffers->out_len = buffers->in_at = buffers->in_len = 0;
    memset(buffers->suites, 0, sizeof(buffers->suites));
    if (tls_wire_init(buffers) && tls_takeover_init(buffers))
        return buffers;
    tls_buffers_destroy(buffers);
    return NULL;
}

void tls_buffers_destroy(struct tls_buffers *buffers)
{
    if (!buffers)
        return;
    tls_takeover_fini(buffers);
    tls_wire_fini(buffers);
    free(buffers);
}

/* --- Calls to OpenSSL ---------------------------------------------------- */

/* Begins a call of a connection. Clears what calls of other connections have
 * left: OpenSSL's errors, and output of a connection that broke. */
static void enter(struct tls *tls)
{
    tls->buffers->current = tls;
    tls->buffers->out_len = 0;
    ERR_clear_error();
}

static enum io_result fail(struct tls *tls)
{
    tls->is_broken = true;
    errno = tls->error != 0 ? tls->error : EPROTO;
    return IO_FAILED;
}

static const char *explain_verdict(long verdict)
{
    switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
        return "its certificate is for another name";
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return "its certificate is not for its address";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        return "its certificate is of an unknown authority";
    default:
        return X509_verify_cert_error_string(verdict);
    }
}

/* Notes why a call has failed; the first reason stays. */
static void note_reason(struct tls *tls)
{
    unsigned long error = ERR_peek_error();
    long verdict = SSL_get_verify_result(tls->ssl);

    if (tls->why || (error == 0 && tls->error != 0))
        return;
    tls->why = ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED &&
                       verdict != X509_V_OK
                   ? explain_verdict(verdict)
                   : ERR_reason_error_string(error);
    if (!tls->why)
        tls->why = "unknown error";
}

/* Translates what a call to OpenSSL has returned, which is 0 or less. */
static enum io_result result_of(struct tls *tls, int returned)
{
    switch (SSL_get_error(tls->ssl, returned)) {
    case SSL_ERROR_WANT_READ:
        return IO_AGAIN_READ;
    case SSL_ERROR_WANT_WRITE:
        return IO_AGAIN_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return IO_EOF;
    default:
        break;
    }
    if (!tls->has_ended) {
        note_reason(tls);
        return fail(tls);
    }
    tls->is_cut = true;
    return IO_EOF;
}

/* Sends what the call has made besides its result: tickets, alerts, updates of
 * keys. This is done after a failure, too, so that the client hears of it by an
 * alert. */
static enum io_result leave(struct tls *tls, enum io_result result)
{
    size_t sent;
    int error = errno;

    if (tls_wire_flush(tls, false, &sent) == IO_FAILED && result != IO_EOF &&
        !tls->is_open)
        return fail(tls);
    errno = error;
    return result;
}

/* --- The handshake ------------------------------------------------------- */

struct tls *tls_create(struct tls_buffers *buffers, SSL_CTX *ctx, int fd)
{
    struct tls *tls = calloc(1, sizeof(*tls));

    if (!tls)
        return NULL;
    list_init(&tls->work.list);
    tls->buffers = buffers;
    tls->fd = fd;
    tls->ssl = SSL_new(ctx);
    if (!tls->ssl) {
        free(tls);
        return NULL;
    }
    SSL_set_mode(tls->ssl, SSL_MODE_RELEASE_BUFFERS |
                               SSL_MODE_ENABLE_PARTIAL_WRITE |
                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_options(tls->ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_set_read_ahead(tls->ssl, 1); /* a small message costs one recv */
    (void)BIO_up_ref(buffers->bio);
    (void)BIO_up_ref(buffers->bio);
    SSL_set0_rbio(tls->ssl, buffers->bio);
    SSL_set0_wbio(tls->ssl, buffers->bio);
    return tls;
}

struct tls *tls_accept(struct tls_buffers *buffers, struct tls_context *context,
                       int fd)
{
    struct tls *tls = tls_create(buffers, tls_context_ssl(context), fd);

    if (!tls)
        return NULL;
    if (!tls_takeover_begin(tls)) {
        tls_destroy(tls);
        return NULL;
    }
    SSL_set_accept_state(tls->ssl);
    return tls;
}

void tls_destroy(struct tls *tls)
{
    if (!tls)
        return;
    tls->buffers->current = tls;
    tls_secrets_destroy(&tls->secrets, tls->ssl);
    SSL_free(tls->ssl);
    tls->buffers->out_len = 0;
    tls_taken_destroy(tls->taken);
    free(tls->held);
    free(tls->kept);
    free(tls);
}

/* Returns the failure that OpenSSL's latest error stands for. */
static enum tls_failure failure_of(unsigned long error)
{
    int reason = ERR_GET_REASON(error);

    if (ERR_GET_LIB(error) != ERR_LIB_SSL)
        return TLS_FAILURE_OTHER;
    switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_INAPPROPRIATE_FALLBACK:
        return TLS_FAILURE_VERSION;
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SUITABLE_GROUPS:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
        return TLS_FAILURE_CIPHER;
    case SSL_R_TLSV1_UNRECOGNIZED_NAME:
    case SSL_R_CALLBACK_FAILED:
        return TLS_FAILURE_NAME;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
        return TLS_FAILURE_CERTIFICATE;
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
        return TLS_FAILURE_PLAIN_HTTP;
    default:
        return reason >= SSL_AD_REASON_OFFSET ? TLS_FAILURE_ALERT
                                              : TLS_FAILURE_OTHER;
    }
}

static void note_failure(struct tls *tls)
{
    if (tls->failure == TLS_FAILURE_NONE)
        tls->failure = (uint8_t)(tls->has_ended || tls->error != 0
                                     ? TLS_FAILURE_GONE
                                     : failure_of(ERR_peek_last_error()));
}

/* Counts the bytes that a record adds to its payload. In TLS 1.3 (RFC 8446 5.2)
 * these are head, type and tag; in TLS 1.2 (RFC 5288, 7905) head, nonce if the
 * cipher has one, and tag. */
static uint8_t count_extra(const SSL *ssl)
{
    enum { HEAD = 5, TYPE = 1, NONCE = 8, TAG = 16 };

    if (SSL_version(ssl) >= TLS1_3_VERSION)
        return HEAD + TYPE + TAG;
    return SSL_CIPHER_get_cipher_nid(SSL_get_current_cipher(ssl)) ==
                   NID_chacha20_poly1305
               ? HEAD + TAG
               : HEAD + NONCE + TAG;
}

/* Opens the connection after its handshake. Returns IO_EOF for a connection
 * that was only for a challenge and has shown the certificate. */
static enum io_result open_connection(struct tls *tls)
{
    enum io_result result = IO_DONE;

    tls->is_open = true;
    tls->record_extra = count_extra(tls->ssl);
    if (tls_challenge_is_met(tls->ssl)) {
        tls->failure = TLS_FAILURE_GONE;
        return leave(tls, IO_EOF);
    }
    tls_takeover_end(tls);
    tls->has_unread = tls->held || (tls->ssl && SSL_has_pending(tls->ssl));
    if (!tls->taken || !tls_wire_defer(tls))
        result = leave(tls, IO_DONE);
    return result;
}

enum io_result tls_handshake(struct tls *tls)
{
    enum io_result result = tls_wire_send_kept(tls);
    int returned;

    if (tls->is_broken || result == IO_FAILED)
        return fail(tls);
    enter(tls);
    if (tls->secrets)
        tls_schedule_enter(tls->buffers->suites, tls->secrets);
    returned = SSL_do_handshake(tls->ssl);
    tls_schedule_leave();
    if (!tls_wire_hold(tls))
        returned = -1;
    if (returned == 1)
        return open_connection(tls);
    result = result_of(tls, returned);
    if (result == IO_EOF || result == IO_FAILED)
        note_failure(tls);
    result = leave(tls, result);
    /* The peer answers only when it has got all kept bytes. */
    return result == IO_AGAIN_READ && tls->kept_len > 0 ? IO_AGAIN_WRITE
                                                        : result;
}

enum tls_failure tls_failure(const struct tls *tls)
{
    return tls->failure;
}

/* --- Receiving ----------------------------------------------------------- */

/* Whether more bytes may come without a look at the socket. */
static bool has_more(const struct tls *tls)
{
    return tls->held || SSL_has_pending(tls->ssl);
}

/* Lowers tls->idle_bytes, because a record with `len` bytes of data has
 * come. */
static void forget_idle(struct tls *tls, size_t len)
{
    size_t bytes = len + TLS_IDLE_BYTES_BACK;

    tls->idle_bytes -= bytes < tls->idle_bytes ? (uint32_t)bytes
                                               : tls->idle_bytes;
}

static enum io_result receive(struct tls *tls, char *data, size_t len,
                              size_t *len_out)
{
    size_t received = 0;
    unsigned records = 0;
    int returned;

    do {
        size_t n = 0;

        returned = SSL_read_ex(tls->ssl, data + received, len - received, &n);
        received += n;
        if (returned == 1)
            forget_idle(tls, n);
    } while (returned == 1 && received < len &&
             ++records < TLS_RECORDS_AT_ONCE && has_more(tls));
    tls->has_unread = returned == 1 && has_more(tls);
    *len_out = received;
    return returned == 1 ? IO_DONE : result_of(tls, returned);
}

enum io_result tls_receive(struct tls *tls, char *data, size_t len,
                           size_t *len_out)
{
    bool was_deferred = tls->is_deferred;
    enum io_result result;

    if (!was_deferred)
        (void)!tls_wire_send_kept(tls); /* a failure shows in is_broken */
    *len_out = 0;
    if (tls->is_broken)
        return fail(tls);
    enter(tls);
    tls_wire_resume(tls);
    result = tls->taken ? tls_taken_receive(tls, data, len, len_out)
                        : receive(tls, data, len, len_out);
    /* If this call has data, the next call reports the fault that came behind
     * the data. */
    if (result == IO_FAILED)
        result = fail(tls);
    else if (was_deferred && *len_out > 0 && tls_wire_defer(tls))
        return IO_DONE;
    return leave(tls, *len_out > 0 ? IO_DONE : result);
}

struct tls_work *tls_work(struct tls *tls)
{
    return &tls->work;
}

bool tls_has_unread(const struct tls *tls)
{
    return tls->has_unread;
}

bool tls_was_cut(const struct tls *tls)
{
    return tls->is_cut;
}

/* --- The end ------------------------------------------------------------- */

enum io_result tls_shut_down(struct tls *tls)
{
    static const char close_notify[] = {1, TLS_ALERT_CLOSE_NOTIFY};
    enum io_result result;
    size_t sent;

    if (!tls->is_open || tls->is_broken || tls->is_mute)
        return IO_DONE;
    result = tls_wire_send_kept(tls);
    if (result == IO_FAILED)
        return result;
    if (result != IO_DONE || tls->has_said_end)
        return result;
    tls->has_said_end = true;
    enter(tls);
    if (tls->taken && tls->taken->by_kernel) {
        tls->has_said_end = tls_kernel_say(tls->fd, TLS_CONTENT_ALERT,
                                           close_notify, 2);
        return tls->has_said_end ? IO_DONE
               : errno == EAGAIN ? IO_AGAIN_WRITE
                                 : IO_FAILED;
    }
    if (tls->taken)
        tls_taken_say(tls, TLS_CONTENT_ALERT, close_notify, 2);
    else
        (void)SSL_shutdown(tls->ssl);
    return tls_wire_flush(tls, false, &sent);
}

enum io_result tls_flush(struct tls *tls)
{
    return tls_wire_send_kept(tls);
}

bool tls_has_kept(const struct tls *tls)
{
    return tls->kept_len > 0 && !tls->is_deferred;
}

bool tls_has_heard(const struct tls *tls)
{
    return tls->has_heard;
}

bool tls_has_owed(const struct tls *tls)
{
    return tls->owed > 0;
}

uint64_t tls_wire_bytes(const struct tls *tls, uint64_t len)
{
    uint64_t records = (len + TLS_RECORD_BYTES - 1) / TLS_RECORD_BYTES;

    return len + records * tls->record_extra;
}

uint64_t tls_payload_bytes(const struct tls *tls, uint64_t wire_bytes)
{
    uint64_t record = TLS_RECORD_BYTES + (uint64_t)tls->record_extra;
    uint64_t rest = wire_bytes % record;

    return wire_bytes / record * TLS_RECORD_BYTES +
           (rest > tls->record_extra ? rest - tls->record_extra : 0);
}
