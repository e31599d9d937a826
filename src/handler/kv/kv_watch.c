#include <stdlib.h>

#include "handler/kv/kv_priv.h"

/*
 * Server-sent events (WHATWG HTML 9.2), one for each change:
 *
 *   event: put              event: delete           event: reset
 *   id: 17                  id: 18                  id: 18
 *   data: {"key":"a",...}   data: {"key":"a"}       data: {"revision":18}
 *
 * The id is a revision. A client that returns with its last id continues from
 * that id. A client without an id begins with a reset.
 *
 * Waiting events lie in the store's ring, not here. A watch has only a position
 * in the ring, and the text of one fill.
 */

/* A stream begins with the time after which a browser reopens a broken one. */
#define INTRO "retry: 1000\n\n"

/* A comment, sent so that neither side believes the other dead. */
#define HEARTBEAT ":\n\n"

enum { BEAT_TICKS = 15, EVENT_BYTES_MAX = KV_ENTRY_BYTES_MAX + 100 };

_Static_assert((int)EVENT_BYTES_MAX <= (int)BODY_PIECE_BYTES,
               "any event must fit one fill");

struct watching {
    /* Must be the first member, since it is cast to struct watching. */
    struct text_source text;
    struct pending pending;  /* pending until the store has answered */
    struct list list_node;   /* linked into kv->watchings */
    struct stream_seat seat; /* taken from kv->seats */
    struct kv *kv;
    struct exchange *exchange;
    struct kv_watch watch;
    bool is_answered; /* the store has answered */
    bool has_begun;
    unsigned beats; /* kv->beats when the watch last sent a heartbeat */
    char prefix[];
};

/* --- Writing ------------------------------------------------------------- */

static void put_event(struct buf *out, const struct kv_event *event)
{
    static const char *const names[] = {[KV_EVENT_PUT] = "put",
                                        [KV_EVENT_DELETE] = "delete",
                                        [KV_EVENT_EXPIRE] = "expire",
                                        [KV_EVENT_RESET] = "reset"};

    buf_put_literal(out, "event: ");
    buf_put(out, bytes_of(names[event->kind]));
    if (event->number > 0 || event->kind == KV_EVENT_RESET) {
        buf_put_literal(out, "\nid: ");
        if (event->number > 0)
            buf_put_number(out, event->number);
    }
    buf_put_literal(out, "\ndata: {");
    if (event->kind == KV_EVENT_PUT) {
        kv_put_entry(out, &event->entry);
    } else if (event->kind != KV_EVENT_RESET) {
        kv_put_key(out, event->entry.key);
    } else if (event->number > 0) {
        buf_put_literal(out, "\"revision\":");
        buf_put_number(out, event->number);
    }
    buf_put_literal(out, "}\n\n");
}

/* --- The text ------------------------------------------------------------ */

static enum piece_state write_events(struct watching *watching, struct buf *out)
{
    size_t before = out->len;

    while (text_source_room(out) >= EVENT_BYTES_MAX) {
        struct kv_event event;

        switch (kv_watch_next(&watching->watch, &event)) {
        case KV_WATCH_EVENT:
            put_event(out, &event);
            break;
        case KV_WATCH_MORE:
            return PIECE_MORE;
        case KV_WATCH_LATER:
            if (out->len > before)
                return PIECE_MORE;
            return watching->kv->is_draining || watching->seat.gives_way ||
                           watching->watch.outcome != KV_FOUND
                       ? PIECE_END
                       : PIECE_LATER;
        }
    }
    return PIECE_MORE;
}

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    struct watching *watching = (struct watching *)text;
    enum piece_state result;

    if (!watching->has_begun) {
        watching->has_begun = true;
        buf_put_literal(out, INTRO);
        return PIECE_MORE;
    }
    result = write_events(watching, out);
    if (result == PIECE_LATER && watching->beats != watching->kv->beats) {
        watching->beats = watching->kv->beats;
        buf_put_literal(out, HEARTBEAT);
        return PIECE_MORE;
    }
    return result;
}

static void destroy(struct watching *watching)
{
    struct kv *kv = watching->kv;

    kv_client_unwatch(kv->options.client, &watching->watch);
    list_drop(&watching->list_node);
    stream_seats_leave(&kv->seats, &watching->seat);
    free(watching);
}

static void destroy_text(struct text_source *text)
{
    destroy((struct watching *)text);
}

static void destroy_pending(struct pending *pending)
{
    destroy(OWNER_OF(pending, struct watching, pending));
}

/* Makes the response, by the store's answer: a stream of events or an error. */
static void answer(struct watching *watching)
{
    const struct kv *kv = watching->kv;
    struct exchange *exchange = watching->exchange;

    if (watching->watch.outcome != KV_FOUND) {
        kv_note_undone(kv, watching->watch.outcome);
        kv_fail_outcome(kv, exchange, watching->watch.outcome);
        destroy(watching);
        return;
    }
    kv_send_text(kv, exchange, BYTES("text/event-stream"), BYTES(KV_NO_STORE),
                 &watching->text);
}

static struct answer look(struct pending *pending)
{
    struct watching *watching = OWNER_OF(pending, struct watching, pending);

    if (!watching->is_answered && watching->kv->is_draining)
        watching->watch.outcome = KV_BUSY;
    else if (!watching->is_answered)
        return (struct answer){.state = ANSWER_LATER};
    watching->exchange->pending = NULL;
    answer(watching);
    return (struct answer){.state = ANSWER_READY};
}

/* --- The question -------------------------------------------------------- */

static void on_done(struct kv_watch *watch)
{
    struct watching *watching = OWNER_OF(watch, struct watching, watch);

    watching->is_answered = true;
    exchange_wake(watching->exchange);
}

static void on_change(struct kv_watch *watch)
{
    exchange_wake(OWNER_OF(watch, struct watching, watch)->exchange);
}

static struct watching *create(struct kv *kv, struct exchange *exchange,
                               struct bytes prefix)
{
    struct watching *watching = malloc(sizeof(*watching) + prefix.len);

    if (!watching)
        return NULL;
    *watching = (struct watching){
        .pending = {.look = look, .destroy = destroy_pending},
        .kv = kv,
        .exchange = exchange,
        .watch = {.prefix = {watching->prefix, prefix.len},
                  .on_done = on_done,
                  .on_change = on_change},
        .beats = kv->beats};
    text_source_init(&watching->text, fill, destroy_text);
    if (prefix.len > 0)
        memcpy(watching->prefix, prefix.data, prefix.len);
    return watching;
}

/* Reads where a watch begins. A client that comes back names its last event by
 * Last-Event-ID, which replaces the query's "since". An unknown id counts as no
 * id. Returns false after it has answered the request. */
static bool read_since(struct kv *kv, struct exchange *exchange,
                       struct bytes since, struct kv_watch *watch)
{
    struct bytes last;

    if (since.data && !query_number(since, UINT64_MAX, &watch->since)) {
        kv_fail_parameter(kv, exchange, "since", "this is a revision");
        return false;
    }
    watch->has_since = since.data != NULL;
    if (!kv_find_single(&exchange->request, BYTES("Last-Event-ID"), &last))
        last = BYTES("");
    if (last.data)
        watch->has_since = query_number(last, UINT64_MAX, &watch->since);
    return true;
}

static void refuse(struct kv *kv, struct exchange *exchange, const char *detail)
{
    struct problem problem = {
        .status = 503, .detail = bytes_of(detail), .fields = BYTES(KV_RETRY)};

    kv_note_undone(kv, KV_BUSY);
    kv_fail_with(kv, exchange, &problem);
}

static bool may_watch(struct kv *kv, struct exchange *exchange)
{
    if (kv->options.watchers_max == 0) {
        kv_fail_outcome(kv, exchange, KV_UNSUPPORTED);
        return false;
    }
    if (!kv->is_draining)
        return true;
    refuse(kv, exchange, "the server is about to end");
    return false;
}

/* Takes a seat for the watch. If another watch must give way, wakes that watch.
 * Returns false after it has answered a request for which there is no seat. */
static bool admit(struct watching *watching)
{
    struct kv *kv = watching->kv;
    struct stream_seat *leaver;

    if (!stream_seats_take(&kv->seats, &watching->seat,
                           watching->exchange->peer, &leaver)) {
        refuse(kv, watching->exchange, "too many watch already");
        return false;
    }
    list_put_last(&kv->watchings, &watching->list_node);
    if (leaver)
        exchange_wake(OWNER_OF(leaver, struct watching, seat)->exchange);
    return true;
}

void kv_watch(struct kv *kv, struct exchange *exchange, struct bytes prefix,
              struct bytes since)
{
    struct kv_watch asked = {.has_since = false};
    struct watching *watching;

    if (!read_since(kv, exchange, since, &asked) || !may_watch(kv, exchange))
        return;
    watching = create(kv, exchange, prefix);
    if (!watching) {
        kv_fail_outcome(kv, exchange, KV_BUSY);
        return;
    }
    if (!admit(watching)) {
        free(watching);
        return;
    }
    watching->watch.has_since = asked.has_since;
    watching->watch.since = asked.since;
    if (kv_client_watch(kv->options.client, &watching->watch))
        answer(watching);
    else
        exchange->pending = &watching->pending;
}

/* --- All watches --------------------------------------------------------- */

void kv_tick(struct kv *kv)
{
    if (list_is_empty(&kv->watchings) || ++kv->ticks % BEAT_TICKS != 0)
        return;
    kv->beats++;
    for (struct list *at = kv->watchings.next; at != &kv->watchings;
         at = at->next)
        exchange_wake(OWNER_OF(at, struct watching, list_node)->exchange);
}

void kv_drain(struct kv *kv)
{
    kv->is_draining = true;
}
