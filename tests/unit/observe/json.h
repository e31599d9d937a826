/*
 * json - whether a text is JSON (RFC 8259), and what stands in it where.
 *
 * Thread: any.
 * Owns:   nothing; what is found points into the text.
 */
#ifndef UNIT_JSON_H
#define UNIT_JSON_H

#include <stdlib.h>

#include "base/bytes.h"

struct json_text {
    const char *at;
    const char *end;
};

enum { JSON_DEPTH_MAX = 32 };

static inline bool json_has(struct json_text *text, char wanted)
{
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

static inline bool json_is_digit(const struct json_text *text)
{
    return text->at < text->end && *text->at >= '0' && *text->at <= '9';
}

static inline bool json_digits(struct json_text *text)
{
    const char *begin = text->at;

    while (json_is_digit(text))
        text->at++;
    return text->at > begin;
}

static inline bool json_number(struct json_text *text)
{
    json_has(text, '-');
    if (!json_has(text, '0') && !json_digits(text))
        return false;
    if (json_has(text, '.') && !json_digits(text))
        return false;
    if (!json_has(text, 'e') && !json_has(text, 'E'))
        return true;
    if (!json_has(text, '-'))
        json_has(text, '+');
    return json_digits(text);
}

/* One character beyond ASCII: no overlong forms, no surrogates. */
static inline bool json_wide(struct json_text *text)
{
    unsigned char first = (unsigned char)*text->at++;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    unsigned long code = first & (0x3fu >> more);

    if (first < 0xc2 || first > 0xf4)
        return false;
    for (int i = 0; i < more; i++) {
        if (text->at == text->end || ((unsigned char)*text->at & 0xc0) != 0x80)
            return false;
        code = code << 6 | ((unsigned char)*text->at++ & 0x3f);
    }
    return !(more == 2 && code < 0x800) && !(more == 3 && code < 0x10000) &&
           !(code >= 0xd800 && code < 0xe000) && code <= 0x10ffff;
}

static inline bool json_escape(struct json_text *text)
{
    static const char hex[] = "0123456789abcdefABCDEF";

    if (text->at == text->end)
        return false;
    if (!json_has(text, 'u'))
        return memchr("\"\\/bfnrt", *text->at++, 8) != NULL;
    for (int i = 0; i < 4; i++)
        if (text->at == text->end || !memchr(hex, *text->at++, sizeof(hex) - 1))
            return false;
    return true;
}

static inline bool json_string(struct json_text *text)
{
    if (!json_has(text, '"'))
        return false;
    while (text->at < text->end && *text->at != '"') {
        unsigned char c = (unsigned char)*text->at;

        if (c < 0x20)
            return false;
        if (c >= 0x80) {
            if (!json_wide(text))
                return false;
            continue;
        }
        text->at++;
        if (c == '\\' && !json_escape(text))
            return false;
    }
    return json_has(text, '"');
}

static inline bool json_value(struct json_text *text, int depth);

static inline bool json_members(struct json_text *text, char close, int depth)
{
    if (json_has(text, close))
        return true;
    do {
        if (close == '}' && !(json_string(text) && json_has(text, ':')))
            return false;
        if (!json_value(text, depth + 1))
            return false;
    } while (json_has(text, ','));
    return json_has(text, close);
}

/* No white space: ours has none. */
static inline bool json_value(struct json_text *text, int depth)
{
    static const char *const words[] = {"true", "false", "null"};

    if (depth > JSON_DEPTH_MAX || text->at == text->end)
        return false;
    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(words[i]);

        if ((size_t)(text->end - text->at) >= len &&
            memcmp(text->at, words[i], len) == 0) {
            text->at += len;
            return true;
        }
    }
    if (json_has(text, '{'))
        return json_members(text, '}', depth);
    if (json_has(text, '['))
        return json_members(text, ']', depth);
    return *text->at == '"' ? json_string(text) : json_number(text);
}

static inline bool json_is_valid(struct bytes json)
{
    struct json_text text = {json.data, json.data + json.len};

    return json_value(&text, 0) && text.at == text.end;
}

/* The value of a member of an object, or of an element of an array by its
 * number, of valid JSON; data is NULL when there is none. */
static inline struct bytes json_member(struct bytes json, struct bytes name)
{
    struct json_text text = {json.data, json.data + json.len};
    bool is_object = json_has(&text, '{');
    unsigned long wanted = is_object ? 0 : strtoul(name.data, NULL, 10);

    if (!is_object && !json_has(&text, '['))
        return (struct bytes){NULL, 0};
    for (unsigned long i = 0; text.at < text.end - 1; i++) {
        struct bytes key = {NULL, 0};
        const char *begin = text.at;

        if (is_object) {
            json_string(&text);
            key = bytes_between(begin + 1, text.at - 1);
            text.at++;
            begin = text.at;
        }
        json_value(&text, 0);
        if (is_object ? bytes_eq(key, name) : i == wanted)
            return bytes_between(begin, text.at);
        text.at++;
    }
    return (struct bytes){NULL, 0};
}

/* The same by a path: "slowest.0.target". */
static inline struct bytes json_find(struct bytes json, const char *path)
{
    while (json.data && *path) {
        size_t len = strcspn(path, ".");

        json = json_member(json, (struct bytes){path, len});
        path += len + (path[len] == '.');
    }
    return json;
}

#endif
