#include "http/rules/priority_rules.h"

/* Reads one word of a rule. Unlike in a client's field, an unknown word is a
 * fault here, and so is a second word for the same thing. */
static bool read_word(struct priority_said *said, struct bytes word)
{
    if (word.len == 3 && memcmp(word.data, "u=", 2) == 0) {
        if (said->has_urgency || word.data[2] < '0' ||
            word.data[2] > '0' + PRIORITY_URGENCY_MAX)
            return false;
        said->has_urgency = true;
        said->urgency = (uint8_t)(word.data[2] - '0');
        return true;
    }
    if (said->has_turns)
        return false;
    said->has_turns = true;
    said->is_incremental = !bytes_eq(word, BYTES("i=?0"));
    return !said->is_incremental || bytes_eq(word, BYTES("i")) ||
           bytes_eq(word, BYTES("i=?1"));
}

static bool read_said(struct priority_said *said, struct bytes text)
{
    const char *end = text.data + text.len;

    *said = (struct priority_said){.has_urgency = false};
    for (;;) {
        const char *comma = memchr(text.data, ',', text.len);
        struct bytes word = bytes_between(text.data, comma ? comma : end);

        if (!read_word(said, bytes_trim(word)))
            return false;
        if (!comma)
            return true;
        text = bytes_between(comma + 1, end);
    }
}

const char *priority_rules_add(struct priority_rules *rules, struct bytes text)
{
    struct priority_rule *rule = &rules->rules[rules->count];
    struct bytes pattern = name_glob_take(&text);
    const char *fault;

    if (rules->count == PRIORITY_RULES_MAX)
        return "is one rule too many, 32 are allowed";
    if (text.len == 0 || !read_said(&rule->said, text))
        return "is not a pattern and a priority, such as \"*.css u=1\" or "
               "\"*.jpg u=5, i\"";
    fault = name_glob_read(&rule->glob, pattern);
    if (fault)
        return fault;
    rules->count++;
    return NULL;
}

struct priority_said priority_rules_find(const struct priority_rules *rules,
                                         struct bytes path)
{
    for (size_t i = 0; i < rules->count; i++)
        if (name_glob_matches(&rules->rules[i].glob, path))
            return rules->rules[i].said;
    return (struct priority_said){.has_urgency = false};
}
