/*
 * fuzz_basic_auth - the value of an Authorization field.
 *
 * What is given is what the base64 in it stands for, and has no other form;
 * controls, and texts longer than anybody may have, are never given. Nothing
 * is left behind when it is wiped, or was bad. Any breach aborts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/basic_auth.h"

#define CHECK(condition) ((condition) ? (void)0 : breach(__LINE__, #condition))

_Noreturn static void breach(int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The one form of user, colon and password. */
static size_t encode(const struct basic_auth *auth, char *out)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char text[sizeof(auth->text) + 3] = {0};
    size_t len = auth->user.len + 1 + auth->password.len;
    char *to = out;

    memcpy(text, auth->user.data, auth->user.len);
    text[auth->user.len] = ':';
    memcpy(text + auth->user.len + 1, auth->password.data, auth->password.len);
    for (size_t i = 0; i < len; i += 3) {
        unsigned bits = (unsigned)text[i] << 16 | (unsigned)text[i + 1] << 8 |
                        text[i + 2];

        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = i + 1 < len ? digits[bits >> 6 & 63] : '=';
        *to++ = i + 2 < len ? digits[bits & 63] : '=';
    }
    return (size_t)(to - out);
}

static void check_part(const struct basic_auth *auth, struct bytes part,
                       size_t max)
{
    CHECK(part.data >= auth->text);
    CHECK(part.data + part.len <= auth->text + sizeof(auth->text));
    CHECK(part.len <= max);
    for (size_t i = 0; i < part.len; i++)
        CHECK((unsigned char)part.data[i] >= 0x20 && part.data[i] != 0x7F);
}

static void check_given(const struct basic_auth *auth, struct bytes value)
{
    char base64[2 * sizeof(auth->text)];
    size_t len;

    check_part(auth, auth->user, BASIC_AUTH_USER_BYTES_MAX);
    check_part(auth, auth->password, BASIC_AUTH_PASSWORD_BYTES_MAX);
    CHECK(!memchr(auth->user.data, ':', auth->user.len));
    len = encode(auth, base64);
    CHECK(value.len > 5 + len);
    CHECK(memcmp(value.data + value.len - len, base64, len) == 0);
}

static bool is_wiped(const struct basic_auth *auth)
{
    for (size_t i = 0; i < sizeof(auth->text); i++)
        if (auth->text[i] != '\0')
            return false;
    return auth->user.len == 0 && auth->password.len == 0;
}

static void check_challenge(struct bytes realm)
{
    char storage[2 * BASIC_AUTH_REALM_BYTES_MAX + 100];
    struct buf head;

    if (!basic_auth_realm_is_valid(realm))
        return;
    buf_init(&head, storage, sizeof(storage), sizeof(storage));
    basic_auth_put_challenge(&head, realm);
    CHECK(!head.failed);
    CHECK(memchr(head.data, '\r', head.len) == head.data + head.len - 2);
    CHECK(memchr(head.data, '\n', head.len) == head.data + head.len - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1); /* so that a sanitizer sees the next byte */
    struct bytes value = {copy, size};
    struct field field;
    struct request request = {
        .fields = &field, .field_count = 1, .seen = 1u << FIELD_AUTHORIZATION};
    struct basic_auth auth = {.text = {0}};

    CHECK(copy);
    if (size > 0)
        memcpy(copy, data, size);
    request.fields[0] = (struct field){.value = value,
                                       .id = FIELD_AUTHORIZATION};
    switch (basic_auth_read(&auth, &request)) {
    case BASIC_AUTH_GIVEN:
        check_given(&auth, value);
        basic_auth_wipe(&auth);
        break;
    case BASIC_AUTH_BAD:
    case BASIC_AUTH_NONE:
        break;
    }
    CHECK(is_wiped(&auth));
    check_challenge(value);
    free(copy);
    return 0;
}
