#include <stdlib.h>

#include "handler/status/status_priv.h"
#include "observe/status_json.h"

#define RETRY_LINE "Retry-After: 10\r\n" STATUS_NO_STORE

/* A stream begins with the time after which a browser reopens a broken one. */
#define EVENTS_INTRO "retry: 1000\n\n"

/* A comment in place of a tick that could not be made, so that neither side
 * believes the other dead. */
#define HEARTBEAT ":\n\n"

struct events {
    /* Must be the first member, since it is cast to struct events. */
    struct text_source text;
    struct status *status;
    struct stream_seat seat; /* one of status->seats; if it gives way, the
                              * stream ends at the next tick */
    bool has_begun;
    uint64_t seen;            /* number of the last tick begun */
    struct status_text *tick; /* the tick being sent, or NULL */
    size_t at;                /* bytes of `tick` that were sent */
};

/* Takes the newest tick. */
static void take_tick(struct events *events)
{
    struct status *status = events->status;

    events->seen = status->ticks;
    events->at = 0;
    events->tick = status->tick;
    if (events->tick)
        events->tick->refs++;
}

static void put_piece(struct events *events, struct buf *out)
{
    struct bytes left = buf_bytes(&events->tick->buf);

    left.data += events->at;
    left.len -= events->at;
    if (left.len > BODY_PIECE_BYTES) {
        left.len = BODY_PIECE_BYTES;
        events->at += left.len;
        buf_put(out, left);
    } else {
        buf_put(out, left);
        status_text_release(&events->tick);
    }
}

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    struct events *events = (struct events *)text;

    if (!events->has_begun) {
        events->has_begun = true;
        buf_put_literal(out, EVENTS_INTRO);
        return PIECE_MORE;
    }
    if (!events->tick &&
        (events->status->is_draining || events->seat.gives_way))
        return PIECE_END;
    if (!events->tick && events->seen == events->status->ticks)
        return PIECE_LATER;
    if (!events->tick)
        take_tick(events);
    if (events->tick)
        put_piece(events, out);
    else
        buf_put_literal(out, HEARTBEAT);
    return PIECE_MORE;
}

static void destroy(struct text_source *text)
{
    struct events *events = (struct events *)text;

    status_text_release(&events->tick);
    events->status->streams--;
    stream_seats_leave(&events->status->seats, &events->seat);
    free(events);
}

/* Makes the source of an event stream. Returns NULL after it has answered the
 * exchange with an error. */
static struct source *open_events(struct status *status,
                                  struct exchange *exchange)
{
    struct events *events = malloc(sizeof(*events));
    struct stream_seat *leaver;

    if (!events) {
        status_fail(status, &exchange->response, 500, BYTES(""));
        return NULL;
    }
    *events = (struct events){.status = status, .seen = status->ticks};
    if (!stream_seats_take(&status->seats, &events->seat, exchange->peer,
                           &leaver)) {
        free(events);
        status_fail(status, &exchange->response, 503, BYTES(RETRY_LINE));
        return NULL;
    }
    status->streams++;
    text_source_init(&events->text, fill, destroy);
    return &events->text.source;
}

void status_answer_events(struct status *status, struct exchange *exchange)
{
    struct response *response = &exchange->response;
    struct source *events = NULL;

    if (status->is_draining) {
        status_fail(status, response, 503, BYTES(RETRY_LINE));
        return;
    }
    if (!response->is_head && !(events = open_events(status, exchange)))
        return;
    response_begin(response, 200, &status->options.defaults);
    head_field(&response->head, BYTES("Content-Type"),
               BYTES("text/event-stream"));
    buf_put_literal(&response->head, STATUS_NO_STORE);
    encode_add_source(&status->encode, exchange, events, ENCODE_UNSIZED);
}

bool status_tick(struct status *status)
{
    struct status_text *text;

    if (status->streams == 0) {
        status_text_release(&status->tick); /* no stream waits for the tick */
        return false;
    }
    text = status_text_create(STATUS_JSON_BYTES_MAX + 64);
    if (text) {
        status_look(status);
        buf_put_literal(&text->buf, "event: tick\ndata: ");
        status_json_put_tick(&text->buf, status->snapshot,
                             status->options.history);
        buf_put_literal(&text->buf, "\n\n");
    }
    if (text && text->buf.failed)
        status_text_release(&text);
    status_text_release(&status->tick);
    status->tick = text;
    status->ticks++;
    return true;
}
