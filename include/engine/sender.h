/*
 * sender - hands the next step of a pipeline to a socket.
 *
 * Parts in memory, of as many responses as lie ahead, leave together in one
 * sendmsg(2): the replies to pipelined requests cost one system call. A part
 * of a file goes by sendfile(2), or by pread(2) and send(2); a head before it
 * is held back with MSG_MORE, so that both share segments. What a source
 * has in a pipe goes by splice(2). Over TLS the transport reads files itself.
 *
 * Before the last piece of a file, and after it, the origin is asked whether
 * the file still is what the head announced; if not, the response is broken
 * off: no client shall take a mixture of two versions for one.
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
    SENDER_LATER, /* nothing to send until the first response is woken */
    SENDER_FAILED /* client gone, file changed, or no memory: abort */
};

struct sender {
    char *buffer;        /* for PART_READ; NULL until needed */
    size_t buffer_bytes; /* the size of buffer: the quantum */
};

void sender_init(struct sender *sender, size_t quantum);
void sender_fini(struct sender *sender);

/* Sends at most budget bytes (at least 1) of the exchanges in the pipeline, in
 * one step: all gathered memory, or one piece of a file or pipe. *sent_out says
 * how many went. Exchanges that are done stay in it; the caller takes them out
 * before the next step. */
enum sender_result sender_step(struct sender *sender,
                               const struct transport *transport,
                               struct list *exchanges, uint64_t budget,
                               uint64_t *sent_out);

#endif
