#include "engine/h1/h1.h"

#include <stdlib.h>

#include "base/now.h"
#include "base/units.h"
#include "engine/h1/h1_priv.h"
#include "observe/profile.h"

enum {
    INPUTS_KEPT = 64, /* most free inputs that are kept */
    EXCHANGES_KEPT = 128
};

bool h1_context_init(struct session_context *context)
{
    pool_init(&context->inputs, INPUT_BLOCK_BYTES, INPUTS_KEPT);
    pool_init(&context->small_inputs, sizeof(struct input) + INPUT_SMALL_BYTES,
              INPUTS_KEPT);
    pool_init(&context->exchanges, sizeof(struct exchange), EXCHANGES_KEPT);
    context->refusals = (struct log_limit){0};
    context->wide = NULL;
    context->fields = exchange_make_fields();
    return context->fields;
}

void h1_context_fini(struct session_context *context)
{
    pool_fini(&context->inputs);
    pool_fini(&context->small_inputs);
    pool_fini(&context->exchanges);
    free(context->fields);
    free(context->wide);
}

/* --- Going on ------------------------------------------------------------ */

/* Tidies the input when everything is sent: moves an incomplete head to the
 * front of the buffer, or gives an empty buffer back to the pool. */
static void settle(struct h1 *h1)
{
    struct input *input = h1->input;

    if (!input || h1->current)
        return;
    if (input->begin == input->end) {
        h1_give_input(h1);
    } else if (input->begin > 0) {
        memmove(input->data, input->data + input->begin,
                input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
    }
}

/* Returns true if the connection ends now that all is sent. With ends_idle it
 * ends unless its next request has begun. After conn_set_leave() alone it goes
 * on, since a client that was promised another request may still send it. */
static bool is_over(const struct h1 *h1)
{
    return h1->is_closing ||
           (h1_context(h1)->ends_idle && h1->session.requests > 0 &&
            !h1->current && h1_is_input_empty(h1));
}

static enum session_step end_sending(struct h1 *h1)
{
    bool is_silent = h1->client_closes && h1_is_input_empty(h1);

    session_decide_end(&h1->session, CONN_END_DRAIN);
    h1_give_input(h1);
    return is_silent ? SESSION_IS_OVER : SESSION_ENDS;
}

/* Goes on with a request that is under way, or with the next one. */
static __attribute__((noinline)) enum session_step go_on(struct h1 *h1)
{
    for (;;) {
        enum stats_phase before;
        enum h1_ahead result;

        if (is_over(h1))
            return end_sending(h1);
        before = profile_enter(STATS_PHASE_PARSE);
        result = h1_answer_ahead(h1);
        profile_leave(before);
        if (result == H1_AHEAD_CLOSED)
            return SESSION_CLOSES;
        if (result == H1_AHEAD_TURNED)
            return SESSION_GOES_ON;
        if (!list_is_empty(&h1->exchanges)) {
            h1_set_beside(h1);
            return SESSION_SENDS;
        }
        if (result == H1_AHEAD_READ) {
            settle(h1);
            return SESSION_READS;
        }
        if (result == H1_AHEAD_REST) {
            h1->session.holds_input = true;
            return SESSION_READS;
        }
    }
}

/* Whether nothing is left to do after an answer was sent whole. This spares
 * half of all calls of advance() the longer go_on(). */
static bool is_at_rest(const struct h1 *h1)
{
    return list_is_empty(&h1->exchanges) && h1_is_input_empty(h1) &&
           !h1->current && !h1->is_closing && !h1_context(h1)->is_draining;
}

static enum session_step advance(struct session *session)
{
    struct h1 *h1 = h1_of(session);

    if (!is_at_rest(h1))
        return go_on(h1);
    settle(h1);
    return SESSION_READS;
}

static inline __attribute__((always_inline)) enum io_result read_more(struct h1
                                                                          *h1)
{
    struct input *input = h1->input;
    size_t len;
    enum io_result result = transport_receive(&h1->session.transport,
                                              input->data + input->end,
                                              input->room - input->end, &len);

    if (result == IO_DONE) {
        input->last_ns = now_read_ns();
        if (input->begin == input->end)
            input->first_ns = input->last_ns;
        input->end += len;
    }
    return result;
}

/* Called when a small input is full, and so may contain only a part of a head.
 * Reads on into a whole input. Returns IO_DONE even when this second read
 * brings nothing or meets the end; the next read meets the end again. */
static __attribute__((noinline)) enum io_result read_behind(struct h1 *h1)
{
    if (h1->current || !list_is_empty(&h1->exchanges))
        return IO_DONE;
    if (!h1_widen_input(h1))
        return IO_FAILED;
    (void)!read_more(h1);
    return IO_DONE;
}

static enum io_result fill_input(struct h1 *h1)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    enum io_result result = read_more(h1);

    if (__builtin_expect(h1->input->end == INPUT_SMALL_BYTES, 0) &&
        result == IO_DONE && h1->input->room == INPUT_SMALL_BYTES)
        result = read_behind(h1);
    profile_leave(before);
    return result;
}

static __attribute__((noinline)) bool take_whole_input(struct h1 *h1)
{
    h1->input = pool_take(&h1_context(h1)->inputs);
    if (!h1->input)
        return false;
    h1->input->begin = h1->input->end = 0;
    h1->input->room = INPUT_BYTES;
    return true;
}

static bool take_input(struct h1 *h1)
{
    if (h1->input)
        return true;
    if (__builtin_expect(h1->reads_much, 0))
        return take_whole_input(h1);
    h1->input = pool_take(&h1_context(h1)->small_inputs);
    if (!h1->input)
        return false;
    h1->input->begin = h1->input->end = 0;
    h1->input->room = INPUT_SMALL_BYTES;
    return true;
}

/* Reads an upload. If the sink takes many bytes at once, these are read into
 * the worker's wide buffer, and *data_out is set to them. Otherwise they are
 * read into the input, and *data_out stays empty. */
static __attribute__((noinline)) enum io_result fill_wide(
    struct h1 *h1, struct bytes *data_out)
{
    struct session_context *context = h1_context(h1);
    size_t most = h1_wide_bytes(h1);
    enum stats_phase before;
    enum io_result result;

    if (most > 0 && !context->wide)
        context->wide = malloc(H1_WIDE_BYTES);
    if (most == 0 || !context->wide)
        return fill_input(h1);
    before = profile_enter(STATS_PHASE_READ);
    result = transport_receive(&h1->session.transport, context->wide, most,
                               &data_out->len);
    profile_leave(before);
    data_out->data = context->wide;
    if (result == IO_DONE)
        h1->input->last_ns = now_read_ns();
    return result;
}

static enum session_step take_upload(struct h1 *h1, struct bytes wide)
{
    return wide.len > 0 ? h1_take_wide(h1, wide) : h1_take_upload(h1);
}

static enum session_step receive(struct session *session)
{
    struct h1 *h1 = h1_of(session);
    struct bytes wide = {.len = 0};

    h1->in_row = 0;
    if (__builtin_expect(session->holds_input, 0)) {
        session->holds_input = false;
        return SESSION_GOES_ON;
    }
    if (!take_input(h1))
        return session_close(session, CONN_END_ERROR);
    switch (__builtin_expect(h1->is_uploading, 0) ? fill_wide(h1, &wide)
                                                  : fill_input(h1)) {
    case IO_DONE:
        return h1->is_uploading ? take_upload(h1, wide) : SESSION_GOES_ON;
    case IO_AGAIN_READ:
    case IO_AGAIN_WRITE:
        if (h1->is_uploading)
            return SESSION_STAYS;
        settle(h1);
        return SESSION_READS;
    case IO_EOF:
        return h1->is_uploading ? h1_meet_upload_end(h1)
                                : session_close(session, CONN_END_CLIENT);
    case IO_FAILED:
        break;
    }
    return session_close(session, CONN_END_ERROR);
}

/* --- Limits -------------------------------------------------------------- */

/* Returns the time until which reading may last. The limit for a whole head is
 * set at the head's first byte, and later bytes do not move it. */
static uint64_t limit_reading(struct h1 *h1)
{
    const struct conn_limits *limits = &h1_context(h1)->limits;

    if (h1->has_body) {
        h1->session.since_ms = 0;
        return h1->until_ms;
    }
    if (!h1->input && h1->session.requests > 0) {
        h1->head_timed = false;
        h1->session.since_ms = h1_now_ms(h1);
        h1->until_ms = h1_now_ms(h1) + limits->keepalive_ms;
    } else if (!h1->head_timed) {
        h1->head_timed = true;
        h1->session.since_ms = h1_now_ms(h1);
        h1->until_ms = h1_now_ms(h1) + limits->header_ms;
    }
    return h1->until_ms;
}

/* Returns the time until which the socket may stay full. An answer may wait for
 * a full socket send_ms in all, and longer the more bytes of it were sent. */
static uint64_t limit_sending(const struct h1 *h1)
{
    const struct conn_limits *limits = &h1_context(h1)->limits;
    uint64_t sent = h1_first(h1)->response.bytes_sent;
    uint64_t blocked_ms = h1->session.blocked_ms;
    uint64_t allowed;

    if (limits->send_rate_min == 0)
        return h1_now_ms(h1) + limits->send_ms;
    allowed = limits->send_ms + sent * MS_PER_S / limits->send_rate_min;
    if (allowed <= blocked_ms)
        return h1_now_ms(h1);
    allowed -= blocked_ms;
    return h1_now_ms(h1) +
           (allowed < limits->send_ms ? allowed : limits->send_ms);
}

static uint64_t limit(struct session *session, enum session_wait wait)
{
    struct h1 *h1 = h1_of(session);

    switch (wait) {
    case SESSION_WAIT_READ:
        return limit_reading(h1);
    case SESSION_WAIT_SEND:
        return limit_sending(h1);
    case SESSION_WAIT_ANSWER:
        break;
    }
    /* The handler decides how long the making of an answer may take. */
    return session->beside == SESSION_LEAVES ? 0 : h1_limit_upload(h1);
}

static enum session_step expire(struct session *session)
{
    struct h1 *h1 = h1_of(session);

    if (!list_is_empty(&h1->exchanges))
        return h1_expire_upload(h1);
    if (!h1->has_body && h1_is_input_empty(h1))
        return session_close(session, CONN_END_IDLE);
    return h1_refuse(h1,
                     h1->has_body ? REASON_BODY_TIMEOUT : REASON_HEAD_TIMEOUT,
                     BYTES(""))
               ? SESSION_SENDS
               : session_close(session, CONN_END_ERROR);
}

/* --- Coming and going ---------------------------------------------------- */

static void open_session(struct session *session)
{
    struct h1 *h1 = h1_of(session);

    *h1 = (struct h1){.session = *session};
    list_init(&h1->exchanges);
}

static bool is_idle(const struct session *session)
{
    const struct h1 *h1 = h1_of_const(session);

    return !h1->input && list_is_empty(&h1->exchanges);
}

/* Lets answers that have no head yet tell the client that the connection
 * ends. */
static void leave(struct session *session)
{
    struct h1 *h1 = h1_of(session);

    if (h1->current && h1->current->response.status == 0)
        h1->current->response.persists = false;
    for (struct list *list_node = h1->exchanges.next;
         list_node != &h1->exchanges; list_node = list_node->next) {
        struct exchange *exchange = OWNER_OF(list_node, struct exchange,
                                             list_node);

        if (exchange->response.status == 0)
            exchange->response.persists = false;
    }
}

static bool end(struct session *session)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);
    struct h1 *h1 = h1_of(session);
    bool is_broken_off = !list_is_empty(&h1->exchanges);

    if (h1->is_uploading)
        h1_end_upload(h1);
    while (!list_is_empty(&h1->exchanges))
        h1_finish_exchange(h1, h1_first(h1));
    if (h1->current) {
        session_count_exchange(session, h1->current);
        exchange_fini(h1->current);
        h1_give_exchange(h1, h1->current);
        h1->current = NULL;
    }
    h1_give_input(h1);
    profile_leave(before);
    return is_broken_off;
}

const struct protocol h1_protocol = {.session_bytes = sizeof(struct h1),
                                     .open = open_session,
                                     .receive = receive,
                                     .advance = advance,
                                     .candidate = h1_candidate,
                                     .send = h1_send,
                                     .limit = limit,
                                     .expire = expire,
                                     .is_idle = is_idle,
                                     .leave = leave,
                                     .end = end};
