#include "http/rules/compress_rules.h"

#include <assert.h>

#include "http/field.h"
#include "http/head_edit.h"

/* Types that are text in one way or another, and fonts and images that are not
 * compressed yet. */
static const char *const types[] = {"text/*",
                                    "*/*+json",
                                    "*/*+xml",
                                    "*/*+text",
                                    "application/json",
                                    "application/x-ndjson",
                                    "application/javascript",
                                    "application/x-javascript",
                                    "application/ecmascript",
                                    "application/xml",
                                    "application/xml-dtd",
                                    "application/wasm",
                                    "application/yaml",
                                    "application/x-yaml",
                                    "application/toml",
                                    "application/sql",
                                    "application/rtf",
                                    "application/postscript",
                                    "application/x-sh",
                                    "application/graphql",
                                    "application/vnd.apple.mpegurl",
                                    "application/openmetrics-text",
                                    "application/vnd.ms-fontobject",
                                    "font/ttf",
                                    "font/otf",
                                    "font/sfnt",
                                    "font/collection",
                                    "image/bmp",
                                    "image/x-icon",
                                    "image/vnd.microsoft.icon",
                                    "image/x-portable-*"};

_Static_assert(sizeof(types) / sizeof(*types) <= COMPRESS_TYPES_MAX,
               "there is room for all");

static void add_coding(struct compress_rules *rules, enum coding coding)
{
    rules->order.codings[rules->order.count++] = coding;
    rules->codings |= 1u << coding;
}

const char *compress_rules_add_coding(struct compress_rules *rules,
                                      struct bytes text)
{
    for (int i = CODING_IDENTITY + 1; i < CODING_COUNT; i++) {
        if (!bytes_eq(text, coding_token((enum coding)i)))
            continue;
        if (rules->codings & 1u << i)
            return "is there twice";
        add_coding(rules, (enum coding)i);
        return NULL;
    }
    return "is none of zstd, br, gzip, off";
}

/* Adds all codings, first the one that makes texts smallest, because a client
 * that likes several codings equally gets the first. */
void compress_rules_add_codings(struct compress_rules *rules)
{
    add_coding(rules, CODING_BR);
    add_coding(rules, CODING_ZSTD);
    add_coding(rules, CODING_GZIP);
}

const char *compress_rules_add_type(struct compress_rules *rules,
                                    struct bytes text)
{
    if (rules->type_count == COMPRESS_TYPES_MAX)
        return "is one type too many, 40 are allowed";
    if (!memchr(text.data, '/', text.len) || memchr(text.data, ';', text.len))
        return "is not a media type, such as text/html, or a pattern of "
               "them, such as text/*";
    return glob_read(&rules->types[rules->type_count++], text);
}

void compress_rules_add_types(struct compress_rules *rules)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        const char *fault = compress_rules_add_type(rules, bytes_of(types[i]));

        assert(!fault);
    }
}

bool compress_rules_take(const struct compress_rules *rules, struct bytes type)
{
    const char *semicolon;

    if (type.len == 0)
        return false; /* the answer has no type */
    semicolon = memchr(type.data, ';', type.len);
    if (semicolon)
        type = bytes_trim(bytes_between(type.data, semicolon));
    for (size_t i = 0; i < rules->type_count; i++)
        if (glob_matches(&rules->types[i], type, NULL))
            return true;
    return false;
}

bool compress_is_forbidden(struct bytes cache_control)
{
    struct bytes member;

    while (field_next_member(&cache_control, &member))
        if (bytes_ieq(member, BYTES("no-transform")))
            return true;
    return false;
}

bool compress_is_forbidden_in(struct bytes head, size_t from)
{
    struct bytes value;

    while ((value = head_find_next(head, &from, BYTES("Cache-Control"))).data)
        if (compress_is_forbidden(value))
            return true;
    return false;
}
