#include "cache/cache_part.h"

#include "http/percent.h"

static bool take_word(struct bytes *text, struct bytes word)
{
    if (text->len < word.len || memcmp(text->data, word.data, word.len) != 0)
        return false;
    text->data += word.len;
    text->len -= word.len;
    return true;
}

/* Whether `name` is a token (RFC 9110 5.6.2) without '&'. That is enough for
 * the names of parameters, too. */
static bool is_token(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] <= ' ' || name.data[i] >= 0x7f ||
            strchr("\"(),/:;<=>?@[\\]{}&", name.data[i]))
            return false;
    return name.len > 0;
}

const char *cache_part_read(struct cache_part *part, struct bytes text)
{
    *part = (struct cache_part){.is_out = take_word(&text, BYTES("-"))};
    if (take_word(&text, BYTES("header:")))
        part->kind = CACHE_PART_HEADER;
    else if (take_word(&text, BYTES("cookie:")))
        part->kind = CACHE_PART_COOKIE;
    else if (take_word(&text, BYTES("query:")))
        part->kind = CACHE_PART_QUERY;
    else
        return "is not header:NAME, cookie:NAME or query:NAME";
    if (part->is_out && part->kind != CACHE_PART_QUERY)
        return "leaves out what is not in: only -query:NAME can be";
    if (part->kind == CACHE_PART_QUERY && text.len > 0 &&
        text.data[text.len - 1] == '*') {
        part->is_prefix = true;
        text.len--;
    }
    part->name = text;
    return is_token(text) || (part->is_prefix && text.len == 0)
               ? NULL
               : "has a name that none can have";
}

/* --- Looking ------------------------------------------------------------- */

/* Takes the next item off a list: the text before the separator. */
static bool next_of(struct bytes *list, char separator, struct bytes *item_out)
{
    const char *end;

    if (!list->data || list->len == 0)
        return false;
    end = memchr(list->data, separator, list->len);
    *item_out = (struct bytes){list->data,
                               end ? (size_t)(end - list->data) : list->len};
    list->data += item_out->len + (end ? 1 : 0);
    list->len -= item_out->len + (end ? 1 : 0);
    return true;
}

static struct bytes name_of(struct bytes pair)
{
    const char *equals = memchr(pair.data, '=', pair.len);

    return equals ? bytes_between(pair.data, equals) : pair;
}

static bool is_named(const struct cache_part *part, struct bytes name)
{
    return part->is_prefix
               ? name.len >= part->name.len &&
                     memcmp(name.data, part->name.data, part->name.len) == 0
               : bytes_eq(name, part->name);
}

/* Whether the request has fields of that part. These are put into `out`, unless
 * `out` is NULL. */
static bool each_field(const struct cache_part *part,
                       const struct request *request, struct buf *out)
{
    bool has = false;

    for (unsigned i = 0; i < request->field_count; i++) {
        const struct field *field = &request->fields[i];

        if (!field_is_called(field->name, part->name))
            continue;
        has = true;
        if (!out)
            break;
        buf_put_literal(out, "\n");
        buf_put(out,
                bytes_ieq(field->name, part->name) ? part->name : field->name);
        buf_put_literal(out, ": ");
        buf_put(out, field->value);
    }
    return has;
}

/* Whether an origin may trim that byte off the ends of a name. White space can
 * have several bytes, so all bytes beyond ASCII count. */
static bool is_around(char byte)
{
    return byte <= ' ' || byte >= 0x7f;
}

/* Returns a byte of a cookie's name as origins compare it. PHP makes '_' of the
 * four bytes below; of '+' it does so only in versions that decode names. */
static char byte_of_cookie(char byte)
{
    return byte == '.' || byte == ' ' || byte == '+' || byte == '['
               ? '_'
               : byte_lower(byte);
}

/* Takes the next byte of a cookie's name, decoded as older versions of PHP
 * do. */
static char take_of_name(struct bytes *name)
{
    const char *end = name->data + name->len;
    int decoded = *name->data == '%' ? percent_value(name->data + 1, end) : -1;
    char byte = decoded >= 0 ? (char)decoded : *name->data;

    *name = bytes_between(name->data + (decoded >= 0 ? 3 : 1), end);
    return byte_of_cookie(byte);
}

/* Trims the front of a name as PHP does, in versions that decode names and in
 * others. */
static struct bytes trim_front(struct bytes name)
{
    const char *end = name.data + name.len;

    while (name.len > 0) {
        bool is_coded = *name.data == '%' &&
                        percent_value(name.data + 1, end) == ' ';

        if (!is_coded && *name.data != '+' && !is_around(*name.data))
            break;
        name = bytes_between(name.data + (is_coded ? 3 : 1), end);
    }
    return name;
}

/* Whether PHP leaves out the rest of a name: it begins an index, as in
 * "name[index]", or begins with a NUL. */
static bool is_name_over(struct bytes name)
{
    const char *end = name.data + name.len;
    int byte;

    if (name.len == 0)
        return true;
    byte = *name.data == '%' ? percent_value(name.data + 1, end) : *name.data;
    return byte == '[' || byte == '\0';
}

/* Whether any origin takes a cookie called `name` for a cookie called
 * `wanted`. */
static bool is_cookie_called(struct bytes name, struct bytes wanted)
{
    name = trim_front(name);
    while (name.len > 0 && is_around(name.data[name.len - 1]))
        name.len--;
    for (size_t i = 0; i < wanted.len; i++)
        if (name.len == 0 ||
            take_of_name(&name) != byte_of_cookie(wanted.data[i]))
            return false;
    return is_name_over(name);
}

/* Whether a pair has a cookie called `wanted`, at its beginning or further on.
 * Origins that know older forms of cookies (RFC 2965) also end a pair at a
 * comma, and Python at a blank. */
static bool has_cookie(struct bytes pair, struct bytes wanted)
{
    struct bytes piece, word;

    while (next_of(&pair, ',', &piece)) {
        if (is_cookie_called(name_of(piece), wanted))
            return true;
        while ((word = bytes_take_word(&piece)).len > 0)
            if (is_cookie_called(name_of(word), wanted))
                return true;
    }
    return false;
}

/* Whether a quote in the pair does not end. Origins that know quoted strings
 * read on to the next quote, and see no cookie in between. */
static bool has_open_quote(struct bytes pair)
{
    bool is_quoted = false;

    for (size_t i = 0; i < pair.len; i++) {
        if (pair.data[i] == '"')
            is_quoted = !is_quoted;
        else if (is_quoted && pair.data[i] == '\\')
            i++;
    }
    return is_quoted;
}

static void put_cookie(struct bytes text, struct buf *out)
{
    buf_put_literal(out, "\ncookie ");
    buf_put(out, text);
}

/* The most cookies of a field that are looked at; PHP sees the first 1000. */
enum { COOKIES_MAX = 256 };

/* Whether one Cookie field has cookies of that part. These are put into `out`,
 * unless it is NULL; a field that can be read in two ways is also put whole. */
static bool each_of_list(const struct cache_part *part, struct bytes value,
                         struct buf *out)
{
    bool has = false, is_doubtful = false;
    struct bytes list = value, pair;
    unsigned count = 0;

    while (next_of(&list, ';', &pair)) {
        pair = bytes_trim(pair);
        is_doubtful |= has_open_quote(pair) || ++count > COOKIES_MAX;
        if (!has_cookie(pair, part->name))
            continue;
        has = true;
        if (out)
            put_cookie(pair, out);
    }
    if (has && is_doubtful && out)
        put_cookie(value, out);
    return has;
}

/* Whether the field is a Cookie field. */
static bool is_cookies(const struct field *field)
{
    return bytes_ieq(field->name, BYTES("Cookie"));
}

static void put_all_cookies(const struct request *request, struct buf *out)
{
    for (unsigned i = 0; i < request->field_count; i++)
        if (is_cookies(&request->fields[i]))
            put_cookie(request->fields[i].value, out);
}

static bool each_cookie(const struct cache_part *part,
                        const struct request *request, struct buf *out)
{
    bool has = false;
    unsigned count = 0;

    for (unsigned i = 0; i < request->field_count; i++) {
        if (!is_cookies(&request->fields[i]))
            continue;
        count++;
        has |= each_of_list(part, request->fields[i].value, out);
        if (has && !out)
            return true;
    }
    /* All Cookie fields are put, because some origins join them by commas. Such
     * an origin may see one cookie in two fields, or find the end of a quote in
     * a later field. */
    if (has && count > 1)
        put_all_cookies(request, out);
    return has;
}

static bool has_parameter(const struct cache_part *part, struct bytes query)
{
    struct bytes pair;

    while (next_of(&query, '&', &pair))
        if (is_named(part, name_of(pair)))
            return true;
    return false;
}

bool cache_parts_has(const struct cache_parts *parts,
                     const struct request *request)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct cache_part *part = &parts->items[i];

        if ((part->kind == CACHE_PART_HEADER &&
             each_field(part, request, NULL)) ||
            (part->kind == CACHE_PART_COOKIE &&
             each_cookie(part, request, NULL)) ||
            (part->kind == CACHE_PART_QUERY &&
             has_parameter(part, request->query)))
            return true;
    }
    return false;
}

/* Whether a pair is left out of the key. A pair with ';' or '#' stays in, since
 * some servers end a parameter at ';' and read another one behind it, or end
 * the query at '#' and see nothing behind it. */
static bool is_left_out(const struct cache_parts *parts, struct bytes pair)
{
    struct bytes name = name_of(pair);

    if (pair.len > 0 &&
        (memchr(pair.data, ';', pair.len) || memchr(pair.data, '#', pair.len)))
        return false;
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].is_out && is_named(&parts->items[i], name))
            return true;
    return false;
}

/* In a longer query nothing is left out of the key, because every parameter can
 * decide how much of the query an origin reads: some read only the first
 * thousand parameters (PHP, Express), or refuse 2 KiB (IIS). */
enum { WHOLE_QUERY_BYTES = 1500 };

void cache_parts_put_query(const struct cache_parts *parts, struct bytes query,
                           struct buf *out)
{
    bool has_last = query.len > 0 && query.data[query.len - 1] == '&';
    bool is_first = true;
    struct bytes pair;

    if (!query.data)
        return;
    if (parts->count == 0 || query.len == 0 || query.len > WHOLE_QUERY_BYTES) {
        buf_put_literal(out, "?");
        buf_put(out, query);
        return;
    }
    while (next_of(&query, '&', &pair)) {
        if (is_left_out(parts, pair))
            continue;
        buf_put(out, is_first ? BYTES("?") : BYTES("&"));
        buf_put(out, pair);
        is_first = false;
    }
    /* An empty pair at the end is a pair to some origins. */
    if (has_last && !is_left_out(parts, BYTES("")))
        buf_put(out, is_first ? BYTES("?") : BYTES("&"));
}

void cache_parts_put(const struct cache_parts *parts,
                     const struct request *request, struct buf *out)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].kind == CACHE_PART_HEADER)
            (void)each_field(&parts->items[i], request, out);
        else if (parts->items[i].kind == CACHE_PART_COOKIE)
            (void)each_cookie(&parts->items[i], request, out);
    }
}
