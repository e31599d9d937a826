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
    /* Of these, how many have an exchange. The heads of the others are kept and
     * wait, so that a hundred streams cost no more than 256 KiB. */
    H2_LIVE_MAX = 40,
    H2_LIVE_BYTES_MAX = 163840, /* of them and all heads: fewer, if those are
                                   long */
    /* Of all streams, while the client has had no answer; of which one that is
     * proxied has so many beside its exchange, roughly. */
    H2_BYTES_MAX = 229376,
    H2_PROXIED_BYTES = 960,
    /* Beyond that all connections of a worker have so many, where those that
     * have an exchange only wait for an upstream server: else what never ends
     * would have all places. Each is of some 2 KiB, what waits included, as
     * these rest (h2_rest.c). */
    H2_EXTRA_MAX = 4096,
    H2_TEXT_BYTES_MAX = 98304, /* of heads, in all */
    /* Beyond that all connections of a worker have so many, where their clients
     * have had an answer: long cookies come with every request. */
    H2_EXTRA_TEXT_BYTES_MAX = 8388608,
    /* Texts of heads lie in blocks of so many bytes, times 1 to H2_TEXT_POOLS,
     * less the word that malloc() has beside a block; longer ones in their own.
     */
    H2_TEXT_STEP = 64,
    H2_TEXT_POOLS = 8,
    H2_STREAM_WINDOW = HTTP2_WINDOW_DEFAULT, /* for bodies of requests */
    H2_CONN_WINDOW = 196607, /* and all that bodies have in memory with it */
    H2_STREAM_WINDOW_MAX = 1048576, /* where it grows: h2_windows.c */
    H2_GROWN_BYTES_MAX = 33554432,  /* by which all of a worker may */
    H2_BLOCK_BYTES_MAX = 32768,     /* of a head in pieces, as encoded, */
    H2_BLOCK_PIECES_MAX = 8,        /* and how many */
    H2_CONTROL_BYTES_MAX = 65536,
    H2_CONTROL_BYTES_REST = 32768, /* more: nothing is read for now */
    /* What is framed in one go. What a single head needs at most, which is the
     * longest text that is encoded, goes beyond it. */
    H2_PLAN_BYTES = 131072,
    H2_PLAN_TEXT = 2 * H2_PLAN_BYTES + 4096,
    H2_SEGMENTS_MAX = 256,
    H2_FRAME_MIN = 1024,  /* unless there is no more, or a window is smaller */
    H2_UPDATES_KEPT = 16, /* of priorities of streams still to come */
    /* Frames for a stream that was reset may still be under way. Of the last so
     * many streams it is known whether they were reset. */
    H2_RESETS_KEPT = 1024,
    H2_GOODBYE_MS = 1000,   /* at most, between the two GOAWAY */
    H2_PAGE_FILE = 262144,  /* what is more is no file of a page */
    H2_PAGE_FILES = 128,    /* more are another page */
    H2_PAGE_BID_MIN = 8192, /* what is less goes before files of any page */
    H2_PAGE_TIMES = 4,      /* what its files have left, on average: most */
    H2_UNSENT_MAX = 65536   /* that wait in the kernel for their first leave */
};

struct h2;

struct h2_stream {
    struct list list_node;  /* in h2->streams */
    struct list wait_node;  /* in h2->parked, or h2->shut, or none */
    struct heap_node ready; /* in h2->ready */
    struct sched_item place;
    uint64_t turn;  /* when it last sent a frame, came, or had had its turn:
                      orders its equals */
    uint64_t had;   /* bytes of its body in this turn */
    uint64_t bid;   /* bytes: h2_bid.c */
    uint64_t order; /* by requests: h2_stream.c */
    struct h2 *h2;
    struct exchange *exchange;  /* NULL: it waits for one, or is done */
    struct exchange_room *room; /* lent to the exchange; NULL: that rests */
    char *text;                 /* the head; http/http2/http2_request.h */
    char *held;                 /* of the body, while its sink is full */
    uint32_t held_at;
    uint32_t held_len;
    uint32_t text_len;
    uint32_t id;
    int32_t window;         /* for what is sent */
    int32_t receive_window; /* for what comes */
    uint32_t receive_size;  /* of the latter when it is wide open */
    uint32_t credit;        /* that is to be given back of it */
    uint32_t unsent;        /* bytes that are framed, and not sent */
    uint64_t content_length;
    uint64_t received;   /* of the body */
    uint64_t bytes_in;   /* of its frames, as they were read */
    uint64_t read_ns;    /* its head was read */
    uint64_t shut_at_ms; /* since when its window is shut; 0: it is not */
    uint64_t shut_ms;    /* how long it was shut before that */
    uint64_t body_since_ms;
    struct priority priority;
    bool has_length;
    bool has_ended;    /* the client has said all of it */
    bool awaits_body;  /* its handler wants the body first */
    bool is_uploading; /* the body goes on beside the answer */
    bool discards;     /* nobody wants what still comes */
    bool wants_socket; /* RFC 8441 */
    bool is_tunnel;
    bool is_put;         /* the exchange has its answer, now or later */
    bool is_waiting;     /* for its handler */
    bool has_head;       /* HEADERS are framed */
    bool has_half_ended; /* END_STREAM is sent, though the client goes on */
    bool is_framed;      /* all of the answer is, END_STREAM included */
    bool has_priority;   /* its client or handler has said what */
    bool is_gone;        /* given up: what is unsent still refers to it */
    bool is_live;        /* it counts as one of H2_LIVE_MAX */
    bool is_idle;        /* of these: it counts as one that waits */
    bool is_extra;       /* of these: it counts as one of H2_EXTRA_MAX */
    bool is_extra_text;  /* its head counts in H2_EXTRA_TEXT_BYTES_MAX */
    bool is_of_page;     /* its bid counts as one of those: h2_bid.c */
};

/* Bytes of one frame that are to be sent. */
struct h2_segment {
    struct h2_stream *stream; /* NULL: of the connection */
    const char *memory;       /* NULL: of a file, or a pipe, at sending */
    uint64_t offset;
    int fd;
    uint32_t len;
    uint8_t kind;   /* enum part_kind */
    bool is_text;   /* memory is the plan's */
    bool is_answer; /* counts as sent of the response */
};

/* Bytes of a file that were read for frames still to come. They lie where those
 * frames will, if nothing comes between: the next payload begins at text. */
struct h2_ahead {
    const struct h2_stream *stream; /* NULL: there are none */
    const char *text;
    uint64_t offset;
    uint64_t len;
};

/* What is to be sent next, in order. */
struct h2_plan {
    struct h2_ahead ahead;
    uint64_t bytes; /* of segments from at on */
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
    uint64_t grown_bytes; /* of windows, see h2_windows.c */
    uint32_t extra_count; /* of exchanges, see h2_answer.c */
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
    uint32_t level; /* in 1/1024 */
    uint32_t since_ms;
    uint32_t count; /* of h2_spend_beside() */
};

/* What was said of a stream before it came; id 0: nothing. */
struct h2_update {
    uint32_t id;
    struct priority priority;
};

struct h2_settings {
    int32_t window; /* that streams begin with */
    uint32_t frame_bytes;
};

/* A connection that speaks HTTP/2. */
struct h2 {
    struct session *session;
    struct h2_context *context;
    struct hpack_decoder *decoder;
    struct input *input;
    struct list streams; /* all, in order of arrival */
    struct list parked;  /* those that wait for an exchange, by wait_node */
    struct list shut;    /* those that wait for a window, likewise */
    struct heap ready;
    struct h2_stream *bidder; /* h2_bid.c */
    uint64_t page_bytes;      /* bid for files of its page, not spent yet; */
    uint32_t page_files;      /* and of so many, complete ones included */
    struct buf control;       /* frames that go before all streams */
    struct buf block;         /* of a head that comes in pieces */
    struct h2_rest *rest;
    struct h2_settings client;
    struct http2_frame frame; /* that is being read: DATA, or one to skip */
    uint32_t left;            /* of its payload */
    uint32_t padding;         /* of that */
    uint32_t continued;       /* stream whose head is not complete; 0: none */
    uint32_t pieces;          /* of that head */
    uint8_t continued_flags;
    bool has_preface;
    bool has_settings;
    bool is_ordered;    /* the client says priorities: h2_stream.c */
    bool in_frame;      /* left counts */
    bool has_block;     /* the first, which says HPACK_NO_TABLE */
    bool is_sending;    /* the connection has been told that it SENDS */
    bool is_at_work;    /* a call of the connection is under way */
    bool is_ready;      /* something became ready without one */
    bool has_room;      /* some sink has room again */
    bool has_ended;     /* the client says no more, but may listen */
    bool is_over;       /* nothing more is read; what is left is sent */
    bool says_goodbye;  /* the first GOAWAY is on its way */
    bool has_said_last; /* the second is: last_allowed counts */
    bool is_trusted;    /* its client was, as the last stream began */
    bool is_known;      /* its client has had an answer's head */
    uint32_t last_id;   /* of the streams of the client */
    uint64_t used;      /* of the ids from last_id downwards, which were */
    uint32_t last_allowed;
    uint32_t stream_count;
    uint32_t live_count;
    uint32_t idle_count;  /* of these, those that wait for their handlers */
    uint32_t text_bytes;  /* of heads that are not extra */
    uint32_t table_bytes; /* of fields, of exchanges that do not rest */
    int64_t window;       /* of the connection, for what is sent */
    int64_t window_then;  /* with has_ended: at silent_ms; nobody opens it */
    uint64_t silent_ms;   /* with has_ended: since when nothing could be sent */
    int32_t receive_window;
    uint32_t receive_size;
    uint32_t credit;
    uint32_t
        owed; /* bytes of bodies that were taken, and are kept: no credit yet */
    uint32_t body_window;   /* how wide streams are opened by now */
    uint32_t measured;      /* bytes of bodies, while is_measuring */
    uint32_t measure_rest;  /* pieces of them until that is done again */
    uint32_t measure_pause; /* so many there were the last time */
    bool is_measuring;
    uint64_t turns;      /* that streams had */
    uint64_t goodbye_ms; /* when the first GOAWAY was */
    uint64_t until_ms;   /* the first request has to be there, or the next */
    uint64_t
        head_until_ms; /* the rest of a frame has to be; 0: there is none */
    uint64_t look_ms;  /* streams are looked at again; 0: not timed */
    uint32_t limited;  /* requests, when until_ms was set last */
    uint64_t sent;     /* since something had to be sent, for the least rate */
    uint64_t bytes_in;
    uint64_t bytes_out;                   /* of control */
    uint64_t payload;                     /* of both ways */
    uint32_t answers;                     /* that were sent to their end */
    uint32_t late_resets;                 /* of streams that are no more */
    uint32_t resets[H2_RESETS_KEPT / 32]; /* a bit each, by id / 2 */
    uint32_t old_reset; /* the last one of a stream before those */
    uint32_t update_at;
    struct h2_update updates[H2_UPDATES_KEPT];
    uint32_t work;    /* done since something was read last: h2_abuse.c */
    uint32_t charged; /* of that, what was counted as an abuse */
    uint32_t trust;   /* streams that may begin without being counted as work */
    uint64_t costly_until_ms; /* its client has used up much of one */
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

/* Of a stream that has an exchange. */
static inline void h2_stream_set_idle(struct h2_stream *stream, bool is_idle)
{
    stream->h2->idle_count += is_idle;
    stream->h2->idle_count -= stream->is_idle;
    stream->is_idle = is_idle;
}

static inline uint64_t h2_now_ms(const struct h2 *h2)
{
    return h2->session->context->now->mono_ms;
}

/* --- h2_abuse.c ---------------------------------------------------------- */

/* Counts one more of that kind. False: it was one too many, and the
 * connection is over. */
MUST_USE bool h2_spend(struct h2 *h2, enum stats_http2_abuse kind);

/* The same of a kind that comes with what goes to and fro: as many are free as
 * there is payload for. */
MUST_USE bool h2_spend_beside(struct h2 *h2, enum stats_http2_abuse kind);

/* Whether what went to and fro carried enough. False: as above. */
MUST_USE bool h2_is_worth_it(struct h2 *h2);

/* Whether so much was done of what has been read that others have their turn
 * now; and whether much of it cost more than it brought. */
bool h2_has_had_turn(const struct h2 *h2);
bool h2_was_charged(const struct h2 *h2);

/* A stream begins. A client that has had answers is trusted to want more: what
 * it asks for is taken as it comes. */
void h2_note_stream(struct h2 *h2);

/* Its answer comes later, from somebody else. */
void h2_note_pending(struct h2 *h2);

/* A list of fields of so many bytes was decoded. */
void h2_note_list(struct h2 *h2, uint64_t bytes);

/* A frame has come that may be worth little, and is counted as no abuse. */
void h2_note_small(struct h2 *h2);

/* A stream that is no more is reset. Whether it can be one that was answered,
 * which is no abuse: many clients do so where the answer came before the end of
 * their body. Only that it is not trusted for that answer. */
MUST_USE bool h2_is_late_reset(struct h2 *h2);

/* An answer has been sent to its end. */
void h2_note_answer(struct h2 *h2, const struct response *response);

/* --- h2_control.c -------------------------------------------------------- */

void h2_put_frame(struct h2 *h2, const struct http2_frame *frame,
                  const char *payload);
void h2_put_settings(struct h2 *h2);
void h2_put_window(struct h2 *h2, uint32_t stream, uint32_t credit);
void h2_put_reset(struct h2 *h2, uint32_t stream, enum http2_error error);

/* The connection is to send though it was not asked what follows: as if
 * advance() had said so. */
void h2_make_ready(struct h2 *h2);

/* A stream begins, and those before it can no more: none of them was reset. */
void h2_forget_resets(struct h2 *h2, uint32_t stream);

/* Whether nobody can have opened a stream of that id: none does the server open
 * (RFC 9113 5.1). */
bool h2_is_unheard_of(const struct h2 *h2, uint32_t stream);

/* Whether the client may still send for a stream that is no more, and be right:
 * it was reset a short while ago, or is not answered as the connection ends. */
bool h2_may_be_under_way(struct h2 *h2, uint32_t stream);

/* The connection is over because of an error of the client's, or of ours. */
void h2_fail(struct h2 *h2, enum http2_error error);
void h2_lose_calm(struct h2 *h2, enum stats_http2_abuse kind);

/* It ends when what has begun is answered: GOAWAY, and again a round trip
 * later. */
void h2_say_goodbye(struct h2 *h2);
void h2_say_last(struct h2 *h2);

/* --- h2_stream.c --------------------------------------------------------- */

/* NULL: no memory. */
struct h2_stream *h2_stream_open(struct h2 *h2, uint32_t id);

/* Nobody wants what is held of its body: the connection has room for as much
 * again. */
void h2_stream_drop_held(struct h2_stream *stream);

/* Nobody wants what still comes of its body, either. */
void h2_stream_discard(struct h2_stream *stream);

/* Frees a stream and the text of its head, in whatever state it is. */
void h2_stream_free(struct h2_stream *stream);

struct h2_stream *h2_stream_find(const struct h2 *h2, uint32_t id);

/* So many bytes of its body were framed; perhaps its turn is over. */
void h2_stream_note_turn(struct h2_stream *stream, uint32_t bytes);

/* Puts the stream into ready, or where its window is shut into shut. */
void h2_stream_ready(struct h2_stream *stream);

/* Takes the stream out of ready and shut. */
void h2_stream_rest(struct h2_stream *stream);

/* What a stream has left to send, for the scheduler. */
struct candidate h2_stream_candidate(const struct h2_stream *stream);

/* The first in ready that can send, or NULL. */
struct h2_stream *h2_stream_first(const struct h2 *h2);

/* Whether the next bytes of the stream are subject to a window that is shut. */
bool h2_stream_is_shut(const struct h2_stream *stream);

/* The windows have opened: the connection's, or one. */
void h2_stream_reopen_all(struct h2 *h2);

/* --- h2_rest.c ----------------------------------------------------------- */

/* For the text of a head. NULL: no memory. */
char *h2_take_text(struct h2_context *context, size_t len);
void h2_give_text(struct h2_context *context, char *text, size_t len);

/* Gives the stream an exchange, all but what its request is read into. False: no
 * memory. */
MUST_USE bool h2_take_exchange(struct h2_stream *stream);
void h2_give_exchange(struct h2_stream *stream);

/* The exchange of the stream begins to wait for its handler. It rests from now
 * on where so many do, and with it those that have waited already. */
void h2_save_room(struct h2_stream *stream);

/* All that wait rest, as there is no room for others. */
void h2_save_all_rooms(struct h2 *h2);

/* on_rouse of exchanges. */
bool h2_rouse(struct exchange *exchange);

/* --- h2_bid.c ------------------------------------------------------------ */

/* The client has said a priority: from now on its streams go in its order. */
void h2_heed_client(struct h2 *h2);

/* An answer has come, of so many bytes as it is known to have. */
void h2_bid_begin(struct h2_stream *stream);

/* What the connection is ordered by, while there is a bidder. */
uint64_t h2_bid_bytes(const struct h2 *h2);

/* So many bytes of an answer of known length were framed. */
void h2_bid_spend(struct h2 *h2, uint64_t bytes);

/* The stream is given up. */
void h2_bid_drop(struct h2_stream *stream);

/* The stream is complete. */
void h2_bid_pass_on(struct h2_stream *stream);

/* --- h2_answer.c --------------------------------------------------------- */

/* The head of a stream has come: asks the handler, or has the stream wait for
 * an exchange. reason: why it is refused instead. */
void h2_begin(struct h2_stream *stream, enum reason reason);

/* Begins streams that wait for an exchange, as many as there are exchanges. */
void h2_begin_parked(struct h2 *h2);

/* Asks the handler of a stream that wanted the body first: that has come, or
 * nobody wants the rest of it. */
void h2_ask(struct h2_stream *stream);

/* The stream has its answer, or will have it without being asked again. */
void h2_put(struct h2_stream *stream);

/* Makes a refusal the stream's answer. False: another answer has begun. */
MUST_USE bool h2_refuse(struct h2_stream *stream, enum reason reason);

/* All of the answer has been sent: logs and counts it, and frees the stream. */
void h2_finish(struct h2_stream *stream);

/* The stream ends without an answer, or with half of one. */
void h2_give_up(struct h2_stream *stream);

/* The same, and the client is told by RST_STREAM. */
void h2_reset(struct h2_stream *stream, enum http2_error error);

/* The same for a stream that is perhaps gone, by its number: the client has
 * done something wrong there. */
void h2_punish(struct h2 *h2, uint32_t id, enum http2_error error);

/* Those of which the client has not said all, and never will. */
void h2_drop_unfinished(struct h2 *h2);

/* All of them. True: there were some. */
bool h2_give_up_all(struct h2 *h2);

/* --- h2_frame.c ---------------------------------------------------------- */

/* Bytes that stand behind the plan's text already. */
void h2_add_text(struct h2_plan *plan, struct h2_stream *stream, size_t len,
                 bool is_answer);

/* The head of the answer. False: the stream is gone, or its answer is another
 * one now. */
bool h2_frame_head(struct h2_stream *stream);
void h2_frame_interim(struct h2_stream *stream, const struct answer *answer);

/* One frame of the body. False: the stream, or the connection, is gone. */
bool h2_frame_body(struct h2_stream *stream, uint64_t room);

/* The end of this way, without more. */
void h2_frame_empty(struct h2_stream *stream);

/* The end of the answer. The stream may be gone behind it. */
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

/* Nothing more of what has been framed is sent. */
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

/* Somebody has taken so many bytes of the stream's body. */
void h2_measure(struct h2 *h2, const struct h2_stream *stream, uint32_t len);

/* The answer to a PING. False: it was not to one of these. */
bool h2_end_measure(struct h2 *h2, const char payload[8]);

/* The connection ends. */
void h2_forget_windows(struct h2 *h2);

/* --- h2_credit.c --------------------------------------------------------- */

/* So many bytes of bodies are done with, of the stream, if there is one. */
void h2_give_back(struct h2 *h2, struct h2_stream *stream, uint32_t len);

/* The same; but the stream's sink has taken them, and may keep them. */
void h2_give_taken(struct h2 *h2, struct h2_stream *stream, uint32_t len);

/* Gives back what sinks have kept and keep no longer, and what was held of
 * streams that are no more. */
void h2_settle_windows(struct h2 *h2);

/* --- h2_data.c ----------------------------------------------------------- */

/* The head of a DATA frame; its payload follows. */
void h2_begin_data(struct h2 *h2, const struct http2_frame *frame);

/* Its padding, and the byte that says how long that is, have been read, or will
 * be. */
void h2_give_padding(struct h2 *h2);

/* Some of its payload. */
void h2_take_data(struct h2 *h2, struct bytes data);

/* The frame is complete. */
void h2_end_data(struct h2 *h2);

/* The client has said all of the body. */
void h2_end_body(struct h2_stream *stream);

/* Sinks that have room get what was held. */
void h2_feed(struct h2 *h2);

/* Whether its body is waited for, and should have come. */
bool h2_is_body_late(const struct h2_stream *stream);

/* --- h2_head.c ----------------------------------------------------------- */

void h2_take_headers(struct h2 *h2, const struct http2_frame *frame,
                     struct bytes payload);
void h2_take_continuation(struct h2 *h2, const struct http2_frame *frame,
                          struct bytes payload);

/* --- h2_limits.c --------------------------------------------------------- */

uint64_t h2_limit(struct session *session, enum session_wait wait);

/* Streams that have waited for their clients for too long are given up. */
void h2_look_at_streams(struct h2 *h2);

/* --- h2_receive.c -------------------------------------------------------- */

/* Takes the frames that have come. */
void h2_take_input(struct h2 *h2);

#endif
