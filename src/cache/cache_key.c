#include "cache/cache_key.h"

/* --- What has no key ---------------------------------------------------------- */

/* As CGI and what follows its ways read names: '_' for '-'. */
static bool is_called(struct bytes name, struct bytes wanted)
{
    if (name.len != wanted.len)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i] == '_' ? '-' : byte_lower(name.data[i]);

        if (c != byte_lower(wanted.data[i]))
            return false;
    }
    return true;
}

/* Some servers and frameworks take these for the address or the method. */
static bool redirects_origin(struct bytes name)
{
    static const struct bytes names[] = {
        {"X-Original-URL", 14},         {"X-Rewrite-URL", 13},
        {"X-HTTP-Method-Override", 22}, {"X-HTTP-Method", 13},
        {"X-Method-Override", 17},      {"X-Host", 6},
        {"X-Original-Host", 15},        {"X-HTTP-Host-Override", 20},
        {"X-Original-URI", 14},         {"X-Forwarded", 11},
        {"X-Override-URL", 14},         {"X-Original-Method", 17},
    };

    if (name.len == 0 || byte_lower(*name.data) != 'x')
        return false; /* as most */
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (is_called(name, names[i]))
            return true;
    return false;
}

/* --- Writing it ----------------------------------------------------------------- */

static void put_lower(struct buf *out, struct bytes text)
{
    char *to = buf_reserve(out, text.len);

    if (!to)
        return;
    for (size_t i = 0; i < text.len; i++)
        to[i] = byte_lower(text.data[i]);
    out->len += text.len;
}

static void put_origin(const struct cache_key_rules *rules,
                       const struct request *request,
                       const struct cache_key_asker *asker, struct buf *out)
{
    buf_put(out, rules->place);
    buf_put_literal(out, "\n");
    buf_put(out, asker->is_secure ? BYTES("https://") : BYTES("http://"));
    put_lower(out, request->host);
}

static bool says_host(const struct field *field)
{
    static const struct bytes begin = {"X-Forwarded-", 12};

    if (field->id == FIELD_X_FORWARDED_FOR || field->name.len < begin.len ||
        bytes_ieq(field->name, BYTES("X-Forwarded-By")))
        return field->id == FIELD_FORWARDED;
    return bytes_ieq((struct bytes){field->name.data, begin.len}, begin);
}

/* Of Forwarded (RFC 7239) all but who asks counts; lists are kept as they are. */
static void put_pairs(struct bytes value, struct buf *out)
{
    while (value.len > 0) {
        size_t len = 0;
        struct bytes pair;

        while (len < value.len && value.data[len] != ';' &&
               value.data[len] != ',')
            len++;
        pair = bytes_trim((struct bytes){value.data, len});
        if (pair.len < 4 ||
            !(bytes_ieq((struct bytes){pair.data, 4}, BYTES("for=")) ||
              bytes_ieq((struct bytes){pair.data, 3}, BYTES("by=")))) {
            buf_put(out, pair);
            buf_put_literal(out, ";");
        }
        len += len < value.len;
        value.data += len;
        value.len -= len;
    }
}

static void put_trusted(const struct request *request, struct buf *out)
{
    for (unsigned i = 0; i < request->field_count; i++) {
        const struct field *field = &request->fields[i];

        if (!says_host(field))
            continue;
        buf_put_literal(out, "\n");
        put_lower(out, field->name);
        buf_put_literal(out, ":");
        if (field->id == FIELD_FORWARDED)
            put_pairs(field->value, out);
        else
            buf_put(out, field->value);
    }
}

static bool fits(const struct buf *out, size_t begin)
{
    return !out->failed && out->len - begin <= CACHE_KEY_BYTES_MAX;
}

bool cache_key_put(const struct cache_key_rules *rules,
                   const struct request *request,
                   const struct cache_key_asker *asker, struct buf *out)
{
    size_t begin = out->len;

    for (unsigned i = 0; i < request->field_count; i++)
        if (request->fields[i].id == FIELD_OTHER &&
            redirects_origin(request->fields[i].name))
            return false;
    put_origin(rules, request, asker, out);
    buf_put(out, request->path);
    cache_parts_put_query(&rules->parts, request->query, out);
    if (asker->is_trusted)
        put_trusted(request, out);
    cache_parts_put(&rules->parts, request, out);
    return fits(out, begin);
}

struct bytes cache_key_address(struct bytes place, struct bytes key)
{
    const char *end = key.data + key.len;
    const char *begin, *line;

    if (!place.data && (line = memchr(key.data, '\n', key.len)))
        place = bytes_between(key.data, line);
    if (!place.data || key.len <= place.len ||
        memcmp(key.data, place.data, place.len) != 0 ||
        key.data[place.len] != '\n')
        return (struct bytes){NULL, 0};
    begin = memmem(key.data + place.len, key.len - place.len, "://", 3);
    if (!begin)
        return (struct bytes){NULL, 0};
    begin += 3;
    line = memchr(begin, '\n', (size_t)(end - begin));
    return bytes_between(begin, line ? line : end);
}

/* --- Other addresses ------------------------------------------------------------ */

/* Takes "http://" or "https://" and the host off reference, if it is the same.
 * False: it is not. */
static bool take_origin(struct bytes *reference, struct bytes host)
{
    const char *slashes = reference->len > 1
                              ? memmem(reference->data, reference->len, "//", 2)
                              : NULL;
    const char *end = reference->data + reference->len;
    const char *slash;
    struct bytes before, named;

    if (reference->len > 0 && *reference->data == '/' &&
        slashes != reference->data)
        return true;
    if (!slashes || (slashes > reference->data && slashes[-1] != ':'))
        return reference->len == 0 ||
               !memchr(reference->data, ':', reference->len);
    before = bytes_between(reference->data, slashes);
    if (before.len > 0 && !bytes_ieq(before, BYTES("http:")) &&
        !bytes_ieq(before, BYTES("https:")))
        return false;
    slash = memchr(slashes + 2, '/', (size_t)(end - slashes - 2));
    named = bytes_between(slashes + 2, slash ? slash : end);
    *reference = bytes_between(named.data + named.len, end);
    return bytes_ieq(named, host);
}

/* A path and a query. */
static void put_reference(const struct cache_key_rules *rules,
                          struct bytes reference, struct buf *out)
{
    const char *end = reference.data + reference.len;
    const char *mark = reference.len > 0
                           ? memchr(reference.data, '?', reference.len)
                           : NULL;

    buf_put(out, mark ? bytes_between(reference.data, mark) : reference);
    if (mark)
        cache_parts_put_query(&rules->parts, bytes_between(mark + 1, end), out);
}

bool cache_key_put_other(const struct cache_key_rules *rules,
                         const struct request *request,
                         const struct cache_key_asker *asker,
                         struct bytes reference, struct buf *out)
{
    size_t begin = out->len;
    const char *hash, *slash = NULL;

    if (!take_origin(&reference, request->host))
        return false;
    hash = reference.len > 0 ? memchr(reference.data, '#', reference.len)
                             : NULL;
    if (hash)
        reference.len = (size_t)(hash - reference.data);
    put_origin(rules, request, asker, out);
    if (reference.len == 0 || *reference.data != '/') {
        /* Beside the address that was asked for (RFC 3986 5.2.3). */
        if (request->path.len > 0)
            slash = memrchr(request->path.data, '/', request->path.len);
        if (slash)
            buf_put(out, bytes_between(request->path.data, slash + 1));
        else
            buf_put_literal(out, "/");
    }
    put_reference(rules, reference, out);
    if (asker->is_trusted)
        put_trusted(request, out);
    cache_parts_put(&rules->parts, request, out);
    return fits(out, begin);
}
