#include "kv/kv_record.h"

#include "suite.h"
#include "unit/draw.h"

static const struct kv_record sample = {
    .meta = {.revision = UINT64_C(0x0102030405060708),
             .stored_ms = INT64_C(1700000000123),
             .expires_ms = INT64_C(1700000060123)},
    .type = {"text/plain", 10},
    .value = {"a\0b", 3}};

TEST(a_record_is_read_as_it_was_written)
{
    char stored[64];
    struct kv_record read;

    assert_int_equal(kv_record_bytes(&sample), 32 + 10 + 3);
    kv_record_write(&sample, stored);
    assert_true(kv_record_read(&read, (struct bytes){stored, 45}));
    assert_memory_equal(&read.meta, &sample.meta, sizeof(read.meta));
    assert_true(bytes_eq(read.type, sample.type));
    assert_true(bytes_eq(read.value, sample.value));
}

TEST(type_and_value_may_be_empty)
{
    struct kv_record record = {.meta = {.revision = 1}};
    char stored[KV_RECORD_HEAD_BYTES];

    kv_record_write(&record, stored);
    assert_true(kv_record_read(&record, (struct bytes){stored, 32}));
    assert_int_equal(record.type.len, 0);
    assert_int_equal(record.value.len, 0);
}

TEST(the_layout_on_disk_stays_as_it_is)
{
    static const unsigned char head[KV_RECORD_HEAD_BYTES] = {
        1,    10,   0, 0, 0, 0,    0,    0,    1,    2,    3,
        4,    5,    6, 7, 8, 0,    0,    1,    0x8b, 0xcf, 0xe5,
        0x68, 0x7b, 0, 0, 1, 0x8b, 0xcf, 0xe6, 0x52, 0xdb};
    char stored[64];

    kv_record_write(&sample, stored);
    assert_memory_equal(stored, head, sizeof(head));
}

TEST(a_record_cut_off_anywhere_before_its_value_is_refused)
{
    char stored[64];
    struct kv_record read;

    kv_record_write(&sample, stored);
    for (size_t len = 0; len < 45; len++) {
        char *exact = malloc(len + 1); /* for the sanitizer to watch */

        assert_non_null(exact);
        memcpy(exact, stored, len);
        assert_int_equal(kv_record_read(&read, (struct bytes){exact, len}),
                         len >= 42);
        free(exact);
    }
}

TEST(what_no_writer_writes_is_refused)
{
    static const struct {
        size_t at;
        char byte;
    } cases[] = {{0, 0},          {0, 2},     {2, 1},     {7, 1},
                 {1, (char)0xFF}, {24, -128}, {32, '\n'}, {41, 0x7F}};
    struct kv_record read;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char stored[64];

        kv_record_write(&sample, stored);
        stored[cases[i].at] = cases[i].byte;
        assert_false(kv_record_read(&read, (struct bytes){stored, 45}));
    }
}

TEST(noise_is_never_read_beyond_its_end)
{
    draw_seed = 1;
    for (unsigned round = 0; round < 20000; round++) {
        size_t len = draw(80);
        char *noise = malloc(len + 1);
        struct kv_record read;

        assert_non_null(noise);
        for (size_t i = 0; i < len; i++)
            noise[i] = (char)(i < 8 && draw(8) ? i == 0 : draw(256));
        if (kv_record_read(&read, (struct bytes){noise, len}))
            assert_true(read.type.data + read.type.len == read.value.data &&
                        read.value.data + read.value.len == noise + len);
        free(noise);
    }
}
