#include "handler/kv/kv_batch.h"

#include "suite.h"

static struct kv_batch *batch;
static struct kv_batch_limits limits;

static int set_up(void **state)
{
    (void)state;
    limits = (struct kv_batch_limits){
        .ops_max = 3, .value_bytes_max = 10, .bytes_max = 2000};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kv_batch_destroy(batch);
    batch = NULL;
    return 0;
}

/* Reads text, of which the first `split` bytes come first; each piece from a
 * copy of exactly its size, so that a sanitizer sees the next byte. */
static bool read_split(struct bytes text, size_t split)
{
    struct bytes pieces[2] = {{text.data, split},
                              {text.data + split, text.len - split}};
    bool is_good = true;

    kv_batch_destroy(batch);
    batch = kv_batch_create(&limits);
    assert_non_null(batch);
    for (size_t i = 0; i < 2 && is_good; i++) {
        char *copy = malloc(pieces[i].len + 1);

        assert_non_null(copy);
        memcpy(copy + 1, pieces[i].data, pieces[i].len);
        is_good = kv_batch_take(batch, (struct bytes){copy + 1, pieces[i].len});
        free(copy);
    }
    is_good = is_good && kv_batch_end(batch);
    assert_int_equal(is_good, kv_batch_fault(batch)->text == NULL);
    return is_good;
}

static bool read_whole(const char *text)
{
    return read_split(bytes_of(text), 0);
}

static void assert_bytes(struct bytes found, struct bytes expected)
{
    assert_int_equal(found.len, expected.len);
    assert_memory_equal(found.data ? found.data : "", expected.data,
                        expected.len);
}

static const char three[] =
    "{\"op\":\"put\",\"key\":\"a\\u00e9\\n\",\"value\":\"t\\\"xt\","
    "\"type\":\"text/plain\",\"ttl\":60}\r\n"
    " \t\r\n"
    "{\"key64\":\"/w==\",\"if\":\"17\",\"op\":\"delete\"}\n"
    "{\"op\":\"put\",\"key\":\"c\",\"value64\":\"AAE=\",\"if\":\"absent\"}";

static void assert_three(void)
{
    size_t count;
    const struct kv_op *ops = kv_batch_ops(batch, &count);

    assert_int_equal(count, 3);
    assert_int_equal(ops[0].kind, KV_PUT);
    assert_bytes(ops[0].key, BYTES("a\303\251\n"));
    assert_bytes(ops[0].value, BYTES("t\"xt"));
    assert_bytes(ops[0].type, BYTES("text/plain"));
    assert_int_equal(ops[0].ttl_ms, 60000);
    assert_int_equal(ops[0].condition, KV_IF_ANY);
    assert_int_equal(ops[1].kind, KV_DELETE);
    assert_bytes(ops[1].key, BYTES("\377"));
    assert_int_equal(ops[1].condition, KV_IF_REVISION);
    assert_int_equal(ops[1].if_revision, 17);
    assert_int_equal(ops[2].kind, KV_PUT);
    assert_bytes(ops[2].value, BYTES("\0\1"));
    assert_bytes(ops[2].type, BYTES(""));
    assert_int_equal(ops[2].ttl_ms, 0);
    assert_int_equal(ops[2].condition, KV_IF_MISSING);
    assert_int_equal(kv_batch_line(batch, 0), 1);
    assert_int_equal(kv_batch_line(batch, 1), 3);
    assert_int_equal(kv_batch_line(batch, 2), 4);
}

TEST(operations_are_read_however_they_are_split)
{
    for (size_t split = 0; split < sizeof(three); split++) {
        if (!read_split(BYTES(three), split))
            fail_msg("at %zu: %s", split, kv_batch_fault(batch)->text);
        assert_three();
    }
}

TEST(what_is_wrong_is_told_with_its_line)
{
    static const struct {
        const char *line;
        unsigned status;
        const char *member;
    } cases[] = {
        {"{", 400, ""},
        {"[]", 400, ""},
        {"1", 400, ""},
        {"{} {}", 400, ""},
        {"{\"op\":\"put\",\"key\":\"\xff\",\"value\":\"\"}", 400, ""},
        {"{}", 400, "op"},
        {"{\"op\":\"get\",\"key\":\"a\"}", 400, "op"},
        {"{\"op\":1,\"key\":\"a\"}", 400, "op"},
        {"{\"op\":\"put\",\"op\":\"put\"}", 400, "op"},
        {"{\"op\":\"delete\"}", 400, "key"},
        {"{\"op\":\"delete\",\"key\":\"\"}", 400, "key"},
        {"{\"op\":\"delete\",\"key\":\"a\\u0000\"}", 400, "key"},
        {"{\"op\":\"delete\",\"key\":\"a\",\"key64\":\"YQ==\"}", 400, "key"},
        {"{\"op\":\"delete\",\"key64\":\"AA==\"}", 400, "key"},
        {"{\"op\":\"delete\",\"key64\":\"YQ\"}", 400, "key64"},
        {"{\"op\":\"delete\",\"key\":{}}", 400, "key"},
        {"{\"op\":\"delete\",\"key\":\"a\",\"value\":\"\"}", 400, "value"},
        {"{\"op\":\"delete\",\"key\":\"a\",\"ttl\":1}", 400, "ttl"},
        {"{\"op\":\"check\",\"key\":\"a\"}", 400, "if"},
        {"{\"op\":\"check\",\"key\":\"a\",\"if\":\"x\"}", 400, "if"},
        {"{\"op\":\"check\",\"key\":\"a\",\"if\":\"\"}", 400, "if"},
        {"{\"op\":\"check\",\"key\":\"a\",\"if\":\"x5x\"}", 400, "if"},
        {"{\"op\":\"check\",\"key\":\"a\",\"if\":\"(5)\"}", 400, "if"},
        {"{\"op\":\"check\",\"key\":\"a\",\"if\":7}", 400, "if"},
        {"{\"op\":\"put\",\"key\":\"a\"}", 400, "value"},
        {"{\"op\":\"put\",\"key\":\"a\",\"value64\":\"A\"}", 400, "value64"},
        {"{\"op\":\"put\",\"key\":\"a\",\"value\":\"01234567890\"}", 413, ""},
        {"{\"op\":\"put\",\"key\":\"a\",\"value\":\"\",\"ttl\":0}", 400, "ttl"},
        {"{\"op\":\"put\",\"key\":\"a\",\"value\":\"\",\"ttl\":1.5}", 400,
         "ttl"},
        {"{\"op\":\"put\",\"key\":\"a\",\"value\":\"\",\"ttl\":1e10}", 400,
         "ttl"},
        {"{\"op\":\"put\",\"key\":\"a\",\"value\":\"\",\"ttl\":\"1\"}", 400,
         "ttl"},
        {"{\"op\":\"put\",\"key\":\"a\",\"value\":\"\",\"type\":\"\\n\"}", 400,
         "type"},
        {"{\"op\":\"put\",\"key\":\"a\",\"value\":\"\",\"tpye\":\"\"}", 400,
         "tpye"},
        {"{\"0123456789012345678901234567890123456789\":1}", 400,
         "01234567890123456789012345678901"},
        {"{\"x\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1]}",
         400, ""},
    };
    char text[1000];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int len = snprintf(text, sizeof(text),
                           "{\"op\":\"delete\",\"key\":\"a\"}\n\n%s\n",
                           cases[i].line);

        for (size_t split = 0; split <= (size_t)len; split++) {
            const struct kv_batch_fault *fault;

            if (read_split((struct bytes){text, (size_t)len}, split))
                fail_msg("taken: %s", cases[i].line);
            fault = kv_batch_fault(batch);
            if (fault->line != 3 || fault->status != cases[i].status)
                fail_msg("%s: %u in line %zu", cases[i].line, fault->status,
                         fault->line);
            assert_bytes((struct bytes){fault->member, fault->member_len},
                         bytes_of(cases[i].member));
        }
        assert_false(kv_batch_take(batch, BYTES("\n")));
        assert_false(kv_batch_end(batch));
    }
}

TEST(a_batch_has_limits)
{
    static char text[3000];

#define ONE "{\"op\":\"delete\",\"key\":\"a\"}\n"
    assert_true(read_whole(ONE ONE ONE));
    assert_false(read_whole(ONE ONE ONE ONE));
    assert_int_equal(kv_batch_fault(batch)->status, 413);
    assert_int_equal(kv_batch_fault(batch)->line, 4);
    memset(text, ' ', sizeof(text));
    memcpy(text, ONE, sizeof(ONE) - 1);
    assert_true(read_split((struct bytes){text, 2000}, 1000));
    assert_false(read_split((struct bytes){text, 2001}, 1000));
    assert_int_equal(kv_batch_fault(batch)->status, 413);
    assert_false(read_whole("\n \n"));
    assert_int_equal(kv_batch_fault(batch)->line, 0);
    assert_false(read_whole(""));
}

TEST(keys_have_511_bytes_at_most)
{
    char text[1000];

    snprintf(text, sizeof(text), "{\"op\":\"delete\",\"key\":\"%0511d\"}", 0);
    assert_true(read_whole(text));
    snprintf(text, sizeof(text), "{\"op\":\"delete\",\"key\":\"%0512d\"}", 0);
    assert_false(read_whole(text));
}

TEST(conditions_may_have_to_be_there)
{
    limits.needs_condition = true;
    assert_false(read_whole(ONE));
    assert_int_equal(kv_batch_fault(batch)->status, 428);
    assert_true(read_whole("{\"op\":\"delete\",\"key\":\"a\",\"if\":\"*\"}"));
}

TEST(a_condition_is_any_one_or_a_revision)
{
    static const struct {
        const char *text;
        bool may_be_bare;
        enum kv_condition condition;
        uint64_t revision;
    } cases[] = {
        {"*", false, KV_IF_PRESENT, 0},
        {"\"12\"", false, KV_IF_REVISION, 12},
        {"\"12\"", true, KV_IF_REVISION, 12},
        {"12", true, KV_IF_REVISION, 12},
        {"12", false, KV_IF_REVISION, 0},
        {"\"\"", true, KV_IF_REVISION, 0},
        {"\"", true, KV_IF_REVISION, 0},
        {"", true, KV_IF_REVISION, 0},
        {"\"012\"", true, KV_IF_REVISION, 0},
        {"W/\"12\"", true, KV_IF_REVISION, 0},
        {"18446744073709551615", true, KV_IF_REVISION, UINT64_MAX},
        {"18446744073709551616", true, KV_IF_REVISION, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t revision = 1;

        assert_int_equal(kv_condition_read(bytes_of(cases[i].text),
                                           cases[i].may_be_bare, &revision),
                         cases[i].condition);
        if (revision != cases[i].revision)
            fail_msg("'%s'", cases[i].text);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
