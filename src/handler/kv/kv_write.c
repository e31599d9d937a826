#include <assert.h>

#include "base/address_key.h"
#include "handler/kv/kv_write_priv.h"

enum { WRITINGS_KEPT = 64 }; /* most unused writings that are kept */

/* --- The body ------------------------------------------------------------ */

static size_t body_bytes_max(const struct kv_writing *writing)
{
    const struct kv_options *options = &writing->question.kv->options;

    return writing->batch ? options->batch_bytes_max : options->value_bytes_max;
}

static bool fail_long(struct kv_writing *writing)
{
    struct kv_question *question = &writing->question;
    struct problem problem = {.status = 413,
                              .detail = BYTES("this is too long")};

    problem.members[0].name = "limit";
    problem.members[0].number = body_bytes_max(writing);
    kv_fail_with(question->kv, question->exchange, &problem);
    return false;
}

static bool charge(struct kv_writing *writing, uint64_t bytes)
{
    struct kv_question *question = &writing->question;
    struct kv *kv = question->kv;

    if (!kv_memory_take(kv->options.bodies, writing->asker, bytes)) {
        kv_fail_outcome(kv, question->exchange, KV_BUSY);
        return false;
    }
    writing->charged += (size_t)bytes;
    return true;
}

static bool fail_batch(struct kv_writing *writing)
{
    const struct kv_batch_fault *fault = kv_batch_fault(writing->batch);
    struct problem problem = {.status = fault->status,
                              .detail = bytes_of(fault->text)};
    size_t at = 0;

    if (fault->status == 503)
        problem.fields = BYTES(KV_RETRY);
    if (fault->line > 0) {
        problem.members[at].name = "line";
        problem.members[at++].number = fault->line;
    }
    if (fault->member_len > 0) {
        problem.members[at].name = "member";
        problem.members[at].text = (struct bytes){fault->member,
                                                  fault->member_len};
    }
    kv_fail_with(writing->question.kv, writing->question.exchange, &problem);
    return false;
}

static bool foresee(struct sink *sink, uint64_t bytes)
{
    struct kv_writing *writing = OWNER_OF(sink, struct kv_writing, sink);

    return bytes <= body_bytes_max(writing) - writing->charged ||
           fail_long(writing);
}

static bool take(struct sink *sink, struct bytes data)
{
    struct kv_writing *writing = OWNER_OF(sink, struct kv_writing, sink);
    bool is_chunked = writing->question.exchange->request.is_chunked;

    if (is_chunked && !foresee(sink, data.len))
        return false;
    if (is_chunked && !charge(writing, data.len))
        return false;
    if (writing->batch)
        return kv_batch_take(writing->batch, data) || fail_batch(writing);
    buf_put(&writing->body, data);
    if (!writing->body.failed)
        return true;
    kv_fail_outcome(writing->question.kv, writing->question.exchange, KV_BUSY);
    return false;
}

static void destroy_sink(struct sink *sink)
{
    kv_question_release(&OWNER_OF(sink, struct kv_writing, sink)->question);
}

static bool expect_body(struct kv_writing *writing)
{
    const struct request *request = &writing->question.exchange->request;

    if (request->content_length > body_bytes_max(writing))
        return fail_long(writing);
    if (!charge(writing, request->content_length))
        return false;
    if (!writing->batch && request->content_length > 0 &&
        !buf_reserve(&writing->body, (size_t)request->content_length)) {
        kv_fail_outcome(writing->question.kv, writing->question.exchange,
                        KV_BUSY);
        return false;
    }
    return true;
}

/* --- Writing ------------------------------------------------------------- */

static struct answer look(struct pending *pending)
{
    struct kv_writing *writing = OWNER_OF(pending, struct kv_writing, pending);

    if (!writing->question.is_done)
        return (struct answer){.state = ANSWER_LATER};
    writing->question.exchange->pending = NULL;
    kv_writing_answer(writing);
    return (struct answer){.state = ANSWER_READY};
}

static void destroy_pending(struct pending *pending)
{
    kv_question_release(&OWNER_OF(pending, struct kv_writing, pending)
                             ->question);
}

static void note_op(const struct kv *kv, const struct kv_op *op)
{
    switch (op->outcome) {
    case KV_CREATED:
    case KV_REPLACED:
        kv_note(kv,
                op->outcome == KV_CREATED ? STATS_STORE_CREATED
                                          : STATS_STORE_REPLACED,
                1);
        kv_note(kv, STATS_STORE_BYTES_IN, op->value.len);
        break;
    case KV_DELETED:
        kv_note(kv, STATS_STORE_DELETED, 1);
        break;
    case KV_MISSING:
        kv_note(kv, STATS_STORE_NOT_DELETED, 1);
        break;
    case KV_HELD:
    case KV_FOUND:
    case KV_PRECONDITION:
    case KV_NO_NUMBER:
    case KV_OVERFLOW:
    case KV_UNDONE:
    case KV_FULL:
    case KV_BUSY:
    case KV_ERROR:
    case KV_CROSSED:
    case KV_UNREACHABLE:
    case KV_UNSUPPORTED:
    case KV_TIMEOUT:
        break;
    }
}

static void note_write(const struct kv_writing *writing)
{
    const struct kv *kv = writing->question.kv;
    const struct kv_write *write = &writing->write;

    if (!write->is_done) {
        kv_note_undone(kv, kv_write_reason(write)->outcome);
        return;
    }
    if (writing->batch)
        kv_note(kv, STATS_STORE_BATCHES, 1);
    for (size_t i = 0; i < write->count; i++)
        note_op(kv, &write->ops[i]);
}

/* Counts a write that is done, whether its client is still there or not. */
static void on_done(struct kv_write *write)
{
    struct kv_writing *writing = OWNER_OF(write, struct kv_writing, write);

    note_write(writing);
    kv_question_done(&writing->question);
}

static void destroy(struct kv_question *question)
{
    struct kv_writing *writing = (struct kv_writing *)question;

    kv_memory_give(question->kv->options.bodies, writing->asker,
                   writing->charged);
    kv_batch_destroy(writing->batch);
    buf_fini(&writing->body);
    pool_give(&question->kv->writings, writing);
}

static bool may_do_batch(struct kv_writing *writing)
{
    struct kv_question *question = &writing->question;
    struct problem problem = {.status = 403,
                              .detail = BYTES("the token is not for this key")};
    size_t count;
    const struct kv_op *ops;

    if (!kv_batch_end(writing->batch))
        return fail_batch(writing);
    ops = kv_batch_ops(writing->batch, &count);
    for (size_t i = 0; i < count; i++) {
        if (kv_pass_has(&writing->pass, ops[i].key))
            continue;
        problem.members[0].name = "line";
        problem.members[0].number = kv_batch_line(writing->batch, i);
        kv_fail_with(question->kv, question->exchange, &problem);
        return false;
    }
    return true;
}

/* Asks the store to do the write, whose body is complete. */
static void ask(struct kv_writing *writing)
{
    struct kv_question *question = &writing->question;

    writing->write = (struct kv_write){
        .ops = &writing->op, .count = 1, .on_done = on_done};
    if (writing->batch) {
        if (!may_do_batch(writing))
            return;
        writing->write.ops = kv_batch_ops(writing->batch,
                                          &writing->write.count);
    }
    writing->op.value = buf_bytes(&writing->body);
    writing->pending = (struct pending){
        .look = look, .destroy = destroy_pending, .is_sure = true};
    question->refs++; /* the reference that `pending` holds */
    if (kv_client_write(question->kv->options.client, &writing->write)) {
        note_write(writing);
        kv_writing_answer(writing);
        return;
    }
    kv_question_ask(question);
    question->exchange->pending = &writing->pending;
}

static bool create_batch(struct kv_writing *writing)
{
    struct kv_question *question = &writing->question;
    const struct kv_options *options = &question->kv->options;
    struct kv_batch_limits limits = {
        .ops_max = KV_WRITE_OPS_MAX,
        .value_bytes_max = options->value_bytes_max,
        .bytes_max = options->batch_bytes_max,
        .needs_condition = options->require_match};

    writing->batch = kv_batch_create(&limits);
    if (!writing->batch)
        kv_fail_outcome(question->kv, question->exchange, KV_BUSY);
    return writing->batch != NULL;
}

static bool prepare(struct kv_writing *writing, enum kv_key_verdict verdict,
                    struct bytes key)
{
    if (verdict == KV_KEY_BATCH)
        return kv_writing_read_batch_head(writing) && create_batch(writing) &&
               expect_body(writing);
    return kv_writing_read_head(writing, verdict, key) && expect_body(writing);
}

void kv_write_begin(struct kv *kv, struct exchange *exchange,
                    enum kv_key_verdict verdict, struct bytes key)
{
    struct kv_writing *writing = pool_take(&kv->writings);

    if (!writing) {
        kv_fail_outcome(kv, exchange, KV_BUSY);
        return;
    }
    memset(writing, 0, offsetof(struct kv_writing, key));
    kv_question_init(&writing->question, kv, exchange, destroy);
    writing->sink = (struct sink){
        .take = take, .destroy = destroy_sink, .foresee = foresee};
    writing->asker = address_key_of(exchange->peer);
    buf_init(&writing->body, writing->room, sizeof(writing->room),
             kv->options.value_bytes_max);
    if (prepare(writing, verdict, key))
        exchange->sink = &writing->sink;
    else
        kv_question_release(&writing->question);
}

void kv_write_init(struct kv *kv)
{
    pool_init(&kv->writings, sizeof(struct kv_writing), WRITINGS_KEPT);
}

void kv_write_fini(struct kv *kv)
{
    pool_fini(&kv->writings);
}

void kv_write_end(struct sink *sink)
{
    assert(sink->take == take);
    ask(OWNER_OF(sink, struct kv_writing, sink));
}
