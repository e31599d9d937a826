/*
 * chunked - takes the chunked transfer coding off a body (RFC 9112 7.1),
 * strictly.
 *
 * Lines end with CRLF only. Sizes have 1 to 16 hex digits and lie below 2^63.
 * Extensions follow the grammar (BWS before ';' is allowed); all that stands
 * between sizes and their CRLF has at most CHUNKED_EXTENSION_BYTES_MAX bytes in
 * the whole body. Trailer fields must be well formed (token name, no controls,
 * no folding). Together with all line ends and the empty line they have at most
 * CHUNKED_TRAILER_BYTES_MAX bytes. They are dropped unless the caller sets
 * `trailer`. Any doubt gives CHUNKED_BAD, because the connection's framing is
 * lost then.
 *
 * Thread: the worker that reads the body; the struct is the only state.
 */
#ifndef HTTP_CHUNKED_H
#define HTTP_CHUNKED_H

#include <stdint.h>

#include "base/buf.h"

enum { CHUNKED_EXTENSION_BYTES_MAX = 256, CHUNKED_TRAILER_BYTES_MAX = 8192 };

struct chunked {
    struct buf *trailer;      /* gets the lines of the trailer fields; set by
                                 the caller after init; NULL: the fields are
                                 dropped */
    uint64_t chunk_left;      /* how many bytes of the chunk are to come */
    uint16_t extension_bytes; /* bytes of extensions in all chunks so far */
    uint16_t trailer_bytes;   /* bytes of the trailer so far */
    uint8_t size_digits;      /* number of digits of the chunk size so far */
    uint8_t state;            /* private */
};

enum chunked_event {
    CHUNKED_AGAIN, /* all input is used up, more is needed */
    CHUNKED_DATA,  /* *data_out holds decoded bytes, a view into input */
    CHUNKED_END,   /* the body is complete; *input begins behind it */
    CHUNKED_BAD    /* malformed or over a limit: answer 400 and close */
};

void chunked_init(struct chunked *chunked);

/* Goes on decoding at *input and moves *input past the bytes that were used.
 * The caller calls again after CHUNKED_DATA, and never after CHUNKED_END or
 * CHUNKED_BAD. The way a body is split into inputs changes nothing but the
 * sizes of the data runs. */
enum chunked_event chunked_next(struct chunked *chunked, struct bytes *input,
                                struct bytes *data_out);

#endif
