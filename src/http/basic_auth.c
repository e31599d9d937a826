#include "http/basic_auth.h"

enum {
    GROUP = 4, /* of base64: 3 bytes */
    TEXT_BYTES_MAX = BASIC_AUTH_USER_BYTES_MAX + 1 +
                     BASIC_AUTH_PASSWORD_BYTES_MAX,
    BASE64_BYTES_MAX = (TEXT_BYTES_MAX + 2) / 3 * GROUP
};

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* 0 to 63, or -1. */
static int read_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group, the last one with up to two '=' in it. Returns how many bytes it
 * makes; 0: it is none. Bits that no byte takes must be 0, or one text would
 * have several forms (RFC 4648 3.5). */
static size_t decode_group(const char *group, bool is_last, char out[3])
{
    size_t digits = GROUP;
    uint32_t bits = 0;

    while (is_last && digits > 2 && group[digits - 1] == '=')
        digits--;
    for (size_t i = 0; i < GROUP; i++) {
        int digit = i < digits ? read_digit(group[i]) : 0;

        if (digit < 0)
            return 0;
        bits = bits << 6 | (uint32_t)digit;
    }
    if (bits & (0xFFFFFFu >> 8 * (digits - 1)))
        return 0;
    out[0] = (char)(bits >> 16);
    out[1] = (char)(bits >> 8);
    out[2] = (char)bits;
    return digits - 1;
}

/* Returns how many bytes of auth->text it makes; 0: it is no base64. */
static size_t decode(struct basic_auth *auth, struct bytes base64)
{
    size_t len = 0;

    if (base64.len % GROUP != 0 || base64.len > BASE64_BYTES_MAX)
        return 0;
    for (size_t at = 0; at < base64.len; at += GROUP) {
        size_t step = decode_group(base64.data + at, at + GROUP == base64.len,
                                   auth->text + len);

        if (step == 0)
            return 0;
        len += step;
    }
    return len;
}

static bool split(struct basic_auth *auth, size_t len)
{
    const char *end = auth->text + len;
    const char *colon = memchr(auth->text, ':', len);

    for (size_t i = 0; i < len; i++)
        if (is_control(auth->text[i]))
            return false;
    if (!colon)
        return false;
    auth->user = bytes_between(auth->text, colon);
    auth->password = bytes_between(colon + 1, end);
    return auth->user.len <= BASIC_AUTH_USER_BYTES_MAX &&
           auth->password.len <= BASIC_AUTH_PASSWORD_BYTES_MAX;
}

enum basic_auth_verdict basic_auth_read(struct basic_auth *auth,
                                        const struct request *request)
{
    static const struct bytes scheme = {"Basic", 5};
    const struct field *field = request_find(request, FIELD_AUTHORIZATION);
    struct bytes rest;

    auth->user = auth->password = (struct bytes){auth->text, 0};
    if (!field)
        return BASIC_AUTH_NONE;
    if (request_next(request, field))
        return BASIC_AUTH_BAD; /* which of them? */
    rest = field->value;
    if (rest.len < scheme.len ||
        !bytes_ieq((struct bytes){rest.data, scheme.len}, scheme) ||
        (rest.len > scheme.len && rest.data[scheme.len] != ' '))
        return BASIC_AUTH_NONE;
    rest.data += scheme.len;
    rest.len -= scheme.len;
    while (rest.len > 0 && *rest.data == ' ') {
        rest.data++;
        rest.len--;
    }
    if (split(auth, decode(auth, rest)))
        return BASIC_AUTH_GIVEN;
    basic_auth_wipe(auth);
    return BASIC_AUTH_BAD;
}

void basic_auth_wipe(struct basic_auth *auth)
{
    explicit_bzero(auth->text, sizeof(auth->text));
    auth->user = auth->password = (struct bytes){auth->text, 0};
}

bool basic_auth_realm_is_valid(struct bytes realm)
{
    for (size_t i = 0; i < realm.len; i++)
        if (is_control(realm.data[i]))
            return false;
    return realm.len <= BASIC_AUTH_REALM_BYTES_MAX;
}

void basic_auth_put_challenge(struct buf *head, struct bytes realm)
{
    buf_put_literal(head, "WWW-Authenticate: Basic realm=\"");
    for (size_t i = 0; i < realm.len; i++) {
        if (realm.data[i] == '"' || realm.data[i] == '\\')
            buf_put_literal(head, "\\");
        buf_put(head, (struct bytes){realm.data + i, 1});
    }
    buf_put_literal(head, "\", charset=\"UTF-8\"\r\n");
}
