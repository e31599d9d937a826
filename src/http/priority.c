#include "http/priority.h"

/*
 * A dictionary of RFC 8941 3.2: key [ "=" item ] { ";" parameters } joined by
 * commas. Of items only integers and booleans are told apart; strings and inner
 * lists are read for their ends alone.
 */

struct cursor {
    const char *at;
    const char *end;
};

static bool is_at(const struct cursor *cursor, char c)
{
    return cursor->at < cursor->end && *cursor->at == c;
}

static bool skip(struct cursor *cursor, char c)
{
    if (!is_at(cursor, c))
        return false;
    cursor->at++;
    return true;
}

static void skip_blanks(struct cursor *cursor)
{
    while (is_at(cursor, ' ') || is_at(cursor, '\t'))
        cursor->at++;
}

static bool is_key_byte(char c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || c == '*' ||
           (!is_first &&
            (byte_is_digit(c) || c == '_' || c == '-' || c == '.'));
}

static bool take_key(struct cursor *cursor, struct bytes *key_out)
{
    const char *begin = cursor->at;

    while (cursor->at < cursor->end &&
           is_key_byte(*cursor->at, cursor->at == begin))
        cursor->at++;
    *key_out = bytes_between(begin, cursor->at);
    return key_out->len > 0;
}

/* Takes the text of an item or of an inner list, up to the byte that ends it.
 * In quotes the text may have any byte, and in parentheses blanks. */
static bool take_item(struct cursor *cursor, struct bytes *item_out)
{
    const char *begin = cursor->at;
    bool is_quoted = false;
    bool is_inner = is_at(cursor, '(');

    for (; cursor->at < cursor->end; cursor->at++) {
        char c = *cursor->at;

        if (c == '"')
            is_quoted = !is_quoted;
        else if (is_quoted && c == '\\' && cursor->at + 1 < cursor->end)
            cursor->at++;
        else if (!is_quoted && c == ')')
            is_inner = false;
        else if (!is_quoted && !is_inner &&
                 (c == ',' || c == ';' || c == ' ' || c == '\t'))
            break;
    }
    *item_out = bytes_between(begin, cursor->at);
    return item_out->len > 0 && !is_quoted && !is_inner;
}

static void apply(struct priority *priority, struct bytes key,
                  struct bytes item)
{
    if (bytes_eq(key, BYTES("u")) && item.len == 1 && *item.data >= '0' &&
        *item.data <= '0' + PRIORITY_URGENCY_MAX)
        priority->urgency = (uint8_t)(*item.data - '0');
    else if (bytes_eq(key, BYTES("i")) && bytes_eq(item, BYTES("?1")))
        priority->is_incremental = true;
    else if (bytes_eq(key, BYTES("i")) && bytes_eq(item, BYTES("?0")))
        priority->is_incremental = false;
}

static bool take_parameters(struct cursor *cursor)
{
    struct bytes key;
    struct bytes item;

    while (skip(cursor, ';')) {
        skip_blanks(cursor);
        if (!take_key(cursor, &key) ||
            (skip(cursor, '=') &&
             (is_at(cursor, '(') || !take_item(cursor, &item))))
            return false;
    }
    return true;
}

static bool take_member(struct cursor *cursor, struct priority *priority)
{
    struct bytes key;
    struct bytes item = BYTES("?1");

    if (!take_key(cursor, &key) ||
        (skip(cursor, '=') && !take_item(cursor, &item)) ||
        !take_parameters(cursor))
        return false;
    apply(priority, key, item);
    return true;
}

void priority_read(struct priority *priority, struct bytes text)
{
    struct cursor cursor = {text.data, text.data + text.len};
    struct priority result = *priority;

    if (text.len == 0)
        return;
    skip_blanks(&cursor);
    while (cursor.at < cursor.end) {
        if (!take_member(&cursor, &result))
            return;
        skip_blanks(&cursor);
        if (cursor.at == cursor.end)
            break;
        if (!skip(&cursor, ','))
            return;
        skip_blanks(&cursor);
        if (cursor.at == cursor.end) /* a comma must not be the last byte */
            return;
    }
    *priority = result;
}
