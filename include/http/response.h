/*
 * response - an answer: status, field lines, and a body, as a row of parts to
 * be sent in order. Nothing in it is of one version of HTTP: the protocol that
 * sends it puts around the fields what belongs there
 * (http/http1/http1_frame.h).
 *
 *   parts:  [ head | body ]                       memory, one part when both
 *                                                 lie side by side in a cache
 *           [ head ][ file, offset, length ]      sendfile
 *           [ head ][ part head ][ file ] ... [ end ]   multipart/byteranges
 *           [ head ] then source                  made while it is sent
 *
 * The fields are written into the response's own buffer (response_begin() ...
 * response_add_head()), or borrowed from a cache that wrote them earlier.
 * Memory that may change or go while a part of it is still to be sent must be
 * reported by the owner's reference, or lie in the response.
 *
 * Invariant: bytes_left is the sum over parts not yet sent.
 * Thread:    the worker whose connection it answers.
 * Owns:      head text, extra parts, source; one reference to the origin.
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include <stdint.h>

#include "base/now.h"
#include "http/body.h"
#include "http/head_edit.h"
#include "http/reason.h"

enum {
    RESPONSE_HEAD_INLINE = 704,
    /* Room around the fields in that buffer, for the protocol. */
    RESPONSE_HEADROOM = 128,
    RESPONSE_TAILROOM = 56,
    RESPONSE_PHRASE_MAX = 72,        /* a longer one is left out */
    RESPONSE_HEAD_BYTES_MAX = 65536, /* enough for Location of an 8 KiB path */
    RESPONSE_PARTS_INLINE = 4,
    RESPONSE_EXTRA_MAX = 5,
    RESPONSE_TIMING_BYTES = 80 /* longest value of Server-Timing */
};

/* What borrowed parts come from, which is kept until the response is done. */
struct origin {
    /* False when what is being sent is no longer what the head announced. */
    bool (*is_intact)(void *object);
    void (*release)(void *object);
    void *object;
};

struct response;
struct encode; /* handler/encode.h */

/* What a response is written into at first, if that is large enough. */
struct response_room {
    struct part parts[RESPONSE_PARTS_INLINE];
    char head[RESPONSE_HEAD_INLINE];
};

/* The source of the operator's own bodies for errors. */
struct error_source {
    /* Whether there is a body for that status. */
    bool (*has)(const struct error_source *source, unsigned status);
    /* Puts it into an exchange's response: is_error, nothing of it was sent. */
    void (*put)(const struct error_source *source, struct response *response);
};

/* Whether the answer was in a cache. */
enum response_cache {
    RESPONSE_CACHE_UNASKED,
    RESPONSE_CACHE_HIT,
    RESPONSE_CACHE_MISS,
    /* Of proxied answers only. */
    RESPONSE_CACHE_STALE,       /* a hit that was stale, as it may be */
    RESPONSE_CACHE_REVALIDATED, /* a kept answer that the origin said is good */
    RESPONSE_CACHE_BYPASS,      /* the request went past the cache */
    RESPONSE_CACHE_USES
};

/* "hit", for logs; "" for what was not asked. */
const char *response_cache_name(enum response_cache use);

/* A head that a cache has made, encoded for HTTP/2. The session that first
 * sends it so puts it there. */
struct coded_head {
    char *data; /* from malloc; NULL: not yet */
    size_t len;
};

struct response {
    uint16_t status;  /* 0: not made yet */
    bool persists;    /* the connection goes on afterwards */
    bool is_head;     /* answers HEAD: no body is sent */
    bool has_head;    /* the first part is a head, own or borrowed */
    bool is_borrowed; /* that is a cached head: http/http1/http1_frame.h */
    bool is_framed;   /* private to the protocol */
    bool has_date;    /* Date is among the fields */
    bool has_phrase;  /* a phrase came, too: in the headroom */
    bool is_unsized;  /* nobody knows the body's length beforehand */
    bool has_length;  /* source makes length_left more, and no more */
    bool has_ended;   /* source has nothing more */
    bool is_timed;    /* the head gets a Server-Timing field */
    bool is_error;    /* the body says only what the status does */
    bool is_edited;   /* the head has the edits already */
    uint8_t phrase_len;
    uint8_t reason;        /* enum reason: why it is refused, for logs */
    uint8_t extra_count;   /* how many of extra are in use */
    uint8_t cache_use;     /* enum response_cache */
    bool is_waiting;       /* source has nothing for now */
    uint8_t part_count;    /* how many of parts are in use */
    uint8_t part_at;       /* index of the part sent next */
    uint64_t bytes_left;   /* of all unsent parts */
    uint64_t bytes_sent;   /* bytes the kernel has, head included */
    uint64_t bytes_before; /* bytes_sent when it last waited */
    uint64_t body_bytes;   /* length of the body as announced; for logs */
    uint64_t length_left;  /* bytes of the body to come, with has_length */
    uint32_t head_bytes;   /* how many of bytes_sent are head; once framed */
    uint32_t timing_at;    /* in head: where Server-Timing's value goes; or 0 */
    uint32_t fields_end;   /* in head, once it has been ended */
    uint32_t taken_bytes;  /* what the socket took of a PART_READ's last piece,
                              once not all; 0: always all */
    struct part *parts;    /* in the room, or from the heap if they are more */
    struct origin origin;  /* object is NULL when nothing is borrowed */
    struct source *source; /* NULL: parts are all there is; kept until what it
                              lent has been sent */
    /* What else the head gets when it ends, whoever makes it: edits of the
     * place (NULL: none), then those of this answer (NULL: none), then extra,
     * pieces of whole lines. All borrowed until then. */
    const struct head_edits *edits;
    const struct head_edits *own_edits;
    struct bytes extra[RESPONSE_EXTRA_MAX];
    struct bytes id_line;  /* likewise: the request's id, which is returned */
    struct buf *head_copy; /* gets the head when that ends; NULL: nobody will
                              look at it later; borrowed */
    const struct error_source *errors; /* the place's; NULL: none; borrowed */
    /* For handlers that pass answers on; NULL: none; borrowed. */
    const struct encode *encode;
    /* The borrowed head for HTTP/2; NULL: it is not kept. */
    struct coded_head *coded_head;
    struct bytes trailer; /* field lines behind a body that has_ended; borrowed
                             of source */
    struct buf head;
};

/* Fields that every answer of a server has. */
struct server_defaults {
    bool server_field;  /* Server: sprintd */
    bool server_timing; /* Server-Timing: where time goes */
    const struct now *now;
};

/* The room is borrowed until response_fini(), or until it is taken. */
void response_init(struct response *response, struct response_room *room);
void response_fini(struct response *response);

static inline bool response_has_room(const struct response *response)
{
    return response->head.storage;
}

/* Whether the response can do without its room, which may be taken from it, and
 * another lent: nothing has been written yet, or all of it has been sent and
 * nothing follows for now. */
bool response_can_rest(const struct response *response);
void response_take_room(struct response *response);
void response_lend_room(struct response *response, struct response_room *room);

/* Gives back what the body lies in and comes from; the parts stay. */
void response_drop_body(struct response *response);

/* --- Writing fields ------------------------------------------------------ */

/* Begins an answer with the fields that all have: Server, nosniff. */
void response_begin(struct response *response, unsigned status,
                    const struct server_defaults *defaults);

/* Writes the lines that response_begin() begins with, into any buf. */
void head_put_server_defaults(struct buf *head,
                              const struct server_defaults *defaults);
void head_field(struct buf *head, struct bytes name, struct bytes value);
void head_number(struct buf *head, struct bytes name, uint64_t value);

/* Begins an answer with the status, and the phrase behind it, that another
 * server has given. What was sent so far was no part of it. */
void response_begin_relayed(struct response *response, unsigned status,
                            struct bytes phrase);

/* Begins an answer whose fields have the edits of the place already, as those
 * of a cache do. */
void response_begin_edited(struct response *response, unsigned status,
                           struct bytes fields);

/* Adds a piece to extra, the lines that the head gets when it ends. */
void response_put_extra(struct response *response, struct bytes piece);

/* Whether the head of this answer is like no other, so that one that a cache
 * has made cannot be sent as it is. */
static inline bool response_needs_own_head(const struct response *response)
{
    return response->is_timed || response->own_edits ||
           response->extra_count > 0 || response->id_line.len > 0 ||
           response->head_copy;
}

/* Writes a Server-Timing field's value, RESPONSE_TIMING_BYTES at most, while
 * none of the head has been sent. Nothing happens without room for it. */
void response_set_timing(struct response *response, struct bytes value);

/* --- Adding parts ------------------------------------------------------- */

/* Makes room for count parts in all; false: no memory. */
MUST_USE bool response_reserve_parts(struct response *response, size_t count);

/* Adds a part behind the others, unless it is empty. */
void response_add_part(struct response *response, struct part part);

void response_add_memory(struct response *response, struct bytes text);
void response_add_file(struct response *response, enum part_kind kind, int fd,
                       uint64_t offset, uint64_t len);

/* Ends the fields, with what they get besides, and with room for Server-Timing
 * if it is timed, and adds them as the first part. When there was no memory to
 * write them (head.failed) the response stays without parts: the connection is
 * closed instead. */
void response_add_head(struct response *response);

/* Adds the head without the lines that every response gets besides: for another
 * server's 101. */
void response_add_bare_head(struct response *response);

/* The two steps of response_add_head(), between which more text may be put
 * behind it into response->head. False: no memory. */
MUST_USE bool response_end_head(struct response *response);
void response_lay_head(struct response *response);

/* Adds a head of head_len bytes that a cache has made. Behind it block has an
 * empty line, and may have the body. */
void response_borrow_head(struct response *response, struct bytes block,
                          size_t head_len);

/* Adds the head, and a body whose length is not known. Takes source over, which
 * may be NULL for HEAD; it is destroyed where no body is sent. */
void response_add_source(struct response *response, struct source *source);

/* Adds the head, and a body whose length is known and announced: the answer
 * breaks off where source makes more, or less. */
void response_add_source_of(struct response *response, struct source *source,
                            uint64_t length);

/* --- Whole answers ------------------------------------------------------ */

/* Makes a short HTML page that names the status, with extra fields (whole lines
 * with CRLF, or empty) in its head. Takes the place of what was there. */
void response_make_error(struct response *response, unsigned status,
                         struct bytes extra_fields,
                         const struct server_defaults *defaults);

/* Makes an answer with a short body, which is copied; the rest as above. */
void response_make_short(struct response *response, unsigned status,
                         struct bytes extra_fields, struct bytes type,
                         struct bytes text,
                         const struct server_defaults *defaults);

/* If the answer is_error, gives it the body that its place has, if any. */
static inline void response_put_error_body(struct response *response)
{
    if (response->is_error && response->errors)
        response->errors->put(response->errors, response);
}

/* Makes an error whose body is text; otherwise as response_make_error(). */
void response_make_error_text(struct response *response, unsigned status,
                              struct bytes extra_fields, struct bytes type,
                              struct bytes text,
                              const struct server_defaults *defaults);

/* Gives an answer that is_error another body, of that type and length, which
 * the caller adds next. The head stays but for what describes the body, and no
 * source makes any of it. None of it may have been sent. False: the head could
 * not be written, and nothing may be added. */
MUST_USE bool response_replace_body(struct response *response,
                                    struct bytes type, uint64_t length);

/* Gives the response up for want of memory: the connection is closed
 * instead. */
void response_break_off(struct response *response);

/* --- Sending ------------------------------------------------------------ */

/* Notes that len bytes of the next parts went to the kernel. */
void response_advance(struct response *response, uint64_t len);

/* Pulls the next piece of the source, at_most bytes of it, when all parts have
 * been sent. False: the body cannot go on. */
MUST_USE bool response_pull(struct response *response, uint64_t at_most);

/* Whether source may make more, behind the parts. */
static inline bool response_has_more(const struct response *response)
{
    return response->source && !response->has_ended;
}

static inline bool response_is_done(const struct response *response)
{
    return response->bytes_left == 0 && !response_has_more(response);
}

#endif
