#include "handler/kv/kv.h"

#include <stdlib.h>

#include "handler/kv/kv_priv.h"

/* --- Which answer -------------------------------------------------------- */

static const char *allow_line(enum kv_key_verdict verdict)
{
    if (verdict == KV_KEY_BATCH)
        return "Allow: POST, OPTIONS\r\nAccept-Post: application/x-ndjson\r\n";
    if (verdict == KV_KEY_ALL)
        return "Allow: GET, HEAD, POST, OPTIONS\r\n";
    return "Allow: GET, HEAD, PUT, POST, DELETE, OPTIONS\r\n";
}

static bool is_allowed(enum kv_key_verdict verdict, enum method method)
{
    switch (method) {
    case METHOD_OPTIONS:
    case METHOD_POST:
        return true;
    case METHOD_GET:
    case METHOD_HEAD:
        return verdict != KV_KEY_BATCH;
    case METHOD_PUT:
    case METHOD_DELETE:
        return verdict == KV_KEY_ONE;
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
                           enum kv_key_verdict verdict)
{
    struct response *response = &exchange->response;

    response_begin(response, 204, kv->options.defaults);
    buf_put(&response->head, bytes_of(allow_line(verdict)));
    response_add_head(response);
}

static bool refuse_method(struct kv *kv, struct exchange *exchange,
                          enum kv_key_verdict verdict)
{
    struct problem problem = {.status = 405,
                              .fields = bytes_of(allow_line(verdict))};

    kv_fail_with(kv, exchange, &problem);
    return false;
}

/* Reads the key that the path names, and checks whether the method is allowed
 * for it. Returns false after it has answered a faulty request. */
static bool read_path(struct kv *kv, struct exchange *exchange,
                      enum kv_key_verdict *verdict_out,
                      char room[KV_KEY_BYTES_MAX], struct bytes *key_out)
{
    const struct request *request = &exchange->request;

    *verdict_out = kv_key_read(request->path, kv->options.prefix, room,
                               key_out);
    if (kv_key_fault(*verdict_out)) {
        kv_fail(kv, exchange, 400, kv_key_fault(*verdict_out));
        return false;
    }
    return is_allowed(*verdict_out, request->method) ||
           refuse_method(kv, exchange, *verdict_out);
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct kv *kv = self;
    char room[KV_KEY_BYTES_MAX];
    enum kv_key_verdict verdict;
    struct bytes key;

    (void)rest;           /* keys are read from the raw path, not a clean one */
    if (exchange->sink) { /* the head was checked before the body came */
        kv_write_end(exchange->sink);
        return;
    }
    if (!read_path(kv, exchange, &verdict, room, &key))
        return;
    switch (exchange->request.method) {
    case METHOD_GET:
    case METHOD_HEAD:
        if (!kv_access_reads(&kv->options.access, exchange))
            kv_fail(kv, exchange, 403,
                    "this machine does not know itself by that Host");
        else if (verdict == KV_KEY_ALL)
            kv_list(kv, exchange);
        else
            kv_read(kv, exchange, key);
        return;
    case METHOD_PUT:
    case METHOD_POST:
    case METHOD_DELETE:
        kv_write_begin(kv, exchange, verdict, key);
        if (exchange->sink) /* no body follows */
            kv_write_end(exchange->sink);
        return;
    case METHOD_OPTIONS:
    case METHOD_PATCH:
    case METHOD_TRACE:
    case METHOD_CONNECT:
    case METHOD_OTHER:
    case METHOD_COUNT:
        break;
    }
    answer_options(kv, exchange, verdict);
}

static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    struct kv *kv = self;
    char room[KV_KEY_BYTES_MAX];
    enum kv_key_verdict verdict;
    struct bytes key;

    (void)rest;
    if (read_path(kv, exchange, &verdict, room, &key) &&
        (exchange->request.method == METHOD_PUT ||
         exchange->request.method == METHOD_POST))
        kv_write_begin(kv, exchange, verdict, key);
}

void kv_encode(struct kv *kv, const struct encode *encode)
{
    kv->encode = *encode;
}

void kv_admit(struct kv *kv, const struct kv_access *access)
{
    kv->options.access = *access;
}

struct handler kv_handler(struct kv *kv)
{
    return (struct handler){.answer = answer, .begin = begin, .self = kv};
}

/* --- Coming and going ---------------------------------------------------- */

struct kv *kv_create(const struct kv_options *options)
{
    struct kv *kv = calloc(1, sizeof(*kv));
    struct siphash_key secret;

    if (!kv)
        return NULL;
    kv->options = *options;
    list_init(&kv->asked);
    list_init(&kv->watchings);
    kv_write_init(kv);
    if (siphash_make_key(&secret) == 0 &&
        stream_seats_init(&kv->seats, options->watchers_max) == 0) {
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
                                                struct kv_question, list_node);

        list_drop(&question->list_node);
        kv_question_release(question);
    }
    kv_read_spare_fini(kv);
    kv_write_fini(kv);
    stream_seats_fini(&kv->seats);
    free(kv);
}
