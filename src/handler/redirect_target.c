#include "handler/redirect_priv.h"
#include "http/path.h"

enum { ENCODED_AT_ONCE = 256 };

enum redirect_variable redirect_variable_read(struct bytes text,
                                              size_t *len_out)
{
    static const struct bytes names[] = {[VARIABLE_HOST] = {"host", 4},
                                         [VARIABLE_PATH] = {"path", 4},
                                         [VARIABLE_QUERY] = {"query", 5},
                                         [VARIABLE_SCHEME] = {"scheme", 6}};
    size_t len = 0;

    *len_out = 1;
    if (text.len > 0 && *text.data >= '1' && *text.data <= '9')
        return VARIABLE_CAPTURE + (enum redirect_variable)(*text.data - '1');
    while (len < text.len && text.data[len] >= 'a' && text.data[len] <= 'z')
        len++;
    *len_out = len;
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (bytes_eq((struct bytes){text.data, len}, names[i]))
            return (enum redirect_variable)i;
    return VARIABLE_NONE;
}

/* Puts `text` percent-encoded for a path or a query. It is encoded in short
 * pieces, so that `out` needs room only for the result. */
static void put_encoded(struct buf *out, struct bytes text, bool in_path)
{
    while (text.len > 0 && !out->failed) {
        struct bytes piece = {
            text.data, text.len < ENCODED_AT_ONCE ? text.len : ENCODED_AT_ONCE};
        char storage[3 * ENCODED_AT_ONCE];
        size_t len = in_path ? path_encode(piece, storage)
                             : path_encode_value(piece, storage);

        buf_put(out, (struct bytes){storage, len});
        text.data += piece.len;
        text.len -= piece.len;
    }
}

static void put_variable(struct buf *out, enum redirect_variable variable,
                         const struct redirect_filling *filling, bool in_path)
{
    if (variable == VARIABLE_HOST) {
        buf_put(out, filling->host); /* the host needs no encoding */
        buf_put(out, filling->port);
    } else if (variable == VARIABLE_SCHEME) {
        buf_put(out, filling->scheme);
    } else if (variable == VARIABLE_QUERY) {
        path_put_query(filling->query, out);
    } else if (variable == VARIABLE_PATH) {
        put_encoded(out, filling->path, in_path);
    } else {
        put_encoded(out, filling->captures[variable - VARIABLE_CAPTURE],
                    in_path);
    }
}

/* Puts `text`, which was checked, and replaces its variables. */
static void expand(struct buf *out, struct bytes text,
                   const struct redirect_filling *filling, bool in_path)
{
    const char *at = text.data;
    const char *end = text.data + text.len;
    const char *dollar;

    while ((dollar = memchr(at, '$', (size_t)(end - at)))) {
        size_t len = 1;

        buf_put(out, bytes_between(at, dollar));
        at = dollar + 1;
        if (*at == '$')
            buf_put_literal(out, "$");
        else
            put_variable(out,
                         redirect_variable_read(bytes_between(at, end), &len),
                         filling, in_path);
        at += len;
    }
    buf_put(out, bytes_between(at, end));
}

struct bytes redirect_take_before(struct bytes *text, const char *set)
{
    struct bytes piece = {text->data, 0};

    while (piece.len < text->len && !strchr(set, text->data[piece.len]))
        piece.len++;
    text->data += piece.len;
    text->len -= piece.len;
    return piece;
}

bool redirect_is_absolute(struct bytes to)
{
    static const struct bytes scheme = {"$scheme:", 8};

    return (to.len > 0 && *to.data != '/' && *to.data != '$') ||
           (to.len >= scheme.len &&
            memcmp(to.data, scheme.data, scheme.len) == 0);
}

/* Puts the path of a target that stays on this host. The path is made to begin
 * with exactly one slash: two slashes would lead to another host. */
static void put_local_path(struct buf *out, struct bytes path,
                           const struct redirect_filling *filling)
{
    size_t begin = out->len;
    size_t slashes = 0;

    expand(out, path, filling, true);
    if (out->failed)
        return;
    while (begin + slashes < out->len && out->data[begin + slashes] == '/')
        slashes++;
    if (slashes == 0) {
        if (!buf_reserve(out, 1))
            return;
        memmove(out->data + begin + 1, out->data + begin, out->len - begin);
        out->data[begin] = '/';
        out->len++;
    } else {
        memmove(out->data + begin + 1, out->data + begin + slashes,
                out->len - begin - slashes);
        out->len -= slashes - 1;
    }
}

void redirect_put_target(struct buf *out, const struct redirect_rule *rule,
                         const struct redirect_filling *filling)
{
    struct bytes to = rule->to;
    struct bytes path = redirect_take_before(&to, "?#");
    struct bytes own_query = redirect_take_before(&to, "#");

    if (redirect_is_absolute(path))
        expand(out, path, filling, true);
    else
        put_local_path(out, path, filling);
    expand(out, own_query, filling, false);
    if (rule->says_query && out->len > 0 && out->data[out->len - 1] == '?')
        out->len--; /* no query follows the '?' */
    if (filling->query.len > 0 && !rule->says_query) {
        if (own_query.len == 0)
            buf_put_literal(out, "?");
        else if (own_query.len > 1)
            buf_put_literal(out, "&");
        path_put_query(filling->query, out);
    }
    expand(out, to, filling, false);
}
