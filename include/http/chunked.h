/*
 * chunked - takes the chunked transfer coding off a body (RFC 9112 7.1),
 * strictly.
 *
 * CRLF only; sizes of 1 to 16 hex digits below 2^63; extensions by the
 * grammar (BWS before ';' allowed), and of all that stands between a size and
 * its CRLF at most CHUNKED_EXTENSION_BYTES_MAX in the whole body; trailer
 * fields must be well formed (token name, no controls, no folding), are
 * dropped unless somebody asks for them, and have at most
 * CHUNKED_TRAILER_BYTES_MAX with all line ends and the empty line. Any doubt
 * is CHUNKED_BAD: the connection's framing is lost then.
 *
 * Thread: the worker that reads the body; no state but the struct.
 */
#ifndef HTTP_CHUNKED_H
#define HTTP_CHUNKED_H

#include <stdint.h>

#include "base/buf.h"

enum { CHUNKED_EXTENSION_BYTES_MAX = 256, CHUNKED_TRAILER_BYTES_MAX = 8192 };

struct chunked {
    struct buf *trailer;      /* set after init: at the end it has the lines of
                                 the trailer fields; NULL: they are dropped */
    uint64_t chunk_left;      /* bytes of the chunk still to come */
    uint16_t extension_bytes; /* in all chunks so far */
    uint16_t trailer_bytes;   /* in the trailer so far */
    uint8_t size_digits;      /* of the chunk size that is being read */
    uint8_t state;            /* private */
};

enum chunked_event {
    CHUNKED_AGAIN, /* input used up, more needed */
    CHUNKED_DATA,  /* *data_out holds decoded bytes, a view into input */
    CHUNKED_END,   /* body complete; input stands after it */
    CHUNKED_BAD    /* malformed or over a limit: 400 and close */
};

void chunked_init(struct chunked *chunked);

/* Goes on decoding at *input and moves it past what was used. Call again
 * after CHUNKED_DATA. The result does not depend on how the body was split
 * into inputs, but for the sizes of the data runs. After CHUNKED_END or
 * CHUNKED_BAD it must not be called again. */
enum chunked_event chunked_next(struct chunked *chunked, struct bytes *input,
                                struct bytes *data_out);

#endif
