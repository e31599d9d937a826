/*
 * fuzz_json - what may be JSON or not, as json_read reads it.
 *
 * It must judge as the simple checker of the unit tests does; what it has read
 * must lie in the text and in its own row, and, written anew, come to the same
 * once more. Any breach aborts.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_read.h"

#include "json_check.h"

/* Any breach of a promise ends the run. */
#define CHECK(condition) ((condition) ? (void)0 : breach(__LINE__, #condition))

_Noreturn static void breach(int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct bytes view, struct bytes text)
{
    CHECK(view.len == 0 || (view.data > text.data &&
                            view.data + view.len < text.data + text.len));
}

/* Writes value as it is, but for strings and names: those in other words. */
static void put_anew(struct buf *buf, const struct json_value *value,
                     struct bytes text)
{
    static const char *const words[] = {"null", "false", "true"};
    const struct json_value *member = NULL;
    struct buf decoded;
    uint32_t size = 1;
    bool is_object = value->kind == JSON_OBJECT;

    check_inside(value->name, text);
    switch (value->kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        buf_put(buf, bytes_of(words[value->kind]));
        break;
    case JSON_NUMBER:
        buf_printf(buf, "%.17g", value->number);
        break;
    case JSON_STRING:
        check_inside(value->text, text);
        buf_init(&decoded, NULL, 0, text.len);
        json_put_text(&decoded, value);
        CHECK(!decoded.failed); /* never longer than it came */
        buf_put_literal(buf, "\"");
        buf_put_json(buf, buf_bytes(&decoded));
        buf_put_literal(buf, "\"");
        buf_fini(&decoded);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        buf_put(buf, is_object ? BYTES("{") : BYTES("["));
        while ((member = json_next(value, member))) {
            if (size > 1)
                buf_put_literal(buf, ",");
            if (is_object) {
                buf_put_literal(buf, "\"");
                buf_put(buf, member->name);
                buf_put_literal(buf, "\":");
            }
            put_anew(buf, member, text);
            size += member->size;
        }
        buf_put(buf, is_object ? BYTES("}") : BYTES("]"));
        break;
    }
    CHECK(value->size == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_reader json, again;
    struct bytes text = {(const char *)data, size};
    struct buf copy, first, second;
    int err = json_read(&json, text);

    CHECK(err == 0 || err == -EINVAL || err == -E2BIG);
    if (size > 0 && err != -E2BIG && !memchr(data, '\0', size)) {
        buf_init(&copy, NULL, 0, size + 1);
        buf_put(&copy, text);
        buf_put(&copy, (struct bytes){"", 1});
        CHECK(json_is_valid(copy.data) == (err == 0));
        buf_fini(&copy);
    }
    if (err == 0) {
        CHECK(json.values->size == json.count);
        buf_init(&first, NULL, 0, 1 << 24);
        buf_init(&second, NULL, 0, 1 << 24);
        put_anew(&first, json.values, text);
        CHECK(!first.failed && json_read(&again, buf_bytes(&first)) == 0);
        put_anew(&second, again.values, buf_bytes(&first));
        CHECK(again.count == json.count);
        CHECK(bytes_eq(buf_bytes(&first), buf_bytes(&second)));
        json_fini(&again);
        buf_fini(&first);
        buf_fini(&second);
    }
    json_fini(&json);
    return 0;
}
