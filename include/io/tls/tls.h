/*
 * tls - a client's connection that is encrypted.
 *
 *   bytes of the client --> [ recv ] --> record --> tls_receive()
 *   tls_send() --> record, record ... --> [ one send ] --> kept: what the
 *                                                          kernel did not take
 *
 * A record cannot be taken back: once encrypted, it goes out before anything
 * else, and unchanged. So bytes count as sent when the kernel has the whole
 * record of these bytes. Bytes of a record that the kernel has only in part are
 * owed: the next call to send has to offer the same bytes again (or more; their
 * content is not looked at), and reports them as sent once the rest of the
 * record has gone. At most one record is kept, unless the socket takes fewer
 * bytes than the kernel said that it would.
 *
 * Bytes of a file are read by pread(2), and not from a mapping: when the file
 * shrinks, a mapping loses pages, and encrypting a lost page raises SIGBUS.
 *
 * When the round trip is long, the bytes that TCP sends at once at the
 * beginning of a connection, or after a second's silence, leave in records of
 * one segment each. The client can then read each record when it has come, and
 * not a round trip later.
 *
 * Buffers belong to the worker. A connection that waits has no buffer.
 *
 * OpenSSL does the handshake. Then a client's connection of TLS 1.3 is taken
 * over from OpenSSL (tls_takeover), and only two keys are kept. A connection to
 * a server, and one of TLS 1.2, stays with OpenSSL to its end.
 *
 * Thread: the worker of its connection.
 * Owns:   a connection owns its state and its kept bytes, but not the
 *         descriptor; the buffers own what passes through during a call.
 */
#ifndef IO_TLS_TLS_H
#define IO_TLS_TLS_H

#include <stdint.h>
#include <sys/uio.h>

#include "base/bytes.h"
#include "base/list.h"
#include "io/io_result.h"
#include "io/tls/tls_context.h"
#include "io/tls/tls_record.h"

enum { TLS_SUBJECT_MAX = 256 };

/* A node for a list of the connection's owner. The node lies in the struct tls,
 * so that a connection without TLS needs no memory for it. It must be in no
 * list when the struct tls is destroyed. */
struct tls_work {
    struct list list;
    void *owner; /* set by the list's owner; NULL at first */
};

/* Why a handshake failed. */
enum tls_failure {
    TLS_FAILURE_NONE,
    TLS_FAILURE_VERSION, /* there is no version that both sides speak */
    TLS_FAILURE_CIPHER,  /* there is no cipher that both sides have */
    TLS_FAILURE_NAME,    /* no certificate has the name that was asked for */
    TLS_FAILURE_CERTIFICATE, /* the client has shown no good certificate */
    TLS_FAILURE_ALERT,       /* the client has sent an alert */
    TLS_FAILURE_PLAIN_HTTP,  /* the client speaks HTTP without TLS */
    TLS_FAILURE_GONE,        /* the client has ended the connection */
    TLS_FAILURE_OTHER,
    TLS_FAILURE_COUNT
};

/* What both sides agreed upon. All texts are static, except the name. */
struct tls_facts {
    const char *version; /* "TLSv1.3" */
    const char *cipher;  /* "TLS_AES_128_GCM_SHA256" */
    const char *group;   /* "x25519"; empty: not known */
    struct bytes name;   /* name that the client asked for; empty: none */
    bool is_resumed;
};

/* --- What the connections of one worker share ----------------------------- */

struct tls_buffers; /* opaque */

/* Returns NULL when memory is short. */
MUST_USE struct tls_buffers *tls_buffers_create(void);
void tls_buffers_destroy(struct tls_buffers *buffers); /* after the last
                                                          tls; NULL is ok */

/* --- A connection -------------------------------------------------------- */

struct tls; /* opaque */

/* Begins a connection on `fd`, which is non-blocking, and stays the caller's.
 * Returns NULL when memory is short. */
MUST_USE struct tls *tls_accept(struct tls_buffers *buffers,
                                struct tls_context *context, int fd);
void tls_destroy(struct tls *tls); /* tells the client nothing */

/* Goes on with the handshake. Returns IO_DONE when the connection is open.
 * Returns IO_AGAIN_READ or IO_AGAIN_WRITE when the call has to be repeated.
 * Returns IO_EOF or IO_FAILED when the handshake has failed; tls_failure() says
 * why. */
MUST_USE enum io_result tls_handshake(struct tls *tls);

enum tls_failure tls_failure(const struct tls *tls);

/* Tells what was agreed upon, once the connection is open. */
void tls_tell(const struct tls *tls, struct tls_facts *facts_out);

/* Whether HTTP/2 was agreed upon (ALPN, RFC 7301). */
MUST_USE bool tls_speaks_http2(const struct tls *tls);

/* Tells which certificate the client has shown, if it was found to be good: its
 * subject (RFC 2253), cut when it is long, and its SHA-256 in hexadecimal.
 * Returns false when there is no such certificate. */
MUST_USE bool tls_tell_client(const struct tls *tls,
                              char subject_out[TLS_SUBJECT_MAX],
                              char fingerprint_out[TLS_FINGERPRINT_MAX + 1]);

/* Whether the client has shown a certificate that was found to be good. */
MUST_USE bool tls_knows_client(const struct tls *tls);

/* Whether the client has shown a certificate that was found to be good, and
 * that has expired since. */
MUST_USE bool tls_client_has_expired(const struct tls *tls);

/* Returns the set of certificates that the client was shown (tls_context.h). */
const struct tls_set *tls_chosen(const struct tls *tls);

/* Each of these functions does, for a connection over TLS, what the function of
 * io/transport with the same name does. */
MUST_USE enum io_result tls_receive(struct tls *tls, char *data, size_t len,
                                    size_t *len_out);
MUST_USE enum io_result tls_send(struct tls *tls, const struct iovec *parts,
                                 size_t count, bool more, size_t *len_out);
MUST_USE enum io_result tls_send_file(struct tls *tls, int file,
                                      uint64_t offset, size_t len,
                                      size_t *len_out);

/* Tells the connection how many unsent bytes may wait in the socket
 * (transport_limit_unsent()), so that it encrypts no more than that. */
void tls_limit_unsent(struct tls *tls, uint32_t bytes);

/* Tells the client that nothing more will be sent (close_notify). Returns
 * IO_AGAIN_WRITE when the call has to be repeated once the socket takes
 * more. */
MUST_USE enum io_result tls_shut_down(struct tls *tls);

/* Sends the kept bytes. Returns IO_DONE when none are kept any more. */
MUST_USE enum io_result tls_flush(struct tls *tls);

struct tls_work *tls_work(struct tls *tls);

/* Whether bytes that were already read from the socket wait for tls_receive()
 * to return them. */
MUST_USE bool tls_has_unread(const struct tls *tls);

/* Whether there are kept bytes, which go before all else. */
MUST_USE bool tls_has_kept(const struct tls *tls);

/* Whether the client has sent a byte yet. */
MUST_USE bool tls_has_heard(const struct tls *tls);

/* Whether the connection should end with the answer to the next request: the
 * client's certificate has expired, or the connection's key is nearly used up
 * and cannot change. Once the key is used up, the connection sends nothing any
 * more. */
MUST_USE bool tls_is_worn(const struct tls *tls);

/* Whether bytes are owed: encrypted, but not reported as sent. */
MUST_USE bool tls_has_owed(const struct tls *tls);

/* Whether IO_EOF came without close_notify: what the client sent last may be
 * missing. */
MUST_USE bool tls_was_cut(const struct tls *tls);

/* Returns how many bytes `len` bytes of payload become on the wire, without
 * TCP's heads, when records are as large as they may be. */
MUST_USE uint64_t tls_wire_bytes(const struct tls *tls, uint64_t len);

/* Returns the largest payload that takes at most wire_bytes bytes on the wire;
 * 0 when not even one record fits. */
MUST_USE uint64_t tls_payload_bytes(const struct tls *tls, uint64_t wire_bytes);

#endif
