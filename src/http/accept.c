#include "http/accept.h"

/* Splits *rest at the next separator outside of quotes. Returns the text before
 * the separator, trimmed. *rest keeps the text behind it. */
static struct bytes take_until(struct bytes *rest, char separator)
{
    bool is_quoted = false;
    struct bytes piece = *rest;
    size_t at = 0;

    for (; at < rest->len; at++) {
        if (rest->data[at] == '"')
            is_quoted = !is_quoted;
        else if (rest->data[at] == separator && !is_quoted)
            break;
        else if (rest->data[at] == '\\' && is_quoted && at + 1 < rest->len)
            at++;
    }
    piece.len = at;
    if (at < rest->len)
        at++;
    rest->data += at;
    rest->len -= at;
    return bytes_trim(piece);
}

/* Reads a weight, in thousandths. A text that is no weight counts as 0. */
static unsigned parse_weight(struct bytes text)
{
    unsigned weight = 0;
    unsigned unit = 1000;

    if (text.len == 0 || text.len > 5 || text.data[0] > '1' ||
        (text.len > 1 && text.data[1] != '.'))
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (i == 1)
            continue;
        if (!byte_is_digit(text.data[i]))
            return 0;
        weight += unit * (unsigned)(text.data[i] - '0');
        unit /= 10;
    }
    return weight <= 1000 ? weight : 0;
}

/* Returns the weight among the parameters behind a media range. */
static unsigned weight_of(struct bytes parameters)
{
    unsigned weight = 1000;

    while (parameters.len > 0) {
        struct bytes parameter = take_until(&parameters, ';');

        if (parameter.len >= 2 && parameter.data[1] == '=' &&
            byte_lower(parameter.data[0]) == 'q')
            weight = parse_weight((struct bytes){parameter.data + 2,
                                                 parameter.len - 2});
    }
    return weight;
}

static enum accept_precision precision_of(struct bytes range, struct bytes type)
{
    const char *slash = memchr(type.data, '/', type.len);
    size_t family = slash ? (size_t)(slash + 1 - type.data) : type.len;

    if (bytes_ieq(range, type))
        return ACCEPT_ITSELF;
    if (range.len == family + 1 && range.data[family] == '*' &&
        bytes_ieq((struct bytes){range.data, family},
                  (struct bytes){type.data, family}))
        return ACCEPT_FAMILY;
    return bytes_eq(range, BYTES("*/*")) ? ACCEPT_ANY : ACCEPT_UNNAMED;
}

/* Looks for `type` in one more list. *best is the best match so far, which a
 * better one replaces. */
static void weigh(struct bytes list, struct bytes type, struct accepted *best)
{
    while (list.len > 0) {
        struct bytes member = take_until(&list, ',');
        struct bytes range = take_until(&member, ';');
        struct accepted found = {precision_of(range, type), weight_of(member)};

        if (found.precision != ACCEPT_UNNAMED &&
            (found.precision > best->precision ||
             (found.precision == best->precision &&
              found.weight >= best->weight)))
            *best = found;
    }
}

struct accepted accept_find_in(struct bytes value, struct bytes type)
{
    struct accepted best = {ACCEPT_UNNAMED, 0};

    weigh(value, type, &best);
    return best;
}

struct accepted accept_find(const struct request *request, struct bytes type)
{
    const struct field *field = request_find(request, FIELD_ACCEPT);
    struct accepted best = {ACCEPT_UNNAMED, 0};

    for (; field; field = request_next(request, field))
        weigh(field->value, type, &best);
    return best;
}
