#include "kv/kv_page.h"

#include "suite.h"

TEST(keys_are_ordered_as_unsigned_bytes)
{
    static const char *const ordered[] = {"",  "a",    "a\x01", "aa",
                                          "b", "\x7f", "\x80",  "\xff\xff"};

    for (size_t i = 0; i < sizeof(ordered) / sizeof(*ordered); i++)
        for (size_t k = 0; k < sizeof(ordered) / sizeof(*ordered); k++) {
            int order = kv_key_compare(bytes_of(ordered[i]),
                                       bytes_of(ordered[k]));

            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
}

TEST(behind_a_prefix_comes_the_least_larger_key)
{
    char text[] = "ab\xff\xff";

    assert_int_equal(kv_key_after_prefix(text, 4), 2);
    assert_memory_equal(text, "ac", 2);
    assert_int_equal(kv_key_after_prefix(text + 2, 2), 0);
    assert_int_equal(kv_key_after_prefix(text, 0), 0);
}

TEST(a_cursor_comes_back_as_it_was_given)
{
    struct kv_page page = {.limit = 1};
    bool is_prefix;

    assert_true(kv_page_set_next(&page, BYTES("a/"), true));
    page.after = page.next;
    assert_true(kv_page_begin(&page));
    assert_true(bytes_eq(kv_page_after(&page, &is_prefix), BYTES("a/")));
    assert_true(is_prefix);
    assert_true(kv_page_set_next(&page, BYTES("b"), false));
    page.after = page.next;
    assert_true(bytes_eq(kv_page_after(&page, &is_prefix), BYTES("b")));
    assert_false(is_prefix);
    arena_fini(&page.arena);
}

TEST(what_is_no_cursor_is_told)
{
    static const char long_one[KV_CURSOR_BYTES_MAX + 2] = "k";
    struct kv_page page = {.limit = 1};

    page.after = BYTES("k");
    assert_false(kv_page_begin(&page));
    assert_int_equal(page.outcome, KV_MISSING);
    page.after = BYTES("xa");
    assert_false(kv_page_begin(&page));
    page.after = (struct bytes){long_one, KV_CURSOR_BYTES_MAX + 1};
    assert_false(kv_page_begin(&page));
    page.after = (struct bytes){long_one, KV_CURSOR_BYTES_MAX};
    assert_true(kv_page_begin(&page));
}

TEST(a_prefix_longer_than_any_key_finds_nothing)
{
    static const char text[KV_KEY_BYTES_MAX + 1] = "a";
    struct kv_page page = {.limit = 1, .prefix = {text, sizeof(text)}};

    assert_false(kv_page_begin(&page));
    assert_int_equal(page.outcome, KV_FOUND);
}

TEST(a_common_prefix_ends_with_the_delimiter)
{
    struct kv_page page = {.prefix = BYTES("a/"), .delimiter = BYTES("/")};
    struct bytes common;

    assert_true(kv_page_find_common(&page, BYTES("a/b/c"), &common));
    assert_true(bytes_eq(common, BYTES("a/b/")));
    assert_false(kv_page_find_common(&page, BYTES("a/b"), &common));
    page.delimiter = BYTES("");
    assert_false(kv_page_find_common(&page, BYTES("a/b/c"), &common));
}
