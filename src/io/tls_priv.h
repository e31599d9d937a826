/*
 * tls_priv - what the files of a connection share:
 *
 *   tls.c         the handshake, receiving, the end
 *   tls_client.c  whom the client has shown to be
 *   tls_send.c    payload to records
 *   tls_wire.c    what it hands to the socket, and takes from it: a BIO
 */
#ifndef IO_TLS_PRIV_H
#define IO_TLS_PRIV_H

#include "io/tls.h"

struct bio_st;
struct bio_method_st;
struct ssl_ctx_st;
struct ssl_st;

enum {
    TLS_GATHERED_RECORDS = 8, /* leave in one call, if there is room */
    /* Head, explicit nonce, type, tag: the dearest cipher's. */
    TLS_RECORD_EXTRA_MAX = 64,
    /* Behind whole records: tickets, alerts, updates of keys. What does not
     * fit waits for another call. */
    TLS_OUT_BYTES =
        TLS_GATHERED_RECORDS * (TLS_RECORD_BYTES + TLS_RECORD_EXTRA_MAX) + 4096
};

struct tls_buffers {
    struct tls *current; /* whose call it is: one at a time */
    struct bio_method_st *method;
    struct bio_st *bio; /* of all connections: it speaks for the current one */
    size_t out_len;     /* ciphertext of this call, in out */
    char out[TLS_OUT_BYTES];
    char scratch[TLS_RECORD_BYTES]; /* payload from several places */
};

struct tls {
    struct tls_work work;
    struct ssl_st *ssl;
    struct tls_buffers *buffers;
    const char *why; /* it has broken, for people; static; NULL: see error */
    char *kept;      /* ciphertext that goes next, or NULL */
    uint32_t kept_at;
    uint32_t kept_len;
    uint32_t owed;        /* payload that is encrypted, and not reported */
    uint32_t sent_ms;     /* when payload was sent last, by a coarse clock */
    uint32_t unsent_max;  /* that wait in the socket; 0: any number */
    uint16_t early_bytes; /* payload of an early record */
    uint8_t early_left;   /* so many of these are to come */
    int fd;
    int error;            /* errno of a call that has failed; 0: none has */
    uint8_t record_extra; /* bytes that a record adds to its payload */
    uint8_t failure;      /* enum tls_failure */
    bool has_unread;      /* more of the client has come than was asked for */
    bool has_ended;       /* the socket has, in reading */
    bool is_cut;          /* and nothing had been said of it */
    bool has_heard;       /* a first byte of the client */
    bool is_open;         /* the handshake is done */
    bool has_said_end;    /* close_notify is on its way */
    bool is_broken;       /* OpenSSL must not be called any more */
    bool is_mute;         /* nothing more can be sent; what has come can be
                             received all the same */
};

/* A connection that is neither a client's nor a server's yet. NULL: no memory. */
MUST_USE struct tls *tls_create(struct tls_buffers *buffers,
                                struct ssl_ctx_st *ctx, int fd);

/* Makes buffers->bio. False: no memory. */
MUST_USE bool tls_wire_init(struct tls_buffers *buffers);
void tls_wire_fini(struct tls_buffers *buffers);

/* Room for records in the buffer of this call. */
static inline size_t tls_wire_room(const struct tls_buffers *buffers)
{
    return sizeof(buffers->out) - buffers->out_len;
}

/* Sends what is kept. IO_DONE: all of it, or there was nothing. */
MUST_USE enum io_result tls_wire_send_kept(struct tls *tls);

/* Sends what this call has made, and keeps what the kernel does not take.
 * *sent_out counts bytes of the call that went; IO_DONE and IO_AGAIN_WRITE. */
MUST_USE enum io_result tls_wire_flush(struct tls *tls, bool more,
                                       size_t *sent_out);

#endif
