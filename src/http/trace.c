#include "http/trace.h"

#include <endian.h>

#define ID_NAME "X-Request-Id: "

_Static_assert(sizeof(ID_NAME) - 1 == EXCHANGE_ID_AT, "it stands before");

static uint64_t draw(struct trace *trace)
{
    return siphash_of_word(&trace->key, trace->count++);
}

/* Puts eight hexadecimal digits at once, as the bytes of one word, because each
 * relayed request has thirty-two of them. */
static void put_digits(char *out, uint64_t half)
{
    uint64_t letters;

    half = (half | half << 16) & 0x0000FFFF0000FFFF;
    half = (half | half << 8) & 0x00FF00FF00FF00FF;
    half = (half | half << 4) & 0x0F0F0F0F0F0F0F0F;
    letters = (half + 0x0606060606060606) >> 4 & 0x0101010101010101;
    half += 0x3030303030303030 + letters * ('a' - '0' - 10);
    half = htobe64(half);
    memcpy(out, &half, sizeof(half));
}

static void put_hex(char out[16], uint64_t word)
{
    put_digits(out, word >> 32);
    put_digits(out + 8, word & UINT32_MAX);
}

int trace_init(struct trace *trace)
{
    int err = siphash_make_key(&trace->key);

    trace->count = 0;
    put_hex(trace->half, draw(trace));
    return err;
}

static void make_id(struct trace *trace, char out[TRACE_ID_LEN])
{
    memcpy(out, trace->half, sizeof(trace->half));
    put_hex(out + sizeof(trace->half), draw(trace));
}

/* --- X-Request-Id -------------------------------------------------------- */

/* Whether `text` may be an id that others made. Neither a log nor a shell has
 * to quote any byte of such an id. */
static bool is_id(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = byte_lower(text.data[i]);

        if ((c < 'a' || c > 'z') && !byte_is_digit(c) &&
            (c == '\0' || !strchr("+-./:=@_~", c)))
            return false;
    }
    return text.len > 0 && text.len <= EXCHANGE_ID_MAX;
}

/* Returns the id that a trusted neighbour has given the request; empty when
 * there is no id, or a malformed one. */
static struct bytes find_id(const struct forwarded_trust *trust,
                            const struct exchange *exchange)
{
    const struct field *field;

    if (!trust || !forwarded_is_trusted(trust, exchange->neighbour))
        return BYTES("");
    field = field_find_only(exchange->request.fields,
                            exchange->request.field_count,
                            BYTES("X-Request-Id"));
    return field && is_id(field->value) ? field->value : BYTES("");
}

static void name_exchange(struct trace *trace,
                          const struct forwarded_trust *trust,
                          struct exchange *exchange)
{
    struct bytes id = find_id(trust, exchange);
    char *at = exchange->id_line + EXCHANGE_ID_AT;

    memcpy(exchange->id_line, ID_NAME, EXCHANGE_ID_AT);
    if (id.len == 0) {
        make_id(trace, at);
        id.len = TRACE_ID_LEN;
    } else {
        memcpy(at, id.data, id.len); /* is_id() allows EXCHANGE_ID_MAX bytes */
    }
    at[id.len] = '\r';
    at[id.len + 1] = '\n';
    exchange->id_len = (uint8_t)id.len;
}

void trace_identify(struct trace *trace, const struct forwarded_trust *trust,
                    struct exchange *exchange)
{
    if (exchange->id_len == 0)
        name_exchange(trace, trust, exchange);
    exchange->response.id_line = (struct bytes){
        exchange->id_line, EXCHANGE_ID_AT + exchange->id_len + 2};
}

/* --- traceparent --------------------------------------------------------- */

/* Whether `text` is hexadecimal, in lower case (W3C Trace Context 3.2.2). */
static bool is_hex(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!byte_is_digit(text.data[i]) &&
            (text.data[i] < 'a' || text.data[i] > 'f'))
            return false;
    return true;
}

static bool is_zero(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != '0')
            return false;
    return true;
}

/* Whether `text` is VERSION-TRACE-PARENT-FLAGS. In a later version than ours,
 * more may follow. */
static bool is_parent(struct bytes text)
{
    struct bytes version = {text.data, 2};
    struct bytes trace = {text.data + 3, 32};
    struct bytes span = {text.data + 36, 16};
    struct bytes flags = {text.data + 53, 2};

    if (text.len < TRACE_PARENT_LEN || text.data[2] != '-' ||
        text.data[35] != '-' || text.data[52] != '-')
        return false;
    if (!is_hex(version) || !is_hex(trace) || !is_hex(span) || !is_hex(flags) ||
        is_zero(trace) || is_zero(span) || bytes_eq(version, BYTES("ff")))
        return false;
    return text.len == TRACE_PARENT_LEN ||
           (!is_zero(version) && text.data[TRACE_PARENT_LEN] == '-');
}

bool trace_has_parent(const struct request *request)
{
    const struct field *field = field_find_only(request->fields,
                                                request->field_count,
                                                BYTES("traceparent"));

    return field && is_parent(field->value);
}

void trace_make_parent(struct trace *trace, struct bytes request_id,
                       char out[TRACE_PARENT_LEN])
{
    char id[TRACE_ID_LEN], span[16];
    struct buf text;

    put_hex(span, draw(trace) | 1); /* a span must not be all zero */
    if (request_id.len != TRACE_ID_LEN || !is_hex(request_id) ||
        is_zero(request_id)) {
        make_id(trace, id);
        request_id = (struct bytes){id, sizeof(id)};
    }
    buf_init(&text, out, TRACE_PARENT_LEN, TRACE_PARENT_LEN);
    buf_put_literal(&text, "00-");
    buf_put(&text, request_id);
    buf_put_literal(&text, "-");
    buf_put(&text, (struct bytes){span, sizeof(span)});
    buf_put_literal(&text, "-01");
}
