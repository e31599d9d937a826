#include "cache/cache_targeted.h"

/*
 * A dictionary of RFC 9651 3.2: key [ "=" value ] { ";" parameter } joined by
 * commas. A value is an item, or items in parentheses.
 */

enum kind {
    KIND_TRUE,
    KIND_FALSE,
    KIND_INTEGER,
    KIND_STRING,
    KIND_OTHER /* a list, a token, a decimal: no directive has such a value */
};

struct sf_item {
    enum kind kind;
    int64_t integer;
    struct bytes text; /* a string as it came, but without its quotes */
};

enum { INTEGER_DIGITS_MAX = 15, DECIMAL_DIGITS_MAX = 12, FRACTION_MAX = 3 };

/* --- Bytes --------------------------------------------------------------- */

static bool is_next(const struct bytes *text, char c)
{
    return text->len > 0 && *text->data == c;
}

static bool skip(struct bytes *text, char c)
{
    if (!is_next(text, c))
        return false;
    text->data++;
    text->len--;
    return true;
}

static void skip_spaces(struct bytes *text)
{
    while (skip(text, ' '))
        ;
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alpha(char c)
{
    return is_lower(byte_lower(c));
}

static bool is_key_byte(char c, bool is_first)
{
    return is_lower(c) || c == '*' ||
           (!is_first &&
            (byte_is_digit(c) || c == '_' || c == '-' || c == '.'));
}

static bool is_token_byte(char c, bool is_first)
{
    if (is_alpha(c) || c == '*')
        return true;
    return !is_first && c &&
           (byte_is_digit(c) || strchr("!#$%&'+-.^_`|~:/", c));
}

static bool is_base64_byte(char c, bool is_first)
{
    (void)is_first;
    return is_alpha(c) || byte_is_digit(c) || c == '+' || c == '/' || c == '=';
}

/* Takes the bytes for which belongs() is true off the front of *text, and
 * returns them. */
static struct bytes take_run(struct bytes *text,
                             bool (*belongs)(char c, bool is_first))
{
    struct bytes run = {text->data, 0};

    while (text->len > 0 && belongs(*text->data, run.len == 0)) {
        text->data++;
        text->len--;
        run.len++;
    }
    return run;
}

/* --- Items --------------------------------------------------------------- */

static size_t take_digits(struct bytes *text, int64_t *number)
{
    size_t count = 0;

    for (; text->len > 0 && byte_is_digit(*text->data); count++) {
        if (count < INTEGER_DIGITS_MAX)
            *number = *number * 10 + (*text->data - '0');
        text->data++;
        text->len--;
    }
    return count;
}

static bool take_number(struct bytes *text, struct sf_item *item)
{
    bool is_negative = skip(text, '-');
    int64_t ignored = 0;
    size_t digits, fraction;

    item->kind = KIND_INTEGER;
    digits = take_digits(text, &item->integer);
    if (is_negative)
        item->integer = -item->integer;
    if (!skip(text, '.'))
        return digits > 0 && digits <= INTEGER_DIGITS_MAX;
    item->kind = KIND_OTHER;
    fraction = take_digits(text, &ignored);
    return digits > 0 && digits <= DECIMAL_DIGITS_MAX && fraction > 0 &&
           fraction <= FRACTION_MAX;
}

static bool take_string(struct bytes *text, struct sf_item *item)
{
    const char *begin = text->data;

    item->kind = KIND_STRING;
    while (text->len > 0 && *text->data >= ' ' && *text->data <= '~') {
        if (is_next(text, '"')) {
            item->text = bytes_between(begin, text->data);
            return skip(text, '"');
        }
        if (skip(text, '\\') && !is_next(text, '"') && !is_next(text, '\\'))
            return false;
        text->data++;
        text->len--;
    }
    return false;
}

static bool take_item(struct bytes *text, struct sf_item *item)
{
    *item = (struct sf_item){.kind = KIND_OTHER};
    if (text->len == 0)
        return false;
    if (is_next(text, '-') || byte_is_digit(*text->data))
        return take_number(text, item);
    if (skip(text, '"'))
        return take_string(text, item);
    if (skip(text, ':')) {
        (void)take_run(text, is_base64_byte);
        return skip(text, ':');
    }
    if (skip(text, '?')) {
        item->kind = is_next(text, '1') ? KIND_TRUE : KIND_FALSE;
        return skip(text, '1') || skip(text, '0');
    }
    if (skip(text, '@')) {
        bool is_date = take_number(text, item) && item->kind == KIND_INTEGER;

        item->kind = KIND_OTHER;
        return is_date;
    }
    return take_run(text, is_token_byte).len > 0;
}

static bool take_parameters(struct bytes *text)
{
    struct sf_item ignored;

    while (skip(text, ';')) {
        skip_spaces(text);
        if (take_run(text, is_key_byte).len == 0 ||
            (skip(text, '=') && !take_item(text, &ignored)))
            return false;
    }
    return true;
}

/* Takes the rest of an inner list, behind its opening parenthesis. */
static bool take_list(struct bytes *text)
{
    struct sf_item ignored;

    for (;;) {
        skip_spaces(text);
        if (skip(text, ')'))
            return true;
        if (!take_item(text, &ignored) || !take_parameters(text) ||
            (!is_next(text, ' ') && !is_next(text, ')')))
            return false;
    }
}

/* --- Directives ---------------------------------------------------------- */

static void put_flag(struct cache_control *control, enum cache_directive which,
                     bool is_said)
{
    control->said &= ~(uint32_t)which;
    control->said |= is_said ? which : 0;
}

/* Reads "private" and "no-cache", which may name the fields that they are
 * about. Any other value means the whole answer. Returns false when the
 * directive is another one. */
static bool put_fields(struct cache_control *control, struct bytes name,
                       const struct sf_item *item)
{
    bool is_private = bytes_eq(name, BYTES("private"));
    bool is_list = item->kind == KIND_STRING && item->text.len > 0;

    if (!is_private && !bytes_eq(name, BYTES("no-cache")))
        return false;
    put_flag(control, is_private ? CACHE_PRIVATE : CACHE_NO_CACHE,
             !is_list && item->kind != KIND_FALSE);
    *(is_private ? &control->private_fields : &control->no_cache_fields) =
        is_list ? item->text : BYTES("");
    return true;
}

/* Returns the seconds of an item. An item that is no number of seconds counts
 * as 0, so that the answer is stale at once (RFC 9111 4.2.1). */
static int64_t seconds_of(const struct sf_item *item)
{
    if (item->kind != KIND_INTEGER || item->integer < 0)
        return 0;
    return item->integer < CACHE_SECONDS_MAX ? item->integer
                                             : CACHE_SECONDS_MAX;
}

static void put_directive(struct cache_control *control, struct bytes name,
                          const struct sf_item *item)
{
    enum cache_directive flag = cache_control_find_flag(name);
    int64_t *time = cache_control_find_time(control, name);

    control->said |= CACHE_ANY;
    if (flag == CACHE_PUBLIC) /* only "true" may allow something */
        put_flag(control, flag, item->kind == KIND_TRUE);
    else if (flag)
        put_flag(control, flag, item->kind != KIND_FALSE);
    else if (time)
        *time = seconds_of(item);
    else
        (void)put_fields(control, name, item);
}

static bool take_member(struct cache_control *control, struct bytes *text)
{
    struct bytes name = take_run(text, is_key_byte);
    struct sf_item item = {.kind = KIND_TRUE};

    if (name.len == 0)
        return false;
    if (skip(text, '=')) {
        if (skip(text, '(')) {
            item.kind = KIND_OTHER;
            if (!take_list(text))
                return false;
        } else if (!take_item(text, &item)) {
            return false;
        }
    }
    if (!take_parameters(text))
        return false;
    put_directive(control, name, &item);
    return true;
}

bool cache_targeted_read(struct cache_control *control, struct bytes value)
{
    struct bytes text = bytes_trim(value);

    while (text.len > 0) {
        if (!take_member(control, &text))
            return false;
        bytes_skip_blanks(&text);
        if (text.len == 0)
            break;
        if (!skip(&text, ','))
            return false;
        bytes_skip_blanks(&text);
        if (text.len == 0) /* a comma must not be the last byte */
            return false;
    }
    return true;
}
