#include "http/websocket.h"

#include "suite.h"

#define KEY "dGhlIHNhbXBsZSBub25jZQ==" /* RFC 6455 1.3 */
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

static struct field key_field(const char *key)
{
    return (struct field){.name = BYTES("sec-websocket-key"),
                          .value = bytes_of(key)};
}

static bool is_answered(const char *key, const char *accept, const char *again)
{
    struct field fields[] = {{.name = BYTES("a"), .value = BYTES("b")},
                             key_field(key)};
    struct request request = {.fields = fields, .field_count = 2};
    struct reply reply = {.status = 101, .field_count = 0};

    for (int i = 0; i < 2; i++) {
        const char *value = i == 0 ? accept : again;

        if (value)
            reply.fields[reply.field_count++] = (struct field){
                .name = BYTES("Sec-WebSocket-Accept"),
                .value = bytes_of(value)};
    }
    return websocket_is_answered(&request, &reply);
}

TEST(the_answer_of_the_standard_is_right)
{
    assert_true(is_answered(KEY, ACCEPT, NULL));
}

TEST(any_other_answer_is_wrong)
{
    static const char *const wrong[] = {
        "",
        "s3pPLMBiTxaQ9kYGzzhZRbK+xOo",
        "s3pPLMBiTxaQ9kYGzzhZRbK+xOo==",
        "S3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        "s3pPLMBiTxaQ9kYGzzhZRbK-xOo=",
        "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=, s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        KEY};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_false(is_answered(KEY, wrong[i], NULL));
    assert_false(is_answered("dGhlIHNhbXBsZSBub25jZA==", ACCEPT, NULL));
}

TEST(none_and_two_are_wrong)
{
    struct field both[] = {key_field(KEY), key_field(KEY)};
    struct request request = {.fields = both, .field_count = 2};
    struct reply reply = {.status = 101,
                          .field_count = 1,
                          .fields = {{.name = BYTES("Sec-WebSocket-Accept"),
                                      .value = BYTES(ACCEPT)}}};

    assert_false(is_answered(KEY, NULL, NULL));
    assert_false(is_answered(KEY, ACCEPT, ACCEPT));
    assert_false(websocket_is_answered(&request, &reply));
    request.field_count = 1;
    assert_true(websocket_is_answered(&request, &reply));
    request.field_count = 0;
    assert_false(websocket_is_answered(&request, &reply));
}

TEST(a_key_of_another_length_has_no_answer)
{
    assert_false(is_answered("", ACCEPT, NULL));
    assert_false(is_answered(KEY "=", ACCEPT, NULL));
}
