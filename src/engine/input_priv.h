/*
 * input_priv - bytes read from a connection that are still needed; from a pool
 * of its context. HTTP/1 hands it on to HTTP/2 where a client speaks that.
 *
 * Views of a request point into it until that is answered, which lasts as long
 * as a client that reads slowly likes. So HTTP/1 begins with a small one, which
 * nearly all heads fit into, and goes over to a whole one where more comes.
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
     * whole frame of HTTP/2. */
    INPUT_BYTES = HTTP1_HEAD_BYTES_MAX + 4096,
    INPUT_SMALL_BYTES = 4096
};

struct input {
    size_t begin;      /* where what is not parsed yet begins */
    size_t end;        /* where what has been read ends */
    uint64_t first_ns; /* when the byte at begin was read */
    uint64_t last_ns;  /* when the last byte was read */
    /* The reader of the body that HTTP/1 reads, which needs the buffer: */
    struct body_reader body;
    uint64_t body_since_ms;
    uint32_t body_at; /* where in data the body's bytes go */
    uint32_t room;    /* INPUT_BYTES or INPUT_SMALL_BYTES, by its pool */
    char data[];
};

enum { INPUT_BLOCK_BYTES = sizeof(struct input) + INPUT_BYTES };

#endif
