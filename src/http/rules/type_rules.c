#include "http/rules/type_rules.h"

#include "http/head_edit.h"
#include "http/mime.h"

/* Whether `text` is a media type. The type may have parameters, which may be
 * anything that a field can hold. */
static bool is_type(struct bytes text, bool *has_parameters_out)
{
    const char *semicolon = memchr(text.data, ';', text.len);
    struct bytes type =
        bytes_trim(semicolon ? bytes_between(text.data, semicolon) : text);

    *has_parameters_out = semicolon;
    return mime_is_type(type) && head_is_value(text);
}

const char *type_rules_add(struct type_rules *rules, struct bytes text)
{
    struct type_rule *rule = &rules->rules[rules->count];
    struct bytes pattern = name_glob_take(&text);
    struct bytes charset = BYTES("");
    bool has_parameters;
    const char *fault;

    if (rules->count == TYPE_RULES_MAX)
        return "is one rule too many, 32 are allowed";
    if (text.len == 0 || !is_type(text, &has_parameters))
        return "is not a pattern and a media type, such as \"*.ts video/mp2t\"";
    if (!has_parameters && mime_is_text(text))
        charset = BYTES(MIME_CHARSET);
    if (text.len + charset.len > TYPE_RULE_BYTES_MAX)
        return "has a media type longer than 100 bytes";
    fault = name_glob_read(&rule->glob, pattern);
    if (fault)
        return fault;
    memcpy(rule->type, text.data, text.len);
    memcpy(rule->type + text.len, charset.data, charset.len);
    rule->type_len = (uint8_t)(text.len + charset.len);
    rules->count++;
    return NULL;
}

struct bytes type_rules_find(const struct type_rules *rules, struct bytes path)
{
    for (size_t i = 0; rules && i < rules->count; i++)
        if (name_glob_matches(&rules->rules[i].glob, path))
            return (struct bytes){rules->rules[i].type,
                                  rules->rules[i].type_len};
    return BYTES("");
}
