/*
 * exchange - one request and its response, from the first byte read to the
 * last byte sent.
 *
 * Thread: the worker of its connection.
 * Owns:   the response, the sink and what is pending. The request's views point
 *         into the connection's input buffer, which stays until the exchange is
 *         done; peer is the connection's, or client.
 *
 * An exchange may rest while it waits for somebody else: it then has no room
 * for the request's fields and for the text of the response (exchange_room).
 * Its session decides when; pending.rest or source.rests says whether it may.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <stdint.h>
#include <string.h>

#include "base/address.h"
#include "base/list.h"
#include "http/path.h"
#include "http/priority.h"
#include "http/request.h"
#include "http/response.h"

/* The times at which an exchange came to its stages, in nanoseconds of the
 * monotonic clock; 0: not yet. */
struct exchange_times {
    uint64_t read_ns;  /* when the request's first byte was read */
    uint64_t ready_ns; /* when its last byte was read, body included */
    uint64_t first_ns; /* when the kernel had the first byte of the answer */
    uint64_t last_ns;  /* when the kernel had the last byte of the answer */
};

struct tls;

enum answer_state {
    ANSWER_LATER,   /* not before the exchange is woken */
    ANSWER_INTERIM, /* a 1xx comes before it; look again when that is sent */
    ANSWER_READY    /* the response is made */
};

struct answer {
    enum answer_state state;
    unsigned status; /* of ANSWER_INTERIM, like phrase and fields, which are
                        borrowed for the moment */
    struct bytes phrase;
    struct bytes fields;
};

/* The maker of an answer that comes later. */
struct pending {
    /* Looks for the answer. Before it says ANSWER_READY, the pending has taken
     * itself off the exchange; it may be gone, or replaced by another. */
    struct answer (*look)(struct pending *pending);
    void (*destroy)(struct pending *pending);
    /* Whether the exchange may rest from now on: exchange_rouse() comes before
     * its request's fields, or its response, are needed. NULL: no. */
    bool (*rest)(struct pending *pending);
};

/* Takes the body of a request while it comes. */
struct sink {
    /* Takes some more of the body; data is a view for the call. False: it is
     * refused, the response has been made, and nothing more is read. */
    bool (*take)(struct sink *sink, struct bytes data);
    void (*destroy)(struct sink *sink);
    /* Whether so many bytes more, which a chunk has announced, would be taken;
     * false as in take. NULL: that is of no interest. */
    bool (*foresee)(struct sink *sink, uint64_t bytes);
    /* Called behind the last byte of the body. Where it is set, the answer is
     * asked for at once, and the body comes beside it: only the handler's
     * answer can send a 100 then, and an answer under way goes on when take
     * refuses, as the last. NULL: the answer comes after the body. */
    void (*end)(struct sink *sink);
    /* With end: nothing more is read until this is false and exchange_wake()
     * was called. take may set it, and has taken its data all the same. */
    bool is_full;
    /* With end: the sink takes up to so many bytes at once, and passes them on
     * from where they lie. 0: as many as a read brings. Set when is_full may
     * be. */
    size_t takes_at_once;
    /* Called for a tunnel while is_full, perhaps again: the client has ended,
     * and only what is unread still comes. NULL: of no interest. */
    void (*foresee_end)(struct sink *sink);
    /* How many bytes of the body are in memory that the sink could pass on, or
     * forget. NULL: it keeps none. */
    size_t (*kept)(const struct sink *sink);
    /* With kept: the memory for all bodies of the client is used up. The sink
     * passes on what it has as soon as it can, keeps no copy, and calls
     * exchange_wake() when it has less; as long as is_eased, which the caller
     * has set. */
    void (*ease)(struct sink *sink);
    bool is_eased;
};

enum {
    EXCHANGE_ID_MAX = 128,
    EXCHANGE_ID_AT = 14 /* length of "X-Request-Id: " */
};

/* The upstream server that was asked last for the answer; times as in
 * exchange_times. */
struct exchange_upstream {
    struct bytes name;  /* borrowed from what steward keeps; empty: none */
    unsigned status;    /* of its reply; 0: there was none */
    uint64_t asked_ns;  /* when a connection to it was asked for */
    uint64_t opened_ns; /* when that was there; 0: it never was */
    uint64_t first_ns;  /* when the reply's head was whole; 0: it never was */
    uint64_t last_ns;   /* when the last of the reply was read, or nobody waited
                           for it any more; 0: not yet */
};

/* What an exchange has except while it rests. */
struct exchange_room {
    struct response_room response;
    struct field fields[REQUEST_FIELDS_FEW];
};

struct exchange {
    struct list list_node; /* in its session's pipeline, in order of arrival */
    const struct address *peer; /* who asks; as far as trusted proxies say */
    const struct address *neighbour; /* who is connected */
    struct address client;           /* whom a proxy has named, for peer */
    struct priority_said priority; /* set by the place's rules; heeded when the
                                      answer begins to wait */
    void (*on_wake)(struct exchange *exchange);  /* private */
    bool (*on_rouse)(struct exchange *exchange); /* private */
    void *session;                               /* its session; private */
    const struct tls
        *tls; /* that it comes over, for those who know io/tls/tls; NULL: it
                 comes in clear text */
    /* --- from here on zero at first, up to sink */
    struct exchange_times times;
    uint64_t bytes_in;   /* bytes of the request, as read */
    uint64_t body_bytes; /* decoded bytes of its body so far */
    uint64_t body_max;   /* longest body beside an answer: else 413; 0: any */
    /* Called last, when the exchange is done with: gives back whatever had to
     * outlive it. NULL: nothing had to. */
    void (*on_done)(void *object);
    void *on_done_object;
    bool has_begun; /* the place let it in before its body came */
    /* No byte of the request's body is wanted, whatever the method; the answer
     * says why. */
    bool refuses_body;
    /* The PROXY protocol came first: neighbour is whom a proxy has named. */
    bool is_introduced;
    bool wants_id;       /* the log shows its id: trace.h */
    bool wants_upstream; /* the log shows upstream, to be filled in */
    uint8_t id_len;      /* 0: it has no id */
    /* Set with the head of a 101, if response.persists: sink gets whatever the
     * client sends from now on, raw; end is called when that ends. */
    bool is_tunnel;
    /* The body's source has nothing more, but the client may go on sending. */
    bool is_half_closed;
    struct sink *sink;       /* NULL: bodies are thrown away */
    struct pending *pending; /* NULL: the response is made, or about to be */
    /* --- */
    struct path path; /* clean while a handler chosen by path answers */
    struct exchange_upstream upstream;
    struct buf head_copy; /* private; response may refer to it */
    struct response response;
    struct request request;
    char id_line[EXCHANGE_ID_AT + EXCHANGE_ID_MAX + 2]; /* field and CRLF */
    struct exchange_room room; /* missing where another room is lent */
};

/* The size of an exchange that is lent its room. */
enum { EXCHANGE_LEAN_BYTES = offsetof(struct exchange, room) };

/* The side that serves an exchange. */
struct exchange_side {
    const struct address *peer; /* who is connected */
    bool is_introduced;         /* as in the exchange; so are the next two */
    bool wants_id;
    bool wants_upstream;
    bool wants_head;            /* response.head_copy gets the head */
    struct exchange_room *room; /* lent; NULL: it has one of its own */
    void (*on_wake)(struct exchange *exchange);
    /* Ends the rest of an exchange, see exchange_rouse(). NULL: none of them
     * rests. */
    bool (*on_rouse)(struct exchange *exchange);
    void *session;
    const struct tls *tls;
};

/* A table for request.many; NULL: no memory. Freed by free(3). */
MUST_USE struct field *exchange_make_fields(void);

/* How many bytes of memory the exchange holds, bodies not counted. */
size_t exchange_bytes(const struct exchange *exchange);

/* Fills in all but the request. */
static inline void exchange_init(struct exchange *exchange,
                                 const struct exchange_side *side)
{
    struct exchange_room *room = side->room ? side->room : &exchange->room;

    list_init(&exchange->list_node);
    exchange->peer = exchange->neighbour = side->peer;
    exchange->on_wake = side->on_wake;
    exchange->on_rouse = side->on_rouse;
    exchange->session = side->session;
    exchange->tls = side->tls;
    memset(&exchange->times, 0,
           offsetof(struct exchange, path) - offsetof(struct exchange, times));
    exchange->priority = (struct priority_said){.has_urgency = false};
    exchange->is_introduced = side->is_introduced;
    exchange->wants_id = side->wants_id;
    exchange->wants_upstream = side->wants_upstream;
    exchange->upstream.name.len = 0;
    response_init(&exchange->response, &room->response);
    if (!side->wants_head)
        return;
    buf_init(&exchange->head_copy, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
    exchange->response.head_copy = &exchange->head_copy;
}

/* Gives back what the exchange holds: response, pending, sink, and on_done. */
void exchange_fini(struct exchange *exchange);

/* Gives up the answer that was to come, since another one is made. */
void exchange_drop_pending(struct exchange *exchange);

/* The handler that wanted the body will not answer: what is missing of the body
 * is thrown away. It must not be called while the sink takes some. */
void exchange_drop_sink(struct exchange *exchange);

static inline bool exchange_is_resting(const struct exchange *exchange)
{
    return !response_has_room(&exchange->response);
}

/* Ends the exchange's rest, since all of it is needed. False: no memory, and it
 * still rests. */
MUST_USE static inline bool exchange_rouse(struct exchange *exchange)
{
    return !exchange_is_resting(exchange) || exchange->on_rouse(exchange);
}

static inline bool exchange_is_done(const struct exchange *exchange)
{
    return !exchange->pending && response_is_done(&exchange->response);
}

static inline bool exchange_is_secure(const struct exchange *exchange)
{
    return exchange->tls;
}

/* Whether the kernel can move bytes to the client by itself, out of pipes and
 * mapped files. Otherwise the server reads them first, and a page that a
 * mapping has lost meanwhile would raise SIGBUS. */
static inline bool exchange_can_splice(const struct exchange *exchange)
{
    return !exchange->tls;
}

/* The request's id; empty: it has none. */
static inline struct bytes exchange_request_id(const struct exchange *exchange)
{
    return (struct bytes){exchange->id_line + EXCHANGE_ID_AT, exchange->id_len};
}

/* Tells whoever serves the exchange that there may be more of its response, or
 * room in its sink, which is looked at later. Harmless when the exchange does
 * not wait. */
static inline void exchange_wake(struct exchange *exchange)
{
    exchange->on_wake(exchange);
}

#endif
