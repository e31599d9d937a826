#include "cache/cache_control.h"

#include "http/head_edit.h"

void cache_control_init(struct cache_control *control)
{
    *control = (struct cache_control){.max_age = CACHE_UNSAID,
                                      .s_maxage = CACHE_UNSAID,
                                      .min_fresh = CACHE_UNSAID,
                                      .max_stale = CACHE_UNSAID,
                                      .stale_while_revalidate = CACHE_UNSAID,
                                      .stale_if_error = CACHE_UNSAID};
}

bool cache_seconds_read(struct bytes text, int64_t *seconds_out)
{
    int64_t seconds = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (!byte_is_digit(text.data[i]))
            return false;
        seconds = seconds * 10 + (text.data[i] - '0');
        if (seconds > CACHE_SECONDS_MAX)
            seconds = CACHE_SECONDS_MAX;
    }
    *seconds_out = seconds;
    return text.len > 0;
}

/* --- Taking apart --------------------------------------------------------- */

/* Takes the next piece off *text and returns it. The piece ends before the next
 * byte `c` that stands in no quotes; that byte goes, too. If a quote does not
 * end, the piece is all of *text. */
static struct bytes take_until(struct bytes *text, char c)
{
    const char *begin = text->data, *end = begin + text->len;
    bool is_quoted = false;
    const char *at = begin;

    for (; at < end && (is_quoted || *at != c); at++) {
        if (is_quoted && *at == '\\' && at + 1 < end)
            at++;
        else if (*at == '"')
            is_quoted = !is_quoted;
    }
    *text = bytes_between(at < end ? at + 1 : end, end);
    return bytes_between(begin, at);
}

/* Whether a quote in `text` does not end, so that the rest is unclear. */
static bool is_open(struct bytes text)
{
    bool is_quoted = false;

    for (size_t i = 0; i < text.len; i++) {
        if (is_quoted && text.data[i] == '\\')
            i++;
        else if (text.data[i] == '"')
            is_quoted = !is_quoted;
    }
    return is_quoted;
}

/* Returns the text between the quotes at both ends, or all of the text if it
 * has no quotes. */
static struct bytes without_quotes(struct bytes text)
{
    if (text.len >= 2 && text.data[0] == '"' && text.data[text.len - 1] == '"')
        return (struct bytes){text.data + 1, text.len - 2};
    return text;
}

/* --- Directives ----------------------------------------------------------- */

static const struct plain {
    struct bytes name;
    enum cache_directive directive;
} plains[] = {
    {{"no-store", 8}, CACHE_NO_STORE},
    {{"public", 6}, CACHE_PUBLIC},
    {{"must-revalidate", 15}, CACHE_MUST_REVALIDATE},
    {{"proxy-revalidate", 16}, CACHE_PROXY_REVALIDATE},
    {{"must-understand", 15}, CACHE_MUST_UNDERSTAND},
    {{"only-if-cached", 14}, CACHE_ONLY_IF_CACHED},
    {{"immutable", 9}, CACHE_IMMUTABLE},
};

enum cache_directive cache_control_find_flag(struct bytes name)
{
    for (size_t i = 0; i < sizeof(plains) / sizeof(*plains); i++)
        if (bytes_ieq(name, plains[i].name))
            return plains[i].directive;
    return (enum cache_directive)0;
}

static bool read_plain(struct cache_control *control, struct bytes name)
{
    enum cache_directive directive = cache_control_find_flag(name);

    control->said |= directive;
    return directive;
}

/* Reads "private" and "no-cache", which may name the fields that they are
 * about. Two such lists together mean the whole answer. Returns false when the
 * directive is another one. */
static bool read_fields(struct cache_control *control, struct bytes name,
                        struct bytes argument)
{
    bool is_private = bytes_ieq(name, BYTES("private"));
    struct bytes *list = is_private ? &control->private_fields
                                    : &control->no_cache_fields;

    if (!is_private && !bytes_ieq(name, BYTES("no-cache")))
        return false;
    if (argument.len > 0 && list->len == 0)
        *list = argument;
    else
        control->said |= is_private ? CACHE_PRIVATE : CACHE_NO_CACHE;
    return true;
}

int64_t *cache_control_find_time(struct cache_control *control,
                                 struct bytes name)
{
    if (bytes_ieq(name, BYTES("max-age")))
        return &control->max_age;
    if (bytes_ieq(name, BYTES("s-maxage")))
        return &control->s_maxage;
    if (bytes_ieq(name, BYTES("min-fresh")))
        return &control->min_fresh;
    if (bytes_ieq(name, BYTES("max-stale")))
        return &control->max_stale;
    if (bytes_ieq(name, BYTES("stale-while-revalidate")))
        return &control->stale_while_revalidate;
    if (bytes_ieq(name, BYTES("stale-if-error")))
        return &control->stale_if_error;
    return NULL;
}

static void read_time(struct cache_control *control, int64_t *time,
                      struct bytes argument, bool has_argument)
{
    int64_t seconds;

    if (!has_argument && time == &control->max_stale)
        seconds = CACHE_SECONDS_MAX;
    else if (!cache_seconds_read(argument, &seconds))
        seconds = 0;
    if (*time == CACHE_UNSAID || seconds < *time)
        *time = seconds;
}

static void read_directive(struct cache_control *control, struct bytes text)
{
    const char *equals = text.len > 0 ? memchr(text.data, '=', text.len) : NULL;
    const char *end = text.data + text.len;
    struct bytes name = equals ? bytes_between(text.data, equals) : text;
    struct bytes argument = equals
                                ? without_quotes(bytes_between(equals + 1, end))
                                : BYTES("");
    int64_t *time;

    if (!head_is_token(name)) /* "max-age =1" does not count */
        return;
    control->said |= CACHE_ANY;
    if (read_plain(control, name) || read_fields(control, name, argument))
        return;
    time = cache_control_find_time(control, name);
    if (time)
        read_time(control, time, argument, equals);
}

/* Whether a directive with that target is for this cache: the target is our
 * name, or is missing. */
static bool is_for(struct bytes target, struct bytes surrogate)
{
    target = bytes_trim(target);
    return target.len == 0 || bytes_ieq(target, surrogate);
}

/* Reads a directive and all behind its ';'. Some origins write ';' for ',' and
 * mean each part, so that "private; max-age=0" is private. */
static void read_all(struct cache_control *control, struct bytes directive,
                     struct bytes rest)
{
    read_directive(control, directive);
    while (rest.len > 0)
        read_directive(control, bytes_trim(take_until(&rest, ';')));
}

void cache_control_read(struct cache_control *control, struct bytes value,
                        struct bytes surrogate)
{
    while (value.len > 0) {
        struct bytes member = bytes_trim(take_until(&value, ','));
        struct bytes directive;

        if (is_open(member)) /* the rest is unclear: it may be "no-store" */
            control->said |= CACHE_PRIVATE;
        directive = bytes_trim(take_until(&member, ';'));
        if (surrogate.len == 0)
            read_all(control, directive, member);
        else if (is_for(member, surrogate))
            read_directive(control, directive);
    }
}
