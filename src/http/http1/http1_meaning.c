#include <arpa/inet.h>

#include "http/http1/http1_priv.h"

/* Whether `text` is uri-host [":" port] (RFC 3986 3.2.2), without userinfo. */
static bool is_authority(struct bytes text)
{
    size_t at = 0;
    unsigned port = 0;

    if (text.len > 0 && text.data[0] == '[') {
        const char *close = memchr(text.data, ']', text.len);
        char literal[INET6_ADDRSTRLEN];
        unsigned char octets[16];

        if (!close || (size_t)(close - text.data) > sizeof(literal))
            return false;
        at = (size_t)(close - text.data);
        memcpy(literal, text.data + 1, at - 1);
        literal[at - 1] = '\0';
        if (inet_pton(AF_INET6, literal, octets) != 1)
            return false;
        at++;
    } else {
        unsigned seen = 0;
        unsigned set;

        for (; at < text.len && (set = http1_sets_of(text.data[at])) & IN_HOST;
             at++)
            seen |= set;
        if (at == 0 ||
            (seen & IS_PERCENT &&
             !http1_escapes_are_valid((struct bytes){text.data, at})))
            return false;
    }
    if (at < text.len && text.data[at++] != ':')
        return false;
    for (; at < text.len; at++) {
        if (!byte_is_digit(text.data[at]))
            return false;
        port = port * 10 + (unsigned)(text.data[at] - '0');
        if (port > 65535)
            return false;
    }
    return true;
}

/* Whether `text` is an authority. The last valid one is remembered, because a
 * worker gets the same Host again and again. */
static bool is_authority_again(struct bytes text)
{
    static _Thread_local struct {
        size_t len; /* length of the name; 0: there is none yet */
        char text[56];
    } last;

    if (text.len > 0 && text.len == last.len &&
        memcmp(text.data, last.text, text.len) == 0)
        return true;
    if (!is_authority(text))
        return false;
    if (text.len <= sizeof(last.text)) {
        memcpy(last.text, text.data, text.len);
        last.len = text.len;
    }
    return true;
}

static enum reason read_host(struct request *request)
{
    const struct field *host = request_find(request, FIELD_HOST);

    request->host = (struct bytes){"", 0};
    if (!host)
        return request->minor == 0 ? REASON_NONE : REASON_HOST_MISSING;
    if (request_next(request, host))
        return REASON_HOST_TWICE;
    if (!is_authority_again(host->value))
        return REASON_HOST_INVALID;
    request->host = host->value;
    return REASON_NONE;
}

static void split_query(struct request *request, struct bytes path)
{
    const char *mark = memchr(path.data, '?', path.len);

    request->path = path;
    request->query = (struct bytes){NULL, 0};
    if (!mark)
        return;
    request->path.len = (size_t)(mark - path.data);
    request->query = bytes_between(mark + 1, path.data + path.len);
}

/* Takes "http://" or "https://" off *text, and returns which one it was. */
static enum target_scheme take_scheme(struct bytes *text)
{
    static const struct bytes schemes[] = {
        [TARGET_SCHEME_HTTP] = {"http://", 7},
        [TARGET_SCHEME_HTTPS] = {"https://", 8}};

    for (enum target_scheme scheme = TARGET_SCHEME_HTTP;
         scheme <= TARGET_SCHEME_HTTPS; scheme++) {
        size_t len = schemes[scheme].len;

        if (text->len < len ||
            !bytes_ieq((struct bytes){text->data, len}, schemes[scheme]))
            continue;
        text->data += len;
        text->len -= len;
        return scheme;
    }
    return TARGET_SCHEME_NONE;
}

/* Reads SCHEME://authority[/path][?query], whose authority replaces Host (9112
 * 3.2.2). Only http and https are served. */
static enum reason read_absolute_target(struct request *request)
{
    struct bytes rest = request->target;
    size_t len = 0;

    request->scheme = (uint8_t)take_scheme(&rest);
    if (request->scheme == TARGET_SCHEME_NONE)
        return REASON_TARGET_FORM;
    while (len < rest.len && rest.data[len] != '/' && rest.data[len] != '?')
        len++;
    if (!is_authority((struct bytes){rest.data, len}))
        return REASON_TARGET_FORM;
    request->host = (struct bytes){rest.data, len};
    split_query(request, (struct bytes){rest.data + len, rest.len - len});
    if (request->path.len == 0)
        request->path = request->method == METHOD_OPTIONS &&
                                !request->query.data
                            ? BYTES("*")
                            : BYTES("/");
    return REASON_NONE;
}

static enum reason read_target(struct request *request)
{
    struct bytes target = request->target;

    request->scheme = TARGET_SCHEME_NONE;
    if (request->method == METHOD_CONNECT) {
        split_query(request, BYTES("/"));
        /* The port must be there, and not be empty (RFC 9110 9.3.6). */
        return is_authority(target) && memchr(target.data, ':', target.len) &&
                       byte_is_digit(target.data[target.len - 1])
                   ? REASON_NONE
                   : REASON_TARGET_FORM;
    }
    if (target.data[0] == '/') {
        split_query(request, target);
        return REASON_NONE;
    }
    if (bytes_eq(target, BYTES("*"))) {
        split_query(request, target);
        return request->method == METHOD_OPTIONS ? REASON_NONE
                                                 : REASON_TARGET_FORM;
    }
    return read_absolute_target(request);
}

static void read_connection(struct request *request)
{
    const struct field *field = request_find(request, FIELD_CONNECTION);
    bool closes = false;
    bool keeps = request->minor == 1;
    bool has_options = false;

    for (; field; field = request_next(request, field)) {
        struct bytes list = field->value;
        struct bytes member;

        while (field_next_member(&list, &member)) {
            if (bytes_ieq(member, BYTES("close")))
                closes = true;
            else if (bytes_ieq(member, BYTES("keep-alive")))
                keeps = true;
            else
                has_options = true;
        }
    }
    request->keep_alive = keeps && !closes;
    request->has_options = has_options;
}

bool http1_read_length(struct bytes value, uint64_t *length_out)
{
    uint64_t length = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (!byte_is_digit(value.data[i]) || length > INT64_MAX / 10 - 1)
            return false;
        length = length * 10 + (uint64_t)(value.data[i] - '0');
    }
    *length_out = length;
    return value.len > 0;
}

static enum reason read_content_length(struct request *request)
{
    const struct field *field = request_find(request, FIELD_CONTENT_LENGTH);

    request->content_length = 0;
    if (!field)
        return REASON_NONE;
    return !request_next(request, field) &&
                   http1_read_length(field->value, &request->content_length)
               ? REASON_NONE
               : REASON_CONTENT_LENGTH;
}

/* Reads Transfer-Encoding (RFC 9112 6.1 and 6.3). Only the one coding "chunked"
 * is understood. A list of several codings that ends with "chunked" is answered
 * with 501, any other with 400. */
static enum reason read_transfer_encoding(struct request *request)
{
    const struct field *field = request_find(request, FIELD_TRANSFER_ENCODING);
    struct bytes list;
    struct bytes member;
    unsigned members = 0;

    request->is_chunked = false;
    if (!field)
        return REASON_NONE;
    if (request_find(request, FIELD_CONTENT_LENGTH))
        return REASON_LENGTH_AND_CODING;
    if (request_next(request, field) || request->minor == 0)
        return REASON_TRANSFER_ENCODING;
    list = field->value;
    while (field_next_member(&list, &member)) {
        if (member.len == 0)
            return REASON_TRANSFER_ENCODING;
        request->is_chunked = bytes_ieq(member, BYTES("chunked"));
        members++;
    }
    if (!request->is_chunked)
        return REASON_TRANSFER_ENCODING;
    return members == 1 ? REASON_NONE : REASON_CODING_UNKNOWN;
}

/* Reads Expect, a list (RFC 9110 10.1.1). HTTP/1.0 gives Expect no meaning. */
static void read_expect(struct request *request)
{
    const struct field *field = request_find(request, FIELD_EXPECT);
    struct bytes list, member;

    request->expects_continue = false;
    request->expects_other = false;
    if (request->minor == 0)
        return;
    for (; field; field = request_next(request, field)) {
        list = field->value;
        while (field_next_member(&list, &member)) {
            if (bytes_ieq(member, BYTES("100-continue")))
                request->expects_continue = true;
            else if (member.len > 0)
                request->expects_other = true;
        }
    }
}

enum reason http1_read_meaning(struct request *request)
{
    enum reason reason;

    if ((reason = read_host(request)) != REASON_NONE ||
        (reason = read_target(request)) != REASON_NONE ||
        (reason = read_content_length(request)) != REASON_NONE ||
        (reason = read_transfer_encoding(request)) != REASON_NONE)
        return reason;
    read_connection(request);
    read_expect(request);
    return REASON_NONE;
}
