/*
 * origin_priv - a connection of an origin's: origin.c conducts it,
 * origin_answer.c says what is answered.
 */
#ifndef E2E_ORIGIN_PRIV_H
#define E2E_ORIGIN_PRIV_H

#include "origin.h"
#include "origin_request.h"

enum {
    IN_BYTES = 65536 + 4096,
    OUT_BYTES = 131072, /* all of in, echoed, and more */
    FRAME_BYTES = 256   /* of head or chunk around a body */
};

enum guest_framing { BY_LENGTH, BY_CHUNKS, BY_CLOSE };

struct guest {
    int fd;
    struct secure *secure; /* NULL: it speaks in clear text */
    struct origin_request request;
    bool is_answering;
    bool is_echo;
    bool has_ended; /* the answer, but for what lies in out */
    enum guest_framing framing;
    uint64_t seed;
    uint64_t at;
    uint64_t size;
    size_t in_len;
    size_t out_at;
    size_t out_len;
    char in[IN_BYTES];
    char out[OUT_BYTES];
};

/* Begins to answer a request that is whole. */
void guest_answer(struct guest *guest, const struct origin *origin);
/* Goes on, as far as there is room in out. */
void guest_make_more(struct guest *guest);

/* len bytes, the first of in, are the next chunk of the answer. */
void guest_begin_echo(struct guest *guest);
void guest_echo(struct guest *guest, size_t len);
void guest_end_echo(struct guest *guest);

#endif
