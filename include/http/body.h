/*
 * body - sources of bodies. A response pulls its body from a source, piece by
 * piece, so that the body can be made while it is sent.
 *
 *   response_pull() --> next() --> a piece by value: some more of the body,
 *                                  or none, and why (piece_state)
 *
 * Sources can be stacked. To frame chunks, HTTP/1.1 puts a source of its own on
 * top of another source: whoever pulls the upper source makes it pull the lower
 * one. A piece is borrowed from its source until the source is pulled again or
 * destroyed; where its session settles it, until then.
 *
 * Thread: the worker whose connection the body is for.
 * Owns:   a source owns what lies in its pieces, and the source below it.
 */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include <stdint.h>

#include "base/buf.h"

enum {
    BODY_PIECE_BYTES = 16384,   /* usual length of a piece of text */
    BODY_TEXT_BYTES_MAX = 65536 /* longest piece of text */
};

enum part_kind {
    PART_MEMORY,   /* len bytes at `memory` */
    PART_SENDFILE, /* len bytes of fd from `offset`, by sendfile(2) */
    PART_READ,     /* len bytes of fd from `offset`, by pread(2) and send(2) */
    PART_PIPE      /* len bytes in the pipe fd, by splice(2), which takes them
                      out of the pipe */
};

struct part {
    enum part_kind kind;
    int fd;
    union {
        const char *memory;
        uint64_t offset;
    } at;
    uint64_t len;
};

static inline struct part part_of_memory(struct bytes text)
{
    return (struct part){
        .kind = PART_MEMORY, .fd = -1, .at.memory = text.data, .len = text.len};
}

enum piece_state {
    PIECE_FAILED = -1, /* the body cannot go on: the response breaks off */
    PIECE_END,         /* nothing follows this piece, which may be empty */
    PIECE_MORE,        /* the next piece can be pulled at any time */
    PIECE_LATER        /* no piece comes before the exchange is woken */
};

struct piece {
    enum piece_state state;
    bool joins;      /* the next piece has to be pulled, and sent with this */
    bool is_framing; /* the protocol has made it; no byte of it is body */
    bool is_paused;  /* with PIECE_LATER: more is there, for a later turn */
    struct part part;
    struct bytes trailer; /* with PIECE_END: field lines behind the body */
};

struct source {
    /* Returns the next piece of the body, of at most at_most (1 or more)
     * bytes. */
    struct piece (*next)(struct source *source, uint64_t at_most);
    void (*destroy)(struct source *source);
    /* Called by sessions that want memory back early: all bytes of the pieces
     * so far have been sent. NULL: the source has no use for that. */
    void (*settle)(struct source *source);
    /* Roughly the memory that the source takes while its client takes nothing;
     * 0: little, or memory that is bounded elsewhere. */
    uint32_t bytes;
    /* The exchange may rest (exchange.h) while the source has nothing. */
    bool rests;
};

/* --- A source whose body is text that is written ------------------------- */

struct text_source {
    struct source source; /* first, so that both have one address */
    /* Appends up to BODY_PIECE_BYTES to `out`, which is empty. Returns the
     * state of the piece that will hold those bytes. */
    enum piece_state (*fill)(struct text_source *text, struct buf *out);
    void (*destroy)(struct text_source *text); /* frees the text_source, too */
    struct buf out;                            /* private, like the next two */
    size_t at;              /* bytes of `out` that were pulled */
    enum piece_state state; /* state of the last piece */
};

void text_source_init(struct text_source *text,
                      enum piece_state (*fill)(struct text_source *text,
                                               struct buf *out),
                      void (*destroy)(struct text_source *text));

/* Returns how many bytes text_source.fill() may still append to `out`. */
static inline size_t text_source_room(const struct buf *out)
{
    return out->len < BODY_PIECE_BYTES ? BODY_PIECE_BYTES - out->len : 0;
}

/* --- The chunked transfer coding (RFC 9112 7.1) --------------------------- */

/* Makes a source that frames each piece of the source `inner` as a chunk, and
 * the field lines behind its last piece as the trailer. Takes over `inner`.
 * Returns NULL when memory is short, and destroys `inner` in that case, too. */
struct source *chunk_source_create(struct source *inner);

#endif
