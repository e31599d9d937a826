#include "handler/kv/kv_write_priv.h"
#include "http/path.h"
#include "kv/kv_integer.h"

enum { RESULT_BYTES_MAX = 200 };

/* --- One operation ------------------------------------------------------- */

static struct bytes named_key(struct kv_writing *writing)
{
    struct kv_op *op = &writing->op;

    memcpy(writing->key + op->key.len, op->name, KV_NAME_BYTES);
    return (struct bytes){writing->key, op->key.len + KV_NAME_BYTES};
}

static void send_done(struct kv_writing *writing, unsigned status)
{
    struct kv_question *question = &writing->question;
    const struct kv_options *options = &question->kv->options;
    struct response *response = &question->exchange->response;
    const struct kv_op *op = &writing->op;
    char path[3 * KV_KEY_BYTES_MAX];

    response_begin(response, status, options->defaults);
    if (op->kind != KV_DELETE)
        kv_put_fields(&response->head, &op->meta);
    if (op->kind == KV_PUT_NAMED) {
        size_t len = path_encode_value(named_key(writing), path);

        buf_put_literal(&response->head, "Location: ");
        buf_put(&response->head, options->prefix);
        buf_put_literal(&response->head, "/");
        buf_put(&response->head, (struct bytes){path, len});
        buf_put_literal(&response->head, "\r\n");
    }
    if (status == 201)
        head_number(&response->head, BYTES("Content-Length"), 0);
    response_add_head(response);
}

/* Answers an add with the resulting sum. */
static void send_sum(struct kv_writing *writing, unsigned status)
{
    struct kv_question *question = &writing->question;
    char storage[KV_FIELDS_BYTES_MAX], text[KV_INTEGER_BYTES_MAX];
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), sizeof(storage));
    kv_put_fields(&fields, &writing->op.meta);
    buf_put_literal(&fields, KV_NO_STORE);
    response_make_short(&question->exchange->response, status,
                        buf_bytes(&fields), BYTES(KV_INTEGER_TYPE),
                        kv_integer_write(writing->op.sum, text),
                        question->kv->options.defaults);
}

static const char *refusal_detail(enum kv_outcome refusal)
{
    return refusal == KV_NO_NUMBER  ? "the value is no whole number"
           : refusal == KV_OVERFLOW ? "the sum would be beyond 64 bits"
                                    : "the condition is not true";
}

/* Answers a refused operation. `line` is the operation's line in a batch, or 0
 * without a batch. */
static void fail_refused(struct kv_writing *writing, const struct kv_op *op,
                         size_t line)
{
    char storage[KV_FIELDS_BYTES_MAX], tag_storage[KV_ETAG_BYTES];
    struct problem problem = {.status = op->outcome == KV_PRECONDITION ? 412
                                                                       : 409,
                              .detail = bytes_of(refusal_detail(op->outcome))};
    struct buf fields, tag;

    buf_init(&fields, storage, sizeof(storage), sizeof(storage));
    buf_init(&tag, tag_storage, sizeof(tag_storage), sizeof(tag_storage));
    if (line > 0) {
        problem.members[0].name = "line";
        problem.members[0].number = line;
    }
    if (op->meta.revision > 0) {
        kv_put_etag(&tag, op->meta.revision);
        problem.members[line > 0].name = "etag";
        problem.members[line > 0].text = buf_bytes(&tag);
        head_field(&fields, BYTES("ETag"), buf_bytes(&tag));
    }
    /* The answer to a batch has no ETag of a key: clients would take it for the
     * ETag of the request's path. */
    problem.fields = line > 0 ? BYTES("") : buf_bytes(&fields);
    kv_fail_with(writing->question.kv, writing->question.exchange, &problem);
}

static void answer_op(struct kv_writing *writing)
{
    const struct kv *kv = writing->question.kv;
    struct exchange *exchange = writing->question.exchange;

    bool is_add = writing->op.kind == KV_ADD;

    switch (writing->op.outcome) {
    case KV_CREATED:
        if (is_add)
            send_sum(writing, 201);
        else
            send_done(writing, 201);
        break;
    case KV_REPLACED:
    case KV_DELETED:
        if (is_add)
            send_sum(writing, 200);
        else
            send_done(writing, 204);
        break;
    case KV_MISSING:
        kv_fail(kv, exchange, 404, "there is no such key");
        break;
    case KV_PRECONDITION:
    case KV_NO_NUMBER:
    case KV_OVERFLOW:
        fail_refused(writing, &writing->op, 0);
        break;
    case KV_FOUND:
    case KV_HELD:
    case KV_UNDONE:
    case KV_FULL:
    case KV_BUSY:
    case KV_CROSSED:
    case KV_UNREACHABLE:
    case KV_UNSUPPORTED:
    case KV_TIMEOUT:
    case KV_ERROR:
        kv_fail_outcome(kv, exchange, writing->op.outcome);
        break;
    }
}

/* --- A batch ------------------------------------------------------------- */

static unsigned result_status(const struct kv_op *op)
{
    switch (op->outcome) {
    case KV_CREATED:
        return 201;
    case KV_REPLACED:
    case KV_DELETED:
        return op->kind == KV_ADD ? 200 : 204;
    case KV_MISSING:
        return 404;
    case KV_FOUND:
    case KV_HELD:
        return 200;
    case KV_PRECONDITION:
    case KV_NO_NUMBER:
    case KV_OVERFLOW:
    case KV_UNDONE:
    case KV_FULL:
    case KV_BUSY:
    case KV_CROSSED:
    case KV_UNREACHABLE:
    case KV_UNSUPPORTED:
    case KV_TIMEOUT:
    case KV_ERROR:
        break;
    }
    return 500;
}

static void put_result(struct buf *out, const struct kv_op *op, size_t line)
{
    char text[KV_INTEGER_BYTES_MAX];

    buf_put_literal(out, "{\"line\":");
    buf_put_number(out, line);
    buf_put_literal(out, ",\"status\":");
    buf_put_number(out, result_status(op));
    if (op->kind != KV_DELETE && op->meta.revision > 0) {
        buf_put_literal(out, ",\"etag\":\"\\\"");
        buf_put_number(out, op->meta.revision);
        buf_put_literal(out, "\\\"\"");
    }
    if (op->kind == KV_ADD) {
        buf_put_literal(out, ",\"value\":\"");
        buf_put(out, kv_integer_write(op->sum, text));
        buf_put_literal(out, "\"");
    }
    buf_put_literal(out, "}\n");
}

static enum piece_state fill_results(struct text_source *text, struct buf *out)
{
    struct kv_writing *writing = OWNER_OF(text, struct kv_writing, text);
    size_t count;
    const struct kv_op *ops = kv_batch_ops(writing->batch, &count);

    while (text_source_room(out) >= RESULT_BYTES_MAX) {
        if (writing->results_at == count)
            return PIECE_END;
        put_result(out, &ops[writing->results_at],
                   kv_batch_line(writing->batch, writing->results_at));
        writing->results_at++;
    }
    return PIECE_MORE;
}

static void destroy_results(struct text_source *text)
{
    kv_question_release(&OWNER_OF(text, struct kv_writing, text)->question);
}

const struct kv_op *kv_write_reason(const struct kv_write *write)
{
    size_t at = 0;

    while (at + 1 < write->count && write->ops[at].outcome == KV_UNDONE)
        at++;
    return &write->ops[at];
}

static void answer_undone(struct kv_writing *writing)
{
    const struct kv_op *op = kv_write_reason(&writing->write);
    size_t at = (size_t)(op - writing->write.ops);

    if (kv_is_refused(op->outcome))
        fail_refused(writing, op, kv_batch_line(writing->batch, at));
    else
        kv_fail_outcome(writing->question.kv, writing->question.exchange,
                        op->outcome);
}

void kv_writing_answer(struct kv_writing *writing)
{
    struct kv_question *question = &writing->question;

    if (writing->batch && writing->write.is_done) {
        text_source_init(&writing->text, fill_results, destroy_results);
        kv_send_text(question->kv, question->exchange,
                     BYTES("application/x-ndjson"), BYTES(KV_NO_STORE),
                     &writing->text);
        return;
    }
    if (writing->batch)
        answer_undone(writing);
    else
        answer_op(writing);
    kv_question_release(question);
}
