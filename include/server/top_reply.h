/*
 * top_reply - an HTTP/1.1 reply as `sprintd top` reads it, piece by piece.
 *
 * With a length, in chunks, or to the end of the connection; whatever is
 * unclear or beyond a limit is bad.
 *
 * Thread: the owner's.
 * Owns:   its buffers.
 */
#ifndef SERVER_TOP_REPLY_H
#define SERVER_TOP_REPLY_H

#include "base/buf.h"
#include "http/chunked.h"

enum { TOP_HEAD_BYTES_MAX = 16384, TOP_REPLY_BYTES_MAX = 8 << 20 };

enum top_reply_state {
    TOP_REPLY_HEAD,
    TOP_REPLY_LENGTH,
    TOP_REPLY_CHUNKED,
    TOP_REPLY_TO_THE_END,
    TOP_REPLY_DONE,
    TOP_REPLY_BAD
};

struct top_reply {
    enum top_reply_state state;
    int status; /* once the head is there */
    struct buf body;
    /* private */
    struct buf head;
    unsigned end_bytes; /* of the head's end, seen so far */
    uint64_t left;
    struct chunked chunked;
};

void top_reply_init(struct top_reply *reply);
void top_reply_fini(struct top_reply *reply);

/* Nothing happens when it is done or bad. */
void top_reply_take(struct top_reply *reply, struct bytes piece);

/* No more comes: it is done or bad now. */
void top_reply_end(struct top_reply *reply);

#endif
