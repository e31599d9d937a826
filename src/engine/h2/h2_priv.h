/*
 * h2_priv - what the files of HTTP/2 share. Each file calls only those listed
 * below it:
 *
 *   h2.c           the functions of the protocol table: reading, limits, end
 *   h2_receive.c   takes frames of all types
 *   h2_limits.c    limits of time: how long the connection waits for anything
 *   h2_head.c      HEADERS and CONTINUATION: streams begin
 *   h2_data.c      DATA: passes bodies of requests on to their sinks
 *   h2_credit.c    decides when windows of bodies open again
 *   h2_windows.c   decides how large windows of bodies become
 *   h2_settings.c  SETTINGS, WINDOW_UPDATE, PRIORITY_UPDATE, PING
 *   h2_send.c      hands the plan to the transport
 *   h2_plan.c      plans what is framed in one go: control frames and streams
 *   h2_frame.c     frames HEADERS and DATA of a stream
 *   h2_answer.c    takes exchanges from their head to the heap, and ends them
 *   h2_rest.c      memory of exchanges, of which waiting ones have less
 *   h2_bid.c       the bytes by which the scheduler orders the connection
 *   h2_stream.c    streams: their table, their heap, and lists to wait in
 *   h2_control.c   frames of the connection itself, and its end
 *   h2_abuse.c     budgets against rapid reset and other floods; the kinds of
 *                  abuse are in observe/stats_http2.h
 */
#ifndef ENGINE_H2_H2_PRIV_H
#define ENGINE_H2_H2_PRIV_H

#include "engine/h2/h2.h"
#include "engine/input_priv.h"
#include "http/http2/http2_frame.h"
#include "http/http2/http2_request.h"
#include "http/priority.h"
#include "observe/stats_http2.h"

enum {
    H2_STREAMS_MAX = 100, /* most open streams (RFC 9113 6.5.2) */
    /* The most streams of a connection that have an exchange, not counting
     * extra exchanges. Of other open streams only the heads are kept, until an
     * exchange is free: so a hundred streams cost no more than 256 KiB. */
    H2_LIVE_MAX = 40,
    /* The most bytes of a connection's exchanges, their field tables, the
     * heads, and the memory of answers outside of exchanges, added up. With
     * long heads fewer than H2_LIVE_MAX streams have an exchange. */
    H2_LIVE_BYTES_MAX = 163840,
    /* Most bytes of all streams of a client that has had no answer yet. A
     * stream that is proxied needs roughly H2_PROXIED_BYTES beside its
     * exchange. */
    H2_BYTES_MAX = 229376,
    H2_PROXIED_BYTES = 960,
    /* The most extra exchanges of all connections of a worker together. A
     * connection gets extra ones when its other exchanges only wait for an
     * upstream server. Without extra ones, answers that never end would use up
     * H2_LIVE_MAX. An extra exchange costs some 2 KiB, since waiting exchanges
     * give memory back (h2_rest.c). */
    H2_EXTRA_MAX = 4096,
    H2_TEXT_BYTES_MAX = 98304, /* most bytes of heads that are not extra */
    /* Most extra bytes of heads of all connections of a worker together. Only
     * clients that have had an answer get extra bytes. They need them, because
     * long cookies come with every request. */
    H2_EXTRA_TEXT_BYTES_MAX = 8388608,
    /* A connection gets at most 1 / H2_EXTRA_TEXT_PART of the extra bytes that
     * other connections have left. So some are always left. */
    H2_EXTRA_TEXT_PART = 8,
    /* Texts of heads are stored in pooled blocks of 1 to H2_TEXT_POOLS times
     * this many bytes, less one word, which malloc() adds. Longer texts are
     * allocated singly. */
    H2_TEXT_STEP = 64,
    H2_TEXT_POOLS = 8,
    /* Most bytes of other servers that the answers of a connection hold before
     * their turns: as many as two answers are read at once by default
     * (--proxy-buffer). With one of them two long downloads cost more CPU time
     * than without any bound. A connection with more than H2_LIVE_MAX streams
     * reads nothing ahead. */
    H2_STOCK_BYTES_MAX = 147456,
    H2_STREAM_WINDOW = HTTP2_WINDOW_DEFAULT, /* the window for a body */
    /* The first window for all bodies of a connection. It bounds their
     * memory. */
    H2_CONN_WINDOW = 196607,
    H2_STREAM_WINDOW_MAX = 1048576, /* largest window for a body */
    /* The most bytes by which all windows of a worker, together, may grow. */
    H2_GROWN_BYTES_MAX = 33554432,
    /* Most bytes of a head that comes in several frames. */
    H2_BLOCK_BYTES_MAX = 32768,
    H2_BLOCK_PIECES_MAX = 8, /* most frames of a head */
    H2_CONTROL_BYTES_MAX = 65536,
    /* While so many control bytes are unsent, nothing more is read. */
    H2_CONTROL_BYTES_REST = 32768,
    /* How many bytes are framed in one go. A single head, which is the longest
     * text to be encoded, may exceed this. */
    H2_PLAN_BYTES = 131072,
    H2_PLAN_TEXT = 2 * H2_PLAN_BYTES + 4096,
    H2_SEGMENTS_MAX = 256,
    /* The least bytes in a frame, unless it is the last of its stream or the
     * window is small. */
    H2_FRAME_MIN = 1024,
    /* The server remembers which of the last H2_RESETS_KEPT streams were reset,
     * because frames for them may still be under way. */
    H2_RESETS_KEPT = 1024,
    H2_GOODBYE_MS = 1000, /* longest time from the first to the second GOAWAY */
    /* The next four are explained in h2_bid.c. A larger answer is not a file of
     * a page. */
    H2_PAGE_FILE = 262144,
    /* When a page has so many files, the next file begins another page. */
    H2_PAGE_FILES = 128,
    /* A file's bid counts as at least this, so smaller bids go before any
     * page. */
    H2_PAGE_BID_MIN = 8192,
    /* A file's bid counts as at most so many times the mean bid of the page. */
    H2_PAGE_TIMES = 4,
    H2_UNSENT_MAX = 65536 /* most unsent bytes in a socket */
};

struct h2;

struct h2_stream {
    struct list list_node;  /* in h2->streams */
    struct list wait_node;  /* in h2->parked, in h2->shut, or in no list */
    struct heap_node ready; /* in h2->ready */
    struct sched_item place;
    /* The value of h2->turns when the stream arrived, had a frame or ended its
     * turn, whichever was last. It orders streams of equal key. */
    uint64_t turn;
    uint64_t had;   /* bytes of its answer's body framed in this turn */
    uint64_t bid;   /* bytes that it bids for its connection: h2_bid.c */
    uint64_t order; /* its place in the client's order: h2_stream.c */
    struct h2 *h2;
    struct exchange *exchange; /* NULL while parked, or when ended */
    /* The exchange's room; NULL while the exchange rests (h2_rest.c). */
    struct exchange_room *room;
    char *text; /* the text of its head (http2_request.h) */
    char *held; /* body bytes that wait for the sink */
    uint32_t held_at;
    uint32_t held_len;
    uint32_t text_len;
    uint32_t id;
    int32_t window;         /* the client's window, for the answer */
    int32_t receive_window; /* our window, for the request's body */
    uint32_t receive_size;  /* the full size of receive_window */
    uint32_t credit; /* body bytes taken, but not given back to our window */
    uint32_t unsent; /* bytes framed, but not sent */
    uint32_t beside; /* memory of its answer outside of its room, in bytes */
    uint64_t content_length;
    uint64_t received;   /* bytes of the request's body so far */
    uint64_t bytes_in;   /* bytes of its frames, their heads included */
    uint64_t read_ns;    /* when its head was read */
    uint64_t shut_at_ms; /* when its window shut; 0: it is open */
    uint64_t shut_ms;    /* how long, in all, its window was shut before */
    uint64_t body_since_ms;
    struct priority priority;
    uint8_t reason; /* why it will be refused when it has an exchange */
    bool has_length;
    bool has_ended;    /* the client has sent all of its request */
    bool awaits_body;  /* its handler wants the whole body first */
    bool is_uploading; /* its body is read while it is answered */
    bool discards;     /* the rest of its body is thrown away */
    bool wants_socket; /* it asks for a WebSocket (RFC 8441) */
    bool is_tunnel;
    bool is_put;         /* it has an answer, complete or pending */
    bool is_waiting;     /* its handler has nothing more to send for now */
    bool has_head;       /* HEADERS are framed */
    bool has_data;       /* so are bytes of the body */
    bool has_half_ended; /* the server has sent END_STREAM, the client has
                            not */
    bool is_framed;      /* all of the answer is framed, END_STREAM too */
    bool has_priority;   /* the server has set its priority */
    bool is_gone;       /* it was given up, but framed bytes of it are unsent */
    bool is_live;       /* it has one of the H2_LIVE_MAX exchanges */
    bool is_idle;       /* it is live, and waits for its handler */
    bool is_extra;      /* it is live, and counts in H2_EXTRA_MAX */
    bool is_extra_text; /* its head counts in H2_EXTRA_TEXT_BYTES_MAX */
    bool is_of_page;    /* its bid counts in page_bytes: h2_bid.c */
};

/* Bytes to be sent that belong to one frame. */
struct h2_segment {
    struct h2_stream *stream; /* NULL: a frame of the connection */
    const char *memory;       /* NULL: the bytes are in fd, a file or a pipe */
    uint64_t offset;
    int fd;
    uint32_t len;
    uint8_t kind;   /* enum part_kind */
    bool is_text;   /* `memory` is in the plan's text */
    bool is_answer; /* these bytes count in the response's bytes_sent */
};

/* Bytes of a file that were read before their frames are made. In the plan's
 * text they lie where the payloads of these frames will be, provided that no
 * other frame is made first. The next payload begins at `text`. */
struct h2_ahead {
    const struct h2_stream *stream; /* whose file it is; NULL: nothing was read
                                       ahead */
    const char *text;
    uint64_t offset;
    uint64_t len;
};

/* What is sent next, in order. */
struct h2_plan {
    struct h2_ahead ahead;
    uint64_t bytes; /* unsent bytes: those of the segments from `at` on */
    unsigned at;
    unsigned count;
    size_t text_len;
    struct h2_segment segments[H2_SEGMENTS_MAX];
    char text[H2_PLAN_TEXT];
};

/* What all HTTP/2 sessions of one worker share. */
struct h2_context {
    struct pool sessions;
    struct pool streams;
    struct pool exchanges; /* EXCHANGE_LEAN_BYTES each */
    struct pool rooms;
    struct pool texts[H2_TEXT_POOLS];
    struct hpack_encoder *encoder;
    struct buf block;     /* a header block that is being made */
    uint64_t grown_bytes; /* by how much all windows have grown: h2_windows.c */
    uint32_t extra_count; /* number of extra exchanges: h2_answer.c */
    uint32_t extra_text_bytes;
    int64_t date_s; /* the time in `date`, in seconds */
    size_t date_len;
    char date[96]; /* the Date field, encoded for HTTP/2 */
    struct http2_head head;
    struct h2_plan plan;
};

/* The part of a plan that the socket did not take; see h2_send.c. */
struct h2_rest;

struct h2_budget {
    uint32_t level; /* how full the bucket is, in 1/1024 */
    uint32_t since_ms;
    uint32_t count; /* frames counted by h2_spend_beside() so far */
};

/* The priority that the client gave a stream still to come. */
struct h2_update {
    uint32_t id;
    struct priority priority;
};

struct h2_settings {
    int32_t window;     /* the window with which new streams begin */
    bool is_said;       /* the first SETTINGS frame has come */
    bool no_priorities; /* what that frame says of the priorities of RFC 7540 */
};

/* A connection that speaks HTTP/2. */
struct h2 {
    struct session *session;
    struct h2_context *context;
    struct hpack_decoder *decoder;
    struct input *input;
    struct list streams; /* all streams, in order of arrival */
    struct list parked;  /* streams that wait for an exchange, by wait_node */
    struct list shut;    /* streams that wait for a window, by wait_node */
    struct heap ready;
    struct exchange_stock stock;
    struct h2_stream *bidder; /* the stream with the smallest bid: h2_bid.c */
    uint64_t page_bytes;      /* the sum of the page's bids: h2_bid.c */
    uint32_t page_files;      /* files of the page, complete ones included */
    struct buf control;       /* frames that go before all streams */
    struct buf block;         /* a head that comes in several frames */
    struct h2_rest *rest;
    struct h2_settings client;
    struct http2_frame frame; /* the frame being read, when in_frame */
    uint32_t left;            /* bytes of the frame still to come */
    uint32_t padding;         /* the part of `left` that is padding */
    uint32_t continued;       /* stream whose head is being read; 0: none */
    uint32_t pieces;          /* number of frames of this head so far */
    uint8_t continued_flags;
    bool has_preface;
    bool has_settings;
    bool is_ordered;  /* streams go in the client's order: h2_stream.c */
    bool in_frame;    /* a DATA frame has begun */
    bool has_block;   /* a header block was framed before */
    bool is_sending;  /* the connection has been told that it SENDS */
    bool is_at_work;  /* a call from the connection is running */
    bool is_ready;    /* an exchange was woken after the last h2_send() */
    bool has_room;    /* some sink has room again */
    bool wants_stock; /* a stream in `shut` waits with the head of its answer */
    bool has_ended;   /* the client sends no more, but may still receive */
    bool is_over;     /* no input is taken; remaining output is sent */
    bool says_goodbye;  /* the first GOAWAY was sent */
    bool has_said_last; /* the second GOAWAY was sent, with last_allowed */
    bool is_trusted;    /* the last stream began on trust: h2_abuse.c */
    bool is_known;      /* a head of an answer has been framed */
    uint32_t last_id;   /* the client's latest stream */
    /* A bit for each of the last 64 ids, the lowest for last_id; 1: the client
     * has opened this stream. */
    uint64_t used;
    uint32_t last_allowed;
    uint32_t stream_count;
    uint32_t live_count;
    uint32_t idle_count;       /* number of live streams that wait for
                                  handlers */
    uint32_t text_bytes;       /* bytes of heads that are not extra */
    uint32_t extra_text_bytes; /* bytes of heads that are extra */
    /* Bytes of the field tables of exchanges. A resting exchange has no
     * table. */
    uint32_t table_bytes;
    /* Bytes of answers outside of their rooms, not counting exchanges that wait
     * for their handlers. */
    uint32_t beside_bytes;
    int64_t window;      /* the client's window for all answers */
    int64_t window_then; /* if has_ended: the value of `window` at silent_ms */
    uint64_t silent_ms;  /* if has_ended: when there was last progress */
    int32_t receive_window;
    uint32_t receive_size;
    uint32_t credit;
    /* Bytes of bodies that sinks have taken and still keep. For these bytes the
     * window does not open yet (h2_credit.c). */
    uint32_t owed;
    /* The size that the windows of streams get when they next open. */
    uint32_t body_window;
    /* While is_measuring: bytes of bodies that came since the PING was sent. */
    uint32_t measured;
    uint32_t measure_rest; /* pieces of bodies that come before the next PING */
    uint32_t measure_pause; /* the number from which measure_rest last counted
                               down */
    bool is_measuring;
    uint64_t turns;      /* counts turns of streams */
    uint64_t goodbye_ms; /* when the first GOAWAY was sent */
    uint64_t until_ms;   /* deadline for the next request */
    /* Deadline for the rest of a frame or head that has begun; 0: none has. */
    uint64_t head_until_ms;
    uint64_t look_ms; /* when all streams are looked at next; 0: not set */
    uint32_t limited; /* session->requests when until_ms was set */
    uint64_t sent;    /* bytes sent since output began, for send_rate_min */
    uint64_t bytes_in;
    uint64_t bytes_out; /* bytes of control frames made so far */
    uint64_t payload;   /* bytes of heads and bodies, in and out */
    uint32_t answers;   /* answers that were sent whole */
    /* How often the client has reset a stream that was gone already. */
    uint32_t late_resets;
    /* A bit for each recent stream, at id / 2; 1: the stream was reset. */
    uint32_t resets[H2_RESETS_KEPT / 32];
    /* The last stream that was reset when it was too old for a bit in
     * `resets`. */
    uint32_t old_reset;
    /* Room for H2_STREAMS_MAX priorities of streams still to come; NULL: none
     * came. */
    struct h2_update *updates;
    uint32_t update_count;
    uint32_t work;    /* work since the last read: h2_abuse.c */
    uint32_t charged; /* the part of work that was for abuses */
    uint32_t trust;   /* how many streams may begin without counting as work */
    uint64_t costly_until_ms; /* the client is costly until this time */
    struct h2_budget budgets[STATS_HTTP2_ABUSE_COUNT];
};

struct h2_session {
    struct session session;
    struct h2 *h2; /* NULL when there was no memory */
};

static inline struct h2 *h2_of(const struct session *session)
{
    return OWNER_OF(session, struct h2_session, session)->h2;
}

/* Notes whether a live stream waits for its handler. Keeps idle_count and
 * beside_bytes up to date. */
static inline void h2_stream_set_idle(struct h2_stream *stream, bool is_idle)
{
    struct h2 *h2 = stream->h2;

    if (is_idle == stream->is_idle)
        return;
    h2->idle_count += is_idle ? 1 : UINT32_MAX;
    h2->beside_bytes += is_idle ? -stream->beside : stream->beside;
    stream->is_idle = is_idle;
}

static inline uint64_t h2_now_ms(const struct h2 *h2)
{
    return h2->session->context->now->mono_ms;
}

/* Whether answers of other servers may be read before their turns. */
static inline bool h2_reads_ahead(const struct h2 *h2)
{
    return exchange_stock_room(&h2->stock) > 0;
}

/* --- h2_abuse.c ---------------------------------------------------------- */

/* Counts one more frame or event of the abuse `kind`. Returns false when there
 * were too many of them; then the connection is over. */
MUST_USE bool h2_spend(struct h2 *h2, enum stats_http2_abuse kind);

/* Counts one more frame of a kind that accompanies payload, such as a window
 * update. Such frames are free in proportion to the payload. Returns false as
 * h2_spend() does. */
MUST_USE bool h2_spend_beside(struct h2 *h2, enum stats_http2_abuse kind);

/* Checks that the frames so far contained enough payload. Returns false when
 * they did not; then the connection is over. */
MUST_USE bool h2_is_worth_it(struct h2 *h2);

/* h2_has_had_turn() tells whether so much work was done since the last read
 * that other connections go first. h2_was_charged() tells whether much of this
 * work was for abuses. */
bool h2_has_had_turn(const struct h2 *h2);
bool h2_was_charged(const struct h2 *h2);

/* Notes that a stream begins. The stream counts as work, unless earlier answers
 * have earned the client enough trust. */
void h2_note_stream(struct h2 *h2);

/* Notes that the stream's answer comes later, from an upstream server, say. */
void h2_note_pending(struct h2 *h2);

/* Notes that the fields of a head or trailer were decoded: `bytes` bytes in
 * `lines` lines. */
void h2_note_list(struct h2 *h2, uint64_t bytes, unsigned lines);

/* Notes a frame that may be worth little, but does not count as abuse. */
void h2_note_small(struct h2 *h2);

/* Notes a short piece of a body that is passed on at once. */
void h2_note_piece(struct h2 *h2);

/* Notes a reset of a stream that is gone. Returns false when there were more
 * such resets than answers. Otherwise the stream may have been answered, and
 * the reset is no abuse: many clients reset a stream whose answer came before
 * the end of its body. The trust that the answer has earned is taken back. */
MUST_USE bool h2_is_late_reset(struct h2 *h2);

/* Notes that an answer was sent whole. */
void h2_note_answer(struct h2 *h2, const struct response *response);

/* --- h2_control.c -------------------------------------------------------- */

void h2_put_frame(struct h2 *h2, const struct http2_frame *frame,
                  const char *payload);
void h2_put_settings(struct h2 *h2);
void h2_put_window(struct h2 *h2, uint32_t stream, uint32_t credit);
void h2_put_reset(struct h2 *h2, uint32_t stream, enum http2_error error);

/* Makes the connection send, as if advance() had returned SENDS. */
void h2_make_ready(struct h2 *h2);

/* Called when `stream` begins. Clears the reset bits of the streams after
 * last_id, up to and including `stream`. */
void h2_forget_resets(struct h2 *h2, uint32_t stream);

/* Whether the client has never opened `stream`, so that a frame for it is an
 * error (RFC 9113 5.1). Even ids are the server's, which opens no streams.
 * After the second GOAWAY, streams above last_id count as opened. */
bool h2_is_unheard_of(const struct h2 *h2, uint32_t stream);

/* Whether a frame for a stream that is gone is no error, because the client may
 * not know yet. This is so if the stream was reset lately, or came after the
 * last stream that the second GOAWAY allows. */
bool h2_may_be_under_way(struct h2 *h2, uint32_t stream);

/* Both end the connection: h2_fail() for an error of the client or the server,
 * h2_lose_calm() for an abuse of `kind`. */
void h2_fail(struct h2 *h2, enum http2_error error);
void h2_lose_calm(struct h2 *h2, enum stats_http2_abuse kind);

/* Both let the connection end when all streams that have begun are answered:
 * h2_say_goodbye() sends the first GOAWAY, and h2_say_last() sends the second,
 * a round trip later. */
void h2_say_goodbye(struct h2 *h2);
void h2_say_last(struct h2 *h2);

/* --- h2_stream.c --------------------------------------------------------- */

/* Opens a stream. Returns NULL when there is no memory. */
struct h2_stream *h2_stream_open(struct h2 *h2, uint32_t id);

/* Throws away the held bytes of the stream's body, so that the connection's
 * window opens again. */
void h2_stream_drop_held(struct h2_stream *stream);

/* Throws away the held bytes of the stream's body, and all bytes of the body
 * that are still to come. */
void h2_stream_discard(struct h2_stream *stream);

/* Frees a stream in any state, with the text of its head. */
void h2_stream_free(struct h2_stream *stream);

struct h2_stream *h2_stream_find(const struct h2 *h2, uint32_t id);

/* Counts the client's open streams. A stream that was given up is not open,
 * even while framed bytes of it are still unsent. */
uint32_t h2_stream_count_open(const struct h2 *h2);

/* Notes that `bytes` bytes of the stream's body were framed. This may end the
 * stream's turn. */
void h2_stream_note_turn(struct h2_stream *stream, uint32_t bytes);

/* Puts the stream into h2->ready, or into h2->shut when its window is shut. */
void h2_stream_ready(struct h2_stream *stream);

/* Takes the stream out of h2->ready and h2->shut. */
void h2_stream_rest(struct h2_stream *stream);

/* Returns what a stream has left to send, for the scheduler. */
struct candidate h2_stream_candidate(const struct h2_stream *stream);

/* Returns the first stream in h2->ready; NULL when h2->ready is empty. */
struct h2_stream *h2_stream_first(const struct h2 *h2);

/* Whether the stream's next bytes need a window that is shut. */
bool h2_stream_is_shut(const struct h2_stream *stream);

/* Puts streams back into h2->ready after a window has opened. */
void h2_stream_reopen_all(struct h2 *h2);

/* Does the same for streams that wait with the heads of their answers, once the
 * connection has no more than H2_LIVE_MAX streams. */
void h2_stream_offer_stock(struct h2 *h2);

/* --- h2_rest.c ----------------------------------------------------------- */

/* Takes memory for the text of a head. Returns NULL when there is none. */
char *h2_take_text(struct h2_context *context, size_t len);
void h2_give_text(struct h2_context *context, char *text, size_t len);

/* Gives the stream an exchange with a room; the caller fills it in. Returns
 * false when there is no memory. */
MUST_USE bool h2_take_exchange(struct h2_stream *stream);
void h2_give_exchange(struct h2_stream *stream);

/* Returns the bytes of the field tables of exchanges that do not wait for their
 * handlers. */
uint32_t h2_count_tables(const struct h2 *h2);

/* Called when the stream's exchange begins to wait for its handler. Lets the
 * exchange rest if more than H2_LIVE_MAX exchanges wait, or if a stream is
 * parked. When just H2_LIVE_MAX wait, lets all of them rest. */
void h2_save_room(struct h2_stream *stream);

/* Called when all that was framed of a stream has been sent, and its window is
 * shut. Lets the exchange rest if the connection has many streams. */
void h2_save_shut_room(struct h2_stream *stream);

/* Lets all waiting exchanges rest. Called when other streams need the
 * memory. */
void h2_save_all_rooms(struct h2 *h2);

/* Gives a resting exchange its room and its fields again. Returns false when
 * there is no memory. This is the callback on_rouse() of exchanges. */
bool h2_rouse(struct exchange *exchange);

/* --- h2_bid.c ------------------------------------------------------------ */

/* Called when the client has given a priority: from now on, the connection's
 * streams are sent in the client's order. */
void h2_heed_client(struct h2 *h2);

/* Begins the bid of a stream that has its answer, if the answer's length is
 * known. */
void h2_bid_begin(struct h2_stream *stream);

/* Returns the number of bytes by which the scheduler orders the connection,
 * which has a bidder. */
uint64_t h2_bid_bytes(const struct h2 *h2);

/* Spends `bytes` bytes of bids, since this many bytes of an answer of known
 * length were framed. */
void h2_bid_spend(struct h2 *h2, uint64_t bytes);

/* Drops the bid of a stream that is given up. */
void h2_bid_drop(struct h2_stream *stream);

/* Called when a stream is complete. Passes the rest of its bid on to a stream
 * that will send more bytes than its own bid has, if possible one whose bid is
 * 0. */
void h2_bid_pass_on(struct h2_stream *stream);

/* --- h2_answer.c --------------------------------------------------------- */

/* Handles a stream's complete head: asks the handler, or parks the stream until
 * there is an exchange. If `reason` is not REASON_NONE, the stream is refused
 * for that reason instead. */
void h2_begin(struct h2_stream *stream, enum reason reason);

/* Begins parked streams, as many as may have an exchange now. */
void h2_begin_parked(struct h2 *h2);

/* Asks the handler of a stream for its answer. Called when the whole body is
 * there, when there is no body, or when nobody wants the rest of the body. */
void h2_ask(struct h2_stream *stream);

/* Notes that the stream has an answer, complete or pending. If it has none,
 * because there was no memory, resets the stream. */
void h2_put(struct h2_stream *stream);

/* Makes a refusal the stream's answer. Returns false when another answer has
 * begun, or there is no memory. */
MUST_USE bool h2_refuse(struct h2_stream *stream, enum reason reason);

/* Logs and counts a stream whose whole answer was sent, and frees it. */
void h2_finish(struct h2_stream *stream);

/* Ends the stream without its whole answer. */
void h2_give_up(struct h2_stream *stream);

/* Gives up the stream, and tells the client by RST_STREAM. */
void h2_reset(struct h2_stream *stream, enum http2_error error);

/* Resets a stream, which may be gone already, because of an error of the
 * client. This counts as abuse. */
void h2_punish(struct h2 *h2, uint32_t id, enum http2_error error);

/* Gives up the streams whose requests the client will never complete. */
void h2_drop_unfinished(struct h2 *h2);

/* Gives up all streams. Returns true when there were some. */
bool h2_give_up_all(struct h2 *h2);

/* --- h2_frame.c ---------------------------------------------------------- */

/* Adds a segment of `len` bytes. They have been written behind the plan's text,
 * and are a part of this text from now on. */
void h2_add_text(struct h2_plan *plan, struct h2_stream *stream, size_t len,
                 bool is_answer);

/* Frames the head of the answer. Returns false when the stream is gone, or has
 * another answer now. */
bool h2_frame_head(struct h2_stream *stream);
void h2_frame_interim(struct h2_stream *stream, const struct answer *answer);

/* Frames one piece of the body, of about `room` bytes at most. Returns false
 * when the stream or the connection has ended. */
bool h2_frame_body(struct h2_stream *stream, uint64_t room);

/* Frames an empty DATA with END_STREAM, which ends the server's half of the
 * stream. */
void h2_frame_empty(struct h2_stream *stream);

/* Frames the end of the answer. The stream may be gone afterwards. */
void h2_frame_end(struct h2_stream *stream);

/* Returns false if the response's file has changed since its head was made. */
bool h2_is_intact(const struct response *response);

/* --- h2_plan.c ----------------------------------------------------------- */

/* Frames what goes next: about `budget` bytes, but at least one frame. */
void h2_plan_fill(struct h2 *h2, uint64_t budget);

/* --- h2_send.c ----------------------------------------------------------- */

struct candidate h2_candidate(const struct session *session);
enum sender_result h2_send(struct session *session, uint64_t budget,
                           uint64_t *sent_out);

/* Drops all framed bytes that were not sent. */
void h2_drop_rest(struct h2 *h2);

/* Whether there is anything to send now. */
bool h2_has_output(const struct h2 *h2);

/* --- h2_settings.c ------------------------------------------------------- */

void h2_take_settings(struct h2 *h2, const struct http2_frame *frame,
                      struct bytes payload);
void h2_take_window(struct h2 *h2, const struct http2_frame *frame,
                    struct bytes payload);
void h2_take_priority_update(struct h2 *h2, const struct http2_frame *frame,
                             struct bytes payload);
void h2_take_ping(struct h2 *h2, const struct http2_frame *frame,
                  struct bytes payload);

/* --- h2_windows.c -------------------------------------------------------- */

/* Notes that `len` bytes of the stream's body were taken or thrown away. Sends
 * a PING if it is time to measure the path. */
void h2_measure(struct h2 *h2, const struct h2_stream *stream, uint32_t len);

/* Takes the answer to a PING. Returns false when that PING was not sent to
 * measure. */
bool h2_end_measure(struct h2 *h2, const char payload[8]);

/* Called when the connection ends. Subtracts the growth of its windows from the
 * worker's grown_bytes. */
void h2_forget_windows(struct h2 *h2);

/* --- h2_credit.c --------------------------------------------------------- */

/* Gives `len` bytes of a body back to the windows of the connection and of
 * `stream`, which lets the client send more. If `stream` is NULL, only the
 * connection's window gets them. */
void h2_give_back(struct h2 *h2, struct h2_stream *stream, uint32_t len);

/* Gives back `len` bytes that the stream's sink has taken, as h2_give_back()
 * does. But if the sink keeps them, the connection's window gets them only when
 * the sink has ceased to keep them. */
void h2_give_taken(struct h2 *h2, struct h2_stream *stream, uint32_t len);

/* Gives bytes back to the connection's window: those that sinks have ceased to
 * keep, and those that were held for streams that are gone. */
void h2_settle_windows(struct h2 *h2);

/* --- h2_data.c ----------------------------------------------------------- */

/* Begins a DATA frame, whose payload follows. */
void h2_begin_data(struct h2 *h2, const struct http2_frame *frame);

/* Gives the DATA frame's padding, and the byte with the padding's length, back
 * to the windows, even if the padding was not read yet. */
void h2_give_padding(struct h2 *h2);

/* Takes some of the DATA frame's payload. */
void h2_take_data(struct h2 *h2, struct bytes data);

/* Ends the DATA frame, which is complete. */
void h2_end_data(struct h2 *h2);

/* Called when the client has sent all of the stream's body. The stream may be
 * gone afterwards. */
void h2_end_body(struct h2_stream *stream);

/* Gives held bytes of bodies to sinks that have room. */
void h2_feed(struct h2 *h2);

/* Whether the stream's body is awaited, and comes too slowly. */
bool h2_is_body_late(const struct h2_stream *stream);

/* --- h2_head.c ----------------------------------------------------------- */

void h2_take_headers(struct h2 *h2, const struct http2_frame *frame,
                     struct bytes payload);
void h2_take_continuation(struct h2 *h2, const struct http2_frame *frame,
                          struct bytes payload);

/* --- h2_limits.c --------------------------------------------------------- */

uint64_t h2_limit(struct session *session, enum session_wait wait);

/* Gives up streams that have waited too long for the client. */
void h2_look_at_streams(struct h2 *h2);

/* --- h2_receive.c -------------------------------------------------------- */

/* Takes all frames that have come. */
void h2_take_input(struct h2 *h2);

#endif
