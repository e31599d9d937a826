#include "http/dictionary_offer.h"

#include "base/base64.h"

enum { HASH_TEXT = (DICTIONARY_HASH_BYTES + 2) / 3 * 4 }; /* 44 */

bool dictionary_offer_read(const struct request *request,
                           uint8_t hash_out[DICTIONARY_HASH_BYTES])
{
    const struct field *field = field_find_only(request->fields,
                                                request->field_count,
                                                BYTES("Available-Dictionary"));
    char decoded[HASH_TEXT / 4 * 3];
    struct bytes text;
    size_t len;

    if (!field || field->value.len != HASH_TEXT + 2 ||
        field->value.data[0] != ':' || field->value.data[HASH_TEXT + 1] != ':')
        return false;
    text = (struct bytes){field->value.data + 1, HASH_TEXT};
    if (!base64_decode(text, decoded, &len) || len != DICTIONARY_HASH_BYTES)
        return false;
    memcpy(hash_out, decoded, DICTIONARY_HASH_BYTES);
    return true;
}

static bool is_value(const struct field *field, struct bytes value)
{
    return field && bytes_eq(field->value, value);
}

bool dictionary_offer_is_readable(const struct request *request)
{
    const struct field *site = field_find_only(request->fields,
                                               request->field_count,
                                               BYTES("Sec-Fetch-Site"));
    const struct field *mode = field_find_only(request->fields,
                                               request->field_count,
                                               BYTES("Sec-Fetch-Mode"));

    return !site || is_value(site, BYTES("same-origin")) ||
           is_value(mode, BYTES("navigate")) ||
           is_value(mode, BYTES("same-origin"));
}
