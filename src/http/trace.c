#include "http/trace.h"

#include <endian.h>

#define ID_NAME "X-Request-Id: "

_Static_assert(sizeof(ID_NAME) - 1 == EXCHANGE_ID_AT, "it stands before");

int trace_init(struct trace *trace)
{
    trace->count = 0;
    return siphash_make_key(&trace->key);
}

static struct siphash draw(struct trace *trace)
{
    uint64_t count = trace->count++;

    return siphash_of(&trace->key,
                      (struct bytes){(const char *)&count, sizeof(count)});
}

/* Eight digits at a time, as eight bytes of one word: each request that is
 * passed on has thirty-two of them. */
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

static void make_id(struct trace *trace, char out[TRACE_ID_LEN])
{
    struct siphash drawn = draw(trace);

    put_hex(out, drawn.words[0]);
    put_hex(out + 16, drawn.words[1]);
}

/* --- X-Request-Id ----------------------------------------------------------- */

/* Of what ids are made of elsewhere: nothing that a log or a shell would have
 * to quote. */
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

/* The only field of that name; NULL: there is none, or more than one. */
static const struct field *find_only(const struct request *request,
                                     struct bytes name)
{
    const struct field *end = request->fields + request->field_count;
    const struct field *found = NULL;

    for (const struct field *field = request->fields; field < end; field++) {
        if (field->id != FIELD_OTHER || !bytes_ieq(field->name, name))
            continue;
        if (found)
            return NULL;
        found = field;
    }
    return found;
}

/* What a trusted neighbour calls it; empty: nothing, or nothing that is one. */
static struct bytes find_id(const struct forwarded_trust *trust,
                            const struct exchange *exchange)
{
    const struct field *field;

    if (!trust || !forwarded_is_trusted(trust, exchange->neighbour))
        return BYTES("");
    field = find_only(&exchange->request, BYTES("X-Request-Id"));
    return field && is_id(field->value) ? field->value : BYTES("");
}

void trace_identify(struct trace *trace, const struct forwarded_trust *trust,
                    struct exchange *exchange)
{
    char made[TRACE_ID_LEN];
    struct bytes id;
    struct buf line;

    if (exchange->id_len == 0) {
        id = find_id(trust, exchange);
        if (id.len == 0) {
            make_id(trace, made);
            id = (struct bytes){made, sizeof(made)};
        }
        buf_init(&line, exchange->id_line, sizeof(exchange->id_line),
                 sizeof(exchange->id_line));
        buf_put_literal(&line, ID_NAME);
        buf_put(&line, id);
        buf_put_literal(&line, "\r\n");
        exchange->id_len = (uint8_t)id.len;
    }
    exchange->response.id_line = (struct bytes){
        exchange->id_line, EXCHANGE_ID_AT + exchange->id_len + 2};
}

/* --- traceparent ------------------------------------------------------------ */

/* Lower case: W3C Trace Context 3.2.2. */
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

/* VERSION-TRACE-PARENT-FLAGS; of later versions more may follow. */
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
    const struct field *field = find_only(request, BYTES("traceparent"));

    return field && is_parent(field->value);
}

void trace_make_parent(struct trace *trace, struct bytes request_id,
                       char out[TRACE_PARENT_LEN])
{
    char id[TRACE_ID_LEN], span[16];
    struct buf text;

    put_hex(span, draw(trace).words[0] | 1); /* never all zero */
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
