#include "http/rules/dictionary_rules.h"

#include "base/buf.h"
#include "http/path.h"

/* --- What browsers are told ---------------------------------------------- */

/* Whether c means something in a URL pattern but nothing in a path. */
static bool is_pattern_sign(char c)
{
    return c == ':' || c == '+' || c == '(' || c == ')' || c == '*';
}

/* Writes one byte of a path as a URL pattern has it. The pattern stands in a
 * string of a structured field (RFC 9651 3.3.3), where each backslash is
 * doubled. */
static void put_literal(struct buf *line, char c)
{
    static const char stays[] = "-._~/!$&',;=@";
    char escaped[3];

    if (is_pattern_sign(c))
        buf_put_literal(line, "\\\\");
    if (is_pattern_sign(c) || byte_is_digit(c) ||
        (byte_lower(c) >= 'a' && byte_lower(c) <= 'z') ||
        memchr(stays, c, sizeof(stays) - 1))
        buf_put(line, (struct bytes){&c, 1});
    else
        buf_put(line, (struct bytes){escaped, path_encode((struct bytes){&c, 1},
                                                          escaped)});
}

static void put_match(struct buf *line, struct bytes pattern)
{
    for (size_t i = 0; i < pattern.len; i++) {
        char c = pattern.data[i];

        if (c == '*') {
            buf_put_literal(line, "*");
            while (i + 1 < pattern.len && pattern.data[i + 1] == '*')
                i++;
        } else {
            put_literal(line, c == '\\' ? pattern.data[++i] : c);
        }
    }
}

static void put_use(struct buf *lines, struct bytes pattern, struct bytes id)
{
    buf_put_literal(lines, "Use-As-Dictionary: match=\"");
    put_match(lines, pattern);
    buf_put_literal(lines, "\"");
    if (id.len > 0) {
        buf_put_literal(lines, ", id=\"");
        for (size_t i = 0; i < id.len; i++) {
            if (id.data[i] == '"' || id.data[i] == '\\')
                buf_put_literal(lines, "\\");
            buf_put(lines, (struct bytes){&id.data[i], 1});
        }
        buf_put_literal(lines, "\"");
    }
    buf_put_literal(lines, "\r\n");
}

static void put_link(struct buf *lines, struct bytes file)
{
    char path[3 * DICTIONARY_PATH_BYTES_MAX];

    buf_put_literal(lines, "Link: <");
    buf_put(lines, (struct bytes){path, path_encode(file, path)});
    buf_put_literal(lines, ">; rel=\"compression-dictionary\"\r\n");
}

static void write_lines(struct dictionary_rule *rule, struct bytes pattern,
                        struct bytes file, struct bytes id)
{
    struct buf lines;

    buf_init(&lines, rule->lines, sizeof(rule->lines), sizeof(rule->lines));
    put_use(&lines, pattern, id);
    rule->use_len = (uint16_t)lines.len;
    if (file.len > 0)
        put_link(&lines, file);
    rule->link_len = (uint16_t)(lines.len - rule->use_len);
}

/* --- Reading ------------------------------------------------------------- */

/* Takes the text before the first '=' that has no backslash before it. The
 * rest stays in *text, with the '='. */
static struct bytes take_pattern(struct bytes *text)
{
    size_t len = 0;
    struct bytes pattern;

    while (len < text->len && text->data[len] != '=')
        len += text->data[len] == '\\' && len + 1 < text->len ? 2 : 1;
    pattern = (struct bytes){text->data, len};
    text->data += len;
    text->len -= len;
    return pattern;
}

static const char *check_pattern(struct bytes pattern)
{
    if (pattern.len > DICTIONARY_PATH_BYTES_MAX)
        return "has a pattern longer than 160 bytes";
    if (pattern.len == 0 || *pattern.data != '/')
        return "is no pattern of paths, such as /assets/app.*.js, maybe with "
               "ID: before it or =/FILE behind it";
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.data[i] == '?')
            return "has a '?', which browsers cannot be told of";
        if (pattern.data[i] == '\\')
            i++;
    }
    return NULL;
}

static const char *check_file(struct bytes file)
{
    if (file.len > DICTIONARY_PATH_BYTES_MAX)
        return "names a file by more than 160 bytes";
    return file.len > 1 && *file.data == '/' &&
                   file.data[file.len - 1] != '/' &&
                   !memchr(file.data, '*', file.len)
               ? NULL
               : "has no path of a file behind its '='";
}

static const char *check_id(struct bytes id)
{
    if (id.len == 0 || id.len > DICTIONARY_ID_BYTES_MAX)
        return "has an id that is empty or longer than 64 bytes";
    for (size_t i = 0; i < id.len; i++)
        if (id.data[i] < ' ' || id.data[i] > '~')
            return "has an id with something that is no ASCII in it";
    return NULL;
}

/* Takes the text before the first ':', unless `text` begins with a path. */
static bool take_id(struct bytes *text, struct bytes *id_out)
{
    const char *colon = memchr(text->data, ':', text->len);

    *id_out = (struct bytes){NULL, 0};
    if (text->len == 0 || *text->data == '/' || !colon)
        return false;
    *id_out = bytes_between(text->data, colon);
    *text = bytes_between(colon + 1, text->data + text->len);
    return true;
}

const char *dictionary_rules_add(struct dictionary_rules *rules,
                                 struct bytes text)
{
    struct dictionary_rule *rule = &rules->rules[rules->count];
    struct bytes id, pattern;
    struct bytes file = {NULL, 0};
    const char *fault;

    if (rules->count == DICTIONARY_RULES_MAX)
        return "is one rule too many, 8 are allowed";
    fault = take_id(&text, &id) ? check_id(id) : NULL;
    pattern = take_pattern(&text);
    if (!fault)
        fault = check_pattern(pattern);
    if (!fault && text.len > 0) {
        file = bytes_between(text.data + 1, text.data + text.len);
        fault = check_file(file);
    }
    if (!fault)
        fault = glob_read(&rule->answers, pattern);
    if (fault)
        return fault;
    memcpy(rule->text, pattern.data, pattern.len);
    rule->text_len = (uint8_t)pattern.len;
    if (file.len > 0)
        memcpy(rule->file, file.data, file.len);
    rule->file_len = (uint8_t)file.len;
    write_lines(rule, pattern, file, id);
    rules->count++;
    return NULL;
}

/* --- Looking ------------------------------------------------------------- */

static bool is_used(const struct dictionary_rule *rule, struct bytes path)
{
    return glob_matches(&rule->answers, path, NULL);
}

static bool is_made(const struct dictionary_rule *rule, struct bytes path)
{
    return rule->file_len > 0
               ? bytes_eq(path, (struct bytes){rule->file, rule->file_len})
               : is_used(rule, path);
}

const struct dictionary_rule *dictionary_rules_find_made(
    const struct dictionary_rules *rules, struct bytes path)
{
    for (size_t i = 0; rules && i < rules->count; i++)
        if (is_made(&rules->rules[i], path))
            return &rules->rules[i];
    return NULL;
}

const struct dictionary_rule *dictionary_rules_find_used(
    const struct dictionary_rules *rules, struct bytes path)
{
    for (size_t i = 0; rules && i < rules->count; i++)
        if (is_used(&rules->rules[i], path))
            return &rules->rules[i];
    return NULL;
}
