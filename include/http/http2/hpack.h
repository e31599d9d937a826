/*
 * hpack - field lines to header blocks and back (RFC 7541). hpack.c alone
 * includes nghttp2.h.
 *
 * What is sent is encoded without a dynamic table: a block depends on nothing
 * but its fields. So what a cache has encoded once serves every connection, a
 * block that was made can be given up again, a connection needs no memory for
 * what it has sent, and no answer tells by its length what another had in it
 * (CRIME). It costs some bytes: names and values of the static table are one or
 * two, texts are Huffman-coded.
 *
 * What comes is decoded with the table of 4096 bytes that every client may
 * expect. How long a decoded list of fields may be is not decided here:
 * on_field says when it is enough (http2_request.h, HTTP2_LIST_BYTES_MAX), and
 * how long an encoded block may be is said in engine/h2/h2_priv.h
 * (H2_BLOCK_BYTES_MAX).
 *
 * Thread: an encoder is one worker's; a decoder its connection's.
 * Owns:   a decoder its table.
 */
#ifndef HTTP_HTTP2_HPACK_H
#define HTTP_HTTP2_HPACK_H

#include <stdint.h>

#include "base/buf.h"

enum { HPACK_FIELDS_MAX = 128 /* encoded in one call, at most */ };

struct hpack_field {
    struct bytes name; /* in lower case */
    struct bytes value;
};

/* Stands before the first block of a connection and says that no table is used
 * (RFC 7541 6.3); any size that the client allows is enough for that. */
#define HPACK_NO_TABLE "\x20"

/* --- To the client ------------------------------------------------------- */

struct hpack_encoder; /* opaque */

/* NULL: no memory. */
MUST_USE struct hpack_encoder *hpack_encoder_create(void);
void hpack_encoder_destroy(struct hpack_encoder *encoder);

/* Appends fields, HPACK_FIELDS_MAX at most. Without memory out has failed. */
void hpack_encode(struct hpack_encoder *encoder,
                  const struct hpack_field *fields, size_t count,
                  struct buf *out);

/* Appends ":status", of 100 to 599. */
void hpack_encode_status(unsigned status, struct buf *out);

/* --- From the client ----------------------------------------------------- */

struct hpack_decoder; /* opaque */

/* NULL: no memory. */
MUST_USE struct hpack_decoder *hpack_decoder_create(void);
void hpack_decoder_destroy(struct hpack_decoder *decoder);

/* Decodes a whole block. on_field gets each field, for the call only, and says
 * whether to go on. False: the block is malformed, there was no memory, or
 * on_field has stopped it: the table is lost, and the connection with it. */
MUST_USE bool hpack_decode(struct hpack_decoder *decoder, struct bytes block,
                           bool (*on_field)(void *context, struct bytes name,
                                            struct bytes value),
                           void *context);

/* The version of nghttp2 that is linked. */
const char *hpack_library_version(void);

#endif
