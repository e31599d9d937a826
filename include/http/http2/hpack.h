/*
 * hpack - field lines to header blocks and back (RFC 7541). hpack.c alone
 * includes nghttp2.h.
 *
 * What is sent is encoded without a dynamic table, so that a block depends on
 * nothing but its fields. Therefore a block that a cache has encoded serves
 * every connection, a finished block can be given up again, a connection needs
 * no memory for what it has sent, and the length of an answer tells nothing of
 * other answers (CRIME). The price is some bytes: names and values of the
 * static table take one or two, and texts are Huffman-coded.
 *
 * What comes is decoded with the table of 4096 bytes that every client may
 * expect. The limits are set elsewhere: on_field ends a list of fields that has
 * grown too long (http2_head.h, HTTP2_LIST_BYTES_MAX), and the limit of an
 * encoded block is in engine/h2/h2_priv.h (H2_BLOCK_BYTES_MAX).
 *
 * Thread: an encoder belongs to one worker, a decoder to its connection.
 * Owns:   a decoder owns its table.
 */
#ifndef HTTP_HTTP2_HPACK_H
#define HTTP_HTTP2_HPACK_H

#include <stdint.h>

#include "base/buf.h"

enum { HPACK_FIELDS_MAX = 128 /* most fields that one call encodes */ };

struct hpack_field {
    struct bytes name; /* in lower case */
    struct bytes value;
};

/* Stands before the first block of a connection and sets the size of the
 * dynamic table to 0 (RFC 7541 6.3), which every client allows. */
#define HPACK_NO_TABLE "\x20"

/* --- To the client ------------------------------------------------------- */

struct hpack_encoder; /* opaque */

/* Returns NULL when memory is short. */
MUST_USE struct hpack_encoder *hpack_encoder_create(void);
void hpack_encoder_destroy(struct hpack_encoder *encoder);

/* Appends at most HPACK_FIELDS_MAX fields. If memory is short, out->failed is
 * set. */
void hpack_encode(struct hpack_encoder *encoder,
                  const struct hpack_field *fields, size_t count,
                  struct buf *out);

/* Appends ":status" with a value of 100 to 599. */
void hpack_encode_status(unsigned status, struct buf *out);

/* --- From the client ----------------------------------------------------- */

struct hpack_decoder; /* opaque */

/* Returns NULL when memory is short. */
MUST_USE struct hpack_decoder *hpack_decoder_create(void);
void hpack_decoder_destroy(struct hpack_decoder *decoder);

/* Decodes a whole block. on_field gets each field, for the call only, and says
 * whether to go on. Returns false when the block is malformed, when memory was
 * short, or when on_field has stopped: the table is lost then, and with it the
 * connection. */
MUST_USE bool hpack_decode(struct hpack_decoder *decoder, struct bytes block,
                           bool (*on_field)(void *context, struct bytes name,
                                            struct bytes value),
                           void *context);

/* Returns the version of nghttp2 that is linked. */
const char *hpack_library_version(void);

#endif
