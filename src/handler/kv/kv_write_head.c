#include "handler/kv/kv_write_priv.h"
#include "kv/kv_integer.h"

/* --- Reading the head ---------------------------------------------------- */

static void ask_for_token(struct kv *kv, struct exchange *exchange)
{
    struct problem problem = {
        .status = 401,
        .detail = BYTES("writing needs a token"),
        .fields = BYTES("WWW-Authenticate: Bearer realm=\"kv\"\r\n")};

    kv_fail_with(kv, exchange, &problem);
}

/* Returns whether the client may write. Whenever this or another function of
 * this file returns false, it has answered the exchange. */
static bool admits(struct kv *kv, struct exchange *exchange,
                   struct kv_pass *pass)
{
    switch (kv_access_judge(&kv->options.access, exchange, pass)) {
    case KV_LEAVE_GIVEN:
        return true;
    case KV_LEAVE_UNKNOWN:
        ask_for_token(kv, exchange);
        break;
    case KV_LEAVE_REFUSED:
        kv_fail(kv, exchange, 403, "writing is not allowed from there");
        break;
    }
    return false;
}

static bool has_leave(struct kv *kv, struct exchange *exchange,
                      const struct kv_pass *pass, struct bytes key)
{
    if (kv_pass_has(pass, key))
        return true;
    kv_fail(kv, exchange, 403, "the token is not for this key");
    return false;
}

static bool is_tag(struct bytes text)
{
    return text.len > 2 && *text.data == '"' &&
           memchr(text.data + 1, '"', text.len - 1) == text.data + text.len - 1;
}

static bool read_if_match(struct kv *kv, struct exchange *exchange,
                          struct kv_op *op)
{
    const struct field *field = request_single(&exchange->request,
                                               FIELD_IF_MATCH);
    bool is_weak = field && field->value.len > 2 &&
                   memcmp(field->value.data, "W/", 2) == 0;
    struct bytes tag = field ? field->value : BYTES("");

    if (is_weak) /* a weak ETag is valid here, but never matches */
        tag = bytes_between(tag.data + 2, tag.data + tag.len);
    if (!is_tag(tag) && (is_weak || !bytes_eq(tag, BYTES("*")))) {
        kv_fail(kv, exchange, 400, "If-Match has one ETag here, or \"*\"");
        return false;
    }
    op->condition = kv_condition_read(tag, false, &op->if_revision);
    if (is_weak)
        op->if_revision = 0;
    return true;
}

/* Reads the condition. Refuses a condition that the store cannot check, since
 * updates would be lost if it were ignored. An add loses no update, and needs
 * no condition. */
static bool read_condition(struct kv *kv, struct exchange *exchange,
                           struct kv_op *op)
{
    const struct request *request = &exchange->request;
    const struct field *none = request_find(request, FIELD_IF_NONE_MATCH);
    const struct field *match = request_find(request, FIELD_IF_MATCH);

    /* With If-Match, If-Unmodified-Since is ignored (RFC 9110, 13.1.4). */
    if (match ? none != NULL
              : request_find(request, FIELD_IF_UNMODIFIED_SINCE) != NULL) {
        kv_fail(kv, exchange, 400, "writing has If-Match or If-None-Match");
        return false;
    }
    if (match)
        return read_if_match(kv, exchange, op);
    if (none &&
        (request_next(request, none) || !bytes_eq(none->value, BYTES("*")))) {
        kv_fail(kv, exchange, 400, "If-None-Match has \"*\" only here");
        return false;
    }
    if (none) {
        op->condition = KV_IF_MISSING;
    } else if (kv->options.require_match && op->kind != KV_ADD) {
        kv_fail(kv, exchange, 428, "writing needs If-Match or If-None-Match");
        return false;
    }
    return true;
}

/* Checks that a request has no condition. A condition would be about one key,
 * and the path of this request names none. Returns false after it has refused a
 * request that has a condition. */
static bool has_no_condition(struct kv *kv, struct exchange *exchange)
{
    static const enum field_id conditions[] = {
        FIELD_IF_MATCH, FIELD_IF_NONE_MATCH, FIELD_IF_UNMODIFIED_SINCE};

    for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
        if (!request_find(&exchange->request, conditions[i]))
            continue;
        kv_fail(kv, exchange, 400, "there is no revision here to ask for");
        return false;
    }
    return true;
}

static void refuse_coding(struct kv *kv, struct exchange *exchange)
{
    struct problem problem = {.status = 415,
                              .detail = BYTES("values have no coding"),
                              .fields = BYTES("Accept-Encoding: identity\r\n")};

    kv_fail_with(kv, exchange, &problem);
}

static bool read_type(struct kv *kv, struct exchange *exchange,
                      struct kv_writing *writing)
{
    const struct request *request = &exchange->request;
    struct bytes type, coding, range;

    if (!kv_find_single(request, BYTES("Content-Range"), &range) ||
        range.data) {
        kv_fail(kv, exchange, 400, "a value is written as a whole");
        return false;
    }
    if (!kv_find_single(request, BYTES("Content-Encoding"), &coding) ||
        (coding.data && !bytes_ieq(coding, BYTES("identity")))) {
        refuse_coding(kv, exchange);
        return false;
    }
    if (!kv_find_single(request, BYTES("Content-Type"), &type) ||
        !kv_type_is_valid(type)) {
        kv_fail(kv, exchange, 415, "a type is one, and has 255 bytes at most");
        return false;
    }
    if (type.len > 0)
        memcpy(writing->type, type.data, type.len);
    writing->op.type = (struct bytes){writing->type, type.len};
    return true;
}

static bool is_ndjson(const struct request *request)
{
    struct bytes type;
    const char *end;

    if (!kv_find_single(request, BYTES("Content-Type"), &type) || type.len == 0)
        return false;
    end = memchr(type.data, ';', type.len);
    if (end)
        type = bytes_trim(bytes_between(type.data, end));
    return bytes_ieq(type, BYTES("application/x-ndjson")) ||
           bytes_ieq(type, BYTES("application/ndjson"));
}

static bool fail_parameter(struct kv *kv, struct exchange *exchange,
                           const char *name, const char *detail)
{
    kv_fail_parameter(kv, exchange, name, detail);
    return false;
}

static bool read_ttl(struct kv *kv, struct exchange *exchange,
                     struct bytes value, struct kv_op *op)
{
    uint64_t seconds = 0;

    if (value.data &&
        (!query_number(value, KV_TTL_MAX_S, &seconds) || seconds == 0))
        return fail_parameter(kv, exchange, "ttl",
                              "this is seconds, 1 to 3153600000");
    op->ttl_ms = seconds * 1000;
    return true;
}

/* Reads "op=add" and its number. A request must not have "by" without "op". */
static bool read_add(struct kv *kv, struct exchange *exchange, struct bytes add,
                     struct bytes by, struct kv_op *op)
{
    const struct request *request = &exchange->request;

    if (!add.data)
        return !by.data ||
               fail_parameter(kv, exchange, "by", "only op=add has this");
    if (!bytes_eq(add, BYTES("add")))
        return fail_parameter(kv, exchange, "op", "this is add, if anything");
    op->by = 1;
    if (by.data && !kv_integer_read(by, &op->by))
        return fail_parameter(kv, exchange, "by",
                              "this is a whole number of 64 bits");
    if (request->is_chunked || request->content_length > 0) {
        kv_fail(kv, exchange, 400, "op=add has no body");
        return false;
    }
    op->kind = KV_ADD;
    op->type = BYTES(KV_INTEGER_TYPE);
    return true;
}

/* Reads the parameters of a key's address. A PUT may have ttl; only a POST to a
 * key may have others. */
static bool read_key_parameters(struct kv *kv, struct exchange *exchange,
                                struct kv_op *op)
{
    struct query_parameter asked[] = {
        {.name = BYTES("ttl")}, {.name = BYTES("op")}, {.name = BYTES("by")}};
    size_t count = op->kind == KV_DELETE                     ? 0
                   : exchange->request.method == METHOD_POST ? 3
                                                             : 1;

    return kv_read_query(kv, exchange, asked, count) &&
           read_ttl(kv, exchange, asked[0].value, op) &&
           read_add(kv, exchange, asked[1].value, asked[2].value, op);
}

/* Reads the parameters for a key that the store will name. */
static bool read_prefix_parameters(struct kv *kv, struct exchange *exchange,
                                   struct kv_writing *writing)
{
    struct query_parameter asked[] = {{.name = BYTES("ttl")},
                                      {.name = BYTES("prefix")}};
    struct kv_op *op = &writing->op;

    if (!kv_read_query(kv, exchange, asked, 2) ||
        !read_ttl(kv, exchange, asked[0].value, op))
        return false;
    if (asked[1].value.len > KV_KEY_BYTES_MAX - KV_NAME_BYTES)
        return fail_parameter(kv, exchange, "prefix",
                              "this leaves no room for a name");
    if (asked[1].value.len > 0) {
        memcpy(writing->key, asked[1].value.data, asked[1].value.len);
        op->key.len = asked[1].value.len;
    }
    return true;
}

bool kv_writing_read_head(struct kv_writing *writing,
                          enum kv_key_verdict verdict, struct bytes key)
{
    struct kv_question *question = &writing->question;
    struct kv *kv = question->kv;
    struct exchange *exchange = question->exchange;
    struct kv_op *op = &writing->op;

    op->kind = verdict == KV_KEY_ALL                       ? KV_PUT_NAMED
               : exchange->request.method == METHOD_DELETE ? KV_DELETE
                                                           : KV_PUT;
    op->key = (struct bytes){writing->key, key.len};
    if (key.len > 0)
        memcpy(writing->key, key.data, key.len);
    if (!admits(kv, exchange, &writing->pass) ||
        !(op->kind == KV_PUT_NAMED
              ? read_prefix_parameters(kv, exchange, writing)
              : read_key_parameters(kv, exchange, op)) ||
        !has_leave(kv, exchange, &writing->pass, op->key))
        return false;
    if (op->kind == KV_PUT_NAMED ? !has_no_condition(kv, exchange)
                                 : !read_condition(kv, exchange, op))
        return false;
    return op->kind == KV_DELETE || op->kind == KV_ADD ||
           read_type(kv, exchange, writing);
}

bool kv_writing_read_batch_head(struct kv_writing *writing)
{
    struct kv *kv = writing->question.kv;
    struct exchange *exchange = writing->question.exchange;
    struct problem problem = {
        .status = 415,
        .detail = BYTES("a batch is application/x-ndjson"),
        .fields = BYTES("Accept-Post: application/x-ndjson\r\n")};

    if (!admits(kv, exchange, &writing->pass) ||
        !kv_read_query(kv, exchange, NULL, 0) ||
        !has_no_condition(kv, exchange))
        return false;
    if (is_ndjson(&exchange->request))
        return true;
    kv_fail_with(kv, exchange, &problem);
    return false;
}
