#include "base/base64.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void bytes_become_letters_and_back(void **state)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\377\376\375", "//79"}};
    char storage[64];
    struct buf buf;
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        buf_init(&buf, storage, sizeof(storage), sizeof(storage));
        base64_put(&buf, bytes_of(cases[i][0]));
        assert_true(bytes_eq(buf_bytes(&buf), bytes_of(cases[i][1])));
        assert_true(base64_decode(buf_bytes(&buf), storage, &len));
        assert_true(bytes_eq((struct bytes){storage, len},
                             bytes_of(cases[i][0])));
    }
}

static void what_is_no_base64_is_refused(void **state)
{
    static const char *const bad[] = {
        "Z",    "Zg",   "Zg=",      "Zg===",  "====", "=Zg=", "Z===",
        "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm-_", "Zm9v="};
    char out[64];
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (base64_decode(bytes_of(bad[i]), out, &len))
            fail_msg("'%s' is taken", bad[i]);
}

static void a_buffer_that_is_too_small_fails(void **state)
{
    char storage[7];
    struct buf buf;

    (void)state;
    buf_init(&buf, storage, sizeof(storage), sizeof(storage));
    base64_put(&buf, BYTES("foob"));
    assert_true(buf.failed);
    assert_int_equal(buf.len, 0);
}

static void text_is_told_from_what_is_none(void **state)
{
    static const char *const good[] = {"",
                                       "a\177",
                                       "\303\251",
                                       "\342\202\254",
                                       "\360\220\200\200",
                                       "\364\217\277\277",
                                       "\356\200\200"};
    static const char *const bad[] = {"\200",
                                      "a\377",
                                      "\303",
                                      "\300\200",
                                      "\340\200\200",
                                      "\355\240\200",
                                      "\360\200\200\200",
                                      "\364\220\200\200",
                                      "\342\202",
                                      "\303\251\303"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_true(utf8_is_valid(bytes_of(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(utf8_is_valid(bytes_of(bad[i])));
    assert_true(utf8_is_valid(BYTES("a\0b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_letters_and_back),
        cmocka_unit_test(what_is_no_base64_is_refused),
        cmocka_unit_test(a_buffer_that_is_too_small_fails),
        cmocka_unit_test(text_is_told_from_what_is_none),
    };

    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
