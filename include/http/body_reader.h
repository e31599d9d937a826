/*
 * body_reader - turns the bytes of a connection into the body of one message, a
 * request or a reply, and knows where the body ends.
 *
 *   body_reader_next()    while there is input:  data, data, ..., end
 *   body_reader_pass()    instead, for bytes that went another way (splice)
 *   body_reader_finish()  the other side has closed: was that the end?
 *
 * Thread: the worker that reads; the struct is the only state.
 */
#ifndef HTTP_BODY_READER_H
#define HTTP_BODY_READER_H

#include "http/chunked.h"

enum body_framing {
    BODY_NONE,
    BODY_LENGTH,
    BODY_CHUNKED,
    BODY_UNTIL_CLOSE, /* only a reply can be framed so */
    BODY_TUNNEL       /* what follows up to the close is no HTTP */
};

enum body_event {
    BODY_AGAIN, /* all input is used up, more is needed */
    BODY_DATA,  /* *data_out holds some of the body, a view into input */
    BODY_END,   /* the body is complete; *input begins behind it */
    BODY_BAD    /* the body is malformed or cut off: its framing is lost */
};

struct body_reader {
    uint64_t left;          /* with BODY_LENGTH: bytes still to come */
    uint64_t bytes;         /* decoded bytes of the body so far */
    struct chunked chunked; /* the caller may set its `trailer` after init */
    uint8_t framing;        /* enum body_framing */
    bool is_done;           /* BODY_END or BODY_BAD was returned */
};

/* Begins a body. `length` counts for BODY_LENGTH only. */
void body_reader_init(struct body_reader *reader, enum body_framing framing,
                      uint64_t length);

/* Goes on reading at *input and moves *input past the bytes that were used. The
 * caller calls again after BODY_DATA, and never after BODY_END or BODY_BAD. An
 * empty body ends at once, without input. */
enum body_event body_reader_next(struct body_reader *reader,
                                 struct bytes *input, struct bytes *data_out);

/* Returns how many bytes of the body follow without any framing between them.
 * These bytes may go another way (body_reader_pass()). The number is UINT64_MAX
 * for a body that ends with the connection, and 0 for chunks. */
uint64_t body_reader_plain(const struct body_reader *reader);

/* Returns how many bytes of the present chunk are still to come; 0 where there
 * are no chunks. */
uint64_t body_reader_due(const struct body_reader *reader);

/* Notes that bytes of the body have gone another way than through
 * body_reader_next(). */
void body_reader_pass(struct body_reader *reader, uint64_t bytes);

/* Notes that the connection has ended. Returns BODY_END if the body is complete
 * then, else BODY_BAD. */
enum body_event body_reader_finish(struct body_reader *reader);

#endif
