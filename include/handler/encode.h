/*
 * encode - compresses bodies that are made while they are sent: a source on top
 * of a source.
 *
 *   handler: head, source --> encode --> head, [ source | coded source ]
 *
 * Which answers may be compressed their heads say: a type of the rules, no
 * Content-Encoding, no no-transform, no digest, neither a part of something nor
 * nothing at all. Such an answer depends on Accept-Encoding, whether it is
 * compressed or not, and says so (Vary). When it is, a strong ETag becomes weak
 * (RFC 9110 8.8.3.3), and neither a length nor ranges are promised. HEAD is
 * told what GET would be.
 *
 * Answers for one client alone are not compressed: answers to requests with
 * credentials, and answers that set cookies. An attacker who could have them
 * sent again and again, with words of the attacker's own in them, would learn
 * their secrets by their lengths (BREACH).
 *
 * What was put into the compressor comes out when the source below has nothing
 * more for now, so that no event waits for the next one.
 *
 * In a turn of the loop all coded sources together compress so much and no
 * more, and with gzip, which is slow, a quarter of that; then those that still
 * have something wait for the next turn, and all other answers go on meanwhile.
 * The number of streams is bounded, too: whoever comes when all are taken gets
 * the body as it is.
 *
 * Thread: one encoder per worker; no locks.
 * Owns:   the encoder nothing but its list of sources; a coded source its
 *         compressor and the source below.
 */
#ifndef HANDLER_ENCODE_H
#define HANDLER_ENCODE_H

#include "base/list.h"
#include "codec/codec_stream.h"
#include "http/exchange.h"
#include "http/rules/compress_rules.h"

enum {
    /* Compressed in one turn of the loop, within a tenth of a millisecond,
     * which is what a small answer waits for. With 64 KiB that was 0.7 ms for
     * zstd and 2.7 ms for gzip; with fewer the turns themselves begin to cost.
     */
    ENCODER_TURN_BYTES = 8192,
    ENCODER_GZIP_COST = 4, /* so many bytes of the turn for each of its own */
    ENCODER_STREAMS_MAX = 65536
};

/* A body of unknown length. */
#define ENCODE_UNSIZED UINT64_MAX

struct encoder_counts {
    uint64_t streams; /* begun; since the start, as all */
    uint64_t refused; /* came when all were taken */
    uint64_t bytes_in;
    uint64_t bytes_out;
};

struct encoder {
    size_t streams_max;
    size_t streams;     /* now */
    uint64_t turn_left; /* bytes, of this turn; one of gzip counts as several */
    struct list stalled; /* sources that wait for the next turn */
    struct codec_meter meter;
    struct encoder_counts counts;
    /* Has the loop turn once more, at once. */
    void (*turn)(void *context);
    void *context;
};

void encoder_init(struct encoder *encoder, size_t streams_max,
                  void (*turn)(void *context), void *context);

/* A turn of the loop begins: as many bytes may be compressed again. */
void encoder_turn(struct encoder *encoder);

/* What a place compresses; all borrowed. Zeroed: nothing. */
struct encode {
    struct encoder *encoder;
    const struct compress_rules *rules;
    bool codes_private; /* also what goes to one client alone */
};

/* Ends the answer whose fields are in the response's head, but for what is
 * about the length: with source as body, which is taken over, coded or not. It
 * is NULL at most for HEAD. length may be ENCODE_UNSIZED. */
void encode_add_source(const struct encode *encode, struct exchange *exchange,
                       struct source *source, uint64_t length);

/* Has the head of an answer to HEAD, whose length it tells if that is known,
 * say what it would to GET. */
void encode_head(const struct encode *encode, struct exchange *exchange);

/* Whether the answer, of that length, is coded when it gets a source: for those
 * that could send it without one. Vary is there then, if need be. */
MUST_USE bool encode_wants(const struct encode *encode,
                           struct exchange *exchange, uint64_t length);

/* A part of an answer, and word that a client has it already (304), are never
 * coded, and say all the same that others may be: by Vary, and by the ETag that
 * the client has. type: of the whole; empty: what the head says, if it does.
 * Their other fields are in the head. */
void encode_unsent(const struct encode *encode, struct exchange *exchange,
                   struct bytes type);

/* Adds a body that lies in memory for as long as the response is sent; its
 * Content-Length is in the head. False: it is not to be coded, and nothing has
 * happened but that Vary may be there. */
MUST_USE bool encode_add_memory(const struct encode *encode,
                                struct exchange *exchange, struct bytes body);

#endif
