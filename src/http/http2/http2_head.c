#include "http/http2/http2_head.h"

#include "http/http1/http1_priv.h"
#include "http/http2/http2_priv.h"

_Static_assert(HTTP2_LINE_EXTRA >= sizeof(struct record_front),
               "whatever passes the limit of a list has room in the text");

/* --- Gathering ----------------------------------------------------------- */

void http2_head_begin(struct http2_head *head, bool is_trailer)
{
    memset(head, 0, offsetof(struct http2_head, host_text));
    head->is_trailer = is_trailer;
    head->priority = PRIORITY_DEFAULT;
}

static struct bytes put_text(struct http2_head *head, struct bytes text)
{
    char *to = head->text + head->text_len;

    memcpy(to, text.data, text.len);
    head->text_len += text.len;
    return (struct bytes){to, text.len};
}

static void put_record(struct http2_head *head, struct bytes name,
                       struct bytes value)
{
    struct record_front front = {(uint16_t)name.len, (uint16_t)value.len};
    unsigned host_count = head->is_trailer ? 0 : 1; /* it has no record */

    if (head->field_count + host_count == REQUEST_FIELDS_MAX) {
        head->reason = REASON_TOO_MANY_FIELDS;
        return;
    }
    if (head->field_count == 0)
        head->records_at = head->text_len;
    (void)put_text(head, (struct bytes){(const char *)&front, sizeof(front)});
    (void)put_text(head, name);
    (void)put_text(head, value);
    head->field_count++;
}

static void put_cookie(struct http2_head *head, struct bytes value)
{
    if (head->cookie_len > 0) {
        memcpy(head->cookies + head->cookie_len, "; ", 2);
        head->cookie_len += 2;
    }
    memcpy(head->cookies + head->cookie_len, value.data, value.len);
    head->cookie_len += value.len;
}

/* --- What a line may be -------------------------------------------------- */

/* Whether `name` is a field's name by RFC 9113 8.2.1, and also a token as in
 * HTTP/1.1. */
static bool is_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!http1_is_in(name.data[i], IN_TOKEN) ||
            (name.data[i] >= 'A' && name.data[i] <= 'Z'))
            return false;
    return name.len > 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_value(struct bytes value)
{
    return value.len == 0 ||
           (http1_all_in(value, IN_VALUE) && !is_blank(*value.data) &&
            !is_blank(value.data[value.len - 1]));
}

/* Takes a pseudo-field, which may come once, and before all other fields
 * (8.3). */
static bool add_pseudo(struct http2_head *head, struct bytes name,
                       struct bytes value)
{
    const struct {
        struct bytes name;
        struct bytes *place;
    } places[] = {{BYTES(":method"), &head->method},
                  {BYTES(":path"), &head->path},
                  {BYTES(":scheme"), &head->scheme},
                  {BYTES(":authority"), &head->authority},
                  {BYTES(":protocol"), &head->protocol}};

    if (head->has_fields || head->is_trailer)
        return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        if (!bytes_eq(places[i].name, name))
            continue;
        if (places[i].place->data || value.len == 0)
            return false;
        *places[i].place = put_text(head, value);
        return true;
    }
    return false;
}

static bool add_length(struct http2_head *head, struct bytes value)
{
    if (head->has_length)
        return false;
    head->has_length = true;
    return http1_read_length(value, &head->content_length);
}

static bool add_host(struct http2_head *head, struct bytes value)
{
    if (head->host.data || head->is_trailer)
        return false;
    if (value.len > sizeof(head->host_text)) {
        head->reason = REASON_HOST_INVALID;
        return true;
    }
    memcpy(head->host_text, value.data, value.len);
    head->host = (struct bytes){head->host_text, value.len};
    return true;
}

/* Adds a field. Returns false when the field is malformed, or is one about a
 * connection, which HTTP/2 does not allow (8.2.2). */
static bool add_field(struct http2_head *head, struct bytes name,
                      struct bytes value)
{
    switch (field_identify(name)) {
    case FIELD_CONNECTION:
    case FIELD_TRANSFER_ENCODING:
    case FIELD_UPGRADE:
        return false;
    case FIELD_HOP_BY_HOP:
        if (bytes_eq(name, BYTES("keep-alive")) ||
            bytes_eq(name, BYTES("proxy-connection")))
            return false;
        break;
    case FIELD_TE:
        if (!bytes_ieq(value, BYTES("trailers")))
            return false;
        break;
    case FIELD_CONTENT_LENGTH:
        if (!add_length(head, value))
            return false;
        break;
    default:
        break;
    }
    if (bytes_eq(name, BYTES("cookie"))) {
        put_cookie(head, value);
        return true;
    }
    if (head->protocol.data && bytes_eq(name, BYTES("sec-websocket-key")))
        return true; /* the server's own key takes its place */
    put_record(head, name, value);
    if (bytes_eq(name, BYTES("priority"))) {
        head->has_priority = true;
        priority_read(&head->priority, value);
    }
    return true;
}

static bool take_line(struct http2_head *head, struct bytes name,
                      struct bytes value)
{
    if (name.len > 0 && *name.data == ':')
        return is_value(value) && add_pseudo(head, name, value);
    if (!is_name(name) || !is_value(value))
        return false;
    head->has_fields = true;
    return bytes_eq(name, BYTES("host")) ? add_host(head, value)
                                         : add_field(head, name, value);
}

bool http2_head_add(struct http2_head *head, struct bytes name,
                    struct bytes value)
{
    head->list_bytes += name.len + value.len + HTTP2_LINE_EXTRA;
    head->line_count++;
    if (head->list_bytes > HTTP2_LIST_BYTES_READ ||
        head->line_count > HTTP2_LINES_READ)
        return false;
    if (head->list_bytes > HTTP2_LIST_BYTES_MAX)
        head->reason = REASON_HEAD_TOO_LARGE;
    if (head->reason == REASON_NONE && !head->is_malformed)
        head->is_malformed = !take_line(head, name, value);
    return true;
}

/* --- The whole head ------------------------------------------------------ */

bool http2_head_is_https(const struct http2_head *head)
{
    return bytes_ieq(head->scheme, BYTES("https"));
}

/* Whether `text` is a scheme by RFC 3986 3.1. */
static bool is_scheme(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = byte_lower(text.data[i]);
        bool is_letter = c >= 'a' && c <= 'z';

        if (!is_letter &&
            (i == 0 || (!byte_is_digit(c) && c != '+' && c != '-' && c != '.')))
            return false;
    }
    return text.len > 0;
}

/* Whether a head has the pseudo-fields that RFC 9113 8.3.1 and 8.5 and RFC 8441
 * 4 demand. */
static bool has_its_pseudo_fields(const struct http2_head *head)
{
    bool is_connect = head->method.data &&
                      bytes_eq(head->method, BYTES("CONNECT"));

    if (is_connect && !head->protocol.data)
        return head->authority.data && !head->scheme.data && !head->path.data;
    if (head->protocol.data && (!is_connect || !head->authority.data))
        return false;
    return head->method.data && head->scheme.data && head->path.data &&
           is_scheme(head->scheme) && http1_all_in(head->method, IN_TOKEN) &&
           (*head->path.data == '/' ||
            (bytes_eq(head->path, BYTES("*")) &&
             bytes_eq(head->method, BYTES("OPTIONS"))));
}

/* Takes an empty port off an authority, or the port that its scheme has anyway
 * (RFC 3986 6.2.3). */
static struct bytes drop_usual_port(const struct http2_head *head,
                                    struct bytes authority)
{
    struct bytes port = http2_head_is_https(head) ? BYTES(":443")
                                                  : BYTES(":80");
    const char *end = authority.data + authority.len;

    if (authority.len > port.len &&
        memcmp(end - port.len, port.data, port.len) == 0)
        authority.len -= port.len;
    else if (authority.len > 1 && end[-1] == ':')
        authority.len--;
    return authority;
}

/* Whether Host and ":authority" name the same (8.3.1). If only Host came, it
 * becomes the authority. */
static bool settle_host(struct http2_head *head)
{
    if (head->authority.data && head->host.data &&
        !bytes_ieq(drop_usual_port(head, head->authority),
                   drop_usual_port(head, head->host)))
        return false;
    if (!head->authority.data)
        head->authority = head->host;
    return true;
}

static enum reason check_meaning(const struct http2_head *head)
{
    enum method method;

    if (head->method.len + head->path.len + sizeof(HTTP2_VERSION) >
        HTTP1_LINE_BYTES_MAX)
        return REASON_TARGET_TOO_LONG;
    if (head->path.data && !http1_is_target(head->path))
        return REASON_TARGET_BYTES;
    if (head->scheme.data && !http2_head_is_https(head) &&
        !bytes_ieq(head->scheme, BYTES("http"))) /* no other is served */
        return REASON_TARGET_FORM;
    if (!http1_find_method(head->method, &method))
        return REASON_METHOD;
    return head->protocol.data && !bytes_ieq(head->protocol, BYTES("websocket"))
               ? REASON_METHOD
               : REASON_NONE;
}

static void add_socket(struct http2_head *head, const char *key)
{
    put_record(head, BYTES("connection"), BYTES("upgrade"));
    put_record(head, BYTES("upgrade"), BYTES("websocket"));
    put_record(head, BYTES("sec-websocket-key"), (struct bytes){key, 24});
    head->method = BYTES("GET");
}

/* Whether a head announces a body that cannot come: none follows the head, or
 * the request opens a tunnel, which has no body (RFC 9110 9.3.6). The length
 * would be passed on with the request, and the upstream would take the next
 * request for the body. */
static bool is_body_false(const struct http2_head *head, bool ends)
{
    bool is_tunnel = head->protocol.data;

    return (ends && is_tunnel) ||
           (head->content_length > 0 && (ends || is_tunnel));
}

enum http2_verdict http2_head_end(struct http2_head *head, bool ends,
                                  const char *socket_key,
                                  enum reason *reason_out)
{
    bool is_whole = head->reason == REASON_NONE;

    *reason_out = head->reason;
    if (head->is_malformed)
        return HTTP2_MALFORMED;
    if (!is_whole)
        return HTTP2_REFUSED;
    if (head->is_trailer)
        return ends ? HTTP2_DONE : HTTP2_MALFORMED;
    if (!has_its_pseudo_fields(head) || !settle_host(head) ||
        is_body_false(head, ends))
        return HTTP2_MALFORMED;
    *reason_out = check_meaning(head);
    if (*reason_out != REASON_NONE)
        return HTTP2_REFUSED;
    if (head->cookie_len > 0)
        put_record(head, BYTES("cookie"),
                   (struct bytes){head->cookies, head->cookie_len});
    if (head->protocol.data)
        add_socket(head, socket_key);
    *reason_out = head->reason;
    return head->reason == REASON_NONE ? HTTP2_DONE : HTTP2_REFUSED;
}

struct bytes http2_head_records(const struct http2_head *head)
{
    size_t at = head->field_count > 0 ? head->records_at : head->text_len;

    return (struct bytes){head->text + at, head->text_len - at};
}
