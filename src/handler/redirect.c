#include "handler/redirect.h"

#include "http/path.h"

enum {
    LOCATION_INLINE = 1024,
    ENCODED_AT_ONCE = 256,
    /* A head must have room for it, and for all else that belongs there. */
    LOCATION_BYTES_MAX = RESPONSE_HEAD_BYTES_MAX / 2,
    /* In the place of a capture when targets are checked: no pattern has it,
     * so that only wildcards take it. */
    PROBE = 0x7F
};

/* --- Targets ------------------------------------------------------------- */

/* Percent-encoded for where it stands; in pieces, so that no more room has to
 * be there than it takes. */
static void put_capture(struct buf *out, struct bytes capture, bool in_path)
{
    while (capture.len > 0 && !out->failed) {
        struct bytes piece = {capture.data, capture.len < ENCODED_AT_ONCE
                                                ? capture.len
                                                : ENCODED_AT_ONCE};
        char storage[3 * ENCODED_AT_ONCE];
        size_t len = in_path ? path_encode(piece, storage)
                             : path_encode_value(piece, storage);

        buf_put(out, (struct bytes){storage, len});
        capture.data += piece.len;
        capture.len -= piece.len;
    }
}

/* Writes text, which was checked, with captures in the place of $1 to $9. */
static void expand(struct buf *out, struct bytes text,
                   const struct bytes *captures, bool in_path)
{
    const char *at = text.data;
    const char *end = text.data + text.len;
    const char *dollar;

    while ((dollar = memchr(at, '$', (size_t)(end - at)))) {
        buf_put(out, bytes_between(at, dollar));
        if (dollar[1] == '$')
            buf_put_literal(out, "$");
        else
            put_capture(out, captures[dollar[1] - '1'], in_path);
        at = dollar + 2;
    }
    buf_put(out, bytes_between(at, end));
}

/* Takes what stands before a byte of set, or all. */
static struct bytes take_before(struct bytes *text, const char *set)
{
    struct bytes piece = {text->data, 0};

    while (piece.len < text->len && !strchr(set, text->data[piece.len]))
        piece.len++;
    text->data += piece.len;
    text->len -= piece.len;
    return piece;
}

static bool is_absolute(struct bytes to)
{
    return to.len > 0 && *to.data != '/' && *to.data != '$';
}

/* The path of a target on this host begins with exactly one slash: two would
 * name another host. */
static void put_local_path(struct buf *out, struct bytes path,
                           const struct bytes *captures)
{
    size_t begin = out->len;
    size_t slashes = 0;

    expand(out, path, captures, true);
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

static void put_target(struct buf *out, struct bytes to,
                       const struct bytes *captures, struct bytes query)
{
    struct bytes path = take_before(&to, "?#");
    struct bytes own_query = take_before(&to, "#");

    if (is_absolute(path))
        expand(out, path, captures, true);
    else
        put_local_path(out, path, captures);
    expand(out, own_query, captures, false);
    if (query.len > 0) {
        if (own_query.len == 0)
            buf_put_literal(out, "?");
        else if (own_query.len > 1)
            buf_put_literal(out, "&");
        buf_put(out, query);
    }
    expand(out, to, captures, false);
}

/* --- Rules --------------------------------------------------------------- */

static bool is_status(unsigned status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

/* What may stand in a URI (RFC 3986 2), and "$" before one of what there is
 * to capture. */
static const char *check_bytes(struct bytes to, unsigned captures)
{
    for (size_t i = 0; i < to.len; i++) {
        char c = to.data[i];

        if (c <= ' ' || c >= 0x7F || strchr("\"<>\\^`{|}", c))
            return "has a byte in its target that must be percent-encoded";
        if (c != '$')
            continue;
        if (++i == to.len ||
            (to.data[i] != '$' && (to.data[i] < '1' || to.data[i] > '9')))
            return "has a '$' in its target without a number; '$$' is the sign";
        if (to.data[i] != '$' && (unsigned)(to.data[i] - '0') > captures)
            return "names a capture that the pattern does not have";
    }
    return NULL;
}

/* http or https, an authority without captures, then nothing or a path. */
static const char *check_absolute(struct bytes to)
{
    static const struct bytes schemes[] = {{"https://", 8}, {"http://", 7}};

    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        struct bytes rest = to;
        struct bytes authority;

        if (to.len < schemes[i].len ||
            !bytes_ieq((struct bytes){to.data, schemes[i].len}, schemes[i]))
            continue;
        rest.data += schemes[i].len;
        rest.len -= schemes[i].len;
        authority = take_before(&rest, "/?#");
        if (authority.len == 0)
            return "names no host in its target";
        if (memchr(authority.data, '$', authority.len))
            return "would let a request choose the host of its target";
        if (memchr(authority.data, '@', authority.len))
            return "has a user in its target";
        return NULL;
    }
    return "has a target that begins with neither '/' nor http:// or https://";
}

/* Whether what the rule leads to would be led on by it, without an end. */
static bool is_endless(const struct redirect_rule *rule)
{
    static const char probe = PROBE;
    char storage[REDIRECT_TARGET_MAX + 1];
    struct bytes text = rule->to;
    struct bytes path = take_before(&text, "?#");
    size_t len = 0;

    if (is_absolute(path))
        return false;
    if (*path.data != '/')
        storage[len++] = '/';
    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];

        if (c == '$' && path.data[++i] != '$')
            c = probe;
        if (c != '/' || len == 0 || storage[len - 1] != '/')
            storage[len++] = c;
    }
    return glob_matches(&rule->from, (struct bytes){storage, len}, NULL);
}

const char *redirect_rules_add(struct redirect_rules *rules, struct bytes from,
                               struct bytes to, unsigned status)
{
    struct redirect_rule *rule = &rules->rules[rules->count];
    const char *fault;

    if (rules->count == REDIRECT_RULES_MAX)
        return "is one rule too many, 64 are allowed";
    if (status == 0)
        status = REDIRECT_STATUS_DEFAULT;
    if (!is_status(status))
        return "has a status other than 301, 302, 303, 307 or 308";
    if ((fault = glob_read(&rule->from, from)))
        return fault;
    if (*from.data != '/' && *from.data != '*')
        return "has a pattern that does not begin with '/'";
    if (to.len == 0 || to.len > REDIRECT_TARGET_MAX)
        return "has a target that is empty or longer than 1000 bytes";
    if ((fault = check_bytes(to, rule->from.captures)))
        return fault;
    if (to.len > 1 && to.data[0] == '/' && to.data[1] == '/')
        return "has a target that begins with '//'; write http:// or https://";
    if (is_absolute(to) && (fault = check_absolute(to)))
        return fault;
    rule->to = to;
    rule->status = (uint16_t)status;
    if (is_endless(rule))
        return "leads to a path that it leads on from, without an end";
    rules->count++;
    return NULL;
}

/* --- Answering ----------------------------------------------------------- */

static void send_elsewhere(const struct redirect_rule *rule,
                           struct exchange *exchange,
                           const struct bytes *captures,
                           const struct response_style *style)
{
    char storage[LOCATION_INLINE];
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), LOCATION_BYTES_MAX);
    buf_put_literal(&fields, "Location: ");
    put_target(&fields, rule->to, captures, exchange->request.query);
    buf_put_literal(&fields, "\r\n");
    if (fields.failed)
        response_make_error(&exchange->response, 414, BYTES(""), style);
    else
        response_make_error(&exchange->response, rule->status,
                            buf_bytes(&fields), style);
    buf_fini(&fields);
}

bool redirect_answer(const struct redirect_rules *rules,
                     struct exchange *exchange, struct bytes clean,
                     const struct response_style *style)
{
    struct bytes captures[GLOB_CAPTURES_MAX];

    for (size_t i = 0; i < rules->count; i++) {
        if (glob_matches(&rules->rules[i].from, clean, captures)) {
            send_elsewhere(&rules->rules[i], exchange, captures, style);
            return true;
        }
    }
    return false;
}
