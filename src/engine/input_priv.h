/*
 * input_priv - a buffer of bytes that were read from a connection and are still
 * needed. The buffer is from a pool of the session's context. HTTP/1 hands its
 * input on to HTTP/2 when the client speaks HTTP/2.
 *
 * Parts of a request point into the input until the request is answered, and a
 * client that reads slowly can make this last. So HTTP/1 begins with a small
 * input, into which nearly all heads fit, and changes to a whole input when
 * more comes.
 *
 * Thread: the worker's of the session.
 * Owns:   nothing but its bytes.
 */
#ifndef ENGINE_INPUT_PRIV_H
#define ENGINE_INPUT_PRIV_H

#include "http/body_reader.h"
#include "http/http1/http1.h"

enum {
    /* The size of a whole input: room for the largest head, with some empty
     * lines before it and some bytes of a body behind it, or for a whole frame
     * of HTTP/2. */
    INPUT_BYTES = HTTP1_HEAD_BYTES_MAX + 4096,
    INPUT_SMALL_BYTES = 4096
};

struct input {
    size_t begin;      /* index of the first byte that is not parsed yet */
    size_t end;        /* index behind the last byte that was read */
    uint64_t first_ns; /* when the byte at begin was read */
    uint64_t last_ns;  /* when the last byte was read */
    /* The next members are for a body that HTTP/1 reads into the input. */
    struct body_reader body;
    uint64_t body_since_ms;
    uint32_t body_at; /* index in data at which the body's bytes go */
    uint32_t room;    /* size of data: INPUT_BYTES or INPUT_SMALL_BYTES */
    char data[];
};

enum { INPUT_BLOCK_BYTES = sizeof(struct input) + INPUT_BYTES };

#endif
