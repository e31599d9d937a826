#include "handler/kv.h"

#include <stdlib.h>

#include "handler/kv_priv.h"
#include "http/date.h"

enum { MS_PER_S = 1000 };

/* --- Questions -------------------------------------------------------------- */

void kv_question_init(struct kv_question *question, struct kv *kv,
                      struct exchange *exchange,
                      void (*destroy)(struct kv_question *question))
{
    *question = (struct kv_question){
        .kv = kv, .exchange = exchange, .refs = 1, .destroy = destroy};
    list_init(&question->link);
}

void kv_question_release(struct kv_question *question)
{
    if (--question->refs == 0)
        question->destroy(question);
}

void kv_question_ask(struct kv_question *question)
{
    question->refs++;
    list_put_last(&question->kv->asked, &question->link);
}

void kv_question_done(struct kv_question *question)
{
    list_drop(&question->link);
    question->is_done = true;
    if (question->refs > 1)
        exchange_wake(question->exchange);
    kv_question_release(question);
}

void kv_note_undone(const struct kv *kv, enum kv_outcome undone)
{
    kv_note(kv,
            kv_is_refused(undone) ? STATS_STORE_PRECONDITIONS
            : undone == KV_BUSY   ? STATS_STORE_BUSY
            : undone == KV_FULL   ? STATS_STORE_FULL
                                  : STATS_STORE_FAILED,
            1);
}

/* --- Answers ---------------------------------------------------------------- */

void kv_fail_with(const struct kv *kv, struct exchange *exchange,
                  struct problem *problem)
{
    char storage[KV_FIELDS_BYTES_MAX];
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), RESPONSE_HEAD_BYTES_MAX / 2);
    buf_put_literal(&fields, KV_NO_STORE);
    buf_put(&fields, problem->fields);
    problem->fields = buf_bytes(&fields);
    problem_answer(&exchange->response, problem, kv->options.style);
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

void kv_send_stream(const struct kv *kv, struct exchange *exchange,
                    struct bytes type, struct bytes fields,
                    struct stream *stream)
{
    struct response *response = &exchange->response;

    response->status = 200;
    head_begin(&response->head, 200, kv->options.style);
    head_field(&response->head, BYTES("Content-Type"), type);
    buf_put(&response->head, fields);
    response_add_stream(response, stream);
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

bool kv_read_query(struct kv *kv, struct exchange *exchange,
                   struct query_parameter *parameters, size_t count)
{
    static const char *const faults[] = {
        [QUERY_UNKNOWN] = "nobody knows this parameter",
        [QUERY_TWICE] = "this parameter comes twice",
        [QUERY_MALFORMED] = "this has NUL, or a broken escape"};
    struct bytes raw = exchange->request.query;
    struct problem problem = {.status = 400};
    enum query_verdict verdict;
    struct bytes name;

    if (raw.len > sizeof(kv->query)) {
        kv_fail(kv, exchange, 400, "the query is too long");
        return false;
    }
    verdict = query_read(raw, kv->query, parameters, count, &name);
    if (verdict == QUERY_DONE)
        return true;
    problem.detail = bytes_of(faults[verdict]);
    problem.members[0].name = "parameter";
    problem.members[0].text = name.data ? name : BYTES("");
    kv_fail_with(kv, exchange, &problem);
    return false;
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

bool kv_find_single(const struct request *request, struct bytes name,
                    struct bytes *value_out)
{
    *value_out = (struct bytes){NULL, 0};
    for (size_t i = 0; i < request->field_count; i++) {
        if (!bytes_ieq(request->fields[i].name, name))
            continue;
        if (value_out->data)
            return false;
        *value_out = request->fields[i].value;
    }
    return true;
}

bool kv_read_flag(struct bytes value, bool *is_set_out)
{
    *is_set_out = bytes_eq(value, BYTES("1"));
    return !value.data || *is_set_out || bytes_eq(value, BYTES("0"));
}

/* --- Which answer ----------------------------------------------------------- */

static const char *allow_line(enum kv_key_verdict place)
{
    if (place == KV_KEY_BATCH)
        return "Allow: POST, OPTIONS\r\nAccept-Post: application/x-ndjson\r\n";
    if (place == KV_KEY_ALL)
        return "Allow: GET, HEAD, POST, OPTIONS\r\n";
    return "Allow: GET, HEAD, PUT, POST, DELETE, OPTIONS\r\n";
}

static bool is_allowed(enum kv_key_verdict place, enum method method)
{
    switch (method) {
    case METHOD_OPTIONS:
    case METHOD_POST:
        return true;
    case METHOD_GET:
    case METHOD_HEAD:
        return place != KV_KEY_BATCH;
    case METHOD_PUT:
    case METHOD_DELETE:
        return place == KV_KEY_ONE;
    case METHOD_PATCH:
    case METHOD_TRACE:
    case METHOD_CONNECT:
    case METHOD_OTHER:
    case METHOD_COUNT:
        break;
    }
    return false;
}

static void answer_options(const struct kv *kv, struct exchange *exchange,
                           enum kv_key_verdict place)
{
    struct response *response = &exchange->response;

    response->status = 204;
    head_begin(&response->head, 204, kv->options.style);
    buf_put(&response->head, bytes_of(allow_line(place)));
    response_add_head(response);
}

/* Finds what it is about, and that it may be asked; or answers: false. */
static bool find_place(struct kv *kv, struct exchange *exchange,
                       enum kv_key_verdict *place_out,
                       char room[KV_KEY_BYTES_MAX], struct bytes *key_out)
{
    const struct request *request = &exchange->request;
    struct problem problem = {.status = 405};

    *place_out = kv_key_read(request->path, kv->options.prefix, room, key_out);
    if (kv_key_fault(*place_out)) {
        kv_fail(kv, exchange, 400, kv_key_fault(*place_out));
        return false;
    }
    if (is_allowed(*place_out, request->method))
        return true;
    problem.fields = bytes_of(allow_line(*place_out));
    kv_fail_with(kv, exchange, &problem);
    return false;
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct kv *kv = self;
    char room[KV_KEY_BYTES_MAX];
    enum kv_key_verdict place;
    struct bytes key;

    (void)rest; /* of the clean path, which keys are not read from */
    if (!find_place(kv, exchange, &place, room, &key))
        return;
    switch (exchange->request.method) {
    case METHOD_GET:
    case METHOD_HEAD:
        if (!kv_access_reads(&kv->options.access, exchange))
            kv_fail(kv, exchange, 403,
                    "this machine does not know itself by that Host");
        else if (place == KV_KEY_ALL)
            kv_list(kv, exchange);
        else
            kv_read(kv, exchange, key);
        return;
    case METHOD_PUT:
    case METHOD_POST:
    case METHOD_DELETE:
        kv_write(kv, exchange, place, key);
        return;
    case METHOD_OPTIONS:
    case METHOD_PATCH:
    case METHOD_TRACE:
    case METHOD_CONNECT:
    case METHOD_OTHER:
    case METHOD_COUNT:
        break;
    }
    answer_options(kv, exchange, place);
}

static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    struct kv *kv = self;
    char room[KV_KEY_BYTES_MAX];
    enum kv_key_verdict place;
    struct bytes key;

    (void)rest;
    if (find_place(kv, exchange, &place, room, &key) &&
        (exchange->request.method == METHOD_PUT ||
         exchange->request.method == METHOD_POST))
        kv_write_begin(kv, exchange, place, key);
}

void kv_admit(struct kv *kv, const struct kv_access *access)
{
    kv->options.access = *access;
}

struct handler kv_handler(struct kv *kv)
{
    return (struct handler){.answer = answer, .begin = begin, .self = kv};
}

/* --- Coming and going ------------------------------------------------------- */

struct kv *kv_create(const struct kv_options *options)
{
    struct kv *kv = calloc(1, sizeof(*kv));
    struct siphash_key secret;

    if (!kv)
        return NULL;
    kv->options = *options;
    list_init(&kv->asked);
    list_init(&kv->watchings);
    if (siphash_make_key(&secret) == 0) {
        kv->boundary.secret = secret.words[0];
        return kv;
    }
    free(kv);
    return NULL;
}

void kv_destroy(struct kv *kv)
{
    if (!kv)
        return;
    while (!list_is_empty(&kv->asked)) {
        struct kv_question *question = OWNER_OF(kv->asked.next,
                                                struct kv_question, link);

        list_drop(&question->link);
        kv_question_release(question);
    }
    kv_read_spare_fini(kv);
    free(kv);
}
