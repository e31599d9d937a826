/*
 * encode - compresses bodies while they are sent: a source on top of a source.
 *
 *   handler: head, source --> encode --> head, [ source | coded source ]
 *
 * The head of an answer decides whether the answer may be compressed. It may be
 * if its type is in the rules, if it has no Content-Encoding, no-transform or
 * digest, and if it is neither partial nor empty. It then says that it depends
 * on Accept-Encoding (Vary), even if it is not compressed this time. A
 * compressed answer has no length and no range, and its strong ETag becomes
 * weak (RFC 9110 8.8.3.3). An answer to HEAD gets the fields of GET.
 *
 * Answers for a single client are not compressed, unless codes_private is set.
 * These are answers to requests with credentials, and answers that set cookies.
 * An attacker may be able to trigger many such answers that contain the
 * attacker's words. The lengths of the compressed answers would reveal secrets
 * in them (BREACH).
 *
 * The compressor is flushed when the source below has nothing more for now, so
 * that no event of a stream waits for the next event.
 *
 * In each turn of the loop, all coded sources together compress at most
 * ENCODER_TURN_BYTES, or a quarter of that number with gzip, which is slow. The
 * rest waits for the next turn; all other answers go on meanwhile. The number
 * of streams is bounded, too: when all are taken, a body is sent uncompressed.
 *
 * Thread: one encoder per worker; no locks.
 * Owns:   an encoder owns only its list of sources; a coded source owns its
 *         compressor and the source below.
 */
#ifndef HANDLER_ENCODE_H
#define HANDLER_ENCODE_H

#include "base/list.h"
#include "codec/codec_stream.h"
#include "http/exchange.h"
#include "http/rules/compress_rules.h"

enum {
    /* Bytes compressed in one turn of the loop. Compressing them takes a tenth
     * of a millisecond, for which a small answer has to wait. 64 KiB took 0.7
     * ms with zstd and 2.7 ms with gzip. With fewer bytes, the turns themselves
     * begin to cost. */
    ENCODER_TURN_BYTES = 8192,
    ENCODER_GZIP_COST = 4, /* a byte for gzip counts as so many in a turn */
    ENCODER_STREAMS_MAX = 65536
};

/* The length of a body that is not known. */
#define ENCODE_UNSIZED UINT64_MAX

/* All numbers count from the start of the server. */
struct encoder_counts {
    uint64_t streams; /* streams begun */
    uint64_t refused; /* streams not begun, since too many were open */
    uint64_t bytes_in;
    uint64_t bytes_out;
};

struct encoder {
    size_t streams_max;
    size_t streams;      /* streams open now */
    uint64_t turn_left;  /* bytes left in this turn; a byte of gzip counts as
                            ENCODER_GZIP_COST */
    struct list stalled; /* sources waiting for the next turn */
    struct codec_meter meter;
    struct encoder_counts counts;
    /* Makes the loop begin another turn at once. */
    void (*turn)(void *context);
    void *context;
};

void encoder_init(struct encoder *encoder, size_t streams_max,
                  void (*turn)(void *context), void *context);

/* Must be called when a turn of the loop begins: allows the turn the full
 * number of bytes again. */
void encoder_turn(struct encoder *encoder);

/* What a location compresses. All is borrowed. A zeroed object compresses
 * nothing. */
struct encode {
    struct encoder *encoder;
    const struct compress_rules *rules;
    bool codes_private; /* answers for a single client are coded, too */
};

/* Completes an answer whose head has all fields but those about the length.
 * `source`, coded or not, becomes the body, and is owned by the answer.
 * `source` may be NULL for HEAD. `length` may be ENCODE_UNSIZED. */
void encode_add_source(const struct encode *encode, struct exchange *exchange,
                       struct source *source, uint64_t length);

/* Gives the head of an answer to HEAD the fields that compression would give
 * the answer to GET. If the length is known, Content-Length must be in the head
 * already. */
void encode_head(const struct encode *encode, struct exchange *exchange);

/* Returns true if an answer of `length` bytes would be coded if it had a
 * source. Callers that can also send the answer without a source ask this
 * first. Adds Vary if needed. */
MUST_USE bool encode_wants(const struct encode *encode,
                           struct exchange *exchange, uint64_t length);

/* Returns true if an answer with these head lines is sent coded to some clients
 * and uncoded to others. Both forms have the same Last-Modified, so If-Range
 * must not accept that date (RFC 9110 8.8.1). */
bool encode_has_forms(const struct encode *encode, struct bytes lines);

/* Completes the head of a partial answer or a 304, which are never coded. Adds
 * Vary, and weakens the ETag of a 304 if the client has a coded form. `type` is
 * the Content-Type of the whole representation. If `type` is empty, the
 * Content-Type in the head is used. The head must have all other fields. */
void encode_unsent(const struct encode *encode, struct exchange *exchange,
                   struct bytes type);

/* Adds `body` in coded form. `body` must stay in memory until the response was
 * sent, and its Content-Length must be in the head. Returns false if the caller
 * must send `body` uncoded; then nothing but Vary was added. */
MUST_USE bool encode_add_memory(const struct encode *encode,
                                struct exchange *exchange, struct bytes body);

#endif
