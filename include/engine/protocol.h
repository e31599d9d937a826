/*
 * protocol - the interface between a connection and the protocol that it
 * speaks.
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
 * A connection decides when to read and send; it never parses and never
 * formats. A session parses and formats, and knows neither loop nor scheduler:
 * the connection calls the session when its transport can be read or written,
 * and the session returns a step, which says what comes next:
 *
 *   receive --> GOES_ON --> advance --> SENDS: candidate, send, ... advance
 *                                   --> READS: until there is more to read
 *                                   --> ENDS:  all is sent, close in stages
 *
 * While something is sent, the session may go on reading: the body of a request
 * whose answer has begun, or a tunnel. See enum session_beside.
 *
 * A session has one candidate for the scheduler at a time. The candidate of
 * HTTP/1 is its pipeline, whose ready answers leave together. A protocol with
 * many streams keeps them in a heap of its own, and its candidate is the stream
 * with the smallest key. So the order over all connections stays shortest
 * first, and no client gets more by opening more streams (engine/sched.h).
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
#include "http/forwarded.h"
#include "io/transport.h"
#include "observe/access_log.h"
#include "observe/stats.h"

/* Why a connection ended, for the log and the statistics. */
enum conn_end {
    CONN_END_NONE,    /* the connection goes on */
    CONN_END_CLIENT,  /* the client closed the connection, or asked to */
    CONN_END_IDLE,    /* no request came for too long */
    CONN_END_TIMEOUT, /* a request or a response took too long */
    CONN_END_ERROR,   /* a bad request, a broken connection, no memory */
    CONN_END_LIMIT,   /* requests_max is reached, or room was needed */
    CONN_END_DRAIN,   /* the server stops */
    CONN_END_COUNT
};

struct conn_limits {
    size_t connections_max; /* most connections of this worker */
    uint32_t requests_max;  /* most requests of a connection; 0: no limit */
    uint64_t keepalive_ms;
    uint64_t header_ms;     /* time for a whole head */
    uint64_t body_ms;       /* time for a whole body */
    uint64_t send_ms;       /* time that a socket may stay full */
    uint64_t send_rate_min; /* least bytes a second, once send_ms are over; 0:
                               no minimum */
    uint64_t quantum;       /* bytes sent before others get their turn */
    bool prior_knowledge;   /* whether clients may begin HTTP/2 in clear text */
};

struct input;
struct session;

/* The functions by which a session calls its connection, at any time. */
struct session_hooks {
    /* Called when session->beside has changed. `has_more` says that, in
     * addition, the answer for which the session waited has more to send. */
    void (*on_change)(struct session *session, bool has_more);
    /* Called when an answer of `bytes` bytes was handed over whole. */
    void (*on_answered)(struct session *session, uint64_t bytes,
                        uint64_t now_ns);
    /* Called when a trusted proxy has named the connection's client. Returns
     * false when this client already has as many connections as it may have. */
    bool (*on_introduced)(struct session *session,
                          const struct address *client);
    /* Called when the session has something new to send, or when its candidate
     * has changed. */
    void (*on_ready)(struct session *session);
    /* Called when one of the session's many answers begins to wait. The answer
     * has `bytes` bytes, and `place` is its own place in the scheduler's
     * order. */
    void (*on_arrive)(struct session *session, struct sched_item *place,
                      uint64_t bytes, bool is_stream);
    /* Returns the key of `place`, which sched_key() computes. */
    uint64_t (*key_of)(const struct session *session,
                       const struct sched_item *place, uint64_t bytes);
};

struct h2_context;

/* What the sessions of one worker share. */
struct session_context {
    const struct now *now;
    struct conn_limits limits;
    struct server_defaults defaults;
    struct handler handler; /* answers all requests; may change between turns */
    struct access_log_buffer *access_log;
    struct stats *stats;          /* the worker's statistics */
    struct forwarded_trust trust; /* proxies that tell the client's address */
    const struct session_hooks *hooks;
    struct sender sender;
    struct pool inputs;
    struct pool small_inputs;
    struct pool exchanges;
    struct field *fields;  /* room for the fields of the next head */
    char *wide;            /* buffer for reads of uploads; NULL until needed */
    struct h2_context *h2; /* what sessions of HTTP/2 share */
    bool is_draining;      /* connections end with their next answer */
    bool ends_idle;        /* connections that wait for a request end at once */
    struct log_limit refusals; /* bounds how many refusals are logged on
                                  stderr */
};

/* While the server reads nothing from a client, it does not notice when the
 * client goes away. So it looks at the client's socket once in this time. */
enum { SESSION_LOOK_MS = 1000 };

/* What is done with bytes from a client while its connection sends or waits. */
enum session_beside {
    /* The bytes stay unread, but conn notices when the client goes away. */
    SESSION_LEAVES,
    SESSION_TAKES, /* receive() reads the bytes */
    /* The bytes stay unread and the socket unwatched; expire() looks later. */
    SESSION_RESTS
};

/* A connection as its protocol sees it. The protocol's own struct begins with a
 * session. */
struct session {
    const struct protocol *protocol;
    struct session_context *context;
    struct transport transport;
    uint8_t beside;         /* enum session_beside */
    uint8_t end;            /* enum conn_end; NONE until that is decided */
    uint8_t why;            /* enum conn_end: the reason for SESSION_CLOSES */
    bool awaits_proxy : 1;  /* a proxy still has to name the client */
    bool is_introduced : 1; /* the proxy has named peer */
    bool overlaps;          /* more requests may come while answers are sent */
    bool is_costly;         /* the client's input costs more than it brings */
    bool holds_input;       /* receive() can go on without new bytes */
    bool is_sure;           /* the awaited answer comes in a moment */
    uint32_t requests;
    uint32_t finished; /* requests that have ended */
    /* With Server-Timing: the candidate's position in the queue on its arrival,
     * and how many candidates waited then, this one included. Both numbers are
     * UINT16_MAX at most. */
    uint16_t position;
    uint16_t waiting;
    uint32_t ticket;   /* the peer's ticket of address_count; 0: none */
    uint64_t number;   /* unique among the server's connections */
    uint64_t since_ms; /* when the wait for the next request began; 0: no
                          request is awaited, or its first byte has come */
    /* For how long, in all, the connection was BLOCKED with its present
     * answer. */
    uint32_t blocked_ms;
    struct address peer; /* the client's address; a proxy may name it */
};

/* What a connection does next. */
enum session_step {
    SESSION_STAYS,   /* nothing changes */
    SESSION_GOES_ON, /* something has come; advance() is next */
    SESSION_READS, /* nothing to send; receive() is next, when more has come */
    SESSION_SENDS, /* something to send; candidate() and send() are next */
    SESSION_ENDS,  /* all is sent; the client may still be sending */
    SESSION_IS_OVER, /* neither side sends any more */
    SESSION_CLOSES   /* the connection is closed at once, for session->why */
};

/* What a session would send next, for the scheduler. */
struct candidate {
    /* Bytes left to send; for a stream of unknown length, bytes sent since it
     * last waited. */
    uint64_t bytes;
    bool is_stream;
    /* More answers wait behind the candidate, and leave with it when the link
     * holds nothing back. */
    bool has_others;
    /* Further bytes, such as framing, that leave with the candidate. */
    uint32_t beside;
    /* The answer's own place, known from on_arrive(); NULL: the connection's
     * place is used. */
    const struct sched_item *place;
};

/* What a session waits for when limit() is asked. */
enum session_wait { SESSION_WAIT_READ, SESSION_WAIT_SEND, SESSION_WAIT_ANSWER };

struct protocol {
    size_t session_bytes; /* size of the protocol's own struct */
    /* A rest of the budget that has at most this many bytes is not used. */
    uint64_t crumb_bytes;
    /* Most unsent bytes in a socket, unless the link sets a limit; 0: the
     * system's own limit. */
    uint32_t unsent_max;
    /* Fills in the protocol's struct behind the session, which is set
     * already. */
    void (*open)(struct session *session);
    /* Reads once. Returns GOES_ON when bytes have come, READS when no bytes had
     * come, or CLOSES. While an answer is sent, STAYS is possible, too. */
    enum session_step (*receive)(struct session *session);
    /* Takes over a session that changes to this protocol. `input`, of the
     * context's pool, contains the bytes that the other protocol has read. NULL
     * in a protocol to which no session changes. */
    void (*inherit)(struct session *session, struct input *input);
    /* Makes exchanges of the bytes that have come, and lets the handler answer
     * them. Never returns STAYS. Returns GOES_ON when the session has changed
     * to another protocol. */
    enum session_step (*advance)(struct session *session);
    /* Returns what is to be sent next. Called after SENDS, until nothing is
     * left. */
    struct candidate (*candidate)(const struct session *session);
    /* Sends at most `budget` bytes. After SENDER_DONE nothing is left, and
     * advance() is next; after SENDER_FAILED the connection is closed, as after
     * SESSION_CLOSES. */
    enum sender_result (*send)(struct session *session, uint64_t budget,
                               uint64_t *sent_out);
    /* Returns the time, in mono_ms, until which the session may wait; 0 when
     * there is no limit. `wait` tells for what the session waits. */
    uint64_t (*limit)(struct session *session, enum session_wait wait);
    /* Called when the time of limit() has come while the session READS, or
     * waits for more of its answer. Returns STAYS, SENDS or CLOSES. */
    enum session_step (*expire)(struct session *session);
    /* Returns true if no request is under way, and no byte of the next one has
     * come. */
    bool (*is_idle)(const struct session *session);
    /* Called when the server stops. The heads of answers that are made later
     * will tell clients that the connection ends. */
    void (*leave)(struct session *session);
    /* Tells the client, without waiting, that the session will be closed now to
     * make room for another. NULL in a protocol that cannot say this. */
    void (*farewell)(struct session *session);
    /* Ends all exchanges, since the connection ends. Returns true when some of
     * them were not sent whole. */
    bool (*end)(struct session *session);
};

/* Notes why the session is going to end, unless a reason was noted before. */
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
