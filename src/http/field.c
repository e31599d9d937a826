#include "http/field.h"

/* "Proxy" is a FIELD_HOP_BY_HOP here, so that it never goes on. No client needs
 * this field, but CGI makes HTTP_PROXY of it, which programs believe
 * (CVE-2016-5385). */
static const struct known_field {
    struct bytes name;
    enum field_id id;
} known_fields[] = {
    {{"te", 2}, FIELD_TE},
    {{"via", 3}, FIELD_VIA},
    {{"date", 4}, FIELD_DATE},
    {{"host", 4}, FIELD_HOST},
    {{"proxy", 5}, FIELD_HOP_BY_HOP},
    {{"range", 5}, FIELD_RANGE},
    {{"accept", 6}, FIELD_ACCEPT},
    {{"expect", 6}, FIELD_EXPECT},
    {{"origin", 6}, FIELD_ORIGIN},
    {{"referer", 7}, FIELD_REFERER},
    {{"trailer", 7}, FIELD_TRAILER},
    {{"upgrade", 7}, FIELD_UPGRADE},
    {{"if-match", 8}, FIELD_IF_MATCH},
    {{"if-range", 8}, FIELD_IF_RANGE},
    {{"forwarded", 9}, FIELD_FORWARDED},
    {{"x-real-ip", 9}, FIELD_X_REAL_IP},
    {{"connection", 10}, FIELD_CONNECTION},
    {{"keep-alive", 10}, FIELD_HOP_BY_HOP},
    {{"user-agent", 10}, FIELD_USER_AGENT},
    {{"max-forwards", 12}, FIELD_MAX_FORWARDS},
    {{"authorization", 13}, FIELD_AUTHORIZATION},
    {{"if-none-match", 13}, FIELD_IF_NONE_MATCH},
    {{"content-length", 14}, FIELD_CONTENT_LENGTH},
    {{"http2-settings", 14}, FIELD_HOP_BY_HOP},
    {{"accept-encoding", 15}, FIELD_ACCEPT_ENCODING},
    {{"x-forwarded-for", 15}, FIELD_X_FORWARDED_FOR},
    {{"proxy-connection", 16}, FIELD_HOP_BY_HOP},
    {{"x-forwarded-host", 16}, FIELD_X_FORWARDED_HOST},
    {{"if-modified-since", 17}, FIELD_IF_MODIFIED_SINCE},
    {{"transfer-encoding", 17}, FIELD_TRANSFER_ENCODING},
    {{"x-forwarded-proto", 17}, FIELD_X_FORWARDED_PROTO},
    {{"proxy-authenticate", 18}, FIELD_HOP_BY_HOP},
    {{"if-unmodified-since", 19}, FIELD_IF_UNMODIFIED_SINCE},
    {{"proxy-authorization", 19}, FIELD_HOP_BY_HOP},
    {{"proxy-authentication-info", 25}, FIELD_HOP_BY_HOP},
};

enum {
    KNOWN_FIELDS = sizeof(known_fields) / sizeof(*known_fields),
    NAME_BYTES_MAX = 25,
    CASE = 0x20 /* the bit that tells the case of a letter */
};

/* Element n is the index in known_fields of the first name with n bytes; the
 * last element is the number of names. Few names have the same length, so that
 * few have to be compared. */
static const uint8_t first_of_length[NAME_BYTES_MAX + 2] = {
    0,  0,  0,  1,  2,  4,  6,  9,  12, 14, 16, 19, 19,          20,
    22, 24, 26, 28, 31, 32, 34, 34, 34, 34, 34, 34, KNOWN_FIELDS};

/* The first bytes of two names are compared before the whole names. CASE is set
 * in them, which makes letters small. That is enough, because all known names
 * begin with a letter. */
enum field_id field_identify(struct bytes name)
{
    if (name.len > NAME_BYTES_MAX)
        return FIELD_OTHER;
    for (size_t i = first_of_length[name.len];
         i < first_of_length[name.len + 1]; i++)
        if ((*name.data | CASE) == *known_fields[i].name.data &&
            bytes_are_ieq(known_fields[i].name.data, name.data, name.len))
            return known_fields[i].id;
    return FIELD_OTHER;
}

bool field_is_called(struct bytes name, struct bytes wanted)
{
    if (name.len != wanted.len)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (field_byte_of_cgi(name.data[i]) !=
            field_byte_of_cgi(wanted.data[i]))
            return false;
    return true;
}

const struct field *field_find_only(const struct field *fields, size_t count,
                                    struct bytes name)
{
    const struct field *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!bytes_ieq(fields[i].name, name))
            continue;
        if (found)
            return NULL;
        found = &fields[i];
    }
    return found;
}

bool field_next_member(struct bytes *list, struct bytes *member_out)
{
    const char *comma;

    if (!list->data)
        return false;
    comma = memchr(list->data, ',', list->len);
    if (comma) {
        *member_out = bytes_trim(bytes_between(list->data, comma));
        *list = bytes_between(comma + 1, list->data + list->len);
    } else {
        *member_out = bytes_trim(*list);
        *list = (struct bytes){NULL, 0};
    }
    return true;
}
