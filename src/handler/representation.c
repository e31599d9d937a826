#include "handler/representation.h"

#include "http/range.h"

void representation_add_body(const struct representation *representation,
                             struct response *response, uint64_t first,
                             uint64_t len)
{
    if (representation->memory)
        response_add_memory(response,
                            (struct bytes){representation->memory + first,
                                           (size_t)len});
    else
        response_add_file(response, representation->file_kind,
                          representation->fd, first, len);
}

static void send_not_modified(const struct representation *representation,
                              struct response *response,
                              const struct server_defaults *defaults)
{
    response_begin(response, 304, defaults);
    buf_put(&response->head, representation->fields);
    response_add_head(response);
}

/* --- Ranges --------------------------------------------------------------- */

static uint64_t range_bytes(const struct range *range)
{
    return range->last - range->first + 1;
}

static void put_content_range(struct buf *to, const struct range *range,
                              uint64_t length)
{
    buf_put_literal(to, "Content-Range: bytes ");
    buf_put_number(to, range->first);
    buf_put_literal(to, "-");
    buf_put_number(to, range->last);
    buf_put_literal(to, "/");
    buf_put_number(to, length);
    buf_put_literal(to, "\r\n");
}

static void put_representation(struct buf *head,
                               const struct representation *representation)
{
    head_field(head, BYTES("Accept-Ranges"), BYTES("bytes"));
    if (representation->encoding.len > 0)
        head_field(head, BYTES("Content-Encoding"), representation->encoding);
    buf_put(head, representation->fields);
}

static void send_range(const struct representation *representation,
                       struct response *response, const struct range *range,
                       const struct server_defaults *defaults)
{
    response->body_bytes = range_bytes(range);
    response_begin(response, 206, defaults);
    head_field(&response->head, BYTES("Content-Type"), representation->type);
    head_number(&response->head, BYTES("Content-Length"), response->body_bytes);
    put_content_range(&response->head, range, representation->length);
    put_representation(&response->head, representation);
    response_add_head(response);
    representation_add_body(representation, response, range->first,
                            response->body_bytes);
}

static void put_boundary(struct buf *to, const struct boundary *boundary)
{
    buf_printf(to, "%016llx%016llx", (unsigned long long)boundary->secret,
               (unsigned long long)boundary->count);
}

/* Puts the heads of all parts, and then the text that ends the body. begins[i]
 * becomes the offset of head i, and begins[count] the offset of that text. */
static void put_part_heads(struct buf *heads, size_t *begins,
                           const struct representation *representation,
                           const struct range *ranges, size_t count,
                           const struct boundary *boundary)
{
    for (size_t i = 0; i < count; i++) {
        begins[i] = heads->len;
        buf_put(heads, i > 0 ? BYTES("\r\n--") : BYTES("--"));
        put_boundary(heads, boundary);
        buf_put_literal(heads, "\r\n");
        head_field(heads, BYTES("Content-Type"), representation->type);
        put_content_range(heads, &ranges[i], representation->length);
        buf_put_literal(heads, "\r\n");
    }
    begins[count] = heads->len;
    buf_put_literal(heads, "\r\n--");
    put_boundary(heads, boundary);
    buf_put_literal(heads, "--\r\n");
    begins[count + 1] = heads->len;
}

/* Sends multipart/byteranges (RFC 9110 14.6). All text is first put into the
 * response's head buffer, which may move when it grows. So addresses in the
 * buffer are taken only at the end. Returns false when there is no memory. */
static bool send_ranges(const struct representation *representation,
                        struct response *response, const struct range *ranges,
                        size_t count, const struct server_defaults *defaults,
                        const struct boundary *boundary)
{
    struct buf *head = &response->head;
    size_t begins[RANGE_COUNT_MAX + 2];
    char storage[4096];
    struct buf heads;
    size_t text_at;
    bool ok;

    buf_init(&heads, storage, sizeof(storage), RESPONSE_HEAD_BYTES_MAX / 2);
    put_part_heads(&heads, begins, representation, ranges, count, boundary);
    response->body_bytes = heads.len;
    for (size_t i = 0; i < count; i++)
        response->body_bytes += range_bytes(&ranges[i]);

    response_begin(response, 206, defaults);
    buf_put_literal(head, "Content-Type: multipart/byteranges; boundary=");
    put_boundary(head, boundary);
    buf_put_literal(head, "\r\n");
    head_number(head, BYTES("Content-Length"), response->body_bytes);
    put_representation(head, representation);
    ok = response_end_head(response);
    text_at = head->len;
    buf_put(head, buf_bytes(&heads));
    ok = ok && !heads.failed && !head->failed &&
         response_reserve_parts(response, 2 * count + 2);
    buf_fini(&heads);
    if (!ok)
        return false;
    response_lay_head(response);
    for (size_t i = 0; i <= count; i++) {
        response_add_memory(response,
                            (struct bytes){head->data + text_at + begins[i],
                                           begins[i + 1] - begins[i]});
        if (i < count)
            representation_add_body(representation, response, ranges[i].first,
                                    range_bytes(&ranges[i]));
    }
    return true;
}

static void refuse_range(const struct representation *representation,
                         struct response *response,
                         const struct server_defaults *defaults)
{
    char storage[128];
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), sizeof(storage));
    buf_put_literal(&fields, "Content-Range: bytes */");
    buf_put_number(&fields, representation->length);
    buf_put_literal(&fields, "\r\n");
    response_make_error(response, 416, buf_bytes(&fields), defaults);
}

static enum representation_answer answer_range(
    const struct representation *representation, struct exchange *exchange,
    const struct server_defaults *defaults, struct boundary *boundary)
{
    struct response *response = &exchange->response;
    const struct field *field = request_single(&exchange->request, FIELD_RANGE);
    struct range ranges[RANGE_COUNT_MAX];
    size_t count = 0;

    /* A Range is ignored unless the method is GET (RFC 9110 14.2). */
    if (exchange->request.method != METHOD_GET || !field ||
        !condition_range_applies(&exchange->request,
                                 &representation->validators,
                                 defaults->now->wall_s))
        return REPRESENTATION_WHOLE;
    switch (range_parse(field->value, representation->length, ranges, &count)) {
    case RANGE_IGNORE:
        return REPRESENTATION_WHOLE;
    case RANGE_UNSATISFIABLE:
        refuse_range(representation, response, defaults);
        return REPRESENTATION_NO_BODY;
    case RANGE_PARTIAL:
        break;
    }
    boundary->count++;
    if (count == 1) {
        send_range(representation, response, &ranges[0], defaults);
    } else if (!send_ranges(representation, response, ranges, count, defaults,
                            boundary)) {
        response_make_error(response, 500, BYTES(""), defaults);
        return REPRESENTATION_NO_BODY;
    }
    return REPRESENTATION_BODY;
}

/* Answers 304 or 412 if the conditions of the request say so, and returns
 * true. */
static bool answer_condition(const struct representation *representation,
                             struct exchange *exchange,
                             const struct server_defaults *defaults)
{
    switch (condition_evaluate(&exchange->request, &representation->validators,
                               defaults->now->wall_s)) {
    case CONDITION_FAILED:
        response_make_error(&exchange->response, 412, BYTES(""), defaults);
        return true;
    case CONDITION_NOT_MODIFIED:
        send_not_modified(representation, &exchange->response, defaults);
        return true;
    case CONDITION_PROCEED:
        break;
    }
    return false;
}

bool representation_answer_unvalidated(struct bytes fields,
                                       struct exchange *exchange,
                                       const struct server_defaults *defaults)
{
    struct representation representation = {.validators.modified = INT64_MIN,
                                            .fields = fields};

    return !representation_is_plain(&exchange->request) &&
           answer_condition(&representation, exchange, defaults);
}

enum representation_answer representation_answer(
    const struct representation *representation, struct exchange *exchange,
    const struct server_defaults *defaults, struct boundary *boundary)
{
    if (answer_condition(representation, exchange, defaults))
        return REPRESENTATION_NO_BODY;
    return answer_range(representation, exchange, defaults, boundary);
}
