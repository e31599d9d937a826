#include "http/rules/cache_rules.h"

#include "http/head_edit.h"

enum { BY_NAME, BY_TYPE, BY_FAMILY, ALWAYS };

enum { SECONDS_DIGITS_MAX = 10 }; /* digits of 2^31 (RFC 9111 1.2.2) */

/* --- Values -------------------------------------------------------------- */

/* Takes the longest text off *rest that may be the name of a directive, or an
 * argument without quotes. */
static struct bytes take_token(struct bytes *rest)
{
    struct bytes token = {rest->data, 0};

    while (rest->len > 0 && head_is_token((struct bytes){rest->data, 1})) {
        token.len++;
        rest->data++;
        rest->len--;
    }
    return token;
}

/* Takes quoted text, whose first quote is next. Returns false when no quote
 * ends the text. */
static bool take_quoted(struct bytes *rest)
{
    for (size_t at = 1; at < rest->len; at++) {
        if (rest->data[at] == '\\') {
            at++;
        } else if (rest->data[at] == '"') {
            rest->data += at + 1;
            rest->len -= at + 1;
            return true;
        }
    }
    return false;
}

static bool is_seconds(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!byte_is_digit(text.data[i]))
            return false;
    return text.len > 0 && text.len <= SECONDS_DIGITS_MAX;
}

static bool takes_seconds(struct bytes name)
{
    static const struct bytes names[] = {{"max-age", 7},
                                         {"s-maxage", 8},
                                         {"stale-while-revalidate", 22},
                                         {"stale-if-error", 14}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (bytes_ieq(name, names[i]))
            return true;
    return false;
}

/* Takes name [ "=" ( token / quoted ) ] off *rest. Returns NULL, or what is
 * wrong. */
static const char *read_directive(struct bytes *rest)
{
    struct bytes name = take_token(rest);
    struct bytes argument = {"", 0};

    if (name.len == 0)
        return "has something that is no directive of Cache-Control";
    if (rest->len > 0 && *rest->data == '=') {
        rest->data++;
        rest->len--;
        if (rest->len > 0 && *rest->data == '"') {
            if (!take_quoted(rest))
                return "has a quote that does not end";
        } else if ((argument = take_token(rest)).len == 0) {
            return "has a directive without what stands behind its '='";
        }
    }
    return takes_seconds(name) && !is_seconds(argument)
               ? "has a time that is no number of seconds"
               : NULL;
}

const char *cache_control_check(struct bytes text)
{
    struct bytes rest = bytes_trim(text);

    if (rest.len > CACHE_RULE_VALUE_MAX)
        return "has a Cache-Control longer than 500 bytes";
    if (!head_is_value(text))
        return "has a control character";
    for (;;) {
        const char *fault = read_directive(&rest);

        if (fault)
            return fault;
        rest = bytes_trim(rest);
        if (rest.len == 0)
            return NULL;
        if (*rest.data != ',')
            return "has directives without a comma between them";
        rest = bytes_trim((struct bytes){rest.data + 1, rest.len - 1});
    }
}

/* --- Rules --------------------------------------------------------------- */

static const char *read_type(struct cache_rule *rule, struct bytes pattern,
                             const char *slash)
{
    struct bytes family = bytes_between(pattern.data, slash);
    struct bytes subtype = bytes_between(slash + 1, pattern.data + pattern.len);

    if (bytes_eq(pattern, BYTES("*/*"))) {
        rule->kind = ALWAYS;
        return NULL;
    }
    if (!head_is_token(family) || !head_is_token(subtype) ||
        memchr(family.data, '*', family.len))
        return "begins with neither a path, a name nor a media type";
    rule->kind = BY_TYPE;
    rule->type = pattern;
    if (bytes_eq(subtype, BYTES("*"))) {
        rule->kind = BY_FAMILY;
        rule->type.len--;
    } else if (memchr(subtype.data, '*', subtype.len)) {
        return "begins with neither a path, a name nor a media type";
    }
    return NULL;
}

static const char *read_pattern(struct cache_rule *rule, struct bytes pattern)
{
    const char *slash = memchr(pattern.data, '/', pattern.len);

    if (slash && slash != pattern.data)
        return read_type(rule, pattern, slash);
    rule->kind = BY_NAME;
    return name_glob_read(&rule->glob, pattern);
}

const char *cache_rules_add(struct cache_rules *rules, struct bytes text)
{
    struct bytes pattern = name_glob_take(&text);
    struct cache_rule *rule = &rules->rules[rules->count];
    const char *fault;

    if (rules->count == CACHE_RULES_MAX)
        return "is one rule too many, 32 are allowed";
    *rule = (struct cache_rule){.value = text};
    if (rule->value.len == 0)
        return "is not a pattern and a Cache-Control";
    fault = read_pattern(rule, pattern);
    if (!fault)
        fault = cache_control_check(rule->value);
    if (!fault)
        rules->count++;
    return fault;
}

/* --- Finding ------------------------------------------------------------- */

static struct bytes without_parameters(struct bytes type)
{
    const char *semicolon = memchr(type.data, ';', type.len);

    return bytes_trim(semicolon ? bytes_between(type.data, semicolon) : type);
}

static bool fits(const struct cache_rule *rule, struct bytes path,
                 struct bytes type)
{
    switch (rule->kind) {
    case BY_NAME:
        return name_glob_matches(&rule->glob, path);
    case BY_TYPE:
        return bytes_ieq(type, rule->type);
    case BY_FAMILY:
        return type.len > rule->type.len &&
               bytes_ieq((struct bytes){type.data, rule->type.len}, rule->type);
    default:
        return true;
    }
}

struct bytes cache_rules_find(const struct cache_rules *rules,
                              struct bytes path, struct bytes type,
                              struct bytes fallback)
{
    type = without_parameters(type);
    for (size_t i = 0; rules && i < rules->count; i++)
        if (fits(&rules->rules[i], path, type))
            return rules->rules[i].value;
    return fallback;
}
