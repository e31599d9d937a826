#include "base/json_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { CAPACITY_MIN = 256 }; /* initial room for values */

struct reader {
    struct json_reader *json;
    const char *at;
    const char *end;
};

/* --- Letters ------------------------------------------------------------- */

/* Returns the next byte, or '\0' at the end; JSON text never contains '\0'. */
static char peek(const struct reader *reader)
{
    return reader->at < reader->end ? *reader->at : '\0';
}

static bool take(struct reader *reader, char wanted)
{
    if (peek(reader) != wanted)
        return false;
    reader->at++;
    return true;
}

static void skip_space(struct reader *reader)
{
    while (peek(reader) == ' ' || peek(reader) == '\t' ||
           peek(reader) == '\r' || peek(reader) == '\n')
        reader->at++;
}

static bool take_word(struct reader *reader, struct bytes word)
{
    if ((size_t)(reader->end - reader->at) < word.len ||
        memcmp(reader->at, word.data, word.len) != 0)
        return false;
    reader->at += word.len;
    return true;
}

/* --- Strings ------------------------------------------------------------- */

/* Reads four hexadecimal digits. Returns false if they are not there. */
static bool read_hex(const char *at, const char *end, uint32_t *unit_out)
{
    *unit_out = 0;
    if (end - at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = byte_lower(at[i]);
        uint32_t digit;

        if (byte_is_digit(c))
            digit = (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint32_t)(c - 'a') + 10;
        else
            return false;
        *unit_out = *unit_out << 4 | digit;
    }
    return true;
}

/* Reads the escape that begins with the backslash at `at`. Returns its length.
 * Returns 0 for an invalid escape, and for one half of a surrogate pair without
 * the other half. */
static size_t read_escape(const char *at, const char *end, uint32_t *code_out)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter;
    uint32_t low;

    if (end - at < 2 || at[1] == '\0')
        return 0;
    letter = strchr(letters, at[1]);
    if (letter) {
        *code_out = (unsigned char)meanings[letter - letters];
        return 2;
    }
    if (at[1] != 'u' || !read_hex(at + 2, end, code_out))
        return 0;
    if (*code_out >> 10 == 0xD800 >> 10) {
        if (end - at < 12 || at[6] != '\\' || at[7] != 'u' ||
            !read_hex(at + 8, end, &low) || low >> 10 != 0xDC00 >> 10)
            return 0;
        *code_out = 0x10000 + ((*code_out & 0x3FF) << 10 | (low & 0x3FF));
        return 12;
    }
    return *code_out >> 10 == 0xDC00 >> 10 ? 0 : 6;
}

/* Takes one character of UTF-8 beyond ASCII. Refuses overlong forms and
 * surrogates. */
static bool take_wide(struct reader *reader)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)*reader->at;
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    uint32_t code = lead & (0x3Fu >> more);

    if (lead < 0xC2 || lead > 0xF4)
        return false;
    reader->at++;
    for (int i = 0; i < more; i++, reader->at++) {
        unsigned char c = (unsigned char)peek(reader);

        if ((c & 0xC0) != 0x80)
            return false;
        code = code << 6 | (c & 0x3F);
    }
    return code >= least[more] && code <= 0x10FFFF &&
           code >> 11 != 0xD800 >> 11;
}

static bool take_string(struct reader *reader, struct bytes *text_out)
{
    const char *begin;

    if (!take(reader, '"'))
        return false;
    begin = reader->at;
    while (peek(reader) != '"') {
        unsigned char c = (unsigned char)peek(reader);
        uint32_t code;
        size_t len;

        if (c == '\\') {
            len = read_escape(reader->at, reader->end, &code);
            if (len == 0)
                return false;
            reader->at += len;
        } else if (c >= 0x80) {
            if (!take_wide(reader))
                return false;
        } else if (c < 0x20) {
            return false;
        } else {
            reader->at++;
        }
    }
    *text_out = bytes_between(begin, reader->at++);
    return true;
}

/* --- Numbers ------------------------------------------------------------- */

static bool take_digits(struct reader *reader)
{
    const char *begin = reader->at;

    while (byte_is_digit(peek(reader)))
        reader->at++;
    return reader->at > begin;
}

static int take_number(struct reader *reader, double *number_out)
{
    const char *begin = reader->at;
    char copy[JSON_NUMBER_BYTES_MAX + 1];
    size_t len;

    take(reader, '-');
    if (!take(reader, '0') && !take_digits(reader))
        return -EINVAL;
    if (take(reader, '.') && !take_digits(reader))
        return -EINVAL;
    if (take(reader, 'e') || take(reader, 'E')) {
        if (!take(reader, '+'))
            take(reader, '-');
        if (!take_digits(reader))
            return -EINVAL;
    }
    len = (size_t)(reader->at - begin);
    if (len > JSON_NUMBER_BYTES_MAX)
        return -E2BIG;
    memcpy(copy, begin, len);
    copy[len] = '\0';
    *number_out = strtod(copy, NULL);
    return isfinite(*number_out) ? 0 : -E2BIG;
}

/* --- Values -------------------------------------------------------------- */

/* Appends a value to the array, which may move. Returns 0 or -errno. */
static int append(struct json_reader *json, uint32_t *index_out)
{
    if (json->count == json->count_max)
        return -E2BIG;
    if (json->count == json->capacity) {
        uint32_t capacity = json->capacity > 0 ? 2 * json->capacity
                                               : CAPACITY_MIN;
        struct json_value *values;

        if (capacity > json->count_max)
            capacity = json->count_max;
        values = realloc(json->values, capacity * sizeof(*values));
        if (!values)
            return -ENOMEM;
        json->values = values;
        json->capacity = capacity;
    }
    *index_out = json->count++;
    json->values[*index_out] = (struct json_value){.size = 1};
    return 0;
}

static int take_value(struct reader *reader, struct bytes name, int depth);

/* Takes the members of an array or object, and its closing bracket. */
static int take_members(struct reader *reader, bool has_names, int depth)
{
    char close = has_names ? '}' : ']';
    struct bytes name = {NULL, 0};
    int err;

    skip_space(reader);
    if (take(reader, close))
        return 0;
    do {
        skip_space(reader);
        if (has_names) {
            if (!take_string(reader, &name))
                return -EINVAL;
            skip_space(reader);
            if (!take(reader, ':'))
                return -EINVAL;
        }
        if ((err = take_value(reader, name, depth + 1)) != 0)
            return err;
        skip_space(reader);
    } while (take(reader, ','));
    return take(reader, close) ? 0 : -EINVAL;
}

static int take_value(struct reader *reader, struct bytes name, int depth)
{
    struct json_value value = {.kind = JSON_NULL, .name = name};
    uint32_t index;
    int err;

    if (depth > JSON_DEPTH_MAX)
        return -E2BIG;
    if ((err = append(reader->json, &index)) != 0)
        return err;
    skip_space(reader);
    if (take(reader, '{')) {
        value.kind = JSON_OBJECT;
        err = take_members(reader, true, depth);
    } else if (take(reader, '[')) {
        value.kind = JSON_ARRAY;
        err = take_members(reader, false, depth);
    } else if (peek(reader) == '"') {
        value.kind = JSON_STRING;
        err = take_string(reader, &value.text) ? 0 : -EINVAL;
    } else if (take_word(reader, BYTES("true"))) {
        value.kind = JSON_TRUE;
    } else if (take_word(reader, BYTES("false"))) {
        value.kind = JSON_FALSE;
    } else if (!take_word(reader, BYTES("null"))) {
        value.kind = JSON_NUMBER;
        err = take_number(reader, &value.number);
    }
    value.size = reader->json->count - index;
    reader->json->values[index] = value;
    return err;
}

int json_read_few(struct json_reader *json, struct bytes text,
                  uint32_t values_max)
{
    struct reader reader = {json, text.data, text.data + text.len};
    int err;

    *json = (struct json_reader){.count_max = values_max};
    err = take_value(&reader, (struct bytes){NULL, 0}, 1);
    skip_space(&reader);
    return err == 0 && reader.at < reader.end ? -EINVAL : err;
}

int json_read(struct json_reader *json, struct bytes text)
{
    return json_read_few(json, text, JSON_VALUES_MAX);
}

void json_fini(struct json_reader *json)
{
    free(json->values);
    *json = (struct json_reader){0};
}

/* --- Asking -------------------------------------------------------------- */

const struct json_value *json_next(const struct json_value *list,
                                   const struct json_value *previous)
{
    const struct json_value *next;

    if (!list || (list->kind != JSON_ARRAY && list->kind != JSON_OBJECT))
        return NULL;
    next = previous ? previous + previous->size : list + 1;
    return next < list + list->size ? next : NULL;
}

const struct json_value *json_find(const struct json_value *value,
                                   const char *name)
{
    const struct json_value *member = NULL;

    if (!value || value->kind != JSON_OBJECT)
        return NULL;
    while ((member = json_next(value, member)))
        if (bytes_eq(member->name, bytes_of(name)))
            return member;
    return NULL;
}

double json_number(const struct json_value *value, double otherwise)
{
    return value && value->kind == JSON_NUMBER ? value->number : otherwise;
}

bool json_is_true(const struct json_value *value)
{
    return value && value->kind == JSON_TRUE;
}

static void put_utf8(struct buf *buf, uint32_t code)
{
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    char out[4];
    size_t len = 0;

    if (code < 0x80) {
        out[len++] = (char)code;
    } else {
        int more = code >= 0x10000 ? 3 : code >= 0x800 ? 2 : 1;

        out[len++] = (char)(leads[more] | code >> 6 * more);
        while (more-- > 0)
            out[len++] = (char)(0x80 | (code >> 6 * more & 0x3F));
    }
    buf_put(buf, (struct bytes){out, len});
}

void json_put_text(struct buf *buf, const struct json_value *value)
{
    const char *at, *end;

    if (!value || value->kind != JSON_STRING)
        return;
    at = value->text.data;
    end = at + value->text.len;
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t len;
        uint32_t code;

        buf_put(buf, bytes_between(at, escape ? escape : end));
        if (!escape || (len = read_escape(escape, end, &code)) == 0)
            return;
        put_utf8(buf, code);
        at = escape + len;
    }
}
