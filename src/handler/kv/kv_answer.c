#include "handler/kv/kv_priv.h"
#include "http/date.h"

enum { MS_PER_S = 1000 };

void kv_note_undone(const struct kv *kv, enum kv_outcome undone)
{
    kv_note(kv,
            kv_is_refused(undone) ? STATS_STORE_PRECONDITIONS
            : undone == KV_BUSY   ? STATS_STORE_BUSY
            : undone == KV_FULL   ? STATS_STORE_FULL
                                  : STATS_STORE_FAILED,
            1);
}

void kv_fail_with(const struct kv *kv, struct exchange *exchange,
                  struct problem *problem)
{
    char storage[KV_FIELDS_BYTES_MAX];
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), RESPONSE_HEAD_BYTES_MAX / 2);
    buf_put_literal(&fields, KV_NO_STORE);
    buf_put(&fields, problem->fields);
    problem->fields = buf_bytes(&fields);
    problem_answer(&exchange->response, problem, kv->options.defaults);
    if (problem->status == 400 || problem->status == 413)
        exchange->response.reason = REASON_KEYS;
    buf_fini(&fields);
}

void kv_fail(const struct kv *kv, struct exchange *exchange, unsigned status,
             const char *detail)
{
    struct problem problem = {.status = status, .detail = bytes_of(detail)};

    kv_fail_with(kv, exchange, &problem);
}

void kv_fail_parameter(const struct kv *kv, struct exchange *exchange,
                       const char *name, const char *detail)
{
    struct problem problem = {
        .status = 400,
        .detail = bytes_of(detail),
        .members = {{.name = "parameter", .text = bytes_of(name)}}};

    kv_fail_with(kv, exchange, &problem);
}

void kv_fail_outcome(const struct kv *kv, struct exchange *exchange,
                     enum kv_outcome outcome)
{
    bool is_write = exchange->request.method != METHOD_GET &&
                    exchange->request.method != METHOD_HEAD;
    struct problem problem = {.status = 500,
                              .detail = BYTES("the store has failed")};

    if (outcome == KV_BUSY || outcome == KV_UNREACHABLE) {
        problem.status = 503;
        problem.detail = outcome == KV_BUSY
                             ? BYTES("the store is busy")
                             : BYTES("the store cannot be reached");
        problem.fields = BYTES(KV_RETRY);
    } else if (outcome == KV_TIMEOUT) {
        problem.status = 504;
        problem.detail = is_write
                             ? BYTES("the store has not answered in time; the "
                                     "write may have taken place, or may yet")
                             : BYTES("the store has not answered in time");
    } else if (outcome == KV_CROSSED) {
        problem.status = 422;
        problem.detail = BYTES("this store is a cluster: the keys of a batch "
                               "must have the same {tag}");
    } else if (outcome == KV_UNSUPPORTED) {
        problem.status = 501;
        problem.detail = BYTES("this store does not tell of changes");
    } else if (outcome == KV_FULL) {
        problem.status = 507;
        problem.detail = BYTES("the store is full");
    }
    kv_fail_with(kv, exchange, &problem);
}

void kv_send_text(const struct kv *kv, struct exchange *exchange,
                  struct bytes type, struct bytes fields,
                  struct text_source *text)
{
    struct response *response = &exchange->response;

    response_begin(response, 200, kv->options.defaults);
    head_field(&response->head, BYTES("Content-Type"), type);
    buf_put(&response->head, fields);
    encode_add_source(&kv->encode, exchange, text ? &text->source : NULL,
                      ENCODE_UNSIZED);
}

void kv_put_etag(struct buf *out, uint64_t revision)
{
    buf_put_literal(out, "\"");
    buf_put_number(out, revision);
    buf_put_literal(out, "\"");
}

int64_t kv_expires_s(const struct kv_meta *meta)
{
    return meta->expires_ms / MS_PER_S + (meta->expires_ms % MS_PER_S > 0);
}

void kv_put_fields(struct buf *fields, const struct kv_meta *meta)
{
    char date[DATE_LEN];

    buf_put_literal(fields, "ETag: ");
    kv_put_etag(fields, meta->revision);
    buf_put_literal(fields, "\r\n");
    if (meta->expires_ms == 0)
        return;
    date_format(kv_expires_s(meta), date);
    head_field(fields, BYTES("X-KV-Expires"), (struct bytes){date, DATE_LEN});
}
