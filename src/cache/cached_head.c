#include "cache/cached_head.h"

#include "http/field.h"

/* --- Lines ---------------------------------------------------------------- */

bool cached_head_next(struct bytes *lines, struct cached_line *line_out)
{
    while (lines->len > 0) {
        const char *end = lines->data + lines->len;
        const char *feed = memchr(lines->data, '\n', lines->len);
        const char *next = feed ? feed + 1 : end;
        struct bytes line = bytes_between(lines->data, next);
        const char *colon = memchr(line.data, ':', line.len);

        *lines = bytes_between(next, end);
        if (!feed || !colon)
            continue;
        *line_out = (struct cached_line){
            .line = line,
            .name = bytes_between(line.data, colon),
            .value = bytes_trim(bytes_between(colon + 1, feed - 1))};
        return true;
    }
    return false;
}

struct bytes cached_head_find(struct bytes lines, struct bytes name)
{
    struct cached_line line;

    while (cached_head_next(&lines, &line))
        if (bytes_ieq(line.name, name))
            return line.value;
    return (struct bytes){NULL, 0};
}

bool cached_head_is_listed(struct bytes list, struct bytes name)
{
    struct bytes member;

    if (list.len == 0)
        return false;
    while (field_next_member(&list, &member))
        if (bytes_ieq(member, name))
            return true;
    return false;
}

/* --- Which fields --------------------------------------------------------- */

#define NAMED(text)              \
    {                            \
        (text), sizeof(text) - 1 \
    }

static bool is_among(struct bytes name, const struct bytes *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes_ieq(name, names[i]))
            return true;
    return false;
}

#define IS_AMONG(name, names) \
    is_among((name), (names), sizeof(names) / sizeof(*(names)))

/* Whether a field is about one answer or connection only, and is not kept. */
static bool is_passing(struct bytes name)
{
    static const struct bytes names[] = {NAMED("Age"), NAMED("Content-Length"),
                                         NAMED("Trailer"),
                                         NAMED("Proxy-Authenticate"),
                                         NAMED("Proxy-Authentication-Info")};

    return IS_AMONG(name, names);
}

/* Whether a field is only for caches like this one. It is kept, but sent to no
 * client. */
static bool is_hidden(struct bytes name)
{
    return bytes_ieq(name, BYTES("Surrogate-Control"));
}

/* Whether a field describes the bytes that were stored (RFC 9111 3.2, and
 * fields of the same kind). */
static bool is_of_body(struct bytes name)
{
    static const struct bytes names[] = {NAMED("Content-Encoding"),
                                         NAMED("Content-Length"),
                                         NAMED("Content-MD5"),
                                         NAMED("Content-Range"),
                                         NAMED("Content-Digest"),
                                         NAMED("Repr-Digest"),
                                         NAMED("Digest"),
                                         NAMED("ETag"),
                                         NAMED("Via")};

    return IS_AMONG(name, names);
}

/* Whether a field describes the bytes of one answer, be they all or a part (RFC
 * 9110 14.4, RFC 9530 2). Repr-Digest and Digest are of all bytes always. */
static bool is_of_content(struct bytes name)
{
    static const struct bytes names[] = {
        NAMED("Content-Range"), NAMED("Content-Digest"), NAMED("Content-MD5")};

    return IS_AMONG(name, names);
}

/* Whether a field is only for the client that asked. When a new answer updates
 * a stored one (as a 304 does), such a field goes to that client, and is not
 * stored. */
static bool is_to_one(struct bytes name)
{
    static const struct bytes names[] = {NAMED("Set-Cookie"),
                                         NAMED("Set-Cookie2")};

    return IS_AMONG(name, names);
}

/* Whether a field is about the validity of an answer: whether it may be used,
 * or for how long. */
static bool is_of_validity(struct bytes name)
{
    static const struct bytes names[] = {NAMED("Age"),
                                         NAMED("Cache-Control"),
                                         NAMED("CDN-Cache-Control"),
                                         NAMED("Date"),
                                         NAMED("ETag"),
                                         NAMED("Expires"),
                                         NAMED("Last-Modified"),
                                         NAMED("Pragma"),
                                         NAMED("Surrogate-Control"),
                                         NAMED("Vary")};

    return IS_AMONG(name, names);
}

static bool is_of_not_modified(struct bytes name)
{
    static const struct bytes names[] = {
        NAMED("Cache-Control"),
        NAMED("CDN-Cache-Control"),
        NAMED("Content-Location"),
        NAMED("Date"),
        NAMED("ETag"),
        NAMED("Expires"),
        NAMED("Last-Modified"),
        NAMED("Vary"),
        NAMED("Via"),
        NAMED("Cache-Status"),
        NAMED("Access-Control-Allow-Origin"),
        NAMED("Access-Control-Allow-Credentials"),
        NAMED("Access-Control-Expose-Headers"),
        NAMED("Timing-Allow-Origin")};

    return IS_AMONG(name, names);
}

/* --- Tags ---------------------------------------------------------------- */

bool cached_head_is_tags(struct bytes name)
{
    static const struct bytes names[] = {NAMED("Cache-Tag"),
                                         NAMED("Surrogate-Key"), NAMED("xkey")};

    return IS_AMONG(name, names);
}

static bool take_tag(struct bytes *tags, struct bytes *tag_out)
{
    const char *end = tags->data + tags->len;
    const char *at = tags->data, *begin;

    while (at < end && (*at == ',' || *at == ' ' || *at == '\t'))
        at++;
    for (begin = at; at < end && *at != ',' && *at != ' ' && *at != '\t';)
        at++;
    *tag_out = bytes_between(begin, at);
    *tags = bytes_between(at, end);
    return tag_out->len > 0;
}

static bool is_tag_of(struct bytes tags, struct bytes wanted)
{
    struct bytes tag;

    while (take_tag(&tags, &tag))
        if (bytes_eq(tag, wanted))
            return true;
    return false;
}

bool cached_head_has_tag(struct bytes lines, struct bytes tags)
{
    struct cached_line line;
    struct bytes tag;

    while (cached_head_next(&lines, &line)) {
        struct bytes wanted = tags;

        if (!cached_head_is_tags(line.name))
            continue;
        while (take_tag(&wanted, &tag))
            if (is_tag_of(line.value, tag))
                return true;
    }
    return false;
}

/* --- Writing -------------------------------------------------------------- */

/* Whether the origin has listed a field as one for the asker alone. */
static bool is_own(const struct cache_control *control, struct bytes name)
{
    return cached_head_is_listed(control->private_fields, name) ||
           cached_head_is_listed(control->no_cache_fields, name);
}

void cached_head_keep(struct bytes lines, const struct cache_control *control,
                      struct buf *shown, struct buf *hidden)
{
    struct cached_line line;

    while (cached_head_next(&lines, &line))
        if (is_hidden(line.name))
            buf_put(hidden, line.line);
        else if (!is_passing(line.name) && !is_own(control, line.name))
            buf_put(shown, line.line);
}

void cached_head_update(struct bytes stored, struct bytes fresh,
                        struct buf *out)
{
    struct bytes rest = stored;
    struct cached_line line;

    while (cached_head_next(&rest, &line))
        if (is_of_body(line.name) || (!bytes_ieq(line.name, BYTES("Date")) &&
                                      !cached_head_find(fresh, line.name).data))
            buf_put(out, line.line);
    rest = fresh;
    while (cached_head_next(&rest, &line))
        if (!is_of_body(line.name) && !is_to_one(line.name))
            buf_put(out, line.line);
}

void cached_head_put_own(struct bytes fresh,
                         const struct cache_control *control, bool is_update,
                         struct buf *out)
{
    struct cached_line line;

    while (cached_head_next(&fresh, &line))
        if (!is_passing(line.name) &&
            (is_own(control, line.name) || (is_update && is_to_one(line.name))))
            buf_put(out, line.line);
}

void cached_head_put_validity(struct bytes fresh, struct buf *out)
{
    struct cached_line line;

    while (cached_head_next(&fresh, &line))
        if (is_of_validity(line.name) || is_to_one(line.name))
            buf_put(out, line.line);
}

void cached_head_put_not_modified(struct bytes lines, struct buf *out)
{
    struct cached_line line;

    while (cached_head_next(&lines, &line))
        if (is_of_not_modified(line.name))
            buf_put(out, line.line);
}

void cached_head_put_for_part(struct bytes lines, struct buf *out)
{
    struct cached_line line;

    while (cached_head_next(&lines, &line))
        if (!is_of_content(line.name))
            buf_put(out, line.line);
}
