#include "base/base64.h"
#include "base/utf8.h"

#include "suite.h"

TEST(bytes_become_letters_and_back)
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

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        buf_init(&buf, storage, sizeof(storage), sizeof(storage));
        base64_put(&buf, bytes_of(cases[i][0]));
        assert_true(bytes_eq(buf_bytes(&buf), bytes_of(cases[i][1])));
        assert_true(base64_decode(buf_bytes(&buf), storage, &len));
        assert_true(bytes_eq((struct bytes){storage, len},
                             bytes_of(cases[i][0])));
    }
}

TEST(what_is_no_base64_is_refused)
{
    static const char *const bad[] = {
        "Z",    "Zg",   "Zg=",      "Zg===",  "====", "=Zg=", "Z===",
        "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm-_", "Zm9v="};
    char out[64];
    size_t len;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (base64_decode(bytes_of(bad[i]), out, &len))
            fail_msg("'%s' is taken", bad[i]);
}

TEST(a_buffer_that_is_too_small_fails)
{
    char storage[7];
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), sizeof(storage));
    base64_put(&buf, BYTES("foob"));
    assert_true(buf.failed);
    assert_int_equal(buf.len, 0);
}

TEST(text_is_told_from_what_is_none)
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

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_true(utf8_is_valid(bytes_of(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(utf8_is_valid(bytes_of(bad[i])));
    assert_true(utf8_is_valid(BYTES("a\0b")));
}
