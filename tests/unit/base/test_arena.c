#include "base/arena.h"

#include "base/texts.h"
#include "suite.h"

TEST(what_is_taken_is_zeroed_aligned_and_apart)
{
    static const size_t sizes[] = {1, 3, 16, 100, 4000, 4096, 5000, 1, 70000};
    enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
    struct arena arena = {0};
    unsigned char *taken[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        taken[i] = arena_take(&arena, sizes[i]);
        assert_non_null(taken[i]);
        assert_int_equal((uintptr_t)taken[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(taken[i][j], 0);
        memset(taken[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(taken[i][j], i + 1);
    arena_fini(&arena);
    assert_null(arena.last);
    arena_fini(&arena); /* an empty one as well */
}

TEST(a_text_is_copied_and_ended)
{
    struct arena arena = {0};
    char *empty = arena_text(&arena, (struct bytes){NULL, 0});
    char *text = arena_text(&arena, (struct bytes){"texture", 4});

    assert_string_equal(empty, "");
    assert_string_equal(text, "text");
    arena_fini(&arena);
}

TEST(a_size_beyond_all_memory_is_refused)
{
    struct arena arena = {0};

    assert_null(arena_take(&arena, SIZE_MAX));
    assert_null(arena_take(&arena, SIZE_MAX / 2 + 1));
    assert_null(arena_grow(&arena, NULL, SIZE_MAX / 2 + 1, 8));
    arena_fini(&arena);
}

TEST(a_list_keeps_its_order_while_it_grows)
{
    enum { COUNT = 1000 };
    static const char letters[COUNT + 1];
    struct arena arena = {0};
    struct texts texts = {0};
    struct texts early = {0};

    for (size_t i = 0; i < COUNT; i++) {
        assert_true(texts_add(&texts, &arena, &letters[i]));
        if (i == 2)
            early = texts;
    }
    assert_int_equal(texts.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(texts.items[i], &letters[i]);
    assert_int_equal(early.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(early.items[i], &letters[i]);
    arena_fini(&arena);
}
