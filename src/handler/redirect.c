#include "handler/bad_request.h"
#include "handler/redirect_priv.h"

#include <stdio.h>

enum {
    LOCATION_INLINE = 1024,
    /* Location may fill half of a head. The other half is for all other
     * fields. */
    LOCATION_BYTES_MAX = RESPONSE_HEAD_BYTES_MAX / 2,
    PROBE = 0x7F
};

static bool begins_with(struct bytes text, struct bytes word)
{
    return text.len >= word.len &&
           bytes_ieq((struct bytes){text.data, word.len}, word);
}

/* --- Rules --------------------------------------------------------------- */

static bool is_status(unsigned status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

/* Checks that a target has only bytes of URIs (RFC 3986 2), and a variable
 * behind each "$". Returns what is wrong, or NULL. */
static const char *check_bytes(struct bytes to, unsigned captures)
{
    bool in_query = false;

    for (size_t i = 0; i < to.len; i++) {
        char c = to.data[i];
        enum redirect_variable variable;
        size_t len;

        if (c <= ' ' || c >= 0x7F || strchr("\"<>\\^`{|}", c))
            return "has a byte in its target that must be percent-encoded";
        in_query = (in_query || c == '?') && c != '#';
        if (c != '$')
            continue;
        i++;
        if (i < to.len && to.data[i] == '$')
            continue;
        variable = redirect_variable_read(bytes_between(to.data + i,
                                                        to.data + to.len),
                                          &len);
        if (variable == VARIABLE_NONE)
            return "has a '$' in its target without a number, host, path, "
                   "query or scheme; '$$' is the sign";
        if (variable >= VARIABLE_CAPTURE + captures)
            return "names a capture that the pattern does not have";
        if (variable == VARIABLE_QUERY && !in_query)
            return "has $query in its target elsewhere than behind '?'";
        i += len - 1;
    }
    return NULL;
}

/* Checks an authority: a name, $host, or both. A path may follow. */
static const char *check_authority(struct bytes rest)
{
    struct bytes authority = redirect_take_before(&rest, "/?#");
    const char *end = authority.data + authority.len;
    size_t len;

    if (authority.len == 0)
        return "names no host in its target";
    for (const char *at = authority.data; at < end; at++) {
        if (*at == '@')
            return "has a user in its target";
        if (*at != '$')
            continue;
        switch (redirect_variable_read(bytes_between(at + 1, end), &len)) {
        case VARIABLE_PATH: /* its slash ends the authority */
            return at > authority.data ? NULL : "names no host in its target";
        case VARIABLE_HOST:
            at += len;
            break;
        default:
            return "would let a request choose the host of its target";
        }
    }
    return NULL;
}

/* Checks an absolute target: http, https or $scheme, then an authority without
 * captures, then a path or nothing. */
static const char *check_absolute(struct bytes to)
{
    static const struct bytes schemes[] = {
        {"https://", 8}, {"http://", 7}, {"$scheme://", 10}};

    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        if (begins_with(to, schemes[i]))
            return check_authority((struct bytes){to.data + schemes[i].len,
                                                  to.len - schemes[i].len});
    return "has a target that begins with neither '/' nor http:// or https://";
}

/* Whether a checked target has that variable. */
static bool says(struct bytes to, enum redirect_variable variable)
{
    const char *end = to.data + to.len;
    size_t len;

    for (const char *at = to.data; at < end; at++)
        if (*at == '$' && *++at != '$' &&
            redirect_variable_read(bytes_between(at, end), &len) == variable)
            return true;
    return false;
}

/* If the target is the request's URL with another scheme, returns that scheme.
 * Returns "" for any other target. */
static struct bytes find_other(struct bytes to)
{
    struct bytes rest = to;
    struct bytes scheme = redirect_take_before(&rest, ":");

    return bytes_eq(rest, BYTES("://$host$path")) ? scheme : BYTES("");
}

/* Returns a text that stands for a variable when a target is checked. No
 * pattern contains this text, so only wildcards match it. The text for a whole
 * path has slashes, which the wildcards must match, too. */
static struct bytes probe_of(enum redirect_variable variable)
{
    static const char probe[] = {'/', PROBE, '/', PROBE};

    return variable == VARIABLE_PATH ? (struct bytes){probe, 4}
                                     : (struct bytes){probe + 1, 1};
}

/* Whether the rule would redirect its own target again, and so without end. */
static bool is_endless(const struct redirect_rule *rule)
{
    static const struct bytes here = {"$scheme://$host", 15};
    char storage[REDIRECT_TARGET_MAX + 1];
    struct bytes text = rule->to;
    struct bytes path = redirect_take_before(&text, "?#");
    size_t len = 0;

    if (begins_with(path, here))
        path = bytes_between(path.data + here.len, path.data + path.len);
    if (redirect_is_absolute(path))
        return false;
    if (bytes_eq(path, BYTES("$path")))
        return true; /* the pattern matches the same path again */
    if (path.len == 0 || *path.data != '/')
        storage[len++] = '/';
    for (size_t i = 0; i < path.len; i++) {
        struct bytes piece = {path.data + i, 1};
        size_t name_len = 1;

        if (path.data[i] == '$' && path.data[++i] != '$')
            piece = probe_of(redirect_variable_read(
                bytes_between(path.data + i, path.data + path.len), &name_len));
        i += name_len - 1;
        for (size_t k = 0; k < piece.len; k++)
            if (piece.data[k] != '/' || len == 0 || storage[len - 1] != '/')
                storage[len++] = piece.data[k];
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
    if (redirect_is_absolute(to) && (fault = check_absolute(to)))
        return fault;
    rule->to = to;
    rule->status = (uint16_t)status;
    rule->says_query = says(to, VARIABLE_QUERY);
    rule->from_other = find_other(to);
    if (is_endless(rule))
        return "leads to a path that it leads on from, without an end";
    rules->count++;
    return NULL;
}

/* --- Answering ----------------------------------------------------------- */

/* Returns a host without port. Returns an empty text if there is no host, or if
 * it has a byte that would need encoding in a target. */
static struct bytes find_name(struct bytes host)
{
    const char *end = host.data + host.len;
    const char *close = host.len > 0 && *host.data == '['
                            ? memchr(host.data, ']', host.len)
                            : NULL;
    const char *at = host.data;

    if (close) /* the text in brackets was checked as an address */
        return bytes_between(host.data, close + 1);
    for (; at < end && *at != ':'; at++) {
        char lower = byte_lower(*at);

        if ((lower < 'a' || lower > 'z') && !byte_is_digit(lower) &&
            lower != '-' && lower != '.' && lower != '_')
            return BYTES("");
    }
    return bytes_between(host.data, at);
}

static void send_elsewhere(const struct redirect_rule *rule,
                           struct exchange *exchange,
                           const struct redirect_filling *filling,
                           const struct server_defaults *defaults)
{
    char storage[LOCATION_INLINE];
    struct buf fields;

    buf_init(&fields, storage, sizeof(storage), LOCATION_BYTES_MAX);
    buf_put_literal(&fields, "Location: ");
    redirect_put_target(&fields, rule, filling);
    buf_put_literal(&fields, "\r\n");
    if (fields.failed)
        bad_request_answer(exchange, REASON_TARGET_TOO_LONG, defaults);
    else if (filling->host.len == 0 && says(rule->to, VARIABLE_HOST))
        bad_request_answer(exchange, REASON_HOST_MISSING, defaults);
    else
        response_make_error(&exchange->response, rule->status,
                            buf_bytes(&fields), defaults);
    buf_fini(&fields);
}

bool redirect_leads(const struct redirect_rules *rules, struct bytes clean)
{
    for (size_t i = 0; i < rules->count; i++)
        if (glob_matches(&rules->rules[i].from, clean, NULL))
            return true;
    return false;
}

bool redirect_answer(const struct redirect_rules *rules,
                     struct exchange *exchange, struct bytes clean,
                     const struct forwarded_trust *trust,
                     const struct server_defaults *defaults)
{
    const struct request *request = &exchange->request;
    struct redirect_filling filling = {
        .path = clean, .query = request->query, .port = BYTES("")};

    for (size_t i = 0; i < rules->count; i++) {
        const struct redirect_rule *rule = &rules->rules[i];

        if (!glob_matches(&rule->from, clean, filling.captures))
            continue;
        filling.host = find_name(request->host);
        filling.scheme = scheme_of(request, exchange_is_secure(exchange),
                                   exchange->neighbour, trust);
        if (rule->from_other.len > 0 &&
            bytes_ieq(rule->from_other, filling.scheme))
            continue; /* the rule would lead to the same URL */
        send_elsewhere(rule, exchange, &filling, defaults);
        return true;
    }
    return false;
}

bool redirect_to_https(struct exchange *exchange, struct bytes clean,
                       unsigned port, const struct forwarded_trust *trust,
                       const struct server_defaults *defaults)
{
    static const struct redirect_rule rule = {
        .to = {"https://$host$path", 18}, .status = REDIRECT_STATUS_DEFAULT};
    const struct request *request = &exchange->request;
    struct redirect_filling filling = {.path = clean,
                                       .query = request->query,
                                       .host = find_name(request->host),
                                       .port = BYTES("")};
    char text[sizeof(":65535")];

    if (bytes_eq(scheme_of(request, exchange_is_secure(exchange),
                           exchange->neighbour, trust),
                 BYTES("https")))
        return false;
    if (port != REDIRECT_PORT_DEFAULT)
        filling.port = (struct bytes){
            text, (size_t)snprintf(text, sizeof(text), ":%u",
                                   port % (UINT16_MAX + 1u))};
    send_elsewhere(&rule, exchange, &filling, defaults);
    return true;
}
