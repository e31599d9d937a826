/*
 * proxy_priv - a transfer, shared by its files. Each file calls only files
 * below it, and reports faults upward by calling the proxy's on_fault.
 *
 *   proxy.c           `begin` and `answer`, which make a transfer
 *   proxy_retry.c     after a fault: another try, or an answer
 *   proxy_request.c   sends the request, and the client's bytes through a
 *                     tunnel (an upgrade, a WebSocket)
 *   proxy_upload.c    how much of a request's body may wait here; if it is
 *                     too much, the client's next bytes are not read
 *   proxy_body.c      the response's source, which lends received bytes
 *   proxy_reply.c     reads the upstream's reply: heads, bodies, and the
 *                     upstream's bytes through a tunnel
 *   proxy_answer.c    makes the response's head from the reply's, and opens a
 *                     tunnel after a 101
 *   proxy_pipe.c      bodies that are returned without copying
 *   proxy_transfer.c  buffers, time limits, pauses, rest, the end
 *   proxy_note.c      facts about a transfer for the log
 *   proxy_error.c     answers in the place of a reply, and the reasons
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
    PROXY_HEAD_BYTES = 2048,    /* bytes of a request's head, in memory that is
                                   lent until the head was sent */
    PROXY_TAKEN_BYTES = 24576,  /* room for one read from a client, with the
                                   framing that is added to it */
    PROXY_REPLY_BYTES = 4096,   /* room for a reply's head, beside a full buffer
                                   for its body: both come in one read */
    PROXY_TRANSFERS_KEPT = 256, /* most unused transfers that are kept */
    PROXY_HEADS_KEPT = 64,
    PROXY_BUFFERS_KEPT = 256,
    PROXY_INTERIM_MAX = 8, /* most interim heads before the reply's head */
    /* What a buffer counts in the client's stock beside the bytes in it. Forty
     * short replies find room. */
    PROXY_STOCK_BYTES = 512
};

_Static_assert(PROXY_BUFFER_BYTES_MIN >= (int)REPLY_HEAD_BYTES_MAX,
               "a head must fit in");
_Static_assert((int)PROXY_REPLY_BYTES <= (int)PROXY_TAKEN_BYTES,
               "there is that room in every buffer");

#define PROXY_ALLOW "Allow: GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH\r\n"

/* A transfer has a buffer of buffer_bytes for each direction. A buffer also has
 * additional room: for a client's read that began before the buffer was full,
 * or for a reply's head. */
struct proxy_buffer {
    size_t begin; /* bytes from here to `end` are still needed */
    size_t end;
    char data[];
};

/* What went wrong with a transfer. proxy_error.c has a status and a text for
 * each fault. */
enum proxy_fault {
    PROXY_FAULT_NONE,
    PROXY_FAULT_REFUSED,     /* the server refused the connection */
    PROXY_FAULT_UNRESOLVED,  /* the server's name has no address */
    PROXY_FAULT_TLS,         /* the TLS handshake failed */
    PROXY_FAULT_UNTRUSTED,   /* the server's certificate is not trusted */
    PROXY_FAULT_CONNECT,     /* connecting took too long */
    PROXY_FAULT_NOBODY,      /* all servers are down or at their limits */
    PROXY_FAULT_SHORT,       /* no memory or descriptors here */
    PROXY_FAULT_SLOW,        /* the reply did not come in time */
    PROXY_FAULT_CLOSED,      /* the server closed before the reply's end */
    PROXY_FAULT_REPLY,       /* the reply is invalid */
    PROXY_FAULT_INTERCEPTED, /* the reply is replaced by our own page */
    PROXY_FAULT_COUNT
};

struct transfer;

struct proxy {
    struct proxy_options options;
    struct relay relay; /* the options' relay, modified for each transfer */
    /* Called when a fault of the other side has made a connection useless. */
    void (*on_fault)(struct transfer *transfer, enum proxy_fault fault);
    struct upstream_pool *pool;
    struct ev_loop *loop; /* NULL before proxy_start() */
    const struct now *now;
    struct deadline_wheel deadlines;
    struct trace trace;
    struct pool transfers;
    struct pool heads;
    struct pool buffers;
    struct log_limit log_limit;
    /* The reason of the next fault; NULL: the reason is unknown. */
    const char *why;
    const char *tls_why; /* the reason that TLS gave, or NULL */
    /* Called with each reply; may be NULL. */
    void (*hear)(void *context, const struct exchange *exchange,
                 const struct reply *reply, const struct relay *relay);
    void *hear_context;
    struct reply reply; /* the reply being looked at */
};

/* Returns how many bytes of a reply may be buffered. */
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
    struct exchange *exchange; /* NULL: the exchange has ended */
    /* References: one for the sink, one for exchange->pending or, later, for
     * the response's source. */
    uint8_t refs;
    uint8_t retries;
    uint8_t interims;
    uint8_t fault; /* enum proxy_fault */

    /* Sending to the upstream: */
    bool is_asking;          /* the transfer waits for an upstream */
    bool is_open;            /* the transfer has an upstream */
    bool has_sent;           /* the upstream may have got some of the request */
    bool is_kept;            /* `out` has the body from its beginning */
    bool is_admitted;        /* `answer` was called; before that, no upstream is
                                asked */
    bool is_held;            /* more of the body must come before an upstream
                                is asked */
    bool has_body_ended;     /* all of the body has come */
    bool is_ending;          /* the body has ended, or its rest lies in the
                                client's socket */
    bool is_send_over;       /* the upstream takes no more: drop the rest */
    bool is_upgrade;         /* the request asks for a tunnel */
    uint8_t traceparent_len; /* 0: no traceparent of our own is sent */
    uint8_t out_framing;     /* enum body_framing */
    size_t head_sent;        /* bytes of `head` that were sent */
    size_t out_sent;         /* bytes of `out` that were sent */
    size_t held_bytes; /* body bytes that came before an upstream was asked */
    struct buf head;
    /* Bytes for the upstream. NULL if the request has no body. Also NULL if no
     * bytes are buffered, in a tunnel or after a call of the sink's `ease`. */
    struct proxy_buffer *out;

    /* The reply: */
    bool has_reply; /* a head was read: the request is not tried again */
    /* The reply was read completely, or the tunnel has ended. */
    bool is_reply_done;
    bool is_broken;   /* the rest of the reply will never come */
    bool is_paused;   /* do not read: `in` or `pipe` is full, a head waits, or
                         the exchange is held back */
    bool has_paused;  /* bytes may have waited in the socket */
    bool is_answered; /* the response has its head */
    bool is_tunnel;
    bool has_peer_ended;     /* the tunnel's upstream has ended */
    bool persists;           /* the reply keeps its connection open */
    uint64_t kept_ms;        /* how long the server keeps an idle connection;
                                0: the server has not said */
    uint16_t intercepted;    /* reply's status, if PROXY_FAULT_INTERCEPTED */
    struct proxy_buffer *in; /* decoded bytes, from `begin` to `end`; before
                                there is a reply, bytes as received */
    size_t stocked;          /* what `in` counts in the client's stock */
    size_t borrowed_end;     /* end of the bytes lent to the response */
    bool is_copied;          /* the rest is copied, since there was no pipe */
    bool has_filled;         /* the last read into `in` had no room for more */
    struct pipe *pipe;       /* the bytes that follow those of `in`, or NULL */
    size_t piped;            /* bytes in `pipe` */
    size_t piped_borrowed;   /* bytes in `pipe` that are lent to the response */
    size_t piped_full;       /* bytes in `pipe` when it took no more */
    struct http1_progress progress;
    struct body_reader reader;
    struct buf interim;      /* phrase and fields of a 1xx to pass on */
    uint16_t interim_status; /* 0: there is no 1xx to pass on */
    uint16_t interim_phrase; /* length of the phrase */
    struct buf trailer;
    char traceparent[TRACE_PARENT_LEN];
    char *head_room; /* memory lent to `head`, or NULL */
};

/* Returns the transport of the upstream's connection, which must be open. */
static inline const struct transport *transfer_transport(const struct transfer
                                                             *transfer)
{
    return upstream_transport(transfer->lease.upstream);
}

/* --- proxy_retry.c ------------------------------------------------------- */

/* Handles a fault (proxy's on_fault): tries again, or answers with an error, or
 * breaks the answer off. */
void transfer_fail(struct transfer *transfer, enum proxy_fault fault);

/* --- proxy_request.c ----------------------------------------------------- */

/* Makes the request's head for that server. */
MUST_USE enum relay_verdict transfer_write_head(struct transfer *transfer,
                                                int server);

/* Makes the request's head again, if it was sent and its memory was given
 * back. */
MUST_USE enum relay_verdict transfer_renew_head(struct transfer *transfer);

/* Asks for an upstream, and sends the request when there is one. The exchange
 * must be pending. */
void transfer_ask(struct transfer *transfer);

/* Asks for an upstream if that is allowed now and enough of the body has
 * come. */
void transfer_ask_if_due(struct transfer *transfer);

/* Sends everything that can be sent now. */
void transfer_flush(struct transfer *transfer);

/* Stops sending the request, since the upstream takes no more of it. The
 * upstream may have replied already. */
void transfer_stop_sending(struct transfer *transfer);

bool proxy_take_body(struct sink *sink, struct bytes data);
void proxy_end_body(struct sink *sink);
void proxy_foresee_end(struct sink *sink);
size_t proxy_kept(const struct sink *sink);
void proxy_ease(struct sink *sink);

/* --- proxy_upload.c ------------------------------------------------------ */

/* Forgets the sent bytes of `out`, and gives the buffer back if it is empty
 * then: a tunnel may be idle for hours. The next bytes take a new buffer. */
void transfer_drop_empty(struct transfer *transfer);

/* If memory is short, gives up the copy of the body that another try would
 * need. */
void transfer_keep_no_copy(struct transfer *transfer);

/* Returns true if body bytes may be sent from the buffer they were read into,
 * without a copy. */
bool transfer_goes_straight(const struct transfer *transfer);

/* Forgets bytes that were sent and will not be sent again. */
void transfer_forget_sent(struct transfer *transfer);

/* Whether `len` more bytes fit into `out`, up to `most` in all. */
bool transfer_has_room(struct transfer *transfer, size_t len, size_t most);

/* Returns true if the worker's transfers together hold so many bytes
 * (PROXY_HELD_BYTES_MAX) that this one may not hold more. */
bool transfer_is_crowded(const struct transfer *transfer);

/* Decides whether the client's next bytes must wait, and wakes the exchange
 * when they need not wait any more. */
void transfer_make_way(struct transfer *transfer);

/* --- proxy_body.c -------------------------------------------------------- */

struct answer proxy_look(struct pending *pending);
struct piece proxy_next(struct source *source, uint64_t at_most);
void proxy_settle(struct source *source);

/* --- proxy_reply.c ------------------------------------------------------- */

/* Reads once, and handles the bytes that came. May free the transfer. */
void transfer_read(struct transfer *transfer);

/* The same when the socket has become readable. Holds the bytes back instead
 * if the client's answers hold enough already. */
void transfer_meet_bytes(struct transfer *transfer);

/* Handles the reply's heads in the buffer, unless the response must send
 * something first. The caller holds a reference. */
void transfer_digest(struct transfer *transfer);

/* --- proxy_answer.c ------------------------------------------------------ */

/* Makes the response from proxy->reply, and from the received part of its body.
 * The caller holds a reference. Returns false if the reply cannot be passed
 * on. */
MUST_USE bool transfer_answer(struct transfer *transfer,
                              enum body_framing framing);

/* --- proxy_pipe.c -------------------------------------------------------- */

/* Whether the next read goes into a pipe. Takes a pipe if a pipe pays. */
bool transfer_is_piped(struct transfer *transfer);

/* Reads once into the pipe. The caller holds a reference. */
void transfer_read_piped(struct transfer *transfer);

/* Lends up to at_most bytes of the pipe. Returns a part of length 0 if the pipe
 * is empty. */
struct part transfer_lend_pipe(struct transfer *transfer, uint64_t at_most);

/* Takes back bytes that were lent and were sent. Returns whether there is
 * enough room again. */
bool transfer_reclaim_pipe(struct transfer *transfer);

/* --- proxy_transfer.c ---------------------------------------------------- */

/* Takes an empty buffer. Returns NULL when there is no memory. */
struct proxy_buffer *proxy_buffer_take(struct proxy *proxy);
void proxy_buffer_give(struct proxy *proxy, struct proxy_buffer **buffer);

/* Counts `in` in the stock of the client's connection, after it was filled or
 * emptied. */
void transfer_note_stock(struct transfer *transfer);

/* Gives `in` back, if there is one. */
void transfer_give_in(struct transfer *transfer);

/* Gives `head` its memory. */
void transfer_lend_head(struct transfer *transfer);

/* Drops the head and gives its memory back, so that a wait for an upstream or
 * for a reply takes less memory. */
void transfer_drop_head(struct transfer *transfer);

/* Counts `len` more bytes of the body that wait for an upstream. */
void transfer_hold(struct transfer *transfer, size_t len);

/* Notes that no bytes of the transfer's body wait for an upstream any more. */
void transfer_hold_none(struct transfer *transfer);

/* Returns how the exchange's messages are passed on to and from that server. */
const struct relay *transfer_relay(const struct transfer *transfer, int server);

/* Wakes the exchange, since the response can continue. */
void transfer_wake(struct transfer *transfer);

/* Returns the number of bytes in `out` that were not sent yet. */
size_t transfer_pending(const struct transfer *transfer);

/* Whether all received bytes of the request were sent. */
bool transfer_is_sent(const struct transfer *transfer);

/* Counts `n` received bytes for the statistics. */
void transfer_count_in(const struct transfer *transfer, size_t n);

/* Sets the time limit for what the transfer waits for. */
void transfer_watch(struct transfer *transfer);

/* Implements pending.rest. If the exchange only waits until the server sends
 * something or is connected, gives memory back and returns true. */
bool proxy_rest(struct pending *pending);

/* Whether the upstream's socket has nothing more to read. A connection with
 * bytes behind a reply is not reused: they would pass for the next reply. */
bool transfer_has_read_all(const struct transfer *transfer);

/* Stops reading until the buffers have room again. */
void transfer_pause(struct transfer *transfer);

/* Stops reading until the response has its turn (exchange_stock). */
void transfer_hold_back(struct transfer *transfer);

/* Gives up the upstream: the pool keeps its connection if `reusable` is true,
 * and else closes it. `result` tells the pool how the server has done. */
void transfer_let_go(struct transfer *transfer, bool reusable,
                     enum balance_result result);

/* Handles the end of the reply, all of which was read. is_clean says that no
 * bytes followed it. */
void transfer_finish(struct transfer *transfer, bool is_clean);

/* Handles the end of the upstream's connection. is_clean is false if bytes may
 * be missing: after a reset, or without TLS's close_notify. */
void transfer_meet_end(struct transfer *transfer, bool is_clean);

/* Gives back the transfer's pipe, which must exist. */
void transfer_give_pipe(struct transfer *transfer);

/* Gives back all that the transfer holds. Called when its exchange has ended,
 * or has its complete response. */
void transfer_abandon(struct transfer *transfer);

/* Drops a reference; the last one frees the transfer. */
void transfer_release(struct transfer *transfer);

/* --- proxy_note.c: times of a transfer, if the log shows them ------------ */

/* Notes that a server is about to be asked. */
void transfer_note_asking(const struct transfer *transfer);
/* Notes the server, and whether it is connected, as soon as that is known. */
void transfer_note_server(const struct transfer *transfer);
/* Notes that the server has replied with proxy->reply. */
void transfer_note_reply(const struct transfer *transfer);
/* Notes that no more of the reply will come. */
void transfer_note_end(const struct transfer *transfer);

/* --- proxy_error.c ------------------------------------------------------- */

enum proxy_fault proxy_fault_of(enum upstream_error error);

/* Logs the fault of a server, unless the pool has logged it. */
void proxy_log_fault(struct proxy *proxy, const struct upstream_lease *lease,
                     enum proxy_fault fault);

/* Makes the response for a fault. It replaces any earlier response. */
void proxy_answer_fault(const struct proxy *proxy, struct exchange *exchange,
                        enum proxy_fault fault);

/* Makes a response of our own for PROXY_FAULT_INTERCEPTED. It has the reply's
 * status, and the fields that `head` holds. */
void proxy_answer_intercepted(struct transfer *transfer);

/* Answers a request that is not passed on. */
void proxy_answer_verdict(const struct proxy *proxy, struct exchange *exchange,
                          enum relay_verdict verdict);

#endif
