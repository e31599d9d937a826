/*
 * exchange - one request and its response, from the first byte read to the
 * last byte sent.
 *
 * Thread: the worker of its connection.
 * Owns:   the response, the sink and what is pending. The request's views point
 *         into the connection's input buffer, which stays until the exchange is
 *         done; peer is the connection's, or client.
 *
 * An exchange may rest while somebody else is waited for: the room is gone then
 * that the request's fields lie in, and what the response is written into. Its
 * session says when; its pending whether, or its source (pending.rest,
 * source.rests).
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
    unsigned status; /* of ANSWER_INTERIM, as phrase and field lines, which
                            are borrowed for the moment */
    struct bytes phrase;
    struct bytes fields;
};

/* The maker of an answer that comes later. */
struct pending {
    /* Looks for the answer. Before ANSWER_READY the pending has taken itself
     * off the exchange, and may be gone; another may have taken its place. */
    struct answer (*look)(struct pending *pending);
    void (*destroy)(struct pending *pending);
    /* NULL: no. Whether the exchange may rest from now on: exchange_rouse() is
     * called before its request's fields, or its response, are needed. */
    bool (*rest)(struct pending *pending);
};

/* Takes the body of a request while it comes. */
struct sink {
    /* Takes some more of the body; data is a view for the call. False: no, and
     * the response has been made, which says why: nothing more is read. */
    bool (*take)(struct sink *sink, struct bytes data);
    void (*destroy)(struct sink *sink);
    /* NULL: it does not matter. Whether so many bytes more, which a chunk has
     * announced, would be taken when they come; false as of take. */
    bool (*foresee)(struct sink *sink, uint64_t bytes);
    /* NULL: the answer comes after the body. Else it is asked for at once, the
     * body goes on coming beside it, and this is called behind its last byte.
     * Then only the handler's answer can send a 100, and after a take that said
     * no the answer under way goes on, as the last. */
    void (*end)(struct sink *sink);
    /* With end: nothing more is read until it is false, and exchange_wake() was
     * called. It can be set by take, which has taken all the same. */
    bool is_full;
    /* With end: the sink takes up to so many bytes at once, and passes them on
     * from where they lie. 0: as many as a read brings otherwise. Set as
     * is_full is. */
    size_t takes_at_once;
    /* Called for a tunnel while is_full, perhaps again: nothing follows what
     * has not been read yet. NULL: it does not matter. */
    void (*foresee_end)(struct sink *sink);
    /* NULL: nothing waits in it for somebody else. How many bytes that it has
     * taken, and could go on, or be forgotten, are in memory. */
    size_t (*kept)(const struct sink *sink);
    /* With kept: its client's other bodies have no room any more. What it has
     * goes on as soon as it can, nothing is kept that has, and exchange_wake()
     * is called when that is less; as long as is_eased, which its caller has
     * set. */
    void (*ease)(struct sink *sink);
    bool is_eased;
};

enum {
    EXCHANGE_ID_MAX = 128,
    EXCHANGE_ID_AT = 14 /* behind "X-Request-Id: " */
};

/* The upstream server that was asked last for the answer; nanoseconds as
 * above. */
struct exchange_upstream {
    struct bytes name;  /* borrowed of what steward keeps; empty: none was */
    unsigned status;    /* of its reply; 0: there was none */
    uint64_t asked_ns;  /* when a connection was looked for */
    uint64_t opened_ns; /* when there was one; 0: there never was */
    uint64_t first_ns;  /* when the reply's head was whole; 0: it never was */
    uint64_t last_ns;   /* when the last of the reply was read, or nobody waited
                           for it any more; 0: not yet */
};

/* What an exchange has but while it rests. */
struct exchange_room {
    struct response_room response;
    struct field fields[REQUEST_FIELDS_FEW];
};

struct exchange {
    struct list list_node; /* in its session's pipeline, in order of arrival */
    const struct address *peer; /* who asks; as far as trusted proxies say */
    const struct address *neighbour; /* who is connected */
    struct address client; /* for whom, when a proxy says so: see peer */
    struct priority_said priority; /* of the answer, by the place: heeded
                                      when the answer begins to wait */
    void (*on_wake)(struct exchange *exchange);  /* private */
    bool (*on_rouse)(struct exchange *exchange); /* private */
    void *session;                               /* which serves it; private */
    const struct tls
        *tls; /* that it comes over (io/tls/tls), for those who know
                              what that is; NULL: it comes in clear text */
    /* --- from here on zero at first, up to sink */
    struct exchange_times times;
    uint64_t bytes_in;   /* of the request, as read */
    uint64_t body_bytes; /* of its body, decoded, as far as it has come */
    uint64_t body_max;   /* of a body beside its answer: more is 413; 0: any */
    /* Called last, when the exchange is done with: gives back whatever had to
     * outlive it. NULL: nothing had to. */
    void (*on_done)(void *object);
    void *on_done_object;
    bool has_begun; /* it was let in before its body came */
    /* The request's body is not wanted, and its answer says why: whatever the
     * method. */
    bool refuses_body;
    /* The PROXY protocol came first: neighbour is whom a proxy has named. */
    bool is_introduced;
    bool wants_id;       /* the log tells it: trace.h */
    bool wants_upstream; /* the log tells of it: whoever asks one fills it in */
    uint8_t id_len;      /* 0: nobody has named it */
    /* Set with the head of a 101, if response.persists: sink gets whatever the
     * client sends from now on, raw; end is called when that ends. */
    bool is_tunnel;
    /* The body's source has nothing more, but the client may go on sending. */
    bool is_half_closed;
    struct sink *sink;       /* NULL: bodies are thrown away */
    struct pending *pending; /* NULL: the response is made, or about to be */
    /* --- */
    struct path path; /* clean, while a handler that was chosen by it answers */
    struct exchange_upstream upstream;
    struct buf head_copy; /* private, while response refers to it */
    struct response response;
    struct request request;
    char id_line[EXCHANGE_ID_AT + EXCHANGE_ID_MAX + 2]; /* field and CRLF */
    struct exchange_room room; /* not there where another is lent */
};

/* Of an exchange that is lent its room. */
enum { EXCHANGE_LEAN_BYTES = offsetof(struct exchange, room) };

/* The side that serves an exchange. */
struct exchange_side {
    const struct address *peer; /* who is connected */
    bool is_introduced;         /* as of the exchange, and the next two */
    bool wants_id;
    bool wants_upstream;
    bool wants_head;            /* the response's is kept: response.head_copy */
    struct exchange_room *room; /* lent; NULL: it has one of its own */
    void (*on_wake)(struct exchange *exchange);
    /* Has an exchange that rests do so no more; false: no memory. NULL: none
     * rests. */
    bool (*on_rouse)(struct exchange *exchange);
    void *session;
    const struct tls *tls;
};

/* A table for request.many; NULL: no memory. Freed by free(3). */
MUST_USE struct field *exchange_make_fields(void);

/* What the exchange holds, without bodies. */
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

/* The answer is to be another than the one that was to come. */
void exchange_drop_pending(struct exchange *exchange);

/* The handler that wanted the body will not answer: what is missing of the body
 * is thrown away. It must not be called while the sink takes some. */
void exchange_drop_sink(struct exchange *exchange);

static inline bool exchange_is_resting(const struct exchange *exchange)
{
    return !response_has_room(&exchange->response);
}

/* Whoever has had the exchange rest needs all of it. False: no memory, and it
 * rests. */
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

/* Whether the kernel moves bytes to the client by itself, out of pipes and of
 * mapped files. Else they are looked at before, and pages of a mapping that are
 * lost meanwhile would be a SIGBUS. */
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
