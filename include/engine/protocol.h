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
    CONN_END_NONE,    /* it has not, and nothing has decided that it will */
    CONN_END_CLIENT,  /* the client closed it, or asked for its end */
    CONN_END_IDLE,    /* no request came for too long */
    CONN_END_TIMEOUT, /* half of one did, or a response was not taken */
    CONN_END_ERROR,   /* a bad request, a broken connection, no memory */
    CONN_END_LIMIT,   /* it had all it may have, or made room for another */
    CONN_END_DRAIN,   /* the server stops */
    CONN_END_COUNT
};

struct conn_limits {
    size_t connections_max; /* of this worker */
    uint32_t requests_max;  /* per connection; 0: any number */
    uint64_t keepalive_ms;
    uint64_t header_ms;     /* for a whole head */
    uint64_t body_ms;       /* for a whole body */
    uint64_t send_ms;       /* without progress while the socket is full */
    uint64_t send_rate_min; /* bytes a second, beyond send_ms; 0: any */
    uint64_t quantum;       /* bytes sent before others get their turn */
    bool prior_knowledge;   /* HTTP/2 in clear text, for who begins with it */
};

struct input;
struct session;

/* Word from a session up to its connection, at any time. */
struct session_hooks {
    /* What the session does beside sending has changed; has_more: there is also
     * more of what it waited for. */
    void (*on_change)(struct session *session, bool has_more);
    /* An answer of so many bytes was handed over whole. */
    void (*on_answered)(struct session *session, uint64_t bytes,
                        uint64_t now_ns);
    /* A trusted proxy has said for whom the connection is. False: that client
     * has as many as it may. */
    bool (*on_introduced)(struct session *session,
                          const struct address *client);
    /* The session has something to send though nobody asked it, or its
     * candidate is another one now. */
    void (*on_ready)(struct session *session);
    /* One of the session's many answers, of so many bytes, begins to wait:
     * place is its own in the order of the scheduler. */
    void (*on_arrive)(struct session *session, struct sched_item *place,
                      uint64_t bytes, bool is_stream);
    /* What the order goes by, as sched_key(). */
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
    struct field *fields;  /* for the head that is parsed */
    char *wide;            /* for a read of an upload; NULL: none so far */
    struct h2_context *h2; /* what sessions of HTTP/2 share */
    bool is_draining;      /* connections end with their next answer */
    bool ends_idle;        /* connections that wait for a request end at once */
    struct log_limit refusals; /* told of on standard error */
};

/* How soon it is noticed that a client is gone while nothing is read. */
enum { SESSION_LOOK_MS = 1000 };

/* What happens to what a client sends while its connection sends or waits. */
enum session_beside {
    SESSION_LEAVES, /* it is left unread; that it ends is looked for */
    SESSION_TAKES,  /* it is read: receive() */
    SESSION_RESTS   /* not now, nor looked for: expire() sees to that */
};

/* A connection as its protocol has it: the beginning of a struct of its own. */
struct session {
    const struct protocol *protocol;
    struct session_context *context;
    struct transport transport;
    uint8_t beside;     /* enum session_beside */
    uint8_t end;        /* enum conn_end: decided already, or none */
    uint8_t why;        /* enum conn_end: of SESSION_CLOSES */
    bool awaits_proxy;  /* a proxy says first for whom it connects */
    bool is_introduced; /* it has: peer is whom it named */
    bool overlaps;      /* requests come while answers are still sent */
    bool is_costly;     /* what its client says costs more than it brings */
    bool holds_input;   /* receive() can go on though nothing more comes */
    uint32_t requests;
    uint32_t finished;   /* of these, those that are done with */
    uint16_t position;   /* in the scheduler, as its candidate came; */
    uint16_t waiting;    /* so many waited then, itself included: when timed,
                            as far as that goes */
    uint32_t ticket;     /* of its peer, where connections are counted */
    uint64_t number;     /* of all connections of the server */
    uint64_t since_ms;   /* since when it waits for a request, of which no byte
                            has come; 0: it does not wait */
    uint32_t blocked_ms; /* for what is being sent, before the last time */
    struct address peer; /* or for whom it asks, by the PROXY protocol */
};

/* What a connection does next. */
enum session_step {
    SESSION_STAYS,   /* as it is */
    SESSION_GOES_ON, /* something has come: advance() */
    SESSION_READS,   /* nothing to send, more must come: receive() */
    SESSION_SENDS,   /* something waits to be sent: candidate(), send() */
    SESSION_ENDS,    /* all is sent; the client may still be sending */
    SESSION_IS_OVER, /* neither of them sends any more */
    SESSION_CLOSES   /* it is broken off now, because of session->why */
};

/* What a session would send next, for the scheduler. */
struct candidate {
    uint64_t bytes; /* left of it; of a stream of unknown length those that it
                       has had since it waited last */
    bool is_stream;
    bool has_others; /* more wait behind it, and leave with it where nothing is
                        held back */
    uint32_t beside; /* bytes that leave with it: what is around it */
    const struct sched_item *place; /* of one answer among many, see on_arrive;
                                       NULL: the connection's own */
};

/* What a limit of time is asked for. */
enum session_wait { SESSION_WAIT_READ, SESSION_WAIT_SEND, SESSION_WAIT_ANSWER };

struct protocol {
    size_t session_bytes; /* of its struct, which begins with a session */
    uint64_t crumb_bytes; /* what is left of a budget, and is no more than this,
                             waits for the next */
    uint32_t unsent_max;  /* what may lie unsent in a socket that no link
                             bounds; 0: as the system has it */
    /* Fills in the rest of the protocol's struct; session is there. */
    void (*open)(struct session *session);
    /* Reads once. GOES_ON, READS when nothing had come, CLOSES; beside an
     * answer STAYS. */
    enum session_step (*receive)(struct session *session);
    /* The session goes on as this protocol behind another, which has read
     * something already: input, of the context's pool, is its own now. NULL: no
     * protocol hands over to this one. */
    void (*inherit)(struct session *session, struct input *input);
    /* Makes exchanges of what has come, and has them answered. All but STAYS;
     * GOES_ON as another protocol. */
    enum session_step (*advance)(struct session *session);
    /* After SENDS, until nothing is left. */
    struct candidate (*candidate)(const struct session *session);
    /* Sends budget bytes at most. SENDER_DONE: nothing is left, advance();
     * SENDER_FAILED: as SESSION_CLOSES. */
    enum sender_result (*send)(struct session *session, uint64_t budget,
                               uint64_t *sent_out);
    /* When the thing that the session waits for has taken too long, mono_ms; 0:
     * never. */
    uint64_t (*limit)(struct session *session, enum session_wait wait);
    /* The time of limit() has come, while the session READS, or waits for more
     * of its answer. STAYS, SENDS, CLOSES. */
    enum session_step (*expire)(struct session *session);
    /* Whether no request is under way, not even the first byte of one. */
    bool (*is_idle)(const struct session *session);
    /* The server stops: whoever has not been answered yet is told so. */
    void (*leave)(struct session *session);
    /* The session is closed next, to make room, though nothing is wrong with
     * it: the client is told, as far as that takes no waiting. NULL: the
     * protocol has no way to say it. */
    void (*farewell)(struct session *session);
    /* The connection ends: all exchanges are done with, sent or not. True:
     * something of them was not. */
    bool (*end)(struct session *session);
};

/* Notes why the session is going to end, unless that is decided. */
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
