/*
 * tls_priv - what the files of a connection share:
 *
 *   tls.c           the handshake, receiving, the end
 *   tls_client.c    who the client is, by its certificate
 *   tls_facts.c     what was agreed upon
 *   tls_send.c      payload to records
 *   tls_receive.c   records to payload, for connections taken over
 *   tls_takeover.c  takes a connection from OpenSSL after the handshake
 */
#ifndef IO_TLS_TLS_PRIV_H
#define IO_TLS_TLS_PRIV_H

#include "io/tls/tls.h"
#include "io/tls/tls_secrets_priv.h"

struct bio_st;
struct bio_method_st;
struct ssl_ctx_st;
struct ssl_st;
struct x509_st;

enum {
    /* The most records that leave in one call: enough for a quantum of 128 KiB,
     * and its overhead. */
    TLS_GATHERED_RECORDS = 9,
    /* The most bytes that a record adds to its payload: head, explicit nonce,
     * type and tag. */
    TLS_RECORD_EXTRA_MAX = 64,
    /* Room for TLS_GATHERED_RECORDS whole records, and for tickets, alerts and
     * updates of keys. What does not fit waits for another call. */
    TLS_OUT_BYTES =
        TLS_GATHERED_RECORDS * (TLS_RECORD_BYTES + TLS_RECORD_EXTRA_MAX) + 4096,
    /* Two records of the largest size, so that there is room behind a part of a
     * record. */
    TLS_IN_BYTES = 2 * TLS_RECORD_MAX,
    /* The most records of one connection that are opened before other
     * connections have their turn. A record of one byte takes about as long to
     * open as one of hundreds. */
    TLS_RECORDS_AT_ONCE = 128,
    TLS_BEGUN_MAX = 5, /* a KeyUpdate, the only message clients send */
    /* After the handshake, OpenSSL gets at most this many bytes that carry no
     * data (`idle_bytes`): one record, and what was read ahead of the next.
     * Without a limit, OpenSSL would handle any number of key updates, and of
     * requests for another handshake, in one call. */
    TLS_IDLE_BYTES_MAX = TLS_IN_BYTES,
    /* A record with data lowers `idle_bytes` by its data and by this many bytes
     * more, since a record adds up to 85 bytes to its data (TLS 1.2 with CBC
     * and SHA-384, as some upstream servers have it). */
    TLS_IDLE_BYTES_BACK = 128
};

struct tls_buffers {
    struct tls *current; /* the connection whose call is under way */
    struct bio_method_st *method;
    struct bio_st *bio; /* for all connections; serves `current` */
    struct tls_suite suites[TLS_SUITE_COUNT];
    size_t out_len; /* bytes of ciphertext of this call, in `out` */
    size_t in_at;   /* where the untaken bytes in `in` begin */
    size_t in_len;
    char out[TLS_OUT_BYTES];
    char in[TLS_IN_BYTES];
    /* one record's payload, joined from several parts */
    char scratch[TLS_RECORD_BYTES];
};

/* A connection without OpenSSL's SSL. */
struct tls_taken {
    struct tls_direction in;
    struct tls_direction out;
    struct ssl_ctx_st *context;  /* counted; `set` lives there */
    const struct tls_set *set;   /* the set that was chosen */
    struct x509_st *certificate; /* the client's, if it is good; or NULL */
    const char *cipher;          /* name, for people */
    const char *group;
    bool is_resumed;
    bool speaks_http2;
    bool has_closed; /* the client has said that nothing more comes */
    /* The kernel seals (tls_kernel.h). Then out.sequence is the most records
     * that the kernel may have sent. */
    bool by_kernel;
    bool has_tried;       /* the kernel was asked to seal */
    bool owes_update;     /* the next record has to use a new key */
    uint8_t idle_records; /* records in a row without data */
    /* updates of the client's keys; UPDATE_BYTES of data lower it by one */
    uint8_t updates;
    /* bytes of data since `updates` was last lowered */
    uint16_t data_bytes;
    uint8_t begun_len; /* bytes in `begun`, a message that is not complete */
    unsigned char begun[TLS_BEGUN_MAX];
    char name[]; /* the name that the client asked for, or "" */
};

struct tls {
    struct tls_work work;
    struct ssl_st *ssl;          /* NULL: the connection is in `taken` */
    struct tls_taken *taken;     /* NULL: the connection is in `ssl` */
    struct tls_secrets *secrets; /* of the present handshake, or NULL */
    struct tls_buffers *buffers;
    char *held;        /* unread bytes, payload then records; or NULL */
    uint32_t plain_at; /* where payload begins in `held` */
    uint32_t plain_len;
    uint32_t cipher_at; /* where records begin in `held` */
    uint32_t cipher_len;
    const char *why; /* why the connection broke, for people; static; or NULL */
    char *kept;      /* ciphertext to be sent next, or NULL */
    uint32_t kept_at;
    uint32_t kept_len;
    /* bytes of payload encrypted, but not reported as sent */
    uint32_t owed;
    /* bytes that OpenSSL got, less those of records with data */
    uint32_t idle_bytes;
    uint32_t sent_ms;    /* when payload was sent last, by a coarse clock */
    uint32_t unsent_max; /* limit of unsent bytes in the socket; 0: none */
    /* bytes of payload in an early record, which fills one segment */
    uint16_t early_bytes;
    uint8_t early_left; /* early records still to come */
    int fd;
    int error;            /* errno of the call that failed; 0: none */
    uint8_t record_extra; /* bytes that a record adds to its payload */
    uint8_t failure;      /* enum tls_failure */
    /* more bytes have come than tls_receive() was asked for */
    bool has_unread;
    bool has_ended;    /* nothing more comes from the socket */
    bool is_cut;       /* the socket ended without close_notify */
    bool has_heard;    /* a first byte of the client has come */
    bool is_open;      /* the handshake is done */
    bool has_said_end; /* close_notify is on its way */
    bool is_deferred;  /* kept bytes wait for the first reply */
    bool is_broken;    /* OpenSSL must not be called any more */
    /* Nothing more can be sent, but what has come can still be received. */
    bool is_mute;
};

/* Makes a connection that is neither a client's nor a server's yet. Returns
 * NULL when memory is short. */
MUST_USE struct tls *tls_create(struct tls_buffers *buffers,
                                struct ssl_ctx_st *ctx, int fd);

/* --- tls_takeover.c ------------------------------------------------------ */

/* Sets up buffers->suites. Returns false when memory is short. */
MUST_USE bool tls_takeover_init(struct tls_buffers *buffers);
void tls_takeover_fini(struct tls_buffers *buffers);

/* Begins to note the secrets of a client's handshake. Returns false when memory
 * is short. */
MUST_USE bool tls_takeover_begin(struct tls *tls);

/* Takes the connection over after the handshake, if that is possible. */
void tls_takeover_end(struct tls *tls);

void tls_taken_destroy(struct tls_taken *taken); /* NULL is ok */

/* --- tls_receive.c: for connections that were taken over ----------------- */

MUST_USE enum io_result tls_taken_receive(struct tls *tls, char *data,
                                          size_t len, size_t *len_out);

/* Makes a short record, which goes behind the records that this call has made.
 * The connection must have no kept bytes. */
void tls_taken_say(struct tls *tls, enum tls_content type, const char *payload,
                   size_t len);

enum {
    TLS_RECORDS_DUE = 1 << 24, /* records until the next key is due */
    TLS_RECORDS_MAX = 23726566 /* 2^24.5 whole records (RFC 8446 5.5) */
};

/* Whether the next record needs another key, because the client wants it, or
 * because the old key has sealed TLS_RECORDS_DUE records. */
static inline bool tls_taken_is_due(const struct tls_taken *taken)
{
    return !taken->by_kernel &&
           (taken->owes_update || taken->out.sequence >= TLS_RECORDS_DUE);
}

/* Ends a connection whose key would have to change but cannot. */
void tls_taken_end(struct tls *tls);

/* Gives the next records another key, and tells the client of the change. */
void tls_taken_update(struct tls *tls);

/* --- tls_wire.c ---------------------------------------------------------- */

/* Makes buffers->bio. Returns false when memory is short. */
MUST_USE bool tls_wire_init(struct tls_buffers *buffers);
void tls_wire_fini(struct tls_buffers *buffers);

/* Returns how many more bytes of records this call's buffer has room for. */
static inline size_t tls_wire_room(const struct tls_buffers *buffers)
{
    return sizeof(buffers->out) - buffers->out_len;
}

/* Receives as many bytes as fit into buffers->in, behind those there already.
 * Returns IO_DONE, IO_AGAIN_READ, IO_EOF, or IO_FAILED with tls->error set. */
MUST_USE enum io_result tls_wire_gather(struct tls *tls);

/* Moves the unused part of the bytes that this call has received into
 * tls->held. Returns false when memory is short. */
MUST_USE bool tls_wire_hold(struct tls *tls);

/* Keeps the records that this call has made, to be sent with the reply that
 * comes soon. So tickets, for which nobody waits, cost no system call of their
 * own. Returns false when there is too much to keep, or memory is short. */
MUST_USE bool tls_wire_defer(struct tls *tls);

/* Puts the deferred bytes at the head of what this call makes. */
void tls_wire_resume(struct tls *tls);

/* Sends the kept bytes. Returns IO_DONE when none are kept any more. */
MUST_USE enum io_result tls_wire_send_kept(struct tls *tls);

/* Sends what this call has made, and keeps what the kernel does not take. After
 * IO_DONE and IO_AGAIN_WRITE, *sent_out says how many of the call's bytes were
 * sent. */
MUST_USE enum io_result tls_wire_flush(struct tls *tls, bool more,
                                       size_t *sent_out);

#endif
