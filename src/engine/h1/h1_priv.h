/*
 * h1_priv - what the files of HTTP/1 share. Each calls only those below it:
 *
 *   h1.c         reading, limits, the end: what the protocol's table names
 *   h1_send.c    the pipeline on its way out
 *   h1_head.c    requests out of what has come
 *   h1_body.c    a body that is read before its answer; "100 Continue"
 *   h1_upload.c  a body that is read beside its answer; tunnels
 *   h1_take.c    what both of these do: bytes of a body to its sink, and room
 *                for them
 *   h1_answer.c  exchanges from their head to the pipeline, and their end
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
    struct exchange *current; /* whose body is being read; while is_uploading
                                 also the first in exchanges */
    struct http1_progress progress;
    bool is_closing;       /* parse no more; close when all is sent */
    bool client_closes;    /* is_closing, as the client asked for it */
    uint8_t in_row;        /* requests taken since something was read */
    bool head_timed : 1;   /* until_ms is the limit of a head */
    bool has_body : 1;     /* the body of current is being read */
    bool is_uploading : 1; /* that body is read beside its answer */
    bool reads_much : 1;   /* a small input has once been too small */
    uint64_t until_ms;     /* limit for what is being read */
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

/* Whether HTTP/1.0 is spoken; false where no request was parsed. */
static inline bool h1_speaks_http10(const struct exchange *exchange)
{
    return exchange->request.minor == 0 &&
           exchange->request.method_name.len > 0;
}

/* Frames the response, once it is made. */
static inline void h1_frame(const struct h1 *h1, struct exchange *exchange)
{
    if (!exchange->pending)
        http1_frame(&exchange->response, h1_speaks_http10(exchange),
                    h1_context(h1)->now);
}

/* Whether all that was read has been taken. */
static inline bool h1_is_input_empty(const struct h1 *h1)
{
    return !h1->input || h1->input->begin == h1->input->end;
}

/* --- h1_answer.c --------------------------------------------------------- */

/* Takes an exchange for a request that is to be parsed. NULL: no memory. */
struct exchange *h1_take_exchange(struct h1 *h1);
void h1_give_exchange(struct h1 *h1, struct exchange *exchange);

/* Gives a parsed request with many fields a table of its own. False: no
 * memory. */
MUST_USE bool h1_keep_fields(struct h1 *h1, struct exchange *exchange);

/* Fills in all of an exchange but its request. */
void h1_begin_exchange(struct h1 *h1, struct exchange *exchange);

/* Has the handler answer, now or later. */
void h1_ask(struct h1 *h1, struct exchange *exchange);

/* Puts the exchange into the pipeline, and has the handler answer it. */
void h1_answer(struct h1 *h1, struct exchange *exchange);

/* Puts a refusal into the pipeline. */
void h1_answer_refusal(struct h1 *h1, struct exchange *exchange,
                       enum reason reason);

/* Puts an answered exchange at the end of the pipeline. */
void h1_put(struct h1 *h1, struct exchange *exchange);

/* Lets exchange be the last: something is wrong with it, so that nothing after
 * it can be understood. */
void h1_expect_last(struct h1 *h1, struct exchange *exchange,
                    enum conn_end end);

/* Ends the connection after a response that wants that. */
void h1_heed(struct h1 *h1, const struct exchange *exchange);

/* Puts a refusal into the pipeline as the last answer, instead of the current
 * exchange. line: of the request, if it is known. False: no memory. */
MUST_USE bool h1_refuse(struct h1 *h1, enum reason reason, struct bytes line);

/* Logs and counts an exchange of the pipeline, and gives it back. */
void h1_finish_exchange(struct h1 *h1, struct exchange *exchange);

/* Sets session.beside: what becomes of what the client sends now. */
void h1_set_beside(struct h1 *h1);

/* --- h1_take.c ----------------------------------------------------------- */

enum { H1_DRAINED_BODY_BYTES_MAX = 65536 }; /* of a body that nobody wants */

enum h1_taken {
    H1_TAKEN_MORE, /* more is to come */
    H1_TAKEN_ALL,
    H1_TAKEN_NOT, /* the body is not wanted any more */
    H1_TAKEN_BAD  /* the body is framed wrongly */
};

/* Gives the input back; there may be none. */
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

/* Changes to a whole input, which nothing points into. False: no memory. */
MUST_USE bool h1_widen_input(struct h1 *h1);

/* Begins to read the body of the current exchange. */
void h1_begin_reading(struct h1 *h1, enum body_framing framing);

/* Gives the sink what has been read of the body. If more is to come, the sink
 * has taken all of that. */
enum h1_taken h1_take_body(struct h1 *h1);

/* Gives the sink bytes of the body that lie elsewhere, without framing. */
enum h1_taken h1_take_plain(struct h1 *h1, struct bytes data);

/* Whether the body is longer than its handler allows. */
bool h1_has_too_much(const struct h1 *h1);

/* Until when more of a body has to come, if somebody wants it. */
uint64_t h1_limit_body(const struct h1 *h1);

/* --- h1_upload.c --------------------------------------------------------- */

/* Begins a tunnel: what the client sends from now on is the body. */
enum session_step h1_begin_tunnel(struct h1 *h1);

enum { H1_WIDE_BYTES = 65536 }; /* one for all sessions of a worker */

/* How many bytes of an upload the next read may bring at once, past the input;
 * 0: as many as that has room for. */
size_t h1_wide_bytes(const struct h1 *h1);

/* Takes bytes of an upload, or its end; those of a wide read are data. */
enum session_step h1_take_upload(struct h1 *h1);
enum session_step h1_take_wide(struct h1 *h1, struct bytes data);
enum session_step h1_meet_upload_end(struct h1 *h1);

/* Until when an upload has to go on, unless a socket is full. */
uint64_t h1_limit_upload(const struct h1 *h1);

/* The upload's limit of time is over. */
enum session_step h1_expire_upload(struct h1 *h1);

/* Ends an upload whose answer is done or given up: nobody wants the rest of it,
 * and so the connection ends, too. */
void h1_end_upload(struct h1 *h1);

/* --- h1_body.c ----------------------------------------------------------- */

enum h1_body {
    H1_BODY_MORE,    /* there is more of the body to read */
    H1_BODY_DONE,    /* the body was read, the answer is in the pipeline */
    H1_BODY_REFUSED, /* a refusal is in the pipeline, and is the last answer */
    H1_BODY_BESIDE,  /* the answer is begun; the body goes on beside it */
    H1_BODY_CLOSED   /* it is to be closed, for session->why */
};

static inline bool h1_expects_body(const struct request *request)
{
    return request->is_chunked || request->content_length > 0;
}

/* Reads on in the body of the current exchange; answers once it is complete. */
enum h1_body h1_advance_body(struct h1 *h1);

/* --- h1_head.c ----------------------------------------------------------- */

enum h1_ahead {
    H1_AHEAD_GO,     /* look for another request */
    H1_AHEAD_SEND,   /* send what is in the pipeline first */
    H1_AHEAD_READ,   /* nothing more can be had from the buffer */
    H1_AHEAD_REST,   /* there is more, but others have their turn first */
    H1_AHEAD_CLOSED, /* it is to be closed, for session->why */
    H1_AHEAD_TURNED  /* it goes on as another protocol, h1 is no more */
};

/* Answers requests from the buffer until it has to stop; never returns GO. */
enum h1_ahead h1_answer_ahead(struct h1 *h1);

/* --- h1_send.c ----------------------------------------------------------- */

struct candidate h1_candidate(const struct session *session);
enum sender_result h1_send(struct session *session, uint64_t budget,
                           uint64_t *sent_out);

#endif
