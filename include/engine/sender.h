/*
 * sender - hands the next step of a pipeline to a socket.
 *
 * Parts in memory that follow one another, even of several responses, leave in
 * one sendmsg(2): so answers to pipelined requests cost one system call. A part
 * of a file goes by sendfile(2), or by pread(2) and send(2); the head before
 * the file is held back with MSG_MORE, so that head and file share segments.
 * Bytes that a source has in a pipe go by splice(2). Over TLS the transport
 * reads files itself.
 *
 * Before and after the last piece of a file, the origin is asked whether the
 * file is still the one that the head announced. If not, the response is broken
 * off, so that no client takes a mixture of two versions for one.
 *
 * Thread: one per worker.
 * Owns:   the buffer for pread.
 */
#ifndef ENGINE_SENDER_H
#define ENGINE_SENDER_H

#include "base/list.h"
#include "http/exchange.h"
#include "io/transport.h"

enum sender_result {
    SENDER_DONE,  /* nothing of the pipeline is left */
    SENDER_MORE,  /* a step was made, more is left */
    SENDER_FULL,  /* the socket takes no more for now */
    SENDER_LATER, /* nothing to send until the first response has more bytes */
    SENDER_FAILED /* the client is gone, a file has changed, or memory is short:
                     close */
};

struct sender {
    char *buffer;        /* for reading files; NULL until needed */
    size_t buffer_bytes; /* the size of buffer: the quantum */
};

void sender_init(struct sender *sender, size_t quantum);
void sender_fini(struct sender *sender);

/* Sends at most `budget` bytes (at least 1) of the exchanges in the pipeline.
 * One step sends gathered memory, or one piece of a file or pipe. Sets
 * *sent_out to the number of bytes sent. Exchanges that are done stay in the
 * pipeline; the caller takes them out before the next step. */
enum sender_result sender_step(struct sender *sender,
                               const struct transport *transport,
                               struct list *exchanges, uint64_t budget,
                               uint64_t *sent_out);

#endif
