#include "http/basic_auth.h"

#include "suite.h"

/* A literal as struct bytes, for tables. */
#define TEXT(literal)                  \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

static struct request request;
static struct field fields[2];
static struct basic_auth auth;

static void add_line(struct bytes value)
{
    uint8_t at = request.field_count++;

    request.fields[at] = (struct field){.value = value,
                                        .id = FIELD_AUTHORIZATION};
    if (at == 0)
        request.seen = 1u << FIELD_AUTHORIZATION;
}

/* From a copy of exactly that size, so that a sanitizer sees the next byte. */
static enum basic_auth_verdict read_value(struct bytes value)
{
    char *copy = malloc(value.len + (value.len == 0));
    enum basic_auth_verdict verdict;

    assert_non_null(copy);
    memcpy(copy, value.data, value.len);
    request = (struct request){.fields = fields};
    add_line((struct bytes){copy, value.len});
    verdict = basic_auth_read(&auth, &request);
    free(copy);
    return verdict;
}

TEST(user_and_password_are_told_apart)
{
    static const struct {
        const char *value;
        const char *user;
        const char *password;
    } cases[] = {
        {"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"},
        {"basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"},
        {"BASIC   dGVzdDoxMjPCow==", "test", "123\xC2\xA3"},
        {"Basic YTpiOmM=", "a", "b:c"},
        {"Basic Og==", "", ""},
        {"Basic YTo=", "a", ""},
        {"Basic OmE=", "", "a"},
        {"Basic Pj8+Pz46Pz4/", ">?>?>", "?>?"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (read_value(bytes_of(cases[i].value)) != BASIC_AUTH_GIVEN)
            fail_msg("not read: %s", cases[i].value);
        assert_true(bytes_eq(auth.user, bytes_of(cases[i].user)));
        assert_true(bytes_eq(auth.password, bytes_of(cases[i].password)));
    }
}

TEST(other_schemes_and_none_are_no_credentials)
{
    static const char *const cases[] = {
        "",          "Bas", "Basics YTo=", "Bearer x", "Digest username=\"a\"",
        "Basic=YTo="};

    request = (struct request){.fields = fields};
    assert_int_equal(basic_auth_read(&auth, &request), BASIC_AUTH_NONE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (read_value(bytes_of(cases[i])) != BASIC_AUTH_NONE)
            fail_msg("taken: %s", cases[i]);
}

TEST(nonsense_is_refused)
{
    static const struct bytes cases[] = {
        TEXT("Basic"),
        TEXT("Basic "),
        TEXT("Basic YTo"),   /* not padded */
        TEXT("Basic YTo=="), /* too much so */
        TEXT("Basic YTo= "), /* white space */
        TEXT("Basic YT o="),
        TEXT("Basic YTo=YTo="), /* padding in the middle */
        TEXT("Basic ===="),
        TEXT("Basic Y==="),
        TEXT("Basic YTp="), /* bits behind the last byte */
        TEXT("Basic Oh=="),
        TEXT("Basic Y-o="), /* another alphabet */
        TEXT("Basic Y_o="),
        TEXT("Basic YTo=\0\0\0\0"),
        TEXT("Basic YWI="),     /* ab: no colon */
        TEXT("Basic YQA6YQ=="), /* NUL */
        TEXT("Basic YTphAA=="),
        TEXT("Basic YQ06YQ=="), /* CR, LF, DEL */
        TEXT("Basic YTphCg=="),
        TEXT("Basic fzph"),
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (read_value(cases[i]) != BASIC_AUTH_BAD)
            fail_msg("taken: %s", cases[i].data);
        assert_int_equal(auth.user.len + auth.password.len, 0);
    }
}

TEST(two_of_them_are_refused)
{
    request = (struct request){.fields = fields};
    add_line(BYTES("Basic YTo="));
    add_line(BYTES("Basic YTo="));
    assert_int_equal(basic_auth_read(&auth, &request), BASIC_AUTH_BAD);
}

/* Of that many 'a' each. */
static enum basic_auth_verdict read_long(size_t user_len, size_t password_len)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char text[2048] = {0};
    char value[4096] = "Basic ";
    size_t len = user_len + 1 + password_len;
    size_t at = 6;

    assert_true(len + 3 < sizeof(text));
    memset(text, 'a', len);
    text[user_len] = ':';
    for (size_t i = 0; i < len; i += 3, at += 4) {
        unsigned bits = (unsigned)text[i] << 16 | (unsigned)text[i + 1] << 8 |
                        text[i + 2];

        for (size_t digit = 0; digit < 4; digit++)
            value[at + digit] = digits[bits >> (18 - 6 * digit) & 63];
        if (i + 1 >= len)
            value[at + 2] = '=';
        if (i + 2 >= len)
            value[at + 3] = '=';
    }
    return read_value((struct bytes){value, at});
}

TEST(names_and_passwords_have_a_longest)
{
    assert_int_equal(read_long(255, 255), BASIC_AUTH_GIVEN);
    assert_int_equal(auth.user.len, 255);
    assert_int_equal(auth.password.len, 255);
    for (size_t len = 0; len < 255; len++)
        assert_int_equal(read_long(len, 3), BASIC_AUTH_GIVEN);
    assert_int_equal(read_long(256, 0), BASIC_AUTH_BAD);
    assert_int_equal(read_long(0, 256), BASIC_AUTH_BAD);
    assert_int_equal(read_long(255, 256), BASIC_AUTH_BAD);
    assert_int_equal(read_long(255, 258), BASIC_AUTH_BAD);
    assert_int_equal(read_long(1000, 1000), BASIC_AUTH_BAD);
}

TEST(wiping_leaves_nothing)
{
    static const char zero[sizeof(auth.text)];

    assert_int_equal(read_value(BYTES("Basic YTpiOmM=")), BASIC_AUTH_GIVEN);
    basic_auth_wipe(&auth);
    assert_memory_equal(auth.text, zero, sizeof(zero));
    assert_int_equal(auth.user.len, 0);
}

TEST(the_challenge_quotes_its_realm)
{
    struct buf head;
    char storage[256];

    buf_init(&head, storage, sizeof(storage), sizeof(storage));
    basic_auth_put_challenge(&head, BYTES("a \"b\" \\c"));
    assert_true(bytes_eq(buf_bytes(&head), BYTES("WWW-Authenticate: Basic "
                                                 "realm=\"a \\\"b\\\" \\\\c\", "
                                                 "charset=\"UTF-8\"\r\n")));
    buf_fini(&head);
}

TEST(a_realm_that_cannot_be_said_is_seen)
{
    char text[BASIC_AUTH_REALM_BYTES_MAX + 1];

    memset(text, 'x', sizeof(text));
    assert_true(basic_auth_realm_is_valid(BYTES("")));
    assert_true(basic_auth_realm_is_valid(BYTES("Caf\xC3\xA9 \"\\")));
    assert_true(basic_auth_realm_is_valid((struct bytes){text,
                                                         sizeof(text) - 1}));
    assert_false(basic_auth_realm_is_valid((struct bytes){text, sizeof(text)}));
    assert_false(basic_auth_realm_is_valid(BYTES("a\r\nb")));
    assert_false(basic_auth_realm_is_valid(BYTES("a\0")));
    assert_false(basic_auth_realm_is_valid(BYTES("\x7F")));
}
