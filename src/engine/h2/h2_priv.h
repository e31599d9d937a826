/*
 * h2_priv - what the files of HTTP/2 share. Each calls only those below it:
 *
 *   h2.c           reading, limits, the end: what the protocol's table names
 *   h2_receive.c   frames, whatever they are
 *   h2_limits.c    limits of time: for how long anything is waited for
 *   h2_head.c      HEADERS and CONTINUATION: streams begin
 *   h2_data.c      DATA: bodies of requests, and who takes them
 *   h2_credit.c    when windows of bodies open again
 *   h2_windows.c   how large they become
 *   h2_settings.c  SETTINGS, WINDOW_UPDATE, PRIORITY_UPDATE, PING, GOAWAY
 *   h2_send.c      what is planned, handed to the transport
 *   h2_plan.c      what is framed in one go, out of control and the heap
 *   h2_frame.c     HEADERS and DATA of a stream
 *   h2_answer.c    exchanges from their head to the heap, and their end
 *   h2_rest.c      exchanges' memory, of which those have less that wait
 *   h2_bid.c       what the connection bids for its turn
 *   h2_stream.c    streams: their table, heap, and places to wait
 *   h2_control.c   frames that are about the connection; its end
 *   h2_abuse.c      what clients may do too much of: rapid reset and other
 *                   floods, whose kinds stand in observe/stats_http2.h
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
    H2_STREAMS_MAX = 100, /* open at a time (RFC 9113 6.5.2) */
    /* How many of these have an exchange. The heads of the others are kept and
     * wait, so that a hundred streams cost no more than 256 KiB. */
    H2_LIVE_MAX = 40,
    /* Memory of these, of what their answers hold beside, and of all heads; long
     * heads make them fewer. */
    H2_LIVE_BYTES_MAX = 163840,
    /* Memory of all streams while the client has had no answer. A stream that
     * is proxied counts H2_PROXIED_BYTES beside its exchange, roughly. */
    H2_BYTES_MAX = 229376,
    H2_PROXIED_BYTES = 960,
    /* So many more exchanges may all connections of a worker have, where those
     * that they have only wait for an upstream server: else answers without an
     * end would take all places. Each is of some 2 KiB with what it waits for,
     * as those rest (h2_rest.c). */
    H2_EXTRA_MAX = 4096,
    H2_TEXT_BYTES_MAX = 98304, /* of the heads of a connection */
    /* So many more bytes of heads may all connections of a worker have whose
     * clients have had an answer: long cookies come with every request. */
    H2_EXTRA_TEXT_BYTES_MAX = 8388608,
    /* Each of them has this part at most of what the others leave, so that some
     * is always left. */
    H2_EXTRA_TEXT_PART = 8,
    /* Texts of heads lie in blocks of 1 to H2_TEXT_POOLS times so many bytes,
     * less malloc()'s word beside a block; longer ones in blocks of their
     * own. */
    H2_TEXT_STEP = 64,
    H2_TEXT_POOLS = 8,
    H2_STREAM_WINDOW = HTTP2_WINDOW_DEFAULT, /* for the body of a request */
    H2_CONN_WINDOW = 196607,        /* for all bodies, and so their memory */
    H2_STREAM_WINDOW_MAX = 1048576, /* largest after growth: h2_windows.c */
    H2_GROWN_BYTES_MAX = 33554432,  /* all growth of a worker's windows */
    H2_BLOCK_BYTES_MAX = 32768,     /* encoded head in several frames */
    H2_BLOCK_PIECES_MAX = 8,        /* frames of such a head */
    H2_CONTROL_BYTES_MAX = 65536,
    H2_CONTROL_BYTES_REST = 32768, /* with more, nothing is read for now */
    /* How much is framed in one go. A single head, which is the longest text to
     * be encoded, may go beyond it. */
    H2_PLAN_BYTES = 131072,
    H2_PLAN_TEXT = 2 * H2_PLAN_BYTES + 4096,
    H2_SEGMENTS_MAX = 256,
    H2_FRAME_MIN = 1024,  /* shorter only at an end, or for a small window */
    H2_UPDATES_KEPT = 16, /* priorities of streams still to come */
    /* Frames for a stream that was reset may still be under way. Of the last so
     * many streams it is known whether they were reset. */
    H2_RESETS_KEPT = 1024,
    H2_GOODBYE_MS = 1000,   /* longest time between both GOAWAYs */
    H2_PAGE_FILE = 262144,  /* a larger answer is no file of a page */
    H2_PAGE_FILES = 128,    /* more files are another page */
    H2_PAGE_BID_MIN = 8192, /* smaller bids go before any page */
    H2_PAGE_TIMES = 4,      /* a bid is at most so many means of its page */
    H2_UNSENT_MAX = 65536   /* bytes that lie unsent in the kernel */
};

struct h2;

struct h2_stream {
    struct list list_node;  /* in h2->streams */
    struct list wait_node;  /* in h2->parked, or h2->shut, or none */
    struct heap_node ready; /* in h2->ready */
    struct sched_item place;
    uint64_t turn;  /* h2->turns at its arrival, last frame or end of turn:
                       orders equals */
    uint64_t had;   /* bytes of its body in this turn */
    uint64_t bid;   /* in bytes, for its connection: h2_bid.c */
    uint64_t order; /* place in the client's order: h2_stream.c */
    struct h2 *h2;
    struct exchange *exchange;  /* NULL: it waits for one, or has ended */
    struct exchange_room *room; /* lent to exchange; NULL: that rests */
    char *text;                 /* its head; http/http2/http2_request.h */
    char *held;                 /* body bytes, while the sink is full */
    uint32_t held_at;
    uint32_t held_len;
    uint32_t text_len;
    uint32_t id;
    int32_t window;         /* of its answer */
    int32_t receive_window; /* window for the request's body */
    uint32_t receive_size;  /* receive_window when wide open */
    uint32_t credit;        /* body bytes to give back to the client */
    uint32_t unsent;        /* bytes framed, but not sent */
    uint32_t beside;        /* bytes its answer holds beside its room */
    uint64_t content_length;
    uint64_t received;   /* bytes of the body so far */
    uint64_t bytes_in;   /* bytes of its frames, as read */
    uint64_t read_ns;    /* when its head was read */
    uint64_t shut_at_ms; /* since when its window is shut; 0: it is not */
    uint64_t shut_ms;    /* how long it was shut before that */
    uint64_t body_since_ms;
    struct priority priority;
    uint8_t reason; /* enum reason: of a refusal that waits for its place */
    bool has_length;
    bool has_ended;    /* the client has sent all of its request */
    bool awaits_body;  /* its handler wants the whole body first */
    bool is_uploading; /* its body goes on beside the answer */
    bool discards;     /* the rest of its body is thrown away */
    bool wants_socket; /* it asks for a WebSocket (RFC 8441) */
    bool is_tunnel;
    bool is_put;         /* its answer is there, or comes by itself */
    bool is_waiting;     /* its handler has no more answer for now */
    bool has_head;       /* HEADERS are framed */
    bool has_half_ended; /* END_STREAM is sent, though the client goes on */
    bool is_framed;      /* all of the answer is framed, END_STREAM too */
    bool has_priority;   /* priority was said by client or handler */
    bool is_gone;        /* it was given up; the plan still has bytes of it */
    bool is_live;        /* it has one of the H2_LIVE_MAX exchanges */
    bool is_idle;        /* is_live, and it waits for its handler */
    bool is_extra;       /* is_live, and it is one of H2_EXTRA_MAX */
    bool is_extra_text;  /* its head counts in H2_EXTRA_TEXT_BYTES_MAX */
    bool is_of_page;     /* its bid counts in page_bytes: h2_bid.c */
};

/* Bytes to be sent that belong to one frame. */
struct h2_segment {
    struct h2_stream *stream; /* NULL: a frame of the connection */
    const char *memory;       /* NULL: bytes of fd, a file or a pipe */
    uint64_t offset;
    int fd;
    uint32_t len;
    uint8_t kind;   /* enum part_kind */
    bool is_text;   /* memory is the plan's */
    bool is_answer; /* counts in bytes_sent of the response */
};

/* Bytes of a file that were read for frames still to come. They lie where those
 * frames will, if nothing comes between: the next payload begins at text. */
struct h2_ahead {
    const struct h2_stream *stream; /* whose file; NULL: none were read */
    const char *text;
    uint64_t offset;
    uint64_t len;
};

/* What is to be sent next, in order. */
struct h2_plan {
    struct h2_ahead ahead;
    uint64_t bytes; /* of all segments from at on */
    unsigned at;
    unsigned count;
    size_t text_len;
    struct h2_segment segments[H2_SEGMENTS_MAX];
    char text[H2_PLAN_TEXT];
};

/* Shared by the sessions of one worker. */
struct h2_context {
    struct pool sessions;
    struct pool streams;
    struct pool exchanges; /* EXCHANGE_LEAN_BYTES each */
    struct pool rooms;
    struct pool texts[H2_TEXT_POOLS];
    struct hpack_encoder *encoder;
    struct buf block;     /* a header block that is being made */
    uint64_t grown_bytes; /* growth of all windows: h2_windows.c */
    uint32_t extra_count; /* how many extra exchanges: h2_answer.c */
    uint32_t extra_text_bytes;
    int64_t date_s; /* second that date is of */
    size_t date_len;
    char date[96]; /* Date, encoded */
    struct http2_head head;
    struct h2_plan plan;
};

/* The rest of a plan that the socket did not take. */
struct h2_rest;

struct h2_budget {
    uint32_t level; /* how full the bucket is, in 1/1024 */
    uint32_t since_ms;
    uint32_t count; /* frames counted by h2_spend_beside() */
};

/* The priority that was said of a stream still to come; id 0: none. */
struct h2_update {
    uint32_t id;
    struct priority priority;
};

struct h2_settings {
    int32_t window; /* of new streams */
    uint32_t frame_bytes;
};

/* A connection that speaks HTTP/2. */
struct h2 {
    struct session *session;
    struct h2_context *context;
    struct hpack_decoder *decoder;
    struct input *input;
    struct list streams; /* all streams, in order of arrival */
    struct list parked;  /* streams that wait for an exchange, by wait_node */
    struct list shut;    /* streams that wait for a window, likewise */
    struct heap ready;
    struct h2_stream *bidder; /* the stream with the least bid: h2_bid.c */
    uint64_t page_bytes;      /* unspent bids for files of the page */
    uint32_t page_files;      /* files of the page, complete ones included */
    struct buf control;       /* frames that go before all streams */
    struct buf block;         /* of a head that comes in pieces */
    struct h2_rest *rest;
    struct h2_settings client;
    struct http2_frame frame; /* being read, if in_frame */
    uint32_t left;            /* bytes of frame still to come */
    uint32_t padding;         /* how many of left are padding */
    uint32_t continued;       /* stream of the head being read; 0: none */
    uint32_t pieces;          /* frames of that head so far */
    uint8_t continued_flags;
    bool has_preface;
    bool has_settings;
    bool is_ordered;    /* streams go in the client's order: h2_stream.c */
    bool in_frame;      /* frame has begun: DATA, or one to skip */
    bool has_block;     /* a block was sent; the first has HPACK_NO_TABLE */
    bool is_sending;    /* the connection has been told that it SENDS */
    bool is_at_work;    /* a call of the connection is under way */
    bool is_ready;      /* something became ready outside of a call */
    bool has_room;      /* some sink has room again */
    bool has_ended;     /* the client sends no more, but may listen */
    bool is_over;       /* nothing more is read; what is left is sent */
    bool says_goodbye;  /* the first GOAWAY was sent */
    bool has_said_last; /* so was the second: last_allowed counts */
    bool is_trusted;    /* trust was left when the last stream began */
    bool is_known;      /* its client has had the head of an answer */
    uint32_t last_id;   /* the client's latest stream */
    uint64_t used;      /* bits: which ids from last_id down were opened */
    uint32_t last_allowed;
    uint32_t stream_count;
    uint32_t live_count;
    uint32_t idle_count;       /* of live_count, those that wait for handlers */
    uint32_t text_bytes;       /* of heads that do not count as extra */
    uint32_t extra_text_bytes; /* of those that do */
    uint32_t table_bytes;      /* fields of exchanges that do not rest */
    /* What answers hold beside their rooms, but for exchanges that wait for
     * handlers. */
    uint32_t beside_bytes;
    int64_t window;      /* the client's, for all answers */
    int64_t window_then; /* with has_ended: window at silent_ms */
    uint64_t silent_ms;  /* with has_ended: since when nothing could be sent */
    int32_t receive_window;
    uint32_t receive_size;
    uint32_t credit;
    uint32_t
        owed; /* body bytes that sinks have taken and keep: no credit yet */
    uint32_t body_window;   /* receive_size of new streams */
    uint32_t measured;      /* bytes of bodies, while is_measuring */
    uint32_t measure_rest;  /* pieces until measuring begins again */
    uint32_t measure_pause; /* how many measure_rest last began with */
    bool is_measuring;
    uint64_t turns;      /* counter for the turn of streams */
    uint64_t goodbye_ms; /* when the first GOAWAY was sent */
    uint64_t until_ms;   /* deadline for the next request */
    uint64_t
        head_until_ms; /* deadline for the rest of a frame; 0: none begun */
    uint64_t look_ms;  /* when to look at all streams; 0: not timed */
    uint32_t limited;  /* session->requests when until_ms was set */
    uint64_t sent;     /* bytes sent since output began: send_rate_min */
    uint64_t bytes_in;
    uint64_t bytes_out;                   /* of control frames */
    uint64_t payload;                     /* payload of frames, in and out */
    uint32_t answers;                     /* answers sent to their end */
    uint32_t late_resets;                 /* resets of streams that are gone */
    uint32_t resets[H2_RESETS_KEPT / 32]; /* a bit for each stream, at id / 2 */
    uint32_t old_reset;                   /* latest reset of an older stream */
    uint32_t update_at;
    struct h2_update updates[H2_UPDATES_KEPT];
    uint32_t work;    /* work done since the last read: h2_abuse.c */
    uint32_t charged; /* how much of work was for abuses */
    uint32_t trust;   /* streams that may begin without counting as work */
    uint64_t costly_until_ms; /* until when its client counts as costly */
    struct h2_budget budgets[STATS_HTTP2_ABUSE_COUNT];
};

struct h2_session {
    struct session session;
    struct h2 *h2; /* NULL: there was no memory */
};

static inline struct h2 *h2_of(const struct session *session)
{
    return OWNER_OF(session, struct h2_session, session)->h2;
}

/* Counts a live stream as one that waits, or not. */
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

/* --- h2_abuse.c ---------------------------------------------------------- */

/* Counts one more of kind. False: that is too many, and the connection is
 * over. */
MUST_USE bool h2_spend(struct h2 *h2, enum stats_http2_abuse kind);

/* Counts one more of a kind that accompanies payload, and is free in proportion
 * to that. False: as for h2_spend(). */
MUST_USE bool h2_spend_beside(struct h2 *h2, enum stats_http2_abuse kind);

/* Whether enough payload went to and fro. False: the connection is over. */
MUST_USE bool h2_is_worth_it(struct h2 *h2);

/* Whether so much was done for what was read that others have their turn;
 * h2_was_charged(): whether much of it cost more than it brought. */
bool h2_has_had_turn(const struct h2 *h2);
bool h2_was_charged(const struct h2 *h2);

/* Notes that a stream begins. A client that has had answers is trusted to want
 * more: its next requests do not count as work. */
void h2_note_stream(struct h2 *h2);

/* Notes that the stream's answer comes later, from somebody else. */
void h2_note_pending(struct h2 *h2);

/* Notes that a list of fields of so many bytes and lines was decoded. */
void h2_note_list(struct h2 *h2, uint64_t bytes, unsigned lines);

/* Notes a frame that may be worth little, and is counted as no abuse. */
void h2_note_small(struct h2 *h2);

/* Notes a short piece of a body that goes on to an upstream server. */
void h2_note_piece(struct h2 *h2);

/* A stream that is no more is reset. Whether it may be one that was answered:
 * that is no abuse, as many clients reset streams whose answer came before the
 * end of their body. But that answer earns no trust. */
MUST_USE bool h2_is_late_reset(struct h2 *h2);

/* Notes that an answer has been sent to its end. */
void h2_note_answer(struct h2 *h2, const struct response *response);

/* --- h2_control.c -------------------------------------------------------- */

void h2_put_frame(struct h2 *h2, const struct http2_frame *frame,
                  const char *payload);
void h2_put_settings(struct h2 *h2);
void h2_put_window(struct h2 *h2, uint32_t stream, uint32_t credit);
void h2_put_reset(struct h2 *h2, uint32_t stream, enum http2_error error);

/* Lets the connection send though it was not asked for a step, as if advance()
 * had returned SENDS. */
void h2_make_ready(struct h2 *h2);

/* Clears the reset bits behind last_id up to stream, which begins. */
void h2_forget_resets(struct h2 *h2, uint32_t stream);

/* Whether nobody can have opened a stream of that id: the server opens none
 * (RFC 9113 5.1). */
bool h2_is_unheard_of(const struct h2 *h2, uint32_t stream);

/* Whether the client may still send for a stream that is no more without being
 * wrong: it was reset lately, or is not answered as the connection ends. */
bool h2_may_be_under_way(struct h2 *h2, uint32_t stream);

/* Ends the connection because of an error, the client's or ours. */
void h2_fail(struct h2 *h2, enum http2_error error);
void h2_lose_calm(struct h2 *h2, enum stats_http2_abuse kind);

/* Ends the connection when all that has begun is answered: sends GOAWAY, and
 * again a round trip later. */
void h2_say_goodbye(struct h2 *h2);
void h2_say_last(struct h2 *h2);

/* --- h2_stream.c --------------------------------------------------------- */

/* Opens a stream. NULL: no memory. */
struct h2_stream *h2_stream_open(struct h2 *h2, uint32_t id);

/* Throws away what is held of the stream's body, which opens the connection's
 * window again. */
void h2_stream_drop_held(struct h2_stream *stream);

/* Throws away all that still comes of the stream's body. */
void h2_stream_discard(struct h2_stream *stream);

/* Frees a stream and the text of its head, in whatever state it is. */
void h2_stream_free(struct h2_stream *stream);

struct h2_stream *h2_stream_find(const struct h2 *h2, uint32_t id);

/* Notes that so many bytes of the body were framed; the turn may be over. */
void h2_stream_note_turn(struct h2_stream *stream, uint32_t bytes);

/* Puts the stream into ready, or into shut when its window is shut. */
void h2_stream_ready(struct h2_stream *stream);

/* Takes the stream out of ready and shut. */
void h2_stream_rest(struct h2_stream *stream);

/* What a stream has left to send, for the scheduler. */
struct candidate h2_stream_candidate(const struct h2_stream *stream);

/* The first in ready that can send, or NULL. */
struct h2_stream *h2_stream_first(const struct h2 *h2);

/* Whether the stream's next bytes need a window that is shut. */
bool h2_stream_is_shut(const struct h2_stream *stream);

/* Puts streams back into ready after a window has opened. */
void h2_stream_reopen_all(struct h2 *h2);

/* --- h2_rest.c ----------------------------------------------------------- */

/* Takes memory for the text of a head. NULL: no memory. */
char *h2_take_text(struct h2_context *context, size_t len);
void h2_give_text(struct h2_context *context, char *text, size_t len);

/* Gives the stream an exchange with all but its request. False: no memory. */
MUST_USE bool h2_take_exchange(struct h2_stream *stream);
void h2_give_exchange(struct h2_stream *stream);

/* Bytes of the tables of exchanges that do not wait for their handlers. */
uint32_t h2_count_tables(const struct h2 *h2);

/* The stream's exchange begins to wait for its handler: it rests from now on if
 * many wait, and those that wait already rest with it. */
void h2_save_room(struct h2_stream *stream);

/* Lets all exchanges that wait rest, as others need the memory. */
void h2_save_all_rooms(struct h2 *h2);

/* The on_rouse of exchanges. */
bool h2_rouse(struct exchange *exchange);

/* --- h2_bid.c ------------------------------------------------------------ */

/* The client has said a priority: from now on its streams go in its order. */
void h2_heed_client(struct h2 *h2);

/* The stream has an answer: begins its bid, if the length is known. */
void h2_bid_begin(struct h2_stream *stream);

/* The bytes by which the connection is ordered while it has a bidder. */
uint64_t h2_bid_bytes(const struct h2 *h2);

/* Spends so many bytes of bids, framed of an answer of known length. */
void h2_bid_spend(struct h2 *h2, uint64_t bytes);

/* Drops the bid of a stream that is given up. */
void h2_bid_drop(struct h2_stream *stream);

/* Passes on what a stream has left of its bid when complete. */
void h2_bid_pass_on(struct h2_stream *stream);

/* --- h2_answer.c --------------------------------------------------------- */

/* Meets the head of a stream: asks the handler, or lets the stream wait for an
 * exchange. reason: why it is refused instead. */
void h2_begin(struct h2_stream *stream, enum reason reason);

/* Begins streams that wait for an exchange, as many as there are exchanges. */
void h2_begin_parked(struct h2 *h2);

/* Asks the handler of a stream that wanted the whole body first: it is there,
 * or nobody wants the rest of it. */
void h2_ask(struct h2_stream *stream);

/* Notes that the stream has its answer, or gets it without asking again. */
void h2_put(struct h2_stream *stream);

/* Makes a refusal the stream's answer. False: another answer has begun. */
MUST_USE bool h2_refuse(struct h2_stream *stream, enum reason reason);

/* Logs and counts a stream whose whole answer was sent, and frees it. */
void h2_finish(struct h2_stream *stream);

/* Ends the stream without an answer, or with half of one. */
void h2_give_up(struct h2_stream *stream);

/* Does so, and tells the client by RST_STREAM. */
void h2_reset(struct h2_stream *stream, enum http2_error error);

/* Does so for a stream that may be gone already, by its id: the client has done
 * something wrong with it. */
void h2_punish(struct h2 *h2, uint32_t id, enum http2_error error);

/* Gives up the streams of which the client will never send the rest. */
void h2_drop_unfinished(struct h2 *h2);

/* Gives up all streams. True: there were some. */
bool h2_give_up_all(struct h2 *h2);

/* --- h2_frame.c ---------------------------------------------------------- */

/* Adds len bytes to the plan that stand behind its text already. */
void h2_add_text(struct h2_plan *plan, struct h2_stream *stream, size_t len,
                 bool is_answer);

/* Frames the head of the answer. False: the stream is gone, or has another
 * answer now. */
bool h2_frame_head(struct h2_stream *stream);
void h2_frame_interim(struct h2_stream *stream, const struct answer *answer);

/* Frames some of the body. False: the stream, or the connection, is gone. */
bool h2_frame_body(struct h2_stream *stream, uint64_t room);

/* Frames an empty DATA that ends the server's half. */
void h2_frame_empty(struct h2_stream *stream);

/* Frames the end of the answer. The stream may be gone afterwards. */
void h2_frame_end(struct h2_stream *stream);

/* Whether the file that is sent is still the one that the head announced. */
bool h2_is_intact(const struct response *response);

/* --- h2_plan.c ----------------------------------------------------------- */

/* Frames what goes next: budget bytes at most, but always as much as the least
 * frame has. */
void h2_plan_fill(struct h2 *h2, uint64_t budget);

/* --- h2_send.c ----------------------------------------------------------- */

struct candidate h2_candidate(const struct session *session);
enum sender_result h2_send(struct session *session, uint64_t budget,
                           uint64_t *sent_out);

/* Drops all that has been framed and not sent. */
void h2_drop_rest(struct h2 *h2);

/* Whether there is anything to be handed over now. */
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

/* Notes that somebody has taken len bytes of the stream's body. */
void h2_measure(struct h2 *h2, const struct h2_stream *stream, uint32_t len);

/* Takes the answer to a PING. False: it is not to one that measures. */
bool h2_end_measure(struct h2 *h2, const char payload[8]);

/* Gives back the connection's part of grown_bytes, as it ends. */
void h2_forget_windows(struct h2 *h2);

/* --- h2_credit.c --------------------------------------------------------- */

/* Gives len bytes of bodies back to the windows; stream may be NULL. */
void h2_give_back(struct h2 *h2, struct h2_stream *stream, uint32_t len);

/* Does so for bytes that the stream's sink has taken, and may keep. */
void h2_give_taken(struct h2 *h2, struct h2_stream *stream, uint32_t len);

/* Gives back what sinks kept and keep no longer, and what was held of streams
 * that are no more. */
void h2_settle_windows(struct h2 *h2);

/* --- h2_data.c ----------------------------------------------------------- */

/* Begins a DATA frame, whose payload follows. */
void h2_begin_data(struct h2 *h2, const struct http2_frame *frame);

/* Gives back its padding and the byte for its length, read already or not. */
void h2_give_padding(struct h2 *h2);

/* Takes some of its payload. */
void h2_take_data(struct h2 *h2, struct bytes data);

/* Ends the DATA frame, which is complete. */
void h2_end_data(struct h2 *h2);

/* Ends the body, of which the client has sent all. */
void h2_end_body(struct h2_stream *stream);

/* Gives what is held to sinks that have room. */
void h2_feed(struct h2 *h2);

/* Whether the stream's body is waited for and comes too slowly. */
bool h2_is_body_late(const struct h2_stream *stream);

/* --- h2_head.c ----------------------------------------------------------- */

void h2_take_headers(struct h2 *h2, const struct http2_frame *frame,
                     struct bytes payload);
void h2_take_continuation(struct h2 *h2, const struct http2_frame *frame,
                          struct bytes payload);

/* --- h2_limits.c --------------------------------------------------------- */

uint64_t h2_limit(struct session *session, enum session_wait wait);

/* Gives up streams that have waited too long for their clients. */
void h2_look_at_streams(struct h2 *h2);

/* --- h2_receive.c -------------------------------------------------------- */

/* Takes all frames that have come. */
void h2_take_input(struct h2 *h2);

#endif
