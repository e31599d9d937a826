#include "http/range.h"

/* A range-spec as it was written, not yet compared with the length of the
 * representation. */
struct spec {
    bool is_suffix; /* the range is the last `last` bytes */
    uint64_t first;
    uint64_t last; /* UINT64_MAX: the range goes to the end */
};

/* Takes 1*DIGIT. Returns false when no digit comes. A number that is too large
 * becomes UINT64_MAX, and sets *too_large. */
static bool take_number(struct bytes *text, uint64_t *number_out,
                        bool *too_large)
{
    uint64_t number = 0;
    const char *begin = text->data;

    *too_large = false;
    for (; text->len > 0 && byte_is_digit(*text->data);
         text->data++, text->len--) {
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (unsigned)(*text->data - '0'),
                                   &number))
            *too_large = true;
    }
    *number_out = *too_large ? UINT64_MAX : number;
    return text->data > begin;
}

/* Takes a range-spec off *text: an int-range, first-pos "-" [ last-pos ], or a
 * suffix-range, "-" suffix-length. Returns false when there is none. */
static bool take_spec(struct bytes *text, struct spec *spec)
{
    bool too_large; /* not looked at: UINT64_MAX lies behind any end anyway */

    *spec = (struct spec){.last = UINT64_MAX};
    if (bytes_take(text, BYTES("-"))) {
        spec->is_suffix = true;
        return take_number(text, &spec->last, &too_large);
    }
    if (!take_number(text, &spec->first, &too_large) ||
        !bytes_take(text, BYTES("-")))
        return false;
    if (text->len > 0 && byte_is_digit(*text->data))
        take_number(text, &spec->last, &too_large);
    return spec->first <= spec->last;
}

/* Resolves a range against the length. Returns false when the representation
 * has not one byte of the range. (A suffix of 0 bytes begins at `length`.) */
static bool resolve(const struct spec *spec, uint64_t length,
                    struct range *range)
{
    if (spec->is_suffix)
        *range = (struct range){spec->last < length ? length - spec->last : 0,
                                length - 1};
    else
        *range = (struct range){spec->first,
                                spec->last < length ? spec->last : length - 1};
    return range->first < length;
}

static bool touches(const struct range *a, const struct range *b)
{
    return a->first <= b->last + 1 && b->first <= a->last + 1;
}

/* Adds `range`, joined with all ranges that it touches, in the place of the
 * first of these. The ranges in `out` never touch one another, so that one pass
 * is enough. */
static size_t add_range(struct range *out, size_t count, struct range range)
{
    struct range *home = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (!touches(&out[i], &range)) {
            out[kept++] = out[i];
            continue;
        }
        if (!home)
            home = &out[kept++];
        if (out[i].first < range.first)
            range.first = out[i].first;
        if (out[i].last > range.last)
            range.last = out[i].last;
    }
    if (!home)
        home = &out[kept++];
    *home = range;
    return kept;
}

/* Reads the list as recipients have to (RFC 9110 5.6.1.2):
 * [ element ] *( OWS "," OWS [ element ] ) */
enum range_verdict range_parse(struct bytes value, uint64_t length,
                               struct range out[RANGE_COUNT_MAX],
                               size_t *count_out)
{
    const struct bytes unit = BYTES("bytes=");
    size_t specs = 0, count = 0;
    bool wants_nothing = false; /* a suffix of an empty representation came */

    if (value.len < unit.len ||
        !bytes_ieq((struct bytes){value.data, unit.len}, unit))
        return RANGE_IGNORE;
    value.data += unit.len;
    value.len -= unit.len;
    for (;;) {
        struct spec spec;
        struct range range;

        if (value.len > 0 &&
            (byte_is_digit(*value.data) || *value.data == '-')) {
            if (++specs > RANGE_COUNT_MAX || !take_spec(&value, &spec))
                return RANGE_IGNORE;
            if (length == 0)
                wants_nothing |= spec.is_suffix && spec.last > 0;
            else if (resolve(&spec, length, &range))
                count = add_range(out, count, range);
        }
        bytes_skip_blanks(&value);
        if (value.len == 0)
            break;
        if (!bytes_take(&value, BYTES(",")))
            return RANGE_IGNORE;
        bytes_skip_blanks(&value);
    }
    if (specs == 0 || wants_nothing)
        return RANGE_IGNORE;
    *count_out = count;
    return count > 0 ? RANGE_PARTIAL : RANGE_UNSATISFIABLE;
}
