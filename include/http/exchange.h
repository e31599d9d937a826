/*
 * exchange - one request and its response, from the first byte read to the
 * last byte sent.
 *
 * Thread: the worker of its connection.
 * Owns:   the response, the sink and what is pending. The request's views point
 *         into the connection's input buffer, which stays until the exchange is
 *         done. `peer` points to the connection's address, or to `client`.
 *
 * An exchange may rest while it waits for somebody else. A resting exchange has
 * no room for the request's fields and for the text of the response
 * (exchange_room). Its session decides when the exchange rests; pending.rest or
 * source.rests says whether it may.
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
 * monotonic clock; 0 while a stage has not been reached. */
struct exchange_times {
    uint64_t read_ns;  /* when the request's first byte was read */
    uint64_t ready_ns; /* when the request's last byte was read */
    uint64_t first_ns; /* when the kernel had the first byte of the answer */
    uint64_t last_ns;  /* when the kernel had the last byte of the answer */
};

struct tls;

enum answer_state {
    ANSWER_LATER,   /* nothing is to be sent before a wake */
    ANSWER_INTERIM, /* a 1xx is sent first; look again after that */
    ANSWER_READY    /* the response is made */
};

struct answer {
    enum answer_state state;
    unsigned status; /* set with ANSWER_INTERIM, like phrase and fields, which
                        are borrowed for the moment */
    struct bytes phrase;
    struct bytes fields;
};

/* The maker of an answer that comes later. */
struct pending {
    /* Looks for the answer. Before look() returns ANSWER_READY, the pending has
     * taken itself off the exchange. It may be gone then, or replaced by
     * another. */
    struct answer (*look)(struct pending *pending);
    void (*destroy)(struct pending *pending);
    /* Whether the exchange may rest from now on. The pending then calls
     * exchange_rouse() before it needs the request's fields or the response.
     * NULL: the exchange may not rest. */
    bool (*rest)(struct pending *pending);
    /* The answer comes in a moment, even if the client is gone. So a client
     * that has ended its side is still answered. Unset, the end of the client's
     * side means that nobody waits for the answer. */
    bool is_sure;
};

/* Takes the body of a request as the body comes in. */
struct sink {
    /* Takes the next piece of the body; `data` is a view for the call. Returns
     * false when the body is refused: the response has been made then, and
     * nothing more is read. */
    bool (*take)(struct sink *sink, struct bytes data);
    void (*destroy)(struct sink *sink);
    /* Called when a chunk of the body has announced its size, `bytes`. Returns
     * whether the sink would take that many. If not, the body is refused as if
     * `take` had returned false. NULL: the sink does not look ahead. */
    bool (*foresee)(struct sink *sink, uint64_t bytes);
    /* Called when the last byte of the body has come. NULL: the answer is asked
     * for after the body. If `end` is set, the answer is asked for at once, and
     * the body comes in beside the answer. In that case the handler itself has
     * to send a 100. And if `take` refuses the body, an answer under way goes
     * on, but its connection is closed afterwards. */
    void (*end)(struct sink *sink);
    /* With `end`: while is_full is set, nothing more is read. The sink clears
     * is_full and then calls exchange_wake(). `take` may set is_full and take
     * its data all the same. */
    bool is_full;
    /* With `end`: the most bytes that one call of `take` gets. The sink sets it
     * where it can pass bytes on without copying them. 0: as many as an
     * ordinary read brings. The sink may change it whenever it may change
     * is_full. */
    size_t takes_at_once;
    /* Called when the client of a tunnel has ended its side while is_full is
     * set. Only bytes that have come but were not read yet will follow. There
     * may be several such calls. NULL: the sink does not look ahead. */
    void (*foresee_end)(struct sink *sink);
    /* Returns how many bytes of the body lie in the sink's memory. Bytes that
     * the sink can neither pass on nor forget do not count. NULL: the sink
     * keeps no bytes. */
    size_t (*kept)(const struct sink *sink);
    /* With `kept`: called when the client's bodies together have used up their
     * memory; is_eased was set just before. While is_eased is set, the sink
     * passes its bytes on as soon as it can and keeps no copies, and it calls
     * exchange_wake() when it has fewer bytes. */
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
    struct bytes name;  /* borrowed until on_done; empty: none */
    unsigned status;    /* status of the server's reply; 0: there was none */
    uint64_t asked_ns;  /* when a connection to it was asked for */
    uint64_t opened_ns; /* when the connection was there; 0: it never was */
    uint64_t first_ns;  /* when the reply's head was whole; 0: it never was */
    uint64_t last_ns;   /* when the reply's last byte was read, or the reply was
                           given up; 0: not yet */
};

struct exchange;

/* The least room of a stock for which it pays to read ahead. */
enum { EXCHANGE_STOCK_LEAST = 16384 };

/*
 * What the answers of one connection hold, all together, of the bytes that
 * other servers have sent and the client has not taken. While there is no room
 * for more, a handler holds its exchange back: it leaves further bytes in the
 * other server's socket, sets is_held_back, and wakes the exchange. It reads
 * them when the answer has its turn: when its pending is looked at, or its
 * source is pulled. So whatever the client takes next can be read, whoever
 * holds the stock.
 */
struct exchange_stock {
    size_t bytes; /* bytes of memory that the answers hold */
    size_t bytes_max;
    /* The most bytes that a handler reads in the turn of its answer; 0: as many
     * as the stock has room for. */
    size_t at_most;
    /* The last exchange that has read by at_most, while it holds bytes. */
    struct exchange *holder;
    /* Ends the rest of an exchange of the connection (exchange_rouse()). */
    bool (*on_rouse)(struct exchange *exchange);
};

/* Returns how many bytes may be read ahead. */
static inline size_t exchange_stock_room(const struct exchange_stock *stock)
{
    return stock->bytes + EXCHANGE_STOCK_LEAST <= stock->bytes_max
               ? stock->bytes_max - stock->bytes
               : 0;
}

/* The part of an exchange that a resting exchange does without. */
struct exchange_room {
    struct response_room response;
    struct field fields[REQUEST_FIELDS_FEW];
};

struct exchange {
    struct list list_node; /* in its session's pipeline, in order of arrival */
    const struct address *peer; /* who asks, as far as trusted proxies tell */
    const struct address *neighbour; /* who is connected */
    struct address client; /* the client that a proxy has named; see `peer` */
    struct priority_said priority; /* set by the place's rules; read when the
                                      answer begins to wait for its turn */
    void (*on_wake)(struct exchange *exchange); /* private */
    void *session;                              /* private */
    const struct tls
        *tls; /* the connection's TLS (io/tls/tls); NULL: the exchange comes in
                 clear text */
    struct exchange_stock *stock; /* of its connection; may be NULL */
    /* --- All members from here to `pending` begin as zero. */
    struct exchange_times times;
    uint64_t bytes_in;   /* bytes of the request, as read */
    uint64_t body_bytes; /* decoded bytes of the request's body so far */
    uint64_t body_max;   /* most bytes of a body that comes beside an answer; a
                            longer body gets a 413; 0: no limit */
    /* Called with on_done_object when the exchange is over, after everything
     * else. It gives back what the exchange has borrowed. NULL: there is
     * nothing to give back. */
    void (*on_done)(void *object);
    void *on_done_object;
    bool has_begun; /* the place let the request in before its body came */
    /* The handler refuses the body of the request, whatever the method; its
     * answer says why. */
    bool refuses_body;
    /* The connection began with a PROXY header, which named `neighbour`. */
    bool is_introduced;
    bool wants_id;       /* the log shows the exchange's id (trace.h) */
    bool wants_upstream; /* the log shows `upstream`, which is to be filled */
    uint8_t id_len;      /* length of the id; 0: there is none */
    /* Set with the head of a 101, if response.persists. From then on `sink`
     * gets all that the client sends, raw; sink->end is called when the client
     * has ended. */
    bool is_tunnel;
    /* The response has ended, but the client may go on sending. */
    bool is_half_closed : 1;
    bool is_held_back : 1;   /* see struct exchange_stock */
    struct sink *sink;       /* takes the body; NULL: the body is thrown away */
    struct pending *pending; /* makes the answer later; NULL: it is made now */
    /* --- */
    struct path path; /* the clean path, for a handler chosen by path */
    struct exchange_upstream upstream;
    struct buf head_copy; /* private; `response` may refer to it */
    struct response response;
    struct request request;
    char id_line[EXCHANGE_ID_AT + EXCHANGE_ID_MAX + 2]; /* with its CRLF */
    struct exchange_room room; /* not allocated if another room is lent */
};

/* The size of an exchange that has no room of its own (exchange_side.room). */
enum { EXCHANGE_LEAN_BYTES = offsetof(struct exchange, room) };

/* The side that serves an exchange. */
struct exchange_side {
    const struct address *peer; /* who is connected */
    bool is_introduced;         /* as in struct exchange, like the next two */
    bool wants_id;
    bool wants_upstream;
    bool wants_head;            /* response.head_copy gets the head */
    struct exchange_room *room; /* lent; NULL: the exchange has its own */
    void (*on_wake)(struct exchange *exchange);
    void *session;
    const struct tls *tls;
    /* What the exchanges of this connection share. NULL: they never rest, and
     * handlers never hold them back. */
    struct exchange_stock *stock;
};

/* Makes a table for request.many, to be freed by free(3). Returns NULL when
 * memory is short. */
MUST_USE struct field *exchange_make_fields(void);

/* Returns how many bytes of memory the exchange holds, without bodies. */
size_t exchange_bytes(const struct exchange *exchange);

/* Fills in all members of the exchange but the request. */
static inline void exchange_init(struct exchange *exchange,
                                 const struct exchange_side *side)
{
    struct exchange_room *room = side->room ? side->room : &exchange->room;

    list_init(&exchange->list_node);
    exchange->peer = exchange->neighbour = side->peer;
    exchange->on_wake = side->on_wake;
    exchange->session = side->session;
    exchange->tls = side->tls;
    exchange->stock = side->stock;
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

/* Gives up the answer that was to come later, because another one is made. */
void exchange_drop_pending(struct exchange *exchange);

/* Takes the sink off, since the handler that wanted the body will not answer.
 * The rest of the body is thrown away. Not to be called while sink->take()
 * runs. */
void exchange_drop_sink(struct exchange *exchange);

static inline bool exchange_is_resting(const struct exchange *exchange)
{
    return !response_has_room(&exchange->response);
}

/* Ends the exchange's rest, because all of the exchange is needed. Returns
 * false when memory is short; the exchange still rests then. */
MUST_USE static inline bool exchange_rouse(struct exchange *exchange)
{
    return !exchange_is_resting(exchange) ||
           exchange->stock->on_rouse(exchange);
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
 * mapped files. Over TLS the server has to read the bytes itself, and reading a
 * mapped page that the file has lost meanwhile would raise SIGBUS. */
static inline bool exchange_can_splice(const struct exchange *exchange)
{
    return !exchange->tls;
}

/* Returns the request's id; empty when it has none. */
static inline struct bytes exchange_request_id(const struct exchange *exchange)
{
    return (struct bytes){exchange->id_line + EXCHANGE_ID_AT, exchange->id_len};
}

/* Whether a handler may read ahead of the answer's turn. */
static inline bool exchange_reads_ahead(const struct exchange *exchange)
{
    return !exchange->stock || exchange_stock_room(exchange->stock) > 0;
}

/* Notes that the exchange's answer holds `after` bytes of memory now, and no
 * longer `before`. */
static inline void exchange_note_stock(struct exchange *exchange, size_t before,
                                       size_t after)
{
    struct exchange_stock *stock = exchange->stock;

    if (!stock)
        return;
    stock->bytes += after - before;
    if (after > before && stock->at_most > 0)
        stock->holder = exchange;
    else if (after == 0 && stock->holder == exchange)
        stock->holder = NULL;
}

/* Tells the session that serves the exchange that there may be more of the
 * response, or room in the sink. The session looks later. The call is harmless
 * when the exchange does not wait. */
static inline void exchange_wake(struct exchange *exchange)
{
    exchange->on_wake(exchange);
}

#endif
