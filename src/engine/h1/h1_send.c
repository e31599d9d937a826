#include "base/now.h"
#include "engine/h1/h1_priv.h"
#include "observe/profile.h"

struct candidate h1_candidate(const struct session *session)
{
    const struct h1 *h1 = h1_of_const(session);
    struct candidate candidate = {0};

    for (const struct list *list_node = h1->exchanges.next;
         list_node != &h1->exchanges; list_node = list_node->next) {
        const struct exchange *exchange = OWNER_OF(list_node, struct exchange,
                                                   list_node);
        const struct response *response = &exchange->response;
        bool has_more = response_has_more(response);

        candidate.bytes += response->bytes_left;
        if (has_more && response->has_length) {
            candidate.bytes += response->length_left;
        } else if (has_more || exchange->pending) {
            candidate.bytes += response->bytes_sent - response->bytes_before;
            candidate.is_stream = true;
        }
    }
    return candidate;
}

/* Sets Server-Timing of each answer in the pipeline, unless some of its bytes
 * were sent already. */
static void time_sending(const struct h1 *h1)
{
    uint64_t now_ns = now_read_ns();

    for (const struct list *list_node = h1->exchanges.next;
         list_node != &h1->exchanges; list_node = list_node->next) {
        struct exchange *exchange = OWNER_OF(list_node, struct exchange,
                                             list_node);

        if (exchange->response.bytes_sent == 0)
            session_time_exchange(&h1->session, exchange, now_ns);
    }
}

/* Finishes exchanges whose responses have just been handed over. */
static void finish_sent(struct h1 *h1)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);
    struct session *session = &h1->session;
    uint64_t now_ns = now_read_ns();

    while (!list_is_empty(&h1->exchanges)) {
        struct exchange *exchange = h1_first(h1);
        bool is_done = exchange_is_done(exchange);

        if (exchange->times.first_ns == 0 &&
            (is_done || exchange->response.bytes_sent > 0))
            exchange->times.first_ns = now_ns;
        if (!is_done)
            break;
        exchange->times.last_ns = now_ns;
        if (exchange == h1->current)
            h1_end_upload(h1);
        h1_heed(h1, exchange); /* the answer may have come only now */
        session->context->hooks->on_answered(session,
                                             exchange->response.bytes_sent,
                                             now_ns);
        h1_finish_exchange(h1, exchange);
        session->blocked_ms = 0;
    }
    profile_leave(before);
}

/* Puts an interim answer into the response, which has no head of its own
 * yet. */
static void put_interim(struct response *response, const struct answer *answer)
{
    struct buf *head = &response->head;

    head->len = RESPONSE_HEADROOM;
    http1_put_interim(head, answer->status, answer->phrase, answer->fields);
    response->part_count = response->part_at = 0;
    response_add_memory(response, bytes_between(head->data + RESPONSE_HEADROOM,
                                                head->data + head->len));
}

/* Frames an answer that has come later. If it came before the whole body, and
 * nobody wants the rest, it is a refusal. Then the connection ends, since
 * nobody knows where the next request begins. */
static void frame_late(struct h1 *h1, struct exchange *exchange)
{
    if (exchange == h1->current && !exchange->sink)
        exchange->response.persists = false;
    h1_frame(h1, exchange);
}

/* Asks the maker of the first answer whether the answer is ready. Returns
 * SENDER_DONE when there is something to send, SENDER_LATER when there is
 * nothing yet, and SENDER_FAILED when memory is short. Returns SENDER_MORE when
 * the answer has just come, so that it is scheduled by its length first. */
static enum sender_result look_for_answer(struct h1 *h1,
                                          struct exchange *exchange)
{
    struct response *response = &exchange->response;
    enum stats_phase before;
    struct answer answer;

    if (!exchange->pending || response->bytes_left > 0)
        return SENDER_DONE;
    before = profile_enter(STATS_PHASE_LOOKUP);
    answer = exchange->pending->look(exchange->pending);
    if (answer.state == ANSWER_READY)
        response_put_error_body(response);
    profile_leave(before);
    switch (answer.state) {
    case ANSWER_LATER:
        response->bytes_before = response->bytes_sent;
        return SENDER_LATER;
    case ANSWER_INTERIM:
        put_interim(response, &answer);
        return response->head.failed ? SENDER_FAILED : SENDER_DONE;
    case ANSWER_READY:
        frame_late(h1, exchange);
        break;
    }
    return SENDER_MORE; /* the answer's turn depends on its length */
}

static enum sender_result send_step(struct h1 *h1, uint64_t budget,
                                    uint64_t *sent_out)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    enum sender_result result = look_for_answer(h1, h1_first(h1));

    *sent_out = 0;
    if (result == SENDER_DONE)
        result = sender_step(&h1_context(h1)->sender, &h1->session.transport,
                             &h1->exchanges, budget, sent_out);
    profile_leave(before);
    return result;
}

enum sender_result h1_send(struct session *session, uint64_t budget,
                           uint64_t *sent_out)
{
    struct h1 *h1 = h1_of(session);
    enum sender_result result;

    if (session->context->defaults.server_timing)
        time_sending(h1);
    session->why = CONN_END_ERROR;
    result = send_step(h1, budget, sent_out);
    if (result == SENDER_FAILED)
        return SENDER_FAILED;
    finish_sent(h1);
    if (list_is_empty(&h1->exchanges))
        return SENDER_DONE;
    if (h1_first(h1)->is_tunnel && !h1->is_closing &&
        h1_begin_tunnel(h1) == SESSION_CLOSES)
        return SENDER_FAILED;
    h1_set_beside(h1);
    /* The result is ignored, since reading notices that a client is gone. */
    if (result == SENDER_LATER && h1_first(h1)->is_half_closed)
        (void)!transport_shut_down(&session->transport);
    return result == SENDER_DONE ? SENDER_MORE : result;
}
