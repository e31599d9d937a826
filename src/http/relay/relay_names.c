#include "http/relay/relay_priv.h"

/*
 * With relay.renames, the client's prefix is put back where a reply names one
 * of the upstream's own paths. With strip /app and replace /v1:
 *
 *   http://upstream:9000/v1/x  ->  /app/x                  the upstream's name
 *   http://client.host/v1/x    ->  http://client.host/app/x   the client's Host
 *   /v1/x                      ->  /app/x
 *   /app/x, x, //other/v1      ->  unchanged
 */

/* --- Texts --------------------------------------------------------------- */

static bool begins_with_slash(struct bytes text)
{
    return text.len > 0 && *text.data == '/';
}

/* Takes the text before the first byte that is in `ends`, or all of the
 * text. */
static struct bytes take_until(struct bytes *text, const char *ends)
{
    const char *begin = text->data;
    size_t len = 0;

    while (len < text->len && (begin[len] == '\0' || !strchr(ends, begin[len])))
        len++;
    *text = bytes_between(begin + len, begin + text->len);
    return bytes_between(begin, begin + len);
}

/* --- Paths --------------------------------------------------------------- */

static bool ends_segment(char c)
{
    return c == '/' || c == '?' || c == '#';
}

/* Whether `path` is `base`, or lies below it in whole segments. A query or a
 * fragment may follow. */
static bool is_below(struct bytes path, struct bytes base)
{
    return path.len >= base.len &&
           (base.len == 0 || memcmp(path.data, base.data, base.len) == 0) &&
           (path.len == base.len || ends_segment(path.data[base.len]));
}

/* Takes the upstream's prefix off *path, and returns the client's prefix, which
 * replaces it. A path without the upstream's prefix stays. So does one with the
 * client's prefix, which an upstream may have learnt from X-Forwarded-Prefix:
 * if a path begins with both prefixes, the longer of the two counts. */
static struct bytes restore_prefix(const struct relay *relay,
                                   struct bytes *path)
{
    struct bytes base = relay->replace;

    while (base.len > 0 && base.data[base.len - 1] == '/')
        base.len--;
    if (relay->replace.len == 0 || !is_below(*path, base) ||
        (relay->strip.len > base.len && is_below(*path, relay->strip)))
        return BYTES("");
    *path = bytes_between(path->data + base.len, path->data + path->len);
    return relay->strip;
}

/* --- URIs ---------------------------------------------------------------- */

struct uri {
    struct bytes front; /* scheme and authority, as they came */
    struct bytes authority;
    struct bytes path; /* the path and all that follows it */
    bool has_scheme;   /* false: the URI has the request's scheme */
    bool is_https;
};

/* Reads a URI. Returns false when it has neither an authority nor an absolute
 * path of HTTP. */
static bool read_uri(struct uri *uri, struct bytes text)
{
    struct bytes rest = text;

    *uri = (struct uri){.front = {text.data, 0}, .has_scheme = true};
    if (bytes_take_ieq(&rest, BYTES("https:")))
        uri->is_https = true;
    else if (!bytes_take_ieq(&rest, BYTES("http:")))
        uri->has_scheme = false;
    if (bytes_take_ieq(&rest, BYTES("//"))) {
        uri->authority = take_until(&rest, "/\\?#");
        uri->front = bytes_between(text.data, rest.data);
    } else if (uri->has_scheme || !begins_with_slash(rest)) {
        return false;
    }
    uri->path = rest;
    return true;
}

static bool is_authority(const struct uri *uri, struct bytes authority)
{
    struct bytes port = uri->is_https ? BYTES(":443") : BYTES(":80");
    struct bytes both[2] = {uri->authority, authority};

    for (size_t i = 0; i < 2; i++)
        if (both[i].len > port.len &&
            memcmp(both[i].data + both[i].len - port.len, port.data,
                   port.len) == 0)
            both[i].len -= port.len;
    return both[0].len > 0 && bytes_ieq(both[0], both[1]);
}

/* Whether a browser reads a path as the name of another host: "//evil.example",
 * "/\evil.example". Browsers skip tabs and line ends (URL standard 4.4). */
static bool is_host(struct bytes path)
{
    size_t at = 1;

    if (!begins_with_slash(path))
        return false;
    while (at < path.len && strchr("\t\r\n", path.data[at]) &&
           path.data[at] != '\0')
        at++;
    return at < path.len && (path.data[at] == '/' || path.data[at] == '\\');
}

/* Puts the path, and before it the prefix that had been cut off. */
static void put_path(const struct relay *relay, struct bytes path,
                     struct buf *out)
{
    struct bytes before = restore_prefix(relay, &path);

    buf_put(out, before);
    if (before.len == 0 && !begins_with_slash(path))
        buf_put_literal(out, "/");
    buf_put(out, path);
}

/* Writes the client's name for a URI. Returns false when there is no such name;
 * the text in `out` is of no use then. */
static bool rename_uri(const struct relay *relay, const struct request *request,
                       struct uri *uri, struct buf *out)
{
    size_t begin = out->len;
    struct bytes before;

    if (uri->front.len > 0 && uri->path.len > 0 && *uri->path.data == '\\')
        return false; /* readers differ in whether '\\' ends the host */
    if (is_authority(uri, request->host)) {
        before = restore_prefix(relay, &uri->path);
        buf_put(out, uri->front);
        buf_put(out, before);
        buf_put(out, uri->path);
        return true;
    }
    if (!uri->has_scheme)
        uri->is_https = relay->is_https;
    if (uri->front.len > 0 &&
        (uri->is_https != relay->is_https || !is_authority(uri, relay->host)))
        return false;
    put_path(relay, uri->path, out);
    return out->failed ||
           !is_host(bytes_between(out->data + begin, out->data + out->len));
}

static void put_uri(const struct relay *relay, const struct request *request,
                    struct bytes text, struct buf *out)
{
    size_t begin = out->len;
    struct uri uri;

    if (read_uri(&uri, text) && rename_uri(relay, request, &uri, out))
        return;
    out->len = begin;
    buf_put(out, text);
}

/* Puts the value of Refresh, as in "5; url=/x", with quotes or without. */
static void put_refresh(const struct relay *relay,
                        const struct request *request, struct bytes text,
                        struct buf *out)
{
    struct bytes rest = text;
    struct bytes uri;

    (void)take_until(&rest, ";,");
    if (rest.len > 0)
        rest = bytes_between(rest.data + 1, rest.data + rest.len);
    bytes_skip_blanks(&rest);
    if (bytes_take_ieq(&rest, BYTES("url"))) {
        bytes_skip_blanks(&rest);
        if (bytes_take_ieq(&rest, BYTES("=")))
            bytes_skip_blanks(&rest);
    }
    if (rest.len > 0 && (*rest.data == '"' || *rest.data == '\''))
        rest = bytes_between(rest.data + 1, rest.data + rest.len);
    buf_put(out, bytes_between(text.data, rest.data));
    uri = take_until(&rest, "\"'");
    put_uri(relay, request, uri, out);
    buf_put(out, rest);
}

/* --- Cookies ------------------------------------------------------------- */

static struct bytes without_port(struct bytes authority)
{
    const char *end = authority.data + authority.len;
    const char *at = end;

    while (at > authority.data && byte_is_digit(at[-1]))
        at--;
    return at > authority.data && at[-1] == ':'
               ? bytes_between(authority.data, at - 1)
               : authority;
}

/* Whether a domain is the upstream's own name. The client knows the upstream by
 * another name, and would throw the cookie away. */
static bool is_own_domain(const struct relay *relay,
                          const struct request *request, struct bytes domain)
{
    (void)bytes_take_ieq(&domain, BYTES("."));
    return bytes_ieq(domain, without_port(relay->host)) &&
           !bytes_ieq(domain, without_port(request->host));
}

/* Puts one attribute of a cookie, whose text begins behind its semicolon. A
 * Domain that is the upstream's own name is left out. */
static void put_attribute(const struct relay *relay,
                          const struct request *request, struct bytes text,
                          bool keeps_path, struct buf *out)
{
    struct bytes value = text;
    struct bytes name = bytes_trim(take_until(&value, "="));
    struct bytes before;

    (void)bytes_take_ieq(&value, BYTES("="));
    value = bytes_trim(value);
    if (bytes_ieq(name, BYTES("Domain")) &&
        is_own_domain(relay, request, value))
        return;
    buf_put_literal(out, ";");
    if (!bytes_ieq(name, BYTES("Path")) || keeps_path ||
        !begins_with_slash(value)) {
        buf_put(out, text);
        return;
    }
    buf_put(out, bytes_between(text.data, value.data));
    before = restore_prefix(relay, &value);
    buf_put(out, before);
    if (before.len == 0 && value.len == 0)
        buf_put_literal(out, "/");
    buf_put(out, value);
}

/* Puts a cookie. The Path of a cookie whose name begins with "__Host-" stays,
 * because it must be "/" (RFC 6265bis 4.1.3.2). */
static void put_cookie(const struct relay *relay, const struct request *request,
                       struct bytes text, struct buf *out)
{
    bool keeps_path = relay_has_prefix(text, BYTES("__Host-"));

    buf_put(out, take_until(&text, ";"));
    while (bytes_take_ieq(&text, BYTES(";")))
        put_attribute(relay, request, take_until(&text, ";"), keeps_path, out);
}

/* --- Fields -------------------------------------------------------------- */

typedef void put_fn(const struct relay *relay, const struct request *request,
                    struct bytes value, struct buf *out);

/* Returns the function that writes a field of that name; NULL when such a field
 * never names a path. For most names the length alone tells. */
static put_fn *find_put(struct bytes name)
{
    static const struct bytes location = {"Location", 8};
    static const struct bytes content_location = {"Content-Location", 16};
    static const struct bytes refresh = {"Refresh", 7};
    static const struct bytes set_cookie = {"Set-Cookie", 10};

    switch (name.len) {
    case 7:
        return bytes_ieq(name, refresh) ? put_refresh : NULL;
    case 8:
        return bytes_ieq(name, location) ? put_uri : NULL;
    case 10:
        return bytes_ieq(name, set_cookie) ? put_cookie : NULL;
    case 16:
        return bytes_ieq(name, content_location) ? put_uri : NULL;
    default:
        return NULL;
    }
}

void relay_put_uri(const struct relay *relay, const struct request *request,
                   struct bytes uri, struct buf *out)
{
    if (relay->renames)
        put_uri(relay, request, uri, out);
    else
        buf_put(out, uri);
}

bool relay_names_place(const struct relay *relay, const struct field *field)
{
    return relay->renames && field->id == FIELD_OTHER && find_put(field->name);
}

void relay_put_place(const struct relay *relay, const struct request *request,
                     const struct field *field, struct buf *out)
{
    buf_put(out, field->name);
    buf_put_literal(out, ": ");
    find_put(field->name)(relay, request, field->value, out);
    buf_put_literal(out, "\r\n");
}
