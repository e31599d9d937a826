#include "http/coding.h"

/* The weight of a coding that the client has not named; the weights of all
 * others are 0 to 1000. */
enum { UNLISTED = -1 };

static const struct {
    struct bytes token;
    struct bytes suffix;
} codings[] = {
    [CODING_IDENTITY] = {{"", 0}, {"", 0}},
    [CODING_GZIP] = {{"gzip", 4}, {".gz", 3}},
    [CODING_ZSTD] = {{"zstd", 4}, {".zst", 4}},
    [CODING_BR] = {{"br", 2}, {".br", 3}},
    [CODING_DCZ] = {{"dcz", 3}, {"", 0}},
};

struct bytes coding_token(enum coding coding)
{
    return codings[coding].token;
}

struct bytes coding_suffix(enum coding coding)
{
    return codings[coding].suffix;
}

/* Reads "q=" ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3"0" ] ). Returns 0 for
 * any other text. */
static int read_weight(struct bytes text)
{
    int weight, worth = 100;

    if (text.len < 3 || text.len > 7 || byte_lower(text.data[0]) != 'q' ||
        text.data[1] != '=' || (text.data[2] != '0' && text.data[2] != '1') ||
        (text.len > 3 && text.data[3] != '.'))
        return 0;
    weight = 1000 * (text.data[2] - '0');
    for (size_t i = 4; i < text.len; i++, worth /= 10) {
        if (!byte_is_digit(text.data[i]))
            return 0;
        weight += worth * (text.data[i] - '0');
    }
    return weight <= 1000 ? weight : 0;
}

/* Returns the slot for the weight of the coding with that name: an element of
 * `weights`, or `any` for "*". Returns NULL for an unknown name. */
static int *find_slot(struct bytes name, int weights[CODING_DCZ + 1], int *any)
{
    if (bytes_eq(name, BYTES("*")))
        return any;
    if (bytes_ieq(name, BYTES("identity")))
        return &weights[CODING_IDENTITY];
    if (bytes_ieq(name, BYTES("x-gzip")))
        return &weights[CODING_GZIP];
    for (int i = CODING_IDENTITY + 1; i <= CODING_DCZ; i++)
        if (bytes_ieq(name, codings[i].token))
            return &weights[i];
    return NULL;
}

/* Reads name [ OWS ";" OWS weight ]. */
static void read_member(struct bytes member, int weights[CODING_DCZ + 1],
                        int *any)
{
    const char *end = member.data + member.len;
    const char *semicolon = memchr(member.data, ';', member.len);
    struct bytes name = bytes_between(member.data, semicolon ? semicolon : end);
    int *slot = find_slot(bytes_trim(name), weights, any);

    if (slot)
        *slot = semicolon
                    ? read_weight(bytes_trim(bytes_between(semicolon + 1, end)))
                    : 1000;
}

static void read_value(struct bytes value, int weights[CODING_DCZ + 1],
                       int *any)
{
    const char *at = value.data;
    const char *end = at + value.len;
    const char *comma;

    while ((comma = memchr(at, ',', (size_t)(end - at)))) {
        read_member(bytes_between(at, comma), weights, any);
        at = comma + 1;
    }
    read_member(bytes_between(at, end), weights, any);
}

bool coding_taste_read(struct coding_taste *taste,
                       const struct request *request)
{
    const struct field *field = request_find(request, FIELD_ACCEPT_ENCODING);
    int any = UNLISTED;

    *taste = (struct coding_taste){
        {UNLISTED, UNLISTED, UNLISTED, UNLISTED, UNLISTED}};
    _Static_assert(CODING_DCZ == 4, "every weight begins as UNLISTED");
    if (!field)
        return false;
    for (; field; field = request_next(request, field))
        read_value(field->value, taste->weights, &any);
    /* "*" does not stand for codings that need a dictionary. */
    for (int i = 0; i < CODING_COUNT; i++)
        if (taste->weights[i] == UNLISTED)
            taste->weights[i] = any;
    return true;
}

bool coding_taste_recall(struct coding_memo *memo,
                         const struct request *request,
                         struct coding_taste *taste)
{
    const struct field *field = request_find(request, FIELD_ACCEPT_ENCODING);
    struct bytes value;

    if (!field || field->value.len == 0 ||
        field->value.len > sizeof(memo->text) || request_next(request, field))
        return coding_taste_read(taste, request);
    value = field->value;
    if (!bytes_eq(value, (struct bytes){memo->text, memo->len})) {
        if (!coding_taste_read(&memo->taste, request))
            return false;
        memcpy(memo->text, value.data, value.len);
        memo->len = value.len;
    }
    *taste = memo->taste;
    return true;
}

/* If the client has given identity no weight, any coding with a weight above 0
 * wins over identity. When no weight is above 0, the result is identity. */
enum coding coding_pick(const struct coding_taste *taste, unsigned available,
                        const struct coding_order *order)
{
    enum coding best = CODING_IDENTITY;
    int best_weight = taste->weights[CODING_IDENTITY];

    for (size_t i = order->count; i-- > 0;) {
        enum coding coding = order->codings[i];
        int weight = taste->weights[coding];

        if (available & (1u << coding) && weight > 0 && weight >= best_weight) {
            best = coding;
            best_weight = weight;
        }
    }
    return best;
}

unsigned coding_likes_as(const struct coding_taste *taste, unsigned available,
                         enum coding coding)
{
    unsigned liked = 0;

    for (int i = CODING_IDENTITY + 1; i < CODING_COUNT; i++)
        if (taste->weights[i] == taste->weights[coding])
            liked |= 1u << i;
    return liked & available;
}

const struct coding_order coding_order_of_siblings = {
    3, {CODING_BR, CODING_ZSTD, CODING_GZIP}};
