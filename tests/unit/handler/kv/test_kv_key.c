#include "handler/kv/kv_key.h"

#include "suite.h"

static char room[KV_KEY_BYTES_MAX];
static struct bytes key;

static enum kv_key_verdict read_key(const char *path)
{
    return kv_key_read(bytes_of(path), BYTES("/kv"), room, &key);
}

TEST(keys_are_the_rest_of_the_path)
{
    static const char *const cases[][2] = {{"/kv/a", "a"},
                                           {"/kv/a/b/", "a/b/"},
                                           {"/kv//", "/"},
                                           {"/kv/a//b", "a//b"},
                                           {"/kv/a/../b", "a/../b"},
                                           {"/kv/.", "."},
                                           {"/kv/%2e%2E", ".."},
                                           {"/kv/a%2Fb", "a/b"},
                                           {"/kv/%2525", "%25"},
                                           {"/kv/a+b", "a+b"},
                                           {"/kv/%ff", "\377"},
                                           {"/kv/%2D/batch", "-/batch"},
                                           {"/kv/-/batches", "-/batches"},
                                           {"/kv/-", "-"},
                                           {"/kv/-/batch/", "-/batch/"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(read_key(cases[i][0]), KV_KEY_ONE);
        if (!bytes_eq(key, bytes_of(cases[i][1])))
            fail_msg("'%s': '%.*s'", cases[i][0], (int)key.len, key.data);
    }
}

TEST(some_paths_are_about_more_than_a_key)
{
    assert_int_equal(read_key("/kv"), KV_KEY_ALL);
    assert_int_equal(read_key("/kv/"), KV_KEY_ALL);
    assert_int_equal(read_key("/kv/-/batch"), KV_KEY_BATCH);
    assert_int_equal(kv_key_read(BYTES("/"), BYTES(""), room, &key),
                     KV_KEY_ALL);
    assert_int_equal(kv_key_read(BYTES("/a"), BYTES(""), room, &key),
                     KV_KEY_ONE);
    assert_null(kv_key_fault(KV_KEY_ONE));
    assert_null(kv_key_fault(KV_KEY_ALL));
    assert_null(kv_key_fault(KV_KEY_BATCH));
}

TEST(the_prefix_is_spelled_in_one_way_only)
{
    static const char *const cases[] = {
        "/%6bv/a", "//kv/a", "/./kv/a", "/x/../kv/a", "/kva", "/k", "*", ""};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(read_key(cases[i]), KV_KEY_ELSEWHERE);
    assert_non_null(kv_key_fault(KV_KEY_ELSEWHERE));
}

TEST(broken_escapes_and_nul_are_no_key)
{
    static const char *const cases[] = {"/kv/%",   "/kv/a%2",   "/kv/%zz",
                                        "/kv/%00", "/kv/a%00b", "/kv/%%",
                                        "/kv/%-1"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(read_key(cases[i]), KV_KEY_MALFORMED);
    assert_int_equal(kv_key_read(BYTES("/kv/a\0b"), BYTES("/kv"), room, &key),
                     KV_KEY_MALFORMED);
    assert_non_null(kv_key_fault(KV_KEY_MALFORMED));
}

TEST(keys_have_511_bytes_however_they_are_written)
{
    static char path[3 * KV_KEY_BYTES_MAX + 20];

    snprintf(path, sizeof(path), "/kv/%0511d", 0);
    assert_int_equal(read_key(path), KV_KEY_ONE);
    assert_int_equal(key.len, 511);
    snprintf(path, sizeof(path), "/kv/%0512d", 0);
    assert_int_equal(read_key(path), KV_KEY_TOO_LONG);
    snprintf(path, sizeof(path), "/kv/");
    for (size_t i = 0; i < KV_KEY_BYTES_MAX; i++)
        memcpy(path + 4 + 3 * i, "%41", 4);
    assert_int_equal(read_key(path), KV_KEY_ONE);
    assert_int_equal(key.len, 511);
    memcpy(path + 4 + 3 * KV_KEY_BYTES_MAX, "A", 2);
    assert_int_equal(read_key(path), KV_KEY_TOO_LONG);
    assert_non_null(kv_key_fault(KV_KEY_TOO_LONG));
}
