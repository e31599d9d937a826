#include "json_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each takes what it names off *at and says whether it stood there. The text
 * ends in NUL, which no value has inside. */
static bool json_take_value(const char **at);

/* By hand: a strict sanitizer takes strncmp() for leave to measure all of the
 * text, which here is long. */
static bool json_take(const char **at, const char *word)
{
    const char *end = *at;

    while (*word)
        if (*end++ != *word++)
            return false;
    *at = end;
    return true;
}

static void json_skip_space(const char **at)
{
    while (**at == ' ' || **at == '\t' || **at == '\r' || **at == '\n')
        ++*at;
}

static bool json_take_hex(const char **at, uint32_t *unit_out)
{
    *unit_out = 0;
    for (int i = 0; i < 4; i++, ++*at) {
        const char *digits = "0123456789abcdef";
        char c = **at >= 'A' && **at <= 'F' ? (char)(**at + 32) : **at;
        const char *digit = c ? strchr(digits, c) : NULL;

        if (!digit)
            return false;
        *unit_out = *unit_out << 4 | (uint32_t)(digit - digits);
    }
    return true;
}

/* What follows a backslash. */
static bool json_take_escape(const char **at)
{
    uint32_t unit, low;

    if (**at != '\0' && strchr("\"\\/bfnrt", **at)) {
        ++*at;
        return true;
    }
    if (!json_take(at, "u") || !json_take_hex(at, &unit))
        return false;
    if (unit >> 10 == 0xD800 >> 10)
        return json_take(at, "\\u") && json_take_hex(at, &low) &&
               low >> 10 == 0xDC00 >> 10;
    return unit >> 10 != 0xDC00 >> 10;
}

/* One character of UTF-8 beyond ASCII. */
static bool json_take_wide(const char **at)
{
    unsigned char lead = (unsigned char)**at;
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t code = lead & (0x3Fu >> more);

    if (lead < 0xC0 || lead > 0xF7)
        return false;
    ++*at;
    for (int i = 0; i < more; i++, ++*at) {
        unsigned char c = (unsigned char)**at;

        if ((c & 0xC0) != 0x80)
            return false;
        code = code << 6 | (c & 0x3F);
    }
    return code >= least[more] && code <= 0x10FFFF && code >> 11 != 0x1B;
}

static bool json_take_string(const char **at)
{
    if (!json_take(at, "\""))
        return false;
    while (**at != '"') {
        if (json_take(at, "\\")) {
            if (!json_take_escape(at))
                return false;
        } else if ((unsigned char)**at >= 0x80) {
            if (!json_take_wide(at))
                return false;
        } else if ((unsigned char)**at < 0x20) {
            return false;
        } else {
            ++*at;
        }
    }
    ++*at;
    return true;
}

static bool json_take_digits(const char **at)
{
    const char *begin = *at;

    while (**at >= '0' && **at <= '9')
        ++*at;
    return *at > begin;
}

static bool json_take_number(const char **at)
{
    json_take(at, "-");
    if (!json_take(at, "0") && !json_take_digits(at))
        return false;
    if (json_take(at, ".") && !json_take_digits(at))
        return false;
    if (json_take(at, "e") || json_take(at, "E")) {
        if (!json_take(at, "+"))
            json_take(at, "-");
        return json_take_digits(at);
    }
    return true;
}

/* The inside of an array, or of an object, to the end of it. */
static bool json_take_members(const char **at, bool is_object)
{
    const char *end = is_object ? "}" : "]";

    json_skip_space(at);
    if (json_take(at, end))
        return true;
    do {
        json_skip_space(at);
        if (is_object) {
            if (!json_take_string(at))
                return false;
            json_skip_space(at);
            if (!json_take(at, ":"))
                return false;
        }
        if (!json_take_value(at))
            return false;
    } while (json_take(at, ","));
    return json_take(at, end);
}

static bool json_take_value(const char **at)
{
    bool is_valid;

    json_skip_space(at);
    if (json_take(at, "{"))
        is_valid = json_take_members(at, true);
    else if (json_take(at, "["))
        is_valid = json_take_members(at, false);
    else if (**at == '"')
        is_valid = json_take_string(at);
    else
        is_valid = json_take(at, "true") || json_take(at, "false") ||
                   json_take(at, "null") || json_take_number(at);
    json_skip_space(at);
    return is_valid;
}

bool json_is_valid(const char *text)
{
    return json_take_value(&text) && *text == '\0';
}

bool json_is_valid_bytes(struct bytes text)
{
    char *copy = malloc(text.len + 1);
    bool is_valid;

    if (!copy)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    is_valid = strlen(copy) == text.len && json_is_valid(copy);
    free(copy);
    return is_valid;
}

/* --- What stands where --------------------------------------------------- */

static struct bytes trim_end(const char *begin, const char *end)
{
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    return bytes_between(begin, end);
}

/* An element of an array goes by its number. */
static struct bytes find_member(struct bytes json, struct bytes name)
{
    const char *at = json.data;
    bool is_object = json_take(&at, "{");
    unsigned long wanted = is_object ? 0 : strtoul(name.data, NULL, 10);
    struct bytes key = {NULL, 0};

    if (!is_object && !json_take(&at, "["))
        return (struct bytes){NULL, 0};
    for (unsigned long i = 0;; i++) {
        const char *begin;

        json_skip_space(&at);
        begin = at;
        if (is_object) {
            if (!json_take_string(&at))
                break;
            key = bytes_between(begin + 1, at - 1);
            json_skip_space(&at);
            json_take(&at, ":");
            json_skip_space(&at);
            begin = at;
        }
        if (!json_take_value(&at))
            break;
        if (is_object ? bytes_eq(key, name) : i == wanted)
            return trim_end(begin, at);
        if (!json_take(&at, ","))
            break;
    }
    return (struct bytes){NULL, 0};
}

struct bytes json_at(struct bytes json, const char *path)
{
    while (json.data && *path) {
        size_t len = strcspn(path, ".");

        json = find_member(json, (struct bytes){path, len});
        path += len + (path[len] == '.');
    }
    return json;
}
