/*
 * protocol - what a connection's protocol does, whichever it is.
 *
 *                        +-------------------- conn ---------------------+
 *                        | watches, queues, budgets, limits, lingers     |
 *                        +----|------------------------------------^-----+
 *     receive, advance, send, |                                    | steps,
 *     candidate, expire, end  v                                    | hooks
 *   client <==transport==> session: bytes to exchanges, exchanges to bytes
 *                             |                                    ^
 *                      answer v                                    | wake
 *                        +---------------- handler --------------------+
 *
 * A connection conducts: it never parses and never formats. A session does, and
 * knows neither loop nor scheduler: it is told when its transport can be read
 * or written, and by how much, and says in a step what is to come next:
 *
 *   receive --> GOES_ON --> advance --> SENDS: candidate, send, ... advance
 *                                   --> READS: until there is more to read
 *                                   --> ENDS:  all is sent, close in stages
 *
 * While something is sent, the session may go on reading beside it (the body of
 * a request whose answer has begun, a tunnel): see enum session_beside.
 *
 * A session has one candidate for the scheduler at a time: HTTP/1 its pipeline,
 * of which all that is ready leaves together. A protocol with many streams
 * keeps a heap of them inside, and its candidate is the one with the smallest
 * key: so the order over all connections stays shortest first, and nobody
 * claims more by opening more streams (engine/sched.h).
 *
 * Thread: the worker of the connection.
 * Owns:   a session lies inside its connection and owns its transport, its
 *         exchanges and whatever they hold.
 */
#ifndef ENGINE_PROTOCOL_H
#define ENGINE_PROTOCOL_H

#include "base/address.h"
#include "base/log.h"
#include "base/pool.h"
#include "engine/sched.h"
#include "engine/sender.h"
#include "handler/handler.h"
#include "io/transport.h"
#include "observe/access_log.h"
#include "observe/stats.h"

/* Why a connection ended; in the log, and for counting. */
enum conn_end {
    CONN_END_NONE,    /* it has not ended, nor is to end */
    CONN_END_CLIENT,  /* the client closed it, or asked for its end */
    CONN_END_IDLE,    /* no request came for too long */
    CONN_END_TIMEOUT, /* half a request, or a response not taken, too long */
    CONN_END_ERROR,   /* a bad request, a broken connection, no memory */
    CONN_END_LIMIT,   /* it had requests_max, or made room for another */
    CONN_END_DRAIN,   /* the server stops */
    CONN_END_COUNT
};

struct conn_limits {
    size_t connections_max; /* of this worker */
    uint32_t requests_max;  /* per connection; 0: any number */
    uint64_t keepalive_ms;
    uint64_t header_ms;     /* time for a whole head */
    uint64_t body_ms;       /* time for a whole body */
    uint64_t send_ms;       /* time without progress of a full socket */
    uint64_t send_rate_min; /* bytes a second after send_ms; 0: any */
    uint64_t quantum;       /* bytes sent before others get their turn */
    bool prior_knowledge;   /* HTTP/2 in clear text, if a client begins so */
};

struct input;
struct session;

/* Calls from a session up to its connection, at any time. */
struct session_hooks {
    /* session->beside has changed. has_more: there is also more of what the
     * session waited for. */
    void (*on_change)(struct session *session, bool has_more);
    /* An answer of so many bytes was handed over whole. */
    void (*on_answered)(struct session *session, uint64_t bytes,
                        uint64_t now_ns);
    /* A trusted proxy has named the client of the connection. False: that
     * client has as many connections as it may. */
    bool (*on_introduced)(struct session *session,
                          const struct address *client);
    /* The session has something to send though nobody asked it, or its
     * candidate is another one now. */
    void (*on_ready)(struct session *session);
    /* One of the session's many answers, of so many bytes, begins to wait:
     * place is its own place in the scheduler's order. */
    void (*on_arrive)(struct session *session, struct sched_item *place,
                      uint64_t bytes, bool is_stream);
    /* The key of place, as sched_key() has it. */
    uint64_t (*key_of)(const struct session *session,
                       const struct sched_item *place, uint64_t bytes);
};

struct h2_context;

/* What the sessions of one worker share. */
struct session_context {
    const struct now *now;
    struct conn_limits limits;
    struct server_defaults defaults;
    struct handler handler; /* answers everything; may change between turns */
    struct access_log_buffer *access_log;
    struct stats *stats; /* the worker's */
    const struct session_hooks *hooks;
    struct sender sender;
    struct pool inputs;
    struct pool small_inputs;
    struct pool exchanges;
    struct field *fields;  /* for the next head to parse */
    char *wide;            /* buffer for reads of uploads; NULL: none so far */
    struct h2_context *h2; /* what sessions of HTTP/2 share */
    bool is_draining;      /* connections end with their next answer */
    bool ends_idle;        /* connections that wait for a request end at once */
    struct log_limit refusals; /* bounds how many are logged on stderr */
};

/* How soon it is noticed that a client is gone while nothing is read. */
enum { SESSION_LOOK_MS = 1000 };

/* What happens to what a client sends while its connection sends or waits. */
enum session_beside {
    SESSION_LEAVES, /* it is left unread, but its end is looked for */
    SESSION_TAKES,  /* it is read: receive() */
    SESSION_RESTS   /* neither read nor watched, but expire() looks */
};

/* A connection as its protocol sees it; the protocol's own struct begins so. */
struct session {
    const struct protocol *protocol;
    struct session_context *context;
    struct transport transport;
    uint8_t beside;     /* enum session_beside */
    uint8_t end;        /* enum conn_end: decided already, or NONE */
    uint8_t why;        /* enum conn_end: why SESSION_CLOSES */
    bool awaits_proxy;  /* a proxy is to name the client first */
    bool is_introduced; /* the proxy has named peer */
    bool overlaps;      /* more requests come while answers are sent */
    bool is_costly;     /* what its client says costs more than it brings */
    bool holds_input;   /* receive() can go on though nothing more comes */
    uint32_t requests;
    uint32_t finished;   /* requests that are done with */
    uint16_t position;   /* place of its candidate in the queue, on arrival */
    uint16_t waiting;    /* how many waited then, itself included, up to
                            UINT16_MAX; with Server-Timing */
    uint32_t ticket;     /* of its peer, for address_count */
    uint64_t number;     /* unique among the server's connections */
    uint64_t since_ms;   /* since when no byte of the next request has come; 0:
                            one has, or none is waited for */
    uint32_t blocked_ms; /* all earlier BLOCKED times of what is being sent */
    struct address peer; /* the other end, or whom the PROXY protocol named */
};

/* What a connection does next. */
enum session_step {
    SESSION_STAYS,   /* nothing changes */
    SESSION_GOES_ON, /* something has come: advance() */
    SESSION_READS,   /* nothing to send, more must come: receive() */
    SESSION_SENDS,   /* something waits to be sent: candidate(), send() */
    SESSION_ENDS,    /* all is sent; the client may still be sending */
    SESSION_IS_OVER, /* neither side sends any more */
    SESSION_CLOSES   /* it is broken off now, because of session->why */
};

/* What a session would send next, for the scheduler. */
struct candidate {
    uint64_t bytes; /* left to send; of a stream of unknown length: sent since
                       it waited last */
    bool is_stream;
    bool has_others; /* more wait behind it, and leave with it where nothing is
                        held back */
    uint32_t beside; /* bytes that leave with it: framing, for instance */
    const struct sched_item *place; /* of one answer among many, see on_arrive;
                                       NULL: the connection's own */
};

/* What a limit of time is asked for. */
enum session_wait { SESSION_WAIT_READ, SESSION_WAIT_SEND, SESSION_WAIT_ANSWER };

struct protocol {
    size_t session_bytes; /* of its own struct, which begins with a session */
    uint64_t crumb_bytes; /* when no more than this is left of a budget, the
                             rest waits for the next budget */
    uint32_t unsent_max;  /* what may lie unsent in a socket that no link
                             bounds; 0: as the system has it */
    /* Fills in the rest of the protocol's struct; session is there. */
    void (*open)(struct session *session);
    /* Reads once. Returns GOES_ON, READS when nothing had come, or CLOSES;
     * beside an answer also STAYS. */
    enum session_step (*receive)(struct session *session);
    /* Takes over a session that changes to this protocol, and with it the input
     * that the other has read, of the context's pool. NULL: no protocol hands
     * over to this one. */
    void (*inherit)(struct session *session, struct input *input);
    /* Makes exchanges of what has come, and has them answered. Never STAYS;
     * GOES_ON: it goes on as another protocol. */
    enum session_step (*advance)(struct session *session);
    /* What is to be sent next; asked after SENDS, until nothing is left. */
    struct candidate (*candidate)(const struct session *session);
    /* Sends budget bytes at most. SENDER_DONE: nothing is left, advance();
     * SENDER_FAILED: as SESSION_CLOSES. */
    enum sender_result (*send)(struct session *session, uint64_t budget,
                               uint64_t *sent_out);
    /* Until when the session may wait for this, in mono_ms; 0: for ever. */
    uint64_t (*limit)(struct session *session, enum session_wait wait);
    /* The time of limit() has come, while the session READS, or waits for more
     * of its answer. Returns STAYS, SENDS or CLOSES. */
    enum session_step (*expire)(struct session *session);
    /* Whether no request is under way, not even the first byte of one. */
    bool (*is_idle)(const struct session *session);
    /* The server stops: whoever has not been answered yet is told so. */
    void (*leave)(struct session *session);
    /* The session is closed next, to make room, though nothing is wrong with
     * it: the client is told, as far as that takes no waiting. NULL: the
     * protocol has no way to say it. */
    void (*farewell)(struct session *session);
    /* The connection ends: all exchanges are done with. True: some of them were
     * not sent whole. */
    bool (*end)(struct session *session);
};

/* Notes why the session is going to end, unless that is decided already. */
static inline void session_decide_end(struct session *session,
                                      enum conn_end end)
{
    if (session->end == CONN_END_NONE)
        session->end = (uint8_t)end;
}

static inline enum session_step session_close(struct session *session,
                                              enum conn_end why)
{
    session->why = (uint8_t)why;
    return SESSION_CLOSES;
}

#endif
