#include "http/basic_auth.h"

#include "base/base64.h"

enum {
    TEXT_BYTES_MAX = BASIC_AUTH_USER_BYTES_MAX + 1 +
                     BASIC_AUTH_PASSWORD_BYTES_MAX,
    BASE64_BYTES_MAX = (TEXT_BYTES_MAX + 2) / 3 * 4
};

/* Decodes base64 to auth->text. Returns the length, or 0 when the text is not
 * base64. */
static size_t decode(struct basic_auth *auth, struct bytes base64)
{
    size_t len;

    return base64.len <= BASE64_BYTES_MAX &&
                   base64_decode(base64, auth->text, &len)
               ? len
               : 0;
}

static bool split(struct basic_auth *auth, size_t len)
{
    const char *end = auth->text + len;
    const char *colon = memchr(auth->text, ':', len);

    if (!colon || bytes_has_control((struct bytes){auth->text, len}))
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
        return BASIC_AUTH_BAD; /* nobody knows which of several fields counts */
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
    return realm.len <= BASIC_AUTH_REALM_BYTES_MAX && !bytes_has_control(realm);
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
