/*
 * response - an answer as a row of parts to be sent in order.
 *
 *   parts:  [ head | body ]                       memory, one part when both
 *                                                 lie side by side in a cache
 *           [ head ][ file, offset, length ]      sendfile
 *           [ head ][ part head ][ file ] ... [ end ]   multipart/byteranges
 *           [ head ] then source                  made while it is sent
 *
 * The head is written into the response's own buffer (response_begin ...
 * response_end_head), or borrowed from a cache that wrote it earlier with the
 * same functions. Memory that may change or go while a part of it is still to
 * be sent must be reported by the owner's reference, or lie in the response.
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
    RESPONSE_HEAD_INLINE = 1024,
    RESPONSE_HEAD_BYTES_MAX = 65536, /* longest: Location of an 8 KiB path */
    RESPONSE_PARTS_INLINE = 5, /* size, data, end, trailer, end of a chunk */
    RESPONSE_EXTRA_MAX = 4,
    RESPONSE_TIMING_BYTES = 80 /* of a Server-Timing field, see below */
};

/* Where borrowed parts come from: kept until the response is done. */
struct origin {
    /* False when what is being sent is no longer what the head announced. */
    bool (*is_intact)(void *object);
    void (*release)(void *object);
    void *object;
};

struct response;

/* Who gives errors bodies of the operator's own. */
struct error_source {
    /* Whether there should be one for that status. */
    bool (*has)(const struct error_source *source, unsigned status);
    /* The response is an exchange's, is_error, and nothing of it was sent. */
    void (*put)(const struct error_source *source, struct response *response);
};

/* Whether what is sent was known already. */
enum response_cache {
    RESPONSE_CACHE_UNASKED,
    RESPONSE_CACHE_HIT,
    RESPONSE_CACHE_MISS
};

struct response {
    uint16_t status;       /* 0: not made yet */
    bool persists;         /* the connection goes on afterwards */
    bool is_head;          /* answers HEAD: no body is sent */
    bool is_http10;        /* the client reads no chunks */
    bool has_length;       /* source makes length_left more, and no more */
    bool has_ended;        /* source has nothing more */
    bool is_timed;         /* the head gets a Server-Timing field */
    bool is_error;         /* the body says only what the status does */
    bool is_edited;        /* the head has the edits already */
    uint8_t reason;        /* enum reason: why it is refused, for logs */
    uint8_t extra_count;   /* in use, of extra */
    uint8_t cache_use;     /* enum response_cache */
    bool is_waiting;       /* source has nothing for now */
    uint8_t part_count;    /* in use, of parts */
    uint8_t part_at;       /* the next to send */
    uint64_t bytes_left;   /* of all parts */
    uint64_t bytes_sent;   /* handed to the kernel, head included */
    uint64_t bytes_before; /* of these, before it waited last */
    uint64_t body_bytes;   /* of the body as announced; for logs */
    uint64_t length_left;  /* of the body, while has_length */
    uint32_t head_bytes;   /* of bytes_sent, how many were head */
    uint32_t timing_at;    /* in head, where the field's value goes; or 0 */
    struct part *parts;    /* parts_inline, or more from the heap */
    struct origin origin;  /* object is NULL when nothing is borrowed */
    struct source *source; /* NULL: parts are all there is; kept until what it
                              lent has been sent */
    uint32_t taken_bytes;  /* of the last piece of a PART_READ, once the socket
                              has not taken all of one; 0: it always has */
    /* What else the head gets when it ends, whoever makes it: edits of the
     * place (NULL: none), then those of this answer (NULL: none), then extra,
     * pieces of whole lines. All borrowed until then. */
    const struct head_edits *edits;
    const struct head_edits *own_edits;
    struct bytes extra[RESPONSE_EXTRA_MAX];
    struct bytes id_line;  /* likewise: the request's id, which is returned */
    struct buf *head_copy; /* gets the head when that ends; NULL: nobody will
                              look at it later; borrowed */
    const struct error_source *errors; /* of the place; NULL: none; borrowed */
    struct part parts_inline[RESPONSE_PARTS_INLINE];
    struct buf head;
    char head_inline[RESPONSE_HEAD_INLINE];
};

/* What every answer of a server says alike. */
struct response_style {
    bool server_field;  /* Server: sprintd */
    bool server_timing; /* Server-Timing: where time goes */
    const struct now *now;
};

/* The Date value stands at this place of every head: a cached head is made
 * current by writing 29 bytes there. "HTTP/1.1 200 OK\r\nDate: " with a
 * reason of another length does not occur in caches. */
enum { RESPONSE_DATE_OFFSET = 17 + 6 };

void response_init(struct response *response);
void response_fini(struct response *response);

/* --- Writing a head ----------------------------------------------------- */

/* Status line, Date, Server, nosniff; into any buf. */
void head_begin(struct buf *head, unsigned status,
                const struct response_style *style);
void head_field(struct buf *head, struct bytes name, struct bytes value);
void head_number(struct buf *head, struct bytes name, uint64_t value);

/* What ends a head: the Connection field where one is due, and the empty
 * line. Static text. */
struct bytes head_end(const struct response *response);

/* Begins response->head with one that has the edits of the place already, as
 * those of a cache do; without its end. */
void response_take_head(struct response *response, struct bytes head);

/* The next piece of the lines that the head gets when it ends. */
void response_put_extra(struct response *response, struct bytes piece);

/* Whether the head of this answer is like no other, so that one that a cache
 * has made cannot be sent as it is. */
static inline bool response_is_special(const struct response *response)
{
    return response->is_timed || response->own_edits ||
           response->extra_count > 0 || response->id_line.len > 0 ||
           response->head_copy;
}

/* Ends response->head, with what it gets besides, and with room for a
 * Server-Timing field if it is timed. */
void response_end_head(struct response *response);

/* Copies the head, which has been ended, for whoever wants it later. */
static inline void response_keep_head(const struct response *response)
{
    struct bytes head = buf_bytes(&response->head);

    if (!response->head_copy || !head.data)
        return;
    response->head_copy->len = 0;
    buf_put(response->head_copy, head);
}

/* Writes that field's value, RESPONSE_TIMING_BYTES at most, while none of the
 * head has been sent. Nothing happens without room for it. */
void response_set_timing(struct response *response, struct bytes value);

/* --- Adding parts ------------------------------------------------------- */

/* Makes room for count parts in all; false: no memory. */
MUST_USE bool response_reserve_parts(struct response *response, size_t count);

/* Empty ones are left out. */
void response_add_part(struct response *response, struct part part);

void response_add_memory(struct response *response, struct bytes text);
void response_add_file(struct response *response, enum part_kind kind, int fd,
                       uint64_t offset, uint64_t len);

/* Ends response->head and adds it as the first part. When there was no memory
 * to write it (head.failed) the response stays without parts: the connection
 * is closed instead. */
void response_add_head(struct response *response);

/* Ends response->head, which says nothing of framing, by that of a body whose
 * length is not known: chunks, or to HTTP/1.0 the end of the connection. Takes
 * source over, which is NULL at most for HEAD; it is destroyed where none is
 * sent. */
void response_add_source(struct response *response, struct source *source);

/* The same when the length is known, and said: the answer breaks off where
 * source makes more, or ends before. */
void response_add_source_of(struct response *response, struct source *source,
                            uint64_t length);

/* --- Whole answers ------------------------------------------------------ */

/* A short HTML page that names the status, with extra fields (whole lines
 * with CRLF, or empty) in its head. Takes the place of what was there. */
void response_make_error(struct response *response, unsigned status,
                         struct bytes extra_fields,
                         const struct response_style *style);

/* An answer with a short body, which is copied; else the same. */
void response_make_short(struct response *response, unsigned status,
                         struct bytes extra_fields, struct bytes type,
                         struct bytes text, const struct response_style *style);

/* Has an answer that is_error get the body that its place has for it. */
static inline void response_put_error_body(struct response *response)
{
    if (response->is_error && response->errors)
        response->errors->put(response->errors, response);
}

/* An error whose body is text: the same as response_make_error() else. */
void response_make_error_text(struct response *response, unsigned status,
                              struct bytes extra_fields, struct bytes type,
                              struct bytes text,
                              const struct response_style *style);

/* Gives an answer that is_error another body, of that type and length, which
 * the caller adds next: the head stays but for what describes the body. None
 * of it may have been sent. False: the head could not be written, and nothing
 * may be added. */
MUST_USE bool response_replace_body(struct response *response,
                                    struct bytes type, uint64_t length);

/* --- Sending ------------------------------------------------------------ */

/* Notes that len bytes of the next parts went to the kernel. */
void response_advance(struct response *response, uint64_t len);

/* Pulls the next piece of the source, at_most bytes of it, when all parts have
 * been sent. False: the body cannot go on. */
MUST_USE bool response_pull(struct response *response, uint64_t at_most);

/* Whether source makes more than the parts. */
static inline bool response_has_more(const struct response *response)
{
    return response->source && !response->has_ended;
}

static inline bool response_is_done(const struct response *response)
{
    return response->bytes_left == 0 && !response_has_more(response);
}

#endif
