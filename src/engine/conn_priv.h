/*
 * conn_priv - what the files of a connection's life share: conn.c (states,
 * events, limits), conn_read.c (bytes to answers), conn_body.c (what comes
 * between a head and its answer), conn_upload.c (what comes beside its answer),
 * conn_send.c (answers to bytes), conn_look.c (whether the client is still
 * there) and conn_stats.c (what is counted of it).
 */
#ifndef ENGINE_CONN_PRIV_H
#define ENGINE_CONN_PRIV_H

#include "engine/conn_set.h"
#include "http/response.h"

/* The one door: sets the state, watcher and deadline. */
void conn_enter(struct conn *conn, enum conn_state state);

/* Reads once and goes on with what came. */
void conn_read(struct conn *conn);

/* Goes on with what is in the buffer until more must be read, the answers
 * have to wait, or the connection ends. */
void conn_advance(struct conn *conn);

/* Answers what is wrong with status, and ends the connection after that. */
void conn_refuse(struct conn *conn, unsigned status);

/* --- conn_read.c: answers ------------------------------------------------- */

/* Has the handler answer, and puts it at the end of the row. */
void conn_answer(struct conn *conn, struct exchange *exchange);

/* Puts an error there; closes: as the last. */
void conn_answer_error(struct conn *conn, struct exchange *exchange,
                       unsigned status, bool closes);

/* Puts an answered exchange at the end of the row. */
void conn_add_to_row(struct conn *conn, struct exchange *exchange);

/* Something is wrong with it, and nothing that follows will be understood. */
void conn_expect_last(struct conn *conn, struct exchange *exchange,
                      enum conn_end end);

/* Puts an error as the last answer into the row, in the place of what is
 * current. line: of the request, if that is known. False: no memory, closed. */
bool conn_put_refusal(struct conn *conn, unsigned status, struct bytes line);

/* --- conn_body.c ----------------------------------------------------------- */

enum conn_body {
    CONN_BODY_MORE,
    CONN_BODY_DONE,
    CONN_BODY_REFUSED, /* the last answer is in the row */
    CONN_BODY_BESIDE,  /* the answer is; the body goes on beside it */
    CONN_BODY_CLOSED   /* so is the connection */
};

enum conn_taken {
    CONN_TAKEN_MORE, /* to come */
    CONN_TAKEN_ALL,
    CONN_TAKEN_NOT, /* it is not wanted any more */
    CONN_TAKEN_BAD  /* it is framed wrongly */
};

/* Whether the body of the current exchange is longer than it may be. */
static inline bool conn_has_too_much(const struct conn *conn)
{
    const struct exchange *exchange = conn->current;

    return exchange->body_max > 0 && conn->body_bytes > exchange->body_max;
}

/* Gives what has been read of the body of the current exchange to its sink. */
enum conn_taken conn_take_body(struct conn *conn);

/* Moves the current request to the front of the buffer, so that there is room
 * for its body behind it. */
void conn_make_room(struct conn *conn);

bool conn_expects_body(const struct request *request);

/* Reads on in the body of the current exchange; answers when it is complete. */
enum conn_body conn_advance_body(struct conn *conn);

/* --- conn_upload.c --------------------------------------------------------- */

/* Has the current exchange answered while its body comes in. */
void conn_begin_upload(struct conn *conn);

/* The answer is a tunnel: what the client sends from now on is its body. */
void conn_begin_tunnel(struct conn *conn);

/* Reads once of it. May close the connection. */
void conn_read_upload(struct conn *conn);

/* It took too long. */
void conn_expire_upload(struct conn *conn);

/* Its answer is done, or given up: nobody wants the rest, which ends the
 * connection. */
void conn_end_upload(struct conn *conn);

/* Sets the watcher, and the limit, to what the state and the sink allow. */
void conn_watch_upload(struct conn *conn);
/* --- conn_look.c ----------------------------------------------------------- */

/* Nothing of a connection may be watched: of a client that has sent more than
 * is taken, or all it will. Then it is looked after it now and then, by its
 * limit. */
void conn_limit_look(struct conn *conn);

/* It is WAITING: who says no more is gone, and what has come is left unread. */
void conn_look_for_end(struct conn *conn);

/* It is QUEUED, for long: who says no more may wait for the answer, but a reset
 * would hold its place among those that wait for as long as shorter ones keep
 * coming. Is watched afterwards if it can be. */
void conn_look_for_reset(struct conn *conn);

/* It is WAITING, for more of a tunnel. */
void conn_look_at_tunnel(struct conn *conn);

/* --- conn.c: watching ------------------------------------------------------ */

/* Watches for these, EV_READ and EV_WRITE; 0: for nothing. */
void conn_watch(struct conn *conn, int events);

/* The same for the connection's one time limit; 0: none. */
void conn_limit(struct conn *conn, uint64_t at_ms);

/* --- conn_send.c ----------------------------------------------------------- */

enum conn_progress {
    CONN_SENT,  /* the row is empty, the connection may go on */
    CONN_WAITS, /* queued, blocked or waiting: comes back by itself */
    CONN_ENDED  /* lingering or closed */
};

/* Lets the row wait for its turn. */
void conn_queue(struct conn *conn);

/* Sends the row now if nothing in the queue goes before it, or queues it. */
enum conn_progress conn_submit(struct conn *conn);

/* What is left of the row will not be sent: to the scheduler it is gone. */
void conn_give_up(struct conn *conn);

/* What is still allowed while the socket is full; see conn_limits. */
uint64_t conn_blocked_until(const struct conn *conn);

/* Notes why it is going to end, unless that is decided. */
static inline void conn_decide_end(struct conn *conn, enum conn_end end)
{
    if (conn->end == CONN_END_NONE)
        conn->end = (uint8_t)end;
}

/* Ends the connection with a response whose handler wants it so: to HTTP/1.0
 * by the end of a body, or for want of memory. */
static inline void conn_heed(struct conn *conn, const struct response *response)
{
    if (response->persists)
        return;
    conn->is_closing = true;
    conn_decide_end(conn,
                    response->is_http10 ? CONN_END_CLIENT : CONN_END_ERROR);
}

/* Logs that it begins or ends. */
void conn_log_event(const struct conn *conn, enum log_event event);

/* Counts an exchange that has come to its end, sent whole or not. */
void conn_note_exchange(const struct conn *conn,
                        const struct exchange *exchange);

/* Counts its end. */
void conn_note_close(const struct conn *conn);

/* With --server-timing: its row has arrived at the scheduler, with so many
 * bytes; and is sent to now. */
void conn_time_arrival(struct conn *conn, uint64_t bytes);
void conn_time_sending(struct conn *conn);

/* Logs and counts an exchange that has come to its end, and gives it back. */
void conn_finish_exchange(struct conn *conn, struct exchange *exchange);

/* Gives it back, with what it holds. */
void conn_give_exchange(struct conn *conn, struct exchange *exchange);

/* A body that somebody wants may take the longer the more of it has come. */
void conn_limit_body(struct conn *conn);

/* Throws away what a client still sends after the last answer. */
void conn_linger(struct conn *conn);

#endif
