/*
 * response - an answer: status, field lines, and a body, as a row of parts to
 * be sent in order. A response is of no particular version of HTTP: the
 * protocol that sends it adds what its version needs around the fields
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
 * Memory that may change or go while a part of it is unsent has to lie in the
 * response, or be kept by the reference in origin.
 *
 * Invariant: bytes_left is the sum over all parts not yet sent.
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
    /* Room for the protocol in the head's buffer, around the fields. */
    RESPONSE_HEADROOM = 128,
    RESPONSE_TAILROOM = 56,
    RESPONSE_PHRASE_MAX = 72,        /* a longer phrase is left out */
    RESPONSE_HEAD_BYTES_MAX = 65536, /* a Location may have an 8 KiB path */
    RESPONSE_PARTS_INLINE = 4,
    RESPONSE_EXTRA_MAX = 4,
    RESPONSE_TIMING_BYTES = 80 /* longest value of Server-Timing */
};

/* The owner of borrowed parts, which is kept until the response is done. */
struct origin {
    /* Returns false when the object's bytes have changed since the head was
     * made. */
    bool (*is_intact)(void *object);
    void (*release)(void *object);
    void *object;
};

struct response;
struct encode; /* handler/encode.h */

/* Fields that only the site may say: lines of these names that an upstream
 * server has sent are dropped. */
enum response_own {
    RESPONSE_OWN_HSTS = 1, /* Strict-Transport-Security */
    /* Which pages may read the answer, and whether with credentials. */
    RESPONSE_OWN_CORS = 2
};

/* The memory that a response is written into first; a longer response moves to
 * the heap. */
struct response_room {
    struct part parts[RESPONSE_PARTS_INLINE];
    char head[RESPONSE_HEAD_INLINE];
};

/* The source of the operator's own bodies for errors. */
struct error_source {
    /* Whether there is a body for that status. */
    bool (*has)(const struct error_source *source, unsigned status);
    /* Puts the body into a response that is_error and of which no byte was
     * sent. */
    void (*put)(const struct error_source *source, struct response *response);
};

/* Whether the answer was in a cache. */
enum response_cache {
    RESPONSE_CACHE_UNASKED,
    RESPONSE_CACHE_HIT,
    RESPONSE_CACHE_MISS,
    /* Only for proxied answers: */
    RESPONSE_CACHE_STALE,       /* a stale answer that may still be used */
    RESPONSE_CACHE_REVALIDATED, /* a kept answer that the origin confirmed */
    RESPONSE_CACHE_BYPASS,      /* the request went past the cache */
    RESPONSE_CACHE_USES
};

/* Returns the name for logs, as "hit"; "" for RESPONSE_CACHE_UNASKED. */
const char *response_cache_name(enum response_cache use);

/* A head that a cache has made, encoded for HTTP/2. The first session that
 * sends the head over HTTP/2 stores the encoding here. */
struct coded_head {
    char *data; /* made by malloc(3); NULL: not encoded yet */
    size_t len;
};

struct response {
    uint16_t status;  /* 0: the answer is not made yet */
    bool persists;    /* the connection goes on after the response */
    bool is_head;     /* the request is a HEAD: no body is sent */
    bool has_head;    /* the first part is a head, own or borrowed */
    bool is_borrowed; /* the head is one that a cache has made */
    bool is_framed;   /* private to the protocol */
    bool has_date;    /* Date is among the fields */
    bool has_phrase;  /* a reason phrase stands in the headroom */
    bool is_relayed;  /* another server has given the status and the fields */
    bool is_unsized;  /* nobody knows the body's length beforehand */
    bool has_length;  /* `source` has to make length_left more bytes */
    bool has_ended;   /* `source` makes nothing more */
    bool is_timed;    /* the head gets a Server-Timing field */
    bool is_error;    /* the body tells nothing but what the status tells */
    bool is_edited;   /* `edits` were made in the fields already */
    uint8_t phrase_len;
    uint8_t reason;        /* enum reason: why the request is refused */
    uint8_t extra_count;   /* how many elements of `extra` are in use */
    uint8_t own_fields;    /* set of enum response_own */
    uint8_t cache_use;     /* enum response_cache */
    bool is_waiting;       /* `source` has nothing for now */
    uint8_t part_count;    /* how many elements of `parts` are in use */
    uint8_t part_at;       /* index of the part sent next */
    uint64_t bytes_left;   /* bytes of all unsent parts */
    uint64_t bytes_sent;   /* bytes that the kernel has, head included */
    uint64_t bytes_before; /* bytes_sent when the response last waited */
    uint64_t body_bytes;   /* length of the body as announced; for logs */
    uint64_t length_left; /* with has_length: what `source` still has to make */
    uint32_t head_bytes;  /* bytes of the head; set when it is framed */
    uint32_t timing_at;   /* offset in `head` of Server-Timing's value; or 0 */
    uint32_t fields_end;  /* offset in `head` behind the fields; set when they
                             have ended */
    uint32_t taken_bytes; /* bytes that the socket took of the last PART_READ;
                             0: it has taken every one whole */
    struct part *parts;   /* in the room, or on the heap when they are many */
    struct origin origin; /* `object` is NULL when nothing is borrowed */
    struct source *source; /* makes the bytes behind `parts`, and is kept until
                              all its bytes are sent; NULL: none follow */
    /* Changes to the head, made in this order when the head ends: the edits of
     * the place (`edits`), the edits of this answer (own_edits), the dropping
     * of others' own_fields, pieces of whole lines that are appended (`extra`),
     * and a line that only a relayed answer gets (relayed_line). All of them
     * are borrowed until then. NULL: there are no such edits. */
    const struct head_edits *edits;
    const struct head_edits *own_edits;
    struct bytes extra[RESPONSE_EXTRA_MAX];
    struct bytes relayed_line;
    struct bytes id_line;  /* the line with the request's id, for the head */
    struct buf *head_copy; /* borrowed; gets a copy of the head when the head
                              ends; NULL: nobody needs one */
    /* The operator's bodies for errors; borrowed; NULL: there are none. */
    const struct error_source *errors;
    /* How handlers compress the answers that they pass on; borrowed; NULL: they
     * do not compress any. */
    const struct encode *encode;
    /* Where the HTTP/2 form of a borrowed head is kept; NULL: nowhere. */
    struct coded_head *coded_head;
    struct bytes trailer; /* field lines behind a body that has_ended; borrowed
                             from `source` */
    struct buf head;
};

/* Fields that every answer of a server has. */
struct server_defaults {
    bool server_field;  /* every answer has "Server: sprintd" */
    bool server_timing; /* every answer has a Server-Timing */
    const struct now *now;
};

/* `room` is borrowed until response_fini() or response_take_room(). */
void response_init(struct response *response, struct response_room *room);
void response_fini(struct response *response);

static inline bool response_has_room(const struct response *response)
{
    return response->head.storage;
}

/* response_can_rest(): whether the response needs no room for now, because the
 * room has no text yet, or all text in it has been sent and the source has
 * nothing more at the moment. response_take_room() takes the room away, and
 * response_lend_room() lends the response another room. */
bool response_can_rest(const struct response *response);
void response_take_room(struct response *response);
void response_lend_room(struct response *response, struct response_room *room);

/* Destroys the source of the body, and releases the origin of borrowed parts.
 * The parts themselves stay. */
void response_drop_body(struct response *response);

/* --- Writing fields ------------------------------------------------------ */

/* Begins an answer with the fields that all answers have: Server, nosniff. */
void response_begin(struct response *response, unsigned status,
                    const struct server_defaults *defaults);

/* Appends the lines that `defaults` ask for to a buf of the caller, as
 * response_begin() does to its response. */
void head_put_server_defaults(struct buf *head,
                              const struct server_defaults *defaults);
void head_field(struct buf *head, struct bytes name, struct bytes value);
void head_number(struct buf *head, struct bytes name, uint64_t value);

/* Begins an answer with the status and the phrase that another server has
 * given. Bytes sent before (a 1xx) do not count as part of the answer. */
void response_begin_relayed(struct response *response, unsigned status,
                            struct bytes phrase);

/* Begins an answer with fields to which the edits of the place were made
 * before, such as the fields of a cached answer. */
void response_begin_edited(struct response *response, unsigned status,
                           struct bytes fields);

/* Adds a piece to `extra`, the lines that the head gets when it ends. */
void response_put_extra(struct response *response, struct bytes piece);

/* Whether this answer's head differs from all others, so that a head from a
 * cache cannot be sent unchanged. */
static inline bool response_needs_own_head(const struct response *response)
{
    return response->is_timed || response->own_edits ||
           response->extra_count > 0 || response->id_line.len > 0 ||
           response->head_copy;
}

/* Writes the value of Server-Timing, at most RESPONSE_TIMING_BYTES of it, while
 * nothing of the head has been sent. Does nothing if the head has no room for
 * the value. */
void response_set_timing(struct response *response, struct bytes value);

/* --- Adding parts ------------------------------------------------------- */

/* Makes room for `count` parts in all. Returns false when memory is short. */
MUST_USE bool response_reserve_parts(struct response *response, size_t count);

/* Adds a part behind the others; an empty part is left out. */
void response_add_part(struct response *response, struct part part);

void response_add_memory(struct response *response, struct bytes text);
void response_add_file(struct response *response, enum part_kind kind, int fd,
                       uint64_t offset, uint64_t len);

/* Ends the fields, and adds them as the first part. Before that the edits are
 * made, the lines of `extra` are appended and, with is_timed, room is made for
 * Server-Timing. If memory was short for the fields (head.failed), the response
 * gets no part, and the connection is closed instead. */
void response_add_head(struct response *response);

/* Adds the head of another server's 101, without the lines that other heads get
 * at their end. */
void response_add_bare_head(struct response *response);

/* The two steps of response_add_head(): the first ends the fields, the second
 * adds them as a part. In between more text may be appended to response->head,
 * behind the head. response_end_head() returns false when memory is short. */
MUST_USE bool response_end_head(struct response *response);
void response_lay_head(struct response *response);

/* Adds a head that a cache has made, and what follows it, as one part. `block`
 * begins with the head of head_len bytes and an empty line; the body may stand
 * behind that. */
void response_borrow_head(struct response *response, struct bytes block,
                          size_t head_len);

/* Adds the head, and a body of unknown length. Takes over `source`, which may
 * be NULL for HEAD, and destroys it where no body is sent. */
void response_add_source(struct response *response, struct source *source);

/* Adds the head, and a body of the announced length: the answer breaks off when
 * `source` makes more bytes, or fewer. */
void response_add_source_of(struct response *response, struct source *source,
                            uint64_t length);

/* --- Whole answers ------------------------------------------------------ */

/* Makes a short HTML page that names the status, with extra fields (whole lines
 * with CRLF, or empty) in its head. The page replaces all that was made. */
void response_make_error(struct response *response, unsigned status,
                         struct bytes extra_fields,
                         const struct server_defaults *defaults);

/* Makes an answer with a short body, which is copied, and with extra fields as
 * in response_make_error(). */
void response_make_short(struct response *response, unsigned status,
                         struct bytes extra_fields, struct bytes type,
                         struct bytes text,
                         const struct server_defaults *defaults);

/* Replaces the body of an error by the operator's own. Does nothing if the
 * response is no error (is_error), or `errors` has no body for its status. */
static inline void response_put_error_body(struct response *response)
{
    if (response->is_error && response->errors)
        response->errors->put(response->errors, response);
}

/* Does what response_make_error() does, but the body is `text`, of the media
 * type `type`. */
void response_make_error_text(struct response *response, unsigned status,
                              struct bytes extra_fields, struct bytes type,
                              struct bytes text,
                              const struct server_defaults *defaults);

/* Takes the body of an error (is_error) away, and announces another body of
 * that type and length, which the caller has to add next. Nothing of the answer
 * may have been sent yet. The head keeps all fields except those that describe
 * the old body, whose source is destroyed. Returns false when the head could
 * not be written; the caller then adds nothing. */
MUST_USE bool response_replace_body(struct response *response,
                                    struct bytes type, uint64_t length);

/* Gives the response up because memory is short. The connection is closed
 * instead of an answer. */
void response_break_off(struct response *response);

/* --- Sending ------------------------------------------------------------ */

/* Notes that len bytes of the next parts have gone to the kernel. */
void response_advance(struct response *response, uint64_t len);

/* Pulls the next piece, of at most at_most bytes, out of the source. To be
 * called when all parts have been sent. Returns false when the body cannot go
 * on. */
MUST_USE bool response_pull(struct response *response, uint64_t at_most);

/* Whether the source may make more bytes behind the parts. */
static inline bool response_has_more(const struct response *response)
{
    return response->source && !response->has_ended;
}

static inline bool response_is_done(const struct response *response)
{
    return response->bytes_left == 0 && !response_has_more(response);
}

#endif
