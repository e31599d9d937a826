/*
 * encode - compresses bodies while they are sent: a source on top of a source.
 *
 *   handler: head, source --> encode --> head, [ source | coded source ]
 *
 * The head of an answer says whether it may be compressed: its type is in the
 * rules, it has no Content-Encoding, no-transform or digest, and it is neither
 * partial nor empty. Such an answer, compressed or not, says that it depends on
 * Accept-Encoding (Vary). In a compressed one, a strong ETag becomes weak (RFC
 * 9110 8.8.3.3), and there is no length and no range. HEAD gets the fields of
 * GET.
 *
 * Answers for a single client are not compressed: those to requests with
 * credentials, and those that set cookies. An attacker who can trigger many
 * such answers that contain the attacker's words would learn secrets in them
 * from their lengths (BREACH).
 *
 * The compressor is flushed when the source below has nothing more for now, so
 * that no event waits for the next one.
 *
 * In each turn of the loop, all coded sources together compress at most
 * ENCODER_TURN_BYTES, or a quarter of that with gzip, which is slow; the rest
 * waits for the next turn, and all other answers go on meanwhile. The number of
 * streams is bounded, too: when all are taken, a body is sent uncompressed.
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
    /* Compressed in one turn of the loop. It takes a tenth of a millisecond,
     * for which a small answer has to wait. 64 KiB took 0.7 ms with zstd and
     * 2.7 ms with gzip; with fewer bytes, the turns themselves begin to
     * cost. */
    ENCODER_TURN_BYTES = 8192,
    ENCODER_GZIP_COST = 4, /* a byte of gzip counts as so many */
    ENCODER_STREAMS_MAX = 65536
};

/* The length of a body that is not known. */
#define ENCODE_UNSIZED UINT64_MAX

struct encoder_counts {
    uint64_t streams; /* begun; this and all: since the start */
    uint64_t refused; /* not begun, since all were taken */
    uint64_t bytes_in;
    uint64_t bytes_out;
};

struct encoder {
    size_t streams_max;
    size_t streams;      /* open now */
    uint64_t turn_left;  /* bytes left in this turn; gzip's count as several */
    struct list stalled; /* sources waiting for the next turn */
    struct codec_meter meter;
    struct encoder_counts counts;
    /* Makes the loop turn once more, at once. */
    void (*turn)(void *context);
    void *context;
};

void encoder_init(struct encoder *encoder, size_t streams_max,
                  void (*turn)(void *context), void *context);

/* Tells that a turn of the loop begins, with the full number of bytes again. */
void encoder_turn(struct encoder *encoder);

/* What a location compresses; all borrowed. Zeroed: nothing. */
struct encode {
    struct encoder *encoder;
    const struct compress_rules *rules;
    bool codes_private; /* answers for a single client, too */
};

/* Completes an answer whose head has all fields but those about the length:
 * gives it source, which it takes over, as a body, coded or not. source may be
 * NULL for HEAD. length may be ENCODE_UNSIZED. */
void encode_add_source(const struct encode *encode, struct exchange *exchange,
                       struct source *source, uint64_t length);

/* Gives the head of an answer to HEAD the fields that GET would get; it has the
 * length if that is known. */
void encode_head(const struct encode *encode, struct exchange *exchange);

/* Whether an answer of that length would be coded if it had a source; for
 * callers that could send it without one. Adds Vary if needed. */
MUST_USE bool encode_wants(const struct encode *encode,
                           struct exchange *exchange, uint64_t length);

/* Whether an answer with these lines may be coded for some clients and not for
 * others. Both forms have the same Last-Modified then, so If-Range must not
 * accept that date (RFC 9110 8.8.1). */
bool encode_has_forms(const struct encode *encode, struct bytes lines);

/* For partial answers and 304, which are never coded: adds Vary, and weakens
 * the ETag of a 304 if the client has a coded form. type: the whole's; empty:
 * that in the head, if any. The head must have all other fields. */
void encode_unsent(const struct encode *encode, struct exchange *exchange,
                   struct bytes type);

/* Adds a body in memory that stays until the response was sent; its
 * Content-Length is in the head. False: it shall not be coded; nothing but Vary
 * was added. */
MUST_USE bool encode_add_memory(const struct encode *encode,
                                struct exchange *exchange, struct bytes body);

#endif
