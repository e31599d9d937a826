/* link: -Wl,--wrap=realloc */
#include "base/json_read.h"

#include "suite.h"
#include "unit/memory.h"

/* --- Reading ------------------------------------------------------------- */

/* From a copy of exactly that size, so that a sanitizer sees the next byte. */
static int read_bytes(struct bytes text, struct json_reader *json,
                      char **copy_out)
{
    *copy_out = malloc(text.len > 0 ? text.len : 1);
    assert_non_null(*copy_out);
    if (text.len > 0)
        memcpy(*copy_out, text.data, text.len);
    return json_read(json, (struct bytes){*copy_out, text.len});
}

static int try_bytes(struct bytes text)
{
    struct json_reader json;
    char *copy;
    int err = read_bytes(text, &json, &copy);

    json_fini(&json);
    free(copy);
    return err;
}

/* All of it, written in one way only: names and strings as they came. */
static void put_all(struct buf *buf, const struct json_value *value)
{
    static const char *const words[] = {"null", "false", "true"};
    const struct json_value *member = NULL;

    switch (value->kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        buf_put(buf, bytes_of(words[value->kind]));
        break;
    case JSON_NUMBER:
        buf_printf(buf, "%g", value->number);
        break;
    case JSON_STRING:
        buf_put_literal(buf, "<");
        buf_put(buf, value->text);
        buf_put_literal(buf, ">");
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        buf_put(buf, value->kind == JSON_ARRAY ? BYTES("[") : BYTES("{"));
        while ((member = json_next(value, member))) {
            if (value->kind == JSON_OBJECT) {
                buf_put(buf, member->name);
                buf_put_literal(buf, ":");
            }
            put_all(buf, member);
            buf_put_literal(buf, " ");
        }
        buf_put(buf, value->kind == JSON_ARRAY ? BYTES("]") : BYTES("}"));
        break;
    }
}

TEST(reads_every_kind_of_value)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"null", "null"},
        {" true ", "true"},
        {"\r\n\tfalse\n", "false"},
        {"0", "0"},
        {"-0", "-0"},
        {"-12.5e+2", "-1250"},
        {"1E-2", "0.01"},
        {"123456", "123456"},
        {"\"\"", "<>"},
        {"\"a b\"", "<a b>"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
         "<\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9>"},
        {"\"\\ud83d\\ude00\"", "<\\ud83d\\ude00>"},
        {"\"\303\251\342\202\254\360\237\220\247\177\"",
         "<\303\251\342\202\254\360\237\220\247\177>"},
        {"[]", "[]"},
        {"[ ]", "[]"},
        {"[1]", "[1 ]"},
        {"[1,[2,[]],\"\"]", "[1 [2 [] ] <> ]"},
        {"{}", "{}"},
        {"{ \"a\" : 1 , \"b\" : { } }", "{a:1 b:{} }"},
        {"{\"\":{\"a\":[{},{\"x\":null}]},\"a\":0}",
         "{:{a:[{} {x:null } ] } a:0 }"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char storage[256];
        struct json_reader json;
        struct buf buf;
        char *copy;

        if (read_bytes(bytes_of(cases[i].text), &json, &copy) != 0)
            fail_msg("refused: %s", cases[i].text);
        assert_int_equal(json.values->size, json.count);
        buf_init(&buf, storage, sizeof(storage), sizeof(storage));
        put_all(&buf, json.values);
        buf_put(&buf, (struct bytes){"", 1});
        assert_string_equal(storage, cases[i].expected);
        json_fini(&json);
        free(copy);
    }
}

TEST(refuses_what_is_no_json)
{
    static const char *const cases[] = {
        "", " ", "nul", "nulL", "True", "falsey", "1 2", "[] []", "{}x",
        /* numbers */
        "+1", "-", "01", "-01", "1.", ".5", "1.e2", "1e", "1e+", "0x1", "1_0",
        "NaN", "Infinity", "-Infinity", "1,", "--1", "1e5.5",
        /* strings */
        "\"", "\"a", "'a'", "\"\\\"", "\"\\", "\"\\a\"", "\"\\'\"", "\"\\u\"",
        "\"\\u12\"", "\"\\u12g4\"", "\"\\u 123\"", "\"\\U1234\"", "\"\t\"",
        "\"\n\"", "\"\001\"", "\"\037\"",
        /* halves of a pair */
        "\"\\ud83d\"", "\"\\ude00\"", "\"\\ude00\\ud83d\"",
        "\"\\ud83d\\u0041\"", "\"\\ud83dxxxxxx\"", "\"\\ud83d\\ude0\"",
        /* no UTF-8: alone, cut, overlong, a surrogate, too large */
        "\"\200\"", "\"\303\"", "\"\303(\"", "\"\342\202\"", "\"\342\202A\"",
        "\"\300\257\"", "\"\301\277\"", "\"\340\200\257\"", "\"\355\240\200\"",
        "\"\360\200\200\257\"", "\"\364\220\200\200\"", "\"\365\200\200\200\"",
        "\"\377\"", "\303\251", "\357\273\2771",
        /* arrays */
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1,,2]", "[1}", "[[]",
        "[1]]",
        /* objects */
        "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
        "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":}", "{\"a\"}", "{,}",
        "{\"a\":1 \"b\":2}", "{\"a\":1]", "{\"a\":1,,\"b\":2}", "{\"a\"::1}",
        "{null:1}",
        /* comments are none of it */
        "1//", "/**/1", "#\n1"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (try_bytes(bytes_of(cases[i])) != -EINVAL)
            fail_msg("accepted: %s", cases[i]);
}

TEST(refuses_a_nul_byte_anywhere)
{
    assert_int_equal(try_bytes(BYTES("1\0")), -EINVAL);
    assert_int_equal(try_bytes(BYTES("\0001")), -EINVAL);
    assert_int_equal(try_bytes(BYTES("\"\0\"")), -EINVAL);
    assert_int_equal(try_bytes(BYTES("\"\\\0\"")), -EINVAL);
    assert_int_equal(try_bytes(BYTES("[1\0]")), -EINVAL);
    assert_int_equal(try_bytes(BYTES("{\"a\":\0001}")), -EINVAL);
}

TEST(refuses_every_text_that_is_cut_short)
{
    static const char text[] = "{\"a\":[true,{\"b\":-1.5e3,\"c\":null}],"
                               "\"\\u00e9\\ud83d\\ude00\303\251\":\"x\\n\"}";

    assert_int_equal(try_bytes(BYTES(text)), 0);
    for (size_t len = 0; len < sizeof(text) - 1; len++)
        if (try_bytes((struct bytes){text, len}) != -EINVAL)
            fail_msg("accepted: %.*s", (int)len, text);
}

/* --- Limits -------------------------------------------------------------- */

static int try_nested(size_t depth, char open, char close)
{
    char text[2 * (JSON_DEPTH_MAX + 1)];

    assert_true(depth <= JSON_DEPTH_MAX + 1);
    memset(text, open, depth);
    memset(text + depth, close, depth);
    return try_bytes((struct bytes){text, 2 * depth});
}

TEST(depth_is_limited)
{
    assert_int_equal(try_nested(JSON_DEPTH_MAX, '[', ']'), 0);
    assert_int_equal(try_nested(JSON_DEPTH_MAX + 1, '[', ']'), -E2BIG);
    /* Found before the end is looked for. */
    assert_int_equal(try_nested(JSON_DEPTH_MAX + 1, '[', '['), -E2BIG);
}

TEST(count_of_values_is_limited)
{
    const size_t most = 2 * JSON_VALUES_MAX; /* bytes: "[1,1,...,1]" */
    char *text = malloc(most + 2);

    assert_non_null(text);
    for (size_t i = 1; i < most + 2; i++)
        text[i] = i % 2 == 1 ? '1' : ',';
    text[0] = '[';
    /* The array is one of them. */
    text[most - 2] = ']';
    assert_int_equal(try_bytes((struct bytes){text, most - 1}), 0);
    text[most - 2] = ',';
    text[most] = ']';
    assert_int_equal(try_bytes((struct bytes){text, most + 1}), -E2BIG);
    free(text);
}

TEST(fewer_values_may_be_allowed)
{
    struct json_reader json;

    assert_int_equal(json_read_few(&json, BYTES("[1,2]"), 3), 0);
    json_fini(&json);
    assert_int_equal(json_read_few(&json, BYTES("[1,2,3]"), 3), -E2BIG);
    json_fini(&json);
}

TEST(numbers_are_limited_in_length_and_size)
{
    char digits[JSON_NUMBER_BYTES_MAX + 1];

    memset(digits, '1', sizeof(digits));
    assert_int_equal(try_bytes((struct bytes){digits, JSON_NUMBER_BYTES_MAX}),
                     0);
    assert_int_equal(try_bytes((struct bytes){digits, sizeof(digits)}), -E2BIG);
    assert_int_equal(try_bytes(BYTES("1e308")), 0);
    assert_int_equal(try_bytes(BYTES("1e309")), -E2BIG);
    assert_int_equal(try_bytes(BYTES("-1e999")), -E2BIG);
    assert_int_equal(try_bytes(BYTES("1e-999")), 0);
}

TEST(says_when_there_is_no_memory)
{
    allocations_left = 0;
    assert_int_equal(try_bytes(BYTES("[1]")), -ENOMEM);
    allocations_left = -1;
}

/* --- Asking -------------------------------------------------------------- */

TEST(finds_members_by_name)
{
    struct json_reader json;
    const struct json_value *found;

    assert_int_equal(
        json_read(&json, BYTES("{\"a\":{\"b\":[1,{\"c\":2}],\"a\":true},"
                               "\"b\":3,\"b\":4,\"n\":null,\"s\":\"5\"}")),
        0);
    assert_true(json_number(json_find(json.values, "b"), -1) == 3);
    found = json_find(json_find(json.values, "a"), "b");
    assert_non_null(found);
    assert_int_equal(found->kind, JSON_ARRAY);
    found = json_next(found, json_next(found, NULL));
    assert_true(json_number(json_find(found, "c"), -1) == 2);
    assert_true(json_is_true(json_find(json_find(json.values, "a"), "a")));
    assert_false(json_is_true(json_find(json.values, "b")));

    assert_null(json_find(json.values, "c"));
    assert_null(json_find(json.values, ""));
    assert_null(json_find(json_find(json.values, "c"), "c"));
    assert_null(json_find(json_find(json.values, "b"), "c"));
    assert_null(json_next(json_find(json.values, "b"), NULL));
    assert_null(json_next(NULL, NULL));
    assert_true(json_number(json_find(json.values, "n"), -1) == -1);
    assert_true(json_number(json_find(json.values, "s"), -1) == -1);
    assert_true(json_number(NULL, -1) == -1);
    assert_false(json_is_true(NULL));
    json_fini(&json);
}

static void assert_text(const char *text, struct bytes expected)
{
    char storage[64];
    struct json_reader json;
    struct buf buf;

    assert_int_equal(json_read(&json, bytes_of(text)), 0);
    buf_init(&buf, storage, sizeof(storage), sizeof(storage));
    json_put_text(&buf, json.values);
    assert_false(buf.failed);
    assert_true(bytes_eq(buf_bytes(&buf), expected));
    json_fini(&json);
}

TEST(text_is_utf8_without_escapes)
{
    assert_text("\"\"", BYTES(""));
    assert_text("\"plain\"", BYTES("plain"));
    assert_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", BYTES("\"\\/\b\f\n\r\t"));
    assert_text("\"a\\u0041b\\u007f\"", BYTES("aAb\177"));
    assert_text("\"\\u0080\\u00E9\\u07ff\"", BYTES("\302\200\303\251\337\277"));
    assert_text("\"\\u0800\\u20ac\\uFFFF\"",
                BYTES("\340\240\200\342\202\254\357\277\277"));
    assert_text("\"\\ud800\\udc00\\uDBFF\\uDFFF\"",
                BYTES("\360\220\200\200\364\217\277\277"));
    assert_text("\"\\u0000x\"", BYTES("\0x"));
    assert_text("\"\303\251\\u00e9\303\251\"",
                BYTES("\303\251\303\251\303\251"));
    assert_text("1", BYTES(""));
    assert_text("[\"x\"]", BYTES(""));
}
