/*
 * input_priv - what has been read of a connection and is not done with; from
 * the pool of its context. HTTP/1 hands it on to HTTP/2 where a client speaks
 * that.
 *
 * Thread: the worker's of the session.
 * Owns:   nothing but its bytes.
 */
#ifndef ENGINE_INPUT_PRIV_H
#define ENGINE_INPUT_PRIV_H

#include "http/body_reader.h"
#include "http/http1/http1.h"

enum {
    /* A whole head behind some empty lines, and always room for a body; or a
     * whole frame. */
    INPUT_BYTES = HTTP1_HEAD_BYTES_MAX + 4096
};

struct input {
    size_t begin;      /* of what is not parsed yet */
    size_t end;        /* of what has been read */
    uint64_t first_ns; /* when the byte at begin was read */
    uint64_t last_ns;  /* when the last was */
    /* The reader of the body that HTTP/1 is reading, which keeps the buffer: */
    struct body_reader body;
    uint64_t body_since_ms;
    size_t body_at; /* where in the buffer it comes in */
    char data[INPUT_BYTES];
};

#endif
