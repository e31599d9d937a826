#include "tools/kv_transfer.h"

#include <malloc.h>

#include "unit/kv/store_fixture.h"

/* --- Text in, text out ---------------------------------------------------- */

static char exported[4096];

static const char *export_text(void)
{
    FILE *out = fmemopen(exported, sizeof(exported), "w");

    assert_non_null(out);
    assert_int_equal(kv_transfer_export(options.path, out), 0);
    assert_int_equal(fclose(out), 0);
    return exported;
}

static int import_bytes(struct bytes text, uint64_t *lines_out)
{
    FILE *in = fmemopen((void *)(uintptr_t)text.data, text.len, "r");
    int err;

    assert_non_null(in);
    err = kv_transfer_import(&options, in, lines_out);
    fclose(in);
    return err;
}

static int import_text(const char *text, uint64_t *lines_out)
{
    return import_bytes(bytes_of(text), lines_out);
}

TEST(text_is_exported_as_it_is_and_the_rest_as_base64)
{
    struct kv_op op = put_op("text \"1\"", "line\n");

    op.type = BYTES("text/plain");
    do_op(op);
    put("\xFF", "\x80\x81");
    close_store();
    assert_string_equal(
        export_text(),
        "{\"key\":\"text \\\"1\\\"\",\"value\":\"line\\u000a\","
        "\"type\":\"text/plain\",\"revision\":1,\"stored\":1700000000000}\n"
        "{\"key64\":\"/w==\",\"value64\":\"gIE=\",\"revision\":2,"
        "\"stored\":1700000000000}\n");
    open_store();
}

TEST(what_was_exported_is_imported_as_it_was)
{
    struct kv_op op = put_op("zero", "");
    char first[sizeof(exported)];
    uint64_t lines;

    op.value = (struct bytes){"a\0b", 3};
    op.type = BYTES("x/y");
    do_op(op);
    put("\xFE\xFF", "\xC3");
    put("empty", "");
    close_store();
    memcpy(first, export_text(), sizeof(first));
    choose_store("second");
    assert_int_equal(import_text(first, &lines), 0);
    assert_int_equal(lines, 3);
    open_store();
    assert_value("empty", "");
    assert_value("\xFE\xFF", "\xC3");
    assert_int_equal(do_op(op).outcome, KV_REPLACED);
    assert_int_equal(count().keys, 3);
}

/* Exports are looked at in terminals; keys and values are strangers'. */
TEST(no_export_orders_a_terminal_about)
{
    static const char key[] = "\xC2\x9B"
                              "2J\x1B[2J\x7F";
    static const char value[] = "\xE2\x80\xAE"
                                "gpj.exe\xE2\x81\xA9\xD8\x9C\xC2\x80";
    char first[sizeof(exported)];
    uint64_t lines;

    put(key, value);
    close_store();
    memcpy(first, export_text(), sizeof(first));
    for (const char *at = first; *at != '\0'; at++)
        assert_in_range((unsigned char)*at, *at == '\n' ? '\n' : ' ', '~');
    assert_non_null(strstr(first, "\"key\":\"\\u009b2J\\u001b[2J\\u007f\","
                                  "\"value\":\"\\u202egpj.exe\\u2069"
                                  "\\u061c\\u0080\""));
    choose_store("second");
    assert_int_equal(import_text(first, &lines), 0);
    assert_int_equal(lines, 1);
    open_store();
    assert_value(key, value);
}

TEST(an_end_stays_where_it_was_and_the_expired_stay_out)
{
    struct kv_value *value;
    uint64_t lines;

    close_store();
    assert_int_equal(
        import_text(
            "{\"key\":\"a\",\"value\":\"1\",\"expires\":1700000000000}\n"
            "{\"key\":\"b\",\"value\":\"2\",\"expires\":1700000000001}",
            &lines),
        0);
    assert_int_equal(lines, 2);
    open_store();
    assert_missing("a");
    value = get_bytes(BYTES("b"));
    assert_non_null(value);
    assert_int_equal(value->meta.expires_ms, KV_START_MS + 1);
    kv_value_release(&value);
}

TEST(a_wrong_line_ends_it_and_those_before_are_in)
{
    static const char *const wrong[] = {
        "[]",
        "{",
        "{\"key\":\"a\"}",
        "{\"value\":\"a\"}",
        "{\"key\":\"\",\"value\":\"a\"}",
        "{\"key\":1,\"value\":\"a\"}",
        "{\"key\":\"a\",\"key64\":\"YQ==\",\"value\":\"a\"}",
        "{\"key\":\"a\\u0000\",\"value\":\"a\"}",
        "{\"key\":\"a\",\"value64\":\"a\"}",
        "{\"key\":\"a\",\"value\":\"a\",\"type\":\"x/y\\r\\nX: y\"}",
        "{\"key\":\"a\",\"value\":\"a\",\"type64\":\"AA==\"}",
        "{\"key\":\"a\",\"value\":\"a\",\"expires\":-1}",
        "{\"key\":\"a\",\"value\":\"a\",\"expires\":1e300}"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char text[256];
        uint64_t lines;

        close_store();
        snprintf(text, sizeof(text),
                 "{\"key\":\"good-%zu\",\"value\":\"x\"}\n\n%s\n"
                 "{\"key\":\"late\",\"value\":\"x\"}\n",
                 i, wrong[i]);
        assert_int_equal(import_text(text, &lines), -EINVAL);
        assert_int_equal(lines, 2);
        open_store();
        assert_int_equal(count().keys, i + 1);
        assert_missing("late");
    }
}

TEST(texts_longer_than_they_may_be_are_refused)
{
    char text[1024];
    uint64_t lines;

    close_store();
    snprintf(text, sizeof(text), "{\"key\":\"%0511d\",\"value\":\"x\"}", 0);
    assert_int_equal(import_text(text, &lines), 0);
    snprintf(text, sizeof(text), "{\"key\":\"%0512d\",\"value\":\"x\"}", 0);
    assert_int_equal(import_text(text, &lines), -EINVAL);
    snprintf(text, sizeof(text),
             "{\"key\":\"a\",\"value\":\"x\",\"type\":\"%0256d\"}", 0);
    assert_int_equal(import_text(text, &lines), -EINVAL);
    open_store();
    assert_int_equal(count().keys, 1);
}

TEST(many_lines_go_in_by_batches)
{
    enum { LINES = 3500, LINE_BYTES = 64 };
    char *text = malloc(LINES * LINE_BYTES);
    size_t len = 0;
    uint64_t lines;

    assert_non_null(text);
    close_store();
    for (unsigned i = 0; i < LINES; i++)
        len += (size_t)snprintf(text + len, LINE_BYTES,
                                "{\"key\":\"key-%u\",\"value\":\"%u\"}\n", i,
                                i);
    assert_int_equal(import_bytes((struct bytes){text, len}, &lines), 0);
    assert_int_equal(lines, LINES);
    open_store();
    assert_int_equal(count().keys, LINES);
    assert_value("key-3499", "3499");
    free(text);
}

TEST(an_import_without_room_says_so)
{
    enum { LINES = 20, VALUE_BYTES = 100000 };
    char *text = malloc(LINES * (VALUE_BYTES + 64));
    size_t len = 0;
    uint64_t lines;

    assert_non_null(text);
    close_store();
    options.bytes_max = 1 << 20;
    for (unsigned i = 0; i < LINES; i++)
        len += (size_t)snprintf(text + len, VALUE_BYTES + 64,
                                "{\"key\":\"%u\",\"value\":\"%0*d\"}\n", i,
                                VALUE_BYTES, 0);
    assert_int_equal(import_bytes((struct bytes){text, len}, &lines), -ENOSPC);
    assert_int_equal(lines, 0);
    open_store();
    assert_int_equal(count().keys, 0);
    free(text);
}

/* The same line again and again, and how much memory there was meanwhile. */
struct feed {
    const char *line;
    size_t len;
    size_t at;
    unsigned lines_left;
    size_t bytes_most;
};

static size_t count_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static ssize_t feed_bytes(void *context, char *out, size_t size)
{
    struct feed *feed = context;
    size_t bytes = count_bytes();
    size_t len = feed->len - feed->at;

    if (bytes > feed->bytes_most)
        feed->bytes_most = bytes;
    if (feed->lines_left == 0)
        return 0;
    len = len < size ? len : size;
    memcpy(out, feed->line + feed->at, len);
    feed->at += len;
    if (feed->at == feed->len) {
        feed->at = 0;
        feed->lines_left--;
    }
    return (ssize_t)len;
}

TEST(lines_that_have_expired_take_no_memory)
{
    enum { LINES = 64, VALUE_BYTES = 500000, BYTES_MAX = 16 << 20 };
    char *line = malloc(VALUE_BYTES + 64);
    struct feed feed = {.line = line, .lines_left = LINES};
    size_t before = count_bytes();
    uint64_t lines;
    FILE *in;

    assert_non_null(line);
    feed.len = (size_t)snprintf(line, VALUE_BYTES + 64,
                                "{\"key\":\"a\",\"value\":\"%0*d\","
                                "\"expires\":1700000000000}\n",
                                VALUE_BYTES, 0);
    in = fopencookie(&feed, "r", (cookie_io_functions_t){.read = feed_bytes});
    assert_non_null(in);
    close_store();
    assert_int_equal(kv_transfer_import(&options, in, &lines), 0);
    fclose(in);
    assert_true(feed.bytes_most < before + BYTES_MAX);
    open_store();
    assert_int_equal(count().keys, 0);
    free(line);
}

TEST(an_open_store_is_not_imported_into)
{
    uint64_t lines;

    assert_int_equal(import_text("{}", &lines), -EBUSY);
    assert_int_equal(lines, 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
