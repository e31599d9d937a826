#include "handler/encode_priv.h"

#include <assert.h>

#include "http/head_edit.h"
#include "io/tls/tls.h"

/* --- What may be coded --------------------------------------------------- */

static struct bytes find(const struct response *response, struct bytes name)
{
    return head_find(buf_bytes(&response->head), RESPONSE_HEADROOM, name);
}

static bool is_digest(struct bytes name)
{
    for (size_t i = 0; i < ENCODE_DIGESTS; i++)
        if (bytes_ieq(name, encode_digests[i]))
            return true;
    return false;
}

/* Whether the answer must be sent as it is: it is coded already, has a digest
 * of its bytes, or forbids changes. A digest in the trailer counts, too: it
 * would be lost if the answer were coded. */
static bool is_fixed(const struct response *response)
{
    struct bytes head = buf_bytes(&response->head);
    size_t at = RESPONSE_HEADROOM;
    struct bytes trailer, member;

    if (find(response, BYTES("Content-Encoding")).data)
        return true;
    for (size_t i = 0; i < ENCODE_DIGESTS; i++)
        if (find(response, encode_digests[i]).data)
            return true;
    while ((trailer = head_find_next(head, &at, BYTES("Trailer"))).data)
        while (field_next_member(&trailer, &member))
            if (is_digest(member))
                return true;
    return compress_is_forbidden_in(head, RESPONSE_HEADROOM);
}

/* Whether the answer may be for this client only. A browser sends its
 * certificate with every request, like cookies. */
static bool is_private(const struct exchange *exchange)
{
    const struct request *request = &exchange->request;

    if (request_find(request, FIELD_AUTHORIZATION) ||
        (exchange->tls && tls_knows_client(exchange->tls)) ||
        find(&exchange->response, BYTES("Set-Cookie")).data)
        return true;
    assert(request->fields || request->field_count == 0);
    for (size_t i = 0; i < request->field_count; i++)
        if (bytes_ieq(request->fields[i].name, BYTES("Cookie")))
            return true;
    return false;
}

/* Whether the answer may be coded, whatever codings the client accepts. */
static bool is_codable(const struct encode *encode,
                       const struct exchange *exchange, uint64_t length)
{
    const struct response *response = &exchange->response;
    unsigned status = response->status;

    return encode && encode->rules && length >= encode->rules->bytes_min &&
           !find(response, BYTES("Content-Range")).data && status >= 200 &&
           status != 204 && status != 206 && status != 304 &&
           compress_rules_take(encode->rules,
                               find(response, BYTES("Content-Type"))) &&
           !is_fixed(response) &&
           (encode->codes_private || !is_private(exchange));
}

/* Whether the request has no-transform: the client wants the answer unchanged
 * (RFC 9111 5.2.1.6). */
static bool asks_for_no_other(const struct request *request)
{
    for (size_t i = 0; i < request->field_count; i++)
        if (bytes_ieq(request->fields[i].name, BYTES("Cache-Control")) &&
            compress_is_forbidden(request->fields[i].value))
            return true;
    return false;
}

/* Chooses a coding. Brotli comes last, whatever the operator's order is: with
 * the little memory of a stream, brotli compresses less than the others. */
static enum coding choose(const struct encode *encode,
                          const struct exchange *exchange)
{
    unsigned others = encode->rules->codings & ~(1u << CODING_BR);
    struct coding_taste taste;
    enum coding coding;

    if (exchange->request.minor == 0 || asks_for_no_other(&exchange->request) ||
        !coding_taste_read(&taste, &exchange->request))
        return CODING_IDENTITY;
    coding = coding_pick(&taste, others, &encode->rules->order);
    return coding != CODING_IDENTITY
               ? coding
               : coding_pick(&taste, encode->rules->codings,
                             &encode->rules->order);
}

/* --- The head of a coded answer ------------------------------------------ */

static void put_vary(struct response *response)
{
    struct bytes head = buf_bytes(&response->head);
    size_t at = RESPONSE_HEADROOM;
    struct bytes list, member;

    while ((list = head_find_next(head, &at, BYTES("Vary"))).data)
        while (field_next_member(&list, &member))
            if (bytes_ieq(member, BYTES("Accept-Encoding")) ||
                bytes_eq(member, BYTES("*")))
                return;
    head_field(&response->head, BYTES("Vary"), BYTES("Accept-Encoding"));
}

enum { ETAG_BYTES_MAX = 1024 };

/* Makes the ETag weak. An unusually long ETag is dropped. */
static void weaken_etag(struct response *response)
{
    struct bytes etag = find(response, BYTES("ETag"));
    char weak[ETAG_BYTES_MAX + 2] = "W/";
    size_t len = etag.len;

    if (!etag.data || (len > 2 && etag.data[0] == 'W'))
        return;
    if (len <= ETAG_BYTES_MAX)
        memcpy(weak + 2, etag.data, len);
    head_drop(&response->head, RESPONSE_HEADROOM, BYTES("ETag"));
    if (len <= ETAG_BYTES_MAX)
        head_field(&response->head, BYTES("ETag"),
                   (struct bytes){weak, len + 2});
}

/* Returns true if If-None-Match has `etag` in the weak form, which coded
 * answers have. */
static bool has_coded(const struct request *request, struct bytes etag)
{
    for (const struct field *field = request_find(request, FIELD_IF_NONE_MATCH);
         field; field = request_next(request, field)) {
        const char *at = field->value.data;
        const char *end = at + field->value.len;

        while ((at = memmem(at, (size_t)(end - at), etag.data, etag.len))) {
            if (at - field->value.data >= 2 && at[-1] == '/' && at[-2] == 'W')
                return true;
            at += etag.len;
        }
    }
    return false;
}

static void describe(struct response *response, enum coding coding)
{
    struct buf *head = &response->head;

    head_drop(head, RESPONSE_HEADROOM, BYTES("Content-Length"));
    head_drop(head, RESPONSE_HEADROOM, BYTES("Accept-Ranges"));
    weaken_etag(response);
    head_field(head, BYTES("Content-Encoding"), coding_token(coding));
}

/* Decides whether the answer is coded, and returns true if it is. Then the head
 * has the fields of a coded answer, and *coded_out is the stream that codes the
 * body, or NULL for HEAD. */
static bool begin(const struct encode *encode, struct exchange *exchange,
                  uint64_t length, struct coded_source **coded_out)
{
    struct response *response = &exchange->response;
    enum coding coding;

    *coded_out = NULL;
    if (response->head.failed || !is_codable(encode, exchange, length))
        return false;
    put_vary(response);
    coding = choose(encode, exchange);
    if (coding == CODING_IDENTITY)
        return false;
    if (!response->is_head)
        *coded_out = coded_source_create(encode->encoder, exchange, coding);
    if (!*coded_out && !response->is_head)
        return false;
    describe(response, coding);
    return true;
}

/* --- For handlers -------------------------------------------------------- */

void encode_add_source(const struct encode *encode, struct exchange *exchange,
                       struct source *source, uint64_t length)
{
    struct response *response = &exchange->response;
    struct coded_source *coded;
    bool is_coded = begin(encode, exchange, length, &coded);

    if (coded)
        source = coded_source_begin(coded, source);
    if (is_coded || length == ENCODE_UNSIZED)
        response_add_source(response, source);
    else
        response_add_source_of(response, source, length);
}

/* Returns the value of Content-Length, or ENCODE_UNSIZED. */
static uint64_t read_length(const struct response *response)
{
    struct bytes text = find(response, BYTES("Content-Length"));
    uint64_t length = 0;

    if (text.len == 0 || text.len > 18)
        return ENCODE_UNSIZED;
    for (size_t i = 0; i < text.len; i++)
        length = length * 10 + (uint64_t)(text.data[i] - '0');
    return length;
}

void encode_head(const struct encode *encode, struct exchange *exchange)
{
    struct response *response = &exchange->response;
    struct coded_source *coded;

    if (begin(encode, exchange, read_length(response), &coded))
        response->is_unsized = true;
}

bool encode_wants(const struct encode *encode, struct exchange *exchange,
                  uint64_t length)
{
    if (exchange->response.head.failed || !is_codable(encode, exchange, length))
        return false;
    put_vary(&exchange->response);
    return encode->encoder->streams < encode->encoder->streams_max &&
           choose(encode, exchange) != CODING_IDENTITY;
}

bool encode_has_forms(const struct encode *encode, struct bytes lines)
{
    return encode && encode->rules &&
           !head_find(lines, 0, BYTES("Content-Encoding")).data &&
           compress_rules_take(encode->rules,
                               head_find(lines, 0, BYTES("Content-Type"))) &&
           !compress_is_forbidden_in(lines, 0);
}

void encode_unsent(const struct encode *encode, struct exchange *exchange,
                   struct bytes type)
{
    struct response *response = &exchange->response;
    struct bytes etag = find(response, BYTES("ETag"));
    bool has = response->status == 304 && etag.len > 0 &&
               has_coded(&exchange->request, etag);

    if (!encode || !encode->rules || is_fixed(response))
        return;
    if (type.len == 0)
        type = find(response, BYTES("Content-Type"));
    if (!has && !compress_rules_take(encode->rules, type))
        return;
    put_vary(response);
    if (has)
        weaken_etag(response);
}

bool encode_add_memory(const struct encode *encode, struct exchange *exchange,
                       struct bytes body)
{
    struct coded_source *coded;

    if (!begin(encode, exchange, body.len, &coded))
        return false;
    response_add_source(&exchange->response,
                        coded ? coded_source_begin_with(coded, body) : NULL);
    return true;
}
