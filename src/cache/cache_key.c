#include "cache/cache_key.h"

#include "cache/cache_form.h"

/* --- Requests without a key ---------------------------------------------- */

/* Whether some servers or frameworks take a field of that name for the address,
 * the scheme or the method. Nearly all such names begin with an X. */
static bool redirects_origin(struct bytes name)
{
    static const struct bytes names[] = {
        {"X-Original-URL", 14},
        {"X-Override-URL", 14},
        {"X-Rewrite-URL", 13},
        {"X-HTTP-Method-Override", 22},
        {"X-HTTP-Method", 13},
        {"X-Method-Override", 17},
        {"X-Original-Method", 17},
        {"X-Host", 6},
        {"X-Original-Host", 15},
        {"X-HTTP-Host-Override", 20},
        {"X-Backend-Host", 14},
        {"X-Forward-Host", 14},
        {"X-Forward-Proto", 15},
        {"X-Original-URI", 14},
        {"X-HTTP-DestinationURL", 21},
        {"X-Proxy-URL", 11},
        {"X-Script-Name", 13},
        {"X-Envoy-Original-Path", 21},
        {"X-URL-Scheme", 12},
        {"X-Forwarded", 11},
        {"X-Original-Scheme", 17},
        {"X-Original-Proto", 16},
        {"X-Forward-Scheme", 16},
        {"X-HTTP-Host", 11},
        {"Front-End-HTTPS", 15},
        /* Rack answers these fields with the name of a file and no body. */
        {"X-Sendfile-Type", 15},
        {"X-Accel-Mapping", 15},
        /* Next.js sends these to itself. */
        {"X-Middleware-Subrequest", 23},
        {"X-Middleware-Rewrite", 20},
        {"X-Now-Route-Matches", 19},
        {"X-Matched-Path", 14},
        {"X-Invoke-Path", 13},
        {"X-Invoke-Query", 14},
        {"X-Invoke-Status", 15},
        {"X-Invoke-Output", 15},
        {"X-Prerender-Revalidate", 22},
    };

    if (name.len >= 3 && bytes_ieq((struct bytes){name.data, 3}, BYTES("$WS")))
        return true; /* WebSphere: $WSSN is the host, $WSSC the scheme */
    if (name.len == 0 ||
        (byte_lower(*name.data) != 'x' && byte_lower(*name.data) != 'f'))
        return false; /* the usual case */
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (field_is_called(name, names[i]))
            return true;
    return false;
}

/* --- Writing a key ------------------------------------------------------- */

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

/* Whether a trusted proxy tells the target of the request, or the form of the
 * answer, in this field. Such a field belongs in the key. */
static bool counts(const struct field *field)
{
    static const struct bytes begin = {"X-Forwarded-", 12};

    if (bytes_ieq(field->name, BYTES("Surrogate-Capability")))
        return true;
    if (field->id == FIELD_X_FORWARDED_FOR || field->name.len < begin.len ||
        bytes_ieq(field->name, BYTES("X-Forwarded-By")))
        return field->id == FIELD_FORWARDED;
    return bytes_ieq((struct bytes){field->name.data, begin.len}, begin);
}

/* Puts the pairs of Forwarded (RFC 7239), of all proxies in the list, into the
 * key. Left out are "for" and "by", which say who asks. */
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

        if (!counts(field))
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

/* Puts the parts of a key that follow the address. */
static void put_rest(const struct cache_key_rules *rules,
                     const struct request *request,
                     const struct cache_key_asker *asker,
                     const struct cache_forms *forms, struct buf *out)
{
    if (asker->is_trusted)
        put_trusted(request, out);
    cache_parts_put(&rules->parts, request, out);
    if (!asker->has_no_form)
        cache_forms_put(forms, request, out);
}

static bool put_own(const struct cache_key_rules *rules,
                    const struct request *request,
                    const struct cache_key_asker *asker,
                    const struct cache_forms *forms, struct buf *out)
{
    size_t begin = out->len;

    put_origin(rules, request, asker, out);
    buf_put(out, request->path);
    cache_parts_put_query(&rules->parts, request->query, out);
    put_rest(rules, request, asker, forms, out);
    return fits(out, begin);
}

bool cache_key_put(const struct cache_key_rules *rules,
                   const struct request *request,
                   const struct cache_key_asker *asker, struct buf *out)
{
    struct cache_forms forms = cache_forms_read(request);

    for (unsigned i = 0; i < request->field_count; i++)
        if (request->fields[i].id == FIELD_OTHER &&
            redirects_origin(request->fields[i].name))
            return false;
    return !forms.are_odd && put_own(rules, request, asker, &forms, out);
}

bool cache_key_put_target(const struct cache_key_rules *rules,
                          const struct request *request,
                          const struct cache_key_asker *asker, struct buf *out)
{
    struct cache_forms forms = cache_forms_read(request);

    return put_own(rules, request, asker, &forms, out);
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

/* --- Other addresses ----------------------------------------------------- */

/* Returns the scheme of a reference (RFC 3986 3.1), without ':'; empty if it
 * has none. */
static struct bytes scheme_of(struct bytes reference)
{
    size_t len = 0;

    for (; len < reference.len; len++) {
        char byte = byte_lower(reference.data[len]);
        bool is_letter = byte >= 'a' && byte <= 'z';

        if (!is_letter && (len == 0 || !(byte_is_digit(byte) || byte == '+' ||
                                         byte == '-' || byte == '.')))
            break;
    }
    return len < reference.len && reference.data[len] == ':'
               ? (struct bytes){reference.data, len}
               : BYTES("");
}

/* Returns the host without its port, if that is the usual port of the scheme;
 * otherwise the host as it is. */
static struct bytes without_port(struct bytes host, bool is_secure)
{
    struct bytes port = is_secure ? BYTES(":443") : BYTES(":80");

    if (host.len > port.len &&
        memcmp(host.data + host.len - port.len, port.data, port.len) == 0)
        host.len -= port.len;
    return host;
}

/* Takes the scheme and the host, if there are any, off *reference. Returns
 * false when the host is not the request's, or the scheme is not HTTP's. */
static bool take_origin(struct bytes *reference, struct bytes host,
                        bool is_secure)
{
    struct bytes scheme = scheme_of(*reference), named;
    const char *slash;

    if (scheme.len > 0) {
        is_secure = bytes_ieq(scheme, BYTES("https"));
        if (!is_secure && !bytes_ieq(scheme, BYTES("http")))
            return false;
        reference->data += scheme.len + 1;
        reference->len -= scheme.len + 1;
    }
    if (!bytes_take(reference, BYTES("//")))
        return scheme.len == 0;
    named = *reference;
    for (slash = named.data; slash < named.data + named.len; slash++)
        if (*slash == '/' || *slash == '?' || *slash == '#')
            break;
    named = bytes_between(named.data, slash);
    *reference = bytes_between(slash, reference->data + reference->len);
    return bytes_ieq(without_port(named, is_secure),
                     without_port(host, is_secure));
}

/* Resolves "." and ".." in the path that `out` has from offset `at` on (RFC
 * 3986 5.2.4). */
static void remove_dots(struct buf *out, size_t at)
{
    char *path = out->data + at;
    size_t len = out->len - at, from = 0, to = 0;

    while (from < len) {
        const char *next = memchr(path + from + 1, '/', len - from - 1);
        size_t end = next ? (size_t)(next - path) : len;
        struct bytes segment = {path + from, end - from};
        bool goes_up = bytes_eq(segment, BYTES("/.."));

        if (goes_up || bytes_eq(segment, BYTES("/."))) {
            while (goes_up && to > 0 && path[--to] != '/')
                ;
            if (end == len) /* "." and ".." name a folder: '/' stays */
                path[to++] = '/';
        } else {
            memmove(path + to, segment.data, segment.len);
            to += segment.len;
        }
        from = end;
    }
    out->len = at + to;
}

/* Puts the path and query of a reference. A reference without a path has the
 * path `base`; a relative path lies beside `base` (RFC 3986 5.2.2). */
static void put_reference(const struct cache_key_rules *rules,
                          struct bytes reference, struct bytes base,
                          struct buf *out)
{
    const char *end = reference.data + reference.len;
    const char *mark = reference.len > 0
                           ? memchr(reference.data, '?', reference.len)
                           : NULL;
    struct bytes path = mark ? bytes_between(reference.data, mark) : reference;
    const char *slash = base.len > 0 ? memrchr(base.data, '/', base.len) : NULL;
    size_t at = out->len;

    if (path.len == 0)
        buf_put(out, base);
    else if (*path.data != '/' && slash)
        buf_put(out, bytes_between(base.data, slash + 1));
    else if (*path.data != '/')
        buf_put_literal(out, "/");
    buf_put(out, path);
    if (!out->failed && path.len > 0)
        remove_dots(out, at);
    if (mark)
        cache_parts_put_query(&rules->parts, bytes_between(mark + 1, end), out);
}

bool cache_key_put_other(const struct cache_key_rules *rules,
                         const struct request *request,
                         const struct cache_key_asker *asker,
                         struct bytes reference, struct buf *out)
{
    struct cache_forms forms = cache_forms_read(request);
    struct bytes base = request->path;
    size_t begin = out->len;
    const char *hash = reference.len > 0
                           ? memchr(reference.data, '#', reference.len)
                           : NULL;
    const char *before = reference.data;

    if (hash)
        reference.len = (size_t)(hash - reference.data);
    if (!take_origin(&reference, request->host, asker->is_secure))
        return false;
    if (reference.data != before) /* no path behind a host means its root */
        base = BYTES("/");
    put_origin(rules, request, asker, out);
    put_reference(rules, reference, base, out);
    put_rest(rules, request, asker, &forms, out);
    return fits(out, begin);
}
