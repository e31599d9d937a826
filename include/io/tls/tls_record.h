/*
 * tls_record - records of TLS 1.3 in one direction (RFC 8446 5), once the
 * handshake is done.
 *
 *   | 23 | 3 3 | length | payload, type, zeros ... | tag |
 *   '------ head -------'---- encrypted -----------'
 *
 * After the handshake a direction needs a key, an initialization vector and a
 * counter. The ciphers and digests are OpenSSL's. But records are made and
 * opened here, because OpenSSL's struct SSL, which is ready for every version
 * and handshake, takes 11 KiB more for each connection (io/tls_takeover).
 *
 * Thread: one at a time may use a suite and all directions of that suite.
 * Owns:   a direction owns its key, which is wiped out at its end.
 */
#ifndef IO_TLS_TLS_RECORD_H
#define IO_TLS_TLS_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "io/tls/tls_hkdf.h"

struct evp_cipher_ctx_st;
struct evp_cipher_st;

enum {
    TLS_RECORD_BYTES = 16384, /* longest payload (RFC 8446 5.1) */
    TLS_RECORD_HEAD = 5,
    TLS_RECORD_TAG = 16,
    /* the bytes that sealing adds to a payload */
    TLS_RECORD_SEALED = TLS_RECORD_HEAD + 1 + TLS_RECORD_TAG,
    /* the most bytes by which a record without its head may be longer than its
     * payload (5.2) */
    TLS_RECORD_PADDING = 256,
    TLS_RECORD_MAX = TLS_RECORD_HEAD + TLS_RECORD_BYTES + TLS_RECORD_PADDING,
    TLS_SUITE_FIRST = 0x1301,
    TLS_SUITE_COUNT = 3,
    TLS_KEY_MAX = 32,
    TLS_IV_BYTES = 12
};

enum tls_content {
    TLS_CONTENT_CHANGE = 20,
    TLS_CONTENT_ALERT = 21,
    TLS_CONTENT_HANDSHAKE = 22,
    TLS_CONTENT_DATA = 23
};

/* The alerts of RFC 8446 6. */
enum tls_alert {
    TLS_ALERT_CLOSE_NOTIFY = 0,
    TLS_ALERT_UNEXPECTED_MESSAGE = 10,
    TLS_ALERT_BAD_RECORD_MAC = 20,
    TLS_ALERT_RECORD_OVERFLOW = 22,
    TLS_ALERT_ILLEGAL_PARAMETER = 47,
    TLS_ALERT_DECODE_ERROR = 50,
    TLS_ALERT_INTERNAL_ERROR = 80,
    TLS_ALERT_USER_CANCELED = 90,
    TLS_ALERT_NONE = 255 /* not an alert of TLS: all is well */
};

/* The cipher and the digest of a cipher suite. A suite is set up once, because
 * OpenSSL takes its time to find a cipher. */
struct tls_suite {
    struct evp_cipher_st *cipher;
    struct tls_hkdf *hkdf; /* with the suite's digest */
    size_t secret_bytes;   /* the length of the digest */
    uint16_t id;           /* number in TLS, such as 0x1301 */
};

/* A traffic secret, and the key and vector that are made of it, once for all
 * its records. */
struct tls_keys {
    unsigned char secret[TLS_SECRET_MAX];
    unsigned char key[TLS_KEY_MAX];
    unsigned char iv[TLS_IV_BYTES];
    size_t secret_len;
    size_t key_len;
    size_t iv_len;
};

struct tls_direction {
    struct evp_cipher_ctx_st *cipher; /* has the key; NULL: no key is set */
    const struct tls_suite *suite;    /* borrowed */
    uint64_t sequence;                /* number of the next record */
    unsigned char secret[TLS_SECRET_MAX];
    unsigned char iv[TLS_IV_BYTES];
    bool seals; /* false: the direction opens records */
};

/* Sets up the suite with the number `id`, one of RFC 8446 B.4 from 0x1301 on.
 * Returns false when memory is short. */
MUST_USE bool tls_suite_init(struct tls_suite *suite, uint16_t id);
void tls_suite_fini(struct tls_suite *suite); /* may be zeroed */

/* Begins a direction with the key that a traffic secret gives. Returns false
 * when memory is short, or when `secret` is not as long as the suite's
 * secrets. */
MUST_USE bool tls_direction_init(struct tls_direction *direction,
                                 const struct tls_suite *suite,
                                 struct bytes secret, bool seals);

/* Begins a direction with keys that were made before. Returns false when memory
 * is short, or the keys are not as long as the suite's. */
MUST_USE bool tls_direction_take(struct tls_direction *direction,
                                 const struct tls_suite *suite,
                                 const struct tls_keys *keys, bool seals);
void tls_direction_fini(struct tls_direction *direction); /* may be zeroed */

/* Goes on to the next key (RFC 8446 7.2). Returns false when memory is short;
 * the direction is of no use then. */
MUST_USE bool tls_direction_update(struct tls_direction *direction);

/* Makes the key once more, for the kernel, which will seal from now on. Returns
 * false when memory is short. */
MUST_USE bool tls_direction_find_key(const struct tls_direction *direction,
                                     unsigned char key_out[TLS_KEY_MAX]);

/* Writes a record with `len` bytes of payload, at most TLS_RECORD_BYTES. `out`
 * has room for TLS_RECORD_SEALED bytes more, and does not overlap the payload.
 * Returns the length of the record, or 0 when the cipher has failed. */
MUST_USE size_t tls_record_seal(struct tls_direction *direction,
                                enum tls_content type, const char *payload,
                                size_t len, char *out);

/* Returns the length of the record that begins at `begun`, with its head; 0
 * when the head is incomplete. */
MUST_USE size_t tls_record_length(struct bytes begun);

/* Opens a record in place. The record is whole, unless its head claims more
 * than any record may have: then the head is enough. Returns TLS_ALERT_NONE,
 * and sets *payload_out and *type_out, which may be any type. If the record is
 * faulty, returns the alert to be sent to the peer. */
MUST_USE enum tls_alert tls_record_open(struct tls_direction *direction,
                                        char *record, size_t len,
                                        enum tls_content *type_out,
                                        struct bytes *payload_out);

#endif
