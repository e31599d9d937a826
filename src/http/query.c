#include "http/query.h"

#include "http/percent.h"

static struct query_parameter *find(struct query_parameter *parameters,
                                    size_t count, struct bytes name)
{
    for (size_t i = 0; i < count; i++)
        if (bytes_eq(parameters[i].name, name))
            return &parameters[i];
    return NULL;
}

/* Reads one "name=value". The value is decoded to `out`, and has *len_out
 * bytes. */
static enum query_verdict read_pair(struct bytes pair, char *out,
                                    struct query_parameter *parameters,
                                    size_t count, struct bytes *name_out,
                                    size_t *len_out)
{
    const char *end = pair.data + pair.len;
    const char *equals = memchr(pair.data, '=', pair.len);
    struct bytes value = {end, 0};
    struct query_parameter *parameter;
    size_t name_len;

    *name_out = pair;
    if (equals) {
        *name_out = bytes_between(pair.data, equals);
        value = bytes_between(equals + 1, end);
    }
    if (!percent_decode(*name_out, true, out, &name_len))
        return QUERY_MALFORMED;
    *name_out = (struct bytes){out, name_len};
    parameter = find(parameters, count, *name_out);
    if (!parameter)
        return QUERY_UNKNOWN;
    *name_out = parameter->name;
    if (parameter->value.data)
        return QUERY_TWICE;
    /* The name has found its parameter, so that the value may overwrite the
     * name. */
    if (!percent_decode(value, true, out, &value.len))
        return QUERY_MALFORMED;
    parameter->value = (struct bytes){out, value.len};
    *len_out = value.len;
    return QUERY_DONE;
}

enum query_verdict query_read(struct bytes raw, char *out,
                              struct query_parameter *parameters, size_t count,
                              struct bytes *name_out)
{
    enum query_verdict verdict = QUERY_DONE;

    *name_out = (struct bytes){NULL, 0};
    for (size_t i = 0; i < count; i++)
        parameters[i].value = (struct bytes){NULL, 0};
    while (raw.len > 0 && verdict == QUERY_DONE) {
        const char *end = raw.data + raw.len;
        const char *and = memchr(raw.data, '&', raw.len);
        struct bytes pair = bytes_between(raw.data, and? and : end);
        size_t len = 0;

        raw = bytes_between(and? and+1 : end, end);
        if (pair.len > 0)
            verdict = read_pair(pair, out, parameters, count, name_out, &len);
        out += len;
    }
    return verdict;
}

bool query_number(struct bytes text, uint64_t max, uint64_t *number_out)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        uint64_t digit = (uint64_t)(c - '0');

        if (!byte_is_digit(c) || digit > max || number > (max - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (text.len > 0)
        *number_out = number;
    return text.len > 0;
}
