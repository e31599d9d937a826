#include "json.h"

#include "harness.h"

enum { DEPTH_MAX = 64 };

struct json {
    const char *begin;
    const char *at;
    const char *end;
};

__attribute__((noreturn)) static void wrong(const struct json *json)
{
    size_t left = (size_t)(json->end - json->at);

    flunk("not JSON at byte %zu: '%.*s'", (size_t)(json->at - json->begin),
          (int)(left < 40 ? left : 40), json->at);
}

static char peek(const struct json *json)
{
    return json->at < json->end ? *json->at : '\0';
}

static void take(struct json *json, char wanted)
{
    if (peek(json) != wanted)
        wrong(json);
    json->at++;
}

static void skip_space(struct json *json)
{
    while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at)
        json->at++;
}

/* One character of UTF-8 beyond ASCII: no overlong forms, no surrogates. */
static void take_wide(struct json *json)
{
    unsigned char first = (unsigned char)peek(json);
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    unsigned long code = first & (0x3fu >> more);

    if (first < 0xc2 || first > 0xf4)
        wrong(json);
    for (json->at++; more > 0; more--, json->at++) {
        if (((unsigned char)peek(json) & 0xc0) != 0x80)
            wrong(json);
        code = code << 6 | ((unsigned char)*json->at & 0x3f);
    }
    if ((first >= 0xe0 && code < 0x800) || (first >= 0xf0 && code < 0x10000) ||
        (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
        wrong(json);
}

static void take_string(struct json *json)
{
    take(json, '"');
    while (peek(json) != '"') {
        unsigned char c = (unsigned char)peek(json);

        if (c < 0x20) {
            wrong(json);
        } else if (c >= 0x80) {
            take_wide(json);
        } else if (c != '\\') {
            json->at++;
        } else {
            json->at++;
            if (peek(json) == 'u') {
                for (int i = 0; i < 4; i++) {
                    json->at++;
                    if (!peek(json) ||
                        !strchr("0123456789abcdefABCDEF", peek(json)))
                        wrong(json);
                }
            } else if (!peek(json) || !strchr("\"\\/bfnrt", peek(json))) {
                wrong(json);
            }
            json->at++;
        }
    }
    json->at++;
}

static void take_number(struct json *json)
{
    const char *begin = json->at;
    char *end;
    char copy[64];

    snprintf(copy, sizeof(copy), "%.*s",
             (int)(json->end - begin < 63 ? json->end - begin : 63), begin);
    strtod(copy, &end);
    if (end == copy || *begin == '+' || *begin == '.' ||
        (copy[0] == '0' && copy[1] >= '0' && copy[1] <= '9'))
        wrong(json);
    json->at += end - copy;
}

static void take_value(struct json *json, int depth);

static void take_members(struct json *json, char close, int depth)
{
    json->at++;
    skip_space(json);
    if (peek(json) == close) {
        json->at++;
        return;
    }
    for (;;) {
        skip_space(json);
        if (close == '}') {
            take_string(json);
            skip_space(json);
            take(json, ':');
        }
        take_value(json, depth + 1);
        skip_space(json);
        if (peek(json) == close)
            break;
        take(json, ',');
    }
    json->at++;
}

static void take_value(struct json *json, int depth)
{
    static const char *const words[] = {"true", "false", "null"};

    skip_space(json);
    if (depth > DEPTH_MAX)
        wrong(json);
    for (size_t i = 0; i < 3; i++)
        if ((size_t)(json->end - json->at) >= strlen(words[i]) &&
            memcmp(json->at, words[i], strlen(words[i])) == 0) {
            json->at += strlen(words[i]);
            return;
        }
    if (peek(json) == '{')
        take_members(json, '}', depth);
    else if (peek(json) == '[')
        take_members(json, ']', depth);
    else if (peek(json) == '"')
        take_string(json);
    else
        take_number(json);
}

void expect_json(const char *text, size_t len)
{
    struct json json = {text, text, text + len};

    take_value(&json, 0);
    skip_space(&json);
    if (json.at != json.end)
        wrong(&json);
}
