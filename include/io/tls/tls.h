/*
 * tls - a client's connection that is encrypted.
 *
 *   bytes of the client --> [ recv ] --> record --> tls_receive()
 *   tls_send() --> record, record ... --> [ one send ] --> what the kernel
 *                                                          did not take: kept
 *
 * A record cannot be taken back: what has been encrypted goes out before
 * anything else, and unchanged. So bytes count as sent when the kernel has the
 * whole record that they are in. Those of a record of which it has a part only
 * are owed: the next call to send offers the same bytes again (or more, or
 * other bytes of the same number, which are not looked at), and reports them
 * as sent once the rest of the record has gone. What is kept is one record at
 * most, as far as the kernel's word on its room can be trusted.
 *
 * Bytes of a file come by pread(2): a mapping can shrink, and pages lost that
 * way would be a SIGBUS here, where bytes are looked at.
 *
 * Where the way is long, what TCP sends at once at the beginning of a
 * connection, or after a second's silence, leaves in records of a segment each:
 * so the client reads it when it has come, and not a round trip later.
 *
 * Buffers are the worker's. A connection that waits has none of its own.
 *
 * OpenSSL shakes hands. A client's connection of TLS 1.3 is taken from it when
 * that is done (tls_takeover), and only two keys are kept. A connection to a
 * server, and one of TLS 1.2, stays with OpenSSL to its end.
 *
 * Thread: the worker of its connection.
 * Owns:   a connection its state and what is kept, but not the descriptor; the
 *         buffers what passes through during a call.
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

/* A node for a list of the owner's, which then needs none for a connection
 * without TLS. It lies in the struct tls, and is in no list when that goes. */
struct tls_work {
    struct list list;
    void *owner; /* NULL at first */
};

/* Why a handshake failed. */
enum tls_failure {
    TLS_FAILURE_NONE,
    TLS_FAILURE_VERSION, /* there is no version that both speak */
    TLS_FAILURE_CIPHER,  /* there is no cipher that both have */
    TLS_FAILURE_NAME,    /* no certificate has the name that was asked for */
    TLS_FAILURE_CERTIFICATE, /* the client has shown none, or a wrong one */
    TLS_FAILURE_ALERT,       /* the client has sent an alert instead */
    TLS_FAILURE_PLAIN_HTTP,  /* it speaks HTTP without TLS */
    TLS_FAILURE_GONE,        /* it has ended the connection */
    TLS_FAILURE_OTHER,
    TLS_FAILURE_COUNT
};

/* What was agreed upon. Texts are static, but for the name. */
struct tls_facts {
    const char *version; /* "TLSv1.3" */
    const char *cipher;  /* "TLS_AES_128_GCM_SHA256" */
    const char *group;   /* "x25519"; empty: not known */
    struct bytes name;   /* that the client asked for; empty: it did not */
    bool is_resumed;
};

/* --- What the connections of one worker share ----------------------------- */

struct tls_buffers; /* opaque */

/* NULL: no memory. */
MUST_USE struct tls_buffers *tls_buffers_create(void);
void tls_buffers_destroy(struct tls_buffers *buffers); /* after the last of
                                                          them; NULL is ok */

/* --- A connection -------------------------------------------------------- */

struct tls; /* opaque */

/* Begins a connection on fd, which is non-blocking, and stays the caller's.
 * NULL: no memory. */
MUST_USE struct tls *tls_accept(struct tls_buffers *buffers,
                                struct tls_context *context, int fd);
void tls_destroy(struct tls *tls); /* tells the client nothing */

/* Goes on with the handshake. IO_DONE: the connection is there. IO_EOF,
 * IO_FAILED: it will not be; tls_failure() says why. */
MUST_USE enum io_result tls_handshake(struct tls *tls);

enum tls_failure tls_failure(const struct tls *tls);

/* Tells what was agreed upon, once the connection is there. */
void tls_tell(const struct tls *tls, struct tls_facts *facts_out);

/* Whether HTTP/2 was agreed upon (ALPN, RFC 7301). */
MUST_USE bool tls_speaks_http2(const struct tls *tls);

/* Tells the certificate that the client has shown, and that was found to be
 * good: its subject (RFC 2253), cut when it is long, and its SHA-256 in
 * hexadecimal. False: the client has shown none. */
MUST_USE bool tls_tell_client(const struct tls *tls,
                              char subject_out[TLS_SUBJECT_MAX],
                              char fingerprint_out[TLS_FINGERPRINT_MAX + 1]);

/* Whether the client has shown such a certificate. */
MUST_USE bool tls_knows_client(const struct tls *tls);

/* The certificates that the client was shown: tls_context.h. */
const struct tls_set *tls_chosen(const struct tls *tls);

/* These do what the functions of io/transport do, whose names they have. */
MUST_USE enum io_result tls_receive(struct tls *tls, char *data, size_t len,
                                    size_t *len_out);
MUST_USE enum io_result tls_send(struct tls *tls, const struct iovec *parts,
                                 size_t count, bool more, size_t *len_out);
MUST_USE enum io_result tls_send_file(struct tls *tls, int file,
                                      uint64_t offset, size_t len,
                                      size_t *len_out);

/* Encrypts no more than so many unsent bytes in the socket allow:
 * transport_limit_unsent(). */
void tls_limit_unsent(struct tls *tls, uint32_t bytes);

/* Says that nothing more comes (close_notify). IO_AGAIN_WRITE: call again when
 * the socket takes more. */
MUST_USE enum io_result tls_shut_down(struct tls *tls);

/* Sends what is kept. IO_DONE: nothing is kept any more. */
MUST_USE enum io_result tls_flush(struct tls *tls);

struct tls_work *tls_work(struct tls *tls);

/* Whether something has come out of the socket, and was not asked for yet. */
MUST_USE bool tls_has_unread(const struct tls *tls);

/* Whether something is kept that goes before all else. */
MUST_USE bool tls_has_kept(const struct tls *tls);

/* Whether a byte of the client has come. */
MUST_USE bool tls_has_heard(const struct tls *tls);

/* Whether the connection should end soon, with the answer to the next request:
 * its key was used for nearly as much as it may be, and cannot change. Beyond
 * that the connection sends nothing any more. */
MUST_USE bool tls_is_worn(const struct tls *tls);

/* Whether bytes are owed: encrypted, and not reported as sent. */
MUST_USE bool tls_has_owed(const struct tls *tls);

/* Whether IO_EOF came without close_notify: what the client sent last may be
 * missing. */
MUST_USE bool tls_was_cut(const struct tls *tls);

/* How many bytes on the wire, below TCP's heads, len bytes become, in records
 * as large as they may be. */
MUST_USE uint64_t tls_wire_bytes(const struct tls *tls, uint64_t len);

/* How many bytes may be sent so that no more than wire_bytes are on the wire;
 * 0: so few that no record fits. */
MUST_USE uint64_t tls_payload_bytes(const struct tls *tls, uint64_t wire_bytes);

#endif
