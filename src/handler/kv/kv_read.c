#include <stdlib.h>

#include "base/address_key.h"
#include "handler/kv/kv_priv.h"
#include "http/date.h"

/* Values of fewer bytes take no more memory than a connection does anyway. */
enum { LONG_BYTES = 16384 };

/* A long value that is being sent. */
struct sending {
    struct kv_memory *memory; /* counts the value's bytes */
    uint64_t asker; /* key of the address for which the bytes are counted */
    struct kv_value *value;
};

struct kv_reading {
    /* Must be the first member, since it is cast to struct kv_reading. */
    struct kv_question question;
    struct pending pending;
    struct kv_get get;
    char key[KV_KEY_BYTES_MAX];
};

/* --- A value ------------------------------------------------------------- */

static void release_value(void *object)
{
    struct kv_value *value = object;

    kv_value_release(&value);
}

static void release_long(void *object)
{
    struct sending *sending = object;

    kv_memory_give(sending->memory, sending->asker, sending->value->data.len);
    kv_value_release(&sending->value);
    free(sending);
}

/* Hands the reference to `value` over to the response. A slow client keeps its
 * value in memory, so the sum of long values is limited. Returns false if the
 * limit is reached. */
static bool give_value(struct kv_memory *memory, struct exchange *exchange,
                       struct kv_value *value)
{
    struct response *response = &exchange->response;
    uint64_t asker = address_key_of(exchange->peer);
    struct sending *sending;

    if (value->data.len < LONG_BYTES) {
        response->origin = (struct origin){.release = release_value,
                                           .object = value};
        return true;
    }
    sending = malloc(sizeof(*sending));
    if (!sending || !kv_memory_take(memory, asker, value->data.len)) {
        free(sending);
        return false;
    }
    *sending = (struct sending){memory, asker, value};
    response->origin = (struct origin){.release = release_long,
                                       .object = sending};
    return true;
}

/* Returns the time in seconds, or INT64_MIN if it must not be sent. A date in
 * the future is not allowed (RFC 9110 8.8.2.1). The time is in the future if
 * another machine's clock was ahead, or if ours was set back. */
static int64_t modified_of(const struct kv *kv, const struct kv_meta *meta)
{
    int64_t seconds = meta->stored_ms / 1000;

    return seconds <= kv->options.defaults->now->wall_s ? seconds : INT64_MIN;
}

static void put_lines(const struct kv *kv, struct buf *fields,
                      const struct kv_meta *meta)
{
    int64_t modified = modified_of(kv, meta);
    char date[DATE_LEN];

    kv_put_fields(fields, meta);
    if (modified != INT64_MIN) {
        date_format(modified, date);
        head_field(fields, BYTES("Last-Modified"),
                   (struct bytes){date, DATE_LEN});
    }
    buf_put_literal(fields, "Cache-Control: no-cache\r\n"
                            "Content-Security-Policy: sandbox\r\n");
}

static struct validators validators_of(const struct kv *kv,
                                       const struct kv_meta *meta,
                                       struct buf *tag)
{
    kv_put_etag(tag, meta->revision);
    return (struct validators){.etag = buf_bytes(tag),
                               .modified = modified_of(kv, meta)};
}

/* Returns true if the answer will have the value's bytes, which a 304 or 412
 * has not. The answer itself is made later in the same turn, from the same
 * request and for the same time. So it agrees with the result of this
 * function. */
static bool wants_data(const struct kv_get *get, const struct kv_meta *meta)
{
    const struct kv_question *question =
        &OWNER_OF(get, struct kv_reading, get)->question;
    char storage[KV_ETAG_BYTES];
    struct validators validators;
    struct buf tag;

    buf_init(&tag, storage, sizeof(storage), sizeof(storage));
    validators = validators_of(question->kv, meta, &tag);
    return condition_evaluate(&question->exchange->request, &validators,
                              question->kv->options.defaults->now->wall_s) ==
           CONDITION_PROCEED;
}

static void send_whole(const struct kv *kv, struct exchange *exchange,
                       const struct representation *representation)
{
    struct response *response = &exchange->response;
    struct bytes body = {representation->memory,
                         (size_t)representation->length};
    struct buf *head = &response->head;

    response_begin(response, 200, kv->options.defaults);
    head_field(head, BYTES("Content-Type"), representation->type);
    head_number(head, BYTES("Content-Length"), representation->length);
    head_field(head, BYTES("Accept-Ranges"), BYTES("bytes"));
    buf_put(head, representation->fields);
    if (kv->options.codes_values &&
        encode_add_memory(&kv->encode, exchange, body))
        return;
    response_add_head(response);
    if (response->is_head || response->head.failed)
        return;
    response->body_bytes = representation->length;
    representation_add_body(representation, response, 0,
                            representation->length);
}

/* Replaces an error response (412, 416) by a problem (problem.h) with the same
 * status. The answer has the fields of the value, too. */
static void tell_problem(const struct kv *kv, struct exchange *exchange,
                         const struct kv_value *value)
{
    char storage[KV_FIELDS_BYTES_MAX];
    struct problem problem = {.status = exchange->response.status};
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), sizeof(storage));
    kv_put_fields(&fields, &value->meta);
    if (problem.status == 416) {
        buf_put_literal(&fields, "Content-Range: bytes */");
        buf_put_number(&fields, value->bytes);
        buf_put_literal(&fields, "\r\n");
    }
    problem.fields = buf_bytes(&fields);
    kv_fail_with(kv, exchange, &problem);
}

/* Answers 304 if the client has the value already. The 304 names the form that
 * the client has. Returns whether the request was answered. */
static bool answer_unchanged(struct kv *kv, struct exchange *exchange,
                             const struct representation *representation)
{
    const struct server_defaults *defaults = kv->options.defaults;
    struct response *response = &exchange->response;

    if (condition_evaluate(&exchange->request, &representation->validators,
                           defaults->now->wall_s) != CONDITION_NOT_MODIFIED)
        return false;
    response_begin(response, 304, defaults);
    buf_put(&response->head, representation->fields);
    encode_unsent(&kv->encode, exchange, representation->type);
    response_add_head(response);
    return true;
}

/* Answers a request that has conditions or asks for a range. `fields` has the
 * fields of the representation. */
static __attribute__((noinline)) enum representation_answer send_if(
    struct kv *kv, struct exchange *exchange, const struct kv_meta *meta,
    struct representation *representation, struct buf *fields)
{
    char storage[KV_ETAG_BYTES];
    struct buf tag;

    buf_init(&tag, storage, sizeof(storage), sizeof(storage));
    representation->validators = validators_of(kv, meta, &tag);
    if (kv->options.codes_values && kv->encode.rules) {
        if (answer_unchanged(kv, exchange, representation))
            return REPRESENTATION_NO_BODY;
        /* A part is never compressed, but the whole value might be. */
        if (compress_rules_take(kv->encode.rules, representation->type))
            buf_put_literal(fields, "Vary: Accept-Encoding\r\n");
        representation->fields = buf_bytes(fields);
    }
    return representation_answer(representation, exchange, kv->options.defaults,
                                 &kv->boundary);
}

/* Answers with the value. The reference to `value` goes to the response if the
 * response sends the value's bytes. Returns false if the value cannot be sent
 * now; the response is void then. */
static bool send_value(struct kv *kv, struct exchange *exchange,
                       struct kv_value *value)
{
    struct response *response = &exchange->response;
    char storage[KV_FIELDS_BYTES_MAX];
    enum representation_answer sent = REPRESENTATION_WHOLE;
    struct representation representation;
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), sizeof(storage));
    put_lines(kv, &fields, &value->meta);
    representation = (struct representation){
        .length = value->bytes,
        .type = value->type.len > 0 ? value->type : BYTES(KV_DEFAULT_TYPE),
        .fields = {storage, fields.len},
        .memory = value->data.len > 0 ? value->data.data : "",
        .fd = -1};
    if (!representation_is_plain(&exchange->request))
        sent = send_if(kv, exchange, &value->meta, &representation, &fields);
    if (sent == REPRESENTATION_WHOLE)
        send_whole(kv, exchange, &representation);
    else if (response->status >= 400 && response->is_error)
        tell_problem(kv, exchange, value);
    if (sent == REPRESENTATION_NO_BODY || response->is_head) {
        kv_value_release(&value);
        return true;
    }
    if (!give_value(kv->options.values, exchange, value)) {
        kv_value_release(&value);
        return false;
    }
    kv_note(kv, STATS_STORE_BYTES_OUT, response->body_bytes);
    return true;
}

static void answer_get(struct kv *kv, struct exchange *exchange,
                       struct kv_get *get)
{
    struct kv_value *value = get->value;

    get->value = NULL;
    if (get->outcome == KV_FOUND && !send_value(kv, exchange, value))
        get->outcome = KV_BUSY;
    if (get->outcome == KV_FOUND) {
        kv_note(kv, STATS_STORE_FOUND, 1);
    } else if (get->outcome == KV_MISSING) {
        kv_note(kv, STATS_STORE_MISSING, 1);
        kv_fail(kv, exchange, 404, "there is no such key");
    } else {
        kv_note_undone(kv, get->outcome);
        kv_fail_outcome(kv, exchange, get->outcome);
    }
}

/* --- Asking -------------------------------------------------------------- */

static void destroy(struct kv_question *question)
{
    struct kv_reading *reading = (struct kv_reading *)question;

    if (reading->get.value)
        kv_value_release(&reading->get.value);
    free(reading);
}

static struct answer look(struct pending *pending)
{
    struct kv_reading *reading = OWNER_OF(pending, struct kv_reading, pending);
    struct exchange *exchange = reading->question.exchange;

    if (!reading->question.is_done)
        return (struct answer){.state = ANSWER_LATER};
    exchange->pending = NULL;
    answer_get(reading->question.kv, exchange, &reading->get);
    kv_question_release(&reading->question);
    return (struct answer){.state = ANSWER_READY};
}

static void destroy_pending(struct pending *pending)
{
    kv_question_release(&OWNER_OF(pending, struct kv_reading, pending)
                             ->question);
}

static void on_done(struct kv_get *get)
{
    kv_question_done(&OWNER_OF(get, struct kv_reading, get)->question);
}

/* Returns kv->spare, the one reading that is kept for reuse, or a new reading.
 * A store that answers at once never needs two. */
static struct kv_reading *take_reading(struct kv *kv, struct exchange *exchange)
{
    struct kv_reading *reading = kv->spare;

    kv->spare = NULL;
    if (!reading && !(reading = malloc(sizeof(*reading))))
        return NULL;
    kv_question_init(&reading->question, kv, exchange, destroy);
    reading->pending = (struct pending){
        .look = look, .destroy = destroy_pending, .is_sure = true};
    return reading;
}

void kv_read(struct kv *kv, struct exchange *exchange, struct bytes key)
{
    struct kv_reading *reading;

    if (!kv_read_query(kv, exchange, NULL, 0))
        return;
    reading = take_reading(kv, exchange);
    if (!reading) {
        kv_fail_outcome(kv, exchange, KV_BUSY);
        return;
    }
    memcpy(reading->key, key.data, key.len);
    reading->get = (struct kv_get){.key = {reading->key, key.len},
                                   .without_data = exchange->response.is_head,
                                   .on_done = on_done};
    if (!representation_is_plain(&exchange->request))
        reading->get.wants_data = wants_data;
    if (kv_client_get(kv->options.client, &reading->get)) {
        answer_get(kv, exchange, &reading->get);
        kv->spare = reading;
        return;
    }
    kv_question_ask(&reading->question);
    exchange->pending = &reading->pending;
}

void kv_read_spare_fini(struct kv *kv)
{
    free(kv->spare);
}
