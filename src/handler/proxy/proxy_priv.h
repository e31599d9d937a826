/*
 * proxy_priv - a transfer, and what its files share. Each calls only those
 * below it; word of a fault travels up by proxy's on_fault.
 *
 *   proxy.c           begin and answer, how a transfer comes to be
 *   proxy_retry.c     a fault: another try, or what it makes of the answer
 *   proxy_request.c   the request's way to the upstream, and what the client
 *   says
 *                     through a tunnel (an upgrade, a WebSocket)
 *   proxy_upload.c    how much of the request's body may wait here; when it is
 *                     too much, the client's next bytes are not read
 *   proxy_body.c      the response's source, which lends what has come
 *   proxy_reply.c     reads the upstream's reply: heads, bodies, and what comes
 *                     back through a tunnel
 *   proxy_answer.c    makes the response's head of the reply's, and opens a
 *                     tunnel after a 101
 *   proxy_pipe.c      bodies that come back without being copied
 *   proxy_transfer.c  buffers, limits of time, pauses, rest, the end
 *   proxy_note.c      what the log tells of a transfer
 *   proxy_error.c     what is answered in the place of a reply, and why
 */
#ifndef HANDLER_PROXY_PROXY_PRIV_H
#define HANDLER_PROXY_PROXY_PRIV_H

#include "base/log.h"
#include "base/pool.h"
#include "handler/proxy/proxy.h"
#include "http/exchange.h"
#include "http/trace.h"
#include "io/deadline.h"

enum {
    PROXY_HEAD_BYTES = 2048,   /* of a request for the upstream, in room that is
                                  lent until it has been sent */
    PROXY_TAKEN_BYTES = 24576, /* at most from one read of a client's, framed */
    PROXY_REPLY_BYTES = 4096, /* of a reply's head, beside a whole buffer of its
                                  body: which so comes with it in one read */
    PROXY_TRANSFERS_KEPT = 256, /* free ones, as of pool.h */
    PROXY_HEADS_KEPT = 64,
    PROXY_BUFFERS_KEPT = 256,
    PROXY_INTERIM_MAX = 8 /* heads before the reply's */
};

_Static_assert(PROXY_BUFFER_BYTES_MIN >= (int)REPLY_HEAD_BYTES_MAX,
               "a head must fit in");
_Static_assert((int)PROXY_REPLY_BYTES <= (int)PROXY_TAKEN_BYTES,
               "there is that room in every buffer");

#define PROXY_ALLOW "Allow: GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH\r\n"

/* buffer_bytes of room, once in each direction; and for what a client's read
 * brings that began when it was not full, or for a reply's head. */
struct proxy_buffer {
    size_t begin; /* of what is not done with */
    size_t end;
    char data[];
};

/* What went wrong, from the most telling on. */
enum proxy_fault {
    PROXY_FAULT_NONE,
    PROXY_FAULT_REFUSED,     /* the server refused the connection */
    PROXY_FAULT_UNRESOLVED,  /* its name has no address */
    PROXY_FAULT_TLS,         /* TLS with it failed */
    PROXY_FAULT_UNTRUSTED,   /* its certificate is not good */
    PROXY_FAULT_CONNECT,     /* connecting took too long */
    PROXY_FAULT_NOBODY,      /* all servers are down, or have enough to do */
    PROXY_FAULT_SHORT,       /* memory or descriptors are short here */
    PROXY_FAULT_SLOW,        /* no reply came in time */
    PROXY_FAULT_CLOSED,      /* it closed without a whole reply */
    PROXY_FAULT_REPLY,       /* its reply is no HTTP that we understand */
    PROXY_FAULT_INTERCEPTED, /* its error is told in our own words */
    PROXY_FAULT_COUNT
};

struct transfer;

struct proxy {
    struct proxy_options options;
    struct relay relay; /* that of the options, and what a transfer adds */
    /* The connection is no good any more, by a fault of the other side. */
    void (*on_fault)(struct transfer *transfer, enum proxy_fault fault);
    struct upstream_pool *pool;
    struct ev_loop *loop; /* NULL: not started */
    const struct now *now;
    struct deadline_wheel deadlines;
    struct trace trace;
    struct pool transfers;
    struct pool heads;
    struct pool buffers;
    struct log_limit log_limit;
    /* Why the fault that is told next came about; NULL: not known. */
    const char *why;
    const char *tls_why; /* why its TLS failed; NULL: not known */
    /* Hears of replies; NULL: nobody does. */
    void (*hear)(void *context, const struct exchange *exchange,
                 const struct reply *reply, const struct relay *relay);
    void *hear_context;
    struct reply reply; /* while one is looked at */
};

/* How much of a reply may lie in a buffer. */
static inline size_t proxy_in_bytes(const struct proxy *proxy)
{
    return proxy->options.buffer_bytes + PROXY_REPLY_BYTES;
}

static inline void proxy_count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

struct transfer {
    struct upstream_lease lease;
    struct pending pending;
    struct source source;
    struct sink sink;
    struct deadline deadline;
    struct proxy *proxy;
    struct exchange *exchange; /* NULL: gone */
    uint8_t refs;              /* what is pending, or the response's source;
                                  the exchange's sink */
    uint8_t retries;
    uint8_t interims;
    uint8_t fault; /* enum proxy_fault */

    /* The way to the upstream. */
    bool is_asking;      /* for an upstream; not there yet */
    bool is_open;        /* there is one */
    bool has_sent;       /* it may have seen something of the request */
    bool is_kept;        /* all of the body so far lies in out */
    bool is_admitted;    /* the exchange is ours to answer: before that nobody
                            is asked, whatever comes of its body */
    bool is_held;        /* nobody is asked before more of the body is there */
    bool has_body_ended; /* all of it has come */
    bool is_ending;      /* or lies in the client's socket */
    bool is_send_over;   /* it takes no more: what is left is dropped */
    bool is_upgrade;     /* a tunnel is asked for */
    uint8_t traceparent_len; /* 0: the client's goes on, if any */
    uint8_t out_framing;     /* enum body_framing */
    size_t head_sent;        /* bytes of head */
    size_t out_sent;         /* of out, from its begin on */
    size_t held_bytes; /* of the body, which came before anybody was asked */
    struct buf head;
    struct proxy_buffer *out; /* NULL: no body; or nothing of it now, if the
                                 sink is eased or it is a tunnel's */

    /* The way back. */
    bool has_reply;     /* a reply's head was understood: no more tries */
    bool is_reply_done; /* whole, or a tunnel that has ended */
    bool is_broken;     /* what is missing of it will never come */
    bool is_paused;     /* in, or pipe, is full; or a head waits in it */
    bool is_answered;   /* the response has its head */
    bool is_tunnel;
    bool has_peer_ended;     /* the tunnel's upstream says no more */
    bool persists;           /* the reply said that its connection does */
    uint64_t kept_ms;        /* for so long, idle; 0: it did not say */
    uint16_t intercepted;    /* its status, of PROXY_FAULT_INTERCEPTED */
    struct proxy_buffer *in; /* decoded, from begin to end; before there is a
                                reply raw */
    size_t borrowed_end;     /* where what the response was lent ends */
    bool is_copied;          /* to its end: no pipe could be had */
    struct pipe *pipe;       /* what comes behind in; NULL: that is all */
    size_t piped;            /* bytes in it */
    size_t piped_borrowed;   /* of these, to the response */
    size_t piped_full;       /* there were when no more went in */
    struct http1_progress progress;
    struct body_reader reader;
    struct buf interim;      /* phrase and fields of a 1xx to be passed on */
    uint16_t interim_status; /* 0: there is none */
    uint16_t interim_phrase; /* bytes */
    struct buf trailer;
    char traceparent[TRACE_PARENT_LEN];
    char *head_room; /* lent to head; NULL: nothing is */
};

/* The transport of the connection to the upstream, while that is open. */
static inline const struct transport *transfer_transport(const struct transfer
                                                             *transfer)
{
    return upstream_transport(transfer->lease.upstream);
}

/* --- proxy_retry.c ------------------------------------------------------- */

/* What proxy's on_fault does: tries anew, or makes the fault the answer, or
 * breaks the answer off. */
void transfer_fail(struct transfer *transfer, enum proxy_fault fault);

/* --- proxy_request.c ----------------------------------------------------- */

/* Makes the head for that server. */
MUST_USE enum relay_verdict transfer_write_head(struct transfer *transfer,
                                                int server);

/* The same if the one that was made has been sent, and is there no more. */
MUST_USE enum relay_verdict transfer_renew_head(struct transfer *transfer);

/* The exchange is pending by it: looks for an upstream, and goes on from there.
 */
void transfer_ask(struct transfer *transfer);

/* Looks for an upstream now, if that is allowed and there is enough of the
 * body. */
void transfer_ask_if_due(struct transfer *transfer);

/* Sends what there is to be sent. */
void transfer_flush(struct transfer *transfer);

/* The other side takes no more of the request; it may have answered before. */
void transfer_stop_sending(struct transfer *transfer);

bool proxy_take_body(struct sink *sink, struct bytes data);
void proxy_end_body(struct sink *sink);
void proxy_foresee_end(struct sink *sink);
size_t proxy_kept(const struct sink *sink);
void proxy_ease(struct sink *sink);

/* --- proxy_upload.c ------------------------------------------------------ */

/* Gives back out if all of it has been sent, and will not be sent again: it is
 * taken anew with the next bytes. A tunnel may wait for hours. */
void transfer_drop_empty(struct transfer *transfer);

/* Keeps no copy of what was sent for another try, where memory is short. */
void transfer_keep_no_copy(struct transfer *transfer);

/* Whether more of the body may be sent from where it lies, and none of it need
 * be kept. */
bool transfer_goes_straight(const struct transfer *transfer);

/* What has been sent will not be sent again. */
void transfer_forget_sent(struct transfer *transfer);

/* Whether len more fit into out, up to so many bytes in all. */
bool transfer_has_room(struct transfer *transfer, size_t len, size_t most);

/* Whether others have so much to wait with that this one may not. */
bool transfer_is_crowded(const struct transfer *transfer);

/* Says whether the client's next bytes are to wait, and wakes the exchange when
 * they are to no more. */
void transfer_make_way(struct transfer *transfer);

/* --- proxy_body.c -------------------------------------------------------- */

struct answer proxy_look(struct pending *pending);
struct piece proxy_next(struct source *source, uint64_t at_most);

/* --- proxy_reply.c ------------------------------------------------------- */

/* Reads once, and goes on with what came. It may be gone afterwards. */
void transfer_read(struct transfer *transfer);

/* Goes on with heads that are in the buffer, unless the response has something
 * to send first. The caller has a reference of its own. */
void transfer_digest(struct transfer *transfer);

/* --- proxy_answer.c ------------------------------------------------------ */

/* Makes the response of proxy->reply, and of what is there of its body. Its
 * caller has a reference. False: it cannot be passed on. */
MUST_USE bool transfer_answer(struct transfer *transfer,
                              enum body_framing framing);

/* --- proxy_pipe.c -------------------------------------------------------- */

/* Whether what is read next goes into a pipe; takes one if that is worth it. */
bool transfer_is_piped(struct transfer *transfer);

/* Reads once, into the pipe. The caller has a reference. */
void transfer_read_piped(struct transfer *transfer);

/* Lends so many bytes of what is in the pipe; a part of none: it is empty. */
struct part transfer_lend_pipe(struct transfer *transfer, uint64_t at_most);

/* What was lent has been sent. Whether there is enough room again. */
bool transfer_reclaim_pipe(struct transfer *transfer);

/* --- proxy_transfer.c ---------------------------------------------------- */

/* NULL: no memory. Empty. */
struct proxy_buffer *proxy_buffer_take(struct proxy *proxy);
void proxy_buffer_give(struct proxy *proxy, struct proxy_buffer **buffer);

/* Gives head its room, or gives all back that it has: it is empty. Who waits
 * for a reply holds the less. */
void transfer_lend_head(struct transfer *transfer);
void transfer_drop_head(struct transfer *transfer);

/* Notes that so much more of the body waits for somebody to be asked, or none
 * of it. */
void transfer_hold(struct transfer *transfer, size_t len);
void transfer_hold_none(struct transfer *transfer);

/* How messages of the exchange go on, to and from that server. */
const struct relay *transfer_relay(const struct transfer *transfer, int server);

/* Wakes the exchange: there is something for the response. */
void transfer_wake(struct transfer *transfer);

/* Bytes of out that are still to be sent. */
size_t transfer_pending(const struct transfer *transfer);

/* Whether all there is so far of the request has been sent. */
bool transfer_is_sent(const struct transfer *transfer);

/* Counts bytes that have come, for statistics. */
void transfer_count_in(const struct transfer *transfer, size_t n);

/* Looks at what takes too long, and sets the limit anew. */
void transfer_watch(struct transfer *transfer);

/* pending.rest: whether nothing of the exchange is needed until the server says
 * something, or is there. */
bool proxy_rest(struct pending *pending);

/* No more is read until there is room again. */
void transfer_pause(struct transfer *transfer);

/* The upstream goes back to its pool; or is closed. */
void transfer_let_go(struct transfer *transfer, bool reusable,
                     enum balance_result result);

/* All of the reply has come; is_clean: and nothing came behind it. */
void transfer_finish(struct transfer *transfer, bool is_clean);

/* The upstream's connection has ended. is_clean: not by a reset, nor without a
 * word of TLS's, where there might have been more. */
void transfer_meet_end(struct transfer *transfer, bool is_clean);

/* Gives the transfer's pipe back; there is one. */
void transfer_give_pipe(struct transfer *transfer);

/* The exchange that the transfer was made for is gone, or has all there will
 * be. */
void transfer_abandon(struct transfer *transfer);

/* Drops a reference; with the last of them the transfer. */
void transfer_release(struct transfer *transfer);

/* --- proxy_note.c: when it came to what, if the log tells it ------------- */

/* A server is going to be asked. */
void transfer_note_asking(const struct transfer *transfer);
/* Notes which server is asked, and whether there is a connection, as soon as
 * that is known. */
void transfer_note_server(const struct transfer *transfer);
/* The server has replied with proxy->reply. */
void transfer_note_reply(const struct transfer *transfer);
/* No more of the reply will come. */
void transfer_note_end(const struct transfer *transfer);

/* --- proxy_error.c ------------------------------------------------------- */

enum proxy_fault proxy_fault_of(enum upstream_error error);

/* Says in the log what went wrong with whom, unless the pool has. */
void proxy_log_fault(struct proxy *proxy, const struct upstream_lease *lease,
                     enum proxy_fault fault);

/* Makes a fault the response, in the place of whatever that was to be. */
void proxy_answer_fault(const struct proxy *proxy, struct exchange *exchange,
                        enum proxy_fault fault);

/* Makes the response one of ours, with the reply's status and head's fields. */
void proxy_answer_intercepted(struct transfer *transfer);

/* Answers a request that is not passed on. */
void proxy_answer_verdict(const struct proxy *proxy, struct exchange *exchange,
                          enum relay_verdict verdict);

#endif
