/*
 * h1_priv - what the files of HTTP/1 share. Each file calls only those listed
 * below it:
 *
 *   h1.c         the functions of the protocol table: reading, limits, end
 *   h1_send.c    sends the pipeline
 *   h1_head.c    makes requests of what has come
 *   h1_body.c    reads a body before its answer; sends "100 Continue"
 *   h1_upload.c  reads a body beside its answer; tunnels
 *   h1_take.c    what h1_body.c and h1_upload.c have in common: passes a body
 *                on to its sink, and makes room for the body in the input
 *   h1_answer.c  takes exchanges from their head to the pipeline, and ends them
 */
#ifndef ENGINE_H1_H1_PRIV_H
#define ENGINE_H1_H1_PRIV_H

#include "engine/h1/h1.h"
#include "engine/input_priv.h"
#include "engine/session_log.h"
#include "http/exchange.h"
#include "http/http1/http1.h"
#include "http/http1/http1_frame.h"

struct h1 {
    struct session session;
    struct input *input;
    struct list exchanges;    /* the pipeline; the first one is sent now */
    struct exchange *current; /* the exchange whose body is being read; in an
                                 upload also the first of the pipeline */
    struct http1_progress progress;
    /* Nothing more is parsed, and the connection ends when all is sent. */
    bool is_closing;
    bool client_closes;    /* the client asked for the end and sends no more */
    uint8_t in_row;        /* number of requests taken since the last read */
    bool head_timed : 1;   /* until_ms is the limit of a head */
    bool has_body : 1;     /* the body of current is being read */
    bool is_uploading : 1; /* the body is read while its answer is sent */
    bool reads_much : 1;   /* a small input was too small before */
    uint64_t until_ms;     /* time limit of what is being read */
};

static inline struct h1 *h1_of(struct session *session)
{
    return OWNER_OF(session, struct h1, session);
}

static inline const struct h1 *h1_of_const(const struct session *session)
{
    return OWNER_OF(session, struct h1, session);
}

static inline struct session_context *h1_context(const struct h1 *h1)
{
    return h1->session.context;
}

static inline uint64_t h1_now_ms(const struct h1 *h1)
{
    return h1->session.context->now->mono_ms;
}

static inline struct exchange *h1_first(const struct h1 *h1)
{
    return OWNER_OF(h1->exchanges.next, struct exchange, list_node);
}

/* Whether the request is of HTTP/1.0; false when no request could be parsed. */
static inline bool h1_speaks_http10(const struct exchange *exchange)
{
    return exchange->request.minor == 0 &&
           exchange->request.method_name.len > 0;
}

/* Frames the response, unless its answer is still pending. */
static inline void h1_frame(const struct h1 *h1, struct exchange *exchange)
{
    if (!exchange->pending)
        http1_frame(&exchange->response, h1_speaks_http10(exchange),
                    h1_context(h1)->now);
}

/* Whether no byte that was read is left to parse. */
static inline bool h1_is_input_empty(const struct h1 *h1)
{
    return !h1->input || h1->input->begin == h1->input->end;
}

/* --- h1_answer.c --------------------------------------------------------- */

/* Takes an exchange for a request that is to be parsed. Returns NULL when there
 * is no memory. */
struct exchange *h1_take_exchange(struct h1 *h1);
void h1_give_exchange(struct h1 *h1, struct exchange *exchange);

/* Gives a parsed request with many fields a table of its own. Returns false
 * when there is no memory. */
MUST_USE bool h1_keep_fields(struct h1 *h1, struct exchange *exchange);

/* Fills in all members of an exchange except its request. */
void h1_begin_exchange(struct h1 *h1, struct exchange *exchange);

/* Lets the handler answer, now or later. */
void h1_ask(struct h1 *h1, struct exchange *exchange);

/* Lets the handler answer, now or later, and puts the exchange into the
 * pipeline. A request with an unknown expectation is refused instead. */
void h1_answer(struct h1 *h1, struct exchange *exchange);

/* Puts a refusal into the pipeline. */
void h1_answer_refusal(struct h1 *h1, struct exchange *exchange,
                       enum reason reason);

/* Puts an answered exchange at the end of the pipeline. */
void h1_put(struct h1 *h1, struct exchange *exchange);

/* Makes `exchange` the last of its connection, since the bytes after it cannot
 * be parsed. `end` is the reason for the log. */
void h1_expect_last(struct h1 *h1, struct exchange *exchange,
                    enum conn_end end);

/* Lets the connection end after a response that does not persist. */
void h1_heed(struct h1 *h1, const struct exchange *exchange);

/* Puts a refusal into the pipeline as the last answer, in place of the answer
 * to the current exchange. `line` is the request's line, or empty. Returns
 * false when there is no memory. */
MUST_USE bool h1_refuse(struct h1 *h1, enum reason reason, struct bytes line);

/* Takes an exchange out of the pipeline, logs and counts it, and gives it
 * back. */
void h1_finish_exchange(struct h1 *h1, struct exchange *exchange);

/* Sets session.beside, which says what is done with bytes from the client
 * now. */
void h1_set_beside(struct h1 *h1);

/* --- h1_take.c ----------------------------------------------------------- */

/* The longest unwanted body that is read to its end. */
enum { H1_DRAINED_BODY_BYTES_MAX = 65536 };

enum h1_taken {
    H1_TAKEN_MORE, /* more is to come */
    H1_TAKEN_ALL,
    H1_TAKEN_NOT, /* the body is not wanted any more */
    H1_TAKEN_BAD  /* the body is framed wrongly */
};

/* Gives the input back, if there is one. */
static inline void h1_give_input(struct h1 *h1)
{
    struct session_context *context = h1_context(h1);
    struct input *input = h1->input;

    if (!input)
        return;
    h1->input = NULL;
    pool_give(input->room < INPUT_BYTES ? &context->small_inputs
                                        : &context->inputs,
              input);
}

/* Moves the bytes of a small input into a whole input; does nothing when the
 * input is whole already. Pointers into the old input become invalid. Returns
 * false when there is no memory. */
MUST_USE bool h1_widen_input(struct h1 *h1);

/* Begins to read the body of the current exchange. */
void h1_begin_reading(struct h1 *h1, enum body_framing framing);

/* Gives the sink what has been read of the body. Returns H1_TAKEN_MORE when the
 * sink has taken all of it and more is to come. */
enum h1_taken h1_take_body(struct h1 *h1);

/* Gives the sink `data`. These are bytes of a body without framing, and do not
 * lie in the input. */
enum h1_taken h1_take_plain(struct h1 *h1, struct bytes data);

/* Whether the body is longer than its handler allows. */
bool h1_has_too_much(const struct h1 *h1);

/* Returns the time until which more of a wanted body has to come. */
uint64_t h1_limit_body(const struct h1 *h1);

/* --- h1_upload.c --------------------------------------------------------- */

/* Begins a tunnel: from now on all bytes from the client are the body. */
enum session_step h1_begin_tunnel(struct h1 *h1);

enum { H1_WIDE_BYTES = 65536 }; /* the size of a worker's wide buffer */

/* Returns how many bytes of an upload the next read may put into the wide
 * buffer; 0 when the next read uses the input. */
size_t h1_wide_bytes(const struct h1 *h1);

/* h1_take_upload() takes an upload's bytes from the input, and h1_take_wide()
 * takes them from the wide buffer. h1_meet_upload_end() handles the end of the
 * client's bytes. */
enum session_step h1_take_upload(struct h1 *h1);
enum session_step h1_take_wide(struct h1 *h1, struct bytes data);
enum session_step h1_meet_upload_end(struct h1 *h1);

/* Returns the time until which more of an upload has to come. While the server
 * awaits no more of it, returns the time of the next look at the client's
 * socket. */
uint64_t h1_limit_upload(const struct h1 *h1);

/* Called when the time of h1_limit_upload() has come. */
enum session_step h1_expire_upload(struct h1 *h1);

/* Ends an upload whose answer is done or given up. The connection ends, too,
 * because nobody wants the rest of the body. */
void h1_end_upload(struct h1 *h1);

/* --- h1_body.c ----------------------------------------------------------- */

enum h1_body {
    H1_BODY_MORE,    /* there is more of the body to read */
    H1_BODY_DONE,    /* the body was read, the answer is in the pipeline */
    H1_BODY_REFUSED, /* a refusal is in the pipeline, and is the last answer */
    H1_BODY_BESIDE,  /* the answer has begun; the body is still read */
    H1_BODY_CLOSED   /* close the connection for session->why */
};

static inline bool h1_expects_body(const struct request *request)
{
    return request->is_chunked || request->content_length > 0;
}

/* Reads more of the current exchange's body. When the body is complete, lets
 * the handler answer. */
enum h1_body h1_advance_body(struct h1 *h1);

/* --- h1_head.c ----------------------------------------------------------- */

enum h1_ahead {
    H1_AHEAD_GO,     /* look for another request */
    H1_AHEAD_SEND,   /* send what is in the pipeline first */
    H1_AHEAD_READ,   /* the buffer contains no further whole request */
    H1_AHEAD_REST,   /* more requests are left; other connections go first */
    H1_AHEAD_CLOSED, /* close the connection for session->why */
    H1_AHEAD_TURNED  /* the protocol has changed; there is no h1 now */
};

/* Answers requests from the buffer until something else has to be done first.
 * Never returns H1_AHEAD_GO. */
enum h1_ahead h1_answer_ahead(struct h1 *h1);

/* --- h1_send.c ----------------------------------------------------------- */

struct candidate h1_candidate(const struct session *session);
enum sender_result h1_send(struct session *session, uint64_t budget,
                           uint64_t *sent_out);

#endif
